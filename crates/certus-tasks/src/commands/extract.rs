//! `extract`.

use certus_grid::policy_evaluation::Episodes;
use serde_json::json;

use super::check::{SAMPLING, sampling};
use super::options::{EFFORT, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::extract::{Extract, document, extract, picture};
use crate::failure::Failure;
use crate::output::{write_atomically, write_document};

pub(super) const EXTRACT: Command = Command {
    name: "extract",
    about: "Extracts a policy from a network on a grid, one action per cell, and compares the returns of both.",
    example: "certus extract zoo/mountain_car/mountain_car.certus --width p=0.01,v=0.001",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::named("widths", Kind::Widths, "{}", "Widths of grid cells, by state variable; one number for all").flag("width"),
            Opt::named("episodes", Kind::Count(1), "500", "In how many episodes both policies are compared; at most a hundred million"),
            Opt::named("steps", Kind::Count(1), "200", "Steps that an episode has at most"),
            Opt::named("picture", Kind::File, "null", "Where box plots of the returns are drawn, as SVG"),
            Opt::named("output", Kind::File, "null", "Where the policy is written, as JSON").flag("o"),
        ],
        SAMPLING,
        SYSTEM,
        EFFORT,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let effort = request.effort()?;
    let task = Extract {
        system: request.loading(),
        widths: request.widths("widths"),
        options: sampling(request, effort.seed)?,
        episodes: Episodes { count: request.whole("episodes").min(100_000_000), steps: request.whole("steps") },
        effort,
    };
    let (output, drawn) = (request.path("output"), request.path("picture"));
    Files::new().reads_system(&task.system).writes("⟨output⟩", &output).writes("⟨picture⟩", &drawn).ready()?;
    let stop = session.stop.clone();
    let found = extract(&task, &stop, || session.tell(|| json!({"text": "episodes"})))?;
    let Some(found) = found else {
        return Err(Failure::message("out of time before the first episodes were"));
    };
    let document = document(&found, &task.options);
    if let Some(path) = &output {
        write_document(path, &document)?;
    }
    if let Some(path) = &drawn {
        write_atomically(path, &picture(&found).ok_or_else(|| Failure::message("there are no returns to draw"))?)?;
    }
    let mut answer = Answer::from(document);
    let (count, wanted) = (found.compared.network.len(), task.episodes.count);
    if count < wanted {
        answer.notes.push(format!("stopped after {count} of {wanted} episodes"));
    }
    Ok(answer)
}
