//! Any bytes as a query file: reading must not panic, and what is accepted must be written and read back the same.

#![no_main]

use certus_solver::file::{parse_query, print_query};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = bytes;
    let query = match parse_query(&mut reader) {
        Ok(query) => query,
        Err(error) => return assert!(!error.to_string().is_empty(), "a refusal needs a message"),
    };
    let mut text = Vec::new();
    print_query(&mut text, &query).expect("what was read can be written");
    let again = parse_query(&mut text.as_slice()).expect("what was written can be read");
    assert!(again.original() == query.original(), "the graph is the same");
    assert_eq!(again.region(), query.region());
    assert_eq!(again.formula(), query.formula());
    let mut second = Vec::new();
    print_query(&mut second, &again).expect("what was read can be written");
    assert_eq!(text, second, "writing is stable");
});
