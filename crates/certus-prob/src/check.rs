//! Properties `P<=p [F<=k φ]`: the one function that commands call.

use std::sync::Arc;
use std::time::Instant;

use certus_graph::eval::enclose;
use certus_graph::{Fault, Interval};
use certus_lang::System;
use certus_lang::system::{BoundOp, ProbabilityQuery, Property, PropertyKind, Quantifier};

use crate::abstraction::{Abstraction, PIECES, Refining, Task, automatic};
use crate::domain::{Polyhedron, Template};
use crate::engine::concrete::Following;
use crate::engine::partition::partition;
use crate::engine::search::{Aim, Cell, Standing, search};
use crate::engine::unfold::{Unfolding, unfold};
use crate::engine::{Budget, Errors, concrete, in_parallel};
use crate::imdp::Imdp;

/// Which polyhedra.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// Boxes.
    Box,
    /// Octagons.
    Octagon,
    /// The axes and these directions.
    Directions(Vec<Vec<f64>>),
    /// The axes and directions that are found from the network and the plant.
    Automatic,
}

/// How a bound is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Whatever fits: the search if the tree of moves is small, else the partition.
    Automatic,
    /// One forward unfolding, with or without merging of regions inside others.
    Unfold {
        /// Whether to merge.
        containment: bool,
    },
    /// Unfoldings of smaller and smaller cells of the initial set.
    Search {
        /// Whether to merge.
        containment: bool,
    },
    /// A partition of the state space, backwards.
    Partition,
}

/// How to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many steps, in place of the formula's own bound.
    pub steps: Option<usize>,
    /// Which polyhedra.
    pub domain: Domain,
    /// How.
    pub method: Method,
    /// Regions in which some probability varies by more than this are cut while unfolding; nothing for no such cuts.
    pub spread: Option<f64>,
    /// Such cuts leave directions alone that are no wider than this.
    pub shortest: f64,
    /// How many samples choose such a cut.
    pub samples: usize,
    /// The width of the interval that is good enough, if the property does not need less.
    pub gap: f64,
    /// The same as a share of the lower end.
    pub share: f64,
    /// How many cells per dimension the initial set is cut into before anything else.
    pub grid: usize,
    /// How many pieces a region is cut into at most where the linearised image of a step is loose; one for no such cuts.
    pub pieces: usize,
    /// More regions or cells than this are not made.
    pub most: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            steps: None,
            domain: Domain::Box,
            method: Method::Automatic,
            spread: None,
            shortest: 0.1,
            samples: 40,
            gap: 1e-3,
            share: 0.05,
            grid: 1,
            pieces: PIECES,
            most: 1_000_000,
        }
    }
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// A lower end of the worst case's probability: of the largest one over the initial states, or of the smallest where the property asks for no less than
    /// something.
    pub lower: f64,
    /// An upper end of it.
    pub upper: f64,
    /// Whether the property asks for a verdict, not for a number.
    pub asks: bool,
    /// Whether the property holds, where it asks that and the interval allows to say.
    pub holds: Option<bool>,
    /// Whether the interval is as narrow as was asked for.
    pub narrow: bool,
    /// The start state from which the bound that `lower` (where the smallest is asked for: `upper`) states is attained.
    pub start: Option<Vec<f64>>,
    /// Cells that cover the initial states, each with an upper bound of the probability of what should be rare: of the formula, or of its
    /// negation where the property asks for no less than something.
    pub cells: Vec<Cell>,
    /// For each of these cells, of each action, the probability of each of its labels over the cell; nothing where there are too many cells, no
    /// actions, or no time.
    pub policy: Vec<Vec<Vec<Interval>>>,
    /// How many steps; none for any number.
    pub steps: Option<usize>,
    /// Regions or cells that were bounded.
    pub regions: usize,
    /// Regions that were merged with others.
    pub contained: usize,
    /// The interval MDP, after one unfolding.
    pub model: Option<Imdp>,
    /// What was done, in words.
    pub method: String,
    /// Which model errors could not be excluded. They count against the property.
    pub errors: Errors,
    /// An upper bound of the probability that a run meets a model error before the path formula is decided on it: zero if that was proved impossible,
    /// nothing if it was not bounded.
    pub error: Option<f64>,
    /// Whether the budget ended the work.
    pub stopped: bool,
    /// How long it took.
    pub seconds: f64,
}

