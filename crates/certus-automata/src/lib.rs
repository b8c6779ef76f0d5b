//! Linear temporal logic, Büchi automata, and the search for accepting runs.
//!
//! A formula is read into a store ([`parse`]), brought into normal form and simplified ([`normal`], [`simplify`]), and
//! translated into a generalised Büchi automaton with acceptance on transitions ([`translate`]; state by state:
//! [`tableau`]). A transition system ([`system`]) and an automaton run side by side as a graph that is searched as it is
//! made ([`emptiness`]): no accepting run of the product with the automaton of `!φ` means that every run of the system
//! satisfies φ; an accepting one is shown as a path and a cycle. Automata are exchanged with other tools as HOA ([`hoa`]).
//!
//! ```
//! use certus_automata::{emptiness, explicit, formula, graph, parse, system, translate};
//!
//! let mut system = explicit::Explicit::read(
//!     "system 1\natoms request grant\ninitial 0\nstate 0 -> 0 1\nstate 1 request -> 1 2\nstate 2 grant -> 0",
//! )?;
//! let (mut store, mut names) = (formula::Formulas::new(), formula::Names(system.atoms.clone()));
//! let wish = parse::parse("G(request -> F grant)", &mut store, &mut names)?;
//! let violation = store.not(wish);
//! let automaton = translate::translate(&mut store, violation, &names, &translate::Options::default())?;
//! let mut product = system::Product::new(&mut system, automaton);
//! let run = emptiness::emptiness(&mut product, &mut graph::never).lasso().map(|lasso| system::system_run(&lasso));
//! // Request, and wait for ever.
//! assert_eq!(run, Some(graph::Lasso { prefix: vec![0], cycle: vec![1] }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate stands alone: it depends on nothing and knows nothing of the rest of Certus.
#![forbid(unsafe_code)]

pub mod acceptance;
pub mod automaton;
mod beginning;
pub mod components;
pub mod degeneralise;
pub mod dot;
pub mod emptiness;
pub mod explicit;
pub mod formula;
pub mod graph;
pub mod hoa;
pub mod implication;
pub mod informative;
pub mod intern;
pub mod label;
pub mod nested;
pub mod nnf;
pub mod normal;
pub mod obligation;
pub mod parse;
pub mod print;
pub mod simplify;
pub mod simulation;
pub mod system;
pub mod tableau;
pub mod translate;
pub mod trim;
mod witness;
pub mod word;
