//! `check`.

use std::path::Path;

use certus_documents::check as documents;
use certus_engine::Progress;
use certus_grid::Policy;
use certus_grid::extract::ExtractOptions;
use certus_lang::system::{Expect, System};
use certus_prob::Standing;
use serde_json::{Value, json};

use super::options::{EFFORT, MEMORY, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::check::{
    Check, CheckProgress, Checked, Conclusion, EngineChoice, Found, GridOptions, PropertyResult, cells_picture, check,
    document, trace_csv,
};
use crate::failure::Failure;
use crate::output::{short, write_atomically, write_document};

/// How actions are extracted from a network.
pub(super) const SAMPLING: &[Opt] = &[
    Opt::named("samples", Kind::Count(1), "null", "States of a cell at which the network is asked for an extracted policy; 5 if not given"),
    Opt::named(
        "significance",
        Kind::Number,
        "null",
        "A label is taken for a cell when an accident is at most this likely, otherwise more states are asked; 0.2 if not given",
    ),
];

pub(super) const CHECK: Command = Command {
    name: "check",
    about: "Checks properties of a closed loop; all of them if none is named. A violation comes with a run that was replayed, \
            a proof with what it rests on.",
    example: "certus check zoo/toy/toy.certus below_five --steps 5",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::rest("properties", Kind::Texts, "The properties; all of them if none is named"),
            Opt::named(
                "engine",
                Kind::Text,
                "\"auto\"",
                "`bmc` looks for violations by so many steps, `induction` for an unbounded proof, `grid` decides on a finite \
                 abstraction, `explicit` visits every state of a finite system, `convergence` looks for runs that converge to an equilibrium, `imdp` bounds probabilities; `auto` takes turns",
            ),
            Opt::named("steps", Kind::Count(0), "null", "Steps that are looked at; if not given, 10, or as far as a property's own bounds reach"),
            Opt::named("assume_no_model_errors", Kind::Flag, "false", "Assumes that no run leaves its ranges, has a deadlock or evaluates something undefined; the outcome says so"),
            Opt::named("certificate", Kind::File, "null", "Where the proof of the one named property is written, if it holds, for `audit`"),
            Opt::named("expect", Kind::Flag, "false", "Compares with the verdicts that the file expects: results get `expected` and `as_expected`"),
            Opt::named("trace", Kind::File, "null", "Where runs that violate properties are written: a table for `.csv`, the document for `.json`"),
            Opt::named("widths", Kind::Widths, "{}", "Widths of grid cells, by state variable; one number for all").flag("width"),
            Opt::named("policy", Kind::Choice(&["network", "extracted"]), "\"network\"", "Whose actions the grid engine takes: all that the network can do in a cell, or one action per cell"),
            Opt::named("refine", Kind::Count(0), "null", "How often the grid engine may split cells after a spurious counterexample; as the budget allows if not given"),
            Opt::named("cells", Kind::File, "null", "Where the reachable cells are drawn, as SVG"),
            Opt::named("axes", Kind::Names, "null", "The two state variables that `cells` draws; `step` is the number of steps"),
        ],
        SAMPLING,
        SYSTEM,
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let effort = request.effort()?;
    let policy = match request.text("policy") {
        Some("extracted") => Policy::Extracted(sampling(request, effort.seed)?),
        _ if request.has("samples") || request.has("significance") => {
            return Err(Failure::message(
                "⟨samples⟩ and ⟨significance⟩ say how a policy is extracted: add ⟨policy=extracted⟩, or leave them out",
            ));
        }
        _ => Policy::Network,
    };
    let task = Check {
        system: request.loading(),
        properties: request.texts("properties"),
        engine: request.text("engine").unwrap_or_default().parse().map_err(Failure::message)?,
        grid: GridOptions {
            widths: request.widths("widths"),
            policy,
            refinements: request.count("refine"),
            axes: request.names("axes"),
        },
        steps: request.count("steps"),
        assume_no_model_errors: request.flag("assume_no_model_errors"),
        certificate: request.path("certificate"),
        effort,
    };
    let (trace, cells) = (request.path("trace"), request.path("cells"));
    let ending = |path: &Path| path.extension().is_some_and(|extension| extension == "csv" || extension == "json");
    if let Some(path) = trace.as_ref().filter(|path| !ending(path)) {
        return Err(Failure::message(format!("⟨trace={}⟩: expected a name that ends in .csv or .json", path.display())));
    }
    if cells.is_some() && !task.engine.has_grid() {
        return Err(Failure::message("⟨cells⟩ draws the cells of a grid: take ⟨engine=grid⟩"));
    }
    Files::new()
        .reads_system(&task.system)
        .writes("⟨trace⟩", &trace)
        .writes("⟨certificate⟩", &task.certificate)
        .writes("⟨cells⟩", &cells)
        .ready()?;
    let stop = session.stop.clone();
    let checked = check(&task, &stop, |place| session.tell(|| progress(place)))?;
    let Checked { system: Some(system), results, provenance } = &checked else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    let mut found = document(system, results, provenance);
    if request.flag("expect") {
        compare(system, results, &mut found);
    }
    let mut answer = Answer::from(found);
    let mut note = |path: Option<&Path>, reason: Option<String>| {
        if let (Some(path), Some(reason)) = (path, reason) {
            answer.notes.push(format!("{} was not written: {reason}", path.display()));
        }
    };
    note(task.certificate.as_deref(), without_certificate(results).map(str::to_owned));
    if let Some(path) = &cells {
        note(Some(path), write_cells(path, task.engine, task.grid.axes.as_ref(), system, results)?);
    }
    if let Some(path) = &trace {
        note(Some(path), write_trace(path, system, &checked)?);
    }
    Ok(answer)
}

