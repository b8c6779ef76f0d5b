//! On small systems that combine `assume`, `terminal`, ranges, deadlocks, undefined operations, `next` in atoms, chances of probability 0, ties and initial sets that are no box, verdicts
//! are those of a plain enumeration, which shares no code with the engine but the translation of formulas into automata.

use std::collections::HashSet;

use certus_automata::automaton::Automaton;
use certus_automata::system::Truths;
use certus_automata::{formula, parse, translate};
use certus_grid::{Options, check};
use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_model::Verdict;
use certus_numerics::Random;
use certus_solver::Budget;

/// A system over cells 0, 1, …: `x` is always one of them.
#[derive(Clone, Debug)]
struct Cells {
    count: usize,
    initial: Vec<usize>,
    /// For each label of chance and each cell the successor; one of `count + 2` is out of the range.
    next: [Vec<usize>; 2],
    /// Whether the second label has probability 0.
    never_second: bool,
    /// Cells and labels that `assume` forbids.
    forbidden: Vec<(usize, usize)>,
    /// A cell that `assume next(x)` forbids as a successor.
    forbidden_next: Option<usize>,
    /// Whether `assume u > 0.5` is there.
    input: bool,
    terminal: Vec<usize>,
    /// A cell in which the successor divides by zero.
    undefined: Option<usize>,
}

/// Atoms of formulas: P and Q are each one of these.
const ATOMS: [Atom; 6] = [Atom::Low, Atom::Odd, Atom::FirstLabel, Atom::HighNext, Atom::Left, Atom::LargeInput];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Atom {
    Low,
    Odd,
    FirstLabel,
    HighNext,
    /// A tie below cell 2, where the first label is chosen.
    Left,
    LargeInput,
}

impl Atom {
    fn text(self) -> &'static str {
        match self {
            Atom::Low => "(x < 1.5)",
            Atom::Odd => "(abs(x - 1) < 0.3 | abs(x - 3) < 0.3)",
            Atom::FirstLabel => "(c == one)",
            Atom::HighNext => "(next(x) > 1.5)",
            Atom::Left => "(a == left)",
            Atom::LargeInput => "(u > 0.4)",
        }
    }

    fn reads_choice(self) -> bool {
        matches!(self, Atom::FirstLabel | Atom::LargeInput)
    }
}

const FORMULAS: &[&str] = &[
    "G P",
    "F P",
    "G (P -> F Q)",
    "F G P",
    "G F P",
    "P U Q",
    "P W Q",
    "X X Q",
    "F[0,3] P",
    "G[1,2] P",
    "G (P -> X Q)",
    "F (P & X Q)",
    "(G F P) -> (G F Q)",
    "X P",
];

/// One choice in a cell: the label, and whether the input is above the middle.
type Choice = (usize, bool);

impl Cells {
    fn random(random: &mut Random) -> Cells {
        let mut below = |count: usize| (random.bits() % count as u64) as usize;
        let count = 2 + below(4);
        let mut successor = |_: usize| match below(9) {
            0 => count + 2,
            _ => below(count),
        };
        let next = [(0..count).map(&mut successor).collect(), (0..count).map(&mut successor).collect()];
        let mut initial = vec![below(count)];
        if below(3) == 0 {
            initial.push(below(count));
        }
        let forbidden = (0..below(3)).map(|_| (below(count), below(2))).collect();
        Cells {
            never_second: below(6) == 0,
            forbidden,
            forbidden_next: (below(4) == 0).then(|| below(count)),
            input: below(2) == 0,
            terminal: (0..below(2)).map(|_| below(count)).collect(),
            undefined: (below(5) == 0).then(|| below(count)),
            count,
            initial,
            next,
        }
    }

    fn text(&self, formula: &str, atoms: [Atom; 2]) -> String {
        let lookup = |table: &[usize]| {
            let last = table[self.count - 1].to_string();
            (0..self.count - 1)
                .rev()
                .fold(last, |rest, cell| format!("if x < {cell}.5 then {} else ({rest})", table[cell]))
        };
        let near = |cell: &usize| format!("abs(x - {cell}) < 0.3");
        let initial: Vec<String> = self.initial.iter().map(|cell| format!("x == {cell}")).collect();
        let chances = if self.never_second { "{ one: 1, other: 0 }" } else { "{ one: 0.5, other: 0.5 }" };
        let undefined = self.undefined.map_or(String::new(), |cell| format!(" + 0 * (1 / (x - {cell}))"));
        let mut text = format!(
            "system cells\nstate x in [0, {}]\ninput u in [0, 1]\nchance c of {chances}\naction a = argmax([1, if x < 1.5 then 1 else x]) of {{ left, right }}\n\
             next x = (match c {{ one: ({}), other: ({}) }}){undefined}\ninit {}\n",
            self.count,
            lookup(&self.next[0]),
            lookup(&self.next[1]),
            initial.join(" | "),
        );
        for (cell, label) in &self.forbidden {
            text += &format!("assume !({} & c == {})\n", near(cell), ["one", "other"][*label]);
        }
        if let Some(cell) = self.forbidden_next {
            text += &format!("assume !(abs(next(x) - {cell}) < 0.3)\n");
        }
        if self.input {
            text += "assume u > 0.5\n";
        }
        if !self.terminal.is_empty() {
            let terminal: Vec<String> = self.terminal.iter().map(near).collect();
            text += &format!("terminal {}\n", terminal.join(" | "));
        }
        let formula = formula.replace('P', atoms[0].text()).replace('Q', atoms[1].text());
        text + &format!("property wish = {formula}\n")
    }

