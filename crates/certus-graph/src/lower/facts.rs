//! What is known of a node before it is lowered: whether it is a truth value, whether it may be undefined.

use super::{Lowering, Value};
use crate::ops::{Affine, Op, Quantity, ReduceKind};

/// Whether a node has only the values 0 and 1, given what is known of its arguments.
pub(super) fn is_truth(op: &Op, args: &[Value]) -> bool {
    let all = || args.iter().all(|arg| arg.truth);
    match op {
        Op::Compare(_) | Op::Not(_) | Op::And(_) | Op::Or(_) | Op::ArgMax(_) => true,
        Op::Throughout(own) => own.quantity == Quantity::Truth,
        Op::Constant(constant) => constant.is_exact() && constant.value().data().iter().all(|&x| x == 0.0 || x == 1.0),
        Op::Max(_) | Op::Min(_) | Op::Mul(_) | Op::MaxPool(_) => all(),
        Op::Reduce(reduce) => !matches!(reduce.kind, ReduceKind::Sum | ReduceKind::Mean) && all(),
        Op::Concat(_) | Op::Slice(_) | Op::Gather(_) | Op::Reshape(_) | Op::Transpose(_) => all(),
        Op::Select(_) => args[1..].iter().all(|arg| arg.truth),
        Op::Affine(affine) => all() && chooses_or_negates(affine),
        _ => false,
    }
}

/// Whether each row of the map is x, 1 − x, 0 or 1.
fn chooses_or_negates(affine: &Affine) -> bool {
    affine.error().is_none()
        && affine.bias().iter().enumerate().all(|(row, &bias)| {
            let mut weights =
                affine.matrices().iter().flat_map(|matrix| matrix.row(row)).map(|(_, w)| w).filter(|&w| w != 0.0);
            match (weights.next(), weights.next()) {
                (None, _) => bias == 0.0 || bias == 1.0,
                (Some(weight), None) => weight == 1.0 && bias == 0.0 || weight == -1.0 && bias == 1.0,
                _ => false,
            }
        })
}

impl Lowering {
    /// Whether a node may be undefined somewhere, itself or through its arguments.
    pub(super) fn is_partial(&self, op: &Op, args: &[Value]) -> bool {
        let own = match op {
            Op::Log(_) | Op::Sqrt(_) | Op::Flow(_) | Op::Throughout(_) => true,
            Op::Div(_) => match &self.target.node(args[1].node).op {
                Op::Constant(divisor) => (0..divisor.value().len()).any(|i| divisor.interval(i).contains(0.0)),
                _ => true,
            },
            Op::Pow(_) => match self.target.constant_value(args[1].node) {
                Some(exponents) => exponents.data().iter().any(|e| *e < 0.0 || e.fract() != 0.0),
                None => true,
            },
            _ => false,
        };
        own || args.iter().any(|arg| arg.partial)
    }
}
