//! `certus check`: verdicts about properties of a system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::present;
use crate::state_sets::{Flowpipe, InitialStates, StateSet};
use crate::{Interval, Members, NamedRange, Number, Provenance, Schema, Scope};

/// What came out of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The kind and version of this document.
    pub schema: Schema<Check>,
    /// The system.
    pub system: String,
    /// The elements of the state, with their declared ranges.
    pub states: Vec<NamedRange>,
    /// The initial states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialStates>,
    /// One result for each property.
    pub results: Vec<PropertyResult>,
    /// Where the results come from.
    pub provenance: Provenance,
}

words! {
    /// What is known of a property.
    Verdict {
        /// Every run satisfies it, within the scope.
        Holds = "holds",
        /// A run violates it.
        Violated = "violated",
        /// A run meets a model error before the property is decided.
        ModelError = "model error",
        /// A probability that was asked for, as narrow as was asked for.
        Bounded = "bounded",
        /// It was not decided.
        #[default]
        Unknown = "unknown",
    }
}

/// What was found out about one property, by `certus check` or by `certus prob`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyResult {
    /// Its name.
    pub property: String,
    /// Its documentation.
    pub words: String,
    /// Its text.
    pub formula: String,
    /// What is known of it.
    pub verdict: Verdict,
    /// The engine that decided it; `null` if none could be asked.
    pub engine: Option<String>,
    /// How far the verdict reaches.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub scope: Option<Option<Scope>>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Number>,
    /// A run that shows the violation or the model error, or a candidate that could not be confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub trace: Option<Option<Trace>>,
    /// The position that the last state of the run goes back to, if it goes on for ever.
    #[serde(rename = "loop")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub loop_to: Option<Option<usize>>,
    /// What the verdict rests on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub proof: Option<Option<Proof>>,
    /// The file with the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub certificate: Option<Option<String>>,
    /// Why it was not decided, or which model error was met.
    pub reason: Option<String>,
    /// What else a reader should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// The worst probability over all initial states. This member and the following ones belong to probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<Interval>,
    /// How wide that interval is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Number>,
    /// Whether it is as narrow as was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow: Option<bool>,
    /// The worst initial state that was found.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub start: Option<Option<Members<Number>>>,
    /// How the upper bound was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The regions of the abstraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<usize>,
    /// How many regions were contained in others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<usize>,
    /// The choices of the interval MDP, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub choices: Option<Option<usize>>,
    /// Whether a run may leave a declared range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_leave_range: Option<bool>,
    /// Whether a run may deadlock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_deadlock: Option<bool>,
    /// Whether a run may meet an undefined operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_be_undefined: Option<bool>,
    /// An upper bound of the probability of a model error.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub model_error_probability: Option<Option<Number>>,
    /// The names of the state's elements, in the order of the ends of `cells`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axes: Option<Vec<String>>,
    /// The parts of the initial states, with a bound for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<BoundedCell>>,
    /// Bounds of the policy's probabilities over these parts; `null` where they were not computed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub actions: Option<Option<Vec<ActionBounds>>>,
    /// How the interval narrowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Vec<ConvergencePoint>>,
    /// `true` if the violating run converges to an equilibrium: shown over the reals, not by a repeated state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converges: Option<bool>,
    /// Whether a property that holds holds vacuously.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<bool>,
    /// A run that exercises a property that holds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub exercised_by: Option<Option<Trace>>,
    /// What would be enough for an undecided property to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_if: Option<Vec<String>>,
    /// What the grid engine saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// The unsafe sets and the goals of the property, as far as pictures can show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_sets: Vec<StateSet>,
    /// The reachable sets, where they were asked for and the engine `reach` gave the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flowpipe: Option<Flowpipe>,
    /// What the verdict is relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// The verdict that the file expects, where a check compares with it; `null` if it expects none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub expected: Option<Option<Expected>>,
    /// Whether it is so; `null` if nothing was expected or decided.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub as_expected: Option<Option<bool>>,
}

words! {
    /// A verdict that a file expects.
    Expected {
        /// The property holds.
        #[default]
        Holds = "holds",
        /// It is violated.
        Violated = "violated",
    }
}

/// A run: its positions in order.
pub type Trace = Vec<Position>;

