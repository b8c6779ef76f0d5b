//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod environments;
mod runs;
