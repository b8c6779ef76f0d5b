//! A condition at all instants of a part of a period.
//!
//! Arguments are those of [`Flow`]. Two nodes make an atom of it: one with the truth, one with the infimum of the margin.
//!
//! *Enclosure.* Slices of time of a validated enclosure of the solutions, see [`Condition::throughout`].

use super::flow::{Flow, point};
use super::{Arg, Arity, Operator};
use crate::flow::Condition;
use crate::{GraphError, Interval, Real, Shape};

/// What is asked of a condition over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// 1 if it is true at all instants, 0 if not.
    Truth,
    /// The infimum of its margin.
    Margin,
}

/// A condition along the flow, at all instants from `from` to `to` after the period's start.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughout {
    /// The differential equation and the period.
    pub flow: Flow,
    /// The condition over states and held numbers.
    pub condition: Condition,
    /// What is asked of it.
    pub quantity: Quantity,
    /// The first instant, which may be no double.
    pub from: Interval,
    /// The last instant.
    pub to: Interval,
}

impl Operator for Throughout {
    fn name(&self) -> &'static str {
        "Throughout"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(2)
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        self.flow.check("Throughout", shapes)?;
        let (field, lengths) = (&self.flow.field, self.condition.lengths());
        if lengths != (field.states(), field.held() + field.varying().len()) {
            let message = format!("the condition takes {lengths:?} numbers, the arguments have shapes {shapes:?}");
            return Err(GraphError::shape("Throughout", message));
        }
        Ok(vec![1])
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], _shape: &[usize], batch: usize, out: &mut [T]) {
        let nearest = |end: Interval| (end.lo / 2.0 + end.hi / 2.0).clamp(0.0, self.flow.duration);
        for (index, result) in out.iter_mut().enumerate().take(batch) {
            let (state, held) = (point(&args[0], batch, index), point(&args[1], batch, index));
            let (from, to) = (nearest(self.from), nearest(self.to));
            let (truth, margin) = self.condition.sampled(&self.flow.field, &state, &held, from, to);
            *result = T::from_f64(match self.quantity {
                Quantity::Truth => truth,
                Quantity::Margin => margin,
            });
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], _shape: &[usize], out: &mut [Interval]) {
        let found = self.flow.pipe(args[0].values, args[1].values).map(|pipe| {
            let held = self.flow.loosened(args[1].values);
            self.condition.throughout(&pipe, &held, self.from, self.to)
        });
        let (truth, margin) = found.unwrap_or((Interval::UNKNOWN_TRUTH, Interval::ENTIRE));
        out.fill(match self.quantity {
            Quantity::Truth => truth,
            Quantity::Margin => margin,
        });
    }
}
