//! Taylor models over the initial variables with linear noise symbols: one number as a function of where a run began.
//!
//! Makino, Berz, "Taylor models and other validated functional inclusion methods", International Journal of Pure and Applied Mathematics 4 (2003); for the symbols:
//! de Figueiredo, Stolfi, "Affine arithmetic: concepts and applications", Numerical Algorithms 37 (2004).
//!
//! A [`Form`] stands for p(s) + Σ cⱼ·εⱼ + e, with s and ε anywhere in [−1, 1] and |e| ≤ `error`. What it stands for is a *relation*: for
//! every point of the set there are values of s and ε, the same for all forms of the set, and an e of its own for each form, that give its numbers.
//!
//! *Rounding.* Coefficients are doubles. Every operation adds to the error what its own rounding can have changed: all monomials and symbols are at most 1 in
//! magnitude, so that is a multiple of the sum of magnitudes that went in. Errors are sums of numbers that are not negative, in plain doubles; [`settled`] then adds more than
//! rounding can have taken away from so many of them.

use std::sync::Arc;

use certus_graph::Interval;

use crate::basis::Basis;

/// The unit roundoff, doubled.
const EPSILON: f64 = f64::EPSILON;

/// More than (1 + u)ⁿ for every n that occurs: sums of up to 2²⁰ terms.
const ROOM: f64 = 1.0 + 1.0 / (1u64 << 32) as f64;

/// More than what underflow can take away from a sum.
const TINY: f64 = 1e-290;

/// An upper bound of a sum of products of numbers that are not negative, from its value in doubles.
pub(crate) fn settled(sum: f64) -> f64 {
    if sum.is_nan() { f64::INFINITY } else { sum * ROOM + TINY }
}

/// The variables and symbols that forms are over.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) basis: Arc<Basis>,
    /// Monomials and symbols together.
    pub(crate) columns: usize,
}

/// A number as a function of variables and symbols, with an error.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The coefficients of the monomials, then of the symbols; those that are left out are zero. Empty if nothing is known but the range.
    pub(crate) coefficients: Vec<f64>,
    /// How far the number may be from what the coefficients say.
    pub(crate) error: f64,
    /// What the number lies in.
    pub(crate) range: Interval,
    /// At least the magnitudes of all coefficients and the error together, up to rounding.
    pub(crate) size: f64,
}

/// A double in the middle of a bounded interval, and a radius around it that reaches both ends.
pub(crate) fn middle(range: Interval) -> (f64, f64) {
    let centre = range.lo / 2.0 + range.hi / 2.0;
    let radius = (Interval::point(range.hi) - Interval::point(centre)).hi;
    (centre, radius.max((Interval::point(centre) - Interval::point(range.lo)).hi))
}

impl Form {
    /// Nothing but a range.
    pub(crate) fn within(range: Interval) -> Form {
        let (centre, error) = middle(range);
        match centre.is_finite() && error.is_finite() {
            true => Form { coefficients: vec![centre], error, range, size: centre.abs() + error },
            false => Form { coefficients: Vec::new(), error: f64::INFINITY, range, size: f64::INFINITY },
        }
    }

    /// Whether it has coefficients and a bounded error.
    pub(crate) fn is_bounded(&self) -> bool {
        self.error < f64::INFINITY
    }

    /// The exact number that it is, if it is one.
    pub(crate) fn exactly(&self) -> Option<f64> {
        (self.range.lo == self.range.hi).then_some(self.range.lo)
    }

    fn constant(&self) -> f64 {
        self.coefficients.first().copied().unwrap_or(0.0)
    }
}

impl Space {
    pub(crate) fn new(basis: Arc<Basis>) -> Space {
        let columns = basis.len();
        Space { basis, columns }
    }

    /// A variable of the basis, scaled to a range.
    pub(crate) fn variable(&self, variable: usize, range: Interval) -> Form {
        let (centre, radius) = middle(range);
        let mut coefficients = vec![0.0; variable + 2];
        (coefficients[0], coefficients[variable + 1]) = (centre, radius);
        self.made(coefficients, 0.0, range)
    }

