//! Properties × checkpoints: an acceptance test for training.
//!
//! Each checkpoint takes the place of a network of the system, and an [`Engine`] says what it can of every property.
//! [`Simulation`] finds violations and proves nothing, so its other verdict is `open`; [`BoundedChecking`] also shows that
//! nothing is violated up to a number of steps.

use std::cmp::Ordering as Order;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use certus_engine::{Ended, Job};
use certus_lang::system::System;
use certus_sim::{InputSource, Options, RunReport, Simulator, Summary, Verdict};

use crate::failure::Failure;
use crate::{Loaded, Loading, Provenance, Source, load, network_of, property_named};

mod bounded;
mod document;
mod picture;

pub use bounded::BoundedChecking;
pub use document::document;
pub use picture::picture;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The system; `networks` of it are for the checkpoints to take.
    pub system: Loading,
    /// Networks, or folders of networks.
    pub checkpoints: Vec<PathBuf>,
    /// The policy, action or network whose place the checkpoints take; none if there is only one.
    pub policy: Option<String>,
    /// The properties; none for all.
    pub properties: Vec<String>,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// The seconds that the deadline leaves from the beginning.
    pub timeout: Option<f64>,
}

/// Who says what is true of a property with a checkpoint.
#[derive(Clone, Debug)]
pub enum Judge {
    /// Simulation.
    Simulation(Simulation),
    /// Bounded model checking.
    Bmc(BoundedChecking),
}

impl Engine for Judge {
    fn check(
        &self,
        system: &System,
        properties: &[usize],
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<(Vec<Cell>, u64)>, Failure> {
        match self {
            Judge::Simulation(own) => own.check(system, properties, deadline, stop),
            Judge::Bmc(own) => own.check(system, properties, deadline, stop),
        }
    }
}

/// What is said of a property with a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// It holds.
    Holds,
    /// Nothing that so many steps can show violates it.
    HoldsUpTo(usize),
    /// A run violates it that model checking found and the system made again.
    Refuted {
        /// How many steps the run has.
        steps: usize,
        /// The position to which it returns, if it repeats itself for ever.
        loop_to: Option<usize>,
    },
    /// A run violates it.
    Violated {
        /// The number of the run; with the seed, it names the run.
        run: u64,
        /// The step at which that is certain.
        step: usize,
        /// How the environment's choices were made: `uniform` or `adversary`.
        inputs: &'static str,
        /// How far beyond the property the run goes.
        margin: f64,
    },
    /// Neither is known.
    Open,
    /// Neither is known, for this reason; nothing is violated up to so many steps, if any number was settled.
    Unknown {
        /// Why.
        reason: String,
        /// The steps.
        settled: Option<usize>,
    },
}

impl Cell {
    /// Whether a run violates the property.
    pub fn is_violated(&self) -> bool {
        matches!(self, Cell::Violated { .. } | Cell::Refuted { .. })
    }

    /// Whether the property holds, as far as was asked.
    pub fn holds(&self) -> bool {
        matches!(self, Cell::Holds | Cell::HoldsUpTo(_))
    }
}

/// A checkpoint and what was found out about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The network.
    pub network: PathBuf,
    /// The digest of its bytes.
    pub digest: Option<String>,
    /// One cell per property.
    pub cells: Vec<Cell>,
    /// How many runs left the model: a declared range, `assume`, or the numbers.
    pub faults: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    /// The name of the system.
    pub system: String,
    /// The path, as written, of the network whose place was taken.
    pub network: String,
    /// The names of the properties.
    pub properties: Vec<String>,
    /// The checkpoints that were looked at, in order.
    pub rows: Vec<Row>,
    /// How many there are.
    pub of: usize,
    /// What the properties are about: the files beside the checkpoints, and the settings.
    pub provenance: Provenance,
    /// How many seconds it was allowed to take.
    pub timeout: Option<f64>,
}

impl Gated {
    /// Whether some property is violated with some checkpoint.
    pub fn is_violated(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(Cell::is_violated)
    }

    /// Whether every property holds with every checkpoint.
    pub fn holds(&self) -> bool {
        self.rows.len() == self.of && self.rows.iter().all(|row| row.cells.iter().all(Cell::holds))
    }

