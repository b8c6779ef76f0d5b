//! Tensor operators, element by element, as scalar instructions.

use super::Function;
use super::program::Instruction;
use crate::ops::{Affine, Compare, Movement, Op, Operator, Reduce, ReduceKind, broadcast_offsets};
use crate::{Graph, GraphError, Interval, Node};

/// The instructions so far.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) instructions: Vec<Instruction>,
    /// The functions that were applied already, so that a sine and its slope, a cosine, are shared.
    functions: Vec<(Function, usize, usize)>,
}

impl Builder {
    pub(super) fn push(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    fn combine(&mut self, terms: &[(f64, usize)], bias: f64) -> usize {
        let terms = terms.iter().map(|&(weight, place)| (Interval::point(weight), place)).collect();
        self.push(Instruction::Combine { terms, bias: Interval::point(bias) })
    }

    fn constant_at(&self, place: usize) -> Option<Interval> {
        match self.instructions[place] {
            Instruction::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn product(&mut self, a: usize, b: usize) -> usize {
        let known = [(a, b), (b, a)].into_iter().find_map(|(x, y)| Some((self.constant_at(x)?, y)));
        match known {
            Some((weight, place)) => {
                self.push(Instruction::Combine { terms: vec![(weight, place)], bias: Interval::ZERO })
            }
            None => self.push(Instruction::Product(a, b)),
        }
    }

    fn function(&mut self, function: Function, argument: usize) -> usize {
        let same = |own: &&(Function, usize, usize)| own.0 == function && own.1 == argument;
        if let Some(&(_, _, place)) = self.functions.iter().find(same) {
            return place;
        }
        if !function.is_smooth() {
            let place = self.push(Instruction::Pieces { function, argument });
            self.functions.push((function, argument, place));
            return place;
        }
        let place = self.push(Instruction::Smooth { function, argument, slope: 0 });
        self.functions.push((function, argument, place));
        let slope = match function {
            Function::Sin => self.function(Function::Cos, argument),
            Function::Cos => {
                let sine = self.function(Function::Sin, argument);
                self.combine(&[(-1.0, sine)], 0.0)
            }
            Function::Log => self.function(Function::Reciprocal, argument),
            Function::Sqrt => {
                let reciprocal = self.function(Function::Reciprocal, place);
                self.combine(&[(0.5, reciprocal)], 0.0)
            }
            Function::Reciprocal => {
                let square = self.push(Instruction::Product(place, place));
                self.combine(&[(-1.0, square)], 0.0)
            }
            Function::Tanh => {
                let square = self.push(Instruction::Product(place, place));
                self.combine(&[(-1.0, square)], 1.0)
            }
            Function::Sigmoid => {
                let square = self.push(Instruction::Product(place, place));
                self.combine(&[(1.0, place), (-1.0, square)], 0.0)
            }
            Function::Softplus => self.function(Function::Sigmoid, argument),
            _ => place,
        };
        if let Instruction::Smooth { slope: own, .. } = &mut self.instructions[place] {
            *own = slope;
        }
        place
    }

    /// xⁿ by squaring, so that even powers are squares.
    fn integer_power(&mut self, base: usize, exponent: u32) -> usize {
        match exponent {
            0 => self.push(Instruction::Constant(Interval::ONE)),
            1 => base,
            _ if exponent.is_multiple_of(2) => {
                let half = self.integer_power(base, exponent / 2);
                self.push(Instruction::Product(half, half))
            }
            _ => {
                let rest = self.integer_power(base, exponent - 1);
                self.push(Instruction::Product(base, rest))
            }
        }
    }

    fn power(&mut self, base: usize, exponent: usize) -> usize {
        let known = self.constant_at(exponent).filter(|e| e.lo == e.hi).map(|e| e.lo);
        match known {
            Some(e) if e.fract() == 0.0 && e.abs() <= 64.0 => {
                let power = self.integer_power(base, e.abs() as u32);
                if e < 0.0 { self.function(Function::Reciprocal, power) } else { power }
            }
            Some(0.5) => self.function(Function::Sqrt, base),
            _ => {
                let logarithm = self.function(Function::Log, base);
                let scaled = self.product(exponent, logarithm);
                self.function(Function::Exp, scaled)
            }
        }
    }

    /// max(a, b), or min(a, b).
    fn extreme(&mut self, a: usize, b: usize, larger: bool) -> usize {
        let sign = if larger { 1.0 } else { -1.0 };
        let difference = self.combine(&[(sign, a), (-sign, b)], 0.0);
        let excess = self.function(Function::Relu, difference);
        self.combine(&[(1.0, b), (sign, excess)], 0.0)
    }

    fn compare(&mut self, compare: Compare, a: usize, b: usize) -> usize {
        let (sign, function) = match compare {
            Compare::Less => (-1.0, Function::Positive),
            Compare::LessEqual => (-1.0, Function::NonNegative),
            Compare::Greater => (1.0, Function::Positive),
            Compare::GreaterEqual => (1.0, Function::NonNegative),
            Compare::Equal => {
                let below = self.compare(Compare::LessEqual, a, b);
                let above = self.compare(Compare::GreaterEqual, a, b);
                return self.product(below, above);
            }
            Compare::NotEqual => {
                let equal = self.compare(Compare::Equal, a, b);
                return self.combine(&[(-1.0, equal)], 1.0);
            }
        };
        let difference = self.combine(&[(sign, a), (-sign, b)], 0.0);
        self.function(function, difference)
    }

    /// The elements of a node, from those of its arguments.
    pub(super) fn node(&mut self, graph: &Graph, node: &Node, places: &[Vec<usize>]) -> Result<Vec<usize>, GraphError> {
        let argument = |index: usize| &places[node.inputs[index].index()];
        // An argument's elements under broadcasting to the shape of the result.
        let spread = |index: usize| -> Vec<usize> {
            let offsets = broadcast_offsets(graph.shape(node.inputs[index]), &node.shape);
            offsets.into_iter().map(|offset| argument(index)[offset]).collect()
        };
        let pairs = || spread(0).into_iter().zip(spread(1));
        let each = |own: &mut Builder, function: Function| -> Vec<usize> {
            argument(0).iter().map(|&x| own.function(function, x)).collect()
        };
        Ok(match &node.op {
            Op::Constant(constant) => {
                let count = constant.value().len();
                (0..count).map(|index| self.push(Instruction::Constant(constant.interval(index)))).collect()
            }
            Op::Affine(affine) => self.affine(affine, |index| argument(index)),
            Op::Add(_) => pairs().map(|(a, b)| self.combine(&[(1.0, a), (1.0, b)], 0.0)).collect(),
            Op::Sub(_) => pairs().map(|(a, b)| self.combine(&[(1.0, a), (-1.0, b)], 0.0)).collect(),
            Op::Neg(_) => argument(0).iter().map(|&a| self.combine(&[(-1.0, a)], 0.0)).collect(),
            Op::Mul(_) => pairs().map(|(a, b)| self.product(a, b)).collect(),
            Op::Div(_) => pairs()
                .map(|(a, b)| {
                    let reciprocal = self.function(Function::Reciprocal, b);
                    self.product(a, reciprocal)
                })
                .collect(),
            Op::Pow(_) => pairs().map(|(a, b)| self.power(a, b)).collect(),
            Op::Max(_) => pairs().map(|(a, b)| self.extreme(a, b, true)).collect(),
            Op::Min(_) => pairs().map(|(a, b)| self.extreme(a, b, false)).collect(),
            Op::Compare(compare) => pairs().map(|(a, b)| self.compare(*compare, a, b)).collect(),
            Op::And(_) => pairs()
                .map(|(a, b)| {
                    let (a, b) = (self.truth(a), self.truth(b));
                    self.product(a, b)
                })
                .collect(),
            Op::Or(_) => pairs()
                .map(|(a, b)| {
                    let (a, b) = (self.truth(a), self.truth(b));
                    let both = self.product(a, b);
                    self.combine(&[(1.0, a), (1.0, b), (-1.0, both)], 0.0)
                })
                .collect(),
            Op::Not(_) => argument(0)
                .iter()
                .map(|&a| {
                    let truth = self.truth(a);
                    self.combine(&[(-1.0, truth)], 1.0)
                })
                .collect(),
            Op::Select(_) => {
                let branches = spread(0).into_iter().zip(spread(1).into_iter().zip(spread(2)));
                branches.map(|(c, (a, b))| self.push(Instruction::Select(c, a, b))).collect()
            }
            Op::Relu(_) => each(self, Function::Relu),
            Op::Clip(clip) => each(self, Function::Clip { lower: clip.lower, upper: clip.upper }),
            Op::Tanh(_) => each(self, Function::Tanh),
            Op::Sigmoid(_) => each(self, Function::Sigmoid),
            Op::Softplus(_) => each(self, Function::Softplus),
            Op::Abs(_) => each(self, Function::Abs),
            Op::Sqrt(_) => each(self, Function::Sqrt),
            Op::Exp(_) => each(self, Function::Exp),
            Op::Log(_) => each(self, Function::Log),
            Op::Sin(_) => each(self, Function::Sin),
            Op::Cos(_) => each(self, Function::Cos),
            Op::Floor(_) => each(self, Function::Floor),
            Op::Reduce(reduce) => self.reduce(reduce, graph.shape(node.inputs[0]), argument(0), &node.shape),
            Op::Reshape(_) => argument(0).clone(),
            Op::Slice(op) => moved(op, graph, node, places),
            Op::Gather(op) => moved(op, graph, node, places),
            Op::Transpose(op) => moved(op, graph, node, places),
            Op::Concat(op) => moved(op, graph, node, places),
            other => {
                let message = format!("{} cannot be part of a differential equation", other.name());
                return Err(GraphError::Inputs(message));
            }
        })
    }

    /// The truth value of a number: itself where it is 0 or 1 by construction, else whether it is not zero.
    fn truth(&mut self, place: usize) -> usize {
        match &self.instructions[place] {
            Instruction::Pieces { function: Function::Positive | Function::NonNegative, .. } => place,
            _ => {
                let zero = self.push(Instruction::Constant(Interval::ZERO));
                self.compare(Compare::NotEqual, place, zero)
            }
        }
    }

    fn affine<'p>(&mut self, affine: &Affine, argument: impl Fn(usize) -> &'p Vec<usize>) -> Vec<usize> {
        let rows = affine.bias().iter().enumerate();
        rows.map(|(row, &bias)| {
            let mut terms = Vec::new();
            for (index, matrix) in affine.matrices().iter().enumerate() {
                for (column, weight) in matrix.row(row) {
                    let weight = Interval::point(weight).widen(affine.weight_error(row));
                    if weight != Interval::ZERO {
                        terms.push((weight, argument(index)[column]));
                    }
                }
            }
            let bias = Interval::point(bias).widen(affine.bias_error(row));
            match terms[..] {
                [(Interval::ONE, place)] if bias == Interval::ZERO => place,
                _ => self.push(Instruction::Combine { terms, bias }),
            }
        })
        .collect()
    }

    fn reduce(&mut self, reduce: &Reduce, from: &[usize], elements: &[usize], shape: &[usize]) -> Vec<usize> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); shape.iter().product()];
        for (&element, target) in elements.iter().zip(reduce.targets(from)) {
            groups[target].push(element);
        }
        let count = reduce.count(from) as f64;
        groups
            .into_iter()
            .map(|group| match reduce.kind {
                ReduceKind::Sum | ReduceKind::Mean => {
                    let is_mean = reduce.kind == ReduceKind::Mean;
                    let weight = if is_mean { Interval::ONE / Interval::point(count) } else { Interval::ONE };
                    let terms = group.into_iter().map(|place| (weight, place)).collect();
                    self.push(Instruction::Combine { terms, bias: Interval::ZERO })
                }
                kind => {
                    let mut rest = group.into_iter();
                    let Some(first) = rest.next() else { return self.push(Instruction::Constant(Interval::ONE)) };
                    rest.fold(first, |a, b| match kind {
                        ReduceKind::Product => self.product(a, b),
                        _ => self.extreme(a, b, kind == ReduceKind::Max),
                    })
                }
            })
            .collect()
    }
}

fn moved(op: &impl Movement, graph: &Graph, node: &Node, places: &[Vec<usize>]) -> Vec<usize> {
    let shapes: Vec<&[usize]> = node.inputs.iter().map(|&input| graph.shape(input)).collect();
    let mut result = Vec::new();
    op.sources(&shapes, &node.shape, &mut |argument, element| {
        result.push(places[node.inputs[argument].index()][element]);
    });
    result
}
