//! `mdp`.

use serde_json::json;

use super::options::EFFORT;
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::failure::Failure;
use crate::mdp::{Mdp, files_of, mdp};

pub(super) const MDP: Command = Command {
    name: "mdp",
    about: "Computes a probability of an interval MDP. The property names both players, the scheduler first and nature second, as in \
            `Pmaxmin=? [ F \"goal\" ]`; values are intervals that contain the exact ones.",
    example: "certus mdp model.drn 'Pmaxmax=? [ F<=20 \"goal\" ]'",
    options: &[
        &[
            Opt::needed("file", Kind::File, "The model: `.drn` (Storm), `.tra` with `.lab` beside it (PRISM, explicit), or `.prism`, `.nm` (PRISM's language)"),
            Opt::first("property", Kind::Text, "The property; without one the model is described"),
            Opt::named("gap", Kind::Number, "1e-9", "How wide intervals may be for properties without a bound on the steps"),
            Opt::named("write", Kind::File, "null", "Where the model is written, in the format that the name asks for"),
            Opt::named("values", Kind::File, "null", "Where the values of all states are written, with the choices that attain them, as a table"),
            Opt::named("set", Kind::Settings, "{}", "Values of constants of the model, by name"),
        ],
        EFFORT,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = Mdp {
        file: request.file("file"),
        property: request.text("property").map(str::to_owned),
        settings: request.settings("set"),
        gap: request.not_negative("gap")?,
        write: request.path("write"),
        values: request.path("values"),
        effort: request.effort()?,
    };
    if task.values.is_some() && task.property.is_none() {
        return Err(Failure::message("⟨values⟩ are those of a property: name one, as 'Pmax=? [ F \"label\" ]'"));
    }
    Files::new()
        .reads("the model", files_of(&task.file))
        .writes("⟨write⟩", task.write.iter().flat_map(|path| files_of(path)))
        .writes("⟨values⟩", &task.values)
        .ready()?;
    let stop = session.stop.clone();
    match mdp(&task, &stop, || session.tell(|| json!({"text": "working"})))? {
        Some(solved) => Ok(solved.document(&task).into()),
        None => Err(Failure::message("out of time before there was an answer")),
    }
}
