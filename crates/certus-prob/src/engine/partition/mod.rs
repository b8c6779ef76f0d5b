//! The backward scheme: an interval MDP over the cells of an adaptive partition.
//!
//! Abstraction to an interval MDP with refinement where the uncertainty is, as in M. Lahijanian, S. B. Andersson and C. Belta, 'Formal verification
//! and synthesis for discrete-time stochastic systems', IEEE TAC 60 (2015). Each cell is bounded once, whatever the paths that lead
//! there, and values are computed backwards step by step.
//!
//! *Idea.* V₀ is one on cells that may hold a goal state and zero elsewhere. V of more steps is, for a cell, the best of its parts (modes of
//! the plant), of nature's probabilities, and of the cells that each move's image meets. So any number of steps costs one bounding of
//! each cell that can be reached (`reach.rs`, `values.rs`). Without a bound on the steps one list of values serves every step (`unbounded.rs`).
//!
//! *Refinement* (`refine.rs`). From the initial cells with the largest values the best strategy is followed forwards. A cell that it visits
//! is charged with the probability of the visit times the cell's loss: the difference between its value and what the same step gives with
//! the least favourable cell of each image and probabilities in the middle of their intervals. The cells with the largest charges are split.
//!
//! *Soundness.* An image is linked with every cell that it may meet, and the worst of them counts, so values are upper bounds for any partition.

mod reach;
mod refine;
mod unbounded;
mod values;

use super::search::{Aim, Cell, Standing, Stuck};
use super::split_tree::SplitTree;
use super::{Budget, Errors};
use crate::abstraction::{Abstraction, Failure, Part};
use crate::template_polyhedron::{HitAndRun, Polyhedron};
use certus_numerics::Random;

/// What is known of a cell.
#[derive(Clone, Debug)]
enum State {
    /// Not expanded yet.
    Unknown,
    /// The goal may hold in some of its states.
    Goal,
    /// A run may meet a model error in it.
    Failed(Failure),
    /// Its parts.
    Parts(Vec<Part>),
}

/// A move in terms of cells: lower and upper probability, and the cells of its image, as a range of a list.
#[derive(Clone, Copy, Debug)]
struct Link {
    lo: f64,
    hi: f64,
    first: u32,
    end: u32,
}

/// The parts of the cells in terms of cells.
struct Links {
    /// For each cell its first part, and one more.
    cells: Vec<u32>,
    /// For each part its first link, and one more.
    parts: Vec<u32>,
    links: Vec<Link>,
    targets: Vec<u32>,
}

/// What a partition found.
pub struct Partitioned {
    /// The cells that cover the initial set, with their bounds. They may reach beyond it.
    pub cells: Vec<Cell>,
    /// Where it ended.
    pub standing: Standing,
    /// What model errors runs may meet, as far as regions can tell.
    pub errors: Errors,
    /// An upper bound of the probability of a model error before the goal.
    pub error: f64,
    /// All cells that were reached, with the bound for all steps.
    pub reached: Vec<Cell>,
}

/// Cells begin no wider than this share of what sampled runs visit.
const COARSEST: f64 = 1.0 / 12.0;

/// So many parts of the initial set are split off.
const MOST_PARTS: usize = 64;

/// Runs that show where a partition is needed.
const RUNS: usize = 256;

struct Partition<'a> {
    abstraction: &'a Abstraction,
    initial: &'a [Polyhedron],
    /// None for any number.
    steps: Option<usize>,
    most_cells: usize,
    tree: SplitTree,
    states: Vec<State>,
    /// Widths above which cells are split before they are expanded, per pair of directions.
    coarsest: Vec<f64>,
    links: Links,
    /// V for each number of steps, over cells; one for all without a bound on them.
    values: Vec<Vec<f64>>,
    /// The smallest number of steps after which a cell is reached.
    depth: Vec<u32>,
    errors: Errors,
    /// Whether values are those of a model error alone, not of the goal.
    only_errors: bool,
}

/// Without a bound on the steps, splits are judged by so many.
const LOOKED_AHEAD: usize = 64;

