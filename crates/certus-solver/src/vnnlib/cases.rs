//! A specification as a disjunction over input boxes.
//!
//! A search works on one box of inputs and one formula over what the network makes of it. An assertion is brought to
//! that form by distributing conjunctions over disjunctions, but only over those disjunctions in which bounds of
//! inputs occur: the others, typically over the outputs, stay as they are. Pieces with the same box are joined
//! again, so alternatives that differ in the outputs alone never multiply the boxes.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::region::{Range, bound};
use super::written::Written;
use super::{Specification, Variable, logic};
use crate::formula::Formula;

/// All cases together, and all that is made on the way to them, may have this many ranges and atoms.
const MAX_SIZE: usize = 1 << 25;

/// What a piece costs beside the ranges of its region, in the same unit.
const PIECE_SIZE: usize = 8;

/// One box of inputs and what is asked on it. A point satisfies the case when it lies in the box as written and
/// satisfies the formula.
///
/// The ends as written need not be doubles. `lower ≤ x ≤ upper` for every real x of the box, so what is shown
/// on the outer box is shown. Every double between `inner_lower` and `inner_upper` lies in the box, so a witness found
/// there is one. The two are equal where the ends are doubles, up to this: a strict bound that is a double is an
/// end of the outer box, not of the inner one. Bounds with other coefficients than ±1 are divided with outward
/// (inner: inward) rounding.
///
/// The inner box may be empty although the box is not: an input that is fixed to a decimal which is no double has
/// `inner_lower > inner_upper`, its two neighbours. Inputs without a bound have infinite ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The lower ends, rounded downwards; never above `upper`.
    pub lower: Vec<f64>,
    /// The upper ends, rounded upwards.
    pub upper: Vec<f64>,
    /// The lower ends, rounded upwards.
    pub inner_lower: Vec<f64>,
    /// The upper ends, rounded downwards.
    pub inner_upper: Vec<f64>,
    /// For an input that is fixed to a decimal which is no double, the double that is shown as that decimal.
    pub decimals: Vec<Option<f64>>,
    /// What else is asked: everything about outputs, and what bounds inputs otherwise than by a closed box. Strict
    /// bounds of single inputs are in the box and here.
    pub formula: Formula<Variable>,
}

/// Why an assertion was not split into boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasesError {
    /// There are more boxes than the caller wants.
    TooMany {
        /// The caller's limit.
        limit: usize,
    },
    /// The cases would take too much memory.
    TooLarge,
}

impl fmt::Display for CasesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CasesError::TooMany { limit } => write!(f, "the assertion needs more than {limit} input boxes"),
            CasesError::TooLarge => {
                write!(f, "the assertion's input boxes have more than {MAX_SIZE} bounds and comparisons")
            }
        }
    }
}

impl std::error::Error for CasesError {}

impl Specification {
    /// The assertion as a disjunction of at most `limit` cases. Cases whose box or formula is certainly empty are left
    /// out, so no case at all means that the assertion cannot be satisfied.
    ///
    /// The limit also holds for what is made on the way, before boxes that turn out empty or equal are removed.
    pub fn cases(&self, limit: usize) -> Result<Vec<Case>, CasesError> {
        self.cases_within(limit, MAX_SIZE)
    }

    fn cases_within(&self, limit: usize, budget: usize) -> Result<Vec<Case>, CasesError> {
        let mut splitter = Splitter { inputs: self.inputs, written: &self.written, limit, budget };
        splitter.spend(self.inputs)?;
        let pieces = splitter.split(&self.assertion, vec![Range::ENTIRE; self.inputs])?;
        if pieces.len() > limit {
            return Err(CasesError::TooMany { limit });
        }
        let cases: Result<Vec<Case>, _> = pieces.into_iter().map(|piece| splitter.case(piece)).collect();
        Ok(cases?.into_iter().filter(|case| case.formula != logic::truth(false)).collect())
    }
}

/// A box and the formulas that are left to satisfy on it.
struct Piece<'a> {
    region: Vec<Range>,
    rest: Vec<Rest<'a>>,
}

/// A formula that is left. It is only copied into a case at the end.
#[derive(Clone)]
enum Rest<'a> {
    /// A part of the assertion.
    Part(&'a Formula<Variable>),
    /// One of these conjunctions.
    Any(Rc<Vec<Vec<Rest<'a>>>>),
}

struct Splitter<'s> {
    inputs: usize,
    written: &'s Written,
    limit: usize,
    budget: usize,
}

