//! `certus check --region` through the binary.

use crate::support::{Folder, certus};
use serde_json::Value;

const ADDS: &str = "system adds\nparam a in [0, 1] = 0.5\nparam top in [1, 3] = 2\nstate x in [0, 100]\nnext x = x + a\n\
                    init x == 0\nproperty low = G (x < top)\nproperty sign = G (x >= 0)\n";

#[test]
fn one_parameter_gives_thresholds() {
    let folder = Folder::new("region-one");
    let file = folder.write("adds.certus", ADDS);
    let ran = certus(&["check", &file, "low", "-k", "3", "--region", "a", "--resolution", "16"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for line in [
        "[0, 0.625]       holds for every value, up to 3 steps",
        "[0.625, 0.6875]  violated at a = 0.6875",
        "[0.6875, 1]      violated at every value, at step 3",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    // Where it holds everywhere, that is the answer; a narrowed range is enough.
    let holds = certus(&["check", &file, "low", "sign", "-k", "3", "--region", "a=0..0.5"]);
    assert!(holds.code == 0 && holds.stdout.contains("[0, 0.5]  holds"), "{}{}", holds.stdout, holds.stderr);
}

#[test]
fn two_parameters_give_a_map_a_document_and_a_picture() {
    let folder = Folder::new("region-two");
    let file = folder.write("adds.certus", ADDS);
    let picture = folder.file("map.svg");
    let arguments = ["check", &file, "low", "-k", "3", "--region", "a,top", "--resolution", "8"];
    let ran = certus(&[&arguments[..], &["--picture", &picture]].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    // 3a < top: the lower left corner (a = 0, top = 1) holds, the lower right one (a = 1) is violated.
    let rows: Vec<&str> = ran.stdout.lines().filter(|line| line.contains('|')).collect();
    assert_eq!(rows.len(), 8, "{}", ran.stdout);
    assert!(rows[7].contains("|..") && rows[7].ends_with("###|"), "{}", ran.stdout);
    assert!(std::fs::read_to_string(&picture).unwrap().ends_with("</svg>\n"));
    let ran = certus(&[&arguments[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let map = &document["regions"][0];
    let total: f64 = map["shares"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{map}");
    let number = |value: &Value| value.as_f64().unwrap();
    for cell in map["cells"].as_array().unwrap() {
        let (a, top) = (&cell["lower"][0], &cell["lower"][1]);
        match cell["verdict"].as_str().unwrap() {
            "holds" => assert!(3.0 * number(&cell["upper"][0]) < number(top), "{cell}"),
            "violated" => assert!(3.0 * number(a) >= number(&cell["upper"][1]), "{cell}"),
            "violated at a value" => {
                let witness = &map["witnesses"][cell["witness"].as_u64().unwrap() as usize];
                assert!(3.0 * number(&witness["values"][0]) >= number(&witness["values"][1]), "{witness}");
                let last = witness["trace"].as_array().unwrap().last().unwrap();
                assert!(number(&last["state"]["x"]) >= number(&witness["values"][1]), "{witness}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn what_is_not_settled_in_time_is_open() {
    let folder = Folder::new("region-late");
    let file = folder.write("adds.certus", ADDS);
    let ran = certus(&["check", &file, "low", "-k", "3", "--region", "a", "--timeout", "0"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn wrong_regions_are_refused() {
    let folder = Folder::new("region-wrong");
    let file = folder.write("adds.certus", ADDS);
    for (arguments, message) in [
        (vec!["low", "--region", "b"], "adds has no param 'b'"),
        (vec!["low", "--region", "tpo"], "did you mean 'top'?"),
        (vec!["low", "--region", "a=0..2"], "expected a range within [0, 1]"),
        (vec!["low", "--region", "a=0.5..0.5"], "expected a range within [0, 1]"),
        (vec!["low", "--region", "a,a"], "'a' is named twice"),
        (vec!["low", "--region", "a", "--set", "a=0.1"], "'a' is varied, so it cannot be set"),
        (vec!["low", "--region", "a", "--resolution", "0"], "expected 1 to 4096 steps"),
        (vec!["--region", "a", "--picture", "p.svg"], "--picture draws one property"),
        (vec!["low", "--picture", "p.svg"], "--region"),
    ] {
        let ran = certus(&[&["check", &file][..], &arguments].concat());
        assert!(ran.code == 2 && ran.stderr.contains(message), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    }
    // A parameter that a range depends on cannot be varied, and the message shows where.
    let ran = certus(&["check", "zoo/aurora/aurora.certus", "p3", "--region", "send_ratio_max"]);
    assert!(ran.code == 2 && ran.stderr.contains("cannot depend on a free parameter"), "{}", ran.stderr);
}
