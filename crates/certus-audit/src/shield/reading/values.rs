//! The nodes of a step as polynomials and truth values over them.

use certus_graph::ops::{Compare, Movement, Op, ReduceKind};
use certus_graph::{Graph, NodeId};
use certus_lang::system::System;

use super::formula::Formula;
use super::functions::Function;
use super::{ReadError, enclosed_next, refused};
use crate::shield::model::{Model, Range};
use crate::shield::polynomial::{Polynomial, Rational, is_negative, magnitude, rational};

/// One element of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(Number),
    /// A truth value.
    Truth(Formula),
}

/// A polynomial, or the largest or smallest of some.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A polynomial.
    One(Polynomial),
    /// The largest of these.
    Largest(Vec<Polynomial>),
    /// The smallest of these.
    Smallest(Vec<Polynomial>),
}

impl Number {
    /// The polynomial, if it is one.
    pub fn single(&self) -> Option<&Polynomial> {
        match self {
            Number::One(polynomial) => Some(polynomial),
            _ => None,
        }
    }

    fn parts(&self) -> &[Polynomial] {
        match self {
            Number::One(polynomial) => std::slice::from_ref(polynomial),
            Number::Largest(parts) | Number::Smallest(parts) => parts,
        }
    }

    fn mapped(&self, change: impl Fn(&Polynomial) -> Polynomial, turned: bool) -> Number {
        let parts: Vec<Polynomial> = self.parts().iter().map(change).collect();
        match (self, turned) {
            (Number::One(_), _) => Number::One(parts.into_iter().next().unwrap_or_else(|| Polynomial::zero(0))),
            (Number::Largest(_), false) | (Number::Smallest(_), true) => Number::Largest(parts),
            _ => Number::Smallest(parts),
        }
    }

    fn plus(&self, other: &Number) -> Option<Number> {
        match (self, other) {
            (one, Number::One(p)) => Some(one.mapped(|q| q.plus(p), false)),
            (Number::One(p), many) => Some(many.mapped(|q| q.plus(p), false)),
            _ => None,
        }
    }

    fn scaled(&self, factor: &Rational) -> Number {
        self.mapped(|p| p.scaled(factor), is_negative(factor))
    }

    fn largest(&self, other: &Number) -> Option<Number> {
        let joined = || self.parts().iter().chain(other.parts()).cloned().collect();
        match (self, other) {
            (Number::Smallest(_), _) | (_, Number::Smallest(_)) => None,
            _ => Some(Number::Largest(joined())),
        }
    }

    /// Where it is positive (or zero, unless strict).
    fn positive(&self, strict: bool) -> Formula {
        let each = self.parts().iter().map(|p| Formula::Positive(p.clone(), strict));
        match self {
            Number::Smallest(_) => Formula::And(each.collect()),
            _ => Formula::Or(each.collect()),
        }
    }
}

/// Reads nodes in their order.
pub struct Reader<'s> {
    system: &'s System,
    graph: &'s Graph,
    states: usize,
    actions: usize,
    /// The magnitude of each variable at most, where it is bounded; remainders are added as they are found.
    reach: Vec<Option<Rational>>,
    choices: Vec<(Rational, Rational)>,
    values: Vec<Option<Vec<Value>>>,
}

/// Variables that are kept free for remainders while the number of them is not known.
const SPARE: usize = 16;

impl<'s> Reader<'s> {
    /// A reader; variables are states, actions, inputs, and remainders after them.
    pub fn new(
        system: &'s System,
        states: usize,
        actions: usize,
        domain: &[Range],
        limits: &[Range],
        choices: Vec<(Rational, Rational)>,
    ) -> Self {
        let farther = |range: &Range| {
            let (lower, upper) = (range.lower.clone()?, range.upper.clone()?);
            Some(magnitude(lower).max(magnitude(upper)))
        };
        let mut reach: Vec<Option<Rational>> = domain.iter().chain(limits).map(farther).collect();
        reach.extend(choices.iter().map(|(a, b)| Some(magnitude(a.clone()).max(magnitude(b.clone())))));
        let graph = &system.step;
        Reader { system, graph, states, actions, reach, choices, values: vec![None; graph.len()] }
    }

