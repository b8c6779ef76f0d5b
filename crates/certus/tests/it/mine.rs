//! Mining through the binary: tables in, specifications and verdicts out.

use std::process::Command;

use crate::support::{Folder, certus, root};
use serde_json::Value;

const CONFIG: &str = r#"
name = "toy"
inputs = 2

[output]
name = "output"
column = "output"
sign = true

[[feature]]
columns = "v1"
inputs = 0
mined = 1

[[feature]]
columns = "v2"
inputs = 1
mined = 1

[[reference]]
name = "sum"
train = "sum.csv"

[[reference]]
name = "first"
train = "first.csv"

[mine]
parts = 12
decimals = 3
"#;

/// Points of the square, and what two simple rules say: the sign of v1 + v2, and of v1 alone.
fn tables(folder: &Folder) -> String {
    let mut sum = "v1,v2,output\n".to_owned();
    let mut first = sum.clone();
    let mut number = 1u64;
    for _ in 0..3000 {
        let mut unit = || {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let (a, b) = (unit(), unit());
        sum.push_str(&format!("{a},{b},{}\n", a + b));
        first.push_str(&format!("{a},{b},{}\n", if a > 0.0 { "+" } else { "-" }));
    }
    folder.write("sum.csv", sum);
    folder.write("first.csv", first);
    folder.write("toy.toml", CONFIG)
}

fn json(arguments: &[&str]) -> (Value, i32) {
    let ran = certus(arguments);
    let value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (value, ran.code)
}

#[test]
fn every_form_of_a_specification_gets_the_same_verdict() {
    let folder = Folder::new("mine-forms");
    let config = tables(&folder);
    let network = "zoo/toy/toy.onnx";
    let out = folder.file("out");
    let (document, code) = json(&["mine", &config, "--verify", network, "--attack", "--write", &out, "--json"]);
    let specifications = document["specifications"].as_array().unwrap();
    assert!(specifications.len() >= 2, "{document:#}");
    let results = document["networks"][0]["results"].as_array().unwrap();
    let verdicts: Vec<&str> = results.iter().map(|own| own["verdict"].as_str().unwrap()).collect();
    assert!(verdicts.contains(&"violated"), "{verdicts:?}");
    assert_eq!(code, 1);
    let (checked, _) = json(&["check", &format!("{out}/specifications.certus"), "-k", "1", "--json"]);
    for (index, verdict) in verdicts.iter().enumerate() {
        let query = format!("{out}/specification_{:03}.vnnlib", index + 1);
        let answer = certus(&["verify", network, &query]);
        let expected = if *verdict == "holds" { "unsat" } else { "sat" };
        assert_eq!(answer.stdout.lines().next(), Some(expected), "{query}");
        assert_eq!(checked["results"][index]["verdict"], *verdict, "{checked:#}");
    }
    // What was written can be judged again, to the same figures.
    let (again, _) = json(&["mine", &config, "--specifications", &format!("{out}/specifications.json"), "--json"]);
    assert_eq!(again["observations"], document["observations"]);
    for (old, new) in specifications.iter().zip(again["specifications"].as_array().unwrap()) {
        assert_eq!((&old["when"], &old["allowed"], &old["quality"]), (&new["when"], &new["allowed"], &new["quality"]));
    }
    for own in results.iter().filter(|own| own["verdict"] == "violated") {
        for attack in own["attacks"].as_array().unwrap() {
            let allowed = &specifications[own["specification"].as_u64().unwrap() as usize - 1]["allowed"];
            assert!(!allowed.as_array().unwrap().contains(&attack["decided"]), "{attack}");
        }
    }
}

/// The specifications that two configurations give, in one document.
fn old_and_new(one: &str, other: &str) -> String {
    let found = [one, other].map(|config| json(&["mine", config, "--json"]).0["specifications"].clone());
    let all: Vec<Value> = found.iter().flat_map(|own| own.as_array().unwrap().clone()).collect();
    Value::from(all).to_string()
}

#[test]
fn verdicts_are_remembered_and_replayed() {
    let folder = Folder::new("mine-cache");
    let config = tables(&folder);
    let cache = folder.file("verdicts.json");
    let toy = "zoo/toy/toy.onnx";
    let ask = |extra: &[&str]| {
        let (document, _) =
            json(&[&["mine", &config, "--cache", &cache, "--json", "--verify", toy][..], extra].concat());
        document["networks"][0]["results"].as_array().unwrap().clone()
    };
    let remembered = |results: &[Value]| results.iter().filter(|own| own["remembered"] == true).count();
    let without = |results: &[Value]| -> Vec<Value> {
        let mut results = results.to_vec();
        results.iter_mut().for_each(|own| drop(own.as_object_mut().unwrap().remove("remembered")));
        results
    };
    let first = ask(&[]);
    assert!(first.len() >= 2 && remembered(&first) == 0, "{first:?}");
    let second = ask(&[]);
    assert_eq!((remembered(&second), without(&second)), (first.len(), without(&first)));
    // Attacks are added to what is known, and then remembered with it.
    let attacked = ask(&["--attack"]);
    assert_eq!(remembered(&attacked), first.len());
    assert!(attacked.iter().any(|own| own["attacks"].as_array().is_some_and(|found| !found.is_empty())));
    assert_eq!(ask(&["--attack"]), attacked);
    // A run that wants none does not forget them.
    let other = folder.write("other.toml", CONFIG.replace("decimals = 3", "decimals = 2"));
    let (document, _) = json(&[
        "mine",
        &other,
        "--specifications",
        &folder.write("all.json", old_and_new(&config, &other)),
        "--cache",
        &cache,
        "--json",
        "--verify",
        toy,
    ]);
    assert!(remembered(document["networks"][0]["results"].as_array().unwrap()) >= first.len());
    assert_eq!(ask(&["--attack"]), attacked);

    // A violation that cannot be replayed is asked about again; that something holds is believed.
    let kept = std::fs::read_to_string(&cache).unwrap();
    let mut document: Value = serde_json::from_str(&kept).unwrap();
    let entries = document["verdicts"].as_object_mut().unwrap();
    for entry in entries.values_mut().filter(|entry| entry["verdict"] != "holds") {
        for key in ["input", "between"] {
            if entry.get(key).is_some() {
                entry[key] = serde_json::json!([1e9, 1e9]);
            }
        }
    }
    std::fs::write(&cache, document.to_string()).unwrap();
    let third = ask(&[]);
    let held = first.iter().filter(|own| own["verdict"] == "holds").count();
    assert!(held < first.len());
    assert_eq!(remembered(&third), held);
    assert_eq!(
        third.iter().map(|own| &own["verdict"]).collect::<Vec<_>>(),
        first.iter().map(|own| &own["verdict"]).collect::<Vec<_>>()
    );

    // Another range is another question.
    let coarser = folder.write("toy.toml", CONFIG.replace("decimals = 3", "decimals = 1"));
    assert_eq!(coarser, config);
    let fourth = ask(&[]);
    assert!(remembered(&fourth) < fourth.len());

    // A file of something else is refused and stays.
    std::fs::write(&cache, "{}").unwrap();
    let ran = certus(&["mine", &config, "--verify", toy, "--cache", &cache]);
    assert_eq!((ran.code, ran.stderr.contains("no file of verdicts")), (2, true), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&cache).unwrap(), "{}");
}

