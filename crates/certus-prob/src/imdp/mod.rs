//! Interval Markov decision processes: in every state a *scheduler* picks a choice, and *nature* picks probabilities
//! within the choice's intervals.
//!
//! Useful alone: nothing here knows of systems or networks.

pub mod bounded;
mod model;
mod robust;

pub use model::{Builder, Imdp, ModelError};
pub use robust::{Goal, Players};
