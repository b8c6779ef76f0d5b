//! Validated integration over one period, in forms.
//!
//! Moore, *Interval Analysis*, 1966; Nedialkov, Jackson, Corliss, "Validated solutions of initial value problems for ordinary differential equations", Applied Mathematics and
//! Computation 105 (1999). Over a step of time h from a set X of states:
//!
//! 1. *A-priori box.* A box B with X + [0, h]·f(B) in its interior contains every solution that starts in X up to h, and such solutions exist: f is enclosed on all of B. This needs no
//!    more of f than bounded values, so it is also true of Filippov's solutions and of inputs that vary.
//! 2. *Series.* x(t) = Σ xₖ·tᵏ + r(t) with coefficients x₀ … xₙ of the start, as forms, and r(t) in t^(n+1) times coefficient n + 1 over all of B (Taylor's theorem with Lagrange's remainder, for each variable).
//! 3. *Varying inputs* w: the series is that of the solution y with w at its middle. e = x − y has e(0) = 0 and e' = J_x·e + J_w·(w − middle) with slopes in the Jacobians over B and the
//!    ranges (the mean value theorem), so a box E with [0, h]·(J_x·E + J_w·(W − middle)) in its interior contains e up to h, by the argument of 1.
//! 4. Where f has kinks or jumps inside of B, x(t) is in x₀ + t·f(B).
//!
//! A step whose remainder is large beside the set is halved.

use std::rc::Rc;

use certus_graph::Interval;
use certus_graph::flow::Field;

use crate::curve::Curve;
use crate::form::{Form, Space, middle};
use crate::series::{Pieces, RightHandSide};
use crate::smooth::{Algebra, Intervals, Smooth};

/// Forms as coefficients.
struct Forms<'s>(&'s Space);

impl Algebra for Forms<'_> {
    type Value = Rc<Form>;

    fn constant(&mut self, value: Interval) -> Rc<Form> {
        Rc::new(Form::within(value))
    }

    fn add(&mut self, a: &Rc<Form>, b: &Rc<Form>) -> Rc<Form> {
        match (a.exactly(), b.exactly()) {
            (Some(0.0), _) => Rc::clone(b),
            (_, Some(0.0)) => Rc::clone(a),
            _ => Rc::new(self.0.add(a, b)),
        }
    }

    fn mul(&mut self, a: &Rc<Form>, b: &Rc<Form>) -> Rc<Form> {
        Rc::new(self.0.mul(a, b))
    }

    fn scale(&mut self, a: &Rc<Form>, factor: Interval) -> Rc<Form> {
        if a.exactly() == Some(0.0) || factor == Interval::ONE {
            return Rc::clone(a);
        }
        Rc::new(self.0.scale(a, factor))
    }

    fn combine(&mut self, terms: &[(f64, &Rc<Form>)], weight_error: f64, bias: Interval) -> Rc<Form> {
        Rc::new(self.0.combine(terms.iter().map(|(weight, form)| (*weight, form.as_ref())), weight_error, bias))
    }

    fn apply(&mut self, function: Smooth, a: &Rc<Form>) -> Option<Rc<Form>> {
        let form = Curve::Smooth(function).apply(self.0, a);
        form.is_bounded().then(|| Rc::new(form))
    }
}

/// A value with its derivatives along some directions, over boxes.
#[derive(Clone, Debug)]
struct Dual {
    value: Interval,
    slopes: Vec<Interval>,
}

/// Forward differentiation in intervals.
struct Duals(usize);

impl Algebra for Duals {
    type Value = Dual;

    fn constant(&mut self, value: Interval) -> Dual {
        Dual { value, slopes: vec![Interval::ZERO; self.0] }
    }

    fn add(&mut self, a: &Dual, b: &Dual) -> Dual {
        let slopes = a.slopes.iter().zip(&b.slopes).map(|(x, y)| *x + *y).collect();
        Dual { value: a.value + b.value, slopes }
    }

