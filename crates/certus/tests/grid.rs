//! `certus check --engine grid` and `certus extract`, end to end.

mod support;

use serde_json::Value;
use support::{Folder, certus};

const B2: &str = "zoo/b2/b2.certus";
const CAR: &str = "zoo/mountain_car/mountain_car.certus";

fn json(arguments: &[&str]) -> (Value, i32) {
    let ran = certus(&[arguments, &["--json"]].concat());
    (serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr)), ran.code)
}

#[test]
fn what_holds_is_about_the_network_and_shows_its_units() {
    let (document, code) = json(&["check", B2, "reaches_goal", "--engine", "grid", "--width", "0.02"]);
    let result = &document["results"][0];
    assert_eq!((code, &result["verdict"], &result["scope"]), (0, &"holds".into(), &"unbounded".into()));
    let grid = &result["grid"];
    assert_eq!((&grid["policy"], &grid["widths"]["x2"]), (&"network".into(), &0.02.into()));
    let shown = grid["reachable"]["units"].as_array().unwrap();
    assert!(!shown.is_empty() && shown.iter().all(|unit| unit["box"].as_array().unwrap().len() == 2));
    let new: u64 = grid["new_units_per_step"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(new, grid["units"].as_u64().unwrap());
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
    assert!(result["reason"].as_str().unwrap().contains("--memory"));
}

#[test]
fn auto_gives_the_grid_its_turns() {
    let (document, code) = json(&["check", "zoo/b5/b5.certus", "at_goal_at_end", "--width", "0.004"]);
    let result = &document["results"][0];
    assert_eq!((code, &result["verdict"], &result["scope"]), (0, &"holds".into(), &"unbounded".into()));
    assert_eq!((&result["engine"], &result["grid"]["widths"]["x1"]), (&"grid".into(), &0.004.into()));
    // What is extracted is not the network, and nobody shall take one for the other.
    let ran = certus(&["check", "zoo/b5/b5.certus", "at_goal_at_end", "--policy", "extracted"]);
    assert!(ran.code == 2 && ran.stderr.contains("--engine grid"), "{}", ran.stderr);
    let ran = certus(&["check", "zoo/b5/b5.certus", "at_goal_at_end", "--width", "y=1"]);
    assert!(ran.code == 2 && ran.stdout.contains("the state of b5 has x1, x2, x3"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn wrong_widths_are_told_with_the_way_out() {
    let ran = certus(&["check", CAR, "--engine", "grid", "--width", "q=0.1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.contains("the state of mountain_car has p, v"), "{}{}", ran.stdout, ran.stderr);
    let ran = certus(&["check", CAR, "--engine", "grid", "--width", "0"]);
    assert!(ran.code == 2 && ran.stderr.contains("no positive number"), "{}", ran.stderr);
    let ran = certus(&["check", CAR, "--engine", "gird"]);
    assert!(ran.code == 2 && ran.stderr.contains("induction, grid"), "{}", ran.stderr);
}

#[test]
fn an_extracted_policy_is_saved_with_every_unit_it_came_through() {
    let folder = Folder::new("extract");
    let (policy, picture) = (folder.file("policy.json"), folder.file("returns.svg"));
    let arguments = ["extract", CAR, "--width", "p=0.02,v=0.002", "--episodes", "20"];
    let ran = certus(&[&arguments[..], &["-o", &policy, "--picture", &picture]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&policy).unwrap()).unwrap();
    let units = saved["units"].as_array().unwrap();
    assert!(units.len() > 50);
    let label = |unit: &Value| ["left", "none", "right"].contains(&unit["action"]["push"].as_str().unwrap());
    assert!(units.iter().all(label));
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
    assert!(late.code == 3 && late.stderr.contains("the time was over before"), "{}", late.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_episodes_are_said_to_be() {
    use std::process::{Command, Stdio};
    let arguments = ["extract", CAR, "--width", "0.05", "--episodes", "100000000"];
    let child = Command::new(env!("CARGO_BIN_EXE_certus"))
        .args(arguments)
        .current_dir(support::root())
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
