//! A network over one small box: stable neurons folded into one affine map, unstable ones kept.
//!
//! Over a small box most neurons are stable (on one side of their breakpoint), so nearly all of the network is one affine
//! map. Each neuron that is not is kept, as a function of the inputs and of those kept before it. Evaluating what is left at
//! a point of the box costs as many operations as there are such neurons and inputs, instead of a pass over all weights.
//!
//! *Soundness.* The distance of the evaluated result from the network over the reals is bounded: rounding, library
//! functions, and how far errors of kept neurons carry (kept curves have slopes of at most one).

use certus_graph::Interval;

use super::{AffineForms, Shape, Values, middle};
use crate::bound::domain::{AbstractDomain, Keeps, walk};
use crate::bound::program::{Layer, Program};
use crate::bound::{ROOM, gamma};
use crate::relaxation::Curve;

/// A network over one box.
pub struct ReducedNetwork {
    /// Middles of the box, then of the kept neurons' values.
    middles: Vec<f64>,
    inputs: usize,
    /// The kept neurons, each with its argument.
    kept: Vec<(Curve, Vec<f64>)>,
    outputs: Vec<Vec<f64>>,
    /// How far each output, as it is computed, can be from the network's real one.
    errors: Vec<f64>,
}

/// What is known while a network is taken apart.
struct Partial<'a> {
    program: &'a Program,
    shape: Shape,
    lower: &'a [f64],
    upper: &'a [f64],
    values: Vec<Values>,
    scratch: Vec<f64>,
    /// Middles and half widths of the inputs and the kept neurons.
    symbols: Vec<(f64, f64)>,
    kept: Vec<(Curve, Vec<f64>)>,
    /// How far the computed values of kept neurons can be off.
    off: Vec<f64>,
    inputs: usize,
}

/// More neurons than this are not kept.
const MOST_KEPT: usize = 40;

/// What the library's functions may be off by, in sizes of at most one: far more than the three units in the last place that they are.
const FUNCTIONS: f64 = 16.0 * f64::EPSILON;

impl AffineForms {
    /// What is left of the network over a box; nothing if too much is, or if it has an operator other than layers and curves that are at most as steep as
    /// the diagonal.
    pub fn reduced(&self, lower: &[f64], upper: &[f64]) -> Option<ReducedNetwork> {
        let program = &self.program;
        let inputs = program.inputs;
        let shape = Shape { boxes: 1, columns: 1 + inputs + MOST_KEPT };
        let symbols: Vec<(f64, f64)> = lower.iter().zip(upper).map(|(&low, &high)| middle(low, high)).collect();
        let values = Vec::with_capacity(program.roles.len());
        let (kept, off, scratch) = (Vec::new(), Vec::new(), Vec::new());
        let mut partial = Partial { program, shape, lower, upper, values, scratch, symbols, kept, off, inputs };
        walk(program, &mut partial, &self.last_reader)?;
        let (mut outputs, mut errors) = (Vec::new(), Vec::new());
        for &(node, element) in &self.outputs {
            let (row, off) = partial.row(&partial.values[node], element);
            outputs.push(row);
            errors.push(off);
        }
        let sure = errors.iter().all(|error| error.is_finite());
        let middles = partial.symbols.iter().map(|symbol| symbol.0).collect();
        sure.then_some(ReducedNetwork { middles, inputs, kept: partial.kept, outputs, errors })
    }
}

impl AbstractDomain for Partial<'_> {
    type Value = Values;

    fn input(&mut self, node: usize, offset: usize) -> Option<Values> {
        let elements = offset..offset + self.program.sizes[node];
        Some(self.shape.input(offset, &self.lower[elements.clone()], &self.upper[elements]))
    }

    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Values> {
        Some(self.shape.affine(layer, &self.values, self.program.sizes[node], &mut self.scratch))
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Values> {
        Some(self.shape.movement(sources, &self.values))
    }

    fn curve(&mut self, _: usize, curve: &Curve, argument: usize) -> Option<Values> {
        // Taken out, as kept neurons are noted on the way.
        let values = std::mem::take(&mut self.values[argument]);
        let own = self.fold(curve, &values);
        self.values[argument] = values;
        own
    }

    fn product(&mut self, _: usize, _: usize, _: usize) -> Option<Values> {
        None
    }

    fn opaque(&mut self, _: usize) -> Option<Values> {
        None
    }
}

impl Keeps for Partial<'_> {
    fn values(&mut self) -> &mut Vec<Values> {
        &mut self.values
    }
}

