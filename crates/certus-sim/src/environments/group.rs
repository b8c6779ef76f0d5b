//! Copies that are stepped as one batch.

use std::collections::VecDeque;
use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::System;

use super::{Answers, Ended, EnvironmentOptions, Shown};
use crate::choices::gather;
use crate::compiled::{Compiled, Machine};
use crate::options::InputSource;
use crate::report::End;
use crate::rollout::{Rollout, Rules, Scratch};
use crate::{ActionMode, SimulationError};

/// Episodes of a copy are counted in these bits of a run number, copies above them.
const EPISODE_BITS: u32 = 32;

/// What the groups share.
pub(super) struct Shared {
    pub(super) system: Arc<System>,
    pub(super) compiled: Compiled,
    /// What the network sees, then whether the state is terminal.
    pub(super) observe: Evaluator<f64>,
    pub(super) options: EnvironmentOptions,
    pub(super) sees_inputs: bool,
    /// How many copies are stepped as one batch.
    pub(super) group: usize,
}

/// Copies that are stepped as one batch.
pub(super) struct Group {
    /// The number of the first copy.
    pub(super) first: usize,
    pub(super) rollout: Rollout,
    pub(super) scratch: Scratch,
    pub(super) workspace: Workspace<f64>,
    pub(super) episodes: Vec<u64>,
    pub(super) steps: Vec<usize>,
    pub(super) totals: Vec<f64>,
    /// What is seen and whether the state is terminal, element-major.
    pub(super) seen: Vec<f64>,
    pub(super) terminal: Vec<f64>,
    pub(super) ended: Vec<Ended>,
}

pub(super) fn rules<'a>(machine: Machine<'a>, inputs: &'a InputSource) -> Rules<'a> {
    Rules { machine, inputs, actions: ActionMode::Sampled, record: false }
}

impl Shared {
    fn rules(&self) -> Rules<'_> {
        rules(Machine { system: &self.system, compiled: &self.compiled, watched: &[] }, &self.options.inputs)
    }

    /// How many numbers the network sees.
    pub(super) fn width(&self) -> usize {
        self.system.networks[0].arguments
    }
}

impl Group {
    /// Begins an episode in some columns.
    pub(super) fn begin(
        &mut self,
        shared: &Shared,
        seed: u64,
        columns: Vec<usize>,
        starts: &mut VecDeque<Vec<f64>>,
    ) -> Result<(), SimulationError> {
        let rules = shared.rules();
        let count = self.steps.len();
        let mut drawn = Vec::new();
        for &column in &columns {
            let copy = (self.first + column) as u64;
            self.rollout.renumber(column, seed, copy << EPISODE_BITS | self.episodes[column]);
            self.episodes[column] += 1;
            self.steps[column] = 0;
            self.totals[column] = 0.0;
            match starts.pop_front() {
                Some(state) => {
                    for (element, value) in state.into_iter().enumerate() {
                        self.rollout.points.state[element * count + column] = value;
                    }
                }
                None => drawn.push(column),
            }
        }
        if !drawn.is_empty() {
            self.rollout.draw_initial_states(&rules, drawn, &mut self.scratch)?;
        }
        self.prepare(shared, &columns)
    }

    /// Draws what belongs to a position before anybody looks at it.
    fn prepare(&mut self, shared: &Shared, columns: &[usize]) -> Result<(), SimulationError> {
        let rules = shared.rules();
        self.rollout.draw_choices(&rules, 0, columns.iter().copied());
        if !shared.sees_inputs {
            return Ok(());
        }
        match shared.options.inputs {
            InputSource::Adversary { .. } if columns.len() == self.steps.len() => {
                self.rollout.draw_inputs(&rules, 0, &mut self.scratch)
            }
            // The others have theirs already.
            InputSource::Adversary { .. } => {
                let before = self.rollout.points.input.clone();
                let randoms = self.rollout.randoms.clone();
                self.rollout.draw_inputs(&rules, 0, &mut self.scratch)?;
                let count = self.steps.len();
                for column in (0..count).filter(|column| !columns.contains(column)) {
                    self.rollout.randoms[column] = randoms[column].clone();
                    (column..before.len()).step_by(count).for_each(|at| self.rollout.points.input[at] = before[at]);
                }
                Ok(())
            }
            _ => {
                columns.iter().for_each(|&column| self.rollout.draw_input(column));
                Ok(())
            }
        }
    }

