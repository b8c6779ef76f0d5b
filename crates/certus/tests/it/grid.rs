//! `certus check --engine grid` and `certus extract`, end to end.

use crate::support::{Folder, certus};
use serde_json::Value;

const B2: &str = "zoo/b2/b2.certus";
const CAR: &str = "zoo/mountain_car/mountain_car.certus";

fn json(arguments: &[&str]) -> (Value, i32) {
    let ran = certus(&[arguments, &["--json"]].concat());
    (serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr)), ran.code)
}

#[test]
fn what_holds_is_about_the_network_and_shows_its_cells() {
    let (document, code) = json(&["check", B2, "reaches_goal", "--engine", "grid", "--width", "0.02"]);
    let result = &document["results"][0];
    assert_eq!((code, &result["verdict"], &result["scope"]["horizon"]), (0, &"holds".into(), &9.into()));
    let grid = &result["grid"];
    assert_eq!((&grid["policy"], &grid["widths"]["x2"]), (&"network".into(), &0.02.into()));
    let shown = grid["reachable"]["cells"].as_array().unwrap();
    assert!(!shown.is_empty() && shown.iter().all(|cell| cell["box"].as_array().unwrap().len() == 2));
    let new: u64 = grid["new_cells_per_step"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(new, grid["cells"].as_u64().unwrap());
}

#[test]
fn a_verdict_says_what_it_is_about() {
    let folder = Folder::new("about");
    let halving =
        "system halving\nstate x in [0, 2]\nnext x = 0.5 * x + 1\ninit x in [0.1, 0.5]\nproperty below = G x < 2\n";
    let rounds = folder.write("halving.certus", halving);
    let about = |arguments: &[&str]| {
        let (document, _) = json(&[&["check"], arguments, &["--engine", "grid"]].concat());
        document["results"][0].clone()
    };
    let goal = [B2, "reaches_goal", "--width", "0.02"];
    let network = "the network in its file, in the system discretised by rk4 with dt = 0.2, over the reals";
    assert_eq!(about(&goal)["relative_to"], network);
    let extracted = about(&[&goal[..], &["--policy", "extracted"]].concat());
    let own = "a policy extracted from the network, in the system discretised by rk4 with dt = 0.2, over the reals";
    assert_eq!(extracted["relative_to"], own);
    // Over the reals x never comes to 2; in doubles it does.
    let rounded = about(&[&rounds]);
    assert_eq!(
        (&rounded["verdict"], &rounded["relative_to"]),
        (&"violated".into(), &"the system in its file, as a run of doubles".into())
    );
    assert!(rounded["notes"].to_string().contains("a run of doubles"));
    // A violation by more than rounding is one of both.
    assert_eq!(about(&[B2, "at_goal_after_7", "--width", "0.02"])["relative_to"], network);
}

#[test]
fn an_outcome_has_a_page_with_its_cells() {
    let folder = Folder::new("grid-page");
    let ran = certus(&["check", B2, "--engine", "grid", "--width", "0.02", "--json"]);
    let (document, page) = (folder.write("grid.json", &ran.stdout), folder.file("grid.html"));
    let told = certus(&["report", &document, "-o", &page]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Grid cells that runs can reach, by the step at which they are first reached."));
}

#[test]
fn a_violation_is_a_run_in_the_form_of_the_other_engines() {
    let (by_grid, code) = json(&["check", B2, "at_goal_after_7", "--engine", "grid", "--width", "0.02"]);
    let (by_bmc, _) = json(&["check", B2, "at_goal_after_7", "--engine", "bmc", "-k", "7"]);
    let (grid, bmc) = (&by_grid["results"][0], &by_bmc["results"][0]);
    assert_eq!(code, 1);
    assert_eq!((&grid["verdict"], &bmc["verdict"]), (&"violated".into(), &"violated".into()));
    let keys = |result: &Value| result["trace"][0].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((grid["trace"].as_array().unwrap().len(), keys(grid)), (8, keys(bmc)));
}

#[test]
fn a_budget_that_ends_says_up_to_where_a_property_holds() {
    let (document, code) =
        json(&["check", CAR, "fast_at_bend", "--engine", "grid", "--width", "0.001", "--memory", "1"]);
    let result = &document["results"][0];
    assert_eq!((code, &result["verdict"]), (3, &"unknown".into()));
    assert!(result["scope"]["bounded"].as_u64().unwrap() > 0, "{result}");
    assert!(result["reason"].as_str().unwrap().contains("more memory"));
}

#[test]
fn auto_gives_the_grid_its_turns() {
    let (document, code) = json(&["check", "zoo/pendulum/pendulum.certus", "within_half", "--width", "0.02"]);
    let result = &document["results"][0];
    assert_eq!((code, &result["verdict"]), (0, &"holds".into()));
    assert_eq!((&result["engine"], &result["grid"]["widths"]["omega"]), (&"grid".into(), &0.02.into()));
    // What is extracted is not the network, and nobody shall take one for the other.
    let ran = certus(&["check", "zoo/b5/b5.certus", "at_goal_at_end", "--policy", "extracted"]);
    assert!(ran.code == 2 && ran.stderr.contains("--engine grid"), "{}", ran.stderr);
    let ran = certus(&["check", "zoo/b5/b5.certus", "at_goal_at_end", "--width", "y=1"]);
    assert!(ran.code == 2 && ran.stderr.contains("the state of b5 has x1, x2, x3"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_way_out() {
    let folder = Folder::new("refused");
    let (picture, other) = (folder.file("cells.svg"), folder.file("other"));
    let grid = ["--engine", "grid"];
    let cells = ["--cells", &picture];
    for (arguments, message) in [
        (vec!["--engine", "gird"], "bmc, induction, grid"),
        ([&grid[..], &["--width", "q=0.1"]].concat(), "the state of mountain_car has p, v"),
        ([&grid[..], &["--width", "0"]].concat(), "no positive number"),
        ([&grid[..], &["--width", "p=0.1,p=0.2"]].concat(), "p has two widths"),
        ([&grid[..], &["--width", "0.1,0.2"]].concat(), "every variable that is not named has two widths"),
        ([&grid[..], &["--certificate", &other]].concat(), "proofs on a grid have no certificates"),
        ([&grid[..], &cells, &["-o", &picture]].concat(), "two outputs would be written to one file"),
        ([&grid[..], &cells, &["--axes", "p,q"]].concat(), "--axes q: there are p, v and step"),
        ([&grid[..], &cells, &["--axes", "p,p"]].concat(), "'p' is named twice"),
        ([&grid[..], &cells, &["--axes", "p"]].concat(), "expected two names"),
        ([&grid[..], &["--axes", "p,v"]].concat(), "--cells <FILE>"),
        ([&grid[..], &["--region", "p0_low"]].concat(), "not --engine grid"),
        ([&grid[..], &["--significance", "nan"]].concat(), "expected a number above 0, at most 1"),
        (vec!["--width", "0.1", "--region", "p0_low"], "cannot be used with '--region"),
        (vec!["--engine", "bmc", "--width", "0.1"], "--width and --refine belong to the grid"),
        (vec!["--certificate", &other, "--refine", "1"], "--width and --refine belong to the grid"),
        (vec!["--engine", "bmc", "--cells", &picture], "take --engine grid"),
    ] {
        let ran = certus(&[&["check", CAR, "reaches_goal"][..], &arguments].concat());
        assert!(ran.code == 2 && ran.stderr.contains(message), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!((ran.stdout.as_str(), folder.names()), ("", vec![]), "{arguments:?}");
    }
}

#[test]
fn a_grid_that_cannot_be_is_refused_once_and_shortly() {
    for engine in ["grid", "auto"] {
        let ran = certus(&["check", CAR, "--engine", engine, "--width", "1e-300"]);
        let message = "error: a width of 1e-300 cuts the range -1.2..0.6 of p into more cells than can be counted\n";
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", message));
    }
    // What the property does not speak of is not cut, so it may be as wide as it likes; nor is it drawn.
    let folder = Folder::new("counted");
    let text = "system counted\nstate x in [0, 1]\nstate n in [0, 1e300]\nnext x = x / 2\nnext n = min(n + 1, 1e300)\n\
                init x in [0, 1] & n == 0\nproperty low = G x <= 1\n";
    let (file, picture) = (folder.write("counted.certus", text), folder.file("cells.svg"));
    let grid = ["check", &file, "--engine", "grid", "--width", "0.1"];
    let ran = certus(&[&grid[..], &["--cells", &picture, "--axes", "x,n"]].concat());
    assert!(ran.code == 0 && ran.stderr.contains("--axes n: there are x and step"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn files_that_there_is_nothing_for_are_told_and_change_no_verdict() {
    let folder = Folder::new("nothing");
    let (picture, certificate) = (folder.file("cells.svg"), folder.file("proof"));
    let goal = ["check", B2, "reaches_goal"];
    let late = certus(&[&goal[..], &["--engine", "grid", "--cells", &picture, "--timeout", "0"]].concat());
    assert!(late.code == 3 && late.stderr.contains("cells.svg was not written"), "{}", late.stderr);
    let late = certus(&[&goal[..], &["--certificate", &certificate, "--timeout", "0"]].concat());
    assert!(late.code == 3 && late.stderr.contains("only a property that holds"), "{}", late.stderr);
    // Another engine was the first to decide.
    let other = certus(&["check", "zoo/toy/toy.certus", "below_ten", "--cells", &picture]);
    assert!(other.code == 0 && other.stderr.contains("no verdict came from the grid"), "{}", other.stderr);
    assert_eq!(folder.names(), [""; 0]);
    // And with a verdict from the grid there is a picture.
    let steps = ["--engine", "grid", "--width", "0.02", "--cells", &picture, "--axes", "step,x2"];
    let drawn = certus(&[&goal[..], &steps].concat());
    assert_eq!((drawn.code, drawn.stderr.as_str(), folder.names()), (0, "", vec!["cells.svg".to_owned()]));
}

#[test]
fn an_extracted_policy_is_saved_with_every_cell_it_came_through() {
    let folder = Folder::new("extract");
    let (policy, picture) = (folder.file("policy.json"), folder.file("returns.svg"));
    let arguments = ["extract", CAR, "--width", "p=0.02,v=0.002", "--episodes", "20"];
    let ran = certus(&[&arguments[..], &["-o", &policy, "--picture", &picture]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&policy).unwrap()).unwrap();
    let cells = saved["cells"].as_array().unwrap();
    assert!(cells.len() > 50);
    let label = |cell: &Value| ["left", "none", "right"].contains(&cell["action"]["push"].as_str().unwrap());
    assert!(cells.iter().all(label));
    assert!(saved["returns"]["network"]["median"].as_f64().unwrap() < -50.0);
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
}

#[test]
fn episodes_are_counted_before_they_are_run() {
    for wrong in [["--episodes", "0"], ["--episodes", "99999999999999"], ["--steps", "0"], ["--samples", "0"]] {
        let ran = certus(&[&["extract", CAR], &wrong[..]].concat());
        assert!(ran.code == 2 && ran.stderr.contains(" is not in 1..="), "{wrong:?}: {}", ran.stderr);
    }
    // No time, no episodes; and no room for all of them is taken before the first.
    let late = certus(&["extract", CAR, "--width", "0.05", "--episodes", "100000000", "--timeout", "0"]);
    assert!(late.code == 3 && late.stderr.contains("out of time before"), "{}", late.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_episodes_are_said_to_be() {
    use std::process::{Command, Stdio};
    let arguments = ["extract", CAR, "--width", "0.05", "--episodes", "100000000"];
    let child = Command::new(env!("CARGO_BIN_EXE_certus"))
        .args(arguments)
        .current_dir(crate::support::root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Ctrl-C is only listened to once its signal, the second one, is caught.
    let is_caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !is_caught() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(3) && said.contains("note: interrupted"), "{said}");
}
