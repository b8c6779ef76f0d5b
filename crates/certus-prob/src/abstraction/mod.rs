//! From a system to bounds over polyhedra: where a region lies, which moves it makes with which probabilities, and where
//! each move leads.

mod expand;
mod inputs;
mod joint;
mod modes;
mod order;
mod split;
mod subdivide;
mod templates;

use std::sync::Arc;

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::interval::{add_down, add_up};
use certus_graph::{Graph, Interval};
use certus_lang::System;
use certus_solver::{LinearBound, LinearBounds};

pub use expand::{Expansion, Failure, Part, Refining, Successor};
pub use joint::{Choice, Joint, Layout, Task};
pub use modes::{HalfSpace, Mode, Modes};
pub use split::best_cut;
pub use templates::automatic;

use crate::domain::{Polyhedron, Rows, Support, Template};

/// A system with a task, prepared for bounds over polyhedra of one template.
pub struct Abstraction {
    template: Arc<Template>,
    modes: Modes,
    /// For modes that are linear: a line above each direction of each move's next state.
    images: Vec<Option<Vec<LinearBound>>>,
    choices: Vec<Choice>,
    moves: Vec<Vec<usize>>,
    order: order::Order,
    inputs: inputs::Inputs,
    policy: Option<LinearBounds>,
    evaluator: Option<Evaluator<f64>>,
    plant: Evaluator<f64>,
    scores: Graph,
    plant_graph: Graph,
    /// The next states alone, as they were written.
    next_graph: Graph,
    layout: Layout,
    /// The ranges of all variables; those without an end as far as the system is followed, beyond which nothing is known of it.
    range: (Vec<f64>, Vec<f64>),
    /// The declared ranges of the state.
    declared: (Vec<f64>, Vec<f64>),
    states: usize,
    /// Whether staying up to the last step counts as reaching.
    weak: bool,
    /// A region is cut into at most so many pieces for its image.
    pieces: usize,
}

/// Pieces of a region that are tried where its image is loose, if nothing else was said.
pub const PIECES: usize = 8;

/// What stands for a range without end.
const FAR: f64 = 1e6;

impl Abstraction {
    /// Prepares a system and a task.
    pub fn new(system: &System, task: &Task, template: Template) -> Result<Abstraction, String> {
        let joint = Joint::new(system, task)?;
        let states = joint.states;
        if template.dimension() != states {
            return Err(format!("a template of {} dimensions for {states} state variables", template.dimension()));
        }
        let (mut lower, mut upper) = (joint.lower, joint.upper);
        let declared = (lower[..states].to_vec(), upper[..states].to_vec());
        for i in 0..states {
            let far = |other: f64| if other.is_finite() { FAR.max(2.0 * other.abs()) } else { FAR };
            let (low, high) = (lower[i], upper[i]);
            lower[i] = if low.is_finite() { low } else { -far(high) };
            upper[i] = if high.is_finite() { high } else { far(low) };
        }
        let failed = |error: certus_graph::GraphError| format!("the step cannot be bounded: {error}");
        let cuts = order::cuts(system, states, (&lower, &upper));
        let modes =
            Modes::new(&joint.plant, states, joint.layout, &Rows::of_box(&lower, &upper), cuts).map_err(failed)?;
        let count = system.inputs.iter().map(|input| input.len).sum();
        let inputs = inputs::Inputs::new((&lower, &upper), states, count, joint.allowed.as_ref()).map_err(failed)?;
        let scored = !joint.scores.outputs().is_empty();
        let policy = if scored { Some(LinearBounds::new(&joint.scores).map_err(failed)?) } else { None };
        let compiled = canonicalize(&joint.scores).map_err(failed)?;
        let plant = canonicalize(&joint.plant).map_err(failed)?;
        let mut own = Abstraction {
            template: Arc::new(template),
            images: Vec::new(),
            modes,
            order: order::Order::new(system, &joint.choices, &joint.moves),
            inputs,
            choices: joint.choices,
            moves: joint.moves,
            policy,
            evaluator: scored.then(|| Evaluator::new(&compiled)),
            plant: Evaluator::new(&plant),
            scores: compiled,
            next_graph: joint.plant.keep_outputs(&(0..joint.layout.moves).collect::<Vec<_>>()),
            plant_graph: joint.plant,
            layout: joint.layout,
            range: (lower, upper),
            declared,
            states,
            weak: task.weak,
            pieces: PIECES,
        };
        own.images = (0..own.modes.modes.len())
            .map(|mode| {
                let lines = &own.modes.modes[mode].next;
                lines.is_linear().then(|| lines.below(std::slice::from_ref(&own.range), &own.directions()).remove(0))
            })
            .collect();
        Ok(own)
    }

