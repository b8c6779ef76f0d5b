//! One step of a batch of regions: parts with their moves.

use certus_sim::Random;

use super::{Abstraction, HalfSpace, best_cut};
use crate::domain::{HitAndRun, Polyhedron, Rows};

/// When regions are cut before they move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refining {
    /// Parts in which some move's probability varies by more than this are cut.
    pub spread: f64,
    /// Directions that are no wider than this are not cut.
    pub shortest: f64,
    /// How many samples judge a part before its bounds are computed, and choose the cut.
    pub samples: usize,
    /// Names the samples.
    pub seed: u64,
}

/// Where a move leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Successor {
    /// Least probability.
    pub lo: f64,
    /// Largest probability.
    pub hi: f64,
    /// Where it leads.
    pub to: Polyhedron,
}

/// A part of a region, in which one mode of the plant holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The part, or a little more.
    pub region: Polyhedron,
    /// Its moves; moves that lead to the same place are one.
    pub moves: Vec<Successor>,
}

/// What becomes of a region in one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Expansion {
    /// The goal may hold in it.
    Goal,
    /// It may have left the declared range, beyond which nothing is known.
    Left,
    /// Its parts; those in which the goal can no more be reached are left out.
    Parts(Vec<Part>),
}

/// A part on its way.
struct Pending {
    owner: usize,
    mode: usize,
    /// What the mode's guards say, beyond the region's own sides.
    guards: Vec<HalfSpace>,
    rows: Rows,
    region: Polyhedron,
}

impl Abstraction {
    /// Expands regions, one after the other in batches.
    pub fn expand(&self, regions: &[Polyhedron], refining: Option<Refining>) -> Vec<Expansion> {
        regions.chunks(64).flat_map(|regions| self.expand_batch(regions, refining)).collect()
    }

    /// What counts of a region after the last step: that it may hold a state of the goal (or, where staying is enough, one that stayed), or
    /// be beyond the range.
    pub fn classify(&self, region: &Polyhedron) -> Option<Expansion> {
        match self.place(region) {
            Err(known) => Some(known),
            Ok(parts) if self.weak && !parts.is_empty() => Some(Expansion::Goal),
            Ok(_) => None,
        }
    }

    /// The modes of a region, or what it is instead.
    fn place(&self, region: &Polyhedron) -> Result<Vec<(usize, Rows)>, Expansion> {
        let (lower, upper) = region.bounds();
        let inside = (0..self.states).all(|i| lower[i] >= self.range.0[i] && upper[i] <= self.range.1[i]);
        if !inside {
            return Err(Expansion::Left);
        }
        let parts = self.modes.parts(self.lift(region));
        let mode = |number: usize| &self.modes.modes[number];
        if parts.iter().any(|(number, _)| mode(*number).goal != Some(false)) {
            return Err(Expansion::Goal);
        }
        Ok(parts.into_iter().filter(|(number, _)| mode(*number).stay != Some(false)).collect())
    }

