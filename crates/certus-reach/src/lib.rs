//! Reachability of closed loops: sets of states carried through policy and plant.
//!
//! * `form`, `monomials`: Taylor models whose remainder is a zonotope;
//! * `choice`: which rows of affine maps choose between two others;
//! * `curves`, `domain`, `closed_loop`: how they pass through the operators of a step;
//! * `flow`: how they pass through a differential equation;
//! * `set`: reduction, and cuts along guards;
//! * `progression`, `tube`: what is shown of a temporal formula along a tube of sets, also for ever;
//! * `letters`: what is left of it where the set leaves several atoms open;
//! * `modes`: proofs for all time by boxes that are joined;
//! * `flowpipe`: the sets that a tube went through, for pictures and explanations;
//! * `engine`: branching over the initial set, as a peer of the portfolio.
//!
//! It shows that properties hold, and never claims a violation. It depends on `certus-solver` for relaxations and the walker, on no other engine; it never prints and
//! reads no files.

#![forbid(unsafe_code)]

mod choice;
mod closed_loop;
mod curves;
mod domain;
mod engine;
mod flow;
mod flowpipe;
mod form;
mod letters;
mod modes;
mod monomials;
mod progression;
mod set;
mod tube;

pub use engine::{NAME, Pieces, Reach, Takes};
pub use flowpipe::{Flowpipe, Slice, flowpipe};
