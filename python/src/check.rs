//! Model checking: the same task as on the command line.

use std::path::PathBuf;

use certus_lang::LowerOptions;
use certus_tasks::Loading;
use certus_tasks::check::{Check, Where, check as run, document};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calling::Caller;
use crate::convert::from_document;
use crate::errors::{CertusError, failure};
use crate::questions::effort;

fn tell(caller: &mut Caller, place: &Where) {
    caller.tick(|py| {
        let shown = PyDict::new(py);
        shown.set_item("property", &place.property)?;
        if let Some(depth) = place.depth {
            shown.set_item("steps", depth.steps)?;
            shown.set_item("loop_to", depth.loop_to)?;
            shown.set_item("verified", depth.progress.closed)?;
            shown.set_item("open", depth.progress.open)?;
        }
        shown.into_py_any(py)
    });
}

/// See `certus.check`.
#[pyfunction]
#[pyo3(signature = (file, properties, engine, steps, certificate, settings, networks, timeout, memory, threads, seed, assume_no_model_errors, progress))]
#[allow(clippy::too_many_arguments)]
pub fn check(
    py: Python<'_>,
    file: PathBuf,
    properties: Vec<String>,
    engine: &str,
    steps: Option<usize>,
    certificate: Option<PathBuf>,
    settings: Vec<(String, f64)>,
    networks: Vec<(String, PathBuf)>,
    timeout: Option<f64>,
    memory: usize,
    threads: usize,
    seed: u64,
    assume_no_model_errors: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let task = Check {
        system: Loading {
            path: file,
            options: LowerOptions { overrides: settings, ..LowerOptions::default() },
            networks,
            colour: false,
        },
        properties,
        engine: engine.parse().map_err(CertusError::new_err)?,
        grid: certus_tasks::check::GridOptions::default(),
        assume_no_model_errors,
        steps,
        certificate,
        effort: effort(timeout, memory, threads, seed)?,
    };
    let mut caller = Caller::new(progress);
    let stop = caller.stop.clone();
    let checked = py.detach(|| run(&task, &stop, |place| tell(&mut caller, place)));
    caller.finish()?;
    let checked = checked.map_err(failure)?;
    let Some(system) = &checked.system else {
        return Err(CertusError::new_err("the time was over before the system was loaded"));
    };
    from_document(py, &document(system, &checked.results, &checked.provenance))
}
