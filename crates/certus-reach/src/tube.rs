//! The reach tube of a piece of the initial set: what is shown of the property along it.
//!
//! The set is carried from step to step; at each position the formula that is left to show progresses by the letter that is certain there ([`crate::progression`]).
//! Comparisons that decide what happens next, and that the set leaves open, split the tube into cases with the set cut accordingly. For properties
//! without an end, a box around the set is carried on from time to time by itself: if it returns into itself and the formula to itself, all that follows is a repetition
//! (an inductive invariant found by simulation of sets; the proof is then for all time).

use std::collections::BTreeMap;

use certus_automata::nnf::Nnf;
use certus_engine::{Budget, spent};
use certus_graph::Interval;
use certus_lang::system::AtomId;

use crate::closed_loop::{ClosedLoop, Set, Step};
use crate::domain::{Guard, Side};
use crate::flowpipe::Trail;
use crate::form::{Form, Space};
use crate::progression::{progress, repeatable};

/// The most cases that a tube is split into.
const MOST_CASES: usize = 256;

/// The first step from which a return is looked for; then after twice as many, and so on.
const FIRST_RETURN: usize = 8;

/// How far a box is inflated before it is tried as an invariant, as a share of its width.
const INFLATION: f64 = 0.05;

/// What a tube came to.
pub(crate) enum Reached {
    /// The property holds for every run from the piece.
    Holds(Shown),
    /// Nothing begins in the piece.
    Empty,
    /// Something was not certain.
    Open(Obstacle),
    /// The work was used up.
    OutOfWork,
}

/// How far a tube went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) steps: usize,
    /// Whether the last steps repeat for ever.
    pub(crate) repeats: bool,
}

/// Where and why a tube ended without a proof.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    pub(crate) step: usize,
    pub(crate) reason: String,
    /// Whether no smaller piece can do better: every atom was certain.
    pub(crate) hopeless: bool,
    /// How much each strong variable matters there.
    pub(crate) scores: Vec<f64>,
    /// The smallest margin there, where the property was open.
    pub(crate) margin: Option<Interval>,
}

struct Branch {
    set: Set,
    cases: BTreeMap<Guard, Side>,
    formula: Nnf<AtomId>,
    step: usize,
    next_return: usize,
    /// Whether every atom was certain at every position so far.
    certain: bool,
}

/// Carries tubes of one property.
pub(crate) struct Tubes<'a> {
    pub(crate) closed_loop: &'a ClosedLoop,
    pub(crate) formula: &'a Nnf<AtomId>,
    pub(crate) atoms: &'a [AtomId],
    pub(crate) assume_no_model_errors: bool,
    pub(crate) degree: usize,
    /// The most steps of a tube.
    pub(crate) most_steps: usize,
    pub(crate) budget: &'a Budget<'a>,
}

/// One position: what is left of the formula and the successor, or an obstacle.
enum Position {
    Done,
    Next(Box<Set>, Nnf<AtomId>),
    Obstacle(Obstacle),
}

