//! A box that no solution leaves within a step: the first-order enclosure, on which everything else rests.
//!
//! *Source.* Moore 1979; Lohner, *Einschließung der Lösung gewöhnlicher Anfangs- und Randwertaufgaben*, 1988. If the box B has
//! start + [0, h]·f(B) strictly inside, every solution from the start stays in B over [0, h]: were τ the first instant at which one
//! is on B's border, it would lie in start + [0, τ]·f(B) (mean-value theorem, or the convex hull of an integral where f or the varying
//! inputs jump), which is strictly inside. That it exists so long follows: it cannot leave the compact B, on which f is bounded.
//!
//! The box is found by iteration with inflation; then the right-hand side of the inclusion, evaluated once or twice more, is a
//! smaller box with the same property.

use super::{Field, Intervals};
use crate::Interval;

/// How often a box is tried.
const TRIALS: usize = 14;

impl Field {
    /// A box that certainly contains every solution on [0, h] from the box `start`, if one is found. Varying inputs take all values
    /// of their ranges.
    pub fn a_priori(&self, start: &[Interval], held: &[Interval], h: f64) -> Option<Vec<Interval>> {
        let finite = start.iter().all(|own| own.magnitude().is_finite());
        if h < 0.0 || !h.is_finite() || !finite {
            return None;
        }
        let time = Interval { lo: 0.0, hi: h };
        let image = |of: &[Interval]| -> Option<Vec<Interval>> {
            let slopes = self.value(&mut Intervals, of, held, self.varying())?;
            Some(start.iter().zip(slopes).map(|(&own, slope)| own + time * slope).collect())
        };
        let mut candidate: Vec<Interval> = image(start)?.into_iter().map(|own| inflated(own, 0.1)).collect();
        for trial in 0..TRIALS {
            let found = image(&candidate)?;
            if !found.iter().all(|own| own.magnitude().is_finite()) {
                return None;
            }
            let inside = |outer: &Interval, own: &Interval| outer.lo < own.lo && own.hi < outer.hi;
            if candidate.iter().zip(&found).all(|(outer, own)| inside(outer, own)) {
                // Solutions lie in the image of any box that they lie in.
                let again = image(&found)?;
                let both = found.iter().zip(again).map(|(&own, smaller)| own.intersection(smaller).unwrap_or(own));
                return Some(both.collect());
            }
            let share = if trial < 4 { 0.1 } else { 0.5 };
            // What is inside already stays as it is: were it inflated too, a product of two such would outgrow its own inflation.
            let joined = candidate.iter().zip(&found);
            let wider = |(outer, own): (&Interval, &Interval)| match inside(outer, own) {
                true => *outer,
                false => inflated(outer.hull(*own), share),
            };
            candidate = joined.map(wider).collect();
        }
        None
    }
}

/// A range made wider by a share of its width, and by a little in any case.
fn inflated(range: Interval, share: f64) -> Interval {
    let amount = range.width() * share + 1e-13 * range.magnitude() + 1e-100;
    if amount.is_finite() { range.widen(amount) } else { Interval::ENTIRE }
}
