//! certus-lang
