//! `inspect`.

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Loading;
use crate::failure::Failure;
use crate::inspect::{Inspect, Inspected, document, inspect};

pub(super) const INSPECT: Command = Command {
    name: "inspect",
    about: "Tells what a network or a system is: inputs, outputs and operators of a network; variables, policies, parameters and \
            properties of a system.",
    example: "certus inspect zoo/pendulum/pendulum.onnx --eval 0.1,-0.2",
    options: &[&[
        Opt::needed("file", Kind::File, "A network (`.onnx`, `.nnet`) or a system (`.certus`)"),
        Opt::named("eval", Kind::Numbers, "null", "A point at which the network is evaluated: all inputs one after the other"),
        Opt::named("set", Kind::Settings, "{}", "Values of parameters of the system, by name"),
    ]],
    run,
};

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let loading = Loading { path: request.file("file"), ..Loading::default() };
    let mut task = Inspect { file: loading, eval: request.has("eval").then(|| request.numbers("eval")) };
    task.file.options.overrides = request.settings("set");
    let inspected = inspect(&task)?;
    let mut answer = Answer::from(document(&inspected));
    if let Inspected::System(system) = &inspected
        && !system.warnings.is_empty()
    {
        answer.notes.push(system.warnings.render(false).trim_end().to_owned());
    }
    Ok(answer)
}
