//! The transfer functions of affine forms: what each kind of node makes of the forms of its arguments.

use certus_graph::ops::{Arg, Operator};
use certus_graph::{Fault, Interval};

use super::{OutputForms, Shape, Values, middle};
use crate::bound::program::{Layer, Program};
use crate::bound::zonotope::band::band;
use crate::bound::{ROOM, gamma};
use crate::relaxation::Curve;

impl Shape {
    pub(super) fn new_values(self, elements: usize) -> Values {
        let cells = elements * self.boxes;
        Values {
            forms: vec![0.0; cells * self.columns],
            errors: vec![0.0; cells],
            lower: vec![f64::NEG_INFINITY; cells],
            upper: vec![f64::INFINITY; cells],
        }
    }

    /// Every cell, with where its form begins.
    pub(super) fn cells(self, count: usize) -> impl Iterator<Item = (usize, usize)> {
        // Divisions are slow where a cell takes a few operations.
        let Shape { boxes, columns } = self;
        (0..count / boxes.max(1)).flat_map(move |element| {
            (0..boxes).map(move |index| (element * boxes + index, element * columns * boxes + index))
        })
    }

    /// |centre| and Σ|slope| of every cell; sums are off by a share of themselves.
    pub(super) fn reach(self, values: &Values) -> (Vec<f64>, Vec<f64>) {
        let cells = values.errors.len();
        let (mut centres, mut radii) = (Vec::with_capacity(cells), vec![0.0; cells]);
        for (row, radii) in values.forms.chunks_exact(self.columns * self.boxes).zip(radii.chunks_exact_mut(self.boxes))
        {
            centres.extend(row[..self.boxes].iter().map(|centre| centre.abs()));
            for slopes in row[self.boxes..].chunks_exact(self.boxes) {
                radii.iter_mut().zip(slopes).for_each(|(radius, slope)| *radius += slope.abs());
            }
        }
        let above = 1.0 + gamma(self.columns);
        radii.iter_mut().for_each(|radius| *radius *= above);
        (centres, radii)
    }

    /// Ends become the intersection with the forms', and forms that say less than the ends give way to them.
    pub(super) fn settle(self, values: &mut Values) {
        for (at, row) in self.cells(values.errors.len()) {
            self.settle_cell(values, at, row);
        }
    }

