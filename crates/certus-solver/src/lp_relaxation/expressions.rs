//! The values of a graph's elements as affine functions of a few variables.
//!
//! Variables are the inputs, the outputs of curves and products that are not linear over the box, and elements that are known only
//! by their enclosure. Each variable is measured from the middle of its range in units of half its width, so that every one of them lies
//! in about [−1, 1]: boxes of any size give problems of the same scale.

use crate::bound::program::{Program, Role};
use crate::bound::table::Bounds;

/// A variable: an element of a node, `middle + half · u`.
pub(super) struct Variable {
    pub(super) node: usize,
    pub(super) element: usize,
    pub(super) middle: f64,
    pub(super) half: f64,
}

/// What an element is to the program.
enum Kind {
    /// A variable of its own.
    Variable,
    /// Given by its arguments or a constant.
    Dependent,
}

/// Affine functions of the variables for every element up to some node.
pub(super) struct Expressions {
    pub(super) variables: Vec<Variable>,
    /// Coefficients and, last, the constant of each element.
    pub(super) width: usize,
    tables: Vec<Vec<f64>>,
}

/// How many neurons are unstable in one box of a table, and whether all of them are piecewise linear, so that finitely many
/// splits make everything linear.
pub(crate) fn count_unstable(program: &Program, bounds: &Bounds, index: usize) -> (usize, bool) {
    let (mut count, mut piecewise_linear) = (0, true);
    for (node, role) in program.roles.iter().enumerate() {
        if !matches!(role, Role::Curve(..) | Role::Product(..)) {
            continue;
        }
        let own = (0..program.sizes[node]).filter(|&element| unstable(program, bounds, node, element, index)).count();
        count += own;
        piecewise_linear &= own == 0 || matches!(role, Role::Curve(curve, _) if curve.is_piecewise_linear());
    }
    (count, piecewise_linear)
}

/// Whether an element of a curve or product is not linear in what it reads.
pub(super) fn unstable(program: &Program, bounds: &Bounds, node: usize, element: usize, index: usize) -> bool {
    match &program.roles[node] {
        Role::Curve(curve, argument) => !curve.is_linear(bounds.interval(*argument, element, index)),
        Role::Product(left, right) => [left, right].iter().all(|&&factor| {
            let range = bounds.interval(factor, element, index);
            range.lo < range.hi
        }),
        _ => false,
    }
}

impl Expressions {
    /// Expressions over the one box of a table for the nodes up to `last`, unless there are more than `most` variables or some are unbounded.
    pub(super) fn new(program: &Program, bounds: &Bounds, last: usize, most: usize) -> Option<Self> {
        let mut variables = Vec::new();
        for node in 0..=last {
            for element in 0..program.sizes[node] {
                if let Kind::Variable = kind(program, bounds, node, element) {
                    let range = bounds.interval(node, element, 0);
                    let (middle, half) = (range.lo / 2.0 + range.hi / 2.0, range.hi / 2.0 - range.lo / 2.0);
                    if variables.len() == most || !(middle.is_finite() && half.is_finite()) {
                        return None;
                    }
                    variables.push(Variable { node, element, middle, half: half.max(f64::MIN_POSITIVE) });
                }
            }
        }
        let width = variables.len() + 1;
        let mut expressions = Expressions { variables, width, tables: Vec::with_capacity(last + 1) };
        let mut scratch = Vec::new();
        let mut next = 0;
        for node in 0..=last {
            let table = expressions.table(program, bounds, node, &mut next, &mut scratch);
            if table.iter().any(|value| !value.is_finite()) {
                return None;
            }
            expressions.tables.push(table);
        }
        Some(expressions)
    }

    /// The expression of an element: coefficients, then the constant.
    pub(super) fn of(&self, node: usize, element: usize) -> &[f64] {
        &self.tables[node][element * self.width..(element + 1) * self.width]
    }

    /// The value of an element where the variables have these values.
    pub(super) fn value(&self, node: usize, element: usize, at: &[f64]) -> f64 {
        let own = self.of(node, element);
        own[self.width - 1] + own.iter().zip(at).map(|(coefficient, value)| coefficient * value).sum::<f64>()
    }

    fn table(
        &self,
        program: &Program,
        bounds: &Bounds,
        node: usize,
        next: &mut usize,
        scratch: &mut Vec<f64>,
    ) -> Vec<f64> {
        let (width, elements) = (self.width, program.sizes[node]);
        let mut own = vec![0.0; elements * width];
        match &program.roles[node] {
            Role::Affine(layer) => {
                for (row, &bias) in own.chunks_exact_mut(width).zip(&layer.bias) {
                    row[width - 1] = bias;
                }
                for term in &layer.terms {
                    term.weights.mul_acc(&self.tables[term.argument], &mut own, width, scratch);
                }
            }
            Role::Movement(sources) => {
                for (row, &(argument, element)) in own.chunks_exact_mut(width).zip(sources) {
                    row.copy_from_slice(self.of(argument, element));
                }
            }
            role => {
                for (element, row) in own.chunks_exact_mut(width).enumerate() {
                    if let Kind::Variable = kind(program, bounds, node, element) {
                        row[*next] = self.variables[*next].half;
                        row[width - 1] = self.variables[*next].middle;
                        *next += 1;
                        continue;
                    }
                    match role {
                        // Linear here: both lines are the function, up to rounding.
                        Role::Curve(_, argument) => {
                            let lines = &bounds.relaxations[node];
                            scale(row, lines.lower_slope[element], self.of(*argument, element));
                            row[width - 1] += lines.lower_offset[element];
                        }
                        Role::Product(left, right) => {
                            let lines = &bounds.relaxations[node];
                            scale(row, lines.lower_slope[element], self.of(*left, element));
                            scale(row, lines.lower_second[element], self.of(*right, element));
                            row[width - 1] += lines.lower_offset[element];
                        }
                        _ => row[width - 1] = bounds.lower[node][element],
                    }
                }
            }
        }
        own
    }
}

fn scale(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
}

fn kind(program: &Program, bounds: &Bounds, node: usize, element: usize) -> Kind {
    let variable = match &program.roles[node] {
        Role::Input(_) | Role::Opaque => bounds.lower[node][element] < bounds.upper[node][element],
        Role::Curve(..) | Role::Product(..) => unstable(program, bounds, node, element, 0),
        Role::Affine(_) | Role::Movement(_) => false,
    };
    if variable { Kind::Variable } else { Kind::Dependent }
}
