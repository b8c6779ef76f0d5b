//! Linear temporal logic, Büchi automata, and the search for accepting runs.
#![forbid(unsafe_code)]

pub mod formula;
pub mod implication;
pub mod intern;
pub mod label;
pub mod normal;
pub mod parse;
pub mod print;
pub mod simplify;
pub mod word;
