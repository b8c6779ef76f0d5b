//! Affine forms of a graph's outputs over many boxes at once, in one forward pass.
//!
//! Affine arithmetic (de Figueiredo and Stolfi, *Affine Arithmetic: Concepts and Applications*, Numerical Algorithms 2004)
//! with noise symbols of the inputs alone. What [`crate::LinearBounds`] finds by backward substitution costs a pass per
//! output; engines that cover a space with very many small boxes want one pass, and over small boxes lose little by it. An
//! element's value is `centre + Σ slope · symbol + error`, where each input brings a symbol in [−1, 1] and the error is
//! known by its size. Without symbols that is interval arithmetic with centres and radii; with them it remembers how
//! values depend on the inputs, which matters where a policy acts against what the plant does.
//!
//! *Departure from `bound::zonotope`:* what a curve or product is not linear by becomes error at once, not a new symbol, so
//! that a layer is one matrix product for centres and slopes and one for errors.
//!
//! *Soundness.* Every range holds over the reals; rounding goes into the errors, as in the zonotopes.

mod copies;
mod reduced_network;
#[cfg(test)]
pub(crate) mod tests;
mod transfer;

use certus_graph::lower::lower;
use certus_graph::{Graph, GraphError};

use crate::bound::domain::{AbstractDomain, Keeps, flat_outputs, last_readers_with, walk};
use crate::bound::program::{Layer, Program};
use crate::relaxation::Curve;

pub use reduced_network::ReducedNetwork;

/// A graph prepared for affine forms.
pub struct AffineForms {
    program: Program,
    /// For each flattened output its node and element.
    outputs: Vec<(usize, usize)>,
    /// For each node, the last one that reads it.
    last_reader: Vec<usize>,
}

/// How much is remembered of where values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Nothing: intervals alone.
    None,
    /// Their dependence on each of the first so many inputs.
    Inputs(usize),
}

/// The outputs over some boxes. Tables are element-major: output i of box b at `i * boxes + b`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputForms {
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
    /// How many symbols there are.
    pub symbols: usize,
    /// Centres and slopes of the affine forms: output i of box b at `(i * (1 + symbols) + column) * boxes + b`.
    pub forms: Vec<f64>,
    /// Sizes of the errors of the affine forms.
    pub errors: Vec<f64>,
}

/// The values of one node over all boxes.
#[derive(Default)]
struct Values {
    /// Centres and slopes: element i, column k of box b at `(i * columns + k) * boxes + b`.
    forms: Vec<f64>,
    errors: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// What all nodes share.
#[derive(Clone, Copy)]
struct Shape {
    boxes: usize,
    /// The centre and the symbols.
    columns: usize,
}

impl AffineForms {
    /// Prepares a graph.
    pub fn new(graph: &Graph) -> Result<AffineForms, GraphError> {
        let program = Program::new(lower(graph)?);
        let outputs = flat_outputs(&program);
        let last_reader = last_readers_with(&program, &outputs);
        Ok(AffineForms { program, outputs, last_reader })
    }

    /// How many numbers the inputs have together.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// How many numbers the outputs have together.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Every output over some boxes, whose ends are given element-major: input i of box b at `i * boxes + b`.
    pub fn enclose(&self, lower: &[f64], upper: &[f64], boxes: usize, forms: Symbols) -> OutputForms {
        self.enclose_from(lower, upper, boxes, forms, None)
    }

    /// The same where the last inputs are not boxes but forms: over the symbols of the first ones, as another graph gave them.
    pub fn enclose_with(&self, lower: &[f64], upper: &[f64], boxes: usize, given: &OutputForms) -> OutputForms {
        self.enclose_from(lower, upper, boxes, Symbols::Inputs(given.symbols), Some(given))
    }

    fn enclose_from(
        &self,
        lower: &[f64],
        upper: &[f64],
        boxes: usize,
        forms: Symbols,
        given: Option<&OutputForms>,
    ) -> OutputForms {
        let program = &self.program;
        let from_boxes = program.inputs - given.map_or(0, |given| given.errors.len() / boxes.max(1));
        let symbols = match forms {
            Symbols::None => 0,
            Symbols::Inputs(count) => count.min(program.inputs),
        };
        let shape = Shape { boxes, columns: 1 + symbols };
        let values = Vec::with_capacity(program.roles.len());
        let mut pass = Pass { program, shape, lower, upper, given, from_boxes, values, scratch: Vec::new() };
        // Every node has a form, if only its enclosure.
        let _ = walk(program, &mut pass, &self.last_reader);
        let values = pass.values;
        let mut found = OutputForms { symbols, ..OutputForms::default() };
        for &(node, element) in &self.outputs {
            let own = &values[node];
            let row = element * boxes..(element + 1) * boxes;
            found.lower.extend_from_slice(&own.lower[row.clone()]);
            found.upper.extend_from_slice(&own.upper[row.clone()]);
            found.errors.extend_from_slice(&own.errors[row]);
            let columns = shape.columns * boxes;
            found.forms.extend_from_slice(&own.forms[element * columns..(element + 1) * columns]);
        }
        found
    }
}

/// One forward pass: boxes, or forms for the last inputs, and the values so far.
struct Pass<'a> {
    program: &'a Program,
    shape: Shape,
    lower: &'a [f64],
    upper: &'a [f64],
    given: Option<&'a OutputForms>,
    /// The first input that is given as a form.
    from_boxes: usize,
    values: Vec<Values>,
    scratch: Vec<f64>,
}

impl AbstractDomain for Pass<'_> {
    type Value = Values;

    fn input(&mut self, node: usize, offset: usize) -> Option<Values> {
        let (elements, boxes) = (self.program.sizes[node], self.shape.boxes);
        Some(match self.given {
            Some(given) if offset >= self.from_boxes => self.shape.given(offset - self.from_boxes, elements, given),
            _ => {
                let rows = offset * boxes..(offset + elements) * boxes;
                self.shape.input(offset, &self.lower[rows.clone()], &self.upper[rows])
            }
        })
    }

    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Values> {
        Some(self.shape.affine(layer, &self.values, self.program.sizes[node], &mut self.scratch))
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Values> {
        Some(self.shape.movement(sources, &self.values))
    }

    fn curve(&mut self, node: usize, curve: &Curve, argument: usize) -> Option<Values> {
        Some(self.shape.curve(curve, &self.values[argument], self.program.sizes[node]))
    }

    fn product(&mut self, node: usize, left: usize, right: usize) -> Option<Values> {
        let elements = self.program.sizes[node];
        Some(self.shape.product(&self.values[left], &self.values[right], elements, left == right))
    }

    fn opaque(&mut self, node: usize) -> Option<Values> {
        Some(self.shape.opaque(self.program, node, &self.values))
    }
}

impl Keeps for Pass<'_> {
    fn values(&mut self) -> &mut Vec<Values> {
        &mut self.values
    }
}

/// A range's middle and half its width: what forms make of an input is `middle + half · symbol`, with a symbol in [−1, 1].
pub fn middle(lo: f64, hi: f64) -> (f64, f64) {
    if lo == hi {
        return (lo, 0.0);
    }
    let middle = lo / 2.0 + hi / 2.0;
    if !middle.is_finite() {
        return (0.0, f64::INFINITY);
    }
    (middle, (hi - middle).max(middle - lo).next_up())
}
