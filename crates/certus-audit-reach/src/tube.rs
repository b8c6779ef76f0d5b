//! The reach tube of a box of initial states: whether it shows a property.
//!
//! A branch of the tube is a set that contains the state at a position of every run that is in its case, and a formula that every such run must satisfy from there on. It ends where
//! nothing is left to show, and where the set lies in an invariant ([`crate::invariants`]), whichever box of initial states it comes from.

use std::rc::Rc;

use certus_graph::Interval;
use certus_obligations::Nnf;

use crate::form::Form;
use crate::invariants::Invariants;
use crate::pass::Cases;
use crate::position::{Position, Step};
use crate::progression::{lasting, progressed};
use crate::set::Set;

/// Cases that a tube is split into, at most.
pub(crate) const MOST_CASES: usize = 512;

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

pub(crate) struct Branch {
    pub(crate) set: Set,
    cases: Cases,
    pub(crate) formula: Nnf,
    pub(crate) at: usize,
    pub(crate) next_return: usize,
}

/// What becomes of a branch at a position.
pub(crate) enum After {
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
                if branch.cases.is_empty() && self.lasts(&mut branch, invariants) {
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
    pub(crate) fn after(
        &self,
        set: &Set,
        cases: &Cases,
        formula: &Nnf,
        at: usize,
        may_split: bool,
    ) -> Result<After, Obstacle> {
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
}

/// An obstacle, with how much forms change along each variable of the box.
pub(crate) fn obstacle(step: usize, reason: &'static str, forms: &[Rc<Form>], variables: usize) -> Obstacle {
    let mut scores = vec![0.0; variables];
    for form in forms {
        let scale = form.range.width().max(1e-300);
        for (variable, score) in scores.iter_mut().enumerate() {
            *score += form.coefficients.get(variable + 1).map_or(0.0, |c| c.abs()) / scale;
        }
    }
    Obstacle { step, reason, scores }
}
