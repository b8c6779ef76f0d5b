//! Normalisation layers, as they act in inference.

use crate::NodeId;
use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{Add, Div, Mul, Pow, Reduce, ReduceKind, Sqrt, Sub};

/// (x − mean) · scale / √(variance + epsilon) + shift per channel: affine, with constants that the graph folds
/// together with a bound on their rounding.
pub(super) fn batch(l: &mut Lowering<'_, '_>) -> Lowered {
    if l.attr_flag("training_mode", false)? || (1..5).any(|index| l.wants_output(index)) {
        return unsupported("it is in training mode; export the network for inference");
    }
    if l.opset < 9 && !l.attr_flag("spatial", true)? {
        return unsupported("it normalises each element on its own (spatial = 0)");
    }
    let epsilon = l.attr_float("epsilon", f64::from(1e-5f32))?;
    let shape = l.shape(0)?;
    let &[_, channels, ..] = &shape[..] else {
        return invalid(format!("its input has shape {shape:?}, which has no channels"));
    };
    let mut per_channel = vec![channels];
    per_channel.resize(shape.len() - 1, 1);
    let x = l.node(0)?;
    let mut parameter = |index: usize, what: &str| -> Result<NodeId, Failure> {
        let literal = l.weights(index, what)?;
        if literal.data.len() != channels {
            return invalid(format!("its {what} has shape {:?} for {channels} channels", literal.shape));
        }
        let node = l.node(index)?;
        l.reshape(node, &per_channel)
    };
    let scale = parameter(1, "scale")?;
    let shift = parameter(2, "shift")?;
    let mean = parameter(3, "mean")?;
    let variance = parameter(4, "variance")?;
    let epsilon = l.scalar(epsilon);
    let variance = l.apply(Add, &[variance, epsilon])?;
    let deviation = l.apply(Sqrt, &[variance])?;
    let scale = l.apply(Div, &[scale, deviation])?;
    let centred = l.apply(Sub, &[x, mean])?;
    let scaled = l.apply(Mul, &[centred, scale])?;
    let y = l.apply(Add, &[scaled, shift])?;
    one(y, Kind::Float)
}

/// (x − mean) / √(variance + epsilon) · scale + shift over the axes from `axis` on.
pub(super) fn layer(l: &mut Lowering<'_, '_>) -> Lowered {
    let epsilon = l.attr_float("epsilon", f64::from(1e-5f32))?;
    let shape = l.shape(0)?;
    let first = l.axis(l.attr_int("axis")?.unwrap_or(-1), shape.len())?;
    let mean = Reduce { kind: ReduceKind::Mean, axes: (first..shape.len()).collect(), keep_dims: true };
    let x = l.node(0)?;
    let centre = l.apply(mean.clone(), &[x])?;
    let centred = l.apply(Sub, &[x, centre])?;
    let two = l.scalar(2.0);
    let squares = l.apply(Pow, &[centred, two])?;
    let variance = l.apply(mean, &[squares])?;
    let epsilon = l.scalar(epsilon);
    let variance = l.apply(Add, &[variance, epsilon])?;
    let deviation = l.apply(Sqrt, &[variance])?;
    let mut y = l.apply(Div, &[centred, deviation])?;
    let scale = l.node(1)?;
    y = l.apply(Mul, &[y, scale])?;
    if l.has(2) {
        let shift = l.node(2)?;
        y = l.apply(Add, &[y, shift])?;
    }
    if l.shape_of(y) != shape {
        return invalid(format!("its scale or shift does not broadcast to {shape:?}"));
    }
    if l.wants_output(1) || l.wants_output(2) {
        return unsupported("its outputs for training (mean and deviation) are used");
    }
    one(y, Kind::Float)
}
