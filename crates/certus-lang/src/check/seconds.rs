//! Time in seconds: bounds of formulas, parts of a step, `throughout` and inputs that vary within a step.
//!
//! Times are compared as the decimals that they are written as: 0.3 seconds are three steps of 0.1, whatever doubles say. A constant
//! stands for the shortest decimal that is nearest to it. The length of the flow itself is the double `dt`, as every number of a file;
//! an instant within a step is the share of the step that the decimals say, enclosed.

use certus_graph::Interval;

use crate::diagnostics::Diagnostic;
use crate::syntax::Span;
use crate::syntax::ast::{Bound, ChainOp, DeclarationKind, Expr, ExprKind, Values};
use crate::system::{Bounds, Formula, Integrator};

use super::term::{self, Part, Term, Uses};
use super::{Checker, Context};

/// A decimal as an integer over a common power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that is nearest to a double.
    fn of(value: f64) -> Option<Decimal> {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok()?;
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, exponent: exponent - fraction.len() as i32 })
    }

    /// The digits over a smaller power of ten.
    fn over(self, exponent: i32) -> Option<i128> {
        let shift = u32::try_from(self.exponent - exponent).ok()?;
        self.digits.checked_mul(10i128.checked_pow(shift)?)
    }
}

/// An interval of time in units of which a step has `step` many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    lower: i128,
    upper: i128,
    step: i128,
}

/// One step of an interval of time: its position, and which part of it lies in the interval, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    position: i128,
    from: i128,
    to: i128,
}

impl Times {
    fn new(lower: f64, upper: f64, step: f64) -> Option<Times> {
        let all = [Decimal::of(lower)?, Decimal::of(upper)?, Decimal::of(step)?];
        // Zero has no digits that matter.
        let exponent = all.iter().filter(|own| own.digits != 0).map(|own| own.exponent).min()?;
        let over = |own: Decimal| if own.digits == 0 { Some(0) } else { own.over(exponent) };
        Some(Times { lower: over(all[0])?, upper: over(all[1])?, step: over(all[2])? })
    }

    /// The positions whose instants lie in the interval, if there are any.
    fn positions(self) -> Option<(u64, u64)> {
        let (first, last) = (-(-self.lower).div_euclid(self.step), self.upper.div_euclid(self.step));
        (first <= last).then(|| Some((u64::try_from(first).ok()?, u64::try_from(last).ok()?)))?
    }

    /// The first step of the interval, the last one, and what of them lies in it. An instant at which a step ends and the next one
    /// begins belongs to the latter, unless it ends the interval.
    fn ends(self) -> (Piece, Piece) {
        let first = self.lower.div_euclid(self.step);
        let mut last = self.upper.div_euclid(self.step);
        if last * self.step == self.upper && self.lower < self.upper {
            last -= 1;
        }
        let piece = |position: i128| Piece {
            position,
            from: (self.lower - position * self.step).max(0),
            to: (self.upper - position * self.step).min(self.step),
        };
        (piece(first), piece(last))
    }
}

