//! Properties `P<=p [F<=k φ]`: the one function that commands call.
//!
//! * `query.rs`: what a property asks, as a task whose probability is bounded from above;
//! * `initial.rs`: the initial states;
//! * `method.rs`: which engine fits, over which template;
//! * `bounding.rs`: both ends of the interval, and the verdict.

mod bounding;
mod initial;
mod method;
mod query;

use std::time::Instant;

use certus_graph::Interval;
use certus_graph::interval::{sub_down, sub_up};
use certus_lang::System;
use certus_lang::system::Property;

use crate::abstraction::PIECES;
use crate::engine::search::{Cell, Standing};
use crate::engine::{Budget, Errors, in_parallel};
use crate::imdp::Imdp;
use crate::template_polyhedron::Polyhedron;
use bounding::Setting;
use initial::{init_is_defined, initial_parts};
use method::abstraction;
use query::read_query;

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
    /// Regions in which some probability varies by more than this are split while unfolding; nothing for no such splits.
    pub spread: Option<f64>,
    /// Directions no wider than this are not split.
    pub shortest: f64,
    /// How many samples choose such a split.
    pub samples: usize,
    /// The width of the interval that is good enough, if the property does not need less.
    pub gap: f64,
    /// The same as a share of the lower end.
    pub share: f64,
    /// How many cells per dimension the initial set is split into before anything else.
    pub grid: usize,
    /// How many pieces a region is split into at most where the linearised image of a step is loose; one for no such splits.
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

/// The result of a check.
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

/// What the policy does is bounded over no more cells than this: a map shows no more.
const MOST_SHOWN: usize = 20_000;

/// Whether this engine can take a property; the reason if not.
pub fn can_check(system: &System, property: &Property, steps: Option<usize>) -> Result<(), String> {
    read_query(system, property, steps).map(|_| ())
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
        return Err("the spread of a probability must be a number from 0 to 1".to_owned());
    }
    if options.shortest.is_nan() || options.shortest <= 0.0 {
        return Err("the shortest width to split must be a positive number".to_owned());
    }
    let (task, bound) = read_query(system, property, options.steps)?;
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
    let initial = initial_parts(system, abstraction.template());
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

/// One minus what is between two numbers.
fn opposite(lower: f64, upper: f64) -> (f64, f64) {
    (sub_down(1.0, upper), sub_up(1.0, lower))
}
