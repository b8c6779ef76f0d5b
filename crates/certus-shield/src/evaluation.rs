//! Evaluation of a shield: simulated runs of the system itself, with and without it.
//!
//! States are stepped by the step graph as it was read, not by the polynomials that the shield was made from, and judged
//! by the property's truth value. A run's random numbers are a stream of the seed, by its number. The result does not depend on
//! the number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, GraphError};
use certus_lang::system::System;
use certus_numerics::{Random, parallel};
use certus_shield_rt::{Decision, Fallback, Monitor, Tables};

use crate::history::{History, Sample};
use crate::network::{Network, Scratch};
use crate::runtime::Runtime;

/// How many runs, of how many steps.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// Runs.
    pub runs: u64,
    /// Steps of each at most.
    pub steps: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
}

/// Statistics of simulated runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Runs that were made to their end, or to an unsafe state.
    pub runs: u64,
    /// Runs that entered an unsafe state.
    pub unsafe_runs: u64,
    /// Steps in all.
    pub steps: u64,
    /// Steps that the program decided.
    pub interventions: u64,
    /// Steps at which no branch covered the state.
    pub alarms: u64,
    /// Sum over the safe runs of the last step at which some state had moved by more than a twentieth of its domain since the
    /// last such step.
    pub settling: u64,
    /// What pictures are made of.
    pub history: History,
}

impl Statistics {
    fn new(trial: Trial) -> Statistics {
        Statistics { history: History::new(trial.steps), ..Statistics::default() }
    }

    fn add(&mut self, other: Statistics) {
        self.runs += other.runs;
        self.unsafe_runs += other.unsafe_runs;
        self.steps += other.steps;
        self.interventions += other.interventions;
        self.alarms += other.alarms;
        self.settling += other.settling;
        self.history.add(other.history);
    }
}

/// Copies in one batch.
const BATCH: usize = 128;

/// Batches whose results are kept at a time, per thread.
const BLOCKS_PER_THREAD: usize = 16;

/// What a trial needs.
pub struct Course<'c> {
    system: &'c System,
    network: Network,
    step: Evaluator<f64>,
    runtime: &'c Runtime,
}

