//! From observations to specifications to verdicts.

mod document;
pub mod verdicts;
mod verification;
pub mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use certus_engine::{Ended, Job};
use certus_mine::attack::{Attack, Nearest, nearest};
use certus_mine::bins::Partition;
use certus_mine::config::{Config, Settings};
use certus_mine::mining::{Mined, mine as mine_regions};
use certus_mine::observations::{Rows, Tally, read_all};
use certus_mine::quality::{Quality, measure, measure_and, observe};
use certus_mine::query::{Network, Verdict};
use certus_mine::refine::refine;
use certus_mine::search::{Trial, search};
use certus_mine::spread::{Sample, Spread};
use certus_mine::write::from_json;
use certus_mine::{MineError, Specification, regions};

pub use document::{document, verdict_word};

use crate::failure::Failure;
use crate::system::read_network;
use crate::{BudgetOptions, Provenance, Source};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Mine {
    /// The configuration.
    pub config: PathBuf,
    /// Statistics to go on from instead of rows.
    pub regions: Option<PathBuf>,
    /// Specifications to judge instead of mining.
    pub specifications: Option<PathBuf>,
    /// Specifications to compare with.
    pub baseline: Option<PathBuf>,
    /// Whether to search for settings first, and mine with the best.
    pub search: bool,
    /// Networks to verify.
    pub networks: Vec<PathBuf>,
    /// Whether to look for the most extreme violations.
    pub attack: bool,
    /// A file of verdicts of earlier runs: what it knows is not asked again, what is found out is added.
    pub cache: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// How far the work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What is being done.
    pub doing: &'static str,
    /// How many questions are answered.
    pub done: usize,
    /// Of how many.
    pub of: usize,
}

/// Whose observations, and how specifications fit them.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The name.
    pub name: String,
    /// Whether it was mined.
    pub is_reference: bool,
    /// What was read, for mining and for testing.
    pub tallies: [Tally; 2],
    /// All specifications together.
    pub quality: [Quality; 2],
    /// Each specification alone, on what was mined.
    pub alone: Vec<Quality>,
    /// The specifications to compare with.
    pub baseline: Option<[Quality; 2]>,
}

/// An attack, and per reference what it did in the observation most like it.
pub type Compared = (Attack, Vec<Option<Nearest>>);

/// One specification and one network.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What is known.
    pub verdict: Verdict,
    /// How long it took.
    pub seconds: f64,
    /// The most extreme violations, each with what the references did in the observation most like it.
    pub attacks: Vec<Compared>,
    /// Whether an earlier run found it out.
    pub remembered: bool,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Mining {
    /// The configuration, with the settings that were used.
    pub config: Config,
    /// The settings before a search chose others, and how much history they had.
    pub configured: (Settings, Option<usize>),
    /// The trials of a search, the best first.
    pub trials: Vec<Trial>,
    /// What mining found; none if specifications were given.
    pub mined: Option<Mined>,
    /// How many specifications were redundant, and how many were merged.
    pub refined: (usize, usize),
    /// The range of each mined column.
    pub ranges: Vec<(f64, f64)>,
    /// The specifications.
    pub specifications: Vec<Specification>,
    /// How well they fit; empty where only statistics were given.
    pub judged: Vec<Judged>,
    /// How the rows of all references are spread, and those to which each specification applies.
    pub spreads: Option<(Spread, Vec<Spread>)>,
    /// Rows that lie in no cell, per reference.
    pub outside: Vec<u64>,
    /// Seconds from rows to specifications: reading, and mining itself.
    pub seconds: [f64; 2],
    /// Per network, one for each specification; those of networks that were not reached are missing.
    pub checked: Vec<Vec<Option<Checked>>>,
    /// Seconds that verification took.
    pub verify_seconds: f64,
    /// Where all of that comes from.
    pub provenance: Provenance,
}

impl Mining {
    /// Whether some network breaks some specification.
    pub fn is_violated(&self) -> bool {
        let verdicts = self.checked.iter().flatten().flatten().map(|checked| &checked.verdict);
        verdicts.into_iter().any(|verdict| matches!(verdict, Verdict::Violated(_) | Verdict::Crossed(..)))
    }

