//! A block of runs, stepped together as one batch.

use std::ops::Range;

use certus_lang::system::{ActionRole, AtomId, Formula};

use crate::SimulationError;
use crate::choices::{Outcome, gather};
use crate::compiled::Machine;
use crate::options::Options;
use crate::report::{End, PropertyReport, RunReport, Step, Trace, Verdict};
use crate::rollout::{Rollout, Rules, Scratch};
use crate::semantics::{self, Tail};
use crate::simulator::stopped;

/// A run under way.
struct Run {
    number: u64,
    truths: Vec<bool>,
    /// Whether each atom has a value at each position.
    valued: Vec<bool>,
    margins: Vec<f64>,
    total_reward: f64,
    trace: Trace,
    positions: usize,
    /// Whether the last state is terminal and no choice is allowed there, as far as was tried.
    ended_without_choice: bool,
}

pub(crate) struct Block<'a> {
    rules: Rules<'a>,
    options: &'a Options<'a>,
    runs: Vec<Run>,
    rollout: Rollout,
    finished: Vec<RunReport>,
}

impl<'a> Block<'a> {
    pub(crate) fn new(machine: Machine<'a>, options: &'a Options<'a>, numbers: Range<u64>) -> Self {
        let run = |number| Run {
            number,
            truths: Vec::new(),
            valued: Vec::new(),
            margins: Vec::new(),
            total_reward: 0.0,
            trace: Trace::new(),
            positions: 0,
            ended_without_choice: false,
        };
        let runs: Vec<Run> = numbers.clone().map(run).collect();
        let rules = Rules { machine, inputs: &options.inputs, actions: options.actions, record: options.record };
        let rollout = Rollout::new(machine, options.seed, numbers);
        Block { rules, options, runs, rollout, finished: Vec::new() }
    }

    /// Makes all runs of the block; `None` if the simulation was stopped meanwhile.
    pub(crate) fn run(mut self, scratch: &mut Scratch) -> Result<Option<Vec<RunReport>>, SimulationError> {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        self.rollout.draw_initial_states(&self.rules, all, scratch)?;
        for step in 0..=self.options.steps {
            if stopped(self.options) {
                return Ok(None);
            }
            if self.runs.is_empty() {
                break;
            }
            let last = step == self.options.steps;
            self.rollout.draw_choices(&self.rules, step, 0..self.runs.len());
            self.rollout.draw_inputs(&self.rules, step, scratch)?;
            self.rollout.evaluate(&self.rules, scratch)?;
            self.rollout.satisfy_assumption(&self.rules, scratch)?;
            self.record(&scratch.outcome);
            self.advance(&scratch.outcome, last);
        }
        self.finished.sort_by_key(|report| report.run);
        Ok(Some(self.finished))
    }

    fn record(&mut self, outcome: &Outcome) {
        let count = self.rollout.points.count;
        let column_of = |table: &[f64], column: usize| gather(table, count, &[column]);
        let label = |one_hot: &[f64], column: usize| {
            one_hot.iter().skip(column).step_by(count.max(1)).position(|&x| x != 0.0).unwrap_or(0)
        };
        let system = self.rules.machine.system;
        for (column, run) in self.runs.iter_mut().enumerate() {
            run.positions += 1;
            let atoms = system.atoms.len();
            let chosen = outcome.choice_defined.get(column) != Some(&0.0);
            let allowed = chosen && outcome.assume.get(column) != Some(&0.0);
            let goes_on = self.rollout.fault(self.rules.machine, outcome, column).is_none();
            run.valued.extend(system.atoms.iter().zip(&outcome.atoms_defined).map(|(atom, defined)| {
                let read = match (atom.uses_next, atom.uses_choice) {
                    (true, _) => goes_on,
                    (_, true) => allowed,
                    _ => atom.state_only || chosen,
                };
                read && defined.get(column) != Some(&0.0)
            }));
            run.truths.extend((0..atoms).map(|atom| outcome.truths[atom * count + column] != 0.0));
            run.margins.extend((0..atoms).map(|atom| outcome.margins[atom * count + column]));
            if self.options.record {
                run.trace.push(Step {
                    state: column_of(&self.rollout.points.state, column),
                    input: column_of(&self.rollout.points.input, column),
                    chances: self.rollout.points.chances.iter().map(|one_hot| label(one_hot, column)).collect(),
                    policies: column_of(&outcome.policies, column),
                    actions: outcome.actions.iter().map(|one_hot| label(one_hot, column)).collect(),
                    reward: outcome.reward.get(column).copied(),
                    atoms: run.truths[run.truths.len() - atoms..].to_vec(),
                });
            }
        }
    }

