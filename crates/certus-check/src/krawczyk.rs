//! Zeros of differences near a run, over the reals: the Krawczyk test.
//!
//! Krawczyk, "Newton-Algorithmen zur Bestimmung von Nullstellen mit Fehlerschranken", Computing 4, 1969; Moore, "A test for existence of solutions to nonlinear systems", SIAM J.
//! Numer. Anal. 14, 1977. What is free in a run, its first state and the choices, is a vector z, and f(z) are some differences of numbers of the run. For as many free
//! numbers as f has components, a box Z around z₀, an approximate inverse Y and slopes D of f over Z, if z₀ − Y f(z₀) + (I − Y D)(Z − z₀) lies in the interior of Z,
//! then f has a zero in Z (Brouwer).
//!
//! Slopes instead of derivatives are enough, so kinks are no obstacle; at a jump nothing is shown.

use certus_graph::ops::Sub;
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_model::Run;
use certus_solver::{Jacobian, Place};

use crate::condition::source;
use crate::enclosed::Enclosed;
use crate::replay::Drive;
use crate::unroll::Unrolled;

/// Steps of Newton's method in doubles before the test.
const NEWTON_STEPS: usize = 4;

/// Sizes of the box that are tried, as multiples of what Newton's method still moves and of the rounding.
const SIZES: [f64; 4] = [2.0, 16.0, 256.0, 65_536.0];

/// Differences of numbers of a run, as a function of what is free in it.
pub(crate) struct Differences {
    slopes: Jacobian,
    components: usize,
}

impl Differences {
    /// Of some pairs of numbers; nothing if all of them are the same number.
    pub(crate) fn new(
        unrolled: &Unrolled,
        pairs: impl IntoIterator<Item = (Place, Place)>,
    ) -> Result<Option<Differences>, GraphError> {
        let mut graph: Graph = unrolled.graph.clone();
        let mut components = 0;
        for (left, right) in pairs {
            if source(&graph, left) == source(&graph, right) {
                continue;
            }
            let (left, right) = (element(&mut graph, left)?, element(&mut graph, right)?);
            let difference = graph.apply(Sub, &[left, right])?;
            graph.output("difference", difference);
            components += 1;
        }
        let outputs: Vec<usize> = (0..components).collect();
        let graph = graph.keep_outputs(&outputs);
        Ok(if components == 0 { None } else { Some(Differences { slopes: Jacobian::new(&graph)?, components }) })
    }

    /// A box of what is free, near a run, in which all of them are zero somewhere for certain.
    pub(crate) fn zero_near(&self, unrolled: &Unrolled, run: &Run, drive: &Drive) -> Option<Enclosed> {
        let region = &unrolled.region;
        let mut at = free_numbers(unrolled, run, drive);
        let points = |at: &[f64]| at.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>();
        let first = self.slopes.over(&at, &points(&at))?;
        let centre = |value: &Interval| value.lo / 2.0 + value.hi / 2.0;
        let jacobian: Vec<Vec<f64>> = first.slopes.iter().map(|row| row.iter().map(centre).collect()).collect();
        let movable: Vec<usize> = (0..at.len())
            .filter(|&column| region.lower[column] < at[column] && at[column] < region.upper[column])
            .collect();
        let (columns, inverse) = inverted(&jacobian, &movable)?;
        // Closer, in doubles.
        let mut step = vec![0.0; self.components];
        for _ in 0..NEWTON_STEPS {
            let value = self.slopes.over(&at, &points(&at))?.middle;
            for (row, &column) in columns.iter().enumerate() {
                step[row] = inverse[row].iter().zip(&value).map(|(factor, value)| factor * centre(value)).sum();
                at[column] = (at[column] - step[row]).clamp(region.lower[column], region.upper[column]);
            }
        }
        let found = SIZES.into_iter().find_map(|size| self.krawczyk(unrolled, &at, &columns, &inverse, &step, size))?;
        Some(Enclosed {
            state: values(unrolled, &unrolled.positions[0].states, &found),
            inputs: unrolled.positions.iter().map(|position| values(unrolled, &position.inputs, &found)).collect(),
        })
    }