    /// The same with another number of pieces that a region is cut into at most where its image is loose.
    pub fn with_pieces(self, pieces: usize) -> Abstraction {
        Abstraction { pieces, ..self }
    }

    /// The template.
    pub fn template(&self) -> &Arc<Template> {
        &self.template
    }

    /// How many moves a step has.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// How many numbers a state has.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Whether staying up to the last step counts as reaching the goal.
    pub fn weak(&self) -> bool {
        self.weak
    }

    /// How many modes the plant has.
    pub fn modes(&self) -> usize {
        self.modes.modes.len()
    }

    /// The graph of all moves' next states, the goal and the condition before it, over the variables: as it was written, nothing folded.
    pub(crate) fn plant_graph(&self) -> &Graph {
        &self.plant_graph
    }

    /// The graph of the scores over the variables.
    pub(crate) fn scores_graph(&self) -> &Graph {
        &self.scores
    }

    pub(crate) fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The declared ranges of the state.
    pub(crate) fn declared(&self) -> (&[f64], &[f64]) {
        (&self.declared.0, &self.declared.1)
    }

    pub(crate) fn range(&self) -> (&[f64], &[f64]) {
        (&self.range.0, &self.range.1)
    }

    /// For every move and direction, minus that direction of the move's next state.
    fn directions(&self) -> Vec<Vec<(usize, f64)>> {
        let own = |start: usize, direction: &[f64]| -> Vec<(usize, f64)> {
            let terms = direction.iter().enumerate().map(|(i, &value)| (start + i, -value));
            terms.filter(|&(_, value)| value != 0.0).collect()
        };
        (0..self.moves.len())
            .flat_map(|number| self.template.directions().iter().map(move |d| own(number * self.states, d)))
            .collect()
    }

    /// The rows of a polyhedron over all variables.
    fn lift(&self, polyhedron: &Polyhedron) -> Rows {
        let rows = polyhedron.rows();
        if self.range.0.len() == self.states {
            return rows;
        }
        let (mut lower, mut upper) = polyhedron.bounds();
        lower.extend_from_slice(&self.range.0[self.states..]);
        upper.extend_from_slice(&self.range.1[self.states..]);
        let mut lifted = Rows::of_box(&lower, &upper);
        for index in 2 * self.states..rows.len() {
            let (normal, offset) = rows.row(index);
            lifted.push(&self.padded(normal), offset);
        }
        lifted
    }

    fn padded(&self, direction: &[f64]) -> Vec<f64> {
        let mut padded = direction.to_vec();
        padded.resize(self.range.0.len(), 0.0);
        padded
    }

    /// The tightest polyhedron of the template around the states of some rows.
    fn enclosure(&self, rows: &Rows) -> Option<Polyhedron> {
        let mut offsets = Vec::with_capacity(self.template.directions().len());
        for direction in self.template.directions() {
            match rows.maximum(&self.padded(direction)) {
                Support::AtMost(value) => offsets.push(value),
                Support::Empty => return None,
            }
        }
        // What the rows say themselves of the axes was not rounded.
        let (lower, upper) = rows.bounds();
        for i in 0..self.states {
            offsets[2 * i] = offsets[2 * i].min(upper[i]);
            offsets[2 * i + 1] = offsets[2 * i + 1].min(-lower[i]);
        }
        Some(Polyhedron::from_offsets(&self.template, offsets))
    }

