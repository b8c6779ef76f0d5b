//! The dataflow graph of Certus: one DAG of tensor operators for networks and for plants.
//!
//! A network read from a file and a step of the system around it are the same kind of thing here, a
//! function from tensors to tensors, so whatever bounds a node for one engine bounds it for all. The crate holds
//! the operators (one per file in [`ops`], each with its evaluation in floats, its sound interval evaluation and
//! its shape rule), the import of networks ([`import`]), evaluation ([`eval`]) and the canonical form
//! ([`canonical`]).
//!
//! It may depend on `certus-kernels` alone. It never knows about systems, properties or queries.

#![forbid(unsafe_code)]

pub mod canonical;
mod error;
pub mod eval;
pub mod fault;
pub mod flow;
mod graph;
pub mod import;
pub mod lower;
pub mod ops;
pub mod reads;
mod real;
mod shape;
pub mod store;
mod tensor;

pub use certus_numerics::Interval;
/// Intervals, which live in `certus-numerics`.
pub use certus_numerics::interval;
pub use error::GraphError;
pub use fault::Fault;
pub use graph::{Graph, Node, NodeId, Port};
pub use ops::Op;
pub use real::Real;
pub use shape::{Shape, broadcast_shapes, element_count};
pub use tensor::Tensor;
