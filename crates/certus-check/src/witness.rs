//! Choices that are allowed wherever one is needed.
//!
//! That no state is a deadlock is shown by a choice that satisfies every `assume` there. Candidates are constants (the middle of the inputs'
//! box, its corners, a lattice in it) for every label of what is random, and affine expressions of the state that are fitted to allowed
//! choices. They are tried in states that simulated runs meet, and those that are allowed in most of these are taken, until every such state
//! has one. Whether that is enough is for a proof to say.

use certus_graph::GraphError;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, System, Variable};

use crate::guarded::WitnessChoice;
use crate::replay::split;

/// Candidates are at most so many.
const MOST_CANDIDATES: usize = 512;

/// Witnesses are at most so many.
const MOST_WITNESSES: usize = 6;

/// Values that are tried for each element of the inputs, if there are few.
const LATTICE: [f64; 5] = [0.5, 0.0, 1.0, 0.25, 0.75];

/// Witness choices for some states, given in full.
pub fn witnesses(system: &System, states: &[Vec<f64>]) -> Result<Vec<WitnessChoice>, GraphError> {
    let Some(assume) = system.roles.assume else { return Ok(Vec::new()) };
    let conditions: Vec<usize> =
        system.roles.choice_defined.iter().chain([&assume]).map(|own| own.truth.port).collect();
    // Only what these depend on: most of the time there is no network among it.
    let step = Evaluator::new(&system.step.keep_outputs(&conditions));
    let mut trial = Trial { system, step, workspace: Workspace::default() };
    let candidates = constants(system);
    let mut allowed: Vec<Vec<bool>> = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        allowed.push(trial.allowed_in(candidate, states)?);
    }
    let mut waiting: Vec<bool> = vec![true; states.len()];
    let mut found = Vec::new();
    if let Some(fitted) = fitted(system, states, &candidates, &allowed) {
        // One expression for all states is better than a patchwork of constants, unless one constant does.
        let by_one = allowed.iter().any(|own| own.iter().all(|&own| own));
        if !by_one && trial.allowed_in(&fitted, states)?.into_iter().all(|own| own) {
            return Ok(vec![fitted]);
        }
    }
    while found.len() < MOST_WITNESSES && waiting.contains(&true) {
        let covers =
            |own: &Vec<bool>| own.iter().zip(&waiting).filter(|(allowed, waiting)| **allowed && **waiting).count();
        // The first of the best, so that the answer is always the same.
        let best = (0..candidates.len()).rev().max_by_key(|&place| covers(&allowed[place]));
        let Some(best) = best.filter(|&best| covers(&allowed[best]) > 0) else { break };
        found.push(candidates[best].clone());
        waiting.iter_mut().zip(&allowed[best]).for_each(|(waiting, allowed)| *waiting &= !allowed);
    }
    if found.is_empty() {
        found.extend(candidates.into_iter().next());
    }
    Ok(found)
}

struct Trial<'a> {
    system: &'a System,
    step: Evaluator<f64>,
    workspace: Workspace<f64>,
}

impl Trial<'_> {
    /// Whether a choice is allowed in each of some states.
    fn allowed_in(&mut self, choice: &WitnessChoice, states: &[Vec<f64>]) -> Result<Vec<bool>, GraphError> {
        states.iter().map(|state| self.allowed(choice, state)).collect()
    }

    fn allowed(&mut self, choice: &WitnessChoice, state: &[f64]) -> Result<bool, GraphError> {
        let system = self.system;
        let inputs = choice.inputs_at(system, state);
        let one_hot = |count: usize, label: usize| -> Vec<f64> {
            (0..count).map(|own| f64::from(u8::from(own == label))).collect()
        };
        let mut arguments: Vec<Vec<f64>> = split(&system.states, state).map(<[f64]>::to_vec).collect();
        arguments.extend(split(&system.inputs, &inputs).map(<[f64]>::to_vec));
        let chances = system.chances.iter().zip(&choice.chances);
        arguments.extend(chances.map(|(chance, &label)| one_hot(chance.labels.len(), label)));
        arguments.extend(
            random_labels(system).into_iter().zip(&choice.actions).map(|(count, &label)| one_hot(count, label)),
        );
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        self.step.run(&mut self.workspace, &slices, 1)?;
        let holds =
            |port: usize| self.step.output(&self.workspace, &slices, port).first().is_some_and(|&own| own != 0.0);
        Ok((0..self.step.graph().outputs().len()).all(holds))
    }
}

