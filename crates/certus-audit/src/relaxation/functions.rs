//! The smooth functions that the audit knows: values, derivatives, and where they are convex or concave.
//!
//! Written for the audit alone, on purpose: a mistake in what the solver believes of a function is found here. A new
//! activation function of the graph gets a variant of [`Smooth`] and a line in each function below; one that is missing
//! here counts as opaque: the audit knows its enclosure and no lines.

use std::f64::consts::PI;

use certus_graph::Interval;
use certus_graph::ops::Op;

use super::shape::Shape;
use super::smooth::middle;

/// A smooth curve (or, for a steep `Elu`, one with a breakpoint where it turns).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Smooth {
    Tanh,
    Sigmoid,
    Elu(f64),
    Softplus,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Power(f64),
    Reciprocal,
}

impl Smooth {
    /// The function that an operator applies to its only argument.
    pub(super) fn of(op: &Op) -> Option<Smooth> {
        Some(match op {
            Op::Tanh(_) => Smooth::Tanh,
            Op::Sigmoid(_) => Smooth::Sigmoid,
            Op::Elu(op) => Smooth::Elu(op.alpha),
            Op::Softplus(_) => Smooth::Softplus,
            Op::Sqrt(_) => Smooth::Sqrt,
            Op::Exp(_) => Smooth::Exp,
            Op::Log(_) => Smooth::Log,
            Op::Sin(_) => Smooth::Sin,
            Op::Cos(_) => Smooth::Cos,
            _ => return None,
        })
    }

    /// Whether the curve is affine everywhere.
    pub(crate) fn is_linear(&self) -> bool {
        matches!(self, Smooth::Power(exponent) if *exponent == 0.0 || *exponent == 1.0)
    }

    /// What the value over a range lies in.
    pub(super) fn value(&self, x: Interval) -> Interval {
        match *self {
            Smooth::Tanh => x.tanh(),
            Smooth::Sigmoid => x.sigmoid(),
            Smooth::Elu(depth) => {
                let left = (x.lo < 0.0).then(|| Interval::point(depth) * Interval::new(x.lo, x.hi.min(0.0)).exp_m1());
                let right = (x.hi >= 0.0).then(|| Interval::new(x.lo.max(0.0), x.hi));
                left.into_iter().chain(right).reduce(Interval::hull).unwrap_or_default()
            }
            Smooth::Softplus => x.softplus(),
            Smooth::Sqrt => x.sqrt(),
            Smooth::Exp => x.exp(),
            Smooth::Log => x.ln(),
            Smooth::Sin => x.sin(),
            Smooth::Cos => x.cos(),
            Smooth::Power(exponent) => x.pow(Interval::point(exponent)),
            Smooth::Reciprocal => Interval::ONE / x,
        }
    }

    /// What the derivative at a point of a piece lies in. At its breakpoint `Elu` has the derivative of the side that the
    /// piece is on; if it is on both, the curve is convex there and either supports it.
    pub(super) fn derivative(&self, piece: Interval, at: f64) -> Interval {
        let x = Interval::point(at);
        match *self {
            Smooth::Tanh => {
                let tanh = x.tanh();
                (Interval::ONE - tanh) * (Interval::ONE + tanh)
            }
            Smooth::Sigmoid => x.sigmoid() * (-x).sigmoid(),
            Smooth::Elu(_) if at > 0.0 || (at == 0.0 && piece.hi > 0.0) => Interval::ONE,
            Smooth::Elu(depth) => Interval::point(depth) * x.exp(),
            Smooth::Softplus => x.sigmoid(),
            Smooth::Sqrt => Interval::point(0.5) / x.sqrt(),
            Smooth::Exp => x.exp(),
            Smooth::Log => Interval::ONE / x,
            Smooth::Sin => x.cos(),
            Smooth::Cos => -x.sin(),
            Smooth::Power(exponent) => {
                let exponent = Interval::point(exponent);
                exponent * x.pow(exponent - Interval::ONE)
            }
            Smooth::Reciprocal => -(Interval::ONE / x.powi(2)),
        }
    }

