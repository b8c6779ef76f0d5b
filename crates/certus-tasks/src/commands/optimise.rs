//! `optimise`.

use std::time::Instant;

use super::options::{ASKED, EFFORT, MEMORY};
use super::verify::{progress, read_by, values};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::optimise::{Optimise, optimise};

pub(super) const OPTIMISE: Command = Command {
    name: "optimise",
    about: "Bounds the maximum or minimum of a linear expression over the points at which an assertion about networks holds.",
    example: "certus optimise zoo/toy/toy.onnx zoo/toy/square.vnnlib --maximise Y_0",
    options: &[
        ASKED,
        &[
            Opt::named("maximise", Kind::Text, "null", "The expression to make large: a sum of numbers, variables and products of a number and a variable, as `Y_0 - 0.5*X_1`"),
            Opt::named("minimise", Kind::Text, "null", "The expression to make small"),
            Opt::named("gap", Kind::Number, "0.001", "How wide the interval may be in the end"),
        ],
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let started = Instant::now();
    let (expression, minimise) = match (request.text("maximise"), request.text("minimise")) {
        (Some(expression), None) => (expression, false),
        (None, Some(expression)) => (expression, true),
        _ => {
            return Err(Failure::message("give one of ⟨maximise⟩ and ⟨minimise⟩: the expression to make large or small"));
        }
    };
    let task = Optimise {
        asked: request.asked(),
        expression: expression.to_owned(),
        minimise,
        gap: request.real("gap"),
        effort: request.effort()?,
    };
    read_by(&task.asked).ready()?;
    let stop = session.stop.clone();
    let found = optimise(&task, &stop, |standing| session.tell(|| progress(standing)))?;
    let mut answer = Answer::from(found.document(&task, started.elapsed().as_secs_f64()));
    if !found.reached {
        answer.notes.push(format!("the interval is wider than {}: {}", task.gap, found.standing));
    }
    answer.beside = values(found.witness.as_ref());
    Ok(answer)
}
