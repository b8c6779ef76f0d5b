//! Why a certificate is not accepted.

use std::fmt;

use certus_graph::GraphError;

/// A certificate that proves nothing: where reading stopped, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The line, from 1; 0 where the fault is not in the certificate.
    pub line: u64,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong with a certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The certificate could not be read.
    Unreadable(String),
    /// The first line is not the one of a certificate of a known version.
    NotACertificate,
    /// The certificate ends before its proof does.
    EndsEarly,
    /// Something follows the last line.
    TrailingRecord,
    /// A record is not written as the format says.
    Malformed(&'static str),
    /// Another case, or the end, was expected.
    WrongCase {
        /// The number of the case that is due, or `None` for the end.
        expected: Option<usize>,
    },
    /// A record names an input, a node, an element, an atom or a disjunction that does not exist.
    Unknown(&'static str),
    /// An atom or a disjunction is used that need not hold in this subproblem.
    NotRequired(&'static str),
    /// A multiplier of a split whose side was not taken on the way here.
    NoSuchRange,
    /// A leaf's combination is not positive everywhere in the subproblem.
    NotClosed {
        /// The lower bound that was found.
        bound: f64,
    },
    /// A new bound of an input does not follow.
    NotImplied {
        /// The input.
        input: usize,
    },
    /// A subproblem that is called empty may have points.
    NotEmpty,
    /// The region or the formula does not fit the graph.
    Problem(&'static str),
    /// The graph cannot be brought into the form that certificates speak of.
    Graph(GraphError),
}

impl Reason {
    pub(crate) fn at(self, line: u64) -> Rejection {
        Rejection { line, reason: self }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unreadable(message) => write!(f, "the certificate cannot be read: {message}"),
            Reason::NotACertificate => f.write_str("this is not a certificate of version 1"),
            Reason::EndsEarly => f.write_str("the certificate ends before its proof is complete"),
            Reason::TrailingRecord => f.write_str("nothing may follow 'end'"),
            Reason::Malformed(what) => write!(f, "malformed record: {what}"),
            Reason::WrongCase { expected: Some(case) } => write!(f, "'case {case}' was expected"),
            Reason::WrongCase { expected: None } => f.write_str("'end' was expected"),
            Reason::Unknown(what) => write!(f, "there is no such {what}"),
            Reason::NotRequired(what) => write!(f, "this {what} need not hold here"),
            Reason::NoSuchRange => f.write_str("no split on the way here bounds this element on this side"),
            Reason::NotClosed { bound } => write!(f, "the combination is not positive: its lower bound is {bound}"),
            Reason::NotImplied { input } => write!(f, "the new bound of input {input} does not follow"),
            Reason::NotEmpty => f.write_str("this subproblem is not seen to be empty"),
            Reason::Problem(what) => f.write_str(what),
            Reason::Graph(error) => write!(f, "the graph cannot be lowered: {error}"),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.reason),
            line => write!(f, "line {line}: {}", self.reason),
        }
    }
}

impl std::error::Error for Rejection {}
