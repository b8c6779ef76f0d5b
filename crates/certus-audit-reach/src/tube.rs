//! The reach tube of a box of initial states: whether it shows a property.
//!
//! A branch of the tube is a set that contains the state at a position of every run that is in its case, and a formula that every such run must satisfy from there on. It ends where
//! nothing is left to show, and where the set lies in an invariant: a box that runs return to for ever, whichever box of initial states they come from.

use std::rc::Rc;

use certus_graph::Interval;
use certus_obligations::Nnf;

use crate::claim::Invariant;
use crate::form::Form;
use crate::pass::Cases;
use crate::position::{Position, Step};
use crate::progression::{lasting, progressed};
use crate::set::Set;

/// Cases that a tube is split into, at most.
const MOST_CASES: usize = 512;

/// How often a box that is left is made wider.
const MOST_WIDENINGS: usize = 4;

/// An invariant from which every run satisfies a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasting {
    /// The box.
    pub invariant: Invariant,
    formula: Nnf,
}

impl Lasting {
    fn covers(&self, set: &Set, formula: &Nnf) -> bool {
        self.formula == *formula && contains(&self.invariant.bounds, set)
    }
}

/// Where invariants come from.
pub(crate) enum Invariants<'i> {
    /// From a certificate, with what was found out about each: for which formulas runs return to it.
    Given(&'i [Invariant], Vec<(usize, Nnf, bool)>),
    /// From other boxes of initial states; more are looked for from the eighth step on, and kept.
    Sought(&'i [Lasting], Vec<Lasting>),
}

/// Why a tube shows nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obstacle {
    pub(crate) step: usize,
    pub(crate) reason: &'static str,
    /// How much each variable of the box matters there.
    pub(crate) scores: Vec<f64>,
}

/// What tubes are made of.
pub(crate) struct Tube<'s> {
    pub(crate) step: &'s Step,
    pub(crate) property: &'s Nnf,
    pub(crate) shows_no_errors: bool,
    pub(crate) degree: usize,
    /// The most positions of a branch.
    pub(crate) most_steps: usize,
    /// Whether to give up.
    pub(crate) stop: &'s dyn Fn() -> bool,
}

struct Branch {
    set: Set,
    cases: Cases,
    formula: Nnf,
    at: usize,
    next_return: usize,
}

/// What becomes of a branch at a position.
enum After {
    Shown,
    Cases(Vec<(Set, Cases)>),
    Next(Set, Nnf),
}