    /// A number of a range with a symbol of its own.
    pub(crate) fn noise(&mut self, range: Interval) -> Form {
        let mut form = Form::within(range);
        self.name_error(&mut form);
        form
    }

    /// Gives the error a symbol of its own, so that what becomes of it later is known; one that hardly matters is left as it is.
    pub(crate) fn name_error(&mut self, form: &mut Form) {
        if form.error > 1e-9 * form.range.width() && form.is_bounded() {
            form.coefficients.resize(self.columns + 1, 0.0);
            form.coefficients[self.columns] = std::mem::take(&mut form.error);
            self.columns += 1;
        }
    }

    /// What the coefficients and the error of a form allow.
    pub(crate) fn enclosure(&self, coefficients: &[f64], error: f64) -> Interval {
        let Some((&constant, rest)) = coefficients.split_first() else { return Interval::ENTIRE };
        let (mut below, mut above) = (0.0, 0.0);
        for (place, &c) in rest.iter().enumerate() {
            // Even monomials lie in [0, 1], everything else in [−1, 1].
            match self.basis.even.get(place + 1) {
                Some(true) if c > 0.0 => above += c,
                Some(true) => below -= c,
                _ => {
                    above += c.abs();
                    below += c.abs();
                }
            }
        }
        let ends = (settled(below + error), settled(above + error));
        if !(ends.0.is_finite() && ends.1.is_finite() && constant.is_finite()) {
            return Interval::ENTIRE;
        }
        Interval::point(constant) + Interval { lo: -ends.0, hi: ends.1 }
    }

    /// A form with a range that is known besides.
    pub(crate) fn made(&self, coefficients: Vec<f64>, error: f64, known: Interval) -> Form {
        let error = settled(error);
        let own = self.enclosure(&coefficients, error);
        if own == Interval::ENTIRE {
            return Form::within(known);
        }
        // Two enclosures of one number that do not meet are those of no number at all.
        let size = coefficients.iter().map(|c| c.abs()).sum::<f64>() + error;
        Form { coefficients, error, range: own.intersection(known).unwrap_or(own), size }
    }

    /// Σ wᵢ·xᵢ + bias, each weight within `weight_error` of the one that is given.
    pub(crate) fn combine<'f>(
        &self,
        terms: impl Iterator<Item = (f64, &'f Form)> + Clone,
        weight_error: f64,
        bias: Interval,
    ) -> Form {
        let mut known = bias;
        let mut bounded = true;
        let mut width = 1;
        for (weight, form) in terms.clone() {
            let factor = Interval::point(weight).widen(weight_error);
            if factor != Interval::ZERO {
                known = known + factor * form.range;
                bounded &= form.is_bounded();
                width = width.max(form.coefficients.len());
            }
        }
        if !bounded {
            return Form::within(known);
        }
        let mut coefficients = vec![0.0; width];
        let (centre, radius) = middle(bias);
        coefficients[0] = centre;
        let (mut error, mut sizes, mut count, mut magnitudes) = (radius, centre.abs(), 1.0, 0.0);
        for (weight, form) in terms {
            if weight == 0.0 && weight_error == 0.0 {
                continue;
            }
            for (sum, c) in coefficients.iter_mut().zip(&form.coefficients) {
                *sum += weight * c;
            }
            error += weight.abs() * form.error;
            sizes += weight.abs() * form.size;
            magnitudes += form.size;
            count += 1.0;
        }
        error += weight_error * magnitudes + (count + 2.0) * EPSILON * sizes;
        self.made(coefficients, error, known)
    }

    pub(crate) fn scale(&self, form: &Form, factor: Interval) -> Form {
        let (weight, error) = middle(factor);
        self.combine(std::iter::once((weight, form)), error, Interval::ZERO)
    }

    pub(crate) fn add(&self, a: &Form, b: &Form) -> Form {
        self.combine([(1.0, a), (1.0, b)].into_iter(), 0.0, Interval::ZERO)
    }

