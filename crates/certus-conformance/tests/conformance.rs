//! A fixed part of the comparison of engines with the reference interpreter.

use certus_conformance::campaign::Campaign;
use certus_conformance::rows::Row;

#[test]
fn engines_agree_with_the_interpreter() {
    // Every row; shields take longer, and only some systems get one.
    let campaign =
        Campaign { first: 0, systems: 16, properties: 3, seed: 1, rows: Row::all(), binary: None, threads: 2 };
    let tally = campaign.run(&|_, _| {}).unwrap();
    let wrong = &tally.disagreements;
    assert!(wrong.is_empty(), "{} disagreements, the first one is {:#?}", wrong.len(), wrong.first());
    assert!(tally.triples > 150, "{}", tally.triples);
}
