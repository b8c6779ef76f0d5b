//! Functions of one variable applied to Taylor models: polynomial approximation with an enclosed error.
//!
//! Over the range of its argument a function is a polynomial of low degree plus an error in a narrow band; the polynomial is composed with the form, the
//! band becomes a noise symbol. Candidates are the line of least band (DeepZ, see `certus-solver`), interpolation at Chebyshev nodes for smooth functions
//! (Trefethen, "Approximation Theory and Approximation Practice", SIAM 2013, chapter 8), and for a ReLU over [l, u] with l < 0 < u the parabola through its
//! values at l, 0 and u, whose error is a quarter of the line's where the range is symmetric (Bernstein polynomials do the same in POLAR, ATVA 2022).
//! The one that leaves least, the terms that its composition truncates included, is taken.
//!
//! *Soundness.* Any polynomial will do, since its error is enclosed. Interpolation: f − p = f⁽ᵈ⁺¹⁾(ξ)/(d+1)! · Π(x − xᵢ), the derivative enclosed over the range by
//! interval Taylor coefficients; what rounding makes of p differs from it by at most the Lebesgue constant times the largest difference at a node.

use certus_graph::Interval;
use certus_graph::ops::{Activation, Family};
use certus_solver::domain::{Curve, band};
use certus_solver::rounding::{ROOM, gamma};

use crate::form::{Form, Space, middle};

/// The highest degree of an approximation.
const MOST_DEGREE: usize = 4;

/// Bounds the Lebesgue constant of up to five Chebyshev nodes, which is below 2, with room for nodes that are rounded.
const LEBESGUE: f64 = 2.5;

/// f(x) = Σ coefficientsₖ (x − centre)ᵏ + something in the band.
#[derive(Clone, Debug)]
struct Approximation {
    centre: f64,
    coefficients: Vec<f64>,
    band: Interval,
    /// Where, from the centre, it would agree with the function but for rounding, if it was interpolated.
    nodes: Vec<f64>,
}

impl Approximation {
    /// With what rounding of coefficients may be off by, which only an approximation that is taken is worth to bound.
    fn with_rounding(mut self, curve: &Curve) -> Approximation {
        let mut off = 0.0f64;
        for &node in &self.nodes {
            let exact = curve.enclose(Interval::point(self.centre) + Interval::point(node));
            let horner = |sum: f64, c: f64, node: f64| sum * node + c;
            let value = self.coefficients.iter().rev().fold(0.0, |sum, c| horner(sum, *c, node));
            let size = self.coefficients.iter().rev().fold(0.0, |sum, c| horner(sum, c.abs(), node.abs()));
            let far = (exact.hi - value).max(value - exact.lo);
            off = off.max(far + f64::EPSILON * far.abs() + gamma(2 * self.coefficients.len()) * size * ROOM);
        }
        self.band = self.band.widen((off * LEBESGUE).next_up());
        self
    }

    /// What composition with a form loses: the band, and what is truncated.
    fn loss(&self, space: &Space, moving: f64, remainder: f64) -> f64 {
        let (_, half) = middle(self.band);
        let truncated = self.coefficients.iter().enumerate().skip(2).map(|(power, c)| {
            let beyond = if power > space.monomials.degree { moving.powi(power as i32) } else { 0.0 };
            let all = (moving + remainder).powi(power as i32) - moving.powi(power as i32);
            let linear = if power == 2 { remainder * remainder / 2.0 } else { 0.0 };
            c.abs() * (beyond + all - linear)
        });
        half + truncated.sum::<f64>()
    }
}

