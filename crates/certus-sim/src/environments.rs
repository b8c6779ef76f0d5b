//! Open systems stepped from outside: many copies at once, for training.
//!
//! The one network of an open system is somebody else's: an environment shows what the network would see and takes what
//! it would answer. Copies are stepped as batches, by the code that simulates closed systems; what is drawn for a copy
//! comes from the stream that (seed, its number, its episode) names, so copies behave the same whatever their number,
//! and the episodes of the first copy are the runs of a simulation with that seed.
//!
//! Where the network sees an `input`, that input is chosen before it looks, and not chosen again if `assume` refuses the
//! transition: the episode ends as blocked. Otherwise inputs are chosen when the network has answered.

use std::collections::VecDeque;
use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::{ActionRole, System};

use crate::choices::gather;
use crate::compiled::{Compiled, Machine, compile};
use crate::options::{InputSource, element_names};
use crate::report::End;
use crate::walk::{MOST_POINTS, Rules, Scratch, Walk};
use crate::{ActionMode, SimulationError};

/// Copies in one batch, unless an adversary tries many inputs for each: as for simulation.
const GROUP: usize = 192;

/// Episodes of a copy are counted in these bits of a run number, copies above them.
const EPISODE_BITS: u32 = 32;

/// What environments are asked to do.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentOptions {
    /// How many copies.
    pub count: usize,
    /// After how many steps an episode is cut.
    pub max_steps: Option<usize>,
    /// Where the environment's choices come from; a table is not possible.
    pub inputs: InputSource,
    /// Whether a copy whose episode ended begins another one at once.
    pub auto_reset: bool,
    /// How many threads step the copies; 0 and 1 mean none beside the caller's.
    pub threads: usize,
}

/// What the copies are told, one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Answers<'a> {
    /// Results of the network.
    Single(&'a [f32]),
    /// Results of the network.
    Double(&'a [f64]),
    /// Labels of the action that is chosen from the network's result.
    Labels(&'a [i64]),
}

/// Where a step is written to: one entry or row per copy.
pub struct Shown<'a> {
    /// What the network sees next; after the end of an episode with `auto_reset`, at the beginning of another one.
    pub observations: &'a mut [f32],
    /// The reward of the step.
    pub rewards: &'a mut [f64],
    /// Whether a terminal state was reached.
    pub terminated: &'a mut [bool],
    /// Whether the episode was cut: by the limit of steps, or because the model does not allow the step.
    pub truncated: &'a mut [bool],
}

/// Why an episode ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The copy.
    pub copy: usize,
    /// The run number that names the episode together with the seed.
    pub run: u64,
    /// How many steps it took.
    pub steps: usize,
    /// The sum of its rewards.
    pub total_reward: f64,
    /// How it ended: `Completed` by the limit of steps, or as runs of a simulation do.
    pub end: End,
    /// What the network saw last. Where the model does not allow the step, the step was not taken.
    pub observation: Vec<f32>,
    /// The state at the end.
    pub state: Vec<f64>,
}

/// Copies of an open system.
pub struct Environments {
    shared: Shared,
    seed: u64,
    groups: Vec<Group>,
    starts: VecDeque<Vec<f64>>,
}

/// What the groups share.
struct Shared {
    system: Arc<System>,
    compiled: Compiled,
    /// What the network sees, then whether the state is terminal.
    observe: Evaluator<f64>,
    options: EnvironmentOptions,
    sees_inputs: bool,
    /// How many copies are stepped as one batch.
    group: usize,
}

/// Copies that are stepped as one batch.
struct Group {
    /// The number of the first copy.
    first: usize,
    walk: Walk,
    scratch: Scratch,
    workspace: Workspace<f64>,
    episodes: Vec<u64>,
    steps: Vec<usize>,
    totals: Vec<f64>,
    /// What is seen and whether the state is terminal, element-major.
    seen: Vec<f64>,
    terminal: Vec<f64>,
    ended: Vec<Ended>,
}

