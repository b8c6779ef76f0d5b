//! Shields: made, read, run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use certus_audit::shield::{Accepted, Model, Polynomial, Shield, read_model, read_shield, rounded};
use certus_documents as documents;
use certus_documents::Scope;
use certus_engine::{Ended, Job};
use certus_graph::Graph;
use certus_lang::system::{Property, System};
use certus_lang::{LowerOptions, Open};
use certus_shield::document::document as shield_document;
use certus_shield::evaluation::{Course, Statistics, Trial};
use certus_shield::network::{Network, Scratch};
use certus_shield::runtime::Runtime;
use certus_shield::synthesis::{Failed, Options, synthesise};
use certus_shield::text::program_text;
use serde_json::Value;

use crate::sources::{SealedSystem, Unnamed, Unsealed, load_sealed};
use crate::system::read_network;
use crate::{BudgetOptions, Failure, Loading, Provenance, Source, Sources, network_of, property_named};

pub mod document;
pub mod export;

/// A synthesis that is asked for.
#[derive(Clone, Debug, Default)]
pub struct Shielding {
    /// The system; its networks are opened here.
    pub loading: Loading,
    /// The property; the first `G φ` if none.
    pub property: Option<String>,
    /// How it is done; the effort's deadline, threads and seed are put in.
    pub options: Options,
    /// How much it is worth.
    pub effort: BudgetOptions,
}

/// What came of it.
pub enum Shielded {
    /// A shield.
    Made(Box<Made>),
    /// None: why.
    Failed(Failed),
}

