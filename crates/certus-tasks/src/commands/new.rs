//! `new`.

use certus_documents as documents;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::new::{New, new};

pub(super) const NEW: Command = Command {
    name: "new",
    about: "Starts a system file from a network, the spaces of an environment, or both. The file loads, simulates and checks as it \
            stands; its text is in the document as `text`.",
    example: "certus new zoo/toy/toy.onnx -o toy.certus",
    options: &[&[
        Opt::first("network", Kind::File, "The network (`.onnx`, `.nnet`)"),
        Opt::named("spaces", Kind::Document, "null", "What an environment shows and takes, as JSON"),
        Opt::named("actions", Kind::Texts, "[]", "Names of actions, if the network scores them and the greatest score decides"),
        Opt::named("name", Kind::Text, "null", "What the system is called"),
        Opt::named("output", Kind::File, "null", "Where the system is written").flag("o"),
        Opt::named("force", Kind::Flag, "false", "Writes over a file that exists"),
    ]],
    run,
};

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = New {
        network: request.path("network"),
        spaces: request.documents("spaces").pop(),
        actions: request.texts("actions"),
        name: request.text("name").map(str::to_owned),
        output: request.path("output"),
        force: request.flag("force"),
        colour: false,
    };
    let text = new(&task)?;
    let file = request.text("output").map(str::to_owned);
    Ok(documents::new::New { schema: documents::Schema::default(), file, text }.into())
}
