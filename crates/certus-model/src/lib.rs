//! What every engine means: the words in which a question about a system is asked and answered.
//!
//! * [`System`], [`Property`] and [`Formula`] come from the language;
//! * [`ltl`]: temporal formulas in negation normal form, one type for all engines;
//! * [`Run`]: a run of a closed loop, finite or a lasso;
//! * [`Outcome`]: a [`Verdict`] with its [`Scope`], and what belongs to it;
//! * [`proof`]: what a verdict rests on, as data;
//! * [`within_scope`]: the one place that decides how far `holds` reaches.
//!
//! No engine defines a run, a verdict or a formula. The crate computes nothing about systems: it depends on the language, and on the
//! solver for the reasons why a search stays open.

#![forbid(unsafe_code)]

mod counted;
mod error;
pub mod ltl;
mod numbers;
mod outcome;
pub mod proof;
mod run;
mod scope;

pub use certus_lang::system::{AtomId, Bounds, Formula, Property, System};
pub use certus_solver::UnknownReason;
pub use counted::{counted, steps};
pub use error::CheckError;
pub use ltl::{Nnf, formula_of, nnf};
pub use numbers::{short, short_down, short_range, short_up};
pub use outcome::{Outcome, Probability, Scope, Unknown, Verdict};
pub use proof::{NoErrors, Proof};
pub use run::{ModelError, ModelErrorKind, Run};
pub use scope::{own_horizon, usual_steps, within_scope};
