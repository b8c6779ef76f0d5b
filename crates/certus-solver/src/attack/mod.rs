//! The attack: points that may satisfy the formula, and the replay that decides whether they do.
//!
//! * [`gradient`]: values and gradients of the graph at many points;
//! * [`objective`]: how far the formula is from true, as a number to minimise;
//! * [`starts`]: where restarts begin and how they move;
//! * [`pool`]: the nearest misses, around which further restarts begin;
//! * [`pgd`]: projected gradient descent from many points at once.
//!
//! All of these search in plain floats, and none of them reports anything: a point is a [`Witness`] only after it was
//! cast into the region and evaluated on the graph as it was given, in both precisions, with no tolerance.

pub(crate) mod gradient;
mod objective;
mod pgd;
mod pool;
mod starts;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::{Graph, GraphError, Interval, Real};

pub use self::pgd::Falsification;
use self::pgd::{Effort, Pgd};
pub(crate) use self::starts::Starts;
use self::starts::within;
use crate::answer::Witness;
use crate::formula::Formula;
use crate::query::Query;
use crate::vnnlib::Variable;
use certus_numerics::Random;

/// Evaluates many points and replays those at which the formula seems to hold.
pub(crate) struct Attack<'q> {
    query: &'q Query,
    fast: Evaluator<f64>,
    single: Evaluator<f32>,
    double: Evaluator<f64>,
    /// Made when it is first needed: many queries are answered without.
    pgd: OnceLock<Pgd>,
    /// Whether the formula held at some point in double precision, but not after a cast to single precision.
    rounded_away: AtomicBool,
}

/// A point and the outputs there.
pub(crate) type Candidate = (Vec<f64>, Vec<f64>);

/// Points around a near miss that are tried, and how many float32 values away they are at most in each coordinate.
const NEIGHBOURS: usize = 32;
const NEIGHBOURHOOD: u64 = 3;

/// So near a point must be to be worth trying its neighbours, and so often that is done per search.
const MISS: f64 = 1e-4;
const MOST_MISSES: usize = 64;

/// Searches for a point at which the formula holds, by PGD from many points: at least `restarts` of them with up
/// to `steps` steps each, unless one succeeds or `should_stop` says so, which is asked between steps. The same seed gives
/// the same result.
pub fn falsify(
    query: &Query,
    restarts: usize,
    steps: usize,
    seed: u64,
    should_stop: &dyn Fn() -> bool,
) -> Result<Falsification, GraphError> {
    Attack::new(query).run_pgd(Starts::Region, restarts, steps, seed, should_stop)
}

/// Splits flattened, element-major inputs by the graph's inputs.
fn split<'a, T>(graph: &Graph, flat: &'a [T], batch: usize) -> Vec<&'a [T]> {
    let mut rest = flat;
    let mut slices = Vec::with_capacity(graph.inputs().len());
    for port in graph.inputs() {
        let (own, after) = rest.split_at(graph.elements(port.node) * batch);
        slices.push(own);
        rest = after;
    }
    slices
}

/// All outputs one after the other, element-major.
fn outputs<T: Real>(
    evaluator: &Evaluator<T>,
    workspace: &mut Workspace<T>,
    flat: &[T],
    batch: usize,
) -> Result<Vec<T>, GraphError> {
    let slices = split(evaluator.graph(), flat, batch);
    evaluator.run(workspace, &slices, batch)?;
    let ports = 0..evaluator.graph().outputs().len();
    Ok(ports.flat_map(|port| evaluator.output(workspace, &slices, port).iter().copied()).collect())
}

/// Whether the formula certainly holds at a point with these outputs.
fn holds(formula: &Formula<Variable>, input: &dyn Fn(usize) -> f64, output: &dyn Fn(usize) -> f64) -> bool {
    let value = |variable: &Variable| match *variable {
        Variable::Input(index) => Interval::point(input(index)),
        Variable::Output(index) => Interval::point(output(index)),
    };
    formula.certainty(&value) == Some(true)
}

