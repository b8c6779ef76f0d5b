//! certus-graph
