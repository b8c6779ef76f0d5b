//! `certus completions`: what a shell needs to complete our arguments.

use clap::CommandFactory;

use crate::Finding;
use crate::arguments::{Arguments, Completions};
use crate::failure::Failure;

/// Prints the completion script of a shell.
pub fn run(command: &Completions) -> Result<Finding, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        command.shell,
        &mut crate::generic::with_every_command(Arguments::command()),
        "certus",
        &mut script,
    );
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Finding::Good)
}
