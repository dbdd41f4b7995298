//! [`TraceError`]: why a binary trace cannot be read or written.

use std::path::{Path, PathBuf};

use super::format::{OLDEST_VERSION, VERSION};

/// Why a binary trace cannot be read or written. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The output could not be written.
    #[error("the output cannot be written")]
    Write {
        /// What the system says.
        source: std::io::Error,
    },
    /// The file does not begin with the magic of a binary trace.
    #[error("not a binary trace; expected it to begin with {:?}", "WARPLOAD")]
    NotATrace,
    /// The file ends inside, or before, a part that it must have.
    #[error(
        "cut off: the file has {size} bytes; its {part} has {length} bytes from byte offset {offset} on"
    )]
    CutOff {
        /// The part that is not whole.
        part: &'static str,
        /// Where it starts.
        offset: u64,
        /// How many bytes it has.
        length: u64,
        /// How many bytes the file has.
        size: u64,
    },
    /// A trace of another version of the format.
    #[error("a binary trace of version {version}; expected version {OLDEST_VERSION} to {VERSION}")]
    Version {
        /// The version in the file's header.
        version: u32,
    },
    /// A trace from a machine of the other byte order.
    #[error("a binary trace of the other byte order")]
    ByteOrder,
    /// Bytes that do not match their checksum.
    #[error("damaged: the {part} at byte offset {offset} does not match its checksum")]
    Damaged {
        /// The part that the bytes are.
        part: &'static str,
        /// Where they start.
        offset: u64,
    },
    /// Bytes that match their checksum but are invalid.
    #[error("malformed: the {part} at byte offset {offset}: {message}")]
    Malformed {
        /// The part that the bytes are.
        part: &'static str,
        /// Where they start.
        offset: u64,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// An error of a part of a trace set.
    #[error("{}", file.display())]
    Part {
        /// The file of the part.
        file: PathBuf,
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// A binary trace that is not the part that a trace set names.
    #[error("not the part that the trace set names: {message}")]
    OtherPart {
        /// In what they differ.
        message: String,
    },
    /// A trace that is not valid as a part of a trace set.
    #[error("not a part of a trace set: {message}")]
    NoPart {
        /// What it is, and what was expected.
        message: &'static str,
    },
    /// A file that is not a valid trace set.
    #[error("not a valid trace set: {message}")]
    Set {
        /// What is wrong, and what was expected.
        message: String,
    },
}

impl TraceError {
    /// Returns the error as that of a part of a trace set.
    pub(crate) fn of_part(self, file: &Path) -> Self {
        Self::Part { file: file.to_owned(), source: Box::new(self) }
    }
}
