//! Who moves first: the step's random outcomes are drawn, and then the environment chooses its inputs.
//!
//! A part of a region has one mode, and a mode says something of the inputs where a guard does. The environment that has seen the
//! draws may choose an input in one mode after one draw and in another after another. So for every draw but the first that is possible, each
//! mode that the same states may be in is taken into account: a part becomes one part for every combination of them. Every other order
//! of draws and choices gives the environment less to know, so the bounds hold for all of them.

use certus_graph::Interval;

use super::expand::{Expansion, Part, Pending, Successor};
use super::{Abstraction, HalfSpace};
use crate::domain::{Polyhedron, Rows};

/// Beyond so many combinations the images of all modes are joined.
const MOST_COMBINED: usize = 64;

/// What is missing from one in a sum of upper ends because of rounding.
const ROUNDING: f64 = 1e-6;

/// The next states of all moves by one mode: nothing for a move that no allowed choice makes there.
type Images = Vec<Option<Polyhedron>>;

impl Abstraction {
    /// For each part of a region, the modes that the environment may choose after other draws.
    pub(super) fn partners(
        &self,
        parts: &[(usize, Rows)],
        guards: &dyn Fn(&Rows) -> Vec<HalfSpace>,
    ) -> Vec<Vec<(usize, Vec<HalfSpace>)>> {
        let draws = self.draws.iter().max().map_or(0, |last| last + 1);
        if draws < 2 || self.range.0.len() == self.states {
            return vec![Vec::new(); parts.len()];
        }
        let of = |place: usize| {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, part)| part);
            let shared = others.filter(|(mode, _)| self.modes.may_share_states(parts[place].0, *mode));
            shared.map(|(mode, rows)| (*mode, guards(rows))).collect()
        };
        (0..parts.len()).map(of).collect()
    }

    /// The parts that bounded ones become: their moves' images, for every combination of modes.
    pub(super) fn combine_parts(&self, done: Vec<(Pending, Vec<Interval>)>, results: &mut [Expansion]) {
        let mut regions: Vec<(usize, Rows)> = Vec::new();
        let mut around: Vec<Polyhedron> = Vec::new();
        let mut counts: Vec<usize> = Vec::with_capacity(done.len());
        for (part, _) in &done {
            regions.push((part.mode, part.rows.clone()));
            around.push(part.region.clone());
            let before = regions.len();
            for (mode, guards) in &part.partners {
                let mut rows = self.lift(&part.region);
                guards.iter().for_each(|guard| rows.push(&guard.normal, guard.offset));
                if let Some(region) = self.enclosure(&rows) {
                    regions.push((*mode, rows));
                    around.push(region);
                }
            }
            counts.push(1 + regions.len() - before);
        }
        let next = self.next(&regions);
        let mut images = regions.iter().zip(around).zip(next).map(|(((mode, _), region), next)| -> Images {
            let mode = &self.modes.modes[*mode];
            let image = |(number, (to, &still)): (usize, (Polyhedron, &bool))| {
                // What stays where it is does so exactly: rounding would let it creep into other regions.
                mode.may_move(number).then(|| if still { region.clone() } else { to })
            };
            next.into_iter().zip(&mode.still).enumerate().map(image).collect()
        });
        for ((part, probabilities), count) in done.into_iter().zip(counts) {
            let own: Vec<Images> = images.by_ref().take(count).collect();
            let Expansion::Parts(parts) = &mut results[part.owner] else { continue };
            for images in self.combinations(own, &probabilities) {
                let forbidden = images.iter().zip(&probabilities).any(|(image, p)| image.is_none() && p.hi > 0.0);
                let moves = merged(&probabilities, images);
                let sums = |of: fn(&Successor) -> f64| moves.iter().map(of).sum::<f64>();
                debug_assert!(sums(|own| own.lo) <= 1.0 + ROUNDING, "probabilities exceed one: {moves:?}");
                debug_assert!(
                    forbidden || sums(|own| own.hi) >= 1.0 - ROUNDING,
                    "probabilities are missing: {moves:?}"
                );
                // Where a forbidden choice alone would make the moves that are missing, no state is.
                if !forbidden || sums(|own| own.hi) >= 1.0 - ROUNDING {
                    parts.push(Part { region: part.region.clone(), moves });
                }
            }
        }
    }

    /// The images of all moves by a part's own mode after the first draw that is possible, and by any of the modes after each of the others.
    fn combinations(&self, mut by_mode: Vec<Images>, probabilities: &[Interval]) -> Vec<Images> {
        let mut draws: Vec<usize> =
            self.draws.iter().zip(probabilities).filter(|(_, p)| p.hi > 0.0).map(|(&draw, _)| draw).collect();
        draws.sort_unstable();
        draws.dedup();
        if by_mode.len() == 1 || draws.len() < 2 {
            by_mode.truncate(1);
            return by_mode;
        }
        let later = &draws[1..];
        let all = u32::try_from(later.len()).ok().and_then(|later| by_mode.len().checked_pow(later));
        let Some(all) = all.filter(|&all| all <= MOST_COMBINED) else {
            let joined = |number: usize| {
                if self.draws[number] == draws[0] {
                    return by_mode[0][number].clone();
                }
                by_mode.iter().filter_map(|images| images[number].clone()).reduce(|one, other| one.hull(&other))
            };
            return vec![(0..self.moves.len()).map(joined).collect()];
        };
        let combination = |number: usize| -> Images {
            let mode = |draw: usize| match later.iter().position(|&other| other == draw) {
                Some(place) => number / by_mode.len().pow(place as u32) % by_mode.len(),
                None => 0,
            };
            self.draws.iter().enumerate().map(|(own, &draw)| by_mode[mode(draw)][own].clone()).collect()
        };
        (0..all).map(combination).collect()
    }
}

/// The moves that are possible; those that lead to the same place are one.
fn merged(probabilities: &[Interval], images: Images) -> Vec<Successor> {
    let mut moves: Vec<Successor> = Vec::with_capacity(images.len());
    for (p, to) in probabilities.iter().zip(images).filter(|(p, _)| p.hi > 0.0) {
        let Some(to) = to else { continue };
        match moves.iter_mut().find(|other| other.to == to) {
            Some(other) => {
                other.lo = certus_graph::interval::add_down(other.lo, p.lo).clamp(0.0, 1.0);
                other.hi = certus_graph::interval::add_up(other.hi, p.hi).min(1.0);
            }
            None => moves.push(Successor { lo: p.lo, hi: p.hi, to }),
        }
    }
    debug_assert!(moves.iter().all(|own| 0.0 <= own.lo && own.lo <= own.hi && own.hi <= 1.0), "{moves:?}");
    moves
}
