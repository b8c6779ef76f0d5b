//! `audit`.

use std::time::Instant;

use serde_json::json;

use super::shared::TIMEOUT;
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::audit::{Audit, Judgement, audit, document};
use crate::failure::Failure;
use crate::{Files, deadline_after};

pub(super) const AUDIT: Command = Command {
    about: "Check a certificate",
    details: "Takes a certificate that `verify` or `check` wrote, or a shield. Audit first compares the digests of the \
              files that the certificate is about, then checks every step of the proof with code that is independent \
              of the search. The verdict is `accepted`, `rejected`, or `unknown` if time ran out.",
    command_line: "Exit code 0: accepted. 1: rejected; the message says where. 2: a file could not be read. 3: out of \
                   time.",
    examples: &[
        "certus audit below_ten.certificate",
        "certus audit satellite.shield.json",
        "certus audit below_ten.certificate --network copy/toy.onnx --specification copy/below_ten.vnnlib",
    ],
    options: &[&[
        Opt::needed("certificate", Kind::File, "Certificate to check"),
        Opt::file("network", "Path of the network, if it has moved"),
        Opt::file("specification", "Path of the specification (for a shield: of the system), if it has moved"),
        Opt::file("query", "Path of the query, if it has moved; for certificates about a `.query` file")
            .excludes(&["network", "specification"]),
        TIMEOUT,
    ]],
    ..Command::new("audit", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Audit, Failure> {
    let task = Audit {
        certificate: request.file("certificate"),
        network: request.path("network"),
        specification: request.path("specification"),
        query: request.path("query"),
        deadline: deadline_after(request.number("timeout"), "⟨timeout⟩")?,
    };
    files(request, &task).ready()?;
    Ok(task)
}

/// The files that the caller names; the certificate names more.
pub fn files(request: &Request, task: &Audit) -> Files {
    request
        .files()
        .reads("the certificate", [&task.certificate])
        .reads("⟨network⟩", &task.network)
        .reads("⟨specification⟩", &task.specification)
        .reads("⟨query⟩", &task.query)
}

/// Checks the certificate.
pub fn work(task: &Audit, session: &mut Session<'_>) -> Result<(Option<Judgement>, u64), Failure> {
    let stop = session.stop.clone();
    audit(task, &stop, |leaves| {
        session.tell(|| json!({"text": format!("{leaves} leaves or claims checked"), "leaves": leaves}));
    })
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = task(request)?;
    let (judgement, leaves) = work(&task, session)?;
    Ok(document(&task, judgement.as_ref(), leaves, started.elapsed().as_secs_f64()).into())
}
