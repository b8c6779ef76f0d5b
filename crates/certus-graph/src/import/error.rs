//! What can go wrong while a network is read, said so that the reader knows which part of which file is meant.

use std::fmt;
use std::path::{Path, PathBuf};

/// A network could not be imported.
#[derive(Debug)]
pub enum ImportError {
    /// An error in the file at `path`.
    File {
        /// The network's file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ImportError>,
    },
    /// The file could not be read.
    Io(std::io::Error),
    /// The file name does not tell a format that can be read.
    Format(String),
    /// The bytes are not an ONNX model: truncated, damaged, or something else altogether.
    Malformed {
        /// Which part was being read.
        part: &'static str,
        /// What was wrong there.
        message: String,
    },
    /// A weight or constant is unusable; the message names it.
    Tensor {
        /// The tensor's name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// A node breaks the rules of its operator.
    Node {
        /// The node, as [`NodeLabel`] prints it.
        node: NodeLabel,
        /// What is wrong with it.
        message: String,
    },
    /// The model as a whole is inconsistent: undefined or duplicate names, a cycle, a missing shape.
    Model(String),
    /// The model needs operators, or uses of operators, that Certus does not have. All of them are listed.
    Unsupported(Vec<UnsupportedNode>),
    /// A bound on the size of models was passed.
    Limit(String),
    /// A line of an NNet file is wrong.
    Nnet {
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// A node as its messages call it: its name if it has one, else its first output, and its operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLabel {
    /// The node's name, or that of its first output.
    pub name: String,
    /// The operator, with its domain unless that is ONNX's own.
    pub operator: String,
}

/// A node that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedNode {
    /// Which node.
    pub node: NodeLabel,
    /// The shapes of its inputs; `None` where an earlier unsupported node hides the shape.
    pub input_shapes: Vec<Option<Vec<usize>>>,
    /// What about it is not supported.
    pub reason: String,
}

/// No message lists more nodes than this; the error value itself holds all.
const LISTED: usize = 100;

impl ImportError {
    /// This error, said to be of the file at `path`.
    pub fn in_file(self, path: &Path) -> Self {
        ImportError::File { path: path.to_path_buf(), source: Box::new(self) }
    }

    /// The unsupported nodes, if that is what the error is about.
    pub fn unsupported(&self) -> Option<&[UnsupportedNode]> {
        match self {
            ImportError::File { source, .. } => source.unsupported(),
            ImportError::Unsupported(nodes) => Some(nodes),
            _ => None,
        }
    }

    pub(super) fn tensor(name: &str, message: impl Into<String>) -> Self {
        ImportError::Tensor { name: name.to_owned(), message: message.into() }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImportError::File { path, source } => write!(f, "{}: {source}", path.display()),
            ImportError::Io(error) => write!(f, "cannot be read: {error}"),
            ImportError::Format(message) | ImportError::Model(message) => f.write_str(message),
            ImportError::Malformed { part, message } => {
                write!(f, "not a valid ONNX model: {message} (while reading {part})")
            }
            ImportError::Tensor { name, message } => write!(f, "tensor `{name}`: {message}"),
            ImportError::Node { node, message } => write!(f, "node {node}: {message}"),
            ImportError::Unsupported(nodes) => list_unsupported(f, nodes),
            ImportError::Limit(message) => write!(f, "too large: {message}"),
            ImportError::Nnet { line, message } => write!(f, "line {line}: {message}"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ImportError::File { source, .. } => Some(source.as_ref()),
            ImportError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for NodeLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.name, self.operator)
    }
}

fn list_unsupported(f: &mut fmt::Formatter<'_>, nodes: &[UnsupportedNode]) -> fmt::Result {
    let plural = if nodes.len() == 1 { "node is" } else { "nodes are" };
    write!(f, "{} {plural} not supported:", nodes.len())?;
    for unsupported in nodes.iter().take(LISTED) {
        write!(f, "\n  {}", unsupported.node)?;
        if !unsupported.input_shapes.is_empty() {
            f.write_str(" of ")?;
        }
        for (index, shape) in unsupported.input_shapes.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            match shape {
                Some(shape) => write!(f, "{separator}{shape:?}")?,
                None => write!(f, "{separator}[?]")?,
            }
        }
        write!(f, ": {}", unsupported.reason)?;
    }
    if nodes.len() > LISTED {
        write!(f, "\n  and {} more", nodes.len() - LISTED)?;
    }
    Ok(())
}
