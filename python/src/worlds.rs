//! Worlds that traces or random processes drive, stepped from Python.

use std::path::PathBuf;
use std::sync::Arc;

use certus_traces::aurora::{Aurora, Ranges};
use certus_traces::deeprm::{DeepRm, Ending, Settings as ClusterSettings, View};
use certus_traces::pensieve::{Pensieve, Qoe, Settings as PlayerSettings, Start, Video};
use certus_traces::traces::{Broadband, Cellular, Format, Trace, read_file};
use certus_traces::{ActionSpace, Batch, Environment, VectorEnvironment};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{CertusError, SimulationError};

/// What a step gives: observations, rewards, terminated, truncated, and the last observations if an episode ended.
type Stepped<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Option<Bound<'py, PyArray2<f32>>>,
);

type AnyWorld = Box<dyn Environment + Send + Sync>;

fn wrong(error: impl ToString) -> PyErr {
    SimulationError::new_err(error.to_string())
}

/// Bandwidth traces: generated, or read from a file.
#[pyclass(module = "certus.worlds", frozen)]
pub struct Traces {
    inner: Arc<[Trace]>,
}

impl Traces {
    fn generated(
        name: &str,
        count: usize,
        seed: u64,
        one: impl Fn(&str, u64) -> Result<Trace, PyErr>,
    ) -> PyResult<Traces> {
        let traces: PyResult<Vec<Trace>> =
            (0..count as u64).map(|k| one(&format!("{name} {}", seed.wrapping_add(k)), seed.wrapping_add(k))).collect();
        Ok(Traces { inner: traces?.into() })
    }
}

#[pymethods]
impl Traces {
    /// Traces like those of a phone that moves; trace k is that of seed + k.
    #[staticmethod]
    #[pyo3(signature = (count, seed=0, *, duration=None, step=None, fades=None, fade_length=None, fade_factor=None, outages=None, outage_length=None))]
    #[allow(clippy::too_many_arguments)]
    fn cellular(
        count: usize,
        seed: u64,
        duration: Option<f64>,
        step: Option<f64>,
        fades: Option<f64>,
        fade_length: Option<f64>,
        fade_factor: Option<f64>,
        outages: Option<f64>,
        outage_length: Option<f64>,
    ) -> PyResult<Traces> {
        let usual = Cellular::default();
        let process = Cellular {
            duration: duration.unwrap_or(usual.duration),
            step: step.unwrap_or(usual.step),
            fades: fades.unwrap_or(usual.fades),
            fade_length: fade_length.unwrap_or(usual.fade_length),
            fade_factor: fade_factor.unwrap_or(usual.fade_factor),
            outages: outages.unwrap_or(usual.outages),
            outage_length: outage_length.unwrap_or(usual.outage_length),
            ..usual
        };
        Traces::generated("cellular", count, seed, |name, seed| process.generate(name, seed).map_err(wrong))
    }

    /// Traces like those of a fixed line; trace k is that of seed + k.
    #[staticmethod]
    #[pyo3(signature = (count, seed=0, *, duration=None, step=None, level=None, level_sigma=None, noise=None, drops=None, drop_length=None))]
    #[allow(clippy::too_many_arguments)]
    fn broadband(
        count: usize,
        seed: u64,
        duration: Option<f64>,
        step: Option<f64>,
        level: Option<f64>,
        level_sigma: Option<f64>,
        noise: Option<f64>,
        drops: Option<f64>,
        drop_length: Option<f64>,
    ) -> PyResult<Traces> {
        let usual = Broadband::default();
        let process = Broadband {
            duration: duration.unwrap_or(usual.duration),
            step: step.unwrap_or(usual.step),
            level: level.unwrap_or(usual.level),
            level_sigma: level_sigma.unwrap_or(usual.level_sigma),
            noise: noise.unwrap_or(usual.noise),
            drops: drops.unwrap_or(usual.drops),
            drop_length: drop_length.unwrap_or(usual.drop_length),
            ..usual
        };
        Traces::generated("broadband", count, seed, |name, seed| process.generate(name, seed).map_err(wrong))
    }

    /// The traces of a file: `columns` (seconds, Mbit/s), `packed` (many of those), `mahimahi` or `csv`.
    #[staticmethod]
    #[pyo3(signature = (path, format="columns", bin_ms=100))]
    fn read(path: PathBuf, format: &str, bin_ms: u64) -> PyResult<Traces> {
        let format = match format {
            "columns" => Format::Columns,
            "packed" => Format::Packed,
            "mahimahi" => Format::Mahimahi { bin_ms },
            "csv" => Format::Csv,
            other => {
                let known = "'columns', 'packed', 'mahimahi' or 'csv'";
                return Err(CertusError::new_err(format!("a file of traces is {known}, not '{other}'")));
            }
        };
        Ok(Traces { inner: read_file(&path, format).map_err(wrong)?.into() })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __add__(&self, other: &Traces) -> Traces {
        Traces { inner: self.inner.iter().chain(other.inner.iter()).cloned().collect() }
    }

    fn __repr__(&self) -> String {
        format!("<{} traces>", self.inner.len())
    }

    /// The names.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.iter().map(|trace| trace.name().to_owned()).collect()
    }

    /// Mean rates, Mbit/s.
    #[getter]
    fn mean_rates(&self) -> Vec<f64> {
        self.inner.iter().map(Trace::mean_rate).collect()
    }

    /// Lengths, s.
    #[getter]
    fn durations(&self) -> Vec<f64> {
        self.inner.iter().map(Trace::duration).collect()
    }
}

/// Copies of a world; `certus.worlds` wraps it.
#[pyclass(module = "certus._certus")]
pub struct RawWorlds {
    inner: VectorEnvironment<AnyWorld>,
}

