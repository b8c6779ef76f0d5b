//! Proofs for all time.
//!
//! `G φ` is shown by *k-induction* (from k states in a row in which φ holds, no step leads to one in which it does not), if
//! need be within an *invariant*: halfspaces that all initial states lie in and no step leaves. That something holds in the end
//! is shown by a *ranking function*, or because no run avoids it for so many steps. Each of these is a handful of
//! queries, and nothing but their answers is believed: samples, simulations and linear programs only suggest.

pub mod infer;
pub mod invariant;
mod learn;
pub mod ranking;
mod sample;

use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_lang::system::{Formula as Ltl, Property, PropertyKind, System};
use certus_sim::element_names;
use certus_solver::{Answer, Budget, UnknownReason, solve};

pub use self::invariant::{Face, Invariant};
use self::invariant::{elements, linear_text};
pub use self::ranking::Ranking;
use crate::bmc::Depth;
use crate::outcome::{CheckError, Outcome, Scope, Unknown, Verdict};
use crate::question::{Question, Wanted};
use crate::temporal::{Beyond, Normal, Shape};
use crate::unroll::Start;

/// What a proof for all time rests on.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// From so many states in a row in which the property holds none leads to one in which it does not, within the invariant.
    Induction {
        /// How many states.
        depth: usize,
        /// The invariant; without faces if none was needed.
        invariant: Invariant,
    },
    /// No run is for so many steps where a violation would have to be for ever.
    Leaves {
        /// How many steps.
        steps: usize,
    },
    /// A function goes down as long as a violation lasts.
    Ranking(Ranking),
}

impl Method {
    /// In words, with the names of the elements of the state.
    pub fn text(&self, names: &[String]) -> String {
        match self {
            Method::Induction { depth, invariant } => {
                let states = if *depth == 1 { "one state".to_owned() } else { format!("{depth} states in a row") };
                let faces: Vec<String> = invariant.faces.iter().map(|face| face.text(names)).collect();
                match faces.is_empty() {
                    true => format!("by induction over {states}"),
                    false => format!("by induction over {states} within the invariant {}", faces.join(", ")),
                }
            }
            Method::Leaves { steps: 0 } => "no state is where a violation would have to stay".to_owned(),
            Method::Leaves { steps } => format!("no run stays where a violation would have to for {steps} steps"),
            Method::Ranking(ranking) => format!(
                "by the ranking function {}, which goes down by at least {} on every step of a violation",
                linear_text(&ranking.coefficients, names),
                ranking.decrease
            ),
        }
    }
}

/// Asks questions within a budget.
pub struct Asker<'a, 'w> {
    budget: &'a Budget<'a>,
    watch: &'w mut dyn FnMut(Depth),
    /// How many parts a question may take.
    parts: u64,
    steps: usize,
}

/// Parts that a question may take at first; when everything was tried, four times as many.
const FIRST_PARTS: u64 = 2_000;

impl Asker<'_, '_> {
    /// Answers a question.
    pub fn ask(&mut self, question: &Question) -> Result<Answer, CheckError> {
        let (watch, steps) = (&mut self.watch, self.steps);
        let budget = Budget { boxes: self.parts.min(self.budget.boxes), ..*self.budget };
        Ok(solve(&question.query()?, &budget, &mut |progress| watch(Depth { steps, loop_to: None, progress }))?)
    }

    fn seed(&self) -> u64 {
        self.budget.seed
    }

    /// Whether the budget is spent.
    fn over(&self) -> bool {
        self.spent().is_some()
    }

    fn spent(&self) -> Option<UnknownReason> {
        if self.budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(UnknownReason::Stopped)
        } else {
            let late = self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            late.then_some(UnknownReason::Deadline)
        }
    }
}

