//! Small systems as text, each by its number: every combination of the features that engines have differed about.
//!
//! *Exhaustive:* as the number counts up, every combination of a way to move (ranges left, ties of an arg-max, chances, windows,
//! parameters, networks, undefined operations, flows whose solutions are polynomials), an `assume` (of inputs, successors, chances, networks; deadlocks; strict
//! and not), a `terminal`, a range and initial states comes once before any comes again ([`combinations`]), and the first property runs
//! through all formulas with at most one operator over all atoms. *Random, by the seed:* which combination meets which of
//! these formulas, all other properties (most with at most two operators over two atoms), tables of successors, weights of networks,
//! probabilities, and values of parameters.
//!
//! States are small whole numbers and all numbers are dyadic, so that doubles are exact. Inputs matter through finitely
//! many pieces, and the lattice of inputs meets every piece and every border, so the interpreter decides completely.

use std::fs;
use std::path::{Path, PathBuf};

use certus_numerics::Random;
use certus_reference::{Lattice, Rational, rational};

use crate::formulas;
use crate::networks;
use crate::random::numbers;

/// How `x` moves on, and what that is an example of.
const MOVES: &[(&str, &str)] = &[
    ("x", "still"),
    ("min(x + 1, 3)", "clock"),
    ("x + 1", "range exit"),
    ("x - 1", "range exit"),
    ("3 - x", "cycle"),
    ("if x > 1.5 then 0 else x + 1", "cycle"),
    ("if u > 0.5 then min(x + 1, 3) else 0", "input"),
    ("if u >= 0.5 then max(x - 1, 0) else x", "input"),
    ("if u > 0.5 then x + 1 else x", "range exit, input"),
    ("match c { a: x, b: 3 - x, z: 9 }", "chance"),
    ("match c { a: min(x + 1, 3), b: 0, z: 1 / x }", "chance"),
    ("match act { l: max(x - 1, 0), r: min(x + 1, 3) }", "argmax tie"),
    ("match act { l: x - 1, r: x + 1 }", "argmax tie, range exit"),
    ("w[0]", "window"),
    ("max(w[0], w[1])", "window"),
    ("min(floor(2 / x), 3)", "undefined"),
    ("if x > 0 then min(floor(2 / x), 3) else 2", "undefined lazy"),
    ("if x > 2 then 2 else sqrt(x - 1)", "undefined"),
    ("if x > 1 then 1 else log(x)", "undefined"),
    ("match act { l: x, r: 1 / (x - 1) }", "undefined lazy, argmax tie"),
    ("min(x + k, 3)", "parameter"),
    ("if x >= k then 0 else x + 1", "parameter"),
    ("match pick { l: max(x - 1, 0), r: min(x + 1, 3) }", "network, argmax tie"),
    ("match pick { l: 1 / x, r: x + 1 }", "network, undefined lazy, range exit"),
    ("clamp(y, 0, 3)", "network"),
    ("y", "network, range exit"),
    ("if y > u then min(x + 1, 3) else 0", "network, input"),
    ("TABLE", "table"),
    ("if x > 2 then 0 else x + 0.5", "halves"),
    ("min(x + n, 3)", "integer input"),
    ("x + n", "integer input, range exit"),
    ("if x == n then 0 else n", "integer input"),
    ("match cmd { up: min(x + 1, 3), down: max(x - 1, 0), stay: x }", "label input"),
    ("match m { idle: x, up: min(x + 1, 3), done: 0 }", "labels"),
    ("if m == up | m == done then 3 - x else min(x + 1, 3)", "labels"),
    ("FLOW 2", "exact, range exit"),
    ("FLOW 2 AFTER min(x, 3)", "exact, after"),
    ("FLOW if u > 0.5 then 2 else -2 AFTER clamp(x, 0, 3)", "exact, input, after"),
    ("FLOW match act { l: -2, r: 2 }", "exact, argmax tie, range exit"),
    ("FLOW match c { a: 0, b: 2, z: 9 } AFTER if x > 3 then 0 else x", "exact, chance, after"),
    ("FLOW v AFTER min(x, 3)", "exact, second order, after"),
    ("FLOW 4 - 2 * v AFTER x", "exact, second order"),
];

