//! Seeing inside: what engines did and decided, beside a result that stays the same.

use crate::support::certus;

/// The count of that name in a table of statistics.
fn count(table: &str, name: &str) -> u64 {
    let line =
        table.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"));
    line.trim().parse().unwrap()
}

#[test]
fn statistics_have_phases_and_counts_of_every_engine() {
    for (arguments, phases, counts) in [
        (
            &["verify", "zoo/toy/toy.onnx", "zoo/toy/below_ten.vnnlib"][..],
            &["solve"][..],
            &["queries", "subproblems"][..],
        ),
        (&["check", "zoo/toy/toy.certus", "--engine", "bmc", "-k", "2"], &["bmc", "unrolling", "solve"], &["queries"]),
        (&["check", "zoo/toy/toy.certus", "below_ten", "--engine", "induction"], &["induction"], &["queries"]),
        (
            &["check", "zoo/toy/toy.certus", "below_ten", "--engine", "grid", "--width", "0.5"],
            &["grid exploration"],
            &["cells expanded"],
        ),
        (&["prob", "docs/models/tries.certus", "soon"], &["IMDP search", "IMDP unfolding"], &["regions unfolded"]),
        (&["simulate", "zoo/toy/toy.certus", "--runs", "7", "--steps", "3"], &["simulation"], &["simulated runs"]),
    ] {
        let ran = certus(&[arguments, &["--stats"]].concat());
        let table = ran.stderr.split_once("phase ").unwrap_or_else(|| panic!("{arguments:?}: {}", ran.stderr)).1;
        for phase in phases {
            assert!(table.lines().any(|line| line.starts_with(phase)), "{arguments:?}: no {phase} in\n{table}");
        }
        for name in counts {
            assert!(count(table, name) > 0, "{arguments:?}: {name} in\n{table}");
        }
    }
    let ran = certus(&["simulate", "zoo/toy/toy.certus", "--runs", "7", "--steps", "3", "--stats"]);
    assert_eq!(count(&ran.stderr, "simulated runs"), 7);
}

#[test]
fn verbose_tells_which_engine_has_its_turn_and_who_decides() {
    let arguments = ["check", "zoo/toy/toy.certus", "below_ten", "--json"];
    let quiet = certus(&arguments);
    let verbose = certus(&[&arguments[..], &["-v"]].concat());
    assert!(
        verbose.stderr.contains("turn of induction") && verbose.stderr.contains("induction decides"),
        "{}",
        verbose.stderr
    );
    assert!(verbose.stderr.contains("convergence is left out: "), "{}", verbose.stderr);
    assert_eq!((quiet.stderr.as_str(), quiet.code), ("", verbose.code));
    let bounded = ["check", "zoo/toy/toy.certus", "below_ten", "--engine", "bmc", "-k", "2", "-vv"];
    let told = certus(&bounded).stderr;
    assert!(told.contains("no violation") && told.contains("depth=1"), "{told}");
}
