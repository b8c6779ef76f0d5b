//! `report`.

use certus_documents as documents;
use serde_json::Value;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::report::{Outcome, Report, report};

pub(super) const REPORT: Command = Command {
    name: "report",
    about: "Makes a page to look at from outcomes of any command: one HTML file that needs no other and no network. Without `output` \
            the page is in the document as `html`.",
    example: "certus report toy.json -o toy.html",
    options: &[&[
        Opt::rest("results", Kind::Documents, "The outcomes, or JSON files with their documents"),
        Opt::named("output", Kind::File, "null", "Where the page is written").flag("o"),
        Opt::named("figures", Kind::File, "null", "A folder for each picture alone, as SVG and as PNG"),
    ]],
    run,
};

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let outcome = |(index, document): (usize, Value)| match document {
        Value::String(path) => Outcome::File(path.into()),
        document => Outcome::Here(format!("outcome {}", index + 1), document),
    };
    let task = Report {
        outcomes: request.documents("results").into_iter().enumerate().map(outcome).collect(),
        output: request.path("output"),
        figures: request.path("figures"),
    };
    let made = report(&task)?;
    Ok(documents::report::Report {
        schema: documents::Schema::default(),
        file: request.text("output").map(str::to_owned),
        results: made.results,
        figures: made.figures.into_iter().map(|(name, _)| name).collect(),
        html: task.output.is_none().then_some(made.html),
    }
    .into())
}
