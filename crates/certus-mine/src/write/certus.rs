//! All specifications as properties of a `.certus` file: a system whose state is the input of the network and stays as
//! it is, so that a property speaks of every input in the observed ranges.

use std::fmt::Write;

use super::sentence;
use crate::layout::Layout;
use crate::outputs::{Meaning, OutputSet};
use crate::{Bound, MineError, Specification};

/// The text of a system with a property per specification, for a network at a path relative to it.
pub fn certus(
    layout: &Layout,
    name: &str,
    network: &str,
    specifications: &[Specification],
) -> Result<String, MineError> {
    let inputs =
        layout.inputs.ok_or_else(|| MineError::new("a `.certus` file needs `inputs`: how many a network has"))?;
    if network.contains(['"', '\\', '\n']) {
        return Err(MineError::new(format!("{network:?} cannot be written into a `.certus` file")));
    }
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "/// Specifications mined from observations of reference algorithms.\nsystem {}\n",
        identifier(name)
    );
    let mut arguments = Vec::new();
    for input in 0..inputs {
        let Some(column) = layout.column_of_input(input) else {
            arguments.push(match layout.unread {
                Some((low, high)) if low < high => {
                    let _ = writeln!(
                        text,
                        "state unread_{input} in [{low:?}, {high:?}]\nnext unread_{input} = unread_{input}"
                    );
                    format!("unread_{input}")
                }
                other => format!("{:?}", other.map_or(0.0, |range| range.0)),
            });
            continue;
        };
        let own = identifier(&layout.columns[column].column);
        let (low, high) = range(layout, specifications, column)?;
        let _ = writeln!(
            text,
            "/// {}\nstate {own} in [{low:?}, {high:?}]\nnext {own} = {own}",
            layout.columns[column].name
        );
        arguments.push(own);
    }
    let lines: Vec<String> = arguments.chunks(8).map(|line| format!("    {}", line.join(", "))).collect();
    let network = format!("net(\n    \"{network}\",\n{}\n)", lines.join(",\n"));
    let output = identifier(&layout.outputs.name);
    let labels: Vec<String> = layout.outputs.labels.iter().map(|label| format!("to_{}", identifier(label))).collect();
    let _ = match layout.outputs.meaning {
        Meaning::Choice => writeln!(text, "\naction {output} = argmax({network}) of {{ {} }}", labels.join(", ")),
        _ => writeln!(text, "\npolicy {output} = {network}"),
    };
    for (index, own) in specifications.iter().enumerate() {
        let bounds =
            own.bounds.iter().chain(&own.observed).filter(|bound| layout.columns[bound.column].input.is_some());
        let conditions: Vec<String> = bounds.filter_map(|bound| condition(layout, bound)).collect();
        let allowed = allowed(layout, &output, &labels, own.allowed);
        let premise = if conditions.is_empty() { "true".to_owned() } else { conditions.join("\n    & ") };
        let _ = writeln!(
            text,
            "\n/// {}\ndefine when_{number} = {premise}\nproperty specification_{number} = G (when_{number} -> {allowed})",
            sentence(layout, own),
            number = index + 1,
        );
    }
    Ok(text)
}

fn condition(layout: &Layout, bound: &Bound) -> Option<String> {
    let name = identifier(&layout.columns[bound.column].column);
    match (bound.low.is_finite(), bound.high.is_finite()) {
        (true, true) => Some(format!("{name} in [{:?}, {:?}]", bound.low, bound.high)),
        (true, false) => Some(format!("{name} >= {:?}", bound.low)),
        (false, true) => Some(format!("{name} <= {:?}", bound.high)),
        (false, false) => None,
    }
}

fn allowed(layout: &Layout, output: &str, labels: &[String], set: OutputSet) -> String {
    let each = set.labels().map(|label| match &layout.outputs.meaning {
        Meaning::Choice => format!("{output} == {}", labels[label]),
        Meaning::Sign { .. } => format!("{output} {} 0", ["<", "==", ">"][label]),
        Meaning::Bands(thresholds) => {
            let low = label.checked_sub(1).map(|before| format!("{output} >= {:?}", thresholds[before]));
            let high = thresholds.get(label).map(|threshold| format!("{output} < {threshold:?}"));
            let ends: Vec<String> = low.into_iter().chain(high).collect();
            format!("({})", ends.join(" & "))
        }
    });
    format!("({})", each.collect::<Vec<_>>().join(" | "))
}

/// What a column ranges over in some specification.
fn range(layout: &Layout, specifications: &[Specification], column: usize) -> Result<(f64, f64), MineError> {
    let own = |specification: &Specification| {
        let mut bounds = specification.bounds.iter().chain(&specification.observed);
        bounds.find(|bound| bound.column == column).map(|bound| (bound.low, bound.high))
    };
    let all = specifications.iter().map(own).try_fold((f64::INFINITY, f64::NEG_INFINITY), |all: (f64, f64), own| {
        own.map(|own| (all.0.min(own.0), all.1.max(own.1)))
    });
    let valid = layout.columns[column].valid;
    let (mut low, mut high) = all.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    low = if low.is_finite() { low } else { valid.map_or(low, |valid| valid.0) };
    high = if high.is_finite() { high } else { valid.map_or(high, |valid| valid.1) };
    if low.is_finite() && high.is_finite() {
        return Ok((low, high));
    }
    let name = &layout.columns[column].column;
    Err(MineError::new(format!("column `{name}` has no range: give it `valid` in the configuration")))
}

/// A name that the language accepts, and that none of its words is.
fn identifier(name: &str) -> String {
    let signs = match name {
        "+" => "plus",
        "-" => "minus",
        name => name,
    };
    let mut own: String = signs.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let reserved = [
        "system", "const", "param", "state", "input", "chance", "policy", "action", "define", "init", "assume", "next",
        "der", "step", "reward", "terminal", "property", "expect", "if", "then", "else", "match", "of", "in", "true",
        "false", "G", "F", "X", "U", "W", "R", "P", "Pmin", "Pmax", "net", "pi", "dt",
    ];
    if reserved.contains(&own.as_str()) || !own.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        own.insert_str(0, "x_");
    }
    own
}
