//! Elementwise functions of one variable that have lines.

use certus_graph::ops::{self, Binary, Compare, Op, Unary};
use certus_graph::{Graph, Interval, NodeId};

use super::periodic::Wave;
use super::power::Power;
use super::smooth::{Curvature, Smooth};
use super::steps::Step;
use super::{Alpha, Line, Relaxation, clip, formulas, relu, smooth, steps};

/// A function of one variable, applied to each element of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    Relu,
    LeakyRelu(f64),
    Clip {
        lower: f64,
        upper: f64,
    },
    Tanh,
    Sigmoid,
    Elu(f64),
    Softplus,
    Abs,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Floor,
    /// A constant exponent.
    Power(f64),
    Reciprocal,
    /// A comparison with zero, by its values there and on both sides.
    Step {
        below: f64,
        at: f64,
        above: f64,
    },
}

impl Curve {
    /// The curve that a node applies, and the node that it reads.
    pub(crate) fn of(graph: &Graph, id: NodeId) -> Option<(Curve, NodeId)> {
        let node = graph.node(id);
        let first = *node.inputs.first()?;
        let curve = match &node.op {
            Op::Relu(_) => Curve::Relu,
            Op::LeakyRelu(leaky) => Curve::LeakyRelu(leaky.alpha),
            Op::Clip(clip) => Curve::Clip { lower: clip.lower, upper: clip.upper },
            Op::Tanh(_) => Curve::Tanh,
            Op::Sigmoid(_) => Curve::Sigmoid,
            Op::Elu(elu) => Curve::Elu(elu.alpha),
            Op::Softplus(_) => Curve::Softplus,
            Op::Abs(_) => Curve::Abs,
            Op::Sqrt(_) => Curve::Sqrt,
            Op::Exp(_) => Curve::Exp,
            Op::Log(_) => Curve::Log,
            Op::Sin(_) => Curve::Sin,
            Op::Cos(_) => Curve::Cos,
            Op::Floor(_) => Curve::Floor,
            Op::Pow(_) | Op::Div(_) | Op::Compare(_) => {
                let (curve, argument) = binary(graph, &node.op, &node.inputs)?;
                // Without broadcasting, so that elements correspond.
                return (graph.elements(argument) == graph.elements(id)).then_some((curve, argument));
            }
            _ => return None,
        };
        Some((curve, first))
    }

    /// The value in floats.
    pub(crate) fn value(&self, x: f64) -> f64 {
        match *self {
            Curve::Relu => ops::Relu.real(x),
            Curve::LeakyRelu(slope) => ops::LeakyRelu { alpha: slope }.real(x),
            Curve::Clip { lower, upper } => ops::Clip { lower, upper }.real(x),
            Curve::Tanh => ops::Tanh.real(x),
            Curve::Sigmoid => ops::Sigmoid.real(x),
            Curve::Elu(alpha) => ops::Elu { alpha }.real(x),
            Curve::Softplus => ops::Softplus.real(x),
            Curve::Abs => ops::Abs.real(x),
            Curve::Sqrt => ops::Sqrt.real(x),
            Curve::Exp => ops::Exp.real(x),
            Curve::Log => ops::Log.real(x),
            Curve::Sin => ops::Sin.real(x),
            Curve::Cos => ops::Cos.real(x),
            Curve::Floor => ops::Floor.real(x),
            Curve::Power(exponent) => ops::Pow.real(x, exponent),
            Curve::Reciprocal => 1.0 / x,
            Curve::Step { below, at, above } => pick(x, below, at, above),
        }
    }

    /// A derivative in floats: any subgradient at breakpoints, zero for steps.
    pub(crate) fn slope(&self, x: f64) -> f64 {
        match *self {
            Curve::Relu => pick(x, 0.0, 0.0, 1.0),
            Curve::LeakyRelu(slope) => pick(x, slope, 1.0, 1.0),
            Curve::Abs => pick(x, -1.0, 0.0, 1.0),
            Curve::Clip { lower, upper } => f64::from(u8::from(lower < x && x < upper)),
            Curve::Tanh => 1.0 - x.tanh().powi(2),
            Curve::Sigmoid => {
                let y = self.value(x);
                y * (1.0 - y)
            }
            Curve::Elu(alpha) => {
                if x < 0.0 {
                    alpha * x.exp()
                } else {
                    1.0
                }
            }
            Curve::Softplus => ops::Sigmoid.real(x),
            Curve::Sqrt => 0.5 / x.sqrt(),
            Curve::Exp => x.exp(),
            Curve::Log => 1.0 / x,
            Curve::Sin => x.cos(),
            Curve::Cos => -x.sin(),
            Curve::Power(exponent) => exponent * x.powf(exponent - 1.0),
            Curve::Reciprocal => -1.0 / (x * x),
            Curve::Floor | Curve::Step { .. } => 0.0,
        }
    }