impl Tube<'_> {
    /// Shows the property of every run from a box; how many steps that took.
    pub(crate) fn shows(&self, bounds: &[Interval], invariants: &mut Invariants<'_>) -> Result<usize, Obstacle> {
        let Some(set) = Set::of_box(bounds, self.degree) else { return Err(obstacle(0, "too many monomials", &[], 0)) };
        let first = Branch { set, cases: Cases::new(), formula: self.property.clone(), at: 0, next_return: 8 };
        let mut branches = vec![first];
        let (mut cases, mut longest) = (1, 0);
        while let Some(mut branch) = branches.pop() {
            if branch.at == 0 {
                match self.step.initial_part(branch.set) {
                    Some(set) => branch.set = set,
                    None => continue,
                }
            }
            loop {
                longest = longest.max(branch.at);
                if branch.cases.is_empty() && self.lasts(&mut branch, invariants)? {
                    break;
                }
                match self.after(&branch.set, &branch.cases, &branch.formula, branch.at, cases < MOST_CASES)? {
                    After::Shown => break,
                    After::Next(set, formula) => {
                        let at = branch.at + 1;
                        if at > self.most_steps {
                            return Err(obstacle(at, "no end in sight", &set.state, set.space.basis.variables));
                        }
                        branch = Branch { set, cases: Cases::new(), formula, at, next_return: branch.next_return };
                    }
                    After::Cases(found) => {
                        cases += 1;
                        branches.extend(found.into_iter().map(|(set, cases)| Branch {
                            set,
                            cases,
                            formula: branch.formula.clone(),
                            ..branch
                        }));
                        break;
                    }
                }
            }
        }
        Ok(longest)
    }

    /// One position of a branch.
    fn after(&self, set: &Set, cases: &Cases, formula: &Nnf, at: usize, may_split: bool) -> Result<After, Obstacle> {
        let variables = set.space.basis.variables;
        if (self.stop)() {
            return Err(obstacle(at, "no time is left", &set.state, variables));
        }
        let Position { successor, letter, is_sound, goes_on, has_ended, open, margins } = self.step.at(set, cases);
        if let Some((guard, argument)) = open.filter(|_| may_split) {
            let sides = [true, false].into_iter().filter_map(|above| {
                let mut own = cases.clone();
                own.insert(guard, above);
                Some((set.cut(&argument, above)?, own))
            });
            return Ok(After::Cases(sides.collect()));
        }
        let left = progressed(formula, &letter);
        if left == Nnf::Constant(false) {
            let own = obstacle(at, "the property is open", &margins, variables);
            // Margins that no variable matters to say nothing; the set itself then does.
            let silent = own.scores.iter().all(|score| *score == 0.0);
            return Err(if silent { obstacle(at, own.reason, &set.state, variables) } else { own });
        }
        // An error at this position comes before the decision unless the letter had its values for certain.
        if self.shows_no_errors && !is_sound {
            return Err(obstacle(at, "a choice may be forbidden or undefined", &successor.state, variables));
        }
        if left == Nnf::Constant(true) {
            return Ok(After::Shown);
        }
        if self.shows_no_errors && !goes_on {
            return Err(obstacle(at, "the successor may be undefined or out of range", &successor.state, variables));
        }
        if successor.state.iter().any(|form| !form.is_bounded()) {
            return Err(obstacle(at, "the set has no bounds", &successor.state, variables));
        }
        // Every later position has the same state, and the letter has its values whatever is chosen there.
        if has_ended && lasting(formula).into_iter().any(|part| progressed(part, &letter) == *part) {
            return Ok(After::Shown);
        }
        Ok(After::Next(successor.reduced(), left))
    }

    /// Whether a branch lies in a box that runs return to for ever.
    fn lasts(&self, branch: &mut Branch, invariants: &mut Invariants<'_>) -> Result<bool, Obstacle> {
        let wanted = lasting(&branch.formula);
        match invariants {
            Invariants::Given(given, asked) => {
                for formula in wanted {
                    for (place, own) in given.iter().enumerate().filter(|(_, own)| contains(&own.bounds, &branch.set)) {
                        let known = asked.iter().find(|(other, about, _)| *other == place && about == formula);
                        let returns = match known {
                            Some((.., returns)) => *returns,
                            None => {
                                let returns = self.returns(&own.bounds, formula, own.within).is_ok();
                                asked.push((place, formula.clone(), returns));
                                returns
                            }
                        };
                        if returns {
                            return Ok(true);
                        }
                    }
                }
            }
            Invariants::Sought(known, found) => {
                let is_known = |formula: &Nnf| known.iter().chain(&*found).any(|own| own.covers(&branch.set, formula));
                if wanted.iter().any(|formula| is_known(formula)) {
                    return Ok(true);
                }
                if branch.at < branch.next_return || wanted.is_empty() {
                    return Ok(false);
                }
                branch.next_return *= 2;
                for formula in wanted {
                    if let Some(invariant) = self.around(&branch.set, formula, branch.at) {
                        found.push(Lasting { invariant, formula: formula.clone() });
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Looks for an invariant around a set: boxes that are a little wider, and wider still where runs leave them.
    fn around(&self, set: &Set, formula: &Nnf, most: usize) -> Option<Invariant> {
        for share in [0.02, 0.1, 0.5] {
            let mut bounds = self.inflated(&set.ranges(), share);
            for _ in 0..=MOST_WIDENINGS {
                match self.returns(&bounds, formula, most) {
                    Ok(within) => return Some(Invariant { within, bounds }),
                    // Where everything went belongs to the next box.
                    Err(Some(reached)) => {
                        let both: Vec<Interval> = bounds.iter().zip(reached).map(|(a, b)| a.hull(b)).collect();
                        bounds = self.inflated(&both, 0.05);
                    }
                    Err(None) => break,
                }
            }
        }
        None
    }

    /// A box whose sides of some width are wider by a share of it at either end, as far as states go.
    fn inflated(&self, bounds: &[Interval], share: f64) -> Vec<Interval> {
        let around = |(range, declared): (&Interval, &Interval)| match range.lo == range.hi {
            true => *range,
            false => range.widen(share * range.width()).intersection(*declared).unwrap_or(*range),
        };
        bounds.iter().zip(&self.step.ranges).map(around).collect()
    }

    /// The number of steps within which everything in a box is in it again, while a formula that can last returns to itself; at most so many. Otherwise
    /// a box around what is elsewhere then, if that is all that is missing.
    fn returns(&self, bounds: &[Interval], formula: &Nnf, most: usize) -> Result<usize, Option<Vec<Interval>>> {
        if bounds.iter().any(|range| !range.is_well_formed()) {
            return Err(None);
        }
        let set = Set::of_box(bounds, self.degree.min(2)).ok_or(None)?;
        let mut branches = vec![(set, Cases::new(), formula.clone(), 0)];
        let (mut cases, mut longest) = (1, 0);
        let mut elsewhere = None::<Vec<Interval>>;
        while let Some((set, own, left, steps)) = branches.pop() {
            if steps > 0 && own.is_empty() && left == *formula && contains(bounds, &set) {
                longest = longest.max(steps);
                continue;
            }
            if steps >= most {
                if !own.is_empty() || left != *formula {
                    return Err(None);
                }
                let ranges = set.ranges();
                elsewhere = Some(match elsewhere {
                    Some(all) => all.iter().zip(ranges).map(|(a, b)| a.hull(b)).collect(),
                    None => ranges,
                });
                continue;
            }
            match self.after(&set, &own, &left, steps, cases < MOST_CASES).map_err(|_| None)? {
                After::Shown => {}
                After::Next(set, left) => branches.push((set, Cases::new(), left, steps + 1)),
                After::Cases(found) => {
                    cases += 1;
                    branches.extend(found.into_iter().map(|(set, own)| (set, own, left.clone(), steps)));
                }
            }
        }
        match elsewhere {
            None => Ok(longest),
            some => Err(some),
        }
    }
}

/// Whether a set lies in a box.
fn contains(bounds: &[Interval], set: &Set) -> bool {
    bounds.len() == set.state.len() && bounds.iter().zip(&set.state).all(|(range, form)| range.encloses(form.range))
}

/// An obstacle, with how much forms change along each variable of the box.
fn obstacle(step: usize, reason: &'static str, forms: &[Rc<Form>], variables: usize) -> Obstacle {
    let mut scores = vec![0.0; variables];
    for form in forms {
        let scale = form.range.width().max(1e-300);
        for (variable, score) in scores.iter_mut().enumerate() {
            *score += form.coefficients.get(variable + 1).map_or(0.0, |c| c.abs()) / scale;
        }
    }
    Obstacle { step, reason, scores }
}