impl Checker<'_> {
    /// Whether steps are flows of a differential equation. The `step` declaration itself is checked later.
    pub(super) fn is_exact(&self) -> bool {
        let exact = |kind: &DeclarationKind| matches!(kind, DeclarationKind::Step { method: Some(own), .. } if own.name == "exact");
        let mut kinds = self.file.declarations.iter().map(|own| &own.kind);
        kinds.clone().any(exact) && kinds.any(|kind| matches!(kind, DeclarationKind::Der(_)))
    }

    /// `throughout(φ)`, over a part of the step or all of it.
    pub(super) fn throughout(&mut self, e: &Expr, span: Span, part: Option<Part>) -> Option<Term> {
        if !self.context.allowed.includes(Uses::FLOW) {
            let place = self.context.place;
            self.error(
                Diagnostic::error("context", format!("{place} cannot speak of what happens within a step"))
                    .at(span, "`throughout` of a condition")
                    .help("`throughout(φ)` can be used in properties"),
            );
            return None;
        }
        let condition = self.within(Context::THROUGHOUT, |c| c.scalar_bool(e, "the condition of `throughout`"))?;
        if !self.is_exact() || condition.truths().is_some() {
            return Some(condition);
        }
        let whole = || Some(Part { from: Interval::ZERO, to: Interval::point(self.model.dt?) });
        Some(term::throughout(condition, part.or_else(whole)?))
    }

    /// The bounds of a temporal operator in seconds.
    pub(super) fn times(&mut self, bound: &Bound) -> Option<Times> {
        let lower = bound.lower.as_ref().map_or(Some(0.0), |e| self.time(e));
        let upper = self.time(&bound.upper);
        let (lower, upper) = (lower?, upper?);
        let Some(step) = self.model.dt else {
            if !self.file.declarations.iter().any(|own| matches!(own.kind, DeclarationKind::Step { .. })) {
                self.error(
                    Diagnostic::error("bound", "a bound in seconds needs to know how long a step is")
                        .at(bound.upper.span, "seconds")
                        .help("add a declaration such as `step 0.1`, or count steps: `F<=5 φ`"),
                );
            }
            return None;
        };
        if lower > upper {
            self.error(
                Diagnostic::error("bound", "these bounds contain no instant")
                    .at(bound.upper.span, format!("{upper} seconds come before {lower}")),
            );
            return None;
        }
        let times = Times::new(lower, upper, step).filter(|own| own.upper / own.step < 1 << 53);
        if times.is_none() {
            self.error(
                Diagnostic::error("bound", "this bound is too far from the time step")
                    .at(bound.upper.span, format!("one step is {step} seconds")),
            );
        }
        times
    }

    fn time(&mut self, e: &Expr) -> Option<f64> {
        let value = self.strict_constants(e, "the bound of a temporal operator")?;
        match value.numbers() {
            Some([own]) if *own >= 0.0 && own.is_finite() => Some(*own),
            _ => {
                self.error(
                    Diagnostic::error("bound", "the bound of a temporal operator is a time that is not negative")
                        .at(e.span, "not a time"),
                );
                None
            }
        }
    }

    /// The steps at which formulas are looked at between two times.
    pub(super) fn steps_between(&mut self, times: Times, span: Span) -> Option<Bounds> {
        let found = times.positions();
        if found.is_none() {
            self.error(
                Diagnostic::error("bound", "no step lies between these times")
                    .at(span, format!("steps are {} seconds apart", self.model.dt.unwrap_or_default()))
                    .help("`throughout(φ)` speaks of all instants: `G[0.12s, 0.18s] throughout(φ)`"),
            );
        }
        found.map(|(lower, upper)| Bounds { lower, upper: Some(upper) })
    }

    /// `G[a s, b s] φ`: what stands in `throughout` there, by itself or in a conjunction, holds at the instants of the interval; the
    /// rest at its steps.
    pub(super) fn always_between(&mut self, bound: &Bound, e: &Expr) -> Option<Formula> {
        let times = self.times(bound)?;
        let mut conjuncts = Vec::new();
        collect(e, &mut conjuncts);
        let is_throughout = |own: &Expr| matches!(&own.kind, ExprKind::Call(name, _) if name.name == "throughout");
        if !self.is_exact() || !conjuncts.iter().any(|own| is_throughout(own)) {
            let bounds = self.steps_between(times, bound.upper.span);
            let inner = self.formula(e);
            return Some(Formula::Globally(bounds?, Box::new(inner?)));
        }
        let mut parts = Vec::new();
        for own in conjuncts {
            match &own.kind {
                ExprKind::Call(_, arguments) if is_throughout(own) && arguments.len() == 1 => {
                    parts.extend(self.instants(times, &arguments[0], own.span)?);
                }
                _ => {
                    let bounds = self.steps_between(times, bound.upper.span);
                    let inner = self.formula(own);
                    parts.push(Formula::Globally(bounds?, Box::new(inner?)));
                }
            }
        }
        if parts.len() == 1 { parts.pop() } else { Some(Formula::And(parts)) }
    }

    /// A condition at all instants of an interval: of whole steps, and of parts of the first and of the last one.
    fn instants(&mut self, times: Times, e: &Expr, span: Span) -> Option<Vec<Formula>> {
        let (first, last) = times.ends();
        let is_whole = |piece: Piece| piece.from == 0 && piece.to == times.step;
        let mut parts = Vec::new();
        if first.position == last.position && !is_whole(first) {
            parts.push((first.position, first.position, Some(first)));
        } else {
            let (mut from, mut to) = (first.position, last.position);
            if !is_whole(first) {
                parts.push((from, from, Some(first)));
                from += 1;
            }
            if !is_whole(last) {
                parts.push((to, to, Some(last)));
                to -= 1;
            }
            if from <= to {
                parts.push((from, to, None));
            }
        }
        parts.sort_by_key(|(from, ..)| *from);
        let mut formulas = Vec::new();
        for (from, to, piece) in parts {
            let part = piece.and_then(|own| self.part(own, times.step));
            let t = self.throughout(e, span, part)?;
            let source = crate::syntax::printer::print_expression(e);
            let text = match piece {
                Some(own) => {
                    let share = |units: i128| units as f64 / times.step as f64 * self.model.dt.unwrap_or_default();
                    format!("throughout({source}) from {} s to {} s", share(own.from), share(own.to))
                }
                None => format!("throughout({source})"),
            };
            let atom = Box::new(self.atom_of(t, text)?);
            let bounds = Bounds { lower: u64::try_from(from).ok()?, upper: Some(u64::try_from(to).ok()?) };
            formulas.push(Formula::Globally(bounds, atom));
        }
        Some(formulas)
    }

    /// The instants of a piece, as shares of the double that a step takes.
    fn part(&self, piece: Piece, step: i128) -> Option<Part> {
        let dt = Interval::point(self.model.dt?);
        let whole = |units: i128| {
            let nearest = units as f64;
            if units.abs() < 1 << 53 {
                Interval::point(nearest)
            } else {
                Interval::new(nearest.next_down(), nearest.next_up())
            }
        };
        let instant = |units: i128| match units {
            0 => Interval::ZERO,
            _ if units == step => dt,
            _ => dt * (whole(units) / whole(step)),
        };
        Some(Part { from: instant(piece.from), to: instant(piece.to) })
    }

    /// Reports `varying` where nothing is integrated exactly, and on what is no input.
    pub(super) fn check_varying(&mut self) {
        let file = self.file;
        let exact = self.model.integrator == Some(Integrator::Exact);
        for declaration in &file.declarations {
            let (own, is_input) = match &declaration.kind {
                DeclarationKind::Input(own) => (own, true),
                DeclarationKind::State(own) => (own, false),
                _ => continue,
            };
            let Some(span) = own.varying else { continue };
            if !is_input {
                self.error(
                    Diagnostic::error("varying", "only inputs vary within a step")
                        .at(span, format!("`{}` is a state variable", own.name.name))
                        .help(format!(
                            "how it moves is said by `der {} = …` or `next {} = …`",
                            own.name.name, own.name.name
                        )),
                );
            } else if matches!(own.range, Some(Values::Set(_) | Values::Labels(_))) {
                self.error(
                    Diagnostic::error("varying", "only real numbers vary within a step")
                        .at(span, format!("`{}` has integers or labels for values", own.name.name)),
                );
            } else if !exact {
                self.error(
                    Diagnostic::error("varying", "an input can vary within a step only where time is continuous")
                        .at(span, "nothing happens within a step here")
                        .help("integrate exactly, `step 0.1 exact`, or leave out `varying`: an input is chosen anew at every step"),
                );
            }
        }
    }
}

