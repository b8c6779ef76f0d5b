//! `certus audit`: is this certificate a proof?

use std::io::Write;
use std::time::Instant;

use certus_tasks::Source;
use certus_tasks::audit::{Audit, Judgement, document};
use certus_tasks::commands::audit::{files, task, work};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::painted;

/// Checks a certificate.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = task(&call.request)?;
    let (judgement, leaves) = call.live(|session| work(&task, session))?;
    let judgement = judgement.as_ref();
    // The certificate names files, too.
    let sources = match judgement {
        Some(Judgement::Accepted(own)) => own.sources.as_slice(),
        Some(Judgement::Shield(own)) => &own.sources,
        Some(Judgement::Rejected { .. }) | None => &[],
    };
    let named = sources.iter().map(|source| &source.path);
    files(&call.request, &task).reads("a file of the certificate", named).ready()?;
    call.print(
        || document(&task, judgement, leaves, started.elapsed().as_secs_f64()),
        |output| write_text(&task, judgement, leaves, output),
    )?;
    Ok(match judgement {
        Some(Judgement::Accepted(..) | Judgement::Shield(..)) => Finding::Good,
        Some(Judgement::Rejected { .. }) => Finding::Violated,
        None => Finding::Undecided,
    })
}

fn write_text(task: &Audit, judgement: Option<&Judgement>, leaves: u64, output: &mut Output) -> Result<(), Failure> {
    let path = task.certificate.display();
    match judgement {
        Some(Judgement::Accepted(own)) => {
            writeln!(output, "{}: {path} proves {}", painted("accepted", Finding::Good, output), own.claim)?;
            write_sources(&own.sources, output)?;
            let summary = &own.summary;
            // A reachability proof has leaves and nothing else.
            let mut checked = match summary.cases == 0 && summary.leaves > 0 {
                true => vec![counted(summary.leaves, "leaf")],
                false => vec![
                    counted(summary.cases, "case"),
                    counted(summary.leaves, "leaf"),
                    counted(summary.refinements, "refinement"),
                    counted(summary.records, "record"),
                ],
            };
            if own.settled > 0 {
                checked.push(format!("{} by intervals alone", counted(own.settled as u64, "obligation")));
            }
            writeln!(output, "  {:<14} {}", "checked", checked.join(", "))?;
            write_particulars(&own.particulars, output)?;
        }
        Some(Judgement::Shield(own)) => {
            writeln!(output, "{}: {path} {}", painted("accepted", Finding::Good, output), own.claim)?;
            write_sources(&own.sources, output)?;
            let accepted = &own.accepted;
            for (index, branch) in accepted.branches.iter().enumerate() {
                writeln!(
                    output,
                    "  {:<14} {}: {} checked; a next state may be off by {:.1e}",
                    format!("branch {index}"),
                    branch.invariant,
                    counted(branch.claims as u64, "claim"),
                    branch.tolerance
                )?;
            }
            if let Some(own) = &accepted.convergence {
                writeln!(output, "  {:<14} {own}", "convergence")?;
            }
            writeln!(output, "  {:<14} {}", "initial states", counted(accepted.boxes as u64, "part"))?;
            write_particulars(&own.particulars, output)?;
        }
        Some(Judgement::Rejected { line: 0, reason }) => {
            writeln!(output, "{}: {path}: {reason}", painted("rejected", Finding::Violated, output))?
        }
        Some(Judgement::Rejected { line, reason }) => {
            writeln!(output, "{}: {path}, line {line}: {reason}", painted("rejected", Finding::Violated, output))?
        }
        None => writeln!(output, "unknown: the check of {path} was stopped after {leaves} leaves")?,
    }
    Ok(())
}

fn write_sources(sources: &[Source], output: &mut Output) -> Result<(), Failure> {
    for source in sources {
        let digest = source.digest.as_deref().unwrap_or_default();
        writeln!(output, "  {:<14} {}\n  {:<14} sha256 {digest}", source.role, source.path.display(), "")?;
    }
    Ok(())
}

fn write_particulars(particulars: &[(&str, String)], output: &mut Output) -> Result<(), Failure> {
    for (name, text) in particulars {
        writeln!(output, "  {name:<14} {text}")?;
    }
    Ok(())
}

/// A number with its noun.
fn counted(count: u64, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "leaf") => format!("{count} leaves"),
        (count, noun) => format!("{count} {noun}s"),
    }
}
