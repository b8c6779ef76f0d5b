//! `observe`.

use certus_documents as documents;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::observe::{Decider, Observe, World, run as observe};
use crate::output::Output;

pub(super) const OBSERVE: Command = Command {
    about: "Record the observations and decisions of a reference algorithm, or of a network",
    details: "For video streaming (`pensieve`), the algorithms are `buffer-based` and `mpc` (robust model-predictive \
              control) in Pensieve's simulator, and the files are bandwidth traces. For congestion control (`aurora`), \
              they are `cubic` and `bbr` over Aurora's links, and the files are tables of links with the columns \
              `trace`, `delay_ms`, `loss` and `queue`.\n\n\
              The result is a table that `mine` reads, with a row per decision: CSV, or Parquet if the output is named \
              so.",
    examples: &[
        "certus observe pensieve mpc traces.txt -o mpc.csv",
        "certus observe pensieve policy.onnx traces/*.log -o policy.csv",
        "certus observe aurora cubic links.csv -o cubic.csv",
    ],
    options: &[&[
        Opt::needed("world", Kind::Choice(&["pensieve", "aurora"]), "Simulator"),
        Opt::needed(
            "decider",
            Kind::Text,
            "Algorithm: `buffer-based`, `mpc`, `cubic`, `bbr`, or a network (`.onnx`, `.nnet`)",
        )
        .value("REFERENCE"),
        Opt::needed("files", Kind::Files, "Bandwidth traces (`pensieve`), or tables of links (`aurora`)").value("FILE"),
        Opt::needed("output", Kind::File, "Write the table to a file").flag("o"),
        Opt::named("interval", Kind::Number, "0.075", "Length of a monitor interval, in seconds (`aurora`)")
            .value("SECONDS"),
        Opt::named(
            "seconds",
            Kind::Number,
            "60",
            "Observation time per link, in seconds; traces repeat when they end (`aurora`)",
        )
        .value("SECONDS"),
        Opt::named("seed", Kind::Count(0), "0", "Seed of the random losses"),
    ]],
    ..Command::new("observe", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Observe, Failure> {
    let world = if request.text("world") == Some("aurora") { World::Aurora } else { World::Pensieve };
    let task = Observe {
        world,
        decider: Decider::named(world, request.text("decider").unwrap_or_default())?,
        files: request.paths("files"),
        interval: request.real("interval"),
        seconds: request.real("seconds"),
        seed: request.whole("seed") as u64,
    };
    let network = if let Decider::Network(path) = &task.decider { Some(path) } else { None };
    request.files().reads("a trace or table", &task.files).reads("the network", network).ready()?;
    Ok(task)
}

/// Writes the table, which must have a row: how many it has.
pub fn work(request: &Request, task: &Observe) -> Result<u64, Failure> {
    let mut output = Output::open(request.output().as_deref())?;
    let rows = match observe(task, &mut output)? {
        0 => return Err(Failure::message("nothing was observed: the files hold no trace or link that is long enough")),
        rows => rows,
    };
    output.finish()?;
    Ok(rows)
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let rows = work(request, &task(request)?)?;
    let file = request.string("output").unwrap_or_default();
    Ok(documents::observe::Observe { schema: documents::Schema::default(), file, rows }.into())
}
