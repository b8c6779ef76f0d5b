//! A system compiled for simulation, and the loop over blocks of runs.

use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::Evaluator;
use certus_lang::system::{ActionRole, PropertyKind, System};

use crate::SimulationError;
use crate::block::{Block, Scratch};
use crate::options::{InputSource, Options};
use crate::report::RunReport;
use crate::summary::Summary;

/// The runs of a block are evaluated as one batch: large enough for the matrix kernels, small enough for the caches.
const BLOCK: usize = 192;

/// Memory that the history of a block's atoms may take; longer runs get smaller blocks.
const HISTORY_BYTES: usize = 64 << 20;

/// The history that one run may keep.
const LONGEST_HISTORY: usize = 4 << 30;

/// How many points an adversary may evaluate at once.
const MOST_POINTS: usize = 1 << 16;

/// How many states are drawn from the initial box before giving up.
pub(crate) const MAX_INITIAL_TRIES: usize = 1000;

/// Where in the outputs of a compiled step to find things.
#[derive(Default)]
pub(crate) struct Ports {
    pub(crate) next: Vec<usize>,
    pub(crate) truths: Vec<usize>,
    pub(crate) margins: Vec<usize>,
    pub(crate) assume: Option<usize>,
    pub(crate) terminal: Option<usize>,
    pub(crate) reward: Option<usize>,
    pub(crate) policies: Vec<usize>,
    /// For each argmax action, its choice.
    pub(crate) argmax: Vec<usize>,
}

/// A system compiled for simulation.
///
/// Random actions need the policy's probabilities before the rest of the step can be evaluated, so such a system is
/// compiled in two parts: scores first, then the step with the sampled choices as inputs.
pub struct Simulator<'s> {
    pub(crate) system: &'s System,
    pub(crate) step: Evaluator<f64>,
    pub(crate) ports: Ports,
    /// The probabilities of each random action, then the policies; `None` if there is no random action.
    pub(crate) scores: Option<Evaluator<f64>>,
    pub(crate) init: Option<Evaluator<f64>>,
    /// The number of labels of each random action.
    pub(crate) softmax_labels: Vec<usize>,
}

/// How far a simulation is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Runs made.
    pub runs: u64,
    /// Runs asked for.
    pub of: u64,
    /// Runs so far in which some property is violated.
    pub violated: u64,
}

/// Collects the outputs to keep, in order.
struct Keep(Vec<usize>);

impl Keep {
    fn add(&mut self, port: usize) -> usize {
        self.0.push(port);
        self.0.len() - 1
    }
}

fn compile(system: &System, keep: &[usize]) -> Result<Evaluator<f64>, SimulationError> {
    Ok(Evaluator::new(&canonicalize(&system.step.keep_outputs(keep))?))
}

impl<'s> Simulator<'s> {
    /// Compiles a system.
    pub fn new(system: &'s System) -> Result<Self, SimulationError> {
        let roles = &system.roles;
        let softmax: Vec<(usize, usize)> = roles
            .actions
            .iter()
            .zip(&system.actions)
            .filter_map(|(role, action)| match role {
                ActionRole::Softmax { probabilities, .. } => Some((probabilities.port, action.labels.len())),
                ActionRole::Argmax { .. } => None,
            })
            .collect();
        let policies = || roles.policies.iter().map(|policy| policy.port);
        let mut keep = Keep(Vec::new());
        let ports = Ports {
            next: roles.next.iter().map(|next| keep.add(next.port)).collect(),
            truths: roles.atoms.iter().map(|atom| keep.add(atom.truth.port)).collect(),
            margins: roles.atoms.iter().map(|atom| keep.add(atom.margin.port)).collect(),
            assume: roles.assume.map(|assume| keep.add(assume.truth.port)),
            terminal: roles.terminal.map(|terminal| keep.add(terminal.truth.port)),
            reward: roles.reward.map(|reward| keep.add(reward.port)),
            policies: if softmax.is_empty() { policies().map(|port| keep.add(port)).collect() } else { Vec::new() },
            argmax: roles
                .actions
                .iter()
                .filter_map(|role| match role {
                    ActionRole::Argmax { choice, .. } => Some(keep.add(choice.port)),
                    ActionRole::Softmax { .. } => None,
                })
                .collect(),
        };
        let score_ports: Vec<usize> = softmax.iter().map(|&(port, _)| port).chain(policies()).collect();
        let scores = if softmax.is_empty() { None } else { Some(compile(system, &score_ports)?) };
        let init = roles.init.map(|init| compile(system, &[init.truth.port])).transpose()?;
        let step = compile(system, &keep.0)?;
        let softmax_labels = softmax.iter().map(|&(_, labels)| labels).collect();
        Ok(Simulator { system, step, ports, scores, init, softmax_labels })
    }

