//! `prob`.

use std::path::Path;

use certus_lang::system::System;
use certus_prob::{Domain, Method, Options, Outcome, Standing};
use serde_json::{Value, json};

use super::options::{EFFORT, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::Files;
use crate::failure::Failure;
use crate::mdp::{files_of, write_model};
use crate::output::{short, write_atomically};
use crate::prob::{Bounded, Prob, ProbProgress, document, map, prob};

pub(super) const PROB: Command = Command {
    name: "prob",
    about: "Bounds probabilities of a closed loop with random choices: for each property an interval that contains the worst \
            probability over all initial states.",
    example: "certus prob zoo/stopping_car/stopping_car.certus worst --timeout 60",
    options: &[
        &[
            Opt::needed("system", Kind::System, "The system: a `.certus` file").flag("file"),
            Opt::rest("properties", Kind::Texts, "The properties; all probabilities if none is named"),
            Opt::named("steps", Kind::Count(0), "null", "How many steps, in place of the formulas' own bounds"),
            Opt::named("method", Kind::Choice(&["auto", "unfold", "search", "partition"]), "\"auto\"", "How the bound is found: one forward unfolding, unfoldings of smaller and smaller initial cells, or a partition of the state space, backwards"),
            Opt::named("domain", Kind::Choice(&["box", "octagon", "auto"]), "\"box\"", "Which template polyhedra"),
            Opt::named("directions", Kind::NumberLists, "[]", "Further directions of the template, one number per state variable each; their opposites are added").flag("direction"),
            Opt::named("spread", Kind::Number, "null", "While unfolding, splits regions in which some transition's probability varies by more than this"),
            Opt::named("shortest", Kind::Number, "0.1", "Such splits leave directions alone that are no wider than this"),
            Opt::named("samples", Kind::Count(0), "40", "How many samples choose such a split"),
            Opt::named("merge", Kind::Flag, "false", "While unfolding, merges regions that are inside others"),
            Opt::named("grid", Kind::Count(0), "1", "Splits the initial set into so many slices per dimension first"),
            Opt::named("pieces", Kind::Count(0), "8", "Where the linearised image of a region is loose, splits the region into at most so many pieces for it; 1 for none"),
            Opt::named("gap", Kind::Number, "0.001", "An interval of this width is narrow enough"),
            Opt::named("share", Kind::Number, "0.05", "So is one whose width is this share of its lower end"),
            Opt::named("most", Kind::Count(0), "1000000", "Makes at most so many regions or cells"),
            Opt::named("map", Kind::File, "null", "Where the cells of the initial set are drawn with their bounds, for one property: PNG if the name ends so, else SVG"),
            Opt::named("axes", Kind::Places, "null", "Which two state variables the map shows, by number; 0 and 1 if not given"),
            Opt::named("model", Kind::File, "null", "Where the interval MDP of one unfolding is written, for one property, as `.drn` (Storm) or `.tra`, `.lab` (PRISM)"),
        ],
        SYSTEM,
        EFFORT,
    ],
    run,
};

fn options(request: &Request) -> Result<Options, Failure> {
    let containment = request.flag("merge");
    let directions = request.number_lists("directions");
    Ok(Options {
        steps: request.count("steps"),
        domain: match (directions.is_empty(), request.text("domain")) {
            (false, _) => Domain::Directions(directions),
            (true, Some("octagon")) => Domain::Octagon,
            (true, Some("auto")) => Domain::Automatic,
            (true, _) => Domain::Box,
        },
        method: match request.text("method") {
            Some("unfold") => Method::Unfold { containment },
            Some("search") => Method::Search { containment },
            Some("partition") => Method::Partition,
            _ => Method::Automatic,
        },
        spread: request.number("spread"),
        shortest: request.not_negative("shortest")?,
        samples: request.whole("samples"),
        gap: request.not_negative("gap")?,
        share: request.not_negative("share")?,
        grid: request.whole("grid"),
        pieces: request.whole("pieces"),
        most: request.whole("most"),
    })
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let (picture, model) = (request.path("map"), request.path("model"));
    let axes = request.places("axes").unwrap_or((0, 1));
    let task = Prob {
        system: request.loading(),
        properties: request.texts("properties"),
        options: options(request)?,
        axes: picture.as_ref().map(|_| axes),
        effort: request.effort()?,
    };
    writable(&task, picture.is_some(), model.is_some())?;
    Files::new()
        .reads_system(&task.system)
        .writes("⟨map⟩", &picture)
        .writes("⟨model⟩", model.iter().flat_map(|path| files_of(path)))
        .ready()?;
    let stop = session.stop.clone();
    let bounded = prob(&task, &stop, |place| session.tell(|| progress(place)))?;
    let Bounded { system: Some(system), results, courses, provenance } = &bounded else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    if let [(place, Ok(outcome))] = results.as_slice() {
        write(system, *place, outcome, (picture.as_deref(), axes), model.as_deref())?;
    }
    Ok(document(system, results, courses, provenance).into())
}

/// Refuses a picture or a model that there will not be.
pub fn writable(task: &Prob, picture: bool, model: bool) -> Result<(), Failure> {
    if (picture || model) && task.properties.len() != 1 {
        return Err(Failure::message("⟨map⟩ and ⟨model⟩ are about one property: name it"));
    }
    if model && !matches!(task.options.method, Method::Unfold { .. }) {
        return Err(Failure::message("⟨model⟩ writes the interval MDP of one unfolding: add ⟨method=unfold⟩"));
    }
    Ok(())
}

/// The picture and the model, where they are wanted.
pub fn write(
    system: &System,
    place: usize,
    outcome: &Outcome,
    (picture, axes): (Option<&Path>, (usize, usize)),
    model: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(path) = picture {
        let title = format!("{}: {}{}", system.name, system.properties[place].name, within(outcome));
        let picture = map(system, &title, outcome, axes).map_err(Failure::message)?;
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            true => write_atomically(path, &picture.png())?,
            false => write_atomically(path, &picture.standalone())?,
        }
    }
    if let (Some(path), Some(model)) = (model, &outcome.model) {
        write_model(path, model)?;
    }
    Ok(())
}

/// How many steps an outcome speaks of.
pub fn within(outcome: &Outcome) -> String {
    outcome.steps.map_or_else(|| " at any time".to_owned(), |steps| format!(" within {}", certus_model::counted(steps as u128, "step")))
}

fn progress(place: &ProbProgress) -> Value {
    let mut told = json!({"text": standing(place), "property": place.property});
    if let Some(own) = place.standing {
        told["lower"] = own.lower.into();
        told["upper"] = own.upper.into();
    }
    told
}

/// How far bounds are, in words.
pub fn standing(place: &ProbProgress) -> String {
    match place.standing {
        None => format!("{}: looking for start states", place.property),
        Some(standing) => format!("{}: {}", place.property, so_far(standing)),
    }
}

/// Where an interval stands, in words.
pub fn so_far(standing: Standing) -> String {
    let (lower, upper) = (short(standing.lower), short(standing.upper));
    format!("in [{lower}, {upper}], {} cells, {} regions", standing.cells, standing.regions)
}
