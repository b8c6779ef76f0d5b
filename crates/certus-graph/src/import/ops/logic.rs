//! Comparisons, truth values and choices.

use crate::import::literal::Kind;
use crate::import::lowering::{Lowered, Lowering, one};
use crate::ops::{And, Compare, Not, Op, Or, Select};

fn truth(l: &mut Lowering<'_, '_>, op: impl Into<Op>) -> Lowered {
    let (a, b) = (l.node(0)?, l.node(1)?);
    let y = l.apply(op, &[a, b])?;
    one(y, Kind::Bool)
}

pub(super) fn greater(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::Greater)
}

pub(super) fn greater_or_equal(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::GreaterEqual)
}

pub(super) fn less(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::Less)
}

pub(super) fn less_or_equal(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::LessEqual)
}

pub(super) fn equal(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::Equal)
}

pub(super) fn and(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, And)
}

pub(super) fn or(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Or)
}

pub(super) fn xor(l: &mut Lowering<'_, '_>) -> Lowered {
    truth(l, Compare::NotEqual)
}

pub(super) fn not(l: &mut Lowering<'_, '_>) -> Lowered {
    let x = l.node(0)?;
    let y = l.apply(Not, &[x])?;
    one(y, Kind::Bool)
}

pub(super) fn select(l: &mut Lowering<'_, '_>) -> Lowered {
    let kind = l.kind(1)?;
    let (condition, a, b) = (l.node(0)?, l.node(1)?, l.node(2)?);
    let y = l.apply(Select, &[condition, a, b])?;
    one(y, kind)
}
