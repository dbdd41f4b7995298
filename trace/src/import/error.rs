//! [`ImportError`]: why a text trace cannot be imported.

use std::io;
use std::path::{Path, PathBuf};

use crate::binary::TraceError;
use warpload_binary::lines::LineError;

/// Why a text trace cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// An invalid line.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column in bytes, from 1.
        column: usize,
        /// The problem, and the expected form.
        message: String,
    },
    /// An invalid file.
    #[error("{}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The problem, and the expected form.
        message: String,
    },
    /// A file that could not be read.
    #[error("{}: cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A temporary file could not be used. A trace with an index that comes through a pipe, or compressed, needs one.
    #[error("a temporary file in {}: cannot be used", std::env::temp_dir().display())]
    Temporary {
        /// The I/O error.
        source: std::io::Error,
    },
    /// The binary trace could not be written.
    #[error(transparent)]
    Write(#[from] TraceError),
}

impl ImportError {
    /// The error for a file that cannot be read as lines.
    pub(super) fn in_lines(file: &Path, error: LineError) -> Self {
        match error {
            LineError::Io { line, source } => Self::unreadable(file, Some(line), &source),
            other => Self::File { file: file.to_owned(), message: other.to_string() },
        }
    }

    /// The error for a file that ends at this place without a line end.
    pub(super) fn cut_off(file: &Path, line: u64, column: usize) -> Self {
        let message = "the last line has no line end: the file is cut off".to_owned();
        Self::Line { file: file.to_owned(), line, column, message }
    }

    /// The error for a file that cannot be read beyond `line` of its text, if the line is known.
    pub(super) fn unreadable(file: &Path, line: Option<u64>, source: &io::Error) -> Self {
        let line = line.map_or(String::new(), |line| format!(" (line {line} of the text)"));
        let source = io::Error::new(source.kind(), format!("{source}{line}"));
        Self::Read { file: file.to_owned(), source }
    }
}
