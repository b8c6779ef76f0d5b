//! The engines, asked as a user would ask them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use certus_lang::LowerOptions;
use certus_model::Outcome;
use certus_tasks::check::{Check, GridOptions, check};
use certus_tasks::{BudgetOptions, Loading};

use crate::systems::Case;

/// An engine, and how many steps it is asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// How it is called in reports.
    pub name: &'static str,
    engine: &'static str,
    /// `-k`.
    pub steps: Option<usize>,
}

/// Everything that is compared.
pub const ALL: [Asked; 8] = [
    Asked { name: "auto", engine: "auto", steps: None },
    Asked { name: "falsify", engine: "falsify", steps: None },
    Asked { name: "bmc-1", engine: "bmc", steps: Some(1) },
    Asked { name: "bmc-3", engine: "bmc", steps: Some(3) },
    Asked { name: "auto-2", engine: "auto", steps: Some(2) },
    Asked { name: "induction", engine: "induction", steps: None },
    Asked { name: "reach", engine: "reach", steps: None },
    Asked { name: "grid", engine: "grid", steps: None },
];

/// The grid is cut finer so often at most.
const REFINEMENTS: usize = 2;

/// Whoever takes longer is stopped, and has said nothing: no work limit keeps every engine from going on for ever.
/// Usual questions take a thousandth of this, so which ones are stopped does not depend on the load.
const PATIENCE: Duration = Duration::from_secs(2);

/// What an engine says of every property of a case, each asked on its own.
pub fn ask(asked: Asked, case: &Case, folder: &Path) -> Result<Vec<Result<Outcome, String>>, String> {
    let path = case.write(folder, "system.certus")?;
    case.properties.iter().map(|property| ask_one(asked, case, property, &path)).collect()
}

fn ask_one(asked: Asked, case: &Case, property: &str, path: &Path) -> Result<Result<Outcome, String>, String> {
    let options = LowerOptions { overrides: case.settings.clone(), ..LowerOptions::default() };
    let refinements = (asked.engine == "grid").then_some(REFINEMENTS);
    let task = Check {
        system: Loading { path: path.to_owned(), options, ..Loading::default() },
        properties: vec![property.to_owned()],
        engine: asked.engine.parse()?,
        grid: GridOptions { refinements, ..GridOptions::default() },
        steps: asked.steps,
        assume_no_model_errors: false,
        certificate: None,
        effort: BudgetOptions { threads: 1, ..BudgetOptions::default() },
    };
    let (stop, started) = (Arc::new(AtomicBool::new(false)), Instant::now());
    let impatient = Arc::clone(&stop);
    let tick = |_: &_| impatient.store(started.elapsed() > PATIENCE, Ordering::Relaxed);
    let checked = check(&task, &stop, tick).map_err(|failure| failure.to_string())?;
    let found = checked.results.into_iter().next().ok_or("nothing was said")?;
    Ok(found.outcome.and_then(|found| found.runs().cloned().ok_or_else(|| "no verdict about runs".to_owned())))
}
