//! Simulators that traces or random processes drive, which a `.certus` file cannot be.
//!
//! A `.certus` file describes one step as a function of a state of fixed size. Three systems that learned policies are
//! known for do not fit: [`aurora`] (a queue of packets in flight, of any length), [`pensieve`] (a player whose network
//! is a recorded trace) and [`deeprm`] (a cluster with jobs that arrive at random). They are here as plain simulators,
//! equal to the published ones digit by digit where figures to compare with exist (`examples/golden.rs`).
//!
//! [`traces`] reads the usual formats of bandwidth traces and generates synthetic ones. [`Environment`] is the interface of all three,
//! and [`VectorEnvironment`] steps many copies at once, for training in Python.
//!
//! The crate may depend on `certus-sim` for its random numbers. It proves nothing and never knows about properties.

#![forbid(unsafe_code)]

pub mod aurora;
pub mod deeprm;
mod draw;
mod environment;
mod error;
pub mod pensieve;
pub mod traces;
mod vector_environment;

pub use environment::{ActionSpace, Environment, Outcome, Scalar};
pub use error::{EnvironmentError, SettingError, TraceError};
pub use vector_environment::{Batch, VectorEnvironment};
