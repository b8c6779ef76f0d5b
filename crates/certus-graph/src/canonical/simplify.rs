//! Local rewrites that need no linear algebra.

use super::Builder;
use crate::ops::{Clip, Compare, Movement, Op, Pow, Quantity, Relu, Reshape};
use crate::{GraphError, NodeId, broadcast_shapes, element_count};

impl Builder {
    /// A simpler node for the same value, if there is one.
    pub(super) fn simplify(&mut self, op: &Op, args: &[NodeId]) -> Result<Option<NodeId>, GraphError> {
        match op {
            Op::Mul(_) if args[0] == args[1] => {
                let two = self.scalar(2.0)?;
                self.add(Op::Pow(Pow), &[args[0], two]).map(Some)
            }
            Op::Pow(_) if self.uniform(args[1]) == Some(1.0) => self.unchanged(args[0], op, args),
            Op::Max(_) => self.limit(args, |bound| Clip { lower: bound, upper: f64::INFINITY }),
            Op::Min(_) => self.limit(args, |bound| Clip { lower: f64::NEG_INFINITY, upper: bound }),
            Op::Clip(clip) => self.clip(*clip, args[0]).map(Some),
            Op::Not(_) => match self.target.node(args[0]).op {
                Op::Compare(compare) => {
                    let inner = self.target.node(args[0]).inputs.clone();
                    self.add(Op::Compare(compare.negated()), &inner).map(Some)
                }
                _ => Ok(None),
            },
            Op::And(_) => self.connective(op, args, 0.0),
            Op::Or(_) => self.connective(op, args, 1.0),
            Op::Select(_) => match self.uniform(args[0]) {
                Some(condition) => self.unchanged(if condition != 0.0 { args[1] } else { args[2] }, op, args),
                None if args[1] == args[2] => self.unchanged(args[1], op, args),
                None => Ok(None),
            },
            Op::Compare(Compare::Equal | Compare::LessEqual | Compare::GreaterEqual) if args[0] == args[1] => {
                let shape = self.target.shape(args[0]).to_vec();
                self.filled(1.0, &shape).map(Some)
            }
            Op::Reshape(reshape) => self.reshape(&reshape.shape, args[0]).map(Some),
            Op::Slice(slice) => self.if_identity(slice, args),
            Op::Transpose(transpose) => self.if_identity(transpose, args),
            Op::Gather(gather) => self.if_identity(gather, args),
            Op::Concat(concat) => self.if_identity(concat, args),
            _ => Ok(None),
        }
    }

    /// The value of a constant all of whose elements are the same and exact.
    fn uniform(&self, id: NodeId) -> Option<f64> {
        let data = self.target.constant_value(id)?.data();
        let first = *data.first()?;
        data.iter().all(|&value| value == first).then_some(first)
    }

    fn scalar(&mut self, value: f64) -> Result<NodeId, GraphError> {
        self.filled(value, &[])
    }

    fn filled(&mut self, value: f64, shape: &[usize]) -> Result<NodeId, GraphError> {
        let count = element_count(shape).unwrap_or(0);
        let tensor = crate::Tensor::new(shape, vec![value; count])?;
        self.add(Op::Constant(crate::ops::Constant::exact(tensor)), &[])
    }

    /// One of the arguments, if it has the shape of the result (it may have been broadcast).
    fn unchanged(&self, id: NodeId, op: &Op, args: &[NodeId]) -> Result<Option<NodeId>, GraphError> {
        use crate::ops::Operator;
        let shapes: Vec<&[usize]> = args.iter().map(|&arg| self.target.shape(arg)).collect();
        Ok((op.infer(&shapes)? == self.target.shape(id)).then_some(id))
    }

    /// `max(x, c)` and `min(x, c)` as a clip.
    fn limit(&mut self, args: &[NodeId], clip: impl Fn(f64) -> Clip) -> Result<Option<NodeId>, GraphError> {
        for (x, bound) in [(args[0], args[1]), (args[1], args[0])] {
            let shape = self.target.shape(x);
            let broadcast = broadcast_shapes("Clip", shape, self.target.shape(bound))? != shape;
            if let (false, Some(value)) = (broadcast, self.uniform(bound)) {
                return self.clip(clip(value), x).map(Some);
            }
        }
        Ok(None)
    }