    fn mul(&mut self, a: &Dual, b: &Dual) -> Dual {
        let value = if std::ptr::eq(a, b) { a.value.powi(2) } else { a.value * b.value };
        let slopes = a.slopes.iter().zip(&b.slopes).map(|(x, y)| *x * b.value + *y * a.value).collect();
        Dual { value, slopes }
    }

    fn scale(&mut self, a: &Dual, factor: Interval) -> Dual {
        Dual { value: a.value * factor, slopes: a.slopes.iter().map(|own| *own * factor).collect() }
    }

    fn combine(&mut self, terms: &[(f64, &Dual)], weight_error: f64, bias: Interval) -> Dual {
        let mut sum = self.constant(bias);
        for (weight, own) in terms {
            let scaled = self.scale(own, Interval::point(*weight).widen(weight_error));
            sum = self.add(&sum, &scaled);
        }
        sum
    }

    fn apply(&mut self, function: Smooth, a: &Dual) -> Option<Dual> {
        let found = function.derivatives(a.value, 1)?;
        Some(Dual { value: found[0], slopes: a.slopes.iter().map(|own| *own * found[1]).collect() })
    }
}

/// The solutions over one step of time.
pub(crate) struct Segment {
    /// When it begins.
    pub(crate) from: f64,
    /// When it ends.
    pub(crate) to: f64,
    /// Coefficients of the solutions in time since the beginning: `[k][variable]`.
    coefficients: Vec<Vec<Rc<Form>>>,
    /// Coefficient n + 1 over the a-priori box.
    remainder: Vec<Interval>,
    /// What varying inputs add, at all instants.
    varied: Vec<Interval>,
    /// The a-priori box.
    around: Vec<Interval>,
}

/// The solutions over a period.
pub(crate) struct Solutions {
    pub(crate) segments: Vec<Segment>,
    pub(crate) end: Vec<Form>,
}

/// A differential equation that is ready to be integrated.
#[derive(Debug)]
pub(crate) struct Equation {
    right: RightHandSide,
    varying: Vec<Interval>,
    held: usize,
}

/// What a step may be.
#[derive(Clone, Copy)]
struct Limits {
    order: usize,
    /// Whether it may be tried again with half the length.
    can_halve: bool,
    /// Whether it is short enough for a first-order series.
    with_kinks: bool,
}

/// Attempts to find an a-priori box for one length of step.
const INFLATIONS: usize = 12;

/// A step is at least this share of its period.
const SHORTEST: f64 = 1.0 / 256.0;

/// Where the right-hand side has kinks a step is at most this share: its series is of first order.
const KINKED: f64 = 1.0 / 16.0;

/// A remainder up to this share of the set's width is small.
const SMALL: f64 = 1e-4;

/// And so is one of this size beside the numbers themselves.
const SMALLER: f64 = 1e-10;

impl Equation {
    pub(crate) fn new(field: &Field) -> Option<Equation> {
        let right = RightHandSide::new(field.graph()).ok()?;
        Some(Equation { right, varying: field.varying().to_vec(), held: field.held() })
    }

    /// The solutions over a period from a set of states, everything else held; nothing if they cannot be enclosed.
    pub(crate) fn solutions(
        &self,
        space: &mut Space,
        state: &[Rc<Form>],
        held: &[Rc<Form>],
        period: f64,
        order: usize,
    ) -> Option<Solutions> {
        let held = held.get(..self.held)?;
        let mut state: Vec<Form> = state.iter().map(|form| form.as_ref().clone()).collect();
        let mut segments = Vec::new();
        let (mut at, mut length) = (0.0, period);
        while at < period {
            let to = if length >= period - at { period } else { at + length };
            let limits = Limits { order, can_halve: length > SHORTEST * period, with_kinks: length <= KINKED * period };
            let Some(segment) = self.segment(space, &state, held, (at, to), limits) else {
                if !limits.can_halve {
                    return None;
                }
                length /= 2.0;
                continue;
            };
            state = segment.end(space);
            for form in &mut state {
                space.name_error(form);
            }
            at = to;
            segments.push(segment);
        }
        Some(Solutions { segments, end: state })
    }

