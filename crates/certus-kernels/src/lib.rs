//! certus-kernels
