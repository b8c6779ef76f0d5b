//! Points of a batch: states with the choices made in them, and the evaluation of a step at these.

use certus_graph::eval::{Evaluator, Workspace};
use certus_numerics::Random;

use crate::compiled::{Machine, RandomAction};
use crate::{ActionMode, SimulationError};

/// A batch of states with the choices made in them; all element-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    pub(crate) count: usize,
    pub(crate) state: Vec<f64>,
    pub(crate) input: Vec<f64>,
    /// One-hot, one vector per chance variable.
    pub(crate) chances: Vec<Vec<f64>>,
    /// For each random action a number in [0, 1) that decides it.
    pub(crate) action_draws: Vec<Vec<f64>>,
    /// The results of open networks.
    pub(crate) results: Vec<Vec<f64>>,
}

/// The rows of an element-major table at some of its points, in the given order.
pub(crate) fn gather(table: &[f64], count: usize, columns: &[usize]) -> Vec<f64> {
    if count == 0 {
        return Vec::new();
    }
    table.chunks_exact(count).flat_map(|row| columns.iter().map(|&column| row[column])).collect()
}

impl Points {
    /// Some of the points, in the given order; a point may be taken more than once.
    pub(crate) fn select(&self, columns: &[usize]) -> Points {
        let gather = |table: &Vec<f64>| gather(table, self.count, columns);
        Points {
            count: columns.len(),
            state: gather(&self.state),
            input: gather(&self.input),
            chances: self.chances.iter().map(gather).collect(),
            action_draws: self.action_draws.iter().map(gather).collect(),
            results: self.results.iter().map(gather).collect(),
        }
    }
}

/// What a step gives at a batch of points; all element-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) next: Vec<f64>,
    pub(crate) truths: Vec<f64>,
    pub(crate) margins: Vec<f64>,
    pub(crate) assume: Vec<f64>,
    pub(crate) choice_defined: Vec<f64>,
    pub(crate) defined: Vec<f64>,
    /// One vector per atom; empty for one that is defined everywhere.
    pub(crate) atoms_defined: Vec<Vec<f64>>,
    pub(crate) terminal: Vec<f64>,
    pub(crate) reward: Vec<f64>,
    pub(crate) policies: Vec<f64>,
    /// One-hot, one vector per action of the system.
    pub(crate) actions: Vec<Vec<f64>>,
}

impl Outcome {
    /// Replaces the columns at `columns` by those of another outcome.
    pub(crate) fn overwrite(&mut self, count: usize, columns: &[usize], other: &Outcome) {
        let put = |target: &mut Vec<f64>, source: &Vec<f64>| {
            if columns.is_empty() {
                return;
            }
            for (row, values) in target.chunks_exact_mut(count).zip(source.chunks_exact(columns.len())) {
                columns.iter().zip(values).for_each(|(&column, &value)| row[column] = value);
            }
        };
        put(&mut self.next, &other.next);
        put(&mut self.truths, &other.truths);
        put(&mut self.margins, &other.margins);
        put(&mut self.assume, &other.assume);
        put(&mut self.choice_defined, &other.choice_defined);
        put(&mut self.defined, &other.defined);
        self.atoms_defined.iter_mut().zip(&other.atoms_defined).for_each(|(target, source)| put(target, source));
        put(&mut self.terminal, &other.terminal);
        put(&mut self.reward, &other.reward);
        put(&mut self.policies, &other.policies);
        self.actions.iter_mut().zip(&other.actions).for_each(|(target, source)| put(target, source));
    }
}

/// Buffers for evaluation, kept by each thread.
#[derive(Default)]
pub(crate) struct Buffers {
    step: Workspace<f64>,
    scores: Workspace<f64>,
    init: Workspace<f64>,
}

