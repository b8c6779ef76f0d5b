//! From a simulated run to a verdict.
//!
//! Simulation is only believed where others confirm it. The choices of a run drive the step as it was lowered, one position after the other; the
//! first prefix that violates the property is replayed ([`certus_check::replay`]), which checks that it is a run at all. A lasso must be shown over the reals
//! ([`certus_check::loops`]), and so must convergence ([`certus_check::convergence`]) and a model error ([`certus_check::confirm`]).

use std::cell::OnceCell;

use certus_check::convergence::Convergence;
use certus_check::enclosed::{MOST_ENCLOSED, violates_over_the_reals};
use certus_check::loops::proved_loop;
use certus_check::monitor::Monitor;
use certus_check::replay::{Drive, replay};
use certus_check::{Confirmed, confirm, walked, with_allowed_end};
use certus_engine::Budget;
use certus_lang::system::{ActionRole, System};
use certus_model::{AtomId, CheckError, Formula, ModelError, Run};
use certus_sim::Step;
use certus_sim::Verdict as Seen;
use certus_sim::semantics::{self, Tail};

use crate::lasso;
use crate::rounding::is_on_a_border;

/// Lassos of one run that are tried.
const MOST_LASSOS: usize = 3;

/// How sure it is that a finite run violates a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// Rounding may be all that makes it a violation.
    Doubtful,
    /// It replays in doubles, and intervals are too wide to tell more.
    InDoubles,
    /// Intervals around it confirm it.
    OverTheReals,
}

/// What a run with a model error came to.
pub(crate) enum Ended {
    /// It has this error before the property is decided.
    Error(Box<ModelError>),
    /// It violates the property, whatever the error.
    Violated(Run),
}

/// Decides what runs of a system show of a formula.
pub(crate) struct Judge<'t> {
    pub(crate) system: &'t System,
    pub(crate) formula: &'t Formula,
    monitor: OnceCell<Monitor>,
}

impl<'t> Judge<'t> {
    /// For a formula.
    pub(crate) fn new(system: &'t System, formula: &'t Formula) -> Judge<'t> {
        Judge { system, formula, monitor: OnceCell::new() }
    }

    /// What drove a simulated run.
    pub(crate) fn drive(&self, trace: &[Step]) -> Drive {
        let random = |step: &Step| -> Vec<usize> {
            let own = step.actions.iter().zip(&self.system.roles.actions);
            own.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. })).map(|(&label, _)| label).collect()
        };
        Drive {
            state: trace.first().map(|step| step.state.clone()).unwrap_or_default(),
            inputs: trace.iter().map(|step| step.input.clone()).collect(),
            chances: trace.iter().map(|step| step.chances.clone()).collect(),
            choices: trace.iter().map(random).collect(),
            loop_to: None,
        }
    }

    /// The shortest prefix of a run that violates the formula, replayed.
    pub(crate) fn finite(&self, mut drive: Drive, budget: &Budget<'_>) -> Result<Option<Run>, CheckError> {
        let walk = walked(self.system, &drive)?;
        let Some(positions) = first_violation(self.formula, &walk.atoms) else { return Ok(None) };
        drive.truncate(positions);
        match replay(self.system, self.formula, &drive)? {
            Some(run) => with_allowed_end(self.system, self.formula, run, budget),
            None => Ok(None),
        }
    }

    /// How sure a finite violation is.
    pub(crate) fn grade(&self, run: &Run) -> Result<Grade, CheckError> {
        let short = run.states.len() <= MOST_ENCLOSED;
        if short && violates_over_the_reals(self.system, self.formula, run)? {
            return Ok(Grade::OverTheReals);
        }
        // Nobody knows the error with which doubles follow a flow.
        let doubtful =
            self.system.is_exact() || is_on_a_border(self.system, self.formula, &Drive::of(self.system, run))?;
        Ok(if doubtful { Grade::Doubtful } else { Grade::InDoubles })
    }

    /// A lasso within a run that violates the formula: over the reals (`Ok`), or in doubles alone (`Err`).
    pub(crate) fn lasso(&self, drive: &Drive) -> Result<Option<Result<Run, Run>>, CheckError> {
        let walk = walked(self.system, drive)?;
        let mut candidate = None;
        for (positions, start) in lasso::violating(self.formula, &walk, MOST_LASSOS) {
            let mut own = Drive { loop_to: Some(start), ..drive.clone() };
            own.truncate(positions);
            let Some(run) = replay(self.system, self.formula, &own)? else { continue };
            if proved_loop(self.system, self.formula, &run)? {
                return Ok(Some(Ok(run)));
            }
            candidate.get_or_insert(Err(run));
        }
        Ok(candidate)
    }

    /// The run from a state, if it converges and violates the formula thereby.
    pub(crate) fn converging(&self, start: &[f64]) -> Result<Option<Run>, CheckError> {
        Ok(match Convergence::new(self.system)? {
            Some(own) => own.violation(self.formula, start)?,
            None => None,
        })
    }

    /// What a run whose last position seems to have a model error is.
    pub(crate) fn error(&self, drive: &Drive, budget: &Budget<'_>) -> Result<Option<Ended>, CheckError> {
        let monitor = self.monitor.get_or_init(|| Monitor::new(self.formula));
        Ok(match confirm(self.system, self.formula, monitor, drive, budget)? {
            Confirmed::Error(error) => Some(Ended::Error(Box::new(error))),
            Confirmed::Violated(run) => Some(Ended::Violated(run)),
            Confirmed::NoDeadlock(_) | Confirmed::Not => None,
        })
    }
}

/// The number of positions after which a run violates a formula, whatever follows.
pub(crate) fn first_violation(formula: &Formula, atoms: &[Vec<bool>]) -> Option<usize> {
    let violated = |positions: usize| {
        let truth = |id: AtomId, position: usize| atoms[position][id.0];
        semantics::verdict(formula, positions, Tail::Unknown, &truth) == Seen::Violated
    };
    if atoms.is_empty() || !violated(atoms.len()) {
        return None;
    }
    // What a prefix violates, longer ones do as well.
    let (mut open, mut broken) = (0, atoms.len());
    while broken - open > 1 {
        let middle = open + (broken - open) / 2;
        if violated(middle) { broken = middle } else { open = middle }
    }
    Some(broken)
}