    /// Ends the runs that are over, and moves the others to their next state.
    fn advance(&mut self, outcome: &Outcome, last: bool) {
        let count = self.rollout.points.count;
        let ends: Vec<Option<End>> = (0..count).map(|column| self.end_of(outcome, column, last)).collect();
        for (column, run) in self.runs.iter_mut().enumerate() {
            run.ended_without_choice = ends[column] == Some(End::Blocked) && is_terminal(outcome, column);
            let moved = match &ends[column] {
                None | Some(End::LeftRange { .. } | End::NotANumber { .. }) => true,
                Some(End::Completed | End::Terminal | End::Blocked) => false,
            };
            if moved {
                run.total_reward += outcome.reward.get(column).copied().unwrap_or(0.0);
            }
        }
        self.rollout.points.state.copy_from_slice(&outcome.next);
        if ends.iter().all(Option::is_none) {
            return;
        }
        let alive: Vec<usize> = (0..count).filter(|&column| ends[column].is_none()).collect();
        self.rollout.keep(&alive);
        let mut going_on = Vec::with_capacity(alive.len());
        for (run, end) in std::mem::take(&mut self.runs).into_iter().zip(ends) {
            match end {
                None => going_on.push(run),
                Some(end) => {
                    let report = self.report(run, end);
                    self.finished.push(report);
                }
            }
        }
        self.runs = going_on;
    }

    fn end_of(&self, outcome: &Outcome, column: usize, last: bool) -> Option<End> {
        if is_terminal(outcome, column) {
            // A run that nothing continues does not repeat: it is none.
            return Some(self.rollout.fault(self.rules.machine, outcome, column).unwrap_or(End::Terminal));
        }
        if last {
            return Some(End::Completed);
        }
        self.rollout.fault(self.rules.machine, outcome, column)
    }

    fn report(&self, run: Run, end: End) -> RunReport {
        let properties = self.rules.machine.watched.iter().map(|formula| self.judge(formula, &run, &end));
        RunReport {
            run: run.number,
            steps: run.positions - 1 + usize::from(matches!(end, End::LeftRange { .. } | End::NotANumber { .. })),
            properties: properties.collect(),
            total_reward: self.rules.machine.compiled.ports.reward.map(|_| run.total_reward),
            trace: self.options.record.then_some(run.trace),
            end,
        }
    }

    fn judge(&self, formula: &Formula, run: &Run, end: &End) -> PropertyReport {
        let system = self.rules.machine.system;
        let atoms = system.atoms.len();
        let mut reads_choices = false;
        visit_atoms(formula, &mut |id| reads_choices |= system.atoms[id.0].uses_choice || system.atoms[id.0].uses_next);
        // A terminal state in which nothing is allowed has no position that a formula about choices could speak of.
        let positions = run.positions - usize::from(run.ended_without_choice && reads_choices);
        if positions == 0 {
            return PropertyReport {
                verdict: Verdict::Open,
                margin: f64::INFINITY,
                broken_at: None,
                undefined_at: None,
            };
        }
        let tail = match end {
            End::Terminal if self.repeats(formula) => Tail::Repeats,
            _ => Tail::Unknown,
        };
        let truth = |id: AtomId, position: usize| run.truths[position * atoms + id.0];
        let margin = |id: AtomId, position: usize| run.margins[position * atoms + id.0];
        let mut asked = Vec::new();
        visit_atoms(formula, &mut |id| asked.push(id));
        let has_values = |position: &usize| asked.iter().all(|id| run.valued[position * atoms + id.0]);
        // A position at which an atom has no value is the last that counts, and only for what holds whatever the value.
        if let Some(end) = (0..positions).find(|position| !has_values(position)) {
            return self.judge_open(formula, run, end, &asked);
        }
        let verdict = semantics::verdict(formula, positions, tail, &truth);
        let supposed = if tail == Tail::Repeats { tail } else { self.options.tail };
        let margins = semantics::evaluate(formula, positions, supposed, &margin);
        let margin = if verdict == Verdict::Satisfied { margins.least } else { margins.greatest };
        // Verdicts of prefixes only ever become more certain, so the first certain one is found by bisection.
        let broken_at = (verdict == Verdict::Violated).then(|| {
            let (mut open, mut broken) = (0, positions);
            while broken - open > 1 {
                let middle = open + (broken - open) / 2;
                match semantics::verdict(formula, middle, Tail::Unknown, &truth) {
                    Verdict::Violated => broken = middle,
                    _ => open = middle,
                }
            }
            broken - 1
        });
        PropertyReport { verdict, margin, broken_at, undefined_at: None }
    }