impl Machine<'_> {
    /// The inputs of a compiled graph at some points: variables one after the other, then choices.
    pub(crate) fn arguments<'a>(&self, points: &'a Points, choices: &'a [Vec<f64>]) -> Vec<&'a [f64]> {
        let mut arguments = Vec::new();
        let (mut state, mut input) = (points.state.as_slice(), points.input.as_slice());
        for variable in &self.system.states {
            let (own, rest) = state.split_at(variable.len * points.count);
            arguments.push(own);
            state = rest;
        }
        for variable in &self.system.inputs {
            let (own, rest) = input.split_at(variable.len * points.count);
            arguments.push(own);
            input = rest;
        }
        arguments.extend(points.chances.iter().map(Vec::as_slice));
        arguments.extend(choices.iter().map(Vec::as_slice));
        arguments.extend(points.results.iter().map(Vec::as_slice));
        arguments
    }

    /// Choices of random actions where nothing is sampled yet: those that somebody made outside, and zeros.
    pub(crate) fn given_choices(&self, points: &Points) -> Vec<Vec<f64>> {
        let choice = |action: &RandomAction| match action.given {
            Some(network) => points.results[network].clone(),
            None => vec![0.0; action.labels * points.count],
        };
        self.compiled.random_actions.iter().map(choice).collect()
    }

    /// Whether each state is initial.
    pub(crate) fn initial(&self, points: &Points, buffers: &mut Buffers) -> Result<Vec<bool>, SimulationError> {
        let Some(init) = &self.compiled.init else { return Ok(vec![true; points.count]) };
        let choices = self.given_choices(points);
        let arguments = self.arguments(points, &choices);
        init.run(&mut buffers.init, &arguments, points.count)?;
        Ok(init.output(&buffers.init, &arguments, 0).iter().map(|&truth| truth != 0.0).collect())
    }

    /// Evaluates one step at some points. `record` asks for policies and actions too.
    pub(crate) fn evaluate(
        &self,
        points: &Points,
        mode: ActionMode,
        record: bool,
        buffers: &mut Buffers,
        outcome: &mut Outcome,
    ) -> Result<(), SimulationError> {
        let mut choices = self.given_choices(points);
        outcome.policies.clear();
        if let Some(scores) = &self.compiled.scores {
            let arguments = self.arguments(points, &choices);
            scores.run(&mut buffers.scores, &arguments, points.count)?;
            let output = |index| scores.output(&buffers.scores, &arguments, index);
            let actions = &self.compiled.random_actions;
            let sample = |(index, action): (usize, &RandomAction)| match action.given {
                Some(_) => choices[index].clone(),
                None => choose(output(index), points.count, mode, &points.action_draws[index]),
            };
            let sampled: Vec<Vec<f64>> = actions.iter().enumerate().map(sample).collect();
            for policy in 0..self.system.policies.len() {
                outcome.policies.extend_from_slice(output(actions.len() + policy));
            }
            choices = sampled;
        }
        let arguments = self.arguments(points, &choices);
        self.compiled.step.run(&mut buffers.step, &arguments, points.count)?;
        let output = |index| output(&self.compiled.step, &buffers.step, &arguments, index);
        let collect = |target: &mut Vec<f64>, ports: &[usize]| {
            target.clear();
            ports.iter().for_each(|&port| target.extend_from_slice(output(port)));
        };
        collect(&mut outcome.next, &self.compiled.ports.next);
        collect(&mut outcome.truths, &self.compiled.ports.truths);
        collect(&mut outcome.margins, &self.compiled.ports.margins);
        collect(&mut outcome.assume, self.compiled.ports.assume.as_slice());
        collect(&mut outcome.choice_defined, self.compiled.ports.choice_defined.as_slice());
        collect(&mut outcome.defined, self.compiled.ports.defined.as_slice());
        outcome.atoms_defined.resize_with(self.compiled.ports.atoms_defined.len(), Vec::new);
        for (target, port) in outcome.atoms_defined.iter_mut().zip(&self.compiled.ports.atoms_defined) {
            collect(target, port.as_slice());
        }
        collect(&mut outcome.terminal, self.compiled.ports.terminal.as_slice());
        collect(&mut outcome.reward, self.compiled.ports.reward.as_slice());
        if record {
            if self.compiled.scores.is_none() {
                collect(&mut outcome.policies, &self.compiled.ports.policies);
            }
            let (mut sampled, mut computed) = (choices.iter(), self.compiled.ports.argmax.iter());
            outcome.actions.clear();
            for role in &self.system.roles.actions {
                let one_hot = match role {
                    certus_lang::system::ActionRole::Softmax { .. } => sampled.next().cloned(),
                    certus_lang::system::ActionRole::Argmax { .. } => {
                        computed.next().map(|&port| output(port).to_vec())
                    }
                };
                outcome.actions.extend(one_hot);
            }
        }
        Ok(())
    }
}

fn output<'a>(
    evaluator: &Evaluator<f64>,
    workspace: &'a Workspace<f64>,
    arguments: &[&'a [f64]],
    index: usize,
) -> &'a [f64] {
    evaluator.output(workspace, arguments, index)
}

/// One-hot choices by probabilities.
fn choose(probabilities: &[f64], count: usize, mode: ActionMode, draws: &[f64]) -> Vec<f64> {
    let labels = probabilities.len() / count.max(1);
    let mut choices = vec![0.0; probabilities.len()];
    for point in 0..count {
        let weights = (0..labels).map(|label| probabilities[label * count + point]);
        let chosen = match mode {
            ActionMode::Sampled => Random::pick(weights, draws[point]),
            ActionMode::MostLikely => {
                let mut best = (0, f64::NEG_INFINITY);
                for (label, weight) in weights.enumerate() {
                    if weight > best.1 {
                        best = (label, weight);
                    }
                }
                best.0
            }
        };
        choices[chosen * count + point] = 1.0;
    }
    choices
}
