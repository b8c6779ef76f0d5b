//! Values that cross the border.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// A JSON value as Python has it; texts that stand for numbers become numbers.
pub fn from_json(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Null => Ok(py.None()),
        Value::Bool(truth) => truth.into_py_any(py),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into_py_any(py),
            None => number.as_f64().into_py_any(py),
        },
        Value::String(text) => match text.as_str() {
            "NaN" => f64::NAN.into_py_any(py),
            "Infinity" => f64::INFINITY.into_py_any(py),
            "-Infinity" => f64::NEG_INFINITY.into_py_any(py),
            text => text.into_py_any(py),
        },
        Value::Array(values) => {
            let list = PyList::empty(py);
            values.iter().try_for_each(|value| list.append(from_json(py, value)?))?;
            list.into_py_any(py)
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            map.iter().try_for_each(|(name, value)| dict.set_item(name, from_json(py, value)?))?;
            dict.into_py_any(py)
        }
    }
}
