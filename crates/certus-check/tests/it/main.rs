//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod choices;
mod convergence;
mod explicit;
mod induction;
mod ltl_encoding;
mod region;
mod state_sets;
mod zoo;
