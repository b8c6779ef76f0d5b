//! Which engine fits a task, and over which template.

use certus_lang::System;

use super::initial::initial_states;
use super::{Domain, LOOKED_AT, Method, Options};
use crate::abstraction::{Abstraction, Task, automatic};
use crate::engine::Budget;
use crate::engine::unfold::{Unfolding, unfold};
use crate::template_polyhedron::{Polyhedron, Template};

/// Regions of one unfolding above which the partition is taken.
const SMALL_TREE: usize = 10_000;

/// The abstraction over the template that the options ask for.
pub(super) fn abstraction(system: &System, task: &Task, options: &Options, seed: u64) -> Result<Abstraction, String> {
    let dimension = system.state_len();
    let template = match &options.domain {
        Domain::Box => Template::boxes(dimension),
        Domain::Octagon => Template::octagons(dimension),
        Domain::Directions(directions) => {
            if let Some(wrong) = directions.iter().find(|direction| direction.len() != dimension) {
                return Err(format!(
                    "a direction has {} numbers, but the state has {dimension}: {wrong:?}",
                    wrong.len()
                ));
            }
            Template::with(dimension, "template", directions)
        }
        Domain::Automatic => {
            let boxes = Abstraction::new(system, task, Template::boxes(dimension))?;
            let initial = initial_states(system, boxes.template())?;
            automatic(&boxes, &initial, task.steps.unwrap_or(LOOKED_AT), seed)
        }
    };
    Ok(Abstraction::new(system, task, template)?.with_pieces(options.pieces))
}

/// The share of the initial set whose unfolding shows how large the tree of moves is.
const PROBE: f64 = 1e-3;

/// The method that is taken: the search if the tree of moves is small, else the partition. Its size is that of the unfoldings of two small
/// regions, around the worst start state and in the middle of the initial set: where a region is large, or all runs reach the goal soon, branches end early.
pub(super) fn chosen(
    abstraction: &Abstraction,
    initial: &[Polyhedron],
    start: Option<&[f64]>,
    options: &Options,
    steps: usize,
    budget: &Budget<'_>,
) -> Method {
    if options.method != Method::Automatic {
        return options.method;
    }
    let Some(first) = initial.first() else { return Method::Partition };
    let (lower, upper) = first.bounds();
    let middle: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| (low + high) / 2.0).collect();
    let probe = Unfolding { steps, refining: None, containment: false, most_regions: SMALL_TREE };
    let small = [Some(middle.as_slice()), start].into_iter().flatten().all(|centre| {
        let (lower, upper) = initial.iter().find(|part| part.contains_point(centre)).unwrap_or(first).bounds();
        let reach = |i: usize| PROBE / 2.0 * (upper[i] - lower[i]);
        let low: Vec<f64> = (0..lower.len()).map(|i| (centre[i] - reach(i)).max(lower[i])).collect();
        let high: Vec<f64> = (0..lower.len()).map(|i| (centre[i] + reach(i)).min(upper[i])).collect();
        let part = Polyhedron::of_box(abstraction.template(), &low, &high);
        unfold(abstraction, &[part], &probe, budget, &mut |_, _| {}).is_some_and(|found| found.complete)
    });
    if small { Method::Search { containment: false } } else { Method::Partition }
}
