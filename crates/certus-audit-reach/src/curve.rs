//! Elementwise functions of one argument, over forms.
//!
//! A function is replaced by a polynomial of the argument and a band around it. Any polynomial will do; what counts is that the band is right:
//!
//! * *Smooth functions*: the polynomial is that of the Chebyshev nodes of the argument's range, of degree 1 to 3. Its distance from the function is
//!   enclosed in two ways, of which the smaller counts. Interpolation: at most max |f⁽ⁿ⁺¹⁾|/(n+1)! · rⁿ⁺¹/2ⁿ, with what rounding did to the nodes' values times the Lebesgue constant,
//!   which is below 2 for up to four nodes (Trefethen, *Approximation Theory and Approximation Practice*, 2013, chapters 4, 8 and 15). Pieces of the range: the distance at the
//!   middle of each, and the mean value theorem from there.
//! * *ReLU* across zero: the line of slope u/(u−l) (Singh, Gehr, Mirman, Püschel, Vechev, "Fast and effective robustness certification", NeurIPS 2018), or the parabola
//!   (x + x²/m + m/8)/2 with m = max(−l, u), which is within m/16: with t = |x|/m, t² − t + 1/8 lies in [−1/8, 1/8] for t in [0, 1].
//! * *Powers*: [`crate::powers`].
//! * The others are sums of ReLUs and the argument.

use certus_graph::Interval;
use certus_graph::ops::{Clip, Compare, Op};
use certus_graph::{Graph, Node, NodeId};

use crate::form::{Form, Space, middle};
use crate::powers::natural;
use crate::smooth::Smooth;

/// An elementwise function of one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    Relu,
    Leaky(f64),
    Clip(f64, f64),
    Abs,
    Floor,
    /// Whether x compares so with zero.
    Step(Compare),
    /// depth·(eˣ − 1) below zero, x above.
    Elu(f64),
    /// x to a natural power.
    Natural(u32),
    Smooth(Smooth),
}

impl Curve {
    /// The function that a node applies, and which of its arguments it reads.
    pub(crate) fn of(graph: &Graph, node: &Node) -> Option<(Curve, NodeId)> {
        let known = |place: usize| {
            let values = graph.constant_value(*node.inputs.get(place)?)?.data();
            let &first = values.first()?;
            values.iter().all(|&value| value == first).then_some(first)
        };
        let (curve, place) = match &node.op {
            Op::Relu(_) => (Curve::Relu, 0),
            Op::LeakyRelu(op) => (Curve::Leaky(op.alpha), 0),
            Op::Clip(Clip { lower, upper }) if lower <= upper => (Curve::Clip(*lower, *upper), 0),
            Op::Abs(_) => (Curve::Abs, 0),
            Op::Floor(_) => (Curve::Floor, 0),
            Op::Elu(op) => (Curve::Elu(op.alpha), 0),
            Op::Compare(Compare::Equal | Compare::NotEqual) => return None,
            Op::Compare(compare) if known(1) == Some(0.0) => (Curve::Step(*compare), 0),
            Op::Pow(_) => match known(1)? {
                exponent if exponent.fract() == 0.0 && (0.0..=64.0).contains(&exponent) => {
                    (Curve::Natural(exponent as u32), 0)
                }
                -1.0 => (Curve::Smooth(Smooth::Reciprocal), 0),
                0.5 => (Curve::Smooth(Smooth::Sqrt), 0),
                exponent if exponent.is_finite() => (Curve::Smooth(Smooth::Power(exponent)), 0),
                _ => return None,
            },
            Op::Div(_) if known(0) == Some(1.0) => (Curve::Smooth(Smooth::Reciprocal), 1),
            Op::Tanh(_) => (Curve::Smooth(Smooth::Tanh), 0),
            Op::Sigmoid(_) => (Curve::Smooth(Smooth::Sigmoid), 0),
            Op::Softplus(_) => (Curve::Smooth(Smooth::Softplus), 0),
            Op::Sqrt(_) => (Curve::Smooth(Smooth::Sqrt), 0),
            Op::Exp(_) => (Curve::Smooth(Smooth::Exp), 0),
            Op::Log(_) => (Curve::Smooth(Smooth::Log), 0),
            Op::Sin(_) => (Curve::Smooth(Smooth::Sin), 0),
            Op::Cos(_) => (Curve::Smooth(Smooth::Cos), 0),
            _ => return None,
        };
        let argument = node.inputs[place];
        (graph.elements(argument) == node.shape.iter().product::<usize>()).then_some((curve, argument))
    }

