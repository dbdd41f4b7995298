//! Serializable values as Python objects: dictionaries, lists, numbers and texts.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde_json::Value;

use crate::error::{ErrorKind, error};

/// Converts a value into the objects that `json.loads` would make of its JSON.
pub(crate) fn objects<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(value);
    of_value(py, value.map_err(|failed| error(py, ErrorKind::Input, failed))?)
}

/// Converts a JSON text as `json.loads` does.
pub(crate) fn text_objects<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::from_str(json);
    of_value(py, value.map_err(|failed| error(py, ErrorKind::Syntax, failed))?)
}

fn of_value(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_bound_py_any(py),
            (None, Some(number)) => number.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(values) => {
            let values: PyResult<Vec<_>> =
                values.into_iter().map(|value| of_value(py, value)).collect();
            Ok(PyList::new(py, values?)?.into_any())
        }
        Value::Object(entries) => {
            let object = PyDict::new(py);
            for (key, value) in entries {
                object.set_item(key, of_value(py, value)?)?;
            }
            Ok(object.into_any())
        }
    }
}
