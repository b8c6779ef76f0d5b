//! A partition of the state space by cuts: a binary tree whose leaves are cells.

use crate::domain::Polyhedron;

/// A node of the tree.
enum Node {
    /// Low side first.
    Cut {
        pair: usize,
        place: f64,
        low: u32,
        high: u32,
    },
    Cell(u32),
}

/// A tree of cuts. Cells are numbered; the cells on both sides of a cut keep the cut cell's number and get a new one.
pub(crate) struct CutTree {
    nodes: Vec<Node>,
    /// For each cell its node.
    places: Vec<u32>,
    /// The cells.
    pub(crate) cells: Vec<Polyhedron>,
}

impl CutTree {
    /// One cell.
    pub(crate) fn new(whole: Polyhedron) -> CutTree {
        CutTree { nodes: vec![Node::Cell(0)], places: vec![0], cells: vec![whole] }
    }

    /// Cuts a cell across direction number 2·pair in its middle. The number of the new cell, or nothing if it cannot be cut.
    pub(crate) fn cut(&mut self, cell: usize, pair: usize) -> Option<usize> {
        let own = &self.cells[cell];
        self.cut_at(cell, pair, own.offsets()[2 * pair] - own.width(pair) / 2.0)
    }

    /// Cuts a cell across direction number 2·pair at a place.
    pub(crate) fn cut_at(&mut self, cell: usize, pair: usize, place: f64) -> Option<usize> {
        let own = &self.cells[cell];
        if place >= own.offsets()[2 * pair] || place <= -own.offsets()[2 * pair + 1] {
            return None;
        }
        let [Some(low), Some(high)] = own.cut(pair, place) else { return None };
        let node = self.places[cell] as usize;
        let (first, second) = (self.nodes.len() as u32, self.nodes.len() as u32 + 1);
        self.nodes.push(Node::Cell(cell as u32));
        self.nodes.push(Node::Cell(self.cells.len() as u32));
        self.nodes[node] = Node::Cut { pair, place, low: first, high: second };
        self.places[cell] = first;
        self.places.push(second);
        self.cells[cell] = low;
        self.cells.push(high);
        Some(self.cells.len() - 1)
    }

    /// Cells that cover what of a region is in the tree. A point on a cut is in the cells of both sides, and one of them is enough: what only touches
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
                Node::Cut { pair, place, low, high } => {
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
    use crate::domain::Template;

    #[test]
    fn cells_cover_and_are_found() {
        let template = Arc::new(Template::octagons(2));
        let mut tree = CutTree::new(Polyhedron::of_box(&template, &[0.0, 0.0], &[1.0, 1.0]));
        for (cell, pair) in [(0, 0), (0, 2), (1, 1), (2, 3), (0, 1)] {
            tree.cut(cell, pair).unwrap();
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
