//! Faults put into valid certificates, one at a time.
//!
//! A changed certificate may still be a proof of the question it was made for, so it is tried on a question that
//! differs from it by a little and *has* an answer: there, no certificate whatsoever may be accepted.

use crate::support::questions::{half_magnitude, half_magnitude_tree, many_kinds, square, too_large, too_large_tree};
use crate::support::{atom, audit, certificate, halving_tree};
use certus_audit::Problem;

/// Where the numbers of a text are.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let sign = usize::from(bytes[at] == b'-' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
        if bytes[at + sign].is_ascii_digit() {
            at += sign;
            while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'.') {
                // "n3.0:" is a node and an element; "0.5" after a colon or blank is one number.
                let is_place = bytes[at] == b'.' && matches!(bytes[start.max(1) - 1], b'n' | b't');
                if is_place {
                    break;
                }
                at += 1;
            }
            found.push(start..at);
        } else {
            at += 1;
        }
    }
    found
}

/// What a number may be changed to.
fn changed(number: &str) -> Vec<String> {
    let value: f64 = number.parse().unwrap();
    let values = [-value, value + 1.0, value - 1.0, value * 1.5, value / 2.0, 0.0, 1e300, 1e-300, f64::NAN];
    let written = |v: f64| if number.contains('.') { format!("{v:?}") } else { format!("{v}") };
    values.into_iter().map(written).chain(["inf".into(), "".into(), "x".into()]).filter(|new| new != number).collect()
}

/// Every certificate that differs from this one in one number, or by a line dropped, repeated or swapped with another.
fn mutants(text: &str) -> Vec<String> {
    let mut mutants = Vec::new();
    let body = text.find("case").unwrap();
    for place in numbers(text).into_iter().filter(|place| place.start > body) {
        for new in changed(&text[place.clone()]) {
            mutants.push(format!("{}{new}{}", &text[..place.start], &text[place.end..]));
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: Vec<&str>| lines.join("\n") + "\n";
    for i in 0..lines.len() {
        mutants.push(join([&lines[..i], &lines[i + 1..]].concat()));
        mutants.push(join([&lines[..=i], &lines[i..]].concat()));
        for j in i + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(i, j);
            if swapped != lines {
                mutants.push(join(swapped));
            }
        }
    }
    mutants
}

/// Accepts the certificate for the impossible question, and none of its mutants for the possible one.
fn try_mutants(impossible: &Problem<'_>, possible: &Problem<'_>, tree: &str) {
    let text = certificate(tree);
    audit(impossible, &text).unwrap();
    audit(possible, &text).unwrap_err();
    let mutants = mutants(&text);
    assert!(mutants.len() > 100);
    for mutant in &mutants {
        assert!(audit(possible, mutant).is_err(), "accepted for a question that has an answer:\n{mutant}");
    }
    let refused = mutants.iter().filter(|mutant| audit(impossible, mutant).is_err()).count();
    assert!(refused * 2 > mutants.len(), "only {refused} of {} faults were seen", mutants.len());
}

#[test]
fn node_splits_with_multipliers() {
    let graph = half_magnitude();
    let tree = half_magnitude_tree(&graph);
    // The magnitude is 0 on a whole line.
    try_mutants(&square(&graph, atom(&[1.0], 0.001)), &square(&graph, atom(&[1.0], -0.001)), &tree);
}

#[test]
fn input_splits() {
    let graph = half_magnitude();
    let tree = halving_tree(&[-1.0; 2], &[1.0; 2], 3, "refine\nclose a0:1.0");
    try_mutants(&square(&graph, atom(&[1.0], 0.51)), &square(&graph, atom(&[1.0], -0.001)), &tree);
}

#[test]
fn disjunctions_leans_and_new_bounds() {
    let graph = many_kinds();
    let tree = too_large_tree(&graph);
    // tanh(1) = 0.76159…, so the first can reach 0.50695 and the second 0.88079.
    let impossible = square(&graph, too_large(0.52, 0.89));
    try_mutants(&impossible, &square(&graph, too_large(0.5069, 0.89)), &tree);
    try_mutants(&impossible, &square(&graph, too_large(0.52, 0.8807)), &tree);
}

#[test]
fn a_line_that_is_missing_or_there_twice_is_always_seen() {
    let graph = half_magnitude();
    let text = certificate(&half_magnitude_tree(&graph));
    let problem = square(&graph, atom(&[1.0], 0.001));
    let lines: Vec<&str> = text.lines().collect();
    for i in 0..lines.len() {
        let without = [&lines[..i], &lines[i + 1..]].concat().join("\n");
        let twice = [&lines[..=i], &lines[i..]].concat().join("\n");
        assert!(audit(&problem, &without).is_err(), "{without}");
        assert!(audit(&problem, &twice).is_err(), "{twice}");
    }
}