/// What restricts the transitions.
const ASSUMPTIONS: &[(&str, &str)] = &[
    ("", ""),
    ("", ""),
    ("u > 0.5", "assume input"),
    ("u >= 0.5", "assume input"),
    ("u == 0 | u == 1", "assume input"),
    ("u > 0.5 | x < 2", "assume input"),
    ("next(x) <= 2", "assume next"),
    ("next(x) != x", "assume next, deadlock"),
    ("next(x) >= x", "assume next, deadlock"),
    ("x < 3", "deadlock"),
    ("u > x", "assume input, deadlock"),
    ("1 / u > 1", "assume undefined"),
    ("c == a | x < 2", "assume chance"),
    ("next(x) == x | u < 0.25", "assume next, assume input"),
    ("y >= 0 | u > 0.5", "assume network, assume input, deadlock"),
    ("n > 0 | x < 2", "assume input, integer input"),
    ("n > x", "assume input, integer input, deadlock"),
    ("next(x) in {0, 2, 3}", "assume next, set, deadlock"),
];

/// Where runs end.
const TERMINALS: &[(&str, &str)] = &[
    ("", ""),
    ("", ""),
    ("x >= 3", "terminal"),
    ("x > 1.5 & x < 2.5", "terminal"),
    ("x <= 0", "terminal"),
    ("1 / x < 0.5", "terminal undefined"),
];

/// Where `x` may be.
const RANGES: &[(&str, &str)] = &[
    ("[0, 3]", "range tight"),
    ("[-4, 12]", "range loose"),
    ("[0, 2]", "range tight"),
    ("[-1, 3]", "range loose"),
    ("{0..3}", "integer state, range tight"),
    ("{-4..12}", "integer state, range loose"),
    ("{0, 1, 3}", "integer state, range tight"),
];

/// Where runs begin.
const STARTS: &[(&str, &str)] = &[
    ("x == 0", ""),
    ("x == 1", ""),
    ("x == 0 | x == 2", "init not a box"),
    ("x in [1, 2] & floor(x) == x", "init not a box"),
    ("x == 2", ""),
    ("x in [0, 1] & floor(x) == x", "init not a box"),
    ("x in {0..3}", "init set"),
    ("x in {0, 2}", "init set"),
    ("!(x < 1 | x > 1) | x == 3", "init not a box"),
];

/// What formulas are made of.
const ATOMS: &[(&str, &str)] = &[
    ("x < 2", ""),
    ("x <= 2", ""),
    ("x > 0", ""),
    ("x >= 1", ""),
    ("x == 3", ""),
    ("x != 1", ""),
    ("x < 0.5 | x > 2.5", ""),
    ("x == 0", ""),
    ("next(x) > x", "next in property"),
    ("next(x) <= 2", "next in property"),
    ("x < 2 & next(x) <= 2", "next in property"),
    ("next(x) == x | x == 0", "next in property"),
    ("u > 0.5", "input in property"),
    ("u >= 0.5", "input in property"),
    ("abs(u - 0.5) <= 0.25", "input in property"),
    ("c == a", "chance in property"),
    ("act == l", "argmax tie"),
    ("1 / x > 0.5", "undefined in property"),
    ("x > 0 & 1 / x > 0.5", "undefined in property"),
    ("(if x > 0 then 1 / x else 0) > 0.5", "undefined lazy"),
    ("w[0] < x", "window"),
    ("x >= k", "parameter"),
    ("x > 1", ""),
    ("x in {0, 2}", "set"),
    ("x in {1..3}", "set"),
    ("n > 0", "integer input"),
    ("cmd == up", "label input"),
    ("m == done", "labels"),
    ("m in {idle, up}", "labels, set"),
    ("next(m) != m", "labels, next in property"),
    ("throughout(x < 2.5)", "throughout"),
    ("throughout(x >= 1 & u >= 0)", "throughout, input in property"),
    ("throughout(x != 1.25)", "throughout"),
    ("x < 2 | throughout(x * x <= 4)", "throughout"),
    ("y > 1", "network"),
    ("pick == l", "network, argmax tie"),
];