    /// Every value over a range.
    #[inline]
    pub(crate) fn enclose(&self, x: Interval) -> Interval {
        match *self {
            Curve::Relu => Interval { lo: x.lo.max(0.0), hi: x.hi.max(0.0) },
            Curve::LeakyRelu(slope) => ops::LeakyRelu { alpha: slope }.interval(x),
            Curve::Clip { lower, upper } => ops::Clip { lower, upper }.interval(x),
            Curve::Tanh => x.tanh(),
            Curve::Sigmoid => x.sigmoid(),
            Curve::Elu(alpha) => ops::Elu { alpha }.interval(x),
            Curve::Softplus => x.softplus(),
            Curve::Abs => x.abs(),
            Curve::Sqrt => x.sqrt(),
            Curve::Exp => x.exp(),
            Curve::Log => x.ln(),
            Curve::Sin => x.sin(),
            Curve::Cos => x.cos(),
            Curve::Floor => x.floor(),
            Curve::Power(exponent) => x.pow(Interval::point(exponent)),
            Curve::Reciprocal => Interval::ONE / x,
            Curve::Step { below, at, above } => Step { below, at, above }.range(x),
        }
    }

    /// Whether the function is exactly affine over a range.
    #[inline]
    pub(crate) fn is_linear(&self, x: Interval) -> bool {
        if x.lo == x.hi {
            return true;
        }
        match *self {
            Curve::Relu | Curve::LeakyRelu(_) | Curve::Abs => x.lo >= 0.0 || x.hi <= 0.0,
            Curve::Clip { lower, upper } => clip::is_linear(lower, upper, x),
            Curve::Elu(alpha) => x.lo >= 0.0 || alpha == 0.0 && x.hi <= 0.0,
            Curve::Power(exponent) => Power(exponent).is_linear(),
            Curve::Floor | Curve::Step { .. } => {
                let range = self.enclose(x);
                range.lo == range.hi
            }
            _ => false,
        }
    }

    /// The alpha to begin with.
    #[inline]
    pub(crate) fn default_alpha(&self, x: Interval) -> Alpha {
        match *self {
            Curve::Relu | Curve::LeakyRelu(_) | Curve::Abs => relu::default_alpha(x),
            Curve::Clip { lower, upper } => clip::default_alpha(lower, upper, x),
            Curve::Step { below, at, above } => Step { below, at, above }.default_alpha(x),
            Curve::Floor => steps::floor_alpha(x),
            _ => {
                let curvature = self.curvature(x).filter(|_| x.lo.is_finite() && x.hi.is_finite());
                let alpha = curvature
                    .and_then(|curvature| self.smooth(|function| smooth::default_alpha(function, curvature, x)));
                alpha.unwrap_or(Alpha { lower: 0.5, upper: 0.5 })
            }
        }
    }

    /// Relaxation with the default alpha: one search for both, where the default has to be searched for.
    #[inline]
    pub(crate) fn default_relaxation(&self, x: Interval) -> Relaxation {
        self.lines(x, Alpha { lower: f64::NAN, upper: f64::NAN })
    }

    /// Relaxation below and above over a range, for any alpha: numbers outside [0, 1] are clamped, what is no number is the
    /// default.
    #[inline]
    pub(crate) fn lines(&self, x: Interval, alpha: Alpha) -> Relaxation {
        if x.lo.is_finite()
            && x.hi.is_finite()
            && x.lo <= x.hi
            && let Some(lines) = self.finite_relaxation(x, alpha)
        {
            return lines.or_constants(|| self.enclose(x));
        }
        Relaxation::constants(if x.lo <= x.hi { self.enclose(x) } else { Interval::ENTIRE })
    }

    /// One of the lines of [`Curve::lines`], below or above, for a share in [0, 1]; cheaper than both where they are searched for.
    pub(crate) fn line(&self, x: Interval, below: bool, share: f64) -> Line {
        if x.lo.is_finite()
            && x.hi.is_finite()
            && x.lo <= x.hi
            && let Some(curvature) = self.curvature(x)
            && let Some(line) =
                self.smooth(|function| smooth::line(function, curvature, x, below, share.clamp(0.0, 1.0)))
            && line.slope.is_finite()
            && line.offset.is_finite()
        {
            return line;
        }
        self.lines(x, Alpha { lower: share, upper: share }).side(below)
    }

    #[inline]
    fn finite_relaxation(&self, x: Interval, alpha: Alpha) -> Option<Relaxation> {
        if let Curve::Relu = self {
            // By far the most frequent one.
            return Some(relu::lines(0.0, x, alpha.clamped(|| relu::default_alpha(x))));
        }
        if let Some(curvature) = self.curvature(x) {
            // The search for the default is part of the search for the lines: what is no number stays so.
            return self.smooth(|function| smooth::lines(function, curvature, x, alpha.clamped(|| alpha)));
        }
        let alpha = alpha.clamped(|| self.default_alpha(x));
        Some(match *self {
            Curve::Abs => relu::lines(-1.0, x, alpha),
            Curve::LeakyRelu(slope) if slope.is_finite() => relu::lines(slope, x, alpha),
            Curve::Clip { lower, upper } => clip::lines(lower, upper, x, alpha),
            Curve::Step { below, at, above } => Step { below, at, above }.lines(x, alpha),
            Curve::Floor => steps::floor_relaxation(x, alpha),
            Curve::Elu(_) if x.lo >= 0.0 => Relaxation::IDENTITY,
            Curve::Power(1.0) => Relaxation::IDENTITY,
            Curve::Power(0.0) => Relaxation::both(0.0, 1.0),
            _ => return None,
        })
    }

