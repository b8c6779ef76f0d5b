//! The few BLAS and LAPACK routines that clarabel's semidefinite cones call.
//!
//! Clarabel declares them as foreign functions and leaves it to the program to supply them. The usual suppliers need a
//! Fortran compiler, cmake or a download; at the sizes of sums of squares (matrices of at most a hundred or so rows)
//! plain loops are good enough. `certus-numerics` links them where it wraps clarabel (feature `conic`). The names are global symbols of a program; a shared
//! library has to keep them local, as `python/build.rs` does.
//!
//! [`dense`] has the routines over slices; [`symbols`] gives them the names and the calling convention of Fortran, and
//! is, with the kernels, the only `unsafe` code of Certus. Nothing that is proved depends on them: they only help to find
//! candidates, which are checked in exact arithmetic.

// Matrices are read best with indices.
#![allow(clippy::needless_range_loop)]

pub mod dense;
pub mod symbols;
