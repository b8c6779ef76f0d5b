//! The order of play: the step's random outcomes are drawn first, then the environment chooses its inputs, except for those declared to come
//! before some of the draws.
//!
//! A part of a region has one mode, and a mode may constrain the inputs. An environment that has seen the draws may choose an input in
//! one mode after one draw and in another after another. So for every draw but the first possible one, each mode that the same states may
//! be in is taken into account: a part becomes one part per combination.
//!
//! *Soundness.* Every other order of draws and choices tells the environment less, so the bounds hold for all of them.
//!
//! An input that comes before some draws has one value for all outcomes that differ in these alone. So a combination is dropped if such
//! outcomes have modes separated by a guard that only the state and such inputs decide; where all inputs have one value, there is
//! one mode. What a mode makes of its inputs may still differ from draw to draw, which makes bounds larger and never wrong. To lose less,
//! ranges of such inputs are split into a few pieces, each a mode ([`splits`]).

use certus_graph::Interval;

use certus_lang::System;
use certus_lang::system::ChoiceId;

use super::expand::{Expansion, Part, Pending, Successor};
use super::{Abstraction, Choice, HalfSpace};
use crate::template_polyhedron::{Polyhedron, Rows};

/// Beyond so many combinations the images of all modes are joined.
const MOST_COMBINED: usize = 64;

/// What is missing from one in a sum of upper ends because of rounding.
const ROUNDING: f64 = 1e-6;

/// The next states of all moves by one mode: nothing for a move that no allowed choice makes there.
type Images = Vec<Option<Polyhedron>>;

/// Pieces that the range of a blind input is split into, if there is one; half as many for every further one.
const PIECES: u8 = 8;

/// Which inputs have one value for two draws.
#[derive(Clone, Debug, PartialEq)]
enum Same {
    /// All of them, so that there is one mode.
    All,
    /// Those that are marked.
    Some(Vec<bool>),
}

/// What the inputs know of the draws.
pub(super) struct Order {
    /// For each move, the number of its random labels' combination: moves of one number differ in what is not random.
    draws: Vec<usize>,
    /// For two draws, which inputs have one value.
    same: Vec<Vec<Same>>,
    /// How many numbers are inputs; what follows are parameters, which have one value throughout.
    inputs: usize,
}

impl Order {
    pub(super) fn new(system: &System, choices: &[Choice], moves: &[Vec<usize>]) -> Order {
        let random = |own: &Vec<usize>| -> Vec<Option<usize>> {
            let labels = own.iter().zip(choices);
            labels.map(|(&label, choice)| (!matches!(choice, Choice::Argmax(..))).then_some(label)).collect()
        };
        let mut known: Vec<Vec<Option<usize>>> = Vec::new();
        let draws = moves.iter().map(|own| {
            let own = random(own);
            known.iter().position(|other| *other == own).unwrap_or_else(|| {
                known.push(own);
                known.len() - 1
            })
        });
        let draws = draws.collect();
        let hidden: Vec<Vec<usize>> = hidden(system);
        let same = |one: &Vec<Option<usize>>, other: &Vec<Option<usize>>| {
            let differing: Vec<usize> = (0..one.len()).filter(|&choice| one[choice] != other[choice]).collect();
            let blind = |hidden: &Vec<usize>| differing.iter().all(|choice| hidden.contains(choice));
            let marked: Vec<bool> = hidden.iter().map(blind).collect();
            if marked.contains(&false) { Same::Some(marked) } else { Same::All }
        };
        let same = known.iter().map(|one| known.iter().map(|other| same(one, other)).collect()).collect();
        Order { draws, same, inputs: hidden.len() }
    }
}

/// For each number of the inputs, the choices that it is blind of.
fn hidden(system: &System) -> Vec<Vec<usize>> {
    let place = |choice: &ChoiceId| match *choice {
        ChoiceId::Chance(place) => place,
        ChoiceId::Action(place) => system.chances.len() + place,
    };
    let of = |input: &certus_lang::system::Variable| vec![input.before.iter().map(place).collect(); input.len];
    system.inputs.iter().flat_map(of).collect()
}

/// Places at which the ranges of blind inputs are split, each with its variable (behind so many numbers of state).
pub(super) fn splits(system: &System, states: usize, range: (&[f64], &[f64])) -> Vec<(usize, f64)> {
    let blind: Vec<usize> =
        hidden(system).iter().enumerate().filter(|(_, hidden)| !hidden.is_empty()).map(|(i, _)| states + i).collect();
    let pieces = PIECES >> blind.len().saturating_sub(1).min(7);
    let of = |&variable: &usize| {
        let (low, high) = (range.0[variable], range.1[variable]);
        let places = (1..pieces).map(move |piece| low + (high - low) * f64::from(piece) / f64::from(pieces));
        places.filter(move |place| low < *place && *place < high).map(move |place| (variable, place))
    };
    blind.iter().flat_map(of).collect()
}

