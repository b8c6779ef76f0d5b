//! `shield`, `shield_run` and `shield_export`.

use std::time::Instant;

use certus_documents::{Document, Schema, shield_export};
use certus_shield::synthesis::{Failed, Form, Options};
use certus_shield::evaluation::Trial;
use serde_json::{Value, json};

use super::options::{EFFORT, NETWORKS, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::output::write_atomically;
use crate::shield::document::{
    about, failed_document, made_document, reason, replay_document, replayed_from, stopped_document,
};
use crate::shield::export::{Export, Language, export};
use crate::shield::{Shielded, Shielding, ready, replay, shield};
use crate::{Files, Loading};

pub(super) const SHIELD: Command = Command {
    name: "shield",
    about: "Synthesises a verified program beside a network for a property `G φ`: wherever the network would leave the invariant, the \
            program takes over and stays inside, proved in exact arithmetic.",
    example: "certus shield zoo/satellite/satellite.certus -o satellite.shield.json",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::first("property", Kind::Text, "The property, of the form `G φ`; the first one of that form if none is named"),
            Opt::named("invariant", Kind::Choice(&["auto", "polynomial", "polyhedron"]), "\"auto\"", "The kind of invariant"),
            Opt::named("degree", Kind::Count(0), "null", "The highest degree of a polynomial invariant, even, from 2 to 12; 2 and then 4 if not given"),
            Opt::named("program_degree", Kind::Count(0), "1", "The degree of the program, from 1 to 6; 1 is affine"),
            Opt::named("converge", Kind::Ranges, "{}", "Proves also that the program leads to these ranges of states and stays there, by name"),
            Opt::named("monomials", Kind::NumberLists, "[]", "Monomials of the program, as exponents of the states, in place of `program_degree`").flag("monomial"),
            Opt::named("output", Kind::File, "null", "Where the shield is written, with its certificate").flag("o"),
        ],
        SYSTEM,
        EFFORT,
    ],
    run: synthesise,
};

pub(super) const SHIELD_RUN: Command = Command {
    name: "shield_run",
    about: "Replays the system with and without its shield, each run from a random initial state.",
    example: "certus shield run satellite.shield.json --runs 1000",
    options: &[
        &[
            Opt::needed("shield", Kind::File, "The shield"),
            Opt::named("runs", Kind::Count(1), "1000", "How many runs"),
            Opt::named("steps", Kind::Count(1), "5000", "How many steps each run makes"),
            Opt::named("system", Kind::File, "null", "Where the system is now, if not where the shield says"),
            NETWORKS,
        ],
        EFFORT,
    ],
    run,
};

pub(super) const SHIELD_EXPORT: Command = Command {
    name: "shield_export",
    about: "Writes a shield as source code: C99 (a header and a source), Rust, or a Python module without imports. The text is in the \
            document as `text`.",
    example: "certus shield export satellite.shield.json --lang c -o satellite",
    options: &[&[
        Opt::needed("shield", Kind::File, "The shield"),
        Opt::needed("lang", Kind::Choice(&["c", "rust", "python"]), "The language"),
        Opt::named("system", Kind::File, "null", "Where the system is now, if not where the shield says"),
        Opt::named("name", Kind::Text, "null", "The name of what is exported; the system's if not given"),
        Opt::named("output", Kind::File, "null", "The file; for C, the two files without `.h` and `.c`").flag("o"),
    ]],
    run: write,
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
pub fn degrees(degree: Option<usize>, program_degree: usize) -> Result<(), Failure> {
    if let Some(degree) = degree.filter(|degree| degree % 2 == 1 || !(2..=12).contains(degree)) {
        return Err(Failure::message(format!("⟨degree={degree}⟩: expected an even number from 2 to 12")));
    }
    if !(1..=6).contains(&program_degree) {
        return Err(Failure::message("⟨program_degree⟩: expected a number from 1 to 6"));
    }
    Ok(())
}

fn synthesise(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = Shielding {
        loading: request.loading(),
        property: request.text("property").map(str::to_owned),
        options: options(request)?,
        effort: request.effort()?,
    };
    let output = request.path("output");
    Files::new().reads_system(&task.loading).writes("⟨output⟩", &output).ready()?;
    let stop = session.stop.clone();
    let shielded = shield(&task, &stop, |doing| session.tell(|| json!({"text": doing})))?;
    let seconds = started.elapsed().as_secs_f64();
    match shielded {
        Shielded::Made(made) => {
            let text = made.document.to_line()? + "\n";
            if let Some(path) = &output {
                write_atomically(path, &text)?;
            }
            let mut answer = Answer::from(made_document(&made, text.len(), seconds, output.as_deref()));
            if output.is_none() {
                answer.notes.push("the shield was not written: name a file with ⟨output⟩".to_owned());
            }
            answer.beside.insert("shield".to_owned(), made.document.to_value()?);
            Ok(answer)
        }
        Shielded::Failed(Failed::Unsupported(reason)) => {
            Err(Failure::message(format!("{}: {reason}", task.loading.path.display())))
        }
        Shielded::Failed(failed) => {
            let (reason, tried) = reason(&failed, !task.options.sketch.is_empty());
            Ok(failed_document(reason, tried, seconds).into())
        }
    }
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let networks = request.named_paths("networks");
    let ready = ready(&request.file("shield"), request.path("system").as_deref(), &networks)?;
    let effort = request.effort()?;
    let trial = Trial {
        runs: request.whole("runs") as u64,
        steps: request.whole("steps"),
        seed: effort.seed,
        threads: effort.threads(),
    };
    let provenance = replayed_from(&ready, &trial, &effort, Loading { networks, ..Loading::default() });
    let about = about(&ready, &provenance);
    let total = trial.runs.saturating_mul(2).saturating_mul(trial.steps as u64);
    let stop = session.stop.clone();
    let replayed = replay(ready, trial, effort.deadline, &stop, |steps| {
        session.tell(|| progress(steps, total));
    })?;
    Ok(match replayed {
        Some(replayed) => replay_document(about, &trial, &replayed),
        None => stopped_document(about),
    }
    .into())
}

fn progress(steps: u64, total: u64) -> Value {
    let percent = 100.0 * steps as f64 / total.max(1) as f64;
    json!({"text": format!("{percent:.0} % of {total} steps"), "steps": steps, "of": total})
}

fn write(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let (language, shown) = match request.text("lang") {
        Some("c") => (Language::C, shield_export::Language::C),
        Some("rust") => (Language::Rust, shield_export::Language::Rust),
        _ => (Language::Python, shield_export::Language::Python),
    };
    let task = Export {
        shield: request.file("shield"),
        language,
        system: request.path("system"),
        name: request.text("name").map(str::to_owned),
        output: request.path("output"),
    };
    let (text, written) = export(&task)?;
    let files = written.iter().map(|path| path.display().to_string()).collect();
    Ok(shield_export::ShieldExport { schema: Schema::default(), language: shown, files, text }.into())
}
