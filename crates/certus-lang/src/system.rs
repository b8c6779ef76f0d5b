//! What a `.certus` file means: variables, properties, and one step of the closed loop as a graph.
//!
//! Everything a later stage needs is here; nothing in here refers back to the text, except for names
//! and for the wording of properties.

pub use certus_automata::formula::Bounds;
use certus_graph::{Graph, NodeId};

mod integers;

pub use self::integers::Integers;
use crate::diagnostics::Diagnostics;
pub use crate::property::*;

/// A closed loop.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// The time that one step takes, if the file says so.
    pub dt: Option<f64>,
    /// How `der` declarations become steps, if there are any.
    pub integrator: Option<Integrator>,
    /// Parameters, in the order of their declaration.
    pub params: Vec<Parameter>,
    /// State variables.
    pub states: Vec<Variable>,
    /// The environment's choices.
    pub inputs: Vec<Variable>,
    /// Random choices with known probabilities.
    pub chances: Vec<Chance>,
    /// Networks, with what is done to their results.
    pub policies: Vec<Policy>,
    /// Discrete actions.
    pub actions: Vec<Action>,
    /// Named expressions.
    pub defines: Vec<Define>,
    /// A box that contains every initial state, over the flattened state: lower and upper ends.
    pub init_box: (Vec<f64>, Vec<f64>),
    /// Whether every state of the box is initial.
    pub init_is_box: bool,
    /// Boxes that contain every initial state together: the parts of a disjunction, each value of an integer. There is at least one, and
    /// [`System::init_box`] is their hull.
    pub init_boxes: Vec<(Vec<f64>, Vec<f64>)>,
    /// Whether every state of these boxes is initial.
    pub init_is_union: bool,
    /// The `assume` declarations, in their order.
    pub assumptions: Vec<Assumption>,
    /// What formulas are made of.
    pub atoms: Vec<Atom>,
    /// What must hold.
    pub properties: Vec<Property>,
    /// The applications of networks that are outside of the step; none if the loop is closed.
    pub networks: Vec<OpenNetwork>,
    /// One step. Its inputs are, in this order: state variables, inputs, chance variables (one-hot),
    /// softmax actions (one-hot), free parameters, results of open networks; all of them vectors.
    pub step: Graph,
    /// Which node of the step means what.
    pub roles: Roles,
    /// What looked odd but is not wrong.
    pub warnings: Diagnostics,
}

impl System {
    /// Who moves first in a step, in words: `u before c, other inputs after the draws`. Nothing where nobody chooses or nothing is random.
    pub fn order_of_choices(&self) -> Option<String> {
        let random = self.actions.iter().any(|action| action.kind == ActionKind::Softmax) || !self.chances.is_empty();
        if self.inputs.is_empty() || !random {
            return None;
        }
        let name = |choice: &ChoiceId| match *choice {
            ChoiceId::Action(place) => self.actions[place].name.as_str(),
            ChoiceId::Chance(place) => self.chances[place].name.as_str(),
        };
        let blind = self.inputs.iter().filter(|input| !input.before.is_empty());
        let mut parts: Vec<String> = blind
            .map(|input| {
                let names: Vec<&str> = input.before.iter().map(name).collect();
                format!("{} before {}", input.name, names.join(" and "))
            })
            .collect();
        let dice = self.chances.len() + self.actions.iter().filter(|own| own.kind == ActionKind::Softmax).count();
        if self.inputs.iter().any(|input| input.before.len() < dice) {
            let which = if parts.is_empty() { "inputs chosen" } else { "all else chosen" };
            parts.push(format!("{which} after the step's draws"));
        }
        Some(parts.join(", "))
    }

    /// Number of reals in a state.
    pub fn state_len(&self) -> usize {
        self.states.iter().map(|v| v.len).sum()
    }

    /// Where each state variable begins in the flattened state.
    pub fn state_offsets(&self) -> Vec<usize> {
        self.states
            .iter()
            .scan(0, |at, v| {
                let start = *at;
                *at += v.len;
                Some(start)
            })
            .collect()
    }

    /// The names of the numbers of the state, in their order: elements of vectors with their index.
    pub fn state_names(&self) -> Vec<String> {
        let names = self.states.iter().flat_map(|state| {
            (0..state.len).map(move |element| match state.is_vector {
                true => format!("{}[{element}]", state.name),
                false => state.name.clone(),
            })
        });
        names.collect()
    }

    /// Whether a step is the flow of a differential equation, not a discretisation of it.
    pub fn is_exact(&self) -> bool {
        self.integrator == Some(Integrator::Exact)
    }

    /// The property with this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.name == name)
    }
}

/// How derivatives become steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// x + dt f(x)
    Euler,
    /// The classical Runge-Kutta method of order four.
    Rk4,
    /// Not at all: a step is the flow of the differential equation over a period.
    Exact,
}

/// A constant that an analysis may vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Lower end of its range.
    pub lower: f64,
    /// Upper end of its range.
    pub upper: f64,
    /// Its value in this system.
    pub value: f64,
    /// The value that the file gives it.
    pub declared: f64,
    /// Whether it is an input of the step rather than a number in it.
    pub free: bool,
    /// Its documentation.
    pub doc: String,
}