    /// The linear function that it is over a range, as slope and offset, if it is one. Where it jumps, the range must keep away from the jump.
    pub(crate) fn piece(self, x: Interval) -> Option<(f64, f64)> {
        match self {
            Curve::Relu | Curve::Leaky(_) | Curve::Abs if x.lo >= 0.0 => Some((1.0, 0.0)),
            Curve::Relu if x.hi <= 0.0 => Some((0.0, 0.0)),
            Curve::Leaky(slope) if x.hi <= 0.0 => Some((slope, 0.0)),
            Curve::Abs if x.hi <= 0.0 => Some((-1.0, 0.0)),
            Curve::Elu(_) if x.lo >= 0.0 => Some((1.0, 0.0)),
            Curve::Clip(lower, _) if x.hi <= lower => Some((0.0, lower)),
            Curve::Clip(_, upper) if x.lo >= upper => Some((0.0, upper)),
            Curve::Clip(lower, upper) if lower <= x.lo && x.hi <= upper => Some((1.0, 0.0)),
            Curve::Floor if x.lo > x.lo.floor() && x.hi < x.lo.floor() + 1.0 => Some((0.0, x.lo.floor())),
            Curve::Step(compare) if x.lo > 0.0 || x.hi < 0.0 => {
                let above = matches!(compare, Compare::Greater | Compare::GreaterEqual);
                Some((0.0, f64::from(u8::from(above == (x.lo > 0.0)))))
            }
            _ => None,
        }
    }

    /// Values over an interval; nothing where it may be undefined.
    pub(crate) fn value(self, x: Interval) -> Option<Interval> {
        Some(match self {
            Curve::Relu => x.max(Interval::ZERO),
            Curve::Leaky(slope) => ends(x, &|x| if x.lo >= 0.0 { x } else { Interval::point(slope) * x }),
            Curve::Clip(lower, upper) => Interval::new(x.lo.clamp(lower, upper), x.hi.clamp(lower, upper)),
            Curve::Abs => x.abs(),
            Curve::Floor => x.floor(),
            Curve::Step(compare) => Interval::from_certainty(certainty(compare, x)),
            Curve::Elu(depth) => ends(x, &|x| if x.lo >= 0.0 { x } else { Interval::point(depth) * x.exp_m1() }),
            Curve::Natural(power) => x.powi(power as i32),
            Curve::Smooth(smooth) => return smooth.value(x),
        })
    }

    /// The function of a form.
    pub(crate) fn apply(self, space: &Space, x: &Form) -> Form {
        let Some(known) = self.value(x.range) else { return Form::within(Interval::ENTIRE) };
        if !x.is_bounded() || known.lo == known.hi {
            return Form::within(known);
        }
        if let Some((slope, offset)) = self.piece(x.range) {
            let line = space.combine(std::iter::once((slope, x)), 0.0, Interval::point(offset));
            return space.limited(line, known);
        }
        let relu = |x: &Form| rectified(space, x);
        let form = match self {
            Curve::Relu => relu(x),
            Curve::Leaky(slope) => {
                let (rectified, rest) = (relu(x), Interval::ONE - Interval::point(slope));
                let bent = space.scale(&rectified, rest);
                space.combine([(slope, x), (1.0, &bent)].into_iter(), 0.0, Interval::ZERO)
            }
            Curve::Abs => space.combine([(2.0, &relu(x)), (-1.0, x)].into_iter(), 0.0, Interval::ZERO),
            Curve::Clip(lower, upper) => {
                // l + relu(x − l) − relu(x − u), where only the kinks that matter bend.
                let above = |end: f64| match x.range {
                    own if own.lo >= end => space.shift(x, -Interval::point(end)),
                    own if own.hi <= end => Form::within(Interval::ZERO),
                    _ => relu(&space.shift(x, -Interval::point(end))),
                };
                match (lower.is_finite(), upper.is_finite()) {
                    (true, true) => {
                        let terms = [(1.0, &above(lower)), (-1.0, &above(upper))];
                        space.combine(terms.into_iter(), 0.0, Interval::point(lower))
                    }
                    (true, false) => space.shift(&above(lower), Interval::point(lower)),
                    (false, _) => space.sub(x, &above(upper)),
                }
            }
            // x − 1/2 ± 1/2.
            Curve::Floor => space.shift(x, Interval { lo: -1.0, hi: 0.0 }),
            Curve::Step(_) => Form::within(known),
            Curve::Elu(_) => Form::within(known),
            Curve::Natural(power) => natural(space, x, power),
            Curve::Smooth(smooth) => approximated(space, smooth, x, known),
        };
        match form.is_bounded() && form.range.width() <= 2.0 * known.width() {
            true => space.limited(form, known),
            // A band that is wider than all values says nothing.
            false => Form::within(known),
        }
    }
}

