//! `gate`.

use std::time::Instant;

use serde_json::json;

use super::shared::{EFFORT, MEMORY, SET, STEPS, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::deadline_after;
use crate::failure::Failure;
use crate::gate::{BoundedChecking, Gate, Gated, Judge, Simulation, checkpoints, document, gate, picture};
use crate::output::write_atomically;

pub(super) const GATE: Command = Command {
    about: "Check every property with every checkpoint of a training run",
    details: "Each checkpoint replaces the network of the system; the result has a row per checkpoint and a column per \
              property. Simulation draws inputs at random first, then lets an adversary choose them against each \
              property. It finds violations, each with the run and the step that show it, but proves nothing. Bounded \
              model checking also shows that a property holds up to a number of steps.",
    command_line: "Exit code 0: every cell holds, as far as you asked (simulation never shows that). 1: a cell is \
                   violated. 2: bad input, or a run left the model. 3: a cell is open.",
    examples: &[
        "Two networks, all properties:",
        "  certus gate zoo/pendulum/pendulum.certus zoo/pendulum/pendulum.onnx zoo/satellite/satellite.onnx",
        "Every checkpoint in a folder, one property, under changed physics:",
        "  certus gate pendulum.certus checkpoints --property upright --set mass=1.3 --json",
        "What was learnt when, proved up to three steps:",
        "  certus gate aurora.certus checkpoints --engine bmc -k 3 --cell-timeout 20 --picture learnt.svg",
    ],
    options: &[
        &[
            SYSTEM,
            Opt::needed("checkpoints", Kind::Files, "Networks (`.onnx`, `.nnet`), or folders of networks").value("NET"),
            Opt::named(
                "policy",
                Kind::Text,
                "null",
                "Network to replace: a policy, an action, or a path as in the system file; required if there are \
                 several",
            ),
            Opt::named("properties", Kind::Texts, "[]", "Properties to check; all of them by default")
                .flag("property"),
            Opt::named(
                "engine",
                Kind::Choice(&["simulation", "bmc"]),
                "\"simulation\"",
                "How to check: by simulation, or by bounded model checking",
            ),
            Opt::named("runs", Kind::Count(1), "500", "Number of simulated runs"),
            Opt::named("steps", Kind::Count(0), "200", "Maximum number of steps per simulated run"),
            Opt::named("candidates", Kind::Count(0), "16", "Number of inputs that the adversary tries at each step"),
            Opt { name: "depth", flag: Some("k"), short: None, ..STEPS },
            Opt::named(
                "cell_timeout",
                Kind::Number,
                "null",
                "Time limit of model checking for each checkpoint and property, in seconds",
            )
            .value("SECONDS"),
            Opt::file("picture", "Plot properties against checkpoints (SVG)"),
            SET,
        ],
        EFFORT,
        MEMORY,
    ],
    ..Command::new("gate", run)
};

/// What is asked, with its files ready, and who judges.
pub fn task(request: &Request) -> Result<(Gate, Judge), Failure> {
    let effort = request.effort()?;
    let task = Gate {
        system: request.loading(),
        checkpoints: request.paths("checkpoints"),
        policy: request.string("policy"),
        properties: request.texts("properties"),
        deadline: effort.deadline,
        timeout: effort.timeout,
    };
    let judge = match request.text("engine") {
        Some("bmc") => {
            let seconds_per_cell = request.number("cell_timeout");
            // Before anything is read: whether that is a number of seconds.
            deadline_after(seconds_per_cell, "⟨cell_timeout⟩")?;
            Judge::Bmc(BoundedChecking { steps: request.count("depth"), seconds_per_cell, effort })
        }
        _ => Judge::Simulation(Simulation {
            runs: request.whole("runs") as u64,
            steps: request.whole("steps"),
            seed: effort.seed,
            threads: effort.threads,
            candidates: request.whole("candidates"),
        }),
    };
    request
        .files()
        .reads_system(&task.system)
        .reads("a checkpoint", checkpoints(&task.checkpoints)?)
        .writes("⟨picture⟩", request.path("picture"))
        .ready()?;
    Ok((task, judge))
}

/// Checks the checkpoints, and draws them if that is asked for.
pub fn work(request: &Request, task: &Gate, judge: &Judge, session: &mut Session<'_>) -> Result<Gated, Failure> {
    let stop = session.stop.clone();
    let gated = gate(task, judge.clone(), &stop, |done| {
        session.tell(|| json!({"text": format!("{done} checkpoints done"), "done": done}));
    })?;
    if let Some(path) = request.path("picture") {
        write_atomically(&path, &picture(&gated))?;
    }
    Ok(gated)
}

/// What is to be said of an outcome that is not whole.
pub fn note(gated: &Gated) -> Option<String> {
    let (done, of) = (gated.rows.len(), gated.of);
    (done < of).then(|| format!("stopped after {done} of {of} checkpoints"))
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let (task, judge) = task(request)?;
    let gated = work(request, &task, &judge, session)?;
    let mut answer = Answer::from(document(&judge, &gated, started.elapsed().as_secs_f64()));
    answer.notes.extend(note(&gated));
    Ok(answer)
}
