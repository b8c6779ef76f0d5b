//! Where a smooth curve is convex and where it is concave.

use std::f64::consts::PI;

use certus_graph::Interval;

use super::smooth::Smooth;

/// How a curve bends over a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Convex,
    Concave,
    /// It turns from one into the other at some place in `at`, once.
    Turn {
        at: Interval,
        convex_first: bool,
    },
    /// Concave, convex in between two places, concave again.
    Hollow {
        first: Interval,
        second: Interval,
    },
    /// Convex, concave in between two places, convex again.
    Hump {
        first: Interval,
        second: Interval,
    },
}

impl Shape {
    /// The shape of −f.
    pub(crate) fn negated(self) -> Shape {
        match self {
            Shape::Convex => Shape::Concave,
            Shape::Concave => Shape::Convex,
            Shape::Turn { at, convex_first } => Shape::Turn { at, convex_first: !convex_first },
            Shape::Hollow { first, second } => Shape::Hump { first, second },
            Shape::Hump { first, second } => Shape::Hollow { first, second },
        }
    }

    /// A curve that turns at one place, seen over a range.
    fn turning(x: Interval, at: Interval, convex_first: bool) -> Shape {
        let side = |convex: bool| if convex { Shape::Convex } else { Shape::Concave };
        if x.hi <= at.lo {
            side(convex_first)
        } else if x.lo >= at.hi {
            side(!convex_first)
        } else {
            Shape::Turn { at, convex_first }
        }
    }
}

/// Beyond this the places where sine and cosine turn are not worth finding.
const FARTHEST_TURN: f64 = 1e6;

/// How a curve bends over a bounded range; nothing where it is not defined on all of it or turns more than twice.
pub(crate) fn shape(curve: &Smooth, x: Interval) -> Option<Shape> {
    match *curve {
        Smooth::Tanh | Smooth::Sigmoid => Some(Shape::turning(x, Interval::ZERO, true)),
        Smooth::Softplus | Smooth::Exp => Some(Shape::Convex),
        Smooth::Elu(alpha) if (0.0..=1.0).contains(&alpha) => Some(Shape::Convex),
        // A steep or falling left part joins the straight right part in a kink of the other sense: the right part is
        // taken for concave or convex, both of which it is.
        Smooth::Elu(alpha) if alpha > 1.0 => Some(Shape::turning(x, Interval::ZERO, true)),
        Smooth::Elu(alpha) if alpha < 0.0 => Some(Shape::turning(x, Interval::ZERO, false)),
        Smooth::Elu(_) => None,
        Smooth::Sqrt | Smooth::Log => (x.lo >= 0.0).then_some(Shape::Concave),
        Smooth::Reciprocal => sides_of_zero(x, Shape::Convex, Shape::Concave),
        Smooth::Power(exponent) => power_shape(exponent, x),
        Smooth::Sin => periodic_shape(x, 0.0),
        Smooth::Cos => periodic_shape(x, 0.5),
    }
}

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
    use super::*;

    fn range(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi }
    }

    #[test]
    fn sine_and_cosine_turn_where_they_should() {
        assert_eq!(shape(&Smooth::Sin, range(0.1, 3.0)), Some(Shape::Concave));
        assert_eq!(shape(&Smooth::Sin, range(-3.0, -0.1)), Some(Shape::Convex));
        assert_eq!(shape(&Smooth::Sin, range(3.2, 6.0)), Some(Shape::Convex));
        assert_eq!(shape(&Smooth::Cos, range(-1.5, 1.5)), Some(Shape::Concave));
        assert_eq!(shape(&Smooth::Cos, range(1.6, 4.0)), Some(Shape::Convex));
        assert!(matches!(shape(&Smooth::Sin, range(-1.0, 1.0)), Some(Shape::Turn { convex_first: true, .. })));
        assert!(matches!(shape(&Smooth::Sin, range(3.0, 4.0)), Some(Shape::Turn { convex_first: false, .. })));
        assert!(matches!(shape(&Smooth::Cos, range(1.0, 2.0)), Some(Shape::Turn { convex_first: false, .. })));
        assert!(matches!(shape(&Smooth::Sin, range(-1.0, 4.0)), Some(Shape::Hump { .. })));
        assert!(matches!(shape(&Smooth::Sin, range(-4.0, 1.0)), Some(Shape::Hollow { .. })));
        assert!(matches!(shape(&Smooth::Cos, range(-2.0, 2.0)), Some(Shape::Hump { .. })));
        assert_eq!(shape(&Smooth::Sin, range(-1.0, 6.5)), None);
        assert_eq!(shape(&Smooth::Sin, range(0.0, 1e7)), None);
    }

    #[test]
    fn powers_bend_by_the_parity_of_their_exponent() {
        let power = |exponent: f64, lo: f64, hi: f64| shape(&Smooth::Power(exponent), range(lo, hi));
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
