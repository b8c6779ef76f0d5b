//! Curves: elementwise functions of one variable that have linear relaxations.
//!
//! Most are activation functions, which say themselves what they are like (`certus_graph::ops::activation`): the relaxation
//! follows from their family, or from where they are convex and concave. The rest are operators of two arguments of which
//! one is constant: powers, reciprocals, comparisons with zero.

use certus_graph::ops::{self, Activation, Binary, Compare, Curvature, Family, Op, Smooth};
use certus_graph::{Graph, Interval, NodeId};

use super::power::{Power, Reciprocal};
use super::steps::Step;
use super::{Alpha, Line, Relaxation, clip, relu, smooth, steps};

/// A function of one variable, applied to each element of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// An activation function.
    Activation(Activation),
    /// A constant exponent.
    Power(f64),
    /// 1 / x.
    Reciprocal,
    /// A comparison with zero, by its values there and on both sides.
    Step {
        /// Where the argument is negative.
        below: f64,
        /// Where it is zero.
        at: f64,
        /// Where it is positive.
        above: f64,
    },
}

impl<A: Into<Activation>> From<A> for Curve {
    fn from(activation: A) -> Curve {
        Curve::Activation(activation.into())
    }
}

impl Curve {
    /// The curve that a node applies, and the node that it reads.
    pub(crate) fn of(graph: &Graph, id: NodeId) -> Option<(Curve, NodeId)> {
        let node = graph.node(id);
        if let Some(activation) = node.op.activation() {
            return Some((Curve::Activation(activation), *node.inputs.first()?));
        }
        let (curve, argument) = binary(graph, &node.op, &node.inputs)?;
        // Without broadcasting, so that elements correspond.
        (graph.elements(argument) == graph.elements(id)).then_some((curve, argument))
    }

    /// Whether this is max(x, 0), by far the most frequent curve.
    #[inline]
    pub(crate) fn is_relu(&self) -> bool {
        matches!(self, Curve::Activation(Activation::Relu(_)))
    }

    /// Its family, by which it is relaxed; nothing for steps.
    #[inline]
    pub fn family(&self) -> Option<Family> {
        match self {
            Curve::Activation(activation) => Some(activation.family()),
            Curve::Power(_) | Curve::Reciprocal => Some(Family::Smooth),
            Curve::Step { .. } => None,
        }
    }

    /// The value in floats.
    pub fn value(&self, x: f64) -> f64 {
        match *self {
            Curve::Activation(activation) => activation.value(x),
            Curve::Power(exponent) => ops::Pow.real(x, exponent),
            Curve::Reciprocal => 1.0 / x,
            Curve::Step { below, at, above } => pick(x, below, at, above),
        }
    }

    /// A derivative in floats: any subgradient at breakpoints, zero for steps.
    pub(crate) fn slope(&self, x: f64) -> f64 {
        match *self {
            Curve::Activation(activation) => activation.derivative(x),
            Curve::Power(exponent) => exponent * x.powf(exponent - 1.0),
            Curve::Reciprocal => -1.0 / (x * x),
            Curve::Step { .. } => 0.0,
        }
    }

    /// Every difference quotient over a range; nothing if they are unbounded or not known.
    pub(crate) fn slopes(&self, x: Interval) -> Option<Interval> {
        match *self {
            Curve::Activation(activation) => activation.derivative_range(x),
            Curve::Power(2.0) => Some(Interval::point(2.0) * x),
            Curve::Power(3.0) => Some(Interval::point(3.0) * x.powi(2)),
            Curve::Step { .. } => {
                let values = self.enclose(x);
                (values.lo == values.hi).then_some(Interval::ZERO)
            }
            Curve::Power(_) | Curve::Reciprocal => None,
        }
    }

    /// Every value over a range.
    #[inline]
    pub fn enclose(&self, x: Interval) -> Interval {
        match *self {
            Curve::Activation(Activation::Relu(_)) => Interval { lo: x.lo.max(0.0), hi: x.hi.max(0.0) },
            Curve::Activation(activation) => activation.enclose(x),
            Curve::Power(exponent) => x.pow(Interval::point(exponent)),
            Curve::Reciprocal => Interval::ONE / x,
            Curve::Step { below, at, above } => Step { below, at, above }.range(x),
        }
    }

    /// Whether finitely many splits make the curve linear, and nothing jumps.
    pub(crate) fn is_piecewise_linear(&self) -> bool {
        matches!(self.family(), Some(Family::Breakpoint { .. } | Family::Clip { .. }))
    }

    /// Whether the curve is linear on some range, so that narrower bounds can make it stable.
    pub(crate) fn has_linear_piece(&self) -> bool {
        match self.family() {
            Some(Family::Smooth) => self.smooth(|function| function.has_breakpoint()).unwrap_or(false),
            _ => true,
        }
    }

    /// Whether a ReLU or a clip hands its argument on over a range.
    #[inline]
    pub(crate) fn hands_on(&self, x: Interval) -> bool {
        match self.family() {
            Some(Family::Breakpoint { negative_slope: 0.0 }) => x.lo >= 0.0,
            Some(Family::Clip { lower, upper }) => lower <= x.lo && x.hi <= upper,
            _ => false,
        }
    }

    /// Whether the function is exactly affine over a range: whether the neuron is stable.
    #[inline]
    pub fn is_linear(&self, x: Interval) -> bool {
        if x.lo == x.hi {
            return true;
        }
        match (self.family(), self) {
            (Some(Family::Breakpoint { .. }), _) => x.lo >= 0.0 || x.hi <= 0.0,
            (Some(Family::Clip { lower, upper }), _) => clip::is_linear(lower, upper, x),
            (Some(Family::Smooth), Curve::Activation(activation)) => activation.is_linear(x),
            (Some(Family::Smooth), Curve::Power(exponent)) => Power(*exponent).is_linear(),
            (Some(Family::Smooth), _) => false,
            (Some(Family::Floor) | None, _) => {
                let range = self.enclose(x);
                range.lo == range.hi
            }
        }
    }