    /// The checkpoint from which on a property holds, with all later ones, as far as was asked.
    pub fn learnt(&self, property: usize) -> Option<usize> {
        let not = self.rows.iter().rposition(|row| !row.cells[property].holds());
        let first = not.map_or(0, |last| last + 1);
        (self.rows.len() == self.of && first < self.rows.len()).then_some(first)
    }

    /// Whether a run left the model.
    pub fn has_model_error(&self) -> bool {
        self.rows.iter().any(|row| row.faults > 0)
    }
}

/// Something that can say whether properties of a system hold.
pub trait Engine: Send {
    /// One cell for each of the properties, by their places; and how many runs left the model. `None` if it was stopped.
    fn check(
        &self,
        system: &System,
        properties: &[usize],
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<(Vec<Cell>, u64)>, Failure>;
}

/// Simulation: runs with inputs drawn at random and then, for what is still open, chosen by an adversary.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// How many runs, each time.
    pub runs: u64,
    /// How many steps each, at most.
    pub steps: usize,
    /// Names the random numbers.
    pub seed: u64,
    /// How many threads; 0 for one per processor.
    pub threads: usize,
    /// How many choices the adversary tries at each step.
    pub candidates: usize,
}

impl Engine for Simulation {
    fn check(
        &self,
        system: &System,
        properties: &[usize],
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<(Vec<Cell>, u64)>, Failure> {
        let failed = |error: certus_sim::SimulationError| Failure::message(error.to_string());
        let simulator = Simulator::new(system).map_err(failed)?;
        let mut cells = vec![Cell::Open; properties.len()];
        let mut faults = 0;
        let mut run = |inputs: InputSource, wanted: &[usize], cells: &mut [Cell]| -> Result<bool, Failure> {
            let named = if inputs == InputSource::Uniform { "uniform" } else { "adversary" };
            let options = Options {
                runs: self.runs,
                steps: self.steps,
                seed: self.seed,
                threads: self.threads,
                inputs,
                deadline,
                stop: Some(stop),
                ..Options::default()
            };
            let mut watch = |report: &RunReport| {
                for &place in wanted {
                    look(&mut cells[place], report, properties[place], named);
                }
            };
            let summary = simulator.run(&options, &mut |_| {}, &mut watch).map_err(failed)?;
            faults += left_the_model(&summary);
            Ok(summary.interrupted)
        };
        let is_formula = |place: &usize| system.properties[properties[*place]].is_over_runs();
        let wanted: Vec<usize> = (0..properties.len()).filter(is_formula).collect();
        if run(InputSource::Uniform, &wanted, &mut cells)? {
            return Ok(None);
        }
        if !system.inputs.is_empty() {
            for place in wanted.into_iter().filter(|&place| cells[place] == Cell::Open).collect::<Vec<_>>() {
                let inputs = InputSource::Adversary { property: properties[place], candidates: self.candidates };
                if run(inputs, &[place], &mut cells)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some((cells, faults)))
    }
}

fn left_the_model(summary: &Summary) -> u64 {
    summary.left_range + summary.blocked + summary.not_a_number
}

/// Keeps the run that goes furthest beyond the property.
fn look(cell: &mut Cell, report: &RunReport, property: usize, inputs: &'static str) {
    let seen = &report.properties[property];
    let (Verdict::Violated, Some(step)) = (seen.verdict, seen.broken_at) else { return };
    let further = match cell {
        Cell::Violated { margin, .. } => seen.margin < *margin,
        _ => true,
    };
    if further {
        *cell = Cell::Violated { run: report.run, step, inputs, margin: seen.margin };
    }
}

/// Puts every checkpoint into the system and checks it. `tick` is called some twenty times a second with the number of
/// checkpoints done, and `stop` ends the work.
pub fn gate(
    task: &Gate,
    engine: impl Engine + 'static,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(usize),
) -> Result<Gated, Failure> {
    let network = network_of(&task.system.path, task.policy.as_deref(), task.system.colour)?;
    let files = checkpoints(&task.checkpoints)?;
    // Everything is read before anything runs.
    let (mut systems, mut digests) = (Vec::new(), Vec::new());
    let mut provenance = None;
    for file in &files {
        let networks = vec![(network.clone(), file.clone())];
        let Loaded { system, mut sources } = load(&Loading { networks, ..task.system.clone() })?;
        let is_own = |source: &Source| source.name.as_ref() == Some(&network);
        digests.push(sources.iter().find(|source| is_own(source)).and_then(|source| source.digest.clone()));
        sources.retain(|source| !is_own(source));
        provenance.get_or_insert_with(|| Provenance::of_system("", &task.system, &system, &sources));
        systems.push(system);
    }
    let (Some(first), Some(provenance)) = (systems.first(), provenance) else {
        return Err(Failure::message("there is no checkpoint: name networks, or a folder with .onnx or .nnet files"));
    };
    let places: Vec<usize> = match task.properties.as_slice() {
        [] => (0..first.properties.len()).collect(),
        names => names.iter().map(|name| property_named(first, name)).collect::<Result<_, _>>()?,
    };
    if places.is_empty() {
        return Err(crate::check::nothing_to_check(&task.system));
    }
    let properties = places.iter().map(|&place| first.properties[place].name.clone()).collect();
    let (system, of) = (first.name.clone(), files.len());
    let rows: Arc<Mutex<Vec<Row>>> = Arc::default();
    let done = Arc::new(AtomicUsize::new(0));
    let work = {
        let (rows, done, stop, deadline) = (Arc::clone(&rows), Arc::clone(&done), Arc::clone(stop), task.deadline);
        move || -> Result<(), Failure> {
            for ((network, digest), system) in files.into_iter().zip(digests).zip(&systems) {
                let Some((cells, faults)) = engine.check(system, &places, deadline, &stop)? else { break };
                rows.lock().unwrap_or_else(PoisonError::into_inner).push(Row { network, digest, cells, faults });
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    };
    if let Ended::Done(result) = Job::new(task.deadline, stop).run(|| tick(done.load(Ordering::Relaxed)), work)? {
        result?;
    }
    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Gated { system, network, properties, rows, of, provenance, timeout: task.timeout })
}

/// The files that are named, and those in folders that are named, there in the order of the numbers in their names.
pub fn checkpoints(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|error| Failure::reading(path, &error))?;
        let mut own = Vec::new();
        for entry in entries {
            let file = entry.map_err(|error| Failure::reading(path, &error))?.path();
            let extension = file.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            if matches!(extension.as_deref(), Some("onnx" | "nnet")) && file.is_file() {
                own.push(file);
            }
        }
        own.sort_by(|a, b| natural(&name(a), &name(b)));
        files.append(&mut own);
    }
    Ok(files)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The order in which people count: `step_9` before `step_10`.
fn natural(a: &str, b: &str) -> Order {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (m, n) = (digits(a), digits(b));
        if m > 0 && n > 0 {
            let (x, y) = (a[..m].trim_start_matches('0'), b[..n].trim_start_matches('0'));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
            if order != Order::Equal {
                return order;
            }
            (a, b) = (&a[m..], &b[n..]);
            continue;
        }
        let (mut left, mut right) = (a.chars(), b.chars());
        match (left.next(), right.next()) {
            (None, None) => return Order::Equal,
            (x, y) if x != y => return x.cmp(&y),
            _ => (a, b) = (left.as_str(), right.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_learnt_where_it_holds_from_then_on() {
        let row = |cell: Cell| Row { network: PathBuf::new(), digest: None, cells: vec![cell], faults: 0 };
        let gated = |cells: Vec<Cell>| Gated {
            system: String::new(),
            network: String::new(),
            properties: vec![String::new()],
            of: cells.len(),
            rows: cells.into_iter().map(row).collect(),
            provenance: Provenance::default(),
            timeout: None,
        };
        let broken = || Cell::Refuted { steps: 0, loop_to: None };
        assert_eq!(gated(vec![broken(), Cell::Holds, Cell::HoldsUpTo(3)]).learnt(0), Some(1));
        assert_eq!(gated(vec![Cell::Holds, broken(), Cell::Holds]).learnt(0), Some(2));
        assert_eq!(gated(vec![Cell::Holds, Cell::Open]).learnt(0), None);
        // Checkpoints that were not looked at might have lost it again.
        assert_eq!(Gated { of: 3, ..gated(vec![broken(), Cell::Holds]) }.learnt(0), None);
    }

    #[test]
    fn checkpoints_are_in_the_order_of_their_numbers() {
        let mut names = ["step_10.onnx", "step_9.onnx", "step_9b.onnx", "a.onnx", "step_010.onnx", "step_100.onnx"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names[..3], ["a.onnx", "step_9.onnx", "step_9b.onnx"]);
        assert_eq!(names[5], "step_100.onnx");
    }
}
