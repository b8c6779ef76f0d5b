//! Networks, read and evaluated.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{Graph, Port, Real};
use certus_tasks::{Source, read_network};
use numpy::{Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::NetworkError;
use crate::system::{Origin, origins};

/// A network from an ONNX or NNet file.
///
/// Calling it evaluates a batch: rows of a two-dimensional array are points, and a one-dimensional array is one point.
/// All inputs of the network stand one after the other in a row, as in `net("file.onnx", …)`. Arrays of `float32` are
/// evaluated in single precision, all others in double precision, in the order of the operations in the file.
#[pyclass(module = "certus", frozen)]
pub struct Network {
    /// The file.
    #[pyo3(get)]
    path: PathBuf,
    sources: Vec<Source>,
    graph: Graph,
    single: Evaluator<f32>,
    double: Evaluator<f64>,
}

#[pymethods]
impl Network {
    #[new]
    fn new(path: PathBuf) -> PyResult<Network> {
        let (graph, sources) = read_network(&path, None).map_err(|error| NetworkError::new_err(error.to_string()))?;
        let (single, double) = (Evaluator::new(&graph), Evaluator::new(&graph));
        Ok(Network { path, sources, graph, single, double })
    }

    /// The files that it was read from, the network first and then its weights: role, name, path, digest.
    #[getter]
    fn sources(&self) -> Vec<Origin> {
        origins(&self.sources)
    }

    /// The SHA-256 digest of its file.
    #[getter]
    fn sha256(&self) -> Option<String> {
        self.sources.first().and_then(|source| source.digest.clone())
    }

    /// Networks are equal if their files have the same contents.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let digests = |network: &Network| -> Vec<Option<String>> {
            network.sources.iter().map(|source| source.digest.clone()).collect()
        };
        other.cast::<Network>().is_ok_and(|other| digests(self) == digests(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.sha256().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("certus._pickling")?.call_method1("reduce_network", (slf,))
    }

    /// The inputs: names and shapes.
    #[getter]
    fn inputs(&self) -> Vec<(String, Vec<usize>)> {
        self.ports(self.graph.inputs())
    }

    /// The outputs: names and shapes.
    #[getter]
    fn outputs(&self) -> Vec<(String, Vec<usize>)> {
        self.ports(self.graph.outputs())
    }

    /// How many numbers it was trained to have.
    #[getter]
    fn parameters(&self) -> usize {
        self.graph.parameters()
    }

    /// The operators, in their order.
    #[getter]
    fn operators(&self) -> Vec<&'static str> {
        use certus_graph::ops::Operator;
        self.graph.nodes().iter().map(|node| node.op.name()).collect()
    }

    fn __call__(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(x) = x.cast::<PyArrayDyn<f32>>() {
            return self.apply(py, &self.single, x.readonly());
        }
        let numpy = py.import("numpy")?;
        let x = numpy.call_method1("ascontiguousarray", (x, "float64"))?;
        self.apply(py, &self.double, x.cast::<PyArrayDyn<f64>>()?.readonly())
    }

    fn __repr__(&self) -> String {
        let sizes = |ports: &[Port]| -> usize { ports.iter().map(|port| self.graph.elements(port.node)).sum() };
        let (inputs, outputs) = (sizes(self.graph.inputs()), sizes(self.graph.outputs()));
        format!("<certus.Network {}: {inputs} → {outputs}, {} parameters>", self.path.display(), self.parameters())
    }
}

impl Network {
    fn ports(&self, ports: &[Port]) -> Vec<(String, Vec<usize>)> {
        ports.iter().map(|port| (port.name.clone(), self.graph.shape(port.node).to_vec())).collect()
    }

    fn apply<T: Real + Element + Send + Sync>(
        &self,
        py: Python<'_>,
        evaluator: &Evaluator<T>,
        x: PyReadonlyArrayDyn<'_, T>,
    ) -> PyResult<Py<PyAny>> {
        let width: usize = self.graph.inputs().iter().map(|port| self.graph.elements(port.node)).sum();
        let shape = x.shape().to_vec();
        let total: usize = shape.iter().product();
        let single = total == width && (shape.len() == 1 || width != 0 && shape.first() != Some(&1));
        let batch = if single { 1 } else { *shape.first().unwrap_or(&0) };
        if batch * width != total {
            let message = format!("the network takes {width} numbers per point, the array has the shape {shape:?}");
            return Err(NetworkError::new_err(message));
        }
        let rows: Vec<T> = x.as_array().iter().copied().collect();
        let graph = &self.graph;
        let results = py.detach(|| -> Result<Vec<Vec<T>>, certus_graph::GraphError> {
            // Rows of points to element-major tables, one per input.
            let mut start = 0;
            let mut tables: Vec<Vec<T>> = Vec::new();
            for port in graph.inputs() {
                let len = graph.elements(port.node);
                tables.push(
                    (start..start + len)
                        .flat_map(|element| (0..batch).map(move |point| point * width + element))
                        .map(|at| rows[at])
                        .collect(),
                );
                start += len;
            }
            let tables: Vec<&[T]> = tables.iter().map(Vec::as_slice).collect();
            let mut workspace = Workspace::default();
            evaluator.run(&mut workspace, &tables, batch)?;
            let output = |index: usize| {
                let values = evaluator.output(&workspace, &tables, index);
                let len = values.len() / batch.max(1);
                (0..batch).flat_map(|point| (0..len).map(move |i| i * batch + point)).map(|at| values[at]).collect()
            };
            Ok((0..graph.outputs().len()).map(output).collect())
        });
        let results = results.map_err(|error| NetworkError::new_err(error.to_string()))?;
        let mut arrays = Vec::new();
        for values in results {
            let len = values.len() / batch.max(1);
            let array = values.into_pyarray(py);
            arrays.push(if single {
                array.reshape([len])?.into_any()
            } else {
                array.reshape([batch, len])?.into_any()
            });
        }
        match <[Bound<'_, PyAny>; 1]>::try_from(arrays) {
            Ok([only]) => Ok(only.unbind()),
            Err(several) => PyTuple::new(py, several)?.into_py_any(py),
        }
    }
}
