//! Taylor coefficients in time of everything that a right-hand side computes, order by order.
//!
//! *Source.* Moore 1979, chapter 3; Griewank and Walther, *Evaluating Derivatives*, chapter 13. With x[k] = x⁽ᵏ⁾(0)/k!:
//! sums combine coefficients, products convolve them, a function y = g(x) with y' = w·x' has k·y[k] = Σᵢ i·x[i]·w[k−i], and the
//! equation itself gives x[k+1] = f(x)[k] / (k+1).
//!
//! A coefficient that is zero whatever the start (held numbers have no others) is known to be, which makes linear plants cheap
//! and leaves functions of held numbers alone with their value.

use super::program::{Instruction, Program};
use super::{Arithmetic, Function};
use crate::Interval;

/// One coefficient.
#[derive(Clone, Debug)]
enum Coefficient<V> {
    /// Zero for every start.
    Zero,
    Known(V),
    /// An operation is not defined, or not smooth, somewhere in its argument's range.
    Undefined,
}

use Coefficient::{Known, Undefined, Zero};

/// The coefficients computed so far.
pub(super) struct Series<'p, A: Arithmetic> {
    program: &'p Program,
    held: Vec<A::Value>,
    varying: Vec<A::Value>,
    /// By variable, then by order.
    states: Vec<Vec<Coefficient<A::Value>>>,
    /// By instruction, then by order.
    table: Vec<Vec<Coefficient<A::Value>>>,
}

impl<'p, A: Arithmetic> Series<'p, A> {
    /// The series of the solution through a start; varying numbers are constant in it.
    pub(super) fn new(program: &'p Program, state: &[A::Value], held: &[A::Value], varying: &[A::Value]) -> Self {
        Series {
            program,
            held: held.to_vec(),
            varying: varying.to_vec(),
            states: state.iter().map(|value| vec![Known(value.clone())]).collect(),
            table: vec![Vec::new(); program.instructions.len()],
        }
    }

    /// The value of the right-hand side at the start, without anything that only slopes need.
    pub(super) fn value(mut self, arithmetic: &mut A) -> Option<Vec<A::Value>> {
        for place in 0..self.program.instructions.len() {
            let own = if self.program.needed[place] { self.next(arithmetic, place, 0) } else { Undefined };
            self.table[place].push(own);
        }
        self.program.results.iter().map(|&place| materialised(arithmetic, &self.table[place][0])).collect()
    }

    /// The highest order of the state's coefficients that is known.
    pub(super) fn order(&self) -> usize {
        self.states.first().map_or(0, |own| own.len() - 1)
    }

    /// Computes one order more; `None` where an operation has no such coefficient.
    pub(super) fn advance(&mut self, arithmetic: &mut A) -> Option<()> {
        let k = self.order();
        for place in 0..self.program.instructions.len() {
            let own = self.next(arithmetic, place, k);
            self.table[place].push(own);
        }
        let factor = Interval::ONE / Interval::point((k + 1) as f64);
        for (variable, &place) in self.program.results.iter().enumerate() {
            let own = match &self.table[place][k] {
                Zero => Zero,
                Known(value) if k == 0 => Known(value.clone()),
                Known(value) => Known(arithmetic.scale(value, factor)),
                Undefined => return None,
            };
            self.states[variable].push(own);
        }
        Some(())
    }

    /// The state's coefficients of one order.
    pub(super) fn coefficients(&self, arithmetic: &mut A, order: usize) -> Option<Vec<A::Value>> {
        self.states.iter().map(|own| materialised(arithmetic, own.get(order)?)).collect()
    }

    fn next(&self, arithmetic: &mut A, place: usize, k: usize) -> Coefficient<A::Value> {
        let constant = |value: &A::Value| if k == 0 { Known(value.clone()) } else { Zero };
        match &self.program.instructions[place] {
            Instruction::State(i) => self.states[*i][k].clone(),
            Instruction::Held(i) => constant(&self.held[*i]),
            Instruction::Varying(i) => constant(&self.varying[*i]),
            Instruction::Constant(value) => match k {
                0 => Known(arithmetic.constant(*value)),
                _ => Zero,
            },
            Instruction::Combine { terms, bias } => {
                let bias = if k == 0 { *bias } else { Interval::ZERO };
                let terms = terms.iter().map(|(weight, argument)| (*weight, &self.table[*argument][k]));
                combined(arithmetic, terms, bias)
            }
            Instruction::Product(a, b) => self.product(arithmetic, *a, *b, k),
            Instruction::Smooth { function, argument, slope } => match k {
                0 => self.applied(arithmetic, *function, *argument),
                _ => self.chained(arithmetic, *argument, *slope, k),
            },
            Instruction::Pieces { function, argument } => match k {
                0 => self.applied(arithmetic, *function, *argument),
                _ => self.piece(arithmetic, *function, *argument, k),
            },
            Instruction::Select(condition, yes, no) => {
                let (yes, no) = (&self.table[*yes][k], &self.table[*no][k]);
                let Some(condition) = materialised(arithmetic, &self.table[*condition][0]) else { return Undefined };
                match (arithmetic.range(&condition).certainty(), yes, no) {
                    (Some(true), own, _) | (Some(false), _, own) => own.clone(),
                    (None, Zero, Zero) => Zero,
                    (None, Undefined, _) | (None, _, Undefined) => Undefined,
                    (None, yes, no) if k == 0 => match (materialised(arithmetic, yes), materialised(arithmetic, no)) {
                        (Some(yes), Some(no)) => Known(arithmetic.select(&condition, &yes, &no)),
                        _ => Undefined,
                    },
                    _ => Undefined,
                }
            }
        }
    }

