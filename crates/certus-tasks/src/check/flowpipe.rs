//! Flowpipes as members of documents and as pictures: the reachable sets of a property, with some simulated runs.

use certus_documents as documents;
use certus_documents::state_sets::ReachedBox;
use certus_engine::{Budget, Task};
use certus_lang::system::{Property, System};
use certus_model::own_horizon;
use certus_reach::{Evidence, Flowpipe};
use certus_report::Picture;
use certus_report::flowpipe::{Dimension, Shown, draw};
use certus_report::state_sets::Sets;
use certus_sim::{Options, RunReport, Simulator};

use super::state_sets::{Extents, initial_states, state_sets};

/// Simulated runs of a flowpipe, at most and at least, and how many numbers they have at most.
const MOST_RUNS: usize = 12;
const LEAST_RUNS: usize = 3;
const MOST_NUMBERS: usize = 20_000;

/// Steps of these runs where the property has no end.
const STEPS: usize = 100;

/// The name of time as an axis.
const TIME: &str = "time";

/// Boxes of a picture, about.
const BOXES_OF_PICTURE: usize = 10_000;

/// Boxes of a document, about.
const BOXES_OF_DOCUMENT: usize = 1_000;

/// The flowpipe of a property as a document has it.
pub(super) fn flowpipe_document(
    system: &System,
    property: &Property,
    evidence: Option<&Evidence>,
    budget: &Budget<'_>,
) -> Result<documents::state_sets::Flowpipe, String> {
    documented(system, property, evidence, budget, BOXES_OF_DOCUMENT)
}

fn documented(
    system: &System,
    property: &Property,
    evidence: Option<&Evidence>,
    budget: &Budget<'_>,
    most: usize,
) -> Result<documents::state_sets::Flowpipe, String> {
    let task = Task { system, property, steps: None, assume_no_model_errors: false };
    let pipe = certus_reach::flowpipe(&task, evidence, budget).map_err(|error| error.to_string())?;
    let sets = pipe.slices.len();
    let Flowpipe { slices, complete, covered } = pipe.thinned(most);
    // Runs are shown as far as there are sets.
    let last = slices.iter().map(|slice| slice.to as usize).max().unwrap_or(0);
    let steps = last.min(own_horizon(property).unwrap_or(STEPS));
    let numbers = ((steps + 1) * system.state_len()).max(1);
    let options = Options {
        runs: (MOST_NUMBERS / numbers).clamp(LEAST_RUNS, MOST_RUNS) as u64,
        steps,
        record: true,
        deadline: budget.deadline,
        threads: 1,
        ..Options::default()
    };
    let boxes = slices.iter().map(|slice| ReachedBox {
        from: slice.from.into(),
        to: slice.to.into(),
        ends: slice.bounds.iter().map(|range| [range.lo.into(), range.hi.into()]).collect(),
    });
    Ok(documents::state_sets::Flowpipe {
        axes: system.state_names(),
        step_seconds: system.dt.map(Into::into),
        complete,
        covered: (covered as f64).into(),
        sets,
        boxes: boxes.collect(),
        runs: simulated(system, &options)?,
    })
}

/// A picture of the reachable sets of a property over two state variables or `time`: time and the first state variable if nothing else is said.
pub fn flowpipe_picture(
    system: &System,
    property: &Property,
    evidence: Option<&Evidence>,
    axes: Option<&(String, String)>,
    budget: &Budget<'_>,
) -> Result<Picture, String> {
    let names = system.state_names();
    let shown = |name: &str| match names.iter().position(|own| own == name) {
        Some(place) => Ok(Dimension::Element(place)),
        None if name == TIME => Ok(Dimension::Time),
        None => Err(format!("⟨axes={name}⟩: there are {} and {TIME}", names.join(", "))),
    };
    let (across, up) = match axes {
        Some((across, up)) => (shown(across)?, shown(up)?),
        None => (Dimension::Time, Dimension::Element(0)),
    };
    let pipe = documented(system, property, evidence, budget, BOXES_OF_PICTURE)?;
    let mut extents = Extents::of(system);
    extents.add_boxes(&pipe);
    let sets = state_sets(system, property, &extents);
    let initial = initial_states(system);
    let title = format!("{}: reachable sets ({})", system.name, property.name);
    let shown = Shown { title: &title, pipe: &pipe, sets: Sets { initial: Some(&initial), sets: &sets } };
    draw(&shown, across, up).ok_or_else(|| "the sets have no ends along these axes".to_owned())
}

/// The states of some simulated runs.
fn simulated(system: &System, options: &Options<'_>) -> Result<Vec<Vec<Vec<documents::Number>>>, String> {
    let simulator = Simulator::new(system).map_err(|error| error.to_string())?;
    let mut runs = Vec::new();
    let mut keep = |report: &RunReport| {
        let states = report.trace.iter().flatten().map(|step| documents::numbers(&step.state));
        runs.push(states.collect());
    };
    match simulator.run(options, &mut |_| {}, &mut keep) {
        Ok(_) => Ok(runs),
        // Where no initial state can be drawn, there are no runs to show.
        Err(error) => {
            tracing::info!("no simulated runs: {error}");
            Ok(Vec::new())
        }
    }
}
