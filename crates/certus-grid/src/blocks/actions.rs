//! The actions of an extracted policy in the cells of a block.
//!
//! The action of a cell is the mean of the network's outputs at sampled states. Over a block the network is often one affine map, or an affine map and a few neurons:
//! then the mean is computed from that, with a bound on the difference from the evaluated network. Only where that difference would matter is the network
//! itself evaluated.

use std::sync::Arc;

use certus_automata::system::Truths;
use certus_graph::fault::Fault;
use certus_graph::{GraphError, Interval};
use certus_solver::ReducedNetwork;

use super::ROOM;
use super::bound::{BEFORE_SLOPES, Bounded};
use crate::expand::{Boxes, Expander};
use crate::extract::Extraction;

/// How the actions of an extracted policy are computed in a block.
#[derive(Default)]
pub(super) enum Answers {
    /// The network.
    #[default]
    Network,
    /// Its affine form, at the mean of the states: the form is as good as linear there.
    Form,
    /// What is left of it over the block, with how far each mean of its answers is off.
    Reduced(ReducedNetwork, Vec<f64>),
}

/// Buffers that are reused.
#[derive(Default)]
struct Room {
    state: Vec<f64>,
    values: Vec<f64>,
    scratch: Vec<f64>,
    sums: Vec<f64>,
    actions: Vec<Interval>,
    differences: Vec<(f64, f64)>,
}

impl Expander<'_> {
    /// Cells whose actions are an extracted policy's.
    pub(super) fn with_actions(
        &self,
        keys: &[u64],
        bounded: &[Arc<Bounded>],
        cells: &[(usize, u32)],
        (truths, found): (&mut [Truths], &mut Boxes),
    ) -> Result<(), GraphError> {
        let Some(extraction) = self.extraction.as_ref().filter(|_| !cells.is_empty()) else { return Ok(()) };
        let words = self.grid.words();
        let key_of = |cell: usize| &keys[cell * words..(cell + 1) * words];
        let asks = |block: u32| matches!(bounded[block as usize].answers, Answers::Network);
        let ask = cells.iter().filter(|&&(_, block)| asks(block));
        let asked: Vec<u64> = ask.flat_map(|&(cell, _)| key_of(cell).iter().copied()).collect();
        let mut given = self.given(&asked)?.unwrap_or_default().into_iter();
        let mut room = Room::default();
        for &(cell, block) in cells {
            let own = &bounded[block as usize];
            let key = key_of(cell);
            if asks(block) {
                let outputs = given.next().flatten().map(|own| own.outputs).unwrap_or_default();
                room.actions.clear();
                room.actions.extend(outputs.into_iter().map(Interval::point));
            } else {
                self.answered(extraction, key, own, &mut room)?;
            }
            self.differences_of(key, own, &mut room.differences);
            let away = room.actions.iter().zip(&own.middles[self.symbols..]);
            room.differences.extend(away.map(|(action, middle)| (action.lo - middle, action.hi - middle)));
            let placed = self.place_cell((cell, key), own, &room.differences, truths, found)?;
            debug_assert!(placed, "cells of a policy that acts by cells are not closed");
        }
        Ok(())
    }

    /// The actions of an extracted policy in a cell, without asking the network.
    fn answered(&self, extraction: &Extraction, key: &[u64], own: &Bounded, room: &mut Room) -> Result<(), GraphError> {
        let Room { state, values, scratch, sums, actions, .. } = room;
        let (cell, samples) = (self.policy_cell(key), extraction.samples() as f64);
        sums.clear();
        actions.clear();
        match &own.answers {
            Answers::Reduced(reduced, errors) => {
                sums.resize(errors.len(), 0.0);
                extraction.each_state(self.grid, &cell, state, |state| {
                    reduced.evaluate(state, scratch, values);
                    sums.iter_mut().zip(&*values).for_each(|(sum, value)| *sum += value);
                });
                let means = sums.iter().map(|sum| sum / samples);
                actions.extend(means.zip(errors).map(|(mean, error)| Interval::new(mean - error, mean + error)));
            }
            _ => {
                sums.resize(self.symbols, 0.0);
                // Differences first: what they round is small beside the block, what the states' own sum would round may not be.
                extraction.each_state(self.grid, &cell, state, |state| {
                    let away = state.iter().zip(&own.middles).map(|(value, middle)| value - middle);
                    sums.iter_mut().zip(away).for_each(|(sum, away)| *sum += away);
                });
                sums.iter_mut().for_each(|sum| *sum /= samples);
                for form in own.policy.chunks_exact(2 + self.symbols) {
                    let value = form[0] + form[2..].iter().zip(&*sums).map(|(slope, mean)| slope * mean).sum::<f64>();
                    actions.push(Interval::new(value - form[1], value + form[1]));
                }
            }
        }
        // Both are sound, so they meet.
        for (place, (action, range)) in actions.iter_mut().zip(&own.actions).enumerate() {
            *action = action.intersection(*range).ok_or_else(|| {
                let details = format!("output {place} of the policy: {action} and {range}");
                Fault::raise("two enclosures of an extracted policy's action do not meet", details)
            })?;
        }
        Ok(())
    }

    /// Chooses how actions are computed in a block.
    pub(super) fn answers(&self, own: &Bounded, lower: &[f64], upper: &[f64]) -> Answers {
        let errors: Vec<f64> = own.policy.chunks_exact(2 + self.symbols).map(|form| form[1]).collect();
        if own.forms.is_empty() || self.does_no_harm(own, &errors) {
            return Answers::Form;
        }
        let reduced = self.policy_bounds.as_ref().and_then(|bounds| {
            let reduced = bounds.reduced(lower, upper)?;
            // The mean of computed answers is as far from the real mean as they are, and rounds.
            let mean = |range: &Interval| bounds.mean_rounding() * range.magnitude();
            let off = reduced.errors().iter().zip(bounds.rounding()).zip(&own.actions);
            let off: Vec<f64> = off.map(|((one, other), range)| (one + other + mean(range)) * ROOM).collect();
            self.does_no_harm(own, &off).then_some(Answers::Reduced(reduced, off))
        });
        reduced.unwrap_or_default()
    }

    /// Whether errors of the actions are small beside cells of the next state.
    fn does_no_harm(&self, own: &Bounded, errors: &[f64]) -> bool {
        own.forms.iter().all(|form| {
            let each = form.numbers.chunks_exact(BEFORE_SLOPES + self.symbols + errors.len());
            each.zip(&self.grid.axes).all(|(numbers, along)| {
                let slopes = numbers[BEFORE_SLOPES + self.symbols..].iter().zip(errors);
                slopes.map(|(slope, error)| slope.abs() * error).sum::<f64>() <= self.largest_share * along.width
            })
        })
    }
}
