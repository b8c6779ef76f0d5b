//! LTL model checking of continuous systems, for unbounded time, on a grid abstraction that is refined by counterexamples.
//!
//! The state space is divided into cells ([`grid`]). In each cell everything that the policy may do, and everything that can
//! follow, is enclosed soundly ([`expand`]), so the cells form a finite transition system that simulates the real one: every run of the system is a run of
//! the abstraction. The product with the Büchi automaton of the property's violations ([`violation_automaton`]) is built on the fly ([`explore`]); if its language is empty
//! ([`emptiness`]), no run of the system violates the property. Otherwise the abstract counterexample is concretised ([`concretise`]). If that fails it may be
//! spurious, and the cells that it passes are split (counterexample-guided abstraction refinement).
//!
//! Depends on `certus-automata`, `certus-check` (replay of runs), `certus-sim` and `certus-solver`. It never prints and reads no files.

#![forbid(unsafe_code)]

mod blocks;
mod cell_index;
pub mod cells;
mod coarse_to_fine;
mod concrete_step;
pub mod concretise;
mod cone_of_influence;
pub mod counterexample;
pub mod emptiness;
mod engine;
pub mod expand;
mod explain;
pub mod explore;
pub mod extract;
mod feasibility;
pub mod grid;
mod initial_cells;
mod labels;
mod monitor;
mod parallel;
mod peer;
pub mod policy_bounds;
pub mod policy_evaluation;
pub mod possible_errors;
pub mod product;
mod propagation;
mod range_invariants;
mod reach_tube;
mod refinement;
mod report;
pub mod rounding_error;
mod split;
pub mod transition_relation;
mod universality;
mod validate;
pub mod violation_automaton;

pub use coarse_to_fine::suggested_widths;
pub use engine::{NAME, Options, Policy, Prepared, Progress, check, check_prepared};
pub use feasibility::check_feasible;
pub use peer::GridEngine;
pub use report::{Report, Shown};
