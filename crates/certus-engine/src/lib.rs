//! How engines are run: one trait, one budget, one portfolio, one kind of job.
//!
//! * [`Engine`]: says whether it can take a property, and starts a [`Session`] that works on it turn by turn;
//! * [`Budget`]: work, deadline, memory, threads, seed and cancellation, the same for every engine;
//! * [`portfolio`]: engines that take turns as peers, with growing work, in a fixed order;
//! * [`Job`]: a command's work with its deadline, cancellation, partial result and progress;
//! * [`schedule`]: how several properties share the time until a deadline;
//! * [`Progress`]: how far an engine is.
//!
//! The crate knows no engine. It never prints, reads no files and listens to no signal.

#![forbid(unsafe_code)]

mod budget;
mod engine;
mod job;
pub mod portfolio;
mod progress;
pub mod schedule;

pub use budget::{Budget, FIRST_WORK, OPENING_WORK, WORK_FACTOR, is_worth_more_work, of_turn, spent};
pub use engine::{Engine, Next, Session, Shared, Support, Task, Turn, Watch};
pub use job::{Board, Ended, Job, JobError};
pub use portfolio::{Finished, run_alone, run_portfolio};
pub use progress::{Depth, Progress};
