//! Checks shields: programs with invariants that keep a system safe, proved in exact rational arithmetic.
//!
//! [`read_model`] turns the step of a system whose network is outside into polynomials with rational coefficients;
//! [`read_shield`] reads a shield with its certificate; [`check`] decides whether the one proves the other safe. The model
//! is compared with the interval evaluation of the step itself, so that a fault in the reading does not go unnoticed.
//!
//! What is proved of every branch of the program, over the real numbers, with its invariant S:
//! no state of S is unsafe or outside of the certificate's domain; in S the program's actions are within their limits; and
//! from S the program leads to S, whatever the environment does. And together the invariants contain every initial state.
//! Optionally, that each branch's program leads from everywhere in its S into a given box within so many steps, and stays.

mod bernstein;
mod certificate;
mod check;
mod convergence;
mod enclosure;
mod model;
mod observation;
mod polyhedron;
mod polynomial;
mod positive;
mod reading;
mod sos;

pub use certificate::{
    BarrierCertificate, Branch, Convergence, Cover, DecreaseProof, FORMAT, Halfspace, Invariant, Multiplier,
    PieceProof, Polyhedron, PutinarCertificate, Shield, SumOfSquares, read_shield,
};
pub use check::{Accepted, Settled, check};
pub use convergence::{Converges, outsides};
pub use model::{Constraint, Model, Piece, Range};
pub use polynomial::{Monomial, Polynomial, Rational, rational, rounded};
pub use reading::{ReadError, read_model};
