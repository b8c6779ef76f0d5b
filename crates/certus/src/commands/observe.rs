//! `certus observe`: what a reference algorithm saw and decided.

use certus_model::counted;
use certus_tasks::commands::observe::{task, work};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;

/// Writes a table of observations.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let rows = work(&call.request, &task(&call.request)?)?;
    if let (Some(path), Some(decider)) = (call.request.output(), call.request.text("decider")) {
        eprintln!("{} of {decider} in {}", counted(rows as u128, "observation"), path.display());
    }
    Ok(Finding::Good)
}
