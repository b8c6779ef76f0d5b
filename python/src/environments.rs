//! Open systems stepped from Python.

use std::path::PathBuf;
use std::sync::Arc;

use certus_lang::system::ResultRange;
use certus_lang::{LowerOptions, Open};
use certus_sim::{Answers, Ended, EnvironmentOptions, Environments, Shown};
use certus_tasks::{Loading, load_system};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{CertusError, failure, simulation};
use crate::simulate::{end_name, end_text, source};

/// What a step gives: observations, rewards, terminated, truncated, and the episodes that ended.
type Stepped<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Option<Bound<'py, PyList>>,
);

/// Copies of an open system; `certus.gym` wraps it.
#[pyclass(module = "certus._certus")]
pub struct RawEnvironments {
    inner: Environments,
    width: usize,
}

#[pymethods]
impl RawEnvironments {
    #[new]
    #[pyo3(signature = (path, settings, policy, outputs, count, max_steps, inputs, property, candidates, auto_reset, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        settings: Vec<(String, f64)>,
        policy: Option<String>,
        outputs: Vec<(String, usize)>,
        count: usize,
        max_steps: Option<usize>,
        inputs: &str,
        property: Option<&str>,
        candidates: usize,
        auto_reset: bool,
        threads: usize,
    ) -> PyResult<RawEnvironments> {
        let open = policy.map_or(Open::All, |name| Open::Named(vec![name]));
        let options = LowerOptions { overrides: settings, open, outputs, ..LowerOptions::default() };
        let loading = Loading { path, options, ..Loading::default() };
        let system = Arc::new(py.detach(|| load_system(&loading)).map_err(failure)?);
        let inputs = match inputs {
            "random" | "uniform" | "adversary" => source(&system, inputs, property, candidates)?,
            other => {
                return Err(CertusError::new_err(format!("inputs are 'random' or 'adversary', not '{other}'")));
            }
        };
        let options = EnvironmentOptions { count, max_steps, inputs, auto_reset, threads };
        let inner = py.detach(|| Environments::new(system, options)).map_err(simulation)?;
        let width = inner.system().networks[0].arguments;
        Ok(RawEnvironments { inner, width })
    }

    /// What there is to know of the spaces.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let system = self.inner.system();
        let network = &system.networks[0];
        let bounds = system.argument_bounds(0).map_err(|error| CertusError::new_err(error.to_string()))?;
        let dict = PyDict::new(py);
        dict.set_item("name", &system.name)?;
        dict.set_item("doc", &system.doc)?;
        dict.set_item("dt", system.dt)?;
        dict.set_item("network", &network.path)?;
        // Rounding to single precision is monotonic: what is between the ends stays between the rounded ends.
        dict.set_item("low", bounds.iter().map(|b| b.lo as f32).collect::<Vec<f32>>().into_pyarray(py))?;
        dict.set_item("high", bounds.iter().map(|b| b.hi as f32).collect::<Vec<f32>>().into_pyarray(py))?;
        dict.set_item("results", network.results)?;
        dict.set_item("labels", network.action.map(|action| &system.actions[action].labels))?;
        let (kind, ends) = match &network.range {
            ResultRange::Clamped { lower, upper } => ("clamped", Some((lower, upper))),
            ResultRange::Squashed => ("squashed", None),
            ResultRange::Free => ("free", None),
        };
        dict.set_item("range", kind)?;
        dict.set_item("clamp", ends)?;
        dict.set_item("init", (&system.init_box.0, &system.init_box.1))?;
        dict.set_item("sees_inputs", self.inner.sees_inputs())?;
        let names = system.states.iter().map(|s| (&*s.name, s.len, s.is_vector));
        dict.set_item("states", certus_sim::element_names(names))?;
        let (lower, upper): (Vec<f64>, Vec<f64>) =
            system.states.iter().flat_map(|s| s.lower.iter().copied().zip(s.upper.iter().copied())).unzip();
        dict.set_item("ranges", (lower, upper))?;
        Ok(dict)
    }

    /// How many copies.
    fn __len__(&self) -> usize {
        self.inner.count()
    }

    /// Begins all copies anew.
    #[pyo3(signature = (seed))]
    fn reset<'py>(&mut self, py: Python<'py>, seed: Option<u64>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let observations = PyArray2::<f32>::zeros(py, [self.inner.count(), self.width], false);
        self.inner.reset(seed, observations.readwrite().as_slice_mut()?).map_err(simulation)?;
        Ok(observations)
    }

    /// One step in every copy.
    fn step<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        let count = self.inner.count();
        let observations = PyArray2::<f32>::zeros(py, [count, self.width], false);
        let rewards = PyArray1::<f64>::zeros(py, count, false);
        let terminated = PyArray1::<bool>::zeros(py, count, false);
        let truncated = PyArray1::<bool>::zeros(py, count, false);
        let ended = {
            let (mut o, mut r) = (observations.readwrite(), rewards.readwrite());
            let (mut t, mut u) = (terminated.readwrite(), truncated.readwrite());
            let shown = Shown {
                observations: o.as_slice_mut()?,
                rewards: r.as_slice_mut()?,
                terminated: t.as_slice_mut()?,
                truncated: u.as_slice_mut()?,
            };
            let inner = &mut self.inner;
            if let Ok(actions) = actions.cast::<PyArrayDyn<f32>>() {
                let actions = actions.readonly();
                let answers = Answers::Single(actions.as_slice()?);
                py.detach(|| inner.step(answers, shown))
            } else if let Ok(actions) = actions.cast::<PyArrayDyn<i64>>() {
                let actions = actions.readonly();
                let answers = Answers::Labels(actions.as_slice()?);
                py.detach(|| inner.step(answers, shown))
            } else {
                let actions = actions.cast::<PyArrayDyn<f64>>()?.readonly();
                let answers = Answers::Double(actions.as_slice()?);
                py.detach(|| inner.step(answers, shown))
            }
        };
        let ended = ended.map_err(simulation)?;
        let ended = if ended.is_empty() { None } else { Some(ends(py, ended)?) };
        Ok((observations, rewards, terminated, truncated, ended))
    }

    /// The state of every copy.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = self.inner.system().state_len();
        self.inner.states().into_pyarray(py).reshape([self.inner.count(), width])
    }

    /// Queues a state for an episode that begins: behind those that wait, or first.
    #[pyo3(signature = (state, first=false))]
    fn push_start(&mut self, state: Vec<f64>, first: bool) -> PyResult<()> {
        self.inner.push_start(state, first).map_err(simulation)
    }

    /// How many queued states have not been used yet.
    fn queued(&self) -> usize {
        self.inner.queued()
    }

    /// Forgets the queued states.
    fn clear_starts(&mut self) {
        self.inner.clear_starts();
    }
}

fn ends(py: Python<'_>, ended: Vec<Ended>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for end in ended {
        let dict = PyDict::new(py);
        dict.set_item("copy", end.copy)?;
        dict.set_item("run", end.run)?;
        dict.set_item("steps", end.steps)?;
        dict.set_item("total_reward", end.total_reward)?;
        dict.set_item("end", end_name(&end.end))?;
        dict.set_item("text", end_text(&end.end))?;
        dict.set_item("observation", end.observation.into_pyarray(py))?;
        dict.set_item("state", end.state.into_pyarray(py))?;
        list.append(dict)?;
    }
    Ok(list)
}
