//! Specifications in every form, and the statements that compute statistics where the logs are.

use std::path::{Path, PathBuf};

use certus_mine::config::Config;
use certus_mine::sql::{Dialect, statements};
use certus_mine::write::{certus, picture, specifications_document, vnnlib};

use super::verdicts::FILE_NAME;
use super::{Mine, Mining};
use crate::Files;
use crate::failure::Failure;
use crate::output::{write_atomically, write_document};

/// With all files of a mining that writes its specifications to a folder: read, and written over. The file of verdicts is both, and neither
/// may be anything else.
pub fn touched(files: Files, task: &Mine, cache: Option<&PathBuf>, folder: Option<&PathBuf>) -> Files {
    const WRITTEN: [&str; 4] = ["specifications.json", "specifications.svg", "specifications.certus", FILE_NAME];
    let mut all = files.writes("⟨cache⟩", cache);
    for (what, path) in super::files(task) {
        all = all.reads(&what, [path]);
    }
    let queries = existing_queries(folder.map(PathBuf::as_path));
    let names: Vec<&str> = WRITTEN.into_iter().chain(queries.iter().map(String::as_str)).collect();
    all.writes_into("⟨write⟩", folder, &names)
}

/// The files of a folder that a mining might write queries to.
fn existing_queries(folder: Option<&Path>) -> Vec<String> {
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("specification_") && name.ends_with(".vnnlib")).collect()
}

/// The file of verdicts: the one that is named, or the one beside what is written.
pub fn cache(named: Option<&PathBuf>, folder: Option<&PathBuf>, verifies: bool) -> Option<PathBuf> {
    let beside = folder.filter(|_| verifies).map(|folder| folder.join(FILE_NAME));
    named.cloned().or(beside)
}

/// The statements that compute the statistics of a configuration in a database.
pub fn sql(config: &Path, dialect: Dialect) -> Result<String, Failure> {
    Ok(statements(&Config::read(config)?, dialect)?)
}

/// Writes every form of the specifications.
pub fn write(folder: &Path, mining: &Mining, network: Option<&PathBuf>) -> Result<(), Failure> {
    let (layout, specifications) = (&mining.config.layout, &mining.specifications);
    let document = specifications_document(&mining.config.name, layout, specifications);
    write_document(&folder.join("specifications.json"), &document)?;
    if !mining.ranges.is_empty() {
        write_atomically(&folder.join("specifications.svg"), &picture(layout, &mining.ranges, specifications))?;
    }
    if layout.inputs.is_none() {
        return Ok(());
    }
    // A path in a `.certus` file is relative to it; an absolute one is as good.
    let network = match network {
        Some(path) => path.canonicalize().map_err(|error| Failure::reading(path, &error))?.display().to_string(),
        None => "policy.onnx".to_owned(),
    };
    let text = certus(layout, &mining.config.name, &network, specifications)?;
    write_atomically(&folder.join("specifications.certus"), &text)?;
    for (index, specification) in specifications.iter().enumerate() {
        let name = format!("specification_{:03}.vnnlib", index + 1);
        write_atomically(&folder.join(name), &vnnlib(layout, specification)?)?;
    }
    Ok(())
}
