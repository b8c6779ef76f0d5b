//! What is said of a property.

use std::fmt;

use certus_graph::GraphError;
use certus_solver::{QueryError, UnknownReason};

use crate::errors::NoErrors;
use crate::proof::Proof;

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

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No run violates the property, as far as the scope reaches.
    Holds(Scope),
    /// This run violates it; it was replayed, or comes to rest by a proof over the reals ([`Run::comes_to_rest`]).
    Violated(Run),
    /// This run has a model error before the property is decided on it; it was replayed.
    ModelError(Box<ModelError>),
    /// None of these was shown.
    Unknown(Unknown),
}

/// A run that ends where the model describes no system.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The run; its last position has the error.
    pub run: Run,
    /// What is wrong there.
    pub kind: ModelErrorKind,
}

/// What is wrong with a model at a position of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelErrorKind {
    /// An allowed choice leads outside of the declared range of a state variable.
    RangeExit {
        /// The element that leaves its range.
        variable: String,
        /// Its value after the step.
        value: f64,
    },
    /// No choice is allowed, and the state is not terminal.
    Deadlock,
    /// An operation is evaluated outside of its domain.
    Undefined {
        /// What is being evaluated.
        what: String,
    },
}

impl fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelErrorKind::RangeExit { variable, value } => {
                write!(f, "{variable} leaves its declared range: the step leads to {value}")
            }
            ModelErrorKind::Deadlock => f.write_str("deadlock: no choice of the environment satisfies every `assume`"),
            ModelErrorKind::Undefined { what } => write!(f, "{what} evaluates an operation outside of its domain"),
        }
    }
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

/// A run of a closed loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The state at each position, flattened.
    pub states: Vec<Vec<f64>>,
    /// The environment's choice at each position, flattened.
    pub inputs: Vec<Vec<f64>>,
    /// The labels of the random choices at each position.
    pub chances: Vec<Vec<usize>>,
    /// The policies' outputs at each position, flattened.
    pub policies: Vec<Vec<f64>>,
    /// The labels of the actions at each position.
    pub actions: Vec<Vec<usize>>,
    /// Whether each atom holds at each position.
    pub atoms: Vec<Vec<bool>>,
    /// The position to which the run returns after the last one, if it repeats itself for ever.
    pub loop_to: Option<usize>,
    /// Whether the property does not depend on what is chosen at the last position, so that nothing need be.
    pub open_end: bool,
    /// Whether it does so only as far as atoms can tell: over the reals the run comes ever nearer to rest, and no atom changes any more.
    pub comes_to_rest: bool,
}

/// Why a property cannot be checked.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckError {
    /// The property is of a kind that the engine cannot take, or the question makes no sense.
    Unsupported(String),
    /// A graph could not be built.
    Graph(GraphError),
    /// A query could not be asked.
    Query(QueryError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Unsupported(message) => f.write_str(message),
            CheckError::Graph(error) => write!(f, "the loop cannot be unrolled: {error}"),
            CheckError::Query(error) => write!(f, "the question cannot be asked: {error}"),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<GraphError> for CheckError {
    fn from(error: GraphError) -> Self {
        CheckError::Graph(error)
    }
}

impl From<QueryError> for CheckError {
    fn from(error: QueryError) -> Self {
        CheckError::Query(error)
    }
}
