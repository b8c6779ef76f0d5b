//! Automata and systems as Graphviz (DOT) graphs.

use crate::automaton::Automaton;
use crate::explicit::Explicit;
use crate::hoa::write::label;
use crate::print::quoted;
use std::fmt::Write;

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// An automaton; acceptance sets are listed after a transition's label.
pub fn automaton_dot(automaton: &Automaton) -> String {
    let mut text = String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n");
    let name = |atom: u32| automaton.atoms.get(atom as usize).map_or(format!("p{atom}"), |name| quoted(name));
    // Writing to a string cannot fail.
    for (i, start) in automaton.initial.iter().enumerate() {
        let _ = writeln!(text, "  start{i} [shape=point];\n  start{i} -> {start};");
    }
    for (state, edges) in automaton.edges.iter().enumerate() {
        let _ = writeln!(text, "  {state};");
        for edge in edges {
            let sets: Vec<String> = (0..64).filter(|s| edge.marks >> s & 1 == 1).map(|s| s.to_string()).collect();
            let sets = if sets.is_empty() { String::new() } else { format!(" {{{}}}", sets.join(",")) };
            let _ = writeln!(
                text,
                "  {state} -> {} [label=\"{}{sets}\"];",
                edge.target,
                escaped(&label(&edge.label, name))
            );
        }
    }
    text.push_str("}\n");
    text
}

/// A system; atoms that hold are listed in a state, unknown ones with a question mark.
pub fn system_dot(system: &Explicit) -> String {
    let mut text = String::from("digraph system {\n  node [shape=box];\n");
    for (i, start) in system.initial.iter().enumerate() {
        let _ = writeln!(text, "  start{i} [shape=point];\n  start{i} -> {start};");
    }
    for state in 0..system.states() as u32 {
        let atoms = system.listed(state).join(" ");
        let _ = writeln!(text, "  {state} [label=\"{state}\\n{}\"];", escaped(&atoms));
        for target in system.targets(state) {
            let _ = writeln!(text, "  {state} -> {target};");
        }
    }
    text.push_str("}\n");
    text
}
