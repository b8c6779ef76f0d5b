//! Element-major tables of boxes, and the boxes of next states in the order in which they are found.

use certus_automata::system::Truths;
use certus_graph::eval::enclose;
use certus_graph::{Graph, GraphError, Interval};
use certus_solver::OutputForms;

/// Values that a table of one node may hold.
const TABLE_VALUES: usize = 1 << 13;

/// The most cells at once.
const LARGEST_BATCH: usize = 512;

/// How many numbers the largest node has.
pub(crate) fn widest_node(graph: &Graph) -> usize {
    graph.nodes().iter().map(|node| node.shape.iter().product()).max().unwrap_or(1)
}

/// How many boxes fit into a table.
pub(crate) fn fitting(widest: usize, columns: usize) -> usize {
    (TABLE_VALUES / (widest.max(1) * columns)).clamp(8, LARGEST_BATCH)
}

/// Boxes of next states in the order in which transitions were made.
#[derive(Default)]
pub(crate) struct Boxes {
    /// The cell of each, and what is known of the atoms there.
    pub(crate) owners: Vec<(u32, Truths)>,
    pub(crate) corners: Vec<u64>,
}

impl Boxes {
    /// The same by cells: how many each has, then all in order.
    pub(super) fn sorted(self, cells: usize, words: usize) -> (Vec<u8>, Vec<Truths>, Vec<u64>) {
        let mut counts = vec![0u8; cells];
        self.owners.iter().for_each(|&(cell, _)| counts[cell as usize] += 1);
        let mut begins: Vec<usize> =
            counts.iter().scan(0, |sum, &count| Some(std::mem::replace(sum, *sum + usize::from(count)))).collect();
        let mut truths = vec![Truths::default(); self.owners.len()];
        let mut images = vec![0; self.corners.len()];
        for (&(cell, own), corners) in self.owners.iter().zip(self.corners.chunks_exact(words)) {
            let at = &mut begins[cell as usize];
            truths[*at] = own;
            images[*at * words..(*at + 1) * words].copy_from_slice(corners);
            *at += 1;
        }
        (counts, truths, images)
    }
}

/// The forms of some cells only.
pub(super) fn picked(all: &OutputForms, cells: &[usize], count: usize) -> OutputForms {
    OutputForms {
        lower: columns(&all.lower, cells, count),
        upper: columns(&all.upper, cells, count),
        symbols: all.symbols,
        forms: columns(&all.forms, cells, count),
        errors: columns(&all.errors, cells, count),
    }
}

/// Some columns of an element-major table.
pub(crate) fn columns(table: &[f64], cells: &[usize], count: usize) -> Vec<f64> {
    if cells.len() == count {
        return table.to_vec();
    }
    table.chunks_exact(count).flat_map(|row| cells.iter().map(move |&cell| row[cell])).collect()
}

/// The column of one box in element-major tables.
#[derive(Clone, Copy)]
pub(crate) struct Slices<'t> {
    pub(crate) low: &'t [f64],
    pub(crate) high: &'t [f64],
    pub(crate) count: usize,
    pub(crate) place: usize,
}

impl Slices<'_> {
    pub(crate) fn range(&self, row: usize) -> Interval {
        let at = row * self.count + self.place;
        Interval::new(self.low[at], self.high[at])
    }
}

/// Whether a number that is 0 or 1 is known.
pub(crate) fn truth(range: Interval) -> Option<bool> {
    if range.lo > 0.0 {
        Some(true)
    } else if range.hi < 1.0 {
        Some(false)
    } else {
        None
    }
}

/// All outputs over one box, operator by operator.
pub(crate) fn enclose_slices(graph: &Graph, input: Slices<'_>) -> Result<Vec<Interval>, GraphError> {
    let mut row = 0;
    let mut arguments: Vec<Vec<Interval>> = Vec::new();
    for port in graph.inputs() {
        let elements = graph.elements(port.node);
        arguments.push((row..row + elements).map(|row| input.range(row)).collect());
        row += elements;
    }
    let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
    Ok(enclose(graph, &slices)?.concat())
}
