//! Checks properties of a system.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_engine::schedule::Wall;
use certus_engine::{Board, Ended, Job, Progress};
use certus_grid::{Policy, Report};
use certus_lang::system::{Property, System};
use certus_model::{Outcome, Run, Verdict, usual_steps};
use certus_prob::Convergence;
use certus_reach::Evidence;

pub(crate) mod certificate;
mod document;
mod engines;
mod flowpipe;
mod grid;
mod joined;
mod reachable;
mod region;
mod region_document;
pub(crate) mod state_sets;
mod trace_table;
mod work;

pub use certificate::certify_words;
pub(crate) use document::{DRAWING, described};
pub use document::{add_flowpipes, confining_box, document, names_of, policy_names, proof_names, why};
pub use engines::{EngineChoice, PROBABILITIES};
pub use flowpipe::flowpipe_picture;
pub(crate) use grid::widths as grid_widths;
pub use grid::{GridOptions, cells_picture};
pub use reachable::certify_reachable;
pub use region::{Mapped, RegionResult, Regions, regions};
pub use region_document::{region_document, region_picture, shares, standing_word};
pub use trace_table::trace_csv;

use crate::failure::Failure;
use crate::{BudgetOptions, Loading, Provenance};
use work::{Partial, concluded, run, settled};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Check {
    /// The system.
    pub system: Loading,
    /// The properties; none for all.
    pub properties: Vec<String>,
    /// How they are checked.
    pub engine: EngineChoice,
    /// What the grid engine is to do.
    pub grid: GridOptions,
    /// How many steps are looked at; by default ten, or as far as a property's own bounds reach.
    pub steps: Option<usize>,
    /// Whether the absence of model errors is taken for granted; outcomes and certificates then say so.
    pub assume_no_model_errors: bool,
    /// Where the proof of the one property that is asked about goes, if it holds.
    pub certificate: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

impl Check {
    /// How many steps are looked at for a property.
    pub fn steps_for(&self, property: &Property) -> usize {
        self.steps.unwrap_or_else(|| usual_steps(property))
    }
}

/// What came out.
pub struct Checked {
    /// The system; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// What is said of each property that was asked about.
    pub results: Vec<PropertyResult>,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

/// What is said of one property.
#[derive(Clone)]
pub struct PropertyResult {
    /// Its place in the system.
    pub property: usize,
    /// What was found out, or why it cannot be.
    pub outcome: Result<Found, String>,
    /// How long it took.
    pub seconds: f64,
    /// Where its certificate is, if one was wanted and there is one.
    pub certificate: Option<PathBuf>,
    /// What the exploration of a grid looked like.
    pub grid: Option<Report>,
    /// What a proof by reachable sets consists of.
    pub evidence: Option<Evidence>,
}

/// What was found out about a property.
#[derive(Clone)]
pub enum Found {
    /// About its runs.
    Runs(Box<Outcome>),
    /// About its probability, and how the interval narrowed.
    Probability(Box<certus_prob::Outcome>, Convergence),
}

/// What a property is said to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It holds, as far as was asked.
    Holds,
    /// It is violated.
    Violated,
    /// It asks for a number, which is known as well as was asked.
    Measured,
    /// The model describes no system somewhere on a run.
    ModelError,
    /// None of these.
    Unknown,
}

impl Found {
    /// What was concluded.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Found::Runs(outcome) => match outcome.verdict {
                Verdict::Holds(_) => Conclusion::Holds,
                Verdict::Violated(_) => Conclusion::Violated,
                Verdict::ModelError(_) => Conclusion::ModelError,
                // The bounds themselves stand in the other variant.
                Verdict::Probability(_) | Verdict::Unknown(_) => Conclusion::Unknown,
            },
            Found::Probability(outcome, _) => match (outcome.holds, outcome.asks, outcome.narrow) {
                (Some(true), ..) => Conclusion::Holds,
                (Some(false), ..) => Conclusion::Violated,
                (None, false, true) => Conclusion::Measured,
                (None, ..) => Conclusion::Unknown,
            },
        }
    }

    /// What was found out about runs, if that was asked.
    pub fn runs(&self) -> Option<&Outcome> {
        match self {
            Found::Runs(outcome) => Some(outcome),
            Found::Probability(..) => None,
        }
    }

    /// The run that violates the property, if there is one.
    pub fn run(&self) -> Option<&Run> {
        match &self.runs()?.verdict {
            Verdict::Violated(run) => Some(run),
            Verdict::ModelError(error) => Some(&error.run),
            _ => None,
        }
    }
}

