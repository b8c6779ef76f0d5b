//! `certus verify`: is there a point of a region at which an assertion about networks holds?

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use certus_documents::Document;
use certus_tasks::verify::{self, verify};
use certus_tasks::{Files, SearchProgress};

use super::stop_on_interrupt;
use crate::Finding;
use crate::arguments::Verify;
use crate::failure::{Dialect, Failure};
use crate::output::Output;
use crate::progress::LiveLine;

/// What a folder holds: all of a folder that keeps a search may be written over.
fn entries(folder: Option<&Path>) -> Vec<String> {
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Decides a question; the first line is `sat`, `unsat`, `unknown` or `timeout`.
pub fn run(command: &Verify) -> Result<Finding, Failure> {
    let started = Instant::now();
    let task = verify::Verify {
        asked: command.asked.files(),
        certificate: command.certificate.clone(),
        resume: command.resume.clone(),
        save_query: command.save_query.clone(),
        effort: command.effort.with_memory(&command.memory)?,
    };
    let stop = stop_on_interrupt()?;
    let kept = entries(command.resume.as_deref());
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    command
        .asked
        .read_by(Files::new())
        .writes("-o", &command.common.output)
        .writes("--certificate", &command.certificate)
        .writes("--save-query", &command.save_query)
        .writes_into("--resume", command.resume.as_ref(), &kept)
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let verified = verify(&task, &stop, |standing: SearchProgress| line.show(|| standing.to_string()))?;
    drop(line);
    let (verdict, standing) = (verified.verdict(), verified.standing);
    let mut output = Output::open(command.common.output.as_deref())?;
    if command.common.json {
        verified.document(&task, started.elapsed().as_secs_f64()).write_indented(&mut output)?;
    } else {
        writeln!(output, "{verdict}")?;
        if let Some((question, witness)) = verified.witness() {
            question.write_witness(witness, &mut output)?;
        }
    }
    output.finish()?;
    let decided = verified.is_decided();
    let note = (!decided).then(|| verified.undecided(command.resume.as_deref()));
    for warning in verified.finish() {
        eprintln!("warning: {warning}");
    }
    if !command.effort.quiet {
        if let Some(note) = note {
            eprintln!("note: {}", Dialect::Flags.word(&note));
        }
        if verdict == "unsat" && standing.cases == 0 {
            eprintln!("note: the bounds on the inputs exclude each other: nothing was asked of the network");
        }
        if let Some(path) = command.certificate.as_ref().filter(|_| verdict != "unsat") {
            eprintln!("note: {} was not written: only `unsat` has a certificate", path.display());
        }
    }
    Ok(if decided { Finding::Good } else { Finding::Undecided })
}