impl RawWorlds {
    fn of<W: Environment + Send + Sync + 'static>(worlds: Vec<W>, first: u64) -> PyResult<RawWorlds> {
        let worlds = worlds.into_iter().map(|world| Box::new(world) as AnyWorld).collect();
        Ok(RawWorlds { inner: VectorEnvironment::new(worlds, first).map_err(wrong)? })
    }
}

#[pymethods]
impl RawWorlds {
    /// Aurora; each pair is the range that a reset draws from.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn aurora(
        count: usize,
        first: u64,
        traces: Option<&Traces>,
        bandwidth: (f64, f64),
        delay: (f64, f64),
        queue_log: (f64, f64),
        loss: (f64, f64),
        start: (f64, f64),
        steps: u32,
    ) -> PyResult<RawWorlds> {
        let ranges = Ranges { bandwidth, delay, queue_log, loss, start, steps };
        let traces = traces.map_or(&[][..], |traces| &traces.inner);
        let world = Aurora::with_traces(ranges, traces).map_err(wrong)?;
        RawWorlds::of(vec![world; count], first)
    }

    /// Pensieve; `order` is `random` or `in turn`.
    #[staticmethod]
    fn pensieve(
        count: usize,
        first: u64,
        traces: &Traces,
        order: &str,
        noise: bool,
        qoe: &str,
        chunks: Option<usize>,
    ) -> PyResult<RawWorlds> {
        let qoe = match qoe {
            "linear" => Qoe::Linear,
            "log" => Qoe::Log,
            "hd" => Qoe::Hd,
            other => return Err(CertusError::new_err(format!("qoe is 'linear', 'log' or 'hd', not '{other}'"))),
        };
        if order != "random" && order != "in turn" {
            return Err(CertusError::new_err(format!("order is 'random' or 'in turn', not '{order}'")));
        }
        let reference = Video::reference();
        let video = match chunks {
            None => reference,
            Some(chunks) => {
                let sizes = (0..=reference.chunks()).map(|chunk| reference.sizes(chunk).map(|size| size as u32));
                Video::new(sizes.collect(), chunks).map_err(wrong)?
            }
        };
        let video = Arc::new(video);
        let worlds: PyResult<Vec<Pensieve>> = (0..count)
            .map(|copy| {
                let start = match order {
                    "random" => Start::Random,
                    _ => Start::InTurn { first: (first as usize).wrapping_add(copy), stride: count },
                };
                let settings = PlayerSettings { start, noise, qoe };
                Pensieve::new(settings, video.clone(), traces.inner.clone()).map_err(wrong)
            })
            .collect();
        RawWorlds::of(worlds?, first)
    }

    /// DeepRM.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn deeprm(
        count: usize,
        first: u64,
        arrivals: u32,
        arrival_chance: f64,
        decisions: u32,
        until_done: bool,
        compact: bool,
    ) -> PyResult<RawWorlds> {
        let settings = ClusterSettings {
            arrivals,
            arrival_chance,
            decisions,
            ending: if until_done { Ending::AllDone } else { Ending::NoMoreArrivals },
            view: if compact { View::Compact } else { View::Image },
            script: Vec::new(),
        };
        let world = DeepRm::new(settings).map_err(wrong)?;
        RawWorlds::of(vec![world; count], first)
    }

    /// What there is to know of the spaces.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("observation_length", self.inner.observation_length())?;
        match self.inner.action_space() {
            ActionSpace::Discrete(count) => dict.set_item("actions", count)?,
            ActionSpace::Box { lower, upper, length } => {
                dict.set_item("lower", lower)?;
                dict.set_item("upper", upper)?;
                dict.set_item("length", length)?;
            }
        }
        Ok(dict)
    }

    /// How many copies.
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// Begins all copies anew.
    fn reset<'py>(&mut self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let observations = PyArray2::<f32>::zeros(py, [self.inner.len(), self.inner.observation_length()], false);
        {
            let mut shown = observations.readwrite();
            let shown = shown.as_slice_mut()?;
            let inner = &mut self.inner;
            py.detach(|| inner.reset(seed, shown)).map_err(wrong)?;
        }
        Ok(observations)
    }

    /// One step in every copy; actions are doubles, one after the other.
    fn step<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyArrayDyn<f64>>) -> PyResult<Stepped<'py>> {
        let shape = [self.inner.len(), self.inner.observation_length()];
        let observations = PyArray2::<f32>::zeros(py, shape, false);
        let last = PyArray2::<f32>::zeros(py, shape, false);
        let rewards = PyArray1::<f64>::zeros(py, shape[0], false);
        let terminated = PyArray1::<bool>::zeros(py, shape[0], false);
        let truncated = PyArray1::<bool>::zeros(py, shape[0], false);
        let any = {
            let (mut o, mut l, mut r) = (observations.readwrite(), last.readwrite(), rewards.readwrite());
            let (mut t, mut u) = (terminated.readwrite(), truncated.readwrite());
            let mut batch = Batch {
                observations: o.as_slice_mut()?,
                last_observations: l.as_slice_mut()?,
                rewards: r.as_slice_mut()?,
                terminated: t.as_slice_mut()?,
                truncated: u.as_slice_mut()?,
            };
            let actions = actions.readonly();
            let actions = actions.as_slice()?;
            let inner = &mut self.inner;
            py.detach(|| inner.step(actions, &mut batch)).map_err(wrong)?;
            batch.terminated.iter().zip(&*batch.truncated).any(|(&ended, &cut)| ended || cut)
        };
        Ok((observations, rewards, terminated, truncated, any.then_some(last)))
    }
}
