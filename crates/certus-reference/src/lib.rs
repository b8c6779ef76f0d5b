//! What a verdict means, as a program.
//!
//! `docs/semantics.md`, to the letter: a `.certus` file is interpreted straight from its syntax tree, in exact rational
//! arithmetic, with rational enclosures where a function's values are not rational. It is plain and slow, and shares
//! nothing with any engine but the parser. Where enclosures are too wide to tell, it says so.
//!
//! * [`Model`]: the declarations of a file;
//! * [`Specification`]: a property as a temporal formula over atoms;
//! * [`Visited`]: a finite system, all of its states visited, to be decided completely ([`Visited::decide`]) or for so many
//!   steps ([`Visited::depths`]);
//! * [`probability`](fn@probability): the worst case of a random system;
//! * [`Network`]: feed-forward networks of NNet files;
//! * [`replay`](fn@replay): a run that somebody else has found, walked through again.
//!
//! The crate depends on the parser of `certus-lang` and on rational arithmetic, and never on an engine.

#![forbid(unsafe_code)]

mod bounded;
mod decide;
mod eval;
mod flow;
mod formula;
mod functions;
mod graph;
mod look;
mod model;
mod monitor;
mod network;
mod operations;
mod order;
mod probability;
mod real;
mod replay;
mod seconds;
mod step;
mod tableau;
mod uses;
mod value;
mod word;

pub use bounded::Depths;
pub use decide::{Decision, Lattice, Visited, Witness};
pub use eval::Choice;
pub use formula::{Atom, Formula, Specification, Steps};
pub use look::{ModelError, Position, Then, positions};
pub use model::{Action, Chance, Model, State, Variable};
pub use monitor::Shown;
pub use network::Network;
pub use probability::{Worst, probability};
pub use real::{Rational, Real, rational, whole};
pub use replay::{Replayed, Trace, replay};
pub use uses::Uses;
pub use word::Word;
