//! What a property asks: the task whose probability is bounded from above, and what that must not exceed.

use certus_graph::interval::{sub_down, sub_up};
use certus_lang::System;
use certus_lang::system::{BoundOp, PathProbability, ProbabilityQuery, Property, Quantifier};

use crate::abstraction::Task;

/// What a query asks of the probability of reaching the goal: to be at most a number, which lies between two doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    pub(super) below: f64,
    above: f64,
    pub(super) strict: bool,
}

impl Threshold {
    fn new(number: f64, complement: bool, strict: bool) -> Threshold {
        let (below, above) = match complement {
            false => (number, number),
            true => (sub_down(1.0, number), sub_up(1.0, number)),
        };
        Threshold { below, above, strict }
    }

    /// Whether no probability up to this one exceeds it.
    pub(super) fn admits(&self, upper: f64) -> bool {
        if self.strict { upper < self.below } else { upper <= self.below }
    }

    /// Whether a probability of at least this exceeds it.
    pub(super) fn refuted_by(&self, lower: f64) -> bool {
        if self.strict { lower >= self.above } else { lower > self.above }
    }
}

/// What a property asks: the task whose probability is bounded from above, and what that must not exceed.
pub(super) fn read_query(
    system: &System,
    property: &Property,
    steps: Option<usize>,
) -> Result<(Task, Option<Threshold>), String> {
    let Some(PathProbability { query, quantifier, path }) = property.probability() else {
        return Err(
            "the property is not about a probability: write `P<=p [ F<=k φ ]` or `Pmax=? [ F<=k φ ]`".to_owned()
        );
    };
    if let Some(own) = system.assumptions.iter().find(|own| own.drawn) {
        return Err(format!(
            "line {}: `assume {}` refers to a random outcome, or to a successor that depends on one; the environment cannot restrict \
             what is drawn: assume something of the state and the inputs alone",
            own.line, own.text
        ));
    }
    let task = Task::of(system, path, steps)?;
    // A probability that may not be small is that of a complement which may not be large.
    let complement = match (query, quantifier) {
        (ProbabilityQuery::Bound(BoundOp::LessEqual | BoundOp::Less, _), _) => false,
        (ProbabilityQuery::Bound(BoundOp::GreaterEqual | BoundOp::Greater, _), _) => true,
        (ProbabilityQuery::Value, Quantifier::Max) => false,
        (ProbabilityQuery::Value, Quantifier::Min) => true,
        (ProbabilityQuery::Value, Quantifier::None) => task.complement,
    };
    let task = if task.complement == complement { task } else { task.opposite() };
    let threshold = match query {
        ProbabilityQuery::Bound(op, p) => {
            Some(Threshold::new(*p, complement, matches!(op, BoundOp::Less | BoundOp::Greater)))
        }
        ProbabilityQuery::Value => None,
    };
    Ok((task, threshold))
}
