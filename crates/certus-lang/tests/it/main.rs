//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod docs;
mod exact;
mod lowering;
mod open;
mod robust;
mod round_trip;
mod semantics;
mod support;
mod wrong_files;
mod zoo;
