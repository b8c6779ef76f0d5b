//! The grid engine among the others: its options, its part of a result.

use std::collections::HashSet;

use certus_check::{CheckError, Outcome, Turn, Verdict};
use certus_documents::check::{Grid, GridCell, GridPolicy, GridSeconds, Reachable};
use certus_documents::{Number, members};
use certus_grid::{Options, Policy, Report, Standing};
use certus_lang::system::{Property, System};
use certus_solver::{Budget, UnknownReason};

use super::{Method, names_of};

/// What the grid engine is to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridOptions {
    /// Widths of units: of a state variable or an element of one, or of all that are not named.
    pub widths: Vec<(Option<String>, f64)>,
    /// Whose actions are taken.
    pub policy: Policy,
    /// How often units may be cut finer; none for as often as the budget allows.
    pub refinements: Option<usize>,
    /// What units are drawn over: two names of the state's numbers, or one and `step`. None for the first two, or the steps and the only one.
    pub axes: Option<(String, String)>,
}

/// How pictures call the number of steps from the initial states.
const STEP: &str = "step";

/// Widths for every number of a system's state.
pub(crate) fn widths(system: &System, given: &[(Option<String>, f64)]) -> Result<Vec<f64>, String> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    if let Some((name, _)) = given.iter().find(|(name, _)| !seen.insert(name)) {
        let whose = name.as_deref().unwrap_or("every variable that is not named");
        return Err(format!("--width: {whose} has two widths"));
    }
    let mut widths = certus_grid::suggested_widths(system);
    if let Some((_, width)) = given.iter().find(|(name, _)| name.is_none()) {
        widths.fill(*width);
    }
    let elements = names_of(&system.states);
    let variables: Vec<&str> =
        system.states.iter().flat_map(|state| std::iter::repeat_n(state.name.as_str(), state.len)).collect();
    for (name, width) in given.iter().filter_map(|(name, width)| name.as_ref().map(|name| (name, width))) {
        let mut known = false;
        for ((own, element), variable) in widths.iter_mut().zip(&elements).zip(&variables) {
            if name == element || name == variable {
                (*own, known) = (*width, true);
            }
        }
        if !known {
            return Err(format!("--width {name}: the state of {} has {}", system.name, elements.join(", ")));
        }
    }
    Ok(widths)
}

