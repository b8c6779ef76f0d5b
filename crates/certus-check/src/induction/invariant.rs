//! Invariants: intersections of halfspaces of the state and of the policies' outputs.

use certus_graph::Interval;
use certus_model::proof::{Face, Invariant};
use certus_solver::Place;
use certus_solver::formula::{Formula, Linear};

use crate::condition::{at_most, number, or};
use crate::unroll::Unrolled;

/// The elements of the state at a position, as numbers of the unrolled loop.
pub fn elements(unrolled: &Unrolled, position: usize) -> Vec<Linear<Place>> {
    numbers(unrolled, &unrolled.positions[position].states)
}

/// The elements of the state at a position, then the outputs of the policies there.
pub fn observed(unrolled: &Unrolled, position: usize) -> Vec<Linear<Place>> {
    let mut all = elements(unrolled, position);
    all.extend(numbers(unrolled, &unrolled.positions[position].policies));
    all
}

/// The elements of the state after a position.
pub fn successors(unrolled: &Unrolled, position: usize) -> Vec<Linear<Place>> {
    numbers(unrolled, &unrolled.positions[position].next)
}

fn numbers(unrolled: &Unrolled, nodes: &[certus_graph::NodeId]) -> Vec<Linear<Place>> {
    let graph = &unrolled.graph;
    let places = nodes.iter().flat_map(|&node| (0..graph.elements(node)).map(move |element| Place { node, element }));
    places.map(|place| number(graph, place)).collect()
}

/// coefficients · numbers − bound.
fn excess(face: &Face, numbers: &[Linear<Place>]) -> Linear<Place> {
    let used = numbers.iter().zip(&face.coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
    used.fold(Linear::constant(Interval::point(-face.bound)), |sum, (number, &coefficient)| {
        sum.plus(Interval::point(coefficient), number)
    })
}

/// That a position with these numbers lies in an invariant.
pub fn holds(invariant: &Invariant, numbers: &[Linear<Place>]) -> Vec<Formula<Place>> {
    let zero = Linear::constant(Interval::point(0.0));
    invariant.faces.iter().map(|face| at_most(&excess(face, numbers), &zero, false)).collect()
}

/// That a position with these numbers does not lie in an invariant.
pub fn fails(invariant: &Invariant, numbers: &[Linear<Place>]) -> Formula<Place> {
    let zero = Linear::constant(Interval::point(0.0));
    or(invariant.faces.iter().map(|face| at_most(&zero, &excess(face, numbers), true)).collect())
}
