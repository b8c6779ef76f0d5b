//! Forward unfolding: the regions that runs can be in, step by step, as an interval MDP.
//!
//! E. Bacci and D. Parker, 'Verified probabilistic policies for deep reinforcement learning', NFM 2022. A region that may hold a goal state
//! counts as the goal. Any other is split into parts, by the plant's guards and where the policy's probabilities vary by more than is
//! allowed; which part the state is in is the scheduler's choice, where a move's probability lies in its interval is nature's.
//!
//! *Containment.* A region inside one that was seen at the same or an earlier step is not expanded: the larger one's probability, with at least
//! as many steps to go, is a bound. For weak until more steps make staying less likely, so only regions of the same step are merged.
//!
//! *Soundness.* Every concrete run is a run of the interval MDP for some scheduler and some nature, so its largest value bounds the
//! probability from above. *Departures:* guards split regions exactly, score differences replace single scores, and values are computed with
//! rounding accounted for (`imdp/robust_value_iteration.rs`).

use super::{Budget, Errors, finished, in_parallel};
use crate::abstraction::{Abstraction, Expansion, Part, Refining};
use crate::imdp::{Builder, Imdp, Objective, Players, robust_value_iteration};
use crate::template_polyhedron::Polyhedron;

/// How to unfold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unfolding {
    /// How many steps.
    pub steps: usize,
    /// When regions are split.
    pub refining: Option<Refining>,
    /// Whether regions inside others are merged with them.
    pub containment: bool,
    /// More regions than this are not made: what is left counts as the goal.
    pub most_regions: usize,
}

/// A region of the unfolding.
#[derive(Clone, Debug)]
pub struct Region {
    /// Where it is.
    pub polyhedron: Polyhedron,
    /// After how many steps.
    pub depth: usize,
    /// What it is.
    pub kind: Kind,
}

/// Where a move leads: its lower and upper probability, and the region.
pub type Led = (f64, f64, usize);

/// What a region is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The goal may hold in it, a run may meet a model error there, or nothing is known of it.
    Goal,
    /// All steps were made.
    Last,
    /// Inside of another region.
    Contained(usize),
    /// Its parts: the part's region, and its moves as (lower, upper, region).
    Parts(Vec<(Polyhedron, Vec<Led>)>),
}

/// An unfolded task.
pub struct Unfolded {
    /// All regions; the initial ones come first.
    pub regions: Vec<Region>,
    /// How many are initial.
    pub initial: usize,
    /// How many regions were inside others.
    pub contained: usize,
    /// What model errors runs may meet, as far as regions can tell.
    pub errors: Errors,
    /// Whether everything was expanded.
    pub complete: bool,
    /// The interval MDP: state i is region i.
    pub model: Imdp,
    /// An upper bound per initial region, of the probability from any of its states.
    pub upper: Vec<f64>,
    /// The same of the probability of a model error before the goal.
    pub error: Vec<f64>,
}

