//! Probabilities of interval MDPs that stand in files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_documents as documents;
use certus_documents::mdp::{Model, ModelKind};
use certus_prob::imdp::property::{Answer, Property, answer};
use certus_prob::imdp::robust_value_iteration::Resources;
use certus_prob::imdp::{Imdp, drn, explicit, prism};

use crate::failure::Failure;
use crate::output::write_atomically;
use crate::provenance::Setting;
use crate::{BudgetOptions, Ended, Job, Provenance, Source};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Mdp {
    /// The model.
    pub file: PathBuf,
    /// The property; none if the model is only described.
    pub property: Option<String>,
    /// Values of the model's constants.
    pub settings: Vec<(String, f64)>,
    /// How wide intervals may be for properties without a bound on the steps.
    pub gap: f64,
    /// Where the model is written, in the format that the name asks for.
    pub write: Option<PathBuf>,
    /// Where the values of all states are written.
    pub values: Option<PathBuf>,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// What came out.
pub struct Solved {
    /// The model.
    pub model: Imdp,
    /// The property, read.
    pub property: Option<Property>,
    /// Its probability; none if nothing was asked, or there was no time.
    pub answer: Option<Answer>,
    /// How long that took.
    pub seconds: f64,
    /// Where it comes from.
    pub provenance: Provenance,
}

fn read_text(role: &'static str, path: &Path, sources: &mut Vec<Source>) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    let digest = Some(certus_audit::digest(text.as_bytes()));
    sources.push(Source { role, name: None, path: path.to_owned(), digest });
    Ok(text)
}

/// The files of a model: transitions have labels beside them.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let labels = (extension(path) == "tra").then(|| path.with_extension("lab"));
    std::iter::once(path.to_owned()).chain(labels).collect()
}

fn extension(path: &Path) -> String {
    path.extension().map_or_else(String::new, |extension| extension.to_string_lossy().to_lowercase())
}

fn read_model(path: &Path, settings: &[(String, f64)]) -> Result<(Imdp, Vec<Source>), Failure> {
    let mut sources = Vec::new();
    let text = read_text("model", path, &mut sources)?;
    let model = match extension(path).as_str() {
        "drn" => drn::read(&text),
        "tra" => {
            let labels = path.with_extension("lab");
            let labels = if labels.exists() { Some(read_text("labels", &labels, &mut sources)?) } else { None };
            explicit::read(&text, labels.as_deref())
        }
        "prism" | "nm" | "pm" => prism::read(&text, settings),
        other => Err(format!("'.{other}' is no format of a model: .drn, .tra and .prism can be read")),
    };
    let model = model.map_err(|error| Failure::message(format!("{}: {error}", path.display())))?;
    Ok((model, sources))
}

/// Writes a model in the format that the file's name asks for.
pub fn write_model(path: &Path, model: &Imdp) -> Result<(), Failure> {
    match extension(path).as_str() {
        "drn" => write_atomically(path, &drn::write(model)),
        "tra" => {
            let (transitions, labels) = explicit::write(model);
            write_atomically(&path.with_extension("lab"), &labels)?;
            write_atomically(path, &transitions)
        }
        "prism" | "nm" => write_atomically(path, &prism::write(model)),
        other => {
            Err(Failure::message(format!("'.{other}' is no format of a model: .drn, .tra and .prism can be written")))
        }
    }
}

/// Computes a probability; nothing if it was stopped before that. `tick` is called some twenty times a second meanwhile, and `stop`
/// ends it.
pub fn mdp(task: &Mdp, stop: &Arc<AtomicBool>, tick: impl FnMut()) -> Result<Option<Solved>, Failure> {
    let property = task.property.as_deref().map(Property::parse).transpose();
    let property = property.map_err(|error| Failure::message(error.to_string()))?;
    let deadline = task.effort.deadline;
    let work = {
        let (task, stop) = (task.clone(), Arc::clone(stop));
        move || -> Result<Solved, Failure> {
            let (model, sources) = read_model(&task.file, &task.settings)?;
            if let Some(path) = &task.write {
                write_model(path, &model)?;
            }
            let started = Instant::now();
            let stopped =
                || stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let resources = Resources { threads: task.effort.threads(), stop: &stopped };
            let found = match &property {
                Some(property) => answer(&model, property, task.gap, resources).map_err(Failure::message)?,
                None => None,
            };
            let (seconds, provenance) = (started.elapsed().as_secs_f64(), provenance(&task, sources));
            Ok(Solved { model, property, answer: found, seconds, provenance })
        }
    };
    let Ended::Done(done) = Job::new(deadline, stop).run(tick, work)? else { return Ok(None) };
    let solved = done?;
    if let (Some(path), Some(found)) = (&task.values, &solved.answer) {
        write_atomically(path, &table(&solved.model, found))?;
    }
    Ok(Some(solved))
}

/// What a probability of a model is relative to.
const RELATIVE_TO: &str = "the model in its file, errors of rounding included";

/// Where a probability comes from.
fn provenance(task: &Mdp, sources: Vec<Source>) -> Provenance {
    let own = Provenance::new("mdp", sources).limit("timeout", task.effort.timeout.map(Into::into));
    let setting = |(name, value): &(String, f64)| Setting { name: name.clone(), value: *value, declared: None };
    let settings = task.settings.iter().map(setting).collect();
    Provenance { settings, ..own.limit("gap", Some(task.gap.into())) }
}

/// The values of all states, with the choices that attain them.
fn table(model: &Imdp, found: &Answer) -> String {
    let mut text = String::from("state,lower,upper,choice\n");
    for state in 0..model.states() {
        let choice = found.strategy.as_ref().map_or_else(String::new, |chosen| {
            let number = model.choices(state).start + chosen[state];
            model.choice_name(number).map_or_else(|| chosen[state].to_string(), str::to_owned)
        });
        let _ = writeln!(text, "{state},{:?},{:?},{choice}", found.values.lower[state], found.values.upper[state]);
    }
    text
}

impl Solved {
    /// What the model is.
    pub fn kind(&self) -> ModelKind {
        if self.model.is_plain() { ModelKind::Plain } else { ModelKind::Interval }
    }

    /// What came out as a document.
    pub fn document(&self, task: &Mdp) -> documents::mdp::Mdp {
        let (model, found) = (&self.model, self.answer.as_ref());
        documents::mdp::Mdp {
            schema: documents::Schema::default(),
            model: Model {
                kind: self.kind(),
                states: model.states(),
                choices: model.choice_count(),
                transitions: model.transition_count(),
                labels: model.labels().map(str::to_owned).collect(),
            },
            property: task.property.clone(),
            probability: found.map(|found| found.initial.into()),
            holds: found.and_then(|found| found.holds),
            narrow: found.map(|found| found.narrow),
            rechecked: found.and_then(|found| found.rechecked).map(Into::into),
            seconds: self.seconds.into(),
            relative_to: RELATIVE_TO.to_owned(),
            provenance: self.provenance.document(),
        }
    }
}
