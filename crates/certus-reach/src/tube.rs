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

/// A guard that leaves more than this share of a set on either side tells nothing about it.
const MOST_OF_CASE: f64 = 0.75;

/// And the paths from a box that may be an invariant.
const MOST_CASES_OF_RETURN: usize = 64;

/// How often such a box is widened.
const MOST_WIDENINGS: usize = 4;

/// Returns are looked for with so many times the work of the tube at most.
const MOST_ON_RETURNS: u64 = 4;

/// The first step from which a return is looked for; then after twice as many, and so on.
const FIRST_RETURN: usize = 8;

/// How far a box is inflated before it is tried as an invariant, as a share of its width.
const INFLATION: f64 = 0.05;

/// What a tube came to.
pub(crate) enum Reached {
    /// The property holds for every run from the piece. What was found to hold for ever on the way, too.
    Holds(Shown, Vec<Invariant>),
    /// Nothing begins in the piece.
    Empty,
    /// Something was not certain.
    Open(Obstacle, Rest),
    /// The work was used up.
    OutOfWork(Rest),
}

/// What is left of a box where some cases of its tube are finished: boxes around where the others begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    /// The case that failed, and whether it only failed since there were too many.
    pub(crate) failed: Vec<Interval>,
    pub(crate) had_too_many: bool,
    /// Those that were still to be looked at.
    pub(crate) others: Vec<Vec<Interval>>,
    /// How many are finished.
    pub(crate) finished: usize,
}

/// What a tube may take, and what it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Units that are left.
    pub(crate) left: u64,
    /// Steps of sets so far.
    pub(crate) steps: u64,
}

impl Work {
    pub(crate) fn new(units: u64) -> Work {
        Work { left: units, steps: 0 }
    }

    /// One step that was worth so many units.
    pub(crate) fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
        self.steps += 1;
    }
}

/// A box of states from which every run satisfies a formula.
#[derive(Clone, Debug)]
pub(crate) struct Invariant {
    bounds: Vec<Interval>,
    formula: Nnf<AtomId>,
}

impl Invariant {
    /// Whether it says that all runs from a box satisfy a formula.
    fn covers(&self, hull: &[Interval], formula: &Nnf<AtomId>) -> bool {
        self.bounds.iter().zip(hull).all(|(own, other)| own.encloses(*other)) && self.formula == *formula
    }
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

pub(crate) struct Branch {
    pub(crate) set: Set,
    pub(crate) cases: BTreeMap<Guard, Side>,
    pub(crate) formula: Nnf<AtomId>,
    pub(crate) step: usize,
    next_return: usize,
    /// Whether what is not initial was cut off.
    is_cut: bool,
    /// Whether every atom was certain at every position so far.
    certain: bool,
    /// Whether there were too many cases to tell apart what an open guard leads to.
    is_blind: bool,
}

impl Branch {
    pub(crate) fn new(set: Set, formula: Nnf<AtomId>) -> Branch {
        Branch {
            set,
            cases: BTreeMap::new(),
            formula,
            step: 0,
            next_return: FIRST_RETURN,
            is_cut: false,
            certain: true,
            is_blind: false,
        }
    }

