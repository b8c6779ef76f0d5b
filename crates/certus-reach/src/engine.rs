//! The engine `reach`: branch and bound over the initial set, a union of boxes, with the reach tube of each piece.
//!
//! A piece whose tube shows the property is finished; any other is halved along the variable that matters most where the tube failed, as its Taylor model says. Pieces are
//! taken in a fixed order, several at a time, so the outcome does not depend on the number of threads. The first box is tried with Taylor models of a low
//! degree first and of a higher one then; the pieces have the degree that came further.
//!
//! *Soundness.* Pieces cover the initial set; every run is in the tube of its piece; `holds` needs every tube to show it. A violation is never claimed here.

use std::any::Any;

use certus_automata::nnf::Nnf;
use certus_engine::{
    Budget, Engine, FIRST_WORK, Next, Progress, Session, Shared, Support, Task, Turn, Watch, is_worth_more_work, spent,
};
use certus_graph::Interval;
use certus_lang::system::{AtomId, Integers, Property, System};

use certus_model::{
    CheckError, NoErrors, Outcome, Scope, Unknown, UnknownReason, Verdict, formula_of, nnf, own_horizon, short,
    short_down,
};
use certus_numerics::parallel;

use crate::closed_loop::ClosedLoop;
use crate::flowpipe::Trail;
use crate::modes::Joined;
use crate::tube::{Invariant, Obstacle, Reached, Rest, Shown, Tubes, Work};

/// The name of the engine.
pub const NAME: &str = "reach";

/// Reachability with Taylor models.
pub struct Reach {
    /// Which properties it takes.
    pub takes: Takes,
}

/// Kinds of properties, so that a portfolio can give them turns at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All of them.
    All,
    /// Those that their own bounds decide.
    Bounded,
    /// The others.
    Unbounded,
}

/// The pieces of the initial set whose tubes show a property that holds, by halving: what a certificate begins from. See [`Session::details`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pieces(pub Vec<Vec<Interval>>);

/// Widths that an explanation shows.
const SHOWN_WIDTHS: usize = 5;

/// Pieces that are looked at together.
const BATCH: usize = 8;

/// The most steps of a tube whose property has no end of its own.
const MOST_STEPS: usize = 4096;

/// Invariants that pieces share.
const MOST_INVARIANTS: usize = 256;

/// Steps of a turn, at least.
const LEAST_STEPS: u64 = 4;

/// Boxes are joined with no less work than this, and with such a part of a turn.
const LEAST_JOINED: u64 = 64;
const SHARE_OF_JOINED: u64 = 4;

/// Boxes are joined with no more work than this.
const MOST_JOINED: u64 = 1 << 16;

/// Parts of a piece are looked at by themselves where none has more of its volume than this.
const MOST_LEFT: f64 = 0.75;

/// A piece narrower than this share of the initial set is not split.
const NARROWEST: f64 = 1e-6;

impl Engine for Reach {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Support {
        if let Err(error) = formula_of(property) {
            return Support::No(error.to_string());
        }
        let is_bounded = own_horizon(property).is_some();
        match self.takes {
            Takes::Bounded if !is_bounded => return Support::No("the property has no end of its own".to_owned()),
            Takes::Unbounded if is_bounded => return Support::No("the property has an end of its own".to_owned()),
            _ => {}
        }
        let finite = system.init_box.0.iter().chain(&system.init_box.1).all(|end| end.is_finite());
        if !finite {
            return Support::No("the initial states have no bounds: sets begin with a box".to_owned());
        }
        if system.roles.init_defined.is_some() {
            return Support::No("the initial condition has operations that may be undefined".to_owned());
        }
        if !system.networks.is_empty() {
            return Support::No("the loop is open".to_owned());
        }
        Support::Yes
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Branching::new(*task)?))
    }
}

/// A property of a system, prepared for tubes.
pub(crate) struct Question<'t> {
    task: Task<'t>,
    closed_loop: ClosedLoop,
    formula: Nnf<AtomId>,
    atoms: Vec<AtomId>,
}