/// The curve of a form. What is lost is its error, which has no symbol yet.
pub(crate) fn apply(space: &Space, curve: &Curve, form: &Form) -> Form {
    let range = form.range;
    let known = curve.enclose(range);
    if known.lo == known.hi || !(range.lo.is_finite() && range.hi.is_finite()) {
        return space.constant(known);
    }
    let (slope, rest) = band(curve, range);
    let mut best = Approximation { centre: 0.0, coefficients: vec![0.0, slope], band: rest, nodes: Vec::new() };
    let sizes = space.sizes(form);
    if !curve.is_linear(range) && space.monomials.degree >= 2 {
        let remainder = sizes.noise + form.error;
        let moving = (range.width() / 2.0 - remainder).max(0.0);
        let mut least = best.loss(space, moving, remainder);
        let degrees = 2..=space.monomials.degree.min(MOST_DEGREE);
        let others = match curve.family() {
            Some(Family::Breakpoint { negative_slope }) => parabola(negative_slope, range).into_iter().collect(),
            Some(Family::Smooth) => interpolations(curve, range, degrees),
            _ => Vec::new(),
        };
        for other in others {
            let loss = other.loss(space, moving, remainder);
            if loss < least {
                (least, best) = (loss, other);
            }
        }
        best = best.with_rounding(curve);
    }
    let found = space.composed(form, &sizes, (best.centre, &best.coefficients), best.band);
    space.within(found, known)
}

/// The parabola that agrees with a function with one breakpoint at the ends and at zero.
fn parabola(negative_slope: f64, range: Interval) -> Option<Approximation> {
    let Interval { lo, hi } = range;
    if !(lo < 0.0 && 0.0 < hi) {
        return None;
    }
    // f(x) = m x + (1 − m) relu(x), and relu(x) is a x² + b x with an error in [0, max(l², u²) / (4 (u − l))].
    let share = Interval::ONE - Interval::point(negative_slope);
    let a = 1.0 / (hi - lo);
    let b = -lo / (hi - lo);
    // The error for a and b as they were rounded: e(x) = relu(x) − a x² − b x is concave on either side of zero.
    let (a_, b_) = (Interval::point(a), Interval::point(b));
    let at = |x: f64, positive: bool| {
        let x = Interval::point(x);
        let own = if positive { x } else { Interval::ZERO };
        own - a_ * x.powi(2) - b_ * x
    };
    let four = Interval::point(4.0);
    let peaks = [b_.powi(2) / (four * a_), (Interval::ONE - b_).powi(2) / (four * a_)];
    let ends = [at(lo, false), at(hi, true), Interval::ZERO];
    let all = ends.iter().chain(&peaks).copied().reduce(Interval::hull)?;
    let (share_, _) = middle(share);
    // The coefficients are rounded once more; the difference is enclosed over the range.
    let coefficients = vec![0.0, negative_slope + share_ * b, share_ * a];
    let linear = Interval::point(negative_slope) + share * b_ - Interval::point(coefficients[1]);
    let square = share * a_ - Interval::point(coefficients[2]);
    let band = share * all + linear * range + square * range.powi(2);
    Some(Approximation { centre: 0.0, coefficients, band, nodes: Vec::new() })
}

/// Interpolation at Chebyshev nodes for each of some degrees.
fn interpolations(curve: &Curve, range: Interval, degrees: std::ops::RangeInclusive<usize>) -> Vec<Approximation> {
    let Some(over_range) = taylor(curve, range, degrees.end() + 1) else { return Vec::new() };
    let (centre, half) = middle(range);
    degrees.filter_map(|degree| interpolation(curve, centre, half, degree, over_range[degree + 1])).collect()
}

/// Chebyshev nodes over [−1, 1], for degrees from two on.
const NODES: [&[f64]; MOST_DEGREE - 1] = [
    &[0.866_025_403_784_438_7, 0.0, -0.866_025_403_784_438_7],
    &[0.923_879_532_511_286_7, 0.382_683_432_365_089_8, -0.382_683_432_365_089_8, -0.923_879_532_511_286_7],
    &[0.951_056_516_295_153_5, 0.587_785_252_292_473_1, 0.0, -0.587_785_252_292_473_1, -0.951_056_516_295_153_5],
];