    /// Whether all questions were answered.
    pub fn is_decided(&self) -> bool {
        let open =
            |checked: &Option<Checked>| checked.as_ref().is_none_or(|own| matches!(own.verdict, Verdict::Open(_)));
        !self.checked.iter().flatten().any(open)
    }
}

impl From<MineError> for Failure {
    fn from(error: MineError) -> Failure {
        Failure::message(error.to_string())
    }
}

/// Mines, judges and verifies. `tick` is called some twenty times a second with what is being done; `stop` ends the work.
pub fn mine(task: &Mine, stop: &Arc<AtomicBool>, mut tick: impl FnMut(Step)) -> Result<Option<Mining>, Failure> {
    let step = Arc::new(Mutex::new(Step::default()));
    let work = {
        let (task, stop, step) = (task.clone(), Arc::clone(stop), Arc::clone(&step));
        move || work(&task, &stop, &step)
    };
    let shown = || tick(*step.lock().unwrap_or_else(PoisonError::into_inner));
    match Job::new(task.effort.deadline, stop).run(shown, work)? {
        Ended::Done(result) => result.map(Some),
        Ended::Late | Ended::Cancelled => Ok(None),
    }
}

fn say(step: &Mutex<Step>, doing: &'static str, of: usize) {
    *step.lock().unwrap_or_else(PoisonError::into_inner) = Step { doing, done: 0, of };
}

fn work(task: &Mine, stop: &AtomicBool, step: &Mutex<Step>) -> Result<Mining, Failure> {
    let (mut config, mut sources) = read_config(&task.config)?;
    let networks: Vec<(Network, &Path)> = load_networks(task, &config, &mut sources)?;
    sources.extend(tables(task, &config)?);
    let provenance = Provenance::new("mine", sources).with_search(&task.effort);
    if let Some(path) = &task.cache {
        // Before the work, not after it.
        verdicts::Verdicts::read(path)?;
    }
    let threads = task.effort.threads();
    let started = Instant::now();
    say(step, "reading", 0);
    let from_rows = task.regions.is_none();
    let mut train =
        if from_rows { read_all(&config.references, |own| &own.train, &config.layout)? } else { Vec::new() };
    let mut test = if from_rows { read_all(&config.references, |own| &own.test, &config.layout)? } else { Vec::new() };
    let reading = started.elapsed().as_secs_f64();
    let asks_anyway = task.specifications.is_some() && !networks.is_empty();
    if let Some(empty) = train.iter().find(|rows| rows.tally.used == 0).filter(|_| !asks_anyway) {
        let (rows, name) = (empty.tally.rows, &empty.name);
        let which = if rows == 0 { "no rows".to_owned() } else { format!("none of {rows} rows that can be used") };
        return Err(Failure::message(format!(
            "{}: the tables of '{name}' have {which}, so there is nothing to mine",
            task.config.display()
        )));
    }

    let configured = (config.settings.clone(), config.layout.history());
    let mut trials = Vec::new();
    if task.search {
        say(step, "searching for settings", 0);
        let choices = config.search.clone().ok_or_else(|| {
            Failure::message(format!("{}: there is no [search] that says what to try", task.config.display()))
        })?;
        let has_test = config.references.iter().all(|own| !own.test.is_empty());
        let held_out: &[Rows] = if has_test { &test } else { &[] };
        let stopped = || stop.load(Ordering::Relaxed);
        trials = search(&config.layout, &train, held_out, &config.settings, &choices, threads, &stopped)?;
        if let Some(best) = trials.first() {
            config.settings = best.settings.clone();
            if let Some(history) = best.history {
                config.layout = config.layout.with_history(history);
            }
        }
    }

    say(step, "mining", 0);
    let started = Instant::now();
    let layout = config.layout.clone();
    let mut mining = Mining {
        configured,
        trials,
        spreads: None,
        mined: None,
        refined: (0, 0),
        ranges: Vec::new(),
        specifications: Vec::new(),
        judged: Vec::new(),
        outside: Vec::new(),
        seconds: [reading, 0.0],
        checked: Vec::new(),
        verify_seconds: 0.0,
        provenance,
        config,
    };
    let settings = mining.config.settings.clone();
    match &task.specifications {
        Some(path) => {
            mining.specifications = read_specifications(path, &mining.config)?;
            if mining.specifications.iter().any(|own| own.observed.is_empty()) && from_rows {
                observe(&mut mining.specifications, &layout, &mut train, settings.decimals)?;
            }
        }
        None => {
            let regions = match &task.regions {
                Some(path) => {
                    let names: Vec<&str> = mining.config.references.iter().map(|own| own.name.as_str()).collect();
                    regions::read(path, &layout, &names, settings.parts)?
                }
                None => {
                    let ranges = regions::ranges(&layout, &mut train, settings.quantile)?;
                    regions::collect(&layout, &mut train, Partition::new(settings.parts, ranges)?)?
                }
            };
            let labels = layout.outputs.labels.len();
            let mut mined = mine_regions(&regions, &settings, labels, threads)?;
            if settings.refine {
                mining.refined = refine(&mut mined, &regions, settings.most_outputs);
                mined.remeasure(&regions, labels);
            }
            mining.specifications = mined.specifications(&regions, &layout, &settings);
            mining.ranges = regions.partition.ranges.clone();
            mining.outside = regions.outside.clone();
            mining.mined = Some(mined);
        }
    }
    mining.seconds[1] = started.elapsed().as_secs_f64();

    if from_rows {
        say(step, "judging", 0);
        judge(task, &mut mining, &mut train, &mut test)?;
    }
    if mining.specifications.is_empty() && !task.networks.is_empty() {
        return Err(Failure::message(format!(
            "{}: no specification was found or given, so there is nothing to verify",
            task.config.display()
        )));
    }
    let started = Instant::now();
    let specifications = mining.specifications.clone();
    mining.checked = verification::verify(task, &networks, &layout, &specifications, stop, step)?;
    compare(&mut mining, &specifications, &mut train)?;
    mining.verify_seconds = started.elapsed().as_secs_f64();
    Ok(mining)
}

