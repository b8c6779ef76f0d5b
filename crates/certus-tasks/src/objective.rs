//! Linear expressions as people write them: `Y_0 - 0.5*Y_1 + 3`.

use certus_graph::Interval;
use certus_solver::formula::Linear;
use certus_solver::vnnlib::Variable;

/// Reads a sum of numbers, variables and products of a number and a variable.
pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<Variable>) -> Result<Linear<Variable>, String> {
    let mut sum = Linear::constant(Interval::ZERO);
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("the expression is empty".to_owned());
    }
    let mut first = true;
    while !rest.is_empty() {
        let signed = rest.strip_prefix('-').map(|rest| (-1.0, rest)).or(rest.strip_prefix('+').map(|rest| (1.0, rest)));
        let (sign, after) = match signed {
            Some(signed) => signed,
            None if first => (1.0, rest),
            None => return Err(format!("expected + or - before '{rest}'")),
        };
        let (term, after) = after.split_at(term_length(after));
        let term = product(term.trim(), variable)?;
        sum = sum.plus(Interval::point(sign), &term);
        rest = after.trim_start();
        first = false;
    }
    Ok(sum)
}

/// How far a term reaches: to the next sign that belongs neither to an exponent nor to a factor.
fn term_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let before = text[..index].trim_end();
        let exponent = before.ends_with(['e', 'E']) && before.len() == index && in_number(before);
        if matches!(byte, b'+' | b'-') && !before.is_empty() && !before.ends_with('*') && !exponent {
            return index;
        }
    }
    text.len()
}

/// Whether a text ends within a number whose last letter is its `e`.
fn in_number(text: &str) -> bool {
    let number = text.rsplit(['*', ' ']).next().unwrap_or(text);
    number.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '+' | '-'))
}

fn product(text: &str, variable: &dyn Fn(&str) -> Option<Variable>) -> Result<Linear<Variable>, String> {
    let mut factor = Interval::ONE;
    let mut linear: Option<Linear<Variable>> = None;
    for word in text.split('*').map(str::trim) {
        if let Some(variable) = variable(word) {
            if linear.replace(Linear::variable(variable)).is_some() {
                return Err(format!("'{text}' is not linear"));
            }
            continue;
        }
        let number = number(word).ok_or_else(|| match word {
            "" => "a term is missing".to_owned(),
            _ => format!("'{word}' is neither a number nor a variable of the question"),
        })?;
        factor = factor * number;
    }
    let one = Linear::constant(Interval::ONE);
    Ok(Linear::constant(Interval::ZERO).plus(factor, &linear.unwrap_or(one)))
}

/// The number that is written, between its neighbours where it is no double.
fn number(text: &str) -> Option<Interval> {
    // Words such as `inf` and `nan` are numbers to Rust.
    let numeric = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '-' | '+'));
    let value: f64 = text.parse().ok().filter(|value: &f64| numeric && value.is_finite())?;
    // Every double has at most 1074 digits behind the point; all of them, against those that are written.
    let exact = digits(&format!("{value:.1074}")) == digits(text);
    Some(if exact { Interval::point(value) } else { Interval::new(value.next_down(), value.next_up()) })
}

/// A decimal without the digits and signs that do not matter.
fn digits(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let rest = rest.trim_start_matches('+').trim_start_matches('0');
    let rest = if rest.contains('.') { rest.trim_end_matches('0').trim_end_matches('.') } else { rest };
    format!("{sign}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<Variable> {
        match name {
            "X_0" => Some(Variable::Input(0)),
            "Y_1" => Some(Variable::Output(1)),
            "e" => Some(Variable::Output(2)),
            _ => None,
        }
    }

    fn read(text: &str) -> Linear<Variable> {
        parse(text, &variable).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn expressions_are_sums_of_products() {
        let point = Interval::point;
        let expected = Linear {
            terms: vec![(Variable::Output(1), point(1.0)), (Variable::Input(0), point(-0.5))],
            constant: point(3.0),
        };
        for text in ["Y_1 - 0.5*X_0 + 3", "Y_1-0.5*X_0+3", " 1 * Y_1 + X_0*-0.5 + 1*3", "3 + Y_1 - X_0 * 0.25 * 2"] {
            let mut linear = read(text);
            linear.terms.sort_by_key(|term| std::cmp::Reverse(term.0));
            assert_eq!(linear, expected, "{text}");
        }
        assert_eq!(read("-X_0 + X_0").terms, []);
        assert_eq!(read("-X_0").terms, [(Variable::Input(0), point(-1.0))]);
    }

    #[test]
    fn a_sign_in_an_exponent_is_no_sum() {
        let linear = read("1e-3*X_0");
        assert!(linear.terms[0].1.contains(1e-3) && linear.constant == Interval::ZERO);
        // A variable may be called e.
        assert_eq!(read("2*e-3").constant, Interval::point(-3.0));
        assert_eq!(read("e+1").constant, Interval::point(1.0));
    }

    #[test]
    fn decimals_that_are_no_doubles_are_enclosed() {
        let Interval { lo, hi } = read("0.1").constant;
        assert!(lo < 0.1 && 0.1 < hi);
        for (text, value) in [("0.125", 0.125), (".50", 0.5), ("-007.250*1", -7.25), ("300", 300.0), ("2.", 2.0)] {
            assert_eq!(read(text).constant, Interval::point(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["", " ", "X_0*X_0", "X_1", "2 X_0", "X_0 +", "nan", "inf*X_0", "1e999", "X_0 * ", "+-", "(X_0)"] {
            assert!(parse(text, &variable).is_err(), "{text}");
        }
    }
}