    pub(crate) fn sub(&self, a: &Form, b: &Form) -> Form {
        self.combine([(1.0, a), (-1.0, b)].into_iter(), 0.0, Interval::ZERO)
    }

    pub(crate) fn shift(&self, a: &Form, by: Interval) -> Form {
        self.combine(std::iter::once((1.0, a)), 0.0, by)
    }

    /// The same number, known to lie in a range besides.
    pub(crate) fn limited(&self, mut form: Form, range: Interval) -> Form {
        form.range = form.range.intersection(range).unwrap_or(form.range);
        if form.is_bounded() {
            return form;
        }
        Form::within(form.range)
    }

    /// a·b. Monomials of too high a degree and products with symbols become error, except for the constants' part.
    ///
    /// With a = a₀ + p + n, where p is the rest of the polynomial and n the symbols: a·b = (polynomials) + a₀·n_b + b₀·n_a + p_a·n_b + p_b·n_a + n_a·n_b + errors. In n_a·n_b the
    /// squares of symbols lie in [0, 1].
    pub(crate) fn mul(&self, a: &Form, b: &Form) -> Form {
        if a.exactly() == Some(0.0) || b.exactly() == Some(0.0) {
            return Form::within(Interval::ZERO);
        }
        let same = std::ptr::eq(a, b);
        let known = if same { a.range.powi(2) } else { a.range * b.range };
        if !(a.is_bounded() && b.is_bounded()) {
            return Form::within(known);
        }
        let monomials = self.basis.len();
        let parts = |form: &Form| form.coefficients.len().min(monomials);
        let (of_a, of_b) = (parts(a), parts(b));
        let (poly_a, noise_a) = a.coefficients.split_at(of_a);
        let (poly_b, noise_b) = b.coefficients.split_at(of_b);
        let width = match noise_a.is_empty() && noise_b.is_empty() {
            true => monomials,
            false => a.coefficients.len().max(b.coefficients.len()),
        };
        let mut coefficients = vec![0.0; width];
        let mut truncated = 0.0;
        for (i, &x) in poly_a.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            for (j, &y) in poly_b.iter().enumerate().filter(|(_, y)| **y != 0.0) {
                match self.basis.product(i, j) {
                    Some(place) => coefficients[place] += x * y,
                    None => truncated += (x * y).abs(),
                }
            }
        }
        let (a0, b0) = (a.constant(), b.constant());
        for (place, &c) in noise_a.iter().enumerate() {
            coefficients[monomials + place] += b0 * c;
        }
        for (place, &c) in noise_b.iter().enumerate() {
            coefficients[monomials + place] += a0 * c;
        }
        let magnitude = |own: &[f64]| settled(own.iter().map(|c| c.abs()).sum::<f64>());
        let (n_a, n_b) = (magnitude(noise_a), magnitude(noise_b));
        let (p_a, p_b) = (magnitude(&poly_a[1.min(of_a)..]), magnitude(&poly_b[1.min(of_b)..]));
        let squares: Interval = noise_a
            .iter()
            .zip(noise_b)
            .filter(|(x, y)| **x != 0.0 && **y != 0.0)
            .fold(Interval::ZERO, |sum, (x, y)| sum + Interval::point(*x) * Interval::point(*y));
        let halves = squares * Interval::point(0.5);
        let (shift, slack) = middle(halves);
        coefficients[0] += shift;
        let diagonal: f64 = noise_a.iter().zip(noise_b).map(|(x, y)| (x * y).abs()).sum();
        let crossed = settled(n_a * n_b) - 0.5 * diagonal * (1.0 - 1e-9);
        let (size_a, size_b) = (a.size, b.size);
        let error = truncated
            + p_a * n_b
            + p_b * n_a
            + crossed.max(0.0)
            + slack
            + size_a * b.error
            + size_b * a.error
            + (monomials as f64 + 8.0) * EPSILON * (size_a * size_b + shift.abs());
        self.made(coefficients, error, known)
    }

    /// Σ cₖ·xᵏ, by Horner's rule.
    pub(crate) fn polynomial(&self, coefficients: &[f64], x: &Form) -> Form {
        let Some((&last, rest)) = coefficients.split_last() else { return Form::within(Interval::ZERO) };
        let mut value = Form::within(Interval::point(last));
        for (place, &c) in rest.iter().enumerate().rev() {
            value = match place + 2 == coefficients.len() {
                true => self.combine(std::iter::once((last, x)), 0.0, Interval::point(c)),
                false => {
                    let product = self.mul(&value, x);
                    self.shift(&product, Interval::point(c))
                }
            };
        }
        value
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A point: values of the variables and symbols.
    pub(crate) fn value(space: &Space, form: &Form, point: &[f64]) -> f64 {
        let variables = space.basis.variables;
        let mut sum = 0.0;
        for (place, c) in form.coefficients.iter().enumerate() {
            sum += c * match space.basis.exponents.get(place) {
                Some(own) => own.iter().zip(point).map(|(&power, s)| s.powi(power.into())).product(),
                None => point[variables + place - space.basis.len()],
            };
        }
        sum
    }

    pub(crate) fn form(space: &Space, coefficients: Vec<f64>) -> Form {
        space.made(coefficients, 0.0, Interval::ENTIRE)
    }

    /// Whether a form with an error may have a value at a point, up to the rounding of the test itself.
    pub(crate) fn allows(space: &Space, form: &Form, point: &[f64], wanted: f64) -> bool {
        let slack = 1e-9 * (1.0 + wanted.abs());
        (value(space, form, point) - wanted).abs() <= form.error + slack
            && form.range.lo - slack <= wanted
            && wanted <= form.range.hi + slack
    }

    proptest! {
        #[test]
        fn sums_and_products_enclose_their_values(
            a in prop::collection::vec(-2.0..2.0f64, 8),
            b in prop::collection::vec(-2.0..2.0f64, 8),
            weights in (-3.0..3.0f64, -3.0..3.0f64, 0.0..0.1f64),
            point in prop::collection::vec(-1.0..=1.0f64, 4),
            shift in -1.0..1.0f64,
        ) {
            // Two variables of degree 2: six monomials; two symbols.
            let mut space = Space::new(Arc::new(Basis::new(2, 2).unwrap()));
            space.columns += 2;
            let (x, y) = (form(&space, a), form(&space, b));
            let (at_x, at_y) = (value(&space, &x, &point), value(&space, &y, &point));
            let sum = space.combine([(weights.0, &x), (weights.1, &y)].into_iter(), weights.2, Interval::point(shift));
            let wanted = (weights.0 + shift * weights.2) * at_x + (weights.1 - shift * weights.2) * at_y + shift;
            prop_assert!(allows(&space, &sum, &point, wanted));
            prop_assert!(allows(&space, &space.mul(&x, &y), &point, at_x * at_y));
            let square = space.mul(&x, &x);
            prop_assert!(allows(&space, &square, &point, at_x * at_x) && square.range.lo >= 0.0);
            let cubic = space.polynomial(&[1.0, -0.5, 0.25, 2.0], &x);
            let wanted = 1.0 + at_x * (-0.5 + at_x * (0.25 + at_x * 2.0));
            prop_assert!(allows(&space, &cubic, &point, wanted));
        }
    }

    #[test]
    fn errors_become_symbols_and_zero_absorbs() {
        let mut space = Space::new(Arc::new(Basis::new(1, 2).unwrap()));
        let mut own = Form::within(Interval::new(1.0, 3.0));
        space.name_error(&mut own);
        assert_eq!((own.error, space.columns, own.coefficients.len()), (0.0, 4, 4));
        assert!(space.sub(&own, &own).range.magnitude() < 1e-12);
        let unbounded = Form::within(Interval::new(0.0, f64::INFINITY));
        assert!(!unbounded.is_bounded());
        assert_eq!(space.mul(&unbounded, &Form::within(Interval::ZERO)).range, Interval::ZERO);
        assert_eq!(space.add(&unbounded, &own).range.lo, 1.0);
        assert_eq!(space.mul(&unbounded, &unbounded).range.lo, 0.0);
    }
}
