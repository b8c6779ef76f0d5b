//! A system compiled for simulation, and the loop over blocks of runs.

use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_lang::system::{Formula, System};
use certus_numerics::parallel;

use crate::SimulationError;
use crate::block::Block;
use crate::compiled::{Compiled, Machine};
use crate::options::{InputSource, Options};
use crate::report::RunReport;
use crate::rollout::{MOST_POINTS, Rules, Scratch};
use crate::summary::Summary;

/// The runs of a block are evaluated as one batch: large enough for the matrix kernels, small enough for the caches.
const BLOCK: usize = 192;

/// Memory that the history of a block's atoms may take; longer runs get smaller blocks.
const HISTORY_BYTES: usize = 64 << 20;

/// The history that one run may keep.
const LONGEST_HISTORY: usize = 4 << 30;

/// A system compiled for simulation.
pub struct Simulator<'s> {
    system: &'s System,
    compiled: Compiled,
    /// The formulas that are judged on every run, and whether each is about every run.
    watched: Vec<Formula>,
    about_every_run: Vec<bool>,
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

impl<'s> Simulator<'s> {
    /// Compiles a system; all of its properties are watched.
    pub fn new(system: &'s System) -> Result<Self, SimulationError> {
        let watched = system.properties.iter().map(|property| (property.path().clone(), property.is_over_runs()));
        let (watched, about_every_run) = watched.unzip();
        Simulator::with(system, watched, about_every_run)
    }

    /// Compiles a system, of which one formula is watched: reports have one entry, for that.
    pub fn watching(system: &'s System, formula: &Formula) -> Result<Self, SimulationError> {
        Simulator::with(system, vec![formula.clone()], vec![true])
    }

    fn with(system: &'s System, watched: Vec<Formula>, about_every_run: Vec<bool>) -> Result<Self, SimulationError> {
        if let Some(network) = system.networks.first() {
            let message = format!("'{}' is open: it is stepped from outside, as an environment", network.path);
            return Err(SimulationError::Options(message));
        }
        Ok(Simulator { system, compiled: Compiled::new(system, true)?, watched, about_every_run })
    }

    /// Makes the runs, and hands each to `sink` in the order of their numbers.
    #[tracing::instrument(level = "debug", name = "simulation", skip_all)]
    pub fn run(
        &self,
        options: &Options<'_>,
        progress: &mut dyn FnMut(Progress),
        sink: &mut dyn FnMut(&RunReport),
    ) -> Result<Summary, SimulationError> {
        Rules { machine: self.machine(), inputs: &options.inputs, actions: options.actions, record: options.record }
            .check()?;
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
        let mut summary = Summary::new(self.watched.len());
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
            let shares: Vec<((u64, u64), &mut Scratch)> = ranges.iter().copied().zip(&mut scratches).collect();
            let results = parallel::map_owned(shares, threads, |((from, to), scratch)| {
                Block::new(self.machine(), options, from..to).run(scratch)
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
        tracing::trace!(target: "certus::count", simulated_runs = summary.runs, simulated_steps = summary.steps);
        summary.interrupted = summary.runs < options.runs;
        Ok(summary)
    }

    fn breaks_something(&self, report: &RunReport) -> bool {
        let pairs = self.about_every_run.iter().zip(&report.properties);
        pairs.into_iter().any(|(&every_run, seen)| every_run && seen.broken_at.is_some())
    }

    fn machine(&self) -> Machine<'_> {
        Machine { system: self.system, compiled: &self.compiled, watched: &self.watched }
    }
}

/// Whether somebody asked to stop, or the time is over.
pub(crate) fn stopped(options: &Options<'_>) -> bool {
    options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        || options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
