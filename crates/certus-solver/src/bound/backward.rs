//! CROWN: linear lower bounds by backward substitution, for a batch of objectives.
//!
//! Zhang, Weng, Chen, Hsieh, Daniel, *Efficient Neural Network Robustness Certification with General Activation Functions*,
//! NeurIPS 2018; Singh, Gehr, Püschel, Vechev, *An Abstract Domain for Certifying Neural Networks* (DeepPoly), POPL 2019.
//! An objective is a linear function Λ·v of nodes' values, one per column; each column belongs to a box. From the last
//! node to the first, a node's coefficients are replaced by coefficients of its arguments: exactly for affine nodes and
//! movements, by the lower or upper line of a curve (plane of a product) according to the coefficient's sign, and by the
//! enclosure of an opaque node. What remains is linear in the inputs, and its minimum over the box bounds the objective.
//!
//! *Split constraints* (β-CROWN). Where an element's value lies in [lo, hi], adding β·(value − hi) with β ≥ 0 (or
//! β·(value − lo) with β ≤ 0) only lowers the objective where the constraint holds, so the bound stays sound; good
//! multipliers make it much better.
//!
//! *Soundness, and departures: rounding.* Coefficients are computed to nearest, so the function that arrives differs from the
//! one that was meant. For an affine node with m rows each new coefficient is off by at most γₘ Σᵢ|Λᵢ||Wᵢⱼ| ≤
//! γₘ ‖Λ‖₁ maxᵢ|Wᵢⱼ|; multiplied by |xⱼ| and summed this is what rounding can have changed, and it is taken off the bound
//! (standard error analysis; Higham, *Accuracy and Stability of Numerical Algorithms*, 2002). Curves and constants are
//! treated likewise. The price is some 1e-13 of the objective's size, and no bound needs to be confirmed afterwards.

mod substitution;

use certus_graph::Op;

use self::substitution::{affine, curve, movement, note_sums, opaque, product};
use super::program::{Program, Role};
use super::table::Bounds;
use super::{ROOM, gamma};

/// A multiplier of a constraint, added to one column where its node is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BetaTerm {
    pub(crate) node: usize,
    pub(crate) element: usize,
    pub(crate) column: usize,
    pub(crate) weight: f64,
    /// The end that the sign of the weight asks for: the upper one for a positive weight.
    pub(crate) end: f64,
}

/// Coefficients of a batch of objectives, element-major over the columns.
pub(crate) struct Objectives {
    /// For each column, the box that it is about. Columns of one box stand together.
    pub(crate) boxes: Vec<usize>,
    /// For each node, its coefficients, or nothing while all are zero.
    pub(crate) coefficients: Vec<Option<Vec<f64>>>,
    /// Constants so far, one per column.
    pub(crate) constants: Vec<f64>,
    /// What rounding may have changed so far, one per column.
    pub(crate) errors: Vec<f64>,
    /// Multipliers, in descending order of their nodes.
    pub(crate) beta_terms: Vec<BetaTerm>,
    /// Buffers that are free again.
    spare: Vec<Vec<f64>>,
    /// Where to keep the coefficients of curves, products, opaque nodes and what curves read, by node.
    pub(crate) kept: Option<Vec<Vec<f64>>>,
}

/// What a substitution gives.
pub(crate) struct LowerBounds {
    /// A lower bound per column.
    pub(crate) bounds: Vec<f64>,
    /// The coefficients at the flattened inputs, element-major over the columns.
    pub(crate) inputs: Vec<f64>,
    /// With these constants the linear functions lie below the objectives over the whole box.
    pub(crate) constants: Vec<f64>,
    /// Coefficients of curves, products, opaque nodes and what curves read, if they were asked for.
    pub(crate) kept: Vec<Vec<f64>>,
    /// How many multiplications the matrix products took, and what costs as much as one.
    pub(crate) effort: u64,
}

