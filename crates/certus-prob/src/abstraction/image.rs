//! Where the moves of a region lead: template polyhedra around its next states.
//!
//! For each direction d of the template, a linear function above d·f(x) over the region's box is maximised over the polyhedron itself. Where a
//! mode of the plant is linear, these functions are computed once; elsewhere they are computed anew for each region (`subdivide.rs` splits
//! regions for which that is too loose). Images that seem to leave the declared ranges are intersected with plain interval
//! enclosures, which find a clamp exactly.

use certus_graph::Interval;
use certus_graph::eval::enclose;
use certus_graph::interval::add_down;
use certus_solver::LinearBound;

use super::Abstraction;
use crate::template_polyhedron::{Polyhedron, Rows, Support};

impl Abstraction {
    /// For every move and direction, minus that direction of the move's next state.
    pub(super) fn directions(&self) -> Vec<Vec<(usize, f64)>> {
        let own = |start: usize, direction: &[f64]| -> Vec<(usize, f64)> {
            let terms = direction.iter().enumerate().map(|(i, &value)| (start + i, -value));
            terms.filter(|&(_, value)| value != 0.0).collect()
        };
        (0..self.moves.len())
            .flat_map(|number| self.template.directions().iter().map(move |d| own(number * self.states, d)))
            .collect()
    }

    /// The rows of a polyhedron over all variables.
    pub(super) fn lift(&self, polyhedron: &Polyhedron) -> Rows {
        let rows = polyhedron.rows();
        if self.range.0.len() == self.states {
            return rows;
        }
        let (mut lower, mut upper) = polyhedron.bounds();
        lower.extend_from_slice(&self.range.0[self.states..]);
        upper.extend_from_slice(&self.range.1[self.states..]);
        let mut lifted = Rows::of_box(&lower, &upper);
        for index in 2 * self.states..rows.len() {
            let (normal, offset) = rows.row(index);
            lifted.push(&self.padded(normal), offset);
        }
        lifted
    }

    pub(super) fn padded(&self, direction: &[f64]) -> Vec<f64> {
        let mut padded = direction.to_vec();
        padded.resize(self.range.0.len(), 0.0);
        padded
    }

    /// The tightest polyhedron of the template around the states of some rows.
    pub(super) fn enclosure(&self, rows: &Rows) -> Option<Polyhedron> {
        let mut offsets = Vec::with_capacity(self.template.directions().len());
        for direction in self.template.directions() {
            match rows.maximum(&self.padded(direction)) {
                Support::AtMost(value) => offsets.push(value),
                Support::Empty => return None,
            }
        }
        // What the rows say themselves of the axes was not rounded.
        let (lower, upper) = rows.bounds();
        for i in 0..self.states {
            offsets[2 * i] = offsets[2 * i].min(upper[i]);
            offsets[2 * i + 1] = offsets[2 * i + 1].min(-lower[i]);
        }
        Some(Polyhedron::from_offsets(&self.template, offsets))
    }

    /// The box around the points of some rows.
    pub(super) fn bounds(&self, rows: &Rows) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = rows.bounds();
        if rows.len() > 2 * rows.dimension() {
            for i in 0..rows.dimension() {
                let mut axis = vec![0.0; rows.dimension()];
                axis[i] = 1.0;
                if let Support::AtMost(value) = rows.maximum(&axis) {
                    upper[i] = upper[i].min(value);
                }
                axis[i] = -1.0;
                if let Support::AtMost(value) = rows.maximum(&axis) {
                    lower[i] = lower[i].max(-value);
                }
                // Rounding may turn a flat region around by a step.
                if lower[i] > upper[i] {
                    (lower[i], upper[i]) = (upper[i], lower[i]);
                }
            }
        }
        (lower, upper)
    }

    /// The smallest value that a line's objective may have over some rows.
    pub(super) fn least(line: &LinearBound, rows: &Rows) -> f64 {
        if line.constant == f64::NEG_INFINITY {
            return line.bound;
        }
        let opposite: Vec<f64> = line.slopes.iter().map(|slope| -slope).collect();
        match rows.maximum(&opposite) {
            Support::AtMost(value) => add_down(line.constant, -value).max(line.bound),
            Support::Empty => line.bound,
        }
    }

    /// The next state of each move over some regions, each with its mode.
    pub(super) fn next(&self, regions: &[(usize, Rows)]) -> Vec<Vec<Polyhedron>> {
        let mut found: Vec<Vec<Polyhedron>> = vec![Vec::new(); regions.len()];
        for mode in 0..self.modes.modes.len() {
            let own: Vec<usize> = (0..regions.len()).filter(|&index| regions[index].0 == mode).collect();
            if own.is_empty() {
                continue;
            }
            match &self.images[mode] {
                Some(lines) => own.iter().for_each(|&index| found[index] = self.image(lines, &regions[index].1)),
                None => {
                    let rows: Vec<&Rows> = own.iter().map(|&index| &regions[index].1).collect();
                    let images = self.curved_images(mode, &rows);
                    own.iter().zip(images).for_each(|(&index, images)| found[index] = images);
                }
            }
            for &index in &own {
                self.tighten(mode, &regions[index].1, &mut found[index]);
            }
        }
        found
    }

    /// Whether a region is inside the declared ranges.
    pub(crate) fn in_range(&self, region: &Polyhedron) -> bool {
        (0..self.states).all(|i| region.lower(i) >= self.range.0[i] && region.upper(i) <= self.range.1[i])
    }

    /// Images that seem to leave the declared ranges, no larger than intervals say. Linear functions are rounded outwards; intervals find a clamp at
    /// the end of a range exactly, and sums as written where no digit is lost.
    fn tighten(&self, mode: usize, rows: &Rows, images: &mut [Polyhedron]) {
        let (lower, upper) = self.bounds(rows);
        let point: Vec<Interval> = lower.iter().zip(&upper).map(|(&low, &high)| Interval::new(low, high)).collect();
        for graph in [&self.next_graph, &self.modes.modes[mode].nexts] {
            if images.iter().all(|image| self.in_range(image)) {
                return;
            }
            let Ok(found) = enclose(graph, &[&point]) else { continue };
            for (image, found) in images.iter_mut().zip(found) {
                let mut offsets = image.offsets().to_vec();
                for (i, own) in found.iter().enumerate() {
                    offsets[2 * i] = offsets[2 * i].min(own.hi);
                    offsets[2 * i + 1] = offsets[2 * i + 1].min(-own.lo);
                }
                *image = Polyhedron::from_offsets(&self.template, offsets);
            }
        }
    }

    /// The next state of each move over regions of one mode, by one linearisation of each.
    pub(super) fn linearised(&self, mode: usize, regions: &[&Rows]) -> Vec<Vec<Polyhedron>> {
        let boxes: Vec<_> = regions.iter().map(|rows| self.bounds(rows)).collect();
        let lines = self.modes.modes[mode].next.below(&boxes, &self.directions());
        regions.iter().zip(&lines).map(|(rows, lines)| self.image(lines, rows)).collect()
    }

    /// The next state of each move, from lines over all moves and directions.
    fn image(&self, lines: &[LinearBound], rows: &Rows) -> Vec<Polyhedron> {
        let of_move = |lines: &[LinearBound]| {
            let offsets = lines.iter().map(|line| -Abstraction::least(line, rows)).collect();
            Polyhedron::from_offsets(&self.template, offsets)
        };
        lines.chunks_exact(self.template.directions().len()).map(of_move).collect()
    }
}
