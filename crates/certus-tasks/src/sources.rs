//! Files that are read once: what is digested is what is parsed.
//!
//! A path may lead to something else a moment later (a pipe, a link, a file that somebody edits). So whoever has to say what
//! its answer is about reads every file into memory, digests these bytes, and parses the same bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use certus_graph::Graph;
use certus_graph::import::{load_nnet, load_onnx};
use certus_lang::diagnostics::Diagnostics;
use certus_lang::system::System;
use certus_lang::{LowerOptions, Networks, applied_networks_of, load_source};

use crate::system::network_named;
use crate::{Failure, Loading, Source};

/// Files beyond this size are not read.
const LARGEST: u64 = 4 << 30;

/// A file as it was read.
#[derive(Debug)]
pub struct Contents {
    /// Where it was.
    pub path: PathBuf,
    /// What was in it.
    pub bytes: Vec<u8>,
    /// The digest of that.
    pub digest: String,
}

/// The files that were read, each once.
#[derive(Debug, Default)]
pub struct Sources {
    read: HashMap<PathBuf, Arc<Contents>>,
}

impl Sources {
    /// What a file contains, or contained when it was first asked for.
    pub fn read(&mut self, path: &Path) -> Result<Arc<Contents>, Failure> {
        if let Some(known) = self.read.get(path) {
            return Ok(Arc::clone(known));
        }
        let failed = |error: std::io::Error| Failure::reading(path, &error);
        let mut bytes = Vec::new();
        File::open(path).map_err(failed)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST {
            return Err(Failure::message(format!("{} has more than {LARGEST} bytes", path.display())));
        }
        let contents = Arc::new(Contents { path: path.to_owned(), digest: certus_audit::digest(&bytes), bytes });
        self.read.insert(path.to_owned(), Arc::clone(&contents));
        Ok(contents)
    }
}

impl Contents {
    /// As the source of an outcome.
    pub fn source(&self, role: &'static str, name: Option<&str>) -> Source {
        let name = name.map(str::to_owned);
        Source { role, name, path: self.path.clone(), digest: Some(self.digest.clone()) }
    }

    /// The text of a system.
    fn system(&self) -> Result<Arc<certus_lang::Source>, Failure> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(certus_lang::Source::new(self.path.display().to_string(), text)),
            Err(_) => Err(Failure::message(format!("{}: the text is not UTF-8", self.path.display()))),
        }
    }

    /// The network that it is. Weights in other files, which the digest would not cover, are refused.
    pub fn network(&self) -> Result<Graph, Failure> {
        let extension = self.path.extension().and_then(|own| own.to_str()).unwrap_or_default().to_ascii_lowercase();
        let graph = match extension.as_str() {
            "onnx" => load_onnx(&self.bytes, None).map_err(|error| error.to_string()),
            "nnet" => load_nnet(&String::from_utf8_lossy(&self.bytes)).map_err(|error| error.to_string()),
            _ => Err("not a network that can be read: the name must end in .onnx or .nnet".to_owned()),
        };
        graph.map_err(|error| Failure::message(format!("{}: {error}", self.path.display())))
    }
}

/// A system whose every byte is known.
pub(crate) struct SealedSystem {
    pub(crate) system: System,
    pub(crate) file: Arc<Contents>,
    /// The networks that it applies, as it names them.
    pub(crate) networks: Vec<(String, Arc<Contents>)>,
    text: Arc<certus_lang::Source>,
}

/// Which files may stand for the networks of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// One that is not named is where the system says.
    AsWritten,
    /// All must be named.
    Refused,
}

/// Why a sealed system could not be loaded.
pub(crate) enum Unsealed {
    Failure(Failure),
    /// Nobody says which network this is.
    Unnamed(String),
}

impl From<Failure> for Unsealed {
    fn from(failure: Failure) -> Unsealed {
        Unsealed::Failure(failure)
    }
}

/// Loads a system from files that are read once.
pub(crate) fn load_sealed(
    loading: &Loading,
    unnamed: Unnamed,
    sources: &mut Sources,
) -> Result<SealedSystem, Unsealed> {
    let failed = |diagnostics: Diagnostics| Failure::Diagnostics(diagnostics.render(loading.colour));
    let file = sources.read(&loading.path)?;
    let text = file.system()?;
    let applied = applied_networks_of(&text).map_err(failed)?;
    let mut named = HashMap::new();
    for (name, path) in &loading.networks {
        named.insert(network_named(&loading.path, &applied, Some(name))?, path.clone());
    }
    let folder = loading.path.parent().unwrap_or(Path::new("."));
    let mut networks = Vec::new();
    for name in applied.into_iter().flat_map(|(_, names)| names) {
        if networks.iter().any(|(own, _): &(String, Arc<Contents>)| *own == name) {
            continue;
        }
        let path = match (named.remove(&name), unnamed) {
            (Some(path), _) => path,
            (None, Unnamed::AsWritten) => folder.join(&name),
            (None, Unnamed::Refused) => return Err(Unsealed::Unnamed(name)),
        };
        let contents = sources.read(&path)?;
        networks.push((name, contents));
    }
    let mut given = Given { contents: networks.clone(), loaded: HashMap::new() };
    let system = load_source(&text, &mut given, &loading.options).map_err(failed)?;
    Ok(SealedSystem { system, file, networks, text })
}

impl SealedSystem {
    /// The values that the file itself gives to its parameters, if it means something without other settings.
    pub(crate) fn own_parameters(&self) -> Option<Vec<(String, f64)>> {
        let mut given = Given { contents: self.networks.clone(), loaded: HashMap::new() };
        let system = load_source(&self.text, &mut given, &LowerOptions::default()).ok()?;
        Some(system.params.into_iter().map(|own| (own.name, own.value)).collect())
    }

    /// All files.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let networks = self.networks.iter().map(|(_, contents)| contents.source("network", None));
        std::iter::once(self.file.source("system", None)).chain(networks).collect()
    }
}

/// Networks from bytes that were read before.
struct Given {
    contents: Vec<(String, Arc<Contents>)>,
    loaded: HashMap<String, Arc<Graph>>,
}

impl Networks for Given {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        if let Some(graph) = self.loaded.get(path) {
            return Ok(Arc::clone(graph));
        }
        let contents = self.contents.iter().find(|(name, _)| name == path);
        let (_, contents) = contents.ok_or_else(|| format!("the network {path} was not read"))?;
        let graph = contents.network().map_err(|failure| failure.to_string())?;
        Ok(Arc::clone(self.loaded.entry(path.to_owned()).or_insert(Arc::new(graph))))
    }
}
