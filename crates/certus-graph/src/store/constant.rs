//! Constants that were rounded, by the ends of the intervals that they lie in.
//!
//! A rounded constant keeps a middle and a radius; [`Constant::enclosed`] makes them from two ends. To write such a
//! constant is to find ends that make the same middle and radius again. The end that the radius belongs to lies in a
//! range that both tell, of few doubles; the other end is close to its mirror image. Candidates are tried, and nothing
//! is written that would not read back the same.

use crate::interval::{sub_down, sub_up};
use crate::ops::Constant;
use crate::{GraphError, Interval};

/// Ends that [`Constant::enclosed`] turns into this middle and radius.
pub(super) fn ends(middle: f64, radius: f64) -> Option<Interval> {
    let fits = |lo: f64, hi: f64| {
        let interval = Interval { lo, hi };
        let again = if lo <= hi { Constant::enclosed(&[], &[interval]).ok()? } else { return None };
        let same = again.value().data()[0].to_bits() == middle.to_bits() && again.radius(0) == radius;
        same.then_some(interval)
    };
    if radius == 0.0 {
        return fits(middle, middle);
    }
    // By symmetry only the lower end's radius is looked at: the other case is this one below zero.
    let lower = |middle: f64, fits: &dyn Fn(f64, f64) -> Option<Interval>| {
        let (least, greatest) = (sub_up(middle, radius), sub_down(middle, radius.next_down()));
        let near =
            |end: f64| [end, end.next_up(), end.next_up().next_up(), end.next_down(), end.next_down().next_down()];
        let mut lows = near(least).into_iter().chain(near(greatest));
        lows.find_map(|lo| {
            let mirrored = middle + (middle - lo);
            near(mirrored).into_iter().chain([middle]).find_map(|hi| fits(lo, hi))
        })
    };
    lower(middle, &fits).or_else(|| lower(-middle, &|lo, hi| fits(-hi, -lo)))
}

/// The constant whose elements lie in these intervals; exact where each is a single number, also an infinite one.
pub(super) fn constant(shape: Vec<usize>, intervals: Vec<Interval>) -> Result<Constant, GraphError> {
    if intervals.iter().all(|x| x.lo.to_bits() == x.hi.to_bits()) {
        let values = intervals.iter().map(|x| x.lo).collect();
        return Ok(Constant::exact(crate::Tensor::new(shape, values)?));
    }
    if intervals.iter().any(|x| !x.lo.is_finite() || !x.hi.is_finite()) {
        return Err(GraphError::shape("Constant", "an element that is not a number of its own needs finite ends"));
    }
    Constant::enclosed(&shape, &intervals)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(lo: f64, hi: f64) {
        let constant = Constant::enclosed(&[], &[Interval { lo, hi }]).unwrap();
        let (middle, radius) = (constant.value().data()[0], constant.radius(0));
        let found = ends(middle, radius).unwrap_or_else(|| panic!("no ends for [{lo:?}, {hi:?}]"));
        let again = Constant::enclosed(&[], &[found]).unwrap();
        assert_eq!((again.value().data()[0], again.radius(0)), (middle, radius), "[{lo:?}, {hi:?}]");
    }

    #[test]
    fn a_decimal_between_neighbours_has_its_ends_back() {
        for value in [0.1f64, -0.1, 1.0, 3e-310, 1e300] {
            check(value, value.next_up());
            check(value.next_down(), value);
        }
    }

    proptest! {
        #[test]
        fn any_width_has_ends(value in -1e3..1e3f64, exponent in -60i32..60, ulps in 0u64..40) {
            let width = value.abs() * 2f64.powi(exponent);
            check(value - width, value);
            check(value, value + width);
            check(value - width, value + width);
            let apart = f64::from_bits(value.abs().to_bits() + ulps);
            check(value.abs(), apart);
            check(-apart, -value.abs());
        }
    }
}
