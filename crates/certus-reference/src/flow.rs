//! Steps that are flows of a differential equation, where solutions are polynomials in time.
//!
//! If the derivatives are polynomials of numbers that do not move and of integrated ones in a triangular order, Picard's iteration ends
//! after as many rounds as there are numbers, with the solution itself. Each round evaluates the derivatives, as written, at enough
//! instants to know the polynomial that they are: how many follows from the expressions. All of that is exact. Other equations have no
//! value here.
//!
//! A condition throughout a part of the step is a conjunction of comparisons of polynomials of degree two at most, whose least and
//! greatest values are at the ends or at the vertex. Instants are shares of the step.

use certus_lang::syntax::ast::{ChainOp, CompareOp, Expr, ExprKind, InfixOp, PrefixOp};

use crate::eval::{Scene, Successor};
use crate::model::{Meaning, Method};
use crate::real::{Rational, Real, rational, whole};
use crate::value::{Evaluated, Stop, malformed};

/// Rounds of Picard's iteration, and the highest degree.
const MOST: usize = 8;

/// Names that stand for each other without end are not followed further.
const DEEPEST: usize = 200;

/// The coefficients of a polynomial, the constant one first.
type Polynomial = Vec<Rational>;

fn not_known<T>(what: &str) -> Evaluated<T> {
    Err(Stop::NotKnown(what.to_owned()))
}

fn at(polynomial: &Polynomial, instant: &Rational) -> Rational {
    polynomial.iter().rev().fold(Rational::ZERO, |sum, own| sum * instant + own)
}

fn trimmed(mut polynomial: Polynomial) -> Polynomial {
    while polynomial.len() > 1 && polynomial.last() == Some(&Rational::ZERO) {
        polynomial.pop();
    }
    polynomial
}

/// The polynomial through values at 0, 1, 2, …, by Newton's divided differences.
fn through(values: &[Rational]) -> Polynomial {
    let mut differences = values.to_vec();
    for order in 1..values.len() {
        for place in (order..values.len()).rev() {
            differences[place] = (&differences[place] - &differences[place - 1]) / whole(order as i64);
        }
    }
    let mut result: Polynomial = vec![Rational::ZERO];
    for (place, difference) in differences.iter().enumerate().rev() {
        // result · (t − place) + difference
        let mut next = vec![Rational::ZERO; result.len() + 1];
        for (k, own) in result.iter().enumerate() {
            next[k + 1] += own;
            next[k] -= own * whole(place as i64);
        }
        next[0] += difference;
        result = trimmed(next);
    }
    result
}

