//! The cells that may have initial states, where these are not a union of boxes, or where some are known to satisfy the property.
//!
//! The initial condition is enclosed over a cell, and over the box around all initial states in the coordinates outside of the grid. Where it is certainly false, no
//! run begins. Nor need runs be followed that begin outside of the boxes that another engine left open.

use std::collections::HashMap;

use certus_graph::eval::enclose;
use certus_graph::{Graph, Interval};
use certus_lang::system::System;

use crate::cone_of_influence::ConeOfInfluence;
use crate::expand::truth;

/// The initial condition, prepared.
pub(crate) struct InitialCells {
    condition: Option<Condition>,
    /// Boxes outside of which no run need be followed, in the coordinates of the grid.
    open: Option<Vec<Vec<Interval>>>,
    known: HashMap<u32, bool>,
}

struct Condition {
    graph: Graph,
    /// The box around all initial states.
    around: Vec<Interval>,
    /// Where the grid's coordinates are in the state.
    kept: Vec<usize>,
    /// How many numbers each input of the condition has.
    lengths: Vec<usize>,
}

impl InitialCells {
    /// The initial condition of a system whose grid is over a part of it, and boxes of states with all initial states that matter; none if the boxes around all
    /// initial states are all there is to it.
    pub fn new(system: &System, cone: &ConeOfInfluence, open: Option<&[Vec<Interval>]>) -> Option<InitialCells> {
        let condition = Condition::of(system, cone);
        let projected = |own: &Vec<Interval>| cone.kept.iter().map(|&place| own[place]).collect();
        let open: Option<Vec<Vec<Interval>>> = open.map(|own| own.iter().map(projected).collect());
        (condition.is_some() || open.is_some()).then(|| InitialCells { condition, open, known: HashMap::new() })
    }

    /// Whether a cell may have initial states that matter.
    pub fn may_be(&mut self, cell: u32, ends: impl Fn() -> Vec<(f64, f64)>) -> bool {
        if let Some(&known) = self.known.get(&cell) {
            return known;
        }
        let ends = ends();
        let meets =
            |own: &Vec<Interval>| own.iter().zip(&ends).all(|(own, &(low, high))| own.lo <= high && low <= own.hi);
        let may_be = self.open.as_ref().is_none_or(|open| open.iter().any(meets))
            && self.condition.as_ref().is_none_or(|condition| condition.may_hold(&ends));
        self.known.insert(cell, may_be);
        may_be
    }
}

impl Condition {
    fn of(system: &System, cone: &ConeOfInfluence) -> Option<Condition> {
        let init = system.roles.init.filter(|_| !system.init_is_union)?;
        let graph = system.step.keep_outputs(&[init.truth.port]);
        let ends = system.init_box.0.iter().zip(&system.init_box.1);
        let lengths = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
        let around = ends.map(|(&low, &high)| Interval::new(low, high)).collect();
        Some(Condition { graph, around, kept: cone.kept.clone(), lengths })
    }

    /// Whether it may hold somewhere in a cell.
    fn may_hold(&self, ends: &[(f64, f64)]) -> bool {
        let mut state = self.around.clone();
        for (&place, &(low, high)) in self.kept.iter().zip(ends) {
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
        let found = enclose(&self.graph, &slices).ok();
        let sure = found.and_then(|found| found.first().and_then(|own| own.first()).and_then(|&range| truth(range)));
        sure != Some(false)
    }
}