impl Environments {
    /// Compiles the system and makes the copies; they begin with [`Environments::reset`].
    pub fn new(system: Arc<System>, options: EnvironmentOptions) -> Result<Environments, SimulationError> {
        let refuse = |message: String| Err(SimulationError::Options(message));
        let name = &system.name;
        let role = match system.roles.networks.as_slice() {
            [role] => *role,
            [] => return refuse(format!("{name} has no network that is left open")),
            _ => {
                let paths: Vec<&str> = system.networks.iter().map(|network| network.path.as_str()).collect();
                let names: Vec<&str> = system.policies.iter().map(|policy| policy.name.as_str()).collect();
                let actions = system.actions.iter().map(|action| action.name.as_str());
                let names: Vec<&str> = names.into_iter().chain(actions).collect();
                return refuse(format!(
                    "{name} applies networks {} times ({}), and one can be trained at a time: name its policy ({})",
                    paths.len(),
                    paths.join(", "),
                    names.join(", ")
                ));
            }
        };
        if system.roles.reward.is_none() {
            return refuse(format!(
                "{name} has no reward to learn from: add a line such as `reward -(x^2)` to its file"
            ));
        }
        if options.count == 0 {
            return refuse("there has to be at least one environment".to_owned());
        }
        if matches!(options.inputs, InputSource::Script(_)) {
            return refuse("environments draw their inputs; a table cannot be played".to_owned());
        }
        let watched = matches!(options.inputs, InputSource::Adversary { .. });
        let compiled = Compiled::new(&system, watched)?;
        let seen = system.step.keep_outputs(&[role.arguments.port]);
        // Inputs of the step keep their places, so what is seen can be asked for them by place.
        let reads = |place: usize| {
            let id = seen.inputs()[place].node;
            seen.outputs()[0].node == id || seen.nodes().iter().any(|node| node.inputs.contains(&id))
        };
        let (states, inputs, chances) = (system.states.len(), system.inputs.len(), system.chances.len());
        let sees_inputs = (states..states + inputs).any(reads);
        let random = system.roles.actions.iter().filter(|role| matches!(role, ActionRole::Softmax { .. })).count();
        let choices = states + inputs + chances;
        if (choices..choices + random).any(reads) {
            return refuse("the network sees a random action of the same step, which is not known yet".to_owned());
        }
        let ports: Vec<usize> =
            [Some(role.arguments.port), system.roles.terminal.map(|t| t.truth.port)].into_iter().flatten().collect();
        let observe = compile(&system, &ports)?;
        let machine = Machine { system: &system, compiled: &compiled };
        rules(machine, &options.inputs).check()?;
        let group = match options.inputs {
            InputSource::Adversary { candidates, .. } => (MOST_POINTS / candidates.max(1)).clamp(1, GROUP),
            _ => GROUP,
        };
        let groups = (0..options.count).step_by(group).map(|first| {
            let count = group.min(options.count - first);
            Group {
                first,
                walk: Walk::new(machine, 0, 0..count as u64),
                scratch: Scratch::default(),
                workspace: Workspace::default(),
                episodes: vec![0; count],
                steps: vec![0; count],
                totals: vec![0.0; count],
                seen: Vec::new(),
                terminal: Vec::new(),
                ended: Vec::new(),
            }
        });
        let groups = groups.collect();
        let shared = Shared { system, compiled, observe, options, sees_inputs, group };
        Ok(Environments { shared, seed: 0, groups, starts: VecDeque::new() })
    }

    /// The system.
    pub fn system(&self) -> &System {
        &self.shared.system
    }

    /// How many copies there are.
    pub fn count(&self) -> usize {
        self.shared.options.count
    }

    /// Whether the network sees an `input`, which is then chosen before it answers.
    pub fn sees_inputs(&self) -> bool {
        self.shared.sees_inputs
    }

    /// Queues a state for an episode that begins, before any is drawn: behind those that wait, or `first`.
    pub fn push_start(&mut self, state: Vec<f64>, first: bool) -> Result<(), SimulationError> {
        let system = &self.shared.system;
        let names = element_names(system.states.iter().map(|s| (&*s.name, s.len, s.is_vector)));
        let ranges = system.states.iter().flat_map(|s| s.lower.iter().zip(&s.upper));
        if state.len() != names.len() {
            let message = format!("a state of {} has {} numbers, not {}", system.name, names.len(), state.len());
            return Err(SimulationError::Options(message));
        }
        for ((value, name), (low, high)) in state.iter().zip(&names).zip(ranges) {
            if !(low <= value && value <= high) {
                let message = format!("the start state has {name} = {value}, outside of [{low}, {high}]");
                return Err(SimulationError::Options(message));
            }
        }
        match first {
            true => self.starts.push_front(state),
            false => self.starts.push_back(state),
        }
        Ok(())
    }

    /// How many queued states have not been used yet.
    pub fn queued(&self) -> usize {
        self.starts.len()
    }

