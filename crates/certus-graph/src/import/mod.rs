//! Import of trained networks: ONNX and NNet files become [`Graph`]s.
//!
//! *What is promised.* The graph's real-valued function is the function that the file defines: weights are converted
//! exactly, and whatever an operator is rewritten into is equal to it over the reals. A leading axis that the file
//! leaves open is the batch and becomes one point. A model that cannot be imported is refused with *all* of its
//! unsupported nodes.
//!
//! *What is not trusted.* A file may be truncated, damaged or made to harm: no length or shape in it leads to an
//! allocation before it was compared with what the file holds, recursion does not depend on the file, and what a
//! small file can ask for is bounded (`limits`).
//!
//! *How.* `wire` reads protocol buffers, `proto` ONNX's messages, `weights` stored tensors; `schedule` orders
//! the nodes; `model` lowers one after the other with the functions in `ops`, folding what does not depend on the
//! network's inputs. NNet files are read by `nnet`.

mod error;
mod limits;
mod literal;
mod lowering;
mod model;
mod nnet;
mod ops;
mod proto;
mod schedule;
mod weights;
mod wire;

use std::path::Path;

pub use error::{ImportError, NodeLabel, UnsupportedNode};

use crate::Graph;

/// Files beyond this size are refused; it is also the largest that protocol buffers allow.
const MAX_FILE: u64 = 1 << 31;

/// Loads a network from a file; its name tells the format: `.onnx` or `.nnet`.
pub fn load_network(path: &Path) -> Result<Graph, ImportError> {
    load_network_with(path, |_| ())
}

/// The same; `look` sees the bytes that the network is made of, which are read once.
pub fn load_network_with(path: &Path, look: impl FnOnce(&[u8])) -> Result<Graph, ImportError> {
    load(path, look).map_err(|error| error.in_file(path))
}

fn load(path: &Path, look: impl FnOnce(&[u8])) -> Result<Graph, ImportError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let read = || {
        let metadata = std::fs::metadata(path).map_err(ImportError::Io)?;
        if !metadata.is_file() {
            return Err(ImportError::Format("this is not a regular file".to_owned()));
        }
        let size = metadata.len();
        if size > MAX_FILE {
            return Err(ImportError::Limit(format!("the file has {size} bytes, more than {MAX_FILE}")));
        }
        let bytes = std::fs::read(path).map_err(ImportError::Io)?;
        look(&bytes);
        Ok(bytes)
    };
    match extension.to_ascii_lowercase().as_str() {
        "onnx" => load_onnx(&read()?, Some(path.parent().unwrap_or(Path::new("")))),
        "nnet" => load_nnet(&String::from_utf8_lossy(&read()?)),
        _ => {
            let message = "not a network that can be read: the name must end in .onnx or .nnet".to_owned();
            Err(ImportError::Format(message))
        }
    }
}

/// Loads a network from the bytes of an ONNX file. Weights that stand in other files are looked for in `base_dir`, and
/// never outside of it; without it such a model is refused.
pub fn load_onnx(bytes: &[u8], base_dir: Option<&Path>) -> Result<Graph, ImportError> {
    model::import(bytes, base_dir)
}

/// The files beside an ONNX file in which weights of it stand, as it names them; none if the bytes are no ONNX file.
pub fn external_files(bytes: &[u8]) -> Vec<String> {
    model::external_files(bytes)
}

/// Loads a network from the text of an NNet file.
///
/// The graph takes inputs and gives outputs in the units of the file: the normalisation that the file states, (x −
/// mean) / range for inputs and y · range + mean for outputs, is part of it. The minima and maxima of the inputs,
/// which the format has as well, only say where the network was trained: inputs are not clipped to them, and whoever
/// asks a question gives its own region.
pub fn load_nnet(text: &str) -> Result<Graph, ImportError> {
    nnet::import(text)
}