    /// The value in plain floats, to choose slopes by.
    pub(super) fn value_near(&self, x: f64) -> f64 {
        match *self {
            Smooth::Tanh => x.tanh(),
            Smooth::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Smooth::Sin => x.sin(),
            Smooth::Cos => x.cos(),
            _ => middle(self.value(Interval::point(x))),
        }
    }

    /// The derivative in plain floats, to choose slopes by.
    pub(super) fn derivative_near(&self, piece: Interval, x: f64) -> f64 {
        match *self {
            Smooth::Tanh => {
                let cosh = x.cosh();
                1.0 / (cosh * cosh)
            }
            Smooth::Sigmoid => {
                let e = (-x.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Smooth::Sin => x.cos(),
            Smooth::Cos => -x.sin(),
            _ => middle(self.derivative(piece, x)),
        }
    }

    /// How a curve bends over a bounded range; nothing where it is not defined on all of it or turns more than twice.
    pub(super) fn shape(&self, x: Interval) -> Option<Shape> {
        match *self {
            Smooth::Tanh | Smooth::Sigmoid => Some(Shape::turning(x, Interval::ZERO, true)),
            Smooth::Softplus | Smooth::Exp => Some(Shape::Convex),
            Smooth::Elu(depth) if (0.0..=1.0).contains(&depth) => Some(Shape::Convex),
            // A steep or falling left part joins the straight right part in a breakpoint of the other sense: the right part is
            // taken for concave or convex, both of which it is.
            Smooth::Elu(depth) if depth > 1.0 => Some(Shape::turning(x, Interval::ZERO, true)),
            Smooth::Elu(depth) if depth < 0.0 => Some(Shape::turning(x, Interval::ZERO, false)),
            Smooth::Elu(_) => None,
            Smooth::Sqrt | Smooth::Log => (x.lo >= 0.0).then_some(Shape::Concave),
            Smooth::Reciprocal => sides_of_zero(x, Shape::Convex, Shape::Concave),
            Smooth::Power(exponent) => power_shape(exponent, x),
            Smooth::Sin => periodic_shape(x, 0.0),
            Smooth::Cos => periodic_shape(x, 0.5),
        }
    }
}

/// Beyond this the places where sine and cosine turn are not worth finding.
const FARTHEST_TURN: f64 = 1e6;

/// One shape right of zero, one left of it, none across.
fn sides_of_zero(x: Interval, right: Shape, left: Shape) -> Option<Shape> {
    if x.lo > 0.0 { Some(right) } else { (x.hi < 0.0).then_some(left) }
}

fn power_shape(exponent: f64, x: Interval) -> Option<Shape> {
    if exponent.fract() != 0.0 || exponent.abs() > 1024.0 {
        let defined = if exponent < 0.0 { x.lo > 0.0 } else { x.lo >= 0.0 };
        let concave = 0.0 < exponent && exponent < 1.0;
        return (defined && exponent.is_finite()).then_some(if concave { Shape::Concave } else { Shape::Convex });
    }
    let odd = exponent.abs() % 2.0 == 1.0;
    match exponent {
        // Straight: both shapes are right.
        0.0 | 1.0 => Some(Shape::Convex),
        _ if exponent > 0.0 && odd => Some(Shape::turning(x, Interval::ZERO, false)),
        _ if exponent > 0.0 => Some(Shape::Convex),
        _ => sides_of_zero(x, Shape::Convex, if odd { Shape::Concave } else { Shape::Convex }),
    }
}

/// Sine turns at the multiples of π, cosine half of π later; between k·π and (k + 1)·π after that it is concave for
/// even k and convex for odd k (for cosine the other way round: it falls where it turns at π/2).
fn periodic_shape(x: Interval, shift: f64) -> Option<Shape> {
    if x.magnitude() > FARTHEST_TURN {
        return None;
    }
    let half_turn = Interval { lo: PI, hi: PI.next_up() };
    let place = |k: f64| half_turn * Interval::point(k + shift);
    let concave_after = |k: f64| (k.rem_euclid(2.0) == 0.0) == (shift == 0.0);
    // The last turn that is certainly at or before the range.
    let mut k = (x.lo / PI - shift).floor() + 1.0;
    while place(k).hi > x.lo {
        k -= 1.0;
    }
    if place(k + 2.0).lo < x.hi {
        if place(k + 3.0).lo < x.hi || x.width() >= 2.0 * PI {
            return None;
        }
        let (first, second) = (place(k + 1.0), place(k + 2.0));
        return Some(if concave_after(k) { Shape::Hollow { first, second } } else { Shape::Hump { first, second } });
    }
    Some(Shape::turning(x, place(k + 1.0), !concave_after(k)))
}

#[cfg(test)]
mod tests {
    use certus_graph::ops::activation::Family;

    use super::*;

    fn range(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi }
    }

    /// A row of the graph's table that the audit does not know would make it weaker without a word.
    #[test]
    fn every_smooth_activation_is_known() {
        let examples = certus_graph::ops::Activation::examples();
        let smooth: Vec<Op> = examples
            .into_iter()
            .filter(|(own, ..)| own.family() == Family::Smooth)
            .map(|(own, ..)| own.into())
            .collect();
        assert!(smooth.len() >= 9);
        for op in smooth {
            assert!(Smooth::of(&op).is_some(), "the audit knows {op:?} by its enclosure alone");
        }
    }

    #[test]
    fn sine_and_cosine_turn_where_they_should() {
        assert_eq!(Smooth::Sin.shape(range(0.1, 3.0)), Some(Shape::Concave));
        assert_eq!(Smooth::Sin.shape(range(-3.0, -0.1)), Some(Shape::Convex));
        assert_eq!(Smooth::Sin.shape(range(3.2, 6.0)), Some(Shape::Convex));
        assert_eq!(Smooth::Cos.shape(range(-1.5, 1.5)), Some(Shape::Concave));
        assert_eq!(Smooth::Cos.shape(range(1.6, 4.0)), Some(Shape::Convex));
        assert!(matches!(Smooth::Sin.shape(range(-1.0, 1.0)), Some(Shape::Turn { convex_first: true, .. })));
        assert!(matches!(Smooth::Sin.shape(range(3.0, 4.0)), Some(Shape::Turn { convex_first: false, .. })));
        assert!(matches!(Smooth::Cos.shape(range(1.0, 2.0)), Some(Shape::Turn { convex_first: false, .. })));
        assert!(matches!(Smooth::Sin.shape(range(-1.0, 4.0)), Some(Shape::Hump { .. })));
        assert!(matches!(Smooth::Sin.shape(range(-4.0, 1.0)), Some(Shape::Hollow { .. })));
        assert!(matches!(Smooth::Cos.shape(range(-2.0, 2.0)), Some(Shape::Hump { .. })));
        assert_eq!(Smooth::Sin.shape(range(-1.0, 6.5)), None);
        assert_eq!(Smooth::Sin.shape(range(0.0, 1e7)), None);
    }

    #[test]
    fn powers_bend_by_the_parity_of_their_exponent() {
        let power = |exponent: f64, lo: f64, hi: f64| Smooth::Power(exponent).shape(range(lo, hi));
        assert_eq!(power(2.0, -1.0, 1.0), Some(Shape::Convex));
        assert!(matches!(power(3.0, -1.0, 1.0), Some(Shape::Turn { convex_first: false, .. })));
        assert_eq!(power(3.0, -2.0, -1.0), Some(Shape::Concave));
        assert_eq!(power(-1.0, -2.0, -1.0), Some(Shape::Concave));
        assert_eq!(power(-2.0, -2.0, -1.0), Some(Shape::Convex));
        assert_eq!(power(-2.0, -2.0, 1.0), None);
        assert_eq!(power(0.5, 0.0, 1.0), Some(Shape::Concave));
        assert_eq!(power(1.5, 0.0, 1.0), Some(Shape::Convex));
        assert_eq!(power(1.5, -1.0, 1.0), None);
        assert_eq!(power(f64::NAN, 1.0, 2.0), None);
    }
}