    fn is_terminal(&self, cell: usize) -> bool {
        self.terminal.contains(&cell)
    }

    fn successor(&self, cell: usize, label: usize) -> usize {
        if self.is_terminal(cell) { cell } else { self.next[label][cell] }
    }

    fn is_allowed(&self, cell: usize, (label, high): Choice) -> bool {
        !self.forbidden.contains(&(cell, label))
            && (self.is_terminal(cell) || self.forbidden_next != Some(self.successor(cell, label)))
            && (!self.input || high)
    }

    /// Choices that chance and the environment have, allowed or not.
    fn choices(&self) -> Vec<Choice> {
        let labels = if self.never_second { 0..1 } else { 0..2 };
        labels.flat_map(|label| [(label, false), (label, true)]).collect()
    }

    fn atom(&self, atom: Atom, cell: usize, (label, high): Choice) -> bool {
        match atom {
            Atom::Low => cell < 2,
            Atom::Odd => cell % 2 == 1 && cell < 4,
            Atom::FirstLabel => label == 0,
            Atom::HighNext => self.successor(cell, label) > 1,
            Atom::Left => cell < 2,
            // Inputs between the two numbers are low and still satisfy it.
            Atom::LargeInput => high,
        }
    }
}

/// What may be said.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    violated: bool,
    error: bool,
}

struct Automata {
    violations: Automaton,
    satisfactions: Automaton,
}

fn automata(text: &str, atoms: [Atom; 2]) -> Automata {
    // What is the same atom has the same truth.
    let second = if atoms[0] == atoms[1] { "p" } else { "q" };
    let make = |negated: bool| {
        let (mut store, mut names) = (formula::Formulas::new(), formula::Names(vec!["p".to_owned(), "q".to_owned()]));
        let wish = parse::parse(&text.replace('P', "p").replace('Q', second), &mut store, &mut names).unwrap();
        let own = if negated { store.not(wish) } else { wish };
        translate::translate(&mut store, own, &names, &translate::Options::default()).unwrap()
    };
    Automata { violations: make(true), satisfactions: make(false) }
}

fn after(automaton: &Automaton, states: &[u32], letter: Truths) -> Vec<u32> {
    let edges = states.iter().flat_map(|&state| &automaton.edges[state as usize]);
    let mut next: Vec<u32> = edges.filter(|edge| letter.may_satisfy(&edge.label)).map(|edge| edge.target).collect();
    next.sort_unstable();
    next.dedup();
    next
}

/// Everything that can happen, one state and set of automaton states after the other.
fn enumerate(cells: &Cells, formula: &str, atoms: [Atom; 2]) -> Truth {
    let own = automata(formula, atoms);
    let mut truth = Truth::default();
    // The letter of a position; atoms that are not wanted have no value.
    let letter = |cell: usize, choice: Choice, has_value: &dyn Fn(Atom) -> bool| {
        let mut letter = Truths::default();
        for (place, &atom) in atoms.iter().enumerate().filter(|(_, atom)| has_value(**atom)) {
            if cells.atom(atom, cell, choice) { letter.yes |= 1 << place } else { letter.no |= 1 << place }
        }
        letter
    };
    let mut seen = HashSet::new();
    let mut pending: Vec<(usize, Vec<u32>, Vec<u32>)> = cells
        .initial
        .iter()
        .map(|&cell| (cell, own.violations.initial.clone(), own.satisfactions.initial.clone()))
        .collect();
    while let Some(node) = pending.pop() {
        if !seen.insert(node.clone()) {
            continue;
        }
        let (cell, bad, good) = node;
        if bad.is_empty() || good.is_empty() {
            // A property that no run can violate, or satisfy, from the start.
            truth.violated |= good.is_empty();
            continue;
        }
        let mut ends = |letter: Truths, is_error: bool| {
            let (bad, good) = (after(&own.violations, &bad, letter), after(&own.satisfactions, &good, letter));
            truth.violated |= good.is_empty();
            truth.error |= is_error && !bad.is_empty() && !good.is_empty();
            (bad, good)
        };
        let allowed: Vec<Choice> =
            cells.choices().into_iter().filter(|&choice| cells.is_allowed(cell, choice)).collect();
        let is_undefined = cells.undefined == Some(cell) && !cells.is_terminal(cell);
        // An `assume` that mentions the successor evaluates it for every choice.
        if is_undefined && cells.forbidden_next.is_some() {
            for choice in cells.choices() {
                ends(letter(cell, choice, &|atom| atom != Atom::HighNext), true);
            }
            continue;
        }
        if allowed.is_empty() {
            let own = letter(cell, (0, false), &|atom| !atom.reads_choice() && atom != Atom::HighNext);
            ends(own, !cells.is_terminal(cell));
        }
        for choice in allowed {
            let next = cells.successor(cell, choice.0);
            if is_undefined || next >= cells.count {
                ends(letter(cell, choice, &|atom| atom != Atom::HighNext), true);
                continue;
            }
            let (bad, good) = ends(letter(cell, choice, &|_| true), false);
            if !bad.is_empty() && !good.is_empty() {
                pending.push((next, bad, good));
            }
        }
    }
    truth.violated |= accepts(cells, &own.violations, atoms);
    truth
}

