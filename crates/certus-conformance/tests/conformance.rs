//! A fixed part of the comparison of engines with the reference interpreter.

use certus_conformance::campaign::Campaign;
use certus_conformance::engines;

#[test]
fn engines_agree_with_the_interpreter() {
    let campaign = Campaign {
        first: 0,
        systems: 120,
        properties: 3,
        seed: 1,
        engines: engines::ALL.to_vec(),
        simulates: true,
        rolls: true,
        threads: 2,
    };
    let tally = campaign.run(&|_| {}).unwrap();
    let first = tally.disagreements.first();
    assert!(first.is_none(), "{} disagreements, the first one is {first:#?}", tally.disagreements.len());
    assert!(tally.triples > 2000, "{}", tally.triples);
}
