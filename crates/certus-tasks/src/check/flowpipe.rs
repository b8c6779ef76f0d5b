//! Pictures of flowpipes: the reachable sets of a property, with some simulated runs on top.

use certus_engine::{Budget, Task};
use certus_lang::system::{Property, System};
use certus_model::own_horizon;
use certus_reach::Slice;
use certus_report::Picture;
use certus_report::cells::{Axis, Cell};
use certus_sim::{Options, RunReport, Simulator};

/// Simulated runs on top of a flowpipe.
const RUNS: u64 = 30;

/// Steps of these runs where the property has no end.
const STEPS: usize = 100;

/// The name of time, in seconds or in steps, as an axis.
const TIME: &str = "time";

/// What an axis shows: an element of the state by its place, or time.
#[derive(Clone, Copy)]
enum Shown {
    Element(usize),
    Time,
}

/// A picture of the reachable sets of a property over two state variables or `time`: time and the first state variable if nothing else is said.
pub fn flowpipe_picture(
    system: &System,
    property: &Property,
    axes: Option<&(String, String)>,
    budget: &Budget<'_>,
) -> Result<Picture, String> {
    let names = system.state_names();
    let shown = |name: &str| match names.iter().position(|own| own == name) {
        Some(place) => Ok(Shown::Element(place)),
        None if name == TIME => Ok(Shown::Time),
        None => Err(format!("⟨axes={name}⟩: there are {} and {TIME}", names.join(", "))),
    };
    let (across, up) = match axes {
        Some((across, up)) => (shown(across)?, shown(up)?),
        None => (Shown::Time, Shown::Element(0)),
    };
    let task = Task { system, property, steps: None, assume_no_model_errors: false };
    let pipe = certus_reach::flowpipe(&task, budget).map_err(|error| error.to_string())?;
    let scale = system.dt.unwrap_or(1.0);
    let ends = |slice: &Slice, axis: Shown| match axis {
        Shown::Element(place) => (slice.bounds[place].lo, slice.bounds[place].hi),
        Shown::Time => (slice.from * scale, slice.to * scale),
    };
    let boxes: Vec<Cell> = pipe
        .slices
        .iter()
        .map(|slice| Cell { across: ends(slice, across), up: ends(slice, up), step: slice.from as usize })
        .collect();
    let axis = |axis: Shown, ends: &dyn Fn(&Cell) -> (f64, f64)| {
        let (lower, upper) = boxes
            .iter()
            .map(ends)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| (low.min(own.0), high.max(own.1)));
        let room = (upper - lower) / 50.0;
        let name = match axis {
            Shown::Element(place) => names[place].clone(),
            Shown::Time => if system.dt.is_some() { "time (s)" } else { "step" }.to_owned(),
        };
        Axis { name, lower: lower - room, upper: upper + room }
    };
    let (lower, upper) = &system.init_box;
    let initial = |axis: Shown| match axis {
        Shown::Element(place) => (lower[place], upper[place]),
        Shown::Time => (0.0, 0.0),
    };
    let options = Options {
        runs: RUNS,
        steps: own_horizon(property).unwrap_or(STEPS),
        record: true,
        deadline: budget.deadline,
        threads: 1,
        ..Options::default()
    };
    let runs = simulated(system, &options)?;
    let at = |step: usize, state: &[f64], axis: Shown| match axis {
        Shown::Element(place) => state[place],
        Shown::Time => step as f64 * scale,
    };
    let line = |run: &Vec<Vec<f64>>| {
        run.iter().enumerate().map(|(step, state)| (at(step, state, across), at(step, state, up))).collect()
    };
    let end = if pipe.complete { "" } else { ", which end where the property is open" };
    let picture = certus_report::flowpipe::Flowpipe {
        title: format!("{}: reachable sets ({})", system.name, property.name),
        across: axis(across, &|cell| cell.across),
        up: axis(up, &|cell| cell.up),
        initial: (initial(across), initial(up)),
        runs: runs.iter().map(line).collect(),
        caption: format!(
            "reachable sets{end}, darker the later; initial states in green, {} simulated runs in red",
            runs.len()
        ),
        boxes,
    };
    certus_report::flowpipe::draw(&picture).ok_or_else(|| "the sets have no extent over these axes".to_owned())
}

/// The states of some simulated runs.
fn simulated(system: &System, options: &Options<'_>) -> Result<Vec<Vec<Vec<f64>>>, String> {
    let simulator = Simulator::new(system).map_err(|error| error.to_string())?;
    let mut runs = Vec::new();
    let mut keep = |report: &RunReport| {
        let states = report.trace.iter().flatten().map(|step| step.state.clone());
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