    /// The solutions over one step; nothing if they cannot be enclosed well, or not at all.
    fn segment(
        &self,
        space: &Space,
        state: &[Form],
        held: &[Rc<Form>],
        (from, to): (f64, f64),
        limits: Limits,
    ) -> Option<Segment> {
        let length = Interval::point(to) - Interval::point(from);
        let order = limits.order;
        let start: Vec<Interval> = state.iter().map(|form| form.range).collect();
        if start.iter().any(|range| !(range.lo.is_finite() && range.hi.is_finite())) {
            return None;
        }
        let fixed: Vec<Interval> = held.iter().map(|form| form.range).collect();
        let mut others = vec![fixed];
        if !self.varying.is_empty() {
            others.push(self.varying.clone());
        }
        let (around, slopes, pieces) = self.a_priori(&start, &others, length.hi)?;
        let forms: Vec<Rc<Form>> = state.iter().map(|form| Rc::new(form.clone())).collect();
        let mut varied = vec![Interval::ZERO; state.len()];
        let Some(pieces) = pieces else {
            // Kinks: the mean slope is somewhere in f(B).
            let segment = Segment { from, to, coefficients: vec![forms], remainder: slopes, varied, around };
            return (limits.with_kinks || !limits.can_halve).then_some(segment);
        };
        let middles: Vec<Interval> = self.varying.iter().map(|own| Interval::point(middle(*own).0)).collect();
        let mut nominal = others.clone();
        if let Some(own) = nominal.get_mut(1) {
            own.clone_from(&middles);
        }
        let over = self.right.coefficients(&mut Intervals, &around, &nominal, &pieces, order + 1)?;
        let remainder = over[order + 1].clone();
        let reach = length.powi(order as i32 + 1);
        let small = remainder.iter().zip(&start).all(|(own, range)| {
            let size = (*own * reach).magnitude();
            size <= SMALL * range.width() + SMALLER * (1.0 + range.magnitude())
        });
        if !small && limits.can_halve {
            return None;
        }
        let mut arguments = vec![held.to_vec()];
        if !self.varying.is_empty() {
            varied = self.varied(&around, &others, &middles, &pieces, length.hi)?;
            arguments.push(middles.iter().map(|own| Rc::new(Form::within(*own))).collect());
        }
        let coefficients = self.right.coefficients(&mut Forms(space), &forms, &arguments, &pieces, order)?;
        Some(Segment { from, to, coefficients, remainder, varied, around })
    }

    /// A box that no solution leaves within a step, the slopes over it, and the pieces there.
    #[allow(clippy::type_complexity)]
    fn a_priori(
        &self,
        start: &[Interval],
        others: &[Vec<Interval>],
        length: f64,
    ) -> Option<(Vec<Interval>, Vec<Interval>, Option<Pieces>)> {
        let time = Interval { lo: 0.0, hi: length };
        let grown =
            |range: Interval, share: f64| range.widen(share * range.width() + 1e-9 * (1e-3 + range.magnitude()));
        let mut around: Vec<Interval> = start.iter().map(|range| grown(*range, 0.01)).collect();
        for _ in 0..INFLATIONS {
            let (slopes, pieces) = self.right.over_box(&around, others)?;
            let reached: Vec<Interval> = start.iter().zip(&slopes).map(|(x, f)| *x + time * *f).collect();
            if reached.iter().any(|own| !(own.lo.is_finite() && own.hi.is_finite())) {
                return None;
            }
            let inside = around.iter().zip(&reached).all(|(box_, own)| box_.lo < own.lo && own.hi < box_.hi);
            if inside {
                return Some((around, slopes, pieces));
            }
            around = around.iter().zip(&reached).map(|(own, next)| grown(own.hull(*next), 0.05)).collect();
        }
        None
    }

