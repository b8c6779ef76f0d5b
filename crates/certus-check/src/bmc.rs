//! Bounded model checking: is there a run of so many steps that violates a property?
//!
//! For each number of steps the loop is unrolled and asked about: first whether a prefix shows the violation whatever follows,
//! then, if only an infinite run can show it, whether a run that returns to one of its positions does (every
//! position is tried). Each is one query. A witness is replayed by the system itself before it counts; one that does not
//! replay leaves the question open, and is said so.
//!
//! Runs are those of the model: from an initial state, through states in their declared ranges, by transitions that `assume`
//! allows. 'No violation up to k' says: none that a prefix of k steps, or a loop within k steps, can show.

use certus_graph::Interval;
use certus_lang::system::{Formula as Ltl, Property, PropertyKind, System};
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Answer, Budget, Progress, UnknownReason, solve};

use crate::condition::always;
use crate::outcome::{CheckError, Outcome, Run, Scope, Unknown, Verdict};
use crate::question::{Question, Wanted};
use crate::replay::replay;
use crate::temporal::{Beyond, Normal, Shape, encode};
use crate::unroll::Start;

/// How far a check is.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// The steps that are looked at.
    pub steps: usize,
    /// The position that the run returns to, if a loop is looked for.
    pub loop_to: Option<usize>,
    /// How far the query is.
    pub progress: Progress,
}

/// Parts that are bounded at most to see whether a violation is out of reach already. It need not be seen: the question itself is
/// asked later.
const GLANCE: u64 = 512;

/// Checks a property up to a number of steps.
pub fn check(
    system: &System,
    property: &Property,
    steps: usize,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Depth),
) -> Result<Outcome, CheckError> {
    let formula = match &property.kind {
        PropertyKind::Ltl(formula) => formula,
        PropertyKind::Probability { .. } => {
            let message =
                format!("{} asks for a probability; bounded model checking decides what every run does", property.name);
            return Err(CheckError::Unsupported(message));
        }
    };
    let violation = Normal::of(formula, false);
    let tail = violation.tail();
    let mut search = Search { system, formula, violation, tail, budget, cycles: Vec::new() };
    let mut settled = None;
    let mut notes = Vec::new();
    for depth in 0..=steps {
        let mut open = None;
        for shape in search.shapes(depth) {
            match search.ask(shape, watch)? {
                Asked::Violated(run) => {
                    return Ok(Outcome { verdict: Verdict::Violated(run), notes });
                }
                Asked::None => {}
                Asked::Open(reason) => {
                    let place = match shape.loop_to {
                        None => format!("a prefix of {depth} steps"),
                        Some(start) => format!("a run of {depth} steps that returns to position {start}"),
                    };
                    open = open.or(Some(Unknown { reason, place, settled }));
                    if matches!(reason, UnknownReason::Deadline | UnknownReason::Stopped) {
                        break;
                    }
                }
            }
        }
        if let Some(unknown) = open {
            return Ok(Outcome { verdict: Verdict::Unknown(unknown), notes });
        }
        settled = Some(depth);
        // A formula that looks no further is decided, and so is one that no run of so many steps leaves open.
        let decided = search.violation.horizon().is_some_and(|horizon| horizon <= depth as u64);
        if decided || search.out_of_reach(depth, watch)? {
            if !decided {
                notes.push(format!("after {depth} steps no run can violate it any more"));
            }
            notes.extend(search.vacuous(depth, watch)?);
            return Ok(Outcome { verdict: Verdict::Holds(Scope::Unbounded), notes });
        }
    }
    notes.extend(search.vacuous(steps, watch)?);
    Ok(Outcome { verdict: Verdict::Holds(Scope::Bounded(steps)), notes })
}

/// What a query of one shape says.
enum Asked {
    Violated(Run),
    None,
    Open(UnknownReason),
}

struct Search<'a> {
    system: &'a System,
    formula: &'a Ltl,
    /// The property's negation.
    violation: Normal,
    /// What holds for ever, in the end, on a run that violates the property.
    tail: Normal,
    budget: &'a Budget<'a>,
    /// For each period, less one: whether no cycle has it, from wherever it might be reached.
    cycles: Vec<bool>,
}

