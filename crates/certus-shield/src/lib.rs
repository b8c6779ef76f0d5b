//! Shields: small programs with invariants, synthesised beside a policy and proved in exact arithmetic.
//!
//! [`synthesis`] finds, for a system and a safety property, a program `if φ₁: a₁ else if φ₂: a₂ …` whose branches each keep
//! the system in an invariant set, and proofs of that which `certus-audit` checks in rational arithmetic. Everything in
//! this crate searches in floating point; nothing it says is believed before that check.
//!
//! May depend on the reading of systems, on evaluation and simulation, and on the audit. It never prints.

#![forbid(unsafe_code)]
// Matrices are read best with indices.
#![allow(clippy::needless_range_loop)]

mod attempt;
pub mod barrier;
pub mod candidates;
pub mod convergence;
pub mod cover;
pub mod document;
mod domain;
mod effort;
pub mod ellipsoid;
pub mod export;
mod heart;
pub mod history;
pub mod horner;
mod improve;
pub mod linear;
mod modes;
pub mod network;
pub mod plant;
pub mod polyhedron;
pub mod polynomial;
mod restore;
pub mod rollout;
pub mod runtime;
mod setting;
pub mod squares;
pub mod synthesis;
pub mod text;
pub mod trial;
mod union;