/// A state variable or an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// How many reals it has.
    pub len: usize,
    /// Whether it was declared with a length, `x[n]`.
    pub is_vector: bool,
    /// Lower end of the range of each element; may be infinite for state variables.
    pub lower: Vec<f64>,
    /// Upper end of the range of each element.
    pub upper: Vec<f64>,
    /// The values that each element can have, if they are integers; then the range is around them.
    pub integers: Option<Integers>,
    /// The names of these values, from 0 on; none if they have no names.
    pub labels: Vec<String>,
    /// Of an input: whether it may change within a step, inside of its range. Then the flow of the step is every flow that some such
    /// signal gives, and the input's own value is that of one constant signal.
    pub varying: bool,
    /// Of an input: the random choices of the step that it is chosen before; those that are drawn first are known to it.
    pub before: Vec<ChoiceId>,
    /// Its documentation.
    pub doc: String,
}

impl Variable {
    /// Whether a value of an element is in the variable's range.
    pub fn contains(&self, element: usize, value: f64) -> bool {
        self.lower[element] <= value
            && value <= self.upper[element]
            && self.integers.as_ref().is_none_or(|integers| integers.contains(value))
    }

    /// The value of an element's range that is nearest to a number.
    pub fn nearest(&self, element: usize, value: f64) -> f64 {
        match &self.integers {
            Some(integers) => integers.nearest(value),
            None => value.max(self.lower[element]).min(self.upper[element]),
        }
    }
}

impl Variable {
    /// What it ranges over, in words: `in [0, 1]`, `in {0..9}`, `of idle, up`.
    pub fn range_in_words(&self, number: impl Fn(f64) -> String) -> String {
        let end = |ends: &[f64], pick: fn(f64, f64) -> f64| {
            ends.iter().copied().reduce(pick).map_or_else(String::new, &number)
        };
        match &self.integers {
            Some(_) if !self.labels.is_empty() => format!("of {}", self.labels.join(", ")),
            Some(integers) => format!("in {integers}"),
            None => format!("in [{}, {}]", end(&self.lower, f64::min), end(&self.upper, f64::max)),
        }
    }
}

/// Flattened values of some variables as texts: labels by their names, numbers as told.
pub fn in_words(variables: &[Variable], values: &[f64], number: impl Fn(f64) -> String) -> Vec<String> {
    let owners = variables.iter().flat_map(|own| std::iter::repeat_n(own, own.len));
    let text = |(own, &value): (&Variable, &f64)| match own.labels.get(value as usize) {
        Some(label) if value.fract() == 0.0 && value >= 0.0 => label.clone(),
        _ => number(value),
    };
    owners.zip(values).map(text).collect()
}

/// Whether flattened values are in the ranges of some variables.
pub fn in_ranges(variables: &[Variable], values: &[f64]) -> bool {
    let elements = variables.iter().flat_map(|variable| (0..variable.len).map(move |element| (variable, element)));
    elements.zip(values).all(|((variable, element), value)| variable.contains(element, *value))
}

/// A finite random choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance {
    /// Its name.
    pub name: String,
    /// What can happen.
    pub labels: Vec<String>,
    /// How likely each label is.
    pub probabilities: Vec<f64>,
    /// Its documentation.
    pub doc: String,
}

/// A policy output.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// How many reals it has.
    pub len: usize,
    /// The networks it applies, as written in the file.
    pub networks: Vec<String>,
    /// Its documentation.
    pub doc: String,
}

/// A discrete action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// How it is chosen.
    pub kind: ActionKind,
    /// The networks it applies itself, as written in the file.
    pub networks: Vec<String>,
    /// Its documentation.
    pub doc: String,
}

/// How an action is chosen from scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// The largest score, the first one on ties.
    Argmax,
    /// At random, by the softmax of the scores.
    Softmax,
}

/// A network that is outside of the step, applied to one vector of arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenNetwork {
    /// Its path, as written in the file.
    pub path: String,
    /// How many numbers it sees.
    pub arguments: usize,
    /// How many numbers it gives.
    pub results: usize,
    /// The action whose scores are its result itself, by its place in [`System::actions`].
    pub action: Option<usize>,
    /// What the step does first with its result.
    pub range: ResultRange,
}

/// What a step does first with a network's result.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultRange {
    /// Clamps it to constants, one pair per element.
    Clamped {
        /// Lower ends.
        lower: Vec<f64>,
        /// Upper ends.
        upper: Vec<f64>,
    },
    /// Applies `tanh` or `sigmoid`, and nothing else.
    Squashed,
    /// Anything else.
    Free,
}

/// A named expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// Its name.
    pub name: String,
    /// Whether it is a truth value.
    pub is_bool: bool,
    /// How many values it has.
    pub len: usize,
    /// Its documentation.
    pub doc: String,
}

/// Something with labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChoiceId {
    /// An action, by its place in [`System::actions`].
    Action(usize),
    /// A chance variable, by its place in [`System::chances`].
    Chance(usize),
}

/// An atom, by its place in [`System::atoms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomId(pub usize);

