//! Sets of states that remember how they depend on the start: centre + shape·parameters + frame·rest.
//!
//! *Source.* Lohner 1988; Mrozek and Zgliczyński, *Set arithmetic and the enclosing problem in dynamics*, 2000 (doubletons). The
//! parameters are the deviations of the start and of the held numbers from their middles, the same throughout a period, so what
//! depends on them is carried by matrix products and does not wrap; what rounding and remainders add is carried in an orthogonal
//! frame that follows the flow.
//!
//! *Soundness.* If the flow over a step satisfies φ(x, u) ∈ image + Jx·(x − centre) + Ju·(u − middle) for all states of the set and
//! held numbers u (mean-value theorem), then with x − centre = shape·p + frame·r each product below is an identity up to enclosures,
//! and frame⁻¹ is enclosed, not approximated.

use super::arithmetic::middle;
use super::matrix::{Rows, applied, enclosed, frame, identity, middles, product};
use crate::Interval;

/// A set of states.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) centre: Vec<f64>,
    /// One row per state, one column per parameter.
    pub(super) shape: Rows<f64>,
    /// Deviations of the start, then of the held numbers.
    pub(super) parameters: Vec<Interval>,
    pub(super) frame: Rows<f64>,
    pub(super) rest: Vec<Interval>,
    /// A box around the set.
    pub(super) hull: Vec<Interval>,
}

impl Set {
    /// A box of starts, with held numbers in another.
    pub(super) fn new(start: &[Interval], held: &[Interval]) -> Set {
        let deviation = |own: &Interval| *own - Interval::point(middle(*own));
        let (n, d) = (start.len(), start.len() + held.len());
        let shape = (0..n).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        Set {
            centre: start.iter().map(|own| middle(*own)).collect(),
            shape,
            parameters: start.iter().chain(held).map(deviation).collect(),
            frame: identity(n),
            rest: vec![Interval::ZERO; n],
            hull: start.to_vec(),
        }
    }

    /// A box that has forgotten what it depends on.
    pub(super) fn restarted(&self, hull: Vec<Interval>) -> Set {
        let n = hull.len();
        let centre: Vec<f64> = hull.iter().map(|own| middle(*own)).collect();
        let rest = hull.iter().zip(&centre).map(|(&own, &c)| own - Interval::point(c)).collect();
        let shape = vec![vec![0.0; self.parameters.len()]; n];
        Set { centre, shape, parameters: self.parameters.clone(), frame: identity(n), rest, hull }
    }

    /// The box of all `image + slopes·(deviation of state and held numbers)`, `slopes` being Jx and Ju side by side.
    pub(super) fn moved(&self, image: &[Interval], slopes: &Rows<Interval>) -> Vec<Interval> {
        let n = self.centre.len();
        let (by_parameters, by_rest) = self.products(slopes);
        let spread = applied(&by_parameters, &self.parameters);
        let turned = applied(&by_rest, &self.rest);
        // The same without what the set remembers: better where the box around it was cut.
        let mut deviations: Vec<Interval> =
            self.hull.iter().zip(&self.centre).map(|(&own, &c)| own - Interval::point(c)).collect();
        deviations.extend_from_slice(&self.parameters[n..]);
        let plain = applied(slopes, &deviations);
        (0..n)
            .map(|i| {
                let (first, second) = (image[i] + spread[i] + turned[i], image[i] + plain[i]);
                first.intersection(second).unwrap_or(first)
            })
            .collect()
    }

    /// Jx·shape + [0 | Ju], and Jx·frame.
    fn products(&self, slopes: &Rows<Interval>) -> (Rows<Interval>, Rows<Interval>) {
        let n = self.centre.len();
        let by_state: Rows<Interval> = slopes.iter().map(|row| row[..n].to_vec()).collect();
        let mut by_parameters = product(&by_state, &enclosed(&self.shape));
        for (row, own) in by_parameters.iter_mut().zip(slopes) {
            row.iter_mut().zip(own).skip(n).for_each(|(sum, &slope)| *sum = *sum + slope);
        }
        (by_parameters, product(&by_state, &enclosed(&self.frame)))
    }

    /// The set after a step; `hull` is a box around it.
    pub(super) fn advanced(&self, image: &[Interval], slopes: &Rows<Interval>, hull: Vec<Interval>) -> Set {
        let (by_parameters, by_rest) = self.products(slopes);
        let shape = middles(&by_parameters);
        // In the box, over which slopes are enclosed: the mean-value theorem needs all that is between a state and the centre.
        let inside = |(own, hull): (&Interval, &Interval)| middle(*own).clamp(hull.lo, hull.hi);
        let centre: Vec<f64> = image.iter().zip(&hull).map(inside).collect();
        // What is left of the image and of the matrices beside their middles.
        let errors: Vec<Interval> = (0..centre.len())
            .map(|i| {
                let row = by_parameters[i].iter().zip(&shape[i]).zip(&self.parameters);
                let spread = row.fold(Interval::ZERO, |sum, ((&own, &m), &p)| sum + (own - Interval::point(m)) * p);
                image[i] - Interval::point(centre[i]) + spread
            })
            .collect();
        let weights: Vec<f64> = self.rest.iter().map(|own| own.magnitude()).collect();
        let (frame, inverse) = frame(&middles(&by_rest), &weights);
        let turned = applied(&product(&inverse, &by_rest), &self.rest);
        let added = applied(&inverse, &errors);
        let rest = turned.into_iter().zip(added).map(|(a, b)| a + b).collect();
        Set { centre, shape, parameters: self.parameters.clone(), frame, rest, hull }
    }
}
