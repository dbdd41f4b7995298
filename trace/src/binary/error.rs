//! [`TraceError`]: why a binary trace cannot be read or written.

use std::fmt;
use std::path::PathBuf;

use super::format::VERSION;

/// Why a binary trace cannot be read or written. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The output could not be written.
    #[error("the output cannot be written")]
    Write {
        /// The I/O error.
        source: std::io::Error,
    },
    /// The file does not begin with the magic of a binary trace.
    #[error("not a binary trace; expected it to begin with {:?}", "WARPLOAD")]
    NotATrace,
    /// The file ends before or inside a required part.
    #[error(
        "cut off: the file has {size} bytes; its {part} has {length} bytes from byte offset {offset} on"
    )]
    CutOff {
        /// The incomplete part.
        part: &'static str,
        /// Its offset.
        offset: u64,
        /// Its length in bytes.
        length: u64,
        /// The length of the file in bytes.
        size: u64,
    },
    /// A trace in another version of the format.
    #[error("{}", other_version(*version, *producer))]
    Version {
        /// The version in the file's header.
        version: u32,
        /// The program that wrote it; meaningless before version 3.
        producer: Producer,
    },
    /// A column that this version does not know but would need in order to understand the trace.
    #[error(
        "the {part} at byte offset {offset} has the required column {column}, which is unknown \
         here; {producer} wrote it, and this is {}",
        Producer::OWN
    )]
    UnknownColumn {
        /// The part with the column.
        part: &'static str,
        /// The offset of the part.
        offset: u64,
        /// The column's number.
        column: u8,
        /// The program that wrote the trace.
        producer: Producer,
    },
    /// Bytes that do not match their checksum.
    #[error("damaged: the {part} at byte offset {offset} does not match its checksum")]
    Damaged {
        /// The damaged part.
        part: &'static str,
        /// Its offset.
        offset: u64,
    },
    /// Bytes that match their checksum but are invalid.
    #[error("malformed: the {part} at byte offset {offset}: {message}")]
    Malformed {
        /// The invalid part.
        part: &'static str,
        /// Its offset.
        offset: u64,
        /// The problem, and the expected form.
        message: String,
    },
}

/// The version of warpload that wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    major: u8,
    minor: u8,
    patch: u16,
}

impl Producer {
    /// The version of this crate.
    pub const OWN: Self = Self {
        major: number(env!("CARGO_PKG_VERSION_MAJOR")) as u8,
        minor: number(env!("CARGO_PKG_VERSION_MINOR")) as u8,
        patch: number(env!("CARGO_PKG_VERSION_PATCH")),
    };

    pub(super) fn to_bytes(self) -> [u8; 4] {
        let [low, high] = self.patch.to_le_bytes();
        [self.major, self.minor, low, high]
    }

    pub(super) fn from_bytes([major, minor, low, high]: [u8; 4]) -> Self {
        Self { major, minor, patch: u16::from_le_bytes([low, high]) }
    }
}

impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warpload {}.{}.{}", self.major, self.minor, self.patch)
    }
}

const fn number(digits: &str) -> u16 {
    let (digits, mut number, mut i) = (digits.as_bytes(), 0, 0);
    while i < digits.len() {
        number = number * 10 + (digits[i] - b'0') as u16;
        i += 1;
    }
    number
}

fn other_version(version: u32, producer: Producer) -> String {
    let own = Producer::OWN;
    if version < VERSION {
        return format!(
            "a binary trace of version {version}, which {own} no longer reads; import its source again"
        );
    }
    format!("a binary trace of version {version}, by {producer}; {own} reads version {VERSION}")
}
