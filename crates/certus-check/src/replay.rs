//! Runs, evaluated step by step.
//!
//! What a query found is only believed after the system itself has made that run: the step as it was lowered, in plain double
//! precision, one position after the other. The first state must be initial, every transition allowed, every state in its
//! range, a loop must return to the very same state, and the property must be false: of every continuation for a
//! finite run (`certus-sim` says what that means), of the lasso otherwise.

use certus_graph::GraphError;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, Chance, Formula, System, Variable};
use certus_sim::semantics::{self, Tail};

use crate::lasso;
use crate::outcome::Run;
use crate::temporal::Normal;

/// What drives a run: everything that is free.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// The first state, flattened.
    pub state: Vec<f64>,
    /// The environment's choices at each position, flattened.
    pub inputs: Vec<Vec<f64>>,
    /// The labels of the random choices at each position.
    pub chances: Vec<Vec<usize>>,
    /// The labels of the random actions at each position.
    pub choices: Vec<Vec<usize>>,
    /// The position to which the run returns, if it does.
    pub loop_to: Option<usize>,
    /// Whether the last position must have a successor: the property speaks of it.
    pub with_last: bool,
}

impl Drive {
    /// What drove a run that violates a formula.
    pub fn of(system: &System, formula: &Formula, run: &Run) -> Drive {
        let random = |labels: &Vec<usize>| -> Vec<usize> {
            let own = labels.iter().zip(&system.roles.actions);
            own.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. })).map(|(&label, _)| label).collect()
        };
        Drive {
            state: run.states.first().cloned().unwrap_or_default(),
            inputs: run.inputs.clone(),
            chances: run.chances.clone(),
            choices: run.actions.iter().map(random).collect(),
            loop_to: run.loop_to,
            with_last: Normal::of(formula, false).atoms().iter().any(|id| system.atoms[id.0].uses_next),
        }
    }

    /// Whether a position must have a successor.
    pub(crate) fn is_followed(&self, position: usize) -> bool {
        position + 1 < self.inputs.len() || self.loop_to.is_some() || self.with_last
    }

    /// The labels at a position, one-hot, as the step takes them.
    pub(crate) fn one_hots(&self, system: &System, position: usize) -> Vec<Vec<f64>> {
        let one_hot = |labels: usize, chosen: usize| -> Vec<f64> {
            (0..labels).map(|label| f64::from(u8::from(label == chosen))).collect()
        };
        let chances = system.chances.iter().map(|chance| chance.labels.len()).zip(&self.chances[position]);
        let random = system.actions.iter().zip(&system.roles.actions);
        let random = random.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
        let choices = random.map(|(action, _)| action.labels.len()).zip(&self.choices[position]);
        chances.chain(choices).map(|(labels, &chosen)| one_hot(labels, chosen)).collect()
    }
}

/// Makes a run. Nothing if it is none of the system's, or does not violate the property.
pub fn replay(system: &System, formula: &Formula, drive: &Drive) -> Result<Option<Run>, GraphError> {
    let step = Evaluator::<f64>::new(&system.step);
    let mut workspace = Workspace::default();
    let mut run = Run {
        states: Vec::new(),
        inputs: drive.inputs.clone(),
        chances: drive.chances.clone(),
        policies: Vec::new(),
        actions: Vec::new(),
        atoms: Vec::new(),
        loop_to: drive.loop_to,
        comes_to_rest: false,
    };
    let positions = drive.inputs.len();
    let roles = &system.roles;
    let mut state = drive.state.clone();
    for position in 0..positions {
        if !in_ranges(&system.states, &state) || !in_ranges(&system.inputs, &drive.inputs[position]) {
            return Ok(None);
        }
        let arguments = arguments(system, &state, drive, position);
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        step.run(&mut workspace, &slices, 1)?;
        let output = |port: usize| step.output(&workspace, &slices, port);
        let truth = |port: usize| output(port).first().is_some_and(|&value| value != 0.0);
        if position == 0 && roles.init.is_some_and(|init| !truth(init.truth.port)) {
            return Ok(None);
        }
        let next: Vec<f64> = roles.next.iter().flat_map(|next| output(next.port).iter().copied()).collect();
        let followed = drive.is_followed(position);
        if followed
            && (roles.assume.is_some_and(|assume| !truth(assume.truth.port)) || !in_ranges(&system.states, &next))
        {
            return Ok(None);
        }
        let happens = |(chance, &label): (&Chance, &usize)| chance.probabilities[label] > 0.0;
        if !system.chances.iter().zip(&drive.chances[position]).all(happens) {
            return Ok(None);
        }
        run.atoms.push(roles.atoms.iter().map(|atom| truth(atom.truth.port)).collect());
        run.policies.push(roles.policies.iter().flat_map(|policy| output(policy.port).iter().copied()).collect());
        let mut sampled = drive.choices[position].iter();
        let label = |role: &ActionRole| match role {
            ActionRole::Argmax { choice, .. } => {
                output(choice.port).iter().position(|&value| value != 0.0).unwrap_or(0)
            }
            ActionRole::Softmax { .. } => sampled.next().copied().unwrap_or(0),
        };
        run.actions.push(roles.actions.iter().map(label).collect());
        run.states.push(std::mem::replace(&mut state, next));
    }
    if let Some(start) = drive.loop_to
        && run.states[start] != state
    {
        return Ok(None);
    }
    let atom = |id: certus_lang::system::AtomId, position: usize| run.atoms[position][id.0];
    let violated = match drive.loop_to {
        Some(start) => !lasso::holds(formula, positions, start, &atom)[0],
        None => !semantics::evaluate(formula, positions, Tail::Unknown, &atom).greatest,
    };
    Ok(violated.then_some(run))
}

fn in_ranges(variables: &[Variable], values: &[f64]) -> bool {
    let ranges = variables.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    values.iter().zip(ranges).all(|(value, (low, high))| low <= value && value <= high)
}

/// The inputs of the step at a position.
fn arguments(system: &System, state: &[f64], drive: &Drive, position: usize) -> Vec<Vec<f64>> {
    let numbers = split(&system.states, state).chain(split(&system.inputs, &drive.inputs[position]));
    numbers.map(<[f64]>::to_vec).chain(drive.one_hots(system, position)).collect()
}

/// The elements of each variable, from all of them one after the other.
pub(crate) fn split<'a, T>(variables: &'a [Variable], flat: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    variables.iter().scan(flat, |rest, variable| {
        let (own, after) = rest.split_at_checked(variable.len)?;
        *rest = after;
        Some(own)
    })
}
