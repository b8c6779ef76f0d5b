//! `certus optimise`: how large can a linear expression get where an assertion holds?

use std::io::Write;
use std::time::Instant;

use certus_tasks::commands::optimise::{note, task, work};
use certus_tasks::optimise::{Optimise, Optimised};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Bounds the maximum or minimum of an expression.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = task(&call.request)?;
    let found = call.live(|session| work(&task, session))?;
    call.print(|| found.document(&task, started.elapsed().as_secs_f64()), |output| report(&task, &found, output))?;
    if let Some(note) = note(&task, &found) {
        call.note(&note);
    }
    Ok(if found.reached { Finding::Good } else { Finding::Undecided })
}

fn report(task: &Optimise, found: &Optimised, output: &mut Output) -> Result<(), Failure> {
    let Optimise { minimise, expression, .. } = task;
    let Optimised { empty, lower, upper, question, witness, .. } = found;
    let word = if *minimise { "minimum" } else { "maximum" };
    if *empty {
        writeln!(output, "no point of the region satisfies the assertion: {expression} has no {word}")?;
        return Ok(());
    }
    writeln!(output, "{word} of {expression}: in [{lower:?}, {upper:?}]")?;
    match (question, witness) {
        (Some(question), Some(witness)) => question.write_witness(witness, output)?,
        _ => writeln!(output, "no point was found")?,
    }
    Ok(())
}
