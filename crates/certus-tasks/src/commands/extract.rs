//! `extract`.

use certus_grid::policy_evaluation::Episodes;
use serde_json::json;

use super::check::sampling;
use super::shared::{CHANGES, EFFORT, SAMPLING, SYSTEM, WIDTHS};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::extract::{Extract, Extracted, document, extract, picture};
use crate::failure::Failure;
use crate::output::{write_atomically, write_document};

pub(super) const EXTRACT: Command = Command {
    about: "Extract a policy from a network on a grid, and compare its return with the network's",
    details: "Each cell of the state space gets one action: the mean of the network's outputs at sampled states of the \
              cell, or the label chosen most often. Episodes of both policies start in the same states. The result \
              lists every cell that an episode visited, with its action; `check` verifies the same policy with \
              ⟨policy=extracted⟩.",
    examples: &[
        "certus extract zoo/mountain_car/mountain_car.certus --width p=0.01,v=0.001 --episodes 500 -o policy.json",
    ],
    options: &[
        &[
            SYSTEM,
            WIDTHS,
            Opt::named("episodes", Kind::Within(1, 100_000_000), "500", "Number of episodes to compare on"),
            Opt::named("steps", Kind::Within(1, u32::MAX as u64), "200", "Maximum number of steps per episode"),
            Opt::file("picture", "Plot the returns as box plots (SVG)"),
            Opt::file("output", "Write the policy to a file (JSON)").flag("o"),
        ],
        SAMPLING,
        CHANGES,
        EFFORT,
    ],
    ..Command::new("extract", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Extract, Failure> {
    let effort = request.effort()?;
    let task = Extract {
        system: request.loading(),
        widths: request.widths("widths"),
        options: sampling(request, effort.seed)?,
        episodes: Episodes { count: request.whole("episodes"), steps: request.whole("steps") },
        effort,
    };
    request.files().reads_system(&task.system).writes("⟨picture⟩", request.path("picture")).ready()?;
    Ok(task)
}

/// Runs the episodes; nothing if there was no time for any.
pub fn work(task: &Extract, session: &mut Session<'_>) -> Result<Option<Extracted>, Failure> {
    let stop = session.stop.clone();
    extract(task, &stop, || session.tell(|| json!({"text": "episodes"})))
}

/// Writes the files that are asked for.
pub fn write(request: &Request, task: &Extract, found: &Extracted) -> Result<(), Failure> {
    if let Some(path) = request.output() {
        write_document(&path, &document(found, &task.options))?;
    }
    if let Some(path) = request.path("picture") {
        write_atomically(&path, &picture(found).ok_or_else(|| Failure::message("there are no returns to draw"))?)?;
    }
    Ok(())
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request)?;
    let Some(found) = work(&task, session)? else {
        return Err(Failure::message("out of time before the first episodes ended"));
    };
    write(request, &task, &found)?;
    let mut answer = Answer::from(document(&found, &task.options));
    let (count, wanted) = (found.compared.network.len(), task.episodes.count);
    if count < wanted {
        answer.notes.push(format!("stopped after {count} of {wanted} episodes"));
    }
    Ok(answer)
}
