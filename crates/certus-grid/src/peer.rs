//! The grid engine as a peer of a portfolio: the more work a turn has, the more cells may be bounded.

use std::any::Any;

use certus_engine::{Budget, Engine, Next, Progress, Session, Shared, Support, Task, Turn, Watch, is_worth_more_work};
use certus_graph::Graph;
use certus_graph::ops::{Family, Op};
use certus_lang::system::{Property, System};
use certus_model::{CheckError, UnknownReason, Verdict, formula_of};

use crate::engine::{NAME, Options, Policy, Prepared, check_prepared};
use crate::report::Report;

/// Abstraction on a grid, refined where it is too coarse. Its details are a [`Report`].
pub struct GridEngine {
    /// How a property is checked. Each turn sets how many cells may be bounded.
    pub options: Options,
}

/// Cells that may be bounded for each unit of work, if the step is small and there is one dimension: a cell is the cheaper of the two.
const CELLS_PER_WORK: u64 = 32;

/// The first units are worth so many cells: a grid that proves at all mostly does so with few.
const FIRST_UNITS: u64 = 125;
const CELLS_PER_FIRST_WORK: u64 = 256;

/// With each dimension, up to so many, cells have more successors and are half as many.
const FEW_DIMENSIONS: usize = 4;

/// A step with more numbers than this makes cells dearer.
const SMALL_STEP: u64 = 1 << 14;

/// Enclosing a smooth activation over a cell takes as long as so many numbers of a layer.
const COST_OF_SMOOTH: u64 = 512;

/// Enclosing the solutions of a differential equation takes as long as so many small steps.
const COST_OF_FLOW: u64 = 512;

/// How many cells may be bounded with so much work; nothing for as many as the rest of the budget allows.
fn most_cells(task: &Task<'_>, dimensions: usize, work: u64) -> Option<u64> {
    if work == u64::MAX {
        return None;
    }
    let flow = if task.system.is_exact() { COST_OF_FLOW } else { 1 };
    let numbers = task.system.step.parameters() as u64 + COST_OF_SMOOTH * smooth_elements(&task.system.step);
    let size = (numbers / SMALL_STEP).max(flow);
    let halvings = dimensions.clamp(1, FEW_DIMENSIONS) - 1;
    let first = work.min(FIRST_UNITS);
    let cells = (CELLS_PER_FIRST_WORK * first).saturating_add(CELLS_PER_WORK.saturating_mul(work - first));
    Some((cells >> halvings) / size)
}

/// How many elements of a step are values of smooth activations.
fn smooth_elements(step: &Graph) -> u64 {
    let is_smooth = |op: &Op| op.activation().is_some_and(|own| matches!(own.family(), Family::Smooth));
    step.nodes().iter().filter(|node| is_smooth(&node.op)).map(|node| node.shape.iter().product::<usize>() as u64).sum()
}

impl Engine for GridEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _: &System, property: &Property) -> Support {
        match formula_of(property) {
            Ok(_) => Support::Yes,
            Err(refused) => Support::No(refused.to_string()),
        }
    }

    fn start<'t>(&'t self, task: &Task<'t>) -> Result<Box<dyn Session + 't>, CheckError> {
        Ok(Box::new(Exploring { options: &self.options, task: *task, prepared: None, report: None }))
    }
}

struct Exploring<'t> {
    options: &'t Options,
    task: Task<'t>,
    prepared: Option<Prepared>,
    report: Option<Report>,
}

impl Session for Exploring<'_> {
    fn advance(&mut self, budget: &Budget<'_>, _: &mut Shared, watch: &mut Watch<'_>) -> Result<Turn, CheckError> {
        let Task { system, property, .. } = self.task;
        let prepared = match self.prepared.take() {
            Some(prepared) => prepared,
            None => match Prepared::new(system, property, matches!(self.options.policy, Policy::Extracted(_))) {
                Err(CheckError::Unsupported(reason)) => return Ok(Turn::Refused(reason)),
                prepared => prepared?,
            },
        };
        let prepared = self.prepared.insert(prepared);
        let most = most_cells(&self.task, prepared.dimensions(), budget.subproblems);
        let options = Options { most, ..self.options.clone() };
        let mut watch = |own: crate::Progress| {
            let (refinements, steps, cells) = (own.refinements, own.steps, own.cells);
            watch(Progress::Exploration { refinements, steps, cells });
        };
        let own = Budget { subproblems: u64::MAX, ..*budget };
        let (outcome, report) = match check_prepared(system, property, prepared, &options, &own, &mut watch) {
            Err(CheckError::Unsupported(reason)) => return Ok(Turn::Refused(reason)),
            found => found?,
        };
        self.report = Some(report);
        let Verdict::Unknown(unknown) = &outcome.verdict else { return Ok(Turn::Decided(Box::new(outcome))) };
        let next = match unknown.reason {
            Some(UnknownReason::Subproblems | UnknownReason::Deadline | UnknownReason::Stopped) => {
                if is_worth_more_work(budget) { Next::MoreWork } else { Next::IfOthersDo }
            }
            _ => Next::Never,
        };
        Ok(Turn::Open { so_far: Box::new(outcome), next })
    }

    fn details(&mut self) -> Option<Box<dyn Any>> {
        self.report.take().map(|report| Box::new(report) as Box<dyn Any>)
    }
}