    /// The α to begin with.
    #[inline]
    pub(crate) fn default_alpha(&self, x: Interval) -> Alpha {
        match (self.family(), *self) {
            (Some(Family::Breakpoint { .. }), _) => relu::default_alpha(x),
            (Some(Family::Clip { lower, upper }), _) => clip::default_alpha(lower, upper, x),
            (Some(Family::Floor), _) => steps::floor_alpha(x),
            (None, Curve::Step { below, at, above }) => Step { below, at, above }.default_alpha(x),
            _ => {
                let curvature = self.curvature(x).filter(|_| x.lo.is_finite() && x.hi.is_finite());
                let alpha = curvature
                    .and_then(|curvature| self.smooth(|function| smooth::default_alpha(function, curvature, x)));
                alpha.unwrap_or(Alpha { lower: 0.5, upper: 0.5 })
            }
        }
    }

    /// The relaxation with the default α: one search for both, where the default has to be searched for.
    #[inline]
    pub(crate) fn default_relaxation(&self, x: Interval) -> Relaxation {
        self.relax(x, Alpha { lower: f64::NAN, upper: f64::NAN })
    }

    /// Lines below and above over a range, for any α: numbers outside [0, 1] are clamped, NaN is the default.
    #[inline]
    pub(crate) fn relax(&self, x: Interval, alpha: Alpha) -> Relaxation {
        if x.lo.is_finite()
            && x.hi.is_finite()
            && x.lo <= x.hi
            && let Some(relaxation) = self.finite_relaxation(x, alpha)
        {
            return relaxation.or_constants(|| self.enclose(x));
        }
        Relaxation::constants(if x.lo <= x.hi { self.enclose(x) } else { Interval::ENTIRE })
    }

    /// One of the lines of [`Curve::relax`], below or above, for a share in [0, 1]; cheaper than both where they are
    /// searched for.
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
        self.relax(x, Alpha { lower: share, upper: share }).side(below)
    }

    #[inline]
    fn finite_relaxation(&self, x: Interval, alpha: Alpha) -> Option<Relaxation> {
        let family = self.family();
        if let Some(Family::Breakpoint { negative_slope }) = family {
            let alpha = alpha.clamped(|| relu::default_alpha(x));
            return negative_slope.is_finite().then(|| relu::relax(negative_slope, x, alpha));
        }
        if let Some(curvature) = self.curvature(x) {
            // The search for the default is one with the search for the lines: NaN stays NaN.
            return self.smooth(|function| smooth::relax(function, curvature, x, alpha.clamped(|| alpha)));
        }
        let alpha = alpha.clamped(|| self.default_alpha(x));
        Some(match (family, *self) {
            (Some(Family::Clip { lower, upper }), _) => clip::relax(lower, upper, x, alpha),
            (Some(Family::Floor), _) => steps::floor_relaxation(x, alpha),
            (None, Curve::Step { below, at, above }) => Step { below, at, above }.relax(x, alpha),
            (_, Curve::Activation(activation)) if activation.is_identity(x) => Relaxation::IDENTITY,
            (_, Curve::Power(1.0)) => Relaxation::IDENTITY,
            (_, Curve::Power(0.0)) => Relaxation::both(0.0, 1.0),
            _ => return None,
        })
    }

    /// Does something with the curve as a smooth function, if it is one.
    fn smooth<R>(&self, then: impl FnOnce(&dyn Smooth) -> R) -> Option<R> {
        match self {
            Curve::Activation(activation) => activation.smooth().map(then),
            Curve::Power(exponent) => Some(then(&Power(*exponent))),
            Curve::Reciprocal => Some(then(&Reciprocal)),
            Curve::Step { .. } => None,
        }
    }

    /// Where a smooth curve is convex and where concave over a range, if there are lines for that.
    #[inline]
    pub(super) fn curvature(&self, x: Interval) -> Option<Curvature> {
        match self {
            Curve::Activation(activation) => activation.curvature(x),
            Curve::Power(exponent) => Power(*exponent).curvature(x),
            Curve::Reciprocal => Reciprocal::curvature(x),
            Curve::Step { .. } => None,
        }
    }

    /// Where splitting the range helps most, strictly inside it.
    pub(crate) fn split_point(&self, x: Interval) -> Option<f64> {
        if self.is_linear(x) {
            return None;
        }
        let inside = |at: f64| (x.lo < at && at < x.hi && at.is_finite()).then_some(at);
        let middle = x.lo / 2.0 + x.hi / 2.0;
        let wanted = match self.family() {
            Some(Family::Breakpoint { .. }) | None => 0.0,
            Some(Family::Clip { lower, upper }) => clip::split_point(lower, upper, x)?,
            Some(Family::Floor) => middle.round(),
            Some(Family::Smooth) if !(x.lo.is_finite() && x.hi.is_finite()) => 0.0,
            Some(Family::Smooth) => self
                .curvature(x)
                .and_then(|curvature| self.smooth(|function| smooth::split_point(function, curvature, x)))
                // A pole: apart, both sides have lines.
                .unwrap_or(if x.contains(0.0) { 0.0 } else { middle }),
        };
        inside(wanted).or(inside(middle))
    }

    /// A rough largest distance between the two default lines.
    pub(crate) fn gap(&self, x: Interval) -> f64 {
        let relaxation = self.default_relaxation(x);
        let distance = |at: f64| {
            (relaxation.upper_slope - relaxation.lower_slope) * at + (relaxation.upper_offset - relaxation.lower_offset)
        };
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