/// A Boolean expression without temporal operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Its text, or the name of the define that it is.
    pub text: String,
    /// Whether it mentions `next(x)`.
    pub uses_next: bool,
    /// Whether it speaks of the state alone, not of policies, inputs or choices.
    pub state_only: bool,
    /// Whether it reads an input, a chance or a random action, directly or through what depends on one.
    pub uses_choice: bool,
}

/// An `assume` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What is assumed, as written.
    pub text: String,
    /// The line that it begins in, counted from 1.
    pub line: usize,
    /// Whether it refers to a random outcome, or to something that is computed from one: a chance, a softmax action, a successor that
    /// depends on one.
    pub drawn: bool,
}

/// A temporal formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true, or always false.
    Constant(bool),
    /// True where the atom is.
    Atom(AtomId),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Vec<Formula>),
    /// Disjunction.
    Or(Vec<Formula>),
    /// Implication.
    Implies(Box<Formula>, Box<Formula>),
    /// Equivalence.
    Iff(Box<Formula>, Box<Formula>),
    /// At the next step.
    Next(Box<Formula>),
    /// At some step within the bounds.
    Finally(Bounds, Box<Formula>),
    /// At every step within the bounds.
    Globally(Bounds, Box<Formula>),
    /// The second at some step within the bounds, the first at all steps before that one, from now on.
    Until(Bounds, Box<Formula>, Box<Formula>),
    /// `a W b` is `(a U b) | G a`, with the bounds of `W` on `U` and their upper end on `G`.
    WeakUntil(Bounds, Box<Formula>, Box<Formula>),
    /// `a R b` is `!(!a U !b)`, with the same bounds.
    Release(Bounds, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Whether it speaks of more than one position of a run.
    pub fn is_temporal(&self) -> bool {
        match self {
            Formula::Constant(_) | Formula::Atom(_) => false,
            Formula::Not(inner) => inner.is_temporal(),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(Formula::is_temporal),
            Formula::Implies(left, right) | Formula::Iff(left, right) => left.is_temporal() || right.is_temporal(),
            _ => true,
        }
    }
}

/// An output of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its node in [`System::step`].
    pub node: NodeId,
    /// Its place among the outputs of the graph, which canonicalisation keeps.
    pub port: usize,
}

/// A Boolean as two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// 1 where it is true, 0 where it is false.
    pub truth: Output,
    /// Positive only where it is true, negative only where it is false.
    pub margin: Output,
}

/// The outputs of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionRole {
    /// The chosen label, one-hot, and the scores.
    Argmax {
        /// One-hot.
        choice: Output,
        /// What the choice is made from.
        scores: Output,
    },
    /// A random action.
    Softmax {
        /// The sampled label, one-hot: an input of the step.
        choice: NodeId,
        /// The probability of each label.
        probabilities: Output,
        /// What the softmax is applied to.
        logits: Output,
    },
}

/// Where an open network is in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkRole {
    /// Its result: an input of the graph.
    pub result: NodeId,
    /// What it sees, as one vector.
    pub arguments: Output,
}

/// Which node of the step means what.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// Inputs of the graph: the state variables.
    pub states: Vec<NodeId>,
    /// Inputs of the graph: the environment's choices.
    pub inputs: Vec<NodeId>,
    /// Inputs of the graph: the chance variables, one-hot.
    pub chances: Vec<NodeId>,
    /// Inputs of the graph: the free parameters, with their place in [`System::params`].
    pub free_params: Vec<(usize, NodeId)>,
    /// Policy outputs.
    pub policies: Vec<Output>,
    /// Actions.
    pub actions: Vec<ActionRole>,
    /// Successors of the state variables.
    pub next: Vec<Output>,
    /// Defines; truth values are 0 or 1.
    pub defines: Vec<Output>,
    /// Atoms.
    pub atoms: Vec<Truth>,
    /// The conjunction of all `init`; none if the file has none, so that every state in range is initial.
    pub init: Option<Truth>,
    /// The restriction of the transition relation. In a terminal state, declarations that mention `next` do not apply.
    pub assume: Option<Truth>,
    /// Where the operations that a position itself evaluates are inside of their domains: policies, actions, `terminal` and
    /// `assume`. None if there is no partial operation among them.
    pub choice_defined: Option<Truth>,
    /// Where every operation of a step is inside of its domain: policies, actions, `terminal` and `assume`, and the successor
    /// where the state is not terminal and the choice is allowed. None if there is no partial operation.
    pub defined: Option<Truth>,
    /// Where the operations of each atom are inside of their domains; none for everywhere.
    pub atoms_defined: Vec<Option<Truth>>,
    /// Where the operations of the initial conditions are; none for everywhere.
    pub init_defined: Option<Truth>,
    /// Where the state's integers are of their sets, as in every state they are; none if all state variables are real. Ranges are apart.
    pub integral: Option<Truth>,
    /// Where a run ends.
    pub terminal: Option<Truth>,
    /// The reward of a step.
    pub reward: Option<Output>,
    /// The open networks, in the order of [`System::networks`].
    pub networks: Vec<NetworkRole>,
}