/// Without what rounding makes of it: that is added by [`Approximation::with_rounding`].
fn interpolation(curve: &Curve, centre: f64, half: f64, degree: usize, derivative: Interval) -> Option<Approximation> {
    let nodes: Vec<f64> = NODES.get(degree - 2)?.iter().map(|node| half * node).collect();
    // Newton's divided differences, then multiplied out.
    let mut differences: Vec<f64> = nodes.iter().map(|node| curve.value(centre + node)).collect();
    for level in 1..=degree {
        for place in (level..=degree).rev() {
            differences[place] = (differences[place] - differences[place - 1]) / (nodes[place] - nodes[place - level]);
        }
    }
    let mut coefficients = vec![0.0; degree + 1];
    for place in (0..=degree).rev() {
        for power in (0..degree).rev() {
            coefficients[power + 1] = coefficients[power] - nodes[place] * coefficients[power + 1];
        }
        coefficients[0] = differences[place] - nodes[place] * coefficients[0];
    }
    if !coefficients.iter().all(|c| c.is_finite()) {
        return None;
    }
    // Π|x − xᵢ| is at most 2 (r/2)^(d+1); the rounding of nodes is far below the factor.
    let product = 2.0 * (half / 2.0).powi(degree as i32 + 1) * (1.0 + 1e-6);
    let size = (derivative.magnitude() * product * (1.0 + 1e-9)).next_up();
    size.is_finite().then_some(Approximation { centre, coefficients, band: Interval { lo: -size, hi: size }, nodes })
}

/// Enclosures of f⁽ᵏ⁾/k! over an interval, up to an order; nothing for functions that are not known, or not smooth there.
pub(crate) fn taylor(curve: &Curve, x: Interval, order: usize) -> Option<Vec<Interval>> {
    let number = |value: f64| Interval::point(value);
    let by_factor = |first: Interval, next: &dyn Fn(usize, Interval) -> Interval| {
        let mut all = vec![first];
        for k in 1..=order {
            all.push(next(k, all[k - 1]));
        }
        all
    };
    Some(match curve {
        Curve::Activation(Activation::Tanh(_)) => tanh(x, order),
        Curve::Activation(Activation::Sigmoid(_)) => sigmoid(x, order),
        Curve::Activation(Activation::Softplus(_)) => {
            let slopes = sigmoid(x, order);
            let rest = (1..=order).map(|k| slopes[k - 1] / number(k as f64));
            std::iter::once(x.softplus()).chain(rest).collect()
        }
        Curve::Activation(Activation::Exp(_)) => by_factor(x.exp(), &|k, last| last / number(k as f64)),
        Curve::Activation(Activation::Sin(_)) => circular(x, order, 0),
        Curve::Activation(Activation::Cos(_)) => circular(x, order, 1),
        Curve::Activation(Activation::Log(_)) if x.lo > 0.0 => {
            let powers = (1..=order).map(|k| {
                let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
                number(sign / 1.0) / (number(k as f64) * x.powi(k as i32))
            });
            std::iter::once(x.ln()).chain(powers).collect()
        }
        Curve::Activation(Activation::Sqrt(_)) if x.lo > 0.0 => {
            by_factor(x.sqrt(), &|k, last| last * number(1.5 - k as f64) / (number(k as f64) * x))
        }
        Curve::Reciprocal if !x.contains(0.0) => by_factor(number(1.0) / x, &|_, last| -last / x),
        Curve::Power(p) if x.lo > 0.0 || (p.fract() == 0.0 && *p >= 0.0 && *p <= 16.0) => {
            let mut factor = number(1.0);
            let mut all = Vec::new();
            for k in 0..=order {
                let left = p - k as f64;
                let power = if left == 0.0 { number(1.0) } else { x.pow(number(left)) };
                all.push(if factor == Interval::ZERO { Interval::ZERO } else { factor * power });
                factor = factor * number(left) / number(k as f64 + 1.0);
            }
            all
        }
        _ => return None,
    })
}

/// Largest sizes of the derivatives of tanh, divided by factorials: 2·√3/9, 1/3, and what the quartic and quintic reach.
const TANH: [f64; 6] = [1.0, 1.0, 0.385, 0.333_4, 0.170_3, 0.133_4];

