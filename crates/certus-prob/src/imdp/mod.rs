//! Interval Markov decision processes: in every state a *scheduler* picks a choice, and *nature* picks probabilities
//! within the choice's intervals.
//!
//! R. Givan, S. Leach and T. Dean, 'Bounded-parameter Markov decision processes', Artificial Intelligence 122 (2000). Nature is adversarial or
//! cooperative and may pick anew at every step (the interval MDP semantics, not that of uncertain Markov chains).
//!
//! Useful alone: nothing here knows of systems or networks.

mod bellman;
pub mod drn;
mod end_components;
pub mod explicit;
pub mod interval_iteration;
mod model;
pub mod prism;
pub mod property;
pub mod robust_value_iteration;

pub use bellman::{Objective, Players};
pub use model::{Builder, Imdp, ModelError};
