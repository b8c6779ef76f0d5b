//! `observe`.

use certus_documents as documents;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::failure::Failure;
use crate::observe::{Decider, Observe, World, run as observe};
use crate::output::Output;

pub(super) const OBSERVE: Command = Command {
    name: "observe",
    about: "Runs a reference algorithm, or a network in its place, over traces, and writes what it saw and decided: a CSV file, or a \
            Parquet file if the name ends so.",
    example: "certus observe pensieve mpc traces.txt -o mpc.csv",
    options: &[&[
        Opt::needed("world", Kind::Choice(&["pensieve", "aurora"]), "The simulator"),
        Opt::needed("decider", Kind::Text, "Who decides: `buffer-based`, `mpc`, `cubic`, `bbr`, or a network (`.onnx`, `.nnet`)"),
        Opt::needed("files", Kind::Files, "Traces (`pensieve`), or tables of links (`aurora`)"),
        Opt::needed("output", Kind::File, "Where the table is written").flag("o"),
        Opt::named("interval", Kind::Number, "0.075", "Length of a monitor interval, in seconds (`aurora`)"),
        Opt::named("seconds", Kind::Number, "60", "How long each link is observed; traces begin again where they end (`aurora`)"),
        Opt::named("seed", Kind::Count(0), "0", "Seed of the random losses"),
    ]],
    run,
};

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let world = if request.text("world") == Some("aurora") { World::Aurora } else { World::Pensieve };
    let task = Observe {
        world,
        decider: Decider::named(world, request.text("decider").unwrap_or_default())?,
        files: request.paths("files"),
        interval: request.real("interval"),
        seconds: request.real("seconds"),
        seed: request.whole("seed") as u64,
    };
    let path = request.file("output");
    ready(&task).writes("⟨output⟩", [&path]).ready()?;
    let mut output = Output::open(Some(&path))?;
    let rows = written(&task, &mut output)?;
    output.finish()?;
    let file = path.display().to_string();
    Ok(documents::observe::Observe { schema: documents::Schema::default(), file, rows }.into())
}

/// What an observation reads.
pub fn ready(task: &Observe) -> Files {
    let network = if let Decider::Network(path) = &task.decider { Some(path) } else { None };
    Files::new().reads("a trace or table", &task.files).reads("the network", network)
}

/// Writes a table that is not empty.
pub fn written(task: &Observe, output: &mut Output) -> Result<u64, Failure> {
    match observe(task, output)? {
        0 => Err(Failure::message("nothing was observed: the files hold no trace or link that is long enough")),
        rows => Ok(rows),
    }
}
