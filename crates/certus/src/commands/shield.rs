//! `certus shield`: a verified program beside a network; made, run, exported.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use certus_model::counted;
use certus_shield::evaluation::Trial;
use certus_tasks::Provenance;
use certus_tasks::commands::shield::{exported, replayed, replaying, synthesise, task};
use certus_tasks::shield::document::{failed_document, made_document, reason, settling};
use certus_tasks::shield::{Made, Replay, Shielded};

use super::write_brief;
use crate::Finding;
use crate::call::{Call, print_plain};
use crate::failure::Failure;
use crate::output::Output;

/// Makes a shield.
pub fn make(call: &Call) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = task(&call.request)?;
    let (shielded, bytes) = call.live(|session| synthesise(&call.request, &task, session))?;
    let seconds = started.elapsed().as_secs_f64();
    match shielded {
        Shielded::Made(made) => {
            let path = call.request.output();
            call.print_to(
                None,
                || made_document(&made, bytes, seconds, path.as_deref()),
                |output| made_text(&made, bytes, seconds, path.as_deref(), output),
            )?;
            Ok(Finding::Good)
        }
        Shielded::Failed(failed) => {
            let (reason, tried) = reason(&failed, !task.options.sketch.is_empty());
            call.print_to(
                None,
                || failed_document(reason.clone(), tried, seconds),
                |output| Ok(writeln!(output, "unknown: {reason} ({tried} programs tried)")?),
            )?;
            Ok(Finding::Undecided)
        }
    }
}

fn made_text(made: &Made, bytes: usize, seconds: f64, path: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{} {}: verified, {seconds:.2} s", made.system, made.property)?;
    write_brief(&made.provenance, output)?;
    for (index, (branch, origin)) in made.accepted.branches.iter().zip(&made.origins).enumerate() {
        writeln!(
            output,
            "  branch {index}: {}; {origin}; {} claims checked exactly; tolerance {:.1e}",
            branch.invariant, branch.claims, branch.tolerance
        )?;
    }
    writeln!(
        output,
        "  initial states covered in {} parts; certificate {} kB",
        made.accepted.boxes,
        bytes.div_ceil(1024)
    )?;
    if let Some(own) = &made.accepted.convergence {
        writeln!(output, "  {own}")?;
    }
    if made.cut_short {
        writeln!(output, "  improvement was cut short by the deadline: with more time the shield may interfere less")?;
    }
    match path {
        Some(path) => writeln!(output, "  written to {}", path.display())?,
        None => writeln!(output, "  not written: name a file with -o")?,
    }
    writeln!(output, "\n{}", made.program.trim_end())?;
    Ok(())
}

/// Runs a system with its shield and without.
pub fn replay(call: &Call) -> Result<Finding, Failure> {
    let asked = replaying(&call.request)?;
    let (name, trial, provenance) = (asked.ready.system.name.clone(), asked.trial, asked.provenance.clone());
    let (document, replayed) = call.live(|session| replayed(asked, session))?;
    call.print(
        || document,
        |output| match &replayed {
            Some(replayed) => replay_text(&name, &trial, &provenance, replayed, output),
            None => Ok(writeln!(output, "unknown: {name} was stopped before the runs were made")?),
        },
    )?;
    let Some(Replay { shielded, network_time, monitor_time, .. }) = replayed else { return Ok(Finding::Undecided) };
    if !call.request.flag("json") {
        let share = 100.0 * monitor_time / network_time;
        call.note(&format!(
            "the network takes {network_time:.0} ns a step, the monitor {monitor_time:.0} ns ({share:.1} %), one thread"
        ));
    }
    Ok(if shielded.unsafe_runs == 0 { Finding::Good } else { Finding::Violated })
}

fn replay_text(
    name: &str,
    trial: &Trial,
    provenance: &Provenance,
    replay: &Replay,
    output: &mut Output,
) -> Result<(), Failure> {
    let (bare, shielded) = (&replay.bare, &replay.shielded);
    let (runs, steps) = (counted(trial.runs as u128, "run"), certus_model::steps(trial.steps));
    writeln!(output, "{name}: {runs} of {steps}, seed {}", trial.seed)?;
    write_brief(provenance, output)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "", "network alone", "with shield")?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "runs that became unsafe", bare.unsafe_runs, shielded.unsafe_runs)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "interventions", "-", shielded.interventions)?;
    writeln!(output, "  {:<24} {:>14} {:>14}", "states in no branch", "-", shielded.alarms)?;
    writeln!(output, "  {:<24} {:>14.1} {:>14.1}", "steps to settle", settling(bare), settling(shielded))?;
    if shielded.unsafe_runs > 0 {
        writeln!(output, "  NOT SAFE: a shielded run entered an unsafe state; the shield is not for this plant")?;
    }
    Ok(())
}

/// Writes a shield as source code.
pub fn export(call: &Call) -> Result<Finding, Failure> {
    let (text, written) = exported(&call.request)?;
    if written.is_empty() {
        print_plain(&text)?;
    }
    Ok(Finding::Good)
}
