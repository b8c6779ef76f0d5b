//! Writing: acceptance on states where it is, labels on transitions.

use crate::automaton::{Automaton, Marks};
use crate::label::Label;
use std::fmt::Write;

/// The automaton in the format.
pub fn write_hoa(automaton: &Automaton) -> String {
    let mut text = String::from("HOA: v1\n");
    let quoted = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string cannot fail.
    if !automaton.name.is_empty() {
        let _ = writeln!(text, "name: \"{}\"", quoted(&automaton.name));
    }
    let _ = writeln!(text, "States: {}", automaton.states());
    for start in &automaton.initial {
        let _ = writeln!(text, "Start: {start}");
    }
    let _ = write!(text, "AP: {}", automaton.atoms.len());
    for atom in &automaton.atoms {
        let _ = write!(text, " \"{}\"", quoted(atom));
    }
    let sets: Vec<String> = (0..automaton.sets).map(|set| format!("Inf({set})")).collect();
    let (name, condition) = match automaton.sets {
        0 => ("all".to_string(), "t".to_string()),
        1 => ("Buchi".to_string(), "Inf(0)".to_string()),
        n => (format!("generalized-Buchi {n}"), sets.join("&")),
    };
    let _ = writeln!(text, "\nacc-name: {name}\nAcceptance: {} {condition}", automaton.sets);
    let on_states = automaton.is_state_based();
    let _ =
        write!(text, "properties: trans-labels explicit-labels {}", if on_states { "state-acc" } else { "trans-acc" });
    let _ = writeln!(text, "{}\n--BODY--", if automaton.is_deterministic() { " deterministic" } else { "" });
    for (state, edges) in automaton.edges.iter().enumerate() {
        let of_state = if on_states { edges.first().map_or(0, |edge| edge.marks) } else { 0 };
        let _ = writeln!(text, "State: {state}{}", marks(of_state));
        for edge in edges {
            let own = if on_states { 0 } else { edge.marks };
            let _ = writeln!(text, "[{}] {}{}", label(&edge.label, |atom| atom.to_string()), edge.target, marks(own));
        }
    }
    text.push_str("--END--\n");
    text
}

fn marks(marks: Marks) -> String {
    if marks == 0 {
        return String::new();
    }
    let sets: Vec<String> = (0..64).filter(|set| marks >> set & 1 == 1).map(|set| set.to_string()).collect();
    format!(" {{{}}}", sets.join(" "))
}

/// A label with atoms called by a function.
pub(crate) fn label(label: &Label, atom: impl Fn(u32) -> String) -> String {
    let cubes: Vec<String> = label
        .0
        .iter()
        .map(|cube| {
            let literal = |n: u32| match (cube.yes >> n & 1, cube.no >> n & 1) {
                (0, 0) => None,
                (1, _) => Some(atom(n)),
                _ => Some(format!("!{}", atom(n))),
            };
            let literals: Vec<String> = (0..64).filter_map(literal).collect();
            if literals.is_empty() { "t".to_string() } else { literals.join("&") }
        })
        .collect();
    if cubes.is_empty() { "f".to_string() } else { cubes.join(" | ") }
}
