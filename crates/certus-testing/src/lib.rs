//! Random graphs, for property tests of several crates: a pass over graphs must not change what they compute, and bounds must
//! contain what evaluation gives. Not part of the product.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod graphs;
pub mod sketch;