    fn variables(&self) -> usize {
        self.states + self.actions + self.system.inputs.iter().map(|input| input.len).sum::<usize>() + SPARE
    }

    /// What the environment chooses from, remainders among them.
    pub fn choices(&self) -> Vec<(Rational, Rational)> {
        self.choices.clone()
    }

    /// What a node is.
    pub fn value(&self, node: NodeId) -> Vec<Value> {
        let used = self.states + self.actions + self.choices.len();
        let narrow = |value: &Value| match value {
            Value::Number(number) => Value::Number(number.mapped(|p| narrowed(p, used), false)),
            truth => truth.clone(),
        };
        self.values[node.index()].iter().flatten().map(narrow).collect()
    }

    /// Reads everything that the targets depend on.
    pub fn read(&mut self, targets: &[NodeId]) -> Result<(), ReadError> {
        let mut needed = vec![false; self.graph.len()];
        targets.iter().for_each(|target| needed[target.index()] = true);
        for index in (0..self.graph.len()).rev().filter(|&index| needed[index]).collect::<Vec<_>>() {
            let mut pending = vec![index];
            while let Some(index) = pending.pop() {
                for input in &self.graph.nodes()[index].inputs {
                    if !std::mem::replace(&mut needed[input.index()], true) {
                        pending.push(input.index());
                    }
                }
            }
        }
        for id in self.graph.ids().filter(|id| needed[id.index()]).collect::<Vec<_>>() {
            let value = self.node(id)?;
            self.values[id.index()] = Some(value);
        }
        Ok(())
    }

    fn input(&self, id: NodeId) -> Result<Vec<Value>, ReadError> {
        let roles = &self.system.roles;
        let mut start = 0;
        let all = roles.states.iter().chain(roles.networks.iter().map(|role| &role.result)).chain(&roles.inputs);
        for node in all {
            let len = self.graph.elements(*node);
            if *node == id {
                let variable = |i| Value::Number(Number::One(Polynomial::variable(self.variables(), start + i)));
                return Ok((0..len).map(variable).collect());
            }
            start += len;
        }
        refused("the step has an input that shields do not know")
    }

    fn argument(&self, id: NodeId) -> &[Value] {
        self.values[id.index()].as_deref().unwrap_or(&[])
    }

    /// The element of an argument that belongs to an element of the result, by broadcasting.
    fn broadcast(&self, id: NodeId, element: usize) -> Result<Value, ReadError> {
        let values = self.argument(id);
        let value = if values.len() == 1 { values.first() } else { values.get(element) };
        value.cloned().ok_or_else(|| ReadError("shapes that do not broadcast".to_owned()))
    }

    fn number(&self, id: NodeId, element: usize) -> Result<Number, ReadError> {
        match self.broadcast(id, element)? {
            Value::Number(number) => Ok(number),
            Value::Truth(_) => refused("a truth value is used as a number"),
        }
    }

    fn truth(&self, id: NodeId, element: usize) -> Result<Formula, ReadError> {
        match self.broadcast(id, element)? {
            Value::Truth(formula) => Ok(formula),
            // A number that is known is true unless it is zero.
            Value::Number(number) => match number.single().and_then(Polynomial::as_constant) {
                Some(value) => Ok(Formula::Constant(!value.is_zero())),
                None => refused("a number is used as a truth value"),
            },
        }
    }

    fn node(&mut self, id: NodeId) -> Result<Vec<Value>, ReadError> {
        let node = self.graph.node(id);
        let elements = self.graph.elements(id);
        let args = &node.inputs;
        match &node.op {
            Op::Input(_) => return self.input(id),
            Op::Constant(constant) if constant.is_exact() => {
                let values = constant.value().data().iter();
                let exact: Option<Vec<Value>> = values
                    .map(|&x| Some(Value::Number(Number::One(Polynomial::constant(self.variables(), rational(x)?)))))
                    .collect();
                return exact.ok_or_else(|| ReadError("a constant is not a finite number".to_owned()));
            }
            // The clamped result of the network is the action itself, and `Model::actions` has its limits.
            Op::Clip(_) if self.is_network(args[0]) => return Ok(self.argument(args[0]).to_vec()),
            Op::Max(_) | Op::Min(_) if args.iter().any(|&arg| self.is_network(arg)) => {
                let network = args.iter().find(|&&arg| self.is_network(arg)).copied().unwrap_or(args[0]);
                return Ok(self.argument(network).to_vec());
            }
            Op::Slice(movement) => return Ok(self.moved(movement, args, &node.shape)),
            Op::Gather(movement) => return Ok(self.moved(movement, args, &node.shape)),
            Op::Concat(movement) => return Ok(self.moved(movement, args, &node.shape)),
            Op::Reshape(_) => return Ok(self.argument(args[0]).to_vec()),
            Op::Reduce(reduce) => return self.reduced(reduce, args[0], elements),
            _ => {}
        }
        (0..elements).map(|element| self.element(&node.op.clone(), args, element)).collect()
    }

