//! One step of a validated Taylor series method.
//!
//! *Source.* Moore 1979; Lohner 1988; Nedialkov, Jackson and Corliss, *Validated solutions of initial value problems for ordinary
//! differential equations*, 1999. Over the a-priori box B (`a_priori.rs`) a solution is, by Taylor's theorem with Lagrange's
//! remainder in each component, x(t) ∈ Σ_{k≤p} x_[k]·tᵏ + B_[p+1]·tᵖ⁺¹. The polynomial is taken at the centre of the set, with the
//! derivatives of its coefficients over the whole set for the deviations (mean-value form). The order is the first whose remainder is
//! small beside the set.
//!
//! *Varying inputs* (Kapela and Zgliczyński, *A Lohner-type algorithm for control systems and ordinary differential inclusions*,
//! 2009): the series is that of the input's middle, and the difference e of a solution from it starts at zero and has, over B,
//! |eᵢ|' ≤ λᵢ·|eᵢ| + Σ_{j≠i} |∂fᵢ/∂xⱼ|·|eⱼ| + |∂fᵢ/∂w|·rad w with λᵢ = max ∂fᵢ/∂xᵢ. So e stays within E where E is larger than
//! ψ(λ)·(Σ_{j≠i} |∂fᵢ/∂xⱼ|·Eⱼ + |∂fᵢ/∂w|·rad w), ψ(λ) = (e^(λh) − 1) / λ: else let one component reach its bound first.
//!
//! *Where f is not smooth over B* all that is left is x(t) ∈ x0 + t·f(B).

use super::arithmetic::middle;
use super::lohner::Set;
use super::matrix::Rows;
use super::series::Series;
use super::{Field, Gradient, Gradients, Intervals};
use crate::Interval;
use crate::interval::{add_up, mul_up};

/// The highest order of a Taylor polynomial.
const HIGHEST_ORDER: usize = 16;

/// A remainder that is this share of the state is always small enough.
const SMALLEST_REMAINDER: f64 = 1e-14;

/// The solutions over a part of the period.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Every state of every solution over the segment.
    bounds: Vec<Interval>,
    set: Set,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Taylor {
        /// Coefficients at the centre, by order and variable.
        centre: Rows<Interval>,
        /// Their derivatives by state and held numbers, by order, variable and number.
        slopes: Vec<Rows<Interval>>,
        /// The coefficients of the next order over all solutions.
        remainder: Vec<Interval>,
        /// How far solutions may be away because of varying inputs.
        deviation: Vec<Deviation>,
    },
    /// The derivative over the whole segment.
    FirstOrder(Vec<Interval>),
}

/// How fast a difference from the series grows: |e|' ≤ rate·|e| + drive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deviation {
    rate: f64,
    drive: f64,
}

/// Why a segment cannot be as long as was asked.
pub(super) enum TooLong {
    /// No a-priori box was found.
    Unbounded,
    /// No order of the Taylor polynomial has a small remainder.
    Coarse,
    /// The field is not smooth over the a-priori box.
    Kinked,
}

/// What may be done where a step should be shorter but cannot be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Last {
    /// Take the smallest remainder that there is.
    pub(super) coarse: bool,
    /// Take the first-order enclosure.
    pub(super) kinked: bool,
}

impl Segment {
    /// The solutions from a set between two instants.
    pub(super) fn new(
        field: &Field,
        set: &Set,
        held: &[Interval],
        (start, end): (f64, f64),
        last: Last,
    ) -> Result<Segment, TooLong> {
        let time = Interval::point(end) - Interval::point(start);
        let bounds = field.a_priori(&set.hull, held, time.hi).ok_or(TooLong::Unbounded)?;
        let segment = |kind| Segment { start, end, bounds: bounds.clone(), set: set.clone(), kind };
        match taylor(field, set, held, &bounds, time, last) {
            Ok(kind) => Ok(segment(kind)),
            Err(TooLong::Kinked) if last.kinked => {
                let slopes = field.value(&mut Intervals, &bounds, held, field.varying()).ok_or(TooLong::Unbounded)?;
                Ok(segment(Kind::FirstOrder(slopes)))
            }
            Err(reason) => Err(reason),
        }
    }

    /// The states at some instants after the segment's start.
    pub(super) fn at(&self, time: Interval) -> Vec<Interval> {
        let found = match &self.kind {
            Kind::Taylor { .. } => {
                let (image, slopes) = self.mean_value_form(time);
                self.set.moved(&image, &slopes)
            }
            Kind::FirstOrder(slopes) => {
                self.set.hull.iter().zip(slopes).map(|(&own, &slope)| own + time * slope).collect()
            }
        };
        self.bounds.iter().zip(found).map(|(bound, own)| bound.intersection(own).unwrap_or(*bound)).collect()
    }