impl Search<'_> {
    /// The shapes of runs of so many steps that can show a violation no shorter one can.
    fn shapes(&self, depth: usize) -> Vec<Shape> {
        let positions = depth + 1;
        let prefix = self.violation.can_end().then_some(Shape { positions, loop_to: None });
        let starts = if self.violation.needs_loop() { 0..positions } else { 0..0 };
        prefix.into_iter().chain(starts.map(|start| Shape { positions, loop_to: Some(start) })).collect()
    }

    fn ask(&mut self, shape: Shape, watch: &mut dyn FnMut(Depth)) -> Result<Asked, CheckError> {
        if let Some(start) = shape.loop_to
            && self.no_cycle(shape.positions - start, watch)?
        {
            return Ok(Asked::None);
        }
        // For safety, earlier positions were asked about before.
        let wanted = match self.violation.reached() {
            Some(bad) if shape.loop_to.is_none() => (bad, shape.positions - 1),
            _ => (&self.violation, 0),
        };
        let question = self.question(Start::Initial, shape, &[wanted], Beyond::Anything)?;
        match self.solve(&question, shape, self.budget, watch)? {
            Answer::Unsat(_) => Ok(Asked::None),
            Answer::Unknown(reason, _) => Ok(Asked::Open(reason)),
            Answer::Sat(witness) => match replay(self.system, self.formula, &question.drive(&witness))? {
                Some(run) => Ok(Asked::Violated(run)),
                // Rounding of a whole run at once and of one step after the other differ in the last digits.
                None => Ok(Asked::Open(UnknownReason::Precision)),
            },
        }
    }

    /// Whether no run has a cycle of some period that a violation could end in. Asked once for each period: what is true of
    /// the cycle alone serves every way to reach it.
    fn no_cycle(&mut self, period: usize, watch: &mut dyn FnMut(Depth)) -> Result<bool, CheckError> {
        if self.tail.is_true() {
            return Ok(false);
        }
        for known in self.cycles.len()..period {
            let shape = Shape { positions: known + 1, loop_to: Some(0) };
            let everywhere: Vec<(&Normal, usize)> = (0..=known).map(|position| (&self.tail, position)).collect();
            let question = self.question(Start::Anywhere, shape, &everywhere, Beyond::Anything)?;
            let answer = self.solve(&question, shape, self.budget, watch)?;
            self.cycles.push(matches!(answer, Answer::Unsat(_)));
        }
        Ok(self.cycles[period - 1])
    }

    /// Whether no run of so many steps can still turn into a violation, as far as a glance tells.
    fn out_of_reach(&self, depth: usize, watch: &mut dyn FnMut(Depth)) -> Result<bool, CheckError> {
        let shape = Shape { positions: depth + 1, loop_to: None };
        // A formula that asks nothing of a prefix is never out of reach.
        let unknown = Atom { linear: Linear::constant(Interval::ENTIRE), strict: false };
        let mut some = |_, _, _| Formula::Atom(unknown.clone());
        if encode(&self.violation, 0, shape, Beyond::TheBest, &mut some) == always() {
            return Ok(false);
        }
        let question = self.question(Start::Initial, shape, &[(&self.violation, 0)], Beyond::TheBest)?;
        let glance = Budget { boxes: GLANCE.min(self.budget.boxes), ..*self.budget };
        Ok(matches!(self.solve(&question, shape, &glance, watch)?, Answer::Unsat(_)))
    }

    fn question(
        &self,
        start: Start,
        shape: Shape,
        formulas: &[(&Normal, usize)],
        beyond: Beyond,
    ) -> Result<Question, CheckError> {
        Question::new(self.system, Wanted { start, shape, formulas, beyond }, &|_| Vec::new())?.at_best_ends()
    }

    fn solve(
        &self,
        question: &Question,
        shape: Shape,
        budget: &Budget<'_>,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Answer, CheckError> {
        let (steps, loop_to) = (shape.positions - 1, shape.loop_to);
        Ok(solve(&question.query()?, budget, &mut |progress| watch(Depth { steps, loop_to, progress }))?)
    }

    /// Says so if no run has so many steps: then the property holds because nothing happens.
    fn vacuous(&self, depth: usize, watch: &mut dyn FnMut(Depth)) -> Result<Option<String>, CheckError> {
        for (steps, what) in [(0, "no state is initial".to_owned()), (depth, format!("no run has {depth} steps"))] {
            let shape = Shape { positions: steps + 1, loop_to: None };
            let question = self.question(Start::Initial, shape, &[], Beyond::Anything)?;
            if let Answer::Unsat(_) = self.solve(&question, shape, self.budget, watch)? {
                return Ok(Some(format!("vacuous: {what}")));
            }
        }
        Ok(None)
    }
}
