//! `certus prob` and `certus mdp` through the binary.

use crate::support::{Folder, certus};
use serde_json::Value;

const CAR: &str = "zoo/stopping_car/stopping_car.certus";
const LINK: &str = "docs/models/link.prism";

#[test]
fn probabilities_are_decided_with_exit_codes() {
    let holds = certus(&["prob", CAR, "rarely_crashes", "--json"]);
    assert_eq!(holds.code, 0, "{}{}", holds.stdout, holds.stderr);
    let document: Value = serde_json::from_str(&holds.stdout).unwrap();
    let result = &document["results"][0];
    assert_eq!(
        (&document["system"], &result["verdict"], &result["engine"]),
        (&"stopping_car".into(), &"holds".into(), &"imdp".into())
    );
    let (lower, upper) = (&result["probability"]["lower"], &result["probability"]["upper"]);
    assert!(
        lower.as_f64().unwrap() > 0.0 && lower.as_f64() <= upper.as_f64() && upper.as_f64().unwrap() <= 0.08,
        "{result}"
    );
    assert_eq!(result["scope"]["bounded"], 7);
    assert!((3.0..10.0).contains(&result["start"]["gap"].as_f64().unwrap()));
    // Three steps more, and the worst start state alone shows that it is false.
    let folder = Folder::new("prob");
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/stopping_car/stopping_car.onnx");
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/stopping_car/stopping_car.certus"));
    let file = folder
        .write("strict.certus", text.unwrap().replace("stopping_car.onnx", network).replace("P<=0.08", "P<=0.00001"));
    let violated = certus(&["prob", &file, "rarely_crashes", "-k", "10"]);
    assert_eq!(violated.code, 1, "{}{}", violated.stdout, violated.stderr);
    assert!(violated.stdout.contains("violated: in ["), "{}", violated.stdout);
    let late = certus(&["prob", CAR, "worst", "-k", "30", "--timeout", "0"]);
    assert_eq!(late.code, 3, "{}{}", late.stdout, late.stderr);
}

/// Half of the tries go on; of the others three in five succeed.
const TRIES: &str = "system tries
chance c of { succeeds: 0.3, fails: 0.2, again: 0.5 }
state x in [-1, 5]
define over = x <= 0.5 | x >= 2.5
next x = if over then x else match c { succeeds: 3, fails: 0, again: 0.5 * x + 0.5 }
init x in [0.8, 1.2]
property inside = G x <= 4
property soon = P>=0.5 [ F<=4 x >= 2.5 ]
property ever = P<=0.61 [ F x >= 2.5 ]
property value = Pmax=? [ F<=4 x >= 2.5 ]
property sure = P>=0.6 [ F<=4 x >= 2.5 ] expect violated
property never = G x <= 2 expect violated
";

