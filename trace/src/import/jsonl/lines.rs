//! The lines of an export as JSON, and their errors.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, de::Error as _};

use crate::import::error::ImportError;
use crate::import::interner::{NameError, Refused};
use warpload::lane::{LANES, LaneMask};
use warpload::text::parse_hexadecimal;

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceLine {
    pub(super) trace: About,
}

#[derive(Deserialize)]
pub(super) struct About {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) tools: Vec<String>,
    #[serde(default)]
    pub(super) allocations: Vec<(Hex, u64)>,
    pub(super) records: u64,
    pub(super) complete: Option<bool>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// Elements of a list that is too long for the line that it belongs to: the first line, or the next kernel's.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ListLine {
    Tools(Vec<String>),
    Notes(Vec<String>),
    Allocations(Vec<(Hex, u64)>),
    Header(Vec<(Arc<str>, Arc<str>)>),
    SourceLines(Vec<(u32, u32)>),
}

/// The beginning or continuation of a kernel.
#[derive(Deserialize)]
pub(super) struct KernelLine {
    pub(super) kernel: u64,
    pub(super) record: u64,
    #[serde(default)]
    pub(super) continued: bool,
    #[serde(default)]
    pub(super) name: Arc<str>,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) block: Option<[u32; 3]>,
    #[serde(default)]
    pub(super) skipped: Skipped,
    #[serde(default)]
    pub(super) windows: Windows,
    #[serde(default)]
    pub(super) header: Vec<(Arc<str>, Arc<str>)>,
    #[serde(default)]
    pub(super) source_lines: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
pub(super) struct Skipped {
    pub(super) store: u64,
    pub(super) atomic: u64,
    pub(super) other: u64,
}

#[derive(Default, Deserialize)]
pub(super) struct Windows {
    pub(super) shared: Option<Hex>,
    pub(super) local: Option<Hex>,
}

/// A memory instruction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine<'l> {
    pub(super) record: u64,
    #[serde(borrow)]
    pub(super) kind: Cow<'l, str>,
    pub(super) cta: Option<[u32; 3]>,
    pub(super) warp: Option<u32>,
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) index: Option<u32>,
    pub(super) pc: Hex,
    #[serde(borrow)]
    pub(super) opcode: Cow<'l, str>,
    #[serde(borrow)]
    pub(super) space: Cow<'l, str>,
    pub(super) bytes: Option<u64>,
    pub(super) active: Hex,
    pub(super) plg: Option<Hex>,
    pub(super) guard: Option<Hex>,
    pub(super) transfers: Option<u64>,
    pub(super) addresses: Option<[Option<Hex>; LANES]>,
    pub(super) values: Option<[Option<Vec<Hex>>; LANES]>,
    #[serde(default)]
    pub(super) valued: bool,
    #[serde(default)]
    pub(super) width_disagrees: bool,
}

/// A number as a string with `0x`.
#[derive(Clone, Copy)]
pub(super) struct Hex(pub(super) u64);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "expected a hexadecimal number of at most 64 bits, as \"0x10\"";
        let text = Cow::<str>::deserialize(from)?;
        let number = text.strip_prefix("0x").and_then(parse_hexadecimal);
        number.map(Self).ok_or_else(|| D::Error::custom(EXPECTED))
    }
}

impl Hex {
    pub(super) fn small(self, what: &str) -> Result<u32, Wrong> {
        u32::try_from(self.0).map_err(|_| format!("`{what}` of more than 32 bits").into())
    }

    pub(super) fn mask(self, what: &str) -> Result<LaneMask, Wrong> {
        self.small(what).map(LaneMask::from_bits)
    }
}

/// The error of a line.
pub(super) enum Wrong {
    /// The message, and the column from 1.
    Line(String, usize),
    /// An error of the import as a whole.
    Import(ImportError),
}

impl From<ImportError> for Wrong {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

impl From<Refused> for Wrong {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Name(error) => error.into(),
            Refused::Import(error) => Self::Import(error),
        }
    }
}

impl From<NameError> for Wrong {
    fn from(error: NameError) -> Self {
        Self::Line(error.to_string(), 1)
    }
}

impl From<&str> for Wrong {
    fn from(message: &str) -> Self {
        Self::Line(message.to_owned(), 1)
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self::Line(message, 1)
    }
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // Removed, because [`Self::at`] adds the place.
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self::Line(
            message.strip_suffix(&place).unwrap_or(&message).to_owned(),
            error.column().max(1),
        )
    }
}

impl Wrong {
    pub(super) fn at(self, file: &Path, line: u64) -> ImportError {
        match self {
            Self::Line(message, column) => {
                ImportError::Line { file: file.to_owned(), line, column, message }
            }
            Self::Import(error) => error,
        }
    }
}