    /// Computes what is seen in every column.
    pub(super) fn observe(&mut self, shared: &Shared) -> Result<(), SimulationError> {
        let machine = shared.rules().machine;
        let points = &self.rollout.points;
        let choices = machine.given_choices(points);
        let arguments = machine.arguments(points, &choices);
        shared.observe.run(&mut self.workspace, &arguments, points.count)?;
        self.seen.clear();
        self.seen.extend_from_slice(shared.observe.output(&self.workspace, &arguments, 0));
        self.terminal.clear();
        if shared.system.roles.terminal.is_some() {
            self.terminal.extend_from_slice(shared.observe.output(&self.workspace, &arguments, 1));
        }
        Ok(())
    }

    /// Writes what is seen, one row per column.
    pub(super) fn show(&self, width: usize, rows: &mut [f32]) {
        let count = self.steps.len();
        for (column, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(i, place)| *place = self.seen[i * count + column] as f32);
        }
    }

    /// One step in every column, from what is drawn to what is seen; episodes that ended are kept in `ended`.
    pub(super) fn step(
        &mut self,
        shared: &Shared,
        answers: Answers<'_>,
        shown: Shown<'_>,
    ) -> Result<(), SimulationError> {
        let (rules, count) = (shared.rules(), self.steps.len());
        self.take(answers, shared.system.networks[0].results);
        if !shared.sees_inputs && !shared.system.inputs.is_empty() {
            self.rollout.draw_inputs(&rules, 0, &mut self.scratch)?;
        }
        self.rollout.evaluate(&rules, &mut self.scratch)?;
        if !shared.sees_inputs {
            self.rollout.satisfy_assumption(&rules, &mut self.scratch)?;
        }
        let outcome = &self.scratch.outcome;
        let faults: Vec<Option<End>> =
            (0..count).map(|column| self.rollout.fault(rules.machine, outcome, column)).collect();
        for (column, fault) in faults.iter().enumerate() {
            let reward = outcome.reward[column];
            let taken = match fault {
                None => true,
                Some(End::Blocked) => false,
                // The step was made, but where it leads is not part of the model.
                Some(_) => reward.is_finite(),
            };
            shown.rewards[column] = if taken { reward } else { 0.0 };
            self.totals[column] += shown.rewards[column];
            self.steps[column] += 1;
        }
        if faults.iter().all(Option::is_none) {
            self.rollout.points.state.copy_from_slice(&outcome.next);
        } else {
            for (row, next) in self.rollout.points.state.chunks_exact_mut(count).zip(outcome.next.chunks_exact(count)) {
                let free = (0..count).filter(|&column| faults[column].is_none());
                free.for_each(|column| row[column] = next[column]);
            }
        }
        let all: Vec<usize> = (0..count).collect();
        self.prepare(shared, &all)?;
        self.observe(shared)?;
        let width = shared.width();
        self.show(width, shown.observations);
        self.ended.clear();
        for (column, fault) in faults.into_iter().enumerate() {
            let terminal = fault.is_none() && self.terminal.get(column).is_some_and(|&truth| truth != 0.0);
            let limit = shared.options.max_steps.is_some_and(|limit| self.steps[column] >= limit);
            shown.terminated[column] = terminal;
            shown.truncated[column] = !terminal && (fault.is_some() || limit);
            let end = match (fault, terminal, limit) {
                (Some(fault), ..) => fault,
                (None, true, _) => End::Terminal,
                (None, false, true) => End::Completed,
                (None, false, false) => continue,
            };
            let copy = self.first + column;
            self.ended.push(Ended {
                copy,
                run: (copy as u64) << EPISODE_BITS | self.episodes[column].saturating_sub(1),
                steps: self.steps[column],
                total_reward: self.totals[column],
                end,
                observation: shown.observations[column * width..(column + 1) * width].to_vec(),
                state: gather(&self.rollout.points.state, count, &[column]),
            });
        }
        Ok(())
    }

    /// Puts the answers of this group's copies where the step reads them.
    fn take(&mut self, answers: Answers<'_>, results: usize) {
        let (first, count) = (self.first, self.steps.len());
        let table = &mut self.rollout.points.results[0];
        let rows = first * results..(first + count) * results;
        match answers {
            Answers::Single(values) => put(table, count, results, &values[rows]),
            Answers::Double(values) => put(table, count, results, &values[rows]),
            Answers::Labels(labels) => {
                table.fill(0.0);
                for (column, &label) in labels[first..first + count].iter().enumerate() {
                    table[label as usize * count + column] = 1.0;
                }
            }
        }
    }
}

/// Rows of points into an element-major table.
fn put<T: Copy + Into<f64>>(table: &mut [f64], count: usize, width: usize, rows: &[T]) {
    for (column, row) in rows.chunks_exact(width.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(element, &value)| table[element * count + column] = value.into());
    }
}