/// Reads a configuration once: what it says, and its file.
fn read_config(path: &Path) -> Result<(Config, Vec<Source>), Failure> {
    let in_file = |error: &dyn std::fmt::Display| Failure::message(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| in_file(&error))?;
    let config = Config::parse(&text, path.parent().unwrap_or(Path::new(""))).map_err(|error| in_file(&error))?;
    let digest = Some(certus_audit::digest(text.as_bytes()));
    Ok((config, vec![Source { role: "configuration", name: None, path: path.to_owned(), digest }]))
}

/// The files that a task reads beside its configuration and the networks, each with what it is called.
fn read_beside(task: &Mine, config: &Config) -> Vec<(&'static str, Option<String>, PathBuf)> {
    let mut files = Vec::new();
    let mut one = |role: &'static str, path: &Option<PathBuf>| {
        files.extend(path.iter().map(|path| (role, None, path.clone())));
    };
    one("statistics", &task.regions);
    one("specifications", &task.specifications);
    one("baseline", &task.baseline);
    if task.regions.is_none() {
        for source in config.references.iter().chain(&config.judged) {
            let own = source.train.iter().chain(&source.test);
            files.extend(own.map(|path| ("table", Some(source.name.clone()), path.clone())));
        }
    }
    files
}

/// The tables and the like with their digests. Tables may be too large to be held and are read in passes, so this is one pass more.
fn tables(task: &Mine, config: &Config) -> Result<Vec<Source>, Failure> {
    let source = |(role, name, path): (&'static str, Option<String>, PathBuf)| {
        let failed = |error: std::io::Error| Failure::reading(&path, &error);
        let digest = match path.is_file() {
            true => Some(std::fs::File::open(&path).and_then(certus_audit::digest_of).map_err(failed)?),
            false => None,
        };
        Ok(Source { role, name, path, digest })
    };
    read_beside(task, config).into_iter().map(source).collect()
}

