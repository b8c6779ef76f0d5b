//! Reverse-mode automatic differentiation of a graph over batches of points.
//!
//! A graph is compiled once into rules, one per node. [`Gradient::forward`] keeps every node's values on a [`Tape`];
//! [`Gradient::backward`] carries the derivative of some objective by each node (its *adjoint*) from the outputs to the inputs
//! (backpropagation; Linnainmaa 1970, Rumelhart, Hinton and Williams 1986). Affine maps are matrix products in both
//! directions, curves multiply by their derivative, products by the other factor, movements carry adjoints back to where
//! the elements came from. Any other operator is evaluated but has no gradient.
//!
//! Everything here serves the attack, so nothing here has to be sound: single precision is enough, and a step function is
//! given the slope of a smooth ramp, as its derivative says nothing about where the other side is.

use certus_graph::ops::{Affine, Arg, Matrix, Movement, Op, Operator};
use certus_graph::{Graph, NodeId, Real};
use certus_kernels::PackedMatrix;

use crate::relaxation::Curve;

/// A graph prepared for differentiation.
pub struct Gradient<T: Real> {
    graph: Graph,
    rules: Vec<Rule<T>>,
    /// The nodes of the inputs, in their order.
    inputs: Vec<usize>,
    /// Whether a node's value depends on an input through nodes that have gradients.
    live: Vec<bool>,
}

enum Rule<T: Real> {
    Input,
    Constant(Vec<T>),
    Affine {
        terms: Vec<Term<T>>,
        bias: Vec<T>,
    },
    Curve(Curve, usize),
    Product(usize, usize),
    /// For each element the node and the element there that it is.
    Movement(Vec<(usize, usize)>),
    /// Evaluated by the operator itself; without gradient.
    Opaque,
}

/// One matrix of an affine node, and the node that it is applied to.
struct Term<T: Real> {
    argument: usize,
    weights: Weights<T>,
}

enum Weights<T: Real> {
    Dense { forward: PackedMatrix<T>, transposed: PackedMatrix<T> },
    Sparse(Matrix),
}

/// The values and adjoints of one batch of points; kept between batches so that nothing is allocated again.
pub struct Tape<T> {
    batch: usize,
    values: Vec<Vec<T>>,
    adjoints: Vec<Vec<T>>,
    scratch: Vec<T>,
}

impl<T: Real> Tape<T> {
    /// The values of a node's element, one per point.
    pub fn values(&self, node: usize, element: usize) -> &[T] {
        &self.values[node][element * self.batch..][..self.batch]
    }

    /// The adjoints of a node's element, one per point.
    pub fn adjoints_mut(&mut self, node: usize, element: usize) -> &mut [T] {
        &mut self.adjoints[node][element * self.batch..][..self.batch]
    }

    /// All values of a node, to be written before a forward pass.
    pub fn node_mut(&mut self, node: usize) -> &mut [T] {
        &mut self.values[node]
    }

    /// All adjoints of a node, to be read after a backward pass.
    pub fn node_adjoints(&self, node: usize) -> &[T] {
        &self.adjoints[node]
    }
}

fn term<T: Real>(argument: NodeId, matrix: &Matrix) -> Term<T> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let weights = match matrix {
        Matrix::Dense { data, .. } if rows > 0 && columns > 0 => {
            let forward: Vec<T> = data.iter().map(|&w| T::from_f64(w)).collect();
            let transposed: Vec<T> = (0..columns).flat_map(|j| forward[j..].iter().step_by(columns).copied()).collect();
            Weights::Dense {
                forward: PackedMatrix::pack(rows, columns, &forward),
                transposed: PackedMatrix::pack(columns, rows, &transposed),
            }
        }
        _ => Weights::Sparse(matrix.clone()),
    };
    Term { argument: argument.index(), weights }
}

fn affine<T: Real>(affine: &Affine, inputs: &[NodeId]) -> Rule<T> {
    let terms = inputs.iter().zip(affine.matrices()).map(|(&argument, matrix)| term(argument, matrix));
    Rule::Affine { terms: terms.collect(), bias: affine.bias().iter().map(|&b| T::from_f64(b)).collect() }
}

fn movement<T: Real>(movement: &impl Movement, graph: &Graph, inputs: &[NodeId], shape: &[usize]) -> Rule<T> {
    let shapes: Vec<&[usize]> = inputs.iter().map(|&input| graph.shape(input)).collect();
    let mut sources = Vec::new();
    movement.sources(&shapes, shape, &mut |argument, element| sources.push((inputs[argument].index(), element)));
    Rule::Movement(sources)
}