/// What the policy does is bounded over no more cells than this: nobody sees more of them.
const MOST_SHOWN: usize = 20_000;

/// Regions of one unfolding above which the partition is taken.
const SMALL_TREE: usize = 10_000;

/// What a query asks of the probability of reaching the goal: to be at most a number, which lies between two doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Threshold {
    below: f64,
    above: f64,
    strict: bool,
}

impl Threshold {
    fn new(number: f64, complement: bool, strict: bool) -> Threshold {
        let (below, above) = match complement {
            false => (number, number),
            true => (certus_graph::interval::sub_down(1.0, number), certus_graph::interval::sub_up(1.0, number)),
        };
        Threshold { below, above, strict }
    }

    /// Whether no probability up to this one exceeds it.
    fn admits(&self, upper: f64) -> bool {
        if self.strict { upper < self.below } else { upper <= self.below }
    }

    /// Whether a probability of at least this exceeds it.
    fn refuted_by(&self, lower: f64) -> bool {
        if self.strict { lower >= self.above } else { lower > self.above }
    }
}

/// What a property asks: the task whose probability is bounded from above, and what that must not exceed.
fn question(system: &System, property: &Property, steps: Option<usize>) -> Result<(Task, Option<Threshold>), String> {
    let PropertyKind::Probability { query, quantifier, path } = &property.kind else {
        return Err("it is no probability: write `P<=p [ F<=k φ ]` or `Pmax=? [ F<=k φ ]`".to_owned());
    };
    if let Some(own) = system.assumptions.iter().find(|own| own.drawn) {
        return Err(format!(
            "line {}: `assume {}` refers to a random outcome, or to a successor that depends on one; the environment cannot restrict \
             what is drawn: assume something of the state and the inputs alone",
            own.line, own.text
        ));
    }
    let task = Task::of(system, path, steps)?;
    // A probability that may not be small is that of a complement which may not be large.
    let complement = match (query, quantifier) {
        (ProbabilityQuery::Bound(BoundOp::LessEqual | BoundOp::Less, _), _) => false,
        (ProbabilityQuery::Bound(BoundOp::GreaterEqual | BoundOp::Greater, _), _) => true,
        (ProbabilityQuery::Value, Quantifier::Max) => false,
        (ProbabilityQuery::Value, Quantifier::Min) => true,
        (ProbabilityQuery::Value, Quantifier::None) => task.complement,
    };
    let task = if task.complement == complement { task } else { task.opposite() };
    let threshold = match query {
        ProbabilityQuery::Bound(op, p) => {
            Some(Threshold::new(*p, complement, matches!(op, BoundOp::Less | BoundOp::Greater)))
        }
        ProbabilityQuery::Value => None,
    };
    Ok((task, threshold))
}

/// Whether this engine can take a property; the reason if not.
pub fn can_check(system: &System, property: &Property, steps: Option<usize>) -> Result<(), String> {
    question(system, property, steps).map(|_| ())
}

/// The initial states: a region that holds them all, and whether a state is one for certain.
fn initial_states(system: &System, template: &Arc<Template>) -> Result<Polyhedron, String> {
    let (lower, upper) = &system.init_box;
    if lower.iter().chain(upper).any(|end| !end.is_finite()) {
        return Err("the initial states have no bounds: `init` must bound every state variable".to_owned());
    }
    Ok(Polyhedron::of_box(template, lower, upper))
}

fn is_initial(system: &System, state: &[f64]) -> bool {
    let inside = system.init_box.0.iter().zip(&system.init_box.1).zip(state).all(|((l, u), x)| l <= x && x <= u);
    let Some(init) = &system.roles.init else { return inside };
    if system.init_is_box || !inside {
        return inside;
    }
    let graph = system.step.keep_outputs(&[init.truth.port]);
    let mut at = 0;
    let inputs: Vec<Vec<Interval>> = graph
        .inputs()
        .iter()
        .enumerate()
        .map(|(place, port)| {
            let elements = graph.elements(port.node);
            let values = (0..elements).map(|i| if place < system.states.len() { state[at + i] } else { 0.0 });
            let values = values.map(Interval::point).collect();
            at += if place < system.states.len() { elements } else { 0 };
            values
        })
        .collect();
    let inputs: Vec<&[Interval]> = inputs.iter().map(Vec::as_slice).collect();
    enclose(&graph, &inputs).is_ok_and(|found| found[0][0].certainty() == Some(true))
}

