//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod common;
mod corpus;
mod exhaustive;
mod hoa;
mod reductions;
mod searches;
mod simplifications;
