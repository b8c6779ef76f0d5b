//! Interval evaluation that knows which ends are attained.
//!
//! Comparisons are decided at their borders: `u > 0.5` is true of every u in (0.5, 1] and open over [0.5, 1]. So an interval here says
//! of each end whether it is excluded, and operators that keep strictness pass that on: sums, differences, scalings, minima, maxima,
//! quotients by something of one sign, floors, selections. Any other operator has its usual enclosure, with both ends taken for attained,
//! which is sound. Affine maps of points are summed term by term, so that a sum without rounding is a point.

use certus_graph::ops::{Affine, Arg, Compare, Op, Operator};
use certus_graph::{Graph, Interval};

/// An interval each of whose ends may be excluded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub range: Interval,
    pub low_open: bool,
    pub high_open: bool,
}

impl Span {
    /// One number.
    pub fn point(value: f64) -> Span {
        Span::closed(Interval::point(value))
    }

    /// With both ends.
    pub fn closed(range: Interval) -> Span {
        Span { range, low_open: false, high_open: false }
    }

    /// The number, if it is one only. Zero has one sign here.
    pub fn single(self) -> Option<f64> {
        (self.range.lo == self.range.hi && self.range.lo.is_finite()).then_some(self.range.lo + 0.0)
    }

    /// A number inside.
    pub fn middle(self) -> f64 {
        let Interval { lo, hi } = self.range;
        if lo == hi { lo } else { lo / 2.0 + hi / 2.0 }
    }

    fn negated(self) -> Span {
        Span { range: -self.range, low_open: self.high_open, high_open: self.low_open }
    }

    fn plus(self, other: Span) -> Span {
        Span {
            range: self.range + other.range,
            low_open: self.low_open || other.low_open,
            high_open: self.high_open || other.high_open,
        }
    }

    /// Times a number.
    fn scaled(self, factor: f64) -> Span {
        let range = self.range * Interval::point(factor);
        match factor {
            factor if factor > 0.0 => Span { range, ..self },
            factor if factor < 0.0 => Span { range, low_open: self.high_open, high_open: self.low_open },
            _ => Span::closed(range),
        }
    }

    fn min(self, other: Span) -> Span {
        let range = self.range.min(other.range);
        // The lower end is attained if either attains it; the upper one only if the one that has it does, or both.
        let low_open = [self, other].iter().all(|own| own.range.lo > range.lo || own.low_open);
        let high_open = [self, other].iter().any(|own| own.range.hi == range.hi && own.high_open);
        Span { range, low_open, high_open }
    }

    fn max(self, other: Span) -> Span {
        self.negated().min(other.negated()).negated()
    }

    fn abs(self) -> Span {
        match self.range {
            Interval { lo, .. } if lo >= 0.0 => self,
            Interval { hi, .. } if hi <= 0.0 => self.negated(),
            Interval { lo, hi } => {
                let ends = [(-lo, self.low_open), (hi, self.high_open)];
                let high_open = ends.iter().all(|&(end, open)| end < self.range.abs().hi || open);
                Span { range: self.range.abs(), low_open: false, high_open }
            }
        }
    }

    fn floor(self) -> Span {
        let mut range = self.range.floor();
        if self.high_open && self.range.hi.is_finite() {
            range.hi = range.lo.max(self.range.hi.ceil() - 1.0);
        }
        Span::closed(range)
    }

