//! Taylor models whose remainder is a zonotope.
//!
//! A [`Form`] stands for the values `p(s) + Σ gⱼ eⱼ + r`: a polynomial p of bounded degree in *strong* variables s ∈ [−1, 1]ⁿ (initial state,
//! parameters), a linear part in *noise symbols* e ∈ [−1, 1]ᵐ that all forms of a set share, and an error r with |r| ≤ `error` of its own.
//! Taylor models: Makino, Berz, "Taylor models and other validated functional inclusion methods", Int. J. Pure Appl. Math. 4 (2003). Remainders that
//! stay symbolic over linear maps: Huang, Fan, Chen, Li, Zhu, "POLAR: a polynomial arithmetic framework for verifying neural-network controlled systems",
//! ATVA 2022; as generators of a zonotope, beside dependent ones, they make a sparse polynomial zonotope (Kochdumper, Althoff, "Sparse polynomial
//! zonotopes", IEEE TAC 66, 2021).
//!
//! *Idea.* What matters of the initial set is kept to a high degree, and what was lost on the way (truncated terms, relaxations, remainders)
//! is kept to first order, so that a contracting loop contracts it and no wrapping effect accumulates.
//!
//! *Soundness.* Every operation encloses the exact result for the same values of s and e. Coefficients are computed to nearest; what rounding may
//! be off by goes to the error, with a factor for the roundings of the bounds themselves.
//!
//! *Departure.* Products of a noise symbol with anything but a constant become error at once.

use std::sync::Arc;

use certus_graph::Interval;
use certus_solver::rounding::{ROOM, gamma};

use crate::monomials::{MOST_DEGREE, Monomials};

/// A number that depends on strong variables and noise symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// One per monomial, then one per noise symbol; those that are left out are zero.
    pub(crate) coefficients: Vec<f64>,
    /// The size of the error.
    pub(crate) error: f64,
    /// Contains all values; may be narrower than what the rest says.
    pub(crate) range: Interval,
}

/// The variables and symbols that forms speak of.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) monomials: Arc<Monomials>,
    /// How many columns there are: monomials and noise symbols.
    pub(crate) columns: usize,
}

/// The parts of a form by their size.
pub(crate) struct Sizes {
    of_degree: [f64; MOST_DEGREE + 1],
    pub(crate) noise: f64,
}

impl Sizes {
    fn polynomial(&self) -> f64 {
        self.of_degree.iter().sum()
    }

    /// What the polynomial has beside its constant.
    fn moving(&self) -> f64 {
        self.of_degree[1..].iter().sum()
    }

    fn all(&self) -> f64 {
        self.polynomial() + self.noise
    }

    /// What the monomials beyond the degree add up to in a product of two polynomials.
    fn beyond(&self, other: &[f64; MOST_DEGREE + 1], degree: usize) -> f64 {
        let mut beyond = 0.0;
        for (i, left) in self.of_degree.iter().enumerate().take(degree + 1).skip(1) {
            beyond += left * other[degree + 1 - i..=degree].iter().sum::<f64>();
        }
        beyond
    }
}

/// What products that underflow may be off by.
const TINY: f64 = f64::MIN_POSITIVE;

impl Space {
    pub(crate) fn new(variables: usize, degree: usize) -> Space {
        let monomials = Arc::new(Monomials::new(variables, degree));
        Space { columns: monomials.len(), monomials }
    }

    /// A new noise symbol, by its column.
    pub(crate) fn fresh(&mut self) -> usize {
        self.columns += 1;
        self.columns - 1
    }

    /// A number that is known by an interval alone: its width becomes error.
    pub(crate) fn constant(&self, value: Interval) -> Form {
        let (middle, half) = middle(value);
        let mut coefficients = vec![0.0; self.monomials.len()];
        coefficients[0] = middle;
        Form { coefficients, error: half, range: value }
    }

    /// A number that is known by an interval alone: its width becomes a noise symbol.
    pub(crate) fn noise(&mut self, value: Interval) -> Form {
        let mut form = self.constant(value);
        self.name_error(&mut form);
        form
    }

    /// The strong variable of this number, scaled to an interval.
    pub(crate) fn variable(&self, variable: usize, value: Interval) -> Form {
        let mut form = self.constant(value);
        form.coefficients[1 + variable] = std::mem::take(&mut form.error);
        form
    }

    /// Makes a form's error a noise symbol, unless it is next to nothing.
    pub(crate) fn name_error(&mut self, form: &mut Form) {
        if form.error.is_finite() && form.error > 1e-14 * form.range.magnitude() {
            let column = self.fresh();
            form.coefficients.resize(self.columns, 0.0);
            form.coefficients[column] = std::mem::take(&mut form.error);
        }
    }

    pub(crate) fn sizes(&self, form: &Form) -> Sizes {
        let noise = magnitude(&form.coefficients[self.monomials.len()..]);
        Sizes { of_degree: self.monomials.sizes(&form.coefficients), noise }
    }

