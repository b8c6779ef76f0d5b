//! Runs of a closed loop, and what can be wrong with one.

use std::fmt;

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
    /// Whether it repeats itself only as far as atoms can tell: over the reals the run converges to an equilibrium, and no atom changes any
    /// more.
    pub converges: bool,
}

impl Run {
    /// Whether it has a value of everything at each position, and returns to one of them if it does.
    pub fn is_complete(&self) -> bool {
        let positions = self.states.len();
        let lengths =
            [self.inputs.len(), self.chances.len(), self.policies.len(), self.actions.len(), self.atoms.len()];
        positions > 0
            && lengths.iter().all(|length| *length == positions)
            && self.loop_to.is_none_or(|start| start < positions)
    }
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
