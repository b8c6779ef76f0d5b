//! A step graph evaluated in double-double arithmetic.
//!
//! Where the worst start state lies on the edge of a guard exactly (a gap of 3 m that is closed in twelve steps to the last digit), intervals
//! between doubles can never say on which side a run ends, and half of the answer is lost. The steps of such runs are mostly sums and
//! products, whose rounding errors are doubles themselves: kept beside the result ([`DoubleDouble`]) they decide it. Every other operator
//! falls back on its interval enclosure, so the result encloses the real one whatever the step does.

use certus_graph::ops::{Arg, Clip, Compare, Movement, Op, Operator};
use certus_graph::{Graph, Interval, NodeId};
use certus_numerics::DoubleDouble;

/// What is certain of a comparison.
fn compared(a: DoubleDouble, b: DoubleDouble, how: Compare) -> Option<bool> {
    how.certainty(a.difference(b), Interval::ZERO)
}

/// The larger of two, if it is certain which one that is.
fn larger(a: DoubleDouble, b: DoubleDouble) -> Option<DoubleDouble> {
    Some(if compared(a, b, Compare::GreaterEqual)? { a } else { b })
}

fn smaller(a: DoubleDouble, b: DoubleDouble) -> Option<DoubleDouble> {
    Some(if compared(a, b, Compare::LessEqual)? { a } else { b })
}

fn clipped(value: DoubleDouble, clip: &Clip) -> Option<DoubleDouble> {
    let above = if clip.lower.is_finite() { larger(value, DoubleDouble::exact(clip.lower))? } else { value };
    if clip.upper.is_finite() { smaller(above, DoubleDouble::exact(clip.upper)) } else { Some(above) }
}

/// Every output of a graph over one vector; nothing when that has not as many numbers as the graph takes.
pub(crate) fn evaluate(graph: &Graph, input: &[DoubleDouble]) -> Option<Vec<Vec<DoubleDouble>>> {
    let mut values: Vec<Vec<DoubleDouble>> = Vec::with_capacity(graph.len());
    for node in graph.nodes() {
        let elements = node.shape.iter().product();
        let arguments: Vec<&[DoubleDouble]> = node.inputs.iter().map(|id| values[id.index()].as_slice()).collect();
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
            result.into_iter().map(DoubleDouble::within).collect()
        }));
    }
    Some(graph.outputs().iter().map(|port| values[port.node.index()].clone()).collect())
}

/// The result of an operator that has a rule of its own and can be decided; nothing otherwise.
fn ruled(
    graph: &Graph,
    op: &Op,
    inputs: &[NodeId],
    arguments: &[&[DoubleDouble]],
    elements: usize,
) -> Option<Vec<DoubleDouble>> {
    // Element `i` of an argument that is as large as the result, or one number.
    let at = |argument: usize, i: usize| -> Option<DoubleDouble> {
        let own = arguments[argument];
        match own.len() {
            1 => Some(own[0]),
            len if len == elements => Some(own[i]),
            _ => None,
        }
    };
    let each = |f: &dyn Fn(usize) -> Option<DoubleDouble>| (0..elements).map(f).collect::<Option<Vec<DoubleDouble>>>();
    let truth = |known: Option<bool>| DoubleDouble::within(Interval::from_certainty(known));
    match op {
        Op::Constant(own) => each(&|i| Some(DoubleDouble::within(own.interval(i)))),
        Op::Add(_) => each(&|i| Some(at(0, i)?.plus(at(1, i)?))),
        Op::Sub(_) => each(&|i| Some(at(0, i)?.plus(at(1, i)?.negated()))),
        Op::Mul(_) => each(&|i| Some(at(0, i)?.times(at(1, i)?))),
        Op::Neg(_) => each(&|i| Some(at(0, i)?.negated())),
        Op::Max(_) => each(&|i| larger(at(0, i)?, at(1, i)?)),
        Op::Min(_) => each(&|i| smaller(at(0, i)?, at(1, i)?)),
        Op::Relu(_) => each(&|i| larger(at(0, i)?, DoubleDouble::exact(0.0))),
        Op::Clip(clip) => each(&|i| clipped(at(0, i)?, clip)),
        Op::Compare(how) => each(&|i| Some(truth(compared(at(0, i)?, at(1, i)?, *how)))),
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
    arguments: &[&[DoubleDouble]],
    elements: usize,
    op: &Op,
) -> Vec<DoubleDouble> {
    let shapes: Vec<&[usize]> = inputs.iter().map(|&id| graph.shape(id)).collect();
    let mut result = Vec::with_capacity(elements);
    if let Ok(shape) = op.infer(&shapes) {
        own.sources(&shapes, &shape, &mut |argument, element| result.push(arguments[argument][element]));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_see_what_doubles_round_away() {
        let exact = DoubleDouble::exact;
        // 0.1 + 0.2 in the reals is less than the double that it is rounded to.
        let sum = exact(0.1).plus(exact(0.2));
        assert_eq!(compared(sum, exact(0.1 + 0.2), Compare::Less), Some(true));
        let third = sum.plus(exact(0.3).negated());
        assert_eq!(compared(third, exact(0.0), Compare::Greater), Some(true));
        assert_eq!(compared(third.plus(third.negated()), exact(0.0), Compare::LessEqual), Some(true));
        let vague = DoubleDouble::within(Interval::new(-1e-20, 1e-20));
        assert_eq!(compared(vague, exact(0.0), Compare::Less), None);
        assert_eq!(larger(vague, exact(0.0)), None);
    }
}
