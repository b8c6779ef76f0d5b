//! `check`.

use std::path::Path;

use certus_documents::check as documents;
use certus_engine::Progress;
use certus_grid::Policy;
use certus_grid::extract::ExtractOptions;
use certus_lang::system::{Expect, System};
use certus_model::short;
use certus_prob::Standing;
use serde_json::{Value, json};

use super::shared::{CHANGES, EFFORT, MEMORY, PROPERTIES, SAMPLING, STEPS, SYSTEM, WIDTHS};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::check::{
    Check, CheckProgress, Checked, Conclusion, DRAWING, Decided, EngineChoice, Found, GridOptions, PropertyResult,
    add_flowpipes, cells_picture, check_and_tell, document, flowpipe_picture, trace_csv,
};
use crate::failure::Failure;
use crate::output::{write_atomically, write_document};

pub(super) const CHECK: Command = Command {
    about: "Check properties of a closed loop",
    details: "A violation comes with a counterexample that was replayed on the system itself. If only an infinite run \
              can violate the property, the counterexample returns to an earlier state, or provably converges to an \
              equilibrium over the reals. `holds` is a proof over the reals about all runs of the model: they start in \
              initial states, stay in the declared ranges, and take transitions that `assume` allows. `holds up to k \
              steps` says that no run of k steps, and no loop within k steps, is a counterexample.\n\n\
              For a property about a probability, the result is an interval that contains the worst case over all \
              initial states; `prob` has more options for these.",
    command_line: "Exit code 0: every property holds, as far as you asked. 1: a property is violated. 2: bad input, or \
                   a property that cannot be checked. 3: undecided within the budget.",
    examples: &[
        "certus check zoo/toy/toy.certus",
        "certus check zoo/toy/toy.certus below_five -k 5",
        "certus check zoo/aurora/aurora.certus p2 p3 -k 4 --json",
        "For which thresholds of 'close to the minimum latency' and 'heavy loss' property 3 holds:",
        "  certus check zoo/aurora/aurora.certus p3 -k 0 --region close=1..2,loss --picture p3.svg",
    ],
    options: &[
        &[
            SYSTEM,
            PROPERTIES,
            Opt::named("engine", Kind::Text, "\"auto\"", "Engine to use; `auto` lets all that apply take turns")
                .details(
                    "`falsify` simulates runs to find violations, `bmc` searches for violations up to a number of \
                     steps, `induction` for an unbounded proof, `grid` decides on a finite abstraction of the state \
                     space, `explicit` enumerates the states of a finite system, `convergence` searches for runs that \
                     converge to an equilibrium, and `imdp` bounds probabilities.",
                )
                .value("ENGINE"),
            STEPS,
            Opt::switch(
                "assume_no_model_errors",
                "Assume that no run leaves its declared ranges, deadlocks or evaluates an undefined operation; the \
                 result says so",
            ),
            Opt::file("certificate", "Write a proof of the named property to a file for `audit`, if it holds")
                .details("Proofs on a grid have no certificate, so `auto` does not use the grid then."),
            Opt::switch("json_lines", "Print one JSON document per property, each on one line, as it is decided"),
            Opt::switch("expect", "Compare with the verdicts that the file expects; a mismatch counts as a violation"),
            Opt::file("trace", "Write counterexamples to a file: a table for `.csv`, the JSON document for `.json`")
                .details("The file is written only if a property is violated."),
            WIDTHS,
            Opt::named(
                "policy",
                Kind::Choice(&["network", "extracted"]),
                "\"network\"",
                "Policy that the grid engine verifies: the network itself, or one action per cell extracted from it",
            ),
            Opt::named(
                "refine",
                Kind::Count(0),
                "null",
                "Maximum number of refinements of the grid after spurious counterexamples; unlimited by default",
            ),
            Opt::file("cells", "Plot the reachable cells of the grid (SVG)").alias("units"),
            Opt::named(
                "axes",
                Kind::Names,
                "null",
                "Axes of the plot: two state variables, or `step` for the number of steps; the first two state \
                 variables by default",
            )
            .needs("cells"),
            Opt::file("flowpipe", "Plot the reachable sets of the first property that has some (SVG or PNG)")
                .details("The sets are those of the engine `reach`, whichever engine gave the verdict."),
            Opt::named(
                "flowpipe_axes",
                Kind::Names,
                "null",
                "Axes of that plot: two state variables, or `time`; time and the first state variable by default",
            )
            .needs("flowpipe"),
            Opt::switch(
                "reachable_sets",
                "Add the reachable sets of properties that `reach` decides to the JSON document; `report` draws them",
            ),
        ],
        SAMPLING,
        CHANGES,
        EFFORT,
        MEMORY,
    ],
    ..Command::new("check", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Check, Failure> {
    let effort = request.effort()?;
    let sampling = sampling(request, effort.seed)?;
    let policy = match request.text("policy") {
        Some("extracted") => Policy::Extracted(sampling),
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
    request
        .files()
        .reads_system(&task.system)
        .writes("⟨trace⟩", trace)
        .writes("⟨certificate⟩", &task.certificate)
        .writes("⟨cells⟩", cells)
        .writes("⟨flowpipe⟩", request.path("flowpipe"))
        .ready()?;
    Ok(task)
}

/// Checks the properties; each result is told of as soon as it is there.
pub fn work(
    task: &Check,
    session: &mut Session<'_>,
    decided: &mut dyn FnMut(Decided<'_>) -> Result<(), Failure>,
) -> Result<Checked, Failure> {
    let stop = session.stop.clone();
    check_and_tell(task, &stop, &mut |place| session.tell(|| progress(place)), decided)
}

/// The document of one result, with what the file expects if that is asked for.
pub fn compared_alone(request: &Request, decided: &Decided<'_>) -> documents::Check {
    let checked = Checked {
        system: None,
        results: vec![decided.result.clone()],
        provenance: decided.provenance.clone(),
    };
    compared(request, decided.system, &checked)
}

/// The document, with what the file expects if that is asked for.
pub fn compared(request: &Request, system: &System, checked: &Checked) -> documents::Check {
    let mut found = document(system, &checked.results, &checked.provenance);
    if request.flag("reachable_sets") {
        add_flowpipes(system, &checked.results, &mut found);
    }
    if request.flag("expect") {
        compare(system, &checked.results, &mut found);
    }
    found
}

/// Writes the files that are asked for beside the result; a note for each that was not written.
pub fn write(request: &Request, task: &Check, system: &System, checked: &Checked) -> Result<Vec<String>, Failure> {
    let results = &checked.results;
    let mut notes = Vec::new();
    let mut note = |path: &Path, reason: Option<String>| {
        notes.extend(reason.map(|reason| format!("{} was not written: {reason}", path.display())));
    };
    if let Some(path) = &task.certificate {
        note(path, without_certificate(results).map(str::to_owned));
    }
    if let Some(path) = &request.path("cells") {
        note(path, write_cells(path, task.engine, task.grid.axes.as_ref(), system, results)?);
    }
    if let Some(path) = &request.path("trace") {
        note(path, write_trace(path, system, checked)?);
    }
    if let Some(path) = &request.path("flowpipe") {
        note(path, write_flowpipe(path, request.names("flowpipe_axes").as_ref(), system, results)?);
    }
    Ok(notes)
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request)?;
    let checked = work(&task, session, &mut |_| Ok(()))?;
    let Some(system) = &checked.system else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    let mut answer = Answer::from(compared(request, system, &checked));
    answer.notes = write(request, &task, system, &checked)?;
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
fn progress_line(check: &CheckProgress) -> String {
    let shown = match check.progress {
        None => return "reading".to_owned(),
        Some(Progress::Exploration { refinements, steps, cells }) => {
            let finer = if refinements > 0 { format!(", cut finer {refinements} times") } else { String::new() };
            format!("{cells} cells after {}{finer}", certus_model::steps(steps))
        }
        Some(Progress::Simulation { runs, steps, robustness }) => {
            let runs = certus_model::counted(runs, "run");
            format!("{runs} of at most {}, smallest robustness {}", certus_model::steps(steps), short(robustness))
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
fn as_expected(system: &System, result: &PropertyResult) -> Option<bool> {
    let expected = system.properties[result.property].expect?;
    match (result.outcome.as_ref().map(Found::conclusion), expected) {
        (Ok(Conclusion::Holds), expected) => Some(expected == Expect::Holds),
        (Ok(Conclusion::Violated), expected) => Some(expected == Expect::Violated),
        _ => None,
    }
}

/// Adds to each result what the file expects, and whether it is so.
fn compare(system: &System, results: &[PropertyResult], document: &mut documents::Check) {
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
fn without_certificate(results: &[PropertyResult]) -> Option<&'static str> {
    let [PropertyResult { certificate: None, outcome, .. }] = results else { return None };
    Some(match outcome.as_ref().map(Found::conclusion) {
        Ok(Conclusion::Holds) => "the verdict came without a proof that can be written down",
        _ => "only a property that holds has a certificate",
    })
}

/// Draws the cells of the first property that has some; or says why not.
fn write_cells(
    path: &Path,
    engine: EngineChoice,
    axes: Option<&(String, String)>,
    system: &System,
    results: &[PropertyResult],
) -> Result<Option<String>, Failure> {
    let found = results.iter().find_map(|result| result.grid.as_ref().map(|report| (result.property, report)));
    let drawn = match found {
        Some((property, report)) => {
            cells_picture(system, &system.properties[property], report, axes)
        }
        None if engine.is(certus_grid::NAME) => Err("the exploration was not far enough to be drawn".to_owned()),
        None => Err("no verdict came from the grid; ⟨engine=grid⟩ takes it alone".to_owned()),
    };
    match drawn {
        Ok(picture) => write_atomically(path, &picture).map(|()| None),
        Err(reason) => Ok(Some(reason)),
    }
}

/// Draws the reachable sets of the first property that has some; or says why not.
fn write_flowpipe(
    path: &Path,
    axes: Option<&(String, String)>,
    system: &System,
    results: &[PropertyResult],
) -> Result<Option<String>, Failure> {
    let mut reason = "there is no property".to_owned();
    for result in results {
        match flowpipe_picture(system, &system.properties[result.property], result.evidence.as_ref(), axes, &DRAWING) {
            Ok(picture) if path.extension().is_some_and(|own| own.eq_ignore_ascii_case("png")) => {
                return write_atomically(path, &picture.png()).map(|()| None);
            }
            Ok(picture) => return write_atomically(path, &picture.standalone()).map(|()| None),
            Err(own) => reason = own,
        }
    }
    Ok(Some(reason))
}

/// Writes the violating runs to a file of the kind that its name says; or says why not.
fn write_trace(path: &Path, system: &System, checked: &Checked) -> Result<Option<String>, Failure> {
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
