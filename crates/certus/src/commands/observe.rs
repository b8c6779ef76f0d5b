//! `certus observe`: what a reference algorithm saw and decided.

use std::path::Path;

use certus_tasks::commands::observe::{ready, written};
use certus_tasks::observe::{Decider, Observe as Task, World};

use crate::Finding;
use crate::arguments::{Observe, ObservedWorld};
use crate::failure::Failure;
use crate::output::Output;

/// Writes a table of observations.
pub fn run(command: &Observe) -> Result<Finding, Failure> {
    let world = match command.world {
        ObservedWorld::Pensieve => World::Pensieve,
        ObservedWorld::Aurora => World::Aurora,
    };
    let task = Task {
        world,
        decider: Decider::named(world, &command.decider)?,
        files: command.files.clone(),
        interval: command.interval,
        seconds: command.seconds,
        seed: command.seed,
    };
    ready(&task).writes("-o", &command.output).ready()?;
    let mut output = Output::open(command.output.as_deref())?;
    let rows = written(&task, &mut output)?;
    output.finish()?;
    if let Some(path) = command.output.as_deref() {
        eprintln!("{rows} observations of {} in {}", command.decider, Path::new(path).display());
    }
    Ok(Finding::Good)
}
