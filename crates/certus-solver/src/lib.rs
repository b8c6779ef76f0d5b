//! Queries: is there a point of a region at which a formula over a graph's nodes holds?
//!
//! [`solve`] answers `Sat` with a point that was replayed by plain evaluation, `Unsat` when every subproblem of the region was
//! refuted by a bound that accounts for rounding, or `Unknown` with what was learnt. [`vnnlib`] reads such questions from
//! files.
//!
//! Depends on `certus-graph` and `certus-kernels`. It never knows about systems or properties.

#![forbid(unsafe_code)]

mod affine_forms;
mod answer;
mod attack;
mod bound;
pub mod file;
pub mod formula;
mod jacobian;
mod linear_bounds;
mod lp_relaxation;
mod query;
mod relaxation;
mod search;
pub mod vnnlib;

/// What forward passes outside of this crate are made of: the walker, the lowered graph, its curves.
pub mod domain {
    pub use crate::bound::domain::{AbstractDomain, Keeps, flat_outputs, last_readers_with, walk};
    pub use crate::bound::program::{Layer, Program, Role, Term};
    pub use crate::bound::zonotope::band::band;
    pub use crate::relaxation::Curve;
}

/// Reverse-mode automatic differentiation, for searches in floats.
pub mod gradient {
    pub use crate::attack::gradient::{Gradient, Tape};
}

/// Bounds of accumulated rounding errors.
pub mod rounding {
    pub use crate::bound::{ROOM, gamma};
}

pub use affine_forms::{AffineForms, OutputForms, ReducedNetwork, Symbols, middle};
pub use answer::{Answer, Progress, Refutation, UnknownReason, Witness};
pub use attack::{Falsification, falsify};
pub use jacobian::{Jacobian, JacobianEnclosure};
pub use linear_bounds::{LinearBound, LinearBounds};
pub use query::{Place, Query, QueryError, Region};
pub use search::{Budget, Maximum, Saved, SavedError, Watcher, optimise, solve, solve_from};
