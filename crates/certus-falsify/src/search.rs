//! The search for a run that violates a property: rounds of simulated runs, short ones first.
//!
//! Robustness-guided falsification: Fainekos and Pappas, "Robustness of temporal logic specifications for continuous-time signals", Theoretical
//! Computer Science 410(42), 2009; Annpureddy, Liu, Fainekos and Sankaranarayanan, "S-TaLiRo: A Tool for Temporal Logic Falsification for Hybrid
//! Systems", TACAS 2011. For each of some horizons, a share of a round's steps goes to
//!
//! 1. sampled runs (`sampling`): random ones, corners, constant signals;
//! 2. greedy runs, in which each input is the one of a few that leaves the smallest robustness (`certus-sim`'s adversary);
//! 3. generations of an evolution strategy (`evolution`) that starts from the best run so far, and goes on in later rounds;
//! 4. steps against the gradient of robustness (`descent`), from the best run so far;
//! 5. where two numbers must be equal for a violation, the very doubles at which they are (`equality`).
//!
//! A run that was cut is judged for its robustness as though its last position stayed for ever, so liveness is guided, too. Runs that
//! violate the property, return to a state, settle or have a model error go to the judge (`judge`), the shortest first. A violation is then
//! made shorter, by samples of fewer steps, and simpler (`shrink`).
//!
//! Everything is counted in steps of runs whose numbers name their random streams, so what is found depends on the seed and not on threads or time.

mod meet;

use std::collections::BTreeMap;

use certus_check::equalities::equalities;
use certus_engine::{Budget, FIRST_WORK, Progress, Task, Watch, spent};
use certus_model::{CheckError, Formula, ModelError, Nnf, Run, nnf};
use certus_numerics::Random;
use certus_sim::semantics::Tail;
use certus_sim::{
    End, InputSource, Options, Plan, Plans, RunReport, SimulationError, Simulator, Step, Verdict as Seen,
};

use crate::coding::Coding;
use crate::cost::Cost;
use crate::descent::Descent;
use crate::evolution::{Evolution, generation_size};
use crate::judge::{Ended, Grade, Judge};
use crate::sampling::sample;
use crate::shrink::shrunk;
use crate::starts::initial_states;

/// Steps of runs of a property without an end of its own; every other round uses one more of them.
const HORIZONS: [usize; 5] = [25, 150, 1000, 4000, 16_000];
const FIRST_HORIZONS: usize = 3;

/// Scalar operations for each unit of work.
const OPERATIONS_OF_UNIT: u64 = 1 << 16;

/// What it costs to look for a lasso in a run and to prove it, in simulations of the run; and what it costs to prove that a run converges, in steps.
const COST_OF_LASSO: u64 = 8;
const COST_OF_CONVERGENCE: usize = 6000;

/// Runs that are simulated before the results are looked at.
const CHUNK: usize = 384;

/// Runs of a chunk that are tried as violations, lassos or model errors.
const MOST_TRIED: usize = 4;

/// Inputs that the greedy adversary tries at each step.
const CANDIDATES: usize = 8;

/// Positions beyond the violation that simulation saw: the step as it was lowered rounds otherwise, and may be later.
const SLACK: usize = 8;

/// Runs that are sampled to make a violation shorter, each time.
const SHORTENING_RUNS: u64 = 128;

/// Longer runs are not looked at for lassos.
const LONGEST_LASSO: usize = 1000;

/// A robustness below this share of the mean is promising, and worth more generations and iterations; so many of them, whatever they cost.
const PROMISING: f64 = 0.1;
const PROMISING_ROUNDS: u64 = 2;

/// The spread with which an evolution begins.
const SPREAD: f64 = 0.25;

/// What an iteration of gradient descent costs, in simulated runs: two sweeps with gradients, one at a time, and the runs that are tried.
const COST_OF_GRADIENT: u64 = 16;

/// Iterations of gradient descent, at most, and the shares of each range by which choices move.
const MOST_ITERATIONS: u64 = 32;
const STRIDES: [f64; 6] = [1.0, 0.3, 0.1, 0.03, 0.006, 0.001];

/// What was found.
pub(crate) enum Found {
    Violated(Run),
    Error(Box<ModelError>),
}

