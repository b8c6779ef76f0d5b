//! `certus extract`: one action per cell, out of a network.

use std::io::Write;

use certus_grid::extract::ExtractOptions;
use certus_grid::policy_evaluation::Episodes;
use certus_lang::LowerOptions;
use certus_tasks::extract::{self, document, extract, picture, plots};
use certus_tasks::{Files, Loading};

use super::{ended_by, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::Extract;
use crate::failure::Failure;
use crate::output::{Output, short, write_atomically, write_document};
use crate::progress::LiveLine;
use crate::terminal::colourful_messages;

/// Extracts a policy.
pub fn run(command: &Extract) -> Result<Finding, Failure> {
    let options = ExtractOptions {
        samples: command.sampling.samples(),
        significance: command.sampling.significance(),
        seed: command.effort.seed,
    };
    let task = extract::Extract {
        system: Loading {
            path: command.file.clone(),
            options: LowerOptions { overrides: command.settings.clone(), ..LowerOptions::default() },
            networks: command.networks.clone(),
            colour: colourful_messages(),
        },
        widths: command.width.clone(),
        options,
        episodes: Episodes { count: command.episodes as usize, steps: command.steps as usize },
        effort: command.effort.plain()?,
    };
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads_system(&task.system)
        .writes("-o", &command.output)
        .writes("--picture", &command.picture)
        .ready()?;
    let mut line = LiveLine::new(command.effort.quiet);
    let found = extract(&task, &stop, || line.show(|| "episodes".to_owned()))?;
    drop(line);
    let Some(found) = found else {
        eprintln!("note: {} before the first episodes ended", ended_by(&stop));
        return Ok(Finding::Undecided);
    };
    let mut output = Output::open(None)?;
    let (count, steps) = (found.compared.network.len(), command.steps);
    writeln!(output, "{}: returns of {count} episodes of at most {steps} steps", found.system.name)?;
    write_brief(&found.provenance, &mut output)?;
    writeln!(output)?;
    let plots = plots(&found);
    let width = plots.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    writeln!(
        output,
        "  {:width$}  {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "least", "quarter", "median", "quarter", "most"
    )?;
    for (name, five) in &plots {
        let numbers: Vec<String> = five.iter().map(|&number| format!("{:>10}", short(number))).collect();
        writeln!(output, "  {name:width$}  {}", numbers.join(" "))?;
    }
    output.finish()?;
    if let Some(path) = &command.output {
        write_document(path, &document(&found, &options))?;
    }
    if let Some(path) = &command.picture {
        let drawn = picture(&found).ok_or_else(|| Failure::message("there are no returns to draw"))?;
        write_atomically(path, &drawn)?;
    }
    if count < task.episodes.count {
        eprintln!("note: {} after {count} of {} episodes", ended_by(&stop), task.episodes.count);
        return Ok(Finding::Undecided);
    }
    Ok(Finding::Good)
}
