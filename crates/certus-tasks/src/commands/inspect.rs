//! `inspect`.

use super::shared::SET;
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Loading;
use crate::failure::Failure;
use crate::inspect::{Inspect, Inspected, document, inspect};

pub(super) const INSPECT: Command = Command {
    about: "Describe a network or a system",
    details: "For a network: inputs, outputs, operators and the number of parameters, as read and in canonical form. \
              For a system: variables with their ranges, policies, actions, parameters, and properties with their \
              fragment of temporal logic.",
    examples: &[
        "certus inspect zoo/pendulum/pendulum.onnx",
        "certus inspect zoo/pendulum/pendulum.onnx --eval 0.1,-0.2",
        "certus inspect zoo/pendulum/pendulum.certus --set mass=1.3 --json",
    ],
    options: &[&[
        Opt::needed("file", Kind::File, "Network (`.onnx`, `.nnet`) or system (`.certus`)"),
        Opt::named("eval", Kind::Numbers, "null", "Evaluate the network at this point: all inputs in order"),
        SET,
    ]],
    ..Command::new("inspect", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Inspect, Failure> {
    let file = Loading { path: request.file("file"), ..request.changes() };
    let task = Inspect { file, eval: request.has("eval").then(|| request.numbers("eval")) };
    let files = request.files();
    match task.is_system() {
        true => files.reads_system(&task.file).ready()?,
        false => files.reads("the network", [&task.file.path]).ready()?,
    }
    Ok(task)
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let inspected = inspect(&task(request)?)?;
    let mut answer = Answer::from(document(&inspected));
    if let Inspected::System(system) = &inspected
        && !system.warnings.is_empty()
    {
        answer.notes.push(system.warnings.render(false).trim_end().to_owned());
    }
    Ok(answer)
}
