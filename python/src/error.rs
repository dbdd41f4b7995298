//! Messages of the command as exceptions.

use std::error::Error;

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use warpload_cli::Message;

/// Returns a `warpload.Error` without a place.
pub(crate) fn error(py: Python<'_>, message: impl ToString) -> PyErr {
    make(py, &message.to_string(), None).unwrap_or_else(|failed| failed)
}

/// Returns a `warpload.Error` for an error, with what caused it.
pub(crate) fn of_error(py: Python<'_>, failed: &dyn Error) -> PyErr {
    let mut message = failed.to_string();
    let mut cause = failed.source();
    while let Some(next) = cause {
        message += &format!(": {next}");
        cause = next.source();
    }
    error(py, message)
}

/// Returns the exception for a message: `FileNotFoundError` if a file is missing, else a
/// `warpload.Error` with the message's file and place.
pub(crate) fn of_message(py: Python<'_>, message: &Message) -> PyErr {
    match &message.file {
        Some(file) if message.is_missing_file => {
            PyFileNotFoundError::new_err((NO_ENTRY, "No such file or directory", file.clone()))
        }
        _ => make(py, &message.title, Some(message)).unwrap_or_else(|failed| failed),
    }
}

/// `errno.ENOENT`.
const NO_ENTRY: i32 = 2;

fn make(py: Python<'_>, title: &str, message: Option<&Message>) -> PyResult<PyErr> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "warpload._errors", "Error")?;
    let details = PyDict::new(py);
    if let Some(Message { place, file, rule, help, drawing, .. }) = message {
        details.set_item("file", file)?;
        if let Some(place) = place {
            details.set_item("file", &place.file)?;
            details.set_item("line", place.line)?;
            details.set_item("column", place.column)?;
            details.set_item("span", place.span)?;
        }
        details.set_item("rule", rule)?;
        details.set_item("help", help)?;
        details.set_item("drawing", drawing)?;
    }
    Ok(PyErr::from_value(class.call((title,), Some(&details))?))
}