/// What is certain of a comparison with zero.
pub(crate) fn certainty(compare: Compare, x: Interval) -> Option<bool> {
    let (yes, no) = match compare {
        Compare::Greater => (x.lo > 0.0, x.hi <= 0.0),
        Compare::GreaterEqual => (x.lo >= 0.0, x.hi < 0.0),
        Compare::Less => (x.hi < 0.0, x.lo >= 0.0),
        Compare::LessEqual => (x.hi <= 0.0, x.lo > 0.0),
        Compare::Equal => (x == Interval::ZERO, !x.contains(0.0)),
        Compare::NotEqual => (!x.contains(0.0), x == Interval::ZERO),
    };
    if yes { Some(true) } else { no.then_some(false) }
}

/// The values of a function that is one thing below zero and another above, monotone on each side.
fn ends(x: Interval, side: &dyn Fn(Interval) -> Interval) -> Interval {
    let below = (x.lo < 0.0)
        .then(|| side(Interval::new(x.lo, x.hi.min(0.0).min(-f64::MIN_POSITIVE).max(x.lo))).hull(Interval::ZERO));
    let above = (x.hi >= 0.0).then(|| side(Interval::new(x.lo.max(0.0), x.hi)));
    // Zero is in the closure of both sides where they meet; below alone it only makes the hull larger.
    below.into_iter().chain(above).reduce(Interval::hull).unwrap_or(Interval::ENTIRE)
}

/// max(x, 0) across zero.
fn rectified(space: &Space, x: &Form) -> Form {
    let Interval { lo, hi } = x.range;
    let known = Interval { lo: 0.0, hi };
    // The line λ·x + d ± d with d = −λ·l/2 for a slope λ in [0, 1]: relu(x) − λ·x is convex, −λ·l at l, 0 at zero and (1 − λ)·u at u.
    let slope = (hi / (hi - lo)).clamp(0.0, 1.0);
    let at_ends = [
        -(Interval::point(slope) * Interval::point(lo)),
        (Interval::ONE - Interval::point(slope)) * Interval::point(hi),
    ];
    let band = Interval { lo: 0.0, hi: at_ends[0].hi.max(at_ends[1].hi) };
    let line = space.combine(std::iter::once((slope, x)), 0.0, band);
    let m = hi.max(-lo);
    let square = space.mul(x, x);
    let factor = Interval::point(0.5) / Interval::point(m);
    let (weight, weight_error) = middle(factor);
    let bent = space.combine([(0.5, x), (weight, &square)].into_iter(), weight_error, {
        // m/16 ± m/16.
        Interval { lo: 0.0, hi: (Interval::point(m) * Interval::point(0.125)).hi }
    });
    space.limited(if bent.error < line.error { bent } else { line }, known)
}

/// A form in units of the radius of its range around its centre.
pub(crate) fn scaled(space: &Space, x: &Form) -> Option<(Form, f64, f64)> {
    let (centre, radius) = middle(x.range);
    if !(radius > 0.0 && radius.is_finite() && centre.is_finite()) {
        return None;
    }
    let shifted = space.shift(x, -Interval::point(centre));
    let t = space.scale(&shifted, Interval::ONE / Interval::point(radius));
    Some((space.limited(t, Interval { lo: -1.0, hi: 1.0 }), centre, radius))
}

/// How many pieces of the range a distance is enclosed on.
const PIECES: usize = 32;

/// A smooth function of a form: the polynomial with the smallest error.
fn approximated(space: &Space, function: Smooth, x: &Form, known: Interval) -> Form {
    let Some((t, centre, radius)) = scaled(space, x) else { return Form::within(known) };
    if let (Smooth::Sqrt, Some(form)) = (function, root(space, x)) {
        return form;
    }
    let mut best = Form::within(known);
    for degree in 1..=3 {
        let Some((polynomial, band)) = interpolant(function, centre, radius, degree) else { continue };
        if band >= best.error {
            continue;
        }
        let value = space.polynomial(&polynomial, &t);
        let own = space.shift(&value, Interval { lo: -band, hi: band });
        if own.error < best.error {
            best = own;
        }
        // Nothing is gained where the line is as good as doubles are.
        if band <= 1e-13 * radius {
            break;
        }
    }
    best
}