/// One question: a system with properties, and all that is needed to decide it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file.
    pub text: String,
    /// The names of its properties.
    pub properties: Vec<String>,
    /// `--set`.
    pub settings: Vec<(String, f64)>,
    /// The networks that it applies: their paths as written, and the texts of their files.
    pub networks: Vec<(String, String)>,
    /// What the interpreter tries.
    pub lattice: Lattice,
    /// What it is an example of.
    pub features: Vec<&'static str>,
}

impl Case {
    /// Writes the system and its networks into a folder.
    pub fn write(&self, folder: &Path, name: &str) -> Result<PathBuf, String> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).map(|()| path).map_err(|error| error.to_string())
        };
        for (name, text) in &self.networks {
            write(name, text)?;
        }
        write(name, &self.text)
    }

    /// The same with one of its properties alone.
    pub fn alone(&self, property: &str) -> Case {
        let own = format!("property {property} ");
        let kept = self.text.lines().filter(|line| !line.starts_with("property ") || line.starts_with(&own));
        Case {
            text: kept.map(|line| format!("{line}\n")).collect(),
            properties: vec![property.to_owned()],
            ..self.clone()
        }
    }
}

/// Which systems are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All.
    All,
    /// Those that move by a parameter.
    Parameters,
    /// Those that move by a network.
    Networks,
}

impl Family {
    /// The ways to move on.
    fn moves(self) -> Vec<(&'static str, &'static str)> {
        let wanted = match self {
            Family::All => "",
            Family::Parameters => "parameter",
            Family::Networks => "network",
        };
        MOVES.iter().copied().filter(|(_, feature)| feature.contains(wanted)).collect()
    }

    /// The number of combinations of declarations.
    pub fn combinations(self) -> usize {
        self.moves().len() * ASSUMPTIONS.len() * TERMINALS.len() * RANGES.len() * STARTS.len()
    }
}

/// The number of combinations of declarations.
pub fn combinations() -> usize {
    Family::All.combinations()
}

/// A step through all combinations that meets each once, and every feature soon.
const STRIDE: usize = 9973;

/// Whether a text mentions a name.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

/// The case of a number, with so many properties: all combinations of declarations come once before any comes again,
/// each time with other properties.
pub fn case(seed: u64, number: usize, properties: usize) -> Case {
    case_of(Family::All, seed, number, properties)
}

/// The case of a number in a family.
pub fn case_of(family: Family, seed: u64, number: usize, properties: usize) -> Case {
    let mut rest = number.wrapping_mul(STRIDE) % family.combinations();
    let mut features: Vec<&'static str> = Vec::new();
    let mut pick = |list: &[(&'static str, &'static str)]| {
        let (text, feature) = list[rest % list.len()];
        rest /= list.len();
        features.extend(feature.split(", ").filter(|feature| !feature.is_empty()));
        text
    };
    let (moves, assume, terminal) = (pick(&family.moves()), pick(ASSUMPTIONS), pick(TERMINALS));
    let (range, start) = (pick(RANGES), pick(STARTS));
    let mut random = numbers(seed, number as u64);
    let moves = if moves == "TABLE" { table(&mut random) } else { moves.to_owned() };
    let mut formulas = Vec::new();
    for place in 0..properties {
        if place == 0 {
            // All formulas with at most one operator over all atoms, one after the other.
            let all: Vec<String> = ATOMS.iter().map(|(atom, _)| (*atom).to_owned()).collect();
            let which = number % formulas::up_to(1, all.len());
            let formula = formulas::numbered(which, &all, &mut random);
            let own = ATOMS.iter().filter(|(atom, _)| formula.contains(&format!("({atom})")));
            features.extend(own.flat_map(|(_, feature)| feature.split(", ")).filter(|feature| !feature.is_empty()));
            formulas.push(formula);
            continue;
        }
        // Two different ones: what is true of an atom and itself says little.
        let first = random.below(ATOMS.len());
        let second = (first + 1 + random.below(ATOMS.len() - 1)) % ATOMS.len();
        let chosen = [first, second].map(|place| ATOMS[place]);
        let named = chosen.iter().flat_map(|(_, feature)| feature.split(", "));
        features.extend(named.filter(|feature| !feature.is_empty()));
        let atoms: Vec<String> = chosen.iter().map(|(atom, _)| (*atom).to_owned()).collect();
        // Most properties of users have one operator; one in ten here has more than all are tried of.
        let (one, two) = (formulas::up_to(1, atoms.len()), formulas::up_to(2, atoms.len()));
        let which = match random.below(10) {
            0..=3 => random.below(one),
            4..=8 => random.below(two),
            _ => two,
        };
        formulas.push(formulas::numbered(which, &atoms, &mut random));
    }
    features.sort_unstable();
    features.dedup();
    write(&moves, assume, terminal, range, start, formulas, features, &mut random)
}

