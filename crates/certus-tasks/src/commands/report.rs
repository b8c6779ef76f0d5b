//! `report`.

use certus_documents as documents;
use serde_json::Value;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::report::{Outcome, Report, report};

pub(super) const REPORT: Command = Command {
    about: "Render results of any command as an HTML page",
    details: "The page is self-contained: a summary, counterexamples (over time, as phase portraits, step by step), \
              invariants, maps, partitions, shields and specifications. It says where data was thinned out.",
    command_line: "A result is what a command prints with `--json`, or a shield; `-` reads it from standard input.",
    examples: &[
        "certus check zoo/toy/toy.certus --json -o toy.json",
        "certus report toy.json -o toy.html",
        "certus check zoo/toy/toy.certus --json | certus report - -o toy.html",
        "certus report toy.json -o toy.html --figures pictures",
    ],
    options: &[&[
        Opt::rest("results", Kind::Documents, "Results, or JSON files that contain them").value("RESULT").required(),
        Opt::file("output", "Write the page to a file").flag("o"),
        Opt::file("figures", "Also write each figure to this folder, as SVG and as PNG").value("FOLDER"),
    ]],
    ..Command::new("report", run)
};

/// What is asked.
pub fn task(request: &Request) -> Report {
    let outcome = |(index, document): (usize, Value)| match document {
        Value::String(path) => Outcome::File(path.into()),
        document => Outcome::Here(format!("outcome {}", index + 1), document),
    };
    Report {
        outcomes: request.documents("results").into_iter().enumerate().map(outcome).collect(),
        output: request.output(),
        figures: request.path("figures"),
    }
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request);
    let made = report(&task)?;
    Ok(documents::report::Report {
        schema: documents::Schema::default(),
        file: request.string("output"),
        results: made.results,
        figures: made.figures.into_iter().map(|(name, _)| name).collect(),
        html: task.output.is_none().then_some(made.html),
    }
    .into())
}
