//! The backward scheme: cells of a partition, each bounded once whatever the path that leads there, and values computed
//! backwards step by step.
//!
//! V₀ is one on cells that may hold a state of the goal and zero elsewhere. V of more steps is, for a cell, the best of its parts
//! (modes of the plant), of nature's probabilities, and of the cells that each move's image meets. So any number of steps costs one
//! bounding of each cell that can be reached.
//!
//! *Refinement.* From the initial cells with the largest values the best strategy is followed forwards. A cell that it visits with some
//! probability is charged with that probability times the cell's own loss: the difference between its value and what the same
//! step gives with the least favourable cell of each image, and with probabilities in the middle of their intervals. The cells with the largest
//! charges are cut.
//!
//! Without a bound on the steps all cells that can be reached at all are bounded, and one list of values serves every step (`endless.rs`).

mod endless;
mod refine;

use super::search::{Aim, Cell, Standing, Stuck};
use super::tree::CutTree;
use super::{Budget, Errors, in_parallel};
use crate::abstraction::{Abstraction, Expansion, Failure, Part};
use crate::domain::{HitAndRun, Polyhedron};
use certus_numerics::Random;

/// What is known of a cell.
#[derive(Clone, Debug)]
enum State {
    /// Not asked yet.
    Unknown,
    /// The goal may hold; whether it holds everywhere is not asked.
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

/// Runs that show where a partition is needed.
const RUNS: usize = 256;

struct Partition<'a> {
    abstraction: &'a Abstraction,
    initial: &'a Polyhedron,
    /// None for any number.
    steps: Option<usize>,
    most_cells: usize,
    tree: CutTree,
    states: Vec<State>,
    /// Widths above which cells are cut before they are asked, per pair of directions.
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

/// Without a bound on the steps, what is cut is judged by so many.
const LOOKED_AHEAD: usize = 64;

/// Bounds the probability from every state of the initial region, within so many steps or within any number; `lower` is a lower bound of the worst case that is known already.
pub fn partition(
    abstraction: &Abstraction,
    initial: &Polyhedron,
    lower: f64,
    steps: Option<usize>,
    aim: &Aim,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Partitioned {
    let mut standing = Standing { upper: 1.0, lower, ..Standing::default() };
    let mut own = Partition::new(abstraction, initial, steps, aim.most_cells, budget.seed);
    if !own.in_range(initial) {
        let cells = vec![Cell { region: initial.clone(), upper: 1.0 }];
        let errors = Errors { range: true, ..Errors::default() };
        return Partitioned { cells, standing, errors, error: 1.0, reached: Vec::new() };
    }
    let mut best: Vec<Cell> = vec![Cell { region: initial.clone(), upper: 1.0 }];
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
        initial: &'a Polyhedron,
        steps: Option<usize>,
        most_cells: usize,
        seed: u64,
    ) -> Self {
        let (lower, upper) = abstraction.range();
        let states = abstraction.states();
        let whole = Polyhedron::of_box(abstraction.template(), &lower[..states], &upper[..states]);
        let pairs = whole.offsets().len() / 2;
        let mut seen = initial.clone();
        let mut walk = HitAndRun::new(initial, Random::new(seed, 0xce11));
        let mut random = Random::new(seed, 0xce12);
        let mut points: Vec<Vec<f64>> = (0..RUNS).map(|_| walk.point()).collect();
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
        // Cuts along the sides of the initial set, so that no cell is partly in it.
        let mut tree = CutTree::new(whole);
        let mut inside = 0;
        for pair in 0..pairs {
            if let Some(above) = tree.cut_at(inside, pair, -initial.offsets()[2 * pair + 1]) {
                inside = above;
            }
            // The low side keeps its number.
            tree.cut_at(inside, pair, initial.offsets()[2 * pair]);
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

    fn cut(&mut self, cell: usize, pair: usize) -> bool {
        if self.tree.cut(cell, pair).is_none() {
            return false;
        }
        self.states[cell] = State::Unknown;
        self.states.push(State::Unknown);
        true
    }

    /// The pair of directions in which a cell is widest, measured by the coarsest widths.
    fn widest(&self, cell: usize) -> (usize, f64) {
        let own = &self.tree.cells[cell];
        let relative = |pair: usize| own.width(pair) / self.coarsest[pair];
        let pairs = 0..self.coarsest.len();
        pairs.map(|pair| (pair, relative(pair))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// The cells that a region may have points of, none of them wider than the coarsest.
    fn meeting(&mut self, region: &Polyhedron, found: &mut Vec<u32>) {
        loop {
            found.clear();
            self.tree.meeting(region, found);
            let mut wide = Vec::new();
            for &cell in found.iter() {
                let unknown = matches!(self.states[cell as usize], State::Unknown);
                let (pair, width) = self.widest(cell as usize);
                if unknown && width > 1.0 {
                    wide.push((cell as usize, pair));
                }
            }
            let mut changed = false;
            for (cell, pair) in wide {
                changed |= self.cut(cell, pair);
            }
            if !changed {
                return;
            }
        }
    }

    /// Cells that cover the initial set.
    fn initial_cells(&mut self) -> Vec<u32> {
        let mut found = Vec::new();
        self.meeting(self.initial, &mut found);
        found
    }

    /// Bounds every cell that can be reached in time, and links them. False when stopped on the way.
    fn reach(&mut self, budget: &Budget<'_>) -> bool {
        // New cells appear while images are looked up; a look-up is repeated until none does.
        loop {
            let before = self.tree.cells.len();
            let mut depth = vec![u32::MAX; before];
            let mut layer = self.initial_cells();
            let mut images: Vec<Option<Vec<Vec<Vec<u32>>>>> = Vec::new();
            for step in 0..=self.steps.map_or(u32::MAX - 1, |steps| steps as u32) {
                depth.resize(self.tree.cells.len(), u32::MAX);
                layer.retain(|&cell| depth[cell as usize] == u32::MAX);
                layer.sort_unstable();
                layer.dedup();
                if layer.is_empty() {
                    break;
                }
                if self.steps.is_none() && self.tree.cells.len() > self.most_cells {
                    return false;
                }
                layer.iter().for_each(|&cell| depth[cell as usize] = step);
                let unknown: Vec<u32> =
                    layer.iter().copied().filter(|&c| matches!(self.states[c as usize], State::Unknown)).collect();
                let regions: Vec<Polyhedron> = unknown.iter().map(|&c| self.tree.cells[c as usize].clone()).collect();
                let batch = (regions.len() / 8).clamp(1, 64);
                let own = self.abstraction;
                let Some(expanded) = in_parallel(&regions, batch, budget, &|batch| own.expand(batch, None)) else {
                    return false;
                };
                for (&cell, expansion) in unknown.iter().zip(expanded) {
                    self.states[cell as usize] = match expansion {
                        Expansion::Goal => State::Goal,
                        Expansion::Failed(failure) => State::Failed(failure),
                        Expansion::Parts(parts) => State::Parts(parts),
                    };
                }
                if self.steps.is_some_and(|steps| step == steps as u32) {
                    break;
                }
                let mut after = Vec::new();
                for (place, &cell) in layer.iter().enumerate() {
                    if place % 256 == 0 && budget.stopped() {
                        return false;
                    }
                    let parts = match &self.states[cell as usize] {
                        State::Parts(parts) => parts.clone(),
                        State::Failed(failure) => {
                            self.errors.note(*failure);
                            continue;
                        }
                        _ => continue,
                    };
                    let mut of_cell = Vec::with_capacity(parts.len());
                    for part in parts {
                        let mut of_part = Vec::with_capacity(part.moves.len());
                        for successor in &part.moves {
                            let mut found = Vec::new();
                            // What may leave the range has no cell to go to, and counts as reaching.
                            if self.in_range(&successor.to) {
                                self.meeting(&successor.to, &mut found);
                            } else {
                                self.errors.range = true;
                            }
                            after.extend_from_slice(&found);
                            of_part.push(found);
                        }
                        of_cell.push(of_part);
                    }
                    images.resize(images.len().max(cell as usize + 1), None);
                    images[cell as usize] = Some(of_cell);
                }
                layer = after;
            }
            depth.resize(self.tree.cells.len(), u32::MAX);
            self.depth = depth;
            if self.tree.cells.len() == before {
                images.resize(before, None);
                self.link(&images);
                return true;
            }
        }
    }

    fn link(&mut self, images: &[Option<Vec<Vec<Vec<u32>>>>]) {
        let mut links = Links { cells: Vec::new(), parts: Vec::new(), links: Vec::new(), targets: Vec::new() };
        for (cell, image) in images.iter().enumerate() {
            links.cells.push(links.parts.len() as u32);
            let (Some(image), State::Parts(parts)) = (image, &self.states[cell]) else { continue };
            for (part, image) in parts.iter().zip(image) {
                links.parts.push(links.links.len() as u32);
                for (successor, cells) in part.moves.iter().zip(image) {
                    let first = links.targets.len() as u32;
                    links.targets.extend_from_slice(cells);
                    let end = links.targets.len() as u32;
                    links.links.push(Link { lo: successor.lo, hi: successor.hi, first, end });
                }
            }
        }
        links.cells.push(links.parts.len() as u32);
        links.parts.push(links.links.len() as u32);
        self.links = links;
    }

    /// All values, for as many steps as are asked for. False when stopped on the way.
    fn evaluate(&mut self, budget: &Budget<'_>) -> bool {
        match self.steps {
            Some(steps) => self.iterate(steps, budget),
            None => self.iterate_endlessly(budget),
        }
    }

    /// A bound of the probability that a run from some cells meets a model error before the goal; nothing when stopped.
    fn error(&mut self, cells: &[u32], budget: &Budget<'_>) -> Option<f64> {
        if self.errors == Errors::default() {
            return Some(0.0);
        }
        self.only_errors = true;
        let done = self.evaluate(budget);
        self.only_errors = false;
        done.then(|| cells.iter().map(|&cell| self.whole()[cell as usize]).fold(0.0, f64::max))
    }

    fn fixed(&self, cell: usize) -> Option<f64> {
        match &self.states[cell] {
            State::Goal if self.only_errors => Some(0.0),
            State::Goal | State::Failed(_) => Some(1.0),
            State::Parts(_) => None,
            // Not reached in time, so never asked for.
            State::Unknown => Some(1.0),
        }
    }

    /// The value of a cell when no step is left.
    fn last(&self, cell: usize) -> f64 {
        match &self.states[cell] {
            // Nothing is chosen any more.
            State::Failed(failure) if !failure.is_of_state() => {
                f64::from(u8::from(self.abstraction.weak() && !self.only_errors))
            }
            State::Goal | State::Parts(_) if self.only_errors => 0.0,
            State::Parts(parts) => f64::from(u8::from(self.abstraction.weak() && !parts.is_empty())),
            State::Goal | State::Failed(_) | State::Unknown => 1.0,
        }
    }

    /// All values, step by step. False when stopped on the way.
    fn iterate(&mut self, steps: usize, budget: &Budget<'_>) -> bool {
        let cells = self.tree.cells.len();
        let fixed: Vec<Option<f64>> = (0..cells).map(|cell| self.fixed(cell)).collect();
        let mut values: Vec<Vec<f64>> = vec![(0..cells).map(|cell| self.last(cell)).collect()];
        let mut scratch = Vec::new();
        for step in 1..=steps {
            if budget.stopped() {
                return false;
            }
            let before = &values[step - 1];
            let mut now = vec![0.0; cells];
            for cell in 0..cells {
                now[cell] = match fixed[cell] {
                    Some(value) => value,
                    // Values of more steps than are left when the cell is first reached are not needed.
                    None if self.depth[cell] as usize + step > steps => 1.0,
                    None => self.value(cell, before, &mut scratch).0,
                };
            }
            debug_assert!(now.iter().all(|value| (0.0..=1.0).contains(value)), "a value is no probability");
            values.push(now);
        }
        self.values = values;
        true
    }

    fn image(&self, link: &Link, values: &[f64]) -> (f64, u32) {
        let targets = &self.links.targets[link.first as usize..link.end as usize];
        let mut best = (0.0, u32::MAX);
        for &target in targets {
            let value = values[target as usize];
            if value > best.0 || best.1 == u32::MAX {
                best = (value, target);
            }
        }
        // An image without a cell lies beyond all of them.
        if targets.is_empty() { (1.0, u32::MAX) } else { best }
    }

    /// The value of a cell, its best part, and the moves there as (value, probability, cell).
    fn value(&self, cell: usize, before: &[f64], scratch: &mut Vec<(f64, f64, u32)>) -> (f64, usize) {
        let parts = self.links.cells[cell] as usize..self.links.cells[cell + 1] as usize;
        let mut best = (0.0, parts.start);
        for part in parts {
            let value = self.part_value(part, before, scratch);
            if value > best.0 {
                best = (value, part);
            }
        }
        best
    }

    fn part_value(&self, part: usize, before: &[f64], scratch: &mut Vec<(f64, f64, u32)>) -> f64 {
        let links = &self.links.links[self.links.parts[part] as usize..self.links.parts[part + 1] as usize];
        scratch.clear();
        scratch.extend(links.iter().map(|link| {
            let (value, target) = self.image(link, before);
            (value, link.lo, target)
        }));
        best_distribution(scratch, links.iter().map(|link| link.hi - link.lo))
    }
}

/// The largest expectation over distributions with lower ends given (second entries) and room above them; the second entries become
/// the best probabilities. Rounded up.
fn best_distribution(moves: &mut [(f64, f64, u32)], room: impl Iterator<Item = f64>) -> f64 {
    use certus_graph::interval::{add_up, mul_up, sub_up};
    let mut left = 1.0f64;
    for (_, lo, _) in moves.iter() {
        left = sub_up(left, *lo);
    }
    debug_assert!(left > -1e-6, "lower ends of probabilities exceed one: {moves:?}");
    left = left.max(0.0);
    let room: Vec<f64> = room.map(f64::next_up).collect();
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by(|&a, &b| moves[b].0.total_cmp(&moves[a].0));
    let mut sum = 0.0;
    for place in order {
        let taken = left.min(room[place]);
        left = sub_up(left, taken).max(0.0);
        moves[place].1 = add_up(moves[place].1, taken).min(1.0);
        sum = add_up(sum, mul_up(moves[place].1, moves[place].0));
    }
    sum.min(1.0)
}