/// A table of successors, each of a state or of a state and a choice.
fn table(random: &mut Random) -> String {
    const CHOOSE: [&str; 4] = ["", "if u > 0.5 then", "if u >= 0.25 then", "if c == a then"];
    let mut entry = || {
        let mut number = || [0, 1, 2, 3, 0, 1, 2, 3, -1, 4][random.below(10)].to_string();
        let (first, second) = (number(), number());
        match *random.choose(&CHOOSE) {
            "" => first,
            choose => format!("({choose} {first} else {second})"),
        }
    };
    let (a, b, c, d) = (entry(), entry(), entry(), entry());
    format!("if x < 0.5 then {a} else if x < 1.5 then {b} else if x < 2.5 then {c} else {d}")
}

#[allow(clippy::too_many_arguments)]
fn write(
    moves: &str,
    assume: &str,
    terminal: &str,
    range: &str,
    start: &str,
    formulas: Vec<String>,
    features: Vec<&'static str>,
    random: &mut Random,
) -> Case {
    let all = format!("{moves}\n{assume}\n{terminal}\n{}", formulas.join("\n"));
    let flow = moves.strip_prefix("FLOW ");
    // Integers do not flow.
    let range = if flow.is_some() && range.starts_with('{') { "[-4, 12]" } else { range };
    let mut text = format!("system s\nstate x in {range}\n");
    if flow.is_some() {
        text += "step 0.5 exact\n";
    } else if all.contains("s]") || all.contains("1s ") {
        text += "step 0.5\n";
    }
    // Speed that begins at zero in every step: positions are quadratic in time.
    let second = mentions(moves, "v");
    if second {
        text += "state v in [-4, 12]\nder v = 8\nafter v = 0\ninit v == 0\n";
    }
    let window = mentions(&all, "w");
    if window {
        text += "state w[2] in [-4, 12]\nnext w = shift(w, x)\n";
    }
    if mentions(&all, "u") {
        text += "input u in [0, 1]\n";
    }
    if mentions(&all, "n") {
        text += *random.choose(&["input n in {0..2}\n", "input n in {0, 2, 3}\n"]);
    }
    if mentions(&all, "cmd") {
        text += "input cmd of { up, down, stay }\n";
    }
    let labels = mentions(&all, "m");
    if labels {
        text += "state m of { idle, up, done }\n";
        text += *random.choose(&[
            "next m = if x > 2 then done else (if m == idle then up else m)\n",
            "next m = match m { idle: up, up: if x < 1 then idle else done, done: done }\n",
            "next m = if m in {up, done} then idle else up\n",
        ]);
        text += *random.choose(&[
            "init m == idle\n",
            "init m in {idle, done}\n",
            "init (m == up & x <= 1) | (m == idle & x in {1..3})\n",
            "init m != up\n",
        ]);
    }
    if mentions(&all, "c") {
        text += *random.choose(&["chance c of { a: 0.5, b: 0.5, z: 0 }\n", "chance c of { a: 0.25, b: 0.75, z: 0 }\n"]);
    }
    if mentions(&all, "act") {
        text += *random.choose(&[
            "action act = argmax([x, x]) of { l, r }\n",
            "action act = argmax([1, x]) of { l, r }\n",
            "action act = argmax([x, 2 - x]) of { l, r }\n",
        ]);
    }
    let mut networks = Vec::new();
    if mentions(&all, "y") {
        text += "policy y = net(\"y.nnet\", x)\n";
        networks.push(("y.nnet".to_owned(), networks::random(random, 1)));
    }
    if mentions(&all, "pick") {
        text += "action pick = argmax(net(\"pick.nnet\", x)) of { l, r }\n";
        networks.push(("pick.nnet".to_owned(), networks::random(random, 2)));
    }
    let mut settings = Vec::new();
    if mentions(&all, "k") {
        text += "param k in [0, 2] = 1\n";
        settings.extend([None, Some(0.0), Some(2.0)][random.below(3)].map(|value| ("k".to_owned(), value)));
    }
    text += &match flow.map(|flow| flow.split_once(" AFTER ").unwrap_or((flow, ""))) {
        None => format!("next x = {moves}\n"),
        Some((slope, "")) => format!("der x = {slope}\n"),
        Some((slope, after)) => format!("der x = {slope}\nafter x = {after}\n"),
    };
    for (word, condition) in [("assume", assume), ("terminal", terminal), ("init", start)] {
        if !condition.is_empty() {
            text += &format!("{word} {condition}\n");
        }
    }
    if window {
        text += "init w[0] == 0 & w[1] == 1\n";
    }
    let mut properties = Vec::new();
    for (place, formula) in formulas.iter().enumerate() {
        properties.push(format!("p{place}"));
        text += &format!("property p{place} = {formula}\n");
    }
    let lattice = lattice_of(&text);
    Case { text, properties, settings, networks, lattice, features }
}