impl<'t> Question<'t> {
    pub(crate) fn new(task: Task<'t>) -> Result<Question<'t>, CheckError> {
        let formula = nnf(formula_of(task.property)?, true);
        let mut atoms = formula.atoms();
        atoms.sort_unstable();
        atoms.dedup();
        let closed_loop = ClosedLoop::new(task.system, &atoms)?;
        Ok(Question { task, closed_loop, formula, atoms })
    }

    /// The boxes of the initial set.
    pub(crate) fn initial_boxes(&self) -> Vec<Vec<Interval>> {
        let sides = |(lower, upper): &(Vec<f64>, Vec<f64>)| {
            lower.iter().zip(upper).map(|(&lo, &hi)| Interval { lo, hi }).collect()
        };
        self.task.system.init_boxes.iter().map(sides).collect()
    }

    pub(crate) fn tubes<'a>(&'a self, degree: usize, invariants: &'a [Invariant], budget: &'a Budget<'a>) -> Tubes<'a> {
        Tubes {
            invariants,
            closed_loop: &self.closed_loop,
            formula: &self.formula,
            atoms: &self.atoms,
            assume_no_model_errors: self.task.assume_no_model_errors,
            degree,
            budget,
            most_steps: own_horizon(self.task.property).map_or(MOST_STEPS, |horizon| horizon + 1),
        }
    }
}

struct Branching<'t> {
    task: Task<'t>,
    question: Question<'t>,
    /// Pieces that are still to be looked at, the next one last.
    pieces: Vec<Vec<Interval>>,
    /// The boxes of the initial set.
    whole: Vec<Vec<Interval>>,
    /// The integers that elements of the state are.
    integers: Vec<Option<Integers>>,
    /// Degrees that the first box of the initial set is still to be tried with, the next one last.
    ladder: Vec<usize>,
    /// The degree of the Taylor models of pieces, and where it ended on the whole set.
    degree: usize,
    furthest: Option<Obstacle>,
    /// What the tube of the whole set went through that came furthest.
    trail: Trail,
    /// The share of the initial set's volume that is finished.
    share: f64,
    finished: u64,
    /// The pieces that are finished.
    done: Pieces,
    shown: Shown,
    obstacle: Option<Obstacle>,
    /// Boxes from which what is left of the property holds for ever.
    invariants: Vec<Invariant>,
    /// Work that the tube of a piece may need, as far as that was seen.
    needed: u64,
    /// Whether some piece can be neither shown nor split.
    stuck: bool,
    /// Whether boxes that are joined by their modes are still to be tried.
    may_join: bool,
}

/// Degrees of Taylor models in so many variables, the first one last: low, then as high as keeps them small.
pub(crate) fn ladder(variables: usize) -> Vec<usize> {
    match variables {
        0 => vec![1],
        1..=2 => vec![5, 2],
        3..=4 => vec![4, 2],
        5..=6 => vec![3, 2],
        7..=12 => vec![2, 1],
        _ => vec![1],
    }
}

