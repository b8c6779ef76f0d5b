//! CROWN in interval arithmetic: linear lower bounds by backward substitution (Zhang et al., *Efficient Neural Network
//! Robustness Certification with General Activation Functions*, NeurIPS 2018), written for the audit alone.
//!
//! A linear expression over elements of all nodes is rewritten, node by node from the last to the first, until it
//! speaks of inputs only: affine nodes and movements are replaced by what they are, curves and products by a line
//! or plane on the safe side, anything else by its range.
//!
//! *Soundness.* Coefficients are intervals, and at every moment this holds: for each point of the subproblem there are reals
//! in the coefficients' intervals with which the expression as it stands is at most the one at the beginning. So no
//! analysis of rounding is needed. Where the sign of a coefficient is not certain, the range of the element stands in for
//! it. The constant is only needed from below, so it is one number that is rounded downwards. A coefficient that overflows
//! gives the bound up.

use std::ops::Range;

use certus_graph::Interval;
use certus_graph::interval::{add_down, add_up, mul_down, mul_up};
use certus_graph::ops::{Affine, Matrix};

use crate::gathered::Gathered;
use crate::network::{Kind, Network};
use crate::relaxation::{Side, Sides};

/// A linear expression over all elements, on its way to the inputs.
#[derive(Debug, Default)]
pub(crate) struct Substitution {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// For each node, whether any of its coefficients may differ from zero.
    active: Vec<bool>,
    constant: f64,
    gathered: Gathered,
}

impl Substitution {
    /// Starts anew with the expression 0.
    pub(crate) fn clear(&mut self, network: &Network) {
        for ends in [&mut self.lower, &mut self.upper] {
            ends.clear();
            ends.resize(network.elements(), 0.0);
        }
        self.active.clear();
        self.active.resize(network.layers.len(), false);
        self.constant = 0.0;
    }

    /// Adds coefficient · element.
    pub(crate) fn add(&mut self, network: &Network, element: usize, coefficient: Interval) {
        self.lower[element] = add_down(self.lower[element], coefficient.lo);
        self.upper[element] = add_up(self.upper[element], coefficient.hi);
        let node = network.layers.partition_point(|layer| layer.elements.end <= element);
        self.active[node] = true;
    }

    /// Adds a constant, given by a lower bound of it.
    pub(crate) fn add_constant(&mut self, least: f64) {
        self.constant = add_down(self.constant, least);
    }

    /// Rewrites the expression until it speaks of inputs only.
    pub(crate) fn run(&mut self, network: &Network, ranges: &[Interval], sides: &[Sides]) {
        for node in (0..network.layers.len()).rev() {
            if self.active[node] && self.constant > f64::NEG_INFINITY {
                self.replace(network, node, ranges, sides);
            }
        }
    }

    /// The coefficient of an element.
    fn coefficient(&self, element: usize) -> Interval {
        Interval { lo: self.lower[element], hi: self.upper[element] }
    }

    /// A lower bound of the coefficient's product with a number.
    fn least_product(coefficient: Interval, value: f64) -> f64 {
        mul_down(if value >= 0.0 { coefficient.lo } else { coefficient.hi }, value)
    }

    fn give_up(&mut self) {
        self.constant = f64::NEG_INFINITY;
    }

    fn replace(&mut self, network: &Network, node: usize, ranges: &[Interval], sides: &[Sides]) {
        let layer = &network.layers[node];
        if matches!(layer.kind, Kind::Input) {
            return;
        }
        for &argument in &layer.arguments {
            self.active[argument] = true;
        }
        if let Kind::Affine(affine) = &layer.kind {
            return self.replace_affine(network, node, affine, ranges);
        }
        for (index, element) in layer.elements.clone().enumerate() {
            let coefficient = self.coefficient(element);
            if coefficient == Interval::ZERO {
                continue;
            }
            if !coefficient.lo.is_finite() || !coefficient.hi.is_finite() {
                return self.give_up();
            }
            match &layer.kind {
                Kind::Move(sources) => self.add_product(sources[index], coefficient, 1.0),
                Kind::Curve { argument, .. } => match safe_side(coefficient, &sides[element]) {
                    Some(side) => {
                        self.add_product(argument + index, coefficient, side.slope);
                        self.add_constant(Self::least_product(coefficient, side.offset));
                    }
                    None => self.add_constant((coefficient * ranges[element]).lo),
                },
                Kind::Product { left, right } => match safe_side(coefficient, &sides[element]) {
                    Some(side) => {
                        self.add_product(left + index, coefficient, side.slope);
                        self.add_product(right + index, coefficient, side.other);
                        self.add_constant(Self::least_product(coefficient, side.offset));
                    }
                    None => self.add_constant((coefficient * ranges[element]).lo),
                },
                _ => self.add_constant((coefficient * ranges[element]).lo),
            }
        }
    }

