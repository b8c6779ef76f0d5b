//! Comparisons, connectives and choices.
//!
//! A truth value is a number that is 0 or 1, so connectives are polynomials. A comparison is a step of a difference at
//! zero; the comparison that is true where it is false is one minus the same step, never a step of its own, so that a
//! case split on one decides the other.

use super::layout::Row;
use super::{LARGEST_PAIRING, Lowering, Value};
use crate::ops::{Abs, Add, Compare, Op, Sub};
use crate::{GraphError, NodeId};

/// The comparison with its sides exchanged.
fn mirrored(compare: Compare) -> Compare {
    match compare {
        Compare::Less => Compare::Greater,
        Compare::LessEqual => Compare::GreaterEqual,
        Compare::Greater => Compare::Less,
        Compare::GreaterEqual => Compare::LessEqual,
        Compare::Equal | Compare::NotEqual => compare,
    }
}

impl Lowering {
    /// A comparison as steps.
    pub(super) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Result<NodeId, GraphError> {
        match compare {
            Compare::Equal => {
                let differs = self.differs(a, b)?;
                self.complement(differs)
            }
            Compare::NotEqual => self.differs(a, b),
            _ => self.step(compare, a.node, b.node),
        }
    }

    /// [a ≠ b] = [a < b] + [a > b]; for truth values |a − b|.
    fn differs(&mut self, a: Value, b: Value) -> Result<NodeId, GraphError> {
        if a.truth && b.truth {
            let difference = self.difference(a.node, b.node)?;
            return self.target.apply(Abs, &[difference]);
        }
        let less = self.step(Compare::Less, a.node, b.node)?;
        let greater = self.step(Compare::Greater, a.node, b.node)?;
        self.target.apply(Add, &[less, greater])
    }

    /// An inequality as a step of a − b.
    fn step(&mut self, compare: Compare, a: NodeId, b: NodeId) -> Result<NodeId, GraphError> {
        let exchange = self.differences.contains_key(&(b, a)) || self.is_filled(a, 0.0);
        let (compare, a, b) = if exchange { (mirrored(compare), b, a) } else { (compare, a, b) };
        let difference = self.difference(a, b)?;
        self.step_at_zero(compare, difference)
    }

    fn step_at_zero(&mut self, compare: Compare, x: NodeId) -> Result<NodeId, GraphError> {
        if let Some(&known) = self.steps.get(&(x, compare)) {
            return Ok(known);
        }
        if let Some(&opposite) = self.steps.get(&(x, compare.negated())) {
            return self.complement(opposite);
        }
        let zero = self.filled(0.0, &[])?;
        let node = self.target.apply(compare, &[x, zero])?;
        self.steps.insert((x, compare), node);
        Ok(node)
    }

    /// 1 − x.
    fn complement(&mut self, x: NodeId) -> Result<NodeId, GraphError> {
        let one = self.filled(1.0, &[])?;
        self.target.apply(Sub, &[one, x])
    }

    /// Whether an operand holds: itself if it is a truth value, else whether it differs from zero.
    fn truth(&mut self, x: Value) -> Result<NodeId, GraphError> {
        if x.truth {
            return Ok(x.node);
        }
        let zero = Value { node: self.filled(0.0, &[])?, truth: false, partial: false };
        self.differs(x, zero)
    }

    /// 1 − a.
    pub(super) fn not(&mut self, a: Value) -> Result<NodeId, GraphError> {
        let a = self.truth(a)?;
        self.complement(a)
    }

    /// a · b.
    pub(super) fn and(&mut self, a: Value, b: Value, shape: &[usize]) -> Result<NodeId, GraphError> {
        let (a, b) = (self.truth(a)?, self.truth(b)?);
        self.product(a, b, shape)
    }

    /// a + b − a · b.
    pub(super) fn or(&mut self, a: Value, b: Value, shape: &[usize]) -> Result<NodeId, GraphError> {
        let (a, b) = (self.truth(a)?, self.truth(b)?);
        let both = self.product(a, b, shape)?;
        let sum = self.target.apply(Add, &[a, b])?;
        self.target.apply(Sub, &[sum, both])
    }

    /// b + c · (a − b), arranged such that a branch which may be undefined is multiplied by its condition.
    pub(super) fn select(
        &mut self,
        condition: Value,
        a: Value,
        b: Value,
        shape: &[usize],
    ) -> Result<NodeId, GraphError> {
        let chosen = self.truth(condition)?;
        if a.partial && b.partial {
            let refused = self.refused(chosen)?;
            let (first, second) = (self.product(chosen, a.node, shape)?, self.product(refused, b.node, shape)?);
            return self.target.apply(Add, &[first, second]);
        }
        let (condition, x, base) = match b.partial {
            true => (self.refused(chosen)?, b.node, a.node),
            false => (chosen, a.node, b.node),
        };
        let change = self.difference(x, base)?;
        let change = self.product(condition, change, shape)?;
        self.sum(change, base)
    }

    /// 1 − c, as a step of its own where c is one: unlike a sum, its enclosure is exact, and zero removes a branch.
    fn refused(&mut self, chosen: NodeId) -> Result<NodeId, GraphError> {
        let node = self.target.node(chosen);
        match node.op {
            Op::Compare(compare) => {
                let inputs = node.inputs.clone();
                self.target.apply(compare.negated(), &inputs)
            }
            _ => self.complement(chosen),
        }
    }

    /// The first maximum along the last axis: for i, the product over j < i of [xᵢ > xⱼ] and over j > i of
    /// [xᵢ ≥ xⱼ] = 1 − [xⱼ > xᵢ]. `None` if there are too many pairs.
    pub(super) fn first_maximum(&mut self, x: NodeId, shape: &[usize]) -> Result<Option<NodeId>, GraphError> {
        let count: usize = shape.iter().product();
        let Some(&length) = shape.last() else { return Ok(None) };
        if length == 1 {
            return self.filled(1.0, shape).map(Some);
        }
        if count.saturating_mul(length - 1) > LARGEST_PAIRING {
            return Ok(None);
        }
        let pairs_per_line = length * (length - 1) / 2;
        // The place of the pair i < j of a line: pairs are listed by their later entry.
        let place = |line: usize, i: usize, j: usize| line * pairs_per_line + j * (j - 1) / 2 + i;
        let mut differences: Vec<Row> = Vec::new();
        for start in (0..count).step_by(length) {
            for j in 1..length {
                differences.extend((0..j).map(|i| vec![(start + j, 1.0), (start + i, -1.0)]));
            }
        }
        let pairs = differences.len();
        let differences = self.affine(vec![(x, differences)], vec![0.0; pairs], &[pairs])?;
        let later_wins = self.step_at_zero(Compare::Greater, differences)?;
        let (mut factors, mut bias): (Vec<Row>, Vec<f64>) = (Vec::new(), Vec::new());
        for element in 0..count {
            let (line, i) = (element / length, element % length);
            for j in (0..length).filter(|&j| j != i) {
                let won = if j < i { (place(line, j, i), 1.0) } else { (place(line, i, j), -1.0) };
                factors.push(vec![won]);
                bias.push(if j < i { 0.0 } else { 1.0 });
            }
        }
        let total = factors.len();
        let factors = self.affine(vec![(later_wins, factors)], bias, &[total])?;
        let groups = (0..count).map(|element| (element * (length - 1)..(element + 1) * (length - 1)).collect());
        self.products(factors, groups.collect(), shape).map(Some)
    }
}