impl<'t> Branching<'t> {
    fn new(task: Task<'t>) -> Result<Branching<'t>, CheckError> {
        let question = Question::new(task)?;
        let mut whole = question.initial_boxes();
        whole.retain(|own| own.iter().all(|range| range.lo <= range.hi));
        let has_states = !whole.is_empty();
        let variables = |own: &Vec<Interval>| own.iter().filter(|range| range.lo < range.hi).count();
        let integers = task.system.states.iter();
        Ok(Branching {
            task,
            question,
            pieces: whole.iter().rev().cloned().collect(),
            ladder: ladder(whole.iter().map(variables).max().unwrap_or(0)),
            whole,
            integers: integers.flat_map(|own| std::iter::repeat_n(own.integers.clone(), own.len)).collect(),
            degree: 1,
            furthest: None,
            trail: Trail::default(),
            share: 0.0,
            finished: 0,
            done: Pieces::default(),
            shown: Shown::default(),
            invariants: Vec::new(),
            obstacle: None,
            needed: 1,
            stuck: !has_states,
            may_join: has_states && own_horizon(task.property).is_none(),
        })
    }

    /// The verdict that the property holds, before anything is said of how.
    fn holds(&self, scope: Scope) -> Outcome {
        let mut outcome = Outcome::new(NAME, Verdict::Holds(scope));
        outcome.no_errors = Some(if self.task.assume_no_model_errors { NoErrors::Assumed } else { NoErrors::Within });
        outcome
    }

    /// The same by boxes that are joined by their modes, if that was not tried and there is enough work left.
    fn by_boxes(&mut self, work: &mut u64, budget: &Budget<'_>) -> Option<Outcome> {
        let share = (*work / SHARE_OF_JOINED).min(MOST_JOINED);
        if !self.may_join || share < LEAST_JOINED {
            return None;
        }
        let mut own = Work::new(share);
        let joined = self.question.tubes(1, &[], budget).joined(&self.whole, &mut own);
        *work -= share - own.left;
        tracing::trace!(target: "certus::count", set_steps = own.steps);
        self.may_join = matches!(joined, Joined::OutOfWork) && share < MOST_JOINED;
        let Joined::Holds { boxes, steps } = joined else { return None };
        self.pieces.clear();
        (self.done, self.stuck) = (Pieces(self.whole.clone()), false);
        let mut outcome = self.holds(Scope::Unbounded);
        let boxes = if boxes == 1 { "one box".to_owned() } else { format!("{boxes} boxes") };
        let after = if steps == 0 { String::new() } else { format!("{}, after which ", certus_model::steps(steps)) };
        outcome.notes.push(format!("by reachable sets: {after}they stay in {boxes}"));
        Some(outcome)
    }

    fn outcome(&self, reason: Option<UnknownReason>) -> Outcome {
        let names = self.task.system.state_names();
        let place = match &self.obstacle {
            Some(own) => format!("step {}: {}", own.step, own.reason),
            None => "the first step".to_owned(),
        };
        let mut outcome = Outcome::new(NAME, Verdict::Unknown(Unknown::at(reason, place)));
        if let Some(own) = &self.obstacle {
            outcome.notes = self.explained(own, &names);
        }
        outcome
    }

    /// What may help whoever reads an `unknown`: where the sets lost their shape, how wide they became, what more splits would cost.
    fn explained(&self, obstacle: &Obstacle, names: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        let open = self.pieces.len();
        let count = match (self.finished, open) {
            (0, _) => "no piece of the initial set is shown".to_owned(),
            (done, open) => format!(
                "{done} of {} pieces are shown, {} of the initial set",
                done as usize + open,
                percent(self.share)
            ),
        };
        let cost = match self.share {
            share if share > 0.0 && share < 1.0 => {
                format!("; at this rate the rest would take {:.1} times the work so far", (1.0 - share) / share)
            }
            _ => String::new(),
        };
        notes.push(format!("reachable sets: {count}{cost}"));
        let variables = self.variables();
        let most = obstacle.scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((place, _)) = most.filter(|_| obstacle.scores.len() == variables.len()) {
            let margin = match obstacle.margin.filter(|own| own.lo.is_finite()) {
                Some(own) => format!(", where the margin is at least {}", short_down(own.lo)),
                None => String::new(),
            };
            let name = &names[variables[place]];
            notes.push(format!("step {}{margin}, depends most on the initial {name}", obstacle.step));
        }
        if let Some(own) = widest(&self.trail, names) {
            notes.push(own);
        }
        notes
    }

    /// The share of the initial set's volume that a piece has; boxes have equal ones, whatever their dimensions.
    fn share_of(&self, piece: &[Interval]) -> f64 {
        let inside = |whole: &&Vec<Interval>| whole.iter().zip(piece).all(|(whole, own)| whole.encloses(*own));
        let Some(whole) = self.whole.iter().find(inside) else { return 0.0 };
        let widths = whole.iter().zip(piece).filter(|(whole, _)| whole.lo < whole.hi);
        widths.map(|(whole, own)| own.width() / whole.width()).product::<f64>() / self.whole.len() as f64
    }

    /// The elements of the state that are strong variables of the first box, in their order.
    fn variables(&self) -> Vec<usize> {
        let wide = self.whole.first().into_iter().flat_map(|own| own.iter().enumerate());
        wide.filter(|(_, range)| range.lo < range.hi).map(|(place, _)| place).collect()
    }

    /// The largest width of an element in a box of the initial set.
    fn width(&self, place: usize) -> f64 {
        self.whole.iter().map(|own| own[place].width()).fold(0.0, f64::max)
    }

    /// What is left of a piece where some cases are finished, the next part last; nothing if that is not clearly less than the piece, or no case
    /// is finished. The case that failed is halved, unless there was no obstacle but the number of cases.
    fn left_of(&mut self, piece: &[Interval], rest: &Rest, obstacle: Option<&Obstacle>) -> Option<Vec<Vec<Interval>>> {
        let mut left = rest.others.clone();
        match obstacle.filter(|_| !rest.had_too_many) {
            Some(obstacle) => left.extend(self.split(&rest.failed, obstacle)?),
            None => left.push(rest.failed.clone()),
        }
        let share = self.share_of(piece);
        if rest.finished == 0 || left.iter().any(|own| self.share_of(own) > MOST_LEFT * share) {
            return None;
        }
        // Cases that differ by choices begin in the same states.
        let inside =
            |own: &[Interval], other: &[Interval]| own.iter().zip(other).all(|(own, other)| other.encloses(*own));
        let mut kept: Vec<Vec<Interval>> = Vec::new();
        for own in left.into_iter().rev() {
            if !kept.iter().any(|other| inside(&own, other)) {
                kept.retain(|other| !inside(other, &own));
                kept.push(own);
            }
        }
        kept.reverse();
        self.share += (share - kept.iter().map(|own| self.share_of(own)).sum::<f64>()).max(0.0);
        self.finished += 1;
        Some(kept)
    }

    /// Halves a piece along the variable that matters most, the next half last.
    fn split(&self, piece: &[Interval], obstacle: &Obstacle) -> Option<Vec<Vec<Interval>>> {
        let variables: Vec<usize> = (0..piece.len()).filter(|&place| piece[place].lo < piece[place].hi).collect();
        let wide = |place: usize| piece[place].width() > NARROWEST * self.width(place);
        let chosen = variables
            .iter()
            .zip(&obstacle.scores)
            .filter(|(place, _)| wide(**place))
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))
            .map(|(place, _)| *place)?;
        let range = piece[chosen];
        let middle = range.lo / 2.0 + range.hi / 2.0;
        if !(range.lo < middle && middle < range.hi) {
            return None;
        }
        let mut halves = vec![piece.to_vec(), piece.to_vec()];
        halves[1][chosen].hi = middle;
        halves[0][chosen].lo = middle;
        // Between two integers there are no states.
        if let Some(integers) = &self.integers[chosen] {
            let shrunk = |range: Interval| {
                let (first, last) = integers.between(range.lo, range.hi)?.hull();
                Some(Interval { lo: first as f64, hi: last as f64 })
            };
            halves.retain_mut(|own| shrunk(own[chosen]).map(|range| own[chosen] = range).is_some());
        }
        Some(halves)
    }
}

