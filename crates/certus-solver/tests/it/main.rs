//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod degenerate;
mod optimise;
mod random_queries;
mod resume;
mod support;
mod threads;
mod ties;
mod vnnlib;
mod written_decimals;
