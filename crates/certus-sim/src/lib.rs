//! certus-sim
