//! The cells that may have initial states, where these are not a union of boxes.
//!
//! The initial condition is enclosed over a cell, and over the box around all initial states in the coordinates outside of the grid. Where it is certainly false, no
//! run begins.

use std::collections::HashMap;

use certus_graph::eval::enclose;
use certus_graph::{Graph, Interval};
use certus_lang::system::System;

use crate::cone_of_influence::ConeOfInfluence;
use crate::expand::truth;

/// The initial condition, prepared.
pub(crate) struct InitialCells {
    condition: Graph,
    /// The box around all initial states.
    around: Vec<Interval>,
    /// Where the grid's coordinates are in the state.
    kept: Vec<usize>,
    /// How many numbers each input of the condition has.
    lengths: Vec<usize>,
    known: HashMap<u32, bool>,
}

impl InitialCells {
    /// The initial condition of a system whose grid is over a part of it; none if the boxes around all initial states are all there is to it.
    pub fn new(system: &System, cone: &ConeOfInfluence) -> Option<InitialCells> {
        let init = system.roles.init.filter(|_| !system.init_is_union)?;
        let condition = system.step.keep_outputs(&[init.truth.port]);
        let ends = system.init_box.0.iter().zip(&system.init_box.1);
        let lengths = condition.inputs().iter().map(|port| condition.elements(port.node)).collect();
        let around = ends.map(|(&low, &high)| Interval::new(low, high)).collect();
        Some(InitialCells { condition, around, kept: cone.kept.clone(), lengths, known: HashMap::new() })
    }

    /// Whether a cell may have initial states.
    pub fn may_be(&mut self, cell: u32, ends: impl Fn() -> Vec<(f64, f64)>) -> bool {
        if let Some(&known) = self.known.get(&cell) {
            return known;
        }
        let mut state = self.around.clone();
        for (&place, (low, high)) in self.kept.iter().zip(ends()) {
            state[place] = Interval::new(low, high);
        }
        // Inputs of the step after the state are not read.
        let mut values = state.into_iter();
        let arguments: Vec<Vec<Interval>> = self
            .lengths
            .iter()
            .map(|&length| (0..length).map(|_| values.next().unwrap_or(Interval::ENTIRE)).collect())
            .collect();
        let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
        // What cannot be evaluated may be anything.
        let found = enclose(&self.condition, &slices).ok();
        let sure = found.and_then(|found| found.first().and_then(|own| own.first()).and_then(|&range| truth(range)));
        self.known.insert(cell, sure != Some(false));
        sure != Some(false)
    }
}