/// How many labels each random action has.
fn random_labels(system: &System) -> Vec<usize> {
    let random = system.actions.iter().zip(&system.roles.actions);
    random
        .filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }))
        .map(|(action, _)| action.labels.len())
        .collect()
}

/// Constant choices.
fn constants(system: &System) -> Vec<WitnessChoice> {
    let possible: Vec<Vec<usize>> = system
        .chances
        .iter()
        .map(|chance| (0..chance.labels.len()).filter(|&label| chance.probabilities[label] > 0.0).collect())
        .chain(random_labels(system).into_iter().map(|count| (0..count).collect()))
        .collect();
    let elements = system.inputs.iter().flat_map(|input| (0..input.len).map(move |element| (input, element)));
    let ranges: Vec<(&Variable, usize)> = elements.collect();
    let shares: &[f64] = if ranges.len() <= 3 { &LATTICE } else { &LATTICE[..3] };
    let mut found = Vec::new();
    let mut place = vec![0usize; possible.len() + ranges.len()];
    let sizes: Vec<usize> = possible.iter().map(Vec::len).chain(ranges.iter().map(|_| shares.len())).collect();
    loop {
        let (labels, values) = place.split_at(possible.len());
        let labels: Vec<usize> =
            possible.iter().zip(labels).map(|(own, &at)| own.get(at).copied().unwrap_or(0)).collect();
        let (chances, actions) = labels.split_at(system.chances.len());
        let value = |(&(input, element), &at): (&(&Variable, usize), &usize)| {
            let (low, high) = (input.lower[element], input.upper[element]);
            (input.nearest(element, low + (high - low) * shares[at]), vec![0.0; system.state_len()])
        };
        found.push(WitnessChoice {
            inputs: ranges.iter().zip(values).map(value).collect(),
            chances: chances.to_vec(),
            actions: actions.to_vec(),
        });
        // The next place, as on an odometer.
        let Some(digit) = (0..place.len()).find(|&digit| place[digit] + 1 < sizes[digit]) else { return found };
        if found.len() >= MOST_CANDIDATES {
            return found;
        }
        place[..digit].fill(0);
        place[digit] += 1;
    }
}

/// Affine expressions of the state, fitted to the middle of what is allowed of the constants in each state.
fn fitted(
    system: &System,
    states: &[Vec<f64>],
    candidates: &[WitnessChoice],
    allowed: &[Vec<bool>],
) -> Option<WitnessChoice> {
    let labels = candidates.first()?;
    let same = |own: &WitnessChoice| own.chances == labels.chances && own.actions == labels.actions;
    let count = labels.inputs.len();
    let columns = system.state_len() + 1;
    let mut normal = vec![vec![0.0; columns + count]; columns];
    for (number, state) in states.iter().enumerate() {
        let own: Vec<&WitnessChoice> = candidates
            .iter()
            .zip(allowed)
            .filter(|(own, allowed)| allowed[number] && same(own))
            .map(|(own, _)| own)
            .collect();
        if own.is_empty() {
            return None;
        }
        let row: Vec<f64> = std::iter::once(1.0).chain(state.iter().copied()).collect();
        for (i, &left) in row.iter().enumerate() {
            for (j, &right) in row.iter().enumerate() {
                normal[i][j] += left * right;
            }
            for input in 0..count {
                let middle = own.iter().map(|own| own.inputs[input].0).sum::<f64>() / own.len() as f64;
                normal[i][columns + input] += left * middle;
            }
        }
    }
    (0..columns).for_each(|own| normal[own][own] += 1e-9);
    let solution = eliminated(normal, columns)?;
    let input = |input: usize| (solution[0][input], (1..columns).map(|row| solution[row][input]).collect());
    Some(WitnessChoice { inputs: (0..count).map(input).collect(), ..labels.clone() })
}

/// Solves linear equations by elimination; right-hand sides follow the matrix in each row.
fn eliminated(mut rows: Vec<Vec<f64>>, columns: usize) -> Option<Vec<Vec<f64>>> {
    for column in 0..columns {
        let pivot = (column..columns).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let divisor = rows[column][column];
        if divisor == 0.0 || !divisor.is_finite() {
            return None;
        }
        rows[column].iter_mut().for_each(|value| *value /= divisor);
        let own = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(place, _)| *place != column) {
            let factor = row[column];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    Some(rows.into_iter().map(|row| row[columns..].to_vec()).collect())
}