    fn obstacle(&self, reason: &str) -> Obstacle {
        obstacle(self.step, reason, &self.set.space, &self.set.state)
    }
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
    /// What other tubes found to hold for ever.
    pub(crate) invariants: &'a [Invariant],
    pub(crate) budget: &'a Budget<'a>,
}

/// One position: what is left of the formula and the successor, or an obstacle.
enum Position {
    Done,
    Next(Box<Set>, Nnf<AtomId>),
    Obstacle(Obstacle),
}

/// What one step of a branch came to.
pub(crate) enum Moved {
    /// The branch goes on.
    Onwards,
    /// The branch needs no further step, or was replaced by its cases.
    Ended(Ending),
    Obstacle(Obstacle),
    OutOfWork,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing begins in it.
    Empty,
    Cases,
    Shown,
    /// What is left of the property holds for ever: its states are terminal, or in a box of which that is known.
    ShownForEver,
}

impl Tubes<'_> {
    /// The tube from a box; uses up work, and leaves a trail if there is one to leave.
    pub(crate) fn run(&self, bounds: &[Interval], work: &mut Work, mut trail: Option<&mut Trail>) -> Reached {
        let mut branches = vec![Branch::new(Set::of_box(bounds, self.degree), self.formula.clone())];
        let mut cases = MOST_CASES;
        let mut shown = None::<Shown>;
        let mut found = Vec::new();
        let mut finished = 0;
        let (before, mut on_returns) = (work.left, 0);
        let rest = |branch: &Branch, branches: &[Branch], cases: usize, finished: usize| Rest {
            failed: branch.set.beginning(bounds),
            had_too_many: cases == 0,
            others: branches.iter().map(|own| own.set.beginning(bounds)).collect(),
            finished,
        };
        while let Some(mut branch) = branches.pop() {
            let ending = loop {
                match self.advance(&mut branch, &mut branches, &mut cases, work, trail.as_deref_mut()) {
                    Moved::OutOfWork => return Reached::OutOfWork(rest(&branch, &branches, cases, finished)),
                    Moved::Obstacle(obstacle) => {
                        return Reached::Open(obstacle, rest(&branch, &branches, cases, finished));
                    }
                    Moved::Ended(ending) => break ending,
                    Moved::Onwards => {}
                }
                // Where other cases are finished, this one is better looked at by itself than in the dark.
                if branch.is_blind && finished > 0 {
                    let obstacle = branch.obstacle("there are too many cases");
                    return Reached::Open(obstacle, rest(&branch, &branches, cases, finished));
                }
                if branch.step > self.most_steps {
                    let obstacle = branch.obstacle("no end in sight");
                    return Reached::Open(obstacle, rest(&branch, &branches, cases, finished));
                }
                let Some(wanted) = repeatable(&branch.formula) else { continue };
                let hull = branch.set.hull();
                if self.invariants.iter().chain(&found).any(|own| own.covers(&hull, wanted)) {
                    break Ending::ShownForEver;
                }
                if branch.step >= branch.next_return {
                    branch.next_return *= 2;
                    // Each of many cases would look for its own.
                    let on_tube = before - work.left - on_returns;
                    if on_returns > on_tube.saturating_mul(if finished == 0 { MOST_ON_RETURNS } else { 1 }) {
                        continue;
                    }
                    let left = work.left;
                    let found_one = self.invariant_around(&branch, hull, wanted, work);
                    on_returns += left - work.left;
                    match found_one {
                        Ok(Some(invariant)) => {
                            found.push(invariant);
                            break Ending::ShownForEver;
                        }
                        Ok(None) => {}
                        Err(OutOfWork) => return Reached::OutOfWork(rest(&branch, &branches, cases, finished)),
                    }
                }
            };
            finished += usize::from(ending != Ending::Cases);
            if matches!(ending, Ending::Shown | Ending::ShownForEver) {
                let own = shown.get_or_insert_default();
                own.steps = own.steps.max(branch.step);
                own.repeats |= ending == Ending::ShownForEver;
            }
        }
        shown.map_or(Reached::Empty, |shown| Reached::Holds(shown, found))
    }

    /// One step of a branch. Where a comparison that matters is open, its cases take its place.
    pub(crate) fn advance(
        &self,
        branch: &mut Branch,
        branches: &mut Vec<Branch>,
        cases: &mut usize,
        work: &mut Work,
        trail: Option<&mut Trail>,
    ) -> Moved {
        if work.left == 0 || spent(self.budget).is_some() {
            return Moved::OutOfWork;
        }
        let step = self.closed_loop.step(&branch.set, &branch.cases);
        work.spend(step.as_ref().map_or_else(|| self.closed_loop.least_cost(), |step| step.cost));
        let Some(step) = step else {
            return Moved::Obstacle(branch.obstacle("no enclosure of the step"));
        };
        if branch.step == 0 && step.initial == Some(false) {
            return Moved::Ended(Ending::Empty);
        }
        if branch.step == 0 && !branch.is_cut && !step.initial_margins.is_empty() {
            let margins: Vec<&Form> = step.initial_margins.iter().collect();
            return match branch.set.cut_from(1, &margins, Side::Above) {
                Some(set) => {
                    // What is left may have no initial states, as a case may be empty.
                    (branch.set, branch.is_cut, branch.certain) = (set, true, false);
                    self.advance(branch, branches, cases, work, trail)
                }
                None => Moved::Ended(Ending::Empty),
            };
        }
        branch.is_blind |= step.open.is_some() && *cases == 0;
        if let Some((guard, form)) = &step.open
            && *cases > 0
        {
            *cases -= 1;
            let mut found = Vec::new();
            for side in [Side::Below, Side::Above] {
                if let Some(set) = branch.set.cut(form, side) {
                    let mut own = branch.cases.clone();
                    own.insert(*guard, side);
                    found.push((set, own));
                }
            }
            // Where an approximation leaves the guard open everywhere, both cases would be as large as the set.
            let is_blurred = found.len() == 2 && found.iter().all(|(set, _)| set.share_of(&branch.set) > MOST_OF_CASE);
            if is_blurred
                && branch.set.is_blurred_by_step(form, self.closed_loop.choices())
                && let Some(halves) = branch.set.halves(form)
            {
                found = halves.map(|set| (set, branch.cases.clone())).into();
            }
            // A case may be empty, so nothing that happens in it need happen at all.
            let formula = &branch.formula;
            branches.extend(found.into_iter().map(|(set, cases)| Branch {
                set,
                cases,
                formula: formula.clone(),
                certain: false,
                ..*branch
            }));
            return Moved::Ended(Ending::Cases);
        }
        if let Some(trail) = trail {
            trail.note(branch.step, &branch.set, self.closed_loop, &step);
        }
        branch.certain &= self.atoms.iter().all(|atom| step.letter[atom.0].is_some());
        // The same position for ever.
        let ended = step.ended;
        let lasts = ended && repeatable(&branch.formula).is_some_and(|own| progress(own, &step.letter) == *own);
        match self.position(branch, step, work) {
            Position::Obstacle(mut obstacle) => {
                obstacle.hopeless &= branch.certain;
                Moved::Obstacle(obstacle)
            }
            Position::Done => Moved::Ended(Ending::Shown),
            Position::Next(..) if lasts => Moved::Ended(Ending::ShownForEver),
            Position::Next(_, formula) if ended && formula == branch.formula => {
                Moved::Obstacle(branch.obstacle("the runs have ended, and the property is open"))
            }
            Position::Next(set, formula) => {
                branch.set = *set;
                branch.formula = formula;
                // Where nothing moves, what is decided by the state stays decided.
                branch.cases.retain(|guard, _| ended && self.closed_loop.is_of_state(*guard));
                branch.step += 1;
                Moved::Onwards
            }
        }
    }