/// Unfolds from initial regions; nothing when stopped before the first step was made.
#[tracing::instrument(level = "debug", name = "IMDP unfolding", skip_all)]
pub fn unfold(
    abstraction: &Abstraction,
    initial: &[Polyhedron],
    options: &Unfolding,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(usize, usize),
) -> Option<Unfolded> {
    let mut regions: Vec<Region> = initial
        .iter()
        .map(|polyhedron| Region { polyhedron: polyhedron.clone(), depth: 0, kind: Kind::Last })
        .collect();
    let mut layer: Vec<usize> = (0..regions.len()).collect();
    // Regions that were expanded or are the goal, for the containment check.
    let mut seen: Vec<usize> = Vec::new();
    let (mut contained, mut errors, mut complete) = (0, Errors::default(), true);
    let mut erroneous: Vec<usize> = Vec::new();
    for depth in 0..=options.steps {
        watch(depth, regions.len());
        if abstraction.weak() {
            seen.clear();
        }
        let mut fresh: Vec<usize> = Vec::new();
        for &index in &layer {
            let own = &regions[index].polyhedron;
            let around =
                options.containment.then(|| seen.iter().find(|&&other| regions[other].polyhedron.contains(own)));
            match around.flatten() {
                Some(&other) => {
                    regions[index].kind = Kind::Contained(other);
                    contained += 1;
                }
                None => {
                    if options.containment {
                        seen.retain(|&other| !regions[index].polyhedron.contains(&regions[other].polyhedron));
                        seen.push(index);
                    }
                    fresh.push(index);
                }
            }
        }
        let polyhedra: Vec<Polyhedron> = fresh.iter().map(|&index| regions[index].polyhedron.clone()).collect();
        if depth == options.steps {
            let known = in_parallel(&polyhedra, 64, budget, &|batch| {
                batch.iter().map(|region| abstraction.classify(region)).collect()
            });
            match known {
                Some(known) => {
                    for (&index, known) in fresh.iter().zip(known) {
                        if let Some(Expansion::Failed(failure)) = known {
                            errors.note(failure);
                            erroneous.push(index);
                        }
                        regions[index].kind = if known.is_some() { Kind::Goal } else { Kind::Last };
                    }
                }
                None => {
                    complete = false;
                    fresh.iter().for_each(|&index| regions[index].kind = Kind::Goal);
                    erroneous.extend_from_slice(&fresh);
                }
            }
            break;
        }
        // The same batches whatever the number of threads, so that results are the same too.
        let batch = (fresh.len() / 8).clamp(1, 64);
        let expanded = if regions.len() > options.most_regions {
            None
        } else {
            in_parallel(&polyhedra, batch, budget, &|batch| abstraction.expand(batch, options.refining))
        };
        let Some(expanded) = expanded else {
            if depth == 0 {
                return None;
            }
            complete = false;
            fresh.iter().for_each(|&index| regions[index].kind = Kind::Goal);
            // Nothing is known of them, so not that there is no error either.
            erroneous.extend(fresh);
            break;
        };
        let mut after: Vec<usize> = Vec::new();
        for (&index, expansion) in fresh.iter().zip(expanded) {
            let parts = match expansion {
                Expansion::Goal => {
                    regions[index].kind = Kind::Goal;
                    continue;
                }
                Expansion::Failed(failure) => {
                    errors.note(failure);
                    erroneous.push(index);
                    regions[index].kind = Kind::Goal;
                    continue;
                }
                Expansion::Parts(parts) => parts,
            };
            let mut own: Vec<(Polyhedron, usize)> = Vec::new();
            let mut kept = Vec::new();
            for Part { region, moves } in parts {
                let moves = moves.into_iter().map(|successor| {
                    let known = own.iter().find(|(other, _)| *other == successor.to).map(|&(_, place)| place);
                    let place = known.unwrap_or_else(|| {
                        let next = Region { polyhedron: successor.to.clone(), depth: depth + 1, kind: Kind::Last };
                        regions.push(next);
                        after.push(regions.len() - 1);
                        own.push((successor.to, regions.len() - 1));
                        regions.len() - 1
                    });
                    (successor.lo, successor.hi, place)
                });
                kept.push((region, moves.collect::<Vec<_>>()));
            }
            regions[index].kind = Kind::Parts(kept);
        }
        layer = after;
    }
    tracing::trace!(target: "certus::count", regions_unfolded = regions.len());
    let model = model(&regions, initial.len())?;
    let goal: Vec<bool> = regions.iter().map(|region| region.kind == Kind::Goal).collect();
    let players = Players { scheduler: Objective::Max, nature: Objective::Max };
    let everything = vec![true; regions.len()];
    let bounds = |goal: &[bool]| -> Option<Vec<f64>> {
        let steps = options.steps as u64;
        let values = robust_value_iteration::until(
            &model,
            &everything,
            goal,
            steps,
            players,
            robust_value_iteration::Resources::default(),
        )?;
        Some((0..initial.len()).map(|index| values.upper[resolve(&regions, index)]).collect())
    };
    let upper = bounds(&goal)?;
    let error = if erroneous.is_empty() {
        vec![0.0; initial.len()]
    } else {
        let mut failed = vec![false; regions.len()];
        erroneous.iter().for_each(|&index| failed[index] = true);
        bounds(&failed)?
    };
    Some(Unfolded { regions, initial: initial.len(), contained, errors, complete, model, upper, error })
}

/// The region that stands for another one.
fn resolve(regions: &[Region], mut index: usize) -> usize {
    while let Kind::Contained(other) = regions[index].kind {
        index = other;
    }
    index
}

/// The interval MDP of some regions. A contained region stays in the model, without anything that leads to it. Nothing where bounds of
/// probabilities contradict each other, which is a fault.
fn model(regions: &[Region], initial: usize) -> Option<Imdp> {
    let mut builder = Builder::new();
    builder.declare("goal");
    for (index, region) in regions.iter().enumerate() {
        builder.state();
        if index < initial {
            builder.initial(index);
        }
        match &region.kind {
            Kind::Goal => builder.label("goal", index),
            Kind::Parts(parts) => {
                for (_, moves) in parts {
                    let moves: Vec<(usize, f64, f64)> =
                        moves.iter().map(|&(lo, hi, to)| (resolve(regions, to), lo, hi)).collect();
                    builder.choice(&feasible(moves));
                }
            }
            Kind::Last | Kind::Contained(_) => {}
        }
    }
    finished(builder)
}

/// Upper ends sum to one at least in exact arithmetic; where rounding took a step too much, it is given back.
fn feasible(mut moves: Vec<(usize, f64, f64)>) -> Vec<(usize, f64, f64)> {
    if let [only] = moves.as_mut_slice() {
        only.2 = 1.0;
    }
    moves
}
