//! `simulate`.

use std::sync::{Arc, Mutex, PoisonError};

use certus_sim::{ActionMode, Progress};
use serde_json::json;

use super::options::{EFFORT, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::{Ended, Files, Job};
use crate::failure::Failure;
use crate::simulate::{Format, Inputs, Simulate, Written, document, simulate};

pub(super) const SIMULATE: Command = Command {
    name: "simulate",
    about: "Runs the closed loop and watches every property. A simulation without a violation proves nothing; one with a violation shows \
            a run that breaks the property.",
    example: "certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::named("runs", Kind::Count(1), "100", "How many runs"),
            Opt::named("steps", Kind::Count(0), "100", "How many steps each run makes at most"),
            Opt::named("first_run", Kind::Count(0), "0", "The number of the first run; the seed and its number name a run"),
            Opt::named("inputs", Kind::Text, "\"uniform\"", "Where the environment's choices come from: `uniform`, `adversary`, or a table of comma-separated values"),
            Opt::named("property", Kind::Text, "null", "The property that the adversary wants to break; the first one if not given"),
            Opt::named("candidates", Kind::Count(0), "16", "How many choices the adversary tries at each step"),
            Opt::named("actions", Kind::Choice(&["sample", "argmax"]), "\"sample\"", "How the choices of a random policy are made"),
            Opt::named("output", Kind::File, "null", "Where every step of every run is written: a table, or a line of JSON per run for `.jsonl`").flag("o"),
        ],
        SYSTEM,
        EFFORT,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let output = request.path("output");
    let is_jsonl = output.as_ref().is_some_and(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let format = if is_jsonl { Format::Jsonl } else { Format::Csv };
    let task = Simulate {
        system: request.loading(),
        runs: request.whole("runs") as u64,
        steps: request.whole("steps"),
        first_run: request.whole("first_run") as u64,
        inputs: Inputs::named(request.text("inputs").unwrap_or_default()),
        property: request.text("property").map(str::to_owned),
        candidates: request.whole("candidates"),
        actions: if request.text("actions") == Some("argmax") { ActionMode::MostLikely } else { ActionMode::Sampled },
        written: output.clone().map(|file| Written { format, file: Some(file) }),
        effort: request.effort()?,
    };
    Files::new()
        .reads_system(&task.system)
        .reads("⟨inputs⟩", task.inputs.table())
        .writes("⟨output⟩", &output)
        .ready()?;
    let so_far = Arc::new(Mutex::new(Progress { runs: 0, of: task.runs, violated: 0 }));
    let stop = session.stop.clone();
    let work = {
        let (task, stop, so_far) = (task.clone(), stop.clone(), Arc::clone(&so_far));
        move || {
            simulate(&task, &stop, &mut |progress| *so_far.lock().unwrap_or_else(PoisonError::into_inner) = progress)
        }
    };
    let tick = || {
        let now = *so_far.lock().unwrap_or_else(PoisonError::into_inner);
        session.tell(|| json!({"text": standing(now), "runs": now.runs, "of": now.of, "violated": now.violated}));
    };
    // Simulation polls its deadline itself, and keeps what it has: nobody gives up on it.
    let Ended::Done(simulated) = Job::new(None, &stop).run(tick, work)? else {
        return Err(Failure::message("the simulation was stopped"));
    };
    let simulated = simulated?;
    let mut answer = Answer::from(document(&task, &simulated));
    if !simulated.system.warnings.is_empty() {
        answer.notes.push(simulated.system.warnings.render(false).trim_end().to_owned());
    }
    if simulated.summary.interrupted {
        let next = task.first_run + simulated.summary.runs;
        let rest = task.runs - simulated.summary.runs;
        answer.notes.push(format!(
            "stopped after {} runs; ⟨first_run={next}⟩ and ⟨runs={rest}⟩ go on from here",
            simulated.summary.runs
        ));
    }
    Ok(answer)
}

/// How far a simulation is, in words.
pub fn standing(progress: Progress) -> String {
    format!("run {} of {}, {} broken", progress.runs, progress.of, progress.violated)
}
