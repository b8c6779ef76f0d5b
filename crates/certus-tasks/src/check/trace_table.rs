//! Violating runs as a table for other tools: comma-separated values, one row per position.

use certus_lang::system::{System, in_words};

use super::PropertyResult;
use super::document::{names_of, policy_names};
use certus_model::Run;

/// The runs that violate properties: nothing if there is none. Columns are the property, the step, whether the step is in the part
/// that repeats for ever (0 or 1), then state, environment's choices, chances, policy outputs, actions, and every atom (0 or 1). Numbers are
/// written so that they read back as they were, labels by their names.
pub fn trace_csv(system: &System, results: &[PropertyResult]) -> Option<String> {
    let runs: Vec<(&str, &Run)> = results
        .iter()
        .filter_map(|result| {
            let run = result.outcome.as_ref().ok()?.run()?;
            Some((system.properties[result.property].name.as_str(), run))
        })
        .collect();
    if runs.is_empty() {
        return None;
    }
    let mut header: Vec<String> = ["property", "step", "repeats"].map(str::to_owned).to_vec();
    header.extend(names_of(&system.states));
    header.extend(names_of(&system.inputs));
    header.extend(system.chances.iter().map(|chance| chance.name.clone()));
    header.extend(policy_names(system));
    header.extend(system.actions.iter().map(|action| action.name.clone()));
    header.extend(system.atoms.iter().map(|atom| atom.text.clone()));
    let mut text = line(&header);
    for (property, run) in runs {
        for position in 0..run.states.len() {
            let truth = |value: bool| u8::from(value).to_string();
            let repeats = run.loop_to.is_some_and(|start| start <= position);
            let mut row = vec![property.to_owned(), position.to_string(), truth(repeats)];
            let numbers = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<String>>();
            row.extend(in_words(&system.states, &run.states[position], |value| value.to_string()));
            row.extend(in_words(&system.inputs, &run.inputs[position], |value| value.to_string()));
            let chances = system.chances.iter().zip(&run.chances[position]);
            row.extend(chances.map(|(chance, &label)| chance.labels[label].clone()));
            row.extend(numbers(&run.policies[position]));
            let actions = system.actions.iter().zip(&run.actions[position]);
            row.extend(actions.map(|(action, &label)| action.labels[label].clone()));
            row.extend(run.atoms[position].iter().map(|&value| truth(value)));
            text.push_str(&line(&row));
        }
    }
    Some(text)
}

/// A row; what contains a separator is quoted.
fn line(cells: &[String]) -> String {
    let cell = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let mut line = cells.iter().map(cell).collect::<Vec<String>>().join(",");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_quoted() {
        let row = ["a", "x in [0, 1]", "say \"no\""].map(str::to_owned);
        assert_eq!(line(&row), "a,\"x in [0, 1]\",\"say \"\"no\"\"\"\n");
    }
}
