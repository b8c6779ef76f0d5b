//! Shields: small programs with invariants, synthesised beside a policy and proved in exact arithmetic.
//!
//! The method is that of H. Zhu, Z. Xiong, S. Magill and S. Jagannathan, 'An inductive synthesis framework for verifiable reinforcement
//! learning', PLDI 2019: counterexample-guided inductive synthesis (CEGIS) of a program with an inductive invariant, which then guards the network at
//! run time.
//!
//! | CEGIS | here |
//! | --- | --- |
//! | the loop | [`synthesis`] |
//! | candidates (inductive synthesis) | [`program_synthesis`]: fitted, random search, LQR ([`lqr`]) |
//! | invariants of a candidate | `branch_synthesis`: [`polyhedron`], [`barrier`] ([`sos`]), [`ellipsoid`] |
//! | verification | `certus_audit::shield::check` |
//! | counterexamples | [`coverage`]: an initial state that no invariant contains |
//! | quality | `minimal_interference`, `union`; [`evaluation`] in simulated runs |
//!
//! [`synthesis`] finds, for a system and a safety property, a program `if φ₁: a₁ else if φ₂: a₂ …` whose branches each keep
//! the system in an invariant set, and proofs of that which `certus-audit` checks in rational arithmetic. Everything in
//! this crate searches in floating point; nothing it says is believed before that check.
//!
//! May depend on the reading of systems, on evaluation and simulation, and on the audit. It never prints.

#![forbid(unsafe_code)]
// Matrices are read best with indices.
#![allow(clippy::needless_range_loop)]

pub mod barrier;
mod branch_synthesis;
pub mod convergence;
pub mod coverage;
pub mod document;
mod domain;
pub mod ellipsoid;
pub mod evaluation;
pub mod export;
pub mod history;
pub mod horner;
mod inner_box;
pub mod linear_algebra;
pub mod lqr;
mod minimal_interference;
mod modes;
pub mod network;
pub mod plant;
pub mod polyhedron;
pub mod polynomial;
pub mod program_synthesis;
mod restore;
pub mod rollout;
pub mod runtime;
mod scaled_loop;
pub mod sos;
pub mod synthesis;
pub mod text;
mod union;
mod work_count;
