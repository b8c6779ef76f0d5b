//! The smallest deterministic automaton, where the property is an obligation.
//!
//! Safety, guarantee and their Boolean combinations, the *obligations*, have deterministic automata whose components accept
//! all or none of their cycles (weak ones), and among these a smallest, found like that of a finite automaton (Löding,
//! "Efficient Minimization of Deterministic Weak ω-Automata", Information Processing Letters 79, 2001). Most specifications are obligations, so this is worth trying first (Dax, Eisinger and
//! Klaedtke, "Mechanizing the Powerset Construction for Restricted Classes of ω-Automata", ATVA 2007):
//!
//! 1. determinise by subsets, with the letters of the atoms that occur;
//! 2. in each component of the result take one cycle and ask the given automaton whether its repetition is accepted: if the
//!    property is an obligation, all other cycles of the component agree;
//! 3. colour components from the last to the first with the largest number that is at most that of every component they
//!    lead to, even for accepting and odd for others, any for transient ones; merge states as in a finite automaton in
//!    which even states are final;
//! 4. check the guess of step 2: the result must share no word with the negation's automaton, and its complement (swap
//!    final states) none with the given one. Only then is it returned, so a wrong guess costs time and nothing else.

use crate::automaton::{Automaton, Edge, Marks};
use crate::components::Components;
use crate::emptiness::emptiness;
use crate::graph::{Graph, never};
use crate::intern::Interner;
use crate::label::{Cube, Label};
use crate::system::accepts;
use crate::word::Word;
use std::collections::{HashMap, VecDeque};

/// Beyond these sizes it is not tried.
const MOST_ATOMS: u32 = 8;
const MOST_STATES: usize = 60;
const MOST_SUBSETS: usize = 500;

/// A complete deterministic automaton over few letters.
struct Table {
    letters: Vec<u64>,
    support: u64,
    /// The successor for each state and letter.
    next: Vec<u32>,
    accepting: Vec<bool>,
}

impl Table {
    fn states(&self) -> usize {
        self.accepting.len()
    }

    fn row(&self, state: usize) -> &[u32] {
        &self.next[state * self.letters.len()..][..self.letters.len()]
    }

    /// As an automaton whose accepting states are those with this value of `accepting`.
    fn automaton(&self, like: &Automaton, value: bool) -> Automaton {
        let mut result =
            Automaton { name: like.name.clone(), atoms: like.atoms.clone(), sets: 1, ..Default::default() };
        result.initial = vec![0];
        for state in 0..self.states() {
            let mut edges: Vec<Edge> = Vec::new();
            for (letter, target) in self.letters.iter().zip(self.row(state)) {
                let cube = Cube { yes: *letter, no: self.support & !letter };
                match edges.iter_mut().find(|edge| edge.target == *target) {
                    Some(edge) => edge.label.0.push(cube),
                    None => edges.push(Edge {
                        target: *target,
                        marks: Marks::from(self.accepting[state] == value),
                        label: Label(vec![cube]),
                    }),
                }
            }
            result.edges.push(edges);
        }
        result.gather();
        result
    }

    /// The components, by way of an automaton without labels.
    fn components(&self) -> Components {
        let mut skeleton = Automaton::default();
        for state in 0..self.states() {
            let mut targets = self.row(state).to_vec();
            targets.sort_unstable();
            targets.dedup();
            skeleton
                .edges
                .push(targets.into_iter().map(|target| Edge { target, marks: 0, label: Label::default() }).collect());
        }
        Components::new(&skeleton)
    }
}

/// The smallest weak deterministic automaton of the language, if it has one and is small enough to try. `negation` is an
/// automaton of the complement.
pub fn minimal_obligation(automaton: &Automaton, negation: &Automaton) -> Option<Automaton> {
    let (mut table, subsets) = subsets(automaton)?;
    let components = table.components();
    let count = components.transient.len();
    let mut accepting = vec![false; count];
    for (component, verdict) in accepting.iter_mut().enumerate() {
        if components.transient[component] {
            continue;
        }
        let (start, cycle) = some_cycle(&table, &components, component as u32)?;
        let mut from_here = automaton.clone();
        from_here.initial = subsets[start].to_vec();
        *verdict = accepts(&from_here, &Word::new(&[], &cycle)?);
    }
    // Components are numbered from the last to the first: all that a component leads to is coloured before it.
    let top = 2 * (count as u32 + 1);
    let mut lowest = vec![top; count];
    let mut states: Vec<usize> = (0..table.states()).collect();
    states.sort_by_key(|state| components.of[*state]);
    let mut colour = vec![0; count];
    for group in states.chunk_by(|a, b| components.of[*a] == components.of[*b]) {
        let own = components.of[group[0]] as usize;
        for target in group.iter().flat_map(|state| table.row(*state)) {
            let other = components.of[*target as usize] as usize;
            if other != own {
                lowest[own] = lowest[own].min(colour[other]);
            }
        }
        let odd = u32::from(!accepting[own]);
        let wrong = !components.transient[own] && lowest[own] % 2 != odd;
        colour[own] = lowest[own] - u32::from(wrong);
    }
    for state in 0..table.states() {
        table.accepting[state] = colour[components.of[state] as usize].is_multiple_of(2);
    }
    let table = merged(&table);
    let result = table.automaton(automaton, true);
    let complement = table.automaton(automaton, false);
    (disjoint(&result, negation) && disjoint(&complement, automaton)).then_some(result)
}