    /// A quotient. Next to a pole that is excluded, a numerator of one sign has a bound.
    fn over(self, divisor: Span) -> Span {
        let plain = Span::closed(self.range / divisor.range);
        if let Some(divisor) = divisor.single().filter(|&divisor| divisor != 0.0) {
            let flipped = if divisor < 0.0 { self.negated() } else { self };
            return Span { range: plain.range, ..flipped };
        }
        if divisor.range.hi == 0.0 && divisor.high_open {
            return self.negated().over(divisor.negated());
        }
        if !(divisor.range.lo == 0.0 && divisor.low_open && divisor.range.hi.is_finite()) {
            return plain;
        }
        let least = (self.range / Interval::point(divisor.range.hi)).lo;
        match self.range {
            Interval { lo, .. } if lo > 0.0 => Span {
                range: Interval { lo: least, hi: f64::INFINITY },
                low_open: self.low_open || divisor.high_open,
                high_open: false,
            },
            Interval { lo: 0.0, .. } => Span::closed(Interval { lo: 0.0, hi: f64::INFINITY }),
            Interval { hi, .. } if hi <= 0.0 => self.negated().over(divisor).negated(),
            _ => plain,
        }
    }

    /// What is certain of a comparison.
    pub fn compared(self, by: Compare, other: Span) -> Option<bool> {
        if let Some(certain) = by.certainty(self.range, other.range) {
            return Some(certain);
        }
        let below = self.range.hi == other.range.lo && (self.high_open || other.low_open);
        let above = self.range.lo == other.range.hi && (self.low_open || other.high_open);
        match (by, below, above) {
            (Compare::Less | Compare::LessEqual | Compare::NotEqual, true, _) => Some(true),
            (Compare::Greater | Compare::GreaterEqual | Compare::Equal, true, _) => Some(false),
            (Compare::Greater | Compare::GreaterEqual | Compare::NotEqual, _, true) => Some(true),
            (Compare::Less | Compare::LessEqual | Compare::Equal, _, true) => Some(false),
            _ => None,
        }
    }
}

/// The value of every node, where the inputs of the graph have these.
pub(super) fn spans(graph: &Graph, inputs: &[Vec<Span>]) -> Vec<Vec<Span>> {
    let mut values: Vec<Vec<Span>> = Vec::with_capacity(graph.len());
    let mut free = inputs.iter();
    for node in graph.nodes() {
        let result = match &node.op {
            Op::Input(_) => free.next().cloned().unwrap_or_default(),
            op => {
                let args: Vec<&[Span]> = node.inputs.iter().map(|id| values[id.index()].as_slice()).collect();
                let shapes: Vec<&[usize]> = node.inputs.iter().map(|&id| graph.shape(id)).collect();
                applied(op, &args, &shapes, &node.shape)
            }
        };
        debug_assert_eq!(result.len(), node.shape.iter().product::<usize>(), "{:?} has another shape", node.op);
        values.push(result);
    }
    values
}