/// A shield that was made.
pub struct Made {
    /// The system's name.
    pub system: String,
    /// The property.
    pub property: String,
    /// The document to be written.
    pub document: documents::shield::Shield,
    /// The program, for readers.
    pub program: String,
    /// What the audit said.
    pub accepted: Accepted,
    /// Where each branch's program came from.
    pub origins: Vec<&'static str>,
    /// Whether the deadline ended the search for a shield that interferes less.
    pub cut_short: bool,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

fn opened(loading: &Loading) -> Loading {
    let mut open = loading.clone();
    open.options.open = Open::All;
    open
}

/// The network that an open system applies, as a graph.
fn network(loading: &Loading, system: &System) -> Result<(Graph, Vec<Source>), Failure> {
    let Some(open) = system.networks.first() else {
        return Err(Failure::message(format!("{} applies no network", loading.path.display())));
    };
    let mut place = loading.path.parent().unwrap_or(Path::new(".")).join(&open.path);
    for (name, file) in &loading.networks {
        if network_of(&loading.path, Some(name), loading.colour)? == open.path {
            place = file.clone();
        }
    }
    read_network(&place, Some(&open.path)).map_err(|error| Failure::message(format!("{}: {error}", place.display())))
}

/// Makes a shield; `tick` is called some twenty times a second with what is being done.
pub fn shield(task: &Shielding, stop: &Arc<AtomicBool>, mut tick: impl FnMut(&str)) -> Result<Shielded, Failure> {
    let loading = opened(&task.loading);
    let sealed = sealed(&loading, &mut Sources::default())?;
    let sources = sealed.sources();
    let system = sealed.system;
    let place =
        match &task.property {
            Some(name) => property_named(&system, name)?,
            None => system.properties.iter().position(|own| own.invariant().is_some()).ok_or_else(|| {
                Failure::message(format!("{} has no property of the form `G φ`", loading.path.display()))
            })?,
        };
    let (graph, _) = network(&loading, &system)?;
    let shown = system.clone();
    let provenance = Provenance::of_system("shield", &loading, &system, &sources).with_effort(&task.effort);
    let mut options = task.options.clone();
    options.deadline = task.effort.deadline;
    options.threads = task.effort.threads();
    options.seed = task.effort.seed;
    let doing = Arc::new(std::sync::Mutex::new(String::from("reading")));
    let (name, property) = (system.name.clone(), system.properties[place].clone());
    let policy = system.policies.first().map_or_else(|| "a".to_owned(), |policy| policy.name.clone());
    let work = {
        let (doing, stop) = (Arc::clone(&doing), Arc::clone(stop));
        let property = property.clone();
        move || {
            let progress = |text: String| {
                if let Ok(mut doing) = doing.lock() {
                    *doing = text;
                }
            };
            synthesise(&system, &property, &graph, &options, &stop, &progress)
        }
    };
    let show = || {
        if let Ok(doing) = doing.lock() {
            tick(&doing);
        }
    };
    let made = match Job::new(task.effort.deadline, stop).run(show, work)? {
        Ended::Done(made) => made,
        Ended::Late | Ended::Cancelled => Err(Failed::Stopped { branches: 0, tried: 0 }),
    };
    let mut made = match made {
        Ok(made) => made,
        Err(failed) => return Ok(Shielded::Failed(failed)),
    };
    made.shield.path = loading.path.display().to_string();
    made.shield.digest = sealed.file.digest.clone();
    made.shield.settings = loading.options.overrides.clone();
    let mut written = shield_document(&made.shield, &name, &made.states);
    picture_of(&mut written, &made.shield, &property, &shown);
    let about = format!("the plant as polynomials{}, in exact arithmetic; any network", provenance.discretised());
    let provenance = provenance.claiming(&property.name, &property.source, Scope::Unbounded, about);
    written.provenance = Some(provenance.document());
    Ok(Shielded::Made(Box::new(Made {
        document: written,
        program: program_text(&made.shield, &made.states, &policy),
        system: name,
        property: property.name,
        accepted: made.accepted,
        origins: made.origins,
        cut_short: made.cut_short,
        provenance,
    })))
}

/// Adds what a picture of a shield needs and its proof does not: what the property says, and the initial and unsafe states.
fn picture_of(document: &mut documents::shield::Shield, shield: &Shield, property: &Property, system: &System) {
    let Ok(model) = model_of(shield, system) else { return };
    document.words = Some(property.doc.trim().to_owned());
    document.formula = Some(property.source.clone());
    let initial = model.init.iter().map(|(lower, upper)| [rounded(lower), rounded(upper)]);
    document.initial = Some(initial.collect());
    let terms = |polynomial: &Polynomial| -> documents::shield::Polynomial {
        polynomial.terms().map(|(monomial, factor)| (rounded(factor), monomial.clone())).collect()
    };
    let pieces = model.unsafe_pieces.iter().filter(|piece| !piece.bounds_domain);
    let pieces = pieces.map(|piece| piece.constraints.iter().map(|own| terms(&own.polynomial)).collect());
    document.unsafe_sets = Some(pieces.collect());
}

/// Reads a shield's file.
pub fn read(path: &Path) -> Result<Shield, Failure> {
    read_with_origin(path).map(|(shield, ..)| shield)
}

/// Reads a shield from what its file contains.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Shield, Failure> {
    with_origin(path, bytes).map(|(shield, _)| shield)
}

/// A shield, and what its file says of where it comes from.
fn with_origin(path: &Path, bytes: &[u8]) -> Result<(Shield, Value), Failure> {
    let mut document: Value =
        serde_json::from_slice(bytes).map_err(|error| Failure::message(format!("{}: {error}", path.display())))?;
    let shield = read_shield(&document).map_err(|reason| Failure::message(format!("{}: {reason}", path.display())))?;
    Ok((shield, document.get_mut("provenance").map(Value::take).unwrap_or_default()))
}

/// Reads a shield's file once: the shield, the file with its digest, and what the file says of where the shield comes from.
fn read_with_origin(path: &Path) -> Result<(Shield, Source, Value), Failure> {
    let contents = Sources::default().read(path)?;
    let (shield, origin) = with_origin(path, &contents.bytes)?;
    Ok((shield, contents.source("shield", None), origin))
}

