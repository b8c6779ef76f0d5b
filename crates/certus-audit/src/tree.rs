//! The proof tree of one case: every leaf of the branch-and-bound tree must hold.
//!
//! Records come in preorder. What is known of a subproblem (ranges of all elements, clips, which sides of splits were taken,
//! which atoms and disjunctions are required) is carried down; subproblems that are still to be looked at wait on a stack,
//! so a deep tree costs memory but no recursion. Clips, sides and required atoms are stacks too: a waiting subproblem
//! remembers how long they were where it branched off.
//!
//! Ranges are computed afresh, from everything that was restricted on the way, after a split and where a record asks for
//! it. In between, clips change the inputs' ranges alone: what held for a larger subproblem still holds, and lines stay what
//! they were, so a bound comes out as the writer of the certificate saw it.
//!
//! *Soundness.* The children of each split cover their parent, so if every leaf is refuted, so is the root.

use std::io::BufRead;
use std::rc::Rc;

use certus_graph::Interval;
use certus_graph::interval::add_down;

use crate::Summary;
use crate::bounds::{Workspace, intersect};
use crate::error::{Reason, Rejection};
use crate::formula::{Conjunct, Flat, Problem, Variable};
use crate::network::{Kind, Network};
use crate::parse::{Certificate, Claim, Combination, Record};
use crate::relaxation::Alpha;

/// What makes a subproblem smaller than the one it branched off.
#[derive(Clone, Copy, Debug)]
enum Narrowing {
    /// The whole case: nothing but what the formula requires.
    Root,
    /// An input on one side of a split.
    Input { element: usize, range: Interval },
    /// An element of a node on one side of a split.
    Side { element: usize, range: Interval },
    /// A disjunct that is required from here on.
    Disjunct { choice: usize, index: usize },
}

/// A subproblem that waits to be looked at.
struct Waiting {
    /// The ranges of the subproblem that it branched off; none if that had no points.
    ranges: Option<Rc<Vec<Interval>>>,
    inherited: Option<Rc<Vec<Interval>>>,
    restrictions: usize,
    sides: usize,
    atoms: usize,
    choices: usize,
    narrowing: Narrowing,
}

/// A combination with its names resolved.
struct Resolved {
    atoms: Vec<(usize, f64)>,
    /// Multiples of (element − end of its range).
    sides: Vec<(usize, f64, f64)>,
    alphas: Vec<(usize, Alpha)>,
    strict: bool,
}

