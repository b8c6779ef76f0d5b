//! Checks certificates of reachability proofs.
//!
//! Such a certificate splits the set of initial states into boxes. The checker carries each of them through the closed loop and sees for itself that the property holds along the way, and
//! that no run meets a model error before it is decided:
//!
//! * `claim`: what a certificate says;
//! * `basis`, `form`: Taylor models with noise symbols; `curve`, `powers`, `smooth`: functions of them;
//! * `series`, `flow`: validated integration of differential equations; `pass`: a set through a graph; `sums`: terms that undo each other;
//! * `position`: what is certain at a position, from `docs/semantics.md`; `progression`: what that leaves to show;
//! * `set`, `tube`: sets from step to step, cases; `invariants`: boxes that runs stay in; `check`: the tree.
//!
//! It depends on no engine, and never will: all arithmetic here was written for this purpose. It takes on trust how a file becomes a step (`certus-lang`) and the lowered form of a graph
//! (`certus-graph`). [`Checker::attempt`] suggests what a certificate may say; whoever writes one asks here first.

#![forbid(unsafe_code)]

mod basis;
mod check;
mod claim;
mod curve;
mod flow;
mod form;
mod invariants;
mod pass;
mod position;
mod powers;
mod progression;
mod series;
mod set;
mod smooth;
mod sums;
mod tube;

pub use check::{Attempt, Checked, Checker};
pub use claim::{Branch, Invariant, Reachable};
pub use invariants::Lasting;