/// A system from files that are read once.
fn sealed(loading: &Loading, sources: &mut Sources) -> Result<SealedSystem, Failure> {
    load_sealed(loading, Unnamed::AsWritten, sources).map_err(|error| match error {
        Unsealed::Failure(failure) => failure,
        Unsealed::Unnamed(name) => Failure::message(format!("nobody says which network '{name}' is")),
    })
}

/// The model that a shield is about, or why it does not fit the system.
fn model_of(shield: &Shield, system: &System) -> Result<Model, String> {
    let Some(property) = system.property(&shield.property) else {
        return Err(format!("the system has no property '{}'", shield.property));
    };
    read_model(system, property, &shield.domain).map_err(|error| error.to_string())
}

/// A shield whose proof was checked: its system, its model, and what was checked.
pub(crate) type Checked = (SealedSystem, Model, Accepted);

/// Checks a shield's proof against the system in a file: what was checked, or why it is none.
pub(crate) fn accept(
    shield: &Shield,
    system: &Path,
    progress: &mut dyn FnMut(),
) -> Result<Result<Checked, String>, Failure> {
    let mut sources = Sources::default();
    if sources.read(system)?.digest != shield.digest {
        let named = system.display();
        return Ok(Err(format!("it is about another system: {named} has another digest than it names")));
    }
    let options = LowerOptions { overrides: shield.settings.clone(), open: Open::All, ..LowerOptions::default() };
    let loading = Loading { path: system.to_owned(), options, ..Loading::default() };
    let sealed = sealed(&loading, &mut sources)?;
    let model = match model_of(shield, &sealed.system) {
        Ok(model) => model,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(certus_audit::shield::check(&model, shield, progress).map(|accepted| (sealed, model, accepted)))
}

/// A shield with its system, ready to run or to be exported.
pub struct Ready {
    /// The system.
    pub system: System,
    /// The property's name.
    pub property: String,
    /// The settings that it was made for.
    pub settings: Vec<(String, f64)>,
    /// Its atom.
    pub atom: usize,
    /// The shield.
    pub runtime: Runtime,
    /// The network.
    pub network: Graph,
    /// The files: the shield, the system, the network.
    pub sources: Vec<Source>,
    /// Where the shield comes from, as its own file says; null if it does not say.
    pub origin: Value,
}

/// Reads a shield and its system, and checks its proof. The system must be the one that the shield names, and a shield that the
/// audit rejects is no shield.
pub fn ready(path: &Path, system: Option<&Path>, networks: &[(String, PathBuf)]) -> Result<Ready, Failure> {
    let (shield, own, origin) = read_with_origin(path)?;
    let place = system.map_or_else(|| PathBuf::from(&shield.path), Path::to_owned);
    if !place.exists() {
        let named = place.display();
        return Err(Failure::message(format!("there is no file {named}; say with ⟨system⟩ where the system is")));
    }
    let (sealed, model, _) = accept(&shield, &place, &mut || {})?.map_err(|reason| {
        let shield = path.display();
        Failure::message(format!("{shield} is rejected by the audit: {reason}; make it anew"))
    })?;
    let plant = sealed.file.source("system", None);
    let system = sealed.system;
    let loading = Loading { path: place, networks: networks.to_vec(), ..Loading::default() };
    let (network, beside) = network(&loading, &system)?;
    let atom = system.property(&shield.property).and_then(Property::invariant);
    let atom = atom.ok_or_else(|| Failure::message("the property is not of the form `G φ`"))?.0;
    let runtime = Runtime::new(&shield, &model).ok_or_else(|| {
        Failure::message("the shield cannot be run: its domain is unbounded, or the environment has too many choices")
    })?;
    let sources = [own, plant].into_iter().chain(beside).collect();
    Ok(Ready { system, property: shield.property, settings: shield.settings, atom, runtime, network, sources, origin })
}

/// What a replay showed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Without the shield.
    pub bare: Statistics,
    /// With it.
    pub shielded: Statistics,
    /// Seconds without it.
    pub bare_seconds: f64,
    /// Seconds with it.
    pub shielded_seconds: f64,
    /// Nanoseconds that the network takes for one state, one thread.
    pub network_time: f64,
    /// Nanoseconds that the monitor takes for one step, one thread.
    pub monitor_time: f64,
}