/// Whether the initial conditions are defined in every state of the declared ranges, for certain.
fn init_is_defined(system: &System) -> bool {
    let Some(defined) = &system.roles.init_defined else { return true };
    let graph = system.step.keep_outputs(&[defined.truth.port]);
    let range = |place: usize, i: usize| match system.states.get(place) {
        Some(state) => Interval::new(state.lower[i], state.upper[i]),
        None => Interval::ZERO,
    };
    let ports = graph.inputs().iter().enumerate();
    let inputs: Vec<Vec<Interval>> =
        ports.map(|(place, port)| (0..graph.elements(port.node)).map(|i| range(place, i)).collect()).collect();
    let inputs: Vec<&[Interval]> = inputs.iter().map(Vec::as_slice).collect();
    enclose(&graph, &inputs).is_ok_and(|found| found[0][0].certainty() == Some(true))
}

/// The initial region in so many slices per dimension.
fn grid(initial: &Polyhedron, slices: usize) -> Vec<Polyhedron> {
    let mut cells = vec![initial.clone()];
    for dimension in 0..initial.template().dimension() {
        let (low, width) = (initial.lower(dimension), initial.width(dimension));
        if width.is_nan() || width <= 0.0 {
            continue;
        }
        for slice in 1..slices {
            let place = low + width * slice as f64 / slices as f64;
            let cut = |cell: Polyhedron| -> Vec<Polyhedron> {
                if cell.lower(dimension) < place && place < cell.upper(dimension) {
                    cell.cut(dimension, place).into_iter().flatten().collect()
                } else {
                    vec![cell]
                }
            };
            cells = cells.into_iter().flat_map(cut).collect();
        }
    }
    cells
}

/// A moment before the last one: so many hundredths of the time are left.
fn sooner(started: Instant, last: Instant, hundredths: u32) -> Instant {
    let left = last.saturating_duration_since(started);
    started + left - left / 100 * hundredths
}

