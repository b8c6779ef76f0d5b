//! Whether a run really ends in a model error.
//!
//! Intervals are carried through the step from the run's first state, with its choices: every position before the last must be one for
//! certain, and the error at the last one must be certain too, so that it is one over the reals and not by rounding.

use certus_graph::Interval;
use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_lang::system::{ActionRole, AtomId, Formula, System, Truth, Variable};
use certus_model::{CheckError, ModelError, ModelErrorKind, Run};
use certus_solver::{Answer, Budget};

use crate::errors::{allowed_choice, asked_atoms};
use crate::monitor::Monitor;
use crate::replay::{Drive, arguments, replay, split};

/// What became of a run that was proposed.
pub enum Confirmed {
    /// It has this error.
    Error(ModelError),
    /// It violates the property all the same: whatever the atoms without a value would be, it is false.
    Violated(Run),
    /// It would be a deadlock, but some other choice is allowed in this state.
    NoDeadlock(Vec<f64>),
    /// Intervals do not tell, or it is no such run.
    Not,
}

/// Looks at a run of which a solver says that its last position has an error.
pub fn confirm(
    system: &System,
    formula: &Formula,
    monitor: &Monitor,
    drive: &Drive,
    budget: &Budget<'_>,
) -> Result<Confirmed, CheckError> {
    let roles = &system.roles;
    let asked = asked_atoms(formula);
    let last = drive.inputs.len() - 1;
    let mut state: Vec<Interval> = drive.state.iter().map(|&value| Interval::point(value)).collect();
    let mut known: Vec<Vec<Option<bool>>> = Vec::new();
    for position in 0..=last {
        let labels = drive.one_hots(system, position);
        let points = |values: &[f64]| values.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>();
        let mut own: Vec<Vec<Interval>> = split(&system.states, &state).map(<[Interval]>::to_vec).collect();
        own.extend(split(&system.inputs, &drive.inputs[position]).map(points));
        own.extend(labels.iter().map(|label| points(label)));
        let slices: Vec<&[Interval]> = own.iter().map(Vec::as_slice).collect();
        let outputs = enclose(&system.step, &slices)?;
        let certain = |truth: Truth| outputs[truth.truth.port].first().and_then(|value| value.certainty());
        // Whether a condition that may be absent holds.
        let holds = |own: Option<Truth>| own.map_or(Some(true), certain);
        if position == 0 && holds(roles.init) != Some(true) {
            return Ok(Confirmed::Not);
        }
        let next: Vec<Interval> = roles.next.iter().flat_map(|next| outputs[next.port].iter().copied()).collect();
        let (chosen, assume) = (holds(roles.choice_defined), holds(roles.assume));
        let reads = |id: &AtomId| system.atoms[id.0].uses_choice || system.atoms[id.0].uses_next;
        let allowed = chosen == Some(true) && assume == Some(true);
        let undefined =
            asked.iter().find(|id| holds(roles.atoms_defined[id.0]) == Some(false) && (allowed || !reads(id)));
        let defined = asked.iter().all(|id| holds(roles.atoms_defined[id.0]) == Some(true));
        if position < last {
            let goes_on = chosen == Some(true) && assume == Some(true) && holds(roles.defined) == Some(true);
            if !goes_on || !defined || !in_ranges(system, &next) {
                return Ok(Confirmed::Not);
            }
            let values: Vec<Option<bool>> = roles.atoms.iter().map(|&atom| certain(atom)).collect();
            if asked.iter().any(|id| values[id.0].is_none()) {
                return Ok(Confirmed::Not);
            }
            known.push(values);
            state = next;
            continue;
        }
        let kind = if chosen == Some(false) {
            Some(ModelErrorKind::Undefined { what: "a policy, an action, `terminal` or `assume`".to_owned() })
        } else if allowed && holds(roles.defined) == Some(false) {
            Some(no_successor(system, &next))
        } else if allowed && let Some(kind) = leaves(system, &next) {
            Some(kind)
        } else {
            undefined.map(|id| ModelErrorKind::Undefined { what: format!("`{}`", system.atoms[id.0].text) })
        };
        let (kind, has_choice) = match kind {
            Some(kind) => (kind, allowed),
            None => {
                if roles.assume.is_none() || roles.terminal.is_some_and(|own| certain(own) != Some(false)) {
                    return Ok(Confirmed::Not);
                }
                match allowed_choice(system, &state, budget)?.1 {
                    Answer::Unsat(_) => (ModelErrorKind::Deadlock, false),
                    Answer::Sat(_) => return Ok(Confirmed::NoDeadlock(middle(&state))),
                    Answer::Unknown(..) => return Ok(Confirmed::Not),
                }
            }
        };
        // An atom without a value at a choice that is not allowed: other choices may give a value to those that read them.
        let by_its_state = chosen == Some(true) && !allowed && kind != ModelErrorKind::Deadlock;
        if by_its_state && asked.iter().any(reads) {
            return Ok(Confirmed::Not);
        }
        // The atoms that have a value here count.
        let left = matches!(kind, ModelErrorKind::RangeExit { .. } | ModelErrorKind::Deadlock)
            || holds(roles.defined) != Some(true);
        let mut values = vec![None; system.atoms.len()];
        for &id in &asked {
            let atom = &system.atoms[id.0];
            let read = match (atom.uses_next, atom.uses_choice) {
                (true, _) => !left && has_choice,
                (_, true) => has_choice,
                _ => atom.state_only || chosen == Some(true),
            };
            let own = holds(roles.atoms_defined[id.0]);
            if read && own == Some(true) {
                values[id.0] = certain(roles.atoms[id.0]);
                if values[id.0].is_none() {
                    return Ok(Confirmed::Not);
                }
            } else if own.is_none() {
                return Ok(Confirmed::Not);
            }
        }
        known.push(values);
        if !monitor.may_be_violated(&known) {
            return Ok(Confirmed::Not);
        }
        let mut run = walked(system, drive)?;
        run.open_end = by_its_state || kind == ModelErrorKind::Deadlock;
        // The encoding of violations wants a value of every atom that it reads, and sees none of these.
        if known.last().is_some_and(|last| asked.iter().any(|id| last[id.0].is_none()))
            && !Monitor::new(&Formula::Not(Box::new(formula.clone()))).may_be_violated(&known)
        {
            return Ok(Confirmed::Violated(run));
        }
        return Ok(Confirmed::Error(ModelError { run, kind }));
    }
    Ok(Confirmed::Not)
}

