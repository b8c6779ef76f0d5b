//! The contract of the command line: output, exit codes, and what bad input gets.

use crate::support::{Folder, certus, certus_with_input};
use serde_json::Value;

const PENDULUM: &str = "zoo/pendulum/pendulum.certus";
const TOY: &str = "zoo/toy/toy.certus";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn simulation_without_a_violation_exits_with_zero() {
    let ran = certus(&["simulate", PENDULUM, "--runs", "50", "--steps", "100", "--seed", "3"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("pendulum: 50 runs of at most 100 steps, seed 3"), "{}", ran.stdout);
    assert!(ran.stdout.contains("50 made all their steps"));
}

#[test]
fn simulation_with_a_violation_exits_with_one_and_says_where() {
    let ran = certus(&["simulate", TOY, "--runs", "50", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let document = json(&ran.stdout);
    assert_eq!(document["system"], "toy");
    let property = document["properties"].as_array().unwrap().iter().find(|p| p["property"] == "below_five").unwrap();
    assert!(property["violated"].as_u64().unwrap() > 0);
    let run = property["worst_run"].as_u64().unwrap().to_string();
    // The run that it names can be looked at alone, and breaks the property there too.
    let alone = certus(&["simulate", TOY, "--first-run", &run, "--runs", "1", "--format", "jsonl"]);
    let report = json(&alone.stdout);
    assert_eq!(report["run"].to_string(), run);
    let seen = &report["properties"]["below_five"];
    assert_eq!(seen["verdict"], "violated");
    let step = seen["broken_at"].as_u64().unwrap() as usize;
    assert!(report["trace"][step]["policy"]["y"].as_f64().unwrap() >= 5.0, "{}", alone.stdout);
}

#[test]
fn recorded_inputs_can_be_played_again() {
    let folder = Folder::new("replay");
    let table = folder.file("runs.csv");
    let first = certus(&["simulate", TOY, "--runs", "5", "--steps", "9", "--format", "csv", "-o", &table]);
    assert_eq!((first.code, first.stdout.as_str()), (1, ""), "{}", first.stderr);
    let recorded = std::fs::read_to_string(&table).unwrap();
    assert!(recorded.starts_with("run,step,v1,v2,d1,d2,y\n0,0,"), "{recorded}");
    assert_eq!(recorded.lines().count(), 1 + 5 * 10);
    let again = certus(&["simulate", TOY, "--runs", "5", "--steps", "9", "--format", "csv", "--inputs", &table]);
    assert_eq!(again.stdout, recorded);
    assert_eq!(folder.names(), ["runs.csv"]);
}

#[test]
fn threads_change_nothing() {
    let run =
        |threads| certus(&["simulate", TOY, "--runs", "700", "--steps", "5", "--format", "csv", "--threads", threads]);
    assert_eq!(run("1").stdout, run("3").stdout);
}

#[test]
fn parameters_can_be_set_and_are_checked() {
    let heavier = certus(&["inspect", PENDULUM, "--set", "mass=1.3", "--json"]);
    let params = json(&heavier.stdout)["params"].clone();
    assert!(params.as_array().unwrap().iter().any(|p| p["name"] == "mass" && p["value"] == 1.3));
    let unknown = certus(&["simulate", PENDULUM, "--set", "mas=1"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("mass"), "{}", unknown.stderr);
    assert_eq!(certus(&["simulate", PENDULUM, "--set", "mass=100"]).code, 2);
    assert_eq!(certus(&["simulate", PENDULUM, "--set", "mass"]).code, 2);
}

#[test]
fn a_model_that_leaves_its_range_is_reported_with_the_place() {
    let folder = Folder::new("range");
    std::fs::copy(crate::support::root().join("zoo/toy/toy.onnx"), folder.0.join("toy.onnx")).unwrap();
    let file = folder.write(
        "grow.certus",
        "system grow\nstate x in [0, 3]\npolicy y = net(\"toy.onnx\", x, 0)\nnext x = x + 1 + 0 * y\ninit x == 0\n",
    );
    let ran = certus(&["simulate", &file, "--runs", "1", "--steps", "9"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("run 0, step 4: x = 4 is outside of [0, 3]"), "{}", ran.stdout);
}

#[test]
fn an_adversary_needs_inputs_and_a_known_property() {
    let none = certus(&["simulate", PENDULUM, "--inputs", "adversary"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("no `input`"), "{}", none.stderr);
    let misspelt = certus(&["simulate", TOY, "--inputs", "adversary", "--property", "below_fve"]);
    assert!(misspelt.stderr.contains("did you mean 'below_five'?"), "{}", misspelt.stderr);
    let missing = certus(&["simulate", TOY, "--inputs", "nowhere.csv"]);
    assert!(missing.stderr.contains("there is no file nowhere.csv"), "{}", missing.stderr);
}

#[test]
fn nothing_can_be_said_of_no_runs() {
    let network = "zoo/toy/toy.onnx";
    for arguments in [vec!["simulate", TOY], vec!["gate", TOY, network], vec!["shield", "run", "none.shield.json"]] {
        let ran = certus(&[&arguments[..], &["--runs", "0"]].concat());
        assert!(ran.code == 2 && ran.stderr.contains("0 is not in 1.."), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_timeout_of_zero_is_undecided() {
    let ran = certus(&["simulate", PENDULUM, "--timeout", "0", "--runs", "10"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stderr.contains("--first-run 0 --runs 10"), "{}", ran.stderr);
}

#[test]
fn inspect_evaluates_a_network() {
    let ran = certus(&["inspect", "zoo/pendulum/pendulum.onnx", "--eval", "0.1,-0.2", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document = json(&ran.stdout);
    assert_eq!(document["inputs"][0]["shape"].as_array().unwrap().last().unwrap(), 2);
    assert!(document["evaluation"]["float32"][0][0].is_number());
    let wrong = certus(&["inspect", "zoo/pendulum/pendulum.onnx", "--eval", "0.1"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("takes 2 numbers, got 1"), "{}", wrong.stderr);
}

#[test]
fn broken_networks_get_one_clear_error() {
    let folder = Folder::new("networks");
    let whole = std::fs::read(crate::support::root().join("zoo/toy/toy.onnx")).unwrap();
    let cut = folder.write("cut.onnx", &whole[..whole.len() / 2]);
    let garbage = folder.write("garbage.onnx", b"this is no network at all");
    let empty = folder.write("empty.onnx", b"");
    let other = folder.write("weights.bin", b"1 2 3");
    for file in [cut, garbage, empty, other, folder.file("missing.onnx")] {
        let ran = certus(&["inspect", &file]);
        assert_eq!(ran.code, 2, "{file}: {}", ran.stdout);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(&file), "{file}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn broken_systems_get_their_place() {
    let folder = Folder::new("systems");
    let file = folder.write("wrong.certus", "system wrong\nstate x in [0, 1]\nnext x = y\n");
    let ran = certus(&["simulate", &file]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("wrong.certus:3:10"), "{}", ran.stderr);
    let missing = certus(&["simulate", &folder.file("missing.certus")]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("missing.certus"), "{}", missing.stderr);
}

#[test]
fn fmt_rewrites_checks_and_leaves_broken_files_alone() {
    let folder = Folder::new("fmt");
    let loose = "system   s\nstate x in [0,1]\nnext x=x\n";
    let file = folder.write("loose.certus", loose);
    let broken = folder.write("broken.certus", "system\nstate x in [0,1\n");
    let check = certus(&["fmt", "--check", &file]);
    assert_eq!(check.code, 1);
    assert!(check.stdout.contains("loose.certus is not in canonical form"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), loose);
    let both = certus(&["fmt", &broken, &file]);
    assert_eq!(both.code, 2);
    assert!(std::fs::read_to_string(&broken).unwrap().ends_with("[0,1\n"));
    let formatted = std::fs::read_to_string(&file).unwrap();
    assert!(formatted.contains("state x in [0, 1]"), "{formatted}");
    assert_eq!(certus(&["fmt", "--check", &file]).code, 0);
    assert_eq!(certus_with_input(&["fmt", "-"], loose).stdout, formatted);
    let listed = json(&certus(&["fmt", "--check", "--json", &file]).stdout);
    assert_eq!(listed["files"][0]["status"], "canonical");
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let ran = certus(&["simulate", TOY, "--runs", "1", "-o", "/nonexistent/folder/out.csv"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot write /nonexistent/folder/out.csv"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn outputs_go_where_their_names_lead() {
    let folder = Folder::new("names");
    let (pipe, link, target) = (folder.file("pipe"), folder.file("link.json"), folder.write("target.json", "old"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("target.json", &link).unwrap();
    let check = |output: &str| certus(&["check", TOY, "below_ten", "-k", "1", "--json", "-o", output]);
    // A pipe is written to, once and to its end.
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(check(&pipe).code, 0);
    assert_eq!(json(&reader.join().unwrap())["system"], "toy");
    // Through a link its file is replaced.
    assert_eq!(check(&link).code, 0);
    assert_eq!(json(&std::fs::read_to_string(&target).unwrap())["system"], "toy");
    assert!(folder.0.join("link.json").is_symlink());
    assert_eq!(folder.names(), ["link.json", "pipe", "target.json"]);
    assert_eq!(json(&check("/dev/stdout").stdout)["system"], "toy");
}

#[test]
fn two_outputs_in_one_file_are_refused() {
    let folder = Folder::new("twice");
    let file = folder.file("out.json");
    let ran = certus(&["check", TOY, "-o", &file, "--trace", &file]);
    assert!(ran.code == 2 && ran.stderr.contains("two outputs would be written to one file"), "{}", ran.stderr);
    assert_eq!(folder.names(), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    // /dev/full refuses every byte; a result as long as this one cannot hide in a buffer.
    let program = env!("CARGO_BIN_EXE_certus");
    let script = format!("{program} simulate {TOY} --runs 50 --format csv > /dev/full");
    let ran =
        std::process::Command::new("sh").args(["-c", &script]).current_dir(crate::support::root()).output().unwrap();
    assert_eq!(ran.status.code(), Some(2), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot write the output"));
}

#[test]
fn verify_answers_in_the_form_of_the_competition() {
    let ask = |file: &str, more: &[&str]| certus(&[&["verify", "zoo/toy/toy.onnx", file], more].concat());
    let unsat = ask("zoo/toy/below_ten.vnnlib", &[]);
    assert_eq!((unsat.code, unsat.stdout.as_str()), (0, "unsat\n"), "{}", unsat.stderr);
    let sat = ask("zoo/toy/below_five.vnnlib", &[]);
    let lines: Vec<&str> = sat.stdout.lines().collect();
    assert_eq!((sat.code, lines[0], lines.len()), (0, "sat", 4), "{}", sat.stdout);
    assert!(lines[1].starts_with("((X_0 ") && lines[3].starts_with("(Y_0 ") && lines[3].ends_with("))"));
    // The point that it shows evaluates to the output that it shows.
    let number = |line: &str| line.trim_matches(['(', ')']).split(' ').nth(1).unwrap().to_owned();
    let point = format!("{},{}", number(lines[1]), number(lines[2]));
    let evaluated = json(&certus(&["inspect", "zoo/toy/toy.onnx", "--eval", &point, "--json"]).stdout);
    let output: f64 = number(lines[3]).parse().unwrap();
    assert!(output >= 5.0);
    assert_eq!(evaluated["evaluation"]["float32"][0][0].as_f64().unwrap(), output);
    assert_eq!(json(&ask("zoo/toy/below_ten.vnnlib", &["--json"]).stdout)["verdict"], "unsat");
}

#[test]
fn a_specification_that_does_not_fit_is_refused() {
    let folder = Folder::new("vnnlib");
    let odd = folder.write("odd.vnnlib", "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= Y_0 nan))\n");
    let ran = certus(&["verify", "zoo/toy/toy.onnx", &odd]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("line 3, column 17"), "{}", ran.stderr);
    let short =
        folder.write("short.vnnlib", "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= Y_0 0))\n");
    let ran = certus(&["verify", "zoo/toy/toy.onnx", &short]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("1 inputs"), "{}", ran.stderr);
    let missing = certus(&["verify", "zoo/toy/toy.onnx", "nowhere.vnnlib"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.starts_with("error: cannot read nowhere.vnnlib: "), "{}", missing.stderr);
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = certus(&["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("simulate"), "{shell}");
    }
}

#[test]
fn help_teaches_and_usage_errors_exit_with_two() {
    let help = certus(&["--help"]);
    assert_eq!(help.code, 0);
    for command in ["simulate", "inspect", "report", "new", "fmt", "completions", "Exit codes"] {
        assert!(help.stdout.contains(command), "{command}");
    }
    assert_eq!(certus(&["simulat"]).code, 2);
    assert_eq!(certus(&[]).code, 2);
}