    /// A run at whose last position some atoms have no value.
    fn judge_open(&self, formula: &Formula, run: &Run, end: usize, asked: &[AtomId]) -> PropertyReport {
        let atoms = self.rules.machine.system.atoms.len();
        let open: Vec<usize> = asked.iter().map(|id| id.0).filter(|id| !run.valued[end * atoms + id]).collect();
        let both = [false, true].map(|value| {
            let truth = |id: AtomId, position: usize| {
                if position == end && open.contains(&id.0) { value } else { run.truths[position * atoms + id.0] }
            };
            semantics::verdict(formula, end + 1, Tail::Unknown, &truth)
        });
        // With several atoms, mixtures of their values might say something else.
        let single = open.iter().all(|id| *id == open[0]);
        let verdict = if both[0] == both[1] && single { both[0] } else { Verdict::Open };
        let before = |positions: usize| {
            semantics::verdict(formula, positions, Tail::Unknown, &|id, position| run.truths[position * atoms + id.0])
        };
        let verdict = if end > 0 && before(end) != Verdict::Open { before(end) } else { verdict };
        let broken_at = (verdict == Verdict::Violated).then(|| {
            (1..=end).find(|&positions| before(positions) == Verdict::Violated).map_or(end, |positions| positions - 1)
        });
        let margin = match verdict {
            Verdict::Violated => f64::NEG_INFINITY,
            Verdict::Satisfied | Verdict::Open => f64::INFINITY,
        };
        PropertyReport { verdict, margin, broken_at, undefined_at: Some(end) }
    }

    /// Whether a terminal state fixes the formula's atoms for ever: not if they depend on choices still to come.
    fn repeats(&self, formula: &Formula) -> bool {
        let system = self.rules.machine.system;
        let random = system.roles.actions.iter().any(|role| matches!(role, ActionRole::Softmax { .. }));
        if system.inputs.is_empty() && system.chances.is_empty() && !random {
            return true;
        }
        let mut fixed = true;
        visit_atoms(formula, &mut |id| fixed &= system.atoms[id.0].state_only);
        fixed
    }
}

fn is_terminal(outcome: &Outcome, column: usize) -> bool {
    outcome.terminal.get(column).is_some_and(|&terminal| terminal != 0.0)
}

fn visit_atoms(formula: &Formula, visit: &mut dyn FnMut(AtomId)) {
    match formula {
        Formula::Constant(_) => {}
        Formula::Atom(id) => visit(*id),
        Formula::Not(a) | Formula::Next(a) | Formula::Finally(_, a) | Formula::Globally(_, a) => visit_atoms(a, visit),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| visit_atoms(part, visit)),
        Formula::Implies(a, b)
        | Formula::Iff(a, b)
        | Formula::Until(_, a, b)
        | Formula::WeakUntil(_, a, b)
        | Formula::Release(_, a, b) => {
            visit_atoms(a, visit);
            visit_atoms(b, visit);
        }
    }
}
