//! A specification's violation as a VNN-LIB query: satisfiable when a network breaks it.
//!
//! Comparisons are closed, as VNN-LIB's are: a tie between outputs counts as a violation.

use std::fmt::Write;

use certus_solver::formula::{Atom, Formula};
use certus_solver::vnnlib::Variable;

use super::sentence;
use crate::layout::Layout;
use crate::query::{Edges, region, violation};
use crate::{MineError, Specification};

/// The text of the query. The configuration must say how many inputs a network has.
pub fn vnnlib(layout: &Layout, specification: &Specification) -> Result<String, MineError> {
    let inputs = layout.inputs.ok_or_else(|| MineError::new("VNN-LIB needs `inputs`: how many a network has"))?;
    // A network that is not known may read all of them, and those without a range are zero.
    let read: Vec<bool> =
        (0..inputs).map(|input| layout.column_of_input(input).is_some() || layout.unread.is_some()).collect();
    let region = region(layout, specification, &read)?;
    let outputs = layout.outputs.network_outputs();
    let mut text = format!("; Violation of: {}\n", sentence(layout, specification));
    let declare = |letter: char, count: usize| -> String {
        (0..count).map(|index| format!("(declare-const {letter}_{index} Real)\n")).collect()
    };
    text.push_str(&declare('X', inputs));
    text.push_str(&declare('Y', outputs));
    for (input, (low, high)) in region.iter().enumerate() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "(assert (>= X_{input} {}))\n(assert (<= X_{input} {}))", number(*low), number(*high));
    }
    let formula = violation(&layout.outputs, specification.allowed, Edges::Closed);
    let _ = writeln!(text, "(assert {})", shown(&formula));
    Ok(text)
}

/// A number without an exponent, which some readers do not know.
fn number(value: f64) -> String {
    let text = format!("{value}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

fn shown(formula: &Formula<Variable>) -> String {
    let all = |word: &str, parts: &[Formula<Variable>]| match parts {
        [only] => shown(only),
        parts => format!("({word} {})", parts.iter().map(shown).collect::<Vec<_>>().join(" ")),
    };
    match formula {
        Formula::And(parts) => all("and", parts),
        Formula::Or(parts) => match parts.as_slice() {
            // Readers of VNN-LIB want conjunctions inside a disjunction.
            [only] => shown(only),
            parts => {
                let each = parts.iter().map(|part| match part {
                    Formula::And(inner) => format!("(and {})", inner.iter().map(shown).collect::<Vec<_>>().join(" ")),
                    other => shown(other),
                });
                format!("(or {})", each.collect::<Vec<_>>().join(" "))
            }
        },
        Formula::Atom(atom) => comparison(atom),
    }
}

/// Atoms here are Y_a − Y_b ≤ 0, Y − c ≤ 0 or c − Y ≤ 0.
fn comparison(atom: &Atom<Variable>) -> String {
    let constant = atom.linear.constant.lo;
    match &atom.linear.terms[..] {
        [(left, _), (right, factor)] if factor.lo == -1.0 => format!("(<= {left} {right})"),
        [(right, _), (left, _)] => format!("(<= {left} {right})"),
        [(variable, factor)] if factor.lo < 0.0 => format!("(>= {variable} {})", number(constant)),
        [(variable, _)] => format!("(<= {variable} {})", number(-constant)),
        _ => "(<= 0.0 0.0)".to_owned(),
    }
}
