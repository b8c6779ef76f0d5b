//! Starts a system file, and writes it where it is wanted.

use std::path::{Path, PathBuf};

use certus_graph::Port;
use certus_graph::import::load_network;
use certus_lang::diagnostics::Source;
use serde_json::Value;

use crate::Files;
use crate::failure::Failure;
use crate::output::write_atomically;
use crate::plants::Plant;
use crate::project_template::{Start, identifier, project_template, read_spaces};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct New {
    /// The network.
    pub network: Option<PathBuf>,
    /// What an environment shows and takes: a JSON file, or the document.
    pub spaces: Option<Value>,
    /// The environment of Gymnasium whose plant it starts from.
    pub env: Option<String>,
    /// Names of actions, if the network scores them and the greatest score decides.
    pub actions: Vec<String>,
    /// What the system is called.
    pub name: Option<String>,
    /// Where the system is written.
    pub output: Option<PathBuf>,
    /// Whether a file that exists is written over.
    pub force: bool,
    /// Whether diagnostics are rendered in colour.
    pub colour: bool,
}

/// A system file that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// Its text, which was written if there was an output.
    pub text: String,
    /// Why it cannot be checked as it is.
    pub note: Option<String>,
}

/// Starts a system file.
pub fn new(task: &New) -> Result<Started, Failure> {
    let spaces_file = task.spaces.as_ref().and_then(Value::as_str).map(Path::new);
    Files::new()
        .reads("the network", &task.network)
        .reads("⟨spaces⟩", spaces_file)
        .writes("⟨output⟩", &task.output)
        .ready()?;
    let spaces = match (&task.spaces, spaces_file) {
        (None, _) => None,
        (Some(_), Some(path)) => {
            let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
            let wrong = |error: String| Failure::message(format!("{}: {error}", path.display()));
            Some(read_spaces(&text).map_err(wrong)?)
        }
        (Some(document), None) => {
            let wrong = |error: String| Failure::message(format!("⟨spaces⟩: {error}"));
            Some(read_spaces(&document.to_string()).map_err(wrong)?)
        }
    };
    let folder = task.output.as_deref().and_then(Path::parent).filter(|own| !own.as_os_str().is_empty());
    let network = match &task.network {
        None => None,
        Some(path) => Some((seen_from(folder, path, task.env.is_some())?, path.as_path())),
    };
    let mut note = None;
    let text = match &task.env {
        Some(env) => {
            if spaces.is_some() || !task.actions.is_empty() {
                return Err(Failure::message("⟨env⟩ names observations and actions: leave out ⟨spaces⟩ and ⟨actions⟩"));
            }
            let plant = Plant::named(env)?;
            match &network {
                Some((_, path)) if path.exists() => {
                    let graph = load_network(path).map_err(|error| Failure::message(error.to_string()))?;
                    let count = |ports: &[Port]| ports.iter().map(|port| graph.elements(port.node)).sum();
                    plant.fits(count(graph.inputs()), count(graph.outputs()))?;
                }
                Some((_, path)) => note = Some(untrained(path, plant)),
                None => {}
            }
            let name = task.name.as_deref().map(identifier);
            plant.file(name.as_deref(), network.as_ref().map(|(name, _)| name.as_str()))
        }
        None => project_template(&Start { network, spaces, labels: task.actions.clone(), name: task.name.clone() })?,
    };
    let name = task.output.as_ref().map_or_else(|| "<new>".to_owned(), |path| path.display().to_string());
    let text = certus_lang::format(&Source::new(name, text))
        .map_err(|diagnostics| Failure::Diagnostics(diagnostics.render(task.colour)))?;
    if let Some(path) = &task.output {
        if path.exists() && !task.force {
            let path = path.display();
            return Err(Failure::message(format!("{path} exists already; ⟨force⟩ writes over it")));
        }
        write_atomically(path, &text)?;
    }
    Ok(Started { text, note })
}

/// A network that is still to be trained.
fn untrained(path: &Path, plant: &Plant) -> String {
    let (path, environment) = (path.display(), plant.environment);
    format!(
        "{path} does not exist yet: the file can be trained with and compared with {environment} (certus.gym in Python), \
         and checked once the network is there"
    )
}

/// A file's path as a file in a folder names it: relative where one is below the other, else whole. A file that may be
/// missing needs no more than a folder that exists.
fn seen_from(folder: Option<&Path>, file: &Path, may_be_missing: bool) -> Result<String, Failure> {
    let whole = |path: &Path| path.canonicalize().map_err(|error| Failure::reading(path, &error));
    let file = match (file.parent(), file.file_name()) {
        (Some(parent), Some(name)) if may_be_missing && !file.exists() => {
            let here = parent.as_os_str().is_empty();
            whole(if here { Path::new(".") } else { parent })?.join(name)
        }
        _ => whole(file)?,
    };
    let folder = whole(folder.unwrap_or(Path::new(".")))?;
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let mut relative = PathBuf::new();
    for _ in folder.components().skip(shared) {
        relative.push("..");
    }
    relative.extend(file.components().skip(shared));
    match relative.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::message(format!("{} cannot be written in a system file", file.display()))),
    }
}
