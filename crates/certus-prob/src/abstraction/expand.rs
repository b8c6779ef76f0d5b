//! One step of a batch of regions: parts, each with its moves.
//!
//! The post operator of the abstraction after E. Bacci and D. Parker (NFM 2022). A region is split along the plant's guards into parts; a part whose
//! probabilities vary by more than the allowed spread is split again (`cross_entropy_split.rs`); then every move's image is enclosed. A
//! region that may hold a goal state, or in which a model error cannot be excluded, is not expanded: it counts against the property.

use certus_graph::Interval;
use certus_graph::eval::enclose;
use certus_numerics::Random;

use super::{Abstraction, HalfSpace, Mode, best_split};
use crate::template_polyhedron::{HitAndRun, Polyhedron, Rows};

/// When regions are split before they move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refining {
    /// Parts in which some move's probability varies by more than this are split.
    pub spread: f64,
    /// Directions that are no wider than this are not split.
    pub shortest: f64,
    /// How many samples judge a part before its bounds are computed, and choose the split.
    pub samples: usize,
    /// The seed of the samples.
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

/// The model errors that a run may meet in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The region may reach beyond the declared ranges, where nothing is known.
    Range,
    /// Some state may have no allowed choice.
    Deadlock,
    /// An operation of the step may be undefined.
    Step,
    /// An operation of the task's atoms may be undefined.
    Atom,
}

impl Failure {
    /// Whether it matters after the last step, where nothing is chosen any more.
    pub fn is_of_state(self) -> bool {
        matches!(self, Failure::Range | Failure::Atom)
    }
}

/// What becomes of a region in one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Expansion {
    /// The goal may hold in it.
    Goal,
    /// A run may meet a model error in it.
    Failed(Failure),
    /// Its parts; those in which the goal can no more be reached are left out.
    Parts(Vec<Part>),
}

/// A part on its way.
pub(super) struct Pending {
    pub(super) owner: usize,
    pub(super) mode: usize,
    /// Other modes that its states may be in by another choice of the environment, each with what its guards say.
    pub(super) partners: Vec<(usize, Vec<HalfSpace>)>,
    /// What the mode's guards say, beyond the region's own sides.
    guards: Vec<HalfSpace>,
    pub(super) rows: Rows,
    pub(super) region: Polyhedron,
}

impl Abstraction {
    /// Expands regions, one after the other in batches.
    pub fn expand(&self, regions: &[Polyhedron], refining: Option<Refining>) -> Vec<Expansion> {
        regions.chunks(64).flat_map(|regions| self.expand_batch(regions, refining)).collect()
    }

    /// What counts of a region after the last step: that it may hold a state of the goal (or, where staying is enough, one that stayed), or
    /// be beyond the range.
    pub fn classify(&self, region: &Polyhedron) -> Option<Expansion> {
        match self.place(region, true) {
            Err(known) => Some(known),
            Ok(parts) if self.weak && !parts.is_empty() => Some(Expansion::Goal),
            Ok(_) => None,
        }
    }

    /// The modes of a region that its states may be in by an allowed choice, or what the region is instead. After the last step nothing is chosen.
    fn place(&self, region: &Polyhedron, last: bool) -> Result<Vec<(usize, Rows)>, Expansion> {
        if !self.in_range(region) {
            return Err(Expansion::Failed(Failure::Range));
        }
        let mut parts = self.modes.parts(self.lift(region));
        let mode = |number: usize| &self.modes.modes[number];
        let atoms = self.layout.atoms_defined();
        if !self.is_certain(region, &parts, &|mode| mode.atoms_defined == Some(true), atoms.into_iter()) {
            return Err(Expansion::Failed(Failure::Atom));
        }
        if parts.iter().any(|(number, _)| mode(*number).goal != Some(false)) {
            return Err(Expansion::Goal);
        }
        parts.retain(|(number, _)| mode(*number).stay != Some(false));
        if !last && !parts.is_empty() {
            let (lower, upper) = region.bounds();
            let defined = |mode: &Mode| mode.defined.iter().all(|&own| own == Some(true));
            if !self.is_certain(region, &parts, &defined, self.layout.defined()) {
                return Err(Expansion::Failed(Failure::Step));
            }
            if self.may_deadlock(&lower, &upper) {
                return Err(Expansion::Failed(Failure::Deadlock));
            }
            parts.retain(|(number, _)| !mode(*number).is_forbidden());
        }
        Ok(parts)
    }

