//! `gate`.

use std::time::Instant;

use serde_json::json;

use super::options::{EFFORT, MEMORY};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::gate::{BoundedChecking, Gate, Judge, Simulation, checkpoints, document, gate, picture};
use crate::output::write_atomically;
use crate::{Files, deadline_after};

pub(super) const GATE: Command = Command {
    name: "gate",
    about: "Checks every property with every checkpoint of a training. Simulation finds violations and proves nothing; \
            bounded model checking also shows that nothing is violated up to a number of steps.",
    example: "certus gate zoo/pendulum/pendulum.certus zoo/pendulum/pendulum.onnx",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::needed("checkpoints", Kind::Files, "Networks, or folders of networks (`.onnx`, `.nnet`)").flag("networks"),
            Opt::named("policy", Kind::Text, "null", "Whose network the checkpoints replace: a policy, an action, or a path as the system writes it; needed if there are several"),
            Opt::named("properties", Kind::Texts, "[]", "The properties; all of them if none is named").flag("property"),
            Opt::named("engine", Kind::Choice(&["simulation", "bmc"]), "\"simulation\"", "What judges the checkpoints"),
            Opt::named("runs", Kind::Count(1), "500", "How many runs simulation makes"),
            Opt::named("steps", Kind::Count(0), "200", "Steps that each run of a simulation makes at most"),
            Opt::named("candidates", Kind::Count(0), "16", "How many choices the adversary tries at each step"),
            Opt::named("depth", Kind::Count(0), "null", "Steps that model checking looks at; if not given, 10, or as far as a property's own bounds reach").flag("k"),
            Opt::named("cell_timeout", Kind::Number, "null", "Seconds that model checking may take for each checkpoint and property"),
            Opt::named("picture", Kind::File, "null", "Where properties × checkpoints are drawn, as SVG"),
            Opt::named("set", Kind::Settings, "{}", "Values of parameters of the system, by name"),
        ],
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let effort = request.effort()?;
    let task = Gate {
        system: request.loading(),
        checkpoints: request.paths("checkpoints"),
        policy: request.text("policy").map(str::to_owned),
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
    let drawn = request.path("picture");
    Files::new()
        .reads_system(&task.system)
        .reads("a checkpoint", checkpoints(&task.checkpoints)?)
        .writes("⟨picture⟩", &drawn)
        .ready()?;
    let stop = session.stop.clone();
    let gated = gate(&task, judge.clone(), &stop, |done| {
        session.tell(|| json!({"text": format!("{done} checkpoints done"), "done": done}));
    })?;
    if let Some(path) = &drawn {
        write_atomically(path, &picture(&gated))?;
    }
    let mut answer = Answer::from(document(&judge, &gated, started.elapsed().as_secs_f64()));
    if gated.rows.len() < gated.of {
        answer.notes.push(format!("stopped after {} of {} checkpoints", gated.rows.len(), gated.of));
    }
    Ok(answer)
}
