//! `fmt`.

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::fmt::{Fmt, document, fmt};

pub(super) const FMT: Command = Command {
    name: "fmt",
    about: "Puts `.certus` files into canonical form, each whole or not at all; a file with errors is left alone, and the \
            document says so.",
    example: "certus fmt --check zoo/toy/toy.certus",
    options: &[&[
        Opt::rest("files", Kind::Files, "The files"),
        Opt::named("check", Kind::Flag, "false", "Changes nothing, and says which files are not in canonical form"),
    ]],
    run,
};

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = Fmt { files: request.paths("files"), check: request.flag("check"), colour: false };
    Ok(document(&task, &fmt(&task)).into())
}
