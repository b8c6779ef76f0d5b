//! Errors that keep a simulation from starting.

use std::fmt;

/// Why a simulation could not be run.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulationError {
    /// An initial state cannot be drawn because a variable has no bounds.
    UnboundedInitialState {
        /// The variable.
        variable: String,
    },
    /// No state of the initial box that was tried satisfies the initial condition.
    NoInitialState {
        /// How many were tried.
        tried: usize,
    },
    /// A script of inputs does not fit the system.
    Script(String),
    /// The adversary has nothing to work against.
    Adversary(String),
    /// The step could not be evaluated.
    Evaluation(String),
    /// The numbers asked for make no sense.
    Options(String),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationError::UnboundedInitialState { variable } => write!(
                f,
                "no initial state can be drawn: '{variable}' is unbounded; give it a range (`state {variable} in [a, b]`) \
                 or bound it in `init`"
            ),
            SimulationError::NoInitialState { tried } => write!(
                f,
                "none of {tried} states drawn from the initial box satisfies `init`; bound the variables in `init` by \
                 intervals so that the box fits it closely"
            ),
            SimulationError::Script(message)
            | SimulationError::Adversary(message)
            | SimulationError::Evaluation(message)
            | SimulationError::Options(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<certus_graph::GraphError> for SimulationError {
    fn from(error: certus_graph::GraphError) -> Self {
        SimulationError::Evaluation(error.to_string())
    }
}