impl Scene<'_> {
    /// Every number of the state over a step, as a polynomial of time.
    pub fn trajectory(&self) -> Evaluated<Vec<Polynomial>> {
        let start = self.state.ok_or(Stop::Missing)?;
        let exact: Option<Vec<Rational>> = start.iter().map(|own| own.exact().cloned()).collect();
        let Some(exact) = exact else { return not_known("where a flow starts") };
        if self.model.inputs.iter().any(|own| own.varying) {
            return not_known("what varies within a step");
        }
        let mut solution: Vec<Polynomial> = exact.iter().map(|own| vec![own.clone()]).collect();
        for _ in 0..MOST {
            let slopes = self.slopes_along(&solution)?;
            let next: Vec<Polynomial> = exact.iter().zip(slopes).map(|(own, slope)| integral(own, &slope)).collect();
            if next == solution {
                return Ok(solution);
            }
            solution = next;
        }
        not_known("a solution that is no polynomial")
    }

    /// The state at the end of the step.
    pub fn flown(&self, dt: f64) -> Evaluated<Vec<Real>> {
        let Some(dt) = rational(dt) else { return malformed("no time step") };
        Ok(self.trajectory()?.iter().map(|own| Real::Exact(at(own, &dt))).collect())
    }

    fn slopes_along(&self, solution: &[Polynomial]) -> Evaluated<Vec<Polynomial>> {
        let mut degree = 0;
        for updates in &self.model.updates {
            for update in updates.iter().filter(|update| update.is_derivative) {
                match self.degree(&update.value, solution, 0) {
                    Some(own) if own <= MOST => degree = degree.max(own),
                    _ => return not_known("a derivative that is no polynomial of time"),
                }
            }
        }
        let mut samples: Vec<Vec<Rational>> = vec![Vec::new(); solution.len()];
        for instant in 0..=degree {
            let state: Vec<Real> = solution.iter().map(|own| Real::Exact(at(own, &whole(instant as i64)))).collect();
            for (own, slope) in samples.iter_mut().zip(self.slopes(&state)?) {
                match slope {
                    Real::Exact(slope) => own.push(slope),
                    Real::Between(..) => return not_known("a derivative"),
                }
            }
        }
        Ok(samples.iter().map(|values| through(values)).collect())
    }

    /// A bound of an expression's degree as a polynomial of time; none if it may be no polynomial.
    fn degree(&self, expression: &Expr, solution: &[Polynomial], depth: usize) -> Option<usize> {
        if depth > DEEPEST {
            return None;
        }
        let of = |own: &Expr| self.degree(own, solution, depth + 1);
        let most = |all: &[&Expr]| all.iter().try_fold(0, |most: usize, own| Some(most.max(of(own)?)));
        let still = |all: &[&Expr]| most(all).filter(|own| *own == 0);
        match &expression.kind {
            ExprKind::Number(..) | ExprKind::Bool(_) | ExprKind::Text(_) => Some(0),
            ExprKind::Name(name) => match self.model.names.get(name) {
                Some(Meaning::State(place)) => {
                    let variable = &self.model.states[*place];
                    let own = &solution[variable.start..variable.start + variable.len];
                    Some(own.iter().map(|own| own.len() - 1).max().unwrap_or(0))
                }
                Some(Meaning::Define(value)) => of(value),
                _ => Some(0),
            },
            ExprKind::Chain(first, rest) => rest.iter().try_fold(of(first)?, |so_far, (op, own)| match op {
                ChainOp::Add | ChainOp::Sub => Some(so_far.max(of(own)?)),
                ChainOp::Mul => Some(so_far + of(own)?),
                ChainOp::Div => (of(own)? == 0).then_some(so_far),
                ChainOp::And | ChainOp::Or => (so_far == 0 && of(own)? == 0).then_some(0),
            }),
            ExprKind::Prefix(PrefixOp::Negate, inner) => of(inner),
            ExprKind::Infix(InfixOp::Power, base, exponent) => match (of(base)?, &exponent.kind) {
                (0, _) => still(&[&**exponent]),
                (own, ExprKind::Number(power, _)) if power.fract() == 0.0 && (0.0..=8.0).contains(power) => {
                    Some(own * *power as usize)
                }
                _ => None,
            },
            ExprKind::Vector(items) => most(&items.iter().collect::<Vec<_>>()),
            ExprKind::Index(base, _) | ExprKind::Slice(base, ..) => of(base),
            ExprKind::If(condition, yes, no) => {
                still(&[&**condition])?;
                most(&[&**yes, &**no])
            }
            ExprKind::Match(_, arms) => most(&arms.iter().map(|arm| &arm.value).collect::<Vec<_>>()),
            ExprKind::Call(name, items) if matches!(name.name.as_str(), "sum" | "concat") => {
                most(&items.iter().collect::<Vec<_>>())
            }
            _ => still(&crate::uses::children(expression)),
        }
    }

    /// `throughout(φ)`, or `throughout(φ, from, to, step)` with the ends as integers of which a step has `step`.
    pub fn throughout(&mut self, arguments: &[Expr]) -> Evaluated<bool> {
        let (condition, ends) = match arguments {
            [condition] => (condition, [0, 1, 1]),
            [condition, from, to, step] => {
                let mut whole = |own: &Expr| self.term(own)?.integer();
                (condition, [whole(from)?, whole(to)?, whole(step)?])
            }
            _ => return malformed("`throughout` takes a condition"),
        };
        // Without `exact` it is φ, whether `terminal` has a value or not.
        if !self.model.is_exact() {
            return self.truth(condition);
        }
        let resting = match &self.model.terminal {
            Some(terminal) => self.truth(terminal)?,
            None => false,
        };
        if resting {
            return self.truth(condition);
        }
        let Some(dt) = self.model.dt.and_then(rational) else { return malformed("derivatives need a time step") };
        let share = |units: i64| whole(units) / whole(ends[2]) * &dt;
        let solution = self.trajectory()?;
        let own = Scene { successor: Successor::None, ..self.clone() };
        own.always(condition, &solution, &(share(ends[0]), share(ends[1])), 0)
    }

    fn always(
        &self,
        condition: &Expr,
        solution: &[Polynomial],
        ends: &(Rational, Rational),
        depth: usize,
    ) -> Evaluated<bool> {
        if depth > DEEPEST {
            return malformed("names stand for each other without end");
        }
        if self.degree(condition, solution, 0) == Some(0) {
            return self.clone().truth(condition);
        }
        let both = |a: bool, b: bool| Ok(a && b);
        let zero = |op: CompareOp, left: &Expr, right: &Expr| self.compared_along(op, left, right, solution, ends);
        match &condition.kind {
            ExprKind::Chain(first, rest) if rest.iter().all(|(op, _)| *op == ChainOp::And) => {
                let mut truth = self.always(first, solution, ends, depth + 1)?;
                for (_, own) in rest {
                    truth &= self.always(own, solution, ends, depth + 1)?;
                }
                Ok(truth)
            }
            ExprKind::Compare(op, left, right) => zero(*op, left, right),
            ExprKind::InRange(value, range) => {
                both(zero(CompareOp::GreaterEqual, value, &range.low)?, zero(CompareOp::LessEqual, value, &range.high)?)
            }
            ExprKind::Prefix(PrefixOp::Not, inner) => match &inner.kind {
                ExprKind::Compare(op, left, right) => zero(negated(*op), left, right),
                _ => not_known("a condition over time"),
            },
            ExprKind::Name(name) => match self.model.names.get(name) {
                Some(Meaning::Define(value)) => self.always(value, solution, ends, depth + 1),
                _ => not_known("a condition over time"),
            },
            _ => not_known("a condition over time"),
        }
    }

    /// A comparison at all instants between two.
    fn compared_along(
        &self,
        op: CompareOp,
        left: &Expr,
        right: &Expr,
        solution: &[Polynomial],
        ends: &(Rational, Rational),
    ) -> Evaluated<bool> {
        let degree = self.degree(left, solution, 0).zip(self.degree(right, solution, 0)).map(|(a, b)| a.max(b));
        let Some(degree) = degree.filter(|own| *own <= MOST) else { return not_known("a comparison over time") };
        let mut values = Vec::new();
        for instant in 0..=degree {
            let state: Vec<Real> = solution.iter().map(|own| Real::Exact(at(own, &whole(instant as i64)))).collect();
            let mut own = Scene { state: Some(&state), ..self.clone() };
            let (left, right) = (own.term(left)?, own.term(right)?);
            match (left.reals()?, right.reals()?) {
                ([Real::Exact(left)], [Real::Exact(right)]) => values.push(left - right),
                _ => return not_known("a comparison over time"),
            }
        }
        let (least, greatest) = extremes(&through(&values), ends)?;
        let zero = &Rational::ZERO;
        Ok(match op {
            CompareOp::Less => &greatest < zero,
            CompareOp::LessEqual => &greatest <= zero,
            CompareOp::Greater => &least > zero,
            CompareOp::GreaterEqual => &least >= zero,
            CompareOp::Equal => &least == zero && &greatest == zero,
            CompareOp::NotEqual => &least > zero || &greatest < zero,
        })
    }
}