/// A violation with an allowed choice at its end, where the property reads choices. What shows the violation may not depend on that
/// choice, and then whoever found the run has named any. Nothing if there is none: a terminal state in which nothing is allowed is no
/// position of a run; in any other one the state is bad, and the choice stays open.
pub fn with_allowed_end(
    system: &System,
    formula: &Formula,
    run: Run,
    budget: &Budget<'_>,
) -> Result<Option<Run>, CheckError> {
    let atoms = asked_atoms(formula);
    let reads = atoms.iter().map(|id| &system.atoms[id.0]).any(|atom| atom.uses_choice || atom.uses_next);
    let (true, true, Some(state)) = (run.open_end, reads, run.states.last()) else { return Ok(Some(run)) };
    let point: Vec<Interval> = state.iter().map(|&value| Interval::point(value)).collect();
    match allowed_choice(system, &point, budget)? {
        (query, Answer::Sat(witness)) => {
            let (mut drive, mut end) = (Drive::of(system, &run), query.drive(&witness));
            let last = run.states.len() - 1;
            for (all, one) in [(&mut drive.chances, &mut end.chances), (&mut drive.choices, &mut end.choices)] {
                all.truncate(last);
                all.append(one);
            }
            drive.inputs.truncate(last);
            drive.inputs.append(&mut end.inputs);
            Ok(replay(system, formula, &drive)?)
        }
        (_, Answer::Unsat(_)) if ends_nowhere(system, &run)? => Ok(None),
        (_, Answer::Unsat(_)) => Ok(Some(run)),
        (_, Answer::Unknown(..)) => Ok(None),
    }
}