impl<'c> Course<'c> {
    /// For an open system, its network, the place of the property's atom, and a shield.
    pub fn new(
        system: &'c System,
        network: &Graph,
        atom: usize,
        runtime: &'c Runtime,
    ) -> Result<Course<'c>, GraphError> {
        let mut ports: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
        ports.push(system.roles.atoms[atom].truth.port);
        Ok(Course {
            system,
            network: Network::new(system, network, &runtime.limits)?,
            step: Evaluator::new(&canonicalize(&system.step.keep_outputs(&ports))?),
            runtime,
        })
    }

    /// Makes the runs, with the shield or without it.
    pub fn run(
        &self,
        trial: Trial,
        shielded: bool,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Statistics, GraphError> {
        let blocks: Vec<(u64, u64)> = (0..trial.runs.div_ceil(BATCH as u64))
            .map(|block| (block * BATCH as u64, ((block + 1) * BATCH as u64).min(trial.runs)))
            .collect();
        let mut sum = Statistics::new(trial);
        // A few blocks per thread at a time bound the memory.
        for blocks in blocks.chunks(BLOCKS_PER_THREAD * trial.threads.max(1)) {
            let results = parallel::map(blocks, trial.threads, |&(first, last)| {
                self.runtime
                    .with_tables(|tables| self.block(trial, first..last, shielded.then_some(tables), stop, done))
            });
            for own in results {
                sum.add(own?);
            }
        }
        Ok(sum)
    }

    fn block(
        &self,
        trial: Trial,
        numbers: std::ops::Range<u64>,
        shield: Option<&Tables<'_>>,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Statistics, GraphError> {
        let n = self.system.state_len();
        let m = self.runtime.limits.len();
        let mut runs: Vec<Run> = numbers.map(|run| Run::new(self.system, trial.seed, run)).collect();
        let (mut scratch, mut workspace) = (Scratch::default(), Workspace::default());
        let mut outcome = Statistics::new(trial);
        let near: Vec<f64> = self.runtime.domain.iter().map(|(a, b)| 0.05 * a.abs().max(b.abs())).collect();
        let mut predicted = vec![0.0; n];
        for step in 0..=trial.steps {
            let batch = runs.len();
            if batch == 0 || stop.load(Ordering::Relaxed) {
                break;
            }
            let states: Vec<f64> = (0..n).flat_map(|i| runs.iter().map(move |run| run.state[i])).collect();
            let mut actions = self.network.act(&states, batch, &mut scratch)?;
            if let Some(tables) = shield {
                let mut own = vec![0.0; m];
                for (b, run) in runs.iter_mut().enumerate() {
                    (0..m).for_each(|i| own[i] = actions[i * batch + b]);
                    let decision =
                        run.monitor.decide(tables, &run.state, &mut own, &mut predicted, Fallback::LastBranch);
                    run.overridden = !matches!(decision, Decision::Passed(_));
                    if step < trial.steps {
                        outcome.interventions += u64::from(run.overridden);
                        outcome.alarms += u64::from(decision == Decision::Alarm);
                    }
                    (0..m).for_each(|i| actions[i * batch + b] = own[i]);
                }
            }
            let inputs: Vec<Vec<f64>> = self.inputs(&mut runs);
            let mut slices: Vec<&[f64]> = Vec::new();
            let mut at = 0;
            for variable in &self.system.states {
                slices.push(&states[at * batch..(at + variable.len) * batch]);
                at += variable.len;
            }
            slices.extend(inputs.iter().map(Vec::as_slice));
            slices.push(&actions);
            self.step.run(&mut workspace, &slices, batch)?;
            let truth = self.step.output(&workspace, &slices, self.system.states.len()).to_vec();
            let mut place = 0;
            for index in 0..self.system.states.len() {
                let values = self.step.output(&workspace, &slices, index);
                for row in values.chunks_exact(batch) {
                    runs.iter_mut().zip(row).for_each(|(run, x)| run.next[place] = *x);
                    place += 1;
                }
            }
            for (run, truth) in runs.iter_mut().zip(&truth) {
                let mut moved = run.state.iter().zip(&run.anchor).zip(&near);
                if moved.any(|((x, anchor), near)| (x - anchor).abs() > *near) {
                    run.anchor.clone_from(&run.state);
                    run.settled = step as u64;
                }
                run.unsafe_now = *truth == 0.0 || run.state.iter().any(|x| !x.is_finite());
                if let Some(sample) = &mut run.sample {
                    let last = run.unsafe_now || step == trial.steps;
                    sample.note(step, &run.state, run.overridden, outcome.history.width, last);
                    sample.unsafe_at = run.unsafe_now.then_some(step);
                }
                if !run.unsafe_now {
                    std::mem::swap(&mut run.state, &mut run.next);
                }
            }
            let failed = runs.extract_if(.., |run| run.unsafe_now);
            for run in failed {
                outcome.unsafe_runs += 1;
                outcome.runs += 1;
                outcome.history.samples.extend(run.sample);
            }
            if step < trial.steps {
                runs.iter().for_each(|run| outcome.history.step(step, run.overridden));
                outcome.steps += runs.len() as u64;
                done.fetch_add(runs.len() as u64, Ordering::Relaxed);
            }
        }
        outcome.runs += runs.len() as u64;
        outcome.settling += runs.iter().map(|run| run.settled).sum::<u64>();
        outcome.history.samples.extend(runs.into_iter().filter_map(|run| run.sample));
        Ok(outcome)
    }

    /// The environment's inputs of every run, drawn anew.
    fn inputs(&self, runs: &mut [Run]) -> Vec<Vec<f64>> {
        let mut all = Vec::new();
        for variable in &self.system.inputs {
            let mut values = Vec::with_capacity(variable.len * runs.len());
            for (&lower, &upper) in variable.lower.iter().zip(&variable.upper) {
                values.extend(runs.iter_mut().map(|run| run.random.between(lower, upper)));
            }
            all.push(values);
        }
        all
    }
}

struct Run {
    state: Vec<f64>,
    next: Vec<f64>,
    random: Random,
    monitor: Monitor,
    /// Where the state last was after a movement worth the name, and when.
    anchor: Vec<f64>,
    settled: u64,
    unsafe_now: bool,
    /// Whether the program decided the last step.
    overridden: bool,
    /// What is kept of it.
    sample: Option<Sample>,
}

impl Run {
    fn new(system: &System, seed: u64, run: u64) -> Run {
        let mut random = Random::new(seed, run);
        let ends = system.init_box.0.iter().zip(&system.init_box.1);
        let state: Vec<f64> = ends.map(|(&a, &b)| random.between(a, b)).collect();
        Run {
            next: state.clone(),
            anchor: state.clone(),
            state,
            random,
            monitor: Monitor::new(),
            settled: 0,
            unsafe_now: false,
            overridden: false,
            sample: Sample::of(run),
        }
    }
}
