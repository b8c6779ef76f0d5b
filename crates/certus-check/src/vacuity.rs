//! Whether a property holds because nothing happens.
//!
//! `G (p -> q)` where p never becomes true says nothing about q, and a system without a run satisfies everything. So beside every `holds`
//! stands a run that exercises it: one on which the left side of an implication becomes true, for each implication of the
//! property, or any run if there is none. Where no such run exists the property holds *vacuously*, and that is said
//! (Beer, Ben-David, Eisner, Rodeh: "Efficient detection of vacuity in ACTL formulas", CAV 1997, for implications; Kupferman, Vardi: "Vacuity detection in
//! temporal model checking", STTT 4(2), 2003, in general).
//! Most often simulated runs show it, and a solver is asked only where they do not.

use certus_lang::system::{Bounds, Formula, Property, System};
use certus_model::{CheckError, Nnf, Outcome, Run, nnf};
use certus_sim::semantics::{Tail, evaluate};
use certus_sim::{End, Options, RunReport, Simulator, Step};
use certus_solver::{Answer, Budget, solve};

use crate::bmc::{GLANCE, answer};
use crate::confirm::walked;
use crate::errors::asked_atoms;
use crate::induction::{Prover, Round};
use crate::ltl_encoding::{Beyond, Shape};
use crate::query::{RunQuery, Wanted};
use crate::unroll::{Start, Unroller};
use certus_engine::Depth;
use certus_engine::FIRST_WORK;

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
    let simulated = Simulated::new(system, steps, budget);
    if !simulated.has_whole
        && let Some(note) = vacuous(system, steps, budget, watch)?
    {
        outcome.vacuous = true;
        outcome.notes.push(note);
        return Ok(outcome);
    }
    let mut found = Vec::new();
    premises(formula, true, &mut found);
    if found.is_empty() {
        let plain = steps.min(PLAIN_STEPS);
        let run = match simulated.plain(plain) {
            Some(run) => Some(run),
            None => run_with(system, None, plain, budget)?,
        };
        outcome.exercised = run.map(Box::new);
        return Ok(outcome);
    }
    for premise in found {
        let reached = match simulated.reaching(system, premise) {
            Some(run) => Premise::Reached(Box::new(run)),
            None => become_true(system, premise, steps, budget, watch)?,
        };
        match reached {
            Premise::Reached(run) => {
                outcome.exercised.get_or_insert(run);
            }
            Premise::Never => {
                outcome.vacuous = true;
                outcome.notes.push(format!("vacuous: `{}` never becomes true", text(system, premise)));
            }
            Premise::NotSeen => {
                let what = text(system, premise);
                outcome.notes.push(format!(
                    "no run within {} was found on which `{what}` becomes true",
                    certus_model::steps(steps)
                ));
            }
        }
    }
    Ok(outcome)
}

/// Runs that are simulated before a solver is asked.
const SIMULATED_RUNS: u64 = 64;

/// What simulated runs show.
struct Simulated {
    /// The positions of runs that were followed by a step.
    runs: Vec<Vec<Step>>,
    /// Whether some run has all the steps that were asked for.
    has_whole: bool,
}

impl Simulated {
    fn new(system: &System, steps: usize, budget: &Budget<'_>) -> Simulated {
        let mut found = Simulated { runs: Vec::new(), has_whole: false };
        let options = Options {
            runs: SIMULATED_RUNS,
            // One more, so that the last position is followed too.
            steps: steps + 1,
            seed: budget.seed,
            record: true,
            stop: budget.stop,
            deadline: budget.deadline,
            ..Options::default()
        };
        let mut keep = |report: &RunReport| {
            let mut trace = report.trace.clone().unwrap_or_default();
            found.has_whole |= report.end == End::Terminal || trace.len() > steps;
            trace.pop();
            found.runs.push(trace);
        };
        let made = Simulator::new(system).and_then(|simulator| simulator.run(&options, &mut |_| {}, &mut keep));
        // What cannot be simulated shows nothing.
        if made.is_err() { Simulated { runs: Vec::new(), has_whole: false } } else { found }
    }

