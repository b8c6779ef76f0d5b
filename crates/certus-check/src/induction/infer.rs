//! Invariants inferred from runs and from counterexamples to induction.
//!
//! A template is a set of directions: those of a box, of an octagon, and those that the loop, made linear around where its runs
//! end up, turns the property's own faces into. Bounds start at what initial states and simulated runs reach. A step out of
//! the candidate, found by trying or by the solver, raises the bounds that it breaks, and some more; when the solver finds
//! none, the candidate is an invariant. A template whose bounds run away into the states that must not be reached is given up.

use certus_graph::Interval;
use certus_graph::eval::{Evaluator, Workspace};
use certus_lang::system::System;
use certus_sim::{Options, Simulator};
use certus_solver::formula::{Formula, Linear};
use certus_solver::{Answer, Place};

use super::invariant::elements;
use super::sample::Sampler;
use super::{Asker, Face, Invariant};
use crate::outcome::CheckError;
use crate::proof::leaving;
use crate::question::{Question, Wanted};
use crate::temporal::{Beyond, Normal, Shape};
use crate::unroll::{Start, Unrolled};

/// Simulated runs that bounds begin with, and their steps.
const RUNS: u64 = 64;
const STEPS: usize = 200;

/// How often bounds are raised, and points that are tried each time.
const MOST_RAISES: usize = 80;
const TRIES: usize = 4_096;

/// By what share of the spread of what was seen a bound is raised beyond what it must be; doubled as long as that goes on.
const FIRST_SLACK: f64 = 0.02;
const MOST_SLACK: f64 = 0.5;

/// Variables up to which octagons are tried.
const MOST_OCTAGON: usize = 6;

/// How often the loop is applied to the property's faces.
const IMAGES: usize = 12;

/// What was seen of a system.
pub struct Seen {
    /// States of simulated runs.
    states: Vec<Vec<f64>>,
    /// The last states of runs.
    last: Vec<f64>,
}

impl Seen {
    /// Simulates some runs.
    pub fn of(system: &System, seed: u64) -> Result<Seen, CheckError> {
        let failed = |error: certus_sim::SimulationError| CheckError::Unsupported(error.to_string());
        let simulator = Simulator::new(system).map_err(failed)?;
        let options = Options { runs: RUNS, steps: STEPS, seed, record: true, threads: 1, ..Options::default() };
        let mut states: Vec<Vec<f64>> = Vec::new();
        let mut ends: Vec<Vec<f64>> = Vec::new();
        simulator
            .run(&options, &mut |_| (), &mut |report| {
                let Some(trace) = &report.trace else { return };
                states.extend(trace.iter().map(|step| step.state.clone()));
                ends.extend(trace.last().map(|step| step.state.clone()));
            })
            .map_err(failed)?;
        let middle = |place: usize| ends.iter().map(|state| state[place]).sum::<f64>() / ends.len().max(1) as f64;
        let last = (0..system.state_len()).map(middle).collect();
        Ok(Seen { states, last })
    }

    /// The range of a direction, and its ends.
    fn range(&self, face: &Face) -> (f64, f64) {
        self.states
            .iter()
            .map(|state| face.value(state))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }
}

/// Searches for an invariant inside of which the property is inductive.
pub fn infer(system: &System, bad: &Normal, asker: &mut Asker<'_, '_>) -> Result<Option<Invariant>, CheckError> {
    let seen = Seen::of(system, asker.seed())?;
    if seen.states.is_empty() {
        return Ok(None);
    }
    let property = faces_of(system, bad)?;
    for template in templates(system, &seen, &property)? {
        if let Some(invariant) = raise(system, bad, &seen, template, asker)? {
            return Ok(Some(invariant));
        }
        if asker.over() {
            break;
        }
    }
    Ok(None)
}

