//! What can be wrong with a text trace.

use std::io;
use std::path::{Path, PathBuf};

use crate::trace::TraceError;

/// Why a text trace cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A line that cannot be understood.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column in bytes, from 1.
        column: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// A file as a whole.
    #[error("{}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// A file that could not be read.
    #[error("{}: cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The binary trace could not be written.
    #[error(transparent)]
    Write(#[from] TraceError),
}

impl ImportError {
    /// A file that could be read up to a line of its text, if that is known.
    pub(super) fn unreadable(file: &Path, line: Option<u64>, source: &io::Error) -> Self {
        let line = line.map_or(String::new(), |line| format!(" (line {line} of the text)"));
        let source = io::Error::new(source.kind(), format!("{source}{line}"));
        Self::Read { file: file.to_owned(), source }
    }
}