fn negated(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
    }
}

/// The least and the greatest value of a polynomial of degree two at most.
fn extremes(polynomial: &Polynomial, (from, to): &(Rational, Rational)) -> Evaluated<(Rational, Rational)> {
    if polynomial.len() > 3 {
        return not_known("a polynomial of a higher degree over time");
    }
    let mut values = vec![at(polynomial, from), at(polynomial, to)];
    if let [_, linear, square] = polynomial.as_slice() {
        let vertex = -(linear / (square * whole(2)));
        if &vertex > from && &vertex < to {
            values.push(at(polynomial, &vertex));
        }
    }
    let least = values.iter().min().cloned().unwrap_or(Rational::ZERO);
    let greatest = values.iter().max().cloned().unwrap_or(Rational::ZERO);
    Ok((least, greatest))
}

fn integral(start: &Rational, slope: &Polynomial) -> Polynomial {
    let mut result = vec![start.clone()];
    result.extend(slope.iter().enumerate().map(|(k, own)| own / whole(k as i64 + 1)));
    trimmed(result)
}

impl crate::model::Model {
    /// Whether steps are flows.
    pub(crate) fn is_exact(&self) -> bool {
        self.method == Method::Exact && self.updates.iter().flatten().any(|update| update.is_derivative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_known_by_their_values() {
        // 2 − 3 t + t³ at 0, 1, 2, 3.
        let values = [2, 0, 4, 20].map(whole);
        assert_eq!(through(&values), [2, -3, 0, 1].map(whole).to_vec());
        let (least, greatest) = extremes(&vec![whole(0), whole(-2), whole(1)], &(whole(0), whole(3))).unwrap();
        assert_eq!((least, greatest), (whole(-1), whole(3)));
    }
}
