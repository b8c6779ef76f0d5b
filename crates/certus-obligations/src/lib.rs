//! What must have no answer for a verdict to be right.
//!
//! A certificate of a checked property holds a few *words*: a depth, an invariant, a ranking function, and why no run meets a model
//! error. From these and the system follow its *obligations*: graphs, each with a box and a formula that nothing in
//! the box may satisfy. This crate derives them from `docs/semantics.md`, with code of its own: how a run is laid out,
//! what a temporal formula says of it, what a condition is in linear comparisons. It takes on trust how a file becomes a step
//! (`certus-lang`) and the simplified form of a graph (`certus-graph`).
//!
//! It depends on no engine, and never will: a fault there must not hide itself here.

#![forbid(unsafe_code)]

mod ahead;
mod all_time;
mod errors;
mod formula;
mod proofs;
mod reach;
mod run;
mod settle;
mod temporal;
mod truth;
mod words;

use std::fmt;

use certus_audit::{Atom, Problem, Variable};
use certus_graph::ops::Op;
use certus_graph::{Graph, GraphError, Interval, NodeId};
use certus_lang::system::{AtomId, Formula as Ltl, Property, System};

pub use temporal::Nnf;
pub use words::{Errors, Face, Method, Proof, WitnessChoice, Words};

use formula::{Formula, Place};
use run::Run;
use settle::Question;

/// A formula that nothing in a box may satisfy.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// What it asks for, in words.
    pub title: String,
    /// The graph; its outputs are what the formula speaks of.
    pub graph: Graph,
    /// The least value of each input.
    pub lower: Vec<f64>,
    /// The greatest value of each input.
    pub upper: Vec<f64>,
    /// What is asked.
    pub formula: certus_audit::Formula,
}

impl Obligation {
    /// As the checker of certificates takes it.
    pub fn problem(&self) -> Problem<'_> {
        Problem {
            graph: &self.graph,
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            formula: self.formula.clone(),
        }
    }
}

/// What follows from the words of a proof.
#[derive(Clone, Debug)]
pub struct Obligations {
    /// What must have no answer.
    pub open: Vec<Obligation>,
    /// How many more have none by intervals alone.
    pub settled: usize,
    /// How far the proof reaches.
    pub scope: Scope,
}

/// How far a proof reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For all time.
    AllTime,
    /// Up to the last step that the property speaks of.
    Horizon(u64),
    /// Up to so many steps.
    Steps(usize),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::AllTime => f.write_str("for all time"),
            Scope::Horizon(step) => write!(f, "up to step {step}"),
            Scope::Steps(steps) => write!(f, "up to {steps} steps"),
        }
    }
}

/// Why words are no proof of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Refused {
    /// With a reason.
    pub fn new(message: impl Into<String>) -> Refused {
        Refused(message.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl From<GraphError> for Refused {
    fn from(error: GraphError) -> Refused {
        Refused(error.to_string())
    }
}

/// The obligations of a proof.
pub fn obligations(system: &System, property: &Property, words: &Words) -> Result<Obligations, Refused> {
    let formula = formula_of(system, property)?;
    let mut asked = Asked::default();
    let scope = proofs::derive(system, formula, &words.proof, &mut asked)?;
    errors::derive(system, formula, words, &mut asked)?;
    Ok(Obligations { open: asked.open, settled: asked.settled, scope })
}

/// The obligations of its words about model errors alone.
pub fn error_obligations(system: &System, property: &Property, words: &Words) -> Result<Vec<Obligation>, Refused> {
    let mut asked = Asked::default();
    errors::derive(system, formula_of(system, property)?, words, &mut asked)?;
    Ok(asked.open)
}

/// The formula of a property of a closed system.
pub fn formula_of<'p>(system: &System, property: &'p Property) -> Result<&'p Ltl, Refused> {
    if !system.networks.is_empty() || !system.roles.free_params.is_empty() {
        return Err(Refused::new("the system is open"));
    }
    property.over_runs().map_err(Refused::new)
}

/// Obligations as they are found.
#[derive(Default)]
struct Asked {
    open: Vec<Obligation>,
    settled: usize,
}

impl Asked {
    /// Asks that a run does not satisfy all of some formulas.
    fn never(&mut self, title: impl Into<String>, run: Run<'_>, parts: Vec<Formula>) -> Result<(), Refused> {
        let question = Question { graph: run.graph, free: run.free, formula: Formula::all(parts) }.settled()?;
        if question.formula.is_false() {
            self.settled += 1;
            return Ok(());
        }
        self.open.push(exposed(title.into(), question));
        Ok(())
    }
}

/// A question whose formula speaks of inputs and outputs.
fn exposed(title: String, question: Question) -> Obligation {
    let Question { mut graph, free, formula } = question;
    let before = graph.outputs().len();
    let mut starts: Vec<(NodeId, usize)> = Vec::new();
    let mut elements = 0;
    for node in formula.nodes() {
        if !matches!(graph.node(node).op, Op::Input(_)) {
            graph.output(&format!("node {}", node.index()), node);
            starts.push((node, elements));
            elements += graph.elements(node);
        }
    }
    let variable = |place: Place| match starts.iter().find(|(node, _)| *node == place.node) {
        Some((_, start)) => Variable::Output(start + place.element),
        None => Variable::Input(place.element),
    };
    let formula = in_variables(&formula, &variable);
    let (lower, upper) = free.into_iter().unzip();
    let graph = graph.keep_outputs(&(before..before + starts.len()).collect::<Vec<_>>());
    Obligation { title, graph, lower, upper, formula }
}

fn in_variables(formula: &Formula, variable: &dyn Fn(Place) -> Variable) -> certus_audit::Formula {
    let all = |parts: &[Formula]| parts.iter().map(|part| in_variables(part, variable)).collect();
    match formula {
        Formula::And(parts) => certus_audit::Formula::And(all(parts)),
        Formula::Or(parts) => certus_audit::Formula::Or(all(parts)),
        Formula::Atom { sum, strict } => {
            let terms = sum.terms.iter().map(|&(place, coefficient)| (variable(place), coefficient)).collect();
            certus_audit::Formula::Atom(Atom { terms, constant: sum.constant, strict: *strict })
        }
        // Truth values are comparisons once a question is settled; one that is not would be at least one half.
        Formula::Truth(place, wanted) => {
            let sign = if *wanted { -1.0 } else { 1.0 };
            let terms = vec![(variable(*place), Interval::point(sign))];
            let constant = Interval::point(-sign * 0.5);
            certus_audit::Formula::Atom(Atom { terms, constant, strict: !wanted })
        }
    }
}

/// Whether some atom of a formula reads what is chosen at its position.
fn reads_choice(system: &System, formula: &Nnf) -> bool {
    formula.atoms().into_iter().any(|atom| is_chosen(system, atom))
}

fn is_chosen(system: &System, atom: AtomId) -> bool {
    system.atoms.get(atom.0).is_some_and(|own| own.uses_choice || own.uses_next)
}

fn uses_next(system: &System, atom: AtomId) -> bool {
    system.atoms.get(atom.0).is_some_and(|own| own.uses_next)
}