/// All files that a task reads, with what whoever asked calls them; the configuration alone if it cannot be read.
pub fn files(task: &Mine) -> Vec<(String, PathBuf)> {
    let mut files = vec![("the configuration".to_owned(), task.config.clone())];
    files.extend(task.networks.iter().map(|path| ("⟨verify⟩".to_owned(), path.clone())));
    let config = Config::read(&task.config).ok();
    let beside = config.iter().flat_map(|config| read_beside(task, config));
    files.extend(beside.map(|(role, _, path)| match role {
        "table" => ("a table of the configuration".to_owned(), path),
        "statistics" => ("⟨regions⟩".to_owned(), path),
        other => (format!("⟨{other}⟩"), path),
    }));
    files
}

fn load_networks<'a>(
    task: &'a Mine,
    config: &Config,
    sources: &mut Vec<Source>,
) -> Result<Vec<(Network, &'a Path)>, Failure> {
    let load = |path: &'a PathBuf| {
        let (graph, own) = read_network(path, None).map_err(|error| Failure::message(error.to_string()))?;
        sources.extend(own);
        let network = Network::new(graph, &config.layout)
            .map_err(|error| Failure::message(format!("{}: {error}", path.display())))?;
        if config.layout.inputs.is_some_and(|inputs| inputs != network.inputs()) {
            let found = network.inputs();
            let message = format!("{}: the network has {found} inputs, `inputs` says otherwise", path.display());
            return Err(Failure::message(message));
        }
        Ok((network, path.as_path()))
    };
    task.networks.iter().map(load).collect()
}

fn read_specifications(path: &Path, config: &Config) -> Result<Vec<Specification>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    from_json(&config.layout, &text).map_err(|error| Failure::message(format!("{}: {error}", path.display())))
}

fn judge(task: &Mine, mining: &mut Mining, train: &mut [Rows], test: &mut [Rows]) -> Result<(), Failure> {
    let baseline = task.baseline.as_deref().map(|path| read_specifications(path, &mining.config)).transpose()?;
    let layout = mining.config.layout.clone();
    let sources = mining.config.judged.clone();
    let mut others = read_all(&sources, |own| &own.train, &layout)?;
    let mut other_tests = read_all(&sources, |own| &own.test, &layout)?;
    let references = train.iter_mut().zip(test).map(|pair| (true, pair));
    let judged = others.iter_mut().zip(&mut other_tests).map(|pair| (false, pair));
    let mut all = Sample::of(&layout.mined());
    let mut inside = vec![all.clone(); mining.specifications.len()];
    for (is_reference, (train, test)) in references.chain(judged) {
        let (first, alone) = measure_and(&mining.specifications, &layout, train, &mut |values, applying| {
            if is_reference {
                all.add(values);
                applying.iter().for_each(|&place| inside[place].add(values));
            }
        })?;
        let (second, _) = measure(&mining.specifications, &layout, test)?;
        let baseline = match &baseline {
            Some(own) => Some([measure(own, &layout, train)?.0, measure(own, &layout, test)?.0]),
            None => None,
        };
        mining.judged.push(Judged {
            name: train.name.clone(),
            is_reference,
            tallies: [train.tally.clone(), test.tally.clone()],
            quality: [first, second],
            alone,
            baseline,
        });
    }
    mining.spreads = Some((all.spread(), inside.iter().map(Sample::spread).collect()));
    Ok(())
}

/// Puts what the references did next to each attack.
fn compare(mining: &mut Mining, specifications: &[Specification], train: &mut [Rows]) -> Result<(), Failure> {
    let layout = mining.config.layout.clone();
    let mut attacks: Vec<(&Specification, &mut Compared)> = Vec::new();
    for checked in &mut mining.checked {
        for (checked, specification) in checked.iter_mut().zip(specifications) {
            attacks.extend(checked.iter_mut().flat_map(|own| &mut own.attacks).map(|own| (specification, own)));
        }
    }
    if attacks.is_empty() {
        return Ok(());
    }
    for rows in train {
        let points: Vec<(&Specification, &[f64])> =
            attacks.iter().map(|(specification, own)| (*specification, own.0.witness.inputs.as_slice())).collect();
        let found = nearest(&points, &layout, rows)?;
        for ((_, own), found) in attacks.iter_mut().zip(found) {
            own.1.push(found);
        }
    }
    Ok(())
}
