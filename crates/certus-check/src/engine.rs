//! The engines, and the choice between them.

use std::fmt;
use std::str::FromStr;

use certus_graph::Fault;
use certus_lang::system::{Property, PropertyKind, System};
use certus_solver::{Budget, UnknownReason};

use crate::bmc::{self, Depth, Search, usual_steps};
use crate::errors::{Errors, NoErrors};
use crate::explicit;
use crate::induction::{self, FIRST_PARTS, MORE, Prover, Round, proved, spent};
use crate::outcome::{CheckError, Outcome, Run, Scope, Unknown, Verdict};
use crate::proof::{Proof, formula_of};
use crate::rest::{OVER_THE_REALS, Rest};
use crate::scope::within_scope;
use crate::temporal::Normal;
use crate::vacuity::exercised;

/// How a property is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Violations and proofs in turns, whichever comes first.
    #[default]
    Auto,
    /// Runs of up to so many steps.
    Bmc,
    /// Proofs for all time.
    Induction,
    /// All states of a finite system.
    Explicit,
}

impl Engine {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Bmc => bmc::NAME,
            Engine::Induction => induction::NAME,
            Engine::Explicit => explicit::NAME,
        }
    }

    /// All of them.
    pub const ALL: [Engine; 4] = [Engine::Auto, Engine::Bmc, Engine::Induction, Engine::Explicit];

    /// Why the engine cannot take a property, if it cannot.
    pub fn refuses(self, system: &System, property: &Property) -> Option<String> {
        if let PropertyKind::Probability { .. } = property.kind {
            return Some(format!("{} asks for a probability: the engine imdp bounds it", property.name));
        }
        match self {
            Engine::Auto | Engine::Bmc | Engine::Explicit => None,
            Engine::Induction => Prover::new(system, property).err().map(|error| error.to_string()),
        }
    }

    /// Checks a property: violations by as many steps as are asked for are looked for, or by the usual number.
    pub fn check(
        self,
        system: &System,
        property: &Property,
        asked: Option<usize>,
        errors: &Errors<'_>,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Outcome, CheckError> {
        match self {
            Engine::Auto => in_turns(system, property, asked, errors, budget, watch, None),
            Engine::Bmc => bmc::check(system, property, asked, errors, budget, watch),
            Engine::Explicit => {
                let place = "states that were not found to be finitely many";
                let unknown = || Outcome::new(explicit::NAME, Verdict::Unknown(Unknown::at(spent(budget), place)));
                let decided = explicit::decide(system, property, asked, errors.are_assumed(), budget)?;
                Ok(decided.unwrap_or_else(unknown))
            }
            Engine::Induction => {
                let own = errors.of_property(formula_of(property)?)?;
                let steps = asked.unwrap_or_else(|| usual_steps(property));
                let outcome = induction::prove(system, property, own.as_ref().unwrap_or(errors), budget, watch)?;
                match outcome.verdict {
                    Verdict::Holds(_) => exercised(outcome, system, formula_of(property)?, steps, budget, watch),
                    _ => Ok(outcome),
                }
            }
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        let names = Engine::ALL.map(Engine::name);
        let found = Engine::ALL.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("there is no engine '{text}'; there are {}", names.join(", ")))
    }
}

/// Steps that the first turn looks at; each further one looks four times as far. Most violations are near, and a proof should not
/// wait for steps that are far.
const FIRST_STEPS: usize = 2;

/// Without a deadline, a proof is looked for until a question may take so many parts.
const PATIENCE: u64 = 64_000;

/// What a turn of another engine comes to.
pub enum Turn {
    /// A verdict.
    Decided(Box<Outcome>),
    /// None: whether more effort might decide, and what was learnt, if the engine can take the property at all.
    Open {
        /// Whether more effort might decide.
        more: bool,
        /// What was learnt.
        learnt: Option<Box<Unknown>>,
    },
}

/// An engine that has its turns as well: it is told how many parts it may look at, and the budget.
pub type Another<'o> = dyn FnMut(u64, &Budget<'_>) -> Result<Turn, CheckError> + 'o;

