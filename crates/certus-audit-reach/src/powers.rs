//! Natural powers of forms: products, or polynomials of a lower degree.
//!
//! A product drops monomials of too high a degree with all that they may be, which is much over wide ranges: of x³ on [−r, r] a line then says r³, although 3r²/4·x is within r³/4.
//! The highest powers are taken away with multiples of Chebyshev's polynomials, which are at most 1 on [−1, 1] (Lanczos, "Trigonometric interpolation of empirical and analytical
//! functions", Journal of Mathematics and Physics 17, 1938). What has the smallest error is taken.

use certus_graph::Interval;

use crate::curve::scaled;
use crate::form::{Form, Space, middle};

/// Higher powers are products and nothing else.
const HIGHEST_ECONOMISED: u32 = 8;

/// x to a natural power: by products, or by a polynomial of a lower degree where that has the smaller error.
pub(crate) fn natural(space: &Space, x: &Form, power: u32) -> Form {
    let mut best = power_of(space, x, power);
    if power > HIGHEST_ECONOMISED {
        return best;
    }
    let Some((t, centre, radius)) = scaled(space, x) else { return best };
    for degree in 1..(power as usize).min(4) {
        let (polynomial, band) = economised(Interval::point(centre), Interval::point(radius), power as usize, degree);
        let value = space.polynomial(&polynomial, &t);
        let own = space.shift(&value, Interval { lo: -band, hi: band });
        if own.error < best.error {
            best = own;
        }
    }
    best
}

/// A polynomial in t of some degree, and how far it may be from (centre + radius·t)ⁿ for t in [−1, 1].
fn economised(centre: Interval, radius: Interval, power: usize, degree: usize) -> (Vec<f64>, f64) {
    let mut binomial = 1.0;
    let mut coefficients: Vec<Interval> = Vec::with_capacity(power + 1);
    for k in 0..=power {
        coefficients.push(Interval::point(binomial) * centre.powi((power - k) as i32) * radius.powi(k as i32));
        binomial = binomial * (power - k) as f64 / (k + 1) as f64;
    }
    // Tₖ₊₁ = 2t·Tₖ − Tₖ₋₁; small integers, which doubles have exactly.
    let mut chebyshev: Vec<Vec<f64>> = vec![vec![1.0], vec![0.0, 1.0]];
    while chebyshev.len() <= power {
        let [.., before, last] = chebyshev.as_slice() else { break };
        let mut next: Vec<f64> = std::iter::once(0.0).chain(last.iter().map(|own| 2.0 * own)).collect();
        next.iter_mut().zip(before).for_each(|(own, before)| *own -= before);
        chebyshev.push(next);
    }
    let mut band = Interval::ZERO;
    while coefficients.len() > degree + 1
        && let Some(last) = coefficients.pop()
    {
        let own = &chebyshev[coefficients.len()];
        let factor = last / Interval::point(own[coefficients.len()]);
        coefficients.iter_mut().zip(own).for_each(|(sum, own)| *sum = *sum - factor * Interval::point(*own));
        band = band + Interval::point(factor.magnitude());
    }
    let (polynomial, errors): (Vec<f64>, Vec<f64>) = coefficients.into_iter().map(middle).unzip();
    (polynomial, errors.into_iter().fold(band, |sum, own| sum + Interval::point(own)).hi)
}

fn power_of(space: &Space, x: &Form, power: u32) -> Form {
    match power {
        0 => Form::within(Interval::ONE),
        1 => x.clone(),
        2 => space.mul(x, x),
        _ => {
            let half = power_of(space, x, power / 2);
            let square = space.mul(&half, &half);
            if power.is_multiple_of(2) { square } else { space.mul(&square, x) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::basis::Basis;

    #[test]
    fn powers_are_economised() {
        let at = |polynomial: &[f64], t: f64| polynomial.iter().rev().fold(0.0, |sum, own| sum * t + own);
        for power in 2..=HIGHEST_ECONOMISED as usize {
            for degree in 1..power {
                let (polynomial, band) = economised(Interval::point(0.25), Interval::point(1.5), power, degree);
                assert_eq!(polynomial.len(), degree + 1);
                let distance = |k: i32| {
                    let t = f64::from(k) / 50.0;
                    (at(&polynomial, t) - (0.25 + 1.5 * t).powi(power as i32)).abs()
                };
                let most = (-50..=50).map(distance).fold(0.0, f64::max);
                assert!(most <= band * (1.0 + 1e-9), "{power} {degree}: {most} {band}");
                // One degree less is what Chebyshev says: no polynomial is nearer.
                assert!(degree + 1 < power || most > 0.99 * band, "{power} {degree}: {most} {band}");
            }
        }
        // On [−2, 2], x³ is within 2 of 3·x.
        let space = Space::new(Arc::new(Basis::new(1, 1).unwrap()));
        let y = natural(&space, &space.variable(0, Interval::new(-2.0, 2.0)), 3);
        assert!((y.coefficients[1] - 6.0).abs() < 1e-9 && (y.error - 2.0).abs() < 1e-9, "{y:?}");
    }
}