    /// Forgets the queued states.
    pub fn clear_starts(&mut self) {
        self.starts.clear();
    }

    /// Begins all copies anew; a seed also counts their episodes from the beginning.
    pub fn reset(&mut self, seed: Option<u64>, observations: &mut [f32]) -> Result<(), SimulationError> {
        if let Some(seed) = seed {
            self.seed = seed;
            self.groups.iter_mut().for_each(|group| group.episodes.fill(0));
        }
        let width = self.shared.width();
        self.check(observations.len(), self.count() * width, "observations")?;
        for (group, rows) in self.groups.iter_mut().zip(observations.chunks_mut(self.shared.group * width.max(1))) {
            let all = (0..group.steps.len()).collect();
            group.begin(&self.shared, self.seed, all, &mut self.starts)?;
            group.observe(&self.shared)?;
            group.show(width, rows);
        }
        Ok(())
    }

    /// Makes one step in every copy, and returns the episodes that ended, in the order of the copies.
    pub fn step(&mut self, answers: Answers<'_>, shown: Shown<'_>) -> Result<Vec<Ended>, SimulationError> {
        let (count, width, results) = (self.count(), self.shared.width(), self.shared.system.networks[0].results);
        match answers {
            Answers::Single(values) => self.check(values.len(), count * results, "actions")?,
            Answers::Double(values) => self.check(values.len(), count * results, "actions")?,
            Answers::Labels(labels) => {
                self.check(labels.len(), count, "actions")?;
                if let Some(wrong) = labels.iter().find(|label| !(0..results as i64).contains(label)) {
                    return Err(SimulationError::Options(format!("there is no action {wrong}: there are {results}")));
                }
            }
        }
        self.check(shown.observations.len(), count * width, "observations")?;
        let lens = [shown.rewards.len(), shown.terminated.len(), shown.truncated.len()];
        lens.iter().try_for_each(|&len| self.check(len, count, "results"))?;
        let shared = &self.shared;
        let tasks = self
            .groups
            .iter_mut()
            .zip(shown.observations.chunks_mut(self.shared.group * width.max(1)))
            .zip(shown.rewards.chunks_mut(shared.group))
            .zip(shown.terminated.chunks_mut(shared.group))
            .zip(shown.truncated.chunks_mut(shared.group));
        let tasks = tasks.map(|((((group, observations), rewards), terminated), truncated)| {
            (group, Shown { observations, rewards, terminated, truncated })
        });
        if shared.options.threads <= 1 || count <= shared.group {
            for (group, shown) in tasks {
                group.step(shared, answers, shown)?;
            }
        } else {
            let mut tasks: Vec<_> = tasks.collect();
            let share = tasks.len().div_ceil(shared.options.threads);
            std::thread::scope(|scope| {
                let work = |part: &mut [(&mut Group, Shown<'_>)]| -> Result<(), SimulationError> {
                    part.iter_mut().try_for_each(|(group, shown)| group.step(shared, answers, shown.reborrow()))
                };
                let workers: Vec<_> = tasks.chunks_mut(share).map(|part| scope.spawn(move || work(part))).collect();
                workers.into_iter().try_for_each(|worker| match worker.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
            })?;
        }
        let mut ended = Vec::new();
        for (group, rows) in self.groups.iter_mut().zip(shown.observations.chunks_mut(self.shared.group * width.max(1)))
        {
            if group.ended.is_empty() {
                continue;
            }
            let columns: Vec<usize> = group.ended.iter().map(|end| end.copy - group.first).collect();
            ended.append(&mut group.ended);
            if shared.options.auto_reset {
                group.begin(shared, self.seed, columns, &mut self.starts)?;
                group.observe(shared)?;
                group.show(width, rows);
            }
        }
        Ok(ended)
    }

    /// The state of every copy, one after the other.
    pub fn states(&self) -> Vec<f64> {
        let rows = |group: &Group| -> Vec<f64> {
            let (state, count) = (&group.walk.points.state, group.steps.len());
            (0..count).flat_map(|column| gather(state, count, &[column])).collect()
        };
        self.groups.iter().flat_map(rows).collect()
    }

    fn check(&self, found: usize, expected: usize, what: &str) -> Result<(), SimulationError> {
        if found == expected {
            return Ok(());
        }
        let copies = self.count();
        Err(SimulationError::Options(format!("{copies} environments take {expected} {what}, got {found}")))
    }
}

fn rules<'a>(machine: Machine<'a>, inputs: &'a InputSource) -> Rules<'a> {
    Rules { machine, inputs, actions: ActionMode::Sampled, record: false }
}

impl Shown<'_> {
    fn reborrow(&mut self) -> Shown<'_> {
        Shown {
            observations: self.observations,
            rewards: self.rewards,
            terminated: self.terminated,
            truncated: self.truncated,
        }
    }
}

