//! Runs, evaluated step by step.
//!
//! What a query found is only believed after the system itself has made that run: the step as it was lowered, in plain double
//! precision, one position after the other. The first state must be initial, every transition allowed, every state in its
//! range, every operation defined, a loop must return to the very same state, and the property must be false: of every continuation
//! for a finite run (`certus-sim` says what that means), of the lasso otherwise. At the last position of a finite run only those atoms
//! count that have a value there (docs/semantics.md).

use certus_graph::GraphError;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, AtomId, Chance, Formula, System, Truth, Variable, in_ranges};
use certus_model::{Run, nnf};
use certus_sim::semantics::{self, Tail};

use crate::bad_prefix::is_bad;
use crate::lasso_semantics;

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
}

impl Drive {
    /// What drove a run that violates a formula.
    pub fn of(system: &System, run: &Run) -> Drive {
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
        }
    }

    /// Leaves only the first positions.
    pub fn truncate(&mut self, positions: usize) {
        self.inputs.truncate(positions);
        self.chances.truncate(positions);
        self.choices.truncate(positions);
    }

    /// Whether a position must have a successor.
    pub(crate) fn is_followed(&self, position: usize) -> bool {
        position + 1 < self.inputs.len() || self.loop_to.is_some()
    }

    /// The labels at a position, one-hot, as the step takes them.
    pub fn one_hots(&self, system: &System, position: usize) -> Vec<Vec<f64>> {
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
        open_end: false,
        converges: false,
    };
    let asked = nnf(formula, false).atoms();
    let reads = |id: &AtomId| system.atoms[id.0].uses_choice || system.atoms[id.0].uses_next;
    let mut last_is_allowed = false;
    let mut valued = Vec::new();
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
        let holds = |own: Option<Truth>| own.is_none_or(|own| truth(own.truth.port));
        let chosen = holds(roles.choice_defined);
        let allowed = chosen && holds(roles.assume);
        let goes_on = allowed && holds(roles.defined) && in_ranges(&system.states, &next);
        let has_value = |id: AtomId| {
            let atom = &system.atoms[id.0];
            let read = if atom.uses_next {
                goes_on
            } else if atom.uses_choice {
                allowed
            } else {
                atom.state_only || chosen
            };
            read && holds(roles.atoms_defined[id.0])
        };
        if drive.is_followed(position) && (!goes_on || !asked.iter().all(|&id| has_value(id))) {
            return Ok(None);
        }
        last_is_allowed = allowed;
        valued = (0..system.atoms.len()).map(|id| has_value(AtomId(id))).collect::<Vec<bool>>();
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
        debug_assert_eq!(next.len(), state.len(), "a step changes the number of state variables");
        run.states.push(std::mem::replace(&mut state, next));
    }
    if let Some(start) = drive.loop_to
        && run.states[start] != state
    {
        return Ok(None);
    }
    // Where nothing that counts reads a choice, none is needed, and one that is not allowed is not shown.
    run.open_end = drive.loop_to.is_none() && (!last_is_allowed || !asked.iter().any(reads));
    let violated = match drive.loop_to {
        Some(start) => !lasso_semantics::holds(formula, positions, start, &|id, position| run.atoms[position][id.0])[0],
        None => violated_whatever(formula, &run.atoms, &asked, &valued),
    };
    debug_assert!(run.is_complete(), "a run of {positions} positions has some without values: {run:?}");
    Ok(violated.then_some(run))
}

/// Atoms without a value at the end of a run, at most, for which both values are tried.
const MOST_OPEN_ATOMS: usize = 8;

/// Whether a finite run violates a formula, whatever follows and whatever the atoms without a value at its last position would be.
fn violated_whatever(formula: &Formula, atoms: &[Vec<bool>], asked: &[AtomId], valued: &[bool]) -> bool {
    let mut open: Vec<usize> = asked.iter().map(|id| id.0).filter(|&id| !valued[id]).collect();
    open.sort_unstable();
    open.dedup();
    if open.len() > MOST_OPEN_ATOMS {
        return false;
    }
    let last = atoms.len() - 1;
    let unfolds = (0..1usize << open.len()).all(|values| {
        let atom = |id: AtomId, position: usize| match open.iter().position(|&own| own == id.0) {
            Some(place) if position == last => values >> place & 1 == 1,
            _ => atoms[position][id.0],
        };
        !semantics::evaluate(formula, atoms.len(), Tail::Unknown, &atom).greatest
    });
    let known = |(position, own): (usize, &Vec<bool>)| -> Vec<Option<bool>> {
        let value = |(id, &value): (usize, &bool)| (position < last || valued[id]).then_some(value);
        own.iter().enumerate().map(value).collect()
    };
    unfolds || is_bad(formula, &atoms.iter().enumerate().map(known).collect::<Vec<_>>())
}

/// The inputs of the step at a position.
pub(crate) fn arguments(system: &System, state: &[f64], drive: &Drive, position: usize) -> Vec<Vec<f64>> {
    let numbers = split(&system.states, state).chain(split(&system.inputs, &drive.inputs[position]));
    numbers.map(<[f64]>::to_vec).chain(drive.one_hots(system, position)).collect()
}

/// The elements of each variable, from all of them one after the other.
pub fn split<'a, T>(variables: &'a [Variable], flat: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    variables.iter().scan(flat, |rest, variable| {
        let (own, after) = rest.split_at_checked(variable.len)?;
        *rest = after;
        Some(own)
    })
}
