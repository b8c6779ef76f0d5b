//! Coverage: do the invariants together contain every initial state? If not, a counterexample for CEGIS.
//!
//! Branch and prune over the initial box: a part inside one invariant is done, a part with a point in none is a counterexample, any other is
//! split. Polynomials are bounded by their Bernstein coefficients (J. Garloff, 'Convergent bounds for the range of multivariate polynomials',
//! 1985). The tree of splits is part of the certificate, and the audit checks it in exact arithmetic.

use certus_audit::shield::{Branch, Cover, Invariant};

use crate::polynomial::Poly;

/// An invariant in floating point.
#[derive(Clone, Debug)]
pub enum Set {
    /// {E ≤ 0}.
    Polynomial(Poly),
    /// Normals and bounds.
    Polyhedron(Vec<(Vec<f64>, f64)>),
}

impl Set {
    /// The invariant of a branch over so many states.
    pub fn of(branch: &Branch, states: usize) -> Set {
        match &branch.invariant {
            Invariant::Polynomial(proof) => {
                let mut barrier = Poly::zero(states);
                proof.barrier.iter().for_each(|(c, m)| barrier.add(m.clone(), *c));
                Set::Polynomial(barrier)
            }
            Invariant::Polyhedron(polyhedron) => {
                Set::Polyhedron(polyhedron.halfspaces.iter().map(|h| (h.normal.clone(), h.bound)).collect())
            }
        }
    }

    /// Not positive inside.
    pub fn value(&self, state: &[f64]) -> f64 {
        match self {
            Set::Polynomial(barrier) => barrier.value(state),
            Set::Polyhedron(rows) => rows
                .iter()
                .map(|(normal, bound)| normal.iter().zip(state).map(|(a, x)| a * x).sum::<f64>() - bound)
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Whether a box is inside, as far as a bound tells.
    fn contains(&self, region: &[(f64, f64)]) -> bool {
        match self {
            Set::Polynomial(barrier) => highest(barrier, region).is_some_and(|top| top <= -1e-9 * barrier.size()),
            Set::Polyhedron(rows) => rows.iter().all(|(normal, bound)| {
                let top: f64 = normal.iter().zip(region).map(|(s, &(a, b))| if *s < 0.0 { s * a } else { s * b }).sum();
                top <= *bound
            }),
        }
    }
}

/// Most Bernstein coefficients that are computed; the audit has the same limit.
const MAX_COEFFICIENTS: usize = 1 << 16;

/// The largest Bernstein coefficient over a box.
fn highest(polynomial: &Poly, region: &[(f64, f64)]) -> Option<f64> {
    let variables = polynomial.variables();
    let moved: Vec<Poly> = region
        .iter()
        .enumerate()
        .map(|(i, &(a, b))| Poly::constant(variables, a).plus(&Poly::variable(variables, i), b - a))
        .collect();
    let unit = polynomial.compose(&moved);
    let degrees: Vec<usize> =
        (0..variables).map(|i| polynomial.terms().map(|(m, _)| usize::from(m[i])).max().unwrap_or(0)).collect();
    let count = degrees.iter().try_fold(1usize, |product, d| product.checked_mul(d + 1))?;
    if count > MAX_COEFFICIENTS {
        return None;
    }
    let mut tensor = vec![0.0; count];
    let mut stride = vec![1usize; variables];
    for i in (0..variables.saturating_sub(1)).rev() {
        stride[i] = stride[i + 1] * (degrees[i + 1] + 1);
    }
    for (monomial, c) in unit.terms() {
        tensor[monomial.iter().zip(&stride).map(|(&e, s)| usize::from(e) * s).sum::<usize>()] += c;
    }
    let choose = |n: usize, k: usize| (0..k).fold(1.0, |p, i| p * (n - i) as f64 / (i + 1) as f64);
    for (axis, &degree) in degrees.iter().enumerate().filter(|(_, d)| **d > 0) {
        let old = tensor.clone();
        for (place, entry) in tensor.iter_mut().enumerate() {
            let i = place / stride[axis] % (degree + 1);
            let base = place - i * stride[axis];
            *entry = (0..=i).map(|k| old[base + k * stride[axis]] * choose(i, k) / choose(degree, k)).sum();
        }
    }
    tensor.into_iter().reduce(f64::max)
}

/// Whether invariants cover a box.
#[derive(Clone, Debug)]
pub enum Coverage {
    /// Every state of the box is in some invariant.
    Complete(Cover),
    /// This one is not.
    Counterexample(Vec<f64>),
    /// Undecided with so many parts.
    Unknown,
}

/// Covers a box by invariants, looking at no more than so many parts.
pub fn cover(sets: &[Set], region: &[(f64, f64)], most: usize) -> Coverage {
    let mut left = most;
    part(sets, region, &mut left)
}

fn part(sets: &[Set], region: &[(f64, f64)], left: &mut usize) -> Coverage {
    if let Some(branch) = sets.iter().position(|set| set.contains(region)) {
        return Coverage::Complete(Cover::Inside { branch, identity: None });
    }
    let middle: Vec<f64> = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
    // Corners first: what is left out is mostly there.
    let corners = (0..1usize << region.len().min(6)).map(|bits| -> Vec<f64> {
        region.iter().enumerate().map(|(i, &(a, b))| if bits >> i.min(6) & 1 == 0 { a } else { b }).collect()
    });
    if let Some(point) = corners.chain([middle]).find(|point| sets.iter().all(|set| set.value(point) > 1e-12)) {
        return Coverage::Counterexample(point);
    }
    if *left == 0 {
        return Coverage::Unknown;
    }
    *left -= 1;
    let widest = (0..region.len()).max_by(|&i, &j| (region[i].1 - region[i].0).total_cmp(&(region[j].1 - region[j].0)));
    let Some(state) = widest.filter(|&i| region[i].1 > region[i].0) else { return Coverage::Unknown };
    let at = 0.5 * (region[state].0 + region[state].1);
    debug_assert!(region[state].0 <= at && at <= region[state].1, "the halves do not cover {:?}", region[state]);
    let mut half = region.to_vec();
    half[state].1 = at;
    let below = match part(sets, &half, left) {
        Coverage::Complete(below) => below,
        other => return other,
    };
    half[state] = (at, region[state].1);
    match part(sets, &half, left) {
        Coverage::Complete(above) => {
            Coverage::Complete(Cover::Split { state, at, below: Box::new(below), above: Box::new(above) })
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(x: f64, y: f64, radius: f64) -> Set {
        let along = |i: usize, c: f64| Poly::variable(2, i).plus(&Poly::constant(2, c), -1.0);
        let (dx, dy) = (along(0, x), along(1, y));
        let squared = dx.times(&dx).plus(&dy.times(&dy), 1.0);
        Set::Polynomial(squared.plus(&Poly::constant(2, radius * radius), -1.0))
    }

    #[test]
    fn two_discs_cover_a_box_that_neither_covers() {
        let region = [(-1.0, 1.0), (-0.5, 0.5)];
        let sets = [disc(-0.6, 0.0, 0.9), disc(0.6, 0.0, 0.9)];
        assert!(matches!(cover(&sets, &region, 1000), Coverage::Complete(Cover::Split { .. })));
        assert!(
            matches!(cover(&sets[..1], &region, 1000), Coverage::Counterexample(point) if sets[0].value(&point) > 0.0)
        );
        let apart = [disc(-0.8, 0.0, 0.8), disc(0.8, 0.0, 0.8)];
        assert!(matches!(cover(&apart, &region, 1000), Coverage::Counterexample(_)));
    }
}
