//! The binary beside the reference interpreter: verdicts of documents, and exit codes.

use std::path::PathBuf;

use certus_conformance::campaign::Campaign;
use certus_conformance::rows::Row;

#[test]
fn documents_and_exit_codes_are_those_of_the_truth() {
    let campaign = Campaign {
        first: 0,
        systems: 12,
        properties: 3,
        seed: 2,
        rows: vec![Row::ExitCodes],
        binary: Some(PathBuf::from(env!("CARGO_BIN_EXE_certus"))),
        threads: 2,
    };
    let tally = campaign.run(&|_, _| {}).unwrap();
    let wrong = &tally.disagreements;
    assert!(wrong.is_empty(), "{} disagreements, the first one is {:#?}", wrong.len(), wrong.first());
    assert!(tally.triples > 15, "{}", tally.triples);
}
