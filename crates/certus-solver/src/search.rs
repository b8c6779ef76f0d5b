//! Branch and bound over the inputs.
//!
//! The region is cut into boxes. A box is closed when linear bounds show that the formula holds nowhere in it; otherwise
//! a few of its points are tried (its middle, and the corners where the bounds are weakest), and it is cut in two along the input
//! that the bounds depend on most. Boxes are taken in waves, one batch per thread, and the results of a wave are merged
//! in order, so the same query and thread count give the same answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_graph::interval::add_down;
use certus_graph::{GraphError, Interval, Op};

use crate::answer::{Answer, Progress, UnknownReason};
use crate::attack::Attack;
use crate::backward::{LowerBounds, Objectives, minimise};
use crate::formula::{Atom, Formula};
use crate::forward::{Bounds, enclose_node};
use crate::program::{Program, Role};
use crate::query::Query;
use crate::vnnlib::Variable;

/// How many boxes a thread bounds at once.
const BATCH: usize = 32;

/// Random points that are tried before the search.
const SAMPLES: usize = 2048;

/// Values of one node that these points may have together; wide graphs get fewer points.
const MOST_SAMPLED: usize = 1 << 21;

/// Descents are tried after so many boxes, and again after four times as many.
const FIRST_DESCENT: u64 = 1024;

/// A descent: so many batches of points, each so many steps, each step a share of the region's width that shrinks.
const RESTARTS: usize = 1;
const DESCENT_STEPS: usize = 24;
const FIRST_STEP: f64 = 0.2;
const STEP_DECAY: f64 = 0.85;

/// The influence that an input is given beyond what the bounds show, as a share of the mean; measured on ACAS Xu, where
/// 0.03 to 0.1 serve the properties with large and with small regions alike.
const UNSEEN_INFLUENCE: f64 = 0.05;

/// What a search may spend.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set by somebody else to stop.
    pub stop: Option<&'a AtomicBool>,
    /// How many threads; at least one.
    pub threads: usize,
    /// Names the random points.
    pub seed: u64,
    /// How many boxes may be open at once.
    pub open_boxes: usize,
    /// How many boxes may be bounded in all.
    pub boxes: u64,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget { deadline: None, stop: None, threads: 1, seed: 0, open_boxes: 4 << 20, boxes: u64::MAX }
    }
}

/// A box of the region.
#[derive(Clone)]
struct Part {
    lower: Vec<f64>,
    upper: Vec<f64>,
    depth: u32,
}

/// What became of a box.
enum Fate {
    Closed,
    Split(Part, Part),
    /// It cannot be cut any further.
    TooSmall,
}

/// Answers a query.
pub fn solve(query: &Query, budget: &Budget<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Answer, GraphError> {
    let region = &query.region;
    let mut state = Progress::default();
    if region.lower.iter().zip(&region.upper).any(|(low, high)| low > high) {
        return Ok(Answer::Unsat(Progress { done: 1.0, ..state }));
    }
    let search = Search::new(query);
    if let Some(witness) = search.sample(budget.seed)? {
        return Ok(Answer::Sat(witness));
    }
    let mut open = vec![Part { lower: region.lower.clone(), upper: region.upper.clone(), depth: 0 }];
    let (mut given_up, mut bounded, mut next_descent) = (false, 0, FIRST_DESCENT);
    while !open.is_empty() {
        if let Some(reason) = exhausted(budget, open.len(), bounded) {
            state.open = open.len() as u64;
            return Ok(Answer::Unknown(reason, state));
        }
        if bounded >= next_descent {
            // The easy questions are answered by now; a hard one may have a point that is hard to hit.
            if let Some(witness) = search.descend(budget.seed.wrapping_add(bounded))? {
                return Ok(Answer::Sat(witness));
            }
            next_descent *= 4;
        }
        let wave = open.split_off(open.len().saturating_sub(BATCH * budget.threads.max(1)));
        bounded += wave.len() as u64;
        let batches: Vec<&[Part]> = wave.chunks(wave.len().div_ceil(budget.threads.max(1)).clamp(1, BATCH)).collect();
        let results: Vec<Result<Examined, GraphError>> = std::thread::scope(|scope| {
            let (first, rest) = batches.split_first().map_or((None, &[][..]), |(first, rest)| (Some(*first), rest));
            let workers: Vec<_> = rest.iter().map(|batch| scope.spawn(|| search.examine(batch))).collect();
            let own = first.map(|batch| search.examine(batch));
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            own.into_iter().chain(workers.into_iter().map(join)).collect()
        });
        for (batch, result) in batches.iter().zip(results) {
            let examined = result?;
            if let Some(witness) = examined.witness {
                return Ok(Answer::Sat(witness));
            }
            for (part, fate) in batch.iter().zip(examined.fates) {
                match fate {
                    Fate::Closed => {
                        state.closed += 1;
                        state.done += 0.5f64.powi(part.depth as i32);
                    }
                    Fate::Split(left, right) => open.extend([left, right]),
                    Fate::TooSmall => given_up = true,
                }
            }
        }
        state.open = open.len() as u64;
        progress(state);
    }
    Ok(if given_up { Answer::Unknown(UnknownReason::Numerics, state) } else { Answer::Unsat(state) })
}

fn exhausted(budget: &Budget<'_>, open: usize, bounded: u64) -> Option<UnknownReason> {
    if budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        Some(UnknownReason::Stopped)
    } else if budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        Some(UnknownReason::Deadline)
    } else if open > budget.open_boxes {
        Some(UnknownReason::Memory)
    } else if bounded >= budget.boxes {
        Some(UnknownReason::Boxes)
    } else {
        None
    }
}

