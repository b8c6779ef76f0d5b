//! The step graph of a system as polynomials.
//!
//! The network's result is outside ([`certus_lang::Open`]); where the step clamps it to constants, the clamped value is
//! the action. Everything else has to be a polynomial of states, actions and inputs, but for sines, cosines and
//! exponentials, which become Taylor polynomials with their remainder as one more choice of the environment, bounded over
//! the domain. A terminal state is its own successor, so whether it is terminal does not matter to an invariant.
//! Numbers are doubles in the graph, and exact here.

mod formula;
mod functions;
mod values;

use std::fmt;

use certus_graph::NodeId;
use certus_graph::eval::enclose;
use certus_graph::ops::Op;
use certus_lang::system::{Property, ResultRange, System};

use super::model::{Constraint, Model, Piece, Range};
use super::observation;
use super::polynomial::{Polynomial, Rational, rational};
use formula::Formula;
use values::{Reader, Value};

/// Why a system has no model of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(pub String);

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

pub(super) fn refused<T>(message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError(message.into()))
}

/// Most pieces that the unsafe states may fall into.
const MAX_PIECES: usize = 4096;

/// Reads a system whose networks are open, and the unsafe states of a property `G φ`. The domain has one range per state,
/// within the declared one; where it is missing, the declared one is taken.
pub fn read_model(system: &System, property: &Property, domain: &[Range]) -> Result<Model, ReadError> {
    supported(system)?;
    observation::exact(system)?;
    let names = system.state_names();
    let states = names.len();
    let domain = whole_domain(system, domain)?;
    let Some(network) = system.networks.first() else { return refused("the system applies no network") };
    let actions = action_limits(network)?;
    let mut choices = Vec::new();
    for input in &system.inputs {
        for (&lower, &upper) in input.lower.iter().zip(&input.upper) {
            let (Some(lower), Some(upper)) = (rational(lower), rational(upper)) else {
                return refused(format!("input '{}' is not bounded", input.name));
            };
            choices.push((lower, upper));
        }
    }
    let inputs = choices.len();
    let init: Option<Vec<(Rational, Rational)>> =
        system.init_box.0.iter().zip(&system.init_box.1).map(|(&a, &b)| Some((rational(a)?, rational(b)?))).collect();
    let Some(init) = init else { return refused("the initial states are not bounded") };

    let moved: Vec<NodeId> = system.roles.next.iter().map(|next| moved(system, next.node)).collect();
    let atom = invariant_atom(property)?;
    let Some(atom) = system.roles.atoms.get(atom) else { return refused("the property has no such atom") };
    let mut targets = moved.clone();
    targets.push(atom.truth.node);
    let mut reader = Reader::new(system, states, actions.len(), &domain, &actions, choices);
    reader.read(&targets)?;

    let mut next = Vec::with_capacity(states);
    for node in &moved {
        for value in reader.value(*node) {
            match value {
                Value::Number(number) => match number.single() {
                    Some(polynomial) => next.push(polynomial.clone()),
                    None => return refused("the next state takes a maximum, minimum or magnitude of polynomials"),
                },
                Value::Truth(_) => return refused("the next state is a truth value"),
            }
        }
    }
    let Some(Value::Truth(safe)) = reader.value(atom.truth.node).into_iter().next() else {
        return refused(format!("the property '{}' is not about a truth value", property.name));
    };
    let choices = reader.choices();
    let variables = states + actions.len() + choices.len();
    let next = next.iter().map(|polynomial| polynomial.widened(variables)).collect();
    let mut unsafe_pieces = property_pieces(&safe, states, &property.name)?;
    unsafe_pieces.extend(domain_pieces(&names, &domain));
    let model = Model { states: names, init, domain, actions, choices, inputs, next, unsafe_pieces };
    agree(system, &model)?;
    Ok(model)
}

/// Whether the system is of the kind that shields are made for.
fn supported(system: &System) -> Result<(), ReadError> {
    if !system.actions.is_empty() {
        return refused("a shield needs actions that are real numbers, and this system chooses among labels");
    }
    if !system.chances.is_empty() {
        return refused("the system makes random choices, which shields do not cover");
    }
    if system.params.iter().any(|param| param.free) {
        return refused("the system has free parameters");
    }
    if let Some(own) = system.states.iter().chain(&system.inputs).find(|own| own.integers.is_some()) {
        return refused(format!("{} has integers or labels for values, and shields are for real numbers", own.name));
    }
    if system.networks.len() != 1 {
        return refused(format!("the system applies {} networks, and a shield stands for one", system.networks.len()));
    }
    if !system.init_is_box {
        return refused("the initial states are not one box, and a shield covers one");
    }
    Ok(())
}

/// The domain within the declared ranges.
fn whole_domain(system: &System, domain: &[Range]) -> Result<Vec<Range>, ReadError> {
    let declared = system.states.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    let declared: Vec<Range> =
        declared.map(|(&lower, &upper)| Range { lower: rational(lower), upper: rational(upper) }).collect();
    if domain.is_empty() {
        return Ok(declared);
    }
    if domain.len() != declared.len() {
        return refused(format!("the domain has {} ranges for {} states", domain.len(), declared.len()));
    }
    let mut whole = Vec::with_capacity(declared.len());
    for (own, outer) in domain.iter().zip(declared) {
        let below = matches!((&own.lower, &outer.lower), (Some(a), Some(b)) if a < b);
        let above = matches!((&own.upper, &outer.upper), (Some(a), Some(b)) if a > b);
        if below || above {
            return refused("the domain is larger than a declared range");
        }
        whole.push(Range { lower: own.lower.clone().or(outer.lower), upper: own.upper.clone().or(outer.upper) });
    }
    Ok(whole)
}

