//! Automata of this crate beside those of another tool.
//!
//!     cargo run --release -p certus-automata --example compare [repetitions] < automata
//!
//! Standard input has, again and again, a line `formula φ`, and the other tool's automata of `φ` and of `!φ` as HOA. For each
//! of the two a line is written: states, transitions and sets of ours, the same of the other's, the median of the seconds
//! that our translation takes, and whether the languages are right. That is so if the other's automaton shares no word with
//! ours of the opposite formula: nothing that it accepts is wrong, and nothing that we accept is.

use certus_automata::automaton::Automaton;
use certus_automata::formula::{Formula, Formulas, Names};
use certus_automata::hoa::read_hoa;
use certus_automata::label::Cube;
use certus_automata::obligation::disjoint;
use certus_automata::parse::parse;
use certus_automata::translate::{Options, translate};
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
        let (right, right_not) = (disjoint(&theirs, &ours_not), disjoint(&theirs_not, &ours));
        println!("{} {} {seconds:.9} {right}", size(&ours), size(&theirs));
        println!("{} {} {seconds_not:.9} {right_not}", size(&ours_not), size(&theirs_not));
    }
    Ok(())
}
