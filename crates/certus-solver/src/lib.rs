//! Queries: is there a point of a region at which a formula over a graph's nodes holds?
//!
//! Depends on `certus-graph` alone. It never knows about systems or properties.

#![forbid(unsafe_code)]

pub mod formula;
pub mod vnnlib;
