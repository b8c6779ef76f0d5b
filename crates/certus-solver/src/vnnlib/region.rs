//! Boxes over the inputs, with the rounding of their ends in both directions.

use std::hash::{Hash, Hasher};

use certus_graph::Interval;

use super::Variable;
use super::written::Written;
use crate::formula::Atom;

/// The range of one input. The outer ends contain every real that the bounds allow; the doubles between the inner
/// ends are exactly those that the bounds allow, where the bounds are written as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub lower: f64,
    pub upper: f64,
    pub inner_lower: f64,
    pub inner_upper: f64,
    /// Whether every bound is a number as it was written, not divided by anything.
    pub as_written: bool,
}

impl Range {
    /// All reals.
    pub const ENTIRE: Range = Range {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        inner_lower: f64::NEG_INFINITY,
        inner_upper: f64::INFINITY,
        as_written: true,
    };

    /// What both allow, or `None` where that is certainly nothing.
    pub fn meet(self, other: Range) -> Option<Range> {
        let met = Range {
            lower: self.lower.max(other.lower),
            upper: self.upper.min(other.upper),
            inner_lower: self.inner_lower.max(other.inner_lower),
            inner_upper: self.inner_upper.min(other.inner_upper),
            as_written: self.as_written && other.as_written,
        };
        (met.lower <= met.upper).then_some(met)
    }

    /// Whether another range has the same ends.
    pub fn has_ends_of(&self, other: &Range) -> bool {
        *self == Range { as_written: self.as_written, ..*other }
    }

    /// Where no double lies between the bounds since they are one decimal: the double that is shown as that decimal.
    pub fn decimal(&self, written: &Written) -> Option<f64> {
        let between = (self.inner_lower, self.inner_upper) == (self.upper, self.lower);
        let gap = Interval { lo: self.lower, hi: self.upper };
        if between && self.as_written { written.shown_as(gap) } else { None }
    }
}

impl Hash for Range {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for end in [self.lower, self.upper, self.inner_lower, self.inner_upper] {
            (end + 0.0).to_bits().hash(state); // −0 and 0 are equal
        }
    }
}

/// The input that an atom bounds by itself, and the range it allows: `a · x + c ≤ 0` with a sign of a that is certain.
pub(super) fn bound(atom: &Atom<Variable>, inputs: usize) -> Option<(usize, Range)> {
    let [(Variable::Input(index), coefficient)] = atom.linear.terms[..] else { return None };
    if index >= inputs || coefficient.contains(0.0) {
        return None;
    }
    let constant = atom.linear.constant;
    let upwards = coefficient.lo > 0.0;
    let as_written = coefficient.lo == coefficient.hi && coefficient.lo.abs() == 1.0;
    let limit = if as_written {
        // No division: tiny numbers stay exact.
        if upwards { -constant } else { constant }
    } else {
        -constant / coefficient
    };
    // Where the limit is one double, a strict comparison excludes just that one from the inner range.
    let excluded = atom.strict && limit.lo == limit.hi;
    let range = if upwards {
        let inner_upper = if excluded { limit.lo.next_down() } else { limit.lo };
        Range { upper: limit.hi, inner_upper, as_written, ..Range::ENTIRE }
    } else {
        let inner_lower = if excluded { limit.hi.next_up() } else { limit.hi };
        Range { lower: limit.lo, inner_lower, as_written, ..Range::ENTIRE }
    };
    Some((index, range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::vnnlib::parse;

    fn range(comparison: &str) -> Option<Range> {
        let text = format!("(declare-const X_0 Real)(declare-const Y_0 Real)(assert {comparison})");
        match parse(&text).unwrap().assertion {
            Formula::Atom(atom) => bound(&atom, 1).map(|(_, range)| range),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ends_are_rounded_both_ways() {
        let (below, above) = (0.1f64.next_down(), 0.1);
        let upper = |upper, inner_upper| Some(Range { upper, inner_upper, ..Range::ENTIRE });
        let lower = |lower, inner_lower| Some(Range { lower, inner_lower, ..Range::ENTIRE });
        assert_eq!(range("(<= X_0 0.1)"), upper(above, below));
        assert_eq!(range("(< X_0 0.1)"), upper(above, below));
        assert_eq!(range("(>= X_0 0.1)"), lower(below, above));
        assert_eq!(range("(<= X_0 0.5)"), upper(0.5, 0.5));
        assert_eq!(range("(< X_0 0.5)"), upper(0.5, 0.5f64.next_down()));
        assert_eq!(range("(> X_0 0.5)"), lower(0.5, 0.5f64.next_up()));
        let divided = |range: Option<Range>| range.map(|range| Range { as_written: false, ..range });
        assert_eq!(range("(>= (* -2 X_0) 3)"), divided(upper(-1.5, -1.5)));
        let third = 1.0 / 3.0f64; // below the real third
        assert_eq!(range("(<= (* 3 X_0) 1)"), divided(upper(third.next_up(), third)));
        assert_eq!(range("(<= X_0 (/ 1 3))"), upper(third.next_up(), third));
        assert_eq!(range("(<= X_0 1e400)"), upper(f64::INFINITY, f64::MAX));
    }

    #[test]
    fn tiny_bounds_stay_tight() {
        let below = f64::from_bits(4_707_792_160);
        let written = format!("{below:.1074}");
        assert_eq!(range(&format!("(<= X_0 {written})")).map(|range| range.upper), Some(below));
        assert_eq!(range(&format!("(>= X_0 {written}1)")).map(|range| range.inner_lower), Some(below.next_up()));
    }

    #[test]
    fn other_atoms_are_no_bounds() {
        for atom in ["(<= Y_0 1)", "(<= X_0 Y_0)", "(<= (* (- 0.1 0.1) X_0) 1)"] {
            assert_eq!(range(atom), None, "{atom}");
        }
    }
}
