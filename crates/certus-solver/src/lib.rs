//! Queries: is there a point of a region at which a formula over a graph's nodes holds?
//!
//! [`solve`] answers `Sat` with a point that was replayed by plain evaluation, `Unsat` when every part of the region was
//! closed by a bound that accounts for rounding, or `Unknown` with what was learnt. [`vnnlib`] reads such questions from
//! files.
//!
//! Depends on `certus-graph` and `certus-kernels`. It never knows about systems or properties.

#![forbid(unsafe_code)]

mod answer;
mod attack;
mod bound;
pub mod file;
pub mod formula;
mod linear_program;
mod lines;
mod query;
mod ranges;
mod relaxation;
mod search;
#[cfg(test)]
#[path = "../../certus-graph/tests/sketch/mod.rs"]
#[allow(dead_code, reason = "tests of the graph use the rest")]
mod sketch;
mod slopes;
pub mod vnnlib;

pub use answer::{Answer, Progress, Refutation, UnknownReason, Witness};
pub use attack::{Falsification, falsify};
pub use lines::{Line, Lines};
pub use query::{Place, Query, QueryError, Region};
pub use ranges::{Enclosed, Forms, Ranges, Reduced, middle};
pub use search::{Budget, Maximum, Saved, SavedError, Watcher, optimise, solve, solve_from};
pub use slopes::{Sloped, Slopes};
