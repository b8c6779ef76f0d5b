//! Verdicts: what is known of a property, and why.

use certus_solver::UnknownReason;

use crate::proof::{NoErrors, Proof};
use crate::run::{ModelError, Run};

/// A verdict with all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was found out.
    pub verdict: Verdict,
    /// The engine that found it out.
    pub engine: &'static str,
    /// What a verdict that something holds rests on.
    pub proof: Option<Proof>,
    /// Why a property that holds meets no model error.
    pub no_errors: Option<NoErrors>,
    /// Whether a property holds because what it speaks of never happens.
    pub vacuous: bool,
    /// A run that exercises a property that holds.
    pub exercised: Option<Box<Run>>,
    /// What a reader must know about it: that no run exists, for instance.
    pub notes: Vec<String>,
}

impl Outcome {
    /// A verdict of an engine, without further words.
    pub fn new(engine: &'static str, verdict: Verdict) -> Outcome {
        Outcome { verdict, engine, proof: None, no_errors: None, vacuous: false, exercised: None, notes: Vec::new() }
    }
}

/// What is known of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No run violates the property, as far as the scope reaches.
    Holds(Scope),
    /// This run violates it; it was replayed, or converges to an equilibrium by a proof over the reals ([`Run::converges`]).
    Violated(Run),
    /// This run has a model error before the property is decided on it; it was replayed.
    ModelError(Box<ModelError>),
    /// The probability that the property asks about lies in this interval.
    Probability(Probability),
    /// None of these was shown.
    Unknown(Unknown),
}

/// A probability, enclosed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// Whether the bound that the property states is met, where it states one and the interval decides that.
    pub meets_bound: Option<bool>,
}

/// How far a verdict reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All runs, for all time.
    Unbounded,
    /// All runs: the property's own bounds end at this step.
    Horizon(usize),
    /// Violations that so many steps can show.
    Bounded(usize),
}

/// Why nothing was shown, and what was.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Why; nothing if all that an engine can try was tried.
    pub reason: Option<UnknownReason>,
    /// What was being asked then, in words.
    pub place: String,
    /// No violation is shown by so many steps, if any number was settled.
    pub settled: Option<usize>,
    /// The property holds if these conditions do, which were not shown.
    pub holds_if: Vec<String>,
    /// A loop of doubles that may not be one over the reals.
    pub candidate: Option<Box<Run>>,
}

impl Unknown {
    /// Nothing shown, for a reason, at a place.
    pub fn at(reason: Option<UnknownReason>, place: impl Into<String>) -> Unknown {
        Unknown { reason, place: place.into(), settled: None, holds_if: Vec::new(), candidate: None }
    }
}
