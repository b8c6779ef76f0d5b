//! `simulate`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use certus_sim::{ActionMode, Progress};
use serde_json::json;

use super::shared::{CHANGES, EFFORT, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::simulate::{Format, Inputs, Simulate, Simulated, Written, document, simulate};
use crate::{Ended, Job};

pub(super) const SIMULATE: Command = Command {
    about: "Simulate the closed loop and monitor every property",
    details: "Initial states, inputs and random choices are drawn at random. Each run reports how it ended (all steps \
              made, a terminal state, a variable out of its declared range, no transition that `assume` allows), and \
              for each property whether and when it was violated, and with what margin. A violation is a \
              counterexample; no violation proves nothing.\n\n\
              Runs are reproducible: they depend on the seed and their number only. To look at run 77 of a simulation, \
              repeat it with ⟨first_run=77⟩ and ⟨runs=1⟩.",
    examples: &[
        "A thousand runs of the pendulum, and a summary:",
        "  certus simulate zoo/pendulum/pendulum.certus --runs 1000 --steps 500",
        "The same under changed physics:",
        "  certus simulate zoo/pendulum/pendulum.certus --runs 1000 --set mass=1.3",
        "An adversary chooses the disturbance against one property:",
        "  certus simulate zoo/lanekeeping/lanekeeping.certus --inputs adversary --property in_lane",
        "Every state of ten runs, as a table for other tools:",
        "  certus simulate zoo/ball/ball.certus --runs 10 --format csv -o runs.csv",
    ],
    options: &[
        &[
            SYSTEM,
            Opt::named("runs", Kind::Count(1), "100", "Number of runs"),
            Opt::named("steps", Kind::Count(0), "100", "Maximum number of steps per run"),
            Opt::named("first_run", Kind::Count(0), "0", "Number of the first run"),
            Opt::named("inputs", Kind::Text, "\"uniform\"", "Source of inputs: `uniform`, `adversary`, or a CSV file")
                .details(
                    "`adversary` tries several inputs at each step and takes the one that leaves the smallest margin. \
                     A table has a column for each element of each input (`d`, `u[0]`), a row for each step, and \
                     optionally a column `run`; the tables that this command writes can be read back.",
                )
                .value("HOW"),
            Opt::named("property", Kind::Text, "null", "Property that the adversary attacks; the first by default"),
            Opt::named("candidates", Kind::Count(0), "16", "Number of inputs that the adversary tries at each step"),
            Opt::named(
                "actions",
                Kind::Choice(&["sample", "argmax"]),
                "\"sample\"",
                "Actions of a stochastic policy: sampled, or the most likely one",
            ),
            Opt::file("output", "Write every step of every run to a file: a table, or for `.jsonl` a line of JSON per \
                                 run").flag("o"),
        ],
        CHANGES,
        EFFORT,
    ],
    ..Command::new("simulate", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Simulate, Failure> {
    let is_jsonl = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let format = |path: &PathBuf| if is_jsonl(path) { Format::Jsonl } else { Format::Csv };
    let task = Simulate {
        system: request.loading(),
        runs: request.whole("runs") as u64,
        steps: request.whole("steps"),
        first_run: request.whole("first_run") as u64,
        inputs: Inputs::named(request.text("inputs").unwrap_or_default()),
        property: request.string("property"),
        candidates: request.whole("candidates"),
        actions: if request.text("actions") == Some("argmax") { ActionMode::MostLikely } else { ActionMode::Sampled },
        written: request.output().map(|file| Written { format: format(&file), file: Some(file) }),
        effort: request.effort()?,
    };
    request.files().reads_system(&task.system).reads("⟨inputs⟩", task.inputs.table()).ready()?;
    Ok(task)
}

/// Simulates.
pub fn work(task: &Simulate, session: &mut Session<'_>) -> Result<Simulated, Failure> {
    let so_far = Arc::new(Mutex::new(Progress { runs: 0, of: task.runs, violated: 0 }));
    let stop = session.stop.clone();
    let work = {
        let (task, stop, so_far) = (task.clone(), stop.clone(), Arc::clone(&so_far));
        move || {
            simulate(&task, &stop, &mut |progress| *so_far.lock().unwrap_or_else(PoisonError::into_inner) = progress)
        }
    };
    let tick = || {
        let Progress { runs, of, violated } = *so_far.lock().unwrap_or_else(PoisonError::into_inner);
        session.tell(|| {
            let text = format!("run {runs} of {of}, {violated} violations");
            json!({"text": text, "runs": runs, "of": of, "violated": violated})
        });
    };
    // Simulation polls its deadline itself, and keeps what it has: nobody gives up on it.
    match Job::new(None, &stop).run(tick, work)? {
        Ended::Done(simulated) => simulated,
        _ => Err(Failure::message("the simulation was stopped")),
    }
}

/// What is to be said of a simulation that did not make all its runs.
pub fn note(task: &Simulate, simulated: &Simulated) -> Option<String> {
    let done = simulated.summary.runs;
    let (next, rest) = (task.first_run + done, task.runs - done);
    let text = format!("stopped after {done} runs; continue with ⟨first_run={next}⟩ ⟨runs={rest}⟩");
    simulated.summary.interrupted.then_some(text)
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request)?;
    let simulated = work(&task, session)?;
    let mut answer = Answer::from(document(&task, &simulated));
    if !simulated.system.warnings.is_empty() {
        answer.notes.push(simulated.system.warnings.render(false).trim_end().to_owned());
    }
    answer.notes.extend(note(&task, &simulated));
    Ok(answer)
}