/// The element of the state that grew most in the tube of the whole initial set, its widths, and from when on they are mostly approximation error.
fn widest(trail: &Trail, names: &[String]) -> Option<String> {
    let first = trail.slices.first()?;
    let last = trail.slices.last()?;
    let growth = |element: usize| {
        let (before, after) = (first.bounds[element].width(), last.bounds[element].width());
        after / before.max(1e-3 * after)
    };
    let element =
        (0..names.len()).filter(|&own| growth(own).is_finite()).max_by(|&a, &b| growth(a).total_cmp(&growth(b)))?;
    let steps = trail.slices.len();
    let mut shown: Vec<usize> = (0..SHOWN_WIDTHS).map(|place| place * (steps - 1) / (SHOWN_WIDTHS - 1)).collect();
    shown.dedup();
    let widths: Vec<String> = shown.iter().map(|&step| short(trail.slices[step].bounds[element].width())).collect();
    let shown: Vec<String> = shown.iter().map(usize::to_string).collect();
    let lost = trail.lost.iter().position(|own| own[element] > 0.5);
    let when = lost.map_or(String::new(), |step| format!("; from step {step} on most of that is approximation error"));
    Some(format!("the width of {} at steps {} is {}{when}", names[element], shown.join(", "), widths.join(", ")))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Session for Branching<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let span = tracing::info_span!("reach", property = self.task.property.name);
        let _entered = span.enter();
        let horizon = own_horizon(self.task.property);
        let least = LEAST_STEPS * self.question.closed_loop.least_cost();
        // Before the first full turn nothing is begun that cannot end.
        if budget.subproblems < least.min(FIRST_WORK) {
            let so_far = Box::new(self.outcome(Some(UnknownReason::Subproblems)));
            return Ok(Turn::Open { so_far, next: Next::MoreWork });
        }
        let mut work = budget.subproblems.max(least);
        let mut reason = None;
        while !self.pieces.is_empty() {
            // Tubes of the whole set say more where they work, and are tried before.
            if (self.ladder.is_empty() || self.stuck)
                && let Some(outcome) = self.by_boxes(&mut work, budget)
            {
                return Ok(Turn::Decided(Box::new(outcome)));
            }
            if self.stuck {
                break;
            }
            reason = spent(budget).or((work == 0).then_some(UnknownReason::Subproblems));
            if reason.is_some() {
                break;
            }
            // Fewer at once, where each of them would have too little work to come to an end.
            let is_whole = !self.ladder.is_empty();
            let batch = if is_whole { 1 } else { (work / self.needed).clamp(1, BATCH as u64) as usize };
            let from = self.pieces.len().saturating_sub(batch);
            let batch: Vec<Vec<Interval>> = self.pieces.split_off(from);
            let degree = self.ladder.last().copied().unwrap_or(self.degree);
            let tubes = self.question.tubes(degree, &self.invariants, budget);
            let share = (work / batch.len() as u64).max(least);
            let found = parallel::map(&batch, budget.threads, |piece| {
                let mut left = Work::new(share);
                // The whole set leaves a trail, to tell where it loses its shape.
                let mut trail = is_whole.then(Trail::default);
                let reached = tubes.run(piece, &mut left, trail.as_mut());
                (reached, (share - left.left, left.steps), trail)
            });
            for (piece, (reached, (used, steps), trail)) in batch.into_iter().zip(found).rev() {
                work = work.saturating_sub(used);
                tracing::trace!(target: "certus::count", set_steps = steps, pieces = 1u64);
                if !is_whole && !matches!(reached, Reached::OutOfWork(_)) {
                    self.needed = self.needed.max(used);
                }
                match reached {
                    Reached::Holds(shown, invariants) => {
                        let room = MOST_INVARIANTS.saturating_sub(self.invariants.len());
                        self.invariants.extend(invariants.into_iter().take(room));
                        self.finished += 1;
                        self.share += self.share_of(&piece);
                        self.done.0.push(piece);
                        self.shown.steps = self.shown.steps.max(shown.steps);
                        self.shown.repeats |= shown.repeats;
                    }
                    Reached::Empty => {
                        self.finished += 1;
                        self.share += self.share_of(&piece);
                        self.done.0.push(piece);
                    }
                    Reached::OutOfWork(rest) => {
                        self.needed = self.needed.max(2 * used);
                        match self.left_of(&piece, &rest, None) {
                            Some(left) => {
                                self.pieces.extend(left);
                                // A degree that some cases are finished with will do.
                                if is_whole {
                                    self.degree = degree;
                                    self.ladder.clear();
                                }
                            }
                            None => self.pieces.push(piece),
                        }
                        work = 0;
                    }
                    Reached::Open(obstacle, rest) if self.ladder.pop().is_some() && !obstacle.hopeless => {
                        if self.furthest.as_ref().is_none_or(|own| own.step < obstacle.step) {
                            (self.furthest, self.degree) = (Some(obstacle), degree);
                            self.trail = trail.unwrap_or_default();
                        }
                        let furthest = self.furthest.clone();
                        let left = match (self.ladder.is_empty(), &furthest) {
                            (true, Some(own)) if self.degree == degree => {
                                self.left_of(&piece, &rest, Some(own)).or_else(|| self.split(&piece, own))
                            }
                            (true, Some(own)) => self.split(&piece, own),
                            _ => None,
                        };
                        match left {
                            Some(left) => self.pieces.extend(left),
                            None => {
                                self.stuck = self.ladder.is_empty();
                                self.pieces.push(piece);
                            }
                        }
                        self.obstacle.clone_from(&self.furthest);
                    }
                    Reached::Open(obstacle, rest) => {
                        let left = self.left_of(&piece, &rest, Some(&obstacle));
                        match left.or_else(|| self.split(&piece, &obstacle)).filter(|_| !obstacle.hopeless) {
                            Some(left) => self.pieces.extend(left),
                            None => {
                                self.pieces.push(piece);
                                self.stuck = true;
                            }
                        }
                        self.obstacle = Some(obstacle);
                    }
                }
            }
            let (steps, cells) = (self.shown.steps, self.finished as usize);
            watch(Progress::Exploration { refinements: self.pieces.len(), steps, cells });
        }
        if self.pieces.is_empty() && !self.stuck {
            let scope = horizon.map_or(Scope::Unbounded, Scope::Horizon);
            let mut outcome = self.holds(scope);
            let sets = match self.finished {
                1 => "one set".to_owned(),
                many => format!("{many} sets"),
            };
            let how = if self.shown.repeats { ", after which they return into themselves" } else { "" };
            outcome.notes.push(format!("by reachable sets: {sets}, {}{how}", certus_model::steps(self.shown.steps)));
            return Ok(Turn::Decided(Box::new(outcome)));
        }
        let next = match reason {
            _ if self.stuck => Next::Never,
            _ if is_worth_more_work(budget) => Next::MoreWork,
            _ => Next::IfOthersDo,
        };
        Ok(Turn::Open { so_far: Box::new(self.outcome(reason)), next })
    }

    fn details(&mut self) -> Option<Box<dyn Any>> {
        let shown = self.pieces.is_empty() && !self.stuck;
        shown.then(|| Box::new(std::mem::take(&mut self.done)) as Box<dyn Any>)
    }
}