    /// How large the linear part in the noise symbols and the error are together.
    pub(crate) fn remainder(&self, form: &Form) -> f64 {
        magnitude(&form.coefficients[self.monomials.len()..]) + form.error
    }

    /// Contains all values that the coefficients and the error allow.
    pub(crate) fn enclose(&self, form: &Form) -> Interval {
        let Monomials { variables, degree, is_even, squares, .. } = &*self.monomials;
        let c = &form.coefficients;
        let (mut low, mut high) = (0.0f64, 0.0f64);
        let mut add = |(lo, hi): (f64, f64)| {
            low += lo;
            high += hi;
        };
        let mut seen = vec![false; if *degree >= 2 { self.monomials.len() } else { 0 }];
        for variable in 0..*variables {
            match squares[variable] {
                Some(square) => {
                    seen[square] = true;
                    seen[1 + variable] = true;
                    add(quadratic_range(c[1 + variable], c[square]));
                }
                None => add((-c[1 + variable].abs(), c[1 + variable].abs())),
            }
        }
        let first = if *degree >= 2 { 1 } else { 1 + variables };
        for place in first..self.monomials.len() {
            if seen.get(place) == Some(&true) {
                continue;
            }
            let value = c[place];
            add(if is_even[place] { (value.min(0.0), value.max(0.0)) } else { (-value.abs(), value.abs()) });
        }
        let rest = magnitude(&c[self.monomials.len()..]) + form.error;
        let slack = gamma(c.len() + 8) * (high - low + rest + c[0].abs()) * ROOM + TINY;
        let (lo, hi) = (c[0] + (low - rest) - slack, c[0] + (high + rest) + slack);
        if lo.is_finite() && hi.is_finite() {
            Interval { lo: lo.next_down(), hi: hi.next_up() }
        } else {
            Interval::ENTIRE
        }
    }

    /// Makes a form's range as narrow as its coefficients allow, and replaces what says less than the range.
    fn settled(&self, mut form: Form, known: Interval) -> Form {
        if known.lo == known.hi {
            return self.constant(known);
        }
        let own = self.enclose(&form);
        form.range = own.intersection(known).unwrap_or(known);
        if !(form.error.is_finite() && form.coefficients.iter().all(|c| c.is_finite())) {
            let range = form.range;
            form = self.constant(range);
        }
        form
    }

    /// Σ wᵢ·xᵢ + bias.
    pub(crate) fn combine(&self, terms: &[(Interval, &Form)], bias: Interval) -> Form {
        let width = terms.iter().map(|(_, form)| form.coefficients.len()).max().unwrap_or(0).max(self.monomials.len());
        let mut coefficients = vec![0.0; width];
        let (constant, mut error) = middle(bias);
        coefficients[0] = constant;
        let mut size = constant.abs();
        let mut known = bias;
        for (weight, form) in terms {
            let (w, spread) = middle(*weight);
            let own = magnitude(&form.coefficients);
            coefficients.iter_mut().zip(&form.coefficients).for_each(|(to, c)| *to += w * c);
            size += w.abs() * own;
            error += w.abs() * form.error;
            if spread != 0.0 {
                error += spread * (own + form.error) * ROOM;
            }
            known = known + *weight * form.range;
        }
        let error = (error + gamma(terms.len() + 3) * size) * ROOM + TINY;
        self.settled(Form { coefficients, error, range: known }, known)
    }

    /// factor · x + shift, for numbers.
    pub(crate) fn affine(&self, form: &Form, factor: f64, shift: f64) -> Form {
        self.combine(&[(Interval::point(factor), form)], Interval::point(shift))
    }

    /// x · y; a square if both are the same.
    pub(crate) fn product(&self, x: &Form, y: &Form, is_square: bool) -> Form {
        let known = if is_square { x.range.powi(2) } else { x.range * y.range };
        let (a, b) = (self.sizes(x), self.sizes(y));
        let monomials = self.monomials.len();
        let width = x.coefficients.len().max(y.coefficients.len());
        let mut coefficients = vec![0.0; width];
        let (c, d) = (&x.coefficients, &y.coefficients);
        for &(left, right, target) in self.monomials.products() {
            coefficients[usize::from(target)] += c[usize::from(left)] * d[usize::from(right)];
        }
        for (to, value) in coefficients[monomials..].iter_mut().zip(&d[monomials..]) {
            *to += c[0] * value;
        }
        for (to, value) in coefficients[monomials..].iter_mut().zip(&c[monomials..]) {
            *to += d[0] * value;
        }
        let mut beyond = a.beyond(&b.of_degree, self.monomials.degree);
        beyond += a.moving() * b.noise + b.moving() * a.noise;
        if is_square {
            // The square of what the noise symbols add is between zero and this.
            let half = a.noise * a.noise / 2.0;
            coefficients[0] += half;
            beyond += half;
        } else {
            beyond += a.noise * b.noise;
        }
        let errors = x.error * (b.all() + y.error) + y.error * a.all();
        let rounding = gamma(monomials + 4) * a.all() * b.all() + 4.0 * f64::EPSILON * beyond;
        let error = (beyond + errors + rounding) * (1.0 + 64.0 * f64::EPSILON) * ROOM + TINY;
        self.settled(Form { coefficients, error, range: known }, known)
    }