    /// Whether a condition holds in all of a region for certain: in each of its modes, or by intervals for some outputs of the plant.
    fn is_certain(
        &self,
        region: &Polyhedron,
        parts: &[(usize, Rows)],
        known: &dyn Fn(&Mode) -> bool,
        outputs: impl Iterator<Item = usize>,
    ) -> bool {
        if parts.iter().all(|(number, _)| known(&self.modes.modes[*number])) {
            return true;
        }
        let (mut lower, mut upper) = region.bounds();
        lower.extend_from_slice(&self.range.0[self.states..]);
        upper.extend_from_slice(&self.range.1[self.states..]);
        let point: Vec<Interval> =
            lower.iter().zip(&upper).map(|(&low, &high)| Interval::new(low.min(high), high.max(low))).collect();
        let graph = self.plant_graph.keep_outputs(&outputs.collect::<Vec<_>>());
        enclose(&graph, &[&point]).is_ok_and(|found| found.concat().iter().all(|own| own.certainty() == Some(true)))
    }

    fn expand_batch(&self, regions: &[Polyhedron], refining: Option<Refining>) -> Vec<Expansion> {
        let mut results: Vec<Expansion> = Vec::with_capacity(regions.len());
        let mut pending: Vec<Pending> = Vec::new();
        for (owner, region) in regions.iter().enumerate() {
            match self.place(region, false) {
                Err(known) => results.push(known),
                Ok(parts) => {
                    results.push(Expansion::Parts(Vec::new()));
                    let whole = self.lift(region).len();
                    let guards = |rows: &Rows| -> Vec<HalfSpace> {
                        let own = (whole..rows.len()).map(|index| rows.row(index));
                        own.map(|(normal, offset)| HalfSpace { normal: normal.to_vec(), offset }).collect()
                    };
                    let partners = self.partners(&parts, &guards);
                    for ((mode, rows), partners) in parts.into_iter().zip(partners) {
                        let guards = guards(&rows);
                        let own = if guards.is_empty() { Some(region.clone()) } else { self.enclosure(&rows) };
                        if let Some(own) = own {
                            pending.push(Pending { owner, mode, partners, guards, rows, region: own });
                        }
                    }
                }
            }
        }
        let mut round = 0;
        while !pending.is_empty() {
            round += 1;
            let mut halves: Vec<Pending> = Vec::new();
            let mut bounded: Vec<Pending> = Vec::new();
            for part in pending {
                match refining.and_then(|refining| self.sampled_split(&part, refining, round)) {
                    Some((pair, place)) => self.split(&part, pair, place, &mut halves),
                    None => bounded.push(part),
                }
            }
            // The scores may depend on the choice, which may be one of a partner.
            let scored = |part: &Pending| match part.partners.is_empty() {
                true => part.rows.clone(),
                false => self.lift(&part.region),
            };
            let rows: Vec<Rows> = bounded.iter().map(scored).collect();
            let probabilities = self.probabilities(&rows);
            let mut done: Vec<(Pending, Vec<Interval>)> = Vec::new();
            for (part, probabilities) in bounded.into_iter().zip(probabilities) {
                let place = refining.and_then(|refining| {
                    let widest = widest(probabilities.iter().map(|p| p.hi - p.lo))?;
                    if widest.1 <= refining.spread {
                        return None;
                    }
                    let samples = self.samples(&part, refining, round);
                    let own: Vec<(Vec<f64>, f64)> = samples.into_iter().map(|(x, p)| (x, p[widest.0])).collect();
                    best_split(&part.region, &own, refining.shortest)
                });
                match place {
                    Some((pair, place)) => self.split(&part, pair, place, &mut halves),
                    None => done.push((part, probabilities)),
                }
            }
            self.combine_parts(done, &mut results);
            pending = halves;
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

    /// The split that samples ask for, before any bound: nothing when they do not show too wide a spread.
    fn sampled_split(&self, part: &Pending, refining: Refining, round: u64) -> Option<(usize, f64)> {
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
        best_split(&part.region, &own, refining.shortest)
    }

    fn split(&self, part: &Pending, pair: usize, place: f64, into: &mut Vec<Pending>) {
        let directions = self.template.directions();
        for (direction, offset) in [(&directions[2 * pair], place), (&directions[2 * pair + 1], -place)] {
            let mut rows = part.rows.clone();
            rows.push(&self.padded(direction), offset);
            if let Some(region) = self.enclosure(&rows) {
                let mut rows = self.lift(&region);
                part.guards.iter().for_each(|guard| rows.push(&guard.normal, guard.offset));
                into.push(Pending {
                    rows,
                    region,
                    partners: part.partners.clone(),
                    guards: part.guards.clone(),
                    ..*part
                });
            }
        }
    }
}

/// The place and size of the largest number.
fn widest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}
