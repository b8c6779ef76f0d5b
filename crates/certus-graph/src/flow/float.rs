//! One solution in doubles, to nearly all of their digits: for simulation. Nothing is concluded from it.
//!
//! Smooth fields by Taylor series with the step that the last two coefficients suggest (Jorba and Zou, *A software package for the
//! numerical integration of ODEs by means of high-order Taylor methods*, 2005); others by the embedded Runge-Kutta pair of Dormand and
//! Prince (*A family of embedded Runge-Kutta formulae*, 1980), whose step control finds kinks. Both are deterministic.

use super::arithmetic::middle;
use super::program::{Instruction, Program};
use super::{Field, Function};
use crate::Interval;

/// The order of Taylor series.
const ORDER: usize = 18;
const TOLERANCE: f64 = 1e-15;
const KINK_TOLERANCE: f64 = 1e-12;
const MOST_STEPS: usize = 20_000;

/// The state after `duration`, varying inputs constant. Not a number where the solution cannot be followed.
pub fn integrate(field: &Field, state: &[f64], held: &[f64], varying: &[f64], duration: f64) -> Vec<f64> {
    let followed = followed(field, state, held, varying, &[duration]).and_then(|mut states| states.pop());
    followed.unwrap_or_else(|| vec![f64::NAN; state.len()])
}

/// The states at some instants, in their order; nothing where the solution cannot be followed so far.
pub(super) fn followed(
    field: &Field,
    state: &[f64],
    held: &[f64],
    varying: &[f64],
    instants: &[f64],
) -> Option<Vec<Vec<f64>>> {
    if !field.has_kinks() {
        return by_series(field, state, held, varying, instants);
    }
    let mut found: Vec<Vec<f64>> = Vec::with_capacity(instants.len());
    let mut now = 0.0;
    for &instant in instants {
        let from = found.last().map_or(state, Vec::as_slice);
        found.push(by_pair(field, from, held, varying, instant - now)?);
        now = instant;
    }
    Some(found)
}

/// The Taylor coefficients of one solution, as in `series.rs`, in flat tables that serve all steps. What is undefined is not a number.
struct Coefficients<'p> {
    program: &'p Program,
    /// By variable, then by order.
    states: Vec<f64>,
    /// By instruction, then by order.
    table: Vec<f64>,
}

/// Coefficients of each variable and instruction.
const ORDERS: usize = ORDER + 1;