/// What a batch of boxes gave.
struct Examined {
    witness: Option<crate::Witness>,
    fates: Vec<Fate>,
}

struct Search<'q> {
    query: &'q Query,
    program: Program,
    attack: Attack<'q>,
    atoms: Vec<&'q Atom<Variable>>,
    inputs: usize,
    /// For each node, whether an activation reads it and bounds behind it are worth refining.
    refined: Vec<Option<Op>>,
}

fn collect_atoms<'q>(formula: &'q Formula<Variable>, atoms: &mut Vec<&'q Atom<Variable>>) {
    match formula {
        Formula::Atom(atom) => atoms.push(atom),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| collect_atoms(part, atoms)),
    }
}

/// How far the formula is from true, and the atom that decides it, when atom i has the value `value(i)`: a conjunction is as
/// far as its worst part, a disjunction as its best.
fn distance(formula: &Formula<Variable>, next: &mut usize, value: &dyn Fn(usize) -> f64) -> (f64, usize) {
    match formula {
        Formula::Atom(_) => {
            let index = *next;
            *next += 1;
            (value(index), index)
        }
        Formula::And(parts) => {
            let distances = parts.iter().map(|part| distance(part, next, value));
            distances.fold((f64::NEG_INFINITY, 0), |worst, this| if this.0 > worst.0 { this } else { worst })
        }
        Formula::Or(parts) => {
            let distances = parts.iter().map(|part| distance(part, next, value));
            distances.fold((f64::INFINITY, 0), |best, this| if this.0 < best.0 { this } else { best })
        }
    }
}

/// Whether the formula is false when atom i has the lower bound `lower(i)`; atoms are numbered as they are collected.
fn refuted(formula: &Formula<Variable>, next: &mut usize, lower: &dyn Fn(usize) -> f64) -> bool {
    match formula {
        Formula::Atom(atom) => {
            let bound = lower(*next);
            *next += 1;
            if atom.strict { bound >= 0.0 } else { bound > 0.0 }
        }
        // Every part is visited, so that the numbers stay in step.
        Formula::And(parts) => parts.iter().fold(false, |any, part| refuted(part, next, lower) | any),
        Formula::Or(parts) => parts.iter().fold(true, |all, part| refuted(part, next, lower) & all),
    }
}

impl<'q> Search<'q> {
    fn new(query: &'q Query) -> Self {
        let program = Program::new(&query.graph);
        let mut atoms = Vec::new();
        collect_atoms(&query.formula, &mut atoms);
        let mut refined = vec![None; program.roles.len()];
        for (node, role) in program.roles.iter().enumerate() {
            if let Role::Activation(op) = role {
                let argument = program.arguments(node)[0].index();
                // Behind a layer on the inputs there is nothing to gain: its intervals are exact.
                let direct =
                    program.arguments(argument).iter().all(|id| matches!(program.roles[id.index()], Role::Input(_)));
                if !direct {
                    refined[argument] = Some(op.clone());
                }
            }
        }
        let inputs = query.region.lower.len();
        Search { query, program, attack: Attack::new(query), atoms, inputs, refined }
    }

    /// Random points, and the middle.
    fn sample(&self, seed: u64) -> Result<Option<crate::Witness>, GraphError> {
        let region = &self.query.region;
        let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
        let mut unit = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let largest = (0..self.program.roles.len()).map(|node| self.program.elements(node)).max().unwrap_or(1);
        let samples = (MOST_SAMPLED / largest.max(1)).clamp(16, SAMPLES);
        let mut points = vec![0.0; self.inputs * samples];
        for point in 0..samples {
            for input in 0..self.inputs {
                let (low, high) = (region.lower[input].max(-1e9), region.upper[input].min(1e9));
                let t = match point {
                    0 => 0.5,
                    // Every fourth point is a corner: extremes of a box are extremes of its function surprisingly often.
                    _ if point % 4 == 1 => unit().round(),
                    _ => unit(),
                };
                points[input * samples + point] = (low * (1.0 - t) + high * t).max(low).min(high);
            }
        }
        self.attack.try_points(&points, samples)
    }

