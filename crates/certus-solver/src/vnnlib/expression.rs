//! Formulas and linear terms, by recursive descent with a bound on the nesting.

use certus_graph::Interval;

use super::error::{Fault, quoted};
use super::lexer::{Kind, Token};
use super::script::Script;
use super::{Variable, decimal, logic};
use crate::formula::{Formula, Linear};

/// Parentheses may be nested this deep in an assertion. Written by people or generators, they are nested ten deep.
const MAX_DEPTH: usize = 200;

type Term = Linear<Variable>;

const CONNECTIVES: [&str; 6] = ["and", "or", "not", "=>", "true", "false"];
const COMPARISONS: [&str; 5] = ["<=", ">=", "<", ">", "="];
/// What version 2 adds.
const COMPARISONS_2: [&str; 2] = ["==", "!="];
const ARITHMETIC: [&str; 4] = ["+", "-", "*", "/"];

impl<'t> Script<'t> {
    /// The formula that begins with `first`.
    pub fn formula(&mut self, first: &Token<'t>, depth: usize) -> Result<Formula<Variable>, Fault> {
        if first.kind != Kind::Open {
            return match first.text {
                "true" => Ok(logic::truth(true)),
                "false" => Ok(logic::truth(false)),
                _ => Err(self.misplaced(first, "a formula")),
            };
        }
        let head = self.list_head(first, depth)?;
        match head.text {
            "and" => Ok(logic::conjunction(self.formulas(first, &head, depth)?)),
            "or" => Ok(logic::disjunction(self.formulas(first, &head, depth)?)),
            "not" => match <[_; 1]>::try_from(self.formulas(first, &head, depth)?) {
                Ok([inner]) => Ok(logic::negation(inner)),
                Err(several) => Err(head.fault(format!("`not` takes one formula, found {}", several.len()))),
            },
            "=>" => {
                // To the right: a => b => c means that a and b together imply c.
                let mut parts = self.formulas(first, &head, depth)?;
                match parts.pop() {
                    Some(conclusion) if !parts.is_empty() => {
                        let premises = parts.into_iter().map(logic::negation);
                        Ok(logic::disjunction(premises.chain([conclusion])))
                    }
                    _ => Err(head.fault("`=>` takes at least two formulas")),
                }
            }
            operator if self.is_comparison(operator) => self.comparisons(first, &head, depth),
            _ => Err(self.misplaced(&head, "a formula")),
        }
    }

    /// The formulas of a list, at least one.
    fn formulas(&mut self, open: &Token<'t>, head: &Token<'t>, depth: usize) -> Result<Vec<Formula<Variable>>, Fault> {
        let mut parts = Vec::new();
        while let Some(first) = self.argument(open)? {
            parts.push(self.formula(&first, depth + 1)?);
        }
        if parts.is_empty() {
            return Err(head.fault(format!("{} has no arguments", quoted(head.text))));
        }
        Ok(parts)
    }

    /// A comparison of two terms, or a chain of them: `(<= a b c)` is a ≤ b and b ≤ c.
    fn comparisons(&mut self, open: &Token<'t>, head: &Token<'t>, depth: usize) -> Result<Formula<Variable>, Fault> {
        let terms = self.terms(open, head, depth)?;
        if terms.len() < 2 {
            return Err(head.fault(format!("{} takes at least two terms", quoted(head.text))));
        }
        if head.text == "!=" && terms.len() > 2 {
            return Err(head.fault("`!=` takes two terms"));
        }
        if let Some(tensors) = &self.tensors {
            tensors.check_types(head, &terms)?;
        }
        for pair in terms.windows(2) {
            if pair.iter().all(|term| term.constant != Interval::ZERO) {
                self.written.note_computed(pair[0].constant - pair[1].constant);
            }
        }
        let compare = |left: &Term, right: &Term| match head.text {
            "!=" => logic::disjunction([logic::comparison(left, right, true), logic::comparison(right, left, true)]),
            "<=" => logic::comparison(left, right, false),
            ">=" => logic::comparison(right, left, false),
            "<" => logic::comparison(left, right, true),
            ">" => logic::comparison(right, left, true),
            _ => logic::conjunction([logic::comparison(left, right, false), logic::comparison(right, left, false)]),
        };
        Ok(logic::conjunction(terms.windows(2).map(|pair| compare(&pair[0], &pair[1]))))
    }

    /// The terms of a list, at least one.
    fn terms(&mut self, open: &Token<'t>, head: &Token<'t>, depth: usize) -> Result<Vec<Term>, Fault> {
        let mut terms = Vec::new();
        while let Some(first) = self.argument(open)? {
            terms.push(self.term(&first, depth + 1)?);
        }
        if terms.is_empty() {
            return Err(head.fault(format!("{} has no arguments", quoted(head.text))));
        }
        Ok(terms)
    }