/// The operands of a conjunction, however it is nested.
fn collect<'e>(e: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Chain(first, rest) if matches!(rest.first(), Some((ChainOp::And, _))) => {
            collect(first, found);
            rest.iter().for_each(|(_, own)| collect(own, found));
        }
        _ => found.push(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_compared_as_they_are_written() {
        let positions = |lower, upper, step| Times::new(lower, upper, step).unwrap().positions();
        assert_eq!(positions(0.0, 0.3, 0.1), Some((0, 3)));
        assert_eq!(positions(0.3, 0.3, 0.1), Some((3, 3)));
        assert_eq!(positions(0.25, 0.29, 0.1), None);
        assert_eq!(positions(0.5, 5.0, 0.05), Some((10, 100)));
        assert_eq!(positions(0.0, 1e6, 1e-3), Some((0, 1_000_000_000)));
    }

    #[test]
    fn intervals_end_within_steps() {
        let ends = |lower, upper, step| {
            let (first, last) = Times::new(lower, upper, step).unwrap().ends();
            ((first.position, first.from, first.to), (last.position, last.from, last.to))
        };
        assert_eq!(ends(0.12, 0.33, 0.1), ((1, 2, 10), (3, 0, 3)));
        assert_eq!(ends(0.0, 5.0, 0.1), ((0, 0, 1), (49, 0, 1)));
        assert_eq!(ends(0.2, 0.2, 0.1), ((2, 0, 0), (2, 0, 0)));
        assert_eq!(ends(0.13, 0.17, 0.1), ((1, 3, 7), (1, 3, 7)));
    }
}
