//! PRISM's language, as far as finite models without rewards need it: `mdp` and `dtmc` with probabilities or intervals, constants,
//! formulas, labels, global and module variables (ranges of integers, Booleans), commands that synchronise by their actions, and `init … endinit`.

mod explore;
mod expression;
mod parse;

use std::fmt::Write;

use super::Imdp;

/// Reads a model and builds all states that can be reached. `settings` give values to constants.
pub fn read(text: &str, settings: &[(String, f64)]) -> Result<Imdp, String> {
    let program = parse::parse(text)?;
    explore::explore(&program, settings)
}

/// The model in PRISM's language: one variable that numbers the states, and one command per choice.
pub fn write(model: &Imdp) -> String {
    let states = model.states();
    let mut text = format!("mdp\n\nmodule model\n  s : [0..{}];\n\n", states.saturating_sub(1).max(1));
    let plain = model.is_plain();
    for state in 0..states {
        for choice in model.choices(state) {
            let name = model.choice_name(choice).filter(|name| is_name(name)).unwrap_or("");
            let updates: Vec<String> = model
                .transitions(choice)
                .map(|(target, lower, upper)| match plain {
                    true => format!("{lower:?} : (s'={target})"),
                    false => format!("[{lower:?},{upper:?}] : (s'={target})"),
                })
                .collect();
            let _ = writeln!(text, "  [{name}] s={state} -> {};", updates.join(" + "));
        }
    }
    text.push_str("endmodule\n\n");
    let list = |states: Vec<bool>| {
        let own: Vec<String> =
            states.iter().enumerate().filter(|(_, holds)| **holds).map(|(state, _)| format!("s={state}")).collect();
        if own.is_empty() { "false".to_owned() } else { own.join(" | ") }
    };
    let _ = writeln!(text, "init {} endinit\n", list(model.labelled("init").unwrap_or_default()));
    for label in model.labels().filter(|label| *label != "init" && *label != "deadlock") {
        let _ = writeln!(text, "label \"{label}\" = {};", list(model.labelled(label).unwrap_or_default()));
    }
    text
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
