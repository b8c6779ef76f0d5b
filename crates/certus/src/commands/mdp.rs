//! `certus mdp`: probabilities of interval MDPs.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use certus_documents::mdp::{Model, ModelKind};
use certus_documents::{Document, Schema};
use certus_prob::imdp::bounded::Means;
use certus_prob::imdp::property::{Answer, Property, Question, answer};
use certus_prob::imdp::{Imdp, drn, explicit, prism};
use certus_tasks::patience::{Waited, wait};
use certus_tasks::provenance::Setting;
use certus_tasks::{Files, Provenance, Source};

use super::{ended_by, stop_on_interrupt, write_brief};
use crate::Finding;
use crate::arguments::Mdp;
use crate::failure::Failure;
use crate::output::{Output, write_whole};
use crate::progress::LiveLine;

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
        "drn" => write_whole(path, &drn::write(model)),
        "tra" => {
            let (transitions, labels) = explicit::write(model);
            write_whole(&path.with_extension("lab"), &labels)?;
            write_whole(path, &transitions)
        }
        "prism" | "nm" => write_whole(path, &prism::write(model)),
        other => {
            Err(Failure::message(format!("'.{other}' is no format of a model: .drn, .tra and .prism can be written")))
        }
    }
}

/// What the work gives: the model, and the answer where there was a question and time.
type Worked = Result<(Imdp, Vec<Source>, Option<Answer>, f64), Failure>;

/// Computes a probability.
pub fn run(command: &Mdp) -> Result<Finding, Failure> {
    let property = match &command.property {
        Some(text) => Some(Property::parse(text).map_err(|error| Failure::message(error.to_string()))?),
        None => None,
    };
    let deadline = command.effort.deadline()?;
    let stop = stop_on_interrupt()?;
    Files::new()
        .reads("the model", files_of(&command.file))
        .writes("-o", &command.common.output)
        .writes("--write", command.write.iter().flat_map(|path| files_of(path)))
        .writes("--values", &command.values)
        .ready()?;
    let threads = certus_tasks::Effort { threads: command.effort.threads, ..Default::default() }.threads();
    let work = {
        let (command, property, stop) = (command.clone(), property.clone(), Arc::clone(&stop));
        move || -> Worked {
            let (model, sources) = read_model(&command.file, &command.settings)?;
            if let Some(path) = &command.write {
                write_model(path, &model)?;
            }
            let started = Instant::now();
            let stopped =
                || stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let means = Means { threads, stop: &stopped };
            let found = match &property {
                Some(property) => answer(&model, property, command.gap, means).map_err(Failure::message)?,
                None => None,
            };
            Ok((model, sources, found, started.elapsed().as_secs_f64()))
        }
    };
    let mut line = LiveLine::new(command.effort.quiet);
    let waited = wait(deadline, &stop, || line.show(|| "working".to_owned()), work)?;
    drop(line);
    let Waited::Done(done) = waited else {
        eprintln!("note: {}", ended_by(&stop));
        return Ok(Finding::Undecided);
    };
    let (model, sources, found, seconds) = done?;
    if let (Some(path), Some(found)) = (&command.values, &found) {
        write_whole(path, &table(&model, found))?;
    }
    let mut output = Output::open(command.common.output.as_deref())?;
    let provenance = provenance(command, sources);
    report(command, (property.as_ref(), &provenance), &model, found.as_ref(), seconds, &mut output)?;
    output.finish()?;
    if property.is_none() && (command.write.is_none() || command.values.is_some()) {
        return Err(Failure::message(format!(
            "nothing was asked of {}: add a property, as 'Pmax=? [ F \"label\" ]', or --write to convert the model",
            command.file.display()
        )));
    }
    Ok(match (&property, &found) {
        (Some(_), None) => Finding::Undecided,
        (_, Some(Answer { holds: Some(false), .. })) => Finding::Violated,
        (Some(property), Some(found)) if property.question != Question::Value && found.holds.is_none() => {
            Finding::Undecided
        }
        (_, Some(Answer { narrow: false, .. })) => Finding::Undecided,
        _ => Finding::Good,
    })
}

/// What a probability of a model is relative to.
const RELATIVE_TO: &str = "the model in its file, errors of rounding included";

/// Where a probability comes from.
fn provenance(command: &Mdp, sources: Vec<Source>) -> Provenance {
    let own = Provenance::new("mdp", sources).limit("timeout", command.effort.timeout.map(Into::into));
    let setting = |(name, value): &(String, f64)| Setting { name: name.clone(), value: *value, declared: None };
    let settings = command.settings.iter().map(setting).collect();
    Provenance { settings, ..own.limit("gap", Some(command.gap.into())) }
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

fn report(
    command: &Mdp,
    (property, provenance): (Option<&Property>, &Provenance),
    model: &Imdp,
    found: Option<&Answer>,
    seconds: f64,
    output: &mut Output,
) -> Result<(), Failure> {
    let kind = if model.is_plain() { ModelKind::Plain } else { ModelKind::Interval };
    if command.common.json {
        let document = certus_documents::mdp::Mdp {
            schema: Schema::default(),
            model: Model {
                kind,
                states: model.states(),
                choices: model.choice_count(),
                transitions: model.transition_count(),
                labels: model.labels().map(str::to_owned).collect(),
            },
            property: command.property.clone(),
            probability: found.map(|found| found.initial.into()),
            holds: found.and_then(|found| found.holds),
            narrow: found.map(|found| found.narrow),
            rechecked: found.and_then(|found| found.rechecked).map(Into::into),
            seconds: seconds.into(),
            relative_to: RELATIVE_TO.to_owned(),
            provenance: provenance.document(),
        };
        document.write_indented(output)?;
        return Ok(());
    }
    let labels: Vec<&str> = model.labels().collect();
    writeln!(
        output,
        "{kind}: {} states, {} choices, {} transitions; labels: {}",
        model.states(),
        model.choice_count(),
        model.transition_count(),
        labels.join(", ")
    )?;
    match (property, found) {
        (Some(_), Some(found)) => {
            write_brief(provenance, output)?;
            let verdict = match found.holds {
                Some(true) => "holds: ",
                Some(false) => "violated: ",
                None => "",
            };
            let text = command.property.as_deref().unwrap_or("");
            writeln!(output, "{text}: {verdict}in [{:?}, {:?}]  {seconds:.2} s", found.initial.0, found.initial.1)?;
            if let Some((low, high)) = found.rechecked {
                writeln!(output, "the choices found give, on the model that they leave, [{low:?}, {high:?}]")?;
            }
        }
        (Some(_), None) => writeln!(output, "stopped before there was an answer")?,
        (None, _) => {}
    }
    Ok(())
}
