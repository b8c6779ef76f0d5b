//! Solutions of ordinary differential equations: what a plant does between two samples of its controller.
//!
//! [`Field`] is a right-hand side x' = f(x, held, varying) as a scalar program. *Held* numbers do not change over a period
//! (policy outputs, parameters, everything that is not integrated); *varying* ones change arbitrarily, measurably, within their
//! ranges. Taylor coefficients of solutions in time come from recurrences (Moore, *Methods and Applications of Interval
//! Analysis*, 1979, chapter 3), written once over any [`Arithmetic`]: floats, intervals, intervals with gradients, and Taylor
//! models elsewhere.
//!
//! [`FlowPipe`] encloses the solutions of a box of starts over a period, by Lohner's method: see there for why it is right.
//! `float.rs` follows one solution in doubles, for simulation, and `along.rs` looks at a condition along it; nothing is concluded
//! from either.
//!
//! *What a solution is.* An absolutely continuous function with x'(t) = f(x(t), held, w(t)) at almost all instants, for some
//! measurable w in its ranges; where f jumps, in the sense of Filippov. Enclosures hold for all of them.

mod a_priori;
mod along;
mod arithmetic;
mod build;
mod condition;
mod expansion;
mod field;
mod float;
mod function;
mod gradient;
mod growth;
mod lohner;
mod matrix;
mod pipe;
mod program;
mod segment;
mod series;

pub use arithmetic::{Arithmetic, Floats, Intervals};
pub use condition::Condition;
pub use expansion::Expansion;
pub use field::Field;
pub use float::integrate;
pub use function::Function;
pub use gradient::{Gradient, Gradients};
pub use pipe::FlowPipe;

#[cfg(test)]
mod tests;
