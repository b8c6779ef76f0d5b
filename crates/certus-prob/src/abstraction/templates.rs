//! Templates found from a system: directions along which its policy changes and its plant moves.
//!
//! Three sources give weighted directions: the rows of the network's first layer (where it bends), the gradients of score differences at
//! states of sampled runs where no action is nearly certain (where the decision is), and the rows of the plant's linear modes (which sides
//! the image of a box has, as in S. Sankaranarayanan, H. B. Sipma and Z. Manna, VMCAI 2005). Directions that are nearly parallel are merged, and the heaviest of each
//! source are taken. Any template is sound; a good one is tight.

use certus_graph::ops::Op;
use certus_numerics::Random;

use super::{Abstraction, Choice};
use crate::template_polyhedron::{HitAndRun, Polyhedron, Template};

/// Directions taken from each source.
const PER_SOURCE: usize = 1;

/// Directions closer than this cosine are one.
const ALIKE: f64 = 0.97;

/// Runs that are sampled, and their length at most.
const RUNS: usize = 64;
const LONGEST: usize = 30;

/// A direction with a weight, scaled so that every dimension counts by the width that runs visit.
type Weighted = (Vec<f64>, f64);

fn length(direction: &[f64]) -> f64 {
    direction.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The heaviest directions after alike ones are merged, none of them alike one of `taken`.
fn heaviest(mut all: Vec<Weighted>, taken: &mut Vec<Vec<f64>>) {
    all.retain(|(direction, weight)| length(direction) > 0.0 && length(direction).is_finite() && *weight > 0.0);
    for (direction, _) in &mut all {
        let own = length(direction);
        direction.iter_mut().for_each(|value| *value /= own);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..PER_SOURCE {
        // The one that most of the weight is near to.
        let support = |direction: &Vec<f64>| -> f64 {
            all.iter().map(|(other, weight)| weight * dot(direction, other).abs().powi(16)).sum()
        };
        let free = |direction: &Vec<f64>| taken.iter().all(|other| dot(direction, other).abs() < ALIKE);
        let best = all
            .iter()
            .filter(|(direction, _)| free(direction))
            .max_by(|a, b| support(&a.0).total_cmp(&support(&b.0)))
            .map(|(direction, _)| direction.clone());
        let Some(best) = best else { return };
        taken.push(best);
    }
}

/// A template for a system, from its abstraction by boxes and its initial states.
pub fn automatic(boxes: &Abstraction, initial: &Polyhedron, steps: usize, seed: u64) -> Template {
    let n = boxes.states;
    let mut walk = HitAndRun::new(initial, Random::new(seed, 0x7e41));
    let mut random = Random::new(seed, 0x7e42);
    let mut visited: Vec<Vec<f64>> = Vec::new();
    let mut points: Vec<Vec<f64>> = (0..RUNS).map(|_| walk.point()).collect();
    for _ in 0..steps.min(LONGEST) {
        visited.extend(points.iter().cloned());
        let variables: Vec<Vec<f64>> = points.iter().map(|point| boxes.with_middles(point)).collect();
        let results = boxes.sampled_steps(&variables).into_iter().zip(boxes.sampled_probabilities(&variables));
        points = results
            .filter(|((_, goal, _), _)| !goal)
            .map(|((mut next, ..), p)| next.swap_remove(Random::pick(p, random.unit())))
            .collect();
    }
    let widths: Vec<f64> = (0..n)
        .map(|i| {
            let values = visited.iter().map(|point| point[i]);
            let width = values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min);
            if width > 0.0 && width.is_finite() { width } else { 1.0 }
        })
        .collect();
    let scaled = |direction: &[f64]| -> Vec<f64> { direction.iter().zip(&widths).map(|(d, w)| d * w).collect() };
    // Axes are there anyway.
    let mut taken: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut axis = vec![0.0; n];
            axis[i] = 1.0;
            axis
        })
        .collect();
    heaviest(decision_gradients(boxes, &visited, &widths), &mut taken);
    heaviest(plant_rows(boxes).iter().map(|row| (scaled(row), 1.0)).collect(), &mut taken);
    heaviest(first_layer(boxes).iter().map(|row| (scaled(row), length(&scaled(row)))).collect(), &mut taken);
    let more: Vec<Vec<f64>> =
        taken[n..].iter().map(|direction| direction.iter().zip(&widths).map(|(d, w)| d / w).collect()).collect();
    Template::with(n, "automatic", &more)
}

/// Gradients of score differences, weighted by how undecided the policy is, by differences over a thousandth of the widths.
fn decision_gradients(boxes: &Abstraction, visited: &[Vec<f64>], widths: &[f64]) -> Vec<Weighted> {
    if !boxes.choices.iter().any(|choice| matches!(choice, Choice::Softmax(..))) {
        return Vec::new();
    }
    let at = |points: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let variables: Vec<Vec<f64>> = points.iter().map(|point| boxes.with_middles(point)).collect();
        boxes.sampled_probabilities(&variables)
    };
    let here = at(visited);
    let shifted: Vec<Vec<Vec<f64>>> = (0..widths.len())
        .map(|i| {
            let mut moved = visited.to_vec();
            moved.iter_mut().for_each(|point| point[i] += 1e-3 * widths[i]);
            at(&moved)
        })
        .collect();
    let mut found = Vec::new();
    for (place, own) in here.iter().enumerate() {
        for (number, &p) in own.iter().enumerate() {
            // Already scaled: the change over the same share of every width.
            let gradient: Vec<f64> = shifted.iter().map(|moved| moved[place][number] - p).collect();
            let weight = length(&gradient);
            found.push((gradient, weight));
        }
    }
    found
}

/// What the axes of the next state are in terms of the present one, in linear modes.
fn plant_rows(boxes: &Abstraction) -> Vec<Vec<f64>> {
    let lines = boxes.images.iter().flatten().flatten();
    lines.map(|line| line.slopes[..boxes.states].to_vec()).collect()
}

/// The rows of the first layer of the network that the scores come from.
fn first_layer(boxes: &Abstraction) -> Vec<Vec<f64>> {
    let graph = &boxes.scores;
    for node in graph.nodes() {
        let Op::Affine(affine) = &node.op else { continue };
        let of_input = node.inputs.len() == 1 && matches!(graph.node(node.inputs[0]).op, Op::Input(_));
        if of_input && affine.matrices()[0].rows() > 1 {
            let dense = affine.matrices()[0].to_dense();
            let columns = affine.matrices()[0].columns();
            return dense.chunks_exact(columns).map(|row| row[..boxes.states].to_vec()).collect();
        }
    }
    Vec::new()
}
