//! Temporal logic for all time on continuous systems.
//!
//! The state space is cut into units ([`lattice`]). In each unit everything that the policy may do there, and everything that
//! can follow, is enclosed soundly ([`expand`]), so the units are a finite system that has every run of the real one. It is read by the
//! automaton of the property's violations ([`reading`]) as it is made ([`explore`]); if no run of the product is accepted ([`cycles`]), no run
//! of the system violates the property. An accepted one is tried on the system itself; if it is none of that system's, units are cut finer
//! where it went.
//!
//! Depends on `certus-automata`, `certus-check` (replay of runs), `certus-sim` and `certus-solver`. It never prints and reads no files.

#![forbid(unsafe_code)]

mod blocks;
mod bounded;
pub mod coarse;
pub mod concrete;
pub mod cycles;
pub mod doubts;
mod engine;
pub mod expand;
pub mod explore;
pub mod extract;
mod handing;
mod initials;
mod judging;
mod labels;
pub mod lattice;
pub mod moves;
mod peer;
mod possible;
pub mod reading;
mod relevant;
mod report;
pub mod returns;
pub mod rounding;
mod shelves;
mod stepping;
pub mod units;

pub use engine::{NAME, Options, Policy, Standing, check, dimensions, suggested_widths};
pub use peer::Grid;
pub use possible::possible;
pub use report::{Report, Shown};
