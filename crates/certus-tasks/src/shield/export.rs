//! Shields as source code.

use std::path::{Path, PathBuf};

use certus_shield::export::{c_header, c_source, identifier, python_module, rust_module};
use serde_json::json;

use super::{Ready, ready};
use crate::output::write_atomically;
use crate::{Failure, Files, Provenance, Source, provenance};

/// Languages that shields are exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99: a header and a source.
    C,
    /// Rust, with certus-shield-rt.
    Rust,
    /// Python, without imports.
    Python,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Export {
    /// The shield.
    pub shield: PathBuf,
    /// The language.
    pub language: Language,
    /// Where the system is now, if not where the shield says.
    pub system: Option<PathBuf>,
    /// The name of what is exported; the system's if none.
    pub name: Option<String>,
    /// The file; for C, the two files without `.h` and `.c`.
    pub output: Option<PathBuf>,
}

/// With the files that a shield was read from.
pub(crate) fn files_of(files: Files, ready: &Ready) -> Files {
    let named = |files: Files, source: &Source| files.reads(&format!("the {}", source.role), [&source.path]);
    ready.sources.iter().fold(files, named)
}

/// A comment that says where an exported shield comes from: its files as they are now, and what the shield's own file says.
fn head(ready: &Ready, comment: &str) -> String {
    let exported = Provenance::new("export", ready.sources.clone()).document();
    let exported = json!({"certus": exported.certus, "sources": exported.sources});
    let written = [("exported", &exported), ("shield", &ready.origin)].into_iter().flat_map(|(what, own)| {
        provenance::lines(own).into_iter().map(move |line| format!("{comment}{what} {line}\n"))
    });
    written.collect()
}

/// Exports a shield: its text, and the files that were written. C has two files, and must be written.
pub fn export(task: &Export) -> Result<(String, Vec<PathBuf>), Failure> {
    let ready = ready(&task.shield, task.system.as_deref(), &[])?;
    let name = identifier(task.name.as_deref().unwrap_or(&format!("{}_shield", ready.system.name)));
    let runtime = &ready.runtime;
    let written: Vec<(PathBuf, String)> = match (task.language, &task.output) {
        (Language::C, None) => {
            return Err(Failure::message(
                "C has a header and a source: name them with ⟨output⟩, without `.h` and `.c`",
            ));
        }
        (Language::C, Some(path)) => {
            let file = path.file_name().and_then(|name| name.to_str()).map(identifier).unwrap_or(name);
            let at = |ending: &str| path.with_file_name(format!("{file}.{ending}"));
            let head = head(&ready, "// ");
            vec![(at("h"), head.clone() + &c_header(runtime, &file)), (at("c"), head + &c_source(runtime, &file))]
        }
        (Language::Rust, path) => {
            vec![(place(path.as_deref()), head(&ready, "// ") + &rust_module(runtime, &name))]
        }
        (Language::Python, path) => {
            vec![(place(path.as_deref()), head(&ready, "# ") + &python_module(runtime, &name))]
        }
    };
    let text = written.iter().map(|(_, text)| text.as_str()).collect();
    if task.output.is_none() {
        return Ok((text, Vec::new()));
    }
    let paths: Vec<PathBuf> = written.iter().map(|(path, _)| path.clone()).collect();
    files_of(Files::new(), &ready).writes("⟨output⟩", &paths).ready()?;
    for (path, text) in &written {
        write_atomically(path, text)?;
    }
    Ok((text, paths))
}

fn place(path: Option<&Path>) -> PathBuf {
    path.map(Path::to_owned).unwrap_or_default()
}
