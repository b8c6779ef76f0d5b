//! An invariant as people read it: each direction once, with both of its ends, in a line or in a table.
//!
//! Half-spaces that the others imply are left out; ends are rounded outwards, so that every state of a run satisfies what is printed. The
//! document has every half-space with every digit.

use certus_check::induction::irredundant::irredundant;
use certus_graph::Interval;
use certus_lang::System;
use certus_model::proof::{Invariant, linear_text};
use certus_model::{counted, short, short_down, short_up};
use certus_tasks::check::proof_names;

/// A text with its invariant that is longer becomes a table.
const WIDEST_LINE: usize = 100;

/// Rows beyond this many are left to `--json`.
const MOST_ROWS: usize = 24;

/// A direction: lower end, sum, upper end.
struct Row {
    low: Option<f64>,
    coefficients: Vec<f64>,
    high: Option<f64>,
}

/// Lines for a heading that an invariant belongs to.
pub(super) fn lines(heading: &str, invariant: &Invariant, system: &System) -> Vec<String> {
    let names = proof_names(system);
    let ends = system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
    let ranges: Vec<Interval> = ends.map(|(&lo, &hi)| Interval { lo, hi }).collect();
    let rows = rows(&irredundant(invariant, &ranges));
    if rows.is_empty() {
        return vec![format!("{heading} of the declared ranges")];
    }
    let texts: Vec<[String; 3]> = rows.iter().map(|row| row.texts(&names)).collect();
    let line = |[low, sum, high]: &[String; 3]| [low, sum, high].map(String::as_str).concat();
    let one = format!("{heading} {}", texts.iter().map(line).collect::<Vec<_>>().join(", "));
    if one.chars().count() <= WIDEST_LINE {
        return vec![one];
    }
    let width = |part: usize| texts.iter().map(|row| row[part].chars().count()).max().unwrap_or(0);
    let (low_width, sum_width) = (width(0), width(1));
    let mut lines = vec![format!("{heading}")];
    for [low, sum, high] in texts.iter().take(MOST_ROWS) {
        lines.push(format!("  {low:>low_width$}{sum:<sum_width$}{high}").trim_end().to_owned());
    }
    if texts.len() > MOST_ROWS {
        let left = counted((texts.len() - MOST_ROWS) as u128, "more row");
        lines.push(format!("  … {left}; --json has every half-space"));
    }
    if rows.iter().flat_map(|row| &row.coefficients).any(|own| short(*own).parse() != Ok(*own)) {
        lines.push("  (factors to six digits; --json has them all)".to_owned());
    }
    lines
}

/// Half-spaces by their direction, where two that face each other are one row.
fn rows(invariant: &Invariant) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for face in &invariant.faces {
        let Some(first) = face.coefficients.iter().copied().find(|own| *own != 0.0) else { continue };
        // A bound on one element is one on the element itself.
        let alone = face.coefficients.iter().filter(|own| **own != 0.0).count() == 1;
        let size = if alone { first.abs() } else { 1.0 };
        let scale = size * first.signum();
        let mut coefficients: Vec<f64> = face.coefficients.iter().map(|own| own / scale + 0.0).collect();
        while coefficients.last() == Some(&0.0) {
            coefficients.pop();
        }
        let bound = (Interval::point(face.bound) / Interval::point(size)).hi;
        let place = rows.iter().position(|row| row.coefficients == coefficients).unwrap_or_else(|| {
            rows.push(Row { low: None, coefficients, high: None });
            rows.len() - 1
        });
        let row = &mut rows[place];
        // Two that face the same way are too close to tell which is tighter.
        match first > 0.0 {
            true => row.high = Some(row.high.map_or(bound, |own| own.min(bound))),
            false => row.low = Some(row.low.map_or(-bound, |own| own.max(-bound))),
        }
    }
    rows
}

impl Row {
    /// What stands left of the sum, the sum, and what stands right of it.
    fn texts(&self, names: &[String]) -> [String; 3] {
        let sum = linear_text(&self.coefficients, names);
        match (self.low, self.high) {
            // An end below alone reads better on the right.
            (Some(low), None) => [String::new(), sum, format!(" >= {}", short_down(low))],
            (low, high) => [
                low.map_or_else(String::new, |low| format!("{} <= ", short_down(low))),
                sum,
                high.map_or_else(String::new, |high| format!(" <= {}", short_up(high))),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::{FileNetworks, LowerOptions, load_str};
    use certus_model::proof::Face;

    use super::*;

    fn system() -> System {
        let text = "system s\nstate x in [-9, 9]\nstate speed in [-9, 9]\nnext x = x\nnext speed = speed\nproperty p = G x < 9\n";
        load_str(text, &mut FileNetworks::default(), &LowerOptions::default()).unwrap()
    }

    fn invariant(faces: &[(&[f64], f64)]) -> Invariant {
        let face = |(coefficients, bound): &(&[f64], f64)| Face { coefficients: coefficients.to_vec(), bound: *bound };
        Invariant { faces: faces.iter().map(face).collect() }
    }

    #[test]
    fn ends_of_one_direction_share_a_row() {
        let own = invariant(&[(&[2.0], 0.5), (&[-1.0], 0.125), (&[0.0, -1.0], 3.0)]);
        assert_eq!(lines("within", &own, &system()), ["within -0.125 <= x <= 0.25, speed >= -3"]);
        let ranges = invariant(&[(&[1.0], 9.0)]);
        assert_eq!(lines("within the invariant", &ranges, &system()), ["within the invariant of the declared ranges"]);
    }

    #[test]
    fn long_ones_are_tables() {
        let own = invariant(&[
            (&[1.0], 1.0 / 3.0),
            (&[-1.0], 0.5),
            (&[0.0, 1.0], 2.0),
            (&[0.0, -1.0], 2.5),
            (&[1.0, 0.25], 0.4),
            (&[-1.0, 0.25], 0.75),
            (&[1.0, -0.25], 0.5),
        ]);
        let shown = lines("p: by induction over one state within the invariant", &own, &system());
        let expected = [
            "p: by induction over one state within the invariant",
            "   -0.5 <= x                <= 0.333334",
            "   -2.5 <= speed            <= 2",
            "           x + 0.25 * speed <= 0.4",
            "  -0.75 <= x - 0.25 * speed <= 0.5",
        ];
        assert_eq!(shown, expected);
    }
}
