//! `certus extract`: one action per cell, out of a network.

use std::io::Write;

use certus_model::{counted, short};
use certus_tasks::commands::extract::{task, work, write};
use certus_tasks::extract::{Extract, Extracted, plots};

use super::write_brief;
use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Extracts a policy.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let task = task(&call.request)?;
    let Some(found) = call.live(|session| work(&task, session))? else {
        call.note(&format!("{} before the first episodes ended", call.ended_by()));
        return Ok(Finding::Undecided);
    };
    report(&task, &found)?;
    write(&call.request, &task, &found)?;
    let (count, wanted) = (found.compared.network.len(), task.episodes.count);
    if count < wanted {
        call.note(&format!("{} after {count} of {wanted} episodes", call.ended_by()));
        return Ok(Finding::Undecided);
    }
    Ok(Finding::Good)
}

fn report(task: &Extract, found: &Extracted) -> Result<(), Failure> {
    let mut output = Output::open(None)?;
    let (count, steps) = (found.compared.network.len(), task.episodes.steps);
    let (count, steps) = (counted(count as u128, "episode"), certus_model::steps(steps));
    writeln!(output, "{}: returns of {count} of at most {steps}", found.system.name)?;
    write_brief(&found.provenance, &mut output)?;
    writeln!(output)?;
    let plots = plots(found);
    let width = plots.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    writeln!(
        output,
        "  {:width$}  {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "least", "quarter", "median", "quarter", "most"
    )?;
    for (name, five) in &plots {
        let numbers: Vec<String> = five.iter().map(|&number| format!("{:>10}", short(number))).collect();
        writeln!(output, "  {name:width$}  {}", numbers.join(" "))?;
    }
    output.finish()
}
