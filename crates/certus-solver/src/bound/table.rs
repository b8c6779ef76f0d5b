//! Bounds of every node for a batch of boxes, and what backward substitution needs of them.

use certus_graph::Interval;

use super::program::{Program, Role};
use super::{ROOM, gamma};
use crate::relaxation::{Alpha, product_planes};

/// Debug builds check one in this many relaxations: whether the curve lies between both lines.
const RELAXATIONS_CHECKED: usize = 13;

/// A piece of a node's value that a branch of the search fixed: the value of an element lies in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) node: usize,
    pub(crate) element: usize,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// Lines (or planes, for products) below and above each element of a node, element-major over the boxes.
#[derive(Clone, Default)]
pub(crate) struct RelaxationTable {
    pub(crate) lower_slope: Vec<f64>,
    pub(crate) lower_offset: Vec<f64>,
    pub(crate) upper_slope: Vec<f64>,
    pub(crate) upper_offset: Vec<f64>,
    /// Slopes in the second argument of a product; empty for curves.
    pub(crate) lower_second: Vec<f64>,
    pub(crate) upper_second: Vec<f64>,
    /// The size of what is added up where a line is used: slopes times magnitudes plus offset.
    pub(crate) size: Vec<f64>,
    /// For each box, the sum of the magnitudes of what lines with a slope read.
    pub(crate) spread: Vec<f64>,
    /// Whether some offset is infinite.
    pub(crate) unbounded: bool,
}

impl RelaxationTable {
    /// Whether both lines are the identity (true) or zero (false) at a cell.
    #[inline]
    pub(crate) fn straight(&self, at: usize) -> Option<bool> {
        let slope = self.lower_slope[at];
        let plain = slope == self.upper_slope[at] && self.lower_offset[at] == 0.0 && self.upper_offset[at] == 0.0;
        if plain && slope == 1.0 {
            Some(true)
        } else if plain && slope == 0.0 {
            Some(false)
        } else {
            None
        }
    }
}

/// Bounds of every node for a batch of boxes, element-major: element i of box b at `i * boxes + b`.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    pub(crate) boxes: usize,
    pub(crate) lower: Vec<Vec<f64>>,
    pub(crate) upper: Vec<Vec<f64>>,
    /// Boxes in which some element has no value left.
    pub(crate) empty: Vec<bool>,
    /// Relaxations of curves and products; nothing for other nodes.
    pub(crate) relaxations: Vec<RelaxationTable>,
    /// How many multiplications refinement took, and how many intervals and affine forms before it.
    pub(crate) effort: u64,
    pub(crate) forward_effort: u64,
    /// For each affine node and term, box by box: Σⱼ maxᵢ|Wᵢⱼ||xⱼ| and Σⱼ|xⱼ|, for rounding errors.
    pub(crate) reach: Vec<Vec<(Vec<f64>, Vec<f64>)>>,
}

impl Bounds {
    pub(crate) fn new(nodes: usize, boxes: usize) -> Self {
        Bounds {
            boxes,
            lower: vec![Vec::new(); nodes],
            upper: vec![Vec::new(); nodes],
            empty: vec![false; boxes],
            relaxations: vec![RelaxationTable::default(); nodes],
            effort: 0,
            forward_effort: 0,
            reach: vec![Vec::new(); nodes],
        }
    }

    pub(crate) fn interval(&self, node: usize, element: usize, index: usize) -> Interval {
        let at = element * self.boxes + index;
        Interval::new(self.lower[node][at], self.upper[node][at])
    }

    /// the intersection with another enclosure of the same value. Both are sound where the box's constraints hold, so where they do not
    /// meet nothing satisfies the constraints.
    pub(crate) fn tighten(&mut self, node: usize, element: usize, index: usize, other: Interval) {
        let at = element * self.boxes + index;
        let lower = self.lower[node][at].max(other.lo);
        let upper = self.upper[node][at].min(other.hi);
        if lower > upper {
            self.empty[index] = true;
            return;
        }
        self.lower[node][at] = lower;
        self.upper[node][at] = upper;
    }

    /// Whether lower bounds are nowhere above upper ones, except where a box is empty.
    pub(crate) fn are_ordered(&self) -> bool {
        self.lower.iter().zip(&self.upper).all(|(lower, upper)| {
            lower
                .iter()
                .zip(upper)
                .enumerate()
                .all(|(at, (low, high))| self.empty[at % self.boxes.max(1)] || low <= high)
        })
    }

