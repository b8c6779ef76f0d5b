//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod canonical_form;
mod conformance;
mod fixed_seed;
mod lower;
