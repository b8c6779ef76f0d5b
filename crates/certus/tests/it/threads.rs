//! The same command gives the same document, whatever the number of threads.

use crate::support::certus;
use serde_json::Value;

/// A document without what may differ: how long it took, and with how many threads.
fn comparable(mut document: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !name.contains("seconds") && name != "threads");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut document);
    document
}

#[track_caller]
fn same_for_all_threads(arguments: &[&str]) {
    let run = |threads: &str| {
        let ran = certus(&[arguments, &["--json", "--quiet", "--threads", threads]].concat());
        let document = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
        (ran.code, comparable(document))
    };
    let first = run("1");
    for threads in ["2", "3"] {
        assert_eq!(run(threads), first, "{arguments:?} with {threads} threads");
    }
}

#[test]
fn verdicts_runs_and_invariants() {
    same_for_all_threads(&["check", "zoo/toy/toy.certus"]);
    same_for_all_threads(&["check", "zoo/pendulum/pendulum.certus", "segway", "-k", "3"]);
    same_for_all_threads(&["check", "zoo/cruise/cruise.certus"]);
}

#[test]
fn simulated_violations() {
    same_for_all_threads(&["check", "zoo/oscillator/oscillator.certus", "stays_below", "--engine", "falsify"]);
    same_for_all_threads(&["check", "zoo/biology/biology.certus", "no_hypoglycaemia", "--engine", "falsify"]);
}

#[test]
fn witnesses_and_maxima() {
    for query in ["below_five", "below_ten", "square"] {
        same_for_all_threads(&["verify", "zoo/toy/toy.onnx", &format!("zoo/toy/{query}.vnnlib")]);
    }
    same_for_all_threads(&["optimise", "zoo/toy/toy.onnx", "zoo/toy/square.vnnlib", "--maximise", "Y_0"]);
}

#[test]
fn shields() {
    same_for_all_threads(&["shield", "zoo/cruise/cruise.certus"]);
}
