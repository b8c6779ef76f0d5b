//! The curves: elementwise functions of one argument, as they appear in lowered graphs.

use certus_graph::ops::{Clip, Compare, Op};
use certus_graph::{Graph, Interval, Node, NodeId};

use super::functions::Smooth;
use super::piecewise_linear::PiecewiseLinear;
use super::{Alpha, Sides};

/// An elementwise function of one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    PiecewiseLinear(PiecewiseLinear),
    Smooth(Smooth),
}

impl Curve {
    /// The curve that a node is, and its argument.
    pub(crate) fn of(graph: &Graph, node: &Node) -> Option<(Curve, NodeId)> {
        let known = |position: usize| single_value(graph, *node.inputs.get(position)?);
        let piecewise = |curve| (Curve::PiecewiseLinear(curve), 0);
        let smooth = |curve| (Curve::Smooth(curve), 0);
        let (curve, position) = match &node.op {
            Op::Relu(_) => piecewise(PiecewiseLinear::Relu),
            Op::LeakyRelu(op) => piecewise(PiecewiseLinear::LeakyRelu(op.alpha)),
            Op::Clip(Clip { lower, upper }) => piecewise(PiecewiseLinear::Clip { lower: *lower, upper: *upper }),
            Op::Abs(_) => piecewise(PiecewiseLinear::Abs),
            Op::Floor(_) => piecewise(PiecewiseLinear::Floor),
            Op::Compare(compare) if known(1) == Some(0.0) => piecewise(step(*compare)),
            Op::Pow(_) => smooth(Smooth::Power(known(1)?)),
            Op::Div(_) if known(0) == Some(1.0) => (Curve::Smooth(Smooth::Reciprocal), 1),
            op => smooth(Smooth::of(op)?),
        };
        let argument = node.inputs[position];
        let aligned = graph.elements(argument) == node.shape.iter().product::<usize>();
        aligned.then_some((curve, argument))
    }

    /// Whether the curve is affine over the range, so that nothing is gained by a smaller one.
    pub(crate) fn is_linear(&self, x: Interval) -> bool {
        x.lo == x.hi
            || match self {
                Curve::PiecewiseLinear(piecewise) => piecewise.is_linear(x),
                Curve::Smooth(smooth) => smooth.is_linear(),
            }
    }

    /// The alpha where a certificate names none.
    pub(crate) fn default_alpha(&self, x: Interval) -> Alpha {
        match self {
            Curve::PiecewiseLinear(piecewise) => piecewise.default_alpha(x),
            Curve::Smooth(smooth) => smooth.default_alpha(x),
        }
    }

    /// Lines below and above the curve for arguments in `x`, where its value is known to lie in `value`.
    pub(crate) fn sides(&self, x: Interval, value: Interval, alpha: Alpha) -> Sides {
        if x.lo == x.hi {
            return Sides::constants(value);
        }
        let sides = match self {
            Curve::PiecewiseLinear(piecewise) => piecewise.sides(x, value, alpha),
            Curve::Smooth(smooth) => smooth.sides(x, value, alpha),
        };
        Sides { lower: sides.lower.or_constant(value.lo), upper: sides.upper.or_constant(value.hi) }
    }
}

/// The value of a constant all of whose elements are exactly equal.
fn single_value(graph: &Graph, id: NodeId) -> Option<f64> {
    let values = graph.constant_value(id)?.data();
    let &first = values.first()?;
    values.iter().all(|&value| value == first).then_some(first)
}

/// A comparison with zero, by its values below, at and above zero.
fn step(compare: Compare) -> PiecewiseLinear {
    let (below, at, above) = match compare {
        Compare::Less => (1.0, 0.0, 0.0),
        Compare::LessEqual => (1.0, 1.0, 0.0),
        Compare::Greater => (0.0, 0.0, 1.0),
        Compare::GreaterEqual => (0.0, 1.0, 1.0),
        Compare::Equal => (0.0, 1.0, 0.0),
        Compare::NotEqual => (1.0, 0.0, 1.0),
    };
    PiecewiseLinear::Step { below, at, above }
}