impl Objectives {
    pub(crate) fn new(nodes: usize, boxes: Vec<usize>) -> Self {
        let columns = boxes.len();
        Objectives {
            boxes,
            coefficients: vec![None; nodes],
            constants: vec![0.0; columns],
            errors: vec![0.0; columns],
            beta_terms: Vec::new(),
            spare: Vec::new(),
            kept: None,
        }
    }

    pub(crate) fn columns(&self) -> usize {
        self.boxes.len()
    }

    /// The coefficients of a node, as zeros if there are none yet.
    pub(crate) fn at(&mut self, node: usize, elements: usize) -> &mut [f64] {
        let columns = self.columns();
        self.coefficients[node].get_or_insert_with(|| vec![0.0; elements * columns])
    }

    /// A buffer for all elements of a node, with anything in it.
    fn buffer(&mut self, elements: usize) -> Vec<f64> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(elements * self.columns(), 0.0);
        buffer
    }

    /// Begins with ± single elements of an affine node, which are its rows: two columns for each of `wanted`, given by box and
    /// element.
    pub(crate) fn of_elements(program: &Program, bounds: &Bounds, node: usize, wanted: &[(usize, usize)]) -> Self {
        let boxes: Vec<usize> = wanted.iter().flat_map(|&(index, _)| [index, index]).collect();
        let count = boxes.len();
        let mut objectives = Objectives::new(program.roles.len(), boxes);
        let (Role::Affine(layer), Op::Affine(affine)) = (&program.roles[node], &program.graph.nodes()[node].op) else {
            let table = objectives.at(node, program.sizes[node]);
            for (place, &(_, element)) in wanted.iter().enumerate() {
                table[element * count + 2 * place] = 1.0;
                table[element * count + 2 * place + 1] = -1.0;
            }
            return objectives;
        };
        for ((term, matrix), (_, spread)) in layer.terms.iter().zip(affine.matrices()).zip(&bounds.reach[node]) {
            let shared = objectives.coefficients[term.argument].is_some();
            let table = objectives.at(term.argument, program.sizes[term.argument]);
            for (place, &(_, element)) in wanted.iter().enumerate() {
                for (column, weight) in matrix.row(element) {
                    table[column * count + 2 * place] += weight;
                    table[column * count + 2 * place + 1] -= weight;
                }
            }
            if shared {
                note_sums(&mut objectives, bounds, term.argument, 1);
            }
            if term.weight_error != 0.0 {
                for (place, &(index, _)) in wanted.iter().enumerate() {
                    let error = term.weight_error * spread[index] * ROOM;
                    objectives.errors[2 * place] += error;
                    objectives.errors[2 * place + 1] += error;
                }
            }
        }
        for (place, &(_, element)) in wanted.iter().enumerate() {
            objectives.constants[2 * place] = layer.bias[element];
            objectives.constants[2 * place + 1] = -layer.bias[element];
            objectives.errors[2 * place] += layer.bias_error[element] * ROOM;
            objectives.errors[2 * place + 1] += layer.bias_error[element] * ROOM;
        }
        objectives
    }

    /// Adds `weight` to one coefficient; `radius` is how far it may be from what is meant.
    pub(crate) fn add(
        &mut self,
        program: &Program,
        bounds: &Bounds,
        cell: (usize, usize, usize),
        weight: f64,
        radius: f64,
    ) {
        let (node, element, column) = cell;
        let columns = self.columns();
        let value = &mut self.at(node, program.sizes[node])[element * columns + column];
        *value += weight;
        let rounding = f64::EPSILON * value.abs() + radius;
        let magnitude = bounds.interval(node, element, self.boxes[column]).magnitude();
        if rounding != 0.0 {
            self.errors[column] += rounding * magnitude * ROOM;
        }
    }
}

/// What it takes to look through an element of a node, in multiplications of a matrix product.
pub(crate) const COST_OF_ELEMENT: usize = 8;

