//! `certus report` from outcomes of the binary itself, and in a browser where there is one.

use std::process::Command;

use crate::support::{Folder, certus, certus_with_input, root};
use serde_json::Value;

#[test]
fn outcomes_become_a_page_with_their_numbers() {
    let folder = Folder::new("report");
    let (outcome, page, figures) = (folder.file("toy.json"), folder.file("toy.html"), folder.file("figures"));
    assert_eq!(certus(&["check", "zoo/toy/toy.certus", "-k", "3", "--json", "-o", &outcome]).code, 1);
    let ran = certus(&["report", &outcome, "-o", &page, "--figures", &figures]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&outcome).unwrap()).unwrap();
    for result in document["results"].as_array().unwrap() {
        assert!(html.contains(&format!("<data value=\"{}\">", result["seconds"])), "{result}");
        assert!(html.contains(result["words"].as_str().unwrap()), "{result}");
        for position in result["trace"].as_array().into_iter().flatten() {
            for value in position["state"].as_object().unwrap().values() {
                assert!(html.contains(&format!("<data value=\"{value}\">")), "{value}");
            }
        }
    }
    // What was drawn can be had alone, twice.
    for entry in std::fs::read_dir(&figures).into_iter().flatten() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        match path.extension().and_then(|own| own.to_str()) {
            Some("svg") => assert!(bytes.starts_with(b"<svg ")),
            _ => assert!(bytes.starts_with(b"\x89PNG")),
        }
    }
}

#[test]
fn every_kind_of_outcome_has_a_page() {
    let folder = Folder::new("report-kinds");
    let shield = folder.file("shield.json");
    let region = ["check", "zoo/aurora/aurora.certus", "p3", "-k", "0", "--region", "loss", "--resolution", "2"];
    let commands: [&[&str]; 9] = [
        &region,
        &["prob", "zoo/stopping_car/stopping_car.certus", "rarely_crashes"],
        &["gate", "zoo/toy/toy.certus", "zoo/toy/toy.onnx", "--runs", "20", "--steps", "5"],
        &["mine", "docs/mining/video.toml"],
        &["audit", "zoo/toy/below_ten.certificate"],
        &["verify", "zoo/toy/toy.onnx", "zoo/toy/below_five.vnnlib"],
        &["optimise", "zoo/toy/toy.onnx", "zoo/toy/square.vnnlib", "--maximise", "Y_0", "--gap", "0.1"],
        &["simulate", "zoo/toy/toy.certus", "--runs", "5", "--steps", "5"],
        &["mdp", "docs/models/link.prism", "Pmaxmin=? [ F \"delivered\" ]"],
    ];
    assert_eq!(certus(&["shield", "zoo/pendulum/pendulum.certus", "-o", &shield]).code, 0);
    let mut results = vec![shield.clone()];
    for command in commands {
        let path = folder.file(&format!("{}.json", command[0]));
        let ran = certus(&[command, &["--json", "-o", &path]].concat());
        assert!(std::path::Path::new(&path).exists(), "{command:?}: {}", ran.stderr);
        results.push(path);
    }
    let run = certus(&["shield", "run", &shield, "--runs", "5", "--steps", "5", "--quiet", "--json"]);
    results.push(folder.write("run.json", run.stdout));
    let page = folder.file("all.html");
    let mut arguments = vec!["report", "-o", &page];
    arguments.extend(results.iter().map(String::as_str));
    let ran = certus(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    for wanted in [
        "Shield of pendulum",
        "over its parameters",
        "Checkpoints of toy",
        "Specifications of video",
        "Interval MDP",
        "unsafe states (hatched)",
        "in boxes around the parts",
        "Probability of act = brake",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
}

#[test]
fn what_is_no_outcome_leaves_no_page() {
    let folder = Folder::new("report-bad");
    let page = folder.file("page.html");
    for (content, told) in [
        ("{", "not a JSON document"),
        ("{\"a\": 1}", "this is no outcome that Certus writes"),
        ("{\"schema\": \"certus/check/0\"}", "this version of Certus reads `certus/check/1`"),
        (
            "{\"schema\": \"certus/check/1\", \"results\": [{\"property\": \"p\", \"verdict\": 3}]}",
            "results[0].verdict: ",
        ),
    ] {
        let ran = certus(&["report", &folder.write("bad.json", content), "-o", &page]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(told) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
        assert_eq!(folder.names(), ["bad.json"]);
    }
    assert_eq!(certus(&["report", &folder.file("missing.json")]).code, 2);
}

#[test]
fn standard_input_becomes_standard_output() {
    let outcome = certus(&["check", "zoo/toy/toy.certus", "below_ten", "--json"]).stdout;
    let ran = certus_with_input(&["report", "-"], &outcome);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("<!DOCTYPE html>") && ran.stdout.trim_end().ends_with("</html>"));
}

/// The page in Chromium: where Playwright and Chromium are there, or where `CERTUS_BROWSER=install` lets them be fetched.
#[test]
fn pages_work_in_a_browser() {
    let script = root().join("crates/certus/tests/browser.py");
    let mut command = Command::new(std::env::var_os("CERTUS_PYTHON").unwrap_or_else(|| "python3".into()));
    command.arg(&script).args(["--certus", env!("CARGO_BIN_EXE_certus")]);
    if std::env::var_os("CERTUS_BROWSER").is_some_and(|own| own == "install") {
        command.arg("--install");
    }
    let Ok(ran) = command.output() else {
        eprintln!("skipped: no python3");
        return;
    };
    let told = String::from_utf8_lossy(&ran.stderr);
    if ran.status.code() == Some(77) {
        eprintln!("{}", told.trim_end());
        return;
    }
    assert!(ran.status.success(), "{told}");
}
