//! `verify`.

use std::time::Instant;

use certus_documents::Number;
use certus_solver::Witness;
use serde_json::{Map, Value, json};

use super::options::{ASKED, EFFORT, MEMORY};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::verify::{Verify, verify};
use crate::{QuerySource, Files, SearchProgress};

pub(super) const VERIFY: Command = Command {
    name: "verify",
    about: "Decides whether an input of a region exists whose output satisfies an assertion about networks: `sat` with a point that was \
            replayed, `unsat` proved over the reals, `unknown` or `timeout`.",
    example: "certus verify zoo/toy/toy.onnx zoo/toy/below_ten.vnnlib",
    options: &[
        ASKED,
        &[
            Opt::named("certificate", Kind::File, "null", "Where a proof of `unsat` is written that `audit` can check"),
            Opt::named("resume", Kind::File, "null", "A folder that keeps the state of the search, and from which it goes on"),
            Opt::named("save_query", Kind::File, "null", "Where the question is written as a `.query` file (`.query.gz` to compress it)"),
        ],
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = Verify {
        asked: request.asked(),
        certificate: request.path("certificate"),
        resume: request.path("resume"),
        save_query: request.path("save_query"),
        effort: request.effort()?,
    };
    read_by(&task.asked)
        .writes("⟨certificate⟩", &task.certificate)
        .writes("⟨save_query⟩", &task.save_query)
        .ready()?;
    let stop = session.stop.clone();
    let verified = verify(&task, &stop, |standing| session.tell(|| progress(standing)))?;
    let mut answer = Answer::from(verified.document(&task, started.elapsed().as_secs_f64()));
    answer.beside = values(verified.witness().map(|(_, witness)| witness));
    if !verified.is_decided() {
        answer.notes.push(verified.undecided(task.resume.as_deref()));
    }
    if verified.verdict() == "unsat" && verified.standing.cases == 0 {
        answer.notes.push("the bounds on the inputs exclude each other: nothing was asked of the network".to_owned());
    }
    answer.notes.extend(verified.finish());
    Ok(answer)
}

/// The files that a question is read from.
pub(super) fn read_by(asked: &QuerySource) -> Files {
    let first = if asked.specification.is_some() { "the network" } else { "the question" };
    let networks = asked.networks.iter().map(|(_, path)| path);
    Files::new()
        .reads(first, [&asked.file])
        .reads("the specification", &asked.specification)
        .reads("⟨networks⟩", networks)
}

/// How far a search is.
pub(super) fn progress(standing: SearchProgress) -> Value {
    json!({
        "text": standing.to_string(),
        "cases": standing.cases,
        "verified": standing.verified(),
        "open": standing.open(),
        "done": Number(standing.done()),
        "bound": standing.progress.bound.map(Number),
    })
}

/// A point as numbers in their order.
pub(super) fn values(witness: Option<&Witness>) -> Map<String, Value> {
    let Some(witness) = witness else { return Map::new() };
    let inputs: Value = witness.inputs.iter().map(|&value| Value::from(Number(value))).collect();
    let outputs: Value = witness.outputs.iter().map(|&value| Value::from(Number(value.into()))).collect();
    Map::from_iter([("inputs".to_owned(), inputs), ("outputs".to_owned(), outputs)])
}
