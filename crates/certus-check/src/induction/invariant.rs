//! Invariants: intersections of halfspaces of the state.

use certus_graph::Interval;
use certus_solver::Place;
use certus_solver::formula::{Formula, Linear};

use crate::condition::{at_most, number, or};
use crate::unroll::Unrolled;

/// A halfspace: coefficients · state ≤ bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// The coefficient of each element of the state.
    pub coefficients: Vec<f64>,
    /// What the sum is at most.
    pub bound: f64,
}

/// The states in all of some halfspaces (and in their declared ranges).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invariant {
    /// The halfspaces.
    pub faces: Vec<Face>,
}

/// The elements of the state at a position, as numbers of the unrolled loop.
pub fn elements(unrolled: &Unrolled, position: usize) -> Vec<Linear<Place>> {
    numbers(unrolled, &unrolled.positions[position].states)
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

impl Face {
    /// coefficients · state − bound.
    fn excess(&self, state: &[Linear<Place>]) -> Linear<Place> {
        let used = state.iter().zip(&self.coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        used.fold(Linear::constant(Interval::point(-self.bound)), |sum, (number, &coefficient)| {
            sum.plus(Interval::point(coefficient), number)
        })
    }

    /// The sum at a state.
    pub fn value(&self, state: &[f64]) -> f64 {
        self.coefficients.iter().zip(state).map(|(coefficient, value)| coefficient * value).sum()
    }

    /// In words, with the names of the elements.
    pub fn text(&self, names: &[String]) -> String {
        format!("{} <= {}", linear_text(&self.coefficients, names), self.bound)
    }
}

/// A linear function in words.
pub fn linear_text(coefficients: &[f64], names: &[String]) -> String {
    let mut text = String::new();
    for (coefficient, name) in coefficients.iter().zip(names).filter(|(coefficient, _)| **coefficient != 0.0) {
        let sign = if *coefficient < 0.0 { "-" } else { "+" };
        match (text.is_empty(), sign) {
            (true, "-") => text.push('-'),
            (true, _) => {}
            (false, sign) => text.push_str(&format!(" {sign} ")),
        }
        match coefficient.abs() {
            1.0 => text.push_str(name),
            size => text.push_str(&format!("{size} * {name}")),
        }
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

impl Invariant {
    /// That a state lies in it.
    pub fn holds(&self, state: &[Linear<Place>]) -> Vec<Formula<Place>> {
        let zero = Linear::constant(Interval::point(0.0));
        self.faces.iter().map(|face| at_most(&face.excess(state), &zero, false)).collect()
    }

    /// That a state does not.
    pub fn fails(&self, state: &[Linear<Place>]) -> Formula<Place> {
        let zero = Linear::constant(Interval::point(0.0));
        or(self.faces.iter().map(|face| at_most(&zero, &face.excess(state), true)).collect())
    }

    /// Whether a state lies in it.
    pub fn contains(&self, state: &[f64]) -> bool {
        self.faces.iter().all(|face| face.value(state) <= face.bound)
    }
}
