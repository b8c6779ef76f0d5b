//! `certus verify`: is there a point of a region at which an assertion about networks holds?

use std::io::Write;
use std::time::Instant;

use certus_tasks::commands::verify::{notes, task, work};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;

/// Decides a query; the first line is `sat`, `unsat`, `unknown` or `timeout`.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = task(&call.request)?;
    let verified = call.live(|session| work(&task, session))?;
    call.print(
        || verified.document(&task, started.elapsed().as_secs_f64()),
        |output| {
            writeln!(output, "{}", verified.verdict())?;
            match verified.witness() {
                Some((question, witness)) => Ok(question.write_witness(witness, output)?),
                None => Ok(()),
            }
        },
    )?;
    let (decided, notes) = (verified.is_decided(), notes(&task, &verified));
    for warning in verified.finish() {
        eprintln!("warning: {warning}");
    }
    for note in notes {
        call.note(&note);
    }
    Ok(if decided { Finding::Good } else { Finding::Undecided })
}
