//! Elementwise arithmetic.

use crate::NodeId;
use crate::import::literal::{Kind, Value};
use crate::import::lowering::{Failure, Lowered, Lowering, invalid, one, unsupported};
use crate::ops::{Abs, Add, Compare, Cos, Div, Exp, Floor, Log, Max, Min, Mul, Neg, Op, Pow, Select, Sin, Sqrt, Sub};

fn unary(l: &mut Lowering<'_, '_>, op: impl Into<Op>) -> Lowered {
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let y = l.apply(op, &[x])?;
    one(y, kind)
}

fn binary(l: &mut Lowering<'_, '_>, op: impl Into<Op>) -> Lowered {
    let kind = l.kind(0)?;
    let (a, b) = (l.node(0)?, l.node(1)?);
    let y = l.apply(op, &[a, b])?;
    one(y, kind)
}

pub(super) fn add(l: &mut Lowering<'_, '_>) -> Lowered {
    binary(l, Add)
}

pub(super) fn sub(l: &mut Lowering<'_, '_>) -> Lowered {
    binary(l, Sub)
}

pub(super) fn mul(l: &mut Lowering<'_, '_>) -> Lowered {
    binary(l, Mul)
}

/// Division; of integers, it rounds towards zero.
pub(super) fn div(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(0)?;
    let (a, b) = (l.node(0)?, l.node(1)?);
    let quotient = l.apply(Div, &[a, b])?;
    if kind == Kind::Float {
        return one(quotient, kind);
    }
    let zero = l.scalar(0.0);
    let down = l.apply(Floor, &[quotient])?;
    let up = ceiling(l, quotient)?;
    let positive = l.apply(Compare::GreaterEqual, &[quotient, zero])?;
    let y = l.apply(Select, &[positive, down, up])?;
    one(y, kind)
}

/// The remainder with the sign of the divisor; the other kind, C's `fmod`, is not needed by any shape computation.
pub(super) fn modulo(l: &mut Lowering<'_, '_>) -> Lowered {
    if l.attr_flag("fmod", false)? || l.kind(0)? == Kind::Float {
        return unsupported("only the remainder of integers is");
    }
    let (a, b) = (l.node(0)?, l.node(1)?);
    let quotient = l.apply(Div, &[a, b])?;
    let quotient = l.apply(Floor, &[quotient])?;
    let whole = l.apply(Mul, &[quotient, b])?;
    let y = l.apply(Sub, &[a, whole])?;
    one(y, Kind::Int)
}

/// Powers with a constant exponent.
pub(super) fn pow(l: &mut Lowering<'_, '_>) -> Lowered {
    l.weights(1, "exponent")?;
    binary(l, Pow)
}

/// Joins all inputs, first to last.
fn variadic(l: &mut Lowering<'_, '_>, op: impl Into<Op>) -> Result<NodeId, Failure> {
    let op = op.into();
    if l.inputs.is_empty() {
        return invalid("it has no inputs");
    }
    let mut result = l.node(0)?;
    for index in 1..l.inputs.len() {
        let next = l.node(index)?;
        result = l.apply(op.clone(), &[result, next])?;
    }
    Ok(result)
}

fn variadic_value(l: &mut Lowering<'_, '_>, op: impl Into<Op>) -> Lowered {
    if let [Some(only @ Value::Known(_))] = &l.inputs[..] {
        return Ok(vec![only.clone()]);
    }
    let node = variadic(l, op)?;
    one(node, l.kind(0)?)
}

pub(super) fn min(l: &mut Lowering<'_, '_>) -> Lowered {
    variadic_value(l, Min)
}

pub(super) fn max(l: &mut Lowering<'_, '_>) -> Lowered {
    variadic_value(l, Max)
}

pub(super) fn sum(l: &mut Lowering<'_, '_>) -> Lowered {
    variadic_value(l, Add)
}

pub(super) fn mean(l: &mut Lowering<'_, '_>) -> Lowered {
    let total = variadic(l, Add)?;
    let count = l.scalar(l.inputs.len() as f64);
    let y = l.apply(Div, &[total, count])?;
    one(y, Kind::Float)
}

pub(super) fn neg(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Neg)
}

pub(super) fn abs(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Abs)
}

pub(super) fn sqrt(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Sqrt)
}

pub(super) fn exp(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Exp)
}

pub(super) fn log(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Log)
}

pub(super) fn sin(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Sin)
}

pub(super) fn cos(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Cos)
}

/// sin / cos.
pub(super) fn tan(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let (rise, run) = (l.apply(Sin, &[x])?, l.apply(Cos, &[x])?);
    let y = l.apply(Div, &[rise, run])?;
    one(y, Kind::Float)
}

pub(super) fn floor(l: &mut Lowering<'_, '_>) -> Lowered {
    unary(l, Floor)
}

fn ceiling(l: &mut Lowering<'_, '_>, x: NodeId) -> Result<NodeId, Failure> {
    let negated = l.apply(Neg, &[x])?;
    let floor = l.apply(Floor, &[negated])?;
    l.apply(Neg, &[floor])
}

/// −⌊−x⌋.
pub(super) fn ceil(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let y = ceiling(l, x)?;
    one(y, Kind::Float)
}

pub(super) fn reciprocal(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let unit = l.scalar(1.0);
    let y = l.apply(Div, &[unit, x])?;
    one(y, Kind::Float)
}

/// (x > 0) − (x < 0).
pub(super) fn sign(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(0)?;
    let x = l.node(0)?;
    let zero = l.scalar(0.0);
    let positive = l.apply(Compare::Greater, &[x, zero])?;
    let negative = l.apply(Compare::Less, &[x, zero])?;
    let y = l.apply(Sub, &[positive, negative])?;
    one(y, kind)
}
