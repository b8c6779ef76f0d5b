//! The JSON documents that Certus writes, one type per kind.
//!
//! A document names its kind and version in its first member, `"schema": "certus/<kind>/<version>"`. The command line, the
//! Python package and the report build and read these types; nothing else defines a member. JSON Schemas are made from the
//! types (`docs/schema`), and this crate knows nothing of the rest of Certus.
//!
//! Conventions:
//!
//! * A member without a value is either `null` (an `Option`) or absent (an `Option` that is skipped; `Option<Option<_>>` where
//!   a member can be all three). Which one it is is part of the contract.
//! * Numbers that JSON cannot write are texts: see [`Number`].
//! * Objects whose members are names of the system's keep their order: see [`Members`].
//! * Unknown members are refused, so that a document that is read and written again is the same document.

#[macro_use]
mod words;

pub mod audit;
pub mod check;
mod common;
pub mod extract;
pub mod fmt;
pub mod gate;
pub mod inspect;
pub mod mdp;
pub mod mine;
pub mod new;
mod number;
pub mod observe;
pub mod optimise;
pub mod prob;
mod provenance;
mod read;
pub mod region;
pub mod report;
mod schema;
pub mod shield;
pub mod shield_export;
pub mod shield_run;
pub mod shield_synthesis;
pub mod simulate;
pub mod state_sets;
pub mod verify;

pub use common::{Assignment, Interval, Members, NamedRange, Scope, Values, members};
pub use number::{Number, numbers, plain};
pub use provenance::{Claim, Limit, Provenance, Replaced, Setting, SourceFile, Time};
pub use read::{AnyDocument, ReadError, read, schemas};
pub use schema::{Document, Schema};
