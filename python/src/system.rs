//! Systems as Python sees them.

use std::path::PathBuf;
use std::sync::Arc;

use certus_lang::LowerOptions;
use certus_lang::system::{ActionKind, Expect, System, Variable};
use certus_tasks::{Loaded, Loading, Source, load};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::failure;

/// A file: role, name, path, digest.
pub type Origin = (&'static str, Option<String>, PathBuf, Option<String>);

/// Files as Python sees them.
pub fn origins(sources: &[Source]) -> Vec<Origin> {
    let origin = |own: &Source| (own.role, own.name.clone(), own.path.clone(), own.digest.clone());
    sources.iter().map(origin).collect()
}

/// A loaded system; `certus.System` wraps it.
#[pyclass(module = "certus._certus", frozen)]
pub struct RawSystem {
    pub system: Arc<System>,
    sources: Vec<Source>,
}

#[pymethods]
impl RawSystem {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        settings: Vec<(String, f64)>,
        networks: Vec<(String, PathBuf)>,
    ) -> PyResult<RawSystem> {
        let options = LowerOptions { overrides: settings, ..LowerOptions::default() };
        let loading = Loading { path, options, networks, colour: false };
        let Loaded { system, sources } = py.detach(|| load(&loading)).map_err(failure)?;
        Ok(RawSystem { system: Arc::new(system), sources })
    }

    /// The files that it was read from: role, name as the system writes it, path, digest.
    #[getter]
    fn sources(&self) -> Vec<Origin> {
        origins(&self.sources)
    }

    /// Everything there is to say about it.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        describe(py, &self.system)
    }
}

/// The path, as written, of the network that a policy or an action of a file applies.
#[pyfunction]
pub fn network_of(path: PathBuf, name: Option<String>) -> PyResult<String> {
    certus_tasks::network_of(&path, name.as_deref(), false).map_err(failure)
}

fn variables<'py>(py: Python<'py>, variables: &[Variable]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for variable in variables {
        let dict = PyDict::new(py);
        dict.set_item("name", &variable.name)?;
        dict.set_item("size", variable.len)?;
        dict.set_item("is_vector", variable.is_vector)?;
        dict.set_item("lower", &variable.lower)?;
        dict.set_item("upper", &variable.upper)?;
        dict.set_item("doc", &variable.doc)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// A list with one dictionary per item.
fn each<'py, T>(
    py: Python<'py>,
    items: &[T],
    fill: impl Fn(&T, &Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        let dict = PyDict::new(py);
        fill(item, &dict)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn describe<'py>(py: Python<'py>, system: &System) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("name", &system.name)?;
    all.set_item("doc", &system.doc)?;
    all.set_item("dt", system.dt)?;
    all.set_item("states", variables(py, &system.states)?)?;
    all.set_item("inputs", variables(py, &system.inputs)?)?;
    all.set_item("init", (&system.init_box.0, &system.init_box.1))?;
    all.set_item("init_is_box", system.init_is_box)?;
    all.set_item("has_reward", system.roles.reward.is_some())?;
    all.set_item("has_terminal", system.roles.terminal.is_some())?;
    all.set_item("warnings", (!system.warnings.is_empty()).then(|| system.warnings.render(false)))?;
    let chances = each(py, &system.chances, |chance, dict| {
        dict.set_item("name", &chance.name)?;
        dict.set_item("labels", &chance.labels)?;
        dict.set_item("probabilities", &chance.probabilities)?;
        dict.set_item("doc", &chance.doc)
    })?;
    all.set_item("chances", chances)?;
    let policies = each(py, &system.policies, |policy, dict| {
        dict.set_item("name", &policy.name)?;
        dict.set_item("size", policy.len)?;
        dict.set_item("networks", &policy.networks)?;
        dict.set_item("doc", &policy.doc)
    })?;
    all.set_item("policies", policies)?;
    let actions = each(py, &system.actions, |action, dict| {
        dict.set_item("name", &action.name)?;
        dict.set_item("labels", &action.labels)?;
        dict.set_item("is_random", action.kind == ActionKind::Softmax)?;
        dict.set_item("networks", &action.networks)?;
        dict.set_item("doc", &action.doc)
    })?;
    all.set_item("actions", actions)?;
    let params = each(py, &system.params, |param, dict| {
        dict.set_item("name", &param.name)?;
        dict.set_item("value", param.value)?;
        dict.set_item("lower", param.lower)?;
        dict.set_item("upper", param.upper)?;
        dict.set_item("doc", &param.doc)
    })?;
    all.set_item("params", params)?;
    let properties = each(py, &system.properties, |property, dict| {
        dict.set_item("name", &property.name)?;
        dict.set_item("text", &property.source)?;
        dict.set_item("doc", &property.doc)?;
        dict.set_item("is_probability", property.probability().is_some())?;
        let expect = property.expect.map(|expect| match expect {
            Expect::Holds => "holds",
            Expect::Violated => "violated",
        });
        dict.set_item("expect", expect)
    })?;
    all.set_item("properties", properties)?;
    Ok(all)
}
