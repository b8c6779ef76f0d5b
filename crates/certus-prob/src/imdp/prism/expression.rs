//! Expressions: integers, reals and Booleans.

use std::collections::HashMap;

/// A value. Truth values are 0 and 1 where a number is wanted never: types are kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Real(f64),
    Bool(bool),
}

impl Value {
    pub(super) fn number(self) -> Result<f64, String> {
        match self {
            Value::Int(value) => Ok(value as f64),
            Value::Real(value) => Ok(value),
            Value::Bool(_) => Err("a truth value where a number is expected".to_owned()),
        }
    }

    pub(super) fn truth(self) -> Result<bool, String> {
        match self {
            Value::Bool(value) => Ok(value),
            _ => Err("a number where a truth value is expected".to_owned()),
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Literal(Value),
    Name(String),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    Choose(Box<Expression>, Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>),
}

/// Where names have values: variables, constants, and formulas by their expressions.
pub(super) struct Scope<'a> {
    pub(super) values: &'a HashMap<String, Value>,
    pub(super) variables: &'a HashMap<String, usize>,
    pub(super) state: &'a [Value],
    pub(super) formulas: &'a HashMap<String, Expression>,
}

/// Formulas may use each other no deeper than this.
const DEEPEST: usize = 200;

impl Expression {
    pub(super) fn evaluate(&self, scope: &Scope<'_>, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("formulas refer to each other cyclically, or are nested too deeply".to_owned());
        }
        let at = |part: &Expression| part.evaluate(scope, depth + 1);
        match self {
            Expression::Literal(value) => Ok(*value),
            Expression::Name(name) => {
                match (scope.variables.get(name), scope.values.get(name), scope.formulas.get(name)) {
                    (Some(&place), ..) if place < scope.state.len() => Ok(scope.state[place]),
                    (_, Some(value), _) => Ok(*value),
                    (_, _, Some(formula)) => at(formula),
                    _ => Err(format!("'{name}' has no value here")),
                }
            }
            Expression::Not(part) => Ok(Value::Bool(!at(part)?.truth()?)),
            Expression::Minus(part) => Ok(match at(part)? {
                Value::Int(value) => Value::Int(value.checked_neg().ok_or("an integer is too large")?),
                other => Value::Real(-other.number()?),
            }),
            Expression::Choose(condition, yes, no) => at(if at(condition)?.truth()? { yes } else { no }),
            Expression::Binary(operator, left, right) => binary(operator, at(left)?, || at(right)),
            Expression::Call(name, arguments) => {
                let values = arguments.iter().map(at).collect::<Result<Vec<_>, _>>()?;
                call(name, &values)
            }
        }
    }
}

fn binary(operator: &str, left: Value, right: impl FnOnce() -> Result<Value, String>) -> Result<Value, String> {
    match operator {
        "&" => return Ok(Value::Bool(left.truth()? && right()?.truth()?)),
        "|" => return Ok(Value::Bool(left.truth()? || right()?.truth()?)),
        "=>" => return Ok(Value::Bool(!left.truth()? || right()?.truth()?)),
        _ => {}
    }
    let right = right()?;
    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
        return match operator {
            "=" | "<=>" => Ok(Value::Bool(a == b)),
            "!=" => Ok(Value::Bool(a != b)),
            _ => Err(format!("'{operator}' between truth values")),
        };
    }
    let (a, b) = (left.number()?, right.number()?);
    let whole = |int: fn(i64, i64) -> Option<i64>, real: f64| match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(a, b).map(Value::Int).ok_or_else(|| "an integer is too large".to_owned()),
        _ => Ok(Value::Real(real)),
    };
    match operator {
        "+" => whole(i64::checked_add, a + b),
        "-" => whole(i64::checked_sub, a - b),
        "*" => whole(i64::checked_mul, a * b),
        "/" => Ok(Value::Real(a / b)),
        "=" => Ok(Value::Bool(a == b)),
        "!=" => Ok(Value::Bool(a != b)),
        "<" => Ok(Value::Bool(a < b)),
        "<=" => Ok(Value::Bool(a <= b)),
        ">" => Ok(Value::Bool(a > b)),
        ">=" => Ok(Value::Bool(a >= b)),
        _ => Err(format!("'{operator}' between numbers")),
    }
}

fn call(name: &str, values: &[Value]) -> Result<Value, String> {
    let rounded = |value: f64| match value.is_finite() && value.abs() < 9e15 {
        true => Ok(Value::Int(value as i64)),
        false => Err(format!("{name} of {value}")),
    };
    match (name, values) {
        ("min" | "max", [first, rest @ ..]) => {
            let mut best = *first;
            for &value in rest {
                let smaller = value.number()? < best.number()?;
                if smaller == (name == "min") && value.number()? != best.number()? {
                    best = value;
                }
            }
            Ok(best)
        }
        ("floor", [value]) => rounded(value.number()?.floor()),
        ("ceil", [value]) => rounded(value.number()?.ceil()),
        ("round", [value]) => rounded((value.number()? + 0.5).floor()),
        ("mod", [Value::Int(a), Value::Int(b)]) if *b != 0 => Ok(Value::Int(a.rem_euclid(*b))),
        ("pow", [Value::Int(a), Value::Int(b)]) if *b >= 0 => u32::try_from(*b)
            .ok()
            .and_then(|b| a.checked_pow(b))
            .map(Value::Int)
            .ok_or_else(|| "an integer is too large".to_owned()),
        ("pow", [a, b]) => Ok(Value::Real(a.number()?.powf(b.number()?))),
        ("log", [a, b]) => Ok(Value::Real(a.number()?.ln() / b.number()?.ln())),
        _ => Err(format!("no function {name} with {} arguments of these types", values.len())),
    }
}
