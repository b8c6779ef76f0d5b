//! Where the operations of a term are inside of their domains.
//!
//! Division, logarithms, roots and powers are partial functions, and using one outside of its domain is a model error, whatever is
//! made of the result (docs/semantics.md). So a term has, beside its value, a truth value that says where it is defined. `if` and
//! `match` are lazy: only the branch that is taken counts. Everything else is strict. A term without partial operations has none,
//! and costs nothing.

use std::rc::Rc;

use certus_graph::ops::{Op, ReduceKind};
use certus_graph::{Graph, NodeId};

use crate::check::term::{Function, Term, TermKind};
use crate::syntax::ast::CompareOp;

use super::builder::Binary;
use super::environment::Environment;
use super::{Lowered, Lowering};

/// Where an operation is defined, by its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Domain {
    Everywhere,
    NotZero,
    NotNegative,
    Positive,
}

impl Domain {
    /// The bases that have a power with this exponent.
    fn of_exponent(exponent: f64) -> Domain {
        match (exponent.fract() == 0.0, exponent < 0.0) {
            (true, false) => Domain::Everywhere,
            (true, true) => Domain::NotZero,
            (false, false) => Domain::NotNegative,
            (false, true) => Domain::Positive,
        }
    }

    fn contains(self, value: f64) -> bool {
        match self {
            Domain::Everywhere => true,
            Domain::NotZero => value != 0.0,
            Domain::NotNegative => value >= 0.0,
            Domain::Positive => value > 0.0,
        }
    }
}