/// √x by the chord and the parallel tangent: √x − chord is largest in between, at (√u − √l)²/(4(√u + √l)).
fn root(space: &Space, x: &Form) -> Option<Form> {
    let range = x.range;
    if range.lo < 0.0 || range.lo > 1e-2 * range.hi {
        return None;
    }
    let (low, high) = (Interval::point(range.lo).sqrt(), Interval::point(range.hi).sqrt());
    let gap = (high - low).powi(2) / (Interval::point(4.0) * (high + low));
    let (slope, slope_error) = middle(Interval::ONE / (low + high));
    // chord(x) = √l + (x − l)·slope.
    let shifted = space.shift(x, -Interval::point(range.lo));
    Some(space.combine(std::iter::once((slope, &shifted)), slope_error, low + Interval { lo: 0.0, hi: gap.hi }))
}

/// A polynomial in t near f(centre + radius·t), and how far it may be from that for t in [−1, 1].
fn interpolant(function: Smooth, centre: f64, radius: f64, degree: usize) -> Option<(Vec<f64>, f64)> {
    let (c, r) = (Interval::point(centre), Interval::point(radius));
    let count = degree + 1;
    let angle = |i: usize| std::f64::consts::PI * (2 * i + 1) as f64 / (2 * count) as f64;
    let nodes: Vec<f64> = (0..count).map(|i| angle(i).cos()).collect();
    let values: Vec<Interval> =
        nodes.iter().map(|&t| function.value(c + r * Interval::point(t))).collect::<Option<_>>()?;
    let chebyshev: Vec<f64> = (0..count)
        .map(|k| {
            let sum: f64 = (0..count).map(|i| middle(values[i]).0 * (k as f64 * angle(i)).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
        })
        .collect();
    let at = |k: usize| chebyshev.get(k).copied().unwrap_or(0.0);
    let mut polynomial = vec![at(0) - at(2), at(1) - 3.0 * at(3), 2.0 * at(2), 4.0 * at(3)];
    polynomial.truncate(count);
    if polynomial.iter().any(|own| !own.is_finite()) {
        return None;
    }
    let p = |t: Interval| polynomial.iter().rev().fold(Interval::ZERO, |sum, &own| sum * t + Interval::point(own));
    let whole = c + r * Interval { lo: -1.0, hi: 1.0 };
    let by_interpolation = (|| {
        let deviation = nodes.iter().zip(&values).map(|(&t, value)| (*value - p(Interval::point(t))).magnitude());
        let deviation = deviation.fold(0.0, f64::max);
        let parts = 4;
        let mut largest: f64 = 0.0;
        for part in 0..parts {
            let derivatives = function.derivatives(slice(whole, part, parts), count)?;
            largest = largest.max(derivatives[count].magnitude());
        }
        // The nodes are those of Chebyshev up to rounding, so the product of distances is 2⁻ⁿ up to a little.
        let spread = Interval::point(largest) * r.powi(count as i32) * Interval::point(1.0 + 1e-9);
        Some((spread / Interval::point(f64::from(1u32 << degree)) + Interval::point(2.0 * deviation)).hi)
    })();
    let size = values.iter().fold(0.0f64, |most, own| most.max(own.magnitude()));
    if let Some(own) = by_interpolation.filter(|own| *own <= 1e-3 * size) {
        return Some((polynomial, own));
    }
    let slope: Vec<f64> = polynomial.iter().enumerate().skip(1).map(|(k, own)| k as f64 * own).collect();
    let slope_at = |t: Interval| slope.iter().rev().fold(Interval::ZERO, |sum, &own| sum * t + Interval::point(own));
    let by_pieces = (|| {
        let mut largest: f64 = 0.0;
        for piece in 0..PIECES {
            let t = slice(Interval { lo: -1.0, hi: 1.0 }, piece, PIECES);
            let (middle, _) = middle(t);
            let middle = Interval::point(middle);
            // Products of small integers with coefficients round; the interval around the slope says how far.
            let rounding = slope.iter().map(|own| own.abs()).sum::<f64>() * 4.0 * f64::EPSILON;
            let derivative = r * function.derivatives(c + r * t, 1)?[1] - slope_at(t).widen(rounding);
            let distance = function.value(c + r * middle)? - p(middle) + derivative * (t - middle);
            largest = largest.max(distance.magnitude());
        }
        Some(largest)
    })();
    let band = by_interpolation.into_iter().chain(by_pieces).reduce(f64::min)?;
    band.is_finite().then_some((polynomial, band))
}

/// A part of an interval; the parts cover it.
fn slice(whole: Interval, part: usize, parts: usize) -> Interval {
    let at = |place: usize| match place {
        0 => whole.lo,
        _ if place == parts => whole.hi,
        _ => (whole.lo + (whole.hi - whole.lo) * (place as f64 / parts as f64)).clamp(whole.lo, whole.hi),
    };
    Interval::new(at(part), at(part + 1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::basis::Basis;
    use crate::form::tests::{allows, form, value};

    const CURVES: [Curve; 16] = [
        Curve::Relu,
        Curve::Leaky(0.1),
        Curve::Clip(-0.5, 1.0),
        Curve::Abs,
        Curve::Floor,
        Curve::Step(Compare::Greater),
        Curve::Elu(0.7),
        Curve::Natural(3),
        Curve::Natural(4),
        Curve::Smooth(Smooth::Tanh),
        Curve::Smooth(Smooth::Sigmoid),
        Curve::Smooth(Smooth::Softplus),
        Curve::Smooth(Smooth::Exp),
        Curve::Smooth(Smooth::Sin),
        Curve::Smooth(Smooth::Cos),
        Curve::Leaky(-0.3),
    ];

    const OF_POSITIVE: [Curve; 4] = [
        Curve::Smooth(Smooth::Sqrt),
        Curve::Smooth(Smooth::Log),
        Curve::Smooth(Smooth::Reciprocal),
        Curve::Smooth(Smooth::Power(-1.5)),
    ];

    fn real(curve: Curve, x: f64) -> f64 {
        match curve {
            Curve::Relu => x.max(0.0),
            Curve::Leaky(slope) => {
                if x < 0.0 {
                    slope * x
                } else {
                    x
                }
            }
            Curve::Clip(lower, upper) => x.clamp(lower, upper),
            Curve::Abs => x.abs(),
            Curve::Floor => x.floor(),
            Curve::Step(_) => f64::from(u8::from(x > 0.0)),
            Curve::Elu(depth) => {
                if x < 0.0 {
                    depth * x.exp_m1()
                } else {
                    x
                }
            }
            Curve::Natural(power) => x.powi(power as i32),
            Curve::Smooth(Smooth::Tanh) => x.tanh(),
            Curve::Smooth(Smooth::Sigmoid) => 1.0 / (1.0 + (-x).exp()),
            Curve::Smooth(Smooth::Softplus) => x.exp().ln_1p(),
            Curve::Smooth(Smooth::Exp) => x.exp(),
            Curve::Smooth(Smooth::Sin) => x.sin(),
            Curve::Smooth(Smooth::Cos) => x.cos(),
            Curve::Smooth(Smooth::Sqrt) => x.sqrt(),
            Curve::Smooth(Smooth::Log) => x.ln(),
            Curve::Smooth(Smooth::Reciprocal) => 1.0 / x,
            Curve::Smooth(Smooth::Power(exponent)) => x.powf(exponent),
        }
    }

    proptest! {
        #[test]
        fn functions_enclose_their_values(
            own in prop::collection::vec(-1.0..1.0f64, 7),
            scale in prop::sample::select(vec![1e-3, 0.1, 1.0, 3.0]),
            point in prop::collection::vec(-1.0..=1.0f64, 3),
        ) {
            // Two variables of degree 2 and one symbol.
            let mut space = Space::new(Arc::new(Basis::new(2, 2).unwrap()));
            space.columns += 1;
            let x = form(&space, own.iter().enumerate().map(|(k, c)| if k == 0 { 2.0 * c } else { c * scale }).collect());
            let at = value(&space, &x, &point);
            for curve in CURVES {
                let y = curve.apply(&space, &x);
                prop_assert!(allows(&space, &y, &point, real(curve, at)), "{curve:?} at {at}: {y:?}");
            }
            let (lowest, _) = (x.range.lo, x.range.hi);
            for offset in [1e-3, 0.5] {
                let positive = space.shift(&x, Interval::point(offset - lowest));
                for curve in OF_POSITIVE {
                    let y = curve.apply(&space, &positive);
                    let wanted = real(curve, value(&space, &positive, &point));
                    prop_assert!(allows(&space, &y, &point, wanted), "{curve:?}: {y:?}");
                }
            }
        }
    }

    #[test]
    fn narrow_ranges_are_approximated_closely() {
        let space = Space::new(Arc::new(Basis::new(1, 4).unwrap()));
        let x = space.variable(0, Interval::new(0.4, 0.6));
        for (function, most) in [(Smooth::Tanh, 1e-4), (Smooth::Sin, 1e-6), (Smooth::Reciprocal, 2e-3)] {
            let y = Curve::Smooth(function).apply(&space, &x);
            assert!(y.error < most, "{function:?}: {}", y.error);
        }
        let x = space.variable(0, Interval::new(-1.0, 1.0));
        assert!(Curve::Relu.apply(&space, &x).error < 0.0626);
        assert!(!Curve::Smooth(Smooth::Reciprocal).apply(&space, &x).is_bounded());
    }
}
