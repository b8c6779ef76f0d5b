//! What an engine is.

use std::any::Any;

use certus_graph::Interval;
use certus_model::{CheckError, Outcome, Proof, Property, System};

use crate::budget::Budget;
use crate::progress::Progress;

/// An engine that decides properties. It is asked whether it can take a property before anything is built for it; then it starts a
/// [`Session`], which keeps what was learnt from one turn to the next.
pub trait Engine {
    /// The name by which users choose it and documents report it.
    fn name(&self) -> &'static str;

    /// Whether it can take a property of a system.
    fn supports(&self, system: &System, property: &Property) -> Support;

    /// Whether its partial results say up to which step there is no violation. The portfolio reports that where no engine decides.
    fn bounds_violations(&self) -> bool {
        false
    }

    /// Prepares the work on a property that it supports.
    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError>;
}

/// The work of an engine on one property.
pub trait Session {
    /// Works for one turn: as much as the budget allows, from where the last turn ended. What other engines have shown is in
    /// `shared`, and what this one shows for others goes there.
    fn advance(&mut self, budget: &Budget<'_>, shared: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError>;

    /// What the engine can tell beyond the outcome: a type of the engine's crate, for those who know it.
    fn details(&mut self) -> Option<Box<dyn Any>> {
        None
    }
}

/// Is told how far an engine is; called often.
pub type Watch<'w> = dyn FnMut(Progress) + 'w;

/// A property of a system, and what is asked about it.
#[derive(Clone, Copy)]
pub struct Task<'t> {
    /// The system.
    pub system: &'t System,
    /// The property.
    pub property: &'t Property,
    /// The steps that the user named, if any.
    pub steps: Option<usize>,
    /// Whether the absence of model errors is taken for granted.
    pub assume_no_model_errors: bool,
}

/// Whether an engine can take a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot, for this reason.
    No(String),
}

/// What a turn came to.
pub enum Turn {
    /// A verdict that reaches as far as was asked.
    Decided(Box<Outcome>),
    /// None yet.
    Open {
        /// What is known so far: that the property holds up to a bound, or nothing with what was learnt.
        so_far: Box<Outcome>,
        /// What another turn would be for.
        next: Next,
    },
    /// The engine found that it cannot take the property after all, for this reason.
    Refused(String),
}

/// What another turn of an engine would be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The engine has not looked as far as was asked. It must look further with each turn, even if the work does not grow.
    Deeper,
    /// More work might decide.
    MoreWork,
    /// It is not worth a turn of its own, but if others go on, so does this engine.
    IfOthersDo,
    /// All that the engine can try was tried.
    Never,
}

/// What engines that work on one property share.
#[derive(Default)]
pub struct Shared {
    /// A proof that the property holds for all time, provided that no run has a model error.
    pub proof: Option<Proof>,
    /// Boxes with all initial states from which the property is still to be shown: every run from any other initial state satisfies it, and has no model
    /// error before that is decided. Nothing where that is not known.
    pub open: Option<Vec<Vec<Interval>>>,
    /// A box around states that runs are in: where the search for an invariant may begin. Nothing follows from it.
    pub reached: Option<Vec<Interval>>,
}
