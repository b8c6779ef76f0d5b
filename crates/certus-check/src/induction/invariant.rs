//! Invariants: intersections of halfspaces of the state and of the policies' outputs.

use certus_graph::Interval;
use certus_solver::Place;
use certus_solver::formula::{Formula, Linear};

use crate::condition::{at_most, number, or};
use crate::unroll::Unrolled;

/// A halfspace: coefficients · (state, outputs) ≤ bound. With outputs, the states in it are those where the policy does
/// something, which need not be a convex set.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// The coefficient of each element of the state, then of each output of the policies; those that are left out are zero.
    pub coefficients: Vec<f64>,
    /// What the sum is at most.
    pub bound: f64,
}

/// The positions in all of some halfspaces (and in their declared ranges).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invariant {
    /// The halfspaces.
    pub faces: Vec<Face>,
}

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

impl Face {
    /// coefficients · numbers − bound.
    fn excess(&self, numbers: &[Linear<Place>]) -> Linear<Place> {
        let used = numbers.iter().zip(&self.coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        used.fold(Linear::constant(Interval::point(-self.bound)), |sum, (number, &coefficient)| {
            sum.plus(Interval::point(coefficient), number)
        })
    }

    /// The sum at a state, with the outputs there if these matter.
    pub fn value(&self, numbers: &[f64]) -> f64 {
        self.coefficients.iter().zip(numbers).map(|(coefficient, value)| coefficient * value).sum()
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
    /// Whether the policies' outputs matter to it, for a state of so many elements.
    pub fn reads_outputs(&self, state_len: usize) -> bool {
        self.faces.iter().any(|face| face.coefficients.iter().skip(state_len).any(|coefficient| *coefficient != 0.0))
    }

    /// That a position with these numbers lies in it.
    pub fn holds(&self, numbers: &[Linear<Place>]) -> Vec<Formula<Place>> {
        let zero = Linear::constant(Interval::point(0.0));
        self.faces.iter().map(|face| at_most(&face.excess(numbers), &zero, false)).collect()
    }

    /// That it does not.
    pub fn fails(&self, numbers: &[Linear<Place>]) -> Formula<Place> {
        let zero = Linear::constant(Interval::point(0.0));
        or(self.faces.iter().map(|face| at_most(&zero, &face.excess(numbers), true)).collect())
    }

    /// A box of states without what single halfspaces of one element cut off; nothing if nothing is left.
    pub fn narrowed(&self, state: &[Interval]) -> Option<Vec<Interval>> {
        let mut narrow = state.to_vec();
        for face in &self.faces {
            let mut used = face.coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
            let (Some((element, &coefficient)), None) = (used.next(), used.next()) else { continue };
            let Some(range) = narrow.get_mut(element) else { continue };
            let end = Interval::point(face.bound) / Interval::point(coefficient);
            let half = if coefficient > 0.0 {
                Interval { lo: f64::NEG_INFINITY, hi: end.hi }
            } else {
                Interval { lo: end.lo, hi: f64::INFINITY }
            };
            *range = range.intersection(half)?;
        }
        Some(narrow)
    }

    /// Whether a position with these numbers lies in it.
    pub fn contains(&self, numbers: &[f64]) -> bool {
        self.faces.iter().all(|face| face.value(numbers) <= face.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_narrowed_by_halfspaces_of_one_element() {
        let face = |coefficients: &[f64], bound: f64| Face { coefficients: coefficients.to_vec(), bound };
        let state = [Interval::new(-4.0, 4.0), Interval::new(-4.0, 4.0)];
        // The third is about an output of a policy, the last about both elements.
        let faces =
            vec![face(&[2.0, 0.0], 2.0), face(&[0.0, -1.0], 3.0), face(&[0.0, 0.0, 1.0], 0.0), face(&[1.0, 1.0], 0.0)];
        let narrow = Invariant { faces }.narrowed(&state).unwrap();
        assert_eq!(narrow, [Interval::new(-4.0, 1.0), Interval::new(-3.0, 4.0)]);
        assert_eq!(Invariant { faces: vec![face(&[1.0, 0.0], -5.0)] }.narrowed(&state), None);
    }
}
