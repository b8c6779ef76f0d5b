//! Storm's explicit format, DRN.

use std::fmt::Write;

use super::{Builder, Imdp};

/// A number that reads back as itself.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// The model as DRN text.
pub fn write(model: &Imdp) -> String {
    let plain = model.is_plain();
    let mut text = String::from("@type: MDP\n");
    if !plain {
        text.push_str("@value_type: double-interval\n");
    }
    let _ = write!(
        text,
        "@parameters\n\n@reward_models\n\n@nr_states\n{}\n@nr_choices\n{}\n@model\n",
        model.states(),
        model.choice_count()
    );
    let labels: Vec<(&str, Vec<bool>)> = model
        .labels()
        .filter(|label| *label != "init")
        .filter_map(|label| Some((label, model.labelled(label)?)))
        .collect();
    let initial = model.labelled("init").unwrap_or_default();
    for state in 0..model.states() {
        let _ = write!(text, "state {state}");
        if initial[state] {
            text.push_str(" init");
        }
        for (label, _) in labels.iter().filter(|(_, states)| states[state]) {
            let _ = write!(text, " {label}");
        }
        text.push('\n');
        for (place, choice) in model.choices(state).enumerate() {
            let _ = writeln!(
                text,
                "\taction {}",
                model.choice_name(choice).map_or_else(|| place.to_string(), str::to_owned)
            );
            for (target, lower, upper) in model.transitions(choice) {
                let _ = match plain {
                    true => writeln!(text, "\t\t{target} : {}", number(lower)),
                    false => writeln!(text, "\t\t{target} : [{}, {}]", number(lower), number(upper)),
                };
            }
        }
    }
    text
}

/// A probability, an interval of them, or a fraction.
pub(super) fn interval(text: &str) -> Option<(f64, f64)> {
    let single = |text: &str| -> Option<f64> {
        let text = text.trim();
        let value = match text.split_once('/') {
            Some((a, b)) => a.trim().parse::<f64>().ok()? / b.trim().parse::<f64>().ok()?,
            None => text.parse().ok()?,
        };
        value.is_finite().then_some(value)
    };
    let text = text.trim();
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => {
            let (low, high) = inner.split_once(',')?;
            Some((single(low)?, single(high)?))
        }
        None => single(text).map(|value| (value, value)),
    }
}

/// A choice that is being read: its name and its transitions.
type Open = (Option<String>, Vec<(usize, f64, f64)>);

/// Reads a model.
pub fn read(text: &str) -> Result<Imdp, String> {
    let mut builder = Builder::new();
    let mut in_model = false;
    let mut states = 0usize;
    let mut open: Option<Open> = None;
    let mut expect_states: Option<usize> = None;
    let mut header = "";
    let close = |builder: &mut Builder, open: &mut Option<Open>| {
        if let Some((name, transitions)) = open.take() {
            builder.choice(&transitions);
            if let Some(name) = name {
                builder.name(&name);
            }
        }
    };
    for (index, line) in text.lines().enumerate() {
        let wrong = |message: &str| format!("line {}: {message}", index + 1);
        let line = line.split("//").next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        if !in_model {
            if let Some(kind) = line.strip_prefix("@type:") {
                let kind = kind.trim();
                if !["MDP", "DTMC"].contains(&kind) {
                    return Err(wrong(&format!("a model of type {kind}; MDP and DTMC can be read")));
                }
            } else if line == "@model" {
                in_model = true;
            } else if line.starts_with('@') {
                header = if line == "@nr_states" { "states" } else { "" };
            } else if header == "states" {
                expect_states = line.parse().ok();
                header = "";
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix("state ") {
            close(&mut builder, &mut open);
            let mut words = rest.split_whitespace();
            let number: usize =
                words.next().and_then(|word| word.parse().ok()).ok_or_else(|| wrong("a state needs a number"))?;
            if number != states {
                return Err(wrong(&format!("state {number} where state {states} was expected")));
            }
            states += 1;
            builder.state();
            let mut bracket = false;
            for word in words {
                // Rewards stand in brackets.
                bracket |= word.starts_with('[');
                if !bracket && word != "!" {
                    match word {
                        "init" => builder.initial(number),
                        label => builder.label(label.trim_matches('"'), number),
                    }
                }
                bracket &= !word.ends_with(']');
            }
        } else if let Some(rest) = line.strip_prefix("action ") {
            close(&mut builder, &mut open);
            if states == 0 {
                return Err(wrong("an action before the first state"));
            }
            let name = rest.split_whitespace().next().unwrap_or("");
            let own = if name.parse::<usize>().is_ok() || name == "__NOLABEL__" { None } else { Some(name.to_owned()) };
            open = Some((own, Vec::new()));
        } else {
            let (target, value) = line.split_once(':').ok_or_else(|| wrong("expected `target : probability`"))?;
            let target: usize = target.trim().parse().map_err(|_| wrong("a target is the number of a state"))?;
            let (low, high) = interval(value).ok_or_else(|| wrong("expected a probability or an interval [a, b]"))?;
            // A chain has transitions without an action.
            open.get_or_insert_with(|| (None, Vec::new())).1.push((target, low, high));
        }
    }
    close(&mut builder, &mut open);
    if !in_model {
        return Err("there is no @model in the file".to_owned());
    }
    if let Some(expected) = expect_states.filter(|&expected| expected != states) {
        return Err(format!("the file announces {expected} states and has {states}"));
    }
    builder.finish().map_err(|error| error.to_string())
}
