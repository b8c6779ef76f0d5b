//! Explicit-state model checking of finite systems.
//!
//! Where the reachable states are finitely many numbers (counters, gridworlds, tables driven by a discrete action), they are all visited, and the
//! property is decided for all time: on-the-fly automata-theoretic model checking (Vardi and Wolper, "An automata-theoretic approach to
//! automatic program verification", LICS 1986; Couvreur, "On-the-fly verification of linear temporal logic", FM 1999). What the environment
//! chooses is not finite, but over finitely many pieces of its box the step does one thing each (`positions.rs`).
//!
//! Sound over the reals: a state is visited only if outward-rounded arithmetic gives one number for each of its elements, so nothing was
//! rounded; truth values count only where intervals settle them. Wherever that fails, or there are too many states, the engine says nothing.
//!
//! Finite prefixes are judged as docs/semantics.md has it: by the states that the automata of the property and of its negation can be in.

mod positions;
mod spans;

use std::collections::HashMap;

use certus_automata::automaton::Automaton;
use certus_automata::emptiness::emptiness;
use certus_automata::formula::{Formulas, Names};
use certus_automata::graph::Outcome as Emptiness;
use certus_automata::system::{Product, System as Transitions, Truths, system_run};
use certus_automata::translate::{Options, translate};
use certus_lang::system::{Formula as Ltl, Property, System};
use certus_model::{CheckError, ModelError, ModelErrorKind, Outcome, Run, Scope, Verdict, formula_of, nnf};
use certus_solver::Budget;

use crate::confirm::walked;
use crate::errors::asked_atoms;
use crate::loops::proved_loop;
use crate::monitor::converted;
use crate::replay::{Drive, replay};
use certus_engine::spent;

use crate::vacuity::{premises, text};
use positions::{Choice, Lister, Position, Then};

/// What the engine is called.
pub const NAME: &str = "explicit";

/// Evaluations of a step without networks; a network's parameters make them fewer.
const EVALUATIONS: usize = 60_000;

/// Parameters of a network that are about as dear as the rest of a small step.
const SMALL_STEP: usize = 64;

/// The least number of evaluations, so that a large network of a small system gets a chance.
const LEAST_EVALUATIONS: usize = 64;

/// The most states of an automaton.
const MOST_AUTOMATON_STATES: usize = 1024;

/// The most pairs of a state and what its past leaves open.
const MOST_VISITS: usize = 50_000;

/// What the positions seen so far leave open: the states that the automata of the property and of its negation can be in.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Standing {
    satisfied: Vec<u32>,
    violated: Vec<u32>,
}

/// What finitely many positions show.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Violated,
    Satisfied,
    Open,
}

struct Visit {
    state: usize,
    standing: Standing,
    /// The visit before, and the position that led here.
    before: Option<(usize, usize)>,
}

/// A system whose states are visited.
struct Explorer<'a> {
    system: &'a System,
    formula: &'a Ltl,
    lister: Lister<'a>,
    satisfying: Automaton,
    violating: Automaton,
    states: Vec<Vec<f64>>,
    /// By the bits of the numbers.
    index: HashMap<Vec<u64>, usize>,
    initial: Vec<usize>,
    /// Of the states that were visited.
    positions: Vec<Vec<Position>>,
    visits: Vec<Visit>,
    /// Whether some run was not followed because its property is decided.
    cut_short: bool,
}

/// What a visit of all states came to.
enum Found {
    Violation(Vec<(usize, usize)>),
    Error(Vec<(usize, usize)>, ModelErrorKind),
    Nothing,
}

