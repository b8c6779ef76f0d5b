//! Both ends of the interval around the worst case's probability.
//!
//! The lower end is the probability from a concrete start state, followed in rigorous arithmetic (`engine/concrete.rs`). The upper end comes from an
//! engine over the abstraction. Start states in the cells with the largest upper bounds are then tried again. Each end is a proof of its own, so a
//! lower end above the upper one is reported as a fault.

use certus_graph::Fault;
use certus_lang::System;

use super::initial::{grid, is_initial};
use super::method::chosen;
use super::query::Threshold;
use super::{Method, Options, Outcome};
use crate::abstraction::{Abstraction, Refining, Task};
use crate::engine::concrete::Following;
use crate::engine::partition::partition;
use crate::engine::search::{Aim, Cell, Standing, search};
use crate::engine::unfold::{Unfolding, unfold};
use crate::engine::{Budget, Errors, concrete};
use crate::template_polyhedron::Polyhedron;

/// The largest number of steps within which a goal is asked for that may come at any time.
const LONGEST: usize = 1 << 10;

/// More steps help if they make a bound smaller than this share of what it was.
const HARDLY: f64 = 0.98;

/// So many corners of initial regions are followed exactly.
const MOST_CORNERS: usize = 64;

/// All that bounding needs.
pub(super) struct Setting<'a> {
    pub(super) system: &'a System,
    pub(super) task: &'a Task,
    pub(super) bound: Option<Threshold>,
    pub(super) abstraction: &'a Abstraction,
    /// The boxes of the initial set.
    pub(super) initial: &'a [Polyhedron],
    pub(super) options: &'a Options,
    pub(super) budget: &'a Budget<'a>,
    /// For start states that the bounds lead to.
    pub(super) confirming: &'a Budget<'a>,
}

