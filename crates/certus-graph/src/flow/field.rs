//! The right-hand side of an ordinary differential equation.

use std::sync::Arc;

use super::arithmetic::middle;
use super::growth::grows_linearly;
use super::program::{Instruction, Program};
use super::series::Series;
use super::{Arithmetic, Floats};
use crate::{Graph, GraphError, Interval};

/// x' = f(x, held, varying) as a scalar program.
#[derive(Clone, Debug)]
pub struct Field {
    graph: Arc<Graph>,
    states: usize,
    held: usize,
    varying: Vec<Interval>,
    pub(super) program: Program,
    /// Whether something that moves meets a kink or a jump.
    kinks: bool,
    complete: bool,
}

impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        self.varying == other.varying && self.graph == other.graph
    }
}

impl Field {
    /// The field of a graph with the inputs state, held and, if `varying` is not empty, varying, and one output with a derivative
    /// for every state. `varying` are the ranges of the varying inputs.
    pub fn new(graph: &Graph, varying: &[Interval]) -> Result<Field, GraphError> {
        let lengths: Vec<usize> = graph.inputs().iter().map(|port| graph.elements(port.node)).collect();
        let expected = if varying.is_empty() { 2 } else { 3 };
        if lengths.len() != expected || lengths.get(2).is_some_and(|&len| len != varying.len()) {
            let message = format!("a field of {} varying inputs over inputs of lengths {lengths:?}", varying.len());
            return Err(GraphError::Inputs(message));
        }
        let program = Program::new(graph)?;
        if program.results.len() != lengths[0] {
            let message = format!("{} derivatives of {} numbers", program.results.len(), lengths[0]);
            return Err(GraphError::Inputs(message));
        }
        let moving = program.moving();
        let kinked = |place: usize| match &program.instructions[place] {
            Instruction::Pieces { argument, .. } => moving[*argument],
            Instruction::Select(condition, ..) => moving[*condition],
            _ => false,
        };
        let kinks = (0..moving.len()).any(kinked);
        let complete = grows_linearly(&program);
        let (states, held) = (lengths[0], lengths[1]);
        Ok(Field { graph: Arc::new(graph.clone()), states, held, varying: varying.to_vec(), program, kinks, complete })
    }

    /// The graph that it was made from.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How many numbers are integrated.
    pub fn states(&self) -> usize {
        self.states
    }

    /// How many numbers are held over a period.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The ranges of the inputs that may change within a period.
    pub fn varying(&self) -> &[Interval] {
        &self.varying
    }

    /// Whether solutions have Taylor coefficients of all orders: nothing that moves meets a kink or a jump, and nothing varies.
    /// Otherwise only first-order enclosures x0 + [0, h]·f(B) are valid.
    pub fn smooth(&self) -> bool {
        !self.kinks && self.varying.is_empty()
    }

    /// Whether something that moves meets a kink or a jump.
    pub(super) fn has_kinks(&self) -> bool {
        self.kinks
    }

    /// Whether every solution certainly exists for all time: every operation is defined everywhere, and |f| grows at most linearly.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Value of the field; `None` where an operation is not defined on the whole of its argument.
    pub fn value<A: Arithmetic>(
        &self,
        arithmetic: &mut A,
        state: &[A::Value],
        held: &[A::Value],
        varying: &[A::Value],
    ) -> Option<Vec<A::Value>> {
        if state.len() != self.states || held.len() != self.held || varying.len() != self.varying.len() {
            return None;
        }
        Series::new(&self.program, state, held, varying).value(arithmetic)
    }

    /// Taylor coefficients `x_[0..=order]` in time of the solution through `state`, as `[k][variable]`: `x_[k+1] = f(x)_[k] / (k+1)`.
    /// Varying inputs are at the middles of their ranges. `None` where the field is not smooth or not defined on the whole start.
    pub fn coefficients<A: Arithmetic>(
        &self,
        arithmetic: &mut A,
        state: &[A::Value],
        held: &[A::Value],
        order: usize,
    ) -> Option<Vec<Vec<A::Value>>> {
        if self.kinks || state.len() != self.states || held.len() != self.held {
            return None;
        }
        let middles: Vec<A::Value> =
            self.varying.iter().map(|own| arithmetic.constant(Interval::point(middle(*own)))).collect();
        let mut series = Series::new(&self.program, state, held, &middles);
        for _ in 0..order {
            series.advance(arithmetic)?;
        }
        (0..=order).map(|k| series.coefficients(arithmetic, k)).collect()
    }

    /// The field at a point, in doubles.
    pub(super) fn at(&self, state: &[f64], held: &[f64], varying: &[f64]) -> Option<Vec<f64>> {
        self.value(&mut Floats, state, held, varying)
    }
}