    /// Descends from random points along the gradient of the atom that decides the formula's distance from true. A box
    /// without extent has its gradient as bound, so the bounds serve here as they are.
    fn descend(&self, seed: u64) -> Result<Option<crate::Witness>, GraphError> {
        let region = &self.query.region;
        if region.lower.iter().chain(&region.upper).any(|end| !end.is_finite()) || self.atoms.is_empty() {
            return Ok(None);
        }
        let mut state = seed.wrapping_add(0x5851_F42D_4C95_7F2D);
        let mut unit = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let atoms = self.atoms.len();
        for _ in 0..RESTARTS {
            let mut points: Vec<Part> = (0..BATCH)
                .map(|_| {
                    let ends = region.lower.iter().zip(&region.upper);
                    let x: Vec<f64> = ends.map(|(low, high)| low + unit() * (high - low)).collect();
                    Part { lower: x.clone(), upper: x, depth: 0 }
                })
                .collect();
            let mut length = FIRST_STEP;
            for _ in 0..DESCENT_STEPS {
                let lower = self.bound(&points);
                let columns = points.len() * atoms;
                for (place, point) in points.iter_mut().enumerate() {
                    let value = |atom: usize| lower.bounds[place * atoms + atom];
                    let (_, atom) = distance(&self.query.formula, &mut 0, &value);
                    for input in 0..self.inputs {
                        let slope = lower.inputs[input * columns + place * atoms + atom];
                        let (low, high) = (region.lower[input], region.upper[input]);
                        let step = if slope == 0.0 { 0.0 } else { length * (high - low) * slope.signum() };
                        let moved = (point.lower[input] - step).clamp(low, high);
                        (point.lower[input], point.upper[input]) = (moved, moved);
                    }
                }
                let flat: Vec<f64> =
                    (0..self.inputs).flat_map(|input| points.iter().map(move |point| point.lower[input])).collect();
                if let Some(witness) = self.attack.try_points(&flat, points.len())? {
                    return Ok(Some(witness));
                }
                length *= STEP_DECAY;
            }
        }
        Ok(None)
    }

    fn examine(&self, parts: &[Part]) -> Result<Examined, GraphError> {
        let lower = self.bound(parts);
        let count = parts.len();
        let atoms = self.atoms.len();
        let bound = |part: usize, atom: usize| lower.bounds[part * atoms + atom];
        let closed: Vec<bool> =
            (0..count).map(|part| refuted(&self.query.formula, &mut 0, &|atom| bound(part, atom))).collect();
        let open: Vec<usize> = (0..count).filter(|&part| !closed[part]).collect();
        let witness = self.try_corners(parts, &open, &lower)?;
        if witness.is_some() {
            return Ok(Examined { witness, fates: Vec::new() });
        }
        let fates = (0..count).map(|part| match closed[part] {
            true => Fate::Closed,
            false => self.split(&parts[part], |input| {
                let influence = (0..atoms).map(|atom| lower.inputs[input * count * atoms + part * atoms + atom].abs());
                influence.sum()
            }),
        });
        Ok(Examined { witness: None, fates: fates.collect() })
    }

    /// Lower bounds of every atom over some boxes: atom a of box b is column `b * atoms + a`.
    fn bound(&self, parts: &[Part]) -> LowerBounds {
        let nodes = self.program.roles.len();
        let boxes = parts.len();
        let mut bounds = Bounds { boxes, lower: vec![Vec::new(); nodes], upper: vec![Vec::new(); nodes] };
        let mut scratch = Vec::new();
        for node in 0..nodes {
            if let Role::Input(offset) = self.program.roles[node] {
                let elements = offset..offset + self.program.elements(node);
                let rows = |pick: fn(&Part) -> &[f64]| -> Vec<f64> {
                    elements.clone().flat_map(|element| parts.iter().map(move |part| pick(part)[element])).collect()
                };
                bounds.lower[node] = rows(|part| &part.lower);
                bounds.upper[node] = rows(|part| &part.upper);
                continue;
            }
            enclose_node(&self.program, &mut bounds, node, &mut scratch);
            if let Some(op) = &self.refined[node] {
                self.refine(&mut bounds, node, op, &mut scratch);
            }
        }
        let columns: Vec<usize> = (0..boxes).flat_map(|part| std::iter::repeat_n(part, self.atoms.len())).collect();
        let count = columns.len();
        let mut objectives = Objectives::new(nodes, columns);
        let mut from = 0;
        for (index, atom) in self.atoms.iter().enumerate() {
            for part in 0..boxes {
                let column = part * self.atoms.len() + index;
                objectives.constants[column] = atom.linear.constant.lo;
                for (variable, coefficient) in &atom.linear.terms {
                    let Some(place) = self.query.place(variable) else { continue };
                    let node = place.node.index();
                    from = from.max(node);
                    let elements = self.program.elements(node);
                    let cell = &mut objectives.at(node, elements)[place.element * count + column];
                    // A coefficient that is no double, or two that meet in one node: the nearest double, and the rest
                    // as a constant.
                    let wanted = Interval::point(*cell) + *coefficient;
                    *cell = wanted.lo / 2.0 + wanted.hi / 2.0;
                    let rest = (wanted - Interval::point(*cell)) * bounds.interval(node, place.element, part);
                    objectives.constants[column] = add_down(objectives.constants[column], rest.lo);
                }
            }
        }
        minimise(&self.program, &bounds, objectives, from, self.inputs, &mut scratch)
    }