impl Setting<'_> {
    /// Not to reach something, for all time, is no likelier than for so many steps: more and more of them, until that is enough. Of
    /// the lower end nothing is known then.
    pub(super) fn growing(&self, watch: &mut dyn FnMut(Standing)) -> Result<Outcome, String> {
        let (mut steps, mut before) = (8, f64::INFINITY);
        loop {
            let found = self.within(Some(steps), steps, watch)?;
            let settled = found.holds == Some(true) || found.upper <= self.options.gap;
            // Twice as many steps that hardly help say that what is left stays for ever, or cannot be told from that.
            let stuck = found.upper > HARDLY * before;
            before = found.upper;
            if settled || stuck || steps >= LONGEST || self.budget.stopped() {
                let method = format!("{}, for {}", found.method, certus_model::counted(steps as u128, "step"));
                let holds = found.holds.filter(|&holds| holds);
                let narrow = found.upper <= self.options.gap;
                // Of later errors nothing is known but that the goal was not reached before.
                let error = Some(found.upper);
                return Ok(Outcome { lower: 0.0, start: None, holds, narrow, method, error, ..found });
            }
            steps *= 2;
        }
    }

    /// Bounds the task within so many steps, or within any number; start states are looked at for `looked` steps.
    pub(super) fn within(
        &self,
        steps: Option<usize>,
        looked: usize,
        watch: &mut dyn FnMut(Standing),
    ) -> Result<Outcome, String> {
        let Setting { system, task, bound, abstraction, initial, options, budget, confirming } = *self;
        let stopped = || budget.stopped();
        let mut lower = 0.0;
        let mut start = None;
        let accept = |state: &[f64]| is_initial(system, state);
        let endless_stay = task.weak && task.steps.is_none();
        let mut following = Following { steps: looked, behaviour: 0 };
        let behaviours = if endless_stay { 0 } else { abstraction.behaviours() };
        for behaviour in 0..behaviours {
            let own = Following { behaviour, ..following };
            if let Some((state, _)) = concrete::worst_start(abstraction, initial, &accept, own, budget.seed, &stopped)
                && let Some(range) = concrete::exact(abstraction, &state, own, 1e-13, &stopped)
                && (start.is_none() || range.lo > lower)
            {
                (lower, start, following) = (range.lo, Some(state), own);
            }
        }
        if start.is_some() {
            // A corner may be worse than plain numbers can tell, if it lies on the edge of a guard.
            let corners = initial.iter().flat_map(|part| concrete::corners(part, part)).take(MOST_CORNERS).collect();
            let corners = concrete::no_less(abstraction, corners, following, lower / 2.0);
            if let Some(found) = concrete::best_exactly(abstraction, corners, &accept, following, lower, &stopped) {
                (start, lower) = (Some(found.0), found.1);
            }
        }
        let violated = bound.is_some_and(|bound| bound.refuted_by(lower));
        let enough = bound.map_or(0.0, |bound| if bound.strict { bound.below.next_down() } else { bound.below });
        let aim = Aim { enough, gap: options.gap, share: options.share, most_cells: options.most };
        let refining = options.spread.map(|spread| Refining {
            spread,
            shortest: options.shortest,
            samples: options.samples,
            seed: budget.seed,
        });
        let unfolding =
            |containment: bool| Unfolding { steps: looked, refining, containment, most_regions: options.most };
        let regions = grid(initial, options.grid.max(1));
        let mut outcome = Outcome {
            lower,
            upper: 1.0,
            asks: bound.is_some(),
            holds: None,
            narrow: false,
            start,
            cells: initial.iter().map(|part| Cell { region: part.clone(), upper: 1.0 }).collect(),
            policy: Vec::new(),
            steps,
            regions: 0,
            contained: 0,
            model: None,
            method: String::new(),
            errors: Errors::default(),
            error: None,
            stopped: false,
            seconds: 0.0,
        };
        let method = match steps {
            _ if violated => None,
            None => Some(Method::Partition),
            Some(steps) => Some(chosen(abstraction, initial, outcome.start.as_deref(), options, steps, budget)),
        };
        let template = abstraction.template().name().to_owned();
        match method {
            None => outcome.method = "a concrete start state".to_owned(),
            Some(Method::Unfold { containment }) => {
                let mut tell = |_: usize, regions: usize| watch(Standing { regions, lower, upper: 1.0, cells: 1 });
                let merged = if containment { ", merging" } else { "" };
                outcome.method = format!("unfolding with the {template} domain{merged}");
                if let Some(found) = unfold(abstraction, &regions, &unfolding(containment), budget, &mut tell) {
                    outcome.upper = found.upper.iter().copied().fold(0.0, f64::max);
                    let cells = regions.iter().zip(&found.upper);
                    outcome.cells = cells.map(|(region, &upper)| Cell { region: region.clone(), upper }).collect();
                    (outcome.regions, outcome.contained) = (found.regions.len(), found.contained);
                    outcome.errors = found.errors;
                    outcome.error = Some(found.error.iter().copied().fold(0.0, f64::max));
                    outcome.model = Some(found.model);
                }
            }
            Some(Method::Partition) => {
                outcome.method = format!("a partition with the {template} domain");
                let found = partition(abstraction, initial, lower, steps, &aim, budget, watch);
                (outcome.upper, outcome.cells, outcome.regions) =
                    (found.standing.upper, found.cells, found.standing.regions);
                outcome.errors = found.errors;
                outcome.error = Some(found.error);
            }
            Some(Method::Search { containment }) => {
                let merged = if containment { ", merging" } else { "" };
                outcome.method = format!("unfoldings of start cells with the {template} domain{merged}");
                let found = search(abstraction, &regions, lower, &unfolding(containment), &aim, budget, watch);
                (outcome.upper, outcome.cells, outcome.regions) =
                    (found.standing.upper, found.cells, found.standing.regions);
                outcome.errors = found.errors;
                outcome.error = Some(found.error);
            }
            Some(Method::Automatic) => {}
        }
        let narrow =
            |outcome: &Outcome| outcome.upper <= (outcome.lower + aim.gap).max(outcome.lower * (1.0 + aim.share));
        let admitted = bound.is_some_and(|bound| bound.admits(outcome.upper));
        if !violated && !admitted && !narrow(&outcome) && !endless_stay {
            let late = || confirming.stopped();
            let points = concrete::suspects(&outcome.cells, budget.seed);
            if let Some((state, value)) = concrete::best_of(abstraction, points, &accept, following, lower, &late) {
                (outcome.lower, outcome.start) = (value, Some(state));
            }
            let worst = outcome.cells.iter().max_by(|a, b| a.upper.total_cmp(&b.upper));
            let of_cell = |cell: &Cell| -> Vec<Vec<f64>> {
                let near = initial.iter().filter(|part| part.may_meet(&cell.region));
                near.flat_map(|part| concrete::corners(&cell.region, part)).take(MOST_CORNERS).collect()
            };
            let corners = worst.map_or_else(Vec::new, of_cell);
            if !narrow(&outcome)
                && let Some((state, value)) =
                    concrete::best_exactly(abstraction, corners, &accept, following, outcome.lower, &late)
            {
                (outcome.lower, outcome.start) = (value, Some(state));
            }
        }
        if outcome.upper < outcome.lower {
            return Err(crossed(system, task, &outcome).to_string());
        }
        debug_assert!(0.0 <= outcome.lower && outcome.upper <= 1.0, "{} {}", outcome.lower, outcome.upper);
        // What may end in an error is counted as reaching the goal.
        outcome.error = outcome.error.map(|error| error.min(outcome.upper));
        outcome.holds = match bound {
            Some(bound) if bound.refuted_by(outcome.lower) => Some(false),
            Some(bound) if bound.admits(outcome.upper) => Some(true),
            _ => None,
        };
        outcome.narrow = narrow(&outcome);
        Ok(outcome)
    }
}

/// A lower end above an upper one: one of the two engines that found them is wrong.
fn crossed(system: &System, task: &Task, outcome: &Outcome) -> Fault {
    let message = format!(
        "in {}, a start state has probability {:?} at least, and all have {:?} at most",
        system.name, outcome.lower, outcome.upper
    );
    let details = format!(
        "task: {task:?}\nstart state: {:?}\nmethod: {}\nsteps: {:?}",
        outcome.start, outcome.method, outcome.steps
    );
    Fault::raise(message, details)
}
