//! A right-hand side as a list of scalar instructions, from a graph of tensor operators.
//!
//! The graph is brought into canonical form first, so sums are combined, constants folded (with their rounding errors, which
//! become intervals) and equal nodes shared. What is not smooth is written with pieces: maxima as y + relu(x − y), comparisons
//! as steps of a difference, connectives as products of truth values.
//!
//! A smooth function y = g(x) other than a sum or product names the slot of its *slope* w with y' = w·x'; the recurrence for
//! its coefficients is then the same for all of them (`series.rs`). A slope may stand behind what it is the slope of, since
//! coefficient k of y needs those of w below k only.

use super::Function;
use super::build::Builder;
use crate::canonical::canonicalize;
use crate::ops::Op;
use crate::{Graph, GraphError, Interval};

/// A right-hand side with more scalar instructions is refused.
const MOST_INSTRUCTIONS: usize = 50_000;

/// One scalar instruction; arguments are places of other instructions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Instruction {
    State(usize),
    Held(usize),
    Varying(usize),
    Constant(Interval),
    Combine {
        terms: Vec<(Interval, usize)>,
        bias: Interval,
    },
    Product(usize, usize),
    /// A smooth function, and where its slope is.
    Smooth {
        function: Function,
        argument: usize,
        slope: usize,
    },
    /// A function with kinks or jumps.
    Pieces {
        function: Function,
        argument: usize,
    },
    /// The second where the first is not zero, else the third.
    Select(usize, usize, usize),
}

/// The instructions in an order in which order-0 values can be computed, and the places of the results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) results: Vec<usize>,
    /// Which instructions the values of the results need; the others are slopes.
    pub(super) needed: Vec<bool>,
}

impl Program {
    /// The program of a graph whose inputs are state, held and, if there are any, varying numbers.
    pub(super) fn new(graph: &Graph) -> Result<Program, GraphError> {
        let graph = canonicalize(graph)?;
        let mut builder = Builder::default();
        let mut places: Vec<Vec<usize>> = Vec::with_capacity(graph.len());
        let mut port = 0;
        for node in graph.nodes() {
            let own = match &node.op {
                Op::Input(_) => {
                    let make = [Instruction::State, Instruction::Held, Instruction::Varying][port.min(2)];
                    port += 1;
                    (0..node.shape.iter().product()).map(|i| builder.push(make(i))).collect()
                }
                _ => builder.node(&graph, node, &places)?,
            };
            if builder.instructions.len() > MOST_INSTRUCTIONS {
                let message = format!("a differential equation of more than {MOST_INSTRUCTIONS} operations");
                return Err(GraphError::Inputs(message));
            }
            places.push(own);
        }
        let results: Vec<usize> =
            graph.outputs().iter().flat_map(|port| places[port.node.index()].iter().copied()).collect();
        let needed = needed(&builder.instructions, &results);
        Ok(Program { instructions: builder.instructions, results, needed })
    }

    /// The places that the value of an instruction depends on directly.
    pub(super) fn arguments(instruction: &Instruction) -> Vec<usize> {
        match instruction {
            Instruction::Combine { terms, .. } => terms.iter().map(|(_, place)| *place).collect(),
            Instruction::Product(a, b) => vec![*a, *b],
            Instruction::Smooth { argument, .. } | Instruction::Pieces { argument, .. } => vec![*argument],
            Instruction::Select(condition, yes, no) => vec![*condition, *yes, *no],
            _ => Vec::new(),
        }
    }

    /// For each instruction, whether its value changes over a period.
    pub(super) fn moving(&self) -> Vec<bool> {
        let mut moving: Vec<bool> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let own = matches!(instruction, Instruction::State(_) | Instruction::Varying(_));
            moving.push(own || Program::arguments(instruction).iter().any(|&place| moving[place]));
        }
        moving
    }
}

fn needed(instructions: &[Instruction], results: &[usize]) -> Vec<bool> {
    let mut needed = vec![false; instructions.len()];
    results.iter().for_each(|&place| needed[place] = true);
    for place in (0..instructions.len()).rev() {
        if needed[place] {
            Program::arguments(&instructions[place]).iter().for_each(|&argument| needed[argument] = true);
        }
    }
    needed
}