#[test]
fn bad_values_are_counted_and_bad_files_refused() {
    let folder = Folder::new("mine-bad");
    let config = tables(&folder);
    let first = std::fs::read_to_string(folder.file("first.csv")).unwrap();
    folder.write("first.csv", first.replacen("\n", "\n,0.1,+\n0.1,what,+\n0.1,0.1,up\n", 1));
    let ran = certus(&["mine", &config]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("first (mined): 3 of 3003 rows left out"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("v1: 1 missing, 0 not a number") && ran.stdout.contains("v2: 0 missing, 1 not a number")
    );

    folder.write("first.csv", "v1,output\n1,+\n");
    let ran = certus(&["mine", &config]);
    assert_eq!((ran.code, ran.stderr.contains("no column is called `v2`")), (2, true), "{}", ran.stderr);
    folder.write("broken.toml", CONFIG.replace("parts = 12", "part = 12"));
    let ran = certus(&["mine", &folder.file("broken.toml")]);
    assert_eq!((ran.code, ran.stderr.contains("unknown field `part`")), (2, true), "{}", ran.stderr);
    let ran = certus(&["mine", &config, "--verify", "zoo/pendulum/pendulum.onnx"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn references_are_observed_and_mined() {
    let folder = Folder::new("observe");
    let mut trace = String::new();
    for second in 0..400 {
        trace.push_str(&format!("{second}\t{}\n", 0.6 + f64::from(second * 7 % 23) / 8.0));
    }
    let traces = folder.write("drive.log", trace);
    let table = folder.file("bb.csv");
    let ran = certus(&["observe", "pensieve", "buffer-based", &traces, "-o", &table]);
    assert_eq!((ran.code, ran.stderr.starts_with("392 observations")), (0, true), "{}", ran.stderr);
    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().count(), 393);
    let parquet = folder.file("bb.parquet");
    assert_eq!(certus(&["observe", "pensieve", "buffer-based", &traces, "-o", &parquet]).code, 0);
    let config = |table: &str| {
        let text = std::fs::read_to_string(root().join("docs/mining/video.toml")).unwrap();
        let text = text.replace("buffer-based.csv", table).replace("mpc.csv", table);
        let (document, code) = json(&["mine", &folder.write("video.toml", text), "--json"]);
        assert_eq!((code, &document["observations"][0]["train"]["used"]), (0, &392.into()));
        document["specifications"].clone()
    };
    assert_eq!(config("bb.csv"), config("bb.parquet"));
    let network = certus(&["observe", "pensieve", "zoo/pensieve/pensieve.onnx", &traces]);
    assert_eq!(network.stdout.lines().count(), 393, "{}", network.stderr);

    folder.write("rate.trace", "2.4\n1.2\n");
    let links = folder.write("links.csv", "trace,delay_ms,loss,queue\nrate.trace,20,0.01,30\n");
    for reference in ["cubic", "bbr", "zoo/aurora/aurora.onnx"] {
        let ran = certus(&["observe", "aurora", reference, &links, "--seconds", "6"]);
        assert!(ran.code == 0 && ran.stdout.lines().count() > 50, "{reference}: {}", ran.stderr);
        assert_eq!(ran.stdout.lines().next().unwrap().split(',').count(), 31);
        assert_eq!(ran.stdout, certus(&["observe", "aurora", reference, &links, "--seconds", "6"]).stdout);
    }
    let wrong = certus(&["observe", "aurora", "mpc", &links]);
    assert_eq!((wrong.code, wrong.stderr.contains("expected `cubic`, `bbr`")), (2, true), "{}", wrong.stderr);
}

/// A Python that has DuckDB, if there is one.
fn python_with_duckdb() -> Option<String> {
    let candidates = std::env::var("CERTUS_PYTHON").ok().into_iter().chain(["python3".to_owned()]);
    candidates.into_iter().find(|python| {
        let imported = Command::new(python).args(["-c", "import duckdb"]).output();
        imported.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn statistics_of_a_database_give_the_same_specifications() {
    let Some(python) = python_with_duckdb() else {
        eprintln!("skipped: no Python with DuckDB (name one in CERTUS_PYTHON)");
        return;
    };
    let folder = Folder::new("mine-sql");
    let config = tables(&folder);
    let first = std::fs::read_to_string(folder.file("first.csv")).unwrap();
    folder.write("first.csv", first.replacen("\n", "\n,0.1,+\n0.1,what,+\n0.1,0.1,up\nnan,0.1,+\n", 1));
    let sql = certus(&["mine", &config, "--emit-sql", "duckdb"]);
    assert_eq!(sql.code, 0, "{}", sql.stderr);
    let (own, _) = json(&["mine", &config, "--json"]);
    for format in ["parquet", "csv"] {
        let statistics = folder.file(&format!("statistics.{format}"));
        let script = format!(
            "import duckdb, sys\ns = sys.stdin.read().split(';')\n\
             duckdb.sql(f\"COPY ({{s[0]}}) TO '{statistics}' (FORMAT {format})\")\n\
             print(duckdb.sql(s[1]).order('reference').fetchall())"
        );
        let counted = python_output(&python, &script, &sql.stdout);
        // Of `first`, in this order: rows, bad labels, bad v1, bad v2.
        assert!(counted.contains("('first', 3004, 1, 2, 1)"), "{counted}");
        let (other, code) = json(&["mine", &config, "--regions", &statistics, "--json"]);
        assert_eq!((code, &other["mined"]), (0, &own["mined"]));
        let said = |document: &Value| -> Vec<Value> {
            let all = document["specifications"].as_array().unwrap().iter();
            all.map(|own| serde_json::json!([own["when"], own["allowed"], own["observed"]])).collect()
        };
        assert_eq!(said(&other), said(&own));
        assert!(!said(&own).is_empty());
    }
}

fn python_output(python: &str, script: &str, input: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new(python)
        .args(["-c", script])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
