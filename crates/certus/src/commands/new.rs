//! `certus new`: starts a system file.

use certus_tasks::commands::new::task;
use certus_tasks::new::new;

use crate::Finding;
use crate::call::{Call, print_plain};
use crate::failure::Failure;

/// Starts a system file.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let started = new(&task(&call.request))?;
    match call.request.text("output") {
        Some(file) if started.note.is_some() => println!("wrote {file}"),
        Some(file) => println!("wrote {file}; next:\n  certus simulate {file}\n  certus check {file}"),
        None => print_plain(&started.text)?,
    }
    if let Some(note) = &started.note {
        call.note(note);
    }
    Ok(Finding::Good)
}
