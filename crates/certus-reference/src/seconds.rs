//! Bounds in seconds: which steps they are, and which parts of steps.
//!
//! A time is the shortest decimal that is nearest to its double, and so is the length of a step; what is compared are these decimals.

use certus_lang::syntax::ast::{Bound, ChainOp, Expr, ExprKind, Ident};
use dashu_int::IBig;

use crate::formula::{Formula, Reader, Steps};
use crate::real::{Rational, whole};
use crate::value::{Evaluated, Stop, malformed};

/// An interval of time, and the length of a step.
pub(crate) struct Times {
    lower: Rational,
    upper: Rational,
    step: Rational,
}

/// The decimal that a double is written as.
fn decimal(value: f64) -> Option<Rational> {
    let text = format!("{value}");
    let (whole_part, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: IBig = format!("{whole_part}{fraction}").parse().ok()?;
    let scale = fraction.chars().fold(whole(1), |scale, _| scale * whole(10));
    Some(Rational::from(digits) / scale)
}

fn count(value: &Rational) -> Evaluated<i64> {
    let whole = value.floor();
    i64::try_from(&whole).map_err(|_| Stop::Malformed("a time that is too far away".to_owned()))
}

impl Times {
    /// The steps at which formulas are looked at.
    pub(crate) fn steps(&self) -> Evaluated<Steps> {
        let lower = -count(&(-(&self.lower / &self.step)))?;
        let upper = count(&(&self.upper / &self.step))?;
        match (u32::try_from(lower), u32::try_from(upper)) {
            (Ok(lower), Ok(upper)) if lower <= upper => Ok(Steps { lower, upper: Some(upper) }),
            _ => malformed("these bounds contain no step"),
        }
    }
}

impl Reader<'_> {
    /// The times of a bound.
    pub(crate) fn times(&self, bound: &Bound) -> Evaluated<Times> {
        let time = |expression: &Expr| match self.model.constant(expression)?.doubles()?.as_slice() {
            [value] if *value >= 0.0 => decimal(*value).ok_or(Stop::Malformed("no time".to_owned())),
            _ => malformed("no time"),
        };
        let lower = bound.lower.as_ref().map_or(Ok(Rational::ZERO), time)?;
        let Some(step) = self.model.dt.and_then(decimal) else { return malformed("seconds need a time step") };
        Ok(Times { lower, upper: time(&bound.upper)?, step })
    }

    /// `G[a s, b s] φ`: what stands in `throughout`, by itself or in a conjunction, at the instants of the interval; the rest at its
    /// steps.
    pub(crate) fn always_between(&mut self, bound: &Bound, inner: &Expr, depth: usize) -> Evaluated<Formula> {
        if let ExprKind::Chain(first, rest) = &inner.kind
            && rest.iter().all(|(op, _)| *op == ChainOp::And)
        {
            let mut formula = self.always_between(bound, first, depth + 1)?;
            for (_, own) in rest {
                formula = formula.and(self.always_between(bound, own, depth + 1)?);
            }
            return Ok(formula);
        }
        let times = self.times(bound)?;
        match &inner.kind {
            ExprKind::Call(name, arguments) if name.name == "throughout" && arguments.len() == 1 => {
                self.instants(&times, name, &arguments[0], inner)
            }
            _ => {
                let steps = times.steps()?;
                Ok(self.formula(inner, depth + 1)?.globally(steps))
            }
        }
    }

    /// Each step that has more than its first instant in the interval, or all of an interval that is one instant.
    fn instants(&mut self, times: &Times, name: &Ident, condition: &Expr, whole_step: &Expr) -> Evaluated<Formula> {
        let Times { lower, upper, step } = times;
        let first = count(&(lower / step))?;
        let mut formula: Option<Formula> = None;
        let mut position = first;
        loop {
            let begin = whole(position) * step;
            if &begin > upper || (&begin == upper && position > first) {
                break;
            }
            let from = if lower > &begin { lower - &begin } else { Rational::ZERO };
            let to = if &(upper - &begin) < step { upper - &begin } else { step.clone() };
            let atom = match from == Rational::ZERO && &to == step {
                true => self.atom(whole_step)?,
                false => {
                    let number = |value: &Rational| -> Evaluated<Expr> {
                        let value = count(value)? as f64;
                        Ok(Expr { kind: ExprKind::Number(value, format!("{value}")), span: condition.span })
                    };
                    // Everything over the same denominator, so that the ends are whole numbers of a part of the step.
                    let (a, b) = (&from / step, &to / step);
                    let parts =
                        Rational::from(IBig::from(a.denominator().clone()) * IBig::from(b.denominator().clone()));
                    let arguments =
                        vec![condition.clone(), number(&(a * &parts))?, number(&(b * &parts))?, number(&parts)?];
                    let call = ExprKind::Call(name.clone(), arguments);
                    self.atom(&Expr { kind: call, span: whole_step.span })?
                }
            };
            let at = u32::try_from(position).map_err(|_| Stop::Malformed("a time that is too far away".to_owned()))?;
            let own = atom.globally(Steps { lower: at, upper: Some(at) });
            formula = Some(match formula {
                None => own,
                Some(before) => before.and(own),
            });
            position += 1;
        }
        formula.map_or_else(|| malformed("these bounds contain no instant"), Ok)
    }
}