    fn applied(&self, arithmetic: &mut A, function: Function, argument: usize) -> Coefficient<A::Value> {
        let Some(value) = materialised(arithmetic, &self.table[argument][0]) else { return Undefined };
        arithmetic.apply(function, &value).map_or(Undefined, Known)
    }

    /// Σᵢ a[i]·b[k−i]; for a square the two products of a pair are one.
    fn product(&self, arithmetic: &mut A, a: usize, b: usize, k: usize) -> Coefficient<A::Value> {
        let (left, right) = (&self.table[a], &self.table[b]);
        let two = Interval::point(2.0);
        let pairs: Vec<(usize, usize, Interval)> = match a == b {
            false => (0..=k).map(|i| (i, k - i, Interval::ONE)).collect(),
            true => (0..=k / 2).map(|i| (i, k - i, if i == k - i { Interval::ONE } else { two })).collect(),
        };
        weighted_products(arithmetic, pairs.into_iter().map(|(i, j, weight)| (weight, &left[i], &right[j])))
    }

    /// y[k] = Σᵢ (i/k)·x[i]·w[k−i] over i = 1, …, k.
    fn chained(&self, arithmetic: &mut A, argument: usize, slope: usize, k: usize) -> Coefficient<A::Value> {
        let (x, w) = (&self.table[argument], &self.table[slope]);
        let weight = |i: usize| Interval::point(i as f64) / Interval::point(k as f64);
        weighted_products(arithmetic, (1..=k).map(|i| (weight(i), &x[i], &w[k - i])))
    }

    /// Inside of a linear piece the coefficients are those of the argument times its slope.
    fn piece(&self, arithmetic: &mut A, function: Function, argument: usize, k: usize) -> Coefficient<A::Value> {
        let x = &self.table[argument];
        if x[1..=k].iter().all(|own| matches!(own, Zero)) {
            return Zero;
        }
        let Some(start) = materialised(arithmetic, &x[0]) else { return Undefined };
        match (function.piece(arithmetic.range(&start)), &x[k]) {
            (Some(0.0), _) | (Some(_), Zero) => Zero,
            (Some(slope), Known(value)) => Known(arithmetic.scale(value, Interval::point(slope))),
            _ => Undefined,
        }
    }
}

fn materialised<A: Arithmetic>(arithmetic: &mut A, own: &Coefficient<A::Value>) -> Option<A::Value> {
    match own {
        Zero => Some(arithmetic.constant(Interval::ZERO)),
        Known(value) => Some(value.clone()),
        Undefined => None,
    }
}

fn combined<'c, A: Arithmetic>(
    arithmetic: &mut A,
    terms: impl Iterator<Item = (Interval, &'c Coefficient<A::Value>)>,
    bias: Interval,
) -> Coefficient<A::Value>
where
    A::Value: 'c,
{
    let mut known: Vec<(Interval, &A::Value)> = Vec::new();
    for (weight, own) in terms {
        match own {
            Zero => {}
            Known(value) => known.push((weight, value)),
            Undefined => return Undefined,
        }
    }
    match known[..] {
        [] if bias == Interval::ZERO => Zero,
        [] => Known(arithmetic.constant(bias)),
        [(Interval::ONE, value)] if bias == Interval::ZERO => Known(value.clone()),
        [(weight, value)] if bias == Interval::ZERO => Known(arithmetic.scale(value, weight)),
        _ => Known(arithmetic.combine(&known, bias)),
    }
}

fn weighted_products<'c, A: Arithmetic>(
    arithmetic: &mut A,
    pairs: impl Iterator<Item = (Interval, &'c Coefficient<A::Value>, &'c Coefficient<A::Value>)>,
) -> Coefficient<A::Value>
where
    A::Value: 'c,
{
    let mut products: Vec<(Interval, Coefficient<A::Value>)> = Vec::new();
    for (weight, a, b) in pairs {
        match (a, b) {
            (Zero, _) | (_, Zero) => {}
            (Known(a), Known(b)) => products.push((weight, Known(arithmetic.mul(a, b)))),
            _ => return Undefined,
        }
    }
    combined(arithmetic, products.iter().map(|(weight, own)| (*weight, own)), Interval::ZERO)
}
