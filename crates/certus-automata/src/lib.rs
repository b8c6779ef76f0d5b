//! Linear temporal logic, Büchi automata, and the search for accepting runs.
#![forbid(unsafe_code)]

pub mod acceptance;
pub mod automaton;
pub mod components;
pub mod degeneralise;
pub mod dot;
pub mod emptiness;
pub mod explicit;
pub mod formula;
pub mod graph;
pub mod hoa;
pub mod implication;
pub mod intern;
pub mod label;
pub mod nested;
pub mod normal;
pub mod parse;
pub mod print;
pub mod simplify;
pub mod simulation;
pub mod system;
pub mod tableau;
pub mod translate;
pub mod trim;
mod witness;
pub mod word;
