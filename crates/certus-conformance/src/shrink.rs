//! The smallest system on which an engine is still wrong in the same way.

use std::path::Path;

use crate::campaign::{Campaign, Disagreement};
use crate::rows::Row;
use crate::systems::{Case, lattice_of};

/// Declarations without which a file may still be a system.
const REMOVABLE: [&str; 8] = ["assume ", "terminal ", "input ", "chance ", "action ", "policy ", "param ", "state w"];

/// Leaves out declarations and parts of the property as long as the disagreement stays.
pub fn shrunk(campaign: &Campaign, found: &Disagreement, folder: &Path) -> Disagreement {
    let mut best = found.clone();
    let rows: Vec<Row> = Row::named(found.engine).into_iter().filter(|row| row.takes_the_case()).collect();
    if rows.is_empty() {
        return best;
    }
    let own = Campaign { rows, ..campaign.clone() };
    loop {
        let smaller = candidates(&best.text).into_iter().find_map(|text| {
            let case = Case {
                lattice: lattice_of(&text),
                text,
                properties: vec![best.property.clone()],
                settings: best.settings.clone(),
                networks: best.networks.clone(),
                features: Vec::new(),
            };
            let tally = own.compare(best.number, &case, folder);
            tally.disagreements.into_iter().find(|other| (other.class, other.engine) == (found.class, found.engine))
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// The file with one thing less.
fn candidates(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        if REMOVABLE.iter().any(|word| line.starts_with(word)) {
            // A window goes as a whole.
            let window = line.starts_with("state w");
            let own = |line: &str| window && (line.starts_with("next w") || line.starts_with("init w"));
            let rest = lines.iter().enumerate().filter(|(other, line)| *other != place && !own(line));
            all.push(rest.map(|(_, line)| format!("{line}\n")).collect());
        }
        if line.starts_with("property ") {
            for smaller in smaller_formulas(line) {
                let with = |(other, line): (usize, &&str)| match other == place {
                    true => format!("{smaller}\n"),
                    false => format!("{line}\n"),
                };
                all.push(lines.iter().enumerate().map(with).collect());
            }
        }
    }
    all
}

/// A property with a parenthesised part in place of the one around it.
fn smaller_formulas(line: &str) -> Vec<String> {
    let Some((head, formula)) = line.split_once(" = ") else { return Vec::new() };
    let mut pairs = Vec::new();
    let mut open = Vec::new();
    for (place, c) in formula.char_indices() {
        match c {
            '(' => open.push(place),
            ')' => pairs.extend(open.pop().map(|start| (start, place + 1))),
            _ => {}
        }
    }
    let mut all = Vec::new();
    for &(start, end) in &pairs {
        for &(inner_start, inner_end) in pairs.iter().filter(|(s, e)| start < *s && *e < end) {
            let inner = &formula[inner_start..inner_end];
            all.push(format!("{head} = {}{inner}{}", &formula[..start], &formula[end..]));
        }
    }
    all.sort_by_key(String::len);
    all
}
