//! Open systems as reinforcement-learning environments: many copies at once, for training.
//!
//! The one network of an open system is supplied by the caller: an environment shows what the network would observe and takes what it would output. Copies are stepped as batches, by the code
//! that simulates closed systems; what is sampled for a copy comes from the stream determined by (seed, its number, its episode), so copies behave the same whatever their number, and the
//! episodes of the first copy are the runs of a simulation with that seed.
//!
//! Where the network observes an `input`, that input is sampled before, and not again if `assume` refuses the transition: the episode ends as blocked. Otherwise
//! inputs are sampled after the network's output is known.

mod group;

use std::collections::VecDeque;
use std::sync::Arc;

use certus_graph::eval::Workspace;
use certus_lang::system::{ActionRole, System};
use certus_numerics::parallel;

use crate::SimulationError;
use crate::choices::gather;
use crate::compiled::{Compiled, Machine, compile};
use crate::options::{InputSource, element_names};
use crate::report::End;
use crate::rollout::{MOST_POINTS, Rollout, Scratch};

use group::{Group, Shared, rules};

/// Copies in one batch, unless an adversary tries many inputs for each: as for simulation.
const GROUP: usize = 192;

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
        let machine = Machine { system: &system, compiled: &compiled, watched: &[] };
        rules(machine, &options.inputs).check()?;
        let group = match options.inputs {
            InputSource::Adversary { candidates, .. } => (MOST_POINTS / candidates.max(1)).clamp(1, GROUP),
            _ => GROUP,
        };
        let groups = (0..options.count).step_by(group).map(|first| {
            let count = group.min(options.count - first);
            Group {
                first,
                rollout: Rollout::new(machine, 0, 0..count as u64),
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
        let step = |(group, shown): (&mut Group, Shown<'_>)| group.step(shared, answers, shown);
        let results = parallel::map_until(tasks.collect(), shared.options.threads, step, Result::is_err);
        results.into_iter().collect::<Result<(), SimulationError>>()?;
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
            let (state, count) = (&group.rollout.points.state, group.steps.len());
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