/// Why a round could not be finished.
pub(crate) enum Trouble {
    Simulation(SimulationError),
    Check(CheckError),
}

impl From<SimulationError> for Trouble {
    fn from(error: SimulationError) -> Self {
        Trouble::Simulation(error)
    }
}

impl From<CheckError> for Trouble {
    fn from(error: CheckError) -> Self {
        Trouble::Check(error)
    }
}

/// What all rounds have seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) steps: u64,
    /// The steps of the longest runs.
    pub(crate) longest: usize,
    /// The smallest robustness.
    pub(crate) robustness: f64,
    /// The runs with a positive robustness, and its sum over them.
    positive: (u64, f64),
}

impl Tally {
    /// Whether some run came so much nearer to a violation than most that a search around it may find one.
    fn is_promising(&self) -> bool {
        let (runs, sum) = self.positive;
        self.robustness < PROMISING * sum / runs.max(1) as f64
    }
}

/// A search that can be taken up again.
pub(crate) struct Search<'t> {
    task: Task<'t>,
    judge: Judge<'t>,
    simulator: Simulator<'t>,
    violation: Nnf,
    /// The only initial states that are known, where none is met by chance.
    starts: Vec<Vec<f64>>,
    cost: Cost,
    round: usize,
    next_run: u64,
    seen: Tally,
    /// For each horizon, how many runs were sampled.
    sampled: BTreeMap<usize, u64>,
    /// For each horizon, the evolution and the best point so far with its robustness.
    evolutions: BTreeMap<usize, Evolution>,
    best: BTreeMap<usize, (f64, Vec<f64>)>,
    /// The gradients of the step.
    descent: Option<Descent<'t>>,
    /// A run that violates the property in doubles, and perhaps by rounding alone.
    candidate: Option<Box<Run>>,
    /// What may be spent at this horizon on runs that may violate the property for ever, in scalar operations.
    judging: u64,
    /// Whether this round is one of those before the first full one: then nothing is done that it is not worth, however promising.
    is_opening: bool,
    /// Runs that seem to end in a model error.
    errors: Vec<Suspect>,
    /// Whether a violation may need two numbers that are equal.
    wants_equality: bool,
}

/// Runs that were simulated together.
struct Chunk {
    steps: usize,
    inputs: InputSource,
    reports: Vec<RunReport>,
    /// The point that denotes each run, where one does.
    points: Vec<Option<Vec<f64>>>,
}

/// A run whose last position seems to have a model error.
struct Suspect {
    position: usize,
    run: u64,
    steps: usize,
    inputs: InputSource,
}

