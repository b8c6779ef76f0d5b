//! Questions about networks: the same tasks as on the command line.

use std::path::PathBuf;
use std::time::Instant;

use certus_tasks::audit::Judgement;
use certus_tasks::{Asked, Effort, Standing, deadline_after};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calling::Caller;
use crate::convert::{from_document, from_standing};
use crate::errors::failure;

pub fn effort(timeout: Option<f64>, memory: usize, threads: usize, seed: u64) -> PyResult<Effort> {
    let deadline = deadline_after(timeout, "timeout").map_err(failure)?;
    Ok(Effort { deadline, timeout, threads, seed, memory: memory.saturating_mul(1 << 20) })
}

fn tell(caller: &mut Caller, standing: Standing) {
    caller.tick(|py| from_standing(py, &standing)?.into_py_any(py));
}

/// See `certus.verify`.
#[pyfunction]
#[pyo3(signature = (file, specification, networks, certificate, resume, save_query, timeout, memory, threads, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub fn verify<'py>(
    py: Python<'py>,
    file: PathBuf,
    specification: Option<PathBuf>,
    networks: Vec<(String, PathBuf)>,
    certificate: Option<PathBuf>,
    resume: Option<PathBuf>,
    save_query: Option<PathBuf>,
    timeout: Option<f64>,
    memory: usize,
    threads: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let started = Instant::now();
    let task = certus_tasks::verify::Verify {
        asked: Asked { file, specification, networks },
        certificate,
        resume,
        save_query,
        effort: effort(timeout, memory, threads, seed)?,
    };
    let mut caller = Caller::new(progress);
    let stop = caller.stop.clone();
    let verified = py.detach(|| certus_tasks::verify::verify(&task, &stop, |standing| tell(&mut caller, standing)));
    caller.finish()?;
    let verified = verified.map_err(failure)?;
    let result = from_standing(py, &verified.standing)?;
    result.set_item("verdict", verified.verdict())?;
    result.set_item("reason", verified.reason())?;
    result.set_item("relative_to", verified.relative_to())?;
    result.set_item("provenance", from_document(py, &verified.provenance(&task).document())?)?;
    if let Some((question, witness)) = verified.witness() {
        result.set_item("witness", from_document(py, &question.assignment(witness))?)?;
        result.set_item("inputs", &witness.inputs)?;
        result.set_item("outputs", &witness.outputs)?;
    }
    let note = (!verified.is_decided()).then(|| verified.undecided(task.resume.as_deref()));
    result.set_item("note", note)?;
    let certificate = task.certificate.as_ref().filter(|_| verified.verdict() == "unsat");
    result.set_item("certificate", certificate)?;
    result.set_item("warnings", verified.finish())?;
    result.set_item("seconds", started.elapsed().as_secs_f64())?;
    Ok(result)
}

/// See `certus.optimise`.
#[pyfunction]
#[pyo3(signature = (file, specification, networks, expression, minimise, gap, timeout, memory, threads, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub fn optimise<'py>(
    py: Python<'py>,
    file: PathBuf,
    specification: Option<PathBuf>,
    networks: Vec<(String, PathBuf)>,
    expression: String,
    minimise: bool,
    gap: f64,
    timeout: Option<f64>,
    memory: usize,
    threads: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let started = Instant::now();
    let task = certus_tasks::optimise::Optimise {
        asked: Asked { file, specification, networks },
        expression,
        minimise,
        gap,
        effort: effort(timeout, memory, threads, seed)?,
    };
    let mut caller = Caller::new(progress);
    let stop = caller.stop.clone();
    let found = py.detach(|| certus_tasks::optimise::optimise(&task, &stop, |standing| tell(&mut caller, standing)));
    caller.finish()?;
    let found = found.map_err(failure)?;
    let result = from_standing(py, &found.standing)?;
    result.set_item("feasible", if found.empty { Some(false) } else { found.witness.as_ref().map(|_| true) })?;
    result.set_item("lower", (!found.empty).then_some(found.lower))?;
    result.set_item("upper", (!found.empty).then_some(found.upper))?;
    result.set_item("reached", found.reached)?;
    result.set_item("reason", &found.reason)?;
    result.set_item("relative_to", certus_tasks::optimise::RELATIVE_TO)?;
    result.set_item("provenance", from_document(py, &found.provenance(&task).document())?)?;
    if let (Some(question), Some(witness)) = (&found.question, &found.witness) {
        result.set_item("point", from_document(py, &question.assignment(witness))?)?;
        result.set_item("inputs", &witness.inputs)?;
        result.set_item("outputs", &witness.outputs)?;
    }
    result.set_item("seconds", started.elapsed().as_secs_f64())?;
    Ok(result)
}

/// See `certus.audit`.
#[pyfunction]
#[pyo3(signature = (certificate, network, specification, query, timeout, progress))]
pub fn audit<'py>(
    py: Python<'py>,
    certificate: PathBuf,
    network: Option<PathBuf>,
    specification: Option<PathBuf>,
    query: Option<PathBuf>,
    timeout: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let deadline = deadline_after(timeout, "timeout").map_err(failure)?;
    let task = certus_tasks::audit::Audit { certificate, network, specification, query, deadline };
    let mut caller = Caller::new(progress);
    let stop = caller.stop.clone();
    let judged =
        py.detach(|| certus_tasks::audit::audit(&task, &stop, |leaves| caller.tick(|py| leaves.into_py_any(py))));
    caller.finish()?;
    let (judgement, leaves) = judged.map_err(failure)?;
    let result = PyDict::new(py);
    result.set_item("leaves", leaves)?;
    match judgement {
        Some(Judgement::Accepted(own)) => {
            result.set_item("verdict", "accepted")?;
            result.set_item("claim", &own.claim)?;
            result.set_item("files", files(&own.sources))?;
            result.set_item("about", about(py, &own.particulars)?)?;
            result.set_item("cases", own.summary.cases)?;
            result.set_item("leaves", own.summary.leaves)?;
            result.set_item("refinements", own.summary.refinements)?;
            result.set_item("records", own.summary.records)?;
        }
        Some(Judgement::Shield(own)) => {
            result.set_item("verdict", "accepted")?;
            result.set_item("claim", &own.claim)?;
            result.set_item("files", files(&own.sources))?;
            result.set_item("about", about(py, &own.particulars)?)?;
            result.set_item("branches", own.accepted.branches.len())?;
            result.set_item("parts", own.accepted.boxes)?;
        }
        Some(Judgement::Rejected { line, reason }) => {
            result.set_item("verdict", "rejected")?;
            result.set_item("line", (line > 0).then_some(line))?;
            result.set_item("reason", reason)?;
        }
        None => result.set_item("verdict", "unknown")?,
    }
    Ok(result)
}

/// The role, place and digest of each file.
fn files(sources: &[certus_tasks::Source]) -> Vec<(&str, &PathBuf, Option<&String>)> {
    sources.iter().map(|source| (source.role, &source.path, source.digest.as_ref())).collect()
}

/// What an accepted certificate is relative to.
fn about<'py>(py: Python<'py>, particulars: &[(&'static str, String)]) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    for (name, text) in particulars {
        about.set_item(name.replace(' ', "_"), text)?;
    }
    Ok(about)
}