    /// max |x| over the elements of a node, for each box.
    pub(crate) fn magnitudes(&self, node: usize) -> Vec<f64> {
        let mut largest = vec![0.0f64; self.boxes];
        for table in [&self.lower[node], &self.upper[node]] {
            for row in table.chunks_exact(self.boxes.max(1)) {
                row.iter().zip(&mut largest).for_each(|(value, largest)| *largest = largest.max(value.abs()));
            }
        }
        largest
    }

    /// Prepares a node for substitution, once its arguments' bounds are final: relaxations with their default α, and
    /// what rounding needs.
    pub(crate) fn prepare(&mut self, program: &Program, node: usize) {
        match &program.roles[node] {
            Role::Curve(..) | Role::Product(..) => self.set_relaxations(program, node),
            Role::Affine(layer) => {
                self.reach[node] =
                    layer.terms.iter().map(|term| self.reach_of(term.argument, &term.column_maxima)).collect();
            }
            _ => {}
        }
    }

    fn reach_of(&self, argument: usize, maxima: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let boxes = self.boxes;
        let (mut reach, mut spread) = (vec![0.0; boxes], vec![0.0; boxes]);
        for (element, &maximum) in maxima.iter().enumerate().filter(|&(_, &maximum)| maximum != 0.0) {
            let rows = element * boxes..(element + 1) * boxes;
            let ends = self.lower[argument][rows.clone()].iter().zip(&self.upper[argument][rows]);
            for ((low, high), (reach, spread)) in ends.zip(reach.iter_mut().zip(&mut spread)) {
                let magnitude = low.abs().max(high.abs());
                *reach += maximum * magnitude;
                *spread += magnitude;
            }
        }
        (reach, spread)
    }

    /// Relaxations of a curve or product with their default α.
    pub(crate) fn set_relaxations(&mut self, program: &Program, node: usize) {
        let (boxes, elements) = (self.boxes, program.sizes[node]);
        let cells = elements * boxes;
        let mut table = std::mem::take(&mut self.relaxations[node]);
        for column in [
            &mut table.lower_slope,
            &mut table.lower_offset,
            &mut table.upper_slope,
            &mut table.upper_offset,
            &mut table.size,
        ] {
            column.resize(cells, 0.0);
        }
        table.unbounded = false;
        table.spread.clear();
        table.spread.resize(boxes, 0.0);
        match &program.roles[node] {
            Role::Curve(curve, argument) => {
                let (lower, upper) = (&self.lower[*argument], &self.upper[*argument]);
                for at in 0..cells {
                    let range = Interval::new(lower[at], upper[at]);
                    let lines = curve.default_relaxation(range);
                    debug_assert!(
                        at % RELAXATIONS_CHECKED != 0 || lines.encloses_at_ends(curve, range),
                        "{curve:?} over {range} is not between {lines:?}"
                    );
                    table.lower_slope[at] = lines.lower_slope;
                    table.lower_offset[at] = lines.lower_offset;
                    table.upper_slope[at] = lines.upper_slope;
                    table.upper_offset[at] = lines.upper_offset;
                    table.size[at] = line_size(lines.lower_slope, lines.lower_offset, range).max(line_size(
                        lines.upper_slope,
                        lines.upper_offset,
                        range,
                    ));
                    if lines.lower_slope != 0.0 || lines.upper_slope != 0.0 {
                        table.spread[at % boxes] += range.magnitude();
                    }
                    table.unbounded |= !table.size[at].is_finite();
                }
            }
            Role::Product(left, right) => {
                table.lower_second.resize(cells, 0.0);
                table.upper_second.resize(cells, 0.0);
                for at in 0..cells {
                    let x = Interval::new(self.lower[*left][at], self.upper[*left][at]);
                    let y = Interval::new(self.lower[*right][at], self.upper[*right][at]);
                    let planes = product_planes(x, y, Alpha { lower: 0.5, upper: 0.5 });
                    [table.lower_slope[at], table.lower_second[at], table.lower_offset[at]] = planes.lower;
                    [table.upper_slope[at], table.upper_second[at], table.upper_offset[at]] = planes.upper;
                    let size = |plane: [f64; 3]| line_size(plane[0], plane[2], x) + line_size(plane[1], 0.0, y);
                    table.size[at] = size(planes.lower).max(size(planes.upper));
                    for (slopes, range) in [(0, x), (1, y)] {
                        if planes.lower[slopes] != 0.0 || planes.upper[slopes] != 0.0 {
                            table.spread[at % boxes] += range.magnitude();
                        }
                    }
                    table.unbounded |= !table.size[at].is_finite();
                }
            }
            _ => {}
        }
        self.relaxations[node] = table;
    }

