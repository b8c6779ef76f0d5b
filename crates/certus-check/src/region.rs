//! Parameter regions: for which values of its parameters a property of a system holds.
//!
//! Coarse-to-fine refinement of a box of parameters, as in parameter synthesis for Markov models (Quatmann, Dehnert, Jansen, Junges, Katoen: "Parameter
//! synthesis for Markov models: faster than ever", ATVA 2016), with model checking of a system whose parameters are free in place of their lifting.
//!
//! The box of the parameters is a grid, and cells of it (boxes of grid steps) are settled from coarse to fine. In a cell the
//! parameters are free, so one query is asked for all of its values at once:
//!
//! * no run violates the property, whatever the parameters: the cell **holds**;
//! * a run violates it at some value. Carried through the step with the whole cell in place of that value
//!   ([`crate::enclosed`]), it may show that every value is violated: the cell is **violated** throughout. If it does
//!   not, runs at the corners of the cell are tried: where a parameter is a threshold, the tightest corner decides;
//! * otherwise the cell is cut. At the finest cells it is said what is known: violated **at a value**, and nothing of the
//!   others, or **open**.
//!
//! A run that was found is tried on every later cell before anything is asked. Cells include their borders.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use certus_graph::Interval;
use certus_lang::system::{Formula, Property, System};
use certus_model::{CheckError, Outcome, Run, Scope, Verdict};
use certus_solver::{Budget, UnknownReason};

use crate::enclosed::{Enclosed, Returns, violates_throughout};
use crate::parametric::narrow;
use crate::replay::Drive;

/// A parameter and the range in which it is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Axis {
    /// A line of the grid: the lower end is line 0.
    pub fn line(&self, number: usize, resolution: usize) -> f64 {
        match number {
            0 => self.lower,
            last if last == resolution => self.upper,
            inner => self.lower + (self.upper - self.lower) * (inner as f64 / resolution as f64),
        }
    }
}

/// A box of grid steps: from one line to another, along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The lines where it begins.
    pub from: Vec<usize>,
    /// The lines where it ends.
    pub to: Vec<usize>,
}

impl Extent {
    /// Its halves along the axis on which it is longest; none if it is a single step.
    fn halves(&self) -> Vec<Extent> {
        let length = |axis: &usize| self.to[*axis] - self.from[*axis];
        let Some(axis) = (0..self.from.len()).rev().max_by_key(length).filter(|axis| length(axis) > 1) else {
            return Vec::new();
        };
        let middle = self.from[axis] + length(&axis) / 2;
        let (mut first, mut second) = (self.clone(), self.clone());
        (first.to[axis], second.from[axis]) = (middle, middle);
        vec![first, second]
    }

    fn overlaps(&self, other: &Extent) -> bool {
        let own = self.from.iter().zip(&self.to);
        own.zip(other.from.iter().zip(&other.to)).all(|((from, to), (start, end))| from < end && start < to)
    }
}

/// What is known of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The property holds for every value.
    Holds(Scope),
    /// It is violated at every value: by the run of this witness with any value of the cell.
    Violated(usize),
    /// It is violated at the values of this witness, which lie in the cell; of the others nothing is known.
    ViolatedAt(usize),
    /// Nothing is known.
    Open(UnknownReason),
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Where it is.
    pub extent: Extent,
    /// What is known of it.
    pub standing: Standing,
}

/// A run that violates the property at certain values of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The values.
    pub values: Vec<f64>,
    /// The run, of the system with these values.
    pub run: Run,
}

/// What is known of a property over a box of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The parameters.
    pub axes: Vec<Axis>,
    /// How many grid steps each axis has.
    pub resolution: usize,
    /// Cells that cover the box and overlap at borders only.
    pub cells: Vec<Cell>,
    /// The runs that were found, each the witness of some cell or tried for others.
    pub witnesses: Vec<Witness>,
    /// What a reader must know about it.
    pub notes: Vec<String>,
}

