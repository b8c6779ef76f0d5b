//! The few BLAS and LAPACK routines that clarabel's semidefinite cones call.
//!
//! Clarabel declares them as foreign functions and leaves it to the program to supply them. The usual suppliers need a
//! Fortran compiler, cmake or a download; at the sizes of sums of squares (matrices of at most a hundred or so rows)
//! plain loops are good enough. A crate that uses clarabel with its `sdp` feature mentions this one, and is linked with it.
//!
//! [`dense`] has the routines over slices; [`symbols`] gives them the names and the calling convention of Fortran, and
//! is, with the kernels, the only `unsafe` code of Certus. Nothing that is proved depends on them: they only help to find
//! candidates, which are checked in exact arithmetic.

// Matrices are read best with indices.
#![allow(clippy::needless_range_loop)]

pub mod dense;
pub mod symbols;
