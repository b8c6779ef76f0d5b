//! `region`.

use certus_check::region::Surveyed;
use certus_lang::system::System;
use serde_json::json;

use super::shared::{CHANGES, EFFORT, MEMORY, PROPERTIES, STEPS, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::check::{Mapped, RegionResult, Regions, region_document, region_picture, regions};
use crate::failure::Failure;
use crate::output::write_atomically;

/// What maps a property over parameters: options of `region`, and of `check` on the command line.
pub const MAP: &[Opt] = &[
    Opt::named("region", Kind::Ranges, "{}", "Map where properties hold over the ranges of these `param`s")
        .details(
            "You can narrow the range of each. Cells of a grid are settled from coarse to fine: a property holds for \
             every value in a cell, is violated for every value, is violated at one value (in a cell of the finest \
             size; nothing is known of its other values), or is open.",
        )
        .excludes(&[
            "assume_no_model_errors",
            "certificate",
            "expect",
            "trace",
            "widths",
            "policy",
            "refine",
            "cells",
            "samples",
            "significance",
        ]),
    Opt::named("resolution", Kind::Count(0), "32", "Number of grid steps along each parameter").needs("region"),
    Opt::file("picture", "Plot the map of one property over one or two parameters (SVG)").needs("region"),
];

pub(super) const REGION: Command = Command {
    about: "Map where properties hold over ranges of parameters",
    details: "Cells are refined from coarse to fine by bounded model checking. A cell is settled when a property holds \
              for every value in it, or is violated for every value in it.",
    command_line: "Exit code 0: the properties hold for all values. 1: one is violated at some value. 3: a cell is \
                   open, and none is violated.",
    examples: &["certus region zoo/aurora/aurora.certus p3 --steps 0 --region close=1..2,loss"],
    options: &[&[SYSTEM, PROPERTIES], MAP, &[STEPS], CHANGES, EFFORT, MEMORY],
    ..Command::new("region", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Regions, Failure> {
    let task = Regions {
        system: request.loading(),
        properties: request.texts("properties"),
        steps: request.count("steps"),
        parameters: request.ranges("region"),
        resolution: request.whole("resolution"),
        effort: request.effort()?,
    };
    let picture = request.path("picture");
    request.files().reads_system(&task.system).writes("⟨picture⟩", &picture).ready()?;
    if task.parameters.is_empty() {
        return Err(Failure::message("no parameter is named: say with ⟨region⟩ which ones are varied"));
    }
    if picture.is_some() && task.properties.len() != 1 {
        return Err(Failure::message("⟨picture⟩ draws one property: name it"));
    }
    if picture.is_some() && task.parameters.len() > 2 {
        return Err(Failure::message("⟨picture⟩ shows one parameter or two; the document has all of them"));
    }
    Ok(task)
}

/// Maps the properties.
pub fn work(task: &Regions, session: &mut Session<'_>) -> Result<Mapped, Failure> {
    let stop = session.stop.clone();
    regions(task, &stop, |property, surveyed| {
        session.tell(|| {
            let text = standing(property, surveyed);
            json!({"text": text, "property": property, "settled": surveyed.settled, "waiting": surveyed.waiting})
        });
    })
}

/// Draws the map, if that is asked for.
pub fn write(request: &Request, system: &System, results: &[RegionResult]) -> Result<(), Failure> {
    if let (Some(path), [RegionResult { property, map: Ok(map), steps, .. }]) = (request.path("picture"), results)
        && let Some(drawn) = region_picture(system, *property, *steps, map)
    {
        write_atomically(&path, &drawn)?;
    }
    Ok(())
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let mapped = work(&task(request)?, session)?;
    let Mapped { system: Some(system), results, provenance } = &mapped else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    write(request, system, results)?;
    Ok(region_document(system, results, provenance).into())
}

fn standing(property: &str, surveyed: Surveyed) -> String {
    let percent = 100.0 * surveyed.settled;
    format!("{property}: {percent:.1} % settled, {} cells wait, {} queries", surveyed.waiting, surveyed.asked)
}
