//! Jacobian enclosure: how fast a graph's outputs change between any two points of a box.
//!
//! Between points a and b of a box the outputs differ by `D · (b − a)` with a matrix D whose entries lie in intervals: an
//! interval slope matrix, which contains every Jacobian where the graph is differentiable (Neumaier, *Interval Methods for
//! Systems of Equations*, 1990). It is found in one forward pass: an affine map multiplies, a curve multiplies by the range of
//! its difference quotients, and a product adds the shares of both arguments. Breakpoints are no obstacle, since nothing is
//! differentiated. Every node also knows its value at the middle of the box, and the mean value form (middle plus slopes
//! times distance) gives a range that is much narrower than interval arithmetic; that range decides on which side of a
//! breakpoint an element is.
//!
//! *Soundness.* Matrix products are rounded to nearest with a priori error bounds as in `bound::zonotope`; everything else
//! is interval arithmetic with outward rounding.

use certus_graph::lower::lower;
use certus_graph::ops::Operator;
use certus_graph::{Fault, Graph, GraphError, Interval};

use crate::bound::domain::{AbstractDomain, Keeps, flat_outputs, last_readers_with, walk};
use crate::bound::program::{Layer, Program};
use crate::bound::{ROOM, gamma};
use crate::relaxation::Curve;

/// A graph prepared for slopes.
pub struct Jacobian {
    program: Program,
    /// For each flattened output its node and element.
    outputs: Vec<(usize, usize)>,
    /// For each node, the last one that reads it.
    last_reader: Vec<usize>,
}

/// The outputs over a box.
#[derive(Clone, Debug, PartialEq)]
pub struct JacobianEnclosure {
    /// Each output at the middle of the box.
    pub middle: Vec<Interval>,
    /// Each output over all of the box.
    pub range: Vec<Interval>,
    /// For each output how it changes with each input.
    pub slopes: Vec<Vec<Interval>>,
}

/// What is known of a node: per element a middle value and slopes as centres with errors, and a range.
#[derive(Default)]
struct Values {
    centres: Vec<f64>,
    errors: Vec<f64>,
    ranges: Vec<Interval>,
}

/// The box, and what all nodes share.
struct Frame {
    /// How far the box reaches from its middle.
    reach: Vec<Interval>,
    /// The middle value and the slopes.
    columns: usize,
}

impl Jacobian {
    /// Prepares a graph.
    pub fn new(graph: &Graph) -> Result<Jacobian, GraphError> {
        let program = Program::new(lower(graph)?);
        let outputs = flat_outputs(&program);
        let last_reader = last_readers_with(&program, &outputs);
        Ok(Jacobian { program, outputs, last_reader })
    }

    /// The outputs over a box around a middle; nothing where they have no slopes: at a jump, or where an operator is not known well enough.
    pub fn over(&self, middle: &[f64], region: &[Interval]) -> Option<JacobianEnclosure> {
        debug_assert!(region.iter().all(|range| range.is_well_formed()));
        let columns = 1 + middle.len();
        let reach = region.iter().zip(middle).map(|(&range, &middle)| range - Interval::point(middle)).collect();
        let (program, values) = (&self.program, Vec::with_capacity(self.program.roles.len()));
        let mut pass = Pass { program, frame: Frame { reach, columns }, middle, region, values };
        walk(program, &mut pass, &self.last_reader)?;
        let Pass { frame, values, .. } = pass;
        let mut found = JacobianEnclosure { middle: Vec::new(), range: Vec::new(), slopes: Vec::new() };
        for &(node, element) in &self.outputs {
            let own = &values[node];
            found.middle.push(frame.entry(own, element, 0));
            found.range.push(own.ranges[element]);
            found.slopes.push((1..columns).map(|column| frame.entry(own, element, column)).collect());
        }
        Some(found)
    }
}

/// One forward pass over a box.
struct Pass<'a> {
    program: &'a Program,
    frame: Frame,
    middle: &'a [f64],
    region: &'a [Interval],
    values: Vec<Values>,
}

impl AbstractDomain for Pass<'_> {
    type Value = Values;

    fn input(&mut self, node: usize, offset: usize) -> Option<Values> {
        self.frame.input(offset, self.program.sizes[node], self.middle, self.region).if_finite()
    }

    fn affine(&mut self, node: usize, layer: &Layer) -> Option<Values> {
        self.frame.affine(layer, &self.values, self.program.sizes[node]).if_finite()
    }

    fn movement(&mut self, sources: &[(usize, usize)]) -> Option<Values> {
        self.frame.movement(sources, &self.values).if_finite()
    }

    fn curve(&mut self, _: usize, curve: &Curve, argument: usize) -> Option<Values> {
        self.frame.curve(curve, &self.values[argument])?.if_finite()
    }

    fn product(&mut self, _: usize, left: usize, right: usize) -> Option<Values> {
        self.frame.product(&self.values[left], &self.values[right]).if_finite()
    }

    fn opaque(&mut self, node: usize) -> Option<Values> {
        self.frame.constant(self.program, node)?.if_finite()
    }
}

