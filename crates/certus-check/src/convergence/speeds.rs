//! Which coordinates are the speeds of others: `next x = x + h · v`, with v a coordinate or its next value.
//!
//! A guess for h comes from slopes. What counts is that the step says so itself: the graph of `next x − x − h · v` is zero after constants were
//! folded and linear operators fused, so it is an identity, and not merely small. It is about states that are not terminal: those that are keep
//! their value, whatever their speed.

use certus_graph::canonical::{canonicalize_around_outputs, simplified};
use certus_graph::eval::enclose;
use certus_graph::ops::{Gather, Mul, Op, Sub};
use certus_graph::{Graph, GraphError, Interval, NodeId, Tensor};
use certus_lang::system::System;

/// A coordinate whose sign, from the next position on, is that of another one's increments, up to a sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Speed {
    /// The coordinate that moves.
    pub(super) of: usize,
    /// The coordinate that says how fast.
    pub(super) speed: usize,
    /// Positive if it moves upwards where the speed is positive, otherwise negative.
    pub(super) sign: f64,
}

/// Guesses agree as well as this.
const AGREEMENT: f64 = 1e-6;

/// All of them.
pub(super) fn found(system: &System, slopes: &[Vec<Interval>]) -> Result<Vec<Speed>, GraphError> {
    let middle = |i: usize, j: usize| slopes[i][j].lo / 2.0 + slopes[i][j].hi / 2.0;
    let size = slopes.len();
    let step = Moving::new(system)?;
    let mut all = Vec::new();
    for (of, speed) in (0..size).flat_map(|of| (0..size).map(move |speed| (of, speed))).filter(|(a, b)| a != b) {
        let moved: Vec<f64> = (0..size).map(|j| middle(of, j) - f64::from(u8::from(of == j))).collect();
        let after: Vec<f64> = (0..size).map(|j| middle(speed, j)).collect();
        let before: Vec<f64> = (0..size).map(|j| f64::from(u8::from(speed == j))).collect();
        for (is_next, guide) in [(true, after), (false, before)] {
            let Some(factor) = ratio(&moved, &guide) else { continue };
            // Numbers that somebody wrote have few digits.
            let rounded = format!("{factor:.9e}").parse().unwrap_or(factor);
            for factor in [rounded, factor] {
                if step.is_identity(system, of, speed, is_next, factor)? {
                    all.push(Speed { of, speed, sign: factor.signum() });
                    break;
                }
            }
        }
    }
    Ok(all)
}

/// The number by which one row is a multiple of another, if it is one.
fn ratio(row: &[f64], other: &[f64]) -> Option<f64> {
    let (place, largest) = other.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let factor = row[place] / largest;
    let off = row.iter().zip(other).map(|(own, other)| (own - factor * other).abs()).fold(0.0, f64::max);
    (factor.is_finite() && factor != 0.0 && off <= AGREEMENT * factor.abs() * largest.abs()).then_some(factor)
}

/// The step of states that are not terminal.
struct Moving {
    graph: Graph,
    states: Vec<NodeId>,
    next: Vec<NodeId>,
}

impl Moving {
    fn new(system: &System) -> Result<Moving, GraphError> {
        let (step, roles) = (&system.step, &system.roles);
        let terminal = roles.terminal.map(|terminal| terminal.truth.node);
        let mut graph = Graph::new();
        let mut mapped: Vec<NodeId> = Vec::with_capacity(step.len());
        let mut inputs = step.inputs().iter();
        for (id, node) in step.ids().zip(step.nodes()) {
            let arguments: Vec<NodeId> = node.inputs.iter().map(|input| mapped[input.index()]).collect();
            mapped.push(match &node.op {
                Op::Input(_) => graph.input(inputs.next().map_or("", |port| &port.name), &node.shape),
                _ if Some(id) == terminal => graph.constant(Tensor::new(&*node.shape, vec![0.0; step.elements(id)])?),
                op => graph.apply(op.clone(), &arguments)?,
            });
        }
        for port in step.outputs() {
            graph.output(&port.name, mapped[port.node.index()]);
        }
        let states = roles.states.iter().map(|state| mapped[state.index()]).collect();
        let next = roles.next.iter().map(|next| mapped[next.node.index()]).collect();
        Ok(Moving { graph, states, next })
    }

    /// Whether one coordinate moves by a multiple of another, or of its next value.
    fn is_identity(
        &self,
        system: &System,
        of: usize,
        speed: usize,
        is_next: bool,
        factor: f64,
    ) -> Result<bool, GraphError> {
        let mut graph: Graph = self.graph.clone();
        let kept = graph.outputs().len();
        let offsets = system.state_offsets();
        let variable = |place: usize| offsets.iter().rposition(|&offset| offset <= place).unwrap_or(0);
        let element = |graph: &mut Graph, place: usize, is_next: bool| -> Result<NodeId, GraphError> {
            let variable = variable(place);
            let node = if is_next { self.next[variable] } else { self.states[variable] };
            graph.apply(Gather { axis: 0, index_shape: vec![1], indices: vec![place - offsets[variable]] }, &[node])
        };
        let after = element(&mut graph, of, true)?;
        let before = element(&mut graph, of, false)?;
        let guide = element(&mut graph, speed, is_next)?;
        let factor = graph.constant(Tensor::vector(vec![factor]));
        let way = graph.apply(Mul, &[factor, guide])?;
        let moved = graph.apply(Sub, &[after, before])?;
        let rest = graph.apply(Sub, &[moved, way])?;
        graph.output("rest", rest);
        // The speed is an output here, so that what is added and taken away again is one number and not two sums that round differently.
        let (moving, guiding) = (variable(of), variable(speed));
        let speed = (moving != guiding).then_some(system.roles.next[guiding].port);
        let ports: Vec<usize> = speed.into_iter().chain([kept]).collect();
        let graph = canonicalize_around_outputs(&simplified(&graph.keep_outputs(&ports))?)?;
        let graph = graph.keep_outputs(&[ports.len() - 1]);
        // Whatever the state is, as long as it is in its range.
        let ranges: Vec<Vec<Interval>> = system
            .states
            .iter()
            .map(|own| own.lower.iter().zip(&own.upper).map(|(&low, &high)| Interval::new(low, high)).collect())
            .collect();
        let slices: Vec<&[Interval]> = ranges.iter().map(Vec::as_slice).collect();
        Ok(enclose(&graph, &slices)?.concat().iter().all(|&value| value == Interval::ZERO))
    }
}