#[test]
fn check_takes_runs_and_probabilities_from_one_file() {
    let folder = Folder::new("check-probabilities");
    let file = folder.write("tries.certus", TRIES);
    let good = certus(&["check", &file, "inside", "soon", "ever", "value", "--json"]);
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    let document: Value = serde_json::from_str(&good.stdout).unwrap();
    let of = |index: usize, member: &str| document["results"][index][member].clone();
    assert_eq!([of(0, "verdict"), of(1, "verdict"), of(2, "verdict")], ["holds", "holds", "holds"]);
    assert!(of(0, "probability").is_null() && of(0, "engine") != "imdp");
    for index in 1..4 {
        assert_eq!(of(index, "engine"), "imdp");
        let ends = of(index, "probability");
        let (lower, upper) = (ends["lower"].as_f64().unwrap(), ends["upper"].as_f64().unwrap());
        assert!(lower <= upper && of(index, "gap").as_f64() == Some(upper - lower), "{ends}");
        assert!(of(index, "relative_to").as_str().unwrap().contains("declared ranges"));
    }
    assert_eq!((of(1, "scope"), of(2, "scope")), (serde_json::json!({"bounded": 4}), "unbounded".into()));
    // 0.3 / (1 - 0.5) of what is over after four steps.
    let exact = 0.6 * (1.0 - 0.5f64.powi(4));
    let ends = of(3, "probability");
    assert!(ends["lower"].as_f64().unwrap() <= exact && exact <= ends["upper"].as_f64().unwrap(), "{ends}");
    let mixed = certus(&["check", &file]);
    assert_eq!(mixed.code, 1, "{}{}", mixed.stdout, mixed.stderr);
    assert!(mixed.stdout.contains("for all time; bounds on probabilities over all initial states"), "{}", mixed.stdout);
    for text in ["sure    violated: in [", "ever    holds: in [", "] at any time", "never   violated at step"] {
        assert!(mixed.stdout.contains(text), "{text}: {}", mixed.stdout);
    }
    let expected = certus(&["check", &file, "--expect"]);
    assert_eq!(expected.code, 0, "{}{}", expected.stdout, expected.stderr);
    // One engine for each kind: what it is not for is said, with the way out.
    let own = certus(&["check", &file, "inside", "--engine", "imdp"]);
    assert!(
        own.code == 2 && own.stdout.contains("the property is not about a probability"),
        "{}{}",
        own.stdout,
        own.stderr
    );
    for engine in ["bmc", "induction", "grid"] {
        let other = certus(&["check", &file, "soon", "--engine", engine]);
        assert!(other.code == 2 && other.stdout.contains("imdp takes it"), "{}{}", other.stdout, other.stderr);
    }
    let certificate = certus(&["check", &file, "soon", "--certificate", &folder.file("proof.json")]);
    assert!(certificate.code == 2 && certificate.stderr.contains("no certificate"), "{}", certificate.stderr);
    let late = certus(&["check", &file, "value", "--timeout", "0"]);
    assert_eq!(late.code, 3, "{}{}", late.stdout, late.stderr);
    // The document is one that reports read.
    let json = folder.file("found.json");
    assert_eq!(certus(&["check", &file, "--json", "-o", &json]).code, 1);
    let page = folder.file("page.html");
    let report = certus(&["report", &json, "-o", &page]);
    assert_eq!(report.code, 0, "{}{}", report.stdout, report.stderr);
    assert!(std::fs::read_to_string(&page).unwrap().contains("The worst probability over all initial states"));
}

