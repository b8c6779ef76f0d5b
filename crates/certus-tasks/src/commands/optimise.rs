//! `optimise`.

use std::time::Instant;

use super::shared::{EFFORT, MEMORY, QUERY};
use super::verify::{progress, read_by, values};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::optimise::{Optimise, Optimised, optimise};

pub(super) const OPTIMISE: Command = Command {
    about: "Bound the maximum or minimum of a linear expression",
    details: "The expression is optimised over the inputs of the region at which the assertion holds. The result is an \
              interval that is guaranteed to contain the optimum over the reals, and the best point that was found.",
    examples: &[
        "certus optimise zoo/toy/toy.onnx zoo/toy/square.vnnlib --maximise Y_0",
        "certus optimise zoo/toy/toy.onnx zoo/toy/square.vnnlib --minimise 'Y_0 - 0.5*X_1' --gap 0.1",
    ],
    options: &[
        QUERY,
        &[
            Opt::named("maximise", Kind::Expression, "null", "Expression to maximise, such as `Y_0 - 0.5*X_1`").details(
                "Variables are the inputs `X_0`, `X_1`, … and the outputs `Y_0`, `Y_1`, …; for a specification in \
                 VNN-LIB 2.0, the elements of the declared tensors, such as `Y[0,1]`.",
            ),
            Opt::named("minimise", Kind::Expression, "null", "Expression to minimise"),
            Opt::named("gap", Kind::Number, "0.001", "Stop once the interval is at most this wide").value("WIDTH"),
        ],
        EFFORT,
        MEMORY,
    ],
    one_of: &["maximise", "minimise"],
    ..Command::new("optimise", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Optimise, Failure> {
    let task = Optimise {
        asked: request.asked(),
        expression: request.string("maximise").or(request.string("minimise")).unwrap_or_default(),
        minimise: request.has("minimise"),
        gap: request.real("gap"),
        effort: request.effort()?,
    };
    read_by(request, &task.asked).ready()?;
    Ok(task)
}

/// Bounds the expression.
pub fn work(task: &Optimise, session: &mut Session<'_>) -> Result<Optimised, Failure> {
    let stop = session.stop.clone();
    optimise(task, &stop, |standing| session.tell(|| progress(standing)))
}

/// What is to be said of an interval that is too wide.
pub fn note(task: &Optimise, found: &Optimised) -> Option<String> {
    (!found.reached).then(|| format!("the interval is wider than {}: {}", task.gap, found.standing))
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let task = task(request)?;
    let found = work(&task, session)?;
    let mut answer = Answer::from(found.document(&task, started.elapsed().as_secs_f64()));
    answer.notes.extend(note(&task, &found));
    answer.beside = values(found.witness.as_ref());
    Ok(answer)
}
