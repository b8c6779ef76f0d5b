//! Sums of matrix products and a bias: the operator that canonical graphs are mostly made of.
//!
//! An affine node has any number of arguments; argument j is flattened to a vector xⱼ and the result is
//! b + Σⱼ Wⱼ xⱼ, arranged in the node's shape. Dense layers, convolutions of small size, sums, scalings, batch
//! normalisation and most of a linear plant all become one such node.
//!
//! *Rounding.* When two maps are fused, their product is rounded. [`RowError`] records, per row, how far any stored
//! weight and the bias may lie from the exact real value, so that the enclosure of a fused map still contains the
//! exact function it stands for.
//!
//! *Enclosure.* The two ends of a row are summed to nearest; the sum of n terms tᵢ computed in any order differs from
//! the exact one by at most γₙ Σ|tᵢ| with γₙ = n·u / (1 − n·u) (Higham, Accuracy and Stability, §3.1), and each
//! product by u|tᵢ| more. One bound of Σ|w||x| serves both ends.

use super::matrix::Matrix;
use super::{Arg, Arity, Operator};
use crate::interval::{add_up, mul_up, sub_down};
use crate::{GraphError, Interval, Real, Shape, element_count};

/// How far stored weights and biases may lie from the exact ones they stand for, per row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowError {
    /// For each row, a bound for every stored weight of it.
    pub weights: Vec<f64>,
    /// For each row, a bound for its bias.
    pub bias: Vec<f64>,
}

/// b + Σⱼ Wⱼ xⱼ.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    matrices: Vec<Matrix>,
    bias: Vec<f64>,
    shape: Shape,
    error: Option<RowError>,
}

/// Rows with at most so many terms, the bias among them, are enclosed term by term.
const FEW_TERMS: f64 = 5.0;

impl Affine {
    /// The map with these matrices (one per argument), this bias and this result shape.
    pub fn new(matrices: Vec<Matrix>, bias: Vec<f64>, shape: impl Into<Shape>) -> Result<Self, GraphError> {
        let shape = shape.into();
        let rows = element_count(&shape);
        if rows != Some(bias.len()) || matrices.iter().any(|m| Some(m.rows()) != rows) {
            let message = format!("matrices and bias do not have the rows of shape {shape:?}");
            return Err(GraphError::shape("Affine", message));
        }
        Ok(Affine { matrices, bias, shape, error: None })
    }

    /// A dense layer: `weights` row-major with one row per output.
    pub fn dense(weights: Vec<f64>, rows: usize, columns: usize, bias: Vec<f64>) -> Result<Self, GraphError> {
        if weights.len() != rows.saturating_mul(columns) {
            return Err(GraphError::Data { shape: vec![rows, columns], found: weights.len() });
        }
        Affine::new(vec![Matrix::dense(rows, columns, weights)], bias, vec![rows])
    }

    /// The same map with a bound on how far its numbers are from the exact ones.
    pub fn with_error(mut self, error: RowError) -> Self {
        let exact = error.weights.iter().chain(&error.bias).all(|&e| e == 0.0);
        self.error = (!exact).then_some(error);
        self
    }

    /// The same map with its result arranged in another shape of as many elements.
    pub fn reshaped(mut self, shape: impl Into<Shape>) -> Result<Self, GraphError> {
        let shape = shape.into();
        if element_count(&shape) != Some(self.bias.len()) {
            let message = format!("{:?} cannot be arranged as {shape:?}", self.shape);
            return Err(GraphError::shape("Affine", message));
        }
        self.shape = shape;
        Ok(self)
    }

    /// One matrix per argument.
    pub fn matrices(&self) -> &[Matrix] {
        &self.matrices
    }

    /// The bias, one entry per row.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How far the stored numbers may lie from the exact ones, if they were rounded.
    pub fn error(&self) -> Option<&RowError> {
        self.error.as_ref()
    }

    /// The bound for the weights of a row.
    pub fn weight_error(&self, row: usize) -> f64 {
        self.error.as_ref().map_or(0.0, |error| error.weights[row])
    }

    /// The bound for the bias of a row.
    pub fn bias_error(&self, row: usize) -> f64 {
        self.error.as_ref().map_or(0.0, |error| error.bias[row])
    }

