//! Arithmetic on constants, in doubles: it defines what the model means.

use crate::syntax::ast::CompareOp;

use super::{Function, Term, numbers, truths};

/// One function at one number.
pub(super) fn function(function: Function, x: f64) -> f64 {
    match function {
        Function::Negate => -x,
        Function::Abs => x.abs(),
        Function::Floor => x.floor(),
        Function::Sqrt => x.sqrt(),
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Tanh => x.tanh(),
        Function::Sign if x > 0.0 => 1.0,
        Function::Sign if x < 0.0 => -1.0,
        Function::Sign => 0.0,
        Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Function::Relu => x.max(0.0),
        Function::Clip(low, high) => x.max(low).min(high),
    }
}

/// Two constants, element by element.
pub(super) fn zip(a: &Term, b: &Term, op: fn(f64, f64) -> f64) -> Term {
    numbers(pairs(a, b).map(|(x, y)| op(x, y)).collect(), a.is_from_param() || b.is_from_param())
}

/// A comparison of two constants.
pub(super) fn compare(op: CompareOp, a: &Term, b: &Term) -> Term {
    let holds = |x: f64, y: f64| match op {
        CompareOp::Less => x < y,
        CompareOp::LessEqual => x <= y,
        CompareOp::Greater => x > y,
        CompareOp::GreaterEqual => x >= y,
        CompareOp::Equal => x == y,
        CompareOp::NotEqual => x != y,
    };
    truths(pairs(a, b).map(|(x, y)| holds(x, y)).collect(), a.is_from_param() || b.is_from_param())
}

fn pairs<'a>(a: &'a Term, b: &'a Term) -> impl Iterator<Item = (f64, f64)> + 'a {
    let x = a.numbers().unwrap_or_default();
    let y = b.numbers().unwrap_or_default();
    let len = if x.len() == 1 { y.len() } else { x.len() };
    let at = |v: &[f64], i: usize| if v.len() == 1 { v[0] } else { v[i] };
    (0..len).map(move |i| (at(x, i), at(y, i)))
}