    fn expand_batch(&self, regions: &[Polyhedron], refining: Option<Refining>) -> Vec<Expansion> {
        let mut results: Vec<Expansion> = Vec::with_capacity(regions.len());
        let mut pending: Vec<Pending> = Vec::new();
        for (owner, region) in regions.iter().enumerate() {
            match self.place(region) {
                Err(known) => results.push(known),
                Ok(parts) => {
                    results.push(Expansion::Parts(Vec::new()));
                    let whole = self.lift(region).len();
                    for (mode, rows) in parts {
                        let guards: Vec<HalfSpace> = (whole..rows.len())
                            .map(|index| rows.row(index))
                            .map(|(normal, offset)| HalfSpace { normal: normal.to_vec(), offset })
                            .collect();
                        let own = if guards.is_empty() { Some(region.clone()) } else { self.enclosure(&rows) };
                        if let Some(own) = own {
                            pending.push(Pending { owner, mode, guards, rows, region: own });
                        }
                    }
                }
            }
        }
        let mut round = 0;
        while !pending.is_empty() {
            round += 1;
            let mut cut: Vec<Pending> = Vec::new();
            let mut bounded: Vec<Pending> = Vec::new();
            for part in pending {
                match refining.and_then(|refining| self.sampled_cut(&part, refining, round)) {
                    Some((pair, place)) => self.cut(&part, pair, place, &mut cut),
                    None => bounded.push(part),
                }
            }
            let rows: Vec<Rows> = bounded.iter().map(|part| part.rows.clone()).collect();
            let probabilities = self.probabilities(&rows);
            let mut done: Vec<(Pending, Vec<certus_graph::Interval>)> = Vec::new();
            for (part, probabilities) in bounded.into_iter().zip(probabilities) {
                let place = refining.and_then(|refining| {
                    let widest = widest(probabilities.iter().map(|p| p.hi - p.lo))?;
                    if widest.1 <= refining.spread {
                        return None;
                    }
                    let samples = self.samples(&part, refining, round);
                    let own: Vec<(Vec<f64>, f64)> = samples.into_iter().map(|(x, p)| (x, p[widest.0])).collect();
                    best_cut(&part.region, &own, refining.shortest)
                });
                match place {
                    Some((pair, place)) => self.cut(&part, pair, place, &mut cut),
                    None => done.push((part, probabilities)),
                }
            }
            let regions: Vec<(usize, Rows)> = done.iter().map(|(part, _)| (part.mode, part.rows.clone())).collect();
            let next = self.next(&regions);
            for ((part, probabilities), mut next) in done.into_iter().zip(next) {
                // What stays where it is does so exactly: rounding would let it creep into other regions.
                for (to, _) in next.iter_mut().zip(&self.modes.modes[part.mode].still).filter(|(_, still)| **still) {
                    *to = part.region.clone();
                }
                let mut moves: Vec<Successor> = Vec::with_capacity(next.len());
                for (p, to) in probabilities.iter().zip(next).filter(|(p, _)| p.hi > 0.0) {
                    match moves.iter_mut().find(|other| other.to == to) {
                        Some(other) => {
                            other.lo = certus_graph::interval::add_down(other.lo, p.lo).clamp(0.0, 1.0);
                            other.hi = certus_graph::interval::add_up(other.hi, p.hi).min(1.0);
                        }
                        None => moves.push(Successor { lo: p.lo, hi: p.hi, to }),
                    }
                }
                if let Expansion::Parts(parts) = &mut results[part.owner] {
                    parts.push(Part { region: part.region, moves });
                }
            }
            pending = cut;
        }
        results
    }

    fn samples(&self, part: &Pending, refining: Refining, round: u64) -> Vec<(Vec<f64>, Vec<f64>)> {
        let bits = part.region.offsets().iter().fold(round, |hash, value| hash.rotate_left(7) ^ value.to_bits());
        let mut walk = HitAndRun::new(&part.region, Random::new(refining.seed, bits));
        let points: Vec<Vec<f64>> = (0..refining.samples).map(|_| walk.point()).collect();
        let whole: Vec<Vec<f64>> = points.iter().map(|point| self.with_middles(point)).collect();
        points.into_iter().zip(self.sampled_probabilities(&whole)).collect()
    }

    /// The cut that samples ask for, before any bound: nothing when they do not show too wide a spread.
    fn sampled_cut(&self, part: &Pending, refining: Refining, round: u64) -> Option<(usize, f64)> {
        let samples = self.samples(part, refining, round);
        let spread = |number: usize| {
            let values = samples.iter().map(|(_, p)| p[number]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        let (number, width) = widest((0..self.moves.len()).map(spread))?;
        if width <= refining.spread {
            return None;
        }
        let own: Vec<(Vec<f64>, f64)> = samples.into_iter().map(|(x, p)| (x, p[number])).collect();
        best_cut(&part.region, &own, refining.shortest)
    }

    fn cut(&self, part: &Pending, pair: usize, place: f64, into: &mut Vec<Pending>) {
        let directions = self.template.directions();
        for (direction, offset) in [(&directions[2 * pair], place), (&directions[2 * pair + 1], -place)] {
            let mut rows = part.rows.clone();
            rows.push(&self.padded(direction), offset);
            if let Some(region) = self.enclosure(&rows) {
                let mut rows = self.lift(&region);
                part.guards.iter().for_each(|guard| rows.push(&guard.normal, guard.offset));
                into.push(Pending { owner: part.owner, mode: part.mode, guards: part.guards.clone(), rows, region });
            }
        }
    }
}

/// The place and size of the largest number.
fn widest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}