#[test]
fn one_unfolding_leaves_its_model_and_its_map() {
    let folder = Folder::new("prob-files");
    let (model, map) = (folder.file("car.drn"), folder.file("car.svg"));
    let ran = certus(&[
        "prob", CAR, "worst", "--method", "unfold", "--grid", "4", "--model", &model, "--map", &map, "--json",
    ]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let upper = document["results"][0]["probability"]["upper"].as_f64().unwrap();
    let picture = std::fs::read_to_string(&map).unwrap();
    assert!(picture.starts_with("<svg") && picture.matches("class=\"cell\"").count() == 16);
    let pixels = folder.file("car.png");
    assert_eq!(certus(&["prob", CAR, "worst", "--method", "unfold", "--map", &pixels]).code, 3);
    assert_eq!(&std::fs::read(&pixels).unwrap()[1..4], b"PNG");
    // The model that was written gives the same bound.
    let again = certus(&["mdp", &model, "Pmaxmax=? [ F<=7 \"goal\" ]", "--json"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let document: Value = serde_json::from_str(&again.stdout).unwrap();
    assert!((document["probability"]["upper"].as_f64().unwrap() - upper).abs() < 1e-12, "{document} {upper}");
}

#[test]
fn bad_questions_name_the_way_out() {
    let message = |arguments: &[&str]| {
        let ran = certus(arguments);
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        ran.stdout + &ran.stderr
    };
    assert!(message(&["prob", CAR, "wrost"]).contains("did you mean 'worst'?"));
    assert!(message(&["prob", "zoo/toy/toy.certus"]).contains("has no property about a probability"));
    assert!(message(&["prob", "zoo/toy/toy.certus", "below_ten"]).contains("the property is not about a probability"));
    let folder = Folder::new("prob-axes");
    let map = folder.file("map.svg");
    let drawn = |axes: &str| message(&["prob", CAR, "worst", "-k", "1", "--map", &map, "--axes", axes]);
    assert!(drawn("0,0").contains("two different numbers") && drawn("0,2").contains("has 2 state variables"));
    assert!(message(&["prob", CAR, "worst", "--model", "m.drn"]).contains("--method unfold"));
    assert!(
        message(&["prob", CAR, "worst", "--direction", "1,2,3"])
            .contains("a direction has 3 numbers, but the state has 2")
    );
    assert!(message(&["mdp", LINK, "Pmax=? [ F \"delivered\" ]"]).contains("Pmaxmin"));
    assert!(
        message(&["mdp", LINK, "Pmaxmin=? [ F \"deliverd\" ]"])
            .contains("no label \"deliverd\"; it has delivered, lost")
    );
    assert!(message(&["prob", CAR, "worst", "--spread", "-1"]).contains("from 0 to 1"));
    assert!(message(&["mdp", "zoo/toy/toy.certus"]).contains(".drn, .tra and .prism"));
    // Nothing asked is no success; the model is described all the same.
    let described = message(&["mdp", LINK]);
    assert!(described.contains("13 states") && described.contains("nothing was asked"), "{described}");
}

#[test]
fn a_model_goes_through_every_format() {
    let folder = Folder::new("mdp");
    let value = |file: &str| {
        let ran = certus(&["mdp", file, "Pmaxmin=? [ F \"delivered\" ]", "--json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        (document["probability"]["lower"].as_f64().unwrap(), document["probability"]["upper"].as_f64().unwrap())
    };
    // Sending at once, every time, against the worst loss.
    let exact = 1.0 - 0.5f64.powi(3);
    let (low, high) = value(LINK);
    assert!(low <= exact && exact <= high && high - low < 1e-9, "{low} {high}");
    for name in ["link.drn", "link.tra", "link.prism"] {
        let file = folder.file(name);
        assert_eq!(certus(&["mdp", LINK, "--write", &file]).code, 0);
        let (low, high) = value(&file);
        assert!(low <= exact && exact <= high && high - low < 1e-9, "{name}: {low} {high}");
    }
    let values = folder.file("values.csv");
    assert_eq!(certus(&["mdp", LINK, "Pmaxmin>=0.87 [ F \"delivered\" ]", "--values", &values]).code, 0);
    let table = std::fs::read_to_string(&values).unwrap();
    assert!(
        table.starts_with("state,lower,upper,choice\n") && table.lines().nth(1).unwrap().ends_with(",send"),
        "{table}"
    );
    assert_eq!(certus(&["mdp", LINK, "Pmaxmin>=0.88 [ F \"delivered\" ]"]).code, 1);
}

const JUMPS: &str = "system jumps
state x in [0, 4]
input u in [0.5, 1]
chance c of { a: 0.5, b: 0.5 }
next x = clamp(x + u + match c { a: 0, b: 0.01 }, 0, 4)
assume u > 0.9
init x == 2
property between = P<=0.1 [ F<=1 (x > 2.1 & x <= 2.8) ]
property above = G x >= 2
";

/// Seam 2: `prob` ignored `assume`.
#[test]
fn assumptions_restrict_the_inputs_or_are_refused() {
    let folder = Folder::new("prob-assume");
    let file = folder.write("jumps.certus", JUMPS);
    for command in ["prob", "check"] {
        let ran = certus(&[command, &file, "between", "--json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        let result = &document["results"][0];
        assert_eq!((&result["verdict"], result["probability"]["upper"].as_f64()), (&"holds".into(), Some(0.0)));
        assert_eq!(result["model_error_probability"].as_f64(), Some(0.0));
        assert!(result["relative_to"].as_str().unwrap().contains("inputs chosen after the step's draws"));
    }
    let drawn = folder.write("drawn.certus", JUMPS.replace("u > 0.9", "u > 0.9 | c == a"));
    let ran = certus(&["prob", &drawn]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("line 6: `assume u > 0.9 | c == a` refers to a random outcome"), "{}", ran.stdout);
    // Of runs it may well be assumed.
    let runs = certus(&["check", &drawn, "above"]);
    assert_eq!(runs.code, 0, "{}{}", runs.stdout, runs.stderr);
    let out = folder.write("out.certus", JUMPS.replace("clamp(x + u + match c { a: 0, b: 0.01 }, 0, 4)", "x + 3 * u"));
    let ran = certus(&["prob", &out]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let ran = certus(&[
        "prob",
        &folder.write(
            "mostly.certus",
            JUMPS
                .replace("clamp(x + u + match c { a: 0, b: 0.01 }, 0, 4)", "match c { a: 3, b: 5 }")
                .replace("P<=0.1", "P<=0.6"),
        ),
    ]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("a run might meet a model error (a variable leaves its range), with probability 0.5"),
        "{}",
        ran.stdout
    );
}

const BET: &str = "system bet
state x in [0, 1]
chance c of { a: 0.25, b: 0.75 }
chance d of { l: 0.5, r: 0.5 }
input u in [0, 1]
next x = match c { a: u, b: 1 - u }
init x == 0
property wins = P<=0.8 [ F<=1 x > 0.9 ]
";

#[test]
fn an_input_before_a_draw_is_blind_of_it() {
    let folder = Folder::new("prob-before");
    let told = |name: &str, order: &str| {
        let file = folder.write(name, BET.replace("input u in [0, 1]", &format!("input u in [0, 1]{order}")));
        let ran = certus(&["prob", &file, "--json"]);
        let document: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
        let result = document["results"][0].clone();
        (ran.code, result["probability"]["upper"].as_f64().unwrap(), result["relative_to"].as_str().unwrap().to_owned())
    };
    // Who has seen the draw wins always; who has not bets on the likelier outcome.
    let (_, upper, about) = told("after.certus", "");
    assert!(upper == 1.0 && about.contains(", inputs chosen after the step's draws;"), "{upper} {about}");
    let (code, upper, about) = told("before.certus", " before c");
    assert!(code == 0 && (upper - 0.75).abs() < 1e-9, "{upper}");
    assert!(about.contains(", u before c, all else chosen after the step's draws;"), "{about}");
    let (code, upper, about) = told("first.certus", " before c, d");
    assert!(code == 0 && (upper - 0.75).abs() < 1e-9 && about.contains(", u before c and d;"), "{upper} {about}");
    let (_, upper, about) = told("other.certus", " before d");
    assert!(upper == 1.0 && about.contains("u before d"), "{upper} {about}");
}

/// Seam 12: a `dtmc` was read as an MDP.
#[test]
fn a_markov_chain_chooses_uniformly() {
    let folder = Folder::new("dtmc");
    let text = "dtmc\nmodule m\n x : [0..3];\n [] x<1 -> 0.5:(x'=1)+0.5:(x'=2);\n [] x>=0&x<1 -> (x'=3);\nendmodule\nlabel \"g\" = x=3;\n";
    let chain = folder.write("chain.prism", text);
    let property = "Pmax<=0.6 [ F \"g\" ]";
    let ran = certus(&["mdp", &chain, property, "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!((document["probability"]["upper"].as_f64().unwrap() - 0.5).abs() < 1e-6, "{document}");
    let process = folder.write("process.prism", text.replace("dtmc", "mdp"));
    assert_eq!(certus(&["mdp", &process, property]).code, 1);
}