impl Shared {
    fn rules(&self) -> Rules<'_> {
        rules(Machine { system: &self.system, compiled: &self.compiled }, &self.options.inputs)
    }

    /// How many numbers the network sees.
    fn width(&self) -> usize {
        self.system.networks[0].arguments
    }
}

impl Group {
    /// Begins an episode in some columns.
    fn begin(
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
            self.walk.renumber(column, seed, copy << EPISODE_BITS | self.episodes[column]);
            self.episodes[column] += 1;
            self.steps[column] = 0;
            self.totals[column] = 0.0;
            match starts.pop_front() {
                Some(state) => {
                    for (element, value) in state.into_iter().enumerate() {
                        self.walk.points.state[element * count + column] = value;
                    }
                }
                None => drawn.push(column),
            }
        }
        if !drawn.is_empty() {
            self.walk.draw_initial_states(&rules, drawn, &mut self.scratch)?;
        }
        self.prepare(shared, &columns)
    }

    /// Draws what belongs to a position before anybody looks at it.
    fn prepare(&mut self, shared: &Shared, columns: &[usize]) -> Result<(), SimulationError> {
        let rules = shared.rules();
        self.walk.draw_choices(&rules, columns.iter().copied());
        if !shared.sees_inputs {
            return Ok(());
        }
        match shared.options.inputs {
            InputSource::Adversary { .. } if columns.len() == self.steps.len() => {
                self.walk.draw_inputs(&rules, 0, &mut self.scratch)
            }
            // The others have theirs already.
            InputSource::Adversary { .. } => {
                let before = self.walk.points.input.clone();
                let randoms = self.walk.randoms.clone();
                self.walk.draw_inputs(&rules, 0, &mut self.scratch)?;
                let count = self.steps.len();
                for column in (0..count).filter(|column| !columns.contains(column)) {
                    self.walk.randoms[column] = randoms[column].clone();
                    (column..before.len()).step_by(count).for_each(|at| self.walk.points.input[at] = before[at]);
                }
                Ok(())
            }
            _ => {
                columns.iter().for_each(|&column| self.walk.draw_input(column));
                Ok(())
            }
        }
    }

    /// Computes what is seen in every column.
    fn observe(&mut self, shared: &Shared) -> Result<(), SimulationError> {
        let machine = shared.rules().machine;
        let points = &self.walk.points;
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
    fn show(&self, width: usize, rows: &mut [f32]) {
        let count = self.steps.len();
        for (column, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(i, place)| *place = self.seen[i * count + column] as f32);
        }
    }

    /// One step in every column, from what is drawn to what is seen; episodes that ended are kept in `ended`.
    fn step(&mut self, shared: &Shared, answers: Answers<'_>, shown: Shown<'_>) -> Result<(), SimulationError> {
        let (rules, count) = (shared.rules(), self.steps.len());
        self.take(answers, shared.system.networks[0].results);
        if !shared.sees_inputs && !shared.system.inputs.is_empty() {
            self.walk.draw_inputs(&rules, 0, &mut self.scratch)?;
        }
        self.walk.evaluate(&rules, &mut self.scratch)?;
        if !shared.sees_inputs {
            self.walk.satisfy_assumption(&rules, &mut self.scratch)?;
        }
        let outcome = &self.scratch.outcome;
        let faults: Vec<Option<End>> =
            (0..count).map(|column| self.walk.fault(rules.machine, outcome, column)).collect();
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
            self.walk.points.state.copy_from_slice(&outcome.next);
        } else {
            for (row, next) in self.walk.points.state.chunks_exact_mut(count).zip(outcome.next.chunks_exact(count)) {
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
                state: gather(&self.walk.points.state, count, &[column]),
            });
        }
        Ok(())
    }

    /// Puts the answers of this group's copies where the step reads them.
    fn take(&mut self, answers: Answers<'_>, results: usize) {
        let (first, count) = (self.first, self.steps.len());
        let table = &mut self.walk.points.results[0];
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
