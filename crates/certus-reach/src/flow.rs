//! Taylor models through a differential equation: the flow over a period, and what holds throughout it.
//!
//! The Taylor coefficients in time of the solution through a set are computed in the arithmetic of forms, so they keep their dependence on initial states and
//! noise (the "Taylor model flowpipe" of Chen, Ábrahám, Sankaranarayanan, "Taylor model flowpipe construction for non-linear hybrid systems", RTSS 2012, with the
//! remainder of the time series validated over an a-priori box instead of by Picard iteration with Taylor models). Steps are halved until the remainder
//! is small beside the set.
//!
//! *Soundness.* x(t) = Σ x_[k] tᵏ + r tᵖ⁺¹ ± deviation, each x_[k] enclosed for the same values of variables and symbols, r by [`Field::expansion`].

use certus_graph::Interval;
use certus_graph::flow::{Arithmetic, Expansion, Field, Function};
use certus_graph::ops;
use certus_solver::domain::Curve;

use crate::curves;
use crate::form::{Form, Space, middle};

/// No step is shorter than this part of the period.
const FINEST: f64 = 1024.0;

/// A remainder of the time series that is this share of the state is small enough: it becomes noise, which a stable loop forgets.
const SMALL_REMAINDER: f64 = 1e-9;

/// The arithmetic of forms over a space that grows.
pub(crate) struct Forms<'a>(pub(crate) &'a mut Space);

impl Arithmetic for Forms<'_> {
    type Value = Form;

    fn constant(&mut self, value: Interval) -> Form {
        self.0.constant(value)
    }

    fn add(&mut self, a: &Form, b: &Form) -> Form {
        self.combine(&[(Interval::ONE, a), (Interval::ONE, b)], Interval::ZERO)
    }

    fn sub(&mut self, a: &Form, b: &Form) -> Form {
        self.combine(&[(Interval::ONE, a), (Interval::point(-1.0), b)], Interval::ZERO)
    }

    fn mul(&mut self, a: &Form, b: &Form) -> Form {
        self.0.product(a, b, std::ptr::eq(a, b))
    }

    fn scale(&mut self, a: &Form, factor: Interval) -> Form {
        self.combine(&[(factor, a)], Interval::ZERO)
    }

    fn combine(&mut self, terms: &[(Interval, &Form)], bias: Interval) -> Form {
        self.0.combine(terms, bias)
    }

    fn apply(&mut self, function: Function, a: &Form) -> Option<Form> {
        // Not defined on the whole of its argument?
        function.interval(a.range)?;
        let curve = match function {
            Function::Sin => Curve::from(ops::Sin),
            Function::Cos => Curve::from(ops::Cos),
            Function::Exp => Curve::from(ops::Exp),
            Function::Log => Curve::from(ops::Log),
            Function::Sqrt => Curve::from(ops::Sqrt),
            Function::Reciprocal => Curve::Reciprocal,
            Function::Tanh => Curve::from(ops::Tanh),
            Function::Sigmoid => Curve::from(ops::Sigmoid),
            Function::Softplus => Curve::from(ops::Softplus),
            Function::Abs => Curve::from(ops::Abs),
            Function::Relu => Curve::from(ops::Relu),
            Function::Clip { lower, upper } => Curve::from(ops::Clip { lower, upper }),
            Function::Floor | Function::Positive | Function::NonNegative => {
                return function.interval(a.range).map(|range| self.0.noise(range));
            }
        };
        let mut found = curves::apply(self.0, &curve, a);
        self.0.name_error(&mut found);
        Some(found)
    }

    fn range(&self, a: &Form) -> Interval {
        a.range
    }
}

/// The solutions over a part of the period.
pub(crate) struct Segment {
    start: f64,
    end: f64,
    /// By order and variable.
    coefficients: Vec<Vec<Form>>,
    rest: Expansion,
}

