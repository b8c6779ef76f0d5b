//! Numbers with twice the digits: a double and an interval around what it misses.
//!
//! Where the worst start state lies on the edge of a guard exactly (a gap of 3 m that is closed in twelve steps to the last digit), intervals
//! between doubles can never say on which side a run ends, and half of the answer is lost. The steps of such runs are mostly sums and
//! products, whose rounding errors are doubles themselves: kept beside the result they decide it. Whatever else the step does falls back on intervals.

use certus_graph::ops::{Arg, Clip, Compare, Movement, Op, Operator};
use certus_graph::{Graph, Interval, NodeId};

/// A real number: `head` and something in `tail` together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide {
    head: f64,
    tail: Interval,
}

/// Products of smaller numbers have errors that are no doubles.
const SMALLEST_PRODUCT: f64 = 1e-250;

impl Wide {
    /// A double.
    pub(crate) fn exact(value: f64) -> Wide {
        Wide { head: value, tail: Interval::ZERO }
    }

    /// Any number of an interval.
    fn within(range: Interval) -> Wide {
        let middle = if range.lo == range.hi { range.lo } else { range.lo / 2.0 + range.hi / 2.0 };
        if !middle.is_finite() {
            return Wide { head: 0.0, tail: range };
        }
        let from = Interval::point(middle);
        let tail = Interval::new((Interval::point(range.lo) - from).lo, (Interval::point(range.hi) - from).hi);
        Wide { head: middle, tail }
    }

    /// The interval between doubles around it. A certain sign stays certain.
    pub(crate) fn interval(self) -> Interval {
        Interval::point(self.head) + self.tail
    }

    fn negated(self) -> Wide {
        Wide { head: -self.head, tail: -self.tail }
    }

    /// The same number with as much of it in the head as fits.
    fn gathered(self) -> Wide {
        let middle = self.tail.lo / 2.0 + self.tail.hi / 2.0;
        let (head, missed) = two_sum(self.head, middle);
        if !(head.is_finite() && missed.is_finite()) {
            return self;
        }
        Wide { head, tail: self.tail - Interval::point(middle) + Interval::point(missed) }
    }

    fn plus(self, other: Wide) -> Wide {
        let (head, missed) = two_sum(self.head, other.head);
        if !(head.is_finite() && missed.is_finite()) {
            return Wide::within(self.interval() + other.interval());
        }
        Wide { head, tail: self.tail + other.tail + Interval::point(missed) }.gathered()
    }

    fn times(self, other: Wide) -> Wide {
        let head = self.head * other.head;
        if !head.is_finite() || head.abs() < SMALLEST_PRODUCT {
            return Wide::within(self.interval() * other.interval());
        }
        let missed = Interval::point(self.head.mul_add(other.head, -head));
        let (a, b) = (Interval::point(self.head), Interval::point(other.head));
        Wide { head, tail: missed + a * other.tail + b * self.tail + self.tail * other.tail }.gathered()
    }

    /// What is certain of a comparison.
    fn compared(self, other: Wide, how: Compare) -> Option<bool> {
        how.certainty(self.plus(other.negated()).interval(), Interval::ZERO)
    }

    /// The larger of two, if it is certain which one that is.
    fn larger(self, other: Wide) -> Option<Wide> {
        Some(if self.compared(other, Compare::GreaterEqual)? { self } else { other })
    }

    fn smaller(self, other: Wide) -> Option<Wide> {
        Some(if self.compared(other, Compare::LessEqual)? { self } else { other })
    }

    fn clipped(self, clip: &Clip) -> Option<Wide> {
        let above = if clip.lower.is_finite() { self.larger(Wide::exact(clip.lower))? } else { self };
        if clip.upper.is_finite() { above.smaller(Wide::exact(clip.upper)) } else { Some(above) }
    }
}

/// The rounded sum and what it misses, which is a double too (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Every output of a graph over one vector; nothing when that has not as many numbers as the graph takes.
pub(crate) fn evaluate(graph: &Graph, input: &[Wide]) -> Option<Vec<Vec<Wide>>> {
    let mut values: Vec<Vec<Wide>> = Vec::with_capacity(graph.len());
    for node in graph.nodes() {
        let elements = node.shape.iter().product();
        let arguments: Vec<&[Wide]> = node.inputs.iter().map(|id| values[id.index()].as_slice()).collect();
        let own = match &node.op {
            Op::Input(_) if input.len() == elements => Some(input.to_vec()),
            Op::Input(_) => return None,
            op => ruled(graph, op, &node.inputs, &arguments, elements),
        };
        values.push(own.unwrap_or_else(|| {
            let ranges: Vec<Vec<Interval>> =
                arguments.iter().map(|own| own.iter().map(|value| value.interval()).collect()).collect();
            let shapes = node.inputs.iter().map(|&id| graph.shape(id));
            let given: Vec<Arg<'_, Interval>> =
                shapes.zip(&ranges).map(|(shape, values)| Arg { shape, values }).collect();
            let mut result = vec![Interval::ENTIRE; elements];
            node.op.enclose(&given, &node.shape, &mut result);
            result.into_iter().map(Wide::within).collect()
        }));
    }
    Some(graph.outputs().iter().map(|port| values[port.node.index()].clone()).collect())
}

