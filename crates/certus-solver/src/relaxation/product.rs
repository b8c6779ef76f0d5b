//! McCormick planes: the relaxation of a product over a box.
//!
//! From (x − lₓ)(y − l_y) ≥ 0 and (uₓ − x)(u_y − y) ≥ 0 come two planes below, from the other two pairs of signs two
//! planes above (McCormick, *Computability of Global Solutions to Factorable Nonconvex Programs*, Mathematical Programming
//! 1976); α mixes each two.
//!
//! *Soundness.* Whatever the slopes a and b are, x·y − a·x − b·y is linear in each variable, so its extremes over the box are
//! at corners, and they give the offset.

use certus_graph::Interval;
use certus_graph::interval::{add_down, add_up, mul_down, mul_up, sub_down, sub_up};

use super::{Alpha, between};

/// A plane below and a plane above: slope in x, slope in y, offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Planes {
    pub(crate) lower: [f64; 3],
    pub(crate) upper: [f64; 3],
}

/// The alpha to begin with.
const PRODUCT_ALPHA: Alpha = Alpha { lower: 0.5, upper: 0.5 };

/// Planes for x·y over the box `x` × `y`, for any alpha.
pub(crate) fn product_planes(x: Interval, y: Interval, alpha: Alpha) -> Planes {
    let ordered = x.lo <= x.hi && y.lo <= y.hi;
    if ordered && [x.lo, x.hi, y.lo, y.hi].iter().all(|end| end.is_finite()) {
        let alpha = alpha.clamped(|| PRODUCT_ALPHA);
        let lower = plane(x, y, between(y.lo, y.hi, alpha.lower), between(x.lo, x.hi, alpha.lower), true);
        let upper = plane(x, y, between(y.hi, y.lo, alpha.upper), between(x.lo, x.hi, alpha.upper), false);
        if lower.iter().chain(&upper).all(|number| number.is_finite()) {
            debug_assert!(enclose_middle(&lower, &upper, x, y), "{x} times {y} is not between {lower:?} and {upper:?}");
            return Planes { lower, upper };
        }
    }
    let range = if ordered { x * y } else { Interval::ENTIRE };
    Planes { lower: [0.0, 0.0, range.lo], upper: [0.0, 0.0, range.hi] }
}

/// Whether the product in the middle of a box is between two planes.
fn enclose_middle(lower: &[f64; 3], upper: &[f64; 3], x: Interval, y: Interval) -> bool {
    let (x, y) = (Interval::point(between(x.lo, x.hi, 0.5)), Interval::point(between(y.lo, y.hi, 0.5)));
    let at =
        |plane: &[f64; 3]| Interval::point(plane[0]) * x + Interval::point(plane[1]) * y + Interval::point(plane[2]);
    at(lower).lo <= (x * y).hi && at(upper).hi >= (x * y).lo
}

fn plane(x: Interval, y: Interval, a: f64, b: f64, below: bool) -> [f64; 3] {
    let corners = [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)];
    let offset = if below {
        let at = |(x, y)| sub_down(mul_down(x, y), add_up(mul_up(a, x), mul_up(b, y)));
        corners.into_iter().map(at).fold(f64::INFINITY, f64::min)
    } else {
        let at = |(x, y)| sub_up(mul_up(x, y), add_down(mul_down(a, x), mul_down(b, y)));
        corners.into_iter().map(at).fold(f64::NEG_INFINITY, f64::max)
    };
    [a, b, offset]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(plane: [f64; 3], x: f64, y: f64) -> Interval {
        let term = |slope: f64, value: f64| Interval::point(slope) * Interval::point(value);
        term(plane[0], x) + term(plane[1], y) + Interval::new(plane[2], plane[2])
    }

    fn any_range() -> impl Strategy<Value = Interval> {
        let width = prop_oneof![3 => -2.0f64..1.0, 1 => -12.0f64..6.0, 1 => Just(f64::NEG_INFINITY)];
        let about = prop_oneof![Just(0.0), -9.0f64..9.0, -1e4f64..1e4];
        (about, width, 0.0f64..=1.0).prop_map(|(about, exponent, share)| {
            let width = 10.0f64.powf(exponent);
            Interval::new(about - share * width, about + (1.0 - share) * width)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn planes_enclose_and_meet_two_corners(
            x in any_range(), y in any_range(), lower in 0.0f64..=1.0, upper in 0.0f64..=1.0, s in 0.0f64..=1.0, t in 0.0f64..=1.0,
        ) {
            let planes = product_planes(x, y, Alpha { lower, upper });
            let inside = (between(x.lo, x.hi, s), between(y.lo, y.hi, t));
            let corners = [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)];
            for (a, b) in corners.into_iter().chain([inside]) {
                let product = Interval::point(a) * Interval::point(b);
                prop_assert!(at(planes.lower, a, b).lo <= product.hi, "{planes:?} at {a}, {b}");
                prop_assert!(at(planes.upper, a, b).hi >= product.lo, "{planes:?} at {a}, {b}");
            }
            let tight = 1e-12 * (1.0 + x.magnitude()) * (1.0 + y.magnitude());
            for (a, b) in [(x.lo, y.hi), (x.hi, y.lo)] {
                prop_assert!(a * b - at(planes.lower, a, b).lo <= tight, "{planes:?} at {a}, {b}");
            }
            for (a, b) in [(x.lo, y.lo), (x.hi, y.hi)] {
                prop_assert!(at(planes.upper, a, b).hi - a * b <= tight, "{planes:?} at {a}, {b}");
            }
        }
    }

    #[test]
    fn leans_of_zero_and_one_are_the_four_planes() {
        let (x, y) = (Interval::new(-1.0, 2.0), Interval::new(3.0, 5.0));
        let planes = |t: f64| product_planes(x, y, Alpha { lower: t, upper: t });
        assert_eq!(planes(0.0), Planes { lower: [3.0, -1.0, 3.0], upper: [5.0, -1.0, 5.0] });
        assert_eq!(planes(1.0), Planes { lower: [5.0, 2.0, -10.0], upper: [3.0, 2.0, -6.0] });
        assert_eq!(planes(f64::NAN), planes(0.5));
        assert_eq!(planes(7.0), planes(1.0));
    }

    #[test]
    fn infinite_and_huge_ranges_give_constants() {
        let half = Interval::new(0.0, f64::INFINITY);
        let planes = product_planes(half, Interval::new(1.0, 2.0), PRODUCT_ALPHA);
        assert_eq!(planes, Planes { lower: [0.0; 3], upper: [0.0, 0.0, f64::INFINITY] });
        let huge = Interval::new(-1e200, 1e200);
        let planes = product_planes(huge, huge, PRODUCT_ALPHA);
        assert_eq!((planes.lower[2], planes.upper[2]), (f64::NEG_INFINITY, f64::INFINITY));
        let disorder = product_planes(Interval { lo: f64::NAN, hi: 0.0 }, half, PRODUCT_ALPHA);
        assert_eq!((disorder.lower[2], disorder.upper[2]), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
