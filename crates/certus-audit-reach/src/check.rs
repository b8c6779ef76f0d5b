//! The trees of a certificate, one for each box of the initial set: every leaf must show the property, and the leaves cover the initial states.

use certus_graph::Interval;
use certus_lang::system::{AtomId, Property, System};
use certus_obligations::{Nnf, Refused, Scope, formula_of};

use crate::claim::{Branch, Reachable};
use crate::position::Step;
use crate::tube::{Invariants, Lasting, Tube};

/// A property of a system, prepared for the check of its certificate.
#[derive(Debug)]
pub struct Checker {
    step: Step,
    property: Nnf,
    initial: Vec<Vec<Interval>>,
    names: Vec<String>,
    degree: usize,
    shows_no_errors: bool,
}

/// What an accepted certificate shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How far.
    pub scope: Scope,
    /// By how many boxes.
    pub leaves: usize,
    /// By at most so many steps from each.
    pub steps: usize,
}

/// What came of a box.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The property holds for every run from it, with these invariants beside those that were known.
    Shown(Vec<Lasting>),
    /// That was not seen.
    Open {
        /// Where.
        step: usize,
        /// Why.
        reason: String,
        /// How much each element of the state matters there.
        scores: Vec<f64>,
    },
}

/// The most steps of a property without a last step, and of one whose returns are looked for.
const MOST_STEPS: usize = 4096;
const MOST_SOUGHT: usize = 520;

impl Checker {
    /// Prepares a property; refused where such proofs cannot be about it.
    pub fn new(
        system: &System,
        property: &Property,
        degree: usize,
        order: usize,
        shows_no_errors: bool,
    ) -> Result<Checker, Refused> {
        let formula = Nnf::of(formula_of(system, property)?, true);
        if system.roles.init_defined.is_some() {
            return Err(Refused::new("`init` has operations that may be undefined"));
        }
        let mut atoms: Vec<AtomId> = formula.atoms();
        atoms.sort_unstable();
        atoms.dedup();
        // States are in their declared ranges, initial ones too.
        let declared = || system.states.iter().flat_map(|own| own.lower.iter().zip(&own.upper));
        let within = |(lower, upper): &(Vec<f64>, Vec<f64>)| -> Vec<Interval> {
            let ends = lower.iter().zip(upper).zip(declared());
            ends.map(|((lo, hi), (low, high))| Interval { lo: lo.max(*low), hi: hi.min(*high) }).collect()
        };
        let initial: Vec<Vec<Interval>> = system.init_boxes.iter().map(within).collect();
        let is_range = |range: &Interval| range.lo.is_finite() && range.hi.is_finite() && range.lo <= range.hi;
        let is_box = |own: &Vec<Interval>| own.len() == system.state_len() && own.iter().all(is_range);
        if initial.is_empty() || !initial.iter().all(is_box) {
            return Err(Refused::new("the initial states are not in bounded boxes"));
        }
        let step = Step::new(system, &atoms, order)?;
        Ok(Checker { step, property: formula, initial, names: system.state_names(), degree, shows_no_errors })
    }

    /// Boxes around the initial states: the roots of the trees.
    pub fn initial(&self) -> &[Vec<Interval>] {
        &self.initial
    }

    fn tube<'s>(&'s self, without_last: usize, stop: &'s dyn Fn() -> bool) -> Tube<'s> {
        let most_steps = match self.property.horizon() {
            Some(last) => usize::try_from(last).unwrap_or(usize::MAX).saturating_add(1),
            None => without_last,
        };
        Tube {
            step: &self.step,
            property: &self.property,
            shows_no_errors: self.shows_no_errors,
            degree: self.degree,
            most_steps,
            stop,
        }
    }

    /// Whether a box could be a leaf, until told to stop; looks for invariants beside those that are known.
    pub fn attempt(&self, bounds: &[Interval], known: &[Lasting], stop: &dyn Fn() -> bool) -> Attempt {
        let mut invariants = Invariants::Sought(known, Vec::new());
        match (self.tube(MOST_SOUGHT, stop).shows(bounds, &mut invariants), invariants) {
            (Ok(_), Invariants::Sought(_, found)) => Attempt::Shown(found),
            (Ok(_), Invariants::Given(..)) => Attempt::Shown(Vec::new()),
            (Err(own), _) => {
                let mut scores = vec![0.0; bounds.len()];
                let wide = (0..bounds.len()).filter(|&place| bounds[place].lo < bounds[place].hi);
                wide.zip(&own.scores).for_each(|(place, score)| scores[place] = *score);
                Attempt::Open { step: own.step, reason: own.reason.to_owned(), scores }
            }
        }
    }

    /// Checks trees, one after the other, whose leaves share some invariants. `progress` is told how many leaves were checked.
    pub fn check(&self, claim: &Reachable, progress: &mut dyn FnMut(u64)) -> Result<Checked, Refused> {
        let mut open: Vec<Vec<Interval>> = self.initial.iter().rev().cloned().collect();
        let (mut leaves, mut steps) = (0, 0);
        let tube = self.tube(MOST_STEPS, &|| false);
        let mut invariants = Invariants::Given(&claim.invariants, Vec::new());
        for branch in &claim.tree {
            let Some(bounds) = open.pop() else {
                return Err(Refused::new("the list goes on after the last leaf"));
            };
            match branch {
                Branch::Split { element, at } => {
                    let range = bounds.get(*element).copied().filter(|own| own.lo < *at && *at < own.hi);
                    let Some(range) = range else {
                        return Err(Refused::new(format!("leaf {leaves}: a split at {at} is outside of its box")));
                    };
                    let part = |range: Interval| {
                        let mut own = bounds.clone();
                        own[*element] = range;
                        own
                    };
                    open.push(part(Interval { lo: *at, hi: range.hi }));
                    open.push(part(Interval { lo: range.lo, hi: *at }));
                }
                Branch::Leaf => {
                    let longest = tube.shows(&bounds, &mut invariants).map_err(|own| {
                        let ranges = self.names.iter().zip(&bounds).map(|(name, range)| format!("{name} in {range}"));
                        let place = ranges.collect::<Vec<_>>().join(", ");
                        Refused::new(format!("leaf {leaves}, {place}: {} at step {}", own.reason, own.step))
                    })?;
                    steps = steps.max(longest);
                    leaves += 1;
                    progress(leaves as u64);
                }
            }
        }
        if !open.is_empty() {
            return Err(Refused::new("the tree has fewer leaves than its splits need"));
        }
        let scope = self.property.horizon().map_or(Scope::AllTime, Scope::Horizon);
        Ok(Checked { scope, leaves, steps })
    }

    /// Checks a whole claim about a property.
    pub fn accept(
        system: &System,
        property: &Property,
        claim: &Reachable,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Checked, Refused> {
        let checker = Checker::new(system, property, claim.degree, claim.order, claim.shows_no_errors)?;
        checker.check(claim, progress)
    }
}
