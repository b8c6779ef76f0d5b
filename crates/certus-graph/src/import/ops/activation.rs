//! Activation functions.

use crate::import::literal::Kind;
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one};
use crate::ops::{
    Abs, Activation, Add, Clip, Compare, Div, Elu, LeakyRelu, Max, Min, Mul, Relu, Select, Sigmoid, Softplus, Tanh,
};

/// An activation of the table in `ops`, with its attributes.
pub(super) fn native(l: &mut Lowering<'_, '_>) -> Lowered {
    let signature = Activation::signature(l.proto.op_type);
    let Some((signature, defaults)) = signature.and_then(|own| Some((own, own.onnx_defaults?))) else {
        return invalid("it is no activation");
    };
    let values = signature.parameters.iter().zip(defaults).map(|(name, &default)| l.attr_float(name, default));
    let activation = (signature.make)(&values.collect::<Result<Vec<f64>, _>>()?);
    let x = l.node(0)?;
    let y = l.apply(activation, &[x])?;
    one(y, Kind::Float)
}

pub(super) fn relu(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.apply(Relu, &[x])?;
    one(y, kind)
}

/// gamma · elu(x).
pub(super) fn selu(l: &mut Lowering<'_, '_>) -> Lowered {
    let alpha = l.attr_float("alpha", 1.673_263_192_176_818_8)?;
    let gamma = l.attr_float("gamma", 1.050_701_022_148_132_3)?;
    let x = l.node(0)?;
    let curve = l.apply(Elu { alpha }, &[x])?;
    let gamma = l.scalar(gamma);
    let y = l.apply(Mul, &[curve, gamma])?;
    one(y, Kind::Float)
}

/// alpha · elu₁(x / alpha).
pub(super) fn celu(l: &mut Lowering<'_, '_>) -> Lowered {
    let alpha = l.attr_float("alpha", 1.0)?;
    if alpha == 0.0 {
        return invalid("its attribute `alpha` is zero");
    }
    let x = l.node(0)?;
    let alpha = l.scalar(alpha);
    let scaled = l.apply(Div, &[x, alpha])?;
    let curve = l.apply(Elu { alpha: 1.0 }, &[scaled])?;
    let y = l.apply(Mul, &[curve, alpha])?;
    one(y, Kind::Float)
}

/// x for x ≥ 0, slope · x below: max(x, 0) + slope · min(x, 0), or a leaky ReLU if there is one slope for all.
pub(super) fn prelu(l: &mut Lowering<'_, '_>) -> Lowered {
    let slope = l.weights(1, "slope")?;
    let x = l.node(0)?;
    if let Some(&alpha) = slope.data.first()
        && slope.data.iter().all(|&other| other == alpha)
    {
        let y = l.apply(LeakyRelu { alpha }, &[x])?;
        return one(y, Kind::Float);
    }
    let slope = l.node(1)?;
    let above = l.apply(Relu, &[x])?;
    let zero = l.scalar(0.0);
    let below = l.apply(Min, &[x, zero])?;
    let below = l.apply(Mul, &[below, slope])?;
    let y = l.apply(Add, &[above, below])?;
    one(y, Kind::Float)
}

/// Bounds are attributes before operator set 11, optional inputs since.
pub(super) fn clip(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(0)?;
    let mut bounds = [f64::NEG_INFINITY, f64::INFINITY];
    let names = ["min", "max"];
    let mut computed = [false; 2];
    for (index, bound) in bounds.iter_mut().enumerate() {
        if l.opset < 11 {
            *bound = l.attr_bound(names[index], *bound)?;
        } else if let Some(literal) = l.known(index + 1) {
            *bound = single_bound(literal.single(), names[index])?;
        } else {
            computed[index] = l.has(index + 1);
        }
    }
    if bounds[0] == f64::INFINITY || bounds[1] == f64::NEG_INFINITY {
        return invalid("its bounds leave no finite value");
    }
    let mut y = l.node(0)?;
    if computed[0] {
        let lower = l.node(1)?;
        y = l.apply(Max, &[y, lower])?;
    }
    y = l.apply(Clip { lower: bounds[0], upper: bounds[1] }, &[y])?;
    if computed[1] {
        let upper = l.node(2)?;
        y = l.apply(Min, &[y, upper])?;
    }
    one(y, kind)
}

fn single_bound(value: Option<f64>, name: &str) -> Result<f64, Failure> {
    match value {
        Some(value) if !value.is_nan() => Ok(value),
        _ => invalid(format!("its bound `{name}` must be one number")),
    }
}

/// x / (1 + |x|).
pub(super) fn softsign(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let size = l.apply(Abs, &[x])?;
    let unit = l.scalar(1.0);
    let size = l.apply(Add, &[size, unit])?;
    let y = l.apply(Div, &[x, size])?;
    one(y, Kind::Float)
}

/// alpha · x + beta, limited to [0, 1].
pub(super) fn hard_sigmoid(l: &mut Lowering<'_, '_>) -> Lowered {
    let alpha = l.attr_float("alpha", f64::from(0.2f32))?;
    let beta = l.attr_float("beta", 0.5)?;
    let x = l.node(0)?;
    let (alpha, beta) = (l.scalar(alpha), l.scalar(beta));
    let line = l.apply(Mul, &[x, alpha])?;
    let line = l.apply(Add, &[line, beta])?;
    let y = l.apply(Clip { lower: 0.0, upper: 1.0 }, &[line])?;
    one(y, Kind::Float)
}

/// x · clip(x / 6 + 1/2, 0, 1).
pub(super) fn hard_swish(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let (six, half) = (l.scalar(6.0), l.scalar(0.5));
    let line = l.apply(Div, &[x, six])?;
    let line = l.apply(Add, &[line, half])?;
    let gate = l.apply(Clip { lower: 0.0, upper: 1.0 }, &[line])?;
    let y = l.apply(Mul, &[x, gate])?;
    one(y, Kind::Float)
}

/// x · tanh(softplus(x)).
pub(super) fn mish(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let gate = l.apply(Softplus, &[x])?;
    let gate = l.apply(Tanh, &[gate])?;
    let y = l.apply(Mul, &[x, gate])?;
    one(y, Kind::Float)
}

/// x · sigmoid(alpha · x).
pub(super) fn swish(l: &mut Lowering<'_, '_>) -> Lowered {
    let alpha = l.attr_float("alpha", 1.0)?;
    let x = l.node(0)?;
    let alpha = l.scalar(alpha);
    let scaled = l.apply(Mul, &[x, alpha])?;
    let gate = l.apply(Sigmoid, &[scaled])?;
    let y = l.apply(Mul, &[x, gate])?;
    one(y, Kind::Float)
}

/// x above alpha, else 0.
pub(super) fn thresholded_relu(l: &mut Lowering<'_, '_>) -> Lowered {
    let alpha = l.attr_float("alpha", 1.0)?;
    let x = l.node(0)?;
    let (alpha, zero) = (l.scalar(alpha), l.scalar(0.0));
    let above = l.apply(Compare::Greater, &[x, alpha])?;
    let y = l.apply(Select, &[above, x, zero])?;
    one(y, Kind::Float)
}
