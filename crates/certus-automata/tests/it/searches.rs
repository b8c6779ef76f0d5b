//! Both searches and brute force agree on random systems, and what they show is a run.

use certus_automata::automaton::{Automaton, Tgba};
use certus_automata::degeneralise::{degeneralise, state_based};
use certus_automata::emptiness::emptiness;
use certus_automata::explicit::Explicit;
use certus_automata::formula::{Formulas, Names};
use certus_automata::graph::{Graph, Lasso, Outcome, is_accepting, never};
use certus_automata::nested::{Degeneralised, nested_search};
use certus_automata::normal::normal;
use certus_automata::system::{Product, Truths, is_certain, system_run};
use certus_automata::tableau::Tableau;
use certus_automata::translate::{Options, translate};
use certus_automata::word::{Word, eval_lasso};
use proptest::prelude::*;

/// A random graph with acceptance sets: an automaton whose labels nobody reads.
fn graph() -> impl Strategy<Value = Automaton> {
    (1usize..9, 0u32..4).prop_flat_map(|(n, sets)| {
        let edge = (0..n as u32, 0u64..8).prop_map(move |(target, marks)| {
            let marks = marks & certus_automata::automaton::all_marks(sets);
            certus_automata::automaton::Edge { target, marks, label: certus_automata::label::Label::all() }
        });
        let edges = prop::collection::vec(prop::collection::vec(edge, 0..3), n);
        edges.prop_map(move |edges| Automaton { sets, initial: vec![0], edges, ..Default::default() })
    })
}

/// The shortest accepting lasso by looking at all states with the marks since each start.
fn shortest(graph: &mut Automaton) -> Option<usize> {
    let full = graph.full();
    let n = graph.states();
    let mut distance = vec![usize::MAX; n];
    distance[0] = 0;
    for _ in 0..n {
        for q in 0..n {
            for edge in &graph.edges[q] {
                let next = distance[q].saturating_add(1);
                distance[edge.target as usize] = distance[edge.target as usize].min(next);
            }
        }
    }
    let mut best = None;
    for start in (0..n).filter(|q| distance[*q] != usize::MAX) {
        let mut layer = std::collections::HashSet::from([(start as u32, 0)]);
        for length in 1..=n * 16 {
            layer = layer
                .iter()
                .flat_map(|(q, marks)| graph.edges[*q as usize].iter().map(move |e| (e.target, marks | e.marks)))
                .collect();
            if layer.contains(&(start as u32, full)) {
                best = Some(best.map_or(usize::MAX, |b| b).min(distance[start] + length));
                break;
            }
        }
    }
    best
}