    /// The box around the points of some rows.
    fn bounds(&self, rows: &Rows) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = rows.bounds();
        if rows.len() > 2 * rows.dimension() {
            for i in 0..rows.dimension() {
                let mut axis = vec![0.0; rows.dimension()];
                axis[i] = 1.0;
                if let Support::AtMost(value) = rows.maximum(&axis) {
                    upper[i] = upper[i].min(value);
                }
                axis[i] = -1.0;
                if let Support::AtMost(value) = rows.maximum(&axis) {
                    lower[i] = lower[i].max(-value);
                }
                // Rounding may turn a flat region around by a step.
                if lower[i] > upper[i] {
                    (lower[i], upper[i]) = (upper[i], lower[i]);
                }
            }
        }
        (lower, upper)
    }

    /// The smallest value that a line's objective may have over some rows.
    fn least(line: &LinearBound, rows: &Rows) -> f64 {
        if line.constant == f64::NEG_INFINITY {
            return line.bound;
        }
        let opposite: Vec<f64> = line.slopes.iter().map(|slope| -slope).collect();
        match rows.maximum(&opposite) {
            Support::AtMost(value) => add_down(line.constant, -value).max(line.bound),
            Support::Empty => line.bound,
        }
    }

    /// For each region, the probability of each move.
    fn probabilities(&self, regions: &[Rows]) -> Vec<Vec<Interval>> {
        self.differences(regions).iter().map(|least| self.combine(&self.labels(least))).collect()
    }

    /// For each region, the probability of every label of every action, chance variables left out.
    pub fn policy(&self, regions: &[Polyhedron]) -> Vec<Vec<Vec<Interval>>> {
        let rows: Vec<Rows> = regions.iter().map(|region| self.lift(region)).collect();
        let actions = |least: &Vec<f64>| {
            let labels = self.labels(least).into_iter().zip(&self.choices);
            labels.filter(|(_, choice)| !matches!(choice, Choice::Chance(_))).map(|(own, _)| own).collect()
        };
        self.differences(&rows).iter().map(actions).collect()
    }

    /// For each region, lower bounds of all ordered differences of each choice's scores.
    fn differences(&self, regions: &[Rows]) -> Vec<Vec<f64>> {
        let mut pairs = Vec::new();
        for choice in &self.choices {
            if let Choice::Softmax(start, labels) | Choice::Argmax(start, labels) = choice {
                let own = |i: usize, j: usize| vec![(start + i, 1.0), (start + j, -1.0)];
                pairs.extend((0..*labels).flat_map(|i| (0..*labels).filter(move |&j| j != i).map(move |j| own(i, j))));
            }
        }
        let lines = match &self.policy {
            Some(policy) if !pairs.is_empty() => {
                let boxes: Vec<_> = regions.iter().map(|rows| self.bounds(rows)).collect();
                policy.below(&boxes, &pairs)
            }
            _ => vec![Vec::new(); regions.len()],
        };
        let least = |(rows, lines): (&Rows, &Vec<LinearBound>)| {
            lines.iter().map(|line| Abstraction::least(line, rows)).collect()
        };
        regions.iter().zip(&lines).map(least).collect()
    }

    /// The probability of each choice's labels, given lower bounds of all ordered differences of its scores.
    fn labels(&self, least: &[f64]) -> Vec<Vec<Interval>> {
        let mut at = 0;
        self.choices
            .iter()
            .map(|choice| match choice {
                Choice::Chance(probabilities) => probabilities.iter().map(|&p| Interval::point(p)).collect(),
                Choice::Softmax(_, labels) | Choice::Argmax(_, labels) => {
                    let own = &least[at..at + labels * (labels - 1)];
                    at += labels * (labels - 1);
                    // Score i minus score j.
                    let difference = |i: usize, j: usize| {
                        let low = own[i * (labels - 1) + j - usize::from(j > i)];
                        let high = -own[j * (labels - 1) + i - usize::from(i > j)];
                        if low <= high { Interval::new(low, high) } else { Interval::new(high, low) }
                    };
                    match choice {
                        Choice::Argmax(..) => first_maximum(*labels, &difference),
                        _ => softmax(*labels, &difference),
                    }
                }
            })
            .collect()
    }

    /// The probability of each move, given those of each choice's labels.
    pub(crate) fn combine(&self, labels: &[Vec<Interval>]) -> Vec<Interval> {
        let probability = |own: &Vec<usize>| {
            own.iter().zip(labels).fold(Interval::ONE, |product, (&label, choice)| product * choice[label])
        };
        self.moves.iter().map(|own| clamp(probability(own))).collect()
    }

    /// The next state of each move over some regions, each with its mode.
    fn next(&self, regions: &[(usize, Rows)]) -> Vec<Vec<Polyhedron>> {
        let mut found: Vec<Vec<Polyhedron>> = vec![Vec::new(); regions.len()];
        for mode in 0..self.modes.modes.len() {
            let own: Vec<usize> = (0..regions.len()).filter(|&index| regions[index].0 == mode).collect();
            if own.is_empty() {
                continue;
            }
            match &self.images[mode] {
                Some(lines) => own.iter().for_each(|&index| found[index] = self.image(lines, &regions[index].1)),
                None => {
                    let rows: Vec<&Rows> = own.iter().map(|&index| &regions[index].1).collect();
                    let images = self.curved_images(mode, &rows);
                    own.iter().zip(images).for_each(|(&index, images)| found[index] = images);
                }
            }
            for &index in &own {
                self.tighten(mode, &regions[index].1, &mut found[index]);
            }
        }
        found
    }

    /// Whether a region is inside the declared ranges.
    pub(crate) fn in_range(&self, region: &Polyhedron) -> bool {
        (0..self.states).all(|i| region.lower(i) >= self.range.0[i] && region.upper(i) <= self.range.1[i])
    }

    /// Images that seem to leave the declared ranges, no larger than intervals say. Linear functions are rounded outwards; intervals find a clamp at
    /// the end of a range exactly, and sums as written where no digit is lost.
    fn tighten(&self, mode: usize, rows: &Rows, images: &mut [Polyhedron]) {
        let (lower, upper) = self.bounds(rows);
        let point: Vec<Interval> = lower.iter().zip(&upper).map(|(&low, &high)| Interval::new(low, high)).collect();
        for graph in [&self.next_graph, &self.modes.modes[mode].nexts] {
            if images.iter().all(|image| self.in_range(image)) {
                return;
            }
            let Ok(found) = enclose(graph, &[&point]) else { continue };
            for (image, found) in images.iter_mut().zip(found) {
                let mut offsets = image.offsets().to_vec();
                for (i, own) in found.iter().enumerate() {
                    offsets[2 * i] = offsets[2 * i].min(own.hi);
                    offsets[2 * i + 1] = offsets[2 * i + 1].min(-own.lo);
                }
                *image = Polyhedron::from_offsets(&self.template, offsets);
            }
        }
    }

    /// The next state of each move over regions of one mode, by one linearisation of each.
    fn linearised(&self, mode: usize, regions: &[&Rows]) -> Vec<Vec<Polyhedron>> {
        let boxes: Vec<_> = regions.iter().map(|rows| self.bounds(rows)).collect();
        let lines = self.modes.modes[mode].next.below(&boxes, &self.directions());
        regions.iter().zip(&lines).map(|(rows, lines)| self.image(lines, rows)).collect()
    }

    /// The next state of each move, from lines over all moves and directions.
    fn image(&self, lines: &[LinearBound], rows: &Rows) -> Vec<Polyhedron> {
        let of_move = |lines: &[LinearBound]| {
            let offsets = lines.iter().map(|line| -Abstraction::least(line, rows)).collect();
            Polyhedron::from_offsets(&self.template, offsets)
        };
        lines.chunks_exact(self.template.directions().len()).map(of_move).collect()
    }

    /// The probability of each move at points over all variables, as plain numbers: for each point one list.
    pub fn sampled_probabilities(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let count = points.len();
        let mut workspace = Workspace::default();
        let table = element_major(points);
        let scores: &[f64] = match &self.evaluator {
            Some(evaluator) => match evaluator.run(&mut workspace, &[&table], count) {
                Ok(()) => evaluator.output(&workspace, &[&table], 0),
                Err(_) => &[],
            },
            None => &[],
        };
        (0..count)
            .map(|point| {
                let labels: Vec<Vec<f64>> = self
                    .choices
                    .iter()
                    .map(|choice| match choice {
                        Choice::Chance(probabilities) => probabilities.clone(),
                        Choice::Softmax(start, labels) | Choice::Argmax(start, labels) => {
                            let own: Vec<f64> = (0..*labels).map(|i| scores[(start + i) * count + point]).collect();
                            let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                            if matches!(choice, Choice::Argmax(..)) {
                                let first = own.iter().position(|&score| score == largest);
                                return (0..*labels).map(|i| f64::from(u8::from(Some(i) == first))).collect();
                            }
                            let powers: Vec<f64> = own.iter().map(|score| (score - largest).exp()).collect();
                            let sum: f64 = powers.iter().sum();
                            powers.iter().map(|power| power / sum).collect()
                        }
                    })
                    .collect();
                let of = |own: &Vec<usize>| own.iter().zip(&labels).map(|(&label, choice)| choice[label]).product();
                self.moves.iter().map(of).collect()
            })
            .collect()
    }

    /// For points over all variables: the next state of each move, whether the goal holds, and whether what must hold before it does.
    pub fn sampled_steps(&self, points: &[Vec<f64>]) -> Vec<(Vec<Vec<f64>>, bool, bool)> {
        let count = points.len();
        let table = element_major(points);
        let mut workspace = Workspace::default();
        if self.plant.run(&mut workspace, &[&table], count).is_err() {
            return Vec::new();
        }
        let outputs: Vec<&[f64]> =
            (0..self.moves.len() + 2).map(|output| self.plant.output(&workspace, &[&table], output)).collect();
        (0..count)
            .map(|point| {
                let next = (0..self.moves.len())
                    .map(|number| (0..self.states).map(|i| outputs[number][i * count + point]).collect());
                let holds = |output: usize| outputs[output][point] != 0.0;
                (next.collect(), holds(self.moves.len()), holds(self.moves.len() + 1))
            })
            .collect()
    }

    /// A state with the environment's choices and free parameters at the middle of their ranges.
    pub fn with_middles(&self, state: &[f64]) -> Vec<f64> {
        let middles = (self.states..self.range.0.len()).map(|i| (self.range.0[i] + self.range.1[i]) / 2.0);
        state.iter().copied().chain(middles).collect()
    }
}