    /// The set at the end.
    pub(super) fn end_set(&self) -> Set {
        let time = Interval::point(self.end) - Interval::point(self.start);
        let hull = self.at(time);
        match &self.kind {
            Kind::Taylor { .. } => {
                let (image, slopes) = self.mean_value_form(time);
                self.set.advanced(&image, &slopes, hull)
            }
            Kind::FirstOrder(_) => self.set.restarted(hull),
        }
    }

    /// Where the centre goes, and how deviations from it are carried.
    fn mean_value_form(&self, time: Interval) -> (Vec<Interval>, Rows<Interval>) {
        let Kind::Taylor { centre, slopes, remainder, deviation } = &self.kind else { return Default::default() };
        let column = |k: usize, i: usize| centre[k][i];
        let power = time.powi(centre.len() as i32);
        let image = (0..self.bounds.len())
            .map(|i| {
                let coefficients: Vec<Interval> = (0..centre.len()).map(|k| column(k, i)).collect();
                (polynomial(&coefficients, time) + power * remainder[i]).widen(deviation[i].after(time.hi))
            })
            .collect();
        let columns = self.set.parameters.len();
        let entry = |i: usize, j: usize| {
            let coefficients: Vec<Interval> = slopes.iter().map(|own| own[i][j]).collect();
            polynomial(&coefficients, time)
        };
        let matrix = (0..self.bounds.len()).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect();
        (image, matrix)
    }
}

/// Σ cₖ·tᵏ, by Horner's rule; over a wide range of times also by the mean-value theorem in t.
fn polynomial(coefficients: &[Interval], time: Interval) -> Interval {
    let horner = |coefficients: &mut dyn Iterator<Item = Interval>, t: Interval| {
        coefficients.fold(Interval::ZERO, |sum, own| if sum == Interval::ZERO { own } else { sum * t + own })
    };
    let whole = horner(&mut coefficients.iter().rev().copied(), time);
    if coefficients.len() < 2 || time.width() <= 1e-12 * time.hi {
        return whole;
    }
    let centre = Interval::point(middle(time));
    let scaled = |k: usize| coefficients[k] * Interval::point(k as f64);
    let slope = horner(&mut (1..coefficients.len()).rev().map(scaled), time);
    let centred = horner(&mut coefficients.iter().rev().copied(), centre) + slope * (time - centre);
    whole.intersection(centred).unwrap_or(whole)
}

fn taylor(
    field: &Field,
    set: &Set,
    held: &[Interval],
    bounds: &[Interval],
    time: Interval,
    last: Last,
) -> Result<Kind, TooLong> {
    let (order, remainder) = remainder(field, set, held, bounds, time, (last, SMALLEST_REMAINDER))?;
    let deviation = deviation(field, held, bounds, time.hi)?;
    let middles: Vec<Interval> = field.varying().iter().map(|own| Interval::point(middle(*own))).collect();
    let point = |own: &f64| Interval::point(*own);
    let centre: Vec<Interval> = set.centre.iter().map(point).collect();
    let held_centre: Vec<Interval> = held.iter().map(|own| Interval::point(middle(*own))).collect();
    let mut at_centre = Series::new(&field.program, &centre, &held_centre, &middles);
    let count = set.hull.len() + held.len();
    let variable = |(place, own): (usize, &Interval)| Gradient::variable(*own, place, count);
    let state: Vec<Gradient> = set.hull.iter().enumerate().map(variable).collect();
    let inputs: Vec<Gradient> = held.iter().enumerate().map(|(i, own)| variable((set.hull.len() + i, own))).collect();
    let constants: Vec<Gradient> = middles.iter().map(|own| Gradient::constant(*own)).collect();
    let mut over_set = Series::new(&field.program, &state, &inputs, &constants);
    for _ in 0..order {
        at_centre.advance(&mut Intervals).ok_or(TooLong::Kinked)?;
        over_set.advance(&mut Gradients).ok_or(TooLong::Kinked)?;
    }
    let mut slopes = Vec::with_capacity(order + 1);
    let mut coefficients = Vec::with_capacity(order + 1);
    for k in 0..=order {
        coefficients.push(at_centre.coefficients(&mut Intervals, k).ok_or(TooLong::Kinked)?);
        let own = over_set.coefficients(&mut Gradients, k).ok_or(TooLong::Kinked)?;
        slopes.push(own.iter().map(|own| (0..count).map(|j| own.slope(j)).collect()).collect());
    }
    Ok(Kind::Taylor { centre: coefficients, slopes, remainder, deviation })
}

