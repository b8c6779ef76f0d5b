//! The directions that invariants are tried with: those of a box, of an octagon, those that the loop, made linear around where
//! its runs end up, turns the property's own faces into, and what faces ask of the next state, said of the state and the
//! policies' outputs.

use certus_graph::Interval;
use certus_graph::eval::{Evaluator, Workspace};
use certus_model::proof::Face;
use certus_model::{CheckError, Nnf};
use certus_solver::Place;
use certus_solver::formula::{Formula, Linear};

use super::infer::Seen;
use super::invariant::elements;
use crate::ltl_encoding::{Beyond, Shape};
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unrolled, Unroller};

/// Variables up to which octagons are tried.
const MOST_OCTAGON: usize = 6;

/// How often the loop is applied to the property's faces.
const IMAGES: usize = 12;

const STEP: Shape = Shape { positions: 1, loop_to: None };

/// The directions of the linear comparisons of states that a property is made of.
pub fn faces_of(unroller: &Unroller<'_>, bad: &Nnf) -> Result<Vec<Face>, CheckError> {
    let formulas = [(bad, 0)];
    let wanted = Wanted {
        start: Start::Anywhere,
        shape: STEP,
        formulas: &formulas,
        beyond: Beyond::Anything,
        ends_in_error: false,
    };
    let query = RunQuery::new(unroller, wanted, &|_| Vec::new())?;
    let unrolled = query.unrolled();
    let states = elements(unrolled, 0);
    let mut faces = Vec::new();
    collect(query.formula(), &states, &mut faces);
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
pub fn templates(unroller: &Unroller<'_>, seen: &Seen, property: &[Face]) -> Result<Vec<Vec<Face>>, CheckError> {
    let system = unroller.system();
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
    if let Some(matrix) = linearised(unroller, &seen.last)? {
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
    let mut found = vec![boxes.clone()];
    if dimension <= MOST_OCTAGON && moving.len() > 1 {
        found.push(octagon);
    }
    found.push(images);
    if !system.policies.is_empty() {
        let own: Vec<&Face> = property.iter().chain(&boxes).collect();
        let ahead: Vec<Face> = fitted(seen, dimension).map_or_else(Vec::new, |step| looking_ahead(&step, &own));
        if !ahead.is_empty() {
            found.push(boxes.into_iter().chain(ahead).collect());
        }
    }
    Ok(found)
}

/// What faces ask of the state after a step, as faces of the state and the policies' outputs before it. The step is given as the
/// coefficients of these for each element of the next state.
fn looking_ahead(step: &[Vec<f64>], faces: &[&Face]) -> Vec<Face> {
    let mut found = Vec::new();
    for face in faces {
        let mut coefficients = vec![0.0; step.first().map_or(0, Vec::len)];
        for (own, row) in face.coefficients.iter().zip(step) {
            coefficients.iter_mut().zip(row).for_each(|(sum, value)| *sum += own * value);
        }
        let largest = coefficients.iter().fold(0.0f64, |most, c| most.max(c.abs()));
        coefficients.iter_mut().for_each(|c| *c = (*c / largest * 1e4).round() / 1e4);
        let face = Face { coefficients, bound: 0.0 };
        if largest.is_finite() && largest > 1e-9 && !found.contains(&face) {
            found.push(face);
        }
    }
    found
}

/// The next state as a linear function of the state and the policies' outputs: the best fit to the steps of runs.
fn fitted(seen: &Seen, dimension: usize) -> Option<Vec<Vec<f64>>> {
    let (numbers, count) = (seen.positions.first()?.len(), seen.steps.len() as f64);
    let mean = |column: usize| seen.positions.iter().map(|own| own[column]).sum::<f64>() / seen.positions.len() as f64;
    let means: Vec<f64> = (0..numbers).map(mean).collect();
    let after: Vec<f64> =
        (0..dimension).map(|row| seen.steps.iter().map(|(_, next)| next[row]).sum::<f64>() / count).collect();
    let mut normal = vec![vec![0.0; numbers + dimension]; numbers];
    for (before, next) in &seen.steps {
        let own: Vec<f64> = seen.positions[*before].iter().zip(&means).map(|(value, mean)| value - mean).collect();
        let next = next.iter().zip(&after).map(|(value, mean)| value - mean);
        let all: Vec<f64> = own.iter().copied().chain(next).collect();
        for (row, &value) in normal.iter_mut().zip(&own) {
            row.iter_mut().zip(&all).for_each(|(sum, other)| *sum += value * other);
        }
    }
    // Outputs are often nearly linear in the state: without a small weight on the diagonal, the fit would be any.
    let most = (0..numbers).map(|at| normal[at][at]).fold(0.0f64, f64::max);
    (0..numbers).for_each(|at| normal[at][at] += 1e-9 * most);
    eliminate(&mut normal)?;
    Some((0..dimension).map(|row| (0..numbers).map(|column| normal[column][numbers + row]).collect()).collect())
}

/// Solves a positive definite system with its right-hand sides to the right, in place.
fn eliminate(rows: &mut [Vec<f64>]) -> Option<()> {
    for pivot in 0..rows.len() {
        let own = rows[pivot].clone();
        if !(own[pivot].is_finite() && own[pivot] > 0.0) {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            let factor = if number == pivot { 1.0 - 1.0 / own[pivot] } else { row[pivot] / own[pivot] };
            row.iter_mut().zip(&own).for_each(|(value, above)| *value -= factor * above);
        }
    }
    Some(())
}

/// A power of two near a positive number.
fn nice(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 { 2f64.powi(value.log2().round().clamp(-60.0, 60.0) as i32) } else { 1.0 }
}

/// The loop's Jacobian at a state, row by row, by differences; nothing where it is not smooth enough to have one.
fn linearised(unroller: &Unroller<'_>, at: &[f64]) -> Result<Option<Vec<f64>>, CheckError> {
    let wanted =
        Wanted { start: Start::Anywhere, shape: STEP, formulas: &[], beyond: Beyond::Anything, ends_in_error: false };
    let query = RunQuery::with_successor(unroller, wanted, &|_| Vec::new())?;
    Ok(jacobian(query.unrolled(), at)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_of_the_next_state_is_one_of_state_and_output() {
        // x' = x / 2 + 2 u + 1 where u = x², seen at some points.
        let at = |number: usize| number as f64 / 10.0 - 1.0;
        let positions: Vec<Vec<f64>> = (0..20).map(|number| vec![at(number), at(number) * at(number)]).collect();
        let steps = positions.iter().enumerate().map(|(number, own)| (number, vec![own[0] / 2.0 + 2.0 * own[1] + 1.0]));
        let seen = Seen { steps: steps.collect(), positions, last: vec![0.0] };
        let step = fitted(&seen, 1).unwrap();
        assert!((step[0][0] - 0.5).abs() < 1e-6 && (step[0][1] - 2.0).abs() < 1e-6, "{step:?}");
        let upper = Face { coefficients: vec![1.0], bound: 0.0 };
        let faces = looking_ahead(&step, &[&upper, &upper]);
        assert_eq!(faces, [Face { coefficients: vec![0.25, 1.0], bound: 0.0 }]);
    }
}
