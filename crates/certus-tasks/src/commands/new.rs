//! `new`.

use certus_documents as documents;

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::new::{New, new};

pub(super) const NEW: Command = Command {
    about: "Generate a system file from an environment, a network, or both",
    details: "For the classic control tasks of Gymnasium, ⟨env⟩ writes the plant itself: `CartPole-v1`, \
              `MountainCar-v0`, `MountainCarContinuous-v0`, `Pendulum-v1` and `Acrobot-v1`, with the network, or with a \
              placeholder policy if you name none.\n\n\
              From a network or the spaces of any other environment, the file can be loaded, simulated and checked as \
              it is: observations change slowly and at random, and outputs stay in the range that interval arithmetic \
              shows. Replace this with the plant and your requirements.",
    examples: &[
        "certus new --env CartPole-v1 -o cartpole.certus",
        "certus new policy.onnx --env CartPole-v1 -o cartpole.certus",
        "certus new zoo/toy/toy.onnx -o toy.certus",
        "certus new zoo/cartpole_gym/cartpole_gym.onnx --actions left,right",
        "With the spaces of another Gymnasium environment, which the Python package writes:",
        "  python -m certus.spaces LunarLander-v3 > spaces.json",
        "  certus new policy.onnx --spaces spaces.json -o lander.certus",
    ],
    options: &[&[
        Opt::first("network", Kind::File, "Network (`.onnx`, `.nnet`)"),
        Opt::named("env", Kind::Text, "null", "Gymnasium environment whose plant is written, such as `CartPole-v1`")
            .value("ENVIRONMENT"),
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
        env: request.string("env"),
        spaces: request.documents("spaces").pop(),
        actions: request.texts("actions"),
        name: request.string("name"),
        output: request.output(),
        force: request.flag("force"),
        colour: request.colour,
    }
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = new(&task(request))?;
    let (schema, file) = (documents::Schema::default(), request.string("output"));
    let mut answer: Answer = documents::new::New { schema, file, text: started.text }.into();
    answer.notes.extend(started.note);
    Ok(answer)
}
