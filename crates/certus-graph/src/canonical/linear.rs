//! Linear operators as affine maps, and the fusion of affine maps.
//!
//! A [`LinearForm`] is an affine map whose matrices are kept by rows while it is assembled. Substituting the form of an
//! argument, W·(A x + b) = (W A) x + W b, is one step; it is repeated while some argument is itself affine, a movement
//! or a constant, and while [`pays`] says that the result is not larger than the parts.
//!
//! *Rounding.* Each entry of W A is a sum of products. A single product that a fused multiply-add shows to be exact
//! adds no error; otherwise the entry is wrong by at most γ Σ|w||a|, plus what W and A were wrong by already. A row
//! keeps the largest of its entries' errors.

use std::collections::BTreeMap;

use super::Builder;
use crate::interval::{add_up, mul_up};
use crate::ops::{Affine, Binary, Matrix, Movement, Op, Operator, ReduceKind, RowError};
use crate::shape::for_each_offset;
use crate::{GraphError, NodeId, Shape, shape};

/// Convolutions with more weights than this, seen as matrices, stay convolutions.
const LARGEST_UNROLLED_CONVOLUTION: usize = 1 << 20;

/// Fusions up to this many entries always pay: such matrices come from plants, where a node costs more than an entry.
const SMALL: usize = 64;

type Row = Vec<(usize, f64)>;

/// A matrix by rows: each a list of (column, value), sorted by column, without duplicates.
#[derive(Clone, Default)]
struct Rows {
    columns: usize,
    rows: Vec<Row>,
}

impl Rows {
    fn stored(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// The stored entries of a matrix; zeros only where they may stand for something else.
    fn of(matrix: &Matrix, affine: &Affine) -> Rows {
        let entries = |row: usize| {
            let rounded = affine.weight_error(row) > 0.0;
            matrix.row(row).filter(|&(_, value)| value != 0.0 || rounded).collect()
        };
        let mut rows: Vec<Row> = (0..matrix.rows()).map(entries).collect();
        rows.iter_mut().for_each(|row| row.sort_by_key(|&(column, _)| column));
        Rows { columns: matrix.columns(), rows }
    }

    /// The column of each row, if every row is one number of the argument, and no two are the same.
    fn selected(&self) -> Option<Vec<usize>> {
        let mut seen = vec![false; self.columns];
        let columns = self.rows.iter().map(|row| match row.as_slice() {
            &[(column, 1.0)] => (!std::mem::replace(&mut seen[column], true)).then_some(column),
            _ => None,
        });
        columns.collect()
    }

    /// The same entries in other columns; that rounds nothing.
    fn renamed(&self, columns: &[usize], count: usize) -> Rows {
        let in_order = columns.windows(2).all(|pair| pair[0] < pair[1]);
        let rows = self.rows.iter().map(|row| {
            let mut row: Row = row.iter().map(|&(column, value)| (columns[column], value)).collect();
            if !in_order {
                row.sort_unstable_by_key(|&(column, _)| column);
            }
            row
        });
        Rows { columns: count, rows: rows.collect() }
    }

    fn into_matrix(self) -> Matrix {
        let dense = self.stored() * 4 > self.rows.len() * self.columns;
        let matrix = Matrix::sparse(self.columns, self.rows);
        if dense { Matrix::dense(matrix.rows(), matrix.columns(), matrix.to_dense()) } else { matrix }
    }
}

/// An affine map under construction.
pub(super) struct LinearForm {
    terms: Vec<(NodeId, Rows)>,
    bias: Vec<f64>,
    weight_error: Vec<f64>,
    bias_error: Vec<f64>,
    shape: Shape,
}

/// A sum with a bound on its rounding error.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    size: f64,
    products: f64,
    inexact: bool,
    carried: f64,
}

impl Sum {
    fn start(value: f64, error: f64) -> Sum {
        Sum { value, size: value.abs(), products: 1.0, inexact: false, carried: error }
    }