fn rule<T: Real>(graph: &Graph, id: NodeId) -> Rule<T> {
    let node = graph.node(id);
    let inputs = &node.inputs;
    if let Some((curve, argument)) = Curve::of(graph, id) {
        return Rule::Curve(curve, argument.index());
    }
    match &node.op {
        Op::Input(_) => Rule::Input,
        Op::Constant(constant) => Rule::Constant(constant.value().data().iter().map(|&c| T::from_f64(c)).collect()),
        Op::Affine(op) => affine(op, inputs),
        Op::Mul(_) if inputs.iter().all(|&input| graph.shape(input) == node.shape) => {
            Rule::Product(inputs[0].index(), inputs[1].index())
        }
        Op::Reshape(op) => movement(op, graph, inputs, &node.shape),
        Op::Slice(op) => movement(op, graph, inputs, &node.shape),
        Op::Gather(op) => movement(op, graph, inputs, &node.shape),
        Op::Transpose(op) => movement(op, graph, inputs, &node.shape),
        Op::Concat(op) => movement(op, graph, inputs, &node.shape),
        _ => Rule::Opaque,
    }
}

impl<T: Real> Gradient<T> {
    /// Compiles a graph; the fewer kinds of nodes it has, the more of it has gradients.
    pub fn new(graph: &Graph) -> Self {
        let rules: Vec<Rule<T>> = graph.ids().map(|id| rule(graph, id)).collect();
        let mut live = vec![false; rules.len()];
        for (index, rule) in rules.iter().enumerate() {
            live[index] = match rule {
                Rule::Input => true,
                Rule::Constant(_) | Rule::Opaque => false,
                _ => graph.nodes()[index].inputs.iter().any(|input| live[input.index()]),
            };
        }
        let inputs = graph.inputs().iter().map(|port| port.node.index()).collect();
        Gradient { graph: graph.clone(), rules, inputs, live }
    }

    /// The nodes of the inputs, in their order.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The number of elements of a node.
    pub fn elements(&self, node: usize) -> usize {
        self.graph.nodes()[node].shape.iter().product()
    }

    /// Room for a batch, with the constants filled in.
    pub fn tape(&self, batch: usize) -> Tape<T> {
        let sizes = || (0..self.rules.len()).map(|node| self.elements(node) * batch);
        let mut values: Vec<Vec<T>> = sizes().map(|size| vec![T::ZERO; size]).collect();
        for (rule, values) in self.rules.iter().zip(&mut values) {
            if let Rule::Constant(constants) = rule {
                certus_kernels::fill_rows(constants, values, batch);
            }
        }
        Tape { batch, values, adjoints: sizes().map(|size| vec![T::ZERO; size]).collect(), scratch: Vec::new() }
    }

    /// Evaluates every node; the inputs' values stand on the tape.
    pub fn forward(&self, tape: &mut Tape<T>) {
        let batch = tape.batch;
        for (index, rule) in self.rules.iter().enumerate() {
            let (before, after) = tape.values.split_at_mut(index);
            let out = &mut after[0];
            match rule {
                Rule::Input | Rule::Constant(_) => {}
                Rule::Affine { terms, bias } => {
                    certus_kernels::fill_rows(bias, out, batch);
                    for term in terms {
                        term.weights.apply(&before[term.argument], out, batch, &mut tape.scratch);
                    }
                }
                Rule::Curve(curve, argument) => {
                    out.copy_from_slice(&before[*argument]);
                    values(curve, out);
                }
                Rule::Product(a, b) => {
                    for ((z, &x), &y) in out.iter_mut().zip(&before[*a]).zip(&before[*b]) {
                        *z = x * y;
                    }
                }
                Rule::Movement(sources) => {
                    for (row, &(node, element)) in out.chunks_exact_mut(batch).zip(sources) {
                        row.copy_from_slice(&before[node][element * batch..][..batch]);
                    }
                }
                Rule::Opaque => {
                    let node = &self.graph.nodes()[index];
                    let arg = |id: &NodeId| Arg { shape: self.graph.shape(*id), values: &before[id.index()] };
                    let args: Vec<Arg<'_, T>> = node.inputs.iter().map(arg).collect();
                    node.op.eval(&args, &node.shape, batch, out);
                }
            }
        }
    }