fn applied(op: &Op, args: &[&[Span]], shapes: &[&[usize]], shape: &[usize]) -> Vec<Span> {
    let same = args.iter().all(|own| own.len() == args[0].len()) && shapes.iter().all(|own| *own == shape);
    let each = |of: &dyn Fn(Span) -> Span| args[0].iter().map(|&own| of(own)).collect();
    let pairs = |of: &dyn Fn(Span, Span) -> Span| args[0].iter().zip(args[1]).map(|(&a, &b)| of(a, b)).collect();
    match op {
        Op::Neg(_) if same => each(&Span::negated),
        Op::Abs(_) if same => each(&Span::abs),
        Op::Floor(_) if same => each(&Span::floor),
        Op::Add(_) if same => pairs(&Span::plus),
        Op::Sub(_) if same => pairs(&|a, b| a.plus(b.negated())),
        Op::Min(_) if same => pairs(&Span::min),
        Op::Max(_) if same => pairs(&Span::max),
        Op::Div(_) if same => pairs(&Span::over),
        Op::Compare(by) if same => pairs(&|a, b| Span::closed(Interval::from_certainty(a.compared(*by, b)))),
        Op::Mul(_) if same => pairs(&|a, b| match (a.single(), b.single()) {
            (_, Some(factor)) => a.scaled(factor),
            (Some(factor), _) => b.scaled(factor),
            _ => Span::closed(a.range * b.range),
        }),
        Op::Affine(own) if own.error().is_none() => affine(own, args),
        // These hand numbers on as they are, so they hand on what is known of their ends.
        Op::Concat(_) | Op::Slice(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Gather(_) => {
            let moved = |of: &dyn Fn(&Span) -> Interval| enclosed(op, args, shapes, shape, of);
            let (ranges, flags) = (
                moved(&|own| own.range),
                moved(&|own| Interval {
                    lo: f64::from(u8::from(own.low_open)) - 1.0,
                    hi: f64::from(u8::from(own.high_open)),
                }),
            );
            let own = ranges.into_iter().zip(flags);
            own.map(|(range, flag)| Span { range, low_open: flag.lo == 0.0, high_open: flag.hi == 1.0 }).collect()
        }
        Op::Select(_) if same => {
            let (conditions, yes, no) = (args[0], args[1], args[2]);
            let choose = |place: usize| match conditions[place].range.certainty() {
                Some(true) => yes[place],
                Some(false) => no[place],
                None => Span::closed(yes[place].range.hull(no[place].range)),
            };
            (0..conditions.len()).map(choose).collect()
        }
        _ => enclosed(op, args, shapes, shape, &|own| own.range).into_iter().map(Span::closed).collect(),
    }
}

fn enclosed(
    op: &Op,
    args: &[&[Span]],
    shapes: &[&[usize]],
    shape: &[usize],
    of: &dyn Fn(&Span) -> Interval,
) -> Vec<Interval> {
    let values: Vec<Vec<Interval>> = args.iter().map(|own| own.iter().map(of).collect()).collect();
    let args: Vec<Arg<'_, Interval>> = values.iter().zip(shapes).map(|(values, shape)| Arg { shape, values }).collect();
    let mut result = vec![Interval::ENTIRE; shape.iter().product()];
    op.enclose(&args, shape, &mut result);
    result
}

/// Term by term: outward only where a term or a sum is rounded.
fn affine(own: &Affine, args: &[&[Span]]) -> Vec<Span> {
    let mut result: Vec<Span> = own.bias().iter().map(|&value| Span::point(value)).collect();
    for (matrix, values) in own.matrices().iter().zip(args) {
        for (row, sum) in result.iter_mut().enumerate() {
            for (column, weight) in matrix.row(row).filter(|(_, weight)| *weight != 0.0) {
                *sum = sum.plus(values[column].scaled(weight));
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(lo: f64, hi: f64) -> Span {
        Span { range: Interval { lo, hi }, low_open: true, high_open: true }
    }

    #[test]
    fn what_is_excluded_is_never_met() {
        let (half, one) = (Span::point(0.5), Span::point(1.0));
        assert_eq!(open(0.5, 1.0).compared(Compare::Greater, half), Some(true));
        assert_eq!(open(0.5, 1.0).compared(Compare::Equal, one), Some(false));
        assert_eq!(Span::closed(Interval::new(0.5, 1.0)).compared(Compare::Greater, half), None);
        assert_eq!(open(1.0, 2.0).floor().single(), Some(1.0));
        assert_eq!(one.over(open(0.0, 1.0)).compared(Compare::Greater, one), Some(true));
        assert_eq!(one.negated().over(open(0.0, 1.0)).compared(Compare::Less, one.negated()), Some(true));
        assert_eq!(open(0.0, 1.0).min(Span::point(0.0)).single(), Some(0.0));
        assert_eq!(open(0.0, 1.0).min(one).compared(Compare::Less, one), Some(true));
        assert_eq!(
            Span::closed(Interval::new(0.0, 1.0)).min(open(0.0, 2.0)).compared(Compare::Greater, Span::point(0.0)),
            None
        );
        assert_eq!(open(-1.0, 2.0).abs().compared(Compare::Less, Span::point(2.0)), Some(true));
        assert_eq!(open(-1.0, 2.0).abs().compared(Compare::Greater, Span::point(0.0)), None);
    }
}