/// How far a check is.
#[derive(Clone, Debug, Default)]
pub struct CheckProgress {
    /// The property that is checked.
    pub property: String,
    /// How far the engine is that has its turn.
    pub progress: Option<Progress>,
}

/// Checks properties. `tick` is called some twenty times a second meanwhile, and `stop` ends it.
pub fn check(task: &Check, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&CheckProgress)) -> Result<Checked, Failure> {
    check_and_tell(task, stop, &mut tick, &mut |_| Ok(()))
}

/// What was found out about a property, as soon as it is.
pub struct Decided<'a> {
    /// The system.
    pub system: &'a System,
    /// The result.
    pub result: &'a PropertyResult,
    /// Where it comes from.
    pub provenance: &'a Provenance,
}

/// Checks properties; `decided` is told each result once, when it will not change any more. If it fails, so does the check.
pub fn check_and_tell(
    task: &Check,
    stop: &Arc<AtomicBool>,
    tick: &mut dyn FnMut(&CheckProgress),
    decided: &mut dyn FnMut(Decided<'_>) -> Result<(), Failure>,
) -> Result<Checked, Failure> {
    refuse(task)?;
    let board = Board::new(Partial::default());
    // The properties that were told of.
    let mut told = Vec::new();
    let mut failed = None;
    let ended = {
        let task = task.clone();
        let shown = |board: &Board<Partial>| {
            tick(&board.with(|known| known.progress.clone()));
            if failed.is_none() {
                failed = tell(&board.with(|known| settled(&task, known, &told)), &mut told, decided).err();
            }
        };
        let own = task.clone();
        Job::new(task.effort.deadline, stop)
            .run_with_board(&board, shown, move |board, cancel| run(&own, cancel, board, &Wall))?
    };
    let reason = ended.reason();
    if let Ended::Done(done) = ended {
        done?;
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    // A copy: work that is late goes on with what is its own.
    let checked = concluded(task, board.copy(), reason);
    tell(&checked, &mut told, decided)?;
    Ok(checked)
}

/// Tells of the results that were not told of before.
fn tell(
    checked: &Checked,
    told: &mut Vec<usize>,
    decided: &mut dyn FnMut(Decided<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Checked { system: Some(system), results, provenance } = checked else { return Ok(()) };
    for result in results.iter().filter(|result| !told.contains(&result.property)).collect::<Vec<_>>() {
        decided(Decided { system, result, provenance })?;
        told.push(result.property);
    }
    Ok(())
}

/// That a file says nothing that could be checked.
pub(crate) fn nothing_to_check(loading: &Loading) -> Failure {
    let file = loading.path.display();
    Failure::message(format!(
        "{file} has no property, so there is nothing to check: write one as `property safe = G φ`"
    ))
}

/// Refuses what could only be ignored.
fn refuse(task: &Check) -> Result<(), Failure> {
    let grid = &task.grid;
    let wrong = if !task.engine.is(certus_grid::NAME) && grid.policy != Policy::Network {
        "an extracted policy belongs to the grid engine, the others are about the network itself: add ⟨engine=grid⟩"
    } else if let (Some(reason), true) = (task.engine.no_certificate(), task.certificate.is_some()) {
        reason
    } else if (!task.engine.has_grid() || task.certificate.is_some())
        && (!grid.widths.is_empty() || grid.refinements.is_some())
    {
        "⟨widths⟩ and ⟨refine⟩ belong to the grid, which has no part in proofs with certificates or in other engines: leave them out"
    } else {
        return Ok(());
    };
    Err(Failure::message(wrong))
}
