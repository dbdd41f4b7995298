//! The command: with the streams of the process, or with strings.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpload_cli::MessageLevel;

use crate::error::of_message;

/// Runs the command in this process, with its streams, and returns the exit status. `own_process` says
/// that the process does nothing else, so that signals are the command's; `stdout_is_closed`, that its standard
/// output was closed, and is something else by now.
#[pyfunction]
#[pyo3(signature = (arguments, *, own_process = false, stdout_is_closed = false))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    own_process: bool,
    stdout_is_closed: bool,
) -> u8 {
    py.detach(|| {
        if stdout_is_closed {
            warpload_cli::stdout_is_closed();
        }
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

/// Lets a child of this process use all of this, whatever other threads were doing when it was forked.
#[pyfunction]
pub(crate) fn survive_forks() -> PyResult<()> {
    // Made on first use otherwise, by one thread while others wait for it: what threads share work by.
    let _ = crossbeam_epoch::default_collector();
    Ok(warpload_cli::survive_forks()?)
}

/// The name of the command comes first.
fn named(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("warpload")).chain(arguments)
}

/// What the command wrote.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Answer(warpload_cli::Answer);

#[pymethods]
impl Answer {
    /// What goes to standard output.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.output)
    }

    /// The messages as they are drawn on standard error.
    #[getter]
    fn drawing(&self) -> String {
        let drawings: Vec<&str> = self.0.messages.iter().map(|one| &*one.drawing).collect();
        drawings.join("\n")
    }

    /// What each of the errors says.
    #[getter]
    fn errors(&self) -> Vec<String> {
        let errors = self.0.messages.iter().filter(|message| message.level == MessageLevel::Error);
        errors.map(|message| message.title.clone()).collect()
    }

    /// Raises the first error, if there is one.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.0.messages.iter().find(|message| message.level == MessageLevel::Error) {
            Some(message) => Err(of_message(py, message)),
            None => Ok(()),
        }
    }
}