impl Tubes<'_> {
    /// The tube from a box; uses up work, and leaves a trail if there is one to leave.
    pub(crate) fn run(&self, bounds: &[Interval], work: &mut u64, mut trail: Option<&mut Trail>) -> Reached {
        let set = Set::of_box(bounds, self.degree);
        let first = Branch {
            set,
            cases: BTreeMap::new(),
            formula: self.formula.clone(),
            step: 0,
            next_return: FIRST_RETURN,
            certain: true,
        };
        let mut branches = vec![first];
        let mut cases = 1;
        let mut shown = None::<Shown>;
        while let Some(mut branch) = branches.pop() {
            loop {
                if !self.spend(work) {
                    return Reached::OutOfWork;
                }
                let Some(step) = self.closed_loop.step(&branch.set, &branch.cases) else {
                    return Reached::Open(obstacle(
                        branch.step,
                        "no enclosure of the step",
                        &branch.set.space,
                        &branch.set.state,
                    ));
                };
                if branch.step == 0 && step.initial == Some(false) {
                    break;
                }
                if let Some((guard, form)) = &step.open
                    && cases < MOST_CASES
                {
                    cases += 1;
                    for side in [Side::Below, Side::Above] {
                        if let Some(set) = branch.set.cut(form, side) {
                            let mut own = branch.cases.clone();
                            own.insert(*guard, side);
                            // A case may be empty, so nothing that happens in it need happen at all.
                            branches.push(Branch {
                                set,
                                cases: own,
                                formula: branch.formula.clone(),
                                certain: false,
                                ..branch
                            });
                        }
                    }
                    break;
                }
                let at = branch.step;
                if let Some(trail) = &mut trail {
                    trail.note(at, &branch.set, self.closed_loop, &step);
                }
                branch.certain &= self.atoms.iter().all(|atom| step.letter[atom.0].is_some());
                match self.position(&branch.formula, at, step) {
                    Position::Obstacle(mut obstacle) => {
                        obstacle.hopeless &= branch.certain;
                        return Reached::Open(obstacle);
                    }
                    Position::Done => {
                        let own = shown.get_or_insert_default();
                        own.steps = own.steps.max(at);
                        break;
                    }
                    Position::Next(set, formula) => {
                        branch.set = *set;
                        branch.formula = formula;
                        branch.cases.clear();
                        branch.step += 1;
                    }
                }
                if branch.step > self.most_steps {
                    return Reached::Open(obstacle(
                        branch.step,
                        "no end in sight",
                        &branch.set.space,
                        &branch.set.state,
                    ));
                }
                if branch.step >= branch.next_return
                    && let Some(wanted) = repeatable(&branch.formula)
                {
                    branch.next_return *= 2;
                    match self.returns(&branch, wanted, work) {
                        Some(true) => {
                            let own = shown.get_or_insert_default();
                            own.steps = own.steps.max(branch.step);
                            own.repeats = true;
                            break;
                        }
                        Some(false) => {}
                        None => return Reached::OutOfWork,
                    }
                }
            }
        }
        shown.map_or(Reached::Empty, Reached::Holds)
    }

    /// Takes the work of one step, if there is some left and no deadline has passed.
    fn spend(&self, work: &mut u64) -> bool {
        let left = *work > 0 && spent(self.budget).is_none();
        *work = work.saturating_sub(1);
        left
    }

    fn position(&self, formula: &Nnf<AtomId>, at: usize, step: Step) -> Position {
        let left = progress(formula, &step.letter);
        if left.is_false() {
            let mut found = obstacle(at, "the property is open", &step.next.space, &step.margins);
            found.hopeless = true;
            let margins = step.margins.iter().map(|form| form.range);
            found.margin = margins.min_by(|a, b| a.lo.total_cmp(&b.lo));
            return Position::Obstacle(found);
        }
        let errors = !self.assume_no_model_errors;
        if errors && !step.certain {
            return Position::Obstacle(obstacle(
                at,
                "a choice may be forbidden or undefined",
                &step.next.space,
                &step.next.state,
            ));
        }
        if left.is_true() {
            return Position::Done;
        }
        match step.goes_on {
            Err(reason) if errors => Position::Obstacle(obstacle(at, &reason, &step.next.space, &step.next.state)),
            _ if step.next.state.iter().any(|form| form.range.width() == f64::INFINITY) => {
                Position::Obstacle(obstacle(at, "the set is unbounded", &step.next.space, &step.next.state))
            }
            _ => Position::Next(Box::new(step.next.reduced()), left),
        }
    }

    /// Whether a box around the set returns into itself while a formula returns to itself; nothing if the work is used up.
    fn returns(&self, branch: &Branch, wanted: &Nnf<AtomId>, work: &mut u64) -> Option<bool> {
        let around: Vec<Interval> = branch
            .set
            .hull()
            .iter()
            .map(|range| if range.lo == range.hi { *range } else { range.widen(INFLATION * range.width()) })
            .collect();
        let mut set = Set::of_box(&around, self.degree.min(2));
        let mut formula = wanted.clone();
        let cases = BTreeMap::new();
        for _ in 0..branch.step {
            if !self.spend(work) {
                return None;
            }
            let Some(step) = self.closed_loop.step(&set, &cases) else { return Some(false) };
            if step.open.is_some() {
                return Some(false);
            }
            match self.position(&formula, branch.step, step) {
                Position::Obstacle(_) => return Some(false),
                Position::Done => return Some(true),
                Position::Next(next, left) => (set, formula) = (*next, left),
            }
            let inside = around.iter().zip(&set.state).all(|(around, form)| around.encloses(form.range));
            if inside && formula == *wanted {
                return Some(true);
            }
        }
        Some(false)
    }
}

fn obstacle(step: usize, reason: &str, space: &Space, forms: &[Form]) -> Obstacle {
    let mut scores = vec![0.0; space.monomials.variables];
    forms.iter().for_each(|form| add_scores(&mut scores, space, form));
    Obstacle { step, reason: reason.to_owned(), hopeless: false, scores, margin: None }
}

/// Adds how much a form changes along each strong variable, as a share of its range: all monomials that the variable stands in.
fn add_scores(scores: &mut [f64], space: &Space, form: &Form) {
    let scale = form.range.width().max(f64::MIN_POSITIVE);
    for (exponents, c) in space.monomials.exponents.iter().zip(&form.coefficients).skip(1) {
        for (score, exponent) in scores.iter_mut().zip(exponents) {
            *score += c.abs() / scale * f64::from(*exponent);
        }
    }
}