impl<'p> Coefficients<'p> {
    fn new(program: &'p Program) -> Coefficients<'p> {
        let zeros = |count: usize| vec![0.0; count * ORDERS];
        Coefficients { program, states: zeros(program.results.len()), table: zeros(program.instructions.len()) }
    }

    /// Those of a variable.
    fn of(&self, variable: usize) -> &[f64] {
        &self.states[variable * ORDERS..][..ORDERS]
    }

    /// Those of an instruction.
    fn at(&self, place: usize) -> &[f64] {
        &self.table[place * ORDERS..][..ORDERS]
    }

    /// Fills the tables for the solution through a state; `None` where an operation has no such coefficients.
    fn fill(&mut self, state: &[f64], held: &[f64], varying: &[f64]) -> Option<()> {
        for (variable, value) in state.iter().enumerate() {
            self.states[variable * ORDERS] = *value;
        }
        for k in 0..ORDER {
            for place in 0..self.program.instructions.len() {
                self.table[place * ORDERS + k] = self.next(place, k, held, varying);
            }
            for (variable, &place) in self.program.results.iter().enumerate() {
                let value = self.table[place * ORDERS + k];
                if value.is_nan() {
                    return None;
                }
                self.states[variable * ORDERS + k + 1] = value / (k + 1) as f64;
            }
        }
        Some(())
    }

    fn next(&self, place: usize, k: usize, held: &[f64], varying: &[f64]) -> f64 {
        let constant = |value: f64| if k == 0 { value } else { 0.0 };
        // What is zero makes nothing undefined.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let applied = |function: Function, argument: usize| function.real(self.at(argument)[0]).unwrap_or(f64::NAN);
        match &self.program.instructions[place] {
            Instruction::State(i) => self.of(*i)[k],
            Instruction::Held(i) => constant(held[*i]),
            Instruction::Varying(i) => constant(varying[*i]),
            Instruction::Constant(value) => constant(middle(*value)),
            Instruction::Combine { terms, bias } => {
                let term = |(weight, argument): &(Interval, usize)| middle(*weight) * self.at(*argument)[k];
                constant(middle(*bias)) + terms.iter().map(term).sum::<f64>()
            }
            Instruction::Product(a, b) => {
                let (a, b) = (self.at(*a), self.at(*b));
                (0..=k).map(|i| product(a[i], b[k - i])).sum()
            }
            Instruction::Smooth { function, argument, .. } if k == 0 => applied(*function, *argument),
            Instruction::Smooth { argument, slope, .. } => {
                let (x, w) = (self.at(*argument), self.at(*slope));
                (1..=k).map(|i| i as f64 * product(x[i], w[k - i])).sum::<f64>() / k as f64
            }
            Instruction::Pieces { function, argument } if k == 0 => applied(*function, *argument),
            Instruction::Pieces { function, argument } => {
                let x = self.at(*argument);
                match function.piece(Interval::point(x[0])) {
                    _ if x[1..=k].iter().all(|own| *own == 0.0) => 0.0,
                    Some(slope) => product(slope, x[k]),
                    None => f64::NAN,
                }
            }
            Instruction::Select(condition, yes, no) => {
                let condition = self.at(*condition)[0];
                let chosen = if condition != 0.0 { yes } else { no };
                if condition.is_nan() { condition } else { self.at(*chosen)[k] }
            }
        }
    }
}

/// One series serves all instants within its step.
fn by_series(field: &Field, state: &[f64], held: &[f64], varying: &[f64], instants: &[f64]) -> Option<Vec<Vec<f64>>> {
    let mut x = state.to_vec();
    let duration = *instants.last()?;
    let mut now = 0.0;
    let mut found: Vec<Vec<f64>> = Vec::with_capacity(instants.len());
    let mut series = Coefficients::new(&field.program);
    for _ in 0..MOST_STEPS {
        if duration <= now {
            found.resize(instants.len(), x);
            return Some(found);
        }
        let left = duration - now;
        series.fill(&x, held, varying)?;
        let step = suggested(&x, &series).min(left);
        if step <= 1e-12 * duration && step < left {
            return None;
        }
        let after = |time: f64| -> Vec<f64> {
            let rest = |i: usize| series.of(i)[1..].iter().rev().fold(0.0, |sum, own| (sum + own) * time);
            x.iter().enumerate().map(|(i, own)| own + rest(i)).collect()
        };
        let end = if step < left { now + step } else { duration };
        while let Some(&instant) = instants.get(found.len()).filter(|&&instant| instant < end) {
            found.push(after(instant - now));
        }
        x = after(step);
        if !x.iter().all(|own| own.is_finite()) {
            return None;
        }
        now = end;
    }
    None
}

/// The step at which the last two terms are below the tolerance.
fn suggested(x: &[f64], series: &Coefficients<'_>) -> f64 {
    let size = x.iter().fold(0.0f64, |most, own| most.max(own.abs())).max(1e-3);
    let by = |k: usize| {
        let largest = (0..x.len()).fold(0.0f64, |most, i| most.max(series.of(i)[k].abs()));
        if largest == 0.0 { f64::INFINITY } else { (TOLERANCE * size / largest).powf(1.0 / k as f64) }
    };
    by(ORDER).min(by(ORDER - 1))
}

const NODES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const FOURTH: [f64; 7] =
    [5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339200.0, 187.0 / 2100.0, 1.0 / 40.0];

fn by_pair(field: &Field, state: &[f64], held: &[f64], varying: &[f64], duration: f64) -> Option<Vec<f64>> {
    let mut x = state.to_vec();
    let (mut left, mut step) = (duration, duration / 16.0);
    let smallest = 1e-9 * duration;
    for _ in 0..MOST_STEPS {
        if left <= 0.0 {
            return Some(x);
        }
        let h = step.min(left);
        let mut stages = vec![field.at(&x, held, varying)?];
        let mut reached = x.clone();
        for weights in NODES {
            reached = moved(&x, &stages, weights, h);
            stages.push(field.at(&reached, held, varying)?);
        }
        let other = moved(&x, &stages, &FOURTH, h);
        let errors = reached.iter().zip(&other).zip(&x);
        let error = errors.fold(0.0f64, |most, ((a, b), x)| most.max((a - b).abs() / (1.0 + x.abs()))) / KINK_TOLERANCE;
        if !error.is_finite() {
            return None;
        }
        if error <= 1.0 || h <= smallest {
            x = reached;
            left -= h;
        }
        let factor = if error == 0.0 { 4.0 } else { (0.9 * error.powf(-0.2)).clamp(0.2, 4.0) };
        step = (h * factor).max(smallest);
    }
    None
}

fn moved(x: &[f64], stages: &[Vec<f64>], weights: &[f64], h: f64) -> Vec<f64> {
    let along = |i: usize| weights.iter().zip(stages).map(|(weight, own)| weight * own[i]).sum::<f64>();
    x.iter().enumerate().map(|(i, own)| own + h * along(i)).collect()
}

/// The coefficients of a solution up to the highest order, by order, then by variable.
#[cfg(test)]
pub(super) fn coefficients(field: &Field, state: &[f64], held: &[f64]) -> Option<Vec<Vec<f64>>> {
    let mut series = Coefficients::new(&field.program);
    series.fill(state, held, &[])?;
    Some((0..=ORDER).map(|k| (0..state.len()).map(|i| series.of(i)[k]).collect()).collect())
}