/// Whether the automaton of violations accepts an infinite run.
fn accepts(cells: &Cells, automaton: &Automaton, atoms: [Atom; 2]) -> bool {
    let states = automaton.states();
    let nodes = cells.count * states;
    let mut edges: Vec<(usize, usize, u64)> = Vec::new();
    for cell in (0..cells.count).filter(|&cell| cells.undefined != Some(cell) || cells.is_terminal(cell)) {
        for choice in cells.choices().into_iter().filter(|&choice| cells.is_allowed(cell, choice)) {
            let next = cells.successor(cell, choice.0);
            let bits =
                atoms.iter().enumerate().map(|(place, &atom)| u64::from(cells.atom(atom, cell, choice)) << place).sum();
            let letter = Truths { yes: bits, no: !bits & 3 };
            for (state, own) in automaton.edges.iter().enumerate().filter(|_| next < cells.count) {
                let own = own.iter().filter(|edge| letter.may_satisfy(&edge.label));
                edges.extend(own.map(|edge| (cell * states + state, next * states + edge.target as usize, edge.marks)));
            }
        }
    }
    let mut reach = vec![vec![false; nodes]; nodes];
    edges.iter().for_each(|&(from, to, _)| reach[from][to] = true);
    for middle in 0..nodes {
        let further = reach[middle].clone();
        for row in reach.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&further).for_each(|(own, further)| *own |= further);
        }
    }
    let full = automaton.full();
    (0..nodes).any(|node| {
        let mut starts = cells
            .initial
            .iter()
            .flat_map(|cell| automaton.initial.iter().map(move |state| cell * states + *state as usize));
        let is_reached = starts.any(|start| start == node || reach[start][node]);
        let inside = edges.iter().filter(|&&(from, to, _)| {
            (from == node || (reach[node][from] && reach[from][node]))
                && (to == node || (reach[node][to] && reach[to][node]))
        });
        is_reached && reach[node][node] && inside.fold(0, |marks, edge| marks | edge.2) & full == full
    })
}

fn compare(cells: &Cells, formula: &str, atoms: [Atom; 2]) -> bool {
    let text = cells.text(formula, atoms);
    let system = match load_str(&text, &mut FileNetworks::new("."), &LowerOptions::default()) {
        Ok(system) => system,
        Err(error) => panic!("{error:?}\n{text}"),
    };
    let options = Options { widths: vec![0.25], most: Some(20_000), ..Options::default() };
    let (outcome, _) = check(&system, &system.properties[0], &options, &Budget::default(), &mut |_| {}).unwrap();
    let truth = enumerate(cells, formula, atoms);
    let agrees = match &outcome.verdict {
        Verdict::Holds(_) => truth == Truth::default(),
        Verdict::Violated(_) => truth.violated,
        Verdict::ModelError(_) => truth.error,
        Verdict::Probability(_) | Verdict::Unknown(_) => true,
    };
    assert!(agrees, "{:?} but {truth:?}\n{text}", outcome.verdict);
    let decided = !matches!(outcome.verdict, Verdict::Unknown(_));
    if !decided && std::env::var_os("CERTUS_SHOW_UNKNOWN").is_some() {
        eprintln!("{truth:?} {:?}\n{text}", outcome.verdict);
    }
    decided
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    const SYSTEMS: u64 = 600;
    let mut decided = 0;
    for seed in 0..SYSTEMS {
        let mut random = Random::new(seed, 19);
        let cells = Cells::random(&mut random);
        let mut pick = |count: usize| (random.bits() % count as u64) as usize;
        let atoms = [ATOMS[pick(ATOMS.len())], ATOMS[pick(ATOMS.len())]];
        decided += u64::from(compare(&cells, FORMULAS[pick(FORMULAS.len())], atoms));
    }
    assert!(decided * 100 >= SYSTEMS * 95, "{decided} of {SYSTEMS} decided");
}