impl<'t> Search<'t> {
    /// For a property of a system.
    pub(crate) fn new(task: Task<'t>, formula: &'t Formula) -> Result<Search<'t>, SimulationError> {
        let system = task.system;
        let cost = Cost::of(system);
        tracing::debug!(?cost, "scalar operations of a step");
        Ok(Search {
            task,
            judge: Judge::new(system, formula),
            simulator: Simulator::watching(system, formula)?,
            violation: nnf(formula, false),
            starts: Vec::new(),
            cost,
            round: 0,
            next_run: 0,
            seen: Tally { runs: 0, steps: 0, longest: 0, robustness: f64::INFINITY, positive: (0, 0.0) },
            sampled: BTreeMap::new(),
            evolutions: BTreeMap::new(),
            best: BTreeMap::new(),
            descent: None,
            candidate: None,
            judging: 0,
            is_opening: false,
            errors: Vec::new(),
            wants_equality: !equalities(system, formula).is_empty(),
        })
    }

    /// What was seen so far.
    pub(crate) fn tally(&self) -> Tally {
        self.seen
    }

    /// Whether what was seen is worth more than its share of a full round.
    pub(crate) fn is_promising(&self) -> bool {
        !self.is_opening && self.seen.is_promising()
    }

    /// A violation that may be one by rounding alone.
    pub(crate) fn candidate(&self) -> Option<&Run> {
        self.candidate.as_deref()
    }

    /// Whether nothing is left to be chosen, so that there is but one run.
    pub(crate) fn has_one_run(&self) -> bool {
        self.coding(0).dimensions() == 0
    }

    fn coding(&self, steps: usize) -> Coding {
        Coding::new(self.task.system, &self.starts, steps)
    }

    /// The steps of the runs of this round, shortest first.
    fn horizons(&self, operations: u64) -> Vec<usize> {
        let end = self.violation.horizon().and_then(|last| usize::try_from(last).ok());
        let most = end.into_iter().chain(self.task.steps).min();
        // Where there is but one run, it is followed as far as the work allows.
        let one_run = self.has_one_run();
        let far = |steps: &usize| one_run && self.cost.of_runs(1, *steps) <= operations;
        let some = HORIZONS.into_iter().enumerate();
        let some = some.filter(|(place, steps)| *place < FIRST_HORIZONS + self.round / 2 || far(steps));
        let some = some.map(|(_, steps)| steps);
        match most {
            Some(most) if end.is_none() || shows_early(&self.violation) => {
                self.affordable(some.filter(|&steps| steps < most).chain([most]).collect(), operations)
            }
            Some(most) => vec![most],
            None => self.affordable(some.collect(), operations),
        }
    }

    /// The horizons, without the long ones of which a round is not even worth the fewest runs: a system whose steps take long waits for a
    /// longer turn.
    fn affordable(&self, horizons: Vec<usize>, operations: u64) -> Vec<usize> {
        let worth = |steps: usize| self.cost.of_runs(least_runs(steps), steps) <= operations;
        let first = horizons.first().copied();
        horizons.into_iter().filter(|&steps| Some(steps) == first || worth(steps)).collect()
    }

    /// One round, worth so many units of work.
    pub(crate) fn round(
        &mut self,
        work: u64,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let operations = work.saturating_mul(OPERATIONS_OF_UNIT);
        let horizons = self.horizons(operations);
        self.is_opening = work < FIRST_WORK;
        self.round += 1;
        // Long runs begin with short ones, so they have the larger part; but the more of them there are, the better.
        let weight = |steps: usize| (steps as f64 + 1.0).sqrt();
        let whole: f64 = horizons.iter().map(|&steps| weight(steps)).sum();
        for steps in horizons {
            let share = (operations as f64 * weight(steps) / whole) as u64;
            let found = match self.at(steps, share, budget, watch) {
                // Draws do not meet the initial condition: some states are asked for instead.
                Err(Trouble::Simulation(SimulationError::NoInitialState { tried })) if self.starts.is_empty() => {
                    self.starts = initial_states(self.task.system, budget)?;
                    self.sampled.clear();
                    if self.starts.is_empty() {
                        return Err(SimulationError::NoInitialState { tried }.into());
                    }
                    self.at(steps, share, budget, watch)?
                }
                other => other?,
            };
            if found.is_some() {
                return Ok(found);
            }
            if spent(budget).is_some() {
                return Ok(None);
            }
        }
        self.confirmed_error(budget)
    }

    /// Runs of so many steps, for a share of the operations of a round.
    fn at(
        &mut self,
        steps: usize,
        share: u64,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let coding = self.coding(steps);
        let alone = coding.dimensions() == 0;
        self.judging = share / 2;
        let mut left =
            if alone { 1 } else { self.cost.runs_worth(share / 2, steps).clamp(least_runs(steps), 1 << 20) as usize };
        while left > 0 {
            let count = left.min(CHUNK);
            left -= count;
            let (plans, points) = self.samples(&coding, steps, count, budget.seed);
            let Some(chunk) = self.simulated(steps, plans, points, budget)? else { return Ok(None) };
            let found = self.looked_at(&chunk, budget, watch)?;
            if found.is_some() || spent(budget).is_some() {
                return Ok(found);
            }
        }
        if alone {
            return Ok(None);
        }
        let place = self.task.system.properties.iter().position(|own| own.name == self.task.property.name);
        // The adversary draws its first states.
        let has_adversary = !self.task.system.inputs.is_empty() && self.starts.is_empty();
        let least = u64::from(!self.is_opening);
        let count =
            (self.cost.runs_worth(share / 4, steps) / (2 * CANDIDATES as u64)).clamp(least, CHUNK as u64) as usize;
        if let Some(property) = place.filter(|_| has_adversary && count > 0) {
            let inputs = InputSource::Adversary { property, candidates: CANDIDATES };
            let Some(chunk) = self.simulated_by(steps, inputs, vec![None; count], budget)? else { return Ok(None) };
            let found = self.looked_at(&chunk, budget, watch)?;
            if found.is_some() || spent(budget).is_some() {
                return Ok(found);
            }
        }
        let dimensions = coding.dimensions();
        let size = generation_size(dimensions);
        let (least, more) = if self.is_promising() { (PROMISING_ROUNDS, 4) } else { (0, 1) };
        let generations = more * (share / 4) / self.cost.of_runs(size as u64, steps);
        for _ in 0..generations.clamp(least, 1 << 10) {
            let best = self.best.get(&steps).map(|(_, point)| point.clone());
            let mut evolution = match self.evolutions.remove(&steps) {
                Some(own) if !own.is_stuck() => own,
                // The best run was not enough: a new beginning elsewhere.
                Some(_) => {
                    let mut random = Random::new(budget.seed, self.next_run);
                    Evolution::around((0..dimensions).map(|_| random.unit()).collect(), SPREAD)
                }
                None => Evolution::around(best.unwrap_or_else(|| vec![0.5; dimensions]), SPREAD),
            };
            let points = evolution.generation(&mut Random::new(budget.seed.wrapping_add(1), self.next_run));
            let plans = points.iter().map(|point| coding.plan(point)).collect();
            let Some(chunk) = self.simulated(steps, plans, points.into_iter().map(Some).collect(), budget)? else {
                return Ok(None);
            };
            let found = self.looked_at(&chunk, budget, watch)?;
            if found.is_some() || spent(budget).is_some() {
                return Ok(found);
            }
            let values: Vec<f64> = chunk.reports.iter().map(robustness).collect();
            evolution.learn(&chunk.points.into_iter().flatten().collect::<Vec<_>>(), &values);
            self.evolutions.insert(steps, evolution);
        }
        let found = self.descend(&coding, steps, share / 4, budget, watch)?;
        if found.is_some() || !self.wants_equality || spent(budget).is_some() {
            return Ok(found);
        }
        self.meet(&coding, steps, share / 4, budget, watch)
    }

    /// Follows the gradient of robustness from the best run of so many steps.
    fn descend(
        &mut self,
        coding: &Coding,
        steps: usize,
        share: u64,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let Some((value, point)) = self.best.get(&steps).cloned() else { return Ok(None) };
        let (least, more) = if self.is_promising() { (PROMISING_ROUNDS, 2) } else { (0, 1) };
        let iterations =
            (more * share / (COST_OF_GRADIENT * self.cost.of_runs(1, steps))).clamp(least, MOST_ITERATIONS);
        if iterations == 0 || !self.has_gradient() {
            return Ok(None);
        }
        let (mut plan, mut value) = (coding.step_by_step(&point, steps), value);
        for _ in 0..iterations {
            let inputs = InputSource::Plans(Plans { first: self.next_run, plans: vec![plan.clone()] });
            let trace = self.trace(steps, &inputs, self.next_run, budget)?;
            let states: Vec<Vec<f64>> = trace.iter().map(|step| step.state.clone()).collect();
            let drive = self.judge.drive(&trace);
            let slope = self.descent.as_ref().and_then(|own| own.slope(&states, &drive));
            let Some(slope) = slope else { return Ok(None) };
            let plans: Vec<Plan> = STRIDES.iter().map(|&share| coding.moved(&plan, &slope, share)).collect();
            let Some(chunk) = self.simulated(steps, plans.clone(), vec![None; STRIDES.len()], budget)? else {
                return Ok(None);
            };
            let found = self.looked_at(&chunk, budget, watch)?;
            if found.is_some() || spent(budget).is_some() {
                return Ok(found);
            }
            let values = chunk.reports.iter().map(robustness).enumerate();
            let Some((place, best)) = values.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|own| own.1 < value) else {
                return Ok(None);
            };
            (plan, value) = (plans[place].clone(), best);
        }
        Ok(None)
    }

    /// Whether the step has gradients; they are prepared when they are first asked for.
    fn has_gradient(&mut self) -> bool {
        let numbers = self.coding(0).has_numbers() && !self.task.system.is_exact();
        if numbers && self.descent.is_none() {
            self.descent = Descent::new(self.task.system, self.judge.formula).ok();
        }
        numbers && self.descent.is_some()
    }

    /// The next samples of runs of so many steps.
    fn samples(
        &mut self,
        coding: &Coding,
        steps: usize,
        count: usize,
        seed: u64,
    ) -> (Vec<Plan>, Vec<Option<Vec<f64>>>) {
        let first = *self.sampled.entry(steps).and_modify(|own| *own += count as u64).or_insert(count as u64);
        let places = first - count as u64..first;
        let samples = places.zip(self.next_run..).map(|(place, number)| sample(coding, place, number, seed));
        samples.map(|own| (own.plan, own.point)).unzip()
    }

    /// Simulates the next runs, one for each point, by plans; nothing if the budget was spent meanwhile.
    fn simulated(
        &mut self,
        steps: usize,
        plans: Vec<Plan>,
        points: Vec<Option<Vec<f64>>>,
        budget: &Budget<'_>,
    ) -> Result<Option<Chunk>, Trouble> {
        let inputs = InputSource::Plans(Plans { first: self.next_run, plans });
        self.simulated_by(steps, inputs, points, budget)
    }

    /// The same by any inputs.
    fn simulated_by(
        &mut self,
        steps: usize,
        inputs: InputSource,
        points: Vec<Option<Vec<f64>>>,
        budget: &Budget<'_>,
    ) -> Result<Option<Chunk>, Trouble> {
        let first_run = self.next_run;
        let options = Options { first_run, runs: points.len() as u64, ..options(steps, inputs, budget) };
        let mut reports = Vec::with_capacity(points.len());
        let summary = self.simulator.run(&options, &mut |_| {}, &mut |report| reports.push(report.clone()))?;
        self.next_run += points.len() as u64;
        if summary.interrupted {
            return Ok(None);
        }
        self.seen.runs += summary.runs;
        self.seen.steps += summary.steps;
        self.seen.longest = self.seen.longest.max(steps);
        for (report, point) in reports.iter().zip(&points) {
            let value = robustness(report);
            self.seen.robustness = self.seen.robustness.min(value);
            if value > 0.0 && value.is_finite() {
                self.seen.positive.0 += 1;
                self.seen.positive.1 += value;
            }
            let better = self.best.get(&steps).is_none_or(|(best, _)| value < *best);
            if let (Some(point), true) = (point, better) {
                self.best.insert(steps, (value, point.clone()));
            }
        }
        Ok(Some(Chunk { steps, inputs: options.inputs, reports, points }))
    }

    /// The positions of a run, simulated once more.
    fn trace(&self, steps: usize, inputs: &InputSource, run: u64, budget: &Budget<'_>) -> Result<Vec<Step>, Trouble> {
        let mut trace = Vec::new();
        let budget = Budget { deadline: None, stop: None, ..*budget };
        let own = Options { first_run: run, runs: 1, record: true, ..options(steps, inputs.clone(), &budget) };
        self.simulator.run(&own, &mut |_| {}, &mut |report| trace = report.trace.clone().unwrap_or_default())?;
        Ok(trace)
    }

    /// What the runs of a chunk show.
    fn looked_at(
        &mut self,
        chunk: &Chunk,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let Tally { runs, longest, robustness: smallest, .. } = self.seen;
        watch(Progress::Simulation { runs, steps: longest, robustness: smallest });
        let mut broken: Vec<(usize, usize)> = Vec::new();
        for (place, report) in chunk.reports.iter().enumerate() {
            broken.extend(report.properties[0].broken_at.map(|position| (position, place)));
        }
        broken.sort_unstable();
        for &(position, place) in broken.iter().take(MOST_TRIED) {
            let report = &chunk.reports[place];
            let mut trace = self.trace(chunk.steps, &chunk.inputs, report.run, budget)?;
            // A terminal state repeats itself.
            if report.end == End::Terminal {
                trace.extend(trace.last().cloned());
            }
            trace.truncate(position + 1 + SLACK);
            let drive = self.judge.drive(&trace);
            if let Some(run) = self.judge.finite(drive.clone(), budget)? {
                match self.judge.grade(&run)? {
                    Grade::Doubtful => {
                        self.candidate.get_or_insert_with(|| Box::new(run));
                    }
                    grade => return self.simplest(run, grade, budget).map(|run| Some(Found::Violated(run))),
                }
            } else if self.violation.needs_loop()
                && let Some(run) = self.proved_lasso(&drive)?
            {
                return Ok(Some(Found::Violated(run)));
            }
        }
        self.note_errors(chunk);
        if self.violation.needs_loop() && chunk.steps <= LONGEST_LASSO {
            return self.for_ever(chunk, budget);
        }
        Ok(None)
    }

    fn proved_lasso(&mut self, drive: &certus_check::replay::Drive) -> Result<Option<Run>, Trouble> {
        match self.judge.lasso(drive)? {
            Some(Ok(run)) => Ok(Some(run)),
            Some(Err(run)) => {
                self.candidate.get_or_insert_with(|| Box::new(run));
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// Runs of a chunk that may violate the property by what they do for ever.
    fn for_ever(&mut self, chunk: &Chunk, budget: &Budget<'_>) -> Result<Option<Found>, Trouble> {
        let open = |report: &&RunReport| report.properties[0].verdict == Seen::Open && report.end == End::Completed;
        let mut reports: Vec<&RunReport> = chunk.reports.iter().filter(open).collect();
        // What would be violated if the last position stayed comes first; the very first run may return otherwise.
        let first = reports.first().copied();
        reports.sort_by(|a, b| robustness(a).total_cmp(&robustness(b)).then(a.run.cmp(&b.run)));
        let tried = reports.into_iter().take(MOST_TRIED - 1).chain(first.filter(|_| self.round <= 1));
        for (number, report) in tried.enumerate() {
            let cost = COST_OF_LASSO * self.cost.of_runs(1, chunk.steps);
            // The first round is to see at least one.
            if self.judging < cost && (number > 0 || self.round > 1) {
                break;
            }
            self.judging = self.judging.saturating_sub(cost);
            let drive = self.judge.drive(&self.trace(chunk.steps, &chunk.inputs, report.run, budget)?);
            if let Some(run) = self.proved_lasso(&drive)? {
                return Ok(Some(Found::Violated(run)));
            }
            let settles = robustness(report) <= 0.0 && self.task.steps.is_none();
            let cost = self.cost.of_runs(1, COST_OF_CONVERGENCE);
            if settles && (self.judging >= cost || (number == 0 && self.round <= 1)) {
                self.judging = self.judging.saturating_sub(cost);
                if let Some(run) = self.judge.converging(&drive.state)? {
                    return Ok(Some(Found::Violated(run)));
                }
            }
            if spent(budget).is_some() {
                break;
            }
        }
        Ok(None)
    }

    /// Keeps the runs of a chunk that end soonest in what seems to be a model error.
    fn note_errors(&mut self, chunk: &Chunk) {
        let initial_is_defined = self.task.system.roles.init_defined.is_none();
        if self.task.assume_no_model_errors || !initial_is_defined {
            return;
        }
        for report in &chunk.reports {
            let own = &report.properties[0];
            let ended = match report.end {
                End::LeftRange { .. } | End::NotANumber { .. } => report.steps.checked_sub(1),
                End::Blocked => Some(report.steps),
                End::Completed | End::Terminal => None,
            };
            let Some(position) = ended.into_iter().chain(own.undefined_at).min() else { continue };
            let later = self.errors.iter().filter(|other| other.position <= position).count();
            if own.verdict == Seen::Open && later < MOST_TRIED {
                let (run, steps, inputs) = (report.run, chunk.steps, planned(&chunk.inputs, report.run));
                self.errors.push(Suspect { position, run, steps, inputs });
            }
        }
        self.errors.sort_by_key(|own| (own.position, own.run));
        self.errors.truncate(MOST_TRIED);
    }

    /// The first model error that intervals confirm.
    fn confirmed_error(&mut self, budget: &Budget<'_>) -> Result<Option<Found>, Trouble> {
        for suspect in std::mem::take(&mut self.errors) {
            let mut drive = self.judge.drive(&self.trace(suspect.steps, &suspect.inputs, suspect.run, budget)?);
            drive.truncate(suspect.position + 1);
            match self.judge.error(&drive, budget)? {
                Some(Ended::Error(error)) => return Ok(Some(Found::Error(error))),
                Some(Ended::Violated(run)) => return Ok(Some(Found::Violated(run))),
                None => {}
            }
        }
        Ok(None)
    }

    /// A violation in as few steps as samples find, with as simple choices as shrinking finds.
    fn simplest(&mut self, run: Run, grade: Grade, budget: &Budget<'_>) -> Result<Run, Trouble> {
        let (mut run, mut grade) = (run, grade);
        while shows_early(&self.violation) && run.states.len() > 1 && spent(budget).is_none() {
            let steps = run.states.len() - 2;
            let worth = self.cost.runs_worth(SHORTENING_WORK * OPERATIONS_OF_UNIT, steps);
            let count = worth.clamp(4, SHORTENING_RUNS) as usize;
            let Some((shorter, its_grade)) = self.shorter(steps, count, grade, budget)? else { break };
            (run, grade) = (shorter, its_grade);
        }
        Ok(shrunk(&self.judge, run, grade, budget)?)
    }

    /// A violation of at most so many steps, from some samples.
    fn shorter(
        &mut self,
        steps: usize,
        count: usize,
        grade: Grade,
        budget: &Budget<'_>,
    ) -> Result<Option<(Run, Grade)>, Trouble> {
        let coding = self.coding(steps);
        if coding.dimensions() == 0 {
            return Ok(None);
        }
        let (plans, points) = self.samples(&coding, steps, count, budget.seed);
        let Some(chunk) = self.simulated(steps, plans, points, budget)? else { return Ok(None) };
        let first = chunk.reports.iter().filter_map(|own| Some((own.properties[0].broken_at?, own.run))).min();
        let Some((position, number)) = first else { return Ok(None) };
        let mut trace = self.trace(steps, &chunk.inputs, number, budget)?;
        trace.truncate(position + 1);
        let Some(run) = self.judge.finite(self.judge.drive(&trace), budget)? else { return Ok(None) };
        let its_grade = self.judge.grade(&run)?;
        Ok((its_grade >= grade).then_some((run, its_grade)))
    }
}

/// Work for which a violation is made shorter, each time.
const SHORTENING_WORK: u64 = 200;

/// The robustness of a run; infinite where nothing was seen that matters.
fn robustness(report: &RunReport) -> f64 {
    let margin = report.properties[0].margin;
    if margin.is_nan() { f64::INFINITY } else { margin }
}

/// Options of a simulation for a search.
fn options<'b>(steps: usize, inputs: InputSource, budget: &Budget<'b>) -> Options<'b> {
    Options {
        steps,
        seed: budget.seed,
        threads: budget.threads.max(1),
        inputs,
        tail: Tail::Repeats,
        deadline: budget.deadline,
        stop: budget.stop,
        ..Options::default()
    }
}

/// Runs that are sampled at least: few of the longest, which may be much longer than a round is worth.
fn least_runs(steps: usize) -> u64 {
    if steps > HORIZONS[FIRST_HORIZONS - 1] { 1 } else { 4 }
}

/// The inputs of one run alone.
fn planned(inputs: &InputSource, run: u64) -> InputSource {
    let InputSource::Plans(all) = inputs else { return inputs.clone() };
    let own = run.checked_sub(all.first).and_then(|place| all.plans.get(usize::try_from(place).ok()?));
    InputSource::Plans(Plans { first: run, plans: own.into_iter().cloned().collect() })
}

/// Whether the violation of a property may show before the last step that it depends on.
fn shows_early(violation: &Nnf) -> bool {
    match violation {
        Nnf::Literal(..) => true,
        Nnf::And(parts) => parts.iter().all(shows_early),
        Nnf::Or(parts) => parts.iter().any(shows_early),
        Nnf::Next(inner) => shows_early(inner),
        Nnf::Until(_, _, right) => shows_early(right),
        Nnf::Release(..) => false,
    }
}
