//! `certus optimise`: how large can a linear expression get where an assertion holds?

use std::io::Write;
use std::time::Instant;

use certus_documents::Document;
use certus_tasks::optimise::{self, Optimised, optimise};
use certus_tasks::{Files, SearchProgress};

use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Optimise;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::LiveLine;

/// Bounds the maximum or minimum of an expression.
pub fn run(command: &Optimise) -> Result<Finding, Failure> {
    let started = Instant::now();
    let expression = command.minimise.as_ref().or(command.maximise.as_ref()).cloned().unwrap_or_default();
    let task = optimise::Optimise {
        asked: command.asked.files(),
        expression,
        minimise: command.minimise.is_some(),
        gap: command.gap,
        effort: command.effort.with_memory(&command.memory)?,
    };
    let stop = stop_on_interrupt()?;
    command.asked.read_by(Files::new()).writes("-o", &command.common.output).ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let found = optimise(&task, &stop, |standing: SearchProgress| line.show(|| standing.to_string()))?;
    drop(line);
    report(command, &task, &found, started)
}

fn report(
    command: &Optimise,
    task: &optimise::Optimise,
    found: &Optimised,
    started: Instant,
) -> Result<Finding, Failure> {
    let optimise::Optimise { minimise, expression, .. } = task;
    let Optimised { empty, lower, upper, reached, standing, .. } = *found;
    let question = found.question.as_ref();
    let word = if *minimise { "minimum" } else { "maximum" };
    let mut output = Output::open(command.common.output.as_deref())?;
    let witness = question.and_then(|question| Some((question, found.witness.as_ref()?)));
    if command.common.json {
        found.document(task, started.elapsed().as_secs_f64()).write_indented(&mut output)?;
    } else if empty {
        writeln!(output, "no point of the region satisfies the assertion: {expression} has no {word}")?;
    } else {
        writeln!(output, "{word} of {expression}: in [{lower:?}, {upper:?}]")?;
        match witness {
            Some((question, witness)) => question.write_witness(witness, &mut output)?,
            None => writeln!(output, "no point was found")?,
        }
    }
    output.finish()?;
    if !reached && !command.effort.quiet {
        eprintln!("note: the interval is wider than {}: {standing}", command.gap);
    }
    Ok(if reached { Finding::Good } else { Finding::Undecided })
}