fn element_major(points: &[Vec<f64>]) -> Vec<f64> {
    let elements = points.first().map_or(0, Vec::len);
    (0..elements).flat_map(|i| points.iter().map(move |point| point[i])).collect()
}

fn clamp(p: Interval) -> Interval {
    Interval { lo: p.lo.clamp(0.0, 1.0), hi: p.hi.clamp(0.0, 1.0) }
}

/// The softmax of scores by their differences.
pub(crate) fn softmax(labels: usize, difference: &dyn Fn(usize, usize) -> Interval) -> Vec<Interval> {
    let own = |j: usize| {
        let others = (0..labels).filter(|&i| i != j);
        let (mut low, mut high) = (1.0, 1.0);
        for i in others {
            let power = difference(i, j).exp();
            low = add_down(low, power.lo);
            high = add_up(high, power.hi);
        }
        let inverse = |value: f64| Interval::ONE / Interval::point(value);
        let lo = if high.is_finite() { inverse(high).lo } else { 0.0 };
        clamp(Interval { lo, hi: inverse(low).hi })
    };
    (0..labels).map(own).collect()
}

/// Which score may be the first largest one: probabilities 0, 1 or anything between.
fn first_maximum(labels: usize, difference: &dyn Fn(usize, usize) -> Interval) -> Vec<Interval> {
    let possible: Vec<bool> =
        (0..labels).map(|j| (0..labels).filter(|&i| i != j).all(|i| difference(j, i).hi >= 0.0)).collect();
    let several = possible.iter().filter(|&&possible| possible).count() != 1;
    let of = |possible: bool| match (possible, several) {
        (true, false) => Interval::ONE,
        (true, true) => Interval::UNKNOWN_TRUTH,
        (false, _) => Interval::ZERO,
    };
    possible.into_iter().map(of).collect()
}