    /// The same where nothing is known but the forms: whole rows at once.
    pub(super) fn settle_fresh(self, values: &mut Values) {
        let mut sizes = vec![0.0; self.boxes];
        for (element, row) in values.forms.chunks_exact(self.columns * self.boxes).enumerate() {
            let cells = element * self.boxes..(element + 1) * self.boxes;
            let (centres, slopes) = row.split_at(self.boxes);
            sizes.copy_from_slice(&values.errors[cells.clone()]);
            for slopes in slopes.chunks_exact(self.boxes) {
                sizes.iter_mut().zip(slopes).for_each(|(size, slope)| *size += slope.abs());
            }
            // One factor for the roundings of the sum, and room for those of both ends.
            let share = 1.0 + gamma(self.columns + 1);
            for (size, centre) in sizes.iter_mut().zip(centres) {
                *size = *size * share + 2.0 * f64::EPSILON * (centre.abs() + *size) + f64::MIN_POSITIVE;
            }
            let ends = values.lower[cells.clone()].iter_mut().zip(&mut values.upper[cells]);
            for ((low, high), (centre, size)) in ends.zip(centres.iter().zip(&sizes)) {
                (*low, *high) = (centre - size, centre + size);
            }
        }
        let unbounded = |at: usize, values: &Values| !(values.lower[at].is_finite() && values.upper[at].is_finite());
        for (at, row) in self.cells(values.errors.len()) {
            if unbounded(at, values) {
                (0..self.columns).for_each(|column| values.forms[row + column * self.boxes] = 0.0);
                (values.errors[at], values.lower[at], values.upper[at]) =
                    (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
            }
        }
    }

    pub(super) fn settle_cell(self, values: &mut Values, at: usize, row: usize) {
        let mut radius = 0.0;
        for column in 1..self.columns {
            radius += values.forms[row + column * self.boxes].abs();
        }
        // Sums of magnitudes are off by a share of themselves.
        let size = (radius * (1.0 + gamma(self.columns)) + values.errors[at]).next_up();
        let centre = values.forms[row];
        let bounded = size.is_finite() && centre.is_finite();
        if bounded {
            let (low, high) = ((centre - size).next_down(), (centre + size).next_up());
            let before = (values.lower[at], values.upper[at]);
            let (low, high) = (low.max(before.0), high.min(before.1));
            if low <= high {
                (values.lower[at], values.upper[at]) = (low, high);
            } else if before.0 <= before.1 {
                // Both are sound, so they meet.
                let form = (centre, size);
                let details = format!("a form gives {form:?} (centre, radius), the interval is {before:?}");
                Fault::raise("two enclosures of one value do not meet", details);
            }
        }
        let (middle, half) = middle(values.lower[at], values.upper[at]);
        if !(bounded && values.errors[at] <= half) {
            (0..self.columns).for_each(|column| values.forms[row + column * self.boxes] = 0.0);
            values.forms[row] = if half.is_finite() { middle } else { 0.0 };
            values.errors[at] = half;
        }
    }

    pub(super) fn input(self, offset: usize, lower: &[f64], upper: &[f64]) -> Values {
        let elements = lower.len() / self.boxes.max(1);
        let mut values = self.new_values(elements);
        values.lower.copy_from_slice(lower);
        values.upper.copy_from_slice(upper);
        for element in 0..elements {
            // Column 0 is the centre.
            let column = (offset + element + 1 < self.columns).then_some(offset + element + 1);
            for index in 0..self.boxes {
                let at = element * self.boxes + index;
                let (middle, half) = middle(lower[at], upper[at]);
                let row = element * self.columns * self.boxes + index;
                values.forms[row] = middle;
                match column.filter(|_| half.is_finite()) {
                    Some(column) => values.forms[row + column * self.boxes] = half,
                    None => values.errors[at] = half,
                }
            }
        }
        values
    }

    pub(super) fn given(self, offset: usize, elements: usize, given: &OutputForms) -> Values {
        let (boxes, width) = (self.boxes, self.columns * self.boxes);
        let cells = offset * boxes..(offset + elements) * boxes;
        let mut values = Values {
            forms: given.forms[offset * width..(offset + elements) * width].to_vec(),
            errors: given.errors[cells.clone()].to_vec(),
            lower: given.lower[cells.clone()].to_vec(),
            upper: given.upper[cells].to_vec(),
        };
        self.settle(&mut values);
        values
    }

    pub(super) fn affine(self, layer: &Layer, values: &[Values], elements: usize, scratch: &mut Vec<f64>) -> Values {
        let (boxes, width) = (self.boxes, self.columns * self.boxes);
        let mut own = self.new_values(elements);
        for (row, &bias) in own.forms.chunks_exact_mut(width).zip(&layer.bias) {
            row[..boxes].fill(bias);
        }
        let mut weight_slack = vec![0.0; boxes];
        let (mut longest, mut exact) = (0, vec![true; boxes]);
        for term in &layer.terms {
            let argument = &values[term.argument];
            term.weights.mul_acc(&argument.forms, &mut own.forms, width, scratch);
            let columns = term.weights.cols();
            longest = longest.max(columns);
            let factor = gamma(columns + layer.terms.len());
            let (centres, radii) = self.reach(argument);
            let errors: Vec<f64> = argument
                .errors
                .iter()
                .zip(centres.iter().zip(&radii))
                .map(|(error, (centre, radius))| error + factor * (centre + radius) * ROOM)
                .collect();
            for (element, errors) in errors.chunks_exact(boxes).enumerate() {
                let cells = element * boxes..(element + 1) * boxes;
                exact.iter_mut().zip(errors).for_each(|(exact, error)| *exact &= *error == 0.0);
                let sizes = centres[cells.clone()].iter().zip(&radii[cells]);
                for ((slack, error), (centre, radius)) in weight_slack.iter_mut().zip(errors).zip(sizes) {
                    *slack += term.weight_error * (error + centre + radius) * ROOM;
                }
            }
            term.magnitudes.mul_acc(&errors, &mut own.errors, boxes, scratch);
        }
        let share = 1.0 + gamma(longest + layer.terms.len());
        let sums = gamma(layer.terms.len() + 2);
        for (row, errors) in own.errors.chunks_exact_mut(boxes).enumerate() {
            let rest = sums * layer.bias[row].abs() + layer.bias_error[row];
            for (index, error) in errors.iter_mut().enumerate() {
                // Nothing was added to the bias where all arguments are zero.
                *error = match exact[index] {
                    true => layer.bias_error[row],
                    false => (*error * share + weight_slack[index] + rest) * ROOM + f64::MIN_POSITIVE,
                };
            }
        }
        self.settle_fresh(&mut own);
        own
    }

    pub(super) fn curve(self, curve: &Curve, argument: &Values, elements: usize) -> Values {
        let mut own = self.new_values(elements);
        for (at, row) in self.cells(argument.errors.len()) {
            let range = Interval::new(argument.lower[at], argument.upper[at]);
            // Most curves are straight over small boxes, and then nothing is rounded.
            if curve.hands_on(range) {
                for column in 0..self.columns {
                    own.forms[row + column * self.boxes] = argument.forms[row + column * self.boxes];
                }
                own.errors[at] = argument.errors[at];
                (own.lower[at], own.upper[at]) = (range.lo, range.hi);
                continue;
            }
            if curve.is_relu() && range.hi <= 0.0 {
                (own.lower[at], own.upper[at]) = (0.0, 0.0);
                continue;
            }
            let values = curve.enclose(range);
            if values.lo == values.hi {
                own.forms[row] = values.lo;
                (own.lower[at], own.upper[at]) = (values.lo, values.hi);
                continue;
            }
            let (slope, rest) = tangent(curve, range).unwrap_or_else(|| band(curve, range));
            let (middle, half) = middle(rest.lo, rest.hi);
            let mut reach = 0.0;
            if slope != 0.0 {
                for column in 0..self.columns {
                    let part = argument.forms[row + column * self.boxes];
                    own.forms[row + column * self.boxes] = slope * part;
                    reach += part.abs();
                }
            }
            own.forms[row] += middle;
            let rounding = 2.0 * f64::EPSILON * (slope.abs() * reach * (1.0 + gamma(self.columns)) + middle.abs());
            let tail = if slope == 0.0 { 0.0 } else { slope.abs() * argument.errors[at] + rounding };
            let constant = slope == 0.0 && half == 0.0;
            own.errors[at] = if constant { 0.0 } else { (tail + half) * ROOM + f64::MIN_POSITIVE };
            (own.lower[at], own.upper[at]) = (values.lo, values.hi);
            self.settle_cell(&mut own, at, row);
        }
        own
    }

    /// x·y = m·y + n·x − m·n + (x − m)(y − n) about the middles of both ranges.
    pub(super) fn product(self, x: &Values, y: &Values, elements: usize, square: bool) -> Values {
        let mut own = self.new_values(elements);
        for (at, row) in self.cells(own.errors.len()) {
            let (x_range, y_range) = (Interval::new(x.lower[at], x.upper[at]), Interval::new(y.lower[at], y.upper[at]));
            let values = if square { x_range.powi(2) } else { x_range * y_range };
            (own.lower[at], own.upper[at]) = (values.lo, values.hi);
            if values.lo == values.hi {
                own.forms[row] = values.lo;
                continue;
            }
            let ((m, x_half), (n, y_half)) = (middle(x_range.lo, x_range.hi), middle(y_range.lo, y_range.hi));
            let (mut x_reach, mut y_reach) = (0.0, 0.0);
            for column in 0..self.columns {
                let place = row + column * self.boxes;
                own.forms[place] = n * x.forms[place] + m * y.forms[place];
                x_reach += x.forms[place].abs();
                y_reach += y.forms[place].abs();
            }
            let remainder = if x_half == 0.0 || y_half == 0.0 { 0.0 } else { (x_half * y_half).next_up() };
            // A square's remainder is never negative.
            let (shift, half) = if square { (remainder / 2.0, (remainder / 2.0).next_up()) } else { (0.0, remainder) };
            own.forms[row] += shift - m * n;
            let size = n.abs() * x_reach + m.abs() * y_reach + (m * n).abs() + shift;
            let errors = n.abs() * x.errors[at] + m.abs() * y.errors[at] + half;
            let error = (errors + gamma(4 + self.columns) * size) * ROOM + f64::MIN_POSITIVE;
            // 0 · ∞ is no number, and then nothing is known but the range.
            own.errors[at] = if error.is_nan() { f64::INFINITY } else { error };
            self.settle_cell(&mut own, at, row);
        }
        own
    }

    pub(super) fn movement(self, sources: &[(usize, usize)], values: &[Values]) -> Values {
        let (boxes, width) = (self.boxes, self.columns * self.boxes);
        let mut own = Values::default();
        for &(argument, element) in sources {
            let from = &values[argument];
            own.forms.extend_from_slice(&from.forms[element * width..(element + 1) * width]);
            own.errors.extend_from_slice(&from.errors[element * boxes..(element + 1) * boxes]);
            own.lower.extend_from_slice(&from.lower[element * boxes..(element + 1) * boxes]);
            own.upper.extend_from_slice(&from.upper[element * boxes..(element + 1) * boxes]);
        }
        own
    }

    pub(super) fn opaque(self, program: &Program, node: usize, values: &[Values]) -> Values {
        let arguments = &program.graph.nodes()[node].inputs;
        let shape = &program.graph.nodes()[node].shape;
        let mut own = self.new_values(program.sizes[node]);
        let mut result = vec![Interval::ENTIRE; program.sizes[node]];
        for index in 0..self.boxes {
            let ranges: Vec<Vec<Interval>> = arguments
                .iter()
                .map(|id| {
                    let from = &values[id.index()];
                    let cells = (0..program.sizes[id.index()]).map(|element| element * self.boxes + index);
                    cells.map(|at| Interval::new(from.lower[at], from.upper[at])).collect()
                })
                .collect();
            let pairs = arguments.iter().zip(&ranges);
            let args: Vec<Arg<'_, Interval>> =
                pairs.map(|(&id, values)| Arg { shape: program.graph.shape(id), values }).collect();
            program.graph.nodes()[node].op.enclose(&args, shape, &mut result);
            for (element, range) in result.iter().enumerate() {
                let at = element * self.boxes + index;
                (own.lower[at], own.upper[at], own.errors[at]) = (range.lo, range.hi, f64::INFINITY);
            }
        }
        self.settle(&mut own);
        own
    }
}

/// A smooth curve about the middle of a narrow range: its slope there, and what its value may be beyond slope · x, by the largest second derivative.
fn tangent(curve: &Curve, range: Interval) -> Option<(f64, Interval)> {
    let (m, half) = middle(range.lo, range.hi);
    if !(half < 0.25 && m.abs() < 1e6) {
        return None;
    }
    let Curve::Activation(activation) = curve else { return None };
    let (second, value, slope) = activation.taylor(m, range.magnitude())?;
    // The slope is within 1e-14 of the exact one: each comes from a number below one in size that is off by a few units in its last place.
    let remainder = (second / 2.0 * half * half + 1e-14 * half) * ROOM + f64::MIN_POSITIVE;
    let rest = value - Interval::point(slope) * Interval::point(m);
    Some((slope, rest.widen(remainder)))
}
