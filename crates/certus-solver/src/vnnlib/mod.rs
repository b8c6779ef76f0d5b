//! Reading VNN-LIB, the format of the questions of VNN-COMP: "is there an input of the network, and its output,
//! such that the assertion holds?"
//!
//! The text is a list of S-expressions: variables `X_0, X_1, …` (inputs) and `Y_0, Y_1, …` (outputs) are declared,
//! then formulas over linear comparisons of them are asserted. [`parse`] gives their conjunction in negation normal
//! form; [`Specification::cases`] gives it as a disjunction over input boxes, which is the shape a search works on.
//!
//! Version 2.0 names networks, several of them if need be; [`networks`] reads it.
//!
//! *Exactness.* The numbers are those that are written, not the doubles nearest to them: a decimal that is no double
//! becomes the interval of its two neighbours, strict comparisons stay strict, and there is no tolerance anywhere.
//!
//! *Refusal.* What is not understood (a `nan`, an unknown function, a product of variables, a gap in the numbering)
//! is refused with its line and column. Nothing is skipped but the commands that cannot change the meaning.

mod cases;
mod decimal;
mod error;
mod expression;
mod file;
mod lexer;
mod logic;
mod natural;
pub mod networks;
mod region;
mod script;
mod written;

use std::fmt;

pub use cases::{Case, CasesError};
pub use error::VnnLibError;
pub use file::read;

use self::written::Written;
use crate::formula::Formula;

/// A text may have this many bytes, after decompression.
pub const MAX_BYTES: usize = 256 << 20;

/// A variable of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// `X_i`: element i of the flattened input of the network.
    Input(usize),
    /// `Y_i`: element i of the flattened output of the network.
    Output(usize),
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variable::Input(index) => write!(f, "X_{index}"),
            Variable::Output(index) => write!(f, "Y_{index}"),
        }
    }
}

/// What a VNN-LIB text asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Specification {
    /// How many inputs are declared.
    pub inputs: usize,
    /// How many outputs are declared.
    pub outputs: usize,
    /// All assertions together: the query is satisfiable when inputs and the network's outputs make it true.
    pub assertion: Formula<Variable>,
    /// The decimals of the text that are no doubles.
    written: Written,
}

/// Reads a specification from its text.
pub fn parse(text: &str) -> Result<Specification, VnnLibError> {
    if text.len() > MAX_BYTES {
        return Err(VnnLibError::TooLarge { limit: MAX_BYTES });
    }
    script::specification(text).map_err(|fault| fault.locate(text))
}
