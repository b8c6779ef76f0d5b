//! Arithmetic and the functions of the language: of doubles where all operands are constants, of reals elsewhere.

use std::cmp::Ordering;

use dashu_base::UnsignedAbs;

use crate::functions;
use crate::real::{AbsValue, Rational, Real, whole};
use crate::value::{Evaluated, Stop, Term, Value, common_length, element, malformed};

/// Powers beyond this are not computed.
const LARGEST_EXPONENT: i64 = 4096;

fn undefined<T>(what: &str) -> Evaluated<T> {
    Err(Stop::Undefined(what.to_owned()))
}

fn not_known<T>(what: &str) -> Evaluated<T> {
    Err(Stop::NotKnown(what.to_owned()))
}

/// An operation with two operands, element by element.
fn binary(
    left: &Term,
    right: &Term,
    in_doubles: impl Fn(f64, f64) -> f64,
    over_reals: impl Fn(&Real, &Real) -> Evaluated<Real>,
) -> Evaluated<Term> {
    let (a, b) = (left.reals()?, right.reals()?);
    let len = common_length([a.len(), b.len()])?;
    if left.constant && right.constant {
        let (a, b) = (left.doubles()?, right.doubles()?);
        return Term::numbers((0..len).map(|i| in_doubles(*element(&a, i), *element(&b, i))).collect());
    }
    Ok(Term::varying((0..len).map(|i| over_reals(element(a, i), element(b, i))).collect::<Evaluated<_>>()?))
}

/// An operation with one operand, element by element.
fn unary(
    term: &Term,
    in_doubles: impl Fn(f64) -> f64,
    over_reals: impl Fn(&Real) -> Evaluated<Real>,
) -> Evaluated<Term> {
    if term.constant {
        return Term::numbers(term.doubles()?.into_iter().map(in_doubles).collect());
    }
    Ok(Term::varying(term.reals()?.iter().map(over_reals).collect::<Evaluated<_>>()?))
}

pub(crate) fn sum(left: &Term, right: &Term) -> Evaluated<Term> {
    binary(left, right, |a, b| a + b, |a, b| Ok(a.plus(b)))
}

pub(crate) fn difference(left: &Term, right: &Term) -> Evaluated<Term> {
    binary(left, right, |a, b| a - b, |a, b| Ok(a.minus(b)))
}

pub(crate) fn product(left: &Term, right: &Term) -> Evaluated<Term> {
    binary(left, right, |a, b| a * b, |a, b| Ok(a.times(b)))
}

pub(crate) fn quotient(left: &Term, right: &Term) -> Evaluated<Term> {
    binary(
        left,
        right,
        |a, b| a / b,
        |a, b| match b.sign() {
            Some(Ordering::Equal) => undefined("division by zero"),
            None => not_known("whether a divisor is zero"),
            Some(_) => a.over(b).map_or_else(|| not_known("a quotient"), Ok),
        },
    )
}

pub(crate) fn negated(term: &Term) -> Evaluated<Term> {
    unary(term, |a| -a, |a| Ok(a.negated()))
}

pub(crate) fn power(left: &Term, right: &Term) -> Evaluated<Term> {
    if !right.constant {
        return malformed("an exponent is a constant");
    }
    binary(left, right, f64::powf, |a, b| match b.exact() {
        Some(exponent) => power_of(a, exponent),
        None => malformed("an exponent is a constant"),
    })
}