/// One position of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The state.
    pub state: Members<Number>,
    /// The environment's numbers.
    pub input: Members<Number>,
    /// The labels that chance chose.
    pub chance: Members<String>,
    /// The policies' outputs.
    pub policy: Members<Number>,
    /// The labels of the actions.
    pub action: Members<String>,
    /// Which atoms of the properties hold.
    pub atoms: Members<bool>,
    /// `true` at the end of a run that violates the property whatever is chosen there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_choice: Option<bool>,
}

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Proof {
    /// Every query about a violation within so many steps was refuted.
    Bounded {
        /// The steps.
        steps: usize,
    },
    /// After so many steps no run can violate the property any more.
    OutOfReach {
        /// The steps.
        steps: usize,
    },
    /// A proof for runs of any length, by one method or several.
    ForAllTime(Vec<Method>),
}

/// A method of an unbounded proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Method {
    /// k-induction.
    Induction {
        /// k.
        depth: usize,
        /// How many steps are looked at to see whether a violation begins; what shows of it by then is shown to be nowhere.
        #[serde(default, skip_serializing_if = "is_none")]
        ahead: usize,
        /// Whether the states of the step case are pairwise different.
        different: bool,
        /// The invariant that strengthens the property: a polyhedron.
        invariant: Vec<Face>,
        /// A box that no run leaves, within which all of this is: the elements of the state that it confines to less than their ranges.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<NamedRange>,
    },
    /// A linear ranking function.
    Ranking {
        /// Its coefficients.
        linear: Members<Number>,
        /// How much it decreases in a step, at least.
        decrease: Number,
        /// How many of the following states are known to be among those in question.
        context: usize,
    },
}

/// Whether there are none.
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A face of an invariant: a linear form that is at most a bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Face {
    /// The coefficients that are not zero, by the names of states and policy outputs.
    pub linear: Members<Number>,
    /// The bound.
    pub at_most: Number,
}

/// A part of the initial states, enclosed by a box.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundedCell {
    /// The lower ends of the box.
    pub lower: Vec<Number>,
    /// The upper ends of the box.
    pub upper: Vec<Number>,
    /// An upper bound of the probability from there.
    pub bound: Number,
}

/// Bounds of the probability of one label of an action, for each of `cells` in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionBounds {
    /// The action.
    pub action: String,
    /// The label.
    pub label: String,
    /// Lower bounds.
    pub lower: Vec<Number>,
    /// Upper bounds.
    pub upper: Vec<Number>,
}

/// The interval at one moment of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergencePoint {
    /// Seconds since the property was begun.
    pub seconds: Number,
    /// The lower end.
    pub lower: Number,
    /// The upper end.
    pub upper: Number,
}

words! {
    /// Whose actions the runs on a grid follow.
    GridPolicy {
        /// The network's own.
        #[default]
        Network = "network",
        /// Those of the policy that was extracted from it, one action per cell.
        Extracted = "extracted",
    }
}

/// What the exploration of a grid of cells looked like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Whose actions were taken.
    pub policy: GridPolicy,
    /// The names of the coordinates.
    pub axes: Vec<String>,
    /// The widths of a cell.
    pub widths: Members<Number>,
    /// The states of the automaton of the property's negation.
    pub automaton_states: usize,
    /// The cells that were met.
    pub cells: usize,
    /// How many times the successors of a cell were bounded.
    pub bounded: u64,
    /// The memory that the cells took.
    pub bytes: usize,
    /// How often cells were refined.
    pub refinements: usize,
    /// How many cells were halved.
    pub halved: usize,
    /// How many cells were first reached at each step.
    pub new_cells_per_step: Vec<usize>,
    /// A box around all that was reached: two ends for each axis.
    pub hull: Vec<[Number; 2]>,
    /// Cells that can be reached.
    pub reachable: Reachable,
    /// The cells of an abstract run that could not be confirmed or excluded.
    pub candidate: Vec<Vec<[Number; 2]>>,
    /// Where the time went.
    pub seconds: GridSeconds,
}

/// Cells that can be reached, or some of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reachable {
    /// One in so many cells is listed.
    pub every: usize,
    /// The cells.
    pub cells: Vec<GridCell>,
}

/// A cell that can be reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridCell {
    /// The step at which it is first reached.
    pub step: usize,
    /// Two ends for each axis.
    #[serde(rename = "box")]
    pub ends: Vec<[Number; 2]>,
}

/// Where the time of a grid went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridSeconds {
    /// Bounding successors.
    pub bounds: Number,
    /// The product with the automaton.
    pub product: Number,
}
