//! What is asked of a run: conjunctions and disjunctions of truth values of the graph and of linear comparisons.

use std::collections::HashMap;

use certus_graph::{Interval, NodeId};

/// An element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) node: NodeId,
    pub(crate) element: usize,
}

/// Σ coefficient · element + constant; each number is some real in its interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<(Place, Interval)>,
    pub(crate) constant: Interval,
}

impl Sum {
    pub(crate) fn constant(value: f64) -> Sum {
        Sum { terms: Vec::new(), constant: Interval::point(value) }
    }

    pub(crate) fn element(place: Place) -> Sum {
        Sum { terms: vec![(place, Interval::ONE)], constant: Interval::ZERO }
    }

    /// self + factor · other, rounded outwards.
    pub(crate) fn add(&mut self, factor: f64, other: &Sum) {
        let factor = Interval::point(factor);
        for &(place, coefficient) in &other.terms {
            let scaled = factor * coefficient;
            match self.terms.iter_mut().find(|(own, _)| *own == place) {
                Some((_, own)) => *own = *own + scaled,
                None => self.terms.push((place, scaled)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != Interval::ZERO);
        self.constant = self.constant + factor * other.constant;
    }

    /// Contains the sum where each element lies in its interval.
    pub(crate) fn enclose(&self, value: impl Fn(Place) -> Interval) -> Interval {
        self.terms.iter().fold(self.constant, |sum, &(place, coefficient)| sum + coefficient * value(place))
    }
}

/// A formula without negation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    /// The sum is at most zero, or below zero where `strict`.
    Atom { sum: Sum, strict: bool },
    /// An element that is 0 or 1 is as wanted.
    Truth(Place, bool),
    /// All of them.
    And(Vec<Formula>),
    /// One of them.
    Or(Vec<Formula>),
}

impl Formula {
    pub(crate) const TRUE: Formula = Formula::And(Vec::new());
    pub(crate) const FALSE: Formula = Formula::Or(Vec::new());

    pub(crate) fn constant(value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Formula::And(parts) if parts.is_empty())
    }

    pub(crate) fn is_false(&self) -> bool {
        matches!(self, Formula::Or(parts) if parts.is_empty())
    }

    /// left ≤ right, or left < right; a constant where both are numbers that decide it.
    pub(crate) fn at_most(left: &Sum, right: &Sum, strict: bool) -> Formula {
        let mut sum = left.clone();
        sum.add(-1.0, right);
        let atom = Formula::Atom { sum, strict };
        atom.certainty(&|_| Interval::ENTIRE).map_or(atom, Formula::constant)
    }

    /// What is certain of it where each element lies in its interval.
    fn certainty(&self, value: &dyn Fn(Place) -> Interval) -> Option<bool> {
        let Formula::Atom { sum, strict } = self else { return None };
        let range = sum.enclose(value);
        match strict {
            true if range.hi < 0.0 => Some(true),
            true if range.lo >= 0.0 => Some(false),
            false if range.hi <= 0.0 => Some(true),
            false if range.lo > 0.0 => Some(false),
            _ => None,
        }
    }

    /// All of them, without what is trivial.
    pub(crate) fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Formula::And(own) => kept.extend(own),
                part if part.is_false() => return Formula::FALSE,
                part => kept.push(part),
            }
        }
        if kept.len() == 1 { kept.remove(0) } else { Formula::And(kept) }
    }

    /// One of them, without what is trivial.
    pub(crate) fn any(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Formula::Or(own) => kept.extend(own),
                part if part.is_true() => return Formula::TRUE,
                part => kept.push(part),
            }
        }
        if kept.len() == 1 { kept.remove(0) } else { Formula::Or(kept) }
    }

    /// The same with every leaf replaced.
    pub(crate) fn map(&self, leaf: &mut dyn FnMut(&Formula) -> Formula) -> Formula {
        match self {
            Formula::And(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| part.map(leaf)).collect();
                Formula::all(parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| part.map(leaf)).collect();
                Formula::any(parts)
            }
            own => leaf(own),
        }
    }

    /// The same without the comparisons that the ranges of elements decide.
    pub(crate) fn decided(&self, value: &dyn Fn(Place) -> Interval) -> Formula {
        self.map(&mut |leaf| leaf.certainty(value).map_or_else(|| leaf.clone(), Formula::constant))
    }

    /// The nodes that it speaks of, in the order of their first mention.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        let mut found: HashMap<NodeId, usize> = HashMap::new();
        self.atoms(&mut |place, _| {
            let next = found.len();
            found.entry(place.node).or_insert(next);
        });
        let mut nodes: Vec<(usize, NodeId)> = found.into_iter().map(|(node, order)| (order, node)).collect();
        nodes.sort_unstable();
        nodes.into_iter().map(|(_, node)| node).collect()
    }

    /// Calls `seen` with every element that a comparison speaks of, and its coefficient. Truth values must be comparisons by now.
    pub(crate) fn atoms(&self, seen: &mut dyn FnMut(Place, Interval)) {
        match self {
            Formula::Atom { sum, .. } => sum.terms.iter().for_each(|&(place, own)| seen(place, own)),
            Formula::Truth(place, _) => seen(*place, Interval::ENTIRE),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| part.atoms(seen)),
        }
    }
}