impl Keeps for Pass<'_> {
    fn values(&mut self) -> &mut Vec<Values> {
        &mut self.values
    }
}

impl Values {
    /// The values, unless some number is beyond all bounds.
    fn if_finite(self) -> Option<Values> {
        self.centres.iter().chain(&self.errors).all(|value| value.is_finite()).then_some(self)
    }
}

impl Frame {
    fn entry(&self, values: &Values, element: usize, column: usize) -> Interval {
        let at = element * self.columns + column;
        Interval::point(values.centres[at]).widen(values.errors[at])
    }

    /// Adds an element by its middle value, its slopes and whatever else is known of its range.
    fn push(&self, values: &mut Values, entries: impl Iterator<Item = Interval>, known: Interval) {
        let first = values.centres.len();
        for entry in entries {
            let centre = entry.lo / 2.0 + entry.hi / 2.0;
            let error = if entry.lo == entry.hi { 0.0 } else { (entry.hi - centre).max(centre - entry.lo).next_up() };
            values.centres.push(centre);
            values.errors.push(error);
        }
        let element = first / self.columns;
        // Numbers beyond all bounds say nothing, and end the pass.
        if !values.centres[first..].iter().chain(&values.errors[first..]).all(|value| value.is_finite()) {
            values.ranges.push(known);
            return;
        }
        let range = self.range(values, element);
        values.ranges.push(range.intersection(known).unwrap_or_else(|| contradiction(range, known)));
    }

    /// The middle value and what the slopes add to it within the box.
    fn range(&self, values: &Values, element: usize) -> Interval {
        let reach = self.reach.iter().enumerate();
        reach.fold(self.entry(values, element, 0), |sum, (input, &reach)| {
            sum + self.entry(values, element, 1 + input) * reach
        })
    }

    fn input(&self, offset: usize, elements: usize, middle: &[f64], region: &[Interval]) -> Values {
        let mut own = Values::default();
        for input in offset..offset + elements {
            let slopes = (0..middle.len()).map(|other| Interval::point(f64::from(u8::from(other == input))));
            self.push(&mut own, std::iter::once(Interval::point(middle[input])).chain(slopes), region[input]);
        }
        own
    }

    /// A node that reads nothing, of the kinds that are no affine maps.
    fn constant(&self, program: &Program, node: usize) -> Option<Values> {
        let from = &program.graph.nodes()[node];
        if !from.inputs.is_empty() {
            return None;
        }
        let mut ranges = vec![Interval::ENTIRE; program.sizes[node]];
        from.op.enclose(&[], &from.shape, &mut ranges);
        let mut own = Values::default();
        for range in ranges {
            let slopes = (1..self.columns).map(|_| Interval::ZERO);
            self.push(&mut own, std::iter::once(range).chain(slopes), range);
        }
        Some(own)
    }

    fn affine(&self, layer: &Layer, values: &[Values], elements: usize) -> Values {
        let columns = self.columns;
        let mut own = Values {
            centres: vec![0.0; elements * columns],
            errors: vec![0.0; elements * columns],
            ranges: Vec::new(),
        };
        for (row, &bias) in own.centres.chunks_exact_mut(columns).zip(&layer.bias) {
            row[0] = bias;
        }
        let mut scratch = Vec::new();
        let mut slack = vec![0.0; columns];
        let mut longest = 0;
        for term in &layer.terms {
            let argument = &values[term.argument];
            longest = longest.max(term.weights.cols());
            let factor = gamma(term.weights.cols() + layer.terms.len());
            let entries = argument.centres.iter().zip(&argument.errors);
            let errors: Vec<f64> = entries.map(|(centre, error)| error + factor * centre.abs() * ROOM).collect();
            for (centres, errors) in argument.centres.chunks_exact(columns).zip(errors.chunks_exact(columns)) {
                for (slack, (centre, error)) in slack.iter_mut().zip(centres.iter().zip(errors)) {
                    *slack += term.weight_error * (centre.abs() + error) * ROOM;
                }
            }
            term.weights.mul_acc(&argument.centres, &mut own.centres, columns, &mut scratch);
            term.magnitudes.mul_acc(&errors, &mut own.errors, columns, &mut scratch);
        }
        let share = 1.0 + gamma(longest + layer.terms.len());
        for (row, errors) in own.errors.chunks_exact_mut(columns).enumerate() {
            let rest = gamma(layer.terms.len() + 2) * layer.bias[row].abs() + layer.bias_error[row];
            for (column, (error, slack)) in errors.iter_mut().zip(&slack).enumerate() {
                let rest = if column == 0 { rest } else { 0.0 };
                *error = (*error * share + slack + rest) * ROOM + f64::MIN_POSITIVE;
            }
        }
        own.ranges = (0..elements).map(|element| self.range(&own, element)).collect();
        own
    }