    /// The linear term that begins with `first`. A variable may occur in it several times.
    fn term(&mut self, first: &Token<'t>, depth: usize) -> Result<Term, Fault> {
        if first.kind == Kind::Symbol {
            if let Some(variable) = self.reference(first)? {
                return Ok(Linear::variable(variable));
            }
            if !decimal::looks_numeric(first.text) {
                return Err(self.misplaced(first, "a term"));
            }
            let number = decimal::interval(first.text).map_err(|message| first.fault(message))?;
            self.written.note(first.text, number);
            return Ok(Linear::constant(number));
        } else if first.kind != Kind::Open {
            return Err(self.misplaced(first, "a term"));
        }
        let head = self.list_head(first, depth)?;
        if !ARITHMETIC.contains(&head.text) {
            return Err(self.misplaced(&head, "a term"));
        }
        let terms = self.terms(first, &head, depth)?;
        // A sum with a single constant keeps that constant as it was written.
        let constants = terms.iter().filter(|term| term.constant != Interval::ZERO).count();
        let computes = constants > 1 || !matches!(head.text, "+" | "-");
        let mut terms = terms.into_iter();
        let Some(mut result) = terms.next() else { return Ok(Linear::constant(Interval::ZERO)) };
        match head.text {
            "-" if terms.len() == 0 => return Ok(logic::opposite(result)),
            "/" if terms.len() == 0 => return Err(head.fault("`/` takes at least two terms")),
            _ => {}
        }
        for next in terms {
            match head.text {
                "+" => logic::add(&mut result, next),
                "-" => logic::add(&mut result, logic::opposite(next)),
                "*" if next.terms.is_empty() => scale(&mut result, |own| own * next.constant),
                "*" if result.terms.is_empty() => {
                    let factor = result.constant;
                    result = next;
                    scale(&mut result, |own| own * factor);
                }
                "*" => return Err(head.fault("`*` multiplies two terms with variables: that is not linear")),
                _ if !next.terms.is_empty() => {
                    return Err(head.fault("`/` divides by a term with variables: that is not linear"));
                }
                _ if next.constant.contains(0.0) => {
                    return Err(head.fault("`/` divides by zero, or by a number that is too small"));
                }
                _ => scale(&mut result, |own| own / next.constant),
            }
        }
        if computes {
            self.written.note_computed(result.constant);
        }
        Ok(result)
    }

    /// The head of a list inside an assertion, where the nesting is bounded.
    fn list_head(&mut self, open: &Token<'t>, depth: usize) -> Result<Token<'t>, Fault> {
        if depth > MAX_DEPTH {
            return Err(open.fault(format!("parentheses are nested more than {MAX_DEPTH} deep")));
        }
        self.head(open)
    }

    fn is_comparison(&self, operator: &str) -> bool {
        COMPARISONS.contains(&operator) || self.tensors.is_some() && COMPARISONS_2.contains(&operator)
    }

    /// The error for a token that is not what the place asks for: it names what the token is, if that is known.
    fn misplaced(&self, token: &Token<'t>, expected: &str) -> Fault {
        let name = token.text;
        let shown = quoted(name);
        if token.kind == Kind::Quoted {
            token.fault(format!("expected {expected}, found the quoted {shown}"))
        } else if decimal::looks_numeric(name) {
            token.fault(format!("expected {expected}, found the number {shown}"))
        } else if self.declared(token) {
            token.fault(format!("expected {expected}, found the variable {shown}"))
        } else if CONNECTIVES.contains(&name)
            || self.is_comparison(name)
            || ARITHMETIC.contains(&name)
            || token.kind == Kind::Mark
        {
            token.fault(format!("expected {expected}, found {shown}"))
        } else if self.tensors.is_none() && (name.starts_with("X_") || name.starts_with("Y_")) {
            token.fault(format!("{shown} is not declared"))
        } else {
            token.fault(format!("unknown name {shown}"))
        }
    }
}

/// Applies an operation that distributes over sums to every coefficient and the constant.
fn scale(term: &mut Term, operation: impl Fn(Interval) -> Interval) {
    for (_, coefficient) in &mut term.terms {
        *coefficient = operation(*coefficient);
    }
    term.constant = operation(term.constant);
}

#[cfg(test)]
mod tests {
    use crate::vnnlib::{Variable, parse};
    use certus_graph::Interval;

    /// The value of a formula over X_0 and Y_0 at a point where it is certain.
    fn holds(formula: &str, x: f64, y: f64) -> bool {
        let text = format!("(declare-const X_0 Real)(declare-fun Y_0 () Real)(assert {formula})");
        let specification = parse(&text).unwrap_or_else(|error| panic!("{formula}: {error}"));
        let value = |variable: &Variable| match variable {
            Variable::Input(_) => Interval::point(x),
            Variable::Output(_) => Interval::point(y),
        };
        specification.assertion.certainty(&value).unwrap_or_else(|| panic!("{formula} is not decided"))
    }