    /// Makes the runs, and hands each to `sink` in the order of their numbers.
    pub fn run(
        &self,
        options: &Options<'_>,
        progress: &mut dyn FnMut(Progress),
        sink: &mut dyn FnMut(&RunReport),
    ) -> Result<Summary, SimulationError> {
        self.check(options)?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let per_run = options.steps.saturating_add(1).saturating_mul(self.system.atoms.len().max(1) * 9);
        if per_run > LONGEST_HISTORY {
            let (steps, gigabytes) = (options.steps, per_run >> 30);
            let message = format!("{steps} steps would keep {gigabytes} GB of history per run; ask for fewer steps");
            return Err(SimulationError::Options(message));
        }
        let evaluated_per_run = match options.inputs {
            InputSource::Adversary { candidates, .. } => candidates,
            _ => 1,
        };
        let block = (HISTORY_BYTES / per_run.max(1)).min(MOST_POINTS / evaluated_per_run).clamp(1, BLOCK) as u64;
        let threads = threads.min(usize::try_from(options.runs.div_ceil(block)).unwrap_or(usize::MAX)).max(1);
        let mut summary = Summary::new(self.system.properties.len());
        let mut scratches: Vec<Scratch> = (0..threads).map(|_| Scratch::default()).collect();
        let mut violated = 0;
        let mut first = options.first_run;
        let end = options
            .first_run
            .checked_add(options.runs)
            .ok_or_else(|| SimulationError::Options("run numbers beyond 2^64 do not exist".to_owned()))?;
        while first < end && !stopped(options) {
            // One block per thread at a time keeps the order and bounds the memory.
            let starts = (0..threads as u64).map(|t| first.saturating_add(t * block)).take_while(|&start| start < end);
            let ranges: Vec<(u64, u64)> = starts.map(|start| (start, start.saturating_add(block).min(end))).collect();
            let results: Vec<Result<Option<Vec<RunReport>>, SimulationError>> = std::thread::scope(|scope| {
                let work = |(&(from, to), scratch): (&(u64, u64), _)| {
                    scope.spawn(move || Block::new(self, options, from..to)?.run(scratch))
                };
                let workers: Vec<_> = ranges.iter().zip(&mut scratches).map(work).collect();
                let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                workers.into_iter().map(join).collect()
            });
            for result in results {
                let Some(reports) = result? else {
                    summary.interrupted = true;
                    return Ok(summary);
                };
                for report in &reports {
                    summary.add(report);
                    violated += u64::from(self.breaks_something(report));
                    sink(report);
                }
            }
            first = first.saturating_add(ranges.len() as u64 * block);
            progress(Progress { runs: summary.runs, of: options.runs, violated });
        }
        summary.interrupted = summary.runs < options.runs;
        Ok(summary)
    }

    fn breaks_something(&self, report: &RunReport) -> bool {
        let ltl = |kind: &PropertyKind| matches!(kind, PropertyKind::Ltl(_));
        let pairs = self.system.properties.iter().zip(&report.properties);
        pairs.into_iter().any(|(property, seen)| ltl(&property.kind) && seen.broken_at.is_some())
    }

    fn check(&self, options: &Options<'_>) -> Result<(), SimulationError> {
        let (lower, upper) = &self.system.init_box;
        let names = crate::options::element_names(self.system.states.iter().map(|s| (&*s.name, s.len, s.is_vector)));
        for ((low, high), name) in lower.iter().zip(upper).zip(names) {
            if !low.is_finite() || !high.is_finite() {
                return Err(SimulationError::UnboundedInitialState { variable: name });
            }
        }
        match &options.inputs {
            InputSource::Adversary { property, candidates } => {
                if *property >= self.system.properties.len() {
                    return Err(SimulationError::Adversary("the adversary needs a property to break".to_owned()));
                }
                if *candidates == 0 || *candidates > MOST_POINTS {
                    let message = format!("the adversary takes from 1 to {MOST_POINTS} candidates, not {candidates}");
                    return Err(SimulationError::Adversary(message));
                }
                if self.system.inputs.is_empty() {
                    let message = "the system has no `input` for an adversary to choose";
                    return Err(SimulationError::Adversary(message.to_owned()));
                }
            }
            InputSource::Script(script) => {
                script.row(0, 0).map(|_| ())?;
            }
            InputSource::Uniform => {}
        }
        Ok(())
    }
}

/// Whether somebody asked to stop, or the time is over.
pub(crate) fn stopped(options: &Options<'_>) -> bool {
    options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        || options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
