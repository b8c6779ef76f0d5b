//! Why no run has a model error before a property is decided on it.
//!
//! A run with an error ends there. It counts if the positions up to the error leave open whether the property holds; at the
//! erroneous position only the atoms that have a value count, and what has none is supposed to be whatever keeps the property
//! open.

use std::collections::BTreeSet;

use certus_lang::system::{AtomId, Formula as Ltl, System};

use crate::all_time::{inductive, inside};
use crate::formula::Formula;
use crate::reach::{declared, initial, reached};
use crate::run::{Box, Run};
use crate::temporal::{After, Nnf, Shape};
use crate::words::{Errors, Face, Proof, Words};
use crate::{Asked, Refused, is_chosen, uses_next};

/// Asks what the words about model errors rest on.
pub(crate) fn derive(system: &System, formula: &Ltl, words: &Words, asked: &mut Asked) -> Result<(), Refused> {
    let violation = Nnf::of(formula, false);
    if words.errors != Errors::Assumed {
        let run = Run::new(system, &declared(system), Shape::prefix(1))?;
        let undefined = vec![run.init_undefined()];
        asked.never("a state in which `init` is undefined", run, undefined)?;
    }
    match &words.errors {
        Errors::Assumed => Ok(()),
        Errors::Everywhere => in_states(system, &violation, words, &[], &Nnf::Constant(true), asked),
        Errors::Undecided => in_states(system, &violation, words, &[], &violation.open(), asked),
        Errors::Induction(faces) => {
            let open = violation.open();
            inductive(system, faces, &open, asked)?;
            in_states(system, &violation, words, faces, &open, asked)
        }
        Errors::Bounded(steps) => {
            let horizon = violation.horizon();
            // Behind its last step nothing of a property is open.
            let needed = match &words.proof {
                Proof::Bounded { steps, .. } => horizon.unwrap_or(u64::MAX).min(*steps as u64),
                Proof::OutOfReach { steps } => *steps as u64,
                Proof::ForAllTime(_) => {
                    horizon.ok_or_else(|| Refused::new("model errors are excluded for some steps only"))?
                }
            };
            if (*steps as u64) < needed {
                return Err(Refused::new("model errors are excluded for fewer steps than violations"));
            }
            let deepest = horizon.map_or(*steps, |last| usize::try_from(last).unwrap_or(*steps).min(*steps));
            for last in 0..=deepest {
                let shape = Shape { positions: last + 1, after: After::Anything };
                each_kind(system, &violation, words, &initial(system), shape, asked, &|run, literal| {
                    Ok(vec![run.initial(), shape.says(&violation, 0, literal)])
                })?;
            }
            Ok(())
        }
    }
}

/// Asks for an error in a state of a box that no run leaves, inside of an invariant, where a condition holds.
fn in_states(
    system: &System,
    violation: &Nnf,
    words: &Words,
    faces: &[Face],
    open: &Nnf,
    asked: &mut Asked,
) -> Result<(), Refused> {
    let shape = Shape::prefix(1);
    each_kind(system, violation, words, &reached(system)?, shape, asked, &|run, literal| {
        Ok(vec![inside(faces, &run.observed(0))?, shape.says(open, 0, literal)])
    })
}

/// What must hold of a run, told what an atom that is as wanted (or has no value) is.
type More<'a> = dyn Fn(&Run<'_>, &mut dyn FnMut(AtomId, usize, bool) -> Formula) -> Result<Vec<Formula>, Refused> + 'a;

/// Asks, for each kind of error, for a run of some shape with that error at its last position.
fn each_kind(
    system: &System,
    violation: &Nnf,
    words: &Words,
    first: &Box,
    shape: Shape,
    asked: &mut Asked,
    more: &More<'_>,
) -> Result<(), Refused> {
    let last = shape.positions - 1;
    let place = |what: &str| format!("{what} after {last} steps or at once");
    let roles = &system.roles;
    let atoms: BTreeSet<AtomId> = violation.atoms().into_iter().collect();
    let mut ask = |title: &str,
                   error: &mut dyn FnMut(&mut Run<'_>) -> Result<Formula, Refused>,
                   known: &dyn Fn(AtomId) -> bool| {
        let mut run = Run::new(system, first, shape)?;
        let error = error(&mut run)?;
        let own = &run;
        let parts = more(own, &mut |atom, at, wanted| match at < last || known(atom) {
            true => own.atom(at, atom, wanted),
            false => Formula::TRUE,
        })?;
        let parts = [vec![run.is_run(), error], parts].concat();
        asked.never(place(title), run, parts)
    };
    ask(
        "a successor outside of its range",
        // A terminal state keeps its value, which is in range.
        &mut |run| Ok(Formula::all([run.goes_on(last), run.allowed(last), run.successor(last, false)])),
        &|atom| !uses_next(system, atom),
    )?;
    if roles.assume.is_some() {
        ask("a deadlock", &mut |run| run.stuck(last, &words.witness), &|atom| !is_chosen(system, atom))?;
    }
    // Where the position itself is undefined, only atoms of the state that are defined everywhere have a value for sure; where its
    // successor is, so have all others that do not mention it.
    let is_total = |atom: AtomId| roles.atoms_defined.get(atom.0).is_none_or(Option::is_none);
    let is_plain = |atom: AtomId| is_total(atom) && system.atoms.get(atom.0).is_some_and(|own| own.state_only);
    if roles.choice_defined.is_some() {
        ask("an undefined operation", &mut |run| Ok(run.choice_undefined(last)), &is_plain)?;
    }
    if roles.defined.is_some() {
        let known = |atom: AtomId| is_total(atom) && !uses_next(system, atom);
        ask("a successor that is undefined", &mut |run| Ok(run.successor_undefined(last)), &known)?;
    }
    for &atom in &atoms {
        if roles.atoms_defined.get(atom.0).is_some_and(Option::is_some) {
            let mut error = |run: &mut Run<'_>| {
                // An atom that reads a choice is evaluated where that is allowed.
                let allowed = if is_chosen(system, atom) { run.allowed(last) } else { Formula::TRUE };
                Ok(Formula::all([allowed, run.atom_undefined(last, atom)]))
            };
            ask("an undefined operation in the property", &mut error, &is_plain)?;
        }
    }
    Ok(())
}
