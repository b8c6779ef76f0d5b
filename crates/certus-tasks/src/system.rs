//! Systems, the networks in them, and their properties by name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use certus_graph::Graph;
use certus_graph::import::{ImportError, external_files, load_network_with};
use certus_lang::diagnostics::{Diagnostics, nearest};
use certus_lang::system::System;
use certus_lang::{LowerOptions, Networks, applied_networks, applied_networks_of, load_source, read_source};

use crate::{Failure, Source};

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

/// A system, and the files that it was made from.
pub struct Loaded {
    /// The system.
    pub system: System,
    /// The system's file, then the networks in the order in which they were read: digests are of the bytes that were parsed.
    pub sources: Vec<Source>,
}

/// Loads a system.
pub fn load_system(loading: &Loading) -> Result<System, Failure> {
    load(loading).map(|loaded| loaded.system)
}

/// Loads a system, and says from what. Every file is read once.
pub fn load(loading: &Loading) -> Result<Loaded, Failure> {
    let failed = |diagnostics: Diagnostics| Failure::Diagnostics(diagnostics.render(loading.colour));
    let source = read_source(&loading.path).map_err(failed)?;
    let digest = Some(certus_audit::digest(source.text.as_bytes()));
    let mut networks = ReadNetworks {
        folder: loading.path.parent().unwrap_or(Path::new(".")).to_owned(),
        replaced: HashMap::new(),
        loaded: HashMap::new(),
        sources: vec![Source { role: "system", name: None, path: loading.path.clone(), digest }],
    };
    if !loading.networks.is_empty() {
        let applied = applied_networks_of(&source).map_err(failed)?;
        for (name, file) in &loading.networks {
            networks.replaced.insert(network_named(&loading.path, &applied, Some(name))?, file.clone());
        }
    }
    let system = load_source(&source, &mut networks, &loading.options).map_err(failed)?;
    Ok(Loaded { system, sources: networks.sources })
}

/// Networks in files, each read once, with the digests of their bytes.
struct ReadNetworks {
    folder: PathBuf,
    replaced: HashMap<String, PathBuf>,
    loaded: HashMap<String, Arc<Graph>>,
    sources: Vec<Source>,
}

impl Networks for ReadNetworks {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        if let Some(graph) = self.loaded.get(path) {
            return Ok(Arc::clone(graph));
        }
        let file = self.replaced.get(path).cloned().unwrap_or_else(|| self.folder.join(path));
        let (graph, sources) = read_network(&file, Some(path)).map_err(|error| error.to_string())?;
        self.sources.extend(sources);
        let graph = Arc::new(graph);
        self.loaded.insert(path.to_owned(), Arc::clone(&graph));
        Ok(graph)
    }
}

/// Reads a network once: its graph, and its file with the digest of what was parsed. Weights that stand in other files are
/// picked out of these, so their digests take a pass of their own.
pub fn read_network(path: &Path, name: Option<&str>) -> Result<(Graph, Vec<Source>), ImportError> {
    let named = |role, path: PathBuf, digest| Source { role, name: name.map(str::to_owned), path, digest };
    let (mut digest, mut weights) = (None, Vec::new());
    let graph = load_network_with(path, |bytes| {
        digest = Some(certus_audit::digest(bytes));
        weights = weights_of(path, bytes);
    })?;
    let digest_of = |path: &PathBuf| std::fs::File::open(path).and_then(certus_audit::digest_of).ok();
    let mut sources = vec![named("network", path.to_owned(), digest)];
    sources.extend(weights.into_iter().map(|path| named("weights", path.clone(), digest_of(&path))));
    Ok((graph, sources))
}

/// The files in which weights of a network stand.
pub(crate) fn weights_of(path: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_onnx = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
    let files = if is_onnx { external_files(bytes) } else { Vec::new() };
    files.into_iter().map(|file| folder.join(file)).collect()
}

/// The files that loading a system would read, as far as its text says so: the system, and its networks.
pub(crate) fn files_of(loading: &Loading) -> Vec<(String, PathBuf)> {
    let mut files = vec![("the system".to_owned(), loading.path.clone())];
    files.extend(loading.networks.iter().map(|(name, file)| (format!("⟨networks={name}⟩"), file.clone())));
    let folder = loading.path.parent().unwrap_or(Path::new("."));
    // Faults of the file are told when it is loaded.
    let applied = applied_networks(&loading.path).unwrap_or_default();
    let named = applied.into_iter().flat_map(|(_, paths)| paths);
    files.extend(named.map(|path| (format!("the network \"{path}\" of the system"), folder.join(path))));
    files
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