    #[track_caller]
    fn refused(formula: &str, expected: &str) {
        let text = format!("(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert\n{formula})");
        assert_eq!(parse(&text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn comparisons_keep_their_strictness() {
        for (operator, expected) in [
            ("<=", [true, true, false]),
            ("<", [true, false, false]),
            (">=", [false, true, true]),
            (">", [false, false, true]),
            ("=", [false, true, false]),
        ] {
            for (x, truth) in [1.0, 2.0, 3.0].into_iter().zip(expected) {
                assert_eq!(holds(&format!("({operator} X_0 2)"), x, 0.0), truth, "{x} {operator} 2");
                assert_eq!(holds(&format!("(not ({operator} X_0 2))"), x, 0.0), !truth, "not {x} {operator} 2");
            }
        }
    }

    #[test]
    fn chains_compare_neighbours() {
        assert!(holds("(<= 0 X_0 Y_0 4)", 1.0, 3.0));
        assert!(!holds("(<= 0 X_0 Y_0 4)", 3.0, 1.0));
        assert!(!holds("(= X_0 Y_0 4)", 4.0, 3.0));
    }

    #[test]
    fn implication_groups_to_the_right() {
        let formula = "(=> (<= X_0 0) (<= Y_0 0) (<= X_0 -1))";
        assert!(holds(formula, 1.0, 0.0));
        assert!(holds(formula, 0.0, 1.0));
        assert!(holds(formula, -1.0, 0.0));
        assert!(!holds(formula, 0.0, 0.0));
    }

    #[test]
    fn arithmetic_is_read_as_written() {
        assert!(holds("(= (- X_0 1 2) (- (- 1) Y_0))", 4.0, -2.0));
        assert!(holds("(= (* 2 (+ X_0 Y_0 1) 0.5) 6)", 2.0, 3.0));
        assert!(holds("(= (/ (+ X_0 (* 2 X_0)) 2 4) 3)", 8.0, 0.0));
        assert!(holds("(< (/ 1 3) X_0)", 0.34, 0.0));
        assert!(!holds("(< (/ 1 3) X_0)", 0.33, 0.0));
        assert!(holds("(and true (not false) (<= (- 1.5) -1.5))", 0.0, 0.0));
        assert!(holds("(= (* -1.25e1 X_0) (- 25.))", 2.0, 0.0));
    }

    #[test]
    fn a_number_that_is_no_double_is_two_sided() {
        let text = "(declare-const X_0 Real)(assert (<= X_0 0.1))";
        let assertion = parse(text).unwrap().assertion;
        let at = |value: f64| assertion.certainty(&|_| Interval::point(value));
        assert_eq!([0.1f64.next_down(), 0.1].map(at), [Some(true), None]);
        assert_eq!(at(0.1f64.next_up()), Some(false));
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name_and_place() {
        refused("  (<= X_0 nan)", "line 4, column 11: `nan` is no real number");
        refused("(<= X_0 -inf)", "line 4, column 9: `-inf` is no real number");
        refused("(<= X_0 1.5f)", "line 4, column 9: malformed number `1.5f`");
        refused("(<= X_0 X_1)", "line 4, column 9: `X_1` is not declared");
        refused("(<= (* X_0 Y_0) 1)", "line 4, column 6: `*` multiplies two terms with variables: that is not linear");
        refused("(<= (/ 1 Y_0) 1)", "line 4, column 6: `/` divides by a term with variables: that is not linear");
        refused("(<= (/ Y_0 0.0) 1)", "line 4, column 6: `/` divides by zero, or by a number that is too small");
        refused("(<= (/ Y_0) 1)", "line 4, column 6: `/` takes at least two terms");
        refused("(<= (sin X_0) 1)", "line 4, column 6: unknown name `sin`");
        refused("(let ((a 1)) (<= X_0 a))", "line 4, column 2: unknown name `let`");
        refused("(<= X_0)", "line 4, column 2: `<=` takes at least two terms");
        refused("(and)", "line 4, column 2: `and` has no arguments");
        refused("(not (<= X_0 1) (<= X_0 2))", "line 4, column 2: `not` takes one formula, found 2");
        refused("(=> (<= X_0 1))", "line 4, column 2: `=>` takes at least two formulas");
        refused("(and X_0)", "line 4, column 6: expected a formula, found the variable `X_0`");
        refused("(+ X_0 1)", "line 4, column 2: expected a formula, found `+`");
        refused("(= (<= X_0 1) true)", "line 4, column 5: expected a term, found `<=`");
        refused("(<= |X_0| 1)", "line 4, column 5: expected a term, found the quoted `|X_0|`");
        refused("(<= X_0 1) (<= X_0 2)", "line 4, column 12: expected `)`, found `(`");
        refused("((<=) X_0 1)", "line 4, column 2: expected a name after the parenthesis, found `(`");
        refused("()", "line 4, column 1: empty parentheses");
        refused("1", "line 4, column 1: expected a formula, found the number `1`");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}(<= X_0 1){}", "(not ".repeat(depth), ")".repeat(depth));
        assert!(holds(&nested(198), 1.0, 0.0));
        assert!(!holds(&nested(199), 1.0, 0.0));
        refused(&nested(200), "line 4, column 1001: parentheses are nested more than 200 deep");
        refused(
            &format!("(<= {} 1)", "(- ".repeat(1_000_000)),
            "line 4, column 602: parentheses are nested more than 200 deep",
        );
    }
}
