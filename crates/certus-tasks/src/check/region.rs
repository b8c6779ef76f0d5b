//! Maps properties over boxes of parameters.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use certus_check::bmc;
use certus_check::errors::Errors;
use certus_check::parametric::with_parameters_as_states;
use certus_check::region::{Axis, Map, Surveyed, Tools, survey};
use certus_check::replay::{Drive, replay};
use certus_engine::{Board, Ended, Job};
use certus_lang::diagnostics::nearest;
use certus_lang::system::{Property, System};
use certus_model::{CheckError, Run, short, usual_steps, within_scope};
use certus_solver::Budget;

use crate::failure::Failure;
use crate::{BudgetOptions, Loaded, Loading, Provenance, Source, load, load_system, property_named};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Regions {
    /// The system.
    pub system: Loading,
    /// The properties; none for all.
    pub properties: Vec<String>,
    /// How many steps are looked at; by default ten, or as far as a property's own bounds reach.
    pub steps: Option<usize>,
    /// The parameters, each with a range if not its declared one.
    pub parameters: Vec<(String, Option<(f64, f64)>)>,
    /// How many grid steps each parameter's range has.
    pub resolution: usize,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

impl Regions {
    /// How many steps are looked at for a property.
    fn steps_for(&self, property: &Property) -> usize {
        self.steps.unwrap_or_else(|| usual_steps(property))
    }
}

/// What came out.
pub struct Mapped {
    /// The system, with the values of its file; none if not even that could be loaded in time.
    pub system: Option<Arc<System>>,
    /// What is said of each property that was asked about.
    pub results: Vec<RegionResult>,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

/// What is said of one property.
#[derive(Clone)]
pub struct RegionResult {
    /// Its place in the system.
    pub property: usize,
    /// The map, or why there is none.
    pub map: Result<Map, String>,
    /// How many steps were looked at.
    pub steps: usize,
    /// How long it took.
    pub seconds: f64,
}

/// Grids beyond this many steps per parameter are refused.
const FINEST: usize = 4096;

/// What is known while the work goes on: on a board, so that nothing is lost if the work is late.
#[derive(Default)]
struct Partial {
    property: String,
    surveyed: Surveyed,
    system: Option<Arc<System>>,
    sources: Vec<Source>,
    axes: Vec<Axis>,
    properties: Vec<usize>,
    results: Vec<RegionResult>,
    /// What is settled of the property that is being mapped.
    current: Option<Map>,
}

/// Maps properties. `tick` is called some twenty times a second meanwhile with the property and how far it is, and `stop`
/// ends it.
pub fn regions(
    task: &Regions,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(&str, Surveyed),
) -> Result<Mapped, Failure> {
    let board = Board::new(Partial::default());
    let own = task.clone();
    let shown = |board: &Board<Partial>| {
        let (property, surveyed) = board.with(|known| (known.property.clone(), known.surveyed));
        tick(&property, surveyed);
    };
    let job = Job::new(task.effort.deadline, stop);
    let ended = job.run_with_board(&board, shown, move |board, cancel| run(&own, cancel, board))?;
    let reason = ended.reason();
    if let Ended::Done(done) = ended {
        done?;
    }
    let Partial { system, sources, axes, properties, mut results, mut current, .. } = board.with(std::mem::take);
    // Properties are known once the system is.
    let unanswered = system.iter().flat_map(|system| properties.iter().map(move |&place| (place, system)));
    for (property, system) in unanswered.skip(results.len()) {
        let mut map = current.take().unwrap_or_else(|| Map::new(&axes, task.resolution));
        map.leave_the_rest_open(reason);
        results.push(RegionResult {
            property,
            map: Ok(map),
            steps: task.steps_for(&system.properties[property]),
            seconds: 0.0,
        });
    }
    let provenance = system.as_ref().map(|system| provenance(task, system, &sources)).unwrap_or_default();
    Ok(Mapped { system, results, provenance })
}

/// Where maps come from.
fn provenance(task: &Regions, system: &System, sources: &[Source]) -> Provenance {
    let varied = task.parameters.iter().map(|(name, _)| name.as_str());
    Provenance::of_system("bmc", &task.system, system, sources)
        .with_search(&task.effort)
        .limit("steps", task.steps.map(Into::into))
        .limit("resolution", Some(task.resolution.into()))
        .limit("varied", Some(varied.collect()))
}

fn run(task: &Regions, cancel: &AtomicBool, board: &Board<Partial>) -> Result<(), Failure> {
    let Loaded { system, sources } = load(&task.system)?;
    let plain = Arc::new(system);
    let axes = axes(task, &plain)?;
    let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
    let properties: Vec<usize> = match task.properties.as_slice() {
        [] => (0..plain.properties.len()).collect(),
        names => names.iter().map(|name| property_named(&plain, name)).collect::<Result<_, _>>()?,
    };
    if properties.is_empty() {
        return Err(super::nothing_to_check(&task.system));
    }
    let mut loading = task.system.clone();
    loading.options.free_params.clone_from(&names);
    let free = load_system(&loading)?;
    let varied = with_parameters_as_states(&free, &names)
        .map_err(|error| Failure::message(format!("the parameters cannot be varied: {error}")))?;
    board.with(|known| {
        known.system = Some(Arc::clone(&plain));
        known.sources = sources;
        known.properties.clone_from(&properties);
        known.axes.clone_from(&axes);
    });
    let budget = task.effort.budget(cancel);
    for property in properties {
        let asked = &varied.properties[property];
        let started = Instant::now();
        board.with(|known| {
            known.property.clone_from(&asked.name);
            known.current = Some(Map::new(&axes, task.resolution));
        });
        let steps = task.steps_for(asked);
        let mut ask = |system: &System, budget: &Budget<'_>| {
            let errors = Errors::new(system, false);
            let outcome = bmc::check(system, asked, task.steps, &errors, budget, &mut |_| {})?;
            Ok(within_scope(asked, outcome, task.steps, None))
        };
        let mut confirm = |values: &[f64], drive: &Drive| confirmed(task, property, &names, values, drive);
        let mut watch = |surveyed: Surveyed, map: &Map| {
            board.with(|known| {
                known.surveyed = surveyed;
                if let Some(current) = &mut known.current {
                    current.cells.extend_from_slice(&map.cells[current.cells.len()..]);
                    current.witnesses.extend_from_slice(&map.witnesses[current.witnesses.len()..]);
                }
            });
        };
        let tools = Tools { ask: &mut ask, confirm: &mut confirm, watch: &mut watch };
        let map = survey(&varied, asked, &axes, task.resolution, &budget, tools).map_err(|error| error.to_string());
        let seconds = started.elapsed().as_secs_f64();
        board.with(|known| {
            known.current = None;
            known.results.push(RegionResult { property, map, steps, seconds });
        });
    }
    Ok(())
}

/// The run again, by the system as it is loaded with these values.
fn confirmed(
    task: &Regions,
    property: usize,
    names: &[String],
    values: &[f64],
    drive: &Drive,
) -> Result<Option<Run>, CheckError> {
    let mut loading = task.system.clone();
    loading.options.overrides.extend(names.iter().cloned().zip(values.iter().copied()));
    let system = load_system(&loading).map_err(|error| CheckError::Unsupported(error.to_string()))?;
    match system.properties[property].over_runs() {
        Ok(formula) => Ok(replay(&system, formula, drive)?),
        Err(_) => Ok(None),
    }
}

/// The parameters with the ranges in which they are varied.
fn axes(task: &Regions, system: &System) -> Result<Vec<Axis>, Failure> {
    if !(1..=FINEST).contains(&task.resolution) {
        let message = format!("⟨resolution={}⟩: expected 1 to {FINEST} steps per parameter", task.resolution);
        return Err(Failure::message(message));
    }
    let mut axes: Vec<Axis> = Vec::new();
    for (name, range) in &task.parameters {
        let known = || system.params.iter().map(|parameter| parameter.name.as_str());
        let Some(parameter) = system.params.iter().find(|parameter| parameter.name == *name) else {
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean '{near}'?"),
                None if system.params.is_empty() => "it has none".to_owned(),
                None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(Failure::message(format!("{} has no param '{name}'; {hint}", system.name)));
        };
        let (lower, upper) = range.unwrap_or((parameter.lower, parameter.upper));
        let fits = parameter.lower <= lower && lower < upper && upper <= parameter.upper;
        let once = axes.iter().all(|axis| axis.name != *name);
        let set = task.system.options.overrides.iter().any(|(own, _)| own == name);
        if !fits {
            let [lower, upper, low, high] = [lower, upper, parameter.lower, parameter.upper].map(short);
            let message = format!("⟨region={name}={lower}..{upper}⟩: expected a range within [{low}, {high}]");
            return Err(Failure::message(message));
        }
        if !once || set {
            let why = if once { "is varied, so it cannot be set" } else { "is named twice" };
            return Err(Failure::message(format!("⟨region⟩: '{name}' {why}")));
        }
        axes.push(Axis { name: name.clone(), lower, upper });
    }
    Ok(axes)
}
