//! Whether a property holds because nothing happens.
//!
//! `G (p -> q)` where p never becomes true says nothing about q, and a system without a run satisfies everything. So beside every `holds`
//! stands a run that exercises it: one on which the left side of an implication becomes true, for each implication of the
//! property, or any run if there is none. Where no such run exists the property holds *vacuously*, and that is said
//! (Beer, Ben-David, Eisner, Rodeh: "Efficient detection of vacuity in temporal model checking", FMSD 2001, for implications).

use certus_lang::system::{Bounds, Formula, Property, PropertyKind, System};
use certus_solver::{Answer, Budget, solve};

use crate::bmc::{Depth, GLANCE, vacuous};
use crate::confirm::walked;
use crate::induction::{FIRST_PARTS, Prover};
use crate::outcome::{CheckError, Outcome, Run};
use crate::question::{Question, Wanted};
use crate::temporal::{Beyond, Normal, Shape};
use crate::unroll::Start;

/// Steps within which a run is looked for at most; further ones cost more than they say.
const MOST_STEPS: usize = 10;

/// Steps of the run that is shown where nothing in particular has to happen.
const PLAIN_STEPS: usize = 3;

/// Adds to a verdict that a property holds what exercises it, or that nothing does.
pub fn exercised(
    mut outcome: Outcome,
    system: &System,
    formula: &Formula,
    steps: usize,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Outcome, CheckError> {
    let steps = steps.min(MOST_STEPS);
    if let Some(note) = vacuous(system, steps, budget, watch)? {
        outcome.vacuous = true;
        outcome.notes.push(note);
        return Ok(outcome);
    }
    let mut found = Vec::new();
    premises(formula, true, &mut found);
    if found.is_empty() {
        outcome.exercised = run_with(system, None, steps.min(PLAIN_STEPS), budget)?.map(Box::new);
        return Ok(outcome);
    }
    for premise in found {
        match become_true(system, premise, steps, budget, watch)? {
            Premise::Reached(run) => {
                outcome.exercised.get_or_insert(run);
            }
            Premise::Never => {
                outcome.vacuous = true;
                outcome.notes.push(format!("vacuous: `{}` never becomes true", text(system, premise)));
            }
            Premise::NotSeen => {
                let what = text(system, premise);
                outcome.notes.push(format!("no run within {steps} steps was found on which `{what}` becomes true"));
            }
        }
    }
    Ok(outcome)
}

enum Premise {
    Reached(Box<Run>),
    Never,
    NotSeen,
}

/// Whether a condition of single positions becomes true on some run.
fn become_true(
    system: &System,
    premise: &Formula,
    steps: usize,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Premise, CheckError> {
    for depth in 0..=steps {
        if let Some(run) = run_with(system, Some(premise), depth, budget)? {
            return Ok(Premise::Reached(Box::new(run)));
        }
        if depth == 0 && never(system, premise, budget, watch)? {
            return Ok(Premise::Never);
        }
        if crate::induction::spent(budget).is_some() {
            break;
        }
    }
    Ok(Premise::NotSeen)
}

/// Whether a condition of single positions is false in every state that runs can be in.
fn never(
    system: &System,
    premise: &Formula,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<bool, CheckError> {
    let not = Box::new(Formula::Not(Box::new(premise.clone())));
    let property = Property {
        name: "vacuity".to_owned(),
        doc: String::new(),
        kind: PropertyKind::Ltl(Formula::Globally(Bounds::default(), not)),
        expect: None,
        source: String::new(),
    };
    let own = Budget { boxes: FIRST_PARTS.min(budget.boxes), ..*budget };
    Ok(Prover::new(system, &property)?.everywhere(&own, watch)?.is_some())
}

/// A run of so many steps at whose end a condition holds.
fn run_with(
    system: &System,
    condition: Option<&Formula>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<Run>, CheckError> {
    let shape = Shape { positions: steps + 1, loop_to: None };
    let normal = condition.map(|condition| Normal::of(condition, true));
    let formulas: Vec<(&Normal, usize)> = normal.iter().map(|normal| (normal, steps)).collect();
    let wanted =
        Wanted { start: Start::Initial, shape, formulas: &formulas, beyond: Beyond::Anything, ends_in_error: false };
    let question = Question::new(system, wanted, &|_| Vec::new())?;
    let own = Budget { boxes: GLANCE.min(budget.boxes), ..*budget };
    match solve(&question.query()?, &own, &mut |_| {})? {
        Answer::Sat(witness) => Ok(Some(walked(system, &question.drive(&witness))?)),
        _ => Ok(None),
    }
}

/// The left sides of implications that must hold, as far as they are conditions of single positions.
pub(crate) fn premises<'a>(formula: &'a Formula, positive: bool, found: &mut Vec<&'a Formula>) {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => {}
        Formula::Not(inner) => premises(inner, !positive, found),
        Formula::Implies(premise, conclusion) => {
            if positive && Normal::of(premise, true).horizon() == Some(0) && !matches!(**premise, Formula::Constant(_))
            {
                found.push(premise);
            }
            premises(conclusion, positive, found);
        }
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| premises(part, positive, found)),
        Formula::Iff(..) => {}
        Formula::Next(inner) | Formula::Finally(_, inner) | Formula::Globally(_, inner) => {
            premises(inner, positive, found);
        }
        Formula::Until(_, left, right) | Formula::WeakUntil(_, left, right) | Formula::Release(_, left, right) => {
            premises(left, positive, found);
            premises(right, positive, found);
        }
    }
}

/// A condition as it is written.
pub(crate) fn text(system: &System, formula: &Formula) -> String {
    let joined = |parts: &[Formula], by: &str| parts.iter().map(|part| text(system, part)).collect::<Vec<_>>().join(by);
    match formula {
        Formula::Constant(value) => value.to_string(),
        Formula::Atom(id) => system.atoms[id.0].text.clone(),
        Formula::Not(inner) => format!("!({})", text(system, inner)),
        Formula::And(parts) => joined(parts, " & "),
        Formula::Or(parts) => joined(parts, " | "),
        _ => "the left side of an implication".to_owned(),
    }
}
