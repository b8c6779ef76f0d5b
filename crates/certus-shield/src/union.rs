//! Several branches at once, chosen by which of the network's states they contain.
//!
//! Around an obstacle every convex set is on one side of it, and a branch alone stops the network early: how often it does says little
//! about its worth beside others. So many sets of few half-spaces are made, on all sides, for programs with many equilibria. One that
//! contains all initial states is taken, then greedily others, so that together they contain as many of the network's states as possible
//! (the greedy heuristic for maximum coverage). The equilibrium of a program decides how long an intervention lasts, so programs that contain
//! about as much are then compared in simulated runs.

use certus_audit::shield::{Branch, Invariant};
use certus_numerics::Random;

use crate::branch_synthesis::{MANY_HALFSPACES, Proved};
use crate::linear_algebra::spectral_radius;
use crate::plant::{Policy, Region, readable};
use crate::polyhedron::{self, Begin, farthest_side};
use crate::program_synthesis::{equilibrium, regulators};
use crate::synthesis::{Draft, Work};

/// Most choices of sides that are looked at.
const MOST_SIDES: usize = 6;

/// Most branches of a union.
const MOST_BRANCHES: usize = 5;

/// Most resting places of programs that are compared for a branch.
const MOST_PLACES: usize = 10;

/// Places that differ by less, as a part of the domain, are one.
const NEAR: f64 = 0.02;

/// Resting places that are drawn for each choice of sides.
const RESTS: usize = 24;

/// What holds this part of what the best one does is about as good.
const ABOUT: f64 = 0.4;

/// A further branch has to hold this part of the network's states.
const WORTH: f64 = 0.02;

/// A program to try: the box that chooses the sides, where the program rests, and the program.
struct Item {
    sides: Region,
    rest: Vec<f64>,
    policy: Policy,
}

/// A set with what speaks for it.
struct Candidate {
    branch: Branch,
    rest: Vec<f64>,
    /// Which of the network's states it holds.
    holds: Vec<bool>,
    /// How slowly its program comes to rest: the part of the way that is left after a step.
    slowness: f64,
}

/// Which of some states a polyhedron holds.
fn held(branch: &Branch, states: &[Vec<f64>]) -> Vec<bool> {
    let Invariant::Polyhedron(own) = &branch.invariant else { return vec![false; states.len()] };
    let inside = |state: &Vec<f64>| {
        own.halfspaces.iter().all(|h| h.normal.iter().zip(state).map(|(g, x)| g * x).sum::<f64>() <= h.bound)
    };
    states.iter().map(inside).collect()
}

fn point(state: &[f64]) -> Region {
    state.iter().map(|&x| (x, x)).collect()
}

impl Work<'_> {
    /// A draft of several branches that hold much of what the network visits, and for each of them others that hold about as much;
    /// none if the loop is not linear, or no branch holds all initial states.
    pub fn union(&mut self) -> Option<(Draft, Vec<Vec<Proved>>)> {
        self.linear.as_ref()?;
        if self.focus.is_empty() {
            return None;
        }
        (self.progress)("combining branches on several sides".to_owned());
        let items = self.items();
        self.tried += items.len();
        let pool = self.parallel(&items, |work, item| {
            let options =
                polyhedron::Options { strictness: 1e-6, strict_from: 1, most: MANY_HALFSPACES, begin: Begin::Modes };
            let linear = work.linear.as_ref()?;
            let branch = polyhedron::search(linear, &item.policy, &item.sides, options, work.deadline)?;
            let holds = held(&branch, &work.focus);
            let slowness = spectral_radius(&work.plant.closed_slopes(&item.policy));
            Some(Candidate { branch, rest: item.rest.clone(), holds, slowness })
        });
        let proved =
            |own: &Candidate| Proved { branch: own.branch.clone(), origin: "regulator", start: None, decrease: None };
        let mut branches: Vec<Proved> = Vec::new();
        let mut others: Vec<Vec<Proved>> = Vec::new();
        let mut known = vec![false; self.focus.len()];
        while branches.len() < MOST_BRANCHES && !self.stopped() {
            let gain = |own: &Candidate| own.holds.iter().zip(&known).filter(|(own, known)| **own && !**known).count();
            // The first one holds all initial states.
            let fits = |own: &&Candidate| !branches.is_empty() || self.alone(&proved(own)).is_some();
            let fitting: Vec<&Candidate> = pool.iter().filter(fits).collect();
            let Some(most) = fitting.iter().map(|own| gain(own)).max() else { break };
            if !branches.is_empty() && (most as f64) < WORTH * self.focus.len() as f64 {
                break;
            }
            let about = fitting.into_iter().filter(|own| gain(own) as f64 >= ABOUT * most as f64);
            let mut about: Vec<&Candidate> = about.collect();
            // First those that hold most, then the fastest, each in different places.
            let mut places: Vec<&Candidate> = Vec::new();
            for by_speed in [false, true] {
                about.sort_by(|a, b| match by_speed {
                    true => a.slowness.total_cmp(&b.slowness),
                    false => gain(b).cmp(&gain(a)).then(a.slowness.total_cmp(&b.slowness)),
                });
                let before = places.len();
                for own in &about {
                    let new = places[before..].iter().all(|known| self.apart(&known.rest, &own.rest));
                    let room = places.len() < before + MOST_PLACES;
                    if new && room && self.accepted(&own.branch, None, &point(&own.rest)) {
                        places.push(own);
                    }
                }
            }
            let Some(taken) = places.first() else { break };
            branches.push(proved(taken));
            known.iter_mut().zip(&taken.holds).for_each(|(known, own)| *known |= own);
            others.push(places.iter().skip(1).map(|own| proved(own)).collect());
        }
        let cover = self.alone(branches.first()?)?;
        Some((Draft { branches, cover }, others))
    }

    /// Whether two resting places are worth telling apart.
    fn apart(&self, a: &[f64], b: &[f64]) -> bool {
        let far = |((a, b), (lower, upper)): ((&f64, &f64), &(f64, f64))| (a - b).abs() > NEAR * (upper - lower);
        a.iter().zip(b).zip(&self.plant.domain).any(far)
    }

    /// Programs that rest where the network goes, on every side of what is unsafe.
    fn items(&self) -> Vec<Item> {
        let chosen = |region: &[(f64, f64)]| -> Vec<Option<usize>> {
            self.plant.pieces.iter().map(|piece| farthest_side(piece, region).map(|(place, _)| place)).collect()
        };
        // The side of the initial states, then those of the network's states, the more common first.
        let mut sides: Vec<(Vec<Option<usize>>, Region, usize)> =
            vec![(chosen(&self.plant.init), self.plant.init.clone(), usize::MAX)];
        for state in &self.focus {
            let region = point(state);
            let own = chosen(&region);
            match sides.iter_mut().find(|(known, ..)| *known == own) {
                Some((.., count)) => *count = count.saturating_add(1),
                None => sides.push((own, region, 1)),
            }
        }
        sides.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let mut random = Random::new(self.options.seed, 7 << 40);
        let mut items = Vec::new();
        for (_, region, _) in sides.into_iter().take(MOST_SIDES) {
            let middle = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
            for near in self.rests(&region, RESTS, &mut random).into_iter().chain([middle]) {
                let Some(rest) = equilibrium(&self.plant, &near) else { continue };
                for policy in regulators(&self.plant, &rest).iter().map(readable) {
                    if self.keeps_sketch(&policy) {
                        items.push(Item { sides: region.clone(), rest: rest.0.clone(), policy });
                    }
                }
            }
        }
        items
    }
}
