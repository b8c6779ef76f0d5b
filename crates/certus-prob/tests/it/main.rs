//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod abstraction;
mod enumeration;
mod from_below;
mod imdp;
