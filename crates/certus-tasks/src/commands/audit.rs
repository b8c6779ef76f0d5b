//! `audit`.

use std::time::Instant;

use serde_json::json;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::audit::{Audit, Judgement, audit, document};
use crate::deadline_after;
use crate::failure::Failure;

pub(super) const AUDIT: Command = Command {
    name: "audit",
    about: "Checks a certificate, or a shield with its certificate, with code that shares nothing with the search. \
            The verdict is `accepted`, `rejected`, or `unknown` if it ran out of time.",
    example: "certus audit zoo/toy/below_ten.certificate",
    options: &[&[
        Opt::needed("certificate", Kind::File, "The certificate"),
        Opt::named("network", Kind::File, "null", "Where the network is now, if not where the certificate says"),
        Opt::named(
            "specification",
            Kind::File,
            "null",
            "Where the specification (of a shield: the system) is now, if not where the certificate says",
        ),
        Opt::named("query", Kind::File, "null", "Where the query is now, for a certificate about a `.query` file"),
        Opt::named("timeout", Kind::Number, "null", "Seconds after which the check stops"),
    ]],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = Audit {
        certificate: request.file("certificate"),
        network: request.path("network"),
        specification: request.path("specification"),
        query: request.path("query"),
        deadline: deadline_after(request.number("timeout"), "⟨timeout⟩")?,
    };
    let stop = session.stop.clone();
    let (judgement, leaves): (Option<Judgement>, u64) = audit(&task, &stop, |leaves| {
        session.tell(|| json!({"text": standing(leaves), "leaves": leaves}));
    })?;
    Ok(document(&task, judgement.as_ref(), leaves, started.elapsed().as_secs_f64()).into())
}

/// How far an audit is.
pub fn standing(leaves: u64) -> String {
    format!("{leaves} leaves or claims checked")
}
