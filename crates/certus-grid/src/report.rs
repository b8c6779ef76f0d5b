//! The statistics of an exploration, and cells to be drawn.

use crate::grid::DEPTH;
use crate::product::Product;

/// The most cells that a report shows.
const MOST_SHOWN: usize = 4000;

/// A cell as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The step after which it was first met.
    pub step: usize,
    /// Its ends in each coordinate.
    pub ends: Vec<(f64, f64)>,
}

/// The statistics of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The names of the coordinates.
    pub names: Vec<String>,
    /// The widths of cells that were never halved.
    pub widths: Vec<f64>,
    /// Whether the policy was extracted.
    pub extracted: bool,
    /// States of the property's automaton.
    pub automaton: usize,
    /// Cells that can be reached.
    pub cells: usize,
    /// Cells that were bounded in all.
    pub expansions: u64,
    /// Bytes that the cells took.
    pub bytes: usize,
    /// How often the grid was refined.
    pub refinements: usize,
    /// Cells that were halved.
    pub halved: usize,
    /// How many cells were new after each step.
    pub layers: Vec<usize>,
    /// The ends of all cells that can be reached, in each coordinate.
    pub hull: Vec<(f64, f64)>,
    /// Some of the cells that can be reached: every `every`-th in the order in which they were met.
    pub shown: Vec<Shown>,
    /// The stride of `shown`.
    pub every: usize,
    /// The ends of the cells of the last abstract counterexample, in its order.
    pub candidate: Vec<Vec<(f64, f64)>>,
    /// Seconds spent on bounding cells.
    pub expanding: f64,
    /// Seconds spent on propagating automaton states.
    pub propagation: f64,
}

impl Report {
    pub(crate) fn new(
        product: &Product<'_>,
        (names, widths): (Vec<String>, &[f64]),
        extracted: bool,
        refinements: usize,
        candidate: &[u32],
    ) -> Report {
        let axes = product.grid.axes.len();
        let reached = |cell: &u32| product.states(*cell).iter().any(|&word| word != 0);
        let all = 0..product.cells.len() as u32;
        let cells = all.clone().filter(reached).count();
        let every = cells.div_ceil(MOST_SHOWN).max(1);
        // Places are compared, not the numbers that they stand for: there may be very many cells.
        let mut hull = vec![(u64::MAX, 0); axes];
        let mut shown = Vec::new();
        for (place, cell) in all.filter(reached).enumerate() {
            let key = product.cells.key(cell);
            for (axis, own) in hull.iter_mut().enumerate() {
                let (first, level) = product.grid.unpack(key, axis);
                *own = (own.0.min(first), own.1.max(first + (1 << (DEPTH - level))));
            }
            if place % every == 0 {
                let step = product.round(cell).unwrap_or(product.layers.len());
                shown.push(Shown { step, ends: product.ends(cell) });
            }
        }
        let hull = hull.into_iter().zip(&product.grid.axes).map(|((first, last), axis)| match first < last {
            true => axis.inside(axis.cut(first), axis.cut(last)),
            false => (f64::INFINITY, f64::NEG_INFINITY),
        });
        let hull = hull.collect();
        let seconds = product.seconds();
        Report {
            names,
            widths: widths.to_vec(),
            extracted,
            automaton: product.violations.automaton.states(),
            cells,
            expansions: product.expansions,
            bytes: product.bytes(),
            refinements,
            halved: product.cells.halvings(),
            layers: product.layers.clone(),
            hull,
            shown,
            every,
            candidate: candidate.iter().map(|&cell| product.ends(cell)).collect(),
            expanding: seconds.expanding,
            propagation: seconds.propagation,
        }
    }
}
