//! The decimals of a text that are no doubles.
//!
//! A formula keeps such a number as the gap between the two doubles around it. That is enough for proofs, but a range
//! that is one decimal (`X_0 = 0.1`) has no double in it, and a point of it can only be named by that decimal. So
//! each gap remembers the one decimal that was written in it. Where two were, or something was computed that ends up there, what
//! a bound in the gap stands for is not known any more.

use std::collections::HashMap;

use certus_graph::Interval;

use super::decimal::Decimal;

/// What was written in the gaps between neighbouring doubles, by the lower end of the gap of the absolute value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    gaps: HashMap<u64, Option<Decimal>>,
}

impl Written {
    /// Takes notice of a number of the text.
    pub fn note(&mut self, symbol: &str, interval: Interval) {
        let (Some(key), Some(decimal)) = (gap(interval), Decimal::scan(symbol)) else { return };
        let decimal = decimal.magnitude_in_lowest_terms();
        let known = self.gaps.entry(key).or_insert_with(|| Some(decimal.clone()));
        if known.as_ref() != Some(&decimal) {
            *known = None;
        }
    }

    /// Takes notice of the result of an operation on constants, whose exact value is not kept.
    pub fn note_computed(&mut self, interval: Interval) {
        if let Some(key) = gap(interval) {
            self.gaps.insert(key, None);
        }
    }

    /// The double that is shown as the one decimal that was written in a gap, if it is shown as exactly that.
    pub fn shown_as(&self, interval: Interval) -> Option<f64> {
        let decimal = self.gaps.get(&gap(interval)?)?.as_ref()?;
        [interval.lo, interval.hi].into_iter().find(|end| {
            let shown = Decimal::scan(&format!("{:?}", end.abs()));
            shown.is_some_and(|shown| shown.magnitude_in_lowest_terms() == *decimal)
        })
    }
}

/// What stands for the gap between two neighbouring doubles; nothing stands for other intervals.
fn gap(interval: Interval) -> Option<u64> {
    let neighbours = interval.lo < interval.hi && interval.lo.next_up() == interval.hi;
    let nearer = if interval.lo >= 0.0 { interval.lo } else { -interval.hi };
    // + 0.0: −0 and 0 are equal.
    neighbours.then(|| (nearer + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vnnlib::decimal::interval;

    fn shown(written: &[&str], of: &str) -> Option<f64> {
        let mut all = Written::default();
        for symbol in written {
            all.note(symbol, interval(symbol).unwrap());
        }
        all.shown_as(interval(of).unwrap())
    }

    #[test]
    fn a_decimal_is_known_by_the_double_that_is_shown_like_it() {
        assert_eq!(shown(&["0.1"], "0.1"), Some(0.1));
        assert_eq!(shown(&["0.10", "1e-1", "-0.1"], "0.1"), Some(0.1), "one number, however it is written");
        assert_eq!(shown(&["0.1"], "-0.1"), Some(-0.1));
        assert_eq!(shown(&["5e-324"], "5e-324"), Some(5e-324));
        assert_eq!(shown(&["0.5"], "0.5"), None, "a double has no gap");
    }

    #[test]
    fn a_gap_with_two_numbers_or_a_long_one_is_not_known() {
        assert_eq!(shown(&["1.00000000000000005", "1.00000000000000006"], "1.00000000000000005"), None);
        assert_eq!(shown(&["1.00000000000000005"], "1.00000000000000005"), None, "1.0 is another number");
        assert_eq!(shown(&["0.2"], "0.1"), None);
        let mut all = Written::default();
        let tenth = interval("0.1").unwrap();
        all.note_computed(tenth);
        all.note("0.1", tenth);
        assert_eq!(all.shown_as(tenth), None);
    }
}
