//! `prob`.

use certus_lang::system::System;
use certus_model::{counted, short_range};
use certus_prob::{Domain, Method, Options, Outcome, Standing};
use serde_json::{Value, json};

use super::shared::{CHANGES, EFFORT, PROPERTIES, STEPS, SYSTEM};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::mdp::{files_of, write_model};
use crate::output::write_atomically;
use crate::prob::{Bounded, Prob, ProbProgress, document, map, prob};

pub(super) const PROB: Command = Command {
    about: "Bound probabilities of a closed loop with random choices",
    details: "For `P<=p`, `P>=p`, `Pmax=?` and `Pmin=?` of `F φ`, `ψ U φ` and `G φ`, with or without a step bound, the \
              result is an interval that is guaranteed to contain the worst probability over all initial states (over \
              the reals, with rounding accounted for). The upper bound comes from an interval MDP over template \
              polyhedra, the lower bound from a concrete initial state whose transitions were all followed. Leaving \
              the declared ranges counts against the property.",
    command_line: "Exit code 0: properties hold, and intervals are as narrow as ⟨gap⟩ and ⟨share⟩ ask. 1: a property \
                   is violated. 3: undecided, or an interval is wider.",
    examples: &[
        "certus prob zoo/stopping_car/stopping_car.certus",
        "certus prob zoo/stopping_car/stopping_car.certus worst -k 21 --timeout 60",
        "One unfolding, as in the literature: octagons, split where a probability varies by more than 0.33:",
        "  certus prob zoo/stopping_car/stopping_car.certus worst --method unfold --domain octagon --spread 0.33",
        "A map of the initial states:",
        "  certus prob zoo/stopping_car/stopping_car.certus worst --grid 8 --map map.svg",
    ],
    options: &[
        &[
            SYSTEM,
            Opt { about: "Properties to bound; all probabilities by default", ..PROPERTIES },
            Opt { about: "Step bound, in place of those in the properties", ..STEPS },
            Opt::named(
                "method",
                Kind::Choice(&["auto", "unfold", "search", "partition"]),
                "\"auto\"",
                "How to compute the bound: unfold once, search over ever smaller initial cells, or partition the state \
                 space",
            )
            .details(
                "`unfold` is one forward unfolding, `search` unfolds smaller and smaller cells of the initial set, \
                 `partition` iterates backwards over a partition of the state space. `auto` is `search` if the tree of \
                 transitions is small, otherwise `partition`.",
            ),
            Opt::named(
                "domain",
                Kind::Choice(&["box", "octagon", "auto"]),
                "\"box\"",
                "Template polyhedra: boxes, octagons, or directions found from the network, the plant and sampled runs",
            ),
            Opt::named(
                "directions",
                Kind::NumberLists,
                "[]",
                "Further directions of the template, one number per state variable each; opposites are added",
            )
            .flag("direction")
            .value("A,B,…"),
            Opt::named("spread", Kind::Number, "null", "Split regions where a transition probability varies by more than this"),
            Opt::named("shortest", Kind::Number, "0.1", "Do not split directions that are at most this wide").value("WIDTH"),
            Opt::named("samples", Kind::Count(0), "40", "Number of samples that decide where to split"),
            Opt::switch("merge", "Merge regions that are contained in others while unfolding"),
            Opt::named("grid", Kind::Count(0), "1", "Split the initial set into this many slices per dimension first"),
            Opt::named(
                "pieces",
                Kind::Count(0),
                "8",
                "Maximum number of pieces to split a region into where its linearised image is loose; 1 never splits",
            ),
            Opt::named("gap", Kind::Number, "0.001", "Stop once the interval is at most this wide").value("WIDTH"),
            Opt::named("share", Kind::Number, "0.05", "Stop once the width is at most this share of the lower bound"),
            Opt::named("most", Kind::Count(0), "1000000", "Maximum number of regions or cells"),
            Opt::file("map", "Plot the cells of the initial set with their bounds, for one property (SVG, or PNG by \
                              extension)"),
            Opt::named("axes", Kind::Places, "null", "Axes of the plot: indices of two state variables; 0,1 by default")
                .needs("map"),
            Opt::file("model", "Write the interval MDP of one unfolding, for one property: `.drn` (Storm), `.tra` with \
                                `.lab` (PRISM)"),
        ],
        CHANGES,
        EFFORT,
    ],
    ..Command::new("prob", run)
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

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Prob, Failure> {
    let (picture, model) = (request.path("map"), request.path("model"));
    let task = Prob {
        system: request.loading(),
        properties: request.texts("properties"),
        options: options(request)?,
        axes: picture.as_ref().map(|_| axes(request)),
        effort: request.effort()?,
    };
    if (picture.is_some() || model.is_some()) && task.properties.len() != 1 {
        return Err(Failure::message("⟨map⟩ and ⟨model⟩ are about one property: name it"));
    }
    if model.is_some() && !matches!(task.options.method, Method::Unfold { .. }) {
        return Err(Failure::message("⟨model⟩ writes the interval MDP of one unfolding: add ⟨method=unfold⟩"));
    }
    request
        .files()
        .reads_system(&task.system)
        .writes("⟨map⟩", picture)
        .writes("⟨model⟩", model.iter().flat_map(|path| files_of(path)))
        .ready()?;
    Ok(task)
}

/// The state variables over which a map is drawn.
fn axes(request: &Request) -> (usize, usize) {
    request.places("axes").unwrap_or((0, 1))
}

/// Bounds the probabilities.
pub fn work(task: &Prob, session: &mut Session<'_>) -> Result<Bounded, Failure> {
    let stop = session.stop.clone();
    prob(task, &stop, |place| session.tell(|| progress(place)))
}

/// Writes the picture and the model, where they are asked for.
pub fn write(request: &Request, system: &System, results: &[(usize, Result<Outcome, String>)]) -> Result<(), Failure> {
    let [(place, Ok(outcome))] = results else { return Ok(()) };
    if let Some(path) = request.path("map") {
        let title = format!("{}: {}{}", system.name, system.properties[*place].name, within(outcome));
        let picture = map(system, &title, outcome, axes(request)).map_err(Failure::message)?;
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            true => write_atomically(&path, &picture.png())?,
            false => write_atomically(&path, &picture.standalone())?,
        }
    }
    if let (Some(path), Some(model)) = (request.path("model"), &outcome.model) {
        write_model(&path, model)?;
    }
    Ok(())
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let bounded = work(&task(request)?, session)?;
    let Bounded { system: Some(system), results, courses, provenance } = &bounded else {
        return Err(Failure::message("out of time before the system was loaded"));
    };
    write(request, system, results)?;
    Ok(document(system, results, courses, provenance).into())
}

/// How many steps an outcome speaks of.
pub fn within(outcome: &Outcome) -> String {
    match outcome.steps {
        Some(steps) => format!(" within {}", certus_model::counted(steps as u128, "step")),
        None => " at any time".to_owned(),
    }
}

fn progress(place: &ProbProgress) -> Value {
    let mut told = json!({"text": standing(place), "property": place.property});
    if let Some(own) = place.standing {
        told["lower"] = own.lower.into();
        told["upper"] = own.upper.into();
    }
    told
}

fn standing(place: &ProbProgress) -> String {
    match place.standing {
        None => format!("{}: looking for start states", place.property),
        Some(standing) => format!("{}: {}", place.property, so_far(standing)),
    }
}

/// Where an interval stands, in words.
pub(super) fn so_far(standing: Standing) -> String {
    let range = short_range(standing.lower, standing.upper);
    let (cells, regions) = (counted(standing.cells as u128, "cell"), counted(standing.regions as u128, "region"));
    format!("in {range}, {cells}, {regions}")
}