/// Decides a property by visiting all states, if that is soon done; nothing if it is not. Verdicts that need more steps than were asked for
/// are left to others. If `assumed`, runs with a model error are left out.
#[tracing::instrument(level = "debug", name = "explicit states", skip_all)]
pub fn decide(
    system: &System,
    property: &Property,
    asked: Option<usize>,
    assumed: bool,
    budget: &Budget<'_>,
) -> Result<Option<Outcome>, CheckError> {
    let formula = formula_of(property)?;
    let Some(mut explorer) = Explorer::new(system, formula) else { return Ok(None) };
    let Some(found) = explorer.visit(assumed, budget) else { return Ok(None) };
    let within = |run: &Run| asked.is_none_or(|steps| run.states.len() <= steps.saturating_add(1));
    if let Found::Violation(places) = &found {
        return explorer.violation(places, None, &within);
    }
    let lasso = match explorer.lasso() {
        Emptiness::Empty => None,
        Emptiness::Accepting(lasso) => Some(lasso),
        Emptiness::Stopped => return Ok(None),
    };
    if let Some((stem, cycle)) = lasso.map(|lasso| (lasso.prefix, lasso.cycle)) {
        let back = stem.len();
        let places: Vec<(usize, usize)> = stem.into_iter().chain(cycle).collect();
        return explorer.violation(&places, Some(back), &within);
    }
    if let Found::Error(places, kind) = found {
        let mut run = walked(system, &explorer.drive(&places, None))?;
        run.open_end = kind == ModelErrorKind::Deadlock;
        let as_visited = run.states.iter().zip(&places).all(|(own, &(state, _))| *own == explorer.states[state]);
        let error = Outcome::new(NAME, Verdict::ModelError(Box::new(ModelError { run: run.clone(), kind })));
        return Ok((as_visited && within(&run)).then_some(error));
    }
    let horizon = nnf(formula, false).horizon().and_then(|horizon| usize::try_from(horizon).ok());
    let scope = horizon.map_or(Scope::Unbounded, Scope::Horizon);
    let mut outcome = Outcome::new(NAME, Verdict::Holds(scope));
    let count = explorer.positions.len();
    tracing::trace!(target: "certus::count", explicit_states = count as u64);
    let states = if count == 1 { "1 state".to_owned() } else { format!("{count} states") };
    outcome.notes.push(format!("every reachable state that matters was visited ({states})"));
    explorer.exercise(&mut outcome)?;
    Ok(Some(outcome))
}

