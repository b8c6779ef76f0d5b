//! Shields as text, for readers.

use certus_audit::shield::{Invariant, Monomial, Shield};

/// The polynomial of an action, for readers: terms from the highest to the constant.
pub fn shown(terms: &[(f64, Monomial)], states: &[String]) -> String {
    let mut ordered: Vec<&(f64, Monomial)> = terms.iter().collect();
    ordered.sort_by(|(_, a), (_, b)| {
        let total = |m: &Monomial| m.iter().map(|&e| u32::from(e)).sum::<u32>();
        total(b).cmp(&total(a)).then(b.cmp(a))
    });
    let mut text = String::new();
    for (coefficient, monomial) in ordered {
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let factors: Vec<String> = monomial
            .iter()
            .zip(states)
            .filter(|(e, _)| **e > 0)
            .map(|(&e, name)| if e == 1 { name.clone() } else { format!("{name}^{e}") })
            .collect();
        let size = coefficient.abs();
        text += sign;
        text += &match factors.is_empty() {
            true => format!("{size}"),
            false if size == 1.0 => factors.join(" * "),
            false => format!("{size} * {}", factors.join(" * ")),
        };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The whole program, for readers.
pub fn program_text(shield: &Shield, states: &[String], policy: &str) -> String {
    let mut text = String::new();
    for (index, branch) in shield.branches.iter().enumerate() {
        let condition = match &branch.invariant {
            Invariant::Polynomial(proof) => format!("{} <= 0", shown(&proof.barrier, states)),
            Invariant::Polyhedron(polyhedron) => {
                let rows = polyhedron.halfspaces.iter().map(|h| {
                    let terms: Vec<(f64, Monomial)> = h
                        .normal
                        .iter()
                        .enumerate()
                        .filter(|(_, x)| **x != 0.0)
                        .map(|(i, &x)| {
                            let mut monomial = vec![0; states.len()];
                            monomial[i] = 1;
                            (x, monomial)
                        })
                        .collect();
                    format!("{} <= {}", shown(&terms, states), h.bound)
                });
                rows.collect::<Vec<_>>().join("\n    & ")
            }
        };
        text += &format!("{} {condition}:\n", if index == 0 { "if" } else { "else if" });
        for (action, terms) in branch.program.iter().enumerate() {
            let name = if branch.program.len() == 1 { policy.to_owned() } else { format!("{policy}[{action}]") };
            text += &format!("    {name} = {}\n", shown(terms, states));
        }
    }
    text + "else:\n    fallback\n"
}