    fn add_product(&mut self, a: f64, b: f64, error: f64) {
        let product = a * b;
        let sum = self.value + product;
        let exact = a.mul_add(b, -product) == 0.0
            && (product.abs() > 1e-280 || a == 0.0 || b == 0.0)
            && (sum - self.value == product && sum - product == self.value);
        self.inexact |= !exact;
        self.value = sum;
        self.size += product.abs();
        self.products += 1.0;
        self.carried = add_up(self.carried, error);
    }

    fn error(&self) -> f64 {
        if !self.inexact {
            return self.carried;
        }
        let gamma = (2.0 * self.products + 8.0) * f64::EPSILON;
        add_up(self.carried, add_up(mul_up(gamma, self.size), mul_up(self.products, f64::MIN_POSITIVE)))
    }
}

impl LinearForm {
    fn exact(terms: Vec<(NodeId, Rows)>, bias: Vec<f64>, shape: Shape) -> Self {
        let zeros = vec![0.0; bias.len()];
        LinearForm { terms, bias, weight_error: zeros.clone(), bias_error: zeros, shape }
    }

    fn of_affine(affine: &Affine, args: &[NodeId]) -> Self {
        let terms = args.iter().copied().zip(affine.matrices().iter().map(|matrix| Rows::of(matrix, affine))).collect();
        let rows = affine.bias().len();
        LinearForm {
            terms,
            bias: affine.bias().to_vec(),
            weight_error: (0..rows).map(|row| affine.weight_error(row)).collect(),
            bias_error: (0..rows).map(|row| affine.bias_error(row)).collect(),
            shape: affine.shape().to_vec(),
        }
    }

    /// Replaces the term at `index` by `inner`, the form of its argument.
    fn substitute(&mut self, index: usize, inner: &LinearForm) {
        let (_, outer) = self.terms.remove(index);
        let mut bias: Vec<Sum> = self.bias.iter().zip(&self.bias_error).map(|(&b, &e)| Sum::start(b, e)).collect();
        for (row, sum) in bias.iter_mut().enumerate() {
            let own = self.weight_error[row];
            for &(column, weight) in &outer.rows[row] {
                let (b, e) = (inner.bias[column], inner.bias_error[column]);
                if b == 0.0 && e == 0.0 {
                    continue;
                }
                let error = add_up(mul_up(weight.abs(), e), mul_up(own, add_up(b.abs(), e)));
                sum.add_product(weight, b, error);
            }
        }
        self.bias = bias.iter().map(|sum| sum.value).collect();
        self.bias_error = bias.iter().map(Sum::error).collect();
        let mut errors = self.weight_error.clone();
        for (node, matrix) in &inner.terms {
            let product = self.product(&outer, matrix, inner, &mut errors);
            self.add_term(*node, product, &mut errors);
        }
        self.weight_error = errors;
    }

    fn product(&self, outer: &Rows, matrix: &Rows, inner: &LinearForm, errors: &mut [f64]) -> Rows {
        if let Some(columns) = matrix.selected().filter(|_| inner.weight_error.iter().all(|&error| error == 0.0)) {
            return outer.renamed(&columns, matrix.columns);
        }
        let rows = outer.rows.iter().enumerate().map(|(row, entries)| {
            let own = self.weight_error[row];
            let mut sums: BTreeMap<usize, Sum> = BTreeMap::new();
            for &(middle, weight) in entries {
                let inner_error = inner.weight_error[middle];
                for &(column, value) in &matrix.rows[middle] {
                    let cross = mul_up(own, add_up(value.abs(), inner_error));
                    let error = add_up(mul_up(weight.abs(), inner_error), cross);
                    sums.entry(column).or_default().add_product(weight, value, error);
                }
            }
            finish_row(sums, &mut errors[row])
        });
        Rows { columns: matrix.columns, rows: rows.collect() }
    }

    /// Adds a term, joined with the one that reads the same node.
    fn add_term(&mut self, node: NodeId, matrix: Rows, errors: &mut [f64]) {
        let Some((_, existing)) = self.terms.iter_mut().find(|(other, _)| *other == node) else {
            self.terms.push((node, matrix));
            return;
        };
        for (row, (target, added)) in existing.rows.iter_mut().zip(matrix.rows).enumerate() {
            let carried = errors[row];
            let mut sums: BTreeMap<usize, Sum> =
                target.iter().map(|&(column, value)| (column, Sum::start(value, carried))).collect();
            for (column, value) in added {
                sums.entry(column).or_default().add_product(1.0, value, carried);
            }
            *target = finish_row(sums, &mut errors[row]);
        }
    }

