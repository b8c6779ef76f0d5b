//! The Hanoi Omega-Automata format, version 1 (Babiak et al., "The Hanoi Omega-Automata Format", CAV 2015), which tools exchange automata in.
//!
//! Read are Büchi and generalised Büchi automata: a conjunction of `Inf` over distinct sets, or `t`; acceptance on states or
//! transitions, labels on states, on transitions or implicit, aliases. Everything else is refused at its place: other
//! acceptance conditions, alternation, headers with a capital letter that are not known (the format says they matter), more
//! than 64 atoms or sets. Nothing is allocated on the word of a header: a file that claims more states than it has
//! characters is refused.

mod labels;
mod read;
mod tokens;
pub(crate) mod write;

pub use read::read_hoa;
pub use write::write_hoa;

use std::fmt;

/// Why a file was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoaError {
    /// The line, from one.
    pub line: usize,
    /// The column in characters, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for HoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for HoaError {}
