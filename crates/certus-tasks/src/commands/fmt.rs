//! `fmt`.

use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::fmt::{Fmt, document, fmt};

pub(super) const FMT: Command = Command {
    about: "Format `.certus` files",
    details: "Files are rewritten in place, atomically. Files with errors are left unchanged, and reported.",
    command_line: "The file `-` stands for standard input, which is formatted to standard output. With ⟨check⟩, exit \
                   code 1 says that a file is not formatted.",
    examples: &["certus fmt system.certus", "certus fmt --check zoo/*/*.certus", "certus fmt - < system.certus"],
    options: &[&[
        Opt::rest("files", Kind::Files, "Files to format").required(),
        Opt::switch("check", "Change nothing; report files that are not formatted"),
    ]],
    ..Command::new("fmt", run)
};

/// What is asked.
pub fn task(request: &Request) -> Fmt {
    Fmt { files: request.paths("files"), check: request.flag("check"), colour: request.colour }
}

fn run(request: &Request, _: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request);
    Ok(document(&task, &fmt(&task)).into())
}