    fn into_affine(self) -> Result<(Affine, Vec<NodeId>), GraphError> {
        let used = self.terms.into_iter().filter(|(_, matrix)| matrix.stored() > 0);
        let (nodes, matrices): (Vec<NodeId>, Vec<Rows>) = used.unzip();
        let matrices = matrices.into_iter().map(Rows::into_matrix).collect();
        let error = RowError { weights: self.weight_error, bias: self.bias_error };
        Ok((Affine::new(matrices, self.bias, self.shape)?.with_error(error), nodes))
    }
}

/// The entries of a row, without exact zeros; `error` is raised to the largest error of an entry.
fn finish_row(sums: BTreeMap<usize, Sum>, error: &mut f64) -> Row {
    let mut row = Vec::with_capacity(sums.len());
    for (column, sum) in sums {
        let own = sum.error();
        if sum.value != 0.0 || own > 0.0 {
            *error = error.max(own);
            row.push((column, sum.value));
        }
    }
    row
}

impl Builder {
    /// The affine node for a linear operator, fused with what it reads; `None` for an operator that is not linear.
    pub(super) fn linear(&mut self, op: &Op, args: &[NodeId]) -> Result<Option<NodeId>, GraphError> {
        let form = match op {
            Op::Affine(affine) if !self.any_substitutable(affine, args) => {
                return self.add(op.clone(), args).map(Some);
            }
            Op::Slice(_) | Op::Gather(_) | Op::Transpose(_) if !self.is_private_affine(args[0]) => None,
            Op::Concat(_) if !args.iter().all(|&arg| self.is_private_affine(arg) || self.is_constant(arg)) => None,
            Op::Slice(m) => Some(self.movement(m, args)?),
            Op::Gather(m) => Some(self.movement(m, args)?),
            Op::Transpose(m) => Some(self.movement(m, args)?),
            Op::Concat(m) => Some(self.movement(m, args)?),
            _ => self.form_of(op, args)?,
        };
        let Some(mut form) = form else { return Ok(None) };
        self.fuse(&mut form)?;
        let (affine, nodes) = form.into_affine()?;
        if nodes.is_empty() {
            return self.fold(&Op::Affine(affine), &[]).map(Some);
        }
        self.add(Op::Affine(affine), &nodes).map(Some)
    }

    fn is_private_affine(&self, id: NodeId) -> bool {
        matches!(self.target.node(id).op, Op::Affine(_)) && self.readers(id) <= 1
    }

    fn any_substitutable(&self, affine: &Affine, args: &[NodeId]) -> bool {
        let repeated = (1..args.len()).any(|index| args[..index].contains(&args[index]));
        repeated
            || args.iter().zip(affine.matrices()).any(|(&arg, matrix)| self.pays(arg, matrix.rows(), matrix.stored()))
    }

    /// Whether to substitute an argument into a matrix with this many rows and stored entries.
    fn pays(&self, arg: NodeId, rows: usize, stored: usize) -> bool {
        let node = self.target.node(arg);
        match &node.op {
            Op::Constant(_) => true,
            Op::Affine(_) if self.barriers.contains(&arg) => false,
            Op::Affine(inner) => {
                let columns: usize = node.inputs.iter().map(|&input| self.target.elements(input)).sum();
                let inner_stored: usize = inner.matrices().iter().map(Matrix::stored).sum();
                // Diagonal and selection matrices keep the other's sparsity; a product never has more than this.
                let widest = inner.matrices().iter().map(|m| m.stored().div_ceil(m.rows().max(1))).sum::<usize>();
                let fused = (rows * columns).min(stored * widest.max(1));
                fused <= SMALL || (fused <= stored + inner_stored && self.readers(arg) <= 1)
            }
            Op::Reshape(_) => true,
            Op::Slice(_) | Op::Gather(_) | Op::Transpose(_) | Op::Concat(_) => {
                let sources: usize = node.inputs.iter().map(|&input| self.target.elements(input)).sum();
                sources <= 2 * self.target.elements(arg) + 8
            }
            _ => false,
        }
    }

