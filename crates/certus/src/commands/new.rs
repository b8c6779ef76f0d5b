//! `certus new`: starts a system file.

use certus_tasks::commands::new::task;
use certus_tasks::new::new;

use crate::Finding;
use crate::call::{Call, print_plain};
use crate::failure::Failure;

/// Starts a system file.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let text = new(&task(&call.request))?;
    match call.request.text("output") {
        Some(file) => println!("wrote {file}; next:\n  certus simulate {file}\n  certus check {file}"),
        None => print_plain(&text)?,
    }
    Ok(Finding::Good)
}