/// The first order whose remainder is small, and the remainder's coefficients.
pub(super) fn remainder(
    field: &Field,
    set: &Set,
    held: &[Interval],
    bounds: &[Interval],
    time: Interval,
    (last, smallest): (Last, f64),
) -> Result<(usize, Vec<Interval>), TooLong> {
    let middles: Vec<Interval> = field.varying().iter().map(|own| Interval::point(middle(*own))).collect();
    let mut series = Series::new(&field.program, bounds, held, &middles);
    let tolerance = |own: &Interval| smallest * (1.0 + own.magnitude()) + 1e-5 * own.width();
    let mut best: Option<(f64, usize, Vec<Interval>)> = None;
    for order in 0..=HIGHEST_ORDER {
        series.advance(&mut Intervals).ok_or(TooLong::Kinked)?;
        let coefficients = series.coefficients(&mut Intervals, order + 1).ok_or(TooLong::Kinked)?;
        let power = time.powi(order as i32 + 1);
        let sizes = coefficients.iter().zip(&set.hull).map(|(&own, from)| (power * own).width() / tolerance(from));
        let size = sizes.fold(0.0f64, f64::max);
        if order > 0 && best.as_ref().is_none_or(|(smallest, ..)| size < *smallest) {
            best = Some((size, order, coefficients));
        }
        if order > 0 && size <= 1.0 {
            break;
        }
    }
    match best {
        Some((size, order, coefficients)) if size <= 1.0 || last.coarse && size.is_finite() => {
            Ok((order, coefficients))
        }
        _ => Err(TooLong::Coarse),
    }
}

/// How far a solution with varying inputs may be away from that of the inputs' middles, over a step.
pub(super) fn deviation(
    field: &Field,
    held: &[Interval],
    bounds: &[Interval],
    h: f64,
) -> Result<Vec<Deviation>, TooLong> {
    let n = bounds.len();
    if field.varying().is_empty() {
        return Ok(vec![Deviation::default(); n]);
    }
    let count = n + field.varying().len();
    let state: Vec<Gradient> = bounds.iter().enumerate().map(|(i, own)| Gradient::variable(*own, i, count)).collect();
    let inputs: Vec<Gradient> = held.iter().map(|own| Gradient::constant(*own)).collect();
    let moving = field.varying().iter().enumerate();
    let varying: Vec<Gradient> = moving.map(|(i, own)| Gradient::variable(*own, n + i, count)).collect();
    let slopes = field.value(&mut Gradients, &state, &inputs, &varying).ok_or(TooLong::Kinked)?;
    let radius = |own: &Interval| (*own - Interval::point(middle(*own))).magnitude();
    let drive: Vec<f64> = slopes
        .iter()
        .map(|own| {
            let moved = field.varying().iter().enumerate();
            moved.fold(0.0, |sum, (j, range)| add_up(sum, mul_up(own.slope(n + j).magnitude(), radius(range))))
        })
        .collect();
    // How each component is driven, for a guess of E.
    let bound = |guess: &[f64]| -> Vec<Deviation> {
        let row = |(i, (own, &drive)): (usize, (&Gradient, &f64))| {
            let others = (0..n).filter(|&j| j != i);
            let drive = others.fold(drive, |sum, j| add_up(sum, mul_up(own.slope(j).magnitude(), guess[j])));
            Deviation { rate: own.slope(i).hi, drive }
        };
        slopes.iter().zip(&drive).enumerate().map(row).collect()
    };
    let mut guess: Vec<f64> = drive.iter().map(|own| mul_up(own * 1.1, h) + f64::MIN_POSITIVE).collect();
    for _ in 0..12 {
        let found = bound(&guess);
        let after: Vec<f64> = found.iter().map(|own| own.after(h)).collect();
        if after.iter().zip(&guess).all(|(own, outer)| own < outer) {
            // Within these bounds the others drive less.
            return Ok(bound(&after));
        }
        guess = after.iter().zip(&guess).map(|(own, outer)| own.max(*outer) * 1.3 + f64::MIN_POSITIVE).collect();
    }
    Err(TooLong::Coarse)
}

impl Deviation {
    /// What it has become at an instant at most.
    pub(super) fn after(self, t: f64) -> f64 {
        mul_up(growth(self.rate, t), self.drive)
    }
}

/// An upper bound of (e^(λh) − 1) / λ, the integral of e^(λs) over [0, h].
fn growth(rate: f64, h: f64) -> f64 {
    if rate == 0.0 {
        return h;
    }
    let rate = Interval::point(rate);
    let exact = ((rate * Interval::point(h)).exp_m1() / rate).hi;
    if rate.hi < 0.0 { exact.min(h) } else { exact }
}
