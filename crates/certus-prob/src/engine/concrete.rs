//! Concrete start states: a lower bound of the worst case from one state, by following every sequence of moves.
//!
//! The search is in plain numbers: samples, corners, and ascent from the best of them. What is claimed is computed in double-double arithmetic
//! and intervals (`double_double.rs`): the sum of the lower ends of the probabilities of all sequences that certainly reach the goal is a
//! lower bound of the probability from that state, hence of the worst case. Sequences less likely than a threshold count as missing
//! the goal in the lower end and as reaching it in the upper one.

use certus_graph::Interval;
use certus_graph::eval::enclose;
use certus_numerics::{DoubleDouble, Random};

use crate::abstraction::{Abstraction, Behaved, Choice, softmax};
use crate::engine::double_double::evaluate;
use crate::engine::search::Cell;
use crate::template_polyhedron::{HitAndRun, Polyhedron};

/// Branches of one start state beyond this many at one step: in the search the least likely ones are left out.
const MOST_SAMPLED: usize = 1_000;

/// The same for what is claimed.
const MOST_BRANCHES: usize = 1_500;

/// How start states are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Following {
    /// How many steps.
    pub steps: usize,
    /// What the environment does ([`Abstraction::behaviours`]).
    pub behaviour: usize,
}

/// The probability of reaching the goal, or a state outside of the declared ranges, from states (over the state alone), in plain numbers. Branches less likely
/// than `least` are left out.
pub fn sampled(abstraction: &Abstraction, starts: &[Vec<f64>], following: Following, least: f64) -> Vec<f64> {
    let Following { steps, behaviour } = following;
    let (lowest, highest) = abstraction.declared();
    let outside = |state: &[f64]| state.iter().enumerate().any(|(i, x)| !(lowest[i]..=highest[i]).contains(x));
    let mut found = vec![0.0; starts.len()];
    let mut layer: Vec<(Vec<f64>, f64, usize)> =
        starts.iter().enumerate().map(|(index, state)| (state.clone(), 1.0, index)).collect();
    for step in 0..=steps {
        if layer.is_empty() {
            break;
        }
        let mut after: Vec<(Vec<f64>, f64, usize)> = Vec::new();
        for chunk in layer.chunks(4096) {
            let states: Vec<Vec<f64>> = chunk.iter().map(|(state, ..)| state.clone()).collect();
            for ((_, weight, root), own) in chunk.iter().zip(abstraction.behaved(&states, behaviour)) {
                let Behaved { is_allowed, next, goal, stay, probabilities } = own;
                if goal || (abstraction.weak() && stay && step == steps) {
                    found[*root] += weight;
                } else if stay && step < steps && is_allowed {
                    let first = after.len();
                    for (state, p) in next.into_iter().zip(probabilities) {
                        if outside(&state) {
                            found[*root] += weight * p;
                            continue;
                        }
                        match after[first..].iter_mut().find(|(other, ..)| *other == state) {
                            Some((_, sum, _)) => *sum += weight * p,
                            None => after.push((state, weight * p, *root)),
                        }
                    }
                    // Only what this state led to is judged: earlier entries were.
                    let mut kept = first;
                    for index in first..after.len() {
                        if after[index].1 > least {
                            after.swap(kept, index);
                            kept += 1;
                        }
                    }
                    after.truncate(kept);
                }
            }
        }
        let most = MOST_SAMPLED * starts.len();
        if after.len() > most {
            after.sort_by(|a, b| b.1.total_cmp(&a.1));
            after.truncate(most);
        }
        layer = after;
    }
    found
}

/// Start states that are drawn first, in all parts together, and corners that are tried beside them.
const FIRST_POINTS: usize = 64;
const MOST_FIRST_CORNERS: usize = 1024;