    /// How far a solution with varying inputs can be from the one with their middles.
    fn varied(
        &self,
        around: &[Interval],
        others: &[Vec<Interval>],
        middles: &[Interval],
        pieces: &Pieces,
        length: f64,
    ) -> Option<Vec<Interval>> {
        let (states, directions) = (around.len(), around.len() + middles.len());
        let along = |value: Interval, direction: usize| {
            let mut slopes = vec![Interval::ZERO; directions];
            slopes[direction] = Interval::ONE;
            Dual { value, slopes }
        };
        let state: Vec<Dual> = around.iter().enumerate().map(|(place, own)| along(*own, place)).collect();
        let fixed =
            others[0].iter().map(|own| Dual { value: *own, slopes: vec![Interval::ZERO; directions] }).collect();
        let free = others[1].iter().enumerate().map(|(place, own)| along(*own, states + place)).collect();
        let found = self.right.coefficients(&mut Duals(directions), &state, &[fixed, free], pieces, 1)?;
        let driven: Vec<Interval> = found[1]
            .iter()
            .map(|own| {
                let parts = own.slopes[states..].iter().zip(others[1].iter().zip(middles));
                parts.fold(Interval::ZERO, |sum, (slope, (range, middle))| sum + *slope * (*range - *middle))
            })
            .collect();
        let time = Interval { lo: 0.0, hi: length };
        let grown = |own: Interval| own.hull(Interval::ZERO).widen(0.05 * own.magnitude() + 1e-14);
        let mut error: Vec<Interval> = driven.iter().map(|own| grown(*own * time)).collect();
        for _ in 0..INFLATIONS {
            let next: Vec<Interval> = found[1]
                .iter()
                .zip(&driven)
                .map(|(own, driven)| {
                    let carried = own.slopes[..states].iter().zip(&error);
                    time * carried.fold(*driven, |sum, (slope, error)| sum + *slope * *error)
                })
                .collect();
            if error.iter().zip(&next).all(|(own, next)| own.lo < next.lo && next.hi < own.hi) {
                return Some(error);
            }
            error = error.iter().zip(&next).map(|(own, next)| grown(own.hull(*next))).collect();
        }
        None
    }
}

impl Segment {
    /// The states at the end.
    fn end(&self, space: &Space) -> Vec<Form> {
        let length = Interval::point(self.to) - Interval::point(self.from);
        let powers: Vec<Interval> = (0..=self.coefficients.len()).map(|k| length.powi(k as i32)).collect();
        (0..self.around.len())
            .map(|variable| {
                let mut form = self.coefficients[0][variable].as_ref().clone();
                for (own, power) in self.coefficients.iter().zip(&powers).skip(1) {
                    let (weight, weight_error) = middle(*power);
                    let term =
                        space.combine(std::iter::once((weight, own[variable].as_ref())), weight_error, Interval::ZERO);
                    form = space.add(&form, &term);
                }
                let rest = self.remainder[variable] * powers[self.coefficients.len()] + self.varied[variable];
                space.limited(space.shift(&form, rest), self.around[variable])
            })
            .collect()
    }

    /// The states at the instants of a part of the step, as forms with the instant as one more symbol.
    pub(crate) fn over(&self, space: &mut Space, from: f64, to: f64) -> Vec<Form> {
        let range = Interval { lo: from.clamp(self.from, self.to), hi: to.clamp(self.from, self.to) };
        let range = range - Interval::point(self.from);
        let time = space.noise(range);
        let reach = range.powi(self.coefficients.len() as i32);
        (0..self.around.len())
            .map(|variable| {
                let mut form = Form::within(Interval::ZERO);
                for own in self.coefficients.iter().rev() {
                    form = space.mul(&form, &time);
                    form = space.add(&form, &own[variable]);
                }
                let rest = self.remainder[variable] * reach + self.varied[variable];
                space.limited(space.shift(&form, rest), self.around[variable])
            })
            .collect()
    }
}