/// Raises the bounds of a template until no step leaves it.
fn raise(
    system: &System,
    bad: &Normal,
    seen: &Seen,
    directions: Vec<Face>,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Invariant>, CheckError> {
    let mut invariant = Invariant { faces: directions };
    let mut spreads = Vec::new();
    for face in &mut invariant.faces {
        let (low, high) = seen.range(face);
        let spread = high - low;
        face.bound = high.max(over_init(system, face)) + FIRST_SLACK * spread;
        spreads.push(spread.max(1e-9 * face.bound.abs()).max(1e-12));
    }
    invariant.faces.iter_mut().for_each(|face| face.bound = round(face.bound));
    let mut slack = FIRST_SLACK;
    for _ in 0..MOST_RAISES {
        if asker.over() || invariant.faces.iter().any(|face| !face.bound.is_finite()) {
            return Ok(None);
        }
        // It must keep away from the states that must not be reached.
        if !matches!(asker.ask(&outside(system, bad, &invariant)?)?, Answer::Unsat(_)) {
            return Ok(None);
        }
        let inside = leaving(system, bad, &invariant, false)?;
        let mut sampler = Sampler::new(&inside, asker.seed());
        let mut steps: Vec<Vec<f64>> =
            sampler.anywhere(&inside, TRIES)?.into_iter().filter_map(|mut sample| sample.successor.take()).collect();
        steps.retain(|state| !invariant.contains(state));
        if steps.is_empty() {
            let question = leaving(system, bad, &invariant, true)?;
            match asker.ask(&question)? {
                Answer::Unsat(_) => return Ok(Some(invariant)),
                Answer::Unknown(..) => return Ok(None),
                Answer::Sat(witness) => {
                    let mut own = Sampler::new(&question, asker.seed());
                    let found = own.at(&question, &witness.inputs)?.and_then(|mut sample| sample.successor.take());
                    let Some(state) = found else { return Ok(None) };
                    steps.push(state);
                }
            }
        }
        for (face, spread) in invariant.faces.iter_mut().zip(&spreads) {
            let reached = steps.iter().map(|state| face.value(state)).fold(f64::NEG_INFINITY, f64::max);
            if reached > face.bound {
                face.bound = round(reached + slack * spread);
            }
        }
        slack = (1.5 * slack).min(MOST_SLACK);
    }
    Ok(None)
}

/// A number with few digits, not below another: invariants are read by people.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10f64.powi(value.abs().log10().floor() as i32 - 3);
    let rounded = (value / unit).ceil() * unit;
    if rounded >= value { rounded } else { value }
}

const STEP: Shape = Shape { positions: 1, loop_to: None };

/// A state of the invariant at which the property does not hold.
fn outside(system: &System, bad: &Normal, invariant: &Invariant) -> Result<Question, CheckError> {
    let formulas = [(bad, 0)];
    let wanted = Wanted { start: Start::Anywhere, shape: STEP, formulas: &formulas, beyond: Beyond::Anything };
    Question::new(system, wanted, &|unrolled| invariant.holds(&elements(unrolled, 0)))
}

/// The largest value of a direction over the box around the initial states.
fn over_init(system: &System, face: &Face) -> f64 {
    let (lower, upper) = &system.init_box;
    let ends = lower.iter().zip(upper).zip(&face.coefficients);
    ends.filter(|(_, coefficient)| **coefficient != 0.0)
        .map(|((low, high), coefficient)| coefficient * if *coefficient > 0.0 { high } else { low })
        .sum()
}

/// The directions of the linear comparisons of states that a property is made of.
fn faces_of(system: &System, bad: &Normal) -> Result<Vec<Face>, CheckError> {
    let formulas = [(bad, 0)];
    let wanted = Wanted { start: Start::Anywhere, shape: STEP, formulas: &formulas, beyond: Beyond::Anything };
    let question = Question::new(system, wanted, &|_| Vec::new())?;
    let unrolled = question.unrolled();
    let states = elements(unrolled, 0);
    let mut faces = Vec::new();
    collect(question.formula(), &states, &mut faces);
    Ok(faces)
}

fn collect(formula: &Formula<Place>, states: &[Linear<Place>], faces: &mut Vec<Face>) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| collect(part, states, faces)),
        Formula::Atom(atom) => {
            let mut coefficients = vec![0.0; states.len()];
            for (place, factor) in &atom.linear.terms {
                let own = states.iter().position(|state| *state == Linear::variable(*place));
                let Some(own) = own else { return };
                // Of the bad states this is one side: stay on the other.
                coefficients[own] = -factor.lo;
            }
            let face = Face { coefficients, bound: 0.0 };
            if face.coefficients.iter().any(|c| *c != 0.0) && !faces.contains(&face) {
                faces.push(face);
            }
        }
    }
}