    /// Tightens the bounds of a node that an activation reads, where the activation is not linear over them.
    fn refine(&self, bounds: &mut Bounds, node: usize, op: &Op, scratch: &mut Vec<f64>) {
        let bends = |low: f64, high: f64| match op {
            Op::Relu(_) | Op::LeakyRelu(_) => low < 0.0 && high > 0.0,
            _ => high - low > 1e-9,
        };
        let elements = self.program.elements(node);
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for index in 0..bounds.boxes {
            for element in 0..elements {
                let range = bounds.interval(node, element, index);
                if bends(range.lo, range.hi) {
                    wanted.push((index, element));
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        let columns: Vec<usize> = wanted.iter().flat_map(|&(index, _)| [index, index]).collect();
        let count = columns.len();
        let mut objectives = Objectives::new(self.program.roles.len(), columns);
        let table = objectives.at(node, elements);
        for (place, &(_, element)) in wanted.iter().enumerate() {
            table[element * count + 2 * place] = 1.0;
            table[element * count + 2 * place + 1] = -1.0;
        }
        let lower = minimise(&self.program, bounds, objectives, node, self.inputs, scratch);
        for (place, &(index, element)) in wanted.iter().enumerate() {
            let range = Interval::new(lower.bounds[2 * place], -lower.bounds[2 * place + 1]);
            bounds.tighten(node, element, index, range);
        }
    }

    /// For each open box and atom, the corner where the atom's bound is smallest, and the middle of the box.
    fn try_corners(
        &self,
        parts: &[Part],
        open: &[usize],
        lower: &LowerBounds,
    ) -> Result<Option<crate::Witness>, GraphError> {
        let atoms = self.atoms.len();
        let per_part = atoms + 1;
        let (batch, columns) = (open.len() * per_part, parts.len() * atoms);
        if batch == 0 {
            return Ok(None);
        }
        let mut points = vec![0.0; self.inputs * batch];
        for (place, &part) in open.iter().enumerate() {
            for input in 0..self.inputs {
                let (low, high) = (parts[part].lower[input], parts[part].upper[input]);
                for atom in 0..atoms {
                    let slope = lower.inputs[input * columns + part * atoms + atom];
                    points[input * batch + place * per_part + atom] = if slope > 0.0 { low } else { high };
                }
                points[input * batch + place * per_part + atoms] = low / 2.0 + high / 2.0;
            }
        }
        self.attack.try_points(&points, batch)
    }

    fn split(&self, part: &Part, influence: impl Fn(usize) -> f64) -> Fate {
        let mut best: Option<(usize, f64, f64)> = None;
        // Over large boxes the bounds are loose and hide some inputs altogether; a share of the mean keeps those in play.
        let mean = (0..self.inputs).map(&influence).sum::<f64>() / self.inputs as f64;
        let floor = UNSEEN_INFLUENCE * mean + f64::MIN_POSITIVE;
        for input in 0..self.inputs {
            let (low, high) = (part.lower[input], part.upper[input]);
            let middle =
                if low.is_finite() && high.is_finite() { low / 2.0 + high / 2.0 } else { 0.0f64.clamp(low, high) };
            if !(low < middle && middle < high) {
                continue;
            }
            let width = high - low;
            let score = (influence(input) + floor) * width;
            if best.is_none_or(|(_, _, other)| score > other) {
                best = Some((input, middle, score));
            }
        }
        let Some((input, middle, _)) = best else { return Fate::TooSmall };
        let (mut left, mut right) = (part.clone(), part.clone());
        left.upper[input] = middle;
        right.lower[input] = middle;
        left.depth += 1;
        right.depth += 1;
        Fate::Split(left, right)
    }
}
