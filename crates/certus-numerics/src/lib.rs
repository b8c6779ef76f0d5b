//! Numerical building blocks that every engine shares.
//!
//! * [`interval`]: intervals of reals with outward rounding;
//! * [`double_double`]: double-double arithmetic with an enclosed remainder;
//! * [`random`]: reproducible random numbers, named by a seed and a stream;
//! * [`components`]: strongly connected components of a graph that may be generated on demand;
//! * [`parallel`]: maps over scoped threads whose results do not depend on the number of threads;
//! * `conic` (with the feature of that name): linear and semidefinite programs by an interior-point method.
//!
//! The crate knows nothing of graphs of operators, systems or properties.
//!
//! Two dense dual simplex methods are not here, on purpose. The one of `certus-solver` minimises a slack over hundreds of columns, can be
//! warm-started to score branching candidates, and returns multipliers that a backward bound re-evaluates. The one of `certus-prob`
//! evaluates the support function of a polyhedron in a handful of dimensions, millions of times, from a basis of box sides, and returns a
//! bound that is rigorous by itself. Their pivoting rules, tolerances and results differ; only the textbook method is common to both.
#![forbid(unsafe_code)]

pub mod components;
#[cfg(feature = "conic")]
pub mod conic;
pub mod double_double;
pub mod interval;
pub mod parallel;
pub mod random;

pub use double_double::DoubleDouble;
pub use interval::Interval;
pub use random::Random;
