//! Starts a system file, and writes it where it is wanted.

use std::path::{Path, PathBuf};

use certus_lang::diagnostics::Source;
use serde_json::Value;

use crate::Files;
use crate::failure::Failure;
use crate::output::write_atomically;
use crate::project_template::{Start, project_template, read_spaces};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct New {
    /// The network.
    pub network: Option<PathBuf>,
    /// What an environment shows and takes: a JSON file, or the document.
    pub spaces: Option<Value>,
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

/// Starts a system file: its text, which is written if there is an output.
pub fn new(task: &New) -> Result<String, Failure> {
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
        Some(path) => Some((seen_from(folder, path)?, path.as_path())),
    };
    let start = Start { network, spaces, labels: task.actions.clone(), name: task.name.clone() };
    let text = project_template(&start)?;
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
    Ok(text)
}

/// A file's path as a file in a folder names it: relative where one is below the other, else whole.
fn seen_from(folder: Option<&Path>, file: &Path) -> Result<String, Failure> {
    let whole = |path: &Path| path.canonicalize().map_err(|error| Failure::reading(path, &error));
    let file = whole(file)?;
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