impl Segment {
    /// The states at instants after the segment's start. Over a stretch of time, the polynomial is taken at its middle τ, with its slope there and all higher
    /// terms as an interval: x(t) = x(τ) + x'(τ)·(t − τ) + Σ_{j≥2} x_[j](τ)·(t − τ)ʲ, so that little more is lost than how far the solution moves.
    fn at(&self, space: &mut Space, time: Interval) -> Vec<Form> {
        let order = self.coefficients.len() - 1;
        let (middle, _) = middle(time);
        let middle = Interval::point(middle);
        let powers: Vec<Interval> = (0..=order + 1).map(|k| middle.powi(k as i32)).collect();
        let moved = time - middle;
        let last = time.powi(order as i32 + 1);
        let deviation = self.rest.deviation(time.hi);
        (0..deviation.len())
            .map(|variable| {
                let of = |k: usize| &self.coefficients[k][variable];
                let terms: Vec<(Interval, &Form)> = (0..=order).map(|k| (powers[k], of(k))).collect();
                let mut rest = self.rest.remainder[variable] * last;
                if time.lo < time.hi && order > 0 {
                    let weight = |k: usize| Interval::point(k as f64) * powers[k - 1];
                    let slope: Vec<(Interval, &Form)> = (1..=order).map(|k| (weight(k), of(k))).collect();
                    rest = rest + space.combine(&slope, Interval::ZERO).range * moved;
                    for j in 2..=order {
                        let weight = |k: usize| Interval::point(binomial(k, j)) * powers[k - j];
                        let higher = (j..=order).fold(Interval::ZERO, |sum, k| sum + weight(k) * of(k).range);
                        rest = rest + higher * moved.powi(j as i32);
                    }
                }
                let mut form = space.combine(&terms, rest.widen(deviation[variable]));
                if let Some(range) = form.range.intersection(self.rest.bounds[variable]) {
                    form = space.within(form, range);
                }
                space.name_error(&mut form);
                form
            })
            .collect()
    }
}

/// n over k, exact for the orders of a Taylor series.
fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// All solutions from a set over a period.
pub(crate) struct Pipe {
    segments: Vec<Segment>,
    pub(crate) end: Vec<Form>,
    duration: f64,
}

impl Pipe {
    /// The solutions over [0, duration]; nothing where that could not be validated.
    pub(crate) fn new(space: &mut Space, field: &Field, state: &[Form], held: &[Form], duration: f64) -> Option<Pipe> {
        let held_ranges: Vec<Interval> = held.iter().map(|form| form.range).collect();
        let mut now = 0.0;
        let mut step = duration;
        let mut state = state.to_vec();
        let mut segments: Vec<Segment> = Vec::new();
        while now < duration {
            let end = if now + 1.001 * step >= duration { duration } else { now + step };
            let length = Interval::point(end) - Interval::point(now);
            let ranges: Vec<Interval> = state.iter().map(|form| form.range).collect();
            let last = step * FINEST <= duration;
            let segment = field.expansion(&ranges, &held_ranges, length.hi, (SMALL_REMAINDER, last)).and_then(|own| {
                let coefficients = field.coefficients(&mut Forms(space), &state, held, own.order)?;
                Some(Segment { start: now, end, coefficients, rest: own })
            });
            let Some(segment) = segment else {
                if last {
                    return None;
                }
                step /= 2.0;
                continue;
            };
            state = segment.at(space, length);
            now = end;
            segments.push(segment);
        }
        Some(Pipe { segments, end: state, duration })
    }

    /// How long the period is.
    pub(crate) fn duration(&self) -> f64 {
        self.duration
    }

    /// The states over each part of a stretch of time that one segment covers, each part cut into so many slices, with the instants between which
    /// they are.
    pub(crate) fn slices(&self, space: &mut Space, from: f64, to: f64, cuts: usize) -> Vec<(Interval, Vec<Form>)> {
        let mut found = Vec::new();
        for segment in &self.segments {
            let (a, b) = (from.max(segment.start), to.min(segment.end));
            if a > b {
                continue;
            }
            let at = |cut: usize| if cut == cuts { b } else { a + (b - a) * cut as f64 / cuts as f64 };
            for cut in 0..cuts {
                let instants = Interval { lo: at(cut), hi: at(cut + 1) };
                let slice = instants - Interval::point(segment.start);
                found.push((instants, segment.at(space, slice.max(Interval::ZERO))));
            }
        }
        found
    }
}