/// Looks for violations and for a proof in turns, each time with more effort per question, so that neither waits for the
/// other, nor for another engine, if there is one; the order is fixed, and so is the answer.
pub fn in_turns(
    system: &System,
    property: &Property,
    asked: Option<usize>,
    errors: &Errors<'_>,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
    mut another: Option<&mut Another<'_>>,
) -> Result<Outcome, CheckError> {
    let formula = formula_of(property)?;
    let own_errors = errors.of_property(formula)?;
    let errors = own_errors.as_ref().unwrap_or(errors);
    let steps = asked.unwrap_or_else(|| usual_steps(property));
    let mut search = Search::new(system, property, asked, errors)?;
    // What has no proof for all time may still have violations.
    let mut prover = Prover::new(system, property).ok();
    let mut parts = FIRST_PARTS;
    let mut bounded: Option<Outcome> = None;
    let mut far = FIRST_STEPS;
    // What the other engine has learnt.
    let mut elsewhere: Option<Box<Unknown>> = None;
    // A proof that stands if there are no model errors.
    let mut conditional: Option<Proof> = None;
    let noted = |proof: Proof, no_errors: NoErrors, watch: &mut dyn FnMut(Depth)| -> Result<Outcome, CheckError> {
        exercised(proved(proof, no_errors), system, formula, steps, budget, watch)
    };
    let first = Budget { boxes: parts.min(budget.boxes), ..*budget };
    if let Some(own) = &mut prover
        && let Some(proof) = own.everywhere(&first, watch)?
    {
        match errors.for_all_time(formula, &proof, &first, watch)? {
            Some(no_errors) => return noted(proof, no_errors, watch),
            None => (conditional, prover) = (Some(proof), None),
        }
    }
    if conditional.is_none()
        && let Some(run) = comes_to_rest(system, property, budget)?
    {
        let found = Outcome::new(Engine::Auto.name(), Verdict::Violated(run));
        return Ok(Outcome { notes: vec![OVER_THE_REALS.to_owned()], ..found });
    }
    loop {
        let own = Budget { boxes: parts.min(budget.boxes), ..*budget };
        let mut short = false;
        let whole = |outcome: &Outcome| outcome.verdict == Verdict::Holds(Scope::Bounded(steps));
        if !bounded.as_ref().is_some_and(whole) {
            let outcome = search.advance(steps.min(far), &own, watch)?;
            match &outcome.verdict {
                Verdict::Violated(run) if conditional.is_some() => {
                    let details = format!("{}: {}\nproof {conditional:?}\nrun {run:?}", system.name, property.source);
                    let fault = Fault::raise("a property has a proof and a run that violates it", details);
                    return Err(CheckError::Graph(fault.into()));
                }
                Verdict::Violated(_) | Verdict::ModelError(_) => return Ok(outcome),
                Verdict::Holds(Scope::Unbounded | Scope::Horizon(_)) => {
                    return exercised(outcome, system, formula, steps, budget, watch);
                }
                Verdict::Holds(Scope::Bounded(reached)) => short = *reached < steps,
                Verdict::Unknown(unknown) => short = unknown.reason == Some(UnknownReason::Boxes),
            }
            bounded = Some(outcome);
        }
        if let Some(own_prover) = &mut prover
            && spent(budget).is_none()
        {
            // Whoever is stopped here may say what was shown so far: violations and model errors.
            let settled = bounded.as_ref().filter(|outcome| whole(outcome)).map(|_| steps);
            let watch = &mut |depth| watch(Depth { settled, ..depth });
            match own_prover.round(&own, watch)? {
                Round::Proved(proof) => (conditional, prover) = (Some(proof), None),
                Round::Short => short |= budget.deadline.is_some() || parts < PATIENCE,
                Round::Exhausted => prover = None,
            }
        }
        if let Some(proof) = &conditional
            && spent(budget).is_none()
        {
            if let Some(no_errors) = errors.for_all_time(formula, proof, &own, watch)? {
                return noted(proof.clone(), no_errors, watch);
            }
            short |= parts < PATIENCE;
        }
        if let Some(own) = &mut another
            && spent(budget).is_none()
        {
            match own(parts, budget)? {
                Turn::Decided(outcome) => {
                    return match outcome.verdict {
                        Verdict::Holds(_) => exercised(*outcome, system, formula, steps, budget, watch),
                        _ => Ok(*outcome),
                    };
                }
                Turn::Open { more, learnt } => {
                    elsewhere = learnt.or(elsewhere);
                    match more {
                        true => short |= budget.deadline.is_some() || parts < PATIENCE,
                        false => another = None,
                    }
                }
            }
        }
        if !short || spent(budget).is_some() || (parts >= budget.boxes && far >= steps) {
            break;
        }
        parts = parts.saturating_mul(MORE);
        far = far.saturating_mul(4);
    }
    let mut outcome = match bounded {
        Some(outcome) => outcome,
        None => return Err(CheckError::Unsupported("nothing was asked".to_owned())),
    };
    if conditional.is_some() {
        let settled = settled(&outcome);
        let place = "the absence of model errors";
        let unknown = Unknown { settled, holds_if: errors.conditions()?, ..Unknown::at(spent(budget), place) };
        outcome = Outcome::new(Engine::Auto.name(), Verdict::Unknown(unknown));
    }
    let whole = outcome.verdict == Verdict::Holds(Scope::Bounded(steps));
    outcome = within_scope(property, outcome, asked, spent(budget));
    match &mut outcome.verdict {
        Verdict::Holds(_) => outcome = exercised(outcome, system, formula, steps, budget, watch)?,
        Verdict::Unknown(unknown) => join(unknown, elsewhere),
        Verdict::Violated(_) | Verdict::ModelError(_) => {}
    }
    if whole {
        outcome.notes.push(NO_PROOF.to_owned());
    }
    Ok(outcome)
}

/// Adds what another engine has learnt: a loop of doubles, and the conditions under which it would have a proof.
fn join(unknown: &mut Unknown, learnt: Option<Box<Unknown>>) {
    let Some(learnt) = learnt else { return };
    if unknown.candidate.is_none() {
        unknown.candidate = learnt.candidate;
    }
    if unknown.holds_if.is_empty() {
        unknown.holds_if = learnt.holds_if;
    }
}

/// A run that violates a property by coming to rest; only what no finite run shows is worth a look.
fn comes_to_rest(system: &System, property: &Property, budget: &Budget<'_>) -> Result<Option<Run>, CheckError> {
    let formula = formula_of(property)?;
    if Normal::of(formula, false).can_end() {
        return Ok(None);
    }
    let Some(rest) = Rest::new(system)? else { return Ok(None) };
    let (lower, upper) = &system.init_box;
    Ok(rest.violation_from(formula, (lower, upper), &|| spent(budget).is_some())?)
}

/// What is said where a property holds up to a bound and nothing more is known.
pub const NO_PROOF: &str = "no proof for all time was found";

/// Steps up to which an outcome says that there is no violation.
fn settled(outcome: &Outcome) -> Option<usize> {
    match &outcome.verdict {
        Verdict::Holds(Scope::Bounded(steps) | Scope::Horizon(steps)) => Some(*steps),
        Verdict::Unknown(unknown) => unknown.settled,
        _ => None,
    }
}