fn power_of(base: &Real, exponent: &Rational) -> Evaluated<Real> {
    if exponent.clone().abs_value() > whole(LARGEST_EXPONENT) {
        return not_known("a large power");
    }
    if exponent.is_int() {
        let magnitude = u32::try_from(exponent.numerator().clone().unsigned_abs()).unwrap_or(u32::MAX);
        if exponent >= &Rational::ZERO {
            return Ok(base.power(magnitude));
        }
        return match base.sign() {
            Some(Ordering::Equal) => undefined("a negative power of zero"),
            None => not_known("whether the base of a negative power is zero"),
            Some(_) => {
                let one = Real::Exact(Rational::ONE);
                one.over(&base.power(magnitude)).map_or_else(|| not_known("a quotient"), Ok)
            }
        };
    }
    match base.sign() {
        Some(Ordering::Less) => undefined("a broken power of a negative number"),
        Some(Ordering::Equal) if exponent < &Rational::ZERO => undefined("a negative power of zero"),
        Some(Ordering::Equal) => Ok(Real::zero()),
        None => not_known("whether the base of a broken power is negative"),
        Some(Ordering::Greater) => {
            // Halves are roots, which may be exact.
            let twice = exponent * whole(2);
            if twice.is_int() {
                return power_of(&monotone(base, functions::sqrt)?, &twice);
            }
            let logarithm = monotone(base, functions::log)?;
            monotone(&logarithm.times(&Real::Exact(exponent.clone())), functions::exp)
        }
    }
}

/// An increasing function, which may not be known everywhere.
fn monotone(x: &Real, f: impl Fn(&Rational) -> Option<Real>) -> Evaluated<Real> {
    match (f(x.low()), f(x.high())) {
        (Some(low), Some(high)) => Ok(Real::between(low.low().clone(), high.high().clone())),
        _ => not_known("a function of a large number"),
    }
}

fn known(value: Option<Real>) -> Evaluated<Real> {
    value.map_or_else(|| not_known("a function of a large number"), Ok)
}

/// Elements and vectors after each other.
pub(crate) fn joined(parts: Vec<Term>) -> Evaluated<Term> {
    let constant = parts.iter().all(|part| part.constant);
    if let Some(Term { value: Value::Truths(_), .. }) = parts.first() {
        let mut truths = Vec::new();
        for part in &parts {
            truths.extend_from_slice(part.booleans()?);
        }
        return Ok(Term::truths(truths, constant));
    }
    if let Some(Term { value: Value::Labels(_), .. }) = parts.first() {
        let mut labels = Vec::new();
        for part in &parts {
            let Value::Labels(own) = &part.value else { return malformed("a label is needed") };
            labels.extend_from_slice(own);
        }
        return Ok(Term::labels(labels, constant));
    }
    let mut reals = Vec::new();
    for part in &parts {
        reals.extend_from_slice(part.reals()?);
    }
    Ok(Term { value: Value::Reals(reals), constant })
}

/// Some elements of a vector.
pub(crate) fn picked(base: &Term, places: impl IntoIterator<Item = usize>) -> Evaluated<Term> {
    fn pick<T: Clone>(from: &[T], places: impl IntoIterator<Item = usize>) -> Evaluated<Vec<T>> {
        let element = |place: usize| from.get(place).cloned().map_or_else(|| malformed("no such element"), Ok);
        places.into_iter().map(element).collect()
    }
    let value = match &base.value {
        Value::Reals(reals) => Value::Reals(pick(reals, places)?),
        Value::Truths(truths) => Value::Truths(pick(truths, places)?),
        Value::Labels(labels) => Value::Labels(pick(labels, places)?),
    };
    Ok(Term { value, constant: base.constant })
}

fn extremum(largest: bool, arguments: &[Term]) -> Evaluated<Term> {
    let better = |a: &Term, b: &Term| match largest {
        true => binary(a, b, f64::max, |a, b| Ok(a.max(b))),
        false => binary(a, b, f64::min, |a, b| Ok(a.min(b))),
    };
    let elements = match arguments {
        [only] => (0..only.len()).map(|place| picked(only, [place])).collect::<Evaluated<Vec<_>>>()?,
        several => several.to_vec(),
    };
    let mut all = elements.into_iter();
    let first = all.next().map_or_else(|| malformed("no elements"), Ok)?;
    all.try_fold(first, |best, next| better(&best, &next))
}