/// Eighths for the input `u`, halves for `x`: every piece, and both sides of every border. Integers and labels have all of their values.
pub fn lattice_of(text: &str) -> Lattice {
    let declares = |declaration: &str| text.lines().any(|line| line.starts_with(declaration));
    let numbers = |from: i32, to: i32, parts: i32| -> Vec<Rational> {
        (from * parts..=to * parts).filter_map(|n| rational(f64::from(n) / f64::from(parts))).collect()
    };
    let mut starts = numbers(-4, 12, 2).into_iter().map(|x| vec![x]).collect();
    // In the order of their declarations.
    let own = [("state v", numbers(0, 0, 1)), ("state w", numbers(0, 0, 1)), ("state w", numbers(1, 1, 1))];
    for (_, values) in own.iter().filter(|(declaration, _)| declares(declaration)) {
        starts = with_each(starts, values);
    }
    if declares("state m") {
        starts = with_each(starts, &numbers(0, 2, 1));
    }
    let mut inputs = vec![Vec::new()];
    let own = [("input u", numbers(0, 1, 8)), ("input n", numbers(0, 3, 1)), ("input cmd", numbers(0, 2, 1))];
    for (_, values) in own.iter().filter(|(declaration, _)| declares(declaration)) {
        inputs = with_each(inputs, values);
    }
    Lattice { starts, inputs }
}

/// Each vector with each of some values behind it.
fn with_each(vectors: Vec<Vec<Rational>>, values: &[Rational]) -> Vec<Vec<Rational>> {
    let with = |own: &Vec<Rational>| {
        let own = own.clone();
        values.iter().map(move |value| own.iter().chain([value]).cloned().collect::<Vec<_>>())
    };
    vectors.iter().flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_comes_once() {
        for family in [Family::All, Family::Parameters, Family::Networks] {
            let total = family.combinations();
            let mut seen = vec![false; total];
            (0..total).for_each(|number| seen[number * STRIDE % total] = true);
            assert!(seen.into_iter().all(|seen| seen));
        }
    }
}