impl<'a> Explorer<'a> {
    fn new(system: &'a System, formula: &'a Ltl) -> Option<Explorer<'a>> {
        let asked = asked_atoms(formula);
        let mut store = Formulas::new();
        let own = converted(&mut store, formula, &asked);
        let evaluations = (EVALUATIONS / (1 + system.step.parameters() / SMALL_STEP)).max(LEAST_EVALUATIONS);
        let mut lister = Lister::new(system, asked, evaluations)?;
        let starts = lister.initial_states()?;
        let options = Options { most_states: MOST_AUTOMATON_STATES, ..Options::default() };
        let satisfying = translate(&mut store, own, &Names::default(), &options).ok()?;
        let negation = store.not(own);
        let violating = translate(&mut store, negation, &Names::default(), &options).ok()?;
        let mut explorer = Explorer {
            system,
            formula,
            lister,
            satisfying,
            violating,
            states: Vec::new(),
            index: HashMap::new(),
            initial: Vec::new(),
            positions: Vec::new(),
            visits: Vec::new(),
            cut_short: false,
        };
        for start in starts {
            let place = explorer.place_of(&start);
            if !explorer.initial.contains(&place) {
                explorer.initial.push(place);
            }
        }
        Some(explorer)
    }

    fn place_of(&mut self, state: &[f64]) -> usize {
        let bits = state.iter().map(|&value| (value + 0.0).to_bits()).collect();
        *self.index.entry(bits).or_insert_with(|| {
            self.states.push(state.to_vec());
            self.states.len() - 1
        })
    }

    /// Visits all states breadth first, as long as something is open; nothing if they are too many or not known.
    fn visit(&mut self, assumed: bool, budget: &Budget<'_>) -> Option<Found> {
        let beginning =
            Standing { satisfied: self.satisfying.initial.clone(), violated: self.violating.initial.clone() };
        let mut known: HashMap<(usize, Standing), ()> = HashMap::new();
        for &state in &self.initial {
            known.insert((state, beginning.clone()), ());
            self.visits.push(Visit { state, standing: beginning.clone(), before: None });
        }
        let mut error = None;
        let mut at = 0;
        while at < self.visits.len() {
            let state = self.visits[at].state;
            while self.positions.len() <= state {
                let own = self.lister.positions(&self.states[self.positions.len()].clone())?;
                self.positions.push(own);
            }
            for place in 0..self.positions[state].len() {
                let Position { truths, then, .. } = self.positions[state][place].clone();
                let standing = self.after(&self.visits[at].standing, truths);
                match (self.shown(&standing), then) {
                    (Shown::Satisfied, _) => self.cut_short = true,
                    (Shown::Open, Then::Nothing) => {}
                    (Shown::Violated, _) => return Some(Found::Violation(self.way(at, place))),
                    (Shown::Open, Then::Error(kind)) => {
                        if error.is_none() && !assumed {
                            error = Some(Found::Error(self.way(at, place), kind));
                        }
                    }
                    (Shown::Open, Then::State(next)) => {
                        let next = self.place_of(&next);
                        if known.insert((next, standing.clone()), ()).is_none() {
                            self.visits.push(Visit { state: next, standing, before: Some((at, place)) });
                        }
                    }
                }
            }
            at += 1;
            if self.visits.len() > MOST_VISITS || at % 64 == 0 && spent(budget).is_some() {
                return None;
            }
        }
        Some(error.unwrap_or(Found::Nothing))
    }

    fn after(&self, before: &Standing, truths: Truths) -> Standing {
        let next = |automaton: &Automaton, states: &[u32]| {
            let edges = states.iter().flat_map(|&state| &automaton.edges[state as usize]);
            let mut next: Vec<u32> =
                edges.filter(|edge| truths.may_satisfy(&edge.label)).map(|edge| edge.target).collect();
            next.sort_unstable();
            next.dedup();
            next
        };
        Standing {
            satisfied: next(&self.satisfying, &before.satisfied),
            violated: next(&self.violating, &before.violated),
        }
    }

    fn shown(&self, standing: &Standing) -> Shown {
        // Of an automaton that accepts nothing, the initial state is left, without a transition.
        let lives = |automaton: &Automaton, states: &[u32]| {
            states.iter().any(|&state| !automaton.edges[state as usize].is_empty())
        };
        debug_assert!(lives(&self.satisfying, &standing.satisfied) || lives(&self.violating, &standing.violated));
        match (lives(&self.satisfying, &standing.satisfied), lives(&self.violating, &standing.violated)) {
            (false, _) => Shown::Violated,
            (true, false) => Shown::Satisfied,
            (true, true) => Shown::Open,
        }
    }

    /// The states and positions up to a position of a visit.
    fn way(&self, last: usize, position: usize) -> Vec<(usize, usize)> {
        let mut places = vec![(self.visits[last].state, position)];
        let mut at = last;
        while let Some((before, position)) = self.visits[at].before {
            places.push((self.visits[before].state, position));
            at = before;
        }
        places.reverse();
        places
    }

    /// What drives the run through some positions.
    fn drive(&self, places: &[(usize, usize)], loop_to: Option<usize>) -> Drive {
        let choice = |&(state, position): &(usize, usize)| -> &Choice { &self.positions[state][position].choice };
        Drive {
            state: places.first().map(|&(state, _)| self.states[state].clone()).unwrap_or_default(),
            inputs: places.iter().map(|place| choice(place).inputs.clone()).collect(),
            chances: places.iter().map(|place| choice(place).chances.clone()).collect(),
            choices: places.iter().map(|place| choice(place).actions.clone()).collect(),
            loop_to,
        }
    }

    /// A violation, replayed by the system itself.
    fn violation(
        &self,
        places: &[(usize, usize)],
        loop_to: Option<usize>,
        within: &dyn Fn(&Run) -> bool,
    ) -> Result<Option<Outcome>, CheckError> {
        let Some(run) = replay(self.system, self.formula, &self.drive(places, loop_to))? else { return Ok(None) };
        if !within(&run) || !proved_loop(self.system, self.formula, &run)? {
            return Ok(None);
        }
        Ok(Some(Outcome::new(NAME, Verdict::Violated(run))))
    }

    /// A run that violates the property for ever.
    fn lasso(&mut self) -> Emptiness<(usize, usize)> {
        let mut automaton = self.violating.clone();
        let mut product = Product::new(Visited { explorer: self }, &mut automaton);
        match emptiness(&mut product, &mut |states| states > 20 * MOST_VISITS) {
            Emptiness::Empty => Emptiness::Empty,
            Emptiness::Accepting(lasso) => Emptiness::Accepting(system_run(&lasso)),
            Emptiness::Stopped => Emptiness::Stopped,
        }
    }

    /// Adds a run that exercises a property that holds, or that there is none.
    fn exercise(&self, outcome: &mut Outcome) -> Result<(), CheckError> {
        if self.initial.is_empty() {
            outcome.vacuous = true;
            outcome.notes.push("vacuous: no state is initial".to_owned());
            return Ok(());
        }
        let mut found = Vec::new();
        premises(self.formula, true, &mut found);
        let reached = |condition: &Ltl| {
            let holds = |state: usize, position: usize| {
                let truths = self.positions[state][position].truths;
                truth_of(condition, &|id| self.lister.asked.iter().position(|own| *own == id), truths) == Some(true)
            };
            let visits = self.visits.iter().enumerate();
            let mut places = visits.flat_map(|(at, visit)| {
                (0..self.positions[visit.state].len()).map(move |place| (at, visit.state, place))
            });
            places.find(|&(_, state, place)| holds(state, place)).map(|(at, _, place)| self.way(at, place))
        };
        if found.is_empty() {
            found.push(&Ltl::Constant(true));
        }
        for premise in found {
            match reached(premise) {
                Some(way) => {
                    let run = walked(self.system, &self.drive(&way, None))?;
                    outcome.exercised.get_or_insert(Box::new(run));
                }
                None if self.cut_short => {}
                None => {
                    outcome.vacuous = true;
                    outcome.notes.push(format!("vacuous: `{}` never becomes true", text(self.system, premise)));
                }
            }
        }
        Ok(())
    }
}