impl Splitter<'_> {
    /// The pieces of a formula within a region.
    fn split<'a>(&mut self, formula: &'a Formula<Variable>, region: Vec<Range>) -> Result<Vec<Piece<'a>>, CasesError> {
        match formula {
            whole if !self.bounds_inputs(whole) => Ok(vec![Piece { region, rest: vec![Rest::Part(whole)] }]),
            Formula::Atom(_) => self.split_all(std::slice::from_ref(formula), region),
            Formula::And(parts) => self.split_all(parts, region),
            Formula::Or(parts) => {
                let mut pieces = Vec::new();
                for part in parts {
                    let region = self.copy(&region)?;
                    pieces.extend(self.split(part, region)?);
                }
                self.join(pieces)
            }
        }
    }

    /// The pieces of a conjunction within a region. Bounds come first: they may leave nothing to split.
    fn split_all<'a>(
        &mut self,
        parts: &'a [Formula<Variable>],
        mut region: Vec<Range>,
    ) -> Result<Vec<Piece<'a>>, CasesError> {
        let mut rest = Vec::new();
        let mut branching = Vec::new();
        for part in parts {
            match part {
                Formula::Atom(atom) => {
                    let bound = bound(atom, self.inputs);
                    if let Some((index, range)) = bound {
                        match region[index].meet(range) {
                            Some(met) => region[index] = met,
                            None => return Ok(Vec::new()),
                        }
                    }
                    if bound.is_none() || atom.strict {
                        rest.push(Rest::Part(part));
                    }
                }
                _ if self.bounds_inputs(part) => branching.push(part),
                _ => rest.push(Rest::Part(part)),
            }
        }
        let mut pieces = vec![Piece { region, rest }];
        for part in &branching {
            let mut product = Vec::new();
            for Piece { region, rest } in pieces {
                let mut inner = self.split(part, region)?;
                let last = inner.pop();
                for piece in inner {
                    self.spend(rest.len())?;
                    product.push(Piece { region: piece.region, rest: [rest.clone(), piece.rest].concat() });
                }
                product.extend(last.map(|piece| {
                    let mut rest = rest;
                    rest.extend(piece.rest);
                    Piece { region: piece.region, rest }
                }));
                if product.len() > self.limit {
                    return Err(CasesError::TooMany { limit: self.limit });
                }
            }
            pieces = product;
        }
        // Once, at the end: after each step, what is left would nest as deep as there are steps.
        if branching.len() > 1 { self.join(pieces) } else { Ok(pieces) }
    }

    /// Pieces of a disjunction, those with the same region made one.
    fn join<'a>(&self, pieces: Vec<Piece<'a>>) -> Result<Vec<Piece<'a>>, CasesError> {
        let mut groups: Vec<(Vec<Range>, Vec<Vec<Rest>>)> = Vec::new();
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for Piece { region, rest } in pieces {
            let mut hasher = DefaultHasher::new();
            region.hash(&mut hasher);
            let candidates = by_hash.entry(hasher.finish()).or_default();
            let same =
                |group: &&usize| groups[**group].0.iter().zip(&region).all(|(own, other)| own.has_ends_of(other));
            match candidates.iter().find(same) {
                Some(&group) => {
                    let ranges = groups[group].0.iter_mut().zip(&region);
                    ranges.for_each(|(own, other)| own.as_written &= other.as_written);
                    groups[group].1.push(rest);
                }
                None => {
                    candidates.push(groups.len());
                    groups.push((region, vec![rest]));
                }
            }
        }
        if groups.len() > self.limit {
            return Err(CasesError::TooMany { limit: self.limit });
        }
        let join = |(region, mut alternatives): (Vec<Range>, Vec<Vec<Rest<'a>>>)| {
            let rest = if alternatives.iter().any(Vec::is_empty) {
                Vec::new()
            } else if alternatives.len() == 1 {
                alternatives.remove(0)
            } else {
                vec![Rest::Any(Rc::new(alternatives))]
            };
            Piece { region, rest }
        };
        Ok(groups.into_iter().map(join).collect())
    }

    /// Whether a formula has an atom that bounds a single input.
    fn bounds_inputs(&self, formula: &Formula<Variable>) -> bool {
        match formula {
            Formula::Atom(atom) => bound(atom, self.inputs).is_some(),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| self.bounds_inputs(part)),
        }
    }

    fn case(&mut self, piece: Piece) -> Result<Case, CasesError> {
        let end = |of: fn(&Range) -> f64| piece.region.iter().map(of).collect();
        Ok(Case {
            lower: end(|range| range.lower),
            upper: end(|range| range.upper),
            inner_lower: end(|range| range.inner_lower),
            inner_upper: end(|range| range.inner_upper),
            decimals: piece.region.iter().map(|range| range.decimal(self.written)).collect(),
            formula: self.all(&piece.rest)?,
        })
    }

    /// The conjunction of what is left.
    fn all(&mut self, rest: &[Rest]) -> Result<Formula<Variable>, CasesError> {
        let mut parts = Vec::with_capacity(rest.len());
        for part in rest {
            parts.push(match part {
                Rest::Part(formula) => {
                    self.spend(size(formula))?;
                    (*formula).clone()
                }
                Rest::Any(alternatives) => {
                    let alternatives: Result<Vec<_>, _> = alternatives.iter().map(|rest| self.all(rest)).collect();
                    logic::disjunction(alternatives?)
                }
            });
        }
        Ok(logic::conjunction(parts))
    }

    fn copy(&mut self, region: &[Range]) -> Result<Vec<Range>, CasesError> {
        self.spend(region.len() + PIECE_SIZE)?;
        Ok(region.to_vec())
    }

    fn spend(&mut self, amount: usize) -> Result<(), CasesError> {
        self.budget = self.budget.checked_sub(amount.max(1)).ok_or(CasesError::TooLarge)?;
        Ok(())
    }
}

/// The size of a formula in terms and connectives.
fn size(formula: &Formula<Variable>) -> usize {
    match formula {
        Formula::Atom(atom) => 1 + atom.linear.terms.len(),
        Formula::And(parts) | Formula::Or(parts) => 1 + parts.iter().map(size).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests;
