//! Translation of a formula to a small automaton: the pipeline.
//!
//! Normal form, simplification, the tableau, and then rounds of trimming, fewer acceptance sets and simulation until
//! nothing gets smaller. If the formula turns out to be an obligation and its smallest deterministic automaton has no more
//! states than that, the deterministic one is taken.

use crate::acceptance::simplify_acceptance;
use crate::automaton::{Automaton, Edge};
use crate::formula::{Formula, Formulas, Names};
use crate::normal::{TooLarge, normal};
use crate::obligation::minimal_obligation;
use crate::print::print;
use crate::simplify::simplify;
use crate::simulation::{absorb_transient, backward_simulation, simulation};
use crate::tableau::Tableau;
use crate::trim::trim;

/// How far a translation may go, and what is done on the way.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the formula is simplified first.
    pub simplify: bool,
    /// Whether the automaton is reduced afterwards.
    pub reduce: bool,
    /// Whether smallest deterministic automata of obligations are tried.
    pub obligations: bool,
    /// The most states of the tableau.
    pub most_states: usize,
    /// The most transitions of the tableau, and the most terms of one state.
    pub most_transitions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            simplify: true,
            reduce: true,
            obligations: true,
            most_states: 1_000_000,
            most_transitions: 10_000_000,
        }
    }
}

/// The automaton of the words that satisfy a formula.
pub fn translate(
    store: &mut Formulas,
    formula: Formula,
    names: &Names,
    options: &Options,
) -> Result<Automaton, TooLarge> {
    let name = print_short(store, formula, names);
    let atoms = store.atoms(formula);
    let mut core = normal(store, formula, false)?;
    if options.simplify {
        core = simplify(store, core);
    }
    let mut automaton = tableau(store, core, options)?;
    automaton.name = name;
    // Atoms that nobody wrote are nobody's.
    automaton.atoms = names.padded(atoms);
    if !options.reduce {
        return Ok(automaton);
    }
    let automaton = reduce(&automaton);
    if options.obligations
        && let Ok(negation) = tableau_of_negation(store, core, options)
        && let Some(minimal) = minimal_obligation(&automaton, &negation)
    {
        let minimal = simplify_acceptance(&trim(&minimal));
        if minimal.states() <= automaton.states() {
            return Ok(minimal);
        }
    }
    Ok(automaton)
}

/// The reduced automaton of a normal form's negation, if it is small: it is only needed for small ones.
fn tableau_of_negation(store: &mut Formulas, core: Formula, options: &Options) -> Result<Automaton, TooLarge> {
    let mut negation = normal(store, core, true)?;
    if options.simplify {
        negation = simplify(store, negation);
    }
    let small = Options { most_states: 500.min(options.most_states), most_transitions: 20_000, ..options.clone() };
    Ok(reduce(&tableau(store, negation, &small)?))
}

fn print_short(store: &Formulas, formula: Formula, names: &Names) -> String {
    if store.size(formula) > 10_000 { String::new() } else { print(store, formula, names) }
}

/// The automaton of a formula in normal form, as the tableau makes it.
pub fn tableau(store: &mut Formulas, formula: Formula, options: &Options) -> Result<Automaton, TooLarge> {
    use crate::automaton::Tgba;
    let mut tableau = Tableau::new(store, formula)?.limited(options.most_transitions);
    let mut automaton = Automaton { sets: tableau.sets(), initial: vec![tableau.start()?], ..Default::default() };
    let mut transitions = 0;
    while automaton.edges.len() < tableau.known() {
        let edges: Vec<Edge> = tableau.expand(automaton.edges.len() as u32)?.to_vec();
        transitions += edges.len();
        automaton.edges.push(edges);
        if tableau.known() > options.most_states || transitions > options.most_transitions {
            return Err(TooLarge::Automaton);
        }
    }
    debug_assert!(automaton.is_well_formed(), "the tableau names states that it does not have");
    Ok(automaton)
}

/// A smaller automaton with the same language.
pub fn reduce(automaton: &Automaton) -> Automaton {
    let measure = |a: &Automaton| {
        let cubes: usize = a.edges.iter().flatten().map(|edge| edge.label.0.len()).sum();
        (a.states(), a.transitions(), a.sets, cubes)
    };
    let repeated = |first: Automaton, step: &dyn Fn(&Automaton) -> Automaton| {
        let mut best = first;
        loop {
            let next = step(&best);
            if measure(&next) >= measure(&best) {
                return best;
            }
            best = next;
        }
    };
    let forward = |a: &Automaton| simplify_acceptance(&trim(&absorb_transient(&trim(&simulation(a)))));
    let backward = |a: &Automaton| trim(&backward_simulation(a));
    // Backward steps can spoil what forward steps would merge, and the other way round: both orders are tried.
    let start = simplify_acceptance(&trim(automaton));
    let mixed = repeated(start.clone(), &|a| forward(&backward(a)));
    let mixed = repeated(mixed, &forward);
    let ordered = repeated(repeated(start, &forward), &|a| repeated(forward(&backward(a)), &forward));
    if measure(&mixed) < measure(&ordered) { mixed } else { ordered }
}
