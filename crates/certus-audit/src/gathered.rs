//! Sums of interval multiples of rows of a dense matrix: where almost all of the time goes.
//!
//! Each sum is kept as a middle and a radius, because a product with a number needs no case distinction by signs then
//! and the loop over a row is a few additions and multiplications without branches.
//!
//! *Soundness.* With m the middle and r the radius of a coefficient, w a weight, p = m·w and s = sum + p both rounded to nearest,
//! s differs from the exact sum by at most (|p| + |s|)·ε/2, or by less than the least normal number more where something
//! underflows; and the coefficient's doubt adds r·|w|. The radius grows by all of that, with ε in place of ε/2. It is
//! itself a sum of numbers that are not negative, n of them at a time: each operation loses a part of at most ε/2, which a
//! factor of 1 + 8(n + 1)ε at the end outweighs by far. Overflow leaves an infinity or NaN behind, and becomes a
//! coefficient about which nothing is known.

use certus_graph::Interval;
use certus_graph::interval::{add_up, mul_up, sub_up};

/// Sums with their doubts, one per column.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    middle: Vec<f64>,
    radius: Vec<f64>,
    rows: usize,
}

/// A number in the middle of two, and how far they are from it at most.
fn centred(lo: f64, hi: f64) -> (f64, f64) {
    if lo == hi {
        return (lo, 0.0);
    }
    let middle = lo / 2.0 + hi / 2.0;
    (middle, sub_up(middle, lo).max(sub_up(hi, middle)))
}

impl Gathered {
    /// Starts with the sums in these intervals.
    pub(crate) fn start(&mut self, lower: &[f64], upper: &[f64]) {
        self.middle.clear();
        self.radius.clear();
        self.rows = 0;
        for (&lo, &hi) in lower.iter().zip(upper) {
            let (middle, radius) = centred(lo, hi);
            self.middle.push(middle);
            self.radius.push(radius);
        }
    }

    /// Adds a multiple of a row.
    pub(crate) fn add(&mut self, factor: Interval, row: &[f64]) {
        self.rows += 1;
        let (middle, radius) = centred(factor.lo, factor.hi);
        let doubt = add_up(radius, mul_up(middle.abs(), f64::EPSILON));
        for ((sum, radius), &weight) in self.middle.iter_mut().zip(&mut self.radius).zip(row) {
            // A weight of zero must leave a coefficient of zero what it is: the input may be unbounded.
            let underflow = if weight == 0.0 { 0.0 } else { f64::MIN_POSITIVE };
            *sum += middle * weight;
            *radius += weight.abs() * doubt + sum.abs() * f64::EPSILON + underflow;
        }
    }

    /// Writes the sums back as intervals.
    pub(crate) fn finish(&self, lower: &mut [f64], upper: &mut [f64]) {
        let growth = 1.0 + 8.0 * (self.rows as f64 + 1.0) * f64::EPSILON;
        for (((lo, hi), &middle), &radius) in lower.iter_mut().zip(upper).zip(&self.middle).zip(&self.radius) {
            if radius == 0.0 {
                (*lo, *hi) = (middle, middle);
                continue;
            }
            // The second term is for the rounding of the ends themselves.
            let radius = radius * growth + middle.abs() * f64::EPSILON;
            let known = middle.is_finite() && radius.is_finite();
            (*lo, *hi) = if known { (middle - radius, middle + radius) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_contain_what_careful_arithmetic_gives(
            start in (-2.0..2.0f64, 0.0..1e-3f64),
            terms in prop::collection::vec((-3.0..3.0f64, 0.0..1e-9f64, -5i32..5, -300i32..=0), 1..40),
        ) {
            let mut gathered = Gathered::default();
            let first = Interval::new(start.0, start.0 + start.1);
            gathered.start(&[first.lo], &[first.hi]);
            // The ends of the sum over all choices, both rounded inwards, must be within.
            let (mut least, mut greatest) = (first.lo, first.hi);
            for &(factor, width, weight, scale) in &terms {
                let weight = f64::from(weight) / 3.0 * 10f64.powi(scale / 20);
                let factor = Interval::new(factor, factor + width);
                gathered.add(factor, &[weight]);
                let (low, high) = if weight < 0.0 { (factor.hi, factor.lo) } else { (factor.lo, factor.hi) };
                least = add_up(least, mul_up(low, weight));
                greatest = -add_up(-greatest, mul_up(-high, weight));
            }
            let (mut lower, mut upper) = ([0.0], [0.0]);
            gathered.finish(&mut lower, &mut upper);
            prop_assert!(lower[0] <= least && greatest <= upper[0], "{lower:?} {least} {greatest} {upper:?}");
            // And not by much wider than that.
            let size: f64 = 4.0 + terms.iter().map(|t| (t.0 * f64::from(t.2)).abs()).sum::<f64>();
            prop_assert!(upper[0] - lower[0] <= (greatest - least).max(0.0) + 100.0 * size * f64::EPSILON);
        }
    }

    #[test]
    fn terms_that_are_lost_to_rounding_are_accounted_for() {
        let mut gathered = Gathered::default();
        gathered.start(&[1.0], &[1.0]);
        let tiny = f64::EPSILON / 4.0;
        (0..1000).for_each(|_| gathered.add(Interval::ONE, &[tiny]));
        let (mut lower, mut upper) = ([0.0], [0.0]);
        gathered.finish(&mut lower, &mut upper);
        assert!(upper[0] >= 1.0 + 1000.0 * tiny);
    }

    #[test]
    fn zeros_stay_zero_and_overflow_is_unknown() {
        let sum = |factor: Interval, weight: f64| {
            let mut gathered = Gathered::default();
            gathered.start(&[0.0], &[0.0]);
            gathered.add(factor, &[weight]);
            let (mut lower, mut upper) = ([1.0], [1.0]);
            gathered.finish(&mut lower, &mut upper);
            Interval { lo: lower[0], hi: upper[0] }
        };
        assert_eq!(sum(Interval::new(1.0, 2.0), 0.0), Interval::ZERO);
        assert_eq!(sum(Interval::point(1e300), 1e300), Interval::ENTIRE);
        assert_eq!(sum(Interval::ONE, f64::NAN), Interval::ENTIRE);
        assert_eq!(sum(Interval::ONE, f64::INFINITY), Interval::ENTIRE);
        let tiny = sum(Interval::point(1e-200), 1e-200);
        assert!(tiny.lo < 0.0 && tiny.hi > 0.0);
    }
}
