//! What a user asks for, whoever asks: questions read from files, worked on within a budget, answered with what was
//! found out.
//!
//! The command line and the Python bindings are two faces of this crate, so that both say the same. It may depend on
//! every engine. It never prints, never reads arguments, and listens to no signal: whoever calls it does.

#![forbid(unsafe_code)]

pub mod audit;
pub mod check;
mod destination;
mod effort;
pub mod extract;
pub mod failure;
pub mod fault_file;
mod files;
pub mod gate;
pub mod mine;
mod objective;
pub mod observe;
pub mod optimise;
pub mod output;
pub mod patience;
pub mod prob;
pub mod provenance;
mod question;
mod resume;
pub mod shield;
pub mod skeleton;
mod sources;
mod standing;
mod system;
pub mod verify;

pub use effort::{Effort, deadline_after};
pub use failure::Failure;
pub use files::Files;
pub use provenance::Provenance;
pub use question::{Asked, NamedFiles, Question, Sealed, Source};
pub use sources::{Contents, Sources};
pub use standing::Standing;
pub use system::{Loaded, Loading, load, load_system, network_of, property_named};
