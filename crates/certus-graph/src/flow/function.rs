//! The elementary functions that a right-hand side is made of, with what is known of their slopes.

use crate::Interval;

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// eˣ.
    Exp,
    /// Natural logarithm of a positive number.
    Log,
    /// √x; smooth where x is positive.
    Sqrt,
    /// 1/x.
    Reciprocal,
    /// Hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// ln(1 + eˣ).
    Softplus,
    /// |x|: not smooth, as all that follow.
    Abs,
    /// max(x, 0).
    Relu,
    /// x limited to a range.
    Clip {
        /// The least value.
        lower: f64,
        /// The greatest value.
        upper: f64,
    },
    /// Largest integer not above x.
    Floor,
    /// 1 where x > 0, 0 elsewhere.
    Positive,
    /// 1 where x ≥ 0, 0 elsewhere.
    NonNegative,
}

impl Function {
    /// Whether it has derivatives of all orders inside of its domain.
    pub fn is_smooth(self) -> bool {
        use Function::*;
        matches!(self, Sin | Cos | Exp | Log | Sqrt | Reciprocal | Tanh | Sigmoid | Softplus)
    }

    /// Its value at a double; none outside of its domain.
    pub fn real(self, x: f64) -> Option<f64> {
        Some(match self {
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Exp => x.exp(),
            Function::Log => return (x > 0.0).then(|| x.ln()),
            Function::Sqrt => return (x >= 0.0).then(|| x.sqrt()),
            Function::Reciprocal => return (x != 0.0).then(|| 1.0 / x),
            Function::Tanh => x.tanh(),
            Function::Sigmoid if x >= 0.0 => 1.0 / (1.0 + (-x).exp()),
            Function::Sigmoid => x.exp() / (1.0 + x.exp()),
            Function::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            Function::Abs => x.abs(),
            Function::Relu => x.max(0.0),
            Function::Clip { lower, upper } => x.max(lower).min(upper),
            Function::Floor => x.floor(),
            Function::Positive => f64::from(u8::from(x > 0.0)),
            Function::NonNegative => f64::from(u8::from(x >= 0.0)),
        })
    }

    /// An enclosure of its values over an interval; none where it is not defined on all of it.
    pub fn interval(self, x: Interval) -> Option<Interval> {
        Some(match self {
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Exp => x.exp(),
            Function::Log => return (x.lo > 0.0).then(|| x.ln()),
            Function::Sqrt => return (x.lo >= 0.0).then(|| x.sqrt()),
            Function::Reciprocal => return (!x.contains(0.0)).then(|| Interval::ONE / x),
            Function::Tanh => x.tanh(),
            Function::Sigmoid => x.sigmoid(),
            Function::Softplus => x.softplus(),
            Function::Abs => x.abs(),
            Function::Relu => x.max(Interval::ZERO),
            Function::Clip { lower, upper } => {
                let clip = |value: f64| value.max(lower).min(upper);
                Interval::new(clip(x.lo), clip(x.hi))
            }
            Function::Floor => x.floor(),
            Function::Positive => Interval::from_certainty(certainty(x.lo > 0.0, x.hi <= 0.0)),
            Function::NonNegative => Interval::from_certainty(certainty(x.lo >= 0.0, x.hi < 0.0)),
        })
    }

    /// The slope of a function that is not smooth, where its argument stays strictly inside of one of its linear pieces.
    ///
    /// Strictly, so that a smaller range never finds another piece: coefficients at a start and over the box that solutions
    /// stay in are those of one function.
    pub(super) fn piece(self, x: Interval) -> Option<f64> {
        match self {
            Function::Abs if x.lo > 0.0 => Some(1.0),
            Function::Abs if x.hi < 0.0 => Some(-1.0),
            Function::Relu if x.lo > 0.0 => Some(1.0),
            Function::Relu if x.hi < 0.0 => Some(0.0),
            Function::Clip { lower, upper } if lower < x.lo && x.hi < upper => Some(1.0),
            Function::Clip { lower, upper } if x.hi < lower || x.lo > upper => Some(0.0),
            Function::Floor if x.lo > x.lo.floor() && x.lo.floor() == x.hi.floor() && x.magnitude() < 1e15 => Some(0.0),
            Function::Positive | Function::NonNegative if x.lo > 0.0 || x.hi < 0.0 => Some(0.0),
            _ => None,
        }
    }

    /// An enclosure of its (generalised) derivative over an interval, `y` being its values there; none where it jumps.
    pub(super) fn derivative(self, x: Interval, y: Interval) -> Option<Interval> {
        let unit = Interval { lo: 0.0, hi: 1.0 };
        Some(match self {
            Function::Sin => x.cos(),
            Function::Cos => -x.sin(),
            Function::Exp => y,
            Function::Log => return (x.lo > 0.0).then(|| Interval::ONE / x),
            Function::Sqrt => return (y.lo > 0.0).then(|| Interval::ONE / (y + y)),
            Function::Reciprocal => -y.powi(2),
            Function::Tanh => (Interval::ONE - y.powi(2)).intersection(unit).unwrap_or(unit),
            Function::Sigmoid => y * (Interval::ONE - y),
            Function::Softplus => x.sigmoid(),
            _ => match (self.piece(x), self) {
                (Some(slope), _) => Interval::point(slope),
                (None, Function::Abs) => Interval { lo: -1.0, hi: 1.0 },
                (None, Function::Relu | Function::Clip { .. }) => unit,
                _ => return None,
            },
        })
    }
}

fn certainty(yes: bool, no: bool) -> Option<bool> {
    match (yes, no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}