/// The limits that the step puts on the network's result.
fn action_limits(network: &certus_lang::system::OpenNetwork) -> Result<Vec<Range>, ReadError> {
    match &network.range {
        ResultRange::Clamped { lower, upper } => {
            let limits = lower.iter().zip(upper);
            Ok(limits.map(|(&lower, &upper)| Range { lower: rational(lower), upper: rational(upper) }).collect())
        }
        ResultRange::Free => Ok(vec![Range { lower: None, upper: None }; network.results]),
        ResultRange::Squashed => refused(
            "the step squashes the network's result; clamp it instead, so that a program can give the action itself",
        ),
    }
}

/// The successor before terminal states are held: a terminal state stays, and that never leaves an invariant.
fn moved(system: &System, next: NodeId) -> NodeId {
    let node = system.step.node(next);
    match (&node.op, &system.roles.terminal) {
        (Op::Select(_), Some(terminal)) if node.inputs[0] == terminal.truth.node => node.inputs[2],
        _ => next,
    }
}

/// The atom φ of a property `G φ` about states.
fn invariant_atom(property: &Property) -> Result<usize, ReadError> {
    if let Some(atom) = property.invariant() {
        return Ok(atom.0);
    }
    refused(format!(
        "a shield is about a property `G φ` with φ over states, and '{}' is `{}`",
        property.name, property.source
    ))
}

/// The states that violate the property.
fn property_pieces(safe: &Formula, states: usize, name: &str) -> Result<Vec<Piece>, ReadError> {
    let Some(pieces) = safe.clone().negated().disjuncts(MAX_PIECES) else {
        return refused(format!("the unsafe states of '{name}' fall into more than {MAX_PIECES} pieces"));
    };
    let mut found = Vec::with_capacity(pieces.len());
    for (index, constraints) in pieces.into_iter().enumerate() {
        let mut own = Vec::with_capacity(constraints.len());
        for (polynomial, strict) in constraints {
            let beyond = polynomial.terms().any(|(monomial, _)| monomial[states..].iter().any(|&e| e > 0));
            if beyond {
                return refused(format!("'{name}' speaks of actions or inputs; a shield is about states"));
            }
            let mut narrowed = Polynomial::zero(states);
            for (monomial, coefficient) in polynomial.terms() {
                narrowed.add_term(monomial[..states].to_vec(), coefficient.clone());
            }
            own.push(Constraint { polynomial: narrowed, strict });
        }
        found.push(Piece { name: format!("piece {index} of '{name}'"), constraints: own, bounds_domain: false });
    }
    Ok(found)
}

/// The outside of the domain, one piece per side.
fn domain_pieces(names: &[String], domain: &[Range]) -> Vec<Piece> {
    let states = names.len();
    let mut pieces = Vec::new();
    for (index, range) in domain.iter().enumerate() {
        let variable = Polynomial::variable(states, index);
        let constant = |value: &Rational| Polynomial::constant(states, value.clone());
        let sides = [
            range.lower.as_ref().map(|lower| ("below", constant(lower).minus(&variable))),
            range.upper.as_ref().map(|upper| ("above", variable.minus(&constant(upper)))),
        ];
        for (side, polynomial) in sides.into_iter().flatten() {
            let name = format!("{} {side} the domain", names[index]);
            let constraints = vec![Constraint { polynomial, strict: true }];
            pieces.push(Piece { name, constraints, bounds_domain: true });
        }
    }
    pieces
}

/// Compares the polynomials with the interval evaluation of the step at points of the domain. Polynomials of a low degree that
/// agree at points like these are the same.
fn agree(system: &System, model: &Model) -> Result<(), ReadError> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut between = |lower: f64, upper: f64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let share = (state >> 44) as f64 / (1u64 << 20) as f64;
        let (lower, upper) = (lower.max(-1e3), upper.min(1e3));
        // Few bits, so that exact values stay short.
        ((lower + share * (upper - lower)) * 4096.0).round() / 4096.0
    };
    let end = |value: &Option<Rational>, otherwise: f64| value.as_ref().map_or(otherwise, super::polynomial::rounded);
    for _ in 0..24 {
        let mut point: Vec<f64> = Vec::new();
        point.extend(model.domain.iter().map(|r| between(end(&r.lower, -1.0), end(&r.upper, 1.0))));
        point.extend(model.actions.iter().map(|r| between(end(&r.lower, -1.0), end(&r.upper, 1.0))));
        let inputs = &model.choices[..model.inputs];
        let rounded = super::polynomial::rounded;
        point.extend(inputs.iter().map(|(a, b)| between(rounded(a), rounded(b)).clamp(rounded(a), rounded(b))));
        values::compare(system, model, &point)?;
    }
    Ok(())
}

/// Encloses the next state at a point of states, actions and inputs.
fn enclosed_next(system: &System, point: &[f64]) -> Result<Vec<certus_graph::Interval>, ReadError> {
    let ports: Vec<usize> = system.roles.next.iter().map(|next| next.port).collect();
    let graph = system.step.keep_outputs(&ports);
    let intervals: Vec<certus_graph::Interval> = point.iter().map(|&x| certus_graph::Interval::point(x)).collect();
    let states = system.state_len();
    let actions = system.networks[0].results;
    let mut slices: Vec<&[certus_graph::Interval]> = Vec::new();
    let mut at = 0;
    for variable in &system.states {
        slices.push(&intervals[at..at + variable.len]);
        at += variable.len;
    }
    at = states + actions;
    for variable in &system.inputs {
        slices.push(&intervals[at..at + variable.len]);
        at += variable.len;
    }
    slices.push(&intervals[states..states + actions]);
    let results = enclose(&graph, &slices).map_err(|error| ReadError(error.to_string()))?;
    Ok(results.into_iter().flatten().collect())
}
