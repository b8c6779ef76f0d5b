//! Graphs as text: every graph can be written down and read back, equal to the last bit.
//!
//! The text has one line per node, in topological order, then one per output, then `end`:
//!
//! ```text
//! 0 Input "x" [2]
//! 1 Affine(0) [2]
//! dense
//! : 1 -0.5
//! : 0.25 3
//! bias
//! : 0 1
//! 2 Relu(1)
//! output "y" 2
//! end
//! ```
//!
//! A node's line has its number, its operator with the numbers of its arguments, and the operator's attributes.
//! Data follows in rows that begin with a colon. Numbers are the shortest decimals that read back as the same
//! double, `inf` and `-inf` included; `[a,b]` is a number known to lie between two doubles. Names are quoted, with
//! `\"`, `\\` and `\u{…}` for what would not fit on a line. Blank lines and lines that begin with `#` mean nothing.
//!
//! *Trust.* Reading applies every operator through [`Graph::apply`], so shapes are checked as for any
//! other graph. What a text makes the reader hold grows with the length of the text, not with the sizes it claims, and
//! what a graph claims is bounded by a budget that grows with its numbers.

mod budget;
mod constant;
mod error;
mod lines;
mod literal;
mod read;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use lines::Lines;
pub use literal::{write_interval, write_name, write_number};
pub use read::read_graph;
pub use words::Words;
pub use write::write_graph;

#[cfg(doc)]
use crate::Graph;