/// The subset construction, with the empty subset among the states.
fn subsets(automaton: &Automaton) -> Option<(Table, Vec<Box<[u32]>>)> {
    let support = automaton.edges.iter().flatten().flat_map(|e| &e.label.0).fold(0, |all, c| all | c.yes | c.no);
    if automaton.states() > MOST_STATES || support.count_ones() > MOST_ATOMS {
        return None;
    }
    // All letters over the atoms that occur: the subsets of their bits.
    let mut letters = vec![0];
    let mut letter = 0u64;
    while letter != support {
        letter = (letter.wrapping_sub(support)) & support;
        letters.push(letter);
    }
    // For each letter, where each state goes.
    let reads: Vec<Vec<Vec<u32>>> = letters
        .iter()
        .map(|letter| {
            let on = |edges: &Vec<Edge>| edges.iter().filter(|e| e.label.contains(*letter)).map(|e| e.target).collect();
            automaton.edges.iter().map(on).collect()
        })
        .collect();
    let mut sets: Interner<Box<[u32]>> = Interner::default();
    let mut next = Vec::new();
    sets.insert(automaton.initial.clone().into());
    let mut state = 0;
    while state < sets.len() {
        let set = sets.get(state as u32).clone();
        for read in &reads {
            let mut to: Vec<u32> = set.iter().flat_map(|q| &read[*q as usize]).copied().collect();
            to.sort_unstable();
            to.dedup();
            next.push(sets.insert(to.into()).0);
        }
        if sets.len() > MOST_SUBSETS {
            return None;
        }
        state += 1;
    }
    let accepting = vec![false; sets.len()];
    Some((Table { letters, support, next, accepting }, sets.values().to_vec()))
}

/// A state of a component and letters that lead from it back to it.
fn some_cycle(table: &Table, components: &Components, component: u32) -> Option<(usize, Vec<u64>)> {
    let start = components.of.iter().position(|of| *of == component)?;
    let mut before: HashMap<usize, (usize, u64)> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        for (letter, target) in table.letters.iter().zip(table.row(state)) {
            let target = *target as usize;
            if target == start {
                let (mut letters, mut at) = (vec![*letter], state);
                while at != start {
                    let (previous, letter) = before[&at];
                    letters.push(letter);
                    at = previous;
                }
                letters.reverse();
                return Some((start, letters));
            }
            if components.of[target] == component && !before.contains_key(&target) {
                before.insert(target, (state, *letter));
                queue.push_back(target);
            }
        }
    }
    None
}

/// Moore's partition refinement. The initial state stays the first.
fn merged(table: &Table) -> Table {
    let mut class: Vec<u32> =
        table.accepting.iter().map(|accepting| u32::from(*accepting != table.accepting[0])).collect();
    let mut count = 0;
    loop {
        let mut signatures: Interner<(u32, Vec<u32>)> = Interner::default();
        let signature = |state: usize| (class[state], table.row(state).iter().map(|t| class[*t as usize]).collect());
        let finer: Vec<u32> = (0..table.states()).map(|state| signatures.insert(signature(state)).0).collect();
        class = finer;
        if signatures.len() == count {
            break;
        }
        count = signatures.len();
    }
    let mut result =
        Table { letters: table.letters.clone(), support: table.support, next: Vec::new(), accepting: Vec::new() };
    for number in 0..count as u32 {
        // Every class has a member.
        let state = class.iter().position(|of| *of == number).unwrap_or(0);
        result.next.extend(table.row(state).iter().map(|target| class[*target as usize]));
        result.accepting.push(table.accepting[state]);
    }
    result
}

/// Two automata side by side, reading the same word.
struct Pair<'a>(&'a Automaton, &'a Automaton);

impl Graph for Pair<'_> {
    type State = (u32, u32);
    fn sets(&self) -> u32 {
        self.0.sets + self.1.sets
    }
    fn initial(&mut self, states: &mut Vec<(u32, u32)>) {
        states.extend(self.0.initial.iter().flat_map(|a| self.1.initial.iter().map(|b| (*a, *b))));
    }
    fn successors(&mut self, (a, b): &(u32, u32), steps: &mut Vec<((u32, u32), Marks)>) {
        for left in &self.0.edges[*a as usize] {
            for right in self.1.edges[*b as usize].iter().filter(|right| !right.label.disjoint(&left.label)) {
                steps.push(((left.target, right.target), left.marks | right.marks << self.0.sets));
            }
        }
    }
}

/// Whether no word is accepted by both automata. With more than 63 sets in all it answers no.
pub fn disjoint(a: &Automaton, b: &Automaton) -> bool {
    a.sets + b.sets < 64 && emptiness(&mut Pair(a, b), &mut never).is_empty()
}