/// The functions of the language, apart from those that look at more than values.
pub(crate) fn call(function: &str, arguments: Vec<Term>) -> Evaluated<Term> {
    use std::f64::consts::PI;
    match (function, arguments.as_slice()) {
        ("abs", [x]) => unary(x, f64::abs, |x| Ok(x.abs())),
        ("floor", [x]) => unary(x, f64::floor, |x| Ok(x.floor())),
        ("relu", [x]) => unary(x, |x| x.max(0.0), |x| Ok(x.max(&Real::zero()))),
        ("sign", [x]) => unary(x, |x| if x == 0.0 { 0.0 } else { x.signum() }, |x| Ok(x.signum())),
        ("sqrt", [x]) => unary(x, f64::sqrt, |x| {
            if x.high() < &Rational::ZERO {
                undefined("the root of a negative number")
            } else if x.low() < &Rational::ZERO {
                not_known("whether there is a root")
            } else {
                monotone(x, functions::sqrt)
            }
        }),
        ("log", [x]) => unary(x, f64::ln, |x| {
            if x.high() <= &Rational::ZERO {
                undefined("the logarithm of a number that is not positive")
            } else if x.low() <= &Rational::ZERO {
                not_known("whether there is a logarithm")
            } else {
                monotone(x, functions::log)
            }
        }),
        ("exp", [x]) => unary(x, f64::exp, |x| monotone(x, functions::exp)),
        ("sigmoid", [x]) => unary(x, |x| 1.0 / (1.0 + (-x).exp()), |x| monotone(x, functions::sigmoid)),
        ("tanh", [x]) => unary(x, f64::tanh, |x| monotone(x, functions::tanh)),
        ("sin", [x]) => unary(x, f64::sin, |x| known(functions::sin(x))),
        ("cos", [x]) => unary(x, f64::cos, |x| known(functions::cos(x))),
        ("tan", [x]) => unary(x, f64::tan, |x| {
            // A rational number is never a pole, but an enclosure may contain one.
            let (top, bottom) = (known(functions::sin(x))?, known(functions::cos(x))?);
            top.over(&bottom).map_or_else(|| not_known("whether this is a pole of the tangent"), Ok)
        }),
        ("max", all) => extremum(true, all),
        ("min", all) => extremum(false, all),
        ("clamp", [x, low, high]) => extremum(false, &[extremum(true, &[x.clone(), low.clone()])?, high.clone()]),
        ("deg", [x]) => quotient(&product(x, &Term::number(PI)?)?, &Term::number(180.0)?),
        ("wrap", [x]) => {
            let turn = Term::number(2.0 * PI)?;
            let turns = call("floor", vec![quotient(&sum(x, &Term::number(PI)?)?, &turn)?])?;
            difference(x, &product(&turn, &turns)?)
        }
        ("sum", [x]) => {
            let elements = (0..x.len()).map(|place| picked(x, [place])).collect::<Evaluated<Vec<_>>>()?;
            let zero = Term::number(0.0)?;
            let total = elements.iter().try_fold(zero, |total, next| sum(&total, next))?;
            Ok(total.chosen_by(x.constant))
        }
        ("all", [x]) => Ok(Term::truths(vec![x.booleans()?.iter().all(|truth| *truth)], x.constant)),
        ("any", [x]) => Ok(Term::truths(vec![x.booleans()?.iter().any(|truth| *truth)], x.constant)),
        ("concat", _) => joined(arguments),
        ("interleave", [first, ..]) => {
            let (count, len) = (arguments.len(), first.len());
            if arguments.iter().any(|argument| argument.len() != len) {
                return malformed("`interleave` takes vectors of one length");
            }
            let order: Vec<usize> = (0..len * count).map(|i| (i % count) * len + i / count).collect();
            picked(&joined(arguments)?, order)
        }
        ("repeat", [x, count]) => {
            let count = usize::try_from(count.integer()?).ok().filter(|count| *count <= 1_000_000);
            let Some(count) = count else { return malformed("no number of repetitions") };
            joined(vec![x.clone(); count])
        }
        ("shift", [window, newest]) if newest.len() <= window.len() => {
            joined(vec![picked(window, newest.len()..window.len())?, newest.clone()])
        }
        _ => malformed(format!("there is no function {function} with {} arguments", arguments.len())),
    }
}