/// Checks a property on a grid.
pub(super) fn check(
    system: &System,
    property: &Property,
    (options, assume_no_model_errors): (&GridOptions, bool),
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Result<(Outcome, Report), CheckError> {
    let widths = widths(system, &options.widths).map_err(CheckError::Unsupported)?;
    let own = Options {
        widths,
        policy: options.policy,
        refinements: options.refinements,
        most: None,
        assume_no_model_errors,
    };
    certus_grid::check(system, property, &own, budget, watch)
}

/// Units that may be bounded for each part that another engine may look at, if the step is small and there is one dimension: a unit is the cheaper of the two.
const UNITS_PER_PART: u64 = 256;

/// With each dimension, up to so many, units have more successors and are half as many.
const FEW_DIMENSIONS: usize = 4;

/// A step with more numbers than this makes units dearer.
const SMALL_STEP: u64 = 1 << 14;

/// A turn among other engines, about the network itself.
pub(super) fn turn(
    system: &System,
    property: &Property,
    (options, assume_no_model_errors): (&GridOptions, bool),
    parts: u64,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Result<(Turn, Option<Report>), CheckError> {
    let widths = widths(system, &options.widths).map_err(CheckError::Unsupported)?;
    let size = (system.step.parameters() as u64 / SMALL_STEP).max(1);
    let dimensions = certus_grid::dimensions(system, property)?.clamp(1, FEW_DIMENSIONS);
    let most = Some((parts.saturating_mul(UNITS_PER_PART) >> (dimensions - 1)) / size);
    let own =
        Options { widths, policy: Policy::Network, refinements: options.refinements, most, assume_no_model_errors };
    let (outcome, report) = match certus_grid::check(system, property, &own, budget, watch) {
        Err(CheckError::Unsupported(_)) => return Ok((Turn::Open { more: false, learnt: None }, None)),
        found => found?,
    };
    let Verdict::Unknown(unknown) = outcome.verdict else {
        return Ok((Turn::Decided(Box::new(outcome)), Some(report)));
    };
    let more = [UnknownReason::Boxes, UnknownReason::Deadline, UnknownReason::Stopped];
    let more = unknown.reason.is_some_and(|reason| more.contains(&reason));
    Ok((Turn::Open { more, learnt: Some(Box::new(unknown)) }, None))
}

/// What an axis of a picture shows: a coordinate by its place, or the steps.
type Shown = (String, Option<usize>);

/// What a picture of units with these coordinates is drawn over.
fn drawn_over(names: &[String], axes: Option<&(String, String)>) -> Result<(Shown, Shown), String> {
    let place = |name: &String| match names.iter().position(|own| own == name) {
        Some(place) => Ok((name.clone(), Some(place))),
        None if name == STEP => Ok((name.clone(), None)),
        None => Err(format!("--axes {name}: there are {} and {STEP}", names.join(", "))),
    };
    match (axes, names) {
        (Some((across, up)), _) => Ok((place(across)?, place(up)?)),
        (None, [across, up, ..]) => Ok((place(across)?, place(up)?)),
        (None, [only]) => Ok(((STEP.to_owned(), None), place(only)?)),
        (None, []) => Err("there is no state to draw units over".to_owned()),
    }
}

/// Refuses a grid that none of the properties can have, and axes that there are not.
pub(super) fn refuse(
    system: &System,
    properties: &[usize],
    engine: Method,
    options: &GridOptions,
) -> Result<(), String> {
    if options.axes.is_some() {
        drawn_over(&system.state_names(), options.axes.as_ref())?;
    }
    // Where nobody asked for a grid, its turns are left out if there is none.
    if engine != Method::Grid && (options.widths.is_empty() || !engine.has_grid()) {
        return Ok(());
    }
    let mut widths = widths(system, &options.widths)?;
    if widths.is_empty() {
        widths = certus_grid::suggested_widths(system);
    }
    let extracted = matches!(options.policy, Policy::Extracted(_));
    let mut refused = None;
    for &property in properties {
        match certus_grid::possible(system, &system.properties[property], &widths, options.refinements, extracted) {
            Ok(()) => return Ok(()),
            Err(reason) => refused = Some(reason),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// A picture of the units that can be reached, over two of the names of the state's numbers, or of `step`.
pub fn units_picture(title: &str, report: &Report, axes: Option<&(String, String)>) -> Result<String, String> {
    use certus_report::units::{Axis, Unit, Units, draw};
    let ((across, across_at), (up, up_at)) = drawn_over(&report.names, axes)?;
    let last = report.layers.len().max(1) as f64;
    let axis = |name: String, at: Option<usize>| {
        let (lower, upper) = at.map_or((0.0, last), |at| report.hull[at]);
        let room = (upper - lower) / 50.0;
        Axis { name, lower: lower - room, upper: upper + room }
    };
    let units = report.shown.iter().map(|unit| {
        let ends = |at: Option<usize>| at.map_or((unit.step as f64, unit.step as f64 + 1.0), |at| unit.ends[at]);
        Unit { across: ends(across_at), up: ends(up_at), step: unit.step }
    });
    let shown = match report.every {
        1 => format!("{} units", report.units),
        every => format!("one in {every} of {} units", report.units),
    };
    let picture = Units {
        title: title.to_owned(),
        across: axis(across, across_at),
        up: axis(up, up_at),
        units: units.collect(),
        caption: format!(
            "{shown} in {} steps, darker the later they were first met",
            report.layers.len().saturating_sub(1)
        ),
    };
    draw(&picture).ok_or_else(|| "nothing can be drawn: no unit was met".to_owned())
}

/// What an exploration looked like, as a member of a result.
pub(super) fn grid_document(report: &Report) -> Grid {
    let ends = |ends: &[(f64, f64)]| -> Vec<[Number; 2]> {
        ends.iter().map(|&(low, high)| [low.into(), high.into()]).collect()
    };
    let shown = report.shown.iter().map(|cell| GridCell { step: cell.step, ends: ends(&cell.ends) });
    Grid {
        policy: if report.extracted { GridPolicy::Extracted } else { GridPolicy::Network },
        axes: report.names.clone(),
        widths: members(report.names.iter().cloned().zip(report.widths.iter().copied())),
        automaton_states: report.automaton,
        cells: report.units,
        bounded: report.expansions,
        bytes: report.bytes,
        refinements: report.refinements,
        halved: report.halved,
        new_cells_per_step: report.layers.clone(),
        hull: ends(&report.hull),
        reachable: Reachable { every: report.every, cells: shown.collect() },
        candidate: report.candidate.iter().map(|own| ends(own)).collect(),
        seconds: GridSeconds { bounds: report.expanding.into(), product: report.handing.into() },
    }
}