/// Bounds the probability that a property speaks of, and decides the property where that allows it.
///
/// The errors are about the property or the system: what the engine does not support, and what to write instead.
pub fn check(
    system: &System,
    property: &Property,
    options: &Options,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Result<Outcome, String> {
    let started = Instant::now();
    if options.spread.is_some_and(|spread| !(0.0..=1.0).contains(&spread)) {
        return Err("the spread of a probability is a number from 0 to 1".to_owned());
    }
    if options.shortest.is_nan() || options.shortest <= 0.0 {
        return Err("the shortest width of a cut is a positive number".to_owned());
    }
    let (task, bound) = question(system, property, options.steps)?;
    if !init_is_defined(system) {
        let message = "an operation in `init` might be undefined in some state of the declared ranges: narrow the ranges, or \
                       guard it with `if`";
        return Err(message.to_owned());
    }
    let endless = task.steps.is_none() && !task.weak;
    if endless && matches!(options.method, Method::Unfold { .. } | Method::Search { .. }) {
        let message = "without a bound on the steps only the partition gives a bound: add one (`F<=k`, or -k), or leave \
                       the method out";
        return Err(message.to_owned());
    }
    let abstraction = abstraction(system, &task, options, budget.seed)?;
    let initial = initial_states(system, abstraction.template())?;
    // What was found has to be put together in time: with many cells that takes a while.
    let until = |hundredths: u32| budget.deadline.map(|last| sooner(started, last, hundredths));
    let search = Budget { deadline: until(8), ..*budget };
    let confirming = Budget { deadline: until(4), ..*budget };
    let setting = Setting {
        system,
        task: &task,
        bound,
        abstraction: &abstraction,
        initial: &initial,
        options,
        budget: &search,
        confirming: &confirming,
    };
    let complement = task.complement;
    // What is seen on the way is the probability that the property speaks of, too.
    let mut told = |own: Standing| {
        let (lower, upper) = if complement { opposite(own.lower, own.upper) } else { (own.lower, own.upper) };
        watch(Standing { lower, upper, ..own });
    };
    let mut outcome = match task.steps {
        Some(steps) => setting.within(Some(steps), steps, &mut told),
        None if endless => setting.within(None, LOOKED_AT, &mut told),
        None => setting.growing(&mut told),
    }?;
    outcome.steps = task.steps;
    outcome.stopped = search.stopped();
    if !system.actions.is_empty() && outcome.cells.len() <= MOST_SHOWN {
        let regions: Vec<Polyhedron> = outcome.cells.iter().map(|cell| cell.region.clone()).collect();
        let last = Budget { deadline: until(2), ..*budget };
        outcome.policy = in_parallel(&regions, 64, &last, &|batch| abstraction.policy(batch)).unwrap_or_default();
    }
    if complement {
        (outcome.lower, outcome.upper) = opposite(outcome.lower, outcome.upper);
    }
    outcome.seconds = started.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Start states are looked at for so many steps where the formula has no bound on them: what is reached by then is reached.
const LOOKED_AT: usize = 64;

/// The largest number of steps within which a goal is asked for that may come at any time.
const LONGEST: usize = 1 << 10;

/// More steps help if they make a bound smaller than this share of what it was.
const HARDLY: f64 = 0.98;

/// One minus what is between two numbers.
fn opposite(lower: f64, upper: f64) -> (f64, f64) {
    (certus_graph::interval::sub_down(1.0, upper), certus_graph::interval::sub_up(1.0, lower))
}

/// All that bounding needs.
struct Setting<'a> {
    system: &'a System,
    task: &'a Task,
    bound: Option<Threshold>,
    abstraction: &'a Abstraction,
    initial: &'a Polyhedron,
    options: &'a Options,
    budget: &'a Budget<'a>,
    /// For start states that the bounds lead to.
    confirming: &'a Budget<'a>,
}

impl Setting<'_> {
    /// Not to reach something, for all time, is no likelier than for so many steps: more and more of them, until that is enough. Of
    /// the lower end nothing is known then.
    fn growing(&self, watch: &mut dyn FnMut(Standing)) -> Result<Outcome, String> {
        let (mut steps, mut before) = (8, f64::INFINITY);
        loop {
            let found = self.within(Some(steps), steps, watch)?;
            let settled = found.holds == Some(true) || found.upper <= self.options.gap;
            // Twice as many steps that hardly help say that what is left stays for ever, or cannot be told from that.
            let stuck = found.upper > HARDLY * before;
            before = found.upper;
            if settled || stuck || steps >= LONGEST || self.budget.stopped() {
                let method = format!("{}, for {steps} steps", found.method);
                let holds = found.holds.filter(|&holds| holds);
                let narrow = found.upper <= self.options.gap;
                // Of later errors nothing is known but that the goal was not reached before.
                let error = Some(found.upper);
                return Ok(Outcome { lower: 0.0, start: None, holds, narrow, method, error, ..found });
            }
            steps *= 2;
        }
    }

    /// Bounds the task within so many steps, or within any number; start states are looked at for `looked` steps.
    fn within(&self, steps: Option<usize>, looked: usize, watch: &mut dyn FnMut(Standing)) -> Result<Outcome, String> {
        let Setting { system, task, bound, abstraction, initial, options, budget, confirming } = *self;
        let stopped = || budget.stopped();
        let mut lower = 0.0;
        let mut start = None;
        let accept = |state: &[f64]| is_initial(system, state);
        let endless_stay = task.weak && task.steps.is_none();
        let mut following = Following { steps: looked, behaviour: 0 };
        let behaviours = if endless_stay { 0 } else { abstraction.behaviours() };
        for behaviour in 0..behaviours {
            let own = Following { behaviour, ..following };
            if let Some((state, _)) = concrete::worst_start(abstraction, initial, &accept, own, budget.seed, &stopped)
                && let Some(range) = concrete::exact(abstraction, &state, own, 1e-13, &stopped)
                && (start.is_none() || range.lo > lower)
            {
                (lower, start, following) = (range.lo, Some(state), own);
            }
        }
        if start.is_some() {
            // A corner may be worse than plain numbers can tell, if it lies on the edge of a guard.
            let corners = concrete::corners(initial, initial);
            let corners = concrete::no_less(abstraction, corners, following, lower / 2.0);
            if let Some(found) = concrete::best_exactly(abstraction, corners, &accept, following, lower, &stopped) {
                (start, lower) = (Some(found.0), found.1);
            }
        }
        let violated = bound.is_some_and(|bound| bound.refuted_by(lower));
        let enough = bound.map_or(0.0, |bound| if bound.strict { bound.below.next_down() } else { bound.below });
        let aim = Aim { enough, gap: options.gap, share: options.share, most_cells: options.most };
        let refining = options.spread.map(|spread| Refining {
            spread,
            shortest: options.shortest,
            samples: options.samples,
            seed: budget.seed,
        });
        let unfolding =
            |containment: bool| Unfolding { steps: looked, refining, containment, most_regions: options.most };
        let regions = grid(initial, options.grid.max(1));
        let mut outcome = Outcome {
            lower,
            upper: 1.0,
            asks: bound.is_some(),
            holds: None,
            narrow: false,
            start,
            cells: vec![Cell { region: initial.clone(), upper: 1.0 }],
            policy: Vec::new(),
            steps,
            regions: 0,
            contained: 0,
            model: None,
            method: String::new(),
            errors: Errors::default(),
            error: None,
            stopped: false,
            seconds: 0.0,
        };
        let method = match steps {
            _ if violated => None,
            None => Some(Method::Partition),
            Some(steps) => Some(chosen(abstraction, initial, outcome.start.as_deref(), options, steps, budget)),
        };
        let template = abstraction.template().name().to_owned();
        match method {
            None => outcome.method = "a concrete start state".to_owned(),
            Some(Method::Unfold { containment }) => {
                let mut tell = |_: usize, regions: usize| watch(Standing { regions, lower, upper: 1.0, cells: 1 });
                let merged = if containment { ", merging" } else { "" };
                outcome.method = format!("unfolding with the {template} domain{merged}");
                if let Some(found) = unfold(abstraction, &regions, &unfolding(containment), budget, &mut tell) {
                    outcome.upper = found.upper.iter().copied().fold(0.0, f64::max);
                    let cells = regions.iter().zip(&found.upper);
                    outcome.cells = cells.map(|(region, &upper)| Cell { region: region.clone(), upper }).collect();
                    (outcome.regions, outcome.contained) = (found.regions.len(), found.contained);
                    outcome.errors = found.errors;
                    outcome.error = Some(found.error.iter().copied().fold(0.0, f64::max));
                    outcome.model = Some(found.model);
                }
            }
            Some(Method::Partition) => {
                outcome.method = format!("a partition with the {template} domain");
                let found = partition(abstraction, initial, lower, steps, &aim, budget, watch);
                (outcome.upper, outcome.cells, outcome.regions) =
                    (found.standing.upper, found.cells, found.standing.regions);
                outcome.errors = found.errors;
                outcome.error = Some(found.error);
            }
            Some(Method::Search { containment }) => {
                let merged = if containment { ", merging" } else { "" };
                outcome.method = format!("unfoldings of start cells with the {template} domain{merged}");
                let found = search(abstraction, &regions, lower, &unfolding(containment), &aim, budget, watch);
                (outcome.upper, outcome.cells, outcome.regions) =
                    (found.standing.upper, found.cells, found.standing.regions);
                outcome.errors = found.errors;
                outcome.error = Some(found.error);
            }
            Some(Method::Automatic) => {}
        }
        let narrow =
            |outcome: &Outcome| outcome.upper <= (outcome.lower + aim.gap).max(outcome.lower * (1.0 + aim.share));
        let admitted = bound.is_some_and(|bound| bound.admits(outcome.upper));
        if !violated && !admitted && !narrow(&outcome) && !endless_stay {
            let late = || confirming.stopped();
            let points = concrete::suspects(&outcome.cells, budget.seed);
            if let Some((state, value)) = concrete::best_of(abstraction, points, &accept, following, lower, &late) {
                (outcome.lower, outcome.start) = (value, Some(state));
            }
            let worst = outcome.cells.iter().max_by(|a, b| a.upper.total_cmp(&b.upper));
            let corners = worst.map_or_else(Vec::new, |cell| concrete::corners(&cell.region, initial));
            if !narrow(&outcome)
                && let Some((state, value)) =
                    concrete::best_exactly(abstraction, corners, &accept, following, outcome.lower, &late)
            {
                (outcome.lower, outcome.start) = (value, Some(state));
            }
        }
        if outcome.upper < outcome.lower {
            return Err(crossed(system, task, &outcome).to_string());
        }
        debug_assert!(0.0 <= outcome.lower && outcome.upper <= 1.0, "{} {}", outcome.lower, outcome.upper);
        // What may end in an error is counted as reaching the goal.
        outcome.error = outcome.error.map(|error| error.min(outcome.upper));
        outcome.holds = match bound {
            Some(bound) if bound.refuted_by(outcome.lower) => Some(false),
            Some(bound) if bound.admits(outcome.upper) => Some(true),
            _ => None,
        };
        outcome.narrow = narrow(&outcome);
        Ok(outcome)
    }
}

