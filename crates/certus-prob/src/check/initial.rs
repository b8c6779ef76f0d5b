//! The initial states of a system, as regions.

use std::sync::Arc;

use certus_graph::Interval;
use certus_graph::eval::enclose;
use certus_lang::System;

use crate::template_polyhedron::{Polyhedron, Template};

/// A region that holds all initial states.
pub(super) fn initial_states(system: &System, template: &Arc<Template>) -> Result<Polyhedron, String> {
    let (lower, upper) = &system.init_box;
    if lower.iter().chain(upper).any(|end| !end.is_finite()) {
        return Err("the initial states have no bounds: `init` must bound every state variable".to_owned());
    }
    Ok(Polyhedron::of_box(template, lower, upper))
}

/// Regions that hold all initial states together: the boxes of the initial set.
pub(super) fn initial_parts(system: &System, template: &Arc<Template>) -> Vec<Polyhedron> {
    system.init_boxes.iter().map(|(lower, upper)| Polyhedron::of_box(template, lower, upper)).collect()
}

/// Whether a state is initial, for certain.
pub(super) fn is_initial(system: &System, state: &[f64]) -> bool {
    let contains =
        |(lower, upper): &(Vec<f64>, Vec<f64>)| lower.iter().zip(upper).zip(state).all(|((l, u), x)| l <= x && x <= u);
    let inside = system.init_boxes.iter().any(contains);
    let Some(init) = &system.roles.init else { return inside };
    if system.init_is_union || !inside {
        return inside;
    }
    let graph = system.step.keep_outputs(&[init.truth.port]);
    let mut at = 0;
    let inputs: Vec<Vec<Interval>> = graph
        .inputs()
        .iter()
        .enumerate()
        .map(|(place, port)| {
            let elements = graph.elements(port.node);
            let values = (0..elements).map(|i| if place < system.states.len() { state[at + i] } else { 0.0 });
            let values = values.map(Interval::point).collect();
            at += if place < system.states.len() { elements } else { 0 };
            values
        })
        .collect();
    let inputs: Vec<&[Interval]> = inputs.iter().map(Vec::as_slice).collect();
    enclose(&graph, &inputs).is_ok_and(|found| found[0][0].certainty() == Some(true))
}

/// Whether the initial conditions are defined in every state of the declared ranges, for certain.
pub(super) fn init_is_defined(system: &System) -> bool {
    let Some(defined) = &system.roles.init_defined else { return true };
    let graph = system.step.keep_outputs(&[defined.truth.port]);
    let range = |place: usize, i: usize| match system.states.get(place) {
        Some(state) => Interval::new(state.lower[i], state.upper[i]),
        None => Interval::ZERO,
    };
    let ports = graph.inputs().iter().enumerate();
    let inputs: Vec<Vec<Interval>> =
        ports.map(|(place, port)| (0..graph.elements(port.node)).map(|i| range(place, i)).collect()).collect();
    let inputs: Vec<&[Interval]> = inputs.iter().map(Vec::as_slice).collect();
    enclose(&graph, &inputs).is_ok_and(|found| found[0][0].certainty() == Some(true))
}

/// The initial regions, each in so many slices per dimension.
pub(super) fn grid(initial: &[Polyhedron], slices: usize) -> Vec<Polyhedron> {
    initial.iter().flat_map(|part| sliced(part, slices)).collect()
}

fn sliced(part: &Polyhedron, slices: usize) -> Vec<Polyhedron> {
    let mut cells = vec![part.clone()];
    for dimension in 0..part.template().dimension() {
        let (low, width) = (part.lower(dimension), part.width(dimension));
        if width.is_nan() || width <= 0.0 {
            continue;
        }
        for slice in 1..slices {
            let place = low + width * slice as f64 / slices as f64;
            let split = |cell: Polyhedron| -> Vec<Polyhedron> {
                if cell.lower(dimension) < place && place < cell.upper(dimension) {
                    cell.split(dimension, place).into_iter().flatten().collect()
                } else {
                    vec![cell]
                }
            };
            cells = cells.into_iter().flat_map(split).collect();
        }
    }
    cells
}