    /// Whether a node is the network's result, or the first half of its clamping.
    fn is_network(&self, id: NodeId) -> bool {
        let limited = matches!(self.system.networks[0].range, certus_lang::system::ResultRange::Clamped { .. });
        let result = self.system.roles.networks[0].result;
        let half = |node: NodeId| {
            let node = self.graph.node(node);
            matches!(node.op, Op::Max(_)) && node.inputs.contains(&result)
        };
        limited && (id == result || half(id))
    }

    fn moved(&self, movement: &impl Movement, args: &[NodeId], shape: &[usize]) -> Vec<Value> {
        let shapes: Vec<&[usize]> = args.iter().map(|&arg| self.graph.shape(arg)).collect();
        let mut result = Vec::new();
        movement.sources(&shapes, shape, &mut |arg, element| {
            result.extend(self.argument(args[arg]).get(element).cloned());
        });
        result
    }

    fn reduced(
        &self,
        reduce: &certus_graph::ops::Reduce,
        arg: NodeId,
        elements: usize,
    ) -> Result<Vec<Value>, ReadError> {
        let targets = reduce.targets(self.graph.shape(arg));
        let mut results = Vec::with_capacity(elements);
        for element in 0..elements {
            let places: Vec<usize> = (0..targets.len()).filter(|&i| targets[i] == element).collect();
            let truths = matches!(self.argument(arg).first(), Some(Value::Truth(_)));
            results.push(match (reduce.kind, truths) {
                (ReduceKind::Min, true) => {
                    let parts: Result<Vec<Formula>, ReadError> = places.iter().map(|&i| self.truth(arg, i)).collect();
                    Value::Truth(Formula::And(parts?))
                }
                (ReduceKind::Max, true) => {
                    let parts: Result<Vec<Formula>, ReadError> = places.iter().map(|&i| self.truth(arg, i)).collect();
                    Value::Truth(Formula::Or(parts?))
                }
                (ReduceKind::Sum, false) => {
                    let mut sum = Number::One(Polynomial::zero(self.variables()));
                    for &i in &places {
                        sum = sum.plus(&self.number(arg, i)?).ok_or_else(|| unsupported("a sum of maxima"))?;
                    }
                    Value::Number(sum)
                }
                (ReduceKind::Max, false) => {
                    let mut parts = Vec::new();
                    for &i in &places {
                        parts.extend(self.number(arg, i)?.parts().to_vec());
                    }
                    Value::Number(Number::Largest(parts))
                }
                _ => return refused("the step reduces a vector in a way that shields do not support"),
            });
        }
        Ok(results)
    }

