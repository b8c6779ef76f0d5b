//! Inputs that an assertion makes equal.
//!
//! A question about two networks with the same input says so by equations between input elements. Kept as
//! constraints, they would leave the search to find points on a diagonal; taken literally, the two inputs are one. An
//! equation counts when it must hold, that is when both of its comparisons are parts of the outermost conjunction.

use std::collections::HashSet;

use certus_graph::Interval;

use crate::formula::{Atom, Formula};
use crate::vnnlib::Variable;

/// For each input element, the first one that it is equal to: itself, or an earlier one.
pub(super) fn representatives(assertion: &Formula<Variable>, inputs: usize) -> Vec<usize> {
    let parts = match assertion {
        Formula::And(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let order: HashSet<(usize, usize)> = parts.iter().filter_map(less_equal).collect();
    let mut roots: Vec<usize> = (0..inputs).collect();
    for &(a, b) in order.iter().filter(|&&(a, b)| a < b && order.contains(&(b, a))) {
        let (a, b) = (root(&mut roots, a), root(&mut roots, b));
        // The earlier one stays, in whatever order the equations are taken.
        roots[a.max(b)] = a.min(b);
    }
    (0..inputs).map(|input| root(&mut roots, input)).collect()
}

/// The inputs a and b of a comparison c·a − c·b ≤ 0 with c > 0.
fn less_equal(part: &Formula<Variable>) -> Option<(usize, usize)> {
    let Formula::Atom(Atom { linear, strict: false }) = part else { return None };
    let [(Variable::Input(a), first), (Variable::Input(b), second)] = linear.terms[..] else { return None };
    let opposite = first.lo == first.hi && second == -first && first != Interval::ZERO;
    if !opposite || linear.constant != Interval::ZERO {
        return None;
    }
    Some(if first.lo > 0.0 { (a, b) } else { (b, a) })
}

/// The end of a chain of equal elements, shortening it on the way.
fn root(roots: &mut [usize], mut element: usize) -> usize {
    while roots[element] != element {
        roots[element] = roots[roots[element]];
        element = roots[element];
    }
    element
}
