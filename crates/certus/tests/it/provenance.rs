//! Every outcome says where it comes from and what it is about, and work that asks nothing is refused.

use crate::support::{Folder, certus, root};
use serde_json::Value;

fn digest_of(path: &str) -> String {
    certus_audit::digest(&std::fs::read(root().join(path)).unwrap())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// An oscillator whose discretisation decays, as it never does itself.
const OSCILLATOR: &str = "system oscillator
state x in [-10, 10]
state v in [-10, 10]
step 2 rk4
der x = v
der v = -x
init x in [0.99, 1] & v == 0
property decays = F<=40 (abs(x) < 0.01 & abs(v) < 0.01)
";

/// A disturbance that a parameter scales.
const GUST: &str = "system gust
param gust in [0, 1] = 1
state x in [-10, 10]
input w in [-3, 3]
next x = clamp(0.5 * x + gust * w, -10, 10)
init x in [-1, 1]
property small = G abs(x) <= 1
";

#[test]
fn a_check_says_where_it_comes_from() {
    let ran = certus(&[
        "check",
        "zoo/toy/toy.certus",
        "below_ten",
        "-k",
        "2",
        "--set",
        "push=0.25",
        "--network",
        "toy.onnx=zoo/toy/toy.onnx",
        "--seed",
        "7",
        "--timeout",
        "300",
        "--json",
    ]);
    let document = json(&ran.stdout);
    let own = &document["provenance"];
    assert_eq!(own["certus"], env!("CARGO_PKG_VERSION"));
    let (system, network) = (&own["sources"][0], &own["sources"][1]);
    assert_eq!((&system["role"], &network["role"]), (&"system".into(), &"network".into()));
    assert_eq!(system["sha256"], digest_of("zoo/toy/toy.certus"));
    assert_eq!(network["sha256"], digest_of("zoo/toy/toy.onnx"));
    assert_eq!(own["settings"], json(r#"[{"name": "push", "value": 0.25, "declared": 0.5}]"#));
    assert_eq!(own["replaced"], json(r#"[{"name": "toy.onnx", "path": "zoo/toy/toy.onnx"}]"#));
    assert_eq!((&own["engine"], &own["seed"]), (&"auto".into(), &7.into()));
    assert_eq!((&own["budget"]["steps"], &own["budget"]["timeout"]), (&2.into(), &300.0.into()));
    assert_eq!(own["time"], Value::Null);
    let result = &document["results"][0];
    assert_eq!(result["relative_to"], "the network in its file, over the reals");
    assert!(result["formula"].is_string());
}

#[test]
fn settings_that_differ_from_the_file_are_told_beside_the_verdict() {
    let folder = Folder::new("provenance-settings");
    let file = folder.write("gust.certus", GUST);
    let with = certus(&["check", &file, "--set", "gust=0"]).stdout;
    assert!(with.contains("\n  with gust = 0 (1 in the file)\n"), "{with}");
    // What is set to the value that it has anyway is not worth a line.
    let same = certus(&["check", &file, "--set", "gust=1", "--engine", "bmc", "-k", "1"]).stdout;
    assert!(!same.contains("in the file"), "{same}");
    let simulated = certus(&["simulate", &file, "--set", "gust=0", "--runs", "2", "--steps", "2"]).stdout;
    assert!(simulated.contains("with gust = 0 (1 in the file)"), "{simulated}");
}

/// Seam 13: a verdict about the numerical scheme did not say so.
#[test]
fn discretised_time_is_part_of_what_a_verdict_is_about() {
    let folder = Folder::new("provenance-time");
    let file = folder.write("oscillator.certus", OSCILLATOR);
    let told = "discretised by rk4 with dt = 2";
    let text = certus(&["check", &file, "-k", "3", "--engine", "bmc"]).stdout;
    assert!(text.contains(&format!("  about the system {told}\n")), "{text}");
    let result = folder.file("result.json");
    certus(&["check", &file, "-k", "3", "--engine", "bmc", "--json", "-o", &result]);
    let document = json(&std::fs::read_to_string(&result).unwrap());
    let about = document["results"][0]["relative_to"].as_str().unwrap();
    assert!(about.contains(told), "{about}");
    assert_eq!(document["provenance"]["time"], json(r#"{"scheme": "rk4", "dt": 2.0}"#));
    let page = certus(&["report", &result]).stdout;
    assert!(page.matches(told).count() >= 2, "in the summary and in the section");
}

#[test]
fn every_document_says_where_it_comes_from() {
    let folder = Folder::new("provenance-kinds");
    let (shield, policy) = (folder.file("shield.json"), folder.file("policy.json"));
    assert_eq!(certus(&["shield", "zoo/pendulum/pendulum.certus", "upright", "-o", &shield]).code, 0);
    let car = "zoo/mountain_car/mountain_car.certus";
    let extract = ["extract", car, "--width", "p=0.1,v=0.01", "--episodes", "2", "--steps", "2", "-o", &policy];
    assert_eq!(certus(&extract).code, 0);
    let region = ["check", "zoo/aurora/aurora.certus", "p3", "-k", "0", "--region", "loss", "--resolution", "2"];
    let commands: [&[&str]; 10] = [
        &["check", "zoo/toy/toy.certus", "-k", "1"],
        &region,
        &["prob", "zoo/stopping_car/stopping_car.certus", "rarely_crashes"],
        &["gate", "zoo/toy/toy.certus", "zoo/toy/toy.onnx", "--runs", "20", "--steps", "5"],
        &["mine", "docs/mining/video.toml"],
        &["verify", "zoo/toy/toy.onnx", "zoo/toy/below_five.vnnlib"],
        &["optimise", "zoo/toy/toy.onnx", "zoo/toy/square.vnnlib", "--maximise", "Y_0", "--gap", "0.1"],
        &["simulate", "zoo/toy/toy.certus", "--runs", "5", "--steps", "5"],
        &["mdp", "docs/models/link.prism", "Pmaxmin=? [ F \"delivered\" ]"],
        &["shield", "run", &shield, "--runs", "5", "--steps", "5", "--quiet"],
    ];
    let mut documents: Vec<(String, Value)> = Vec::new();
    for command in commands {
        let ran = certus(&[command, &["--json"]].concat());
        documents.push((command.join(" "), json(&ran.stdout)));
    }
    for path in [&shield, &policy] {
        documents.push((path.clone(), json(&std::fs::read_to_string(path).unwrap())));
    }
    for (name, document) in &documents {
        let own = &document["provenance"];
        assert_eq!(own["certus"], env!("CARGO_PKG_VERSION"), "{name}");
        let sources = own["sources"].as_array().unwrap();
        assert!(!sources.is_empty(), "{name}");
        for source in sources {
            let path = source["path"].as_str().unwrap();
            assert_eq!(source["sha256"], digest_of(path), "{name}: {path}");
        }
        let of_results = |list: &str| document[list][0]["relative_to"].is_string();
        let about = document["relative_to"].is_string() || of_results("results") || of_results("regions");
        assert!(about || own["relative_to"].is_string(), "{name}");
    }
    let gate = documents.iter().find(|(name, _)| name.starts_with("gate")).unwrap();
    assert_eq!(gate.1["checkpoints"][0]["sha256"], digest_of("zoo/toy/toy.onnx"));
    // The shield knows the network that it was fitted to, and its exports say so.
    for (language, comment) in [("rust", "// "), ("python", "# ")] {
        let text = certus(&["shield", "export", &shield, "--lang", language]).stdout;
        for path in ["zoo/pendulum/pendulum.certus", "zoo/pendulum/pendulum.onnx"] {
            assert!(text.contains(&format!("\"{}\"", digest_of(path))), "{language}: {text}");
        }
        assert!(text.starts_with(comment) && text.contains(&format!("{comment}shield certus:")), "{text}");
    }
    assert_eq!(certus(&["shield", "export", &shield, "--lang", "c", "-o", &folder.file("guard")]).code, 0);
    for file in ["guard.h", "guard.c"] {
        let text = std::fs::read_to_string(folder.file(file)).unwrap();
        assert!(text.starts_with("// exported certus:"), "{text}");
    }
}

#[test]
fn what_is_digested_is_what_was_read() {
    let folder = Folder::new("provenance-links");
    let file = folder.write("gust.certus", GUST);
    let ran = certus(&["check", &file, "-k", "1", "--engine", "bmc", "--json"]);
    let document = json(&ran.stdout);
    assert_eq!(document["provenance"]["sources"][0]["sha256"], certus_audit::digest(GUST.as_bytes()));
    assert_eq!(document["provenance"]["sources"].as_array().unwrap().len(), 1, "there is no network");
    assert!(document["results"][0]["relative_to"].as_str().unwrap().starts_with("the system in its file"));
}

#[test]
fn a_page_says_why_two_verdicts_about_one_property_differ() {
    let folder = Folder::new("provenance-page");
    let file = folder.write("gust.certus", GUST);
    let (calm, stormy, page) = (folder.file("calm.json"), folder.file("stormy.json"), folder.file("page.html"));
    assert_eq!(certus(&["check", &file, "--set", "gust=0", "--json", "-o", &calm]).code, 0);
    assert_eq!(certus(&["check", &file, "--engine", "bmc", "-k", "2", "--json", "-o", &stormy]).code, 1);
    let made = certus(&["report", &calm, &stormy, "-o", &page]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("gust small is holds and violated: they differ in gust (0 / 1 in the file)"), "{html}");
    assert!(!html.contains("CONTRADICT"));
    assert!(html.contains("with gust = 0 (1 in the file)"));
    assert_eq!(html.matches("<details class=\"provenance\">").count(), 2);
    assert!(html.contains("What the environment chooses in this run") && !html.contains("must choose"));
    // The same question with the opposite answer is a contradiction, and is called one.
    let forged = std::fs::read_to_string(&stormy).unwrap().replace("\"violated\"", "\"holds\"");
    let forged = folder.write("forged.json", forged);
    let html = certus(&["report", &stormy, &forged]).stdout;
    assert!(html.contains("THEY CONTRADICT EACH OTHER"), "{html}");
}

/// Seam 19: nothing was checked, exit code 0.
#[test]
fn work_that_asks_nothing_is_bad_input() {
    let folder = Folder::new("nothing");
    let plain = GUST.lines().filter(|line| !line.starts_with("property")).collect::<Vec<_>>().join("\n");
    let plain = folder.write("plain.certus", plain);
    let toy = std::fs::read_to_string(root().join("zoo/toy/toy.certus")).unwrap();
    std::fs::copy(root().join("zoo/toy/toy.onnx"), folder.file("toy.onnx")).unwrap();
    let without: String = toy.split("property").next().unwrap().trim_end().to_owned();
    // Comments of a property stand before it.
    let kept: Vec<&str> = without.lines().collect();
    let last = kept.iter().rposition(|line| !line.trim_start().starts_with("//")).unwrap();
    let toy = folder.write("toy.certus", kept[..=last].join("\n"));
    let rows = std::fs::read_to_string(root().join("docs/mining/mpc.csv")).unwrap();
    let head = rows.lines().next().unwrap();
    folder.write("mpc.csv", format!("{head}\n"));
    folder.write("buffer-based.csv", format!("{head}\n"));
    let config = folder.write("video.toml", std::fs::read(root().join("docs/mining/video.toml")).unwrap());
    let declared = "(declare-const X_0 Real)\n(declare-const X_1 Real)\n(declare-const Y_0 Real)\n";
    let specification = folder.write("nothing.vnnlib", declared);
    // Bounds that exclude each other have an answer, and a note.
    let excluded = folder.write("excluded.vnnlib", format!("{declared}(assert (>= X_0 1))\n(assert (<= X_0 0))\n"));
    let ran = certus(&["verify", "zoo/toy/toy.onnx", &excluded]);
    assert!(ran.code == 0 && ran.stdout == "unsat\n" && ran.stderr.contains("exclude each other"), "{}", ran.stderr);
    let mut empty = json(&certus(&["check", "zoo/toy/toy.certus", "below_ten", "-k", "1", "--json"]).stdout);
    empty["results"] = json("[]");
    let empty = folder.write("empty.json", empty.to_string());
    let traces = folder.write("traces.txt", "");
    let network = "zoo/pensieve/pensieve.onnx";
    let commands: [&[&str]; 11] = [
        &["check", &plain],
        &["check", &plain, "--json"],
        &["check", &plain, "--region", "gust"],
        &["gate", &toy, "zoo/toy/toy.onnx"],
        &["gate", &toy, "zoo/toy/toy.onnx", "--engine", "bmc"],
        &["mine", &config],
        &["mine", &config, "--verify", network],
        &["verify", "zoo/toy/toy.onnx", &specification],
        &["report", &empty],
        &["observe", "pensieve", "mpc", &traces],
        &["shield", "run", "no.shield.json", "--steps", "0"],
    ];
    for command in commands {
        let ran = certus(command);
        assert_eq!(ran.code, 2, "{command:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{command:?}: {}", ran.stdout);
    }
    for (command, words) in
        [(0, "nothing to check"), (3, "nothing to check"), (6, "nothing to mine"), (8, "nothing to show")]
    {
        let told = certus(commands[command]).stderr;
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn flags_that_would_be_ignored_are_refused_at_once() {
    let car = "zoo/stopping_car/stopping_car.certus";
    let folder = Folder::new("ignored");
    let map = folder.file("map.svg");
    let commands: [(&[&str], &str); 4] = [
        (&["check", "zoo/toy/toy.certus", "--samples", "9"], "--policy extracted"),
        (&["check", "zoo/toy/toy.certus", "--significance", "0.5"], "--policy extracted"),
        (&["prob", car, "worst", "--axes", "0,1"], "--map"),
        // Far more work than the test would wait for.
        (
            &["prob", car, "worst", "-k", "1000", "--gap", "0", "--share", "0", "--map", &map, "--axes", "0,2"],
            "--axes 0,2",
        ),
    ];
    for (command, words) in commands {
        let ran = certus(command);
        assert_eq!(ran.code, 2, "{command:?}");
        assert!(ran.stderr.contains(words), "{command:?}: {}", ran.stderr);
    }
}
