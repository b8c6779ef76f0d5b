//! Why a property cannot be checked.

use std::fmt;

use certus_graph::GraphError;
use certus_solver::QueryError;

/// Why a property cannot be checked.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckError {
    /// The property is of a kind that the engine cannot take, or the question makes no sense.
    Unsupported(String),
    /// A graph could not be built.
    Graph(GraphError),
    /// A query could not be asked.
    Query(QueryError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Unsupported(message) => f.write_str(message),
            CheckError::Graph(error) => write!(f, "the loop cannot be unrolled: {error}"),
            CheckError::Query(error) => write!(f, "the question cannot be asked: {error}"),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<GraphError> for CheckError {
    fn from(error: GraphError) -> Self {
        CheckError::Graph(error)
    }
}

impl From<QueryError> for CheckError {
    fn from(error: QueryError) -> Self {
        CheckError::Query(error)
    }
}
