//! `certus audit`: is this certificate a proof?

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use certus_audit::{Header, Reason, Rejection, Summary, check, read_header};
use serde_json::{Value, json};

use super::question::{Question, Sealed, Source};
use super::{deadline_after, stop_on_interrupt};
use crate::Finding;
use crate::arguments::Audit;
use crate::failure::Failure;
use crate::output::{Output, json_number};
use crate::patience::{Waited, wait};
use crate::progress::LiveLine;

/// What the certificate turned out to be.
enum Judgement {
    /// A proof about these files.
    Accepted(Vec<Source>, Summary),
    /// None: where, and why.
    Rejected { line: u64, reason: String },
}

/// Checks a certificate.
pub fn run(command: &Audit) -> Result<Finding, Failure> {
    let started = Instant::now();
    let deadline = deadline_after(command.timeout)?;
    let stop = stop_on_interrupt()?;
    if let Some(path) = &command.common.output {
        drop(Output::open(Some(path))?);
    }
    let leaves = Arc::new(AtomicU64::new(0));
    let mut line = LiveLine::new(command.quiet);
    let work = {
        let (command, leaves) = (command.clone(), Arc::clone(&leaves));
        move || judge(&command, &leaves)
    };
    let show = || line.show(|| format!("{} leaves checked", leaves.load(Ordering::Relaxed)));
    let waited = wait(deadline, &stop, show, work)?;
    drop(line);
    let judgement = match waited {
        Waited::Done(judgement) => Some(judgement?),
        Waited::Late | Waited::Stopped => None,
    };
    let leaves = leaves.load(Ordering::Relaxed);
    let mut output = Output::open(command.common.output.as_deref())?;
    if command.common.json {
        writeln!(output, "{:#}", document(command, judgement.as_ref(), leaves, started))?;
    } else {
        write_text(command, judgement.as_ref(), leaves, &mut output)?;
    }
    output.finish()?;
    Ok(match judgement {
        Some(Judgement::Accepted(..)) => Finding::Good,
        Some(Judgement::Rejected { .. }) => Finding::Violated,
        None => Finding::Undecided,
    })
}

/// Reads the certificate and what it is about, and checks it.
fn judge(command: &Audit, leaves: &AtomicU64) -> Result<Judgement, Failure> {
    let path = &command.certificate;
    let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
    let (header, certificate) = match read_header(BufReader::new(file)) {
        Ok(read) => read,
        Err(rejection) => return rejected(path, rejection),
    };
    let (question, digests) = match header {
        Header::Query(query) => {
            if command.network.is_some() || command.specification.is_some() {
                return Err(Failure::message("the certificate is about a query file: name it with --query"));
            }
            let place = place(command.query.as_deref(), &query.path, "--query")?;
            (Question::of_query(&place, Sealed::Yes)?, vec![query.digest])
        }
        Header::Verification { network, specification } => {
            if command.query.is_some() {
                return Err(Failure::message("the certificate is about a network and a specification, not a query"));
            }
            let net = place(command.network.as_deref(), &network.path, "--network")?;
            let spec = place(command.specification.as_deref(), &specification.path, "--specification")?;
            (Question::of_network(&net, &spec, Sealed::Yes)?, vec![network.digest, specification.digest])
        }
    };
    for (source, digest) in question.sources.iter().zip(&digests) {
        if source.digest.as_ref() != Some(digest) {
            let reason = format!(
                "it is about another {}: {} has the digest {}, the certificate names {digest}",
                source.role,
                source.path.display(),
                source.digest.as_deref().unwrap_or_default(),
            );
            return Ok(Judgement::Rejected { line: 0, reason });
        }
    }
    let checked = check(&question.problems(), certificate, &mut |count| leaves.store(count, Ordering::Relaxed));
    match checked {
        Ok(summary) => Ok(Judgement::Accepted(question.sources, summary)),
        Err(rejection) => rejected(path, rejection),
    }
}

/// What cannot be read is bad input; everything else that is wrong with a certificate rejects it.
fn rejected(path: &Path, rejection: Rejection) -> Result<Judgement, Failure> {
    match rejection.reason {
        Reason::Unreadable(_) | Reason::NotACertificate => {
            Err(Failure::message(format!("{}: {}", path.display(), rejection.reason)))
        }
        reason => Ok(Judgement::Rejected { line: rejection.line, reason: reason.to_string() }),
    }
}

/// Where a file is: where an option says, or where it was when the certificate was written.
fn place(option: Option<&Path>, named: &str, flag: &str) -> Result<PathBuf, Failure> {
    match option {
        Some(path) => Ok(path.to_owned()),
        None if Path::new(named).exists() => Ok(PathBuf::from(named)),
        None => Err(Failure::message(format!(
            "there is no file {named}, which the certificate names; say with {flag} where it is"
        ))),
    }
}

fn write_text(command: &Audit, judgement: Option<&Judgement>, leaves: u64, output: &mut Output) -> Result<(), Failure> {
    let path = command.certificate.display();
    match judgement {
        Some(Judgement::Accepted(sources, summary)) => {
            writeln!(output, "accepted: {path} proves `unsat`")?;
            for source in sources {
                let digest = source.digest.as_deref().unwrap_or_default();
                writeln!(output, "  {:<14} {}\n  {:<14} sha256 {digest}", source.role, source.path.display(), "")?;
            }
            let counted = [
                counted(summary.cases, "case"),
                counted(summary.leaves, "leaf"),
                counted(summary.refinements, "refinement"),
                counted(summary.records, "record"),
            ];
            writeln!(output, "  {:<14} {}", "checked", counted.join(", "))?;
            writeln!(
                output,
                "  {:<14} the files with these digests, as Certus reads them, over the real numbers",
                "relative to"
            )?;
        }
        Some(Judgement::Rejected { line: 0, reason }) => writeln!(output, "rejected: {path}: {reason}")?,
        Some(Judgement::Rejected { line, reason }) => writeln!(output, "rejected: {path}, line {line}: {reason}")?,
        None => writeln!(output, "unknown: the check of {path} was stopped after {leaves} leaves")?,
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

fn document(command: &Audit, judgement: Option<&Judgement>, leaves: u64, started: Instant) -> Value {
    let mut document = json!({ "certificate": command.certificate.display().to_string() });
    let more = match judgement {
        Some(Judgement::Accepted(sources, summary)) => {
            let file = |source: &Source| {
                let path = source.path.display().to_string();
                json!({ "role": source.role, "path": path, "sha256": source.digest })
            };
            json!({
                "verdict": "accepted",
                "files": sources.iter().map(file).collect::<Vec<_>>(),
                "cases": summary.cases,
                "leaves": summary.leaves,
                "refinements": summary.refinements,
                "records": summary.records,
            })
        }
        Some(Judgement::Rejected { line, reason }) => {
            let line = Some(line).filter(|line| **line > 0);
            json!({ "verdict": "rejected", "line": line, "reason": reason })
        }
        None => json!({ "verdict": "unknown", "leaves": leaves }),
    };
    if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
        document.extend(more);
        document.insert("seconds".to_owned(), json_number(started.elapsed().as_secs_f64()));
    }
    document
}
