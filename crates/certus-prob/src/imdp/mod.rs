//! Interval Markov decision processes: in every state a *scheduler* picks a choice, and *nature* picks probabilities
//! within the choice's intervals.
//!
//! Useful alone: nothing here knows of systems or networks.

pub mod bounded;
mod components;
pub mod drn;
pub mod explicit;
mod model;
pub mod prism;
pub mod property;
mod robust;
pub mod unbounded;

pub use model::{Builder, Imdp, ModelError};
pub use robust::{Goal, Players};