/// How far a map is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surveyed {
    /// The share of the box that is settled.
    pub settled: f64,
    /// Cells that wait.
    pub waiting: usize,
    /// Queries that were asked.
    pub asked: usize,
}

/// Makes a run again with certain values of the parameters.
pub type Confirm<'a> = dyn FnMut(&[f64], &Drive) -> Result<Option<Run>, CheckError> + 'a;

/// What a map is made with.
pub struct Tools<'a> {
    /// Decides a property of a system within a budget.
    pub ask: &'a mut dyn FnMut(&System, &Budget<'_>) -> Result<Outcome, CheckError>,
    /// Makes a run again in the system with certain values of the parameters; nothing if it does not violate the property there.
    pub confirm: &'a mut Confirm<'a>,
    /// Is told how far it is, with what is settled.
    pub watch: &'a mut dyn FnMut(Surveyed, &Map),
}

/// So many parts may a query about a cell take that can still be cut.
const COARSE_PARTS: u64 = 2_000;

/// So many parts may a query about a finest cell take.
const FINE_PARTS: u64 = 50_000;

/// Corners are tried up to so many parameters: there are two to that power.
const MOST_AXES_WITH_CORNERS: usize = 3;

/// Maps a property over a box of parameters. The system has them as its last state variables, in the order of the axes
/// ([`crate::parametric`]).
pub fn survey<'a>(
    system: &System,
    property: &'a Property,
    axes: &[Axis],
    resolution: usize,
    budget: &'a Budget<'a>,
    tools: Tools<'a>,
) -> Result<Map, CheckError> {
    let refused = |reason| CheckError::Unsupported(format!("{reason}; regions are of properties of every run"));
    let formula = property.over_runs().map_err(refused)?;
    let mut survey = Survey {
        system: system.clone(),
        formula,
        budget,
        tools,
        map: Map::new(axes, resolution),
        corners: HashMap::new(),
        waiting: VecDeque::new(),
        asked: 0,
    };
    let whole = Extent { from: vec![0; axes.len()], to: vec![resolution; axes.len()] };
    survey.waiting.push_back(whole);
    while let Some(extent) = survey.waiting.pop_front() {
        survey.settle(extent)?;
    }
    Ok(survey.map)
}

/// What is known at a corner.
#[derive(Clone, Copy, Debug)]
enum Corner {
    Violated,
    Holds,
    Open,
}

struct Survey<'a> {
    system: System,
    formula: &'a Formula,
    budget: &'a Budget<'a>,
    tools: Tools<'a>,
    map: Map,
    corners: HashMap<Vec<usize>, Corner>,
    waiting: VecDeque<Extent>,
    asked: usize,
}