/// A lower end above an upper one: one of the two engines that found them is wrong.
fn crossed(system: &System, task: &Task, outcome: &Outcome) -> Fault {
    let message = format!(
        "in {}, a start state has probability {:?} at least, and all have {:?} at most",
        system.name, outcome.lower, outcome.upper
    );
    let details = format!(
        "task: {task:?}\nstart state: {:?}\nmethod: {}\nsteps: {:?}",
        outcome.start, outcome.method, outcome.steps
    );
    Fault::raise(message, details)
}

fn abstraction(system: &System, task: &Task, options: &Options, seed: u64) -> Result<Abstraction, String> {
    let dimension = system.state_len();
    let template = match &options.domain {
        Domain::Box => Template::boxes(dimension),
        Domain::Octagon => Template::octagons(dimension),
        Domain::Directions(directions) => {
            if let Some(wrong) = directions.iter().find(|direction| direction.len() != dimension) {
                return Err(format!(
                    "a direction of {} numbers, but the state has {dimension}: {wrong:?}",
                    wrong.len()
                ));
            }
            Template::with(dimension, "template", directions)
        }
        Domain::Automatic => {
            let boxes = Abstraction::new(system, task, Template::boxes(dimension))?;
            let initial = initial_states(system, boxes.template())?;
            automatic(&boxes, &initial, task.steps.unwrap_or(LOOKED_AT), seed)
        }
    };
    Ok(Abstraction::new(system, task, template)?.with_pieces(options.pieces))
}

