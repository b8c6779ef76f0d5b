//! Smooth functions and the Taylor coefficients of what they are applied to.
//!
//! Moore, *Interval Analysis*, 1966, chapter 11; Griewank, Walther, *Evaluating Derivatives*, 2008, chapter 13. With y = f(x) and w = f'(x), y' = w·x' gives
//! k·yₖ = Σ j·xⱼ·wₖ₋ⱼ, and each function has a rule by which the coefficients of w follow from those of x and y.

use certus_graph::Interval;

/// What Taylor coefficients are computed in.
pub(crate) trait Algebra {
    type Value: Clone;
    fn constant(&mut self, value: Interval) -> Self::Value;
    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    fn scale(&mut self, a: &Self::Value, factor: Interval) -> Self::Value;
    /// Σ wᵢ·xᵢ + bias, each weight within `weight_error` of the one that is given.
    fn combine(&mut self, terms: &[(f64, &Self::Value)], weight_error: f64, bias: Interval) -> Self::Value;
    /// The function itself; nothing where it may be undefined.
    fn apply(&mut self, function: Smooth, a: &Self::Value) -> Option<Self::Value>;
}

/// A function with derivatives of all orders inside of its domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Smooth {
    Tanh,
    Sigmoid,
    Softplus,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Reciprocal,
    /// x to a power that is no natural number; x is positive.
    Power(f64),
}

impl Smooth {
    /// Values over an interval; nothing where it is not defined on all of it.
    pub(crate) fn value(self, x: Interval) -> Option<Interval> {
        Some(match self {
            Smooth::Tanh => x.tanh(),
            Smooth::Sigmoid => x.sigmoid(),
            Smooth::Softplus => x.softplus(),
            Smooth::Sqrt => return (x.lo >= 0.0).then(|| x.sqrt()),
            Smooth::Exp => x.exp(),
            Smooth::Log => return (x.lo > 0.0).then(|| x.ln()),
            Smooth::Sin => x.sin(),
            Smooth::Cos => x.cos(),
            Smooth::Reciprocal => return (!x.contains(0.0)).then(|| Interval::ONE / x),
            Smooth::Power(exponent) => return (x.lo > 0.0).then(|| x.pow(Interval::point(exponent))),
        })
    }

    /// The first Taylor coefficients at every point of an interval: f⁽ᵏ⁾(x)/k!.
    pub(crate) fn derivatives(self, x: Interval, order: usize) -> Option<Vec<Interval>> {
        let mut series = Composed::new(self);
        let mut argument = vec![x, Interval::ONE];
        argument.resize(order + 1, Interval::ZERO);
        for k in 0..=order {
            series.extend(&mut Intervals, &argument[..=k])?;
        }
        Some(series.y)
    }
}

/// Intervals with outward rounding.
pub(crate) struct Intervals;

impl Algebra for Intervals {
    type Value = Interval;

    fn constant(&mut self, value: Interval) -> Interval {
        value
    }

    fn add(&mut self, a: &Interval, b: &Interval) -> Interval {
        *a + *b
    }

    fn mul(&mut self, a: &Interval, b: &Interval) -> Interval {
        if std::ptr::eq(a, b) { a.powi(2) } else { *a * *b }
    }

    fn scale(&mut self, a: &Interval, factor: Interval) -> Interval {
        *a * factor
    }

    fn combine(&mut self, terms: &[(f64, &Interval)], weight_error: f64, bias: Interval) -> Interval {
        terms.iter().fold(bias, |sum, (weight, x)| sum + Interval::point(*weight).widen(weight_error) * **x)
    }

    fn apply(&mut self, function: Smooth, a: &Interval) -> Option<Interval> {
        function.value(*a)
    }
}

/// The Taylor coefficients of f(x), as those of x become known.
#[derive(Clone, Debug)]
pub(crate) struct Composed<V> {
    function: Smooth,
    pub(crate) y: Vec<V>,
    /// The coefficients of f'(x); of a power, that of 1/x alone.
    w: Vec<V>,
    /// Of a softplus: those of f''(x).
    v: Vec<V>,
}

impl<V: Clone> Composed<V> {
    pub(crate) fn new(function: Smooth) -> Composed<V> {
        Composed { function, y: Vec::new(), w: Vec::new(), v: Vec::new() }
    }

    /// One more coefficient, told as many of x.
    pub(crate) fn extend<A: Algebra<Value = V>>(&mut self, a: &mut A, x: &[V]) -> Option<()> {
        let k = self.y.len();
        if k == 0 {
            return self.begin(a, &x[0]);
        }
        let minus = Interval::point(-1.0);
        let two = Interval::point(2.0);
        if let Smooth::Power(exponent) = self.function {
            // x·y' = c·y·x'.
            let mut sum = a.constant(Interval::ZERO);
            for (j, x) in x.iter().enumerate().take(k + 1).skip(1) {
                let weight = Interval::point(exponent) * Interval::point(j as f64) - Interval::point((k - j) as f64);
                let product = a.mul(x, &self.y[k - j]);
                let product = a.scale(&product, weight);
                sum = a.add(&sum, &product);
            }
            let sum = a.scale(&sum, Interval::ONE / Interval::point(k as f64));
            self.y.push(a.mul(&sum, &self.w[0]));
            return Some(());
        }
        let y = chain(a, x, &self.w, k);
        self.y.push(y.clone());
        let w = match self.function {
            Smooth::Exp => y,
            Smooth::Tanh | Smooth::Reciprocal => {
                let square = cauchy(a, &self.y, &self.y, k, 0);
                a.scale(&square, minus)
            }
            Smooth::Sigmoid => {
                let square = cauchy(a, &self.y, &self.y, k, 0);
                let square = a.scale(&square, minus);
                a.add(&y, &square)
            }
            // Both are minus the integral of y.
            Smooth::Sin | Smooth::Cos => {
                let integral = chain(a, x, &self.y, k);
                a.scale(&integral, minus)
            }
            // x·w = 1.
            Smooth::Log => {
                let sum = cauchy(a, x, &self.w, k, 1);
                let product = a.mul(&sum, &self.w[0]);
                a.scale(&product, minus)
            }
            // 2·y·w = 1.
            Smooth::Sqrt => {
                let sum = cauchy(a, &self.y, &self.w, k, 1);
                let product = a.mul(&sum, &self.w[0]);
                a.scale(&product, -two)
            }
            Smooth::Softplus => {
                let w = chain(a, x, &self.v, k);
                self.w.push(w.clone());
                let square = cauchy(a, &self.w, &self.w, k, 0);
                let square = a.scale(&square, minus);
                self.v.push(a.add(&w, &square));
                return Some(());
            }
            Smooth::Power(_) => return None,
        };
        self.w.push(w);
        Some(())
    }

