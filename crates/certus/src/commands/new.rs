//! `certus new`: starts a system file.

use std::io::Write;

use certus_tasks::new::{self, new};

use crate::Finding;
use crate::arguments::New;
use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::colourful_messages;

/// Starts a system file.
pub fn run(command: &New) -> Result<Finding, Failure> {
    let text = new(&new::New {
        network: command.network.clone(),
        spaces: command.spaces.as_ref().map(|path| path.to_string_lossy().into()),
        actions: command.actions.clone(),
        name: command.name.clone(),
        output: command.output.clone(),
        force: command.force,
        colour: colourful_messages(),
    })?;
    match &command.output {
        Some(path) => {
            let shown = path.display();
            println!("wrote {shown}; next:\n  certus simulate {shown}\n  certus check {shown}");
        }
        None => {
            let mut standard = Output::open(None)?;
            standard.write_all(text.as_bytes())?;
            standard.finish()?;
        }
    }
    Ok(Finding::Good)
}