/// How actions are extracted.
pub(super) fn sampling(request: &Request, seed: u64) -> Result<ExtractOptions, Failure> {
    let significance = request.number("significance").unwrap_or(0.2);
    if !(significance > 0.0 && significance <= 1.0) {
        return Err(Failure::message(format!("⟨significance={significance}⟩: expected a number above 0, at most 1")));
    }
    Ok(ExtractOptions { samples: request.count("samples").unwrap_or(5), significance, seed })
}

/// How far a check is.
fn progress(check: &CheckProgress) -> Value {
    let mut told = json!({"text": progress_line(check), "property": check.property});
    if let Some(Progress::Queries(depth)) = check.progress {
        told["steps"] = depth.steps.into();
        told["loop_to"] = depth.loop_to.into();
        told["verified"] = depth.progress.verified.into();
        told["open"] = depth.progress.open.into();
    }
    told
}

/// How far a check is, in words.
pub fn progress_line(check: &CheckProgress) -> String {
    let shown = match check.progress {
        None => return "reading".to_owned(),
        Some(Progress::Exploration { refinements, steps, cells }) => {
            let finer = if refinements > 0 { format!(", cut finer {refinements} times") } else { String::new() };
            format!("{cells} cells after {}{finer}", certus_model::steps(steps))
        }
        Some(Progress::Interval { lower, upper, cells, regions }) => {
            super::prob::so_far(Standing { lower, upper, cells, regions })
        }
        Some(Progress::Queries(depth)) => {
            let shape = match depth.loop_to {
                None => format!("k = {}", depth.steps),
                Some(start) => format!("k = {}, back to {start}", depth.steps),
            };
            let progress = depth.progress;
            let bound = progress.bound.map(|bound| format!(", lowest bound {}", short(bound))).unwrap_or_default();
            format!("{shape}; {} subproblems verified, {} open{bound}", progress.verified, progress.open)
        }
    };
    format!("{}: {shown}", check.property)
}

/// Whether a property came to what the file expects; nothing if it expects nothing, or nothing was decided.
pub fn as_expected(system: &System, result: &PropertyResult) -> Option<bool> {
    let expected = system.properties[result.property].expect?;
    match (result.outcome.as_ref().map(Found::conclusion), expected) {
        (Ok(Conclusion::Holds), expected) => Some(expected == Expect::Holds),
        (Ok(Conclusion::Violated), expected) => Some(expected == Expect::Violated),
        _ => None,
    }
}

/// Adds to each result what the file expects, and whether it is so.
pub fn compare(system: &System, results: &[PropertyResult], document: &mut documents::Check) {
    for (shown, result) in document.results.iter_mut().zip(results) {
        let expected = system.properties[result.property].expect.map(|expect| match expect {
            Expect::Holds => documents::Expected::Holds,
            Expect::Violated => documents::Expected::Violated,
        });
        shown.expected = Some(expected);
        shown.as_expected = Some(as_expected(system, result));
    }
}

/// Why there is no certificate, where one was asked for.
pub fn without_certificate(results: &[PropertyResult]) -> Option<&'static str> {
    let [PropertyResult { certificate: None, outcome, .. }] = results else { return None };
    Some(match outcome.as_ref().map(Found::conclusion) {
        Ok(Conclusion::Holds) => "the verdict came without a proof that can be written down",
        _ => "only a property that holds has a certificate",
    })
}

/// Draws the cells of the first property that has some; or says why not.
pub fn write_cells(
    path: &Path,
    engine: EngineChoice,
    axes: Option<&(String, String)>,
    system: &System,
    results: &[PropertyResult],
) -> Result<Option<String>, Failure> {
    let found = results.iter().find_map(|result| result.grid.as_ref().map(|report| (result.property, report)));
    let drawn = match found {
        Some((property, report)) => {
            let title = format!("{}: reachable cells ({})", system.name, system.properties[property].name);
            cells_picture(&title, report, axes)
        }
        None if engine.is(certus_grid::NAME) => Err("the exploration was not far enough to be drawn".to_owned()),
        None => Err("no verdict came from the grid; ⟨engine=grid⟩ takes it alone".to_owned()),
    };
    match drawn {
        Ok(picture) => write_atomically(path, &picture).map(|()| None),
        Err(reason) => Ok(Some(reason)),
    }
}

/// Writes the violating runs to a file of the kind that its name says; or says why not.
pub fn write_trace(path: &Path, system: &System, checked: &Checked) -> Result<Option<String>, Failure> {
    let Checked { results, provenance, .. } = checked;
    match trace_csv(system, results) {
        Some(_) if path.extension().is_some_and(|extension| extension == "json") => {
            write_document(path, &document(system, results, provenance))?;
        }
        Some(table) => write_atomically(path, &table)?,
        None => return Ok(Some("nothing is violated".to_owned())),
    }
    Ok(None)
}
