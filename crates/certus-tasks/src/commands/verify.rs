//! `verify`.

use std::path::Path;
use std::time::Instant;

use certus_documents::Number;
use certus_solver::Witness;
use serde_json::{Map, Value, json};

use super::shared::{EFFORT, MEMORY, QUERY};
use super::{Answer, Command, Opt, Request, Session};
use crate::failure::Failure;
use crate::verify::{Verified, Verify, verify};
use crate::{Files, QuerySource, SearchProgress};

pub(super) const VERIFY: Command = Command {
    about: "Decide a query about networks",
    details: "Decides whether the region contains an input whose output satisfies the assertion. The verdict is `sat`, \
              `unsat`, `unknown` or `timeout`. `unsat` is a proof over the reals, with bounds that account for \
              rounding. `sat` comes with a point that was replayed in single and in double precision, without \
              tolerance on the assertion.",
    command_line: "The first line of the output is the verdict; after `sat`, the assignment follows in the format of \
                   VNN-COMP, or of VNN-LIB 2.0 for a specification of that version.",
    examples: &[
        "certus verify zoo/toy/toy.onnx zoo/toy/below_ten.vnnlib",
        "certus verify policy.onnx property.vnnlib.gz --timeout 60 --json",
        "A proof that others can check:",
        "  certus verify zoo/toy/toy.onnx zoo/toy/below_ten.vnnlib --certificate below_ten.certificate",
        "  certus audit below_ten.certificate",
        "Two networks (VNN-LIB 2.0):",
        "  certus verify closer.vnnlib --network f=old.onnx --network g=new.onnx",
        "A long search in several sessions:",
        "  certus verify policy.onnx property.vnnlib --timeout 3600 --resume state",
    ],
    options: &[
        QUERY,
        &[
            Opt::file("certificate", "Write a proof of `unsat` to a file for `audit`; not written for other verdicts"),
            Opt::file("resume", "Keep the state of the search in this folder, and continue from it if there is one")
                .details(
                    "The state is saved every few seconds and when the search ends undecided, and removed once the \
                     query is decided. A folder that belongs to another query is refused.",
                )
                .value("FOLDER"),
            Opt::file("save_query", "Write the query to a `.query` file (or `.query.gz`), one for each box of inputs"),
        ],
        EFFORT,
        MEMORY,
    ],
    ..Command::new("verify", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Verify, Failure> {
    let task = Verify {
        asked: request.asked(),
        certificate: request.path("certificate"),
        resume: request.path("resume"),
        save_query: request.path("save_query"),
        effort: request.effort()?,
    };
    let kept = entries(task.resume.as_deref());
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    read_by(request, &task.asked)
        .writes("⟨certificate⟩", &task.certificate)
        .writes("⟨save_query⟩", &task.save_query)
        .writes_into("⟨resume⟩", task.resume.as_ref(), &kept)
        .ready()?;
    Ok(task)
}

/// What a folder holds: all of a folder that keeps a search may be written over.
fn entries(folder: Option<&Path>) -> Vec<String> {
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Decides the query.
pub fn work(task: &Verify, session: &mut Session<'_>) -> Result<Verified, Failure> {
    let stop = session.stop.clone();
    verify(task, &stop, |standing| session.tell(|| progress(standing)))
}

/// What is to be said beside a verdict.
pub fn notes(task: &Verify, verified: &Verified) -> Vec<String> {
    let verdict = verified.verdict();
    let mut notes = Vec::new();
    if !verified.is_decided() {
        notes.push(verified.undecided(task.resume.as_deref()));
    }
    if verdict == "unsat" && verified.standing.cases == 0 {
        notes.push("the bounds on the inputs exclude each other: nothing was asked of the network".to_owned());
    }
    if let Some(path) = task.certificate.as_ref().filter(|_| verdict != "unsat") {
        notes.push(format!("{} was not written: only `unsat` has a certificate", path.display()));
    }
    notes
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = task(request)?;
    let verified = work(&task, session)?;
    let mut answer = Answer::from(verified.document(&task, started.elapsed().as_secs_f64()));
    answer.beside = values(verified.witness().map(|(_, witness)| witness));
    answer.notes = notes(&task, &verified);
    answer.notes.extend(verified.finish());
    Ok(answer)
}

/// The files that a query is read from.
pub(super) fn read_by(request: &Request, asked: &QuerySource) -> Files {
    let first = if asked.specification.is_some() { "the network" } else { "the query" };
    let networks = asked.networks.iter().map(|(_, path)| path);
    request
        .files()
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