    /// Sets all adjoints to zero, before those of an objective are written.
    pub fn clear(&self, tape: &mut Tape<T>) {
        tape.adjoints.iter_mut().for_each(|adjoints| adjoints.fill(T::ZERO));
    }

    /// Carries the adjoints that were written into the tape back to the inputs.
    pub fn backward(&self, tape: &mut Tape<T>) {
        let batch = tape.batch;
        for (index, rule) in self.rules.iter().enumerate().rev().filter(|&(index, _)| self.live[index]) {
            let (before, after) = tape.adjoints.split_at_mut(index);
            let own = &after[0];
            match rule {
                Rule::Input | Rule::Constant(_) | Rule::Opaque => {}
                Rule::Affine { terms, .. } => {
                    for term in terms.iter().filter(|term| self.live[term.argument]) {
                        term.weights.apply_transposed(own, &mut before[term.argument], batch, &mut tape.scratch);
                    }
                }
                Rule::Curve(curve, argument) => {
                    slopes(curve, &tape.values[*argument], &tape.values[index], own, &mut before[*argument]);
                }
                Rule::Product(a, b) => {
                    for (to, other) in [(*a, *b), (*b, *a)] {
                        for ((target, &d), &factor) in before[to].iter_mut().zip(own).zip(&tape.values[other]) {
                            *target = *target + d * factor;
                        }
                    }
                }
                Rule::Movement(sources) => {
                    for (row, &(node, element)) in own.chunks_exact(batch).zip(sources) {
                        let target = &mut before[node][element * batch..][..batch];
                        target.iter_mut().zip(row).for_each(|(target, &d)| *target = *target + d);
                    }
                }
            }
        }
    }
}

impl<T: Real> Weights<T> {
    /// Adds W · x to y.
    fn apply(&self, x: &[T], y: &mut [T], batch: usize, scratch: &mut Vec<T>) {
        match self {
            Weights::Dense { forward, .. } => forward.mul_acc(x, y, batch, scratch),
            Weights::Sparse(matrix) => {
                for (row, target) in y.chunks_exact_mut(batch).enumerate() {
                    for (column, weight) in matrix.row(row) {
                        add_scaled(target, T::from_f64(weight), &x[column * batch..][..batch]);
                    }
                }
            }
        }
    }

    /// Adds Wᵀ · d to x.
    fn apply_transposed(&self, d: &[T], x: &mut [T], batch: usize, scratch: &mut Vec<T>) {
        match self {
            Weights::Dense { transposed, .. } => transposed.mul_acc(d, x, batch, scratch),
            Weights::Sparse(matrix) => {
                for (row, source) in d.chunks_exact(batch).enumerate() {
                    for (column, weight) in matrix.row(row) {
                        add_scaled(&mut x[column * batch..][..batch], T::from_f64(weight), source);
                    }
                }
            }
        }
    }
}

fn add_scaled<T: Real>(target: &mut [T], factor: T, source: &[T]) {
    target.iter_mut().zip(source).for_each(|(y, &x)| *y = *y + factor * x);
}

/// Replaces arguments by the curve's values.
fn values<T: Real>(curve: &Curve, xs: &mut [T]) {
    match curve {
        Curve::Activation(activation) => activation.apply(xs),
        _ => xs.iter_mut().for_each(|x| *x = T::from_f64(curve.value(x.to_f64()))),
    }
}

/// Adds slope · adjoint to the adjoints of the argument.
fn slopes<T: Real>(curve: &Curve, xs: &[T], ys: &[T], adjoints: &[T], targets: &mut [T]) {
    let places = targets.iter_mut().zip(adjoints).zip(xs);
    match curve {
        // No product: an adjoint that is infinite would spoil the zeros.
        _ if curve.is_relu() => places.for_each(|((t, &d), &x)| *t = *t + if x > T::ZERO { d } else { T::ZERO }),
        Curve::Activation(activation) => activation.add_slopes(xs, ys, adjoints, targets),
        Curve::Step { below, above, .. } => {
            places.for_each(|((t, &d), &x)| *t = *t + d * T::from_f64(ramp(above - below, x.to_f64())));
        }
        _ => places.for_each(|((t, &d), &x)| *t = *t + d * T::from_f64(curve.slope(x.to_f64()))),
    }
}

/// A slope for a jump at zero: it points to the other side, weaker the farther that is away.
fn ramp(jump: f64, x: f64) -> f64 {
    jump / (1.0 + x * x)
}
