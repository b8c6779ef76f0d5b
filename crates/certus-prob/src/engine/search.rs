//! Branch and bound over the initial states: cells of the initial set, each with an upper bound by unfolding; the worst ones are split.
//!
//! A. H. Land and A. G. Doig, 'An automatic method of solving discrete programming problems', Econometrica 28 (1960), with strong branching: halves in
//! every direction of the template are unfolded, all of a round in one batch, and the pair with the lowest bound is kept. As cells shrink to points the
//! unfolding becomes the exact tree of moves, so the bound converges to the true worst case wherever relaxations become exact.
//!
//! *Soundness.* The cells cover the initial set at all times, and each carries a bound that holds for all of its states.

use super::unfold::{Unfolding, unfold};
use super::{Budget, Errors};
use crate::abstraction::Abstraction;
use crate::template_polyhedron::Polyhedron;

/// When to be content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// A bound at or below this is good enough.
    pub enough: f64,
    /// So is a bound within this distance of a concrete start state's probability.
    pub gap: f64,
    /// So is a bound within this share of it.
    pub share: f64,
    /// Cells are not split beyond this many.
    pub most_cells: usize,
}

impl Default for Aim {
    fn default() -> Self {
        Aim { enough: 0.0, gap: 1e-6, share: 0.01, most_cells: 1 << 20 }
    }
}

/// A part of the initial set with a bound of the probability from any of its states.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The part.
    pub region: Polyhedron,
    /// An upper bound.
    pub upper: f64,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// How many cells there are.
    pub cells: usize,
    /// The best lower bound of the worst case.
    pub lower: f64,
    /// The best upper bound of it.
    pub upper: f64,
    /// How many regions were made in all.
    pub regions: usize,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Cells that cover the initial set.
    pub cells: Vec<Cell>,
    /// Where it ended.
    pub standing: Standing,
    /// What model errors runs may meet, as far as regions can tell.
    pub errors: Errors,
    /// An upper bound of the probability of a model error before the goal.
    pub error: f64,
}

/// Regions that are unfolded together.
const AT_ONCE: usize = 64;

/// Cells that are split in one round.
const PER_ROUND: usize = 16;

/// Notices when rounds no longer help.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stuck {
    narrowest: Option<f64>,
    rounds: usize,
}

/// So many rounds may pass without the gap becoming smaller by a hundredth.
const PATIENCE: usize = 150;

impl Stuck {
    /// Whether, after a round that left this gap, nothing more is to be expected.
    pub(crate) fn after(&mut self, gap: f64) -> bool {
        if self.narrowest.is_none_or(|narrowest| gap < 0.99 * narrowest) {
            (self.narrowest, self.rounds) = (Some(gap), 0);
        }
        self.rounds += 1;
        self.rounds > PATIENCE
    }
}