    fn begin<A: Algebra<Value = V>>(&mut self, a: &mut A, x: &V) -> Option<()> {
        let y = a.apply(self.function, x)?;
        let minus = Interval::point(-1.0);
        let minus_square = |a: &mut A, y: &V| {
            let square = a.mul(y, y);
            a.scale(&square, minus)
        };
        let w = match self.function {
            Smooth::Exp => y.clone(),
            Smooth::Reciprocal => minus_square(a, &y),
            Smooth::Tanh => {
                let square = minus_square(a, &y);
                a.combine(&[(1.0, &square)], 0.0, Interval::ONE)
            }
            Smooth::Sigmoid => {
                let square = minus_square(a, &y);
                a.add(&y, &square)
            }
            Smooth::Sin => a.apply(Smooth::Cos, x)?,
            Smooth::Cos => {
                let sine = a.apply(Smooth::Sin, x)?;
                a.scale(&sine, minus)
            }
            Smooth::Log | Smooth::Power(_) => a.apply(Smooth::Reciprocal, x)?,
            Smooth::Sqrt => {
                let reciprocal = a.apply(Smooth::Reciprocal, &y)?;
                a.scale(&reciprocal, Interval::point(0.5))
            }
            Smooth::Softplus => {
                let w = a.apply(Smooth::Sigmoid, x)?;
                let square = minus_square(a, &w);
                self.v.push(a.add(&w, &square));
                w
            }
        };
        self.y.push(y);
        self.w.push(w);
        Some(())
    }
}

/// (1/k) Σ j·xⱼ·wₖ₋ⱼ over j from 1 to k: coefficient k of the integral of w·x'.
fn chain<A: Algebra>(a: &mut A, x: &[A::Value], w: &[A::Value], k: usize) -> A::Value {
    let mut sum = a.constant(Interval::ZERO);
    for j in 1..=k {
        let product = a.mul(&x[j], &w[k - j]);
        let product = a.scale(&product, Interval::point(j as f64) / Interval::point(k as f64));
        sum = a.add(&sum, &product);
    }
    sum
}

/// Coefficient k of a product of two series, without the first terms.
pub(crate) fn cauchy<A: Algebra>(a: &mut A, x: &[A::Value], y: &[A::Value], k: usize, from: usize) -> A::Value {
    let mut sum = a.constant(Interval::ZERO);
    for j in from..=k {
        let product = a.mul(&x[j], &y[k - j]);
        sum = a.add(&sum, &product);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_textbook() {
        let at = |function: Smooth, x: f64| function.derivatives(Interval::point(x), 4).unwrap();
        let close = |own: Interval, wanted: f64| own.widen(1e-13).contains(wanted) && own.width() < 1e-12;
        let exp = at(Smooth::Exp, 0.5);
        assert!(close(exp[4], 0.5f64.exp() / 24.0));
        let sin = at(Smooth::Sin, 0.5);
        assert!(
            close(sin[1], 0.5f64.cos()) && close(sin[2], -0.5f64.sin() / 2.0) && close(sin[4], 0.5f64.sin() / 24.0)
        );
        let cos = at(Smooth::Cos, 0.5);
        assert!(close(cos[1], -0.5f64.sin()) && close(cos[3], 0.5f64.sin() / 6.0));
        let t = 0.3f64.tanh();
        let tanh = at(Smooth::Tanh, 0.3);
        assert!(close(tanh[1], 1.0 - t * t) && close(tanh[2], -t * (1.0 - t * t)));
        let log = at(Smooth::Log, 2.0);
        assert!(close(log[1], 0.5) && close(log[2], -0.125) && close(log[4], -1.0 / 64.0));
        let root = at(Smooth::Sqrt, 4.0);
        assert!(close(root[1], 0.25) && close(root[2], -1.0 / 64.0) && close(root[3], 1.0 / 512.0));
        assert!(close(at(Smooth::Power(0.5), 4.0)[3], 1.0 / 512.0));
        let inverse = at(Smooth::Reciprocal, 2.0);
        assert!(close(inverse[1], -0.25) && close(inverse[3], -1.0 / 16.0));
        let (s, sigmoid) = (1.0 / (1.0 + (-0.7f64).exp()), at(Smooth::Sigmoid, 0.7));
        assert!(close(sigmoid[1], s * (1.0 - s)));
        let plus = at(Smooth::Softplus, 0.7);
        assert!(close(plus[1], s) && close(plus[2], s * (1.0 - s) / 2.0));
        assert!(close(plus[3] * Interval::point(3.0), sigmoid[2].lo));
        assert_eq!(Smooth::Log.derivatives(Interval::new(-1.0, 1.0), 2), None);
    }
}