fn system() -> impl Strategy<Value = Explicit> {
    (1u32..7).prop_flat_map(|n| {
        let state = (0u64..4, 0u64..16, prop::collection::vec(0..n, 0..3));
        prop::collection::vec(state, n as usize).prop_map(|states| {
            let mut system = Explicit::new(vec!["a".into(), "x > \"0\"".into()]);
            system.initial.push(0);
            for (letter, unknown, targets) in states {
                let known = Truths::known(letter);
                // One in four atoms is not known.
                let mask = if unknown < 4 { 1u64 << (unknown & 1) } else { 0 };
                system.push(Truths { yes: known.yes & !mask, no: known.no & !mask }, &targets);
            }
            system
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn searches_agree(mut graph in graph()) {
        let best = shortest(&mut graph);
        let found = emptiness(&mut graph, &mut never);
        prop_assert_eq!(found.is_empty(), best.is_none());
        if let Some(lasso) = found.lasso() {
            prop_assert!(is_accepting(&mut graph, &lasso));
            prop_assert!(lasso.prefix.len() + lasso.cycle.len() >= best.unwrap());
        }
        let mut single = Degeneralised(graph.clone());
        let nested = nested_search(&mut single, &mut never);
        prop_assert_eq!(nested.is_empty(), best.is_none());
        if let Some(lasso) = nested.lasso() {
            prop_assert!(is_accepting(&mut single, &lasso));
        }
        for other in [degeneralise(&graph), state_based(&graph)] {
            prop_assert_eq!(emptiness(&mut other.clone(), &mut never).is_empty(), best.is_none());
        }
    }

    #[test]
    fn runs_of_systems_satisfy_what_was_sought(tree in crate::common::trees(2, 8), mut system in system()) {
        let mut store = Formulas::new();
        let formula = tree.build(&mut store);
        let options = Options { most_states: 300, most_transitions: 5000, ..Options::default() };
        let Ok(mut automaton) = translate(&mut store, formula, &Names::default(), &options) else { return Ok(()) };
        let found = emptiness(&mut Product::new(&mut system, &mut automaton), &mut never);
        // The automaton made on demand finds the same.
        let core = normal(&mut store, formula, false).unwrap();
        let lazy = emptiness(&mut Product::new(&mut system, Tableau::new(&mut store, core).unwrap()), &mut never);
        prop_assert_eq!(found.is_empty(), lazy.is_empty());
        let nested = nested_search(&mut Degeneralised(Product::new(&mut system, &mut automaton)), &mut never);
        prop_assert_eq!(found.is_empty(), nested.is_empty());
        match found {
            Outcome::Accepting(lasso) => {
                prop_assert!(is_accepting(&mut Product::new(&mut system, &mut automaton), &lasso));
                let run = system_run(&lasso);
                if is_certain(&mut system, &run, 2) {
                    prop_assert!(eval_lasso(&store, formula, &word(&mut system, &run)));
                }
            }
            _ => {
                // No simple lasso of the system, however its unknown atoms are resolved, satisfies the formula.
                for run in lassos(&mut system) {
                    prop_assert!(!eval_lasso(&store, formula, &word(&mut system, &run)), "{:?}", run);
                }
            }
        }
    }

    #[test]
    fn systems_survive_being_written(system in system()) {
        prop_assert_eq!(Explicit::read(&system.write()), Ok(system.clone()));
        prop_assert!(certus_automata::dot::system_dot(&system).contains("digraph"));
    }

    #[test]
    fn reading_systems_never_panics(text in "(system 1\natoms a\ninitial 0\n)?(state|[0-9a-c?\" >#\n-]| -> ){0,30}") {
        let _ = Explicit::read(&text);
    }
}

/// The word of a run, unknown atoms read as false.
fn word(system: &mut Explicit, run: &Lasso<u32>) -> Word {
    use certus_automata::system::System;
    let mut letters = |states: &[u32]| states.iter().map(|s| system.truths(s).yes).collect::<Vec<_>>();
    Word::new(&letters(&run.prefix), &letters(&run.cycle)).unwrap()
}

/// All lassos that visit no state twice.
fn lassos(system: &mut Explicit) -> Vec<Lasso<u32>> {
    let (mut found, mut stack) = (Vec::new(), vec![vec![0u32]]);
    while let Some(path) = stack.pop() {
        for &target in system.targets(path[path.len() - 1]) {
            match path.iter().position(|state| *state == target) {
                Some(at) => found.push(Lasso { prefix: path[..at].to_vec(), cycle: path[at..].to_vec() }),
                None => stack.push([path.as_slice(), &[target]].concat()),
            }
        }
    }
    found
}

/// A ring of states, one of them special.
struct Ring(u32);

impl Graph for Ring {
    type State = u32;
    fn sets(&self) -> u32 {
        1
    }
    fn initial(&mut self, states: &mut Vec<u32>) {
        states.push(0);
    }
    fn successors(&mut self, state: &u32, steps: &mut Vec<(u32, u64)>) {
        steps.push(((state + 1) % self.0, u64::from(*state == 7)));
    }
}

#[test]
fn long_paths_need_no_stack_and_searches_can_be_stopped() {
    let lasso = emptiness(&mut Ring(200_000), &mut never).lasso().unwrap();
    assert_eq!((lasso.prefix.len(), lasso.cycle.len()), (0, 200_000));
    assert!(nested_search(&mut Ring(200_000), &mut never).lasso().is_some());
    assert_eq!(emptiness(&mut Ring(200_000), &mut |seen| seen > 5000), Outcome::Stopped);
    assert_eq!(nested_search(&mut Ring(200_000), &mut |seen| seen > 5000), Outcome::Stopped);
}

#[test]
fn mistakes_in_systems_have_places() {
    let wrong = |text: &str| Explicit::read(text).unwrap_err().to_string();
    assert_eq!(wrong(""), "at 0: expected 'system 1', 'atoms' and 'initial'");
    assert_eq!(wrong("system 2"), "at 0: expected 'system 1'");
    assert_eq!(wrong("system 1\natoms a\ninitial 0\nstate 1 -> 0"), "at 33: expected state 0");
    assert_eq!(wrong("system 1\natoms a\ninitial 0\nstate 0 b -> 0"), "at 35: no atom is called b");
    assert_eq!(wrong("system 1\natoms a\ninitial 0\nstate 0 a -> 1"), "at 40: this state is not defined");
    assert_eq!(wrong("system 1\natoms \"a\ninitial 0"), "at 15: this quotation mark is never closed");
}

#[test]
fn an_automaton_is_read_through_the_trait() {
    let mut automaton = Automaton { initial: vec![0], edges: vec![vec![]], ..Default::default() };
    assert!(Tgba::edges(&mut automaton, 0).is_empty() && Tgba::sets(&automaton) == 0);
}