    fn position(&self, branch: &Branch, step: Step, work: &mut Work) -> Position {
        let at = branch.step;
        let mut left = progress(&branch.formula, &step.letter);
        if left.is_false() {
            left = self.left_by_cases(branch, &step, work);
        }
        if left.is_false() {
            // Where a condition throughout a period is open, its margin at the worst instant says more than the infimum does.
            let margins: Vec<Form> = step.open_atoms.into_iter().map(|(_, form)| form).chain(step.hints).collect();
            let mut found = obstacle(at, "the property is open", &step.next.space, &margins);
            found.hopeless = true;
            found.margin = margins.iter().map(|form| form.range).min_by(|a, b| a.lo.total_cmp(&b.lo));
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

    /// A box that contains the set, and from which all runs return to it while a formula returns to itself. Where they do not, the box is widened to where
    /// they went, as in the iteration of an abstract interpreter, some times (Cousot and Cousot, "Abstract interpretation", POPL 1977).
    fn invariant_around(
        &self,
        branch: &Branch,
        hull: Vec<Interval>,
        wanted: &Nnf<AtomId>,
        work: &mut Work,
    ) -> Result<Option<Invariant>, OutOfWork> {
        let mut bounds = hull;
        for _ in 0..MOST_WIDENINGS {
            bounds.iter_mut().zip(&self.closed_loop.ranges).for_each(|(own, range)| {
                if own.lo < own.hi {
                    let wider = own.widen(INFLATION * own.width());
                    *own = wider.intersection(*range).unwrap_or(*own);
                }
            });
            let invariant = Invariant { bounds, formula: wanted.clone() };
            match self.leaves(&invariant, branch.step, work)? {
                Leaves::Never => return Ok(Some(invariant)),
                Leaves::By(reached) => bounds = invariant.bounds.iter().zip(reached).map(|(a, b)| a.hull(b)).collect(),
                Leaves::Unknown => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Follows all runs from a box until they return to it, for so many steps at most.
    fn leaves(&self, invariant: &Invariant, most_steps: usize, work: &mut Work) -> Result<Leaves, OutOfWork> {
        let set = Set::of_box(&invariant.bounds, self.degree.min(2));
        // These are no initial states: the first step is not looked at for those.
        let mut branches = vec![Branch { step: 1, ..Branch::new(set, invariant.formula.clone()) }];
        let mut cases = MOST_CASES_OF_RETURN;
        let mut beyond = None::<Vec<Interval>>;
        while let Some(mut branch) = branches.pop() {
            loop {
                match self.advance(&mut branch, &mut branches, &mut cases, work, None) {
                    Moved::OutOfWork => return Err(OutOfWork),
                    Moved::Obstacle(_) => return Ok(Leaves::Unknown),
                    Moved::Ended(_) => break,
                    Moved::Onwards => {}
                }
                let hull = branch.set.hull();
                if invariant.covers(&hull, &branch.formula) {
                    break;
                }
                if branch.step > most_steps {
                    if branch.formula != invariant.formula {
                        return Ok(Leaves::Unknown);
                    }
                    beyond = Some(match beyond {
                        Some(own) => own.iter().zip(hull).map(|(a, b)| a.hull(b)).collect(),
                        None => hull,
                    });
                    break;
                }
            }
        }
        Ok(beyond.map_or(Leaves::Never, Leaves::By))
    }
}

/// The work was used up.
struct OutOfWork;

/// Where the runs from a box go.
enum Leaves {
    /// All return to it.
    Never,
    /// Not all did; they are in this box after some steps.
    By(Vec<Interval>),
    Unknown,
}

fn obstacle(step: usize, reason: &str, space: &Space, forms: &[Form]) -> Obstacle {
    let mut scores = vec![0.0; space.monomials.variables];
    for form in forms {
        scores.iter_mut().zip(crate::set::scores(space, form)).for_each(|(sum, own)| *sum += own);
    }
    Obstacle { step, reason: reason.to_owned(), hopeless: false, scores, margin: None }
}