/// Replays the system without and with its shield; nothing if it was stopped. `tick` gets the steps made so far.
pub fn replay(
    ready: Ready,
    trial: Trial,
    deadline: Option<Instant>,
    stop: &Arc<AtomicBool>,
    mut tick: impl FnMut(u64),
) -> Result<Option<Replay>, Failure> {
    let done = Arc::new(AtomicU64::new(0));
    let work = {
        let (done, stop) = (Arc::clone(&done), Arc::clone(stop));
        move || -> Result<Replay, certus_graph::GraphError> {
            let course = Course::new(&ready.system, &ready.network, ready.atom, &ready.runtime)?;
            let timed = |shielded: bool| {
                let started = Instant::now();
                course.run(trial, shielded, &stop, &done).map(|outcome| (outcome, started.elapsed().as_secs_f64()))
            };
            let (bare, bare_seconds) = timed(false)?;
            let (shielded, shielded_seconds) = timed(true)?;
            let (network_time, monitor_time) = overhead(&ready)?;
            Ok(Replay { bare, shielded, bare_seconds, shielded_seconds, network_time, monitor_time })
        }
    };
    match Job::new(deadline, stop).run(|| tick(done.load(Ordering::Relaxed)), work)? {
        Ended::Done(replay) => {
            let replay = replay.map_err(|error| Failure::message(error.to_string()))?;
            Ok(Some(replay).filter(|_| !stop.load(Ordering::Relaxed)))
        }
        Ended::Late | Ended::Cancelled => Ok(None),
    }
}

/// Nanoseconds per state of the network and of the monitor, one after the other, on one thread.
fn overhead(ready: &Ready) -> Result<(f64, f64), certus_graph::GraphError> {
    use certus_shield_rt::{Fallback, Monitor};
    let network = Network::new(&ready.system, &ready.network, &ready.runtime.limits)?;
    let states = ready.system.state_len();
    let mut random = certus_numerics::Random::new(1, 1);
    let points: Vec<Vec<f64>> = (0..256)
        .map(|_| {
            let ends = ready.system.init_box.0.iter().zip(&ready.system.init_box.1);
            ends.map(|(&a, &b)| random.between(a, b)).collect()
        })
        .collect();
    let mut scratch = Scratch::default();
    let mut answers = Vec::new();
    for point in &points {
        answers.push(network.act(point, 1, &mut scratch)?);
    }
    let started = Instant::now();
    let mut rounds = 0u32;
    while started.elapsed() < Duration::from_millis(150) {
        for point in &points {
            std::hint::black_box(network.act(point, 1, &mut scratch)?);
        }
        rounds += 1;
    }
    let network_time = started.elapsed().as_nanos() as f64 / f64::from(rounds * 256);
    let monitor_time = ready.runtime.with_tables(|tables| {
        let mut monitor = Monitor::new();
        let (mut next, mut actions) = (vec![0.0; states], vec![0.0; ready.runtime.limits.len()]);
        let started = Instant::now();
        let mut rounds = 0u32;
        while started.elapsed() < Duration::from_millis(150) {
            for (point, answer) in points.iter().zip(&answers) {
                actions.copy_from_slice(answer);
                std::hint::black_box(monitor.decide(tables, point, &mut actions, &mut next, Fallback::LastBranch));
            }
            rounds += 1;
        }
        started.elapsed().as_nanos() as f64 / f64::from(rounds * 256)
    });
    Ok((network_time, monitor_time))
}
