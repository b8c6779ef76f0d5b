//! `region`.

use certus_check::region::Surveyed;
use serde_json::json;

use super::options::{EFFORT, MEMORY, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::check::{Mapped, RegionResult, Regions, region_document, region_picture, regions};
use crate::failure::Failure;
use crate::output::write_atomically;

pub(super) const REGION: Command = Command {
    name: "region",
    about: "Maps where properties hold over ranges of parameters. \
            A cell is settled where a property holds, or is violated, for every value in it; cells are refined from coarse to fine by bounded model checking.",
    example: "certus region zoo/aurora/aurora.certus p3 --steps 0 --region close=1..2,loss",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file"),
            Opt::rest("properties", Kind::Texts, "The properties; all of them if none is named"),
            Opt::named("region", Kind::Ranges, "{}", "The parameters, by name, each with a range or without one for all of its own"),
            Opt::named("resolution", Kind::Count(1), "32", "How many steps the grid has along each parameter"),
            Opt::named("steps", Kind::Count(0), "null", "Steps that are looked at; if not given, 10, or as far as a property's own bounds reach"),
            Opt::named("picture", Kind::File, "null", "Where the map of one property over one parameter or two is drawn, as SVG"),
        ],
        SYSTEM,
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = Regions {
        system: request.loading(),
        properties: request.texts("properties"),
        steps: request.count("steps"),
        parameters: request.ranges("region"),
        resolution: request.whole("resolution"),
        effort: request.effort()?,
    };
    let picture = request.path("picture");
    if task.parameters.is_empty() {
        return Err(Failure::message("no parameter is named: say with ⟨region⟩ which ones are varied"));
    }
    drawable(picture.is_some(), &task)?;
    Files::new().reads_system(&task.system).writes("⟨picture⟩", &picture).ready()?;
    let stop = session.stop.clone();
    let mapped = regions(&task, &stop, |property, surveyed| {
        session.tell(|| {
            json!({"text": standing(property, surveyed), "property": property, "settled": surveyed.settled, "waiting": surveyed.waiting})
        });
    })?;
    let Mapped { system: Some(system), results, provenance } = &mapped else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    if let (Some(path), [RegionResult { property, map: Ok(map), steps, .. }]) = (&picture, results.as_slice())
        && let Some(drawn) = region_picture(system, *property, *steps, map)
    {
        write_atomically(path, &drawn)?;
    }
    Ok(region_document(system, results, provenance).into())
}

/// Refuses a picture that cannot be drawn.
pub fn drawable(wanted: bool, task: &Regions) -> Result<(), Failure> {
    if wanted && task.properties.len() != 1 {
        return Err(Failure::message("⟨picture⟩ draws one property: name it"));
    }
    if wanted && task.parameters.len() > 2 {
        return Err(Failure::message("⟨picture⟩ shows one parameter or two; the document has all of them"));
    }
    Ok(())
}

/// How far a map is, in words.
pub fn standing(property: &str, surveyed: Surveyed) -> String {
    let percent = 100.0 * surveyed.settled;
    format!("{property}: {percent:.1} % settled, {} cells wait, {} questions", surveyed.waiting, surveyed.asked)
}
