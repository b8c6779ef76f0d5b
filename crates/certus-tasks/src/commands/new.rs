//! `new`.

use certus_documents as documents;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::new::{New, new};

pub(super) const NEW: Command = Command {
    about: "Generate a system file from a network, the spaces of an environment, or both",
    details: "The file can be loaded, simulated and checked as it is: observations change slowly and at random, and \
              outputs stay in the range that interval arithmetic shows. Replace this with the plant and your \
              requirements.",
    examples: &[
        "certus new zoo/toy/toy.onnx -o toy.certus",
        "certus new zoo/cartpole_gym/cartpole_gym.onnx --actions left,right",
        "With the spaces of a Gymnasium environment, which the Python package writes:",
        "  python -m certus.spaces CartPole-v1 > spaces.json",
        "  certus new policy.onnx --spaces spaces.json -o cartpole.certus",
    ],
    options: &[&[
        Opt::first("network", Kind::File, "Network (`.onnx`, `.nnet`)"),
        Opt::named("spaces", Kind::Document, "null", "Observation and action space of an environment (JSON)"),
        Opt::named(
            "actions",
            Kind::Texts,
            "[]",
            "Names of the actions, if the network scores each and the highest score wins",
        )
        .value("NAME,…"),
        Opt::named("name", Kind::Text, "null", "Name of the system"),
        Opt::file("output", "Write the system to a file").flag("o"),
        Opt::switch("force", "Overwrite the file if it exists"),
    ]],
    ..Command::new("new", run)
};

/// What is asked.
pub fn task(request: &Request) -> New {
    New {
        network: request.path("network"),
        spaces: request.documents("spaces").pop(),
        actions: request.texts("actions"),
        name: request.string("name"),
        output: request.output(),
        force: request.flag("force"),
        colour: request.colour,
    }
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let text = new(&task(request))?;
    Ok(documents::new::New { schema: documents::Schema::default(), file: request.string("output"), text }.into())
}