    /// The test with a box of one size.
    fn krawczyk(
        &self,
        unrolled: &Unrolled,
        at: &[f64],
        columns: &[usize],
        inverse: &[Vec<f64>],
        step: &[f64],
        size: f64,
    ) -> Option<Vec<Interval>> {
        let region = &unrolled.region;
        let mut tried: Vec<Interval> = at.iter().map(|&value| Interval::point(value)).collect();
        for (&column, step) in columns.iter().zip(step) {
            let radius = size * (step.abs() + f64::EPSILON * at[column].abs().max(f64::MIN_POSITIVE.sqrt()));
            tried[column] = tried[column].widen(radius);
            if tried[column].lo < region.lower[column] || tried[column].hi > region.upper[column] {
                return None;
            }
        }
        let over = self.slopes.over(at, &tried)?;
        for (row, &column) in columns.iter().enumerate() {
            let mut image = Interval::point(at[column]);
            for (component, &factor) in inverse[row].iter().enumerate() {
                image = image - Interval::point(factor) * over.middle[component];
            }
            for (other, &free) in columns.iter().enumerate() {
                let own = if other == row { Interval::ONE } else { Interval::ZERO };
                let mixed = inverse[row].iter().enumerate().fold(Interval::ZERO, |sum, (component, &factor)| {
                    sum + Interval::point(factor) * over.slopes[component][free]
                });
                image = image + (own - mixed) * (tried[free] - Interval::point(at[free]));
            }
            let inside = tried[column].lo < image.lo && image.hi < tried[column].hi;
            if !inside {
                return None;
            }
        }
        Some(tried)
    }
}

/// One element of a node, as a node.
fn element(graph: &mut Graph, place: Place) -> Result<NodeId, GraphError> {
    use certus_graph::ops::{Reshape, Slice};
    let place = source(graph, place);
    let count = graph.elements(place.node);
    let flat = if graph.shape(place.node) == [count] {
        place.node
    } else {
        graph.apply(Reshape { shape: vec![count] }, &[place.node])?
    };
    graph.apply(Slice::of_vector(place.element, 1), &[flat])
}

/// What was free in a run.
pub(crate) fn free_numbers(unrolled: &Unrolled, run: &Run, drive: &Drive) -> Vec<f64> {
    let region = &unrolled.region;
    let mut free: Vec<f64> = region.lower.iter().zip(&region.upper).map(|(low, high)| low / 2.0 + high / 2.0).collect();
    let mut put = |nodes: &[NodeId], values: &[f64]| {
        let places = nodes
            .iter()
            .flat_map(|&node| (0..unrolled.graph.elements(node)).map(move |element| Place { node, element }));
        for (place, &value) in places.zip(values) {
            let place = source(&unrolled.graph, place);
            if matches!(unrolled.graph.node(place.node).op, certus_graph::ops::Op::Input(_)) {
                free[place.element] = value;
            }
        }
    };
    let one_hot =
        |count: usize, label: usize| -> Vec<f64> { (0..count).map(|own| f64::from(u8::from(own == label))).collect() };
    for (index, position) in unrolled.positions.iter().enumerate() {
        if index == 0 {
            put(&position.states, &run.states[0]);
        }
        put(&position.inputs, &drive.inputs[index]);
        for (&node, &label) in position.chances.iter().zip(&drive.chances[index]) {
            put(&[node], &one_hot(unrolled.graph.elements(node), label));
        }
        for (&node, &label) in position.choices.iter().zip(&drive.choices[index]) {
            put(&[node], &one_hot(unrolled.graph.elements(node), label));
        }
    }
    free
}

/// The values of nodes that only move what is free, or are constants.
fn values(unrolled: &Unrolled, nodes: &[NodeId], free: &[Interval]) -> Vec<Interval> {
    let value = |place: Place| {
        let place = source(&unrolled.graph, place);
        match unrolled.graph.constant_value(place.node) {
            Some(constant) => Interval::point(constant.data()[place.element]),
            None => free.get(place.element).copied().unwrap_or(Interval::ENTIRE),
        }
    };
    let places =
        nodes.iter().flat_map(|&node| (0..unrolled.graph.elements(node)).map(move |element| Place { node, element }));
    places.map(value).collect()
}

/// As many columns as a matrix has rows, chosen so that they are independent, and the inverse of what they make.
fn inverted(rows: &[Vec<f64>], movable: &[usize]) -> Option<(Vec<usize>, Vec<Vec<f64>>)> {
    let count = rows.len();
    let mut work: Vec<Vec<f64>> = rows.to_vec();
    let mut inverse: Vec<Vec<f64>> =
        (0..count).map(|row| (0..count).map(|own| f64::from(u8::from(own == row))).collect()).collect();
    let mut columns = Vec::with_capacity(count);
    let scale = rows.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
    for row in 0..count {
        let largest = |&a: &usize, &b: &usize| work[row][a].abs().total_cmp(&work[row][b].abs());
        let column = movable.iter().copied().filter(|column| !columns.contains(column)).max_by(largest)?;
        let pivot = work[row][column];
        if pivot.abs() <= 1e-10 * scale || !pivot.is_finite() {
            return None;
        }
        columns.push(column);
        for table in [&mut work, &mut inverse] {
            table[row].iter_mut().for_each(|value| *value /= pivot);
        }
        for other in (0..count).filter(|&other| other != row) {
            let factor = work[other][column];
            for table in [&mut work, &mut inverse] {
                let own = table[row].clone();
                table[other].iter_mut().zip(own).for_each(|(value, own)| *value -= factor * own);
            }
        }
    }
    Some((columns, inverse))
}