    fn enclose_row(&self, row: usize, args: &[Arg<'_, Interval>]) -> Interval {
        let bias = self.bias[row];
        let (mut lo, mut hi, mut size) = (bias, bias, bias.abs());
        let (mut terms, mut spread) = (1.0, 0.0);
        let rounded = self.weight_error(row) > 0.0;
        for (matrix, arg) in self.matrices.iter().zip(args) {
            // A stored zero matters only where it may stand for something else.
            for (column, weight) in matrix.row(row).filter(|&(_, weight)| weight != 0.0 || rounded) {
                let x = arg.values[column];
                let (low, high) = if weight > 0.0 { (x.lo, x.hi) } else { (x.hi, x.lo) };
                lo += weight * low;
                hi += weight * high;
                let magnitude = x.magnitude();
                size += weight.abs() * magnitude;
                spread += magnitude;
                terms += 1.0;
            }
        }
        if self.error.is_none() && terms == 1.0 {
            return Interval::point(bias);
        }
        // One factor more than the sum needs covers the roundings of `size`, `spread` and this line itself.
        let unit = f64::EPSILON / 2.0;
        let gamma = (2.0 * terms + 8.0) * unit / (1.0 - (2.0 * terms + 8.0) * unit);
        let underflow = mul_up(terms, f64::MIN_POSITIVE);
        let rounding = add_up(mul_up(gamma, mul_up(size, 1.0 + 2.0 * gamma)), underflow);
        let stored = mul_up(self.weight_error(row), mul_up(spread, 1.0 + 2.0 * gamma));
        let slack = add_up(add_up(rounding, stored), self.bias_error(row));
        if terms <= FEW_TERMS || slack.is_nan() || lo.is_nan() || hi.is_nan() || !size.is_finite() {
            return self.enclose_row_carefully(row, args);
        }
        Interval::new(sub_down(lo, slack), add_up(hi, slack))
    }

    /// The slow way, for rows with infinite ends (one that is unbounded on one side may be finite on the other) and for short rows,
    /// where nothing is lost that is exact: a sum of two squares is not negative, and a clock shows whole numbers.
    fn enclose_row_carefully(&self, row: usize, args: &[Arg<'_, Interval>]) -> Interval {
        let rounded = self.weight_error(row) > 0.0;
        let mut sum = Interval::point(self.bias[row]).widen(self.bias_error(row));
        for (matrix, arg) in self.matrices.iter().zip(args) {
            for (column, weight) in matrix.row(row).filter(|&(_, weight)| weight != 0.0 || rounded) {
                let weight = Interval::point(weight).widen(self.weight_error(row));
                sum = sum + weight * arg.values[column];
            }
        }
        sum
    }
}

impl Operator for Affine {
    fn name(&self) -> &'static str {
        "Affine"
    }

    fn arity(&self) -> Arity {
        Arity::Exactly(self.matrices.len())
    }

    fn infer(&self, shapes: &[&[usize]]) -> Result<Shape, GraphError> {
        for (shape, matrix) in shapes.iter().zip(&self.matrices) {
            if element_count(shape) != Some(matrix.columns()) {
                let message = format!("a matrix with {} columns got shape {shape:?}", matrix.columns());
                return Err(GraphError::shape("Affine", message));
            }
        }
        Ok(self.shape.clone())
    }

    fn eval<T: Real>(&self, args: &[Arg<'_, T>], _shape: &[usize], batch: usize, out: &mut [T]) {
        for (row, target) in out.chunks_exact_mut(batch).enumerate() {
            target.fill(T::from_f64(self.bias[row]));
            for (matrix, arg) in self.matrices.iter().zip(args) {
                for (column, weight) in matrix.row(row) {
                    let weight = T::from_f64(weight);
                    for (y, &x) in target.iter_mut().zip(&arg.values[column * batch..][..batch]) {
                        *y = *y + weight * x;
                    }
                }
            }
        }
    }

    fn enclose(&self, args: &[Arg<'_, Interval>], _shape: &[usize], out: &mut [Interval]) {
        for (row, y) in out.iter_mut().enumerate() {
            *y = self.enclose_row(row, args);
        }
    }
}
