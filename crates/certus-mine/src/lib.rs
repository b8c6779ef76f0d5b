//! Specifications from observations of reference algorithms.
//!
//! Before the network there was an algorithm that everybody trusted. From logs of such *references* (what they saw, what
//! they decided) this crate finds boxes of the input space in which all of them decided alike, writes them down as
//! specifications, says how well they fit, and asks the query solver whether networks obey them. The method is that of
//! SpecTRA (I. Chaudhary, S. Lin, C. Tan, G. Singh), whose Algorithm 1 is in [`mining`]; what goes beyond it has files of
//! its own ([`refine`], [`search`]).
//!
//! | step | where |
//! | --- | --- |
//! | what the columns mean | [`config`], [`layout`], [`outputs`] |
//! | reading tables of any size, counting what is wrong in them | [`table`], [`observations`] |
//! | the input space in bins, and what was seen in each | [`bins`], [`regions`] |
//! | dense clusters of bins, their boxes | [`dbscan`], [`mining`] |
//! | how well specifications fit | [`quality`] |
//! | what others can read | [`mod@write`], [`sql`] |
//! | networks | [`query`], [`attack`] |
//!
//! Depends on `certus-graph` and `certus-solver`. It never prints and reads no arguments.

#![forbid(unsafe_code)]

pub mod attack;
pub mod bins;
pub mod config;
pub mod dbscan;
mod error;
pub mod layout;
pub mod mining;
pub mod observations;
pub mod outputs;
pub mod quality;
pub mod query;
pub mod refine;
pub mod regions;
pub mod search;
mod specification;
pub mod spread;
pub mod sql;
pub mod table;
pub mod write;

pub use error::MineError;
pub use specification::{Bound, Specification};
