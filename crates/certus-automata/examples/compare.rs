//! Automata of this crate beside those of another tool.
//!
//!     cargo run --release -p certus-automata --example compare [repetitions] < automata
//!
//! Standard input has, again and again, a line `formula φ`, and the other tool's automata of `φ` and of `!φ` as HOA. For each
//! of the two a line is written: states, transitions and sets of ours, the same of the other's, the median of the seconds
//! that our translation takes, whether the languages agree, and whether that was shown for all words.
//!
//! That we accept nothing wrong is shown for all words: our automaton shares none with the other's of the opposite formula.
//! That we accept everything right is shown for all words where ours is deterministic, and so easy to complement; elsewhere
//! it is tried on random words.

use certus_automata::automaton::{Automaton, Edge};
use certus_automata::formula::{Formula, Formulas, Names};
use certus_automata::hoa::read_hoa;
use certus_automata::label::{Cube, Label};
use certus_automata::obligation::disjoint;
use certus_automata::parse::parse;
use certus_automata::system::accepts;
use certus_automata::translate::{Options, translate};
use certus_automata::word::Word;
use std::error::Error;
use std::io::Read;
use std::time::Instant;

/// The automaton of a formula, and the median of the seconds that its translation takes.
fn timed(
    store: &Formulas,
    formula: Formula,
    names: &Names,
    repetitions: usize,
) -> Result<(Automaton, f64), Box<dyn Error>> {
    let mut seconds = Vec::with_capacity(repetitions);
    loop {
        let mut store = store.clone();
        let start = Instant::now();
        let automaton = translate(&mut store, formula, names, &Options::default())?;
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() >= repetitions {
            seconds.sort_by(f64::total_cmp);
            return Ok((automaton, seconds[seconds.len() / 2]));
        }
    }
}

/// The automaton with its atoms numbered as the names are.
fn renumbered(mut automaton: Automaton, names: &Names) -> Result<Automaton, Box<dyn Error>> {
    let mut places = Vec::with_capacity(automaton.atoms.len());
    for atom in &automaton.atoms {
        places.push(names.0.iter().position(|name| name == atom).ok_or_else(|| format!("no atom is called {atom}"))?);
    }
    let moved = |bits: u64| places.iter().enumerate().fold(0, |all, (old, new)| all | (bits >> old & 1) << new);
    for cube in automaton.edges.iter_mut().flatten().flat_map(|edge| &mut edge.label.0) {
        *cube = Cube { yes: moved(cube.yes), no: moved(cube.no) };
    }
    automaton.atoms = names.0.clone();
    Ok(automaton)
}

/// What a deterministic automaton does not accept: words that leave it, and those that meet one of its sets finitely often,
/// for which a copy without the set's transitions is entered at some step.
fn complement(automaton: &Automaton) -> Automaton {
    let (states, sets) = (automaton.states() as u32, automaton.sets);
    let outside = states * (sets + 1);
    let mut result = Automaton { sets: 1, initial: automaton.initial.clone(), ..Default::default() };
    for copy in 0..=sets {
        for edges in &automaton.edges {
            let (mut out, mut left) = (Vec::new(), Label::all());
            for edge in edges {
                left = left.minus(&edge.label);
                let to =
                    |copy: u32, marks| Edge { target: edge.target + copy * states, marks, label: edge.label.clone() };
                if copy == 0 {
                    out.extend((0..=sets).map(|copy| to(copy, 0)));
                } else if edge.marks >> (copy - 1) & 1 == 0 {
                    out.push(to(copy, 1));
                }
            }
            if copy == 0 {
                out.push(Edge { target: outside, marks: 0, label: left });
            }
            result.edges.push(out);
        }
    }
    result.edges.push(vec![Edge { target: outside, marks: 1, label: Label::all() }]);
    result.gather();
    result
}

/// Words that neither tool knows, the same in every run.
fn some_words(letters: u64, count: usize) -> Vec<Word> {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let (prefix, cycle) = (random(5), 1 + random(4));
        let mut take = |n: u64| (0..n).map(|_| random(letters)).collect::<Vec<_>>();
        words.extend(Word::new(&take(prefix), &take(cycle)));
    }
    words
}

/// Whether ours accepts all that theirs does, as far as is seen, and whether all words were seen.
fn complete(ours: &Automaton, theirs: &Automaton, words: &[Word]) -> (bool, bool) {
    if ours.is_deterministic() {
        return (disjoint(theirs, &complement(ours)), true);
    }
    (words.iter().all(|word| accepts(ours, word) == accepts(theirs, word)), false)
}

fn main() -> Result<(), Box<dyn Error>> {
    let repetitions = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    for block in text.split("formula ").skip(1) {
        let (wish, automata) = block.split_once('\n').ok_or("a formula without automata")?;
        let (mut store, mut names) = (Formulas::new(), Names::default());
        let formula = parse(wish, &mut store, &mut names)?;
        let negation = store.not(formula);
        let mut theirs = Vec::new();
        for hoa in automata.split_inclusive("--END--\n") {
            theirs.push(renumbered(read_hoa(hoa)?, &names)?);
        }
        let [theirs, theirs_not] = theirs.try_into().map_err(|_| format!("not two automata for {wish}"))?;
        let (ours, seconds) = timed(&store, formula, &names, repetitions)?;
        let (ours_not, seconds_not) = timed(&store, negation, &names, repetitions)?;
        let size = |a: &Automaton| format!("{} {} {}", a.states(), a.transitions(), a.sets);
        let words = some_words(1 << names.0.len(), 100);
        for (ours, theirs, seconds, theirs_opposite) in
            [(&ours, &theirs, seconds, &theirs_not), (&ours_not, &theirs_not, seconds_not, &theirs)]
        {
            let (complete, shown) = complete(ours, theirs, &words);
            let right = complete && disjoint(ours, theirs_opposite);
            println!("{} {} {seconds:.9} {right} {shown}", size(ours), size(theirs));
        }
    }
    Ok(())
}
