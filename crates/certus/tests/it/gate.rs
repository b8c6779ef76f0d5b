//! `certus gate` as a user runs it.

use crate::support::{Folder, certus, root};

#[test]
fn a_folder_of_checkpoints_is_a_table() {
    let folder = Folder::new("gate");
    let good = std::fs::read(root().join("zoo/lanekeeping/lanekeeping.onnx")).unwrap();
    let bad = std::fs::read(root().join("zoo/docking/docking.onnx")).unwrap();
    folder.write("step_10.onnx", &good);
    folder.write("step_9.onnx", &bad);
    folder.write("notes.txt", "not a network");
    let path = folder.0.display().to_string();
    let ran = certus(&["gate", "zoo/lanekeeping/lanekeeping.certus", &path, "--runs", "100", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let checkpoints = document["checkpoints"].as_array().unwrap();
    let shown: Vec<(String, String)> = checkpoints
        .iter()
        .map(|row| {
            let network = row["network"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (network, row["results"][0]["verdict"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [("step_9.onnx", "violated"), ("step_10.onnx", "open")];
    assert_eq!(shown, expected.map(|(network, verdict)| (network.to_owned(), verdict.to_owned())));
    // The run that is named can be looked at.
    let (run, step) = (&checkpoints[0]["results"][0]["run"], &checkpoints[0]["results"][0]["step"]);
    assert!(run.is_u64() && step.is_u64(), "{document}");
}

#[test]
fn the_adversary_is_asked_after_chance() {
    let folder = Folder::new("gate-adversary");
    folder.write("n.onnx", std::fs::read(root().join("zoo/toy/toy.onnx")).unwrap());
    let system = folder.write(
        "walk.certus",
        "system walk\nstate x in [-200, 200]\npolicy y = net(\"n.onnx\", x, x)\ninput d in [-1, 1]\n\
         next x = clamp(x + d + 0 * y, -200, 200)\ninit x == 0\nproperty near = G x < 60\n",
    );
    let network = folder.file("n.onnx");
    let ran = certus(&["gate", &system, &network, "--runs", "50", "--steps", "100"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("violated (adversary, run "), "{}", ran.stdout);
}

#[test]
fn open_is_undecided_and_mistakes_are_told_before_anything_runs() {
    let toy = "zoo/toy/toy.certus";
    let ran = certus(&["gate", toy, "zoo/toy/toy.onnx", "--property", "below_ten", "--runs", "20", "--steps", "20"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    for (arguments, message) in [
        (&["gate", toy, "zoo/toy/toy.onnx", "--property", "below_tan"][..], "did you mean 'below_ten'?"),
        (&["gate", toy, "zoo/toy/none.onnx"], "cannot load the network `toy.onnx`"),
        (&["gate", toy, "docs"], "there is no checkpoint"),
        (&["gate", toy, "zoo/toy/toy.onnx", "--policy", "z"], "has no policy, action or network 'z'"),
        (&["gate", "zoo/vcas/vcas.certus", "zoo/vcas/vcas_1.onnx"], "applies 9 networks: name one"),
        (&["gate", toy, "zoo/docking/docking.onnx"], "the network takes 4 numbers, 2 are given"),
    ] {
        let ran = certus(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn model_checking_proves_and_refutes_and_says_when_something_was_learnt() {
    let folder = Folder::new("gate-bmc");
    let system = root().join("zoo/toy/toy.onnx").display().to_string();
    let picture = folder.file("learnt.svg");
    // The same network before and after: what holds, holds with both.
    let arguments = ["gate", "zoo/toy/toy.certus", &system, &system, "--engine", "bmc", "-k", "2"];
    let ran = certus(&[&arguments[..], &["--picture", &picture]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for text in [
        "bounded model checking, at most 2 steps",
        "holds up to 2 steps  violated at step 0  violated for ever (0 back to 0)",
        "below_ten: holds with every checkpoint",
        "below_five: does not hold with the last checkpoint",
    ] {
        assert!(ran.stdout.contains(text), "{text} in {}", ran.stdout);
    }
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.contains("k = 2") && drawn.contains("for ever") && drawn.ends_with("</svg>\n"));
    let good = certus(&[&arguments[..], &["--property", "below_ten", "--json"]].concat());
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    let document: serde_json::Value = serde_json::from_str(&good.stdout).unwrap();
    assert_eq!(document["checkpoints"][1]["accepted"], true);
    assert_eq!(document["checkpoints"][0]["results"][0]["scope"]["bounded"], 2);
    // No time for a cell leaves it unknown, and that is no acceptance.
    let late = certus(&[&arguments[..], &["--property", "below_ten", "--cell-timeout", "0"]].concat());
    assert!(late.code == 3 && late.stdout.contains("unknown: out of time"), "{}{}", late.stdout, late.stderr);
    let wrong = certus(&[&arguments[..], &["--cell-timeout", "-1"]].concat());
    assert_eq!(wrong.code, 2, "{}{}", wrong.stdout, wrong.stderr);
}