    /// Σ cₖ (x − centre)ᵏ plus something in a band; `sizes` are those of x.
    ///
    /// About the constant x₀ of x this is Σ bₖ (z + δ)ᵏ, z the rest of the polynomial, δ the noise and the error. Of that, Σ bₖ zᵏ is computed up to the degree,
    /// b₁ δ stays linear in the symbols, and bₖ ((z + δ)ᵏ − zᵏ) for k ≥ 2 is error, but for δ², which is never negative.
    pub(crate) fn composed(
        &self,
        form: &Form,
        sizes: &Sizes,
        (centre, coefficients): (f64, &[f64]),
        band: Interval,
    ) -> Form {
        let constants = self.monomials.len();
        let most = coefficients.len() - 1;
        let apart = form.coefficients[0] - centre;
        let error = form.error + f64::EPSILON * apart.abs();
        let moving = sizes.moving() * ROOM;
        let delta = (sizes.noise + error) * ROOM;
        // The Taylor shift to x₀, with what bounds its roundings.
        let mut about = coefficients.to_vec();
        let mut largest: Vec<f64> = coefficients.iter().map(|c| c.abs()).collect();
        for first in 0..most {
            for power in (first..most).rev() {
                about[power] += apart * about[power + 1];
                largest[power] += apart.abs() * largest[power + 1];
            }
        }
        let slope = about.get(1).copied().unwrap_or(0.0);
        let shifted: f64 = largest.iter().rev().fold(0.0, |sum, b| sum * (moving + delta) + b);
        let mut lost = gamma(2 * most + 2) * shifted + slope.abs() * (error + f64::EPSILON * sizes.noise);
        let mut middle_of_square = 0.0;
        for (power, b) in about.iter().enumerate().skip(2) {
            if power == 2 {
                middle_of_square = b * delta * delta / 2.0;
                lost += b.abs() * (2.0 * moving * delta + delta * delta / 2.0);
                continue;
            }
            // (z + δ)ᵏ − zᵏ = δ Σ (z + δ)ⁱ zᵏ⁻¹⁻ⁱ.
            let powers = (0..power as i32).map(|i| (moving + delta).powi(i) * moving.powi(power as i32 - 1 - i));
            lost += b.abs() * delta * powers.sum::<f64>();
        }
        let (shift, half) = middle(band);
        // Horner's rule for the polynomial alone; the constant of z is zero.
        let z = &form.coefficients[..constants];
        let mut of_value: Vec<f64> = z.iter().map(|c| about[most] * c).collect();
        of_value[0] = about[most - 1];
        let mut off = f64::EPSILON * about[most].abs() * moving;
        let mut value = vec![0.0; form.coefficients.len()];
        for power in (0..most - 1).rev() {
            let own = self.monomials.sizes(&of_value);
            let all: f64 = own.iter().sum();
            let product = &mut value[..constants];
            product.fill(0.0);
            for &(left, right, target) in &self.monomials.products()[constants..] {
                product[usize::from(target)] += z[usize::from(left)] * of_value[usize::from(right)];
            }
            product[0] = about[power];
            off = (off + gamma(constants + 4) * all) * moving + sizes.beyond(&own, self.monomials.degree);
            of_value.copy_from_slice(product);
        }
        value[..constants].copy_from_slice(&of_value);
        value[0] += shift + middle_of_square;
        lost +=
            off + half + 4.0 * f64::EPSILON * (value[0].abs() + shift.abs() + middle_of_square.abs() + about[0].abs());
        let noise = value[constants..].iter_mut().zip(&form.coefficients[constants..]);
        noise.for_each(|(to, c)| *to = slope * c);
        Form { coefficients: value, error: lost * (1.0 + 64.0 * f64::EPSILON) * ROOM + TINY, range: Interval::ENTIRE }
    }

    /// The same form with values that are known to lie in a range.
    pub(crate) fn within(&self, form: Form, range: Interval) -> Form {
        self.settled(form, range)
    }
}

/// The sum of magnitudes, to nearest, by several partial sums that need not wait for each other.
pub(crate) fn magnitude(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|c| c.abs()).sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, c)| *sum += c.abs());
    }
    sums.iter().sum::<f64>() + rest
}

/// The least and the greatest value of a·s + b·s² over [−1, 1], to nearest.
fn quadratic_range(a: f64, b: f64) -> (f64, f64) {
    let (left, right) = (b - a, b + a);
    let (mut low, mut high) = (left.min(right), left.max(right));
    if b != 0.0 && a.abs() <= 2.0 * b.abs() {
        let vertex = -a * a / (4.0 * b);
        low = low.min(vertex);
        high = high.max(vertex);
    }
    (low.min(0.0), high.max(0.0))
}

/// A number near the middle of an interval, and how far from it the interval reaches.
pub(crate) fn middle(range: Interval) -> (f64, f64) {
    certus_solver::middle(range.lo, range.hi)
}
