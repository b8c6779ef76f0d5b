//! `shield`, `shield_run` and `shield_export`.

use std::path::PathBuf;
use std::time::Instant;

use certus_documents::shield_run::ShieldRun;
use certus_documents::{Document, Schema, shield_export};
use certus_shield::evaluation::Trial;
use certus_shield::synthesis::{Failed, Form, Options};
use serde_json::json;

use super::shared::{CHANGES, EFFORT, NETWORKS, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::output::write_atomically;
use crate::shield::document::{
    about, failed_document, made_document, reason, replay_document, replayed_from, stopped_document,
};
use crate::shield::export::{Export, Language, export, files_of};
use crate::shield::{Ready, Replay, Shielded, Shielding, ready, replay, shield};
use crate::{BudgetOptions, Loading, Provenance};

pub(super) const SHIELD: Command = Command {
    about: "Synthesise a verified shield for a network",
    details: "For a property `G φ`, finds a small program and an invariant: whenever the network would leave the \
              invariant, the program takes over and stays inside, which is proved in exact arithmetic. The result is \
              one file with the program, the invariants and their certificate, which `audit` checks.",
    command_line: "Exit code 0: a shield was found, and its certificate accepted. 3: none was found.",
    examples: &[
        "certus shield zoo/satellite/satellite.certus -o satellite.shield.json",
        "certus audit satellite.shield.json",
        "certus shield run satellite.shield.json --runs 1000 --steps 5000",
        "certus shield export satellite.shield.json --lang c -o satellite",
        "With a proof that the program brings the pendulum to rest:",
        "  certus shield zoo/pendulum/pendulum.certus --converge eta=-0.1..0.1,omega=-0.1..0.1 -o rest.shield.json",
        "A shield for the old network under changed physics:",
        "  certus shield zoo/pendulum/pendulum.certus within_half --set mass=1.3 -o heavier.shield.json",
    ],
    options: &[
        &[
            SYSTEM,
            Opt::first("property", Kind::Text, "Property of the form `G φ`; the first of that form by default"),
            Opt::named(
                "invariant",
                Kind::Choice(&["auto", "polynomial", "polyhedron"]),
                "\"auto\"",
                "Kind of invariant: a polynomial sublevel set, or the maximal admissible set of a linear loop",
            ),
            Opt::named(
                "degree",
                Kind::Count(0),
                "null",
                "Maximum degree of a polynomial invariant, even, from 2 to 12; by default 2, then 4",
            ),
            Opt::named("program_degree", Kind::Count(0), "1", "Degree of the program, from 1 to 6; 1 is affine"),
            Opt::named(
                "converge",
                Kind::Ranges,
                "{}",
                "Also prove that the program reaches these ranges of state variables and stays there",
            )
            .value("NAME=LOW..HIGH"),
            Opt::named(
                "monomials",
                Kind::NumberLists,
                "[]",
                "Monomials of the program, as exponents of the state variables, in place of ⟨program_degree⟩",
            )
            .flag("monomial")
            .value("E1,E2,…"),
            Opt::file("output", "Write the shield, with its certificate, to a file").flag("o"),
        ],
        CHANGES,
        EFFORT,
    ],
    ..Command::new("shield", run_synthesis)
};

/// Where the system of a shield is.
const PLACE: Opt = Opt::file("system", "Path of the system, if it has moved");

pub(super) const SHIELD_RUN: Command = Command {
    about: "Simulate the system with and without its shield",
    details: "Each run starts in a random initial state.",
    command_line: "Exit code 0: no shielded run entered an unsafe state. 1: some did.",
    examples: &["certus shield run satellite.shield.json --runs 1000 --steps 5000"],
    options: &[
        &[
            Opt::needed("shield", Kind::File, "Shield to run"),
            Opt::named("runs", Kind::Count(1), "1000", "Number of runs"),
            Opt::named("steps", Kind::Count(1), "5000", "Number of steps per run"),
            PLACE,
            NETWORKS,
        ],
        EFFORT,
    ],
    ..Command::new("shield_run", run_replay)
};

pub(super) const SHIELD_EXPORT: Command = Command {
    about: "Generate source code for a shield",
    details: "C99 (a header and a source), Rust (a module that implements `certus_shield_rt::Guard`), or Python (a \
              module without imports). All of them compute the same results, bit for bit.",
    examples: &[
        "certus shield export satellite.shield.json --lang c -o satellite",
        "certus shield export satellite.shield.json --lang python > satellite_shield.py",
    ],
    options: &[&[
        Opt::needed("shield", Kind::File, "Shield to export"),
        Opt::needed("lang", Kind::Choice(&["c", "rust", "python"]), "Language").flag("lang"),
        PLACE,
        Opt::named("name", Kind::Text, "null", "Name of the exported code; that of the system by default"),
        Opt::file("output", "Write to this file; for C, the path of both files without `.h` and `.c`").flag("o"),
    ]],
    ..Command::new("shield_export", run_export)
};

/// The options of a synthesis.
fn options(request: &Request) -> Result<Options, Failure> {
    let (degree, program_degree) = (request.count("degree"), request.whole("program_degree"));
    degrees(degree, program_degree)?;
    let exponents = |list: &Vec<f64>| -> Option<Vec<u8>> {
        list.iter().map(|&x| (x.fract() == 0.0 && (0.0..=255.0).contains(&x)).then_some(x as u8)).collect()
    };
    let sketch: Option<Vec<Vec<u8>>> = request.number_lists("monomials").iter().map(exponents).collect();
    let sketch = sketch.ok_or_else(|| Failure::message("⟨monomials⟩: expected exponents, for example 1, 0, 2"))?;
    let mut target = Vec::new();
    for (name, range) in request.ranges("converge") {
        match range {
            Some((low, high)) if low <= high => target.push((name, low, high)),
            _ => return Err(Failure::message(format!("⟨converge={name}⟩: expected two numbers, the lower one first"))),
        }
    }
    Ok(Options {
        form: match request.text("invariant") {
            Some("polynomial") => Form::Polynomial,
            Some("polyhedron") => Form::Polyhedron,
            _ => Form::Auto,
        },
        degree,
        sketch_degree: Some(program_degree),
        target,
        sketch,
        ..Options::default()
    })
}

/// Refuses degrees that there are not.
fn degrees(degree: Option<usize>, program_degree: usize) -> Result<(), Failure> {
    if let Some(degree) = degree.filter(|degree| degree % 2 == 1 || !(2..=12).contains(degree)) {
        return Err(Failure::message(format!("⟨degree={degree}⟩: expected an even number from 2 to 12")));
    }
    if !(1..=6).contains(&program_degree) {
        return Err(Failure::message("⟨program_degree⟩: expected a number from 1 to 6"));
    }
    Ok(())
}

/// The synthesis that is asked for, with its files ready.
pub fn task(request: &Request) -> Result<Shielding, Failure> {
    let task = Shielding {
        loading: request.loading(),
        property: request.string("property"),
        options: options(request)?,
        effort: request.effort()?,
    };
    request.files().reads_system(&task.loading).ready()?;
    Ok(task)
}

/// Synthesises a shield, and writes it if that is asked for: what was found, and how many bytes it has.
pub fn synthesise(
    request: &Request,
    task: &Shielding,
    session: &mut Session<'_>,
) -> Result<(Shielded, usize), Failure> {
    let stop = session.stop.clone();
    match shield(task, &stop, |doing| session.tell(|| json!({"text": doing})))? {
        Shielded::Made(made) => {
            let text = made.document.to_line()? + "\n";
            if let Some(path) = request.output() {
                write_atomically(&path, &text)?;
            }
            Ok((Shielded::Made(made), text.len()))
        }
        Shielded::Failed(Failed::Unsupported(reason)) => {
            Err(Failure::message(format!("{}: {reason}", task.loading.path.display())))
        }
        failed => Ok((failed, 0)),
    }
}

fn run_synthesis(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = task(request)?;
    let (shielded, bytes) = synthesise(request, &task, session)?;
    let seconds = started.elapsed().as_secs_f64();
    match shielded {
        Shielded::Made(made) => {
            let output = request.output();
            let mut answer = Answer::from(made_document(&made, bytes, seconds, output.as_deref()));
            if output.is_none() {
                answer.notes.push("the shield was not written: name a file with ⟨output⟩".to_owned());
            }
            answer.beside.insert("shield".to_owned(), made.document.to_value()?);
            Ok(answer)
        }
        Shielded::Failed(failed) => {
            let (reason, tried) = reason(&failed, !task.options.sketch.is_empty());
            Ok(failed_document(reason, tried, seconds).into())
        }
    }
}

/// Runs of a system with its shield and without.
pub struct Replaying {
    /// The shield, with its system.
    pub ready: Ready,
    /// How many runs, of how many steps.
    pub trial: Trial,
    /// How much it is worth.
    pub effort: BudgetOptions,
    /// Where the outcome comes from.
    pub provenance: Provenance,
}

/// The runs that are asked for, with their files ready.
pub fn replaying(request: &Request) -> Result<Replaying, Failure> {
    let networks = request.named_paths("networks");
    let ready = ready(&request.file("shield"), request.path("system").as_deref(), &networks)?;
    files_of(request.files(), &ready).ready()?;
    let effort = request.effort()?;
    let trial = Trial {
        runs: request.whole("runs") as u64,
        steps: request.whole("steps"),
        seed: effort.seed,
        threads: effort.threads(),
    };
    let provenance = replayed_from(&ready, &trial, &effort, Loading { networks, ..Loading::default() });
    Ok(Replaying { ready, trial, effort, provenance })
}

/// Makes the runs: the document, and what they were like, if there was time for them.
pub fn replayed(asked: Replaying, session: &mut Session<'_>) -> Result<(ShieldRun, Option<Replay>), Failure> {
    let Replaying { ready, trial, effort, provenance } = asked;
    let about = about(&ready, &provenance);
    let total = trial.runs.saturating_mul(2).saturating_mul(trial.steps as u64);
    let stop = session.stop.clone();
    let replayed = replay(ready, trial, effort.deadline, &stop, |steps| {
        session.tell(|| {
            let percent = 100.0 * steps as f64 / total.max(1) as f64;
            json!({"text": format!("{percent:.0} % of {total} steps"), "steps": steps, "of": total})
        });
    })?;
    let document = match &replayed {
        Some(replayed) => replay_document(about, &trial, replayed),
        None => stopped_document(about),
    };
    Ok((document, replayed))
}

fn run_replay(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    replayed(replaying(request)?, session).map(|(document, _)| document.into())
}

/// Exports a shield: its text, and the files that were written.
pub fn exported(request: &Request) -> Result<(String, Vec<PathBuf>), Failure> {
    export(&Export {
        shield: request.file("shield"),
        language: match request.text("lang") {
            Some("c") => Language::C,
            Some("rust") => Language::Rust,
            _ => Language::Python,
        },
        system: request.path("system"),
        name: request.string("name"),
        output: request.output(),
    })
}

fn run_export(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let (text, written) = exported(request)?;
    let language = match request.text("lang") {
        Some("c") => shield_export::Language::C,
        Some("rust") => shield_export::Language::Rust,
        _ => shield_export::Language::Python,
    };
    let files = written.iter().map(|path| path.display().to_string()).collect();
    Ok(shield_export::ShieldExport { schema: Schema::default(), language, files, text }.into())
}