/// A start state with a large probability, by random search and then in smaller and smaller neighbourhoods of the best one.
#[tracing::instrument(level = "debug", name = "lower bounds by runs", skip_all)]
pub fn worst_start(
    abstraction: &Abstraction,
    initial: &[Polyhedron],
    accept: &dyn Fn(&[f64]) -> bool,
    following: Following,
    seed: u64,
    stopped: &dyn Fn() -> bool,
) -> Option<(Vec<f64>, f64)> {
    let mut points: Vec<Vec<f64>> = Vec::new();
    for (place, part) in initial.iter().enumerate() {
        let mut walk = HitAndRun::new(part, Random::new(seed, 0x57a7 + ((place as u64) << 32)));
        let draws = (FIRST_POINTS / initial.len()).max(1);
        points.extend((0..draws).map(|_| walk.point()));
        // Corners of the box, where extremes are.
        let (lower, upper) = part.bounds();
        if lower.len() <= 6 && (place + 1) << lower.len() <= MOST_FIRST_CORNERS {
            for corner in 0..1usize << lower.len() {
                points.push((0..lower.len()).map(|i| if corner >> i & 1 == 1 { upper[i] } else { lower[i] }).collect());
            }
        }
    }
    let mut best: Option<(Vec<f64>, f64)> = None;
    let mut random = Random::new(seed, 0x57a8);
    for round in 0..6 {
        points.retain(|point| initial.iter().any(|part| part.contains_point(point)) && accept(point));
        // Where there is one initial state, every point is that.
        points.dedup();
        points.retain(|point| best.as_ref().is_none_or(|(known, _)| known != point));
        let least = best.as_ref().map_or(1e-7, |(_, value)| (value * 1e-3).clamp(1e-12, 1e-7));
        for chunk in points.chunks(16) {
            if stopped() {
                return best;
            }
            for (point, value) in chunk.iter().zip(sampled(abstraction, chunk, following, least)) {
                if best.as_ref().is_none_or(|(_, known)| value > *known) {
                    best = Some((point.clone(), value));
                }
            }
        }
        let (centre, _) = best.clone()?;
        let (lower, upper) = initial.iter().find(|part| part.contains_point(&centre))?.bounds();
        let radius = 0.3f64.powi(round + 1);
        points = (0..24)
            .map(|_| {
                let near = |i: usize, random: &mut Random| {
                    let width = upper[i] - lower[i];
                    (centre[i] + radius * width * (random.unit() - 0.5)).clamp(lower[i], upper[i])
                };
                (0..centre.len()).map(|i| near(i, &mut random)).collect()
            })
            .collect();
    }
    best
}

/// Cells that points are taken from, and how many each gives.
const SUSPECT_CELLS: usize = 64;
const POINTS_PER_CELL: usize = 8;

/// Cells of more dimensions have too many corners.
const MOST_CORNERED: usize = 4;

/// Points of the cells with the largest bounds. Where the probability jumps, a search has split its cells down to the jump, which random start states miss.
pub fn suspects(cells: &[Cell], seed: u64) -> Vec<Vec<f64>> {
    let mut order: Vec<&Cell> = cells.iter().collect();
    order.sort_by(|a, b| b.upper.total_cmp(&a.upper));
    let points = order.iter().take(SUSPECT_CELLS).enumerate().flat_map(|(place, cell)| {
        let (lower, upper) = cell.region.bounds();
        let middle = lower.iter().zip(&upper).map(|(low, high)| low + (high - low) / 2.0).collect();
        let mut walk = HitAndRun::new(&cell.region, Random::new(seed, 0x5059 + place as u64));
        let walked: Vec<Vec<f64>> = (1..POINTS_PER_CELL).map(|_| walk.point()).collect();
        walked.into_iter().chain([middle])
    });
    points.collect()
}

/// Corners of a region, moved to the initial states: where the edge of a guard only touches those, the worst case is one point, and plain
/// numbers cannot tell on which side of the edge it is.
pub fn corners(region: &Polyhedron, initial: &Polyhedron) -> Vec<Vec<f64>> {
    let ((lower, upper), (least, most)) = (region.bounds(), initial.bounds());
    if lower.len() > MOST_CORNERED {
        return Vec::new();
    }
    let corner = |number: usize| -> Vec<f64> {
        let ends = |i: usize| if number >> i & 1 == 1 { upper[i] } else { lower[i] };
        (0..lower.len()).map(|i| ends(i).clamp(least[i], most[i])).collect()
    };
    let mut found: Vec<Vec<f64>> = (0..1usize << lower.len()).map(corner).collect();
    found.dedup();
    found.retain(|point| initial.contains_point(point));
    found
}

