//! A specification: in this box, only these outputs.

use crate::outputs::OutputSet;

/// A closed range of a column. An end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The column of the layout.
    pub column: usize,
    /// Its least value.
    pub low: f64,
    /// Its greatest value.
    pub high: f64,
}

/// Wherever all bounds hold, the output is one of those allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Specification {
    /// The precondition.
    pub bounds: Vec<Bound>,
    /// The postcondition.
    pub allowed: OutputSet,
    /// What the other columns ranged over where the precondition held; empty where that is not known.
    pub observed: Vec<Bound>,
}

impl Specification {
    /// Whether the precondition holds of a row's values.
    pub fn applies(&self, values: &[f64]) -> bool {
        self.bounds.iter().all(|bound| bound.low <= values[bound.column] && values[bound.column] <= bound.high)
    }

    /// Whether another one follows from this one: where it applies this one does, and it allows no less.
    pub fn implies(&self, other: &Specification) -> bool {
        let contains = |bound: &Bound| {
            let inner = other.bounds.iter().find(|inner| inner.column == bound.column);
            let (low, high) = inner.map_or((f64::NEG_INFINITY, f64::INFINITY), |inner| (inner.low, inner.high));
            bound.low <= low && high <= bound.high
        };
        self.allowed.is_within(other.allowed) && self.bounds.iter().all(contains)
    }

    /// The share of the ranges that the box takes, as a product over its columns.
    pub fn volume(&self, ranges: &[(f64, f64)]) -> f64 {
        let share = |(bound, &(low, high)): (&Bound, &(f64, f64))| {
            if high > low { (bound.high.min(high) - bound.low.max(low)).max(0.0) / (high - low) } else { 1.0 }
        };
        self.bounds.iter().zip(ranges).map(share).product()
    }
}
