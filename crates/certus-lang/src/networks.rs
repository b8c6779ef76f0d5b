//! Where networks come from.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use certus_graph::Graph;

/// A source of networks by the path that a file names them with.
pub trait Networks {
    /// The network at a path, or why there is none.
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String>;
}

/// Networks in files, relative to a folder; each is read once.
#[derive(Debug, Default)]
pub struct FileNetworks {
    base_dir: PathBuf,
    replaced: HashMap<String, PathBuf>,
    loaded: HashMap<String, Arc<Graph>>,
}

impl FileNetworks {
    /// Networks relative to `base_dir`.
    pub fn new(base_dir: impl Into<PathBuf>) -> FileNetworks {
        FileNetworks { base_dir: base_dir.into(), ..FileNetworks::default() }
    }

    /// Takes another file in place of the one that is written as `path`.
    pub fn replace(&mut self, path: impl Into<String>, file: impl Into<PathBuf>) {
        let path = path.into();
        self.loaded.remove(&path);
        self.replaced.insert(path, file.into());
    }
}

impl Networks for FileNetworks {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        if let Some(graph) = self.loaded.get(path) {
            return Ok(Arc::clone(graph));
        }
        let full = self.replaced.get(path).cloned().unwrap_or_else(|| self.base_dir.join(path));
        let graph = certus_graph::import::load_network(&full).map_err(|e| e.to_string())?;
        let graph = Arc::new(graph);
        self.loaded.insert(path.to_owned(), Arc::clone(&graph));
        Ok(graph)
    }
}
