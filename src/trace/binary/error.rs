//! [`TraceError`]: why a binary trace cannot be read or written.

use std::path::PathBuf;

use super::format::{OLDEST_VERSION, VERSION};

/// Why a binary trace cannot be read or written. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be read or written.
    #[error("{}: cannot be read or written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
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
    /// A file that is not a valid trace set.
    #[error("not a valid trace set: {message}")]
    Set {
        /// What is wrong, and what was expected.
        message: String,
    },
}
