//! Validation of concrete runs: does a run of the system show a violation, a model error, or nothing?
//!
//! A violation by finitely many positions counts after it was replayed: by `certus-check` for the network, and for an extracted policy by the evaluation that defines
//! it. A loop of doubles is a candidate only; it counts if it is one over the reals (`reach_tube.rs`). A model error counts if intervals around the run confirm every step
//! before it, the error itself, and that the property is open by then (`monitor.rs`).

use certus_automata::system::Truths;
use certus_check::loops::proved_loop;
use certus_check::replay::{Drive, replay};
use certus_check::{lasso_semantics, with_allowed_end};
use certus_graph::Interval;
use certus_lang::system::{AtomId, Integers, Variable};
use certus_model::{CheckError, Run};
use certus_sim::semantics::{self, Tail};
use certus_solver::Budget;

use crate::concretise::{Concretisation, RunEnd};
use crate::monitor::Monitor;
use crate::possible_errors::PossibleErrors;
use crate::reach_tube::{ReachTube, labels_of, ranges};

/// A validated finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A run that violates the property.
    Violation(Run),
    /// A run that meets a model error at its last position, before the property is decided.
    Error(Run, ErrorCause),
}

/// The cause of a model error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorCause {
    /// A state coordinate leaves its range.
    RangeExit {
        /// Its place in the state.
        element: usize,
        /// What it would be.
        value: f64,
    },
    /// Nothing can be chosen.
    Deadlock,
    /// An operation is undefined.
    Undefined,
}

/// The most atoms without a value for which all values are tried.
const MOST_OPEN: u32 = 6;

