//! The grid engine among the others: its options, its turns, its part of a result.

use std::collections::HashSet;

use certus_documents::check::{Grid, GridCell, GridPolicy, GridSeconds, Reachable};
use certus_documents::{Number, members};
use certus_grid::{Options, Policy, Report};
use certus_lang::system::{Property, System};
use certus_model::CheckError;

use super::state_sets::{Extents, initial_states, state_sets};
use super::{EngineChoice, names_of};

/// Options of the grid engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridOptions {
    /// Widths of cells: of a state variable or an element of one, or of all that are not named.
    pub widths: Vec<(Option<String>, f64)>,
    /// The policy that is verified.
    pub policy: Policy,
    /// The most refinements; none for as many as the budget allows.
    pub refinements: Option<usize>,
    /// The axes of the drawing: two state coordinates, or one and `step`. None for the first two, or the steps and the only one.
    pub axes: Option<(String, String)>,
}

/// The name of the number of steps from the initial states, as an axis.
const STEP: &str = "step";

/// Widths for every number of a system's state.
pub(crate) fn widths(system: &System, given: &[(Option<String>, f64)]) -> Result<Vec<f64>, String> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    if let Some((name, _)) = given.iter().find(|(name, _)| !seen.insert(name)) {
        let whose = name.as_deref().unwrap_or("every variable that is not named");
        return Err(format!("⟨widths⟩: {whose} has two widths"));
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
            return Err(format!("⟨widths={name}⟩: the state of {} has {}", system.name, elements.join(", ")));
        }
    }
    Ok(widths)
}

/// The options of the grid engine for a system.
pub(super) fn grid_options(
    system: &System,
    options: &GridOptions,
    assume_no_model_errors: bool,
) -> Result<Options, CheckError> {
    let widths = widths(system, &options.widths).map_err(CheckError::Unsupported)?;
    let (policy, refinements) = (options.policy, options.refinements);
    Ok(Options { widths, policy, refinements, most: None, assume_no_model_errors, open: None })
}

/// What an axis of a picture shows: a coordinate by its place, or the steps.
type Shown = (String, Option<usize>);

/// What a picture of cells with these coordinates is drawn over.
fn drawn_over(names: &[String], axes: Option<&(String, String)>) -> Result<(Shown, Shown), String> {
    let place = |name: &String| match names.iter().position(|own| own == name) {
        Some(place) => Ok((name.clone(), Some(place))),
        None if name == STEP => Ok((name.clone(), None)),
        None => Err(format!("⟨axes={name}⟩: there are {} and {STEP}", names.join(", "))),
    };
    match (axes, names) {
        (Some((across, up)), _) => Ok((place(across)?, place(up)?)),
        (None, [across, up, ..]) => Ok((place(across)?, place(up)?)),
        (None, [only]) => Ok(((STEP.to_owned(), None), place(only)?)),
        (None, []) => Err("there is no state variable to draw cells over".to_owned()),
    }
}

/// Refuses a grid that none of the properties can have, and unknown axes.
pub(super) fn refuse(
    system: &System,
    properties: &[usize],
    engine: EngineChoice,
    options: &GridOptions,
) -> Result<(), String> {
    if options.axes.is_some() {
        drawn_over(&system.state_names(), options.axes.as_ref())?;
    }
    // Where nobody asked for a grid, its turns are left out if there is none.
    if !engine.is(certus_grid::NAME) && (options.widths.is_empty() || !engine.has_grid()) {
        return Ok(());
    }
    let mut widths = widths(system, &options.widths)?;
    if widths.is_empty() {
        widths = certus_grid::suggested_widths(system);
    }
    let extracted = matches!(options.policy, Policy::Extracted(_));
    let mut refused = None;
    for &property in properties {
        match certus_grid::check_feasible(system, &system.properties[property], &widths, options.refinements, extracted)
        {
            Ok(()) => return Ok(()),
            Err(reason) => refused = Some(reason),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// A picture of the reachable cells, over two state coordinates or `step`.
pub fn cells_picture(
    system: &System,
    property: &Property,
    report: &Report,
    axes: Option<&(String, String)>,
) -> Result<String, String> {
    use certus_report::cells::{Axis, Cell, Cells, draw};
    use certus_report::state_sets::{Along, Sets};
    let ((across, across_at), (up, up_at)) = drawn_over(&report.names, axes)?;
    let last = report.layers.len().max(1) as f64;
    let axis = |name: String, at: Option<usize>| {
        let (lower, upper) = at.map_or((0.0, last), |at| report.hull[at]);
        let room = (upper - lower) / 50.0;
        Axis { name, lower: lower - room, upper: upper + room }
    };
    let cells = report.shown.iter().map(|cell| {
        let ends = |at: Option<usize>| at.map_or((cell.step as f64, cell.step as f64 + 1.0), |at| cell.ends[at]);
        Cell { across: ends(across_at), up: ends(up_at), step: cell.step }
    });
    let shown = match report.every {
        1 => format!("{} cells", report.cells),
        every => format!("one in {every} of {} cells", report.cells),
    };
    // Coordinates that are not elements of the state have no sets.
    let mut extents = Extents::of(system);
    let of_state = report.names == system.state_names();
    if of_state {
        extents.add(report.hull.iter().copied());
    }
    let sets = if of_state { state_sets(system, property, &extents) } else { Vec::new() };
    let initial = of_state.then(|| initial_states(system));
    let names = [across.clone(), up.clone()];
    let along = |place: usize, at: Option<usize>| at.map_or(Along::Time(1.0), |_| Along::Variable(&names[place]));
    let beside = Sets { initial: initial.as_ref(), sets: &sets };
    let unsafe_or_goal = if sets.is_empty() { "" } else { "; unsafe states hatched, goals green" };
    let picture = Cells {
        title: format!("{}: reachable cells ({})", system.name, property.name),
        sets: Some((beside, [along(0, across_at), along(1, up_at)])),
        across: axis(across, across_at),
        up: axis(up, up_at),
        cells: cells.collect(),
        caption: format!(
            "{shown} in {} steps, darker the later they are first reached; initial states outlined{unsafe_or_goal}",
            report.layers.len().saturating_sub(1)
        ),
    };
    draw(&picture).ok_or_else(|| "nothing can be drawn: no cell was reached".to_owned())
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
        cells: report.cells,
        bounded: report.expansions,
        bytes: report.bytes,
        refinements: report.refinements,
        halved: report.halved,
        new_cells_per_step: report.layers.clone(),
        hull: ends(&report.hull),
        reachable: Reachable { every: report.every, cells: shown.collect() },
        candidate: report.candidate.iter().map(|own| ends(own)).collect(),
        seconds: GridSeconds { bounds: report.expanding.into(), product: report.propagation.into() },
    }
}
