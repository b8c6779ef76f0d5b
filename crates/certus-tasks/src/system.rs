//! Systems, the networks in them, and their properties by name.

use std::path::{Path, PathBuf};

use certus_lang::diagnostics::{Diagnostics, nearest};
use certus_lang::system::System;
use certus_lang::{LowerOptions, applied_networks, load_file_with};

use crate::Failure;

/// How a system is loaded.
#[derive(Clone, Debug, Default)]
pub struct Loading {
    /// The file.
    pub path: PathBuf,
    /// How it becomes a system.
    pub options: LowerOptions,
    /// Files in place of networks, which are named as the file names them, or by the policy or action that applies them.
    pub networks: Vec<(String, PathBuf)>,
    /// Whether diagnostics are rendered in colour.
    pub colour: bool,
}

/// Loads a system.
pub fn load_system(loading: &Loading) -> Result<System, Failure> {
    let failed = |diagnostics: Diagnostics| Failure::Diagnostics(diagnostics.render(loading.colour));
    let mut replaced = Vec::new();
    if !loading.networks.is_empty() {
        let applied = applied_networks(&loading.path).map_err(failed)?;
        for (name, file) in &loading.networks {
            replaced.push((network_named(&loading.path, &applied, Some(name))?, file.clone()));
        }
    }
    load_file_with(&loading.path, &replaced, &loading.options).map_err(failed)
}

/// The path, as written, of the network that a policy or an action applies; without a name, of the only one there is.
pub fn network_of(path: &Path, name: Option<&str>, colour: bool) -> Result<String, Failure> {
    let applied = applied_networks(path).map_err(|diagnostics| Failure::Diagnostics(diagnostics.render(colour)))?;
    network_named(path, &applied, name)
}

pub(crate) fn network_named(
    path: &Path,
    applied: &[(String, Vec<String>)],
    name: Option<&str>,
) -> Result<String, Failure> {
    let file = path.display();
    let mut paths: Vec<&str> = applied.iter().flat_map(|(_, paths)| paths).map(String::as_str).collect();
    paths.sort_unstable();
    paths.dedup();
    let names = || applied.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let own: Vec<&str> = match name {
        None => paths.clone(),
        Some(name) if paths.contains(&name) => vec![name],
        Some(name) => match applied.iter().find(|(own, _)| own == name) {
            Some((_, paths)) => paths.iter().map(String::as_str).collect(),
            None => {
                let known: Vec<&str> = names().into_iter().chain(paths.iter().copied()).collect();
                let hint = nearest(name, known.iter().copied()).map_or_else(
                    || format!("there are {}", known.join(", ")),
                    |near| format!("did you mean '{near}'?"),
                );
                return Err(Failure::message(format!("{file} has no policy, action or network '{name}'; {hint}")));
            }
        },
    };
    match (own.as_slice(), name) {
        ([only], _) => Ok((*only).to_owned()),
        ([], None) => Err(Failure::message(format!("{file} applies no network"))),
        ([], Some(name)) => Err(Failure::message(format!("'{name}' of {file} applies no network of its own"))),
        (several, None) => Err(Failure::message(format!(
            "{file} applies {} networks: name one ({}), or the policy that applies it ({})",
            several.len(),
            several.join(", "),
            names().join(", ")
        ))),
        (several, Some(name)) => Err(Failure::message(format!(
            "'{name}' of {file} applies {} networks: name one of {}",
            several.len(),
            several.join(", ")
        ))),
    }
}

/// The place of a property.
pub fn property_named(system: &System, name: &str) -> Result<usize, Failure> {
    let names = || system.properties.iter().map(|property| property.name.as_str()).collect::<Vec<_>>();
    names().iter().position(|other| *other == name).ok_or_else(|| {
        let hint = nearest(name, names())
            .map_or_else(|| format!("there are {}", names().join(", ")), |near| format!("did you mean '{near}'?"));
        Failure::message(format!("{} has no property '{name}'; {hint}", system.name))
    })
}
