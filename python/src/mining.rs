//! Observations and specifications: the same tasks as on the command line.

use std::path::PathBuf;

use certus_tasks::mine::{Mine, document, mine as run};
use certus_tasks::observe::{Decider, Observe, World, run as run_observe};
use certus_tasks::output::Output;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calling::Caller;
use crate::convert::from_document;
use crate::errors::{CertusError, failure};
use crate::questions::effort;

/// See `certus.observe`.
#[pyfunction]
#[pyo3(signature = (world, decider, files, output, interval, seconds, seed))]
#[allow(clippy::too_many_arguments)]
pub fn observe(
    py: Python<'_>,
    world: &str,
    decider: &str,
    files: Vec<PathBuf>,
    output: PathBuf,
    interval: f64,
    seconds: f64,
    seed: u64,
) -> PyResult<u64> {
    let world = match world {
        "pensieve" => World::Pensieve,
        "aurora" => World::Aurora,
        other => return Err(CertusError::new_err(format!("{other}: expected `pensieve` or `aurora`"))),
    };
    let decider = Decider::named(world, decider).map_err(failure)?;
    let task = Observe { world, decider, files, interval, seconds, seed };
    py.detach(|| {
        let mut output = Output::open(Some(&output))?;
        let rows = run_observe(&task, &mut output)?;
        output.finish()?;
        Ok(rows)
    })
    .map_err(failure)
}

/// See `certus.mine`.
#[pyfunction]
#[pyo3(signature = (config, regions, specifications, baseline, search, networks, attack, cache, timeout, memory, threads, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub fn mine(
    py: Python<'_>,
    config: PathBuf,
    regions: Option<PathBuf>,
    specifications: Option<PathBuf>,
    baseline: Option<PathBuf>,
    search: bool,
    networks: Vec<PathBuf>,
    attack: bool,
    cache: Option<PathBuf>,
    timeout: Option<f64>,
    memory: usize,
    threads: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let effort = effort(timeout, memory, threads, seed)?;
    let task = Mine { config, regions, specifications, baseline, search, networks, attack, cache, effort };
    let mut caller = Caller::new(progress);
    let stop = caller.stop.clone();
    let mined = py.detach(|| {
        run(&task, &stop, |step| {
            caller.tick(|py| {
                let shown = PyDict::new(py);
                shown.set_item("doing", step.doing)?;
                shown.set_item("done", step.done)?;
                shown.set_item("of", step.of)?;
                shown.into_py_any(py)
            });
        })
    });
    caller.finish()?;
    match mined.map_err(failure)? {
        Some(mined) => from_document(py, &document(&task.networks, &mined)),
        None => Err(CertusError::new_err("the time was over before there was anything to show")),
    }
}
