//! Probabilities of failure: interval MDPs, and bounds for random policies through them.
//!
//! * [`template_polyhedron`]: the abstract domain: boxes, octagons and any other template;
//! * [`abstraction`]: a system over such regions, one step at a time;
//! * [`engine`]: bounds on `P [F<=k φ]` by unfolding or by a partition, and concrete start states below them;
//! * [`imdp`]: interval MDPs, which stand alone: models, robust value iteration, formats.
//!
//! It may depend on `certus-engine`, `certus-lang`, `certus-sim` and `certus-solver`; `imdp` depends on none of them. It never prints.

#![forbid(unsafe_code)]

pub mod abstraction;
mod check;
pub mod engine;
pub mod imdp;
mod peer;
pub mod template_polyhedron;

/// The engine's name.
pub const NAME: &str = "imdp";

pub use check::{Domain, Method, Options, Outcome, can_check, check};
pub use engine::search::{Cell, Standing};
pub use engine::{Budget, Errors};
pub use peer::{Convergence, ImdpAbstraction, Narrowed, check_with_convergence};