impl Survey<'_> {
    /// Settles a cell, or cuts it and leaves the halves for later.
    fn settle(&mut self, extent: Extent) -> Result<(), CheckError> {
        let (lower, upper) = self.ends(&extent);
        if let Some(reason) = self.over() {
            // What was found before still says something.
            let known = self.throughout(&lower, &upper)?.map(Standing::Violated);
            let standing = known.or_else(|| self.inside(&lower, &upper).map(Standing::ViolatedAt));
            self.close(extent, standing.unwrap_or(Standing::Open(reason)));
            return Ok(());
        }
        if let Some(witness) = self.throughout(&lower, &upper)? {
            self.close(extent, Standing::Violated(witness));
            return Ok(());
        }
        let finest = extent.from.iter().zip(&extent.to).all(|(from, to)| to - from == 1);
        let mut inside = self.inside(&lower, &upper);
        let mut open = None;
        if inside.is_none() {
            match self.query(&lower, &upper, finest)? {
                Found::Holds(scope) => {
                    self.close(extent, Standing::Holds(scope));
                    return Ok(());
                }
                Found::Violated(witness) => inside = Some(witness),
                Found::Open(reason) => open = Some(reason),
            }
        }
        if inside.is_some() {
            self.try_corners(&extent)?;
            if let Some(witness) = self.throughout(&lower, &upper)? {
                self.close(extent, Standing::Violated(witness));
                return Ok(());
            }
        }
        match (finest, inside, open) {
            (true, Some(witness), _) => self.close(extent, Standing::ViolatedAt(witness)),
            (true, None, reason) => self.close(extent, Standing::Open(reason.unwrap_or(UnknownReason::Subproblems))),
            (false, ..) => self.waiting.extend(extent.halves()),
        }
        Ok(())
    }

    /// Whether there is no more time, or somebody said stop.
    fn over(&self) -> Option<UnknownReason> {
        if self.budget.stop.is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed)) {
            return Some(UnknownReason::Stopped);
        }
        self.budget.deadline.filter(|&deadline| Instant::now() >= deadline).map(|_| UnknownReason::Deadline)
    }

    fn ends(&self, extent: &Extent) -> (Vec<f64>, Vec<f64>) {
        let at = |lines: &[usize]| -> Vec<f64> {
            let values = self.map.axes.iter().zip(lines).map(|(axis, &line)| axis.line(line, self.map.resolution));
            values.collect()
        };
        (at(&extent.from), at(&extent.to))
    }

    /// Asks about a box of values. Queries about finest cells share the time that is left.
    fn query(&mut self, lower: &[f64], upper: &[f64], finest: bool) -> Result<Found, CheckError> {
        narrow(&mut self.system, lower, upper);
        let now = Instant::now();
        let share = if finest { self.waiting.len() as u32 + 1 } else { 4 };
        let left = |deadline: Instant| deadline.saturating_duration_since(now).max(Duration::from_millis(1));
        let budget = Budget {
            deadline: self.budget.deadline.map(|deadline| now + left(deadline) / share),
            subproblems: self.budget.subproblems.min(if finest { FINE_PARTS } else { COARSE_PARTS }),
            ..*self.budget
        };
        self.asked += 1;
        let outcome = (self.tools.ask)(&self.system, &budget)?;
        for note in outcome.notes {
            if !self.map.notes.contains(&note) {
                self.map.notes.push(note);
            }
        }
        Ok(match outcome.verdict {
            Verdict::Holds(scope) => Found::Holds(scope),
            Verdict::Unknown(unknown) => Found::Open(unknown.reason.unwrap_or(UnknownReason::Subproblems)),
            // At some value of the cell the model describes no system.
            Verdict::ModelError(_) | Verdict::Probability(_) => Found::Open(UnknownReason::Subproblems),
            Verdict::Violated(run) => {
                let mut drive = Drive::of(&self.system, &run);
                let values = drive.state.split_off(drive.state.len() - lower.len());
                match (self.tools.confirm)(&values, &drive)? {
                    Some(run) => {
                        self.map.witnesses.push(Witness { values, run });
                        Found::Violated(self.map.witnesses.len() - 1)
                    }
                    None => Found::Open(UnknownReason::Precision),
                }
            }
        })
    }

    /// A run that violates the property at every value of a box.
    fn throughout(&mut self, lower: &[f64], upper: &[f64]) -> Result<Option<usize>, CheckError> {
        narrow(&mut self.system, lower, upper);
        let cell: Vec<Interval> = lower.iter().zip(upper).map(|(&low, &high)| Interval::new(low, high)).collect();
        for (number, witness) in self.map.witnesses.iter().enumerate().rev() {
            let drive = Drive::of(&self.system, &witness.run);
            let mut enclosed = Enclosed::point(&drive);
            enclosed.state.extend_from_slice(&cell);
            if violates_throughout(&self.system, self.formula, &drive, &enclosed, Returns::Exactly)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// A witness whose values lie in a box.
    fn inside(&self, lower: &[f64], upper: &[f64]) -> Option<usize> {
        let within = |witness: &Witness| {
            let ends = lower.iter().zip(upper);
            witness.values.iter().zip(ends).all(|(value, (low, high))| low <= value && value <= high)
        };
        self.map.witnesses.iter().position(within)
    }

    /// Asks at the corners of a cell, until one holds: then no run can violate the property throughout.
    fn try_corners(&mut self, extent: &Extent) -> Result<(), CheckError> {
        let axes = extent.from.len();
        if axes > MOST_AXES_WITH_CORNERS {
            return Ok(());
        }
        for corner in 0..1usize << axes {
            let pick = |axis: usize| if corner >> axis & 1 == 0 { extent.from[axis] } else { extent.to[axis] };
            let lines: Vec<usize> = (0..axes).map(pick).collect();
            if self.over().is_some() {
                return Ok(());
            }
            let found = match self.corners.get(&lines) {
                Some(&known) => known,
                None => {
                    let (point, _) = self.ends(&Extent { from: lines.clone(), to: lines.clone() });
                    let known = match self.inside(&point, &point) {
                        Some(_) => Corner::Violated,
                        None => match self.query(&point, &point, false)? {
                            Found::Holds(_) => Corner::Holds,
                            Found::Violated(_) => Corner::Violated,
                            Found::Open(_) => Corner::Open,
                        },
                    };
                    self.corners.insert(lines, known);
                    known
                }
            };
            match found {
                Corner::Holds => return Ok(()),
                Corner::Violated => {
                    let (lower, upper) = self.ends(extent);
                    if self.throughout(&lower, &upper)?.is_some() {
                        return Ok(());
                    }
                }
                Corner::Open => {}
            }
        }
        Ok(())
    }

    fn close(&mut self, extent: Extent, standing: Standing) {
        self.map.cells.push(Cell { extent, standing });
        let settled = self.map.share(|standing| !matches!(standing, Standing::Open(_)));
        let surveyed = Surveyed { settled, waiting: self.waiting.len(), asked: self.asked };
        (self.tools.watch)(surveyed, &self.map);
    }
}

/// What a query says.
enum Found {
    Holds(Scope),
    Violated(usize),
    Open(UnknownReason),
}

impl Map {
    /// Nothing is known yet.
    pub fn new(axes: &[Axis], resolution: usize) -> Map {
        Map { axes: axes.to_vec(), resolution, cells: Vec::new(), witnesses: Vec::new(), notes: Vec::new() }
    }

    /// Adds open cells where there is none: a survey that was left behind has settled only a part.
    pub fn leave_the_rest_open(&mut self, reason: UnknownReason) {
        let axes = self.axes.len();
        let mut pending = vec![Extent { from: vec![0; axes], to: vec![self.resolution; axes] }];
        while let Some(extent) = pending.pop() {
            if !self.cells.iter().any(|cell| cell.extent.overlaps(&extent)) {
                self.cells.push(Cell { extent, standing: Standing::Open(reason) });
                continue;
            }
            pending.extend(extent.halves());
        }
    }

    /// The share of the box whose cells stand as wanted.
    pub fn share(&self, wanted: impl Fn(&Standing) -> bool) -> f64 {
        let steps = |extent: &Extent| -> f64 {
            extent.from.iter().zip(&extent.to).map(|(from, to)| (to - from) as f64 / self.resolution as f64).product()
        };
        let found = self.cells.iter().filter(|cell| wanted(&cell.standing)).map(|cell| steps(&cell.extent));
        // The empty sum of floats is −0, which would be printed.
        found.fold(0.0, |sum, share| sum + share)
    }

    /// The ends of a cell along each axis.
    pub fn ends(&self, extent: &Extent) -> Vec<(f64, f64)> {
        let lines = extent.from.iter().zip(&extent.to);
        let axes = self.axes.iter().zip(lines);
        axes.map(|(axis, (&from, &to))| (axis.line(from, self.resolution), axis.line(to, self.resolution))).collect()
    }
}