/// The walk through the tree of one case.
pub(crate) struct Walk<'a> {
    network: &'a Network,
    formula: Flat,
    workspace: Workspace,
    /// What is known of the current subproblem; none if it has no points.
    ranges: Option<Rc<Vec<Interval>>>,
    /// Whether the ranges are to be computed before they are used.
    stale: bool,
    /// Ranges of a larger subproblem that are kept for this one.
    inherited: Option<Rc<Vec<Interval>>>,
    /// All that was restricted on the way to the current subproblem, the region's own box first.
    restrictions: Vec<(usize, Interval)>,
    /// The sides of node splits that were taken on the way to the current subproblem.
    sides: Vec<(usize, Interval)>,
    /// The atoms that must hold in the current subproblem.
    atoms: Vec<usize>,
    /// The disjunctions that must hold in the current subproblem.
    choices: Vec<usize>,
    waiting: Vec<Waiting>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(network: &'a Network, problem: &Problem<'_>) -> Result<Self, Reason> {
        let inputs = network.inputs.len();
        if problem.lower.len() != inputs || problem.upper.len() != inputs {
            return Err(Reason::Problem("the region does not have as many inputs as the graph"));
        }
        let element = |variable| match variable {
            Variable::Input(index) => network.inputs.get(index).copied(),
            Variable::Output(index) => network.output(index),
        };
        let formula = Flat::new(&problem.formula, element)?;
        let mut restrictions = Vec::with_capacity(inputs);
        let mut has_points = true;
        for ((&element, &lower), &upper) in network.inputs.iter().zip(&problem.lower).zip(&problem.upper) {
            if lower.is_nan() || upper.is_nan() {
                return Err(Reason::Problem("an end of the region is not a number"));
            }
            has_points &= lower <= upper;
            restrictions.push((element, Interval::new(lower, upper)));
        }
        let root = Waiting {
            ranges: has_points.then(|| Rc::new(vec![Interval::ENTIRE; network.elements()])),
            inherited: None,
            restrictions: restrictions.len(),
            sides: 0,
            atoms: 0,
            choices: 0,
            narrowing: Narrowing::Root,
        };
        Ok(Walk {
            network,
            formula,
            workspace: Workspace::default(),
            ranges: None,
            stale: true,
            inherited: None,
            restrictions,
            sides: Vec::new(),
            atoms: Vec::new(),
            choices: Vec::new(),
            waiting: vec![root],
        })
    }

    /// Reads the tree and checks all of it.
    pub(crate) fn run<R: BufRead>(
        &mut self,
        certificate: &mut Certificate<R>,
        summary: &mut Summary,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Rejection> {
        while let Some(subproblem) = self.waiting.pop() {
            self.enter(subproblem);
            loop {
                let record = certificate.record()?;
                summary.records += 1;
                let is_leaf = matches!(record, Record::Close(_) | Record::Empty);
                let goes_on = self.apply(record, summary).map_err(|reason| certificate.fault(reason))?;
                if is_leaf {
                    summary.leaves += 1;
                    progress(summary.leaves);
                }
                if !goes_on {
                    break;
                }
            }
            summary.deepest = summary.deepest.max(self.waiting.len() as u64);
        }
        Ok(())
    }

    /// Makes a waiting subproblem the current one.
    fn enter(&mut self, subproblem: Waiting) {
        self.restrictions.truncate(subproblem.restrictions);
        self.sides.truncate(subproblem.sides);
        self.atoms.truncate(subproblem.atoms);
        self.choices.truncate(subproblem.choices);
        self.ranges = subproblem.ranges;
        self.inherited = subproblem.inherited;
        self.stale = !matches!(subproblem.narrowing, Narrowing::Disjunct { .. });
        match subproblem.narrowing {
            Narrowing::Root => {
                let root = self.formula.root.clone();
                self.require(&root);
            }
            Narrowing::Disjunct { choice, index } => {
                let disjunct = self.formula.choices[choice][index].clone();
                self.require(&disjunct);
            }
            Narrowing::Input { element, range } => self.restrictions.push((element, range)),
            Narrowing::Side { element, range } => {
                self.sides.push((element, range));
                self.restrictions.push((element, range));
            }
        }
    }

    /// From here on these atoms and disjunctions must hold.
    fn require(&mut self, conjunct: &Conjunct) {
        self.atoms.extend(&conjunct.atoms);
        self.choices.extend(&conjunct.choices);
        self.restrictions.extend(conjunct.atoms.iter().filter_map(|&atom| self.formula.atoms[atom].range()));
    }

    /// What is known of the current subproblem; none if it has no points.
    fn settled(&mut self) -> Option<Rc<Vec<Interval>>> {
        if self.stale {
            self.compute(false);
        }
        self.ranges.clone()
    }

    /// Computes the ranges afresh, unless the subproblem is known to have no points.
    fn compute(&mut self, refine: bool) {
        self.stale = false;
        if self.ranges.is_some() {
            let inherited = self.inherited.as_deref().map(Vec::as_slice);
            let ranges = self.workspace.ranges(self.network, &self.restrictions, inherited, refine);
            self.ranges = ranges.ok().map(Rc::new);
        }
    }

    /// Applies a record to the current subproblem; says whether the subproblem goes on with the next one.
    fn apply(&mut self, record: Record, summary: &mut Summary) -> Result<bool, Reason> {
        match record {
            Record::Bound => {
                self.compute(false);
                Ok(true)
            }
            Record::Refine { keep } => {
                summary.refinements += 1;
                // Tighter ranges can choose other default lines, which need not be better: only what the record says counts.
                self.inherited = None;
                self.compute(true);
                if keep {
                    self.inherited.clone_from(&self.ranges);
                }
                Ok(true)
            }
            Record::Clip(combination, claims) => self.clip(&combination, &claims).map(|()| true),
            Record::SplitInput { input, at } => {
                let &element = self.network.inputs.get(input).ok_or(Reason::Unknown("input"))?;
                self.branch(halves(at).map(|range| Narrowing::Input { element, range }));
                Ok(false)
            }
            Record::SplitNode { place, at } => {
                let element = self.network.element(place).ok_or(Reason::Unknown("element"))?;
                self.branch(halves(at).map(|range| Narrowing::Side { element, range }));
                Ok(false)
            }
            Record::Either(choice) => {
                let disjuncts = self.formula.choices.get(choice).ok_or(Reason::Unknown("disjunction"))?.len();
                if !self.choices.contains(&choice) {
                    return Err(Reason::NotRequired("disjunction"));
                }
                self.branch((0..disjuncts).map(|index| Narrowing::Disjunct { choice, index }));
                Ok(false)
            }
            Record::Close(combination) => self.close(&combination).map(|()| false),
            Record::Empty => {
                let impossible = |&choice: &usize| self.formula.choices[choice].is_empty();
                let is_empty = self.choices.iter().any(impossible) || self.settled().is_none();
                if is_empty { Ok(false) } else { Err(Reason::NotEmpty) }
            }
            Record::Case(_) | Record::End => Err(Reason::EndsEarly),
        }
    }

    /// Lets the subproblems of the current subproblem wait, the first on top.
    fn branch(&mut self, subproblems: impl IntoIterator<Item = Narrowing, IntoIter: DoubleEndedIterator>) {
        if self.stale {
            self.settled();
        }
        for narrowing in subproblems.into_iter().rev() {
            self.waiting.push(Waiting {
                ranges: self.ranges.clone(),
                inherited: self.inherited.clone(),
                restrictions: self.restrictions.len(),
                sides: self.sides.len(),
                atoms: self.atoms.len(),
                choices: self.choices.len(),
                narrowing,
            });
        }
    }

    fn close(&mut self, combination: &Combination) -> Result<(), Reason> {
        let combination = self.resolve(combination)?;
        let Some(ranges) = self.settled() else { return Ok(()) };
        self.substitute(&combination, &ranges);
        // Where nothing is rounded, the ranges alone may say more than a substitution can.
        let bound = self.workspace.substitution.minimum_without(self.network, &ranges, None);
        let bound = bound.max(self.enclosed(&combination, &ranges));
        if bound > 0.0 || (bound >= 0.0 && combination.strict) { Ok(()) } else { Err(Reason::NotClosed { bound }) }
    }

    /// A lower bound of a combination from the ranges of its elements alone.
    fn enclosed(&self, combination: &Resolved, ranges: &[Interval]) -> f64 {
        let mut sum = Interval::ZERO;
        for &(atom, weight) in &combination.atoms {
            let row = &self.formula.atoms[atom];
            let value = row.terms.iter().fold(row.constant, |sum, &(element, factor)| sum + factor * ranges[element]);
            sum = sum + Interval::point(weight) * value;
        }
        for &(element, weight, end) in &combination.sides {
            sum = sum + Interval::point(weight) * (ranges[element] - Interval::point(end));
        }
        sum.lo
    }

    fn clip(&mut self, combination: &Combination, claims: &[Claim]) -> Result<(), Reason> {
        let combination = self.resolve(combination)?;
        let mut restrictions = Vec::with_capacity(claims.len());
        for claim in claims {
            let &element = self.network.inputs.get(claim.input).ok_or(Reason::Unknown("input"))?;
            let [below, above] = halves(claim.bound);
            restrictions.push((element, if claim.is_upper { below } else { above }));
        }
        let Some(ranges) = self.settled() else { return Ok(()) };
        self.substitute(&combination, &ranges);
        for (claim, &(element, _)) in claims.iter().zip(&restrictions) {
            if !self.follows(claim, ranges[element], element, &ranges, combination.strict) {
                return Err(Reason::NotImplied { input: claim.input });
            }
        }
        // The inputs alone: what else is known holds as it is.
        let mut narrowed = Rc::unwrap_or_clone(ranges);
        let kept = restrictions.iter().all(|&(element, range)| intersect(&mut narrowed[element], range).is_ok());
        self.ranges = kept.then(|| Rc::new(narrowed));
        self.restrictions.extend(restrictions);
        Ok(())
    }

    /// Whether the substituted combination is positive wherever an input is beyond its claimed bound.
    fn follows(&self, claim: &Claim, range: Interval, element: usize, ranges: &[Interval], strict: bool) -> bool {
        let nothing_beyond = if claim.is_upper { claim.bound >= range.hi } else { claim.bound <= range.lo };
        if nothing_beyond {
            return true;
        }
        let substitution = &self.workspace.substitution;
        let Some(coefficient) = substitution.input_coefficient(element) else { return false };
        let rest = substitution.minimum_without(self.network, ranges, Some(element));
        let (beyond, rises) = if claim.is_upper {
            (Interval { lo: claim.bound.max(range.lo), hi: range.hi }, coefficient.lo > 0.0)
        } else {
            (Interval { lo: range.lo, hi: claim.bound.min(range.hi) }, coefficient.hi < 0.0)
        };
        let bound = add_down(rest, (coefficient * beyond).lo);
        // At the claimed bound itself nothing is claimed, so zero will do where the combination rises from there.
        bound > 0.0 || (bound >= 0.0 && (strict || (rises && range.contains(claim.bound))))
    }

    /// Bounds a combination over the current subproblem by an expression over the inputs, left in the workspace.
    fn substitute(&mut self, combination: &Resolved, ranges: &[Interval]) {
        self.workspace.relax_all(self.network, ranges, &combination.alphas);
        let Workspace { substitution, sides, .. } = &mut self.workspace;
        substitution.clear(self.network);
        for &(atom, weight) in &combination.atoms {
            let row = &self.formula.atoms[atom];
            let weight = Interval::point(weight);
            for &(element, coefficient) in &row.terms {
                substitution.add(self.network, element, weight * coefficient);
            }
            substitution.add_constant((weight * row.constant).lo);
        }
        for &(element, weight, end) in &combination.sides {
            let weight = Interval::point(weight);
            substitution.add(self.network, element, weight);
            substitution.add_constant((-weight * Interval::point(end)).lo);
        }
        substitution.run(self.network, ranges, sides);
    }

    /// Finds what the names in a combination mean here, and checks that they may be used.
    fn resolve(&self, combination: &Combination) -> Result<Resolved, Reason> {
        let mut strict = false;
        for &(atom, weight) in &combination.atoms {
            let row = self.formula.atoms.get(atom).ok_or(Reason::Unknown("atom"))?;
            if !self.atoms.contains(&atom) {
                return Err(Reason::NotRequired("atom"));
            }
            strict |= row.strict && weight > 0.0;
        }
        let mut sides = Vec::with_capacity(combination.ranges.len());
        for &(place, weight) in &combination.ranges {
            let element = self.network.element(place).ok_or(Reason::Unknown("element"))?;
            let taken = self.sides.iter().filter(|&&(other, _)| other == element).map(|&(_, range)| range);
            let end = match weight > 0.0 {
                true => taken.map(|range| range.hi).fold(f64::INFINITY, f64::min),
                false => taken.map(|range| range.lo).fold(f64::NEG_INFINITY, f64::max),
            };
            if !end.is_finite() {
                return Err(Reason::NoSuchRange);
            }
            sides.push((element, weight, end));
        }
        let mut alphas = Vec::with_capacity(combination.alphas.len());
        for &(place, alpha) in &combination.alphas {
            let element = self.network.element(place).ok_or(Reason::Unknown("element"))?;
            match self.network.layers[place.node].kind {
                Kind::Curve { .. } | Kind::Product { .. } => alphas.push((element, alpha)),
                _ => return Err(Reason::Unknown("curve or product")),
            }
        }
        Ok(Resolved { atoms: combination.atoms.clone(), sides, alphas, strict })
    }
}

/// The two sides of a split.
fn halves(at: f64) -> [Interval; 2] {
    [Interval { lo: f64::NEG_INFINITY, hi: at }, Interval { lo: at, hi: f64::INFINITY }]
}