    fn element(&mut self, op: &Op, args: &[NodeId], element: usize) -> Result<Value, ReadError> {
        let number = |reader: &Self, arg: usize| reader.number(args[arg], element);
        let truth = |reader: &Self, arg: usize| reader.truth(args[arg], element);
        let value = match op {
            Op::Add(_) => Value::Number(
                number(self, 0)?.plus(&number(self, 1)?).ok_or_else(|| unsupported("a sum of maxima or minima"))?,
            ),
            Op::Sub(_) => {
                let negative = number(self, 1)?.scaled(&-Rational::ONE);
                let sum = number(self, 0)?.plus(&negative);
                Value::Number(sum.ok_or_else(|| unsupported("a difference of maxima or minima"))?)
            }
            Op::Neg(_) => Value::Number(number(self, 0)?.scaled(&-Rational::ONE)),
            Op::Mul(_) => Value::Number(product(&number(self, 0)?, &number(self, 1)?)?),
            Op::Div(_) => {
                let divisor = number(self, 1)?.single().and_then(Polynomial::as_constant).filter(|d| !d.is_zero());
                let divisor = divisor.ok_or_else(|| unsupported("a quotient whose divisor is not a number"))?;
                Value::Number(number(self, 0)?.scaled(&(Rational::ONE / divisor)))
            }
            Op::Pow(_) => {
                let exponent = number(self, 1)?.single().and_then(Polynomial::as_constant);
                let whole = (0..=32u32).find(|&k| exponent.as_ref() == Some(&Rational::from(k)));
                let (base, Some(whole)) = (number(self, 0)?, whole) else {
                    return Err(unsupported("a power whose exponent is not a small whole number"));
                };
                let power = base.single().and_then(|p| p.power(whole));
                Value::Number(Number::One(power.ok_or_else(|| unsupported("a power of a maximum"))?))
            }
            Op::Abs(_) => match number(self, 0)? {
                Number::One(p) => Value::Number(Number::Largest(vec![p.clone(), p.scaled(&-Rational::ONE)])),
                _ => return Err(unsupported("the magnitude of a maximum or minimum")),
            },
            Op::Max(_) => Value::Number(
                number(self, 0)?.largest(&number(self, 1)?).ok_or_else(|| unsupported("a maximum of minima"))?,
            ),
            Op::Min(_) => {
                let minus = -Rational::ONE;
                let (a, b) = (number(self, 0)?.scaled(&minus), number(self, 1)?.scaled(&minus));
                let largest = a.largest(&b).ok_or_else(|| unsupported("a minimum of maxima"))?;
                Value::Number(largest.scaled(&minus))
            }
            Op::Sin(_) => self.taylor(Function::Sine, number(self, 0)?)?,
            Op::Cos(_) => self.taylor(Function::Cosine, number(self, 0)?)?,
            Op::Exp(_) => self.taylor(Function::Exponential, number(self, 0)?)?,
            Op::Compare(compare) => self.compared(*compare, args, element)?,
            Op::Not(_) => Value::Truth(truth(self, 0)?.negated()),
            Op::And(_) => Value::Truth(Formula::And(vec![truth(self, 0)?, truth(self, 1)?])),
            Op::Or(_) => Value::Truth(Formula::Or(vec![truth(self, 0)?, truth(self, 1)?])),
            Op::Select(_) => self.selected(args, element)?,
            other => return Err(unsupported(certus_graph::ops::Operator::name(other))),
        };
        Ok(value)
    }

    fn compared(&self, compare: Compare, args: &[NodeId], element: usize) -> Result<Value, ReadError> {
        let (a, b) = (self.number(args[0], element)?, self.number(args[1], element)?);
        let minus = -Rational::ONE;
        let difference = |x: &Number, y: &Number| {
            x.plus(&y.scaled(&minus)).ok_or_else(|| unsupported("a comparison of two maxima or minima"))
        };
        Ok(Value::Truth(match compare {
            Compare::Greater => difference(&a, &b)?.positive(true),
            Compare::GreaterEqual => difference(&a, &b)?.positive(false),
            Compare::Less => difference(&b, &a)?.positive(true),
            Compare::LessEqual => difference(&b, &a)?.positive(false),
            Compare::Equal => {
                Formula::And(vec![difference(&a, &b)?.positive(false), difference(&b, &a)?.positive(false)])
            }
            Compare::NotEqual => {
                Formula::Or(vec![difference(&a, &b)?.positive(true), difference(&b, &a)?.positive(true)])
            }
        }))
    }

    /// `if` with a condition that is known, or between truth values.
    fn selected(&self, args: &[NodeId], element: usize) -> Result<Value, ReadError> {
        let condition = self.truth(args[0], element)?;
        match condition.clone().disjuncts(1024) {
            Some(cases) if cases.is_empty() => return self.broadcast(args[2], element),
            Some(cases) if cases.iter().any(Vec::is_empty) => return self.broadcast(args[1], element),
            _ => {}
        }
        match (self.broadcast(args[1], element)?, self.broadcast(args[2], element)?) {
            (Value::Truth(a), Value::Truth(b)) => Ok(Value::Truth(Formula::Or(vec![
                Formula::And(vec![condition.clone(), a]),
                Formula::And(vec![condition.negated(), b]),
            ]))),
            _ => Err(unsupported("`if` between numbers")),
        }
    }