impl Concretisation<'_> {
    /// The shortest prefix of a run that shows a violation, if one does, with an allowed choice at its end where the property reads choices.
    pub(crate) fn violation(&mut self, run: &Run, end: RunEnd) -> Result<Option<Run>, CheckError> {
        let Some(found) = self.violation_by(run, end)? else { return Ok(None) };
        if self.stepper.is_network() {
            return with_allowed_end(self.system, self.formula, found, &Budget::default());
        }
        let reads = |atom: &AtomId| self.system.atoms[atom.0].uses_choice || self.system.atoms[atom.0].uses_next;
        let (true, true, Some(state)) = (found.open_end, self.atoms.iter().any(reads), found.states.last()) else {
            return Ok(Some(found));
        };
        let point: Vec<Interval> = state.iter().map(|&value| Interval::point(value)).collect();
        Ok(self.is_deadlock(&point)?.then_some(found))
    }

    fn violation_by(&mut self, run: &Run, end: RunEnd) -> Result<Option<Run>, CheckError> {
        let positions = run.states.len();
        let goes_wrong = errors_of(end) != PossibleErrors::default();
        let whole = positions - usize::from(goes_wrong && positions > 0);
        let atom = |id: AtomId, position: usize| run.atoms[position][id.0];
        let shows = |positions: usize| !semantics::evaluate(self.formula, positions, Tail::Unknown, &atom).greatest;
        if whole > 0 && shows(whole) {
            let (mut without, mut with) = (0, whole);
            while with - without > 1 {
                let middle = (with + without) / 2;
                if shows(middle) { with = middle } else { without = middle }
            }
            return self.replayed(cut(run.clone(), with), false);
        }
        if goes_wrong && self.shows_at_last(run, end) {
            return self.replayed(run.clone(), matches!(end, RunEnd::NothingAllowed | RunEnd::Undefined));
        }
        let Some(start) = run.loop_to else { return Ok(None) };
        if lasso_semantics::holds(self.formula, positions, start, &atom)[0] {
            return Ok(None);
        }
        let Some(run) = self.replayed(run.clone(), false)? else { return Ok(None) };
        let is_proved = self.stepper.is_network() && proved_loop(self.system, self.formula, &run)?;
        if is_proved || self.repeats_over_the_reals(&run, start)? {
            return Ok(Some(run));
        }
        self.candidate.get_or_insert(run);
        Ok(None)
    }

    /// Whether a run with a model error at its last position violates the property for all values of the atoms that have none there.
    fn shows_at_last(&self, run: &Run, end: RunEnd) -> bool {
        let Some(last) = run.states.len().checked_sub(1) else { return false };
        let mut valued = self.valued.at(Truths { yes: u64::MAX, no: 0 }, errors_of(end)).yes;
        if end == RunEnd::Undefined {
            // The choice need not be allowed, and then says nothing.
            valued &= self.valued.without_choice;
        }
        let open: Vec<AtomId> =
            self.atoms.iter().enumerate().filter(|(place, _)| valued >> place & 1 == 0).map(|(_, &id)| id).collect();
        if open.len() as u32 > MOST_OPEN {
            return false;
        }
        (0..1u32 << open.len()).all(|values| {
            let atom = |id: AtomId, position: usize| match open.iter().position(|&own| own == id) {
                Some(place) if position == last => values >> place & 1 == 1,
                _ => run.atoms[position][id.0],
            };
            !semantics::evaluate(self.formula, last + 1, Tail::Unknown, &atom).greatest
        })
    }

    /// The run, replayed; `forbidden` says that the choice at its end is not allowed.
    fn replayed(&self, run: Run, forbidden: bool) -> Result<Option<Run>, CheckError> {
        match self.stepper.is_network() {
            true => Ok(replay(self.system, self.formula, &Drive::of(self.system, &run))?),
            false => {
                // Without an atom that reads them, choices at the end do not matter.
                let reads =
                    |atom: &AtomId| self.system.atoms[atom.0].uses_choice || self.system.atoms[atom.0].uses_next;
                let open_end = run.loop_to.is_none() && (forbidden || !self.atoms.iter().any(reads));
                Ok(Some(Run { open_end, ..run }))
            }
        }
    }

    /// The model error at a run's last position, if it is one over the reals and the property is open by then.
    pub(crate) fn error(&mut self, run: &Run, end: RunEnd) -> Result<Option<Found>, CheckError> {
        let errors = errors_of(end);
        let Some(last) = run.states.len().checked_sub(1).filter(|_| errors != PossibleErrors::default()) else {
            return Ok(None);
        };
        // Rounding may leave open whether a range is left now or later; it is left in either case.
        let Some(tube) = self.tube(run, last, end == RunEnd::RangeExit)? else { return Ok(None) };
        let state = &tube.states[last];
        let inputs: Vec<Interval> = run.inputs[last].iter().map(|&value| Interval::point(value)).collect();
        let Some(own) = self.stepper.enclosed(state, &inputs, &labels_of(self.system, run, last))? else {
            return Ok(None);
        };
        if last == 0 && own.initial != Some(true) {
            return Ok(None);
        }
        // Whether an atom that reads a choice has a value depends on whether that is allowed.
        let reads = |atom: &AtomId| self.system.atoms[atom.0].uses_choice;
        let wrong = match end {
            RunEnd::Undefined if own.allowed != Some(true) && self.atoms.iter().any(reads) => None,
            RunEnd::Undefined if own.defined == Some(false) => {
                Some(no_integer(&self.system.states, &own.next).unwrap_or(ErrorCause::Undefined))
            }
            RunEnd::Undefined => None,
            RunEnd::NothingAllowed => self.is_deadlock(state)?.then_some(ErrorCause::Deadlock),
            _ if own.allowed == Some(true) && own.defined == Some(true) => left(&self.system.states, &own.next),
            _ => None,
        };
        let Some(wrong) = wrong else { return Ok(None) };
        let valued = self.valued.at(Truths { yes: u64::MAX, no: 0 }, errors).yes;
        // Where something is undefined, an atom that is certain has a value.
        let wanted = if end == RunEnd::Undefined { u64::MAX } else { valued };
        let mut letter = Truths::default();
        // An atom that is not certain may have either value, unless it surely has none.
        let mut unsure = Vec::new();
        for (place, atom) in self.atoms.iter().enumerate().filter(|(place, _)| wanted >> place & 1 == 1) {
            match own.atoms[atom.0] {
                Some(true) => letter.yes |= 1 << place,
                Some(false) => letter.no |= 1 << place,
                None if valued >> place & 1 == 1 => return Ok(None),
                None if self.system.atoms[atom.0].uses_next || own.valueless[atom.0] => {}
                None => unsure.push(place),
            }
        }
        if unsure.len() as u32 > MOST_OPEN {
            return Ok(None);
        }
        let ReachTube { mut letters, straddles, .. } = tube;
        letters.push(letter);
        let (system, formula) = (self.system, self.formula);
        let monitor = self.monitor.get_or_insert_with(|| Monitor::new(system, formula));
        let is_open = monitor.as_ref().is_some_and(|own| {
            straddles.iter().all(|&position| {
                let mut letters = letters[..=position].to_vec();
                letters[position] = self.valued.at(letters[position], PossibleErrors::RANGE);
                own.is_open(&letters)
            }) && own.is_open(&letters)
                && (0..1u64 << unsure.len()).all(|values| {
                    let mut letters = letters.clone();
                    for (bit, place) in unsure.iter().enumerate() {
                        let last = &mut letters[last];
                        let side = if values >> bit & 1 == 1 { &mut last.yes } else { &mut last.no };
                        *side |= 1 << place;
                    }
                    own.is_open(&letters)
                })
        });
        // An atom that has no value whatever is chosen: a choice that is not allowed is not shown.
        let by_its_state = match own.allowed {
            Some(allowed) => !allowed,
            None => self.system.roles.choice_defined.is_none(),
        };
        let open_end = wrong == ErrorCause::Deadlock || by_its_state;
        Ok(is_open.then(|| Found::Error(Run { loop_to: None, open_end, ..run.clone() }, wrong)))
    }
}

