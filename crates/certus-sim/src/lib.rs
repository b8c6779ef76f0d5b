//! Simulation of the closed loop, many runs at a time, with every property monitored.
//!
//! A [`Simulator`] compiles a system once; [`Simulator::run`] then draws initial states, the environment's choices and
//! random actions, and reports for each run how it ended, with the verdict and robustness of each property. Runs are independent: each
//! has its own stream of random numbers, and the evaluation of a point does not depend on the batch it is in, so the
//! same seed gives the same runs whatever the number of threads.
//!
//! It may depend on `certus-lang` and `certus-graph`. It proves nothing: a simulation that finds no violation says
//! only that.

#![forbid(unsafe_code)]

mod block;
mod choices;
mod compiled;
mod elements;
mod environments;
mod error;
mod options;
mod report;
mod rollout;
pub mod semantics;
mod simulator;
mod summary;
mod surrogate;

pub use elements::{Element, Starts};
pub use environments::{Answers, Ended, EnvironmentOptions, Environments, Shown};
pub use error::SimulationError;
pub use options::{ActionMode, InputSource, Options, Plan, Plans, Script, element_names};
pub use report::{End, PropertyReport, RunReport, Step, Trace, Verdict};
pub use simulator::{Progress, Simulator};
pub use summary::{PropertySummary, Summary, wilson_interval};