/// Whether the last state of a run is terminal, or not known not to be.
fn ends_nowhere(system: &System, run: &Run) -> Result<bool, CheckError> {
    let (Some(terminal), Some(state)) = (system.roles.terminal, run.states.last()) else { return Ok(false) };
    let drive = Drive::of(system, run);
    let own = arguments(system, state, &drive, run.states.len() - 1);
    let points: Vec<Vec<Interval>> =
        own.iter().map(|values| values.iter().map(|&value| Interval::point(value)).collect()).collect();
    let slices: Vec<&[Interval]> = points.iter().map(Vec::as_slice).collect();
    let outputs = enclose(&system.step, &slices)?;
    Ok(outputs[terminal.truth.port].first().and_then(|value| value.certainty()) != Some(false))
}

/// The exit of a successor from its ranges that is certain, if there is one.
pub(crate) fn leaves(system: &System, next: &[Interval]) -> Option<ModelErrorKind> {
    left(system, next, &|value, state, element| value.hi < state.lower[element] || value.lo > state.upper[element])
}

/// What to say of a successor that is not defined: none of its variable's integers is possible for an element, or an operation has no value.
pub(crate) fn no_successor(system: &System, next: &[Interval]) -> ModelErrorKind {
    let broken = |value: &Interval, state: &Variable, _: usize| {
        state.integers.as_ref().is_some_and(|integers| integers.between(value.lo, value.hi).is_none())
    };
    left(system, next, &broken).unwrap_or_else(|| ModelErrorKind::Undefined { what: "the successor".to_owned() })
}

/// An element of a successor that is not of its range.
fn left(
    system: &System,
    next: &[Interval],
    outside: &dyn Fn(&Interval, &Variable, usize) -> bool,
) -> Option<ModelErrorKind> {
    let elements = system.states.iter().flat_map(|state| (0..state.len).map(move |element| (state, element)));
    let mut own = next.iter().zip(elements).zip(system.state_names());
    own.find(|((value, (state, element)), _)| outside(value, state, *element)).map(|((value, _), variable)| {
        ModelErrorKind::RangeExit { variable, value: (value.lo / 2.0 + value.hi / 2.0).clamp(value.lo, value.hi) }
    })
}

fn in_ranges(system: &System, values: &[Interval]) -> bool {
    let ranges = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    values.iter().zip(ranges).all(|(value, (low, high))| *low <= value.lo && value.hi <= *high)
}

fn middle(state: &[Interval]) -> Vec<f64> {
    state.iter().map(|value| (value.lo / 2.0 + value.hi / 2.0).clamp(value.lo, value.hi)).collect()
}

/// A run as doubles make it, whatever it does.
pub fn walked(system: &System, drive: &Drive) -> Result<Run, CheckError> {
    let step = Evaluator::<f64>::new(&system.step);
    let mut workspace = Workspace::default();
    let roles = &system.roles;
    let mut run =
        Run { inputs: drive.inputs.clone(), chances: drive.chances.clone(), loop_to: drive.loop_to, ..Run::default() };
    let mut state = drive.state.clone();
    for position in 0..drive.inputs.len() {
        let arguments = arguments(system, &state, drive, position);
        let slices: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
        step.run(&mut workspace, &slices, 1)?;
        let output = |port: usize| step.output(&workspace, &slices, port);
        run.atoms.push(
            roles.atoms.iter().map(|atom| output(atom.truth.port).first().is_some_and(|&own| own != 0.0)).collect(),
        );
        run.policies.push(roles.policies.iter().flat_map(|policy| output(policy.port).iter().copied()).collect());
        let mut sampled = drive.choices[position].iter();
        let label = |role: &ActionRole| match role {
            ActionRole::Argmax { choice, .. } => output(choice.port).iter().position(|&own| own != 0.0).unwrap_or(0),
            ActionRole::Softmax { .. } => sampled.next().copied().unwrap_or(0),
        };
        run.actions.push(roles.actions.iter().map(label).collect());
        let next = roles.next.iter().flat_map(|next| output(next.port).iter().copied()).collect();
        run.states.push(std::mem::replace(&mut state, next));
    }
    Ok(run)
}
