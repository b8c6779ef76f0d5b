//! VNN-LIB.