impl Lowering<'_> {
    /// Where a term is defined, as one truth value or one for each element; nothing if everywhere.
    pub(super) fn defined(&mut self, t: &Term, env: &mut Environment) -> Lowered<Option<NodeId>> {
        if let Some(known) = env.defined.get(&Rc::as_ptr(t)) {
            return Ok(*known);
        }
        let found = self.new_defined(t, env)?;
        env.defined.insert(Rc::as_ptr(t), found);
        Ok(found)
    }

    /// Where all of a term is defined, as one truth value.
    pub(super) fn all_defined(&mut self, t: &Term, env: &mut Environment) -> Lowered<Option<NodeId>> {
        let found = self.defined(t, env)?;
        found.map(|node| self.builder.reduce(ReduceKind::Min, node)).transpose()
    }

    /// A conjunction; nothing if it has no parts.
    pub(super) fn every(&mut self, parts: impl IntoIterator<Item = Option<NodeId>>) -> Lowered<Option<NodeId>> {
        let parts: Vec<NodeId> = parts.into_iter().flatten().collect();
        if parts.is_empty() { Ok(None) } else { self.builder.join(Binary::And, &parts).map(Some) }
    }

    fn new_defined(&mut self, t: &Term, env: &mut Environment) -> Lowered<Option<NodeId>> {
        match &t.kind {
            TermKind::Number(..)
            | TermKind::Truth(..)
            | TermKind::State(_)
            | TermKind::Next(_)
            | TermKind::Input(_)
            | TermKind::FreeParam(_)
            // Policies are evaluated at every position, and looked at there.
            | TermKind::Policy(_)
            | TermKind::IsLabel(..) => Ok(None),
            TermKind::Define(i) => {
                let model = self.model;
                self.defined(&model.defines[*i].1, env)
            }
            TermKind::Net(network, arguments) => {
                let own = self.all_of(arguments, env)?;
                let model = self.model;
                let inside = self.network_defined(&model.networks[*network], arguments, env)?;
                self.every([own, inside])
            }
            TermKind::OpenNet(_, arguments) => self.all_of(arguments, env),
            TermKind::Apply(function, a) => {
                let own = self.defined(a, env)?;
                let domain = match function {
                    Function::Log => Domain::Positive,
                    Function::Sqrt => Domain::NotNegative,
                    Function::Tan => Domain::NotZero,
                    _ => Domain::Everywhere,
                };
                if domain == Domain::Everywhere {
                    return Ok(own);
                }
                let mut operand = self.term(a, env)?;
                if *function == Function::Tan {
                    operand = self.builder.function(Function::Cos, operand)?;
                }
                let inside = self.inside(operand, domain)?;
                self.every([own, inside])
            }
            TermKind::Mul(parts) => {
                let mut found = Vec::new();
                for (divides, part) in parts {
                    found.push(self.defined(part, env)?);
                    if *divides {
                        found.push(self.term_inside(part, Domain::NotZero, env)?);
                    }
                }
                self.every(found)
            }
            TermKind::Power(base, exponent) => {
                let own = [self.defined(base, env)?, self.defined(exponent, env)?];
                let inside = match exponent.numbers() {
                    Some(exponents) => {
                        let domains: Vec<Domain> = exponents.iter().map(|&own| Domain::of_exponent(own)).collect();
                        self.powers_inside(base, &domains, env)?
                    }
                    // A free parameter as exponent: the base has to be positive.
                    None => self.term_inside(base, Domain::Positive, env)?,
                };
                self.every(own.into_iter().chain([inside]))
            }
            TermKind::Add(parts) => {
                let parts: Vec<Term> = parts.iter().map(|(_, part)| Rc::clone(part)).collect();
                self.elementwise(&parts, env)
            }
            TermKind::Max(parts) | TermKind::Min(parts) | TermKind::And(parts) | TermKind::Or(parts) => {
                self.elementwise(parts, env)
            }
            TermKind::Compare(_, a, b) | TermKind::Iff(a, b) => {
                let parts = [self.defined(a, env)?, self.defined(b, env)?];
                self.every(parts)
            }
            TermKind::Not(a) | TermKind::Member(a, _) => self.defined(a, env),
            TermKind::Throughout(condition, part) => self.throughout_defined(condition, *part, env),
            TermKind::Sum(a) | TermKind::MaxOf(a) | TermKind::MinOf(a) | TermKind::All(a) | TermKind::Any(a) => {
                self.all_defined(a, env)
            }
            TermKind::Pick(base, _) => self.all_defined(base, env),
            TermKind::Concat(parts) => self.all_of(parts, env),
            TermKind::If(c, a, b) => {
                let condition = self.defined(c, env)?;
                let (then, otherwise) = (self.defined(a, env)?, self.defined(b, env)?);
                let taken = match (then, otherwise) {
                    (None, None) => None,
                    (then, otherwise) => {
                        let c = self.term(c, env)?;
                        let always = self.builder.constant(&[1.0]);
                        Some(self.builder.select(c, then.unwrap_or(always), otherwise.unwrap_or(always))?)
                    }
                };
                self.every([condition, taken])
            }
            TermKind::Match(choice, arms) => {
                let arms = arms.iter().map(|arm| self.defined(arm, env)).collect::<Lowered<Vec<_>>>()?;
                if arms.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let one_hot = self.one_hot(*choice, env)?;
                let always = self.builder.constant(&[1.0]);
                let nodes: Vec<NodeId> = arms.into_iter().map(|arm| arm.unwrap_or(always)).collect();
                self.selected(one_hot, &nodes).map(Some)
            }
        }
    }

    fn elementwise(&mut self, parts: &[Term], env: &mut Environment) -> Lowered<Option<NodeId>> {
        let found = parts.iter().map(|part| self.defined(part, env)).collect::<Lowered<Vec<_>>>()?;
        self.every(found)
    }

    fn all_of(&mut self, parts: &[Term], env: &mut Environment) -> Lowered<Option<NodeId>> {
        let found = parts.iter().map(|part| self.all_defined(part, env)).collect::<Lowered<Vec<_>>>()?;
        self.every(found)
    }

    /// Where a term lies in a domain; nothing if its constants say that it does.
    fn term_inside(&mut self, t: &Term, domain: Domain, env: &mut Environment) -> Lowered<Option<NodeId>> {
        if t.numbers().is_some_and(|values| values.iter().all(|&value| domain.contains(value))) {
            return Ok(None);
        }
        let operand = self.term(t, env)?;
        self.inside(operand, domain)
    }

    fn inside(&mut self, operand: NodeId, domain: Domain) -> Lowered<Option<NodeId>> {
        let op = match domain {
            Domain::Everywhere => return Ok(None),
            Domain::NotZero => CompareOp::NotEqual,
            Domain::NotNegative => CompareOp::GreaterEqual,
            Domain::Positive => CompareOp::Greater,
        };
        let zero = self.builder.constant(&[0.0]);
        self.builder.compare(op, operand, zero).map(Some)
    }

    /// Where bases lie in the domains of their exponents, one for all or one for each.
    fn powers_inside(&mut self, base: &Term, domains: &[Domain], env: &mut Environment) -> Lowered<Option<NodeId>> {
        let mut found = Vec::new();
        for domain in [Domain::NotZero, Domain::NotNegative, Domain::Positive] {
            if !domains.contains(&domain) {
                continue;
            }
            let Some(inside) = self.term_inside(base, domain, env)? else { continue };
            // Other exponents do not care.
            let others: Vec<f64> = domains.iter().map(|own| f64::from(u8::from(*own != domain))).collect();
            let others = self.builder.constant(&others);
            found.push(Some(self.builder.binary(Binary::Or, others, inside)?));
        }
        self.every(found)
    }

    /// Where the operations inside of a network are defined.
    fn network_defined(
        &mut self,
        network: &Graph,
        arguments: &[Term],
        env: &mut Environment,
    ) -> Lowered<Option<NodeId>> {
        let partial = partial_operands(network);
        if partial.is_empty() {
            return Ok(None);
        }
        let mut open = network.clone();
        for (operand, _) in &partial {
            open.output("", *operand);
        }
        let arguments = arguments.iter().map(|t| self.term(t, env)).collect::<Lowered<Vec<_>>>()?;
        let input = self.builder.concat(&arguments)?;
        let outputs = self.builder.network_outputs(&open, input)?;
        let mut found = Vec::new();
        for (operand, (_, domain)) in outputs.into_iter().skip(network.outputs().len()).zip(&partial) {
            let inside = self.inside(operand, *domain)?;
            found.push(inside.map(|node| self.builder.reduce(ReduceKind::Min, node)).transpose()?);
        }
        self.every(found)
    }
}

/// The operands of a graph's partial operations that are not known to be in their domains.
fn partial_operands(graph: &Graph) -> Vec<(NodeId, Domain)> {
    let mut found = Vec::new();
    for node in graph.nodes() {
        let (operand, domain) = match &node.op {
            Op::Div(_) => (node.inputs[1], Domain::NotZero),
            Op::Log(_) => (node.inputs[0], Domain::Positive),
            Op::Sqrt(_) => (node.inputs[0], Domain::NotNegative),
            Op::Pow(_) => {
                let exponents = graph.constant_value(node.inputs[1]).map(|value| value.data().to_vec());
                let domains = exponents.iter().flatten().map(|&own| Domain::of_exponent(own));
                // The narrowest of several: networks have one exponent.
                let narrowest =
                    |a: Domain, b: Domain| if a == b || b == Domain::Everywhere { a } else { Domain::Positive };
                let domain = domains.reduce(narrowest).unwrap_or(Domain::Positive);
                (node.inputs[0], domain)
            }
            _ => continue,
        };
        let known =
            graph.constant_value(operand).is_some_and(|value| value.data().iter().all(|&own| domain.contains(own)));
        if domain != Domain::Everywhere && !known {
            found.push((operand, domain));
        }
    }
    found
}