/// The result of an operator that has a rule of its own and can be decided; nothing otherwise.
fn ruled(graph: &Graph, op: &Op, inputs: &[NodeId], arguments: &[&[Wide]], elements: usize) -> Option<Vec<Wide>> {
    // Element `i` of an argument that is as large as the result, or one number.
    let at = |argument: usize, i: usize| -> Option<Wide> {
        let own = arguments[argument];
        match own.len() {
            1 => Some(own[0]),
            len if len == elements => Some(own[i]),
            _ => None,
        }
    };
    let each = |f: &dyn Fn(usize) -> Option<Wide>| (0..elements).map(f).collect::<Option<Vec<Wide>>>();
    let truth = |known: Option<bool>| Wide::within(Interval::from_certainty(known));
    match op {
        Op::Constant(own) => each(&|i| Some(Wide::within(own.interval(i)))),
        Op::Add(_) => each(&|i| Some(at(0, i)?.plus(at(1, i)?))),
        Op::Sub(_) => each(&|i| Some(at(0, i)?.plus(at(1, i)?.negated()))),
        Op::Mul(_) => each(&|i| Some(at(0, i)?.times(at(1, i)?))),
        Op::Neg(_) => each(&|i| Some(at(0, i)?.negated())),
        Op::Max(_) => each(&|i| at(0, i)?.larger(at(1, i)?)),
        Op::Min(_) => each(&|i| at(0, i)?.smaller(at(1, i)?)),
        Op::Relu(_) => each(&|i| at(0, i)?.larger(Wide::exact(0.0))),
        Op::Clip(clip) => each(&|i| at(0, i)?.clipped(clip)),
        Op::Compare(how) => each(&|i| Some(truth(at(0, i)?.compared(at(1, i)?, *how)))),
        Op::Select(_) => each(&|i| at(if at(0, i)?.interval().certainty()? { 1 } else { 2 }, i)),
        Op::Reshape(_) => Some(arguments[0].to_vec()),
        Op::Slice(own) => Some(moved(graph, own, inputs, arguments, elements, op)),
        Op::Concat(own) => Some(moved(graph, own, inputs, arguments, elements, op)),
        _ => None,
    }
    .filter(|found| found.len() == elements)
}

fn moved(
    graph: &Graph,
    own: &impl Movement,
    inputs: &[NodeId],
    arguments: &[&[Wide]],
    elements: usize,
    op: &Op,
) -> Vec<Wide> {
    let shapes: Vec<&[usize]> = inputs.iter().map(|&id| graph.shape(id)).collect();
    let mut result = Vec::with_capacity(elements);
    if let Ok(shape) = op.infer(&shapes) {
        own.sources(&shapes, &shape, &mut |argument, element| result.push(arguments[argument][element]));
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A number as a fraction of a power of two, in integers: exact for doubles of moderate size.
    fn scaled(value: f64) -> i128 {
        let scaled = value * 2f64.powi(60);
        assert!(scaled.fract() == 0.0 && scaled.abs() < 2f64.powi(120), "{value}");
        scaled as i128
    }

    fn holds(wide: Wide, exact: i128) -> bool {
        // head + tail.lo <= exact <= head + tail.hi, in units of 2^-60.
        let unit = |value: f64| (value * 2f64.powi(60)) as i128;
        // Tails are cut to whole units.
        let slack = 1;
        unit(wide.head) + unit(wide.tail.lo) - slack <= exact && exact <= unit(wide.head) + unit(wide.tail.hi) + slack
    }

    proptest! {
        #[test]
        fn sums_and_products_are_inside_and_narrow(a in -900i32..900, b in -900i32..900, c in -900i32..900) {
            // Tenths are no doubles, so everything here is rounded.
            let [x, y, z] = [a, b, c].map(|own| f64::from(own) * 0.1);
            let sum = Wide::exact(x).plus(Wide::exact(y)).plus(Wide::exact(z));
            prop_assert!(holds(sum, scaled(x) + scaled(y) + scaled(z)));
            prop_assert!(sum.tail.width() < 1e-28);
            let product = Wide::exact(x).times(Wide::exact(y));
            let difference = product.plus(Wide::exact(x * y).negated());
            prop_assert!(difference.interval().contains(x.mul_add(y, -(x * y))));
            prop_assert!(product.tail.width() < 1e-25);
        }
    }

    #[test]
    fn comparisons_see_what_doubles_round_away() {
        // 0.1 + 0.2 in the reals is less than the double that it is rounded to.
        let sum = Wide::exact(0.1).plus(Wide::exact(0.2));
        assert_eq!(sum.compared(Wide::exact(0.1 + 0.2), Compare::Less), Some(true));
        let third = sum.plus(Wide::exact(0.3).negated());
        assert_eq!(third.compared(Wide::exact(0.0), Compare::Greater), Some(true));
        assert_eq!(third.plus(third.negated()).compared(Wide::exact(0.0), Compare::LessEqual), Some(true));
        let vague = Wide::within(Interval::new(-1e-20, 1e-20));
        assert_eq!(vague.compared(Wide::exact(0.0), Compare::Less), None);
        assert_eq!(vague.larger(Wide::exact(0.0)), None);
        assert_eq!(Wide::exact(0.0).times(vague), Wide::exact(0.0));
    }
}