/// Lower bounds of the objectives, given bounds of every node that they look through.
pub(crate) fn minimise(
    program: &Program,
    bounds: &Bounds,
    mut objectives: Objectives,
    from: usize,
    scratch: &mut Vec<f64>,
) -> LowerBounds {
    let columns = objectives.columns();
    let mut at_inputs = vec![0.0; program.inputs * columns];
    let mut effort = 0;
    let mut beta_terms = std::mem::take(&mut objectives.beta_terms).into_iter().peekable();
    for node in (0..=from).rev() {
        while let Some(beta) = beta_terms.next_if(|beta| beta.node >= node) {
            debug_assert!(beta.weight.is_finite() && beta.end.is_finite(), "a multiplier β without an end: {beta:?}");
            objectives.add(program, bounds, (beta.node, beta.element, beta.column), beta.weight, 0.0);
            let term = beta.weight * beta.end;
            let constant = &mut objectives.constants[beta.column];
            *constant -= term;
            objectives.errors[beta.column] += 2.0 * f64::EPSILON * (term.abs() + constant.abs());
        }
        let Some(coefficients) = objectives.coefficients[node].take() else { continue };
        effort += (COST_OF_ELEMENT * coefficients.len()) as u64;
        match &program.roles[node] {
            Role::Input(offset) => {
                at_inputs[offset * columns..][..coefficients.len()].copy_from_slice(&coefficients);
            }
            Role::Affine(layer) => {
                effort += (layer.weights * columns) as u64;
                affine(program, layer, node, bounds, &coefficients, &mut objectives, scratch);
            }
            Role::Movement(sources) => movement(program, sources, bounds, &coefficients, &mut objectives),
            Role::Curve(_, argument) => curve(program, node, *argument, bounds, &coefficients, &mut objectives),
            Role::Product(left, right) => {
                product(program, node, (*left, *right), bounds, &coefficients, &mut objectives)
            }
            Role::Opaque => opaque(program, node, bounds, &coefficients, &mut objectives),
        }
        if let Some(kept) = &mut objectives.kept
            && (matches!(program.roles[node], Role::Curve(..) | Role::Product(..) | Role::Opaque)
                || !program.readers[node].is_empty())
        {
            kept[node] = coefficients;
        } else {
            objectives.spare.push(coefficients);
        }
    }
    LowerBounds { effort, ..finish(program, bounds, objectives, at_inputs) }
}

/// The minimum over the input boxes, less everything that rounding may have changed.
fn finish(program: &Program, bounds: &Bounds, objectives: Objectives, at_inputs: Vec<f64>) -> LowerBounds {
    let columns = objectives.columns();
    let Objectives { boxes, constants, errors, kept, .. } = objectives;
    debug_assert!(!errors.iter().any(|error| *error < 0.0), "an error bound is negative");
    let mut sums = constants.clone();
    let mut sizes: Vec<f64> = sums.iter().map(|value| value.abs()).collect();
    let mut terms = 1;
    for (node, role) in program.roles.iter().enumerate() {
        let Role::Input(offset) = role else { continue };
        for element in 0..program.sizes[node] {
            terms += 1;
            let row = &at_inputs[(offset + element) * columns..][..columns];
            for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
                let range = bounds.interval(node, element, boxes[column]);
                sums[column] += value * if value > 0.0 { range.lo } else { range.hi };
                sizes[column] += value.abs() * range.magnitude();
            }
        }
    }
    let factor = gamma(terms);
    let number = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
    let lower = sums
        .iter()
        .zip(&sizes)
        .zip(&errors)
        .map(|((sum, size), error)| number((sum - (factor * size + error) * ROOM - f64::MIN_POSITIVE).next_down()));
    let lower = lower.collect();
    let below = constants.iter().zip(&errors);
    let constants =
        below.map(|(constant, error)| number((constant - error * ROOM - f64::MIN_POSITIVE).next_down())).collect();
    LowerBounds { bounds: lower, inputs: at_inputs, constants, kept: kept.unwrap_or_default(), effort: 0 }
}