impl<'q> Attack<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Attack {
            query,
            fast: Evaluator::new(&query.graph),
            single: Evaluator::new(&query.original),
            double: Evaluator::new(&query.original),
            pgd: OnceLock::new(),
            rounded_away: AtomicBool::new(false),
        }
    }

    /// Whether single precision hid a point so far.
    pub(crate) fn rounded_away(&self) -> bool {
        self.rounded_away.load(Ordering::Relaxed)
    }

    /// Runs PGD from many points, as [`falsify`] does, from where `starts` says. Threads may do so at the same time with
    /// seeds of their own.
    pub(crate) fn run_pgd(
        &self,
        starts: Starts<'_>,
        restarts: usize,
        steps: usize,
        seed: u64,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Falsification, GraphError> {
        let pgd = self.pgd.get_or_init(|| Pgd::new(self.query, &self.query.lowered));
        let mut numbers = Random::with_state(seed);
        let mut misses = 0;
        pgd.run(starts, Effort { restarts, steps, seed }, should_stop, &mut |point, distance| {
            let witness = self.replay(point)?;
            if witness.is_some() || distance.abs() > MISS || misses == MOST_MISSES {
                return Ok(witness);
            }
            misses += 1;
            self.try_neighbours(point, &mut numbers)
        })
    }

    /// Tries floats around a point: at the border of the formula, rounding alone decides whether it holds.
    fn try_neighbours(&self, point: &[f64], numbers: &mut Random) -> Result<Option<Witness>, GraphError> {
        let region = &self.query.region;
        let mut points = Vec::with_capacity(point.len() * NEIGHBOURS);
        for (input, &value) in point.iter().enumerate() {
            let (low, high) = (region.inner_lower[input], region.inner_upper[input]);
            for _ in 0..NEIGHBOURS {
                let (up, moves) = (numbers.unit() < 0.5, numbers.bits() % (NEIGHBOURHOOD + 1));
                let moved = (0..moves).fold(value as f32, |x, _| if up { x.next_up() } else { x.next_down() });
                points.push(within(f64::from(moved), low, high));
            }
        }
        self.try_points(&points, NEIGHBOURS)
    }

    /// The first of some points (element-major, `batch` of them) at which the formula holds under replay.
    pub(crate) fn try_points(&self, points: &[f64], batch: usize) -> Result<Option<Witness>, GraphError> {
        let results = outputs(&self.fast, &mut Workspace::default(), points, batch)?;
        for point in 0..batch {
            let input = |index: usize| points[index * batch + point];
            let output = |index: usize| results[index * batch + point];
            if results.iter().skip(point).step_by(batch).all(|value| value.is_finite())
                && holds(&self.query.formula, &input, &output)
            {
                let inputs: Vec<f64> = (0..points.len() / batch).map(input).collect();
                if let Some(witness) = self.replay(&inputs)? {
                    return Ok(Some(witness));
                }
                self.rounded_away.store(true, Ordering::Relaxed);
            }
        }
        Ok(None)
    }

    /// The point as a runtime would see it: each coordinate in the region as written, a float32 wherever there is one.
    fn cast(&self, inputs: &[f64]) -> Option<Vec<f64>> {
        let region = &self.query.region;
        inputs
            .iter()
            .enumerate()
            .map(|(index, &value)| {
                let (low, high) = (region.inner_lower[index], region.inner_upper[index]);
                if low > high {
                    // No double lies in the region. If it is one decimal, that is the point; it is shown as it was written.
                    return region.decimals[index];
                }
                let value = within(value, low, high);
                let nearest = value as f32;
                let candidates = [nearest, nearest.next_up(), nearest.next_down()].map(f64::from);
                let inside = candidates.into_iter().find(|candidate| low <= *candidate && *candidate <= high);
                Some(inside.unwrap_or(value)).filter(|value| value.is_finite())
            })
            .collect()
    }

    /// Points (element-major, `batch` of them) at which the formula seems to hold.
    pub(crate) fn candidates(&self, points: &[f64], batch: usize) -> Result<Vec<Candidate>, GraphError> {
        let results = outputs(&self.fast, &mut Workspace::default(), points, batch)?;
        let column =
            |table: &[f64], point: usize| -> Vec<f64> { table.iter().skip(point).step_by(batch).copied().collect() };
        let pairs = (0..batch).map(|point| (column(points, point), column(&results, point)));
        let seems = |(x, y): &Candidate| {
            y.iter().all(|value| value.is_finite()) && holds(&self.query.formula, &|index| x[index], &|index| y[index])
        };
        Ok(pairs.filter(seems).collect())
    }

    /// Whether the formula certainly holds over the reals at a point whose coordinates mean what the region says.
    pub(crate) fn holds_over_reals(&self, inputs: &[f64]) -> Result<bool, GraphError> {
        let (region, graph) = (&self.query.region, &self.query.original);
        let point: Vec<Interval> =
            inputs.iter().enumerate().map(|(input, &value)| region.meaning(input, value)).collect();
        let results = enclose(graph, &split(graph, &point, 1))?.concat();
        let value = |variable: &Variable| match *variable {
            Variable::Input(index) => point[index],
            Variable::Output(index) => results[index],
        };
        Ok(self.query.formula.certainty(&value) == Some(true))
    }

    /// Evaluates the graph as it was given, in both precisions, with no tolerance on the formula. Where a coordinate is a
    /// decimal that no double is, doubles near it say nothing of the region, so the formula must also hold over the reals.
    pub(crate) fn replay(&self, inputs: &[f64]) -> Result<Option<Witness>, GraphError> {
        let Some(inputs) = self.cast(inputs) else { return Ok(None) };
        let narrow: Vec<f32> = inputs.iter().map(|&value| value as f32).collect();
        let single = outputs(&self.single, &mut Workspace::default(), &narrow, 1)?;
        let double = outputs(&self.double, &mut Workspace::default(), &inputs, 1)?;
        let input = |index: usize| inputs[index];
        let finite = single.iter().all(|y| y.is_finite()) && double.iter().all(|y| y.is_finite());
        let agreed = finite
            && holds(&self.query.formula, &input, &|index| f64::from(single[index]))
            && holds(&self.query.formula, &input, &|index| double[index]);
        let decimals = self.query.region.decimals.iter().any(Option::is_some);
        let agreed = agreed && (!decimals || self.holds_over_reals(&inputs)?);
        Ok(agreed.then_some(Witness { inputs, outputs: single }))
    }
}
