//! Formulas to text and back.

use std::collections::HashSet;
use std::io::Write;

use certus_graph::store::{Lines, StoreError, Words, write_interval};

use super::MAX_DEPTH;
use crate::formula::{Atom, Formula, Linear};
use crate::vnnlib::Variable;

/// Writes a formula that stands inside of `depth` others.
pub(super) fn write_formula(out: &mut dyn Write, formula: &Formula<Variable>, depth: usize) -> Result<(), StoreError> {
    let (word, parts) = match formula {
        Formula::Atom(atom) => return write_atom(out, atom),
        Formula::And(parts) => ("and", parts),
        Formula::Or(parts) => ("or", parts),
    };
    if depth >= MAX_DEPTH {
        return Err(StoreError::unwritable(format!("the formula is nested more than {MAX_DEPTH} deep")));
    }
    writeln!(out, "{word}")?;
    parts.iter().try_for_each(|part| write_formula(out, part, depth + 1))?;
    writeln!(out, "end")?;
    Ok(())
}

fn write_atom(out: &mut dyn Write, atom: &Atom<Variable>) -> Result<(), StoreError> {
    let mut seen = HashSet::new();
    for (variable, coefficient) in &atom.linear.terms {
        if !seen.insert(variable) {
            return Err(StoreError::unwritable(format!("{variable} occurs twice in a comparison")));
        }
        write_interval(out, *coefficient)?;
        write!(out, "*{variable} + ")?;
    }
    write_interval(out, atom.linear.constant)?;
    writeln!(out, " {} 0", if atom.strict { "<" } else { "<=" })?;
    Ok(())
}

/// Reads one formula. Open connectives wait on a list, so that nesting costs no stack.
pub(super) fn read_formula(lines: &mut Lines<'_>) -> Result<Formula<Variable>, StoreError> {
    type Connective = fn(Vec<Formula<Variable>>) -> Formula<Variable>;
    let mut open: Vec<(Connective, Vec<Formula<Variable>>)> = Vec::new();
    loop {
        let mut words = lines.line("the end of the formula")?;
        let complete = match words.rest() {
            connective @ ("and" | "or") => {
                if open.len() >= MAX_DEPTH {
                    return Err(words.error(format!("the formula is nested more than {MAX_DEPTH} deep")));
                }
                open.push((if connective == "and" { Formula::And } else { Formula::Or }, Vec::new()));
                continue;
            }
            "end" => match open.pop() {
                Some((connective, parts)) => connective(parts),
                None => return Err(words.error("this `end` ends nothing")),
            },
            _ => Formula::Atom(read_atom(&mut words)?),
        };
        match open.last_mut() {
            Some((_, parts)) => parts.push(complete),
            None => return Ok(complete),
        }
    }
}

/// Reads `coefficient*variable + … + constant <= 0`, or with `<`.
fn read_atom(words: &mut Words<'_>) -> Result<Atom<Variable>, StoreError> {
    let mut terms = Vec::new();
    let mut seen = HashSet::new();
    let constant = loop {
        let word = words.word("`and`, `or`, `end` or a comparison")?;
        let Some((coefficient, name)) = word.split_once('*') else {
            break Words::new(word, words.line()).interval()?;
        };
        let coefficient = Words::new(coefficient, words.line()).interval()?;
        let variable = variable(name).ok_or_else(|| words.error("expected a variable of the form X_0 or Y_0"))?;
        if !seen.insert(variable) {
            return Err(words.error(format!("{variable} occurs twice in a comparison")));
        }
        terms.push((variable, coefficient));
        words.keyword("+")?;
    };
    let strict = match words.word("`<=` or `<`")? {
        "<=" => false,
        "<" => true,
        _ => return Err(words.error("expected `<=` or `<` after the constant")),
    };
    words.keyword("0")?;
    words.end()?;
    Ok(Atom { linear: Linear { terms, constant }, strict })
}

fn variable(name: &str) -> Option<Variable> {
    let (kind, digits): (fn(usize) -> Variable, _) = match name.split_at_checked(2)? {
        ("X_", digits) => (Variable::Input, digits),
        ("Y_", digits) => (Variable::Output, digits),
        _ => return None,
    };
    Words::new(digits, 0).index().ok().map(kind)
}