impl Abstraction {
    /// Whether the environment may be in two modes after two draws, in one state.
    fn may_choose(&self, (draw, mode): (usize, usize), (other_draw, other): (usize, usize)) -> bool {
        mode == other
            || match &self.order.same[draw][other_draw] {
                Same::All => false,
                Same::Some(marked) => {
                    let same = |place: usize| place >= self.order.inputs || marked[place];
                    self.modes.may_share_states(mode, other, &same)
                }
            }
    }

    /// For each part of a region, the modes that the environment may choose after other draws.
    pub(super) fn partners(
        &self,
        parts: &[(usize, Rows)],
        guards: &dyn Fn(&Rows) -> Vec<HalfSpace>,
    ) -> Vec<Vec<(usize, Vec<HalfSpace>)>> {
        let draws = self.order.same.len();
        if draws < 2 || self.range.0.len() == self.states {
            return vec![Vec::new(); parts.len()];
        }
        let of = |place: usize| {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, part)| part);
            let pairs = |mode: usize| {
                (0..draws).any(|one| (0..one).any(|other| self.may_choose((one, parts[place].0), (other, mode))))
            };
            let shared = others.filter(|(mode, _)| pairs(*mode));
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
        let modes: Vec<usize> = regions.iter().map(|(mode, _)| *mode).collect();
        let next = self.next(&regions);
        let mut images = regions.iter().zip(around).zip(next).map(|(((mode, _), region), next)| -> Images {
            let mode = &self.modes.modes[*mode];
            let image = |(number, (to, &still)): (usize, (Polyhedron, &bool))| {
                // What stays where it is does so exactly: rounding would let it creep into other regions.
                mode.may_move(number).then(|| if still { region.clone() } else { to })
            };
            next.into_iter().zip(&mode.still).enumerate().map(image).collect()
        });
        let mut modes = modes.into_iter();
        for ((part, probabilities), count) in done.into_iter().zip(counts) {
            let own: Vec<(usize, Images)> = modes.by_ref().zip(images.by_ref()).take(count).collect();
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

    /// The images of all moves by a part's own mode after the first draw that is possible, and by any of the modes that may be chosen after each of
    /// the others.
    fn combinations(&self, mut by_mode: Vec<(usize, Images)>, probabilities: &[Interval]) -> Vec<Images> {
        let of_move = &self.order.draws;
        let mut draws: Vec<usize> =
            of_move.iter().zip(probabilities).filter(|(_, p)| p.hi > 0.0).map(|(&draw, _)| draw).collect();
        draws.sort_unstable();
        draws.dedup();
        if by_mode.len() == 1 || draws.len() < 2 {
            by_mode.truncate(1);
            return by_mode.into_iter().map(|(_, images)| images).collect();
        }
        // For each draw so far, the place of its mode.
        let mut chosen: Vec<Vec<usize>> = vec![vec![0]];
        for (place, &draw) in draws.iter().enumerate().skip(1) {
            let fits = |before: &[usize], mode: usize| {
                let others = before.iter().zip(&draws[..place]);
                others
                    .into_iter()
                    .all(|(&own, &other)| self.may_choose((draw, by_mode[mode].0), (other, by_mode[own].0)))
            };
            let longer = |before: &Vec<usize>| -> Vec<Vec<usize>> {
                let modes = (0..by_mode.len()).filter(|&mode| fits(before, mode));
                modes.map(|mode| before.iter().copied().chain([mode]).collect()).collect()
            };
            chosen = chosen.iter().flat_map(longer).collect();
            if chosen.len() > MOST_COMBINED {
                return vec![self.joined(&by_mode, &draws)];
            }
        }
        let combination = |chosen: &Vec<usize>| -> Images {
            let mode = |draw: usize| draws.iter().position(|&other| other == draw).map_or(0, |place| chosen[place]);
            of_move.iter().enumerate().map(|(own, &draw)| by_mode[mode(draw)].1[own].clone()).collect()
        };
        chosen.iter().map(combination).collect()
    }

    /// The images of all moves, by any of the modes that go with a part's own one after the first draw.
    fn joined(&self, by_mode: &[(usize, Images)], draws: &[usize]) -> Images {
        let first = (draws[0], by_mode[0].0);
        let image = |number: usize| {
            let draw = self.order.draws[number];
            let possible = by_mode.iter().filter(|(mode, _)| {
                if draw == draws[0] { *mode == first.1 } else { self.may_choose((draw, *mode), first) }
            });
            possible.filter_map(|(_, images)| images[number].clone()).reduce(|one, other| one.hull(&other))
        };
        (0..self.moves.len()).map(image).collect()
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
