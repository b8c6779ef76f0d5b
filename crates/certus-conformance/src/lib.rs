//! Compares every engine with the reference interpreter on small systems.
//!
//! * [`systems`]: small systems as text, each by its number, with properties;
//! * [`formulas`]: all temporal formulas of a size;
//! * [`truth`]: what the interpreter says;
//! * [`engines`]: what an engine says, asked as a user would ask it;
//! * [`networks`]: tiny networks;
//! * [`compare`]: one beside the other;
//! * [`rows`]: who is asked. Beside the engines of `check`: [`simulation`], [`chances`] (probabilities), [`mod@format`],
//!   [`audit`], [`region`], [`gate`], [`extract`], [`verify`], [`mine`], [`shield`], [`exit_codes`] (the binary);
//! * [`dump`]: cases with their truths as JSON, by which `python/tests/test_conformance.py` compares the Python package;
//! * [`campaign`]: many of them;
//! * [`shrink`]: the smallest system on which an engine is still wrong.
//!
//! `cargo run --release -p certus-conformance -- --count 200000` explores at any size; the tests compare a fixed part.

#![forbid(unsafe_code)]

pub mod audit;
pub mod campaign;
pub mod chances;
pub mod compare;
pub mod dump;
pub mod engines;
pub mod exit_codes;
pub mod extract;
pub mod format;
pub mod formulas;
pub mod gate;
pub mod mine;
pub mod networks;
pub mod random;
pub mod region;
pub mod rows;
pub mod shield;
pub mod shrink;
pub mod simulation;
pub mod systems;
pub mod truth;
pub mod verify;