/// Searches from regions that hold all initial states; `lower` is a lower bound of the worst case that is known already.
#[tracing::instrument(level = "debug", name = "IMDP search", skip_all)]
pub fn search(
    abstraction: &Abstraction,
    initial: &[Polyhedron],
    lower: f64,
    options: &Unfolding,
    aim: &Aim,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Searched {
    let mut standing = Standing { upper: 1.0, lower, ..Standing::default() };
    let mut errors = Errors::default();
    let mut cells: Vec<Cell> = initial.iter().map(|region| Cell { region: region.clone(), upper: 1.0 }).collect();
    let mut failures: Vec<f64> = vec![1.0; cells.len()];
    let mut first = true;
    let mut stuck = Stuck::default();
    loop {
        standing.cells = cells.len();
        standing.upper = cells.iter().map(|cell| cell.upper).fold(0.0, f64::max);
        tracing::debug!(
            cells = standing.cells,
            regions = standing.regions,
            lower = standing.lower,
            upper = standing.upper
        );
        watch(standing);
        let content = aim.enough.max(standing.lower + aim.gap).max(standing.lower * (1.0 + aim.share));
        let done = !first
            && (standing.upper <= content
                || cells.len() >= aim.most_cells
                || stuck.after(standing.upper - standing.lower));
        if done || budget.stopped() {
            break;
        }
        let halves: Vec<(usize, usize, Polyhedron)> = if first {
            initial.iter().enumerate().map(|(cell, region)| (cell, 0, region.clone())).collect()
        } else {
            let mut worst: Vec<usize> = (0..cells.len()).filter(|&cell| cells[cell].upper > content).collect();
            worst.sort_by(|&a, &b| cells[b].upper.total_cmp(&cells[a].upper).then(a.cmp(&b)));
            worst.truncate(PER_ROUND);
            worst
                .iter()
                .flat_map(|&cell| halves(&cells[cell].region).into_iter().map(move |(p, r)| (cell, p, r)))
                .collect()
        };
        if halves.is_empty() {
            break;
        }
        let regions: Vec<Polyhedron> = halves.iter().map(|(.., region)| region.clone()).collect();
        let mut uppers: Vec<f64> = Vec::with_capacity(regions.len());
        let mut failing: Vec<f64> = Vec::with_capacity(regions.len());
        let mut complete = true;
        for chunk in regions.chunks(AT_ONCE) {
            let Some(unfolded) = unfold(abstraction, chunk, options, budget, &mut |_, _| {}) else { break };
            errors = errors.or(unfolded.errors);
            complete &= unfolded.complete;
            standing.regions += unfolded.regions.len();
            uppers.extend(unfolded.upper);
            failing.extend(unfolded.error);
        }
        if uppers.len() < regions.len() {
            complete = false;
            uppers.resize(regions.len(), 1.0);
            failing.resize(regions.len(), 1.0);
        }
        if first {
            cells.iter_mut().zip(&uppers).for_each(|(cell, &upper)| cell.upper = upper);
            failures = failing;
            first = false;
            continue;
        }
        let mut place = 0;
        while place < halves.len() {
            let cell = halves[place].0;
            let own = halves[place..].iter().take_while(|(other, ..)| *other == cell).count();
            let mut by_pair: Vec<(usize, f64, f64)> = Vec::new();
            for index in place..place + own {
                let (pair, upper) = (halves[index].1, uppers[index]);
                match by_pair.iter_mut().find(|(other, ..)| *other == pair) {
                    Some((_, largest, sum)) => (*largest, *sum) = (largest.max(upper), *sum + upper),
                    None => by_pair.push((pair, upper, upper)),
                }
            }
            // The smallest sum first: where both halves stay as bad as the whole, the wider direction wins, which comes first.
            let best =
                by_pair.iter().min_by(|a, b| (a.2, a.1).partial_cmp(&(b.2, b.1)).unwrap_or(std::cmp::Ordering::Equal));
            if let Some(&(best, ..)) = best {
                let (bound, failure) = (cells[cell].upper, failures[cell]);
                let mut kept = (place..place + own).filter(|&index| halves[index].1 == best);
                let child = |index: usize| Cell { region: halves[index].2.clone(), upper: uppers[index].min(bound) };
                if let Some(one) = kept.next() {
                    cells[cell] = child(one);
                    failures[cell] = failing[one].min(failure);
                }
                for other in kept {
                    cells.push(child(other));
                    failures.push(failing[other].min(failure));
                }
            }
            place += own;
        }
        if !complete {
            break;
        }
    }
    standing.cells = cells.len();
    standing.upper = cells.iter().map(|cell| cell.upper).fold(0.0, f64::max);
    let error = failures.into_iter().fold(0.0, f64::max);
    Searched { cells, standing, errors, error }
}

/// Halves across every direction, those of the relatively widest directions first.
fn halves(region: &Polyhedron) -> Vec<(usize, Polyhedron)> {
    let pairs = region.offsets().len() / 2;
    let mut found = Vec::new();
    for pair in 0..pairs {
        let width = region.width(pair);
        // A direction without room between its ends cannot be split.
        let scale = region.offsets()[2 * pair].abs().max(region.offsets()[2 * pair + 1].abs());
        if width > 1e-9 * scale.max(1e-300) {
            let place = region.offsets()[2 * pair] - width / 2.0;
            found.extend(region.split(pair, place).into_iter().flatten().map(|half| (pair, half)));
        }
    }
    found
}