/// Those start states whose probability is positive and no less than a number, in plain numbers.
pub fn no_less(abstraction: &Abstraction, points: Vec<Vec<f64>>, following: Following, least: f64) -> Vec<Vec<f64>> {
    let values = sampled(abstraction, &points, following, (least * 1e-3).clamp(1e-12, 1e-7));
    points
        .into_iter()
        .zip(values)
        .filter(|(_, value)| *value > 0.0 && *value >= least)
        .map(|(point, _)| point)
        .collect()
}

/// The start state with the largest lower bound, if that is larger than what is known already. Every one is followed in double-double arithmetic.
pub fn best_exactly(
    abstraction: &Abstraction,
    points: Vec<Vec<f64>>,
    accept: &dyn Fn(&[f64]) -> bool,
    following: Following,
    known: f64,
    stopped: &dyn Fn() -> bool,
) -> Option<(Vec<f64>, f64)> {
    let bounded = points.into_iter().filter(|point| accept(point)).filter_map(|point| {
        let found = exact(abstraction, &point, following, 1e-13, stopped)?.lo;
        (found > known).then_some((point, found))
    });
    bounded.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The best of some start states if it has a larger probability than is known already, with a lower bound of that.
pub fn best_of(
    abstraction: &Abstraction,
    mut points: Vec<Vec<f64>>,
    accept: &dyn Fn(&[f64]) -> bool,
    following: Following,
    known: f64,
    stopped: &dyn Fn() -> bool,
) -> Option<(Vec<f64>, f64)> {
    points.retain(|point| accept(point));
    let mut values: Vec<(Vec<f64>, f64)> = Vec::new();
    for chunk in points.chunks(16) {
        if stopped() {
            break;
        }
        let found = sampled(abstraction, chunk, following, (known * 1e-3).clamp(1e-12, 1e-7));
        values.extend(chunk.iter().cloned().zip(found));
    }
    let (point, _) = values.into_iter().filter(|(_, value)| *value > known).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let found = exact(abstraction, &point, following, 1e-13, stopped)?.lo;
    (found > known).then_some((point, found))
}

/// A branch in intervals.
struct Branch {
    state: Vec<DoubleDouble>,
    lower: f64,
    upper: f64,
}

/// Whether a state is in the declared ranges, if that is certain.
fn in_range(abstraction: &Abstraction, state: &[DoubleDouble]) -> Option<bool> {
    let (lower, upper) = abstraction.declared();
    let mut inside = true;
    for (i, own) in state.iter().enumerate() {
        let own = own.interval();
        if own.lo > upper[i] || own.hi < lower[i] {
            return Some(false);
        }
        inside &= lower[i] <= own.lo && own.hi <= upper[i];
    }
    inside.then_some(true)
}

/// An interval that contains the probability from one state for certain, over the reals: that of reaching the goal or a model error. With inputs of the
/// environment it is that of one behaviour of it, which makes allowed choices only: its lower end still bounds the worst case. Nothing when the step
/// cannot be enclosed, or when stopped.
pub fn exact(
    abstraction: &Abstraction,
    start: &[f64],
    following: Following,
    least: f64,
    stopped: &dyn Fn() -> bool,
) -> Option<Interval> {
    use certus_graph::interval::{add_down, add_up, mul_down, mul_up};
    let mut layer =
        vec![Branch { state: start.iter().map(|&x| DoubleDouble::exact(x)).collect(), lower: 1.0, upper: 1.0 }];
    let (mut certain, mut possible) = (0.0f64, 0.0f64);
    let (plant, scores) = (abstraction.plant_graph(), abstraction.scores_graph());
    let middles: Vec<f64> = abstraction.with_middles(start);
    let (moves, Following { steps, behaviour }) = (abstraction.moves(), following);
    for step in 0..=steps {
        let mut after: Vec<Branch> = Vec::new();
        for branch in &layer {
            if stopped() {
                return None;
            }
            let mut variables = branch.state.clone();
            let ends =
                |of: fn(Interval) -> f64| branch.state.iter().map(|own| of(own.interval())).collect::<Vec<f64>>();
            let choice = if step < steps {
                abstraction.certain_choice(&ends(|own| own.lo), &ends(|own| own.hi), behaviour)
            } else {
                None
            };
            // Goal and condition speak of the state alone.
            let shown = choice.as_deref().unwrap_or(&middles[start.len()..]);
            variables.extend(shown.iter().map(|&x| DoubleDouble::exact(x)));
            let outputs = evaluate(plant, &variables)?;
            let certainty = |output: usize| outputs[output][0].interval().certainty();
            match (certainty(moves), certainty(moves + 1)) {
                (Some(true), _) => {
                    certain = add_down(certain, branch.lower);
                    possible = add_up(possible, branch.upper);
                    continue;
                }
                (None, _) => {
                    // Undecided: nothing below, everything above.
                    possible = add_up(possible, branch.upper);
                    continue;
                }
                (Some(false), Some(true)) => {}
                (Some(false), Some(false)) => continue,
                (Some(false), None) => {
                    possible = add_up(possible, branch.upper);
                    continue;
                }
            }
            if step == steps {
                if abstraction.weak() {
                    certain = add_down(certain, branch.lower);
                    possible = add_up(possible, branch.upper);
                }
                continue;
            }
            if choice.is_none() {
                possible = add_up(possible, branch.upper);
                continue;
            }
            let variables: Vec<Interval> = variables.into_iter().map(DoubleDouble::interval).collect();
            let values =
                if scores.outputs().is_empty() { Vec::new() } else { enclose(scores, &[&variables]).ok()?.concat() };
            let probabilities = probabilities(abstraction, &values);
            let first = after.len();
            for (state, p) in outputs.into_iter().take(moves).zip(probabilities) {
                let (lower, mut upper) = (mul_down(branch.lower, p.lo).max(0.0), mul_up(branch.upper, p.hi));
                let inside = in_range(abstraction, &state);
                if upper <= least || inside != Some(true) {
                    possible = add_up(possible, upper);
                    // A model error counts as reaching; what may be one is followed for the lower end alone, which is no larger then.
                    if inside == Some(false) {
                        certain = add_down(certain, lower);
                    }
                    if upper <= least || inside == Some(false) {
                        continue;
                    }
                    upper = 0.0;
                }
                match after[first..].iter_mut().find(|other| other.state == state) {
                    Some(other) => {
                        other.lower = add_down(other.lower, lower);
                        other.upper = add_up(other.upper, upper);
                    }
                    None => after.push(Branch { state, lower, upper }),
                }
            }
        }
        if after.len() > MOST_BRANCHES {
            after.sort_by(|a, b| b.upper.max(b.lower).total_cmp(&a.upper.max(a.lower)));
            for branch in after.drain(MOST_BRANCHES..) {
                possible = add_up(possible, branch.upper);
            }
        }
        layer = after;
    }
    Some(Interval { lo: certain.clamp(0.0, 1.0), hi: possible.clamp(0.0, 1.0) })
}

/// The probability of each move, given enclosures of the scores.
fn probabilities(abstraction: &Abstraction, scores: &[Interval]) -> Vec<Interval> {
    let labels: Vec<Vec<Interval>> = abstraction
        .choices()
        .iter()
        .map(|choice| match choice {
            Choice::Chance(probabilities) => probabilities.iter().map(|&p| Interval::point(p)).collect(),
            Choice::Softmax(start, labels) => softmax(*labels, &|i, j| scores[start + i] - scores[start + j]),
            Choice::Argmax(start, labels) => {
                let own = &scores[*start..start + labels];
                let possible = |j: usize| own.iter().all(|other| own[j].hi >= other.lo);
                let count = (0..*labels).filter(|&j| possible(j)).count();
                let of = |j: usize| match (possible(j), count) {
                    (false, _) => Interval::ZERO,
                    (true, 1) => Interval::ONE,
                    (true, _) => Interval::UNKNOWN_TRUTH,
                };
                (0..*labels).map(of).collect()
            }
        })
        .collect();
    abstraction.combine(&labels)
}