    /// Sets the slope α of one line (or plane) of a cell, below or above.
    pub(crate) fn set_slope(&mut self, program: &Program, node: usize, at: usize, below: bool, share: f64) {
        let interval = |argument: usize| Interval::new(self.lower[argument][at], self.upper[argument][at]);
        let index = at % self.boxes.max(1);
        match &program.roles[node] {
            Role::Curve(curve, argument) => {
                let range = interval(*argument);
                let line = curve.line(range, below, share);
                let table = &mut self.relaxations[node];
                if table.lower_slope[at] == 0.0 && table.upper_slope[at] == 0.0 && line.slope != 0.0 {
                    table.spread[index] += range.magnitude();
                }
                match below {
                    true => (table.lower_slope[at], table.lower_offset[at]) = (line.slope, line.offset),
                    false => (table.upper_slope[at], table.upper_offset[at]) = (line.slope, line.offset),
                }
                table.size[at] = line_size(table.lower_slope[at], table.lower_offset[at], range).max(line_size(
                    table.upper_slope[at],
                    table.upper_offset[at],
                    range,
                ));
                table.unbounded |= !table.size[at].is_finite();
            }
            Role::Product(left, right) => {
                let (x, y) = (interval(*left), interval(*right));
                let planes = product_planes(x, y, Alpha { lower: share, upper: share });
                let table = &mut self.relaxations[node];
                let plane = if below { planes.lower } else { planes.upper };
                let before = [
                    (table.lower_slope[at], table.upper_slope[at], plane[0], x),
                    (table.lower_second[at], table.upper_second[at], plane[1], y),
                ];
                for (lower, upper, slope, range) in before {
                    if lower == 0.0 && upper == 0.0 && slope != 0.0 {
                        table.spread[index] += range.magnitude();
                    }
                }
                match below {
                    true => [table.lower_slope[at], table.lower_second[at], table.lower_offset[at]] = plane,
                    false => [table.upper_slope[at], table.upper_second[at], table.upper_offset[at]] = plane,
                }
                let lower = line_size(table.lower_slope[at], table.lower_offset[at], x)
                    + line_size(table.lower_second[at], 0.0, y);
                let upper = line_size(table.upper_slope[at], table.upper_offset[at], x)
                    + line_size(table.upper_second[at], 0.0, y);
                table.size[at] = lower.max(upper);
                table.unbounded |= !table.size[at].is_finite();
            }
            _ => {}
        }
    }

    /// A table in which box i is box `picks[i]` of this one.
    pub(crate) fn pick(&self, picks: &[usize]) -> Bounds {
        let gather = |table: &Vec<f64>| -> Vec<f64> {
            table.chunks_exact(self.boxes.max(1)).flat_map(|row| picks.iter().map(move |&index| row[index])).collect()
        };
        let lines = |table: &RelaxationTable| RelaxationTable {
            lower_slope: gather(&table.lower_slope),
            lower_offset: gather(&table.lower_offset),
            upper_slope: gather(&table.upper_slope),
            upper_offset: gather(&table.upper_offset),
            lower_second: gather(&table.lower_second),
            upper_second: gather(&table.upper_second),
            size: gather(&table.size),
            spread: gather(&table.spread),
            unbounded: table.unbounded,
        };
        Bounds {
            boxes: picks.len(),
            lower: self.lower.iter().map(gather).collect(),
            upper: self.upper.iter().map(gather).collect(),
            empty: picks.iter().map(|&index| self.empty[index]).collect(),
            relaxations: self.relaxations.iter().map(lines).collect(),
            effort: 0,
            forward_effort: 0,
            reach: self.reach.iter().map(|terms| terms.iter().map(|(a, b)| (gather(a), gather(b))).collect()).collect(),
        }
    }
}

fn line_size(slope: f64, offset: f64, range: Interval) -> f64 {
    if slope == 0.0 { offset.abs() } else { slope.abs() * range.magnitude() + offset.abs() }
}

/// The rounding error of one use of a line, as a factor of its size.
pub(crate) fn line_error(elements: usize) -> f64 {
    gamma(elements) * ROOM
}