/// The model error with which a run ends.
fn errors_of(end: RunEnd) -> PossibleErrors {
    match end {
        RunEnd::Cut | RunEnd::Repeats => PossibleErrors::default(),
        RunEnd::NothingAllowed => PossibleErrors::DEADLOCK,
        RunEnd::RangeExit => PossibleErrors::RANGE,
        RunEnd::Undefined => PossibleErrors::UNDEFINED,
    }
}

/// A run up to so many positions.
fn cut(mut run: Run, positions: usize) -> Run {
    run.loop_to = None;
    for table in [&mut run.states, &mut run.inputs, &mut run.policies] {
        table.truncate(positions);
    }
    run.chances.truncate(positions);
    run.actions.truncate(positions);
    run.atoms.truncate(positions);
    run
}

/// A number that is to be an integer and is none for certain.
fn no_integer(variables: &[Variable], values: &[Interval]) -> Option<ErrorCause> {
    let integers = variables.iter().flat_map(|own| std::iter::repeat_n(own.integers.as_ref(), own.len));
    let mut all = values.iter().zip(integers).enumerate();
    let is_none = |value: &Interval, own: &Integers| own.between(value.lo, value.hi).is_none();
    let found = all.find(|(_, (value, own))| own.is_some_and(|own| is_none(value, own)));
    found.map(|(element, (value, _))| ErrorCause::RangeExit {
        element,
        value: certus_solver::middle(value.lo, value.hi).0,
    })
}

/// A number that is out of its range for certain.
fn left(variables: &[Variable], values: &[Interval]) -> Option<ErrorCause> {
    let mut all = values.iter().zip(ranges(variables)).enumerate();
    let found = all.find(|(_, (value, (low, high)))| value.hi < **low || value.lo > **high);
    found.map(|(element, (value, _))| ErrorCause::RangeExit {
        element,
        value: certus_solver::middle(value.lo, value.hi).0,
    })
}
