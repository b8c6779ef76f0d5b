//! `certus audit`: is this certificate a proof?

use std::io::Write;
use std::time::Instant;

use certus_documents::Document;
use certus_tasks::audit::{self, Judgement, audit, document};
use certus_tasks::commands::audit::standing;
use certus_tasks::{Files, Source, deadline_after};

use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Audit;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::LiveLine;
use crate::terminal::painted;

/// Checks a certificate.
pub fn run(command: &Audit) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = audit::Audit {
        certificate: command.certificate.clone(),
        network: command.network.clone(),
        specification: command.specification.clone(),
        query: command.query.clone(),
        deadline: deadline_after(command.timeout, "--timeout")?,
    };
    let stop = stop_on_interrupt()?;
    let files = || {
        Files::new()
            .reads("the certificate", [&command.certificate])
            .reads("--network", &command.network)
            .reads("--specification", &command.specification)
            .reads("--query", &command.query)
            .writes("-o", &command.common.output)
    };
    files().ready()?;
    let mut line = LiveLine::new(command.quiet);
    let (judgement, leaves) = audit(&task, &stop, |leaves| line.show(|| standing(leaves)))?;
    drop(line);
    // The certificate names files, too.
    let named = match &judgement {
        Some(Judgement::Accepted(own)) => own.sources.iter().map(|source| source.path.clone()).collect(),
        Some(Judgement::Shield(own)) => own.sources.iter().map(|source| source.path.clone()).collect(),
        Some(Judgement::Rejected { .. }) | None => Vec::new(),
    };
    files().reads("a file of the certificate", named).ready()?;
    let mut output = Output::open(command.common.output.as_deref())?;
    if command.common.json {
        document(&task, judgement.as_ref(), leaves, started.elapsed().as_secs_f64()).write_indented(&mut output)?;
    } else {
        write_text(command, judgement.as_ref(), leaves, &mut output)?;
    }
    output.finish()?;
    Ok(match judgement {
        Some(Judgement::Accepted(..) | Judgement::Shield(..)) => Finding::Good,
        Some(Judgement::Rejected { .. }) => Finding::Violated,
        None => Finding::Undecided,
    })
}

fn write_text(command: &Audit, judgement: Option<&Judgement>, leaves: u64, output: &mut Output) -> Result<(), Failure> {
    let path = command.certificate.display();
    match judgement {
        Some(Judgement::Accepted(own)) => {
            writeln!(output, "{}: {path} proves {}", painted("accepted", Finding::Good, output), own.claim)?;
            write_sources(&own.sources, output)?;
            let summary = &own.summary;
            let mut checked = vec![
                counted(summary.cases, "case"),
                counted(summary.leaves, "leaf"),
                counted(summary.refinements, "refinement"),
                counted(summary.records, "record"),
            ];
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