/// Proves a property for all time, or says why not. A violation is not looked for, but one that a proof meets is reported.
pub fn prove(
    system: &System,
    property: &Property,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Outcome, CheckError> {
    let formula = match &property.kind {
        PropertyKind::Ltl(formula) => formula,
        PropertyKind::Probability { .. } => {
            let message = format!("{} asks for a probability; induction shows what every run does", property.name);
            return Err(CheckError::Unsupported(message));
        }
    };
    let mut asker = Asker { budget, watch, parts: FIRST_PARTS, steps: 1 };
    let parts = conjuncts(formula).into_iter().map(|part| Normal::of(part, false));
    let parts: Vec<Part> = parts.map(Part::new).collect();
    if parts.iter().any(|part| part.kind == Kind::Neither) {
        let message = format!(
            "{} is neither 'always' nor 'in the end' of conditions of single states: induction has no proof for it",
            property.name
        );
        return Err(CheckError::Unsupported(message));
    }
    let names = element_names(system.states.iter().map(|variable| (&*variable.name, variable.len, variable.is_vector)));
    let mut methods: Vec<Option<Method>> = vec![None; parts.len()];
    loop {
        for (part, method) in parts.iter().zip(&mut methods).filter(|(_, method)| method.is_none()) {
            *method = match part.kind {
                Kind::Always => safe(system, part, &mut asker)?,
                _ => live(system, &part.tail, &mut asker)?,
            };
        }
        let known: Vec<Method> = methods.iter().flatten().cloned().collect();
        if known.len() == parts.len() {
            let notes = known.iter().map(|method| method.text(&names)).collect();
            return Ok(Outcome { verdict: Verdict::Holds(Scope::Unbounded), notes });
        }
        let reason = match asker.spent() {
            Some(reason) => reason,
            None if asker.parts >= asker.budget.boxes => UnknownReason::Boxes,
            None => {
                asker.parts = asker.parts.saturating_mul(4);
                continue;
            }
        };
        let place = "the search for an invariant or a ranking function".to_owned();
        let verdict = Verdict::Unknown(Unknown { reason, place, settled: None });
        return Ok(Outcome { verdict, notes: Vec::new() });
    }
}

/// The formulas that a formula is the conjunction of.
fn conjuncts(formula: &Ltl) -> Vec<&Ltl> {
    match formula {
        Ltl::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// What kind of proof a part of a property needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Always,
    InTheEnd,
    Neither,
}

/// A part of a property.
struct Part {
    kind: Kind,
    /// Its negation.
    violation: Normal,
    /// What stays for ever on a run that violates it.
    tail: Normal,
}

impl Part {
    fn new(violation: Normal) -> Part {
        let tail = violation.tail();
        let kind = match violation.reached() {
            Some(_) => Kind::Always,
            None if !tail.is_true() && !violation.can_end() => Kind::InTheEnd,
            None => Kind::Neither,
        };
        Part { kind, violation, tail }
    }
}

/// States in a row that induction looks at, at most.
const DEEPEST: usize = 4;

/// Shows that bad states are never reached.
fn safe(system: &System, part: &Part, asker: &mut Asker<'_, '_>) -> Result<Option<Method>, CheckError> {
    let Some(bad) = part.violation.reached() else { return Ok(None) };
    let good = bad.negated();
    let none = Invariant::default();
    for depth in 1..=DEEPEST {
        asker.steps = depth;
        // No violation may come before induction begins.
        if !settled(asker.ask(&first_violation(system, bad, depth - 1)?)?) || asker.over() {
            return Ok(None);
        }
        if settled(asker.ask(&step(system, bad, &good, &none, depth)?)?) {
            return Ok(Some(Method::Induction { depth, invariant: none }));
        }
        if depth == 1
            && let Some(invariant) = infer::infer(system, bad, &good, asker)?
            && settled(asker.ask(&infer::initial_outside(system, &invariant)?)?)
            && settled(asker.ask(&step(system, bad, &good, &invariant, depth)?)?)
        {
            return Ok(Some(Method::Induction { depth, invariant }));
        }
    }
    Ok(None)
}

fn settled(answer: Answer) -> bool {
    matches!(answer, Answer::Unsat(_))
}

/// A run from an initial state whose last of so many steps leads to a bad state.
fn first_violation(system: &System, bad: &Normal, steps: usize) -> Result<Question, CheckError> {
    let shape = Shape { positions: steps + 1, loop_to: None };
    let formulas = [(bad, steps)];
    let wanted = Wanted { start: Start::Initial, shape, formulas: &formulas, beyond: Beyond::Anything };
    Question::new(system, wanted, &|_| Vec::new())
}

/// From so many good states in a row to a bad one, within an invariant.
fn step(
    system: &System,
    bad: &Normal,
    good: &Normal,
    invariant: &Invariant,
    depth: usize,
) -> Result<Question, CheckError> {
    let shape = Shape { positions: depth + 1, loop_to: None };
    let mut formulas: Vec<(&Normal, usize)> = (0..depth).map(|position| (good, position)).collect();
    formulas.push((bad, depth));
    let wanted = Wanted { start: Start::Anywhere, shape, formulas: &formulas, beyond: Beyond::Anything };
    Question::new(system, wanted, &|unrolled| {
        (0..=depth).flat_map(|position| invariant.holds(&elements(unrolled, position))).collect()
    })
}

/// Numbers of positions for which it is asked whether a run can stay for so long where a violation would have to.
const STAYS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Shows that no run stays for ever where `tail` holds.
fn live(system: &System, tail: &Normal, asker: &mut Asker<'_, '_>) -> Result<Option<Method>, CheckError> {
    for positions in STAYS {
        asker.steps = positions - 1;
        let shape = Shape { positions, loop_to: None };
        let formulas: Vec<(&Normal, usize)> = (0..positions).map(|position| (tail, position)).collect();
        let wanted = Wanted { start: Start::Anywhere, shape, formulas: &formulas, beyond: Beyond::Anything };
        if settled(asker.ask(&Question::new(system, wanted, &|_| Vec::new())?)?) {
            return Ok(Some(Method::Leaves { steps: positions - 1 }));
        }
        if asker.over() {
            return Ok(None);
        }
    }
    asker.steps = 1;
    Ok(ranking::rank(system, tail, &Invariant::default(), asker)?.map(Method::Ranking))
}