    /// A Taylor polynomial and its remainder.
    fn taylor(&mut self, function: Function, argument: Number) -> Result<Value, ReadError> {
        let Some(argument) = argument.single() else { return Err(unsupported("a function of a maximum")) };
        let mut reach = Rational::ZERO;
        for (monomial, coefficient) in argument.terms() {
            let mut product = magnitude(coefficient.clone());
            for (index, &exponent) in monomial.iter().enumerate() {
                for _ in 0..exponent {
                    let bound = self.reach.get(index).cloned().flatten();
                    product *=
                        bound.ok_or_else(|| ReadError("a sine or exponential has no bounded argument".into()))?;
                }
            }
            reach += product;
        }
        let coefficients = function.coefficients();
        let variables = self.variables();
        let mut sum = Polynomial::zero(variables);
        for (power, coefficient) in (0u32..).zip(&coefficients) {
            let power = argument.power(power).ok_or_else(|| unsupported("a power that is too high"))?;
            sum.add_scaled(&power, coefficient);
        }
        let index = self.reach.len();
        if index >= variables {
            return Err(unsupported("so many sines, cosines and exponentials"));
        }
        let bound = function.remainder(&reach);
        self.reach.push(Some(bound.clone()));
        self.choices.push((-bound.clone(), bound));
        Ok(Value::Number(Number::One(sum.plus(&Polynomial::variable(variables, index)))))
    }
}

fn unsupported(what: &str) -> ReadError {
    ReadError(format!("the step has {what}, which shields do not support"))
}

/// A product of which at least one factor is a polynomial, and a number if the other is not.
fn product(a: &Number, b: &Number) -> Result<Number, ReadError> {
    match (a.single(), b.single()) {
        (Some(p), Some(q)) => Ok(Number::One(p.times(q).ok_or_else(|| unsupported("a power that is too high"))?)),
        (Some(p), None) | (None, Some(p)) => match p.as_constant() {
            Some(factor) => Ok(if a.single().is_some() { b.scaled(&factor) } else { a.scaled(&factor) }),
            None => Err(unsupported("a product with a maximum or minimum")),
        },
        _ => Err(unsupported("a product of maxima or minima")),
    }
}

/// The same polynomial over fewer variables; what is cut off does not occur.
fn narrowed(polynomial: &Polynomial, variables: usize) -> Polynomial {
    let mut narrow = Polynomial::zero(variables);
    for (monomial, coefficient) in polynomial.terms() {
        narrow.add_term(monomial[..variables].to_vec(), coefficient.clone());
    }
    narrow
}

/// Compares the model with the step at a point of states, actions and inputs.
pub fn compare(system: &System, model: &Model, point: &[f64]) -> Result<(), ReadError> {
    let exact: Option<Vec<Rational>> = point.iter().map(|&x| rational(x)).collect();
    let Some(mut exact) = exact else { return Ok(()) };
    exact.extend(model.choices[model.inputs..].iter().map(|_| Rational::ZERO));
    let enclosed = enclosed_next(system, point)?;
    for (index, (polynomial, interval)) in model.next.iter().zip(enclosed).enumerate() {
        let value = polynomial.value(&exact);
        // Remainders move the value by at most their bound times the largest slope; slopes are constants here or small.
        let mut slack = Rational::ZERO;
        for (offset, (_, bound)) in model.choices[model.inputs..].iter().enumerate() {
            let place = model.states.len() + model.actions.len() + model.inputs + offset;
            let slope = polynomial.derivative(place).value(&exact);
            slack += magnitude(slope) * bound;
        }
        let (Some(lower), Some(upper)) = (rational(interval.lo), rational(interval.hi)) else { continue };
        let agrees = lower - &slack <= value && value <= upper + &slack;
        let stays = interval.lo <= point[index] && point[index] <= interval.hi;
        if !agrees && !stays {
            return refused(format!("the polynomial of next({}) is not what the step computes", model.states[index]));
        }
    }
    Ok(())
}