fn tanh(x: Interval, order: usize) -> Vec<Interval> {
    let mut all = vec![x.tanh()];
    for k in 0..order {
        // y' = 1 − y².
        let mut sum = if k == 0 { Interval::ONE } else { Interval::ZERO };
        for j in 0..=k {
            let term = if k % 2 == 0 && j == k / 2 { all[j].powi(2) } else { all[j] * all[k - j] };
            sum = sum - term;
        }
        let next = sum / Interval::point(k as f64 + 1.0);
        let most = TANH.get(k + 1).map_or(Interval::ENTIRE, |most| Interval { lo: -most, hi: *most });
        all.push(next.intersection(most).unwrap_or(most));
    }
    all
}

/// (1 + tanh(x/2)) / 2.
fn sigmoid(x: Interval, order: usize) -> Vec<Interval> {
    let half = Interval::point(0.5);
    let of_half = tanh(x * half, order);
    let mut factor = half;
    let rest = of_half.iter().skip(1).map(|own| {
        factor = factor * half;
        *own * factor
    });
    let rest: Vec<Interval> = rest.collect();
    std::iter::once(x.sigmoid()).chain(rest).collect()
}

/// sin (quarter 0) or cos (quarter 1).
fn circular(x: Interval, order: usize, quarter: usize) -> Vec<Interval> {
    let mut factorial = Interval::ONE;
    (0..=order)
        .map(|k| {
            if k > 0 {
                factorial = factorial * Interval::point(k as f64);
            }
            let value = match (k + quarter) % 4 {
                0 => x.sin(),
                1 => x.cos(),
                2 => -x.sin(),
                _ => -x.cos(),
            };
            value / factorial
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_graph::ops;
    use proptest::prelude::*;

    fn curves() -> Vec<(Curve, f64)> {
        vec![
            (Curve::from(ops::Tanh), -1e9),
            (Curve::from(ops::Sigmoid), -1e9),
            (Curve::from(ops::Sin), -1e9),
            (Curve::from(ops::Cos), -1e9),
            (Curve::from(ops::Exp), -1e9),
            (Curve::from(ops::Relu), -1e9),
            (Curve::from(ops::LeakyRelu { alpha: 0.1 }), -1e9),
            (Curve::from(ops::Abs), -1e9),
            (Curve::from(ops::Log), 0.1),
            (Curve::from(ops::Sqrt), 0.1),
            (Curve::Reciprocal, 0.1),
            (Curve::Power(2.0), -1e9),
            (Curve::Power(3.0), -1e9),
        ]
    }

    proptest! {
        #[test]
        fn compositions_enclose_values(
            (a, b, c, d) in (-2.0..2.0f64, -2.0..2.0f64, -1.0..1.0f64, 0.0..0.5f64),
            degree in 1..5usize,
            points in proptest::collection::vec((-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64), 8),
        ) {
            for (curve, least) in curves() {
                let mut space = Space::new(2, degree);
                let s = space.variable(0, Interval { lo: -1.0, hi: 1.0 });
                let t = space.variable(1, Interval { lo: -1.0, hi: 1.0 });
                let e = space.noise(Interval { lo: -1.0, hi: 1.0 });
                let product = space.product(&s, &t, false);
                let form = space.combine(
                    &[
                        (Interval::point(b), &s),
                        (Interval::point(c), &product),
                        (Interval::point(d), &e),
                    ],
                    Interval::point(a),
                );
                if form.range.lo < least {
                    continue;
                }
                let found = apply(&space, &curve, &form);
                for (s, t, e) in &points {
                    let x = a + b * s + c * s * t + d * e;
                    let y = curve.value(x);
                    let m = &space.monomials;
                    let mut value = 0.0;
                    for (place, exponents) in m.exponents.iter().enumerate() {
                        value += found.coefficients[place]
                            * s.powi(exponents[0].into()) * t.powi(exponents[1].into());
                    }
                    value += found.coefficients.get(m.len()).unwrap_or(&0.0) * e;
                    let rest: f64 = found.coefficients.iter().skip(m.len() + 1).map(|c| c.abs()).sum();
                    prop_assert!(
                        (y - value).abs() <= rest + found.error + 1e-12 * y.abs().max(1.0),
                        "{curve:?} at {x}: {y} against {value} ± {rest} + {}", found.error
                    );
                    prop_assert!(found.range.lo <= y + 1e-12 && y - 1e-12 <= found.range.hi);
                }
            }
        }
    }
}