/// Bounds the probability from every state of the initial regions, within so many steps or within any number; `lower` is a lower bound of the worst case that is known already.
pub fn partition(
    abstraction: &Abstraction,
    initial: &[Polyhedron],
    lower: f64,
    steps: Option<usize>,
    aim: &Aim,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Partitioned {
    let mut standing = Standing { upper: 1.0, lower, ..Standing::default() };
    let mut own = Partition::new(abstraction, initial, steps, aim.most_cells, budget.seed);
    let unbounded = || -> Vec<Cell> { initial.iter().map(|part| Cell { region: part.clone(), upper: 1.0 }).collect() };
    if !initial.iter().all(|part| own.in_range(part)) {
        let cells = unbounded();
        let errors = Errors { range: true, ..Errors::default() };
        return Partitioned { cells, standing, errors, error: 1.0, reached: Vec::new() };
    }
    let mut best = unbounded();
    let mut stuck = Stuck::default();
    let mut error = 1.0;
    while own.reach(budget) && own.evaluate(budget) {
        standing.cells = own.tree.cells.len();
        let cells = own.initial_cells();
        let values = own.whole();
        let upper = cells.iter().map(|&cell| values[cell as usize]).fold(0.0, f64::max);
        if upper <= standing.upper {
            standing.upper = upper;
            best = cells
                .iter()
                .map(|&cell| Cell { region: own.tree.cells[cell as usize].clone(), upper: values[cell as usize] })
                .collect();
        }
        standing.regions = own.tree.cells.len();
        watch(standing);
        let content = aim.enough.max(standing.lower + aim.gap).max(standing.lower * (1.0 + aim.share));
        let done = upper <= content
            || own.tree.cells.len() >= aim.most_cells
            || stuck.after(standing.upper - standing.lower)
            || budget.stopped();
        if done || !own.refine(&cells, content) {
            let values = own.values.clone();
            error = own.error(&cells, budget).unwrap_or(standing.upper);
            own.values = values;
            break;
        }
        error = standing.upper;
    }
    let reached = (0..own.tree.cells.len())
        .filter(|&cell| own.depth.get(cell).is_some_and(|&depth| depth < u32::MAX))
        .filter_map(|cell| {
            let values = own.values.last()?;
            Some(Cell { region: own.tree.cells[cell].clone(), upper: *values.get(cell)? })
        })
        .collect();
    Partitioned { cells: best, standing, errors: own.errors, error, reached }
}

impl<'a> Partition<'a> {
    fn new(
        abstraction: &'a Abstraction,
        initial: &'a [Polyhedron],
        steps: Option<usize>,
        most_cells: usize,
        seed: u64,
    ) -> Self {
        let (lower, upper) = abstraction.range();
        let states = abstraction.states();
        let whole = Polyhedron::of_box(abstraction.template(), &lower[..states], &upper[..states]);
        let pairs = whole.offsets().len() / 2;
        let mut seen = initial.iter().skip(1).fold(initial[0].clone(), |all, part| all.hull(part));
        let mut walks: Vec<HitAndRun<'_>> = (0u64..)
            .zip(initial)
            .map(|(place, part)| HitAndRun::new(part, Random::new(seed, 0xce11 + (place << 32))))
            .collect();
        let mut random = Random::new(seed, 0xce12);
        let count = walks.len();
        let mut points: Vec<Vec<f64>> = (0..RUNS.max(count)).map(|run| walks[run % count].point()).collect();
        for _ in 0..steps.unwrap_or(LOOKED_AHEAD) {
            let variables: Vec<Vec<f64>> = points.iter().map(|point| abstraction.with_middles(point)).collect();
            let (results, probabilities) =
                (abstraction.sampled_steps(&variables), abstraction.sampled_probabilities(&variables));
            points = results
                .into_iter()
                .zip(probabilities)
                .filter(|((_, goal, _), _)| !goal)
                .map(|((mut next, ..), p)| next.swap_remove(Random::pick(p, random.unit())))
                .collect();
            for point in points.iter().filter(|point| point.iter().all(|x| x.is_finite())) {
                seen = seen.hull(&Polyhedron::of_box(abstraction.template(), point, point));
            }
        }
        let coarsest = (0..pairs).map(|pair| (seen.width(pair) * COARSEST).max(1e-9)).collect();
        // Splits along the sides of the parts of the initial set, so that no cell is partly in it.
        let mut tree = SplitTree::new(whole);
        for part in initial.iter().take(MOST_PARTS) {
            let mut met = Vec::new();
            tree.meeting(part, &mut met);
            for cell in met {
                let mut inside = cell as usize;
                for pair in 0..pairs {
                    if let Some(above) = tree.split_at(inside, pair, -part.offsets()[2 * pair + 1]) {
                        inside = above;
                    }
                    // The low side keeps its number.
                    tree.split_at(inside, pair, part.offsets()[2 * pair]);
                }
            }
        }
        Partition {
            abstraction,
            initial,
            steps,
            most_cells,
            states: vec![State::Unknown; tree.cells.len()],
            tree,
            coarsest,
            links: Links { cells: vec![0], parts: vec![0], links: Vec::new(), targets: Vec::new() },
            values: Vec::new(),
            depth: Vec::new(),
            errors: Errors::default(),
            only_errors: false,
        }
    }

    /// The values for all steps, over cells.
    fn whole(&self) -> &[f64] {
        self.values.last().map_or(&[], Vec::as_slice)
    }

    /// The values for so many steps, over cells.
    fn within(&self, steps: usize) -> &[f64] {
        if self.steps.is_some() { &self.values[steps] } else { self.whole() }
    }

    /// Whether a region is in the range that all cells together cover.
    fn in_range(&self, region: &Polyhedron) -> bool {
        self.abstraction.in_range(region)
    }

    fn split(&mut self, cell: usize, pair: usize) -> bool {
        if self.tree.split(cell, pair).is_none() {
            return false;
        }
        self.states[cell] = State::Unknown;
        self.states.push(State::Unknown);
        true
    }
}
