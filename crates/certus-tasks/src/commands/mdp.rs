//! `mdp`.

use serde_json::json;

use super::shared::{EFFORT, SET};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::mdp::{Mdp, Solved, files_of, mdp};

pub(super) const MDP: Command = Command {
    about: "Compute a probability of an interval MDP",
    details: "The property names both players: first the scheduler, which picks actions, then nature, which picks \
              probabilities within their intervals, as in `Pmaxmin=? [ F \"goal\" ]`. Results are intervals that are \
              guaranteed to contain the exact values.",
    examples: &[
        "certus mdp model.drn 'Pmaxmax=? [ F<=20 \"goal\" ]'",
        "certus mdp model.prism 'Pminmax=? [ \"safe\" U \"goal\" ]'",
        "certus mdp model.tra 'Pmaxmin=? [ F \"goal\" ]' --write model.drn --values values.csv",
    ],
    options: &[
        &[
            Opt::needed(
                "file",
                Kind::File,
                "Model: `.drn` (Storm), `.tra` with its `.lab` (PRISM, explicit), `.prism` or `.nm` (PRISM language)",
            ),
            Opt::first("property", Kind::Text, "Property to compute; without one, the model is described or converted"),
            Opt::named(
                "gap",
                Kind::Number,
                "1e-9",
                "Maximum width of the interval, for properties without a step bound",
            )
            .value("WIDTH"),
            Opt::file("write", "Write the model to a file, in the format of its extension"),
            Opt::file("values", "Write the values of all states, with optimal actions, to a table (CSV)"),
            Opt { about: "Set constants of the model, by name", ..SET },
        ],
        EFFORT,
    ],
    ..Command::new("mdp", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Mdp, Failure> {
    let task = Mdp {
        file: request.file("file"),
        property: request.string("property"),
        settings: request.settings("set"),
        gap: request.not_negative("gap")?,
        write: request.path("write"),
        values: request.path("values"),
        effort: request.effort()?,
    };
    request
        .files()
        .reads("the model", files_of(&task.file))
        .writes("⟨write⟩", task.write.iter().flat_map(|path| files_of(path)))
        .writes("⟨values⟩", &task.values)
        .ready()?;
    if task.values.is_some() && task.property.is_none() {
        return Err(Failure::message("⟨values⟩ are those of a property: name one, as 'Pmax=? [ F \"label\" ]'"));
    }
    Ok(task)
}

/// Solves the model; nothing if there was no time for it.
pub fn work(task: &Mdp, session: &mut Session<'_>) -> Result<Option<Solved>, Failure> {
    let stop = session.stop.clone();
    mdp(task, &stop, || session.tell(|| json!({"text": "working"})))
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request)?;
    match work(&task, session)? {
        Some(solved) => Ok(solved.document(&task).into()),
        None => Err(Failure::message("out of time before there was an answer")),
    }
}
