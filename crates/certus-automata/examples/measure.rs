//! Sizes and times: the formulas of the literature, and emptiness on a system that is made on demand.
//!
//!     cargo run --release -p certus-automata --example measure [states]

use certus_automata::degeneralise::{degeneralise, state_based};
use certus_automata::emptiness::emptiness;
use certus_automata::formula::{Formulas, Names};
use certus_automata::graph::{Outcome, never};
use certus_automata::nested::{Degeneralised, nested_search};
use certus_automata::parse::parse;
use certus_automata::system::{Product, System, Truths};
use certus_automata::translate::{Options, translate};
use std::time::Instant;

const CORPORA: [(&str, &str); 4] = [
    ("dwyer", include_str!("../tests/corpus/dwyer.ltl")),
    ("somenzi-bloem", include_str!("../tests/corpus/somenzi-bloem.ltl")),
    ("etessami-holzmann", include_str!("../tests/corpus/etessami-holzmann.ltl")),
    ("certus", include_str!("../tests/corpus/certus.ltl")),
];

/// A clock of ten phases over scattered places: a step goes on to the next phase at one of three places. Atom 0 (request)
/// holds at some places, atom 1 (grant) in phase 0, atom 2 (rare) at one state in phase 5.
struct Clock(u32);

impl System for Clock {
    type State = u32;
    fn initial(&mut self, states: &mut Vec<u32>) {
        states.push(0);
    }
    fn successors(&mut self, state: &u32, states: &mut Vec<u32>) {
        let (phase, place, places) = (state % 10, u64::from(state / 10), u64::from(self.0 / 10));
        for next in [place + 1, place * 3 + 1, place * 7 + u64::from(phase)] {
            states.push((next % places) as u32 * 10 + (phase + 1) % 10);
        }
    }
    fn truths(&mut self, state: &u32) -> Truths {
        let rare = *state == self.0 / 20 * 10 + 5;
        Truths::known(u64::from(state % 7 == 3) | u64::from(state.is_multiple_of(10)) << 1 | u64::from(rare) << 2)
    }
}

fn main() {
    println!("corpus              formulas | states transitions sets | of negations | one set | on states |   time");
    for (name, corpus) in CORPORA {
        let (mut count, mut totals, start) = (0, [0usize; 8], Instant::now());
        for text in corpus.lines().filter(|line| !line.starts_with('#')) {
            count += 1;
            let (mut store, mut names) = (Formulas::new(), Names::default());
            let Ok(formula) = parse(text, &mut store, &mut names) else { continue };
            let negation = store.not(formula);
            for (i, formula) in [formula, negation].into_iter().enumerate() {
                let Ok(automaton) = translate(&mut store, formula, &names, &Options::default()) else { continue };
                let numbers = [automaton.states(), automaton.transitions(), automaton.sets as usize];
                totals[3 * i..3 * i + 3].iter_mut().zip(numbers).for_each(|(total, number)| *total += number);
                totals[6] += degeneralise(&automaton).states();
                totals[7] += state_based(&automaton).states();
            }
        }
        let (t, time) = (totals, start.elapsed());
        println!(
            "{name:20} {count:7} | {:6} {:11} {:4} | {:4} {:4} {:2} | {:7} | {:9} | {time:6.1?}",
            t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
        );
    }
    let states: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000).max(100);
    println!("\nemptiness with {states} states, sought: a run that satisfies");
    for text in [
        "!G(request -> F grant)",
        "F G !request",
        "G F rare & F G(request -> X !request) & F G !grant",
        "G F rare & G F request & G F grant",
    ] {
        let (mut store, mut names) = (Formulas::new(), Names(vec!["request".into(), "grant".into(), "rare".into()]));
        let Ok(formula) = parse(text, &mut store, &mut names) else { continue };
        let Ok(mut automaton) = translate(&mut store, formula, &names, &Options::default()) else { continue };
        let said = |outcome: &Outcome<_>| matches!(outcome, Outcome::Accepting(_));
        let start = Instant::now();
        let mut seen = 0;
        let found = emptiness(&mut Product::new(Clock(states), &mut automaton), &mut |states| {
            seen = states;
            false
        });
        let time = start.elapsed();
        let start = Instant::now();
        let nested = nested_search(&mut Degeneralised(Product::new(Clock(states), &mut automaton)), &mut never);
        let nested_time = start.elapsed();
        let found_both = (said(&found), matches!(nested, Outcome::Accepting(_)));
        let (short, long) = (found.lasso(), nested.lasso());
        let short = short.map_or("none".into(), |l| format!("{}+{}", l.prefix.len(), l.cycle.len()));
        let long = long.map_or("none".into(), |l| format!("{}+{}", l.prefix.len(), l.cycle.len()));
        println!(
            "  {text}: components {time:.1?} (about {seen} product states, run {short}), nested {nested_time:.1?} (run {long})"
        );
        assert_eq!(found_both.0, found_both.1);
    }
}
