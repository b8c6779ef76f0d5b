//! Falsification: a run that violates a property, looked for by simulation.
//!
//! * [`engine`]: the engine `falsify`, a peer of the portfolio;
//! * `search`: rounds of simulated runs, short ones first;
//! * `coding`: the choices of a run as a point of the unit cube;
//! * `sampling`: random points and corners of the cube;
//! * `evolution`: CMA-ES over the cube, guided by robustness;
//! * `descent`: gradients of robustness, through the steps of a run;
//! * `equality`: the doubles at which two numbers are equal;
//! * `judge`: from a simulated run to a verdict, by replay and intervals;
//! * `rounding`: whether rounding may have decided a run;
//! * `lasso`: where a run returns to an earlier state;
//! * `starts`: initial states that draws do not meet;
//! * `shrink`: the same violation with fewer and rounder numbers.
//!
//! Simulation is that of `certus-sim`, and what a run shows is decided by `certus-check`: replay, loops over the reals, convergence, model
//! errors. The crate proves nothing, so it never says that a property holds.

#![forbid(unsafe_code)]

mod coding;
mod cost;
mod descent;
pub mod engine;
mod equality;
mod evolution;
mod judge;
mod lasso;
mod rounding;
mod sampling;
mod search;
mod shrink;
mod starts;

pub use engine::{Falsify, NAME};
