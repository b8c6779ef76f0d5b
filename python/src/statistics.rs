//! What engines did: phases and counts.

use certus_tasks::statistics;
use pyo3::prelude::*;

/// Begins to collect.
#[pyfunction]
pub fn collect() {
    statistics::collect();
}

/// What happened since then, as JSON and as a table.
#[pyfunction]
pub fn collected() -> (String, String) {
    let statistics = statistics::collected();
    (statistics.to_json().to_string(), statistics.to_string())
}