    /// Does something with the curve as a smooth function, if it is one.
    fn smooth<R>(&self, then: impl FnOnce(&dyn Smooth) -> R) -> Option<R> {
        Some(match *self {
            Curve::Tanh => then(&formulas::Tanh),
            Curve::Sigmoid => then(&formulas::Sigmoid),
            Curve::Elu(alpha) => then(&formulas::Elu(alpha)),
            Curve::Softplus => then(&formulas::Softplus),
            Curve::Sqrt => then(&formulas::Sqrt),
            Curve::Exp => then(&formulas::Exp),
            Curve::Log => then(&formulas::Log),
            Curve::Sin => then(&Wave::Sine),
            Curve::Cos => then(&Wave::Cosine),
            Curve::Power(exponent) => then(&Power(exponent)),
            Curve::Reciprocal => then(&formulas::Reciprocal),
            _ => return None,
        })
    }

    /// How a smooth curve bends over a range, if in one of the ways that have lines.
    pub(super) fn curvature(&self, x: Interval) -> Option<Curvature> {
        match *self {
            Curve::Tanh | Curve::Sigmoid => Some(formulas::sigmoidal_curvature(x)),
            Curve::Elu(alpha) => (alpha.is_finite() && x.lo < 0.0).then(|| formulas::Elu(alpha).curvature(x)),
            Curve::Softplus | Curve::Exp => Some(Curvature::Convex),
            Curve::Sqrt => (x.lo >= 0.0).then_some(Curvature::Concave),
            Curve::Log => (x.lo >= 0.0 && x.hi > 0.0).then_some(Curvature::Concave),
            Curve::Sin => Wave::Sine.curvature(x),
            Curve::Cos => Wave::Cosine.curvature(x),
            Curve::Power(exponent) => Power(exponent).curvature(x),
            Curve::Reciprocal => formulas::Reciprocal::curvature(x),
            _ => None,
        }
    }

    /// Where cutting the range helps most, strictly inside it.
    pub(crate) fn split_point(&self, x: Interval) -> Option<f64> {
        if self.is_linear(x) {
            return None;
        }
        let inside = |at: f64| (x.lo < at && at < x.hi && at.is_finite()).then_some(at);
        let middle = x.lo / 2.0 + x.hi / 2.0;
        let wanted = match *self {
            Curve::Relu | Curve::LeakyRelu(_) | Curve::Abs | Curve::Step { .. } => 0.0,
            Curve::Clip { lower, upper } => clip::split_point(lower, upper, x)?,
            Curve::Floor => middle.round(),
            _ if !(x.lo.is_finite() && x.hi.is_finite()) => 0.0,
            _ => self
                .curvature(x)
                .and_then(|curvature| self.smooth(|function| smooth::split_point(function, curvature, x)))
                // A pole: apart, both sides have lines.
                .unwrap_or(if x.contains(0.0) { 0.0 } else { middle }),
        };
        inside(wanted).or(inside(middle))
    }

    /// A rough largest distance between the two default lines.
    pub(crate) fn gap(&self, x: Interval) -> f64 {
        let lines = self.default_relaxation(x);
        let distance =
            |at: f64| (lines.upper_slope - lines.lower_slope) * at + (lines.upper_offset - lines.lower_offset);
        let gap = if x.lo.is_finite() && x.hi.is_finite() { distance(x.lo).max(distance(x.hi)) } else { f64::INFINITY };
        if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
    }
}

fn pick(x: f64, below: f64, at: f64, above: f64) -> f64 {
    if x < 0.0 {
        below
    } else if x > 0.0 {
        above
    } else {
        at
    }
}

/// Curves that are written as operators of two arguments, one of them constant.
fn binary(graph: &Graph, op: &Op, inputs: &[NodeId]) -> Option<(Curve, NodeId)> {
    let &[first, second] = inputs else { return None };
    // The one value of a constant whose elements are all equal.
    let uniform = |id: NodeId| {
        let data = graph.constant_value(id)?.data();
        let value = *data.first()?;
        data.iter().all(|&other| other == value).then_some(value)
    };
    match (op, uniform(first), uniform(second)) {
        (Op::Pow(_), None, Some(exponent)) => Some((Curve::Power(exponent), first)),
        (Op::Div(_), Some(1.0), None) => Some((Curve::Reciprocal, second)),
        (Op::Compare(compare), None, Some(0.0)) => Some((step(*compare, |x| (x, 0.0)), first)),
        (Op::Compare(compare), Some(0.0), None) => Some((step(*compare, |x| (0.0, x)), second)),
        _ => None,
    }
}

pub(super) fn step(compare: Compare, sides: fn(f64) -> (f64, f64)) -> Curve {
    let value = |x: f64| {
        let (a, b) = sides(x);
        compare.real(a, b)
    };
    Curve::Step { below: value(-1.0), at: value(0.0), above: value(1.0) }
}