/// The truth of a condition of one position.
fn truth_of(
    condition: &Ltl,
    place: &dyn Fn(certus_lang::system::AtomId) -> Option<usize>,
    truths: Truths,
) -> Option<bool> {
    let of = |inner: &Ltl| truth_of(inner, place, truths);
    match condition {
        Ltl::Constant(value) => Some(*value),
        Ltl::Atom(id) => {
            let bit = 1u64 << place(*id)?;
            if truths.yes & bit != 0 { Some(true) } else { (truths.no & bit != 0).then_some(false) }
        }
        Ltl::Not(inner) => of(inner).map(|value| !value),
        Ltl::And(parts) => parts.iter().try_fold(true, |all, part| Some(all & of(part)?)),
        Ltl::Or(parts) => parts.iter().try_fold(false, |any, part| Some(any | of(part)?)),
        Ltl::Implies(a, b) => Some(!of(a)? | of(b)?),
        Ltl::Iff(a, b) => Some(of(a)? == of(b)?),
        _ => None,
    }
}

/// The positions that were visited, as a transition system.
struct Visited<'e, 'a> {
    explorer: &'e Explorer<'a>,
}

impl Visited<'_, '_> {
    fn positions(&self, state: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        // What lies behind a decision was not visited, and shows nothing new.
        let count = self.explorer.positions.get(state).map_or(0, Vec::len);
        (0..count).map(move |place| (state, place))
    }
}

impl Transitions for Visited<'_, '_> {
    type State = (usize, usize);

    fn initial(&mut self, states: &mut Vec<(usize, usize)>) {
        for &state in &self.explorer.initial {
            states.extend(self.positions(state));
        }
    }

    fn successors(&mut self, &(state, place): &(usize, usize), states: &mut Vec<(usize, usize)>) {
        if let Then::State(next) = &self.explorer.positions[state][place].then {
            let bits: Vec<u64> = next.iter().map(|&value| (value + 0.0).to_bits()).collect();
            if let Some(&next) = self.explorer.index.get(&bits) {
                states.extend(self.positions(next));
            }
        }
    }

    fn truths(&mut self, &(state, place): &(usize, usize)) -> Truths {
        self.explorer.positions[state][place].truths
    }
}