/// The share of the initial set whose unfolding shows how large the tree of moves is.
const PROBE: f64 = 1e-3;

/// The method that is taken: the search if the tree of moves is small, else the partition. Its size is that of the unfoldings of two small
/// regions, around the worst start state and in the middle of the initial set: where a region is large, or all runs reach the goal soon, branches end early.
fn chosen(
    abstraction: &Abstraction,
    initial: &Polyhedron,
    start: Option<&[f64]>,
    options: &Options,
    steps: usize,
    budget: &Budget<'_>,
) -> Method {
    if options.method != Method::Automatic {
        return options.method;
    }
    let (lower, upper) = initial.bounds();
    let middle: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| (low + high) / 2.0).collect();
    let probe = Unfolding { steps, refining: None, containment: false, most_regions: SMALL_TREE };
    let small = [Some(middle.as_slice()), start].into_iter().flatten().all(|centre| {
        let reach = |i: usize| PROBE / 2.0 * (upper[i] - lower[i]);
        let low: Vec<f64> = (0..lower.len()).map(|i| (centre[i] - reach(i)).max(lower[i])).collect();
        let high: Vec<f64> = (0..lower.len()).map(|i| (centre[i] + reach(i)).min(upper[i])).collect();
        let part = Polyhedron::of_box(abstraction.template(), &low, &high);
        unfold(abstraction, &[part], &probe, budget, &mut |_, _| {}).is_some_and(|found| found.complete)
    });
    if small { Method::Search { containment: false } } else { Method::Partition }
}