    /// Substitutes arguments while that pays.
    fn fuse(&mut self, form: &mut LinearForm) -> Result<(), GraphError> {
        let rows = form.bias.len();
        while let Some(index) = form.terms.iter().position(|(node, matrix)| self.pays(*node, rows, matrix.stored())) {
            let arg = form.terms[index].0;
            let node = self.target.node(arg);
            let inner = match self.form_of(&node.op, &node.inputs)? {
                Some(inner) => inner,
                None => return Err(GraphError::shape("Affine", "a node was taken for linear that is not")),
            };
            form.substitute(index, &inner);
        }
        Ok(())
    }

    /// The operator as an affine map of its arguments, if it is one.
    fn form_of(&self, op: &Op, args: &[NodeId]) -> Result<Option<LinearForm>, GraphError> {
        let shapes: Vec<&[usize]> = args.iter().map(|&arg| self.target.shape(arg)).collect();
        let result = match op {
            Op::Constant(constant) => {
                let data = constant.value().data();
                let mut form = LinearForm::exact(Vec::new(), data.to_vec(), constant.value().shape().to_vec());
                form.bias_error = (0..data.len()).map(|index| constant.radius(index)).collect();
                return Ok(Some(form));
            }
            _ => op.infer(&shapes)?,
        };
        Ok(match op {
            Op::Affine(affine) => Some(joined(LinearForm::of_affine(affine, args))),
            Op::Add(_) => Some(self.weighted_sum(&[(args[0], 1.0), (args[1], 1.0)], result)),
            Op::Sub(_) => Some(self.weighted_sum(&[(args[0], 1.0), (args[1], -1.0)], result)),
            Op::Neg(_) => Some(self.weighted_sum(&[(args[0], -1.0)], result)),
            Op::Mul(mul) => match (self.is_constant(args[0]), self.is_constant(args[1])) {
                (_, true) => self.scaled(args[0], args[1], result, |x, c| mul.interval(x, c)),
                (true, _) => self.scaled(args[1], args[0], result, |x, c| mul.interval(x, c)),
                _ => None,
            },
            Op::Div(div) if self.is_constant(args[1]) => {
                self.scaled(args[0], args[1], result, |x, c| div.interval(x, c))
            }
            Op::Reduce(reduce) if matches!(reduce.kind, ReduceKind::Sum | ReduceKind::Mean) => {
                let count = reduce.count(shapes[0]) as f64;
                let (weight, error) = match reduce.kind {
                    ReduceKind::Mean => (1.0 / count, f64::EPSILON / count),
                    _ => (1.0, 0.0),
                };
                let mut rows = vec![Row::new(); result.iter().product()];
                for (element, target) in reduce.targets(shapes[0]).into_iter().enumerate() {
                    rows[target].push((element, weight));
                }
                Some(self.single(args[0], rows, result, error))
            }
            Op::AveragePool(pool) => {
                let divisors = pool.divisors(shapes[0], &result);
                let mut rows = vec![Row::new(); divisors.len()];
                pool.for_each_covered(shapes[0], &result, |row, element| {
                    rows[row].push((element, 1.0 / divisors[row] as f64));
                });
                rows.iter_mut().for_each(|row| row.sort_by_key(|&(column, _)| column));
                Some(self.single(args[0], rows, result, f64::EPSILON))
            }
            Op::Conv(conv) => {
                let positions: usize = result[2..].iter().product();
                let stored = conv.weight().len().saturating_mul(positions).saturating_mul(result[0]);
                if stored > LARGEST_UNROLLED_CONVOLUTION {
                    return Ok(None);
                }
                let mut rows = vec![Row::new(); result.iter().product()];
                conv.for_each_entry(shapes[0], &result, |row, column, weight| rows[row].push((column, weight)));
                rows.iter_mut().for_each(|row| row.sort_by_key(|&(column, _)| column));
                let mut form = self.single(args[0], rows, result, 0.0);
                form.bias =
                    (0..form.bias.len()).map(|row| conv.bias()[row / positions.max(1) % conv.bias().len()]).collect();
                Some(form)
            }
            Op::Reshape(m) => Some(self.movement(m, args)?),
            Op::Slice(m) => Some(self.movement(m, args)?),
            Op::Gather(m) => Some(self.movement(m, args)?),
            Op::Transpose(m) => Some(self.movement(m, args)?),
            Op::Concat(m) => Some(self.movement(m, args)?),
            _ => None,
        })
    }

