//! Model checking of learned policies.
//!
//! A property of a closed loop becomes queries about the loop, unrolled: can a run of so many steps violate it? [`bmc`]
//! asks that for longer and longer runs; a run that it finds is replayed step by step, by plain evaluation, before anybody
//! hears of it.
//!
//! * [`condition`]: truth values of a graph as formulas over its numbers;
//! * [`unroll`]: the loop as one graph, with what must be equal made one variable;
//! * [`simplify`]: bounds of free numbers and labels that a query fixes, put where they help;
//! * [`ltl_encoding`]: temporal formulas over the positions of a run, with a loop or without;
//! * [`lasso_semantics`]: the truth of a temporal formula on a lasso;
//! * [`query`]: one query about runs, ready to be solved;
//! * [`replay`]: runs, evaluated;
//! * [`bmc`]: bounded model checking;
//! * [`induction`]: k-induction, invariants and ranking functions;
//! * [`explicit`]: explicit-state model checking of finite systems;
//! * [`convergence`]: runs that converge to an equilibrium, over the reals;
//! * [`engines`]: the engines as peers of a portfolio;
//! * [`errors`]: model errors;
//! * [`proof`]: the obligations of a proof;
//! * [`vacuity`]: whether a property holds because nothing happens;
//! * [`enclosed`]: whether a whole box of runs violates a property;
//! * [`choices`]: which of the environment's choices a violation needs;
//! * [`parametric`]: a system for all values of its parameters at once;
//! * [`region`]: for which values of parameters a property holds;
//! * [`state_sets`]: the unsafe sets and the goals of a property, for pictures.
//!
//! Depends on `certus-model`, `certus-engine`, `certus-sim` (what finite runs mean) and `certus-solver`. It never prints and reads no files.

#![forbid(unsafe_code)]

mod bad_prefix;
pub mod bmc;
pub mod choices;
pub mod condition;
mod confirm;
pub mod convergence;
pub mod enclosed;
pub mod engines;
pub mod equalities;
pub mod errors;
pub mod explicit;
pub mod guarded;
pub mod induction;
mod interval_check;
mod krawczyk;
pub mod lasso_semantics;
pub mod loops;
pub mod ltl_encoding;
mod meeting;
pub mod monitor;
pub mod parametric;
pub mod proof;
pub mod query;
pub mod reach;
pub mod region;
pub mod replay;
pub mod simplify;
pub mod state_sets;
pub mod unroll;
pub mod vacuity;
mod witness;

pub use confirm::{Confirmed, confirm, walked, with_allowed_end};
