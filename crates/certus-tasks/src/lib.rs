//! What a user asks for, whoever asks: questions read from files, worked on within a budget, answered with what was
//! found out.
//!
//! The command line and the Python bindings are two faces of this crate, so that both say the same. It may depend on
//! every engine. It never prints, never reads arguments, and listens to no signal: whoever calls it does.

#![forbid(unsafe_code)]

pub mod audit;
mod budget;
pub mod check;
pub mod commands;
pub mod extract;
pub mod failure;
pub mod fault_file;
mod files;
pub mod fmt;
pub mod gate;
pub mod inspect;
pub mod mdp;
pub mod mine;
pub mod new;
mod objective;
pub mod observe;
pub mod optimise;
pub mod output;
mod output_target;
mod plants;
pub mod prob;
mod progress;
pub mod project_template;
pub mod provenance;
mod query;
pub mod report;
mod resume;
pub mod shield;
pub mod simulate;
mod sources;
pub mod statistics;
mod system;
pub mod verify;

pub use certus_engine::{Ended, Job, Progress};

pub use budget::{BudgetOptions, deadline_after};
pub use failure::Failure;
pub use files::Files;
pub use progress::SearchProgress;
pub use provenance::Provenance;
pub use query::{LoadedQuery, NamedFiles, QuerySource, Sealed, Source};
pub use sources::{Contents, Sources};
pub use system::{Loaded, Loading, load, load_system, network_of, property_named, read_network};