    /// A run of so many steps.
    fn plain(&self, steps: usize) -> Option<Run> {
        self.runs.iter().find(|run| run.len() > steps).map(|run| run_of(&run[..=steps]))
    }

    /// A run at whose end a condition of single positions holds, as short as any.
    fn reaching(&self, system: &System, condition: &Formula) -> Option<Run> {
        if asked_atoms(condition).iter().any(|id| system.roles.atoms_defined[id.0].is_some()) {
            return None;
        }
        let holds = |step: &Step| evaluate(condition, 1, Tail::Unknown, &|id, _| step.atoms[id.0]).least;
        let ends = self.runs.iter().filter_map(|run| Some((run, run.iter().position(holds)?)));
        ends.min_by_key(|&(_, end)| end).map(|(run, end)| run_of(&run[..=end]))
    }
}

/// A simulated run as engines show theirs.
fn run_of(positions: &[Step]) -> Run {
    Run {
        states: positions.iter().map(|step| step.state.clone()).collect(),
        inputs: positions.iter().map(|step| step.input.clone()).collect(),
        chances: positions.iter().map(|step| step.chances.clone()).collect(),
        policies: positions.iter().map(|step| step.policies.clone()).collect(),
        actions: positions.iter().map(|step| step.actions.clone()).collect(),
        atoms: positions.iter().map(|step| step.atoms.clone()).collect(),
        ..Run::default()
    }
}

/// Says so if a glance shows that no run has so many steps: then a property holds because nothing happens.
fn vacuous(
    system: &System,
    depth: usize,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Option<String>, CheckError> {
    let glance = Budget { subproblems: GLANCE.min(budget.subproblems), ..*budget };
    for (steps, what) in [(0, "no state is initial".to_owned()), (depth, format!("no run has {depth} steps"))] {
        let shape = Shape { positions: steps + 1, loop_to: None };
        let wanted =
            Wanted { start: Start::Initial, shape, formulas: &[], beyond: Beyond::Anything, ends_in_error: false };
        let query = RunQuery::new(&Unroller::new(system), wanted, &|_| Vec::new())?.at_best_ends()?;
        if let Answer::Unsat(_) = answer(&query, shape, &glance, watch)? {
            return Ok(Some(format!("vacuous: {what}")));
        }
    }
    Ok(None)
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
        if certus_engine::spent(budget).is_some() {
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
    let property = Property::of_every_run("vacuity", Formula::Globally(Bounds::default(), not));
    let own = Budget { subproblems: FIRST_WORK.min(budget.subproblems), ..*budget };
    Ok(matches!(Prover::new(system, &property)?.everywhere(&own, watch)?, Round::Proved(_)))
}

/// A run of so many steps at whose end a condition holds.
fn run_with(
    system: &System,
    condition: Option<&Formula>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<Run>, CheckError> {
    let shape = Shape { positions: steps + 1, loop_to: None };
    let normal = condition.map(|condition| nnf(condition, true));
    let formulas: Vec<(&Nnf, usize)> = normal.iter().map(|normal| (normal, steps)).collect();
    let wanted =
        Wanted { start: Start::Initial, shape, formulas: &formulas, beyond: Beyond::Anything, ends_in_error: false };
    let query = RunQuery::new(&Unroller::new(system), wanted, &|_| Vec::new())?;
    let own = Budget { subproblems: GLANCE.min(budget.subproblems), ..*budget };
    match solve(&query.query()?, &own, &mut |_| {})? {
        Answer::Sat(witness) => Ok(Some(walked(system, &query.drive(&witness))?)),
        _ => Ok(None),
    }
}

/// The left sides of implications that must hold, as far as they are conditions of single positions.
pub(crate) fn premises<'a>(formula: &'a Formula, positive: bool, found: &mut Vec<&'a Formula>) {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => {}
        Formula::Not(inner) => premises(inner, !positive, found),
        Formula::Implies(premise, conclusion) => {
            if positive && nnf(premise, true).horizon() == Some(0) && !matches!(**premise, Formula::Constant(_)) {
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