    /// Adds coefficient · factor to the coefficient of an element.
    fn add_product(&mut self, element: usize, coefficient: Interval, factor: f64) {
        let (low, high) =
            if factor < 0.0 { (coefficient.hi, coefficient.lo) } else { (coefficient.lo, coefficient.hi) };
        self.lower[element] = add_down(self.lower[element], mul_down(low, factor));
        self.upper[element] = add_up(self.upper[element], mul_up(high, factor));
    }

    fn replace_affine(&mut self, network: &Network, node: usize, affine: &Affine, ranges: &[Interval]) {
        let layer = &network.layers[node];
        let start = layer.elements.start;
        for row in 0..layer.elements.len() {
            let coefficient = self.coefficient(start + row);
            if coefficient == Interval::ZERO {
                continue;
            }
            if !coefficient.lo.is_finite() || !coefficient.hi.is_finite() {
                return self.give_up();
            }
            let bias = Interval::point(affine.bias()[row]);
            let bias = if affine.bias_error(row) > 0.0 { bias.widen(affine.bias_error(row)) } else { bias };
            if bias.lo == bias.hi {
                self.add_constant(Self::least_product(coefficient, bias.lo));
            } else {
                self.add_constant((coefficient * bias).lo);
            }
        }
        for (matrix, &argument) in affine.matrices().iter().zip(&layer.arguments) {
            self.multiply(matrix, start, network.layers[argument].elements.clone());
        }
        if affine.error().is_some() {
            self.allow_for_weights(network, node, affine, ranges);
        }
    }

    /// Adds the coefficients of a node's elements, from `start` on, times a matrix to those of its argument.
    fn multiply(&mut self, matrix: &Matrix, start: usize, columns: Range<usize>) {
        let Matrix::Dense { columns: width, data, .. } = matrix else {
            for row in 0..matrix.rows() {
                let coefficient = self.coefficient(start + row);
                if coefficient != Interval::ZERO {
                    for (column, weight) in matrix.row(row).filter(|&(_, weight)| weight != 0.0) {
                        self.add_product(columns.start + column, coefficient, weight);
                    }
                }
            }
            return;
        };
        let (lower, upper) = (&mut self.lower, &mut self.upper);
        self.gathered.start(&lower[columns.clone()], &upper[columns.clone()]);
        for row in 0..matrix.rows() {
            let coefficient = Interval { lo: lower[start + row], hi: upper[start + row] };
            if coefficient != Interval::ZERO {
                self.gathered.add(coefficient, &data[row * width..(row + 1) * width]);
            }
        }
        self.gathered.finish(&mut lower[columns.clone()], &mut upper[columns]);
    }

    /// Stored weights may be off by the error of their row: the constant pays for that, by the arguments' sizes.
    fn allow_for_weights(&mut self, network: &Network, node: usize, affine: &Affine, ranges: &[Interval]) {
        let layer = &network.layers[node];
        for (matrix, &argument) in affine.matrices().iter().zip(&layer.arguments) {
            let values = &ranges[network.layers[argument].elements.clone()];
            for (row, element) in layer.elements.clone().enumerate() {
                let error = mul_up(self.coefficient(element).magnitude(), affine.weight_error(row));
                if error > 0.0 {
                    // Also a weight that is stored as zero may stand for another one.
                    for (column, _) in matrix.row(row) {
                        self.add_constant(-mul_up(error, values[column].magnitude()));
                    }
                }
            }
        }
    }

    /// The lower bound that is left as an expression over inputs: a coefficient for each, and the least constant.
    pub(crate) fn input_coefficient(&self, element: usize) -> Option<Interval> {
        let coefficient = self.coefficient(element);
        (coefficient.lo.is_finite() && coefficient.hi.is_finite()).then_some(coefficient)
    }

    /// The least value over a box of inputs, but for one input if it is named.
    pub(crate) fn minimum_without(&self, network: &Network, ranges: &[Interval], left_out: Option<usize>) -> f64 {
        let mut sum = self.constant;
        for &element in network.inputs.iter().filter(|&&element| Some(element) != left_out) {
            match self.input_coefficient(element) {
                Some(coefficient) => sum = add_down(sum, (coefficient * ranges[element]).lo),
                None => return f64::NEG_INFINITY,
            }
        }
        sum
    }
}

/// The line or plane that bounds a multiple from below, where the sign of the factor is certain.
fn safe_side(coefficient: Interval, sides: &Sides) -> Option<&Side> {
    if coefficient.lo >= 0.0 { Some(&sides.lower) } else { (coefficient.hi <= 0.0).then_some(&sides.upper) }
}