/// Sets of directions, the simplest first.
fn templates(system: &System, seen: &Seen, property: &[Face]) -> Result<Vec<Vec<Face>>, CheckError> {
    let dimension = system.state_len();
    let face = |terms: &[(usize, f64)]| {
        let mut coefficients = vec![0.0; dimension];
        terms.iter().for_each(|&(place, coefficient)| coefficients[place] = coefficient);
        Face { coefficients, bound: 0.0 }
    };
    let mut spread = Vec::new();
    for place in 0..dimension {
        let (low, high) = seen.range(&face(&[(place, 1.0)]));
        spread.push(high - low);
    }
    // A number that never moves has one face on each side anyway.
    let boxes: Vec<Face> = (0..dimension).flat_map(|place| [face(&[(place, 1.0)]), face(&[(place, -1.0)])]).collect();
    let mut octagon = boxes.clone();
    let moving: Vec<usize> = (0..dimension).filter(|&place| spread[place] > 0.0).collect();
    for (number, &first) in moving.iter().enumerate() {
        for &second in &moving[number + 1..] {
            // Diagonals of the box that runs fill, with coefficients that are easy to read.
            let ratio = nice(spread[first] / spread[second]);
            for (a, b) in [(1.0, ratio), (1.0, -ratio), (-1.0, ratio), (-1.0, -ratio)] {
                octagon.push(face(&[(first, a), (second, b)]));
            }
        }
    }
    let mut images = boxes.clone();
    if let Some(matrix) = linearised(system, &seen.last)? {
        let mut own: Vec<Face> = property.to_vec();
        own.extend(boxes.iter().cloned());
        for face in own {
            let mut coefficients = face.coefficients.clone();
            for _ in 0..IMAGES {
                coefficients = (0..dimension)
                    .map(|column| (0..dimension).map(|row| coefficients[row] * matrix[row * dimension + column]).sum())
                    .collect();
                let largest = coefficients.iter().fold(0.0f64, |most, c: &f64| most.max(c.abs()));
                if !(largest.is_finite() && largest > 1e-9) {
                    break;
                }
                coefficients.iter_mut().for_each(|c| *c = (*c / largest * 1e4).round() / 1e4);
                images.push(Face { coefficients: coefficients.clone(), bound: 0.0 });
            }
        }
    }
    let mut found = vec![boxes];
    if dimension <= MOST_OCTAGON && moving.len() > 1 {
        found.push(octagon);
    }
    found.push(images);
    Ok(found)
}

/// A power of two near a positive number.
fn nice(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 { 2f64.powi(value.log2().round().clamp(-60.0, 60.0) as i32) } else { 1.0 }
}

/// The loop's Jacobian at a state, row by row, by differences; nothing where it is not smooth enough to have one.
fn linearised(system: &System, at: &[f64]) -> Result<Option<Vec<f64>>, CheckError> {
    let wanted = Wanted { start: Start::Anywhere, shape: STEP, formulas: &[], beyond: Beyond::Anything };
    let question = Question::with_successor(system, wanted, &|_| Vec::new())?;
    Ok(jacobian(question.unrolled(), at)?)
}

fn jacobian(unrolled: &Unrolled, at: &[f64]) -> Result<Option<Vec<f64>>, certus_graph::GraphError> {
    let dimension = at.len();
    let mut graph = unrolled.graph.clone();
    unrolled.positions[0].next.iter().for_each(|&node| graph.output("", node));
    let evaluator = Evaluator::<f64>::new(&graph);
    let mut workspace = Workspace::default();
    let mut free: Vec<f64> = (unrolled.region.lower.iter().zip(&unrolled.region.upper))
        .map(|(low, high)| Interval { lo: low.max(-1e3), hi: high.min(1e3) })
        .map(|range| range.lo / 2.0 + range.hi / 2.0)
        .collect();
    let states = elements(unrolled, 0);
    let place = |number: usize| states[number].terms.first().map(|(place, _)| place.element);
    for (number, &value) in at.iter().enumerate() {
        if let Some(element) = place(number) {
            free[element] = value;
        }
    }
    let mut after = |free: &[f64]| -> Result<Vec<f64>, certus_graph::GraphError> {
        let slices = [free];
        evaluator.run(&mut workspace, &slices, 1)?;
        Ok((0..unrolled.positions[0].next.len())
            .flat_map(|output| evaluator.output(&workspace, &slices, output).to_vec())
            .collect())
    };
    let mut matrix = vec![0.0; dimension * dimension];
    for column in 0..dimension {
        let Some(element) = place(column) else { continue };
        let size = 1e-4 * (1.0 + free[element].abs());
        let (mut low, mut high) = (free.clone(), free.clone());
        low[element] -= size;
        high[element] += size;
        let (low, high) = (after(&low)?, after(&high)?);
        for row in 0..dimension {
            matrix[row * dimension + column] = (high[row] - low[row]) / (2.0 * size);
        }
    }
    Ok(matrix.iter().all(|value| value.is_finite()).then_some(matrix))
}
