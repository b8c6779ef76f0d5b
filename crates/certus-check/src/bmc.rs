//! Bounded model checking: is there a run of so many steps that violates a property?
//!
//! For each number of steps the loop is unrolled and asked about: first whether a prefix shows the violation whatever follows,
//! then, if only an infinite run can show it, whether a run that returns to one of its positions does (every
//! position is tried). Each is one query. A witness is replayed by the system itself before it counts; one that does not
//! replay leaves the question open, and is said so.
//!
//! Runs are those of the model: from an initial state, through states in their declared ranges, by transitions that `assume`
//! allows. 'No violation up to k' says: none that a prefix of k steps, or a loop within k steps, can show.

use std::collections::HashMap;

use certus_lang::system::{AtomId, Formula as Ltl, Property, PropertyKind, System};
use certus_solver::formula::Formula;
use certus_solver::{Answer, Budget, Place, Progress, Query, UnknownReason, Witness, solve};

use crate::condition::{and, condition};
use crate::outcome::{CheckError, Outcome, Run, Scope, Unknown, Verdict};
use crate::replay::{Drive, replay};
use crate::simplify::{at_best_ends, into_region, labels, required, with_fixed, with_labels};
use crate::temporal::{Normal, Shape, encode};
use crate::unroll::{Unrolled, unroll};

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
    let search = Search { system, formula, violation: Normal::of(formula, false), budget };
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
        // A formula that looks no further is decided.
        if search.violation.horizon().is_some_and(|horizon| horizon <= depth as u64) {
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
    budget: &'a Budget<'a>,
}

impl Search<'_> {
    /// The shapes of runs of so many steps that can show a violation no shorter one can.
    fn shapes(&self, depth: usize) -> Vec<Shape> {
        let positions = depth + 1;
        let prefix = self.violation.can_end().then_some(Shape { positions, loop_to: None });
        let starts = if self.violation.needs_loop() { 0..positions } else { 0..0 };
        prefix.into_iter().chain(starts.map(|start| Shape { positions, loop_to: Some(start) })).collect()
    }

    fn ask(&self, shape: Shape, watch: &mut dyn FnMut(Depth)) -> Result<Asked, CheckError> {
        let mut unrolled = unroll(self.system, shape, self.looks_ahead())?;
        let mut known: HashMap<(usize, usize, bool), Formula<Place>> = HashMap::new();
        let mut atom = |id: AtomId, position: usize, wanted: bool| {
            let place = Place { node: unrolled.positions[position].atoms[id.0], element: 0 };
            let own = known.entry((id.0, position, wanted));
            own.or_insert_with(|| condition(&unrolled.graph, place, wanted)).clone()
        };
        // For safety, earlier positions were asked about before.
        let (violation, position) = match self.bad_state() {
            Some(bad) if shape.loop_to.is_none() => (bad, shape.positions - 1),
            _ => (&self.violation, 0),
        };
        let violated = encode(violation, position, shape, &mut atom);
        let formula = and(vec![unrolled.is_run.clone(), violated]);
        let mut fixed = HashMap::new();
        for (id, at, wanted) in required(violation, position, shape) {
            let place = Place { node: unrolled.positions[at].atoms[id.0], element: 0 };
            labels(&unrolled.graph, place, wanted, &mut fixed);
        }
        let formula = with_labels(&mut unrolled, formula, &fixed)?;
        match self.solve(&unrolled, &formula, shape, watch)? {
            Answer::Unsat(_) => Ok(Asked::None),
            Answer::Unknown(reason, _) => Ok(Asked::Open(reason)),
            Answer::Sat(witness) => match replay(self.system, self.formula, &self.drive(&unrolled, &witness, shape))? {
                Some(run) => Ok(Asked::Violated(run)),
                // Rounding of a whole run at once and of one step after the other differ in the last digits.
                None => Ok(Asked::Open(UnknownReason::Precision)),
            },
        }
    }

    /// Whether the property itself speaks of the successor, so that the last position must have one. What other properties speak of
    /// does not count: a run may end where no transition is allowed, and violate this one there.
    fn looks_ahead(&self) -> bool {
        self.violation.atoms().iter().any(|id| self.system.atoms[id.0].uses_next)
    }

    /// For a safety property: what must never hold.
    fn bad_state(&self) -> Option<&Normal> {
        match &self.violation {
            Normal::Until(bounds, left, right)
                if bounds.lower == 0
                    && bounds.upper.is_none()
                    && matches!(&**left, Normal::And(parts) if parts.is_empty())
                    && right.horizon() == Some(0) =>
            {
                Some(right)
            }
            _ => None,
        }
    }

    fn solve(
        &self,
        unrolled: &Unrolled,
        formula: &Formula<Place>,
        shape: Shape,
        watch: &mut dyn FnMut(Depth),
    ) -> Result<Answer, CheckError> {
        let (region, formula) = into_region(&unrolled.graph, &unrolled.region, formula.clone());
        let region = at_best_ends(&unrolled.graph, &region, &formula);
        let formula = with_fixed(&unrolled.graph, &region, formula);
        let (region, formula) = into_region(&unrolled.graph, &region, formula);
        let query = Query::over_nodes(&unrolled.graph, region, &formula)?;
        let (steps, loop_to) = (shape.positions - 1, shape.loop_to);
        Ok(solve(&query, self.budget, &mut |progress| watch(Depth { steps, loop_to, progress }))?)
    }

    /// Says so if no run has so many steps: then the property holds because nothing happens.
    fn vacuous(&self, depth: usize, watch: &mut dyn FnMut(Depth)) -> Result<Option<String>, CheckError> {
        for (steps, what) in [(0, "no state is initial".to_owned()), (depth, format!("no run has {depth} steps"))] {
            let shape = Shape { positions: steps + 1, loop_to: None };
            let unrolled = unroll(self.system, shape, false)?;
            if let Answer::Unsat(_) = self.solve(&unrolled, &unrolled.is_run, shape, watch)? {
                return Ok(Some(format!("vacuous: {what}")));
            }
        }
        Ok(None)
    }

    /// What drives the run that a witness stands for.
    fn drive(&self, unrolled: &Unrolled, witness: &Witness, shape: Shape) -> Drive {
        let flat = |nodes: &[certus_graph::NodeId]| -> Vec<f64> {
            nodes.iter().flat_map(|&node| unrolled.values(node, &witness.inputs)).collect()
        };
        let label = |node: &certus_graph::NodeId| -> usize {
            let values = unrolled.values(*node, &witness.inputs);
            values.iter().position(|&value| value > 0.5).unwrap_or(0)
        };
        Drive {
            state: flat(&unrolled.positions[0].states),
            inputs: unrolled.positions.iter().map(|position| flat(&position.inputs)).collect(),
            chances: unrolled.positions.iter().map(|position| position.chances.iter().map(label).collect()).collect(),
            choices: unrolled.positions.iter().map(|position| position.choices.iter().map(label).collect()).collect(),
            loop_to: shape.loop_to,
            with_last: self.looks_ahead(),
        }
    }
}