impl Partial<'_> {
    /// An element as a function of inputs and kept neurons, in numbers that points are multiplied with: the constant, then the slopes. With it, how far
    /// its computed value can be off.
    fn row(&self, values: &Values, element: usize) -> (Vec<f64>, f64) {
        let form = &values.forms[element * self.shape.columns..(element + 1) * self.shape.columns];
        let mut row = vec![form[0]];
        let mut reach = form[0].abs();
        let mut off = values.errors[element];
        for (place, (&slope, &(_, half))) in form[1..].iter().zip(&self.symbols).enumerate() {
            let slope = if half > 0.0 { slope / half } else { 0.0 };
            row.push(slope);
            reach += (slope * half).abs();
            off += place.checked_sub(self.inputs).map_or(0.0, |kept| slope.abs() * self.off[kept]);
        }
        // The differences, products and sums of an evaluation, and the divisions above.
        let rounding = gamma(2 * row.len() + 16) * (reach + off);
        (row, (off + rounding) * ROOM + f64::MIN_POSITIVE)
    }

    /// A curve's values: new symbols where it is not linear.
    fn fold(&mut self, curve: &Curve, argument: &Values) -> Option<Values> {
        if !matches!(curve, Curve::Activation(activation) if activation.is_nonexpansive()) {
            return None;
        }
        let elements = argument.errors.len();
        let mut own = self.shape.new_values(elements);
        for element in 0..elements {
            let range = Interval::new(argument.lower[element], argument.upper[element]);
            let values = curve.enclose(range);
            (own.lower[element], own.upper[element]) = (values.lo, values.hi);
            let same = curve.hands_on(range);
            let row = element * self.shape.columns..(element + 1) * self.shape.columns;
            if same {
                own.forms[row.clone()].copy_from_slice(&argument.forms[row]);
                own.errors[element] = argument.errors[element];
            } else if values.lo == values.hi {
                own.forms[row.start] = values.lo;
            } else {
                let (told, off) = self.row(argument, element);
                let (middle, half) = middle(values.lo, values.hi);
                if self.kept.len() == MOST_KEPT || !half.is_finite() {
                    return None;
                }
                own.forms[row.start] = middle;
                own.forms[row.start + 1 + self.symbols.len()] = half;
                self.symbols.push((middle, half));
                self.off.push((off + FUNCTIONS * (1.0 + values.magnitude())) * ROOM);
                self.kept.push((*curve, told));
            }
        }
        Some(own)
    }
}

impl ReducedNetwork {
    /// How many neurons are left.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// How far each output, as it is computed, can be from the network's real one at the same point.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    /// The outputs at a point of the box. `room` is used again and again.
    pub fn evaluate(&self, point: &[f64], room: &mut Vec<f64>, outputs: &mut Vec<f64>) {
        room.clear();
        room.extend(point.iter().zip(&self.middles).map(|(x, middle)| x - middle));
        let value = |row: &[f64], away: &[f64]| row[0] + row[1..].iter().zip(away).map(|(k, x)| k * x).sum::<f64>();
        for ((curve, row), middle) in self.kept.iter().zip(&self.middles[self.inputs..]) {
            let kept = curve.value(value(row, room)) - middle;
            room.push(kept);
        }
        outputs.clear();
        outputs.extend(self.outputs.iter().map(|row| value(row, room)));
    }
}

#[cfg(test)]
mod tests {
    use certus_graph::Graph;
    use certus_graph::eval::enclose;
    use certus_graph::ops::{Affine, Matrix, Mul, Relu, Tanh};
    use proptest::prelude::*;

    use super::*;

    const WIDTH: usize = 8;

    /// Two inputs, eight neurons with breakpoints, eight more, two with tanh, from a list of numbers.
    fn network(numbers: &[f64]) -> Graph {
        let mut numbers = numbers.iter().copied().cycle();
        let mut graph = Graph::new();
        let mut last = graph.input("x", &[2]);
        for (from, to) in [(2, WIDTH), (WIDTH, WIDTH), (WIDTH, 2)] {
            let weights: Vec<f64> = numbers.by_ref().take(from * to).collect();
            let bias: Vec<f64> = numbers.by_ref().take(to).collect();
            let layer = Affine::new(vec![Matrix::dense(to, from, weights)], bias, vec![to]).unwrap();
            last = graph.apply(layer, &[last]).unwrap();
            last = if to == 2 { graph.apply(Tanh, &[last]) } else { graph.apply(Relu, &[last]) }.unwrap();
        }
        graph.output("y", last);
        graph
    }

    proptest! {
        #[test]
        fn what_is_left_is_the_network(
            numbers in prop::collection::vec(-2.0..2.0f64, 131),
            corner in prop::array::uniform2(-2.0..2.0f64),
            width in prop_oneof![Just(0.0), 0.0..1e-3f64, 0.0..0.5f64],
            shares in prop::collection::vec(prop::array::uniform2(0.0..1.0f64), 6),
        ) {
            let graph = network(&numbers);
            let ranges = AffineForms::new(&graph).unwrap();
            let upper = corner.map(|low| low + width);
            let left = ranges.reduced(&corner, &upper).unwrap();
            let (mut room, mut outputs) = (Vec::new(), Vec::new());
            for share in shares {
                let point = [corner[0] + share[0] * width, corner[1] + share[1] * width];
                let point = [point[0].min(upper[0]), point[1].min(upper[1])];
                left.evaluate(&point, &mut room, &mut outputs);
                let real = enclose(&graph, &[&point.map(Interval::point)]).unwrap().concat();
                for ((value, error), real) in outputs.iter().zip(left.errors()).zip(real) {
                    prop_assert!(*error < 1e-9, "{error}");
                    prop_assert!(real.lo - error <= *value && *value <= real.hi + error, "{value} for {real:?}");
                }
            }
        }
    }

    #[test]
    fn over_a_small_box_little_is_left() {
        let numbers: Vec<f64> = (0..131).map(|place| (f64::from(place) * 1.7).sin()).collect();
        let ranges = AffineForms::new(&network(&numbers)).unwrap();
        let kept = |reach: f64| ranges.reduced(&[0.3 - reach; 2], &[0.3 + reach; 2]).unwrap().kept();
        assert_eq!(kept(1e-6), 2);
        assert!(kept(3.0) > 8);
    }

    #[test]
    fn products_are_not_taken_apart() {
        let mut graph = Graph::new();
        let (x, y) = (graph.input("x", &[1]), graph.input("y", &[1]));
        let product = graph.apply(Mul, &[x, y]).unwrap();
        graph.output("z", product);
        assert!(AffineForms::new(&graph).unwrap().reduced(&[0.0; 2], &[1.0; 2]).is_none());
    }
}
