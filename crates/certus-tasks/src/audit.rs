//! Is this certificate a proof?

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use certus_audit::{Header, Reason, Rejection, Summary, check, read_header};
use certus_documents as documents;
use certus_documents::Members;
use certus_documents::audit::{AuditVerdict, AuditedBranch, AuditedFile};
use certus_engine::{Ended, Job};

use crate::check::certificate::{Claim, claim, settings};
use crate::failure::Failure;
use crate::{LoadedQuery, Sealed, Source, Sources, shield};

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
    Accepted(Box<Accepted>),
    /// A shield whose certificate proves it safe.
    Shield(Box<AcceptedShield>),
    /// None: where, and why.
    Rejected {
        /// The line; 0 if it is about no line.
        line: u64,
        /// What is wrong.
        reason: String,
    },
}

/// A proof that was checked.
pub struct Accepted {
    /// The files that it is about.
    pub sources: Vec<Source>,
    /// What it consisted of.
    pub summary: Summary,
    /// Obligations beside its cases that intervals alone settle.
    pub settled: usize,
    /// What it proves, in words.
    pub claim: String,
    /// What that is relative to, and where it comes from: what each is called, and what it is.
    pub particulars: Vec<(&'static str, String)>,
}

/// A shield that was checked.
pub struct AcceptedShield {
    /// The files that it is about.
    pub sources: Vec<Source>,
    /// What was checked.
    pub accepted: certus_audit::shield::Accepted,
    /// What it keeps, in words.
    pub claim: String,
    /// What that is relative to.
    pub particulars: Vec<(&'static str, String)>,
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
    let waited = Job::new(task.deadline, stop).run(|| tick(leaves.load(Ordering::Relaxed)), work)?;
    let judgement = match waited {
        Ended::Done(judgement) => Some(judgement?),
        Ended::Late | Ended::Cancelled => None,
    };
    Ok((judgement, leaves.load(Ordering::Relaxed)))
}

/// Reads the certificate and what it is about, each byte once, and checks it.
fn judge(task: &Audit, leaves: &AtomicU64) -> Result<Judgement, Failure> {
    let path = &task.certificate;
    let failed = |error: std::io::Error| Failure::reading(path, &error);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    if file.fill_buf().map_err(failed)?.first() == Some(&b'{') {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        return judge_shield(task, &bytes, leaves);
    }
    let (header, certificate) = match read_header(file) {
        Ok(read) => read,
        Err(rejection) => return rejected(path, rejection),
    };
    let mut progress = |count| leaves.store(count, Ordering::Relaxed);
    let (question, digests) = match header {
        Header::Proof(header) => {
            if task.network.is_some() || task.specification.is_some() || task.query.is_some() {
                return Err(Failure::message("the certificate is about a system, whose files it names itself"));
            }
            let claim = match claim(&header, &mut Sources::default(), &mut progress)? {
                Ok(claim) => claim,
                Err(reason) => return Ok(Judgement::Rejected { line: 2, reason }),
            };
            let problems: Vec<certus_audit::Problem<'_>> = claim.obligations.iter().map(|own| own.problem()).collect();
            let mut summary = match check(&problems, certificate, &mut progress) {
                Ok(summary) => summary,
                Err(rejection) => return rejected(path, rejection),
            };
            summary.leaves += claim.boxes as u64;
            let Claim { sources, settled, says: claim, particulars, .. } = claim;
            return Ok(Judgement::Accepted(Box::new(Accepted { sources, summary, settled, claim, particulars })));
        }
        Header::Query(query) => {
            if task.network.is_some() || task.specification.is_some() {
                return Err(Failure::message("the certificate is about a query file: name it with ⟨query⟩"));
            }
            let place = place(task.query.as_deref(), &query.path, "query")?;
            (LoadedQuery::of_query(&place)?, vec![query.digest])
        }
        Header::Verification { network, specification } => {
            if task.query.is_some() {
                return Err(Failure::message("the certificate is about a network and a specification, not a query"));
            }
            let net = place(task.network.as_deref(), &network.path, "network")?;
            let spec = place(task.specification.as_deref(), &specification.path, "specification")?;
            (LoadedQuery::of_network(&net, &spec, Sealed::Yes)?, vec![network.digest, specification.digest])
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
    let summary = match check(&question.problems(), certificate, &mut progress) {
        Ok(summary) => summary,
        Err(rejection) => return rejected(path, rejection),
    };
    let relative = "the files with these digests, as Certus reads them, over the real numbers".to_owned();
    Ok(Judgement::Accepted(Box::new(Accepted {
        sources: question.sources,
        summary,
        settled: 0,
        claim: "`unsat`".to_owned(),
        particulars: vec![("audited by", format!("certus {}", env!("CARGO_PKG_VERSION"))), ("relative to", relative)],
    })))
}

/// Checks a shield in exact arithmetic.
fn judge_shield(task: &Audit, bytes: &[u8], claims: &AtomicU64) -> Result<Judgement, Failure> {
    let read = shield::parse(&task.certificate, bytes)?;
    let place = place(task.specification.as_deref(), &read.path, "specification")?;
    let mut progress = || {
        claims.fetch_add(1, Ordering::Relaxed);
    };
    Ok(match shield::accept(&read, &place, &mut progress)? {
        Ok((sealed, _, accepted)) => {
            let settings = settings(&sealed, &read.settings);
            let with = if settings.is_empty() { String::new() } else { format!(", with {}", settings.join(", ")) };
            let property = sealed.system.property(&read.property).map_or("", |property| property.source.as_str());
            let relative = "the system with this digest, exactly, over the real numbers";
            Judgement::Shield(Box::new(AcceptedShield {
                sources: vec![sealed.file.source("system", None)],
                accepted,
                claim: format!("keeps {} safe{with}", place.display()),
                particulars: vec![
                    ("property", format!("{}: {property}", read.property)),
                    ("settings", if settings.is_empty() { "none".to_owned() } else { settings.join(", ") }),
                    ("scope", "for all time".to_owned()),
                    ("audited by", format!("certus {}", env!("CARGO_PKG_VERSION"))),
                    ("relative to", relative.to_owned()),
                ],
            }))
        }
        Err(reason) => Judgement::Rejected { line: 0, reason },
    })
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
fn place(option: Option<&Path>, named: &str, name: &str) -> Result<PathBuf, Failure> {
    match option {
        Some(path) => Ok(path.to_owned()),
        None if Path::new(named).exists() => Ok(PathBuf::from(named)),
        None => Err(Failure::message(format!(
            "there is no file {named}, which the certificate names; say with ⟨{name}⟩ where it is"
        ))),
    }
}

/// What the certificate turned out to be, as a document.
pub fn document(task: &Audit, judgement: Option<&Judgement>, leaves: u64, seconds: f64) -> documents::audit::Audit {
    let shown = documents::audit::Audit {
        certificate: task.certificate.display().to_string(),
        seconds: seconds.into(),
        ..Default::default()
    };
    let files = |sources: &[Source]| -> Option<Vec<AuditedFile>> {
        let file = |source: &Source| AuditedFile {
            role: source.role.to_owned(),
            path: source.path.display().to_string(),
            sha256: source.digest.clone(),
        };
        Some(sources.iter().map(file).collect())
    };
    let particulars = |own: &[(&'static str, String)]| -> Option<Members<String>> {
        Some(own.iter().map(|(name, text)| (name.replace(' ', "_"), text.clone())).collect())
    };
    match judgement {
        Some(Judgement::Accepted(own)) => documents::audit::Audit {
            verdict: AuditVerdict::Accepted,
            claim: Some(own.claim.clone()),
            files: files(&own.sources),
            about: particulars(&own.particulars),
            cases: Some(own.summary.cases),
            leaves: Some(own.summary.leaves),
            refinements: Some(own.summary.refinements),
            records: Some(own.summary.records),
            settled_by_intervals: Some(own.settled),
            ..shown
        },
        Some(Judgement::Shield(own)) => {
            let branch = |own: &certus_audit::shield::Settled| AuditedBranch {
                invariant: own.invariant.clone(),
                claims: own.claims,
                tolerance: own.tolerance.into(),
            };
            documents::audit::Audit {
                verdict: AuditVerdict::Accepted,
                claim: Some(own.claim.clone()),
                files: files(&own.sources),
                about: particulars(&own.particulars),
                branches: Some(own.accepted.branches.iter().map(branch).collect()),
                parts: Some(own.accepted.boxes),
                steps_to_target: Some(own.accepted.convergence.as_ref().map(|own| own.steps)),
                ..shown
            }
        }
        Some(Judgement::Rejected { line, reason }) => documents::audit::Audit {
            verdict: AuditVerdict::Rejected,
            line: Some(Some(*line).filter(|line| *line > 0)),
            reason: Some(reason.clone()),
            ..shown
        },
        None => documents::audit::Audit { leaves: Some(leaves), ..shown },
    }
}
