//! Is this certificate a proof?

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use certus_audit::{Header, Reason, Rejection, Summary, check, read_header};

use crate::check::certificate::claim;
use crate::failure::Failure;
use crate::patience::{Waited, wait};
use crate::question::problem_of;
use crate::{Question, Sealed, Source};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The certificate.
    pub certificate: PathBuf,
    /// Where the network is now, if not where the certificate says.
    pub network: Option<PathBuf>,
    /// Where the specification is now.
    pub specification: Option<PathBuf>,
    /// Where the query is now.
    pub query: Option<PathBuf>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
}

/// What the certificate turned out to be.
pub enum Judgement {
    /// A proof about these files, and of what.
    Accepted(Vec<Source>, Summary, String),
    /// A shield whose certificate proves it safe for this file.
    Shield(Source, certus_audit::shield::Accepted),
    /// None: where, and why.
    Rejected {
        /// The line; 0 if it is about no line.
        line: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Checks a certificate: what it turned out to be, if that is known in time, and how many leaves were checked. `tick` is
/// called some twenty times a second with the leaves so far, and `stop` ends the check.
pub fn audit(
    task: &Audit,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(u64),
) -> Result<(Option<Judgement>, u64), Failure> {
    let leaves = Arc::new(AtomicU64::new(0));
    let work = {
        let (task, leaves) = (task.clone(), Arc::clone(&leaves));
        move || judge(&task, &leaves)
    };
    let waited = wait(task.deadline, stop, || tick(leaves.load(Ordering::Relaxed)), work)?;
    let judgement = match waited {
        Waited::Done(judgement) => Some(judgement?),
        Waited::Late | Waited::Stopped => None,
    };
    Ok((judgement, leaves.load(Ordering::Relaxed)))
}

/// Reads the certificate and what it is about, and checks it.
fn judge(task: &Audit, leaves: &AtomicU64) -> Result<Judgement, Failure> {
    let path = &task.certificate;
    let mut file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
    let mut first = [0u8];
    if file.read(&mut first).map_err(|error| Failure::reading(path, &error))? == 1 && first == *b"{" {
        return judge_shield(task, leaves);
    }
    file.rewind().map_err(|error| Failure::reading(path, &error))?;
    let (header, certificate) = match read_header(BufReader::new(file)) {
        Ok(read) => read,
        Err(rejection) => return rejected(path, rejection),
    };
    let (question, digests) = match header {
        Header::Proof(header) => {
            if task.network.is_some() || task.specification.is_some() || task.query.is_some() {
                return Err(Failure::message("the certificate is about a system, whose files it names itself"));
            }
            let claim = match claim(&header)? {
                Ok(claim) => claim,
                Err(reason) => return Ok(Judgement::Rejected { line: 2, reason }),
            };
            let problems: Vec<certus_audit::Problem<'_>> = claim.queries.iter().map(problem_of).collect();
            let checked = check(&problems, certificate, &mut |count| leaves.store(count, Ordering::Relaxed));
            return match checked {
                Ok(summary) => Ok(Judgement::Accepted(claim.sources, summary, claim.says)),
                Err(rejection) => rejected(path, rejection),
            };
        }
        Header::Query(query) => {
            if task.network.is_some() || task.specification.is_some() {
                return Err(Failure::message("the certificate is about a query file: name it with --query"));
            }
            let place = place(task.query.as_deref(), &query.path, "--query")?;
            (Question::of_query(&place, Sealed::Yes)?, vec![query.digest])
        }
        Header::Verification { network, specification } => {
            if task.query.is_some() {
                return Err(Failure::message("the certificate is about a network and a specification, not a query"));
            }
            let net = place(task.network.as_deref(), &network.path, "--network")?;
            let spec = place(task.specification.as_deref(), &specification.path, "--specification")?;
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
        Ok(summary) => Ok(Judgement::Accepted(question.sources, summary, "`unsat`".to_owned())),
        Err(rejection) => rejected(path, rejection),
    }
}

/// Checks a shield in exact arithmetic.
fn judge_shield(task: &Audit, claims: &AtomicU64) -> Result<Judgement, Failure> {
    let read = crate::shield::read(&task.certificate)?;
    let place = place(task.specification.as_deref(), &read.path, "--specification")?;
    let source =
        Source { role: "system", name: None, path: place.clone(), digest: Some(crate::shield::digest(&place)?) };
    if source.digest.as_deref() != Some(read.digest.as_str()) {
        let reason = format!("it is about another system: {} has another digest than it names", place.display());
        return Ok(Judgement::Rejected { line: 0, reason });
    }
    let (_, model) = match crate::shield::model_of(&read, &place) {
        Ok(read) => read,
        Err(crate::shield::NoModel::Failure(failure)) => return Err(failure),
        Err(crate::shield::NoModel::Reason(reason)) => return Ok(Judgement::Rejected { line: 0, reason }),
    };
    let mut progress = || {
        claims.fetch_add(1, Ordering::Relaxed);
    };
    match certus_audit::shield::check(&model, &read, &mut progress) {
        Ok(accepted) => Ok(Judgement::Shield(source, accepted)),
        Err(reason) => Ok(Judgement::Rejected { line: 0, reason }),
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