    fn single(&self, arg: NodeId, rows: Vec<Row>, shape: Shape, error: f64) -> LinearForm {
        let count = rows.len();
        let mut form =
            LinearForm::exact(vec![(arg, Rows { columns: self.target.elements(arg), rows })], vec![0.0; count], shape);
        form.weight_error = vec![error; count];
        form
    }

    /// Σ weight·argument, each broadcast to the result.
    fn weighted_sum(&self, args: &[(NodeId, f64)], result: Shape) -> LinearForm {
        let terms = args.iter().map(|&(arg, weight)| {
            let mut rows = Vec::new();
            let strides = shape::broadcast_strides(self.target.shape(arg), &result);
            for_each_offset(&result, &strides, |offset| rows.push(vec![(offset, weight)]));
            (arg, Rows { columns: self.target.elements(arg), rows })
        });
        let count = result.iter().product();
        joined(LinearForm::exact(terms.collect(), vec![0.0; count], result))
    }

    /// An argument scaled elementwise by a constant; `None` if that is undefined somewhere.
    fn scaled(
        &self,
        arg: NodeId,
        constant: NodeId,
        result: Shape,
        scale: impl Fn(crate::Interval, crate::Interval) -> crate::Interval,
    ) -> Option<LinearForm> {
        let Op::Constant(factor) = &self.target.node(constant).op else { return None };
        let mut factors = Vec::new();
        let strides = shape::broadcast_strides(self.target.shape(constant), &result);
        for_each_offset(&result, &strides, |offset| {
            factors.push(scale(crate::Interval::ONE, factor.interval(offset)));
        });
        if factors.iter().any(|f| !f.lo.is_finite() || !f.hi.is_finite()) {
            return None;
        }
        let middle = |f: &crate::Interval| if f.lo == f.hi { f.lo } else { f.lo / 2.0 + f.hi / 2.0 };
        let errors = factors.iter().map(|f| (*f - crate::Interval::point(middle(f))).magnitude()).collect();
        let mut rows = Vec::with_capacity(factors.len());
        let strides = shape::broadcast_strides(self.target.shape(arg), &result);
        for_each_offset(&result, &strides, |offset| rows.push(vec![(offset, middle(&factors[rows.len()]))]));
        let mut form = self.single(arg, rows, result, 0.0);
        form.weight_error = errors;
        Some(form)
    }

    /// A movement as a matrix of ones.
    fn movement(&self, movement: &impl Movement, args: &[NodeId]) -> Result<LinearForm, GraphError> {
        let shapes: Vec<&[usize]> = args.iter().map(|&arg| self.target.shape(arg)).collect();
        let result = movement.result_shape(&shapes)?;
        let count: usize = result.iter().product();
        let mut terms: Vec<(NodeId, Rows)> = args
            .iter()
            .map(|&arg| (arg, Rows { columns: self.target.elements(arg), rows: vec![Row::new(); count] }))
            .collect();
        let mut row = 0;
        movement.sources(&shapes, &result, &mut |arg, element| {
            terms[arg].1.rows[row].push((element, 1.0));
            row += 1;
        });
        Ok(joined(LinearForm::exact(terms, vec![0.0; count], result)))
    }
}

/// The same form with one term per node.
fn joined(mut form: LinearForm) -> LinearForm {
    let mut errors = std::mem::take(&mut form.weight_error);
    for (node, matrix) in std::mem::take(&mut form.terms) {
        form.add_term(node, matrix, &mut errors);
    }
    form.weight_error = errors;
    form
}