    fn curve(&self, curve: &Curve, argument: &Values) -> Option<Values> {
        let mut own = Values::default();
        for (element, &range) in argument.ranges.iter().enumerate() {
            let slope = curve.slopes(range)?;
            let middle = curve.enclose(self.entry(argument, element, 0));
            let slopes = (1..self.columns).map(|column| slope * self.entry(argument, element, column));
            self.push(&mut own, std::iter::once(middle).chain(slopes), curve.enclose(range));
        }
        Some(own)
    }

    /// x'y' − xy = x'(y' − y) + y(x' − x), with both factors anywhere in their ranges.
    fn product(&self, x: &Values, y: &Values) -> Values {
        let mut own = Values::default();
        for (element, (&x_range, &y_range)) in x.ranges.iter().zip(&y.ranges).enumerate() {
            let middle = self.entry(x, element, 0) * self.entry(y, element, 0);
            let slopes = (1..self.columns)
                .map(|column| x_range * self.entry(y, element, column) + y_range * self.entry(x, element, column));
            self.push(&mut own, std::iter::once(middle).chain(slopes), x_range * y_range);
        }
        own
    }

    fn movement(&self, sources: &[(usize, usize)], values: &[Values]) -> Values {
        let mut own = Values::default();
        for &(argument, element) in sources {
            let (from, row) = (&values[argument], element * self.columns..(element + 1) * self.columns);
            own.centres.extend_from_slice(&from.centres[row.clone()]);
            own.errors.extend_from_slice(&from.errors[row]);
            own.ranges.push(from.ranges[element]);
        }
        own
    }
}

/// Two enclosures of one value over a box that do not meet, where the box has points.
fn contradiction(by_slopes: Interval, by_range: Interval) -> Interval {
    Fault::raise(
        "two enclosures of one value do not meet",
        format!("slopes around the middle of a box give {by_slopes}, its range gives {by_range}"),
    );
    Interval::ENTIRE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::affine_forms::tests::{sample, value};

    proptest! {
        #[test]
        fn differences_between_points_are_slopes_times_distances(
            corner in prop::array::uniform2(-3.0..3.0f64),
            width in prop::array::uniform2(prop_oneof![0.0..1e-3f64, 0.0..1.0f64]),
            a in prop::array::uniform2(0.0..=1.0f64),
            b in prop::array::uniform2(0.0..=1.0f64),
        ) {
            let slopes = Jacobian::new(&sample()).unwrap();
            let region: Vec<Interval> =
                corner.iter().zip(&width).map(|(&low, &width)| Interval::new(low, low + width)).collect();
            let middle: Vec<f64> = region.iter().map(|range| range.lo + (range.hi - range.lo) / 2.0).collect();
            let found = slopes.over(&middle, &region).unwrap();
            let point = |share: [f64; 2]| [corner[0] + share[0] * width[0], corner[1] + share[1] * width[1]];
            let (a, b) = (point(a), point(b));
            let difference = value(b[0], b[1]) - value(a[0], a[1]);
            let along = |input: usize| found.slopes[0][input] * Interval::point(b[input] - a[input]);
            let expected = (along(0) + along(1)).widen(1e-12);
            prop_assert!(expected.contains(difference), "{difference} not in {expected}");
            prop_assert!(found.range[0].widen(1e-12).contains(value(b[0], b[1])));
            prop_assert!(found.middle[0].widen(1e-12).contains(value(middle[0], middle[1])));
        }
    }

    #[test]
    fn slopes_near_a_point_are_the_derivative() {
        let slopes = Jacobian::new(&sample()).unwrap();
        let region = [0.5, -0.2].map(|x: f64| Interval::point(x).widen(1e-9));
        let found = slopes.over(&[0.5, -0.2], &region).unwrap();
        let h = 1e-6;
        let across = (value(0.5 + h, -0.2) - value(0.5 - h, -0.2)) / (2.0 * h);
        assert!(found.slopes[0][0].widen(1e-6).contains(across));
        assert!(found.slopes[0][0].width() < 1e-6);
    }
}
