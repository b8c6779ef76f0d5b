//! Every document that the binary prints is one of `certus-documents`: it is read without unknown or missing members, and what is
//! written again is the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::support::{Folder, certus};
use certus_tasks::commands::{Session, run};
use serde_json::{Value, json};

/// Reads a document and writes it again; its schema.
fn round_trip(text: &str, whose: &str) -> &'static str {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{whose}: {error}: {text}"));
    let read = certus_documents::read(value.clone()).unwrap_or_else(|error| panic!("{whose}: {error}"));
    assert_eq!(read.to_value().unwrap(), value, "{whose}");
    read.schema()
}

fn printed(arguments: &[&str]) -> &'static str {
    let ran = certus(arguments);
    round_trip(&ran.stdout, &format!("{arguments:?}: {}", ran.stderr))
}

/// The document of a command that prints none, as Python gets it.
fn answered(command: &str, options: Value) -> &'static str {
    let Value::Object(options) = options else { panic!("{options}") };
    let mut session = Session { stop: Arc::default(), tell: &mut |_| {} };
    let answer = run(command, options, &mut session).unwrap_or_else(|failure| panic!("{command}: {failure}"));
    round_trip(&answer.document.to_line().unwrap(), command)
}

#[test]
fn every_document_is_read_and_written_again() {
    let folder = Folder::new("documents");
    let file = |name: &str| folder.file(name);
    let (toy, network) = ("zoo/toy/toy.certus", "zoo/toy/toy.onnx");
    let (car, pendulum) = ("zoo/stopping_car/stopping_car.certus", "zoo/pendulum/pendulum.certus");
    let mut seen = BTreeSet::new();
    let commands: [&[&str]; 22] = [
        &["check", toy, "-k", "3", "--json"],
        &["check", toy, "-k", "3", "--expect", "--json"],
        &["check", toy, "below_ten", "--engine", "induction", "--json"],
        &["check", toy, "below_ten", "--engine", "grid", "--json"],
        &["check", car, "rarely_crashes", "--json"],
        &["check", "zoo/aurora/aurora.certus", "p3", "-k", "0", "--region", "loss", "--resolution", "2", "--json"],
        &["region", "zoo/aurora/aurora.certus", "p3", "--steps", "0", "--region", "loss", "--resolution", "2"],
        &["prob", car, "rarely_crashes", "--json"],
        &["mdp", "docs/models/link.prism", "Pmaxmin=? [ F \"delivered\" ]", "--json"],
        &["verify", network, "zoo/toy/below_five.vnnlib", "--json"],
        &["verify", network, "zoo/toy/below_ten.vnnlib", "--json"],
        &["optimise", network, "zoo/toy/square.vnnlib", "--maximise", "Y_0", "--gap", "0.1", "--json"],
        &["gate", toy, network, "--runs", "20", "--steps", "5", "--json"],
        &["gate", toy, network, "--engine", "bmc", "-k", "2", "--json"],
        &["simulate", toy, "--runs", "5", "--steps", "5", "--json"],
        &["simulate", car, "--runs", "5", "--steps", "5", "--json"],
        &["audit", "zoo/toy/below_ten.certificate", "--json"],
        &["mine", "docs/mining/video.toml", "--json"],
        &["inspect", network, "--json"],
        &["inspect", network, "--eval", "0.5,0.25", "--json"],
        &["inspect", car, "--json"],
        &["fmt", "--check", toy, "zoo/toy/below_five.vnnlib", "--json"],
    ];
    seen.extend(commands.iter().map(|command| printed(command)));

    for run in certus(&["simulate", car, "--runs", "2", "--steps", "3", "--format", "jsonl"]).stdout.lines() {
        seen.insert(round_trip(run, "simulate --format jsonl"));
    }
    let shield = file("shield.json");
    seen.insert(printed(&["shield", pendulum, "-o", &shield, "--json"]));
    seen.insert(round_trip(&std::fs::read_to_string(&shield).unwrap(), "the file of a shield"));
    seen.insert(printed(&["shield", "run", &shield, "--runs", "3", "--steps", "5", "--quiet", "--json"]));
    seen.insert(printed(&["audit", &shield, "--json"]));
    seen.insert(printed(&["shield", pendulum, "--timeout", "0", "--json"]));
    let forged = std::fs::read_to_string(crate::support::root().join("zoo/toy/below_ten.certificate")).unwrap();
    let forged = folder.write("forged.certificate", forged.replacen("end", "", 1));
    seen.insert(printed(&["audit", &forged, "--json"]));
    let policy = file("policy.json");
    certus(&["extract", "zoo/mountain_car/mountain_car.certus", "--episodes", "2", "--steps", "5", "-o", &policy]);
    seen.insert(round_trip(&std::fs::read_to_string(&policy).unwrap(), "extract"));
    certus(&["mine", "docs/mining/video.toml", "--write", &file("mined")]);
    let specifications = std::fs::read_to_string(file("mined/specifications.json")).unwrap();
    seen.insert(round_trip(&specifications, "mine --write"));

    let at = |path: &str| crate::support::root().join(path).display().to_string();
    seen.insert(answered("new", json!({"network": at(network)})));
    folder.write("rate.trace", "2.4\n1.2\n");
    let links = folder.write("links.csv", "trace,delay_ms,loss,queue\nrate.trace,20,0.01,30\n");
    let table = file("cubic.csv");
    let observed = json!({"world": "aurora", "decider": "cubic", "files": [links], "output": table, "seconds": 5});
    seen.insert(answered("observe", observed));
    let verdict = certus(&["verify", network, "zoo/toy/below_five.vnnlib", "--json"]).stdout;
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    seen.insert(answered("report", json!({"results": [verdict]})));
    seen.insert(answered("shield_export", json!({"shield": shield, "lang": "rust", "system": at(pendulum)})));
    seen.insert(answered("mine", json!({"config": at("docs/mining/video.toml"), "emit_sql": "duckdb"})));

    let kinds: BTreeSet<&str> = certus_documents::schemas().into_iter().map(|(schema, _)| schema).collect();
    assert_eq!(seen, kinds, "every kind of document is tried");
}
