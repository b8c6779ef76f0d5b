//! How well specifications fit observations: support and confidence.
//!
//! Support is the share of the rows to which some specification applies; confidence is the share of those whose label
//! every specification that applies allows (equations 8 and 9 of SpecTRA). Without any such row there is no confidence.

use crate::layout::Layout;
use crate::observations::Rows;
use crate::outputs::OutputSet;
use crate::{MineError, Specification};

/// Support and confidence, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// All rows.
    pub rows: u64,
    /// Those to which some specification applies.
    pub covered: u64,
    /// Those of them with a label that all of these allow.
    pub obeyed: u64,
}

impl Quality {
    /// The share of the rows to which some specification applies; 0 without rows.
    pub fn support(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.covered as f64 / self.rows as f64 }
    }

    /// The share of those rows that obey.
    pub fn confidence(&self) -> Option<f64> {
        (self.covered > 0).then(|| self.obeyed as f64 / self.covered as f64)
    }

    /// The harmonic mean of both: what a search for settings makes large.
    pub fn score(&self) -> f64 {
        let (support, confidence) = (self.support(), self.confidence().unwrap_or(0.0));
        if support + confidence == 0.0 { 0.0 } else { 2.0 * support * confidence / (support + confidence) }
    }

    /// Takes note of a row: what is allowed, if anything applies, and what was decided.
    pub fn count(&mut self, allowed: Option<OutputSet>, label: usize) {
        self.count_rows(allowed, label, 1);
    }

    /// The same for many equal rows.
    pub fn count_rows(&mut self, allowed: Option<OutputSet>, label: usize, rows: u64) {
        self.rows += rows;
        if let Some(allowed) = allowed {
            self.covered += rows;
            self.obeyed += if allowed.contains(label) { rows } else { 0 };
        }
    }
}

/// What all specifications that apply to some values allow; none where no one applies.
pub fn allowed(specifications: &[Specification], values: &[f64]) -> Option<OutputSet> {
    let applying = specifications.iter().filter(|specification| specification.applies(values));
    applying.map(|specification| specification.allowed).reduce(OutputSet::intersection)
}

/// How well specifications fit some rows: all of them together, and each alone.
pub fn measure(
    specifications: &[Specification],
    layout: &Layout,
    rows: &mut Rows,
) -> Result<(Quality, Vec<Quality>), MineError> {
    measure_and(specifications, layout, rows, &mut |_, _| {})
}

/// The same, and shows each row's values with the specifications that apply to it.
pub fn measure_and(
    specifications: &[Specification],
    layout: &Layout,
    rows: &mut Rows,
    visit: &mut dyn FnMut(&[f64], &[usize]),
) -> Result<(Quality, Vec<Quality>), MineError> {
    let mut applying = Vec::new();
    let mut together = Quality::default();
    let mut alone = vec![Quality::default(); specifications.len()];
    rows.each(layout, &mut |values, label| {
        let mut all: Option<OutputSet> = None;
        applying.clear();
        for (place, (specification, quality)) in specifications.iter().zip(&mut alone).enumerate() {
            let own = specification.applies(values).then_some(specification.allowed);
            quality.count(own, label);
            if own.is_some() {
                applying.push(place);
            }
            all = match (all, own) {
                (Some(a), Some(b)) => Some(a.intersection(b)),
                (a, b) => a.or(b),
            };
        }
        together.count(all, label);
        visit(values, &applying);
        Ok(())
    })?;
    Ok((together, alone))
}

/// Fills in what the columns that a specification does not speak of ranged over in rows to which it applies.
pub fn observe(
    specifications: &mut [Specification],
    layout: &Layout,
    rows: &mut [Rows],
    decimals: Option<u32>,
) -> Result<(), MineError> {
    let mut seen = vec![vec![(f64::INFINITY, f64::NEG_INFINITY); layout.columns.len()]; specifications.len()];
    for rows in rows {
        rows.each(layout, &mut |values, _| {
            for (specification, seen) in specifications.iter().zip(&mut seen) {
                if specification.applies(values) {
                    for (range, &value) in seen.iter_mut().zip(values) {
                        *range = (range.0.min(value), range.1.max(value));
                    }
                }
            }
            Ok(())
        })?;
    }
    for (specification, seen) in specifications.iter_mut().zip(seen) {
        let bound = |(column, (low, high)): (usize, (f64, f64))| crate::Bound {
            column,
            low: crate::mining::rounded(low, decimals),
            high: crate::mining::rounded(high, decimals),
        };
        let spoken = |column: &usize| specification.bounds.iter().any(|bound| bound.column == *column);
        let observed =
            seen.into_iter().enumerate().filter(|(column, range)| !spoken(column) && range.0 <= range.1).map(bound);
        specification.observed = observed.collect();
    }
    Ok(())
}
