//! A partition of the state space by hyperplanes: a binary space partition (H. Fuchs, Z. M. Kedem and B. F. Naylor, SIGGRAPH 1980) whose
//! leaves are cells. Finding the cells that a region meets descends only into the sides that it reaches.

use crate::template_polyhedron::Polyhedron;

/// A node of the tree.
enum Node {
    /// Low side first.
    Split {
        pair: usize,
        place: f64,
        low: u32,
        high: u32,
    },
    Cell(u32),
}

/// A tree of splits. Cells are numbered: the low half keeps the number of the cell that was split, the high half gets a new one.
pub(crate) struct SplitTree {
    nodes: Vec<Node>,
    /// For each cell its node.
    places: Vec<u32>,
    /// The cells.
    pub(crate) cells: Vec<Polyhedron>,
}

impl SplitTree {
    /// One cell.
    pub(crate) fn new(whole: Polyhedron) -> SplitTree {
        SplitTree { nodes: vec![Node::Cell(0)], places: vec![0], cells: vec![whole] }
    }

    /// Splits a cell across direction number 2·pair in its middle. The number of the new cell, or nothing if it cannot be split.
    pub(crate) fn split(&mut self, cell: usize, pair: usize) -> Option<usize> {
        let own = &self.cells[cell];
        self.split_at(cell, pair, own.offsets()[2 * pair] - own.width(pair) / 2.0)
    }

    /// Splits a cell across direction number 2·pair at a place.
    pub(crate) fn split_at(&mut self, cell: usize, pair: usize, place: f64) -> Option<usize> {
        let own = &self.cells[cell];
        if place >= own.offsets()[2 * pair] || place <= -own.offsets()[2 * pair + 1] {
            return None;
        }
        let [Some(low), Some(high)] = own.split(pair, place) else { return None };
        // Tightened halves of other templates may end before the split where nothing of the cell was there.
        debug_assert!(
            !own.template().is_box() || (low.offsets()[2 * pair], high.offsets()[2 * pair + 1]) == (place, -place),
            "the halves of a cell leave a gap at {place}"
        );
        debug_assert!(matches!(self.nodes[self.places[cell] as usize], Node::Cell(own) if own as usize == cell));
        let node = self.places[cell] as usize;
        let (first, second) = (self.nodes.len() as u32, self.nodes.len() as u32 + 1);
        self.nodes.push(Node::Cell(cell as u32));
        self.nodes.push(Node::Cell(self.cells.len() as u32));
        self.nodes[node] = Node::Split { pair, place, low: first, high: second };
        self.places[cell] = first;
        self.places.push(second);
        self.cells[cell] = low;
        self.cells.push(high);
        Some(self.cells.len() - 1)
    }

    /// Cells that cover what of a region is in the tree. A point on a split is in the cells of both sides, and one of them is enough: what only touches
    /// a cell from without has no need of it.
    pub(crate) fn meeting(&self, region: &Polyhedron, found: &mut Vec<u32>) {
        let mut pending = vec![0u32];
        while let Some(node) = pending.pop() {
            match self.nodes[node as usize] {
                Node::Cell(cell) => {
                    if self.cells[cell as usize].may_meet(region) {
                        found.push(cell);
                    }
                }
                Node::Split { pair, place, low, high } => {
                    let (lower, upper) = (-region.offsets()[2 * pair + 1], region.offsets()[2 * pair]);
                    if upper > place {
                        pending.push(high);
                    }
                    if lower < place || upper <= place {
                        pending.push(low);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::template_polyhedron::Template;

    #[test]
    fn cells_cover_and_are_found() {
        let template = Arc::new(Template::octagons(2));
        let mut tree = SplitTree::new(Polyhedron::of_box(&template, &[0.0, 0.0], &[1.0, 1.0]));
        for (cell, pair) in [(0, 0), (0, 2), (1, 1), (2, 3), (0, 1)] {
            tree.split(cell, pair).unwrap();
        }
        assert_eq!(tree.cells.len(), 6);
        for (i, j) in (0..=10).flat_map(|i| (0..=10).map(move |j| (f64::from(i) / 10.0, f64::from(j) / 10.0))) {
            let point = Polyhedron::of_box(&template, &[i, j], &[i, j]);
            let mut found = Vec::new();
            tree.meeting(&point, &mut found);
            let holds = |cell: &&u32| tree.cells[**cell as usize].contains_point(&[i, j]);
            assert!(found.iter().any(|cell| holds(&cell)), "{i} {j}");
        }
        // A cell meets nothing but itself.
        let mut own = Vec::new();
        let lower_left = Polyhedron::of_box(&template, &[0.0, 0.0], &[0.25, 0.5]);
        tree.meeting(&lower_left, &mut own);
        assert!(own.iter().all(|&cell| tree.cells[cell as usize].lower(0) < 0.25), "{own:?}");
    }
}