    /// A clip, joined with a clip or ReLU before it, and as a ReLU where it is one.
    fn clip(&mut self, clip: Clip, x: NodeId) -> Result<NodeId, GraphError> {
        if clip.lower == f64::NEG_INFINITY && clip.upper == f64::INFINITY {
            return Ok(x);
        }
        let inner = match self.target.node(x).op {
            Op::Clip(inner) => Some(inner),
            Op::Relu(_) => Some(Clip { lower: 0.0, upper: f64::INFINITY }),
            _ => None,
        };
        let ordered = |c: &Clip| c.lower <= c.upper;
        if let Some(inner) = inner.filter(|inner| ordered(inner) && ordered(&clip)) {
            let within = |value: f64| value.max(clip.lower).min(clip.upper);
            let joined = Clip { lower: within(inner.lower), upper: within(inner.upper) };
            let source = self.target.node(x).inputs[0];
            return self.clip_operator(joined, source);
        }
        self.clip_operator(clip, x)
    }

    fn clip_operator(&mut self, clip: Clip, x: NodeId) -> Result<NodeId, GraphError> {
        let relu = clip.lower == 0.0 && clip.upper == f64::INFINITY;
        let op = if relu { Op::Relu(Relu) } else { Op::Clip(clip) };
        self.add(op, &[x])
    }

    /// A conjunction or disjunction with a known side; `absorbing` decides it, anything else leaves the other side.
    fn connective(&mut self, op: &Op, args: &[NodeId], absorbing: f64) -> Result<Option<NodeId>, GraphError> {
        for (known, other) in [(args[0], args[1]), (args[1], args[0])] {
            let Some(value) = self.uniform(known) else { continue };
            let truth = if value != 0.0 { 1.0 } else { 0.0 };
            if truth == absorbing {
                use crate::ops::Operator;
                let shapes = [self.target.shape(args[0]), self.target.shape(args[1])];
                let shape = op.infer(&shapes)?;
                return self.filled(absorbing, &shape).map(Some);
            }
            if self.is_truth(other) {
                return self.unchanged(other, op, args);
            }
        }
        Ok(None)
    }

    /// Whether a node has only the values 0 and 1.
    fn is_truth(&self, id: NodeId) -> bool {
        match &self.target.node(id).op {
            Op::Compare(_) | Op::Not(_) | Op::And(_) | Op::Or(_) | Op::ArgMax(_) => true,
            Op::Throughout(own) => own.quantity == Quantity::Truth,
            _ => false,
        }
    }

    fn reshape(&mut self, shape: &[usize], x: NodeId) -> Result<NodeId, GraphError> {
        if self.target.shape(x) == shape {
            return Ok(x);
        }
        match &self.target.node(x).op {
            Op::Reshape(_) => {
                let source = self.target.node(x).inputs[0];
                self.reshape(shape, source)
            }
            Op::Affine(affine) if self.readers(x) <= 1 => {
                let (affine, inputs) = (affine.clone().reshaped(shape)?, self.target.node(x).inputs.clone());
                self.add(Op::Affine(affine), &inputs)
            }
            _ => self.add(Op::Reshape(Reshape { shape: shape.to_vec() }), &[x]),
        }
    }

    /// The argument itself, reshaped, if the movement leaves every element in its place.
    fn if_identity(&mut self, movement: &impl Movement, args: &[NodeId]) -> Result<Option<NodeId>, GraphError> {
        if args.len() != 1 {
            return Ok(None);
        }
        let shape = self.target.shape(args[0]);
        let result = movement.result_shape(&[shape])?;
        if element_count(&result) != element_count(shape) {
            return Ok(None);
        }
        let (mut place, mut identity) = (0, true);
        movement.sources(&[shape], &result, &mut |_, element| {
            identity &= element == place;
            place += 1;
        });
        if identity { self.reshape(&result, args[0]).map(Some) } else { Ok(None) }
    }
}
