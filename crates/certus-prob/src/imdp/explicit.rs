//! PRISM's explicit format: transitions in a `.tra` file, labels in a `.lab` file.
//!
//! `.tra` begins with the numbers of states, choices and transitions; each line is `state choice target probability [action]`, where the
//! probability of an interval model is `[a,b]`. `.lab` names labels by number in its first line (`0="init" 1="deadlock"`), and then lists
//! the labels of each state (`3: 0 2`).

use std::fmt::Write;

use super::drn::interval;
use super::{Builder, Imdp};

/// The model as the texts of a `.tra` and a `.lab` file.
pub fn write(model: &Imdp) -> (String, String) {
    let plain = model.is_plain();
    let mut transitions = format!("{} {} {}\n", model.states(), model.choice_count(), model.transition_count());
    for state in 0..model.states() {
        for (place, choice) in model.choices(state).enumerate() {
            let name = model.choice_name(choice).map_or_else(String::new, |name| format!(" {name}"));
            for (target, lower, upper) in model.transitions(choice) {
                let _ = match plain {
                    true => writeln!(transitions, "{state} {place} {target} {lower:?}{name}"),
                    false => writeln!(transitions, "{state} {place} {target} [{lower:?},{upper:?}]{name}"),
                };
            }
        }
    }
    let names: Vec<&str> =
        ["init", "deadlock"].into_iter().chain(model.labels().filter(|l| !["init", "deadlock"].contains(l))).collect();
    let heads: Vec<String> = names.iter().enumerate().map(|(place, name)| format!("{place}=\"{name}\"")).collect();
    let mut labels = heads.join(" ") + "\n";
    let states: Vec<Vec<bool>> = names.iter().map(|name| model.labelled(name).unwrap_or_default()).collect();
    for state in 0..model.states() {
        let own = states.iter().enumerate().filter(|(_, holds)| holds[state]);
        let own: Vec<String> = own.map(|(place, _)| place.to_string()).collect();
        if !own.is_empty() {
            let _ = writeln!(labels, "{state}: {}", own.join(" "));
        }
    }
    (transitions, labels)
}

/// A file is not believed beyond this many states.
const MOST_STATES: usize = 1 << 27;

/// State, choice, target, lower and upper probability, and the action's name.
type Row<'a> = (usize, usize, usize, f64, f64, Option<&'a str>);

/// Reads a model. Without labels the first state is initial.
pub fn read(transitions: &str, labels: Option<&str>) -> Result<Imdp, String> {
    let mut lines = transitions.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or("the transitions are empty")?;
    let numbers: Vec<usize> = head.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let (states, chain) = match numbers.as_slice() {
        [states, _, _] => (*states, false),
        [states, _] => (*states, true),
        _ => return Err("line 1: expected the numbers of states, choices and transitions".to_owned()),
    };
    if states > MOST_STATES {
        return Err(format!("line 1: {states} states are more than the {MOST_STATES} that can be read"));
    }
    // Lines may stand in any order: they are sorted by state and choice.
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (index, line) in lines {
        let wrong = |message: &str| format!("line {}: {message}", index + 1);
        // An interval may be written with a space in it.
        let joined = line.replace(", ", ",");
        let words: Vec<&str> = joined.split_whitespace().collect();
        let whole = |place: usize| words.get(place).and_then(|word| word.parse::<usize>().ok());
        let offset = usize::from(!chain);
        let (state, choice, target) = (whole(0), if chain { Some(0) } else { whole(1) }, whole(1 + offset));
        let (Some(state), Some(choice), Some(target)) = (state, choice, target) else {
            return Err(wrong("expected `state choice target probability`"));
        };
        let value = words.get(2 + offset).and_then(|word| interval(word));
        let (low, high) = value.ok_or_else(|| wrong("expected a probability or an interval [a,b]"))?;
        if state >= states || target >= states {
            return Err(wrong(&format!("a state beyond the {states} that the first line announces")));
        }
        let name = line.split_whitespace().nth(words.len() - 1).filter(|_| words.len() > 3 + offset);
        rows.push((state, choice, target, low, high, name));
    }
    rows.sort_by_key(|row| (row.0, row.1));
    let mut builder = Builder::new();
    let mut at = 0;
    for state in 0..states {
        builder.state();
        while at < rows.len() && rows[at].0 == state {
            let choice = rows[at].1;
            let own = rows[at..].iter().take_while(|row| row.0 == state && row.1 == choice).count();
            let edges: Vec<(usize, f64, f64)> = rows[at..at + own].iter().map(|row| (row.2, row.3, row.4)).collect();
            builder.choice(&edges);
            if let Some(name) = rows[at].5 {
                builder.name(name);
            }
            at += own;
        }
    }
    match labels {
        Some(labels) => read_labels(labels, states, &mut builder)?,
        None => builder.initial(0),
    }
    builder.finish().map_err(|error| error.to_string())
}

fn read_labels(text: &str, states: usize, builder: &mut Builder) -> Result<(), String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or("the labels are empty")?;
    let mut names: Vec<(usize, String)> = Vec::new();
    for word in head.split_whitespace() {
        let pair = word.split_once('=').and_then(|(number, name)| Some((number.parse().ok()?, name)));
        let (number, name): (usize, &str) = pair.ok_or("the labels, line 1: expected `0=\"init\" 1=\"deadlock\" …`")?;
        names.push((number, name.trim_matches('"').to_owned()));
        if !["init", "deadlock"].contains(&name.trim_matches('"')) {
            builder.declare(name.trim_matches('"'));
        }
    }
    for (index, line) in lines {
        let wrong = |message: &str| format!("the labels, line {}: {message}", index + 1);
        let (state, own) = line.split_once(':').ok_or_else(|| wrong("expected `state: labels`"))?;
        let state: usize = state.trim().parse().map_err(|_| wrong("expected the number of a state"))?;
        if state >= states {
            return Err(wrong(&format!("state {state} does not exist")));
        }
        for word in own.split_whitespace() {
            let number: usize = word.parse().map_err(|_| wrong("labels are numbers"))?;
            let name = names.iter().find(|(other, _)| *other == number).map(|(_, name)| name.as_str());
            match name.ok_or_else(|| wrong(&format!("label {number} is not in the first line")))? {
                "init" => builder.initial(state),
                name => builder.label(name, state),
            }
        }
    }
    Ok(())
}
