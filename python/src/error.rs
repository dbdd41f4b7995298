//! Exceptions for the libraries' errors: each has a kind, and the place at fault if there is one.

use std::error::Error;
use std::path::PathBuf;

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use warpload::encoding::ParseError;
use warpload::text::visible_lines;
use warpload_replay::{DifferentSelections, NothingSelected, ReplayError};
use warpload_suite::image::ImageError;
use warpload_trace::place_of;

/// The kind of an error, for programs: `warpload.Error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// An argument has an unsupported value.
    Argument,
    /// A text cannot be parsed.
    Syntax,
    /// A word or an instruction breaks a rule.
    Illegal,
    /// A file is malformed, or of another kind than expected.
    Input,
    /// No load is selected, or two replays to compare selected different ones.
    Selection,
    /// A kernel has faults, or does not end.
    Fault,
    /// The system refused something. Trying again may succeed.
    System,
}

impl ErrorKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Syntax => "syntax",
            Self::Illegal => "illegal",
            Self::Input => "input",
            Self::Selection => "selection",
            Self::Fault => "fault",
            Self::System => "system",
        }
    }

    fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error.raw_os_error().map(|_| Self::System);
        }
        if let Some(error) = error.downcast_ref::<ReplayError>() {
            return matches!(error, ReplayError::Windows { .. } | ReplayError::Threads { .. })
                .then_some(Self::Argument);
        }
        if error.is::<NothingSelected>() || error.is::<DifferentSelections>() {
            return Some(Self::Selection);
        }
        error.is::<ParseError>().then_some(Self::Syntax)
    }
}

/// The data of an exception. Making it needs no interpreter's lock, unlike the exception itself.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) file: Option<String>,
    /// The line and the column, from 1.
    pub(crate) position: Option<(u64, u64)>,
    /// The bytes at fault, in the line or in a module.
    pub(crate) span: Option<(usize, usize)>,
    pub(crate) rule: Option<String>,
    pub(crate) help: Option<String>,
    /// The message as the command draws it.
    pub(crate) drawing: Option<String>,
    /// Whether a file is missing. `missing` names it, if it is known.
    pub(crate) is_missing: bool,
    pub(crate) missing: Option<PathBuf>,
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, message: impl ToString) -> Self {
        Self {
            kind,
            message: message.to_string(),
            file: None,
            position: None,
            span: None,
            rule: None,
            help: None,
            drawing: None,
            is_missing: false,
            missing: None,
        }
    }

    /// Gathers an error and its causes. `kind` applies unless a cause determines another one.
    pub(crate) fn of(error: &(dyn Error + 'static), kind: ErrorKind) -> Self {
        let mut failure = Self::new(kind, error);
        let mut next = Some(error);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Some errors already end with the text of their cause.
            if !failure.message.ends_with(&text) {
                failure.message += &format!(": {text}");
            }
            failure.kind = ErrorKind::of(cause).unwrap_or(failure.kind);
            let io = cause.downcast_ref::<std::io::Error>();
            failure.is_missing |= io.is_some_and(|io| io.kind() == std::io::ErrorKind::NotFound);
            let place =
                place_of(cause).or_else(|| cause.downcast_ref().and_then(ImageError::place));
            if let Some((file, position)) = place {
                failure.position = position;
                failure.file = Some(file.display().to_string());
                failure.missing = Some(file.to_owned());
            }
            next = cause.source();
        }
        let is_missing = failure.is_missing;
        failure.missing.take_if(|_| !is_missing);
        failure
    }

    /// The failure of reading `file`. The message gets the file's name unless the error names one.
    pub(crate) fn of_file(error: &(dyn Error + 'static), file: &std::path::Path) -> Self {
        let mut failure = Self::of(error, ErrorKind::Input);
        let name = file.display().to_string();
        if !failure.message.starts_with(&name) {
            failure.message = format!("{name}: {}", failure.message);
        }
        if failure.file.is_none() {
            failure.file = Some(name);
            failure.missing = failure.is_missing.then(|| file.to_owned());
        }
        failure
    }

    /// Makes the exception: `FileNotFoundError` if a file is missing, else a `warpload.Error`.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self.missing {
            Some(file) => PyFileNotFoundError::new_err((
                NO_ENTRY,
                "No such file or directory",
                file.into_os_string(),
            )),
            None => self.make(py).unwrap_or_else(|failed| failed),
        }
    }

    fn make(self, py: Python<'_>) -> PyResult<PyErr> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "warpload._errors", "Error")?;
        let details = PyDict::new(py);
        details.set_item("kind", self.kind.name())?;
        details.set_item("file", self.file)?;
        details.set_item("line", self.position.map(|(line, _)| line))?;
        details.set_item("column", self.position.map(|(_, column)| column))?;
        details.set_item("span", self.span)?;
        details.set_item("rule", self.rule)?;
        details.set_item("help", self.help)?;
        details.set_item("drawing", self.drawing)?;
        // `str()` of an exception reaches terminals, and messages quote texts of others.
        let message = visible_lines(&self.message);
        Ok(PyErr::from_value(class.call((message,), Some(&details))?))
    }
}

/// `errno.ENOENT`.
const NO_ENTRY: i32 = 2;

/// Makes a `warpload.Error` from a kind and a message.
pub(crate) fn error(py: Python<'_>, kind: ErrorKind, message: impl ToString) -> PyErr {
    Failure::new(kind, message).raise(py)
}
