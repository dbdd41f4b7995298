//! The command: with the streams of the process, or with strings.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpload_cli::Level;

use crate::error::of_message;

/// Runs the command in this process, with its streams, and returns the exit status. `own_process` says
/// that the process does nothing else, so that signals are the command's.
#[pyfunction]
#[pyo3(signature = (arguments, *, own_process = false))]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>, own_process: bool) -> u8 {
    py.detach(|| {
        if own_process {
            warpload_cli::own_process();
        }
        warpload_cli::run(named(arguments))
    })
}

/// Runs the command with `input` as standard input, and returns what it writes.
#[pyfunction]
#[pyo3(signature = (arguments, input = None))]
pub(crate) fn call(py: Python<'_>, arguments: Vec<OsString>, input: Option<&[u8]>) -> Answer {
    let input = input.unwrap_or_default().to_vec();
    Answer(py.detach(|| warpload_cli::call(named(arguments), input)))
}

/// The name of the command comes first.
fn named(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("warpload")).chain(arguments)
}

/// What the command wrote, and how it ended.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Answer(warpload_cli::Answer);

#[pymethods]
impl Answer {
    /// The exit status.
    #[getter]
    fn status(&self) -> u8 {
        self.0.status
    }

    /// What goes to standard output.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.output)
    }

    /// What is drawn on standard error.
    #[getter]
    fn messages(&self) -> Vec<Message> {
        self.0.messages.iter().cloned().map(Message).collect()
    }

    /// Raises the first error, if there is one.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.0.messages.iter().find(|message| message.level == Level::Error) {
            Some(message) => Err(of_message(py, message)),
            None => Ok(()),
        }
    }

    fn __repr__(&self) -> String {
        let warpload_cli::Answer { status, output, messages, .. } = &self.0;
        format!("Answer(status={status}, {} bytes, {} messages)", output.len(), messages.len())
    }
}

/// A message of the command.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Message(warpload_cli::Message);

#[pymethods]
impl Message {
    /// `error`, `warning` or `note`.
    #[getter]
    fn level(&self) -> &'static str {
        match self.0.level {
            Level::Error => "error",
            Level::Warning => "warning",
            _ => "note",
        }
    }

    /// What it says.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// The message as it is drawn.
    #[getter]
    fn drawing(&self) -> &str {
        &self.0.drawing
    }

    fn __str__(&self) -> &str {
        &self.0.title
    }

    fn __repr__(&self) -> String {
        format!("Message({}: {})", self.level(), self.0.title)
    }
}
