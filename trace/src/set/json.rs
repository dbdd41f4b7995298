//! The file of a trace set.

use serde::{Deserialize, Serialize};

use super::head;
use super::{SetPart, TraceSet, VERSION};
use crate::binary::{TraceContents, TraceError, hexadecimal, operations};
use crate::operation::MemoryOperation;
use warpload::json::{self, JsonError};
use warpload_binary::lines::without_mark;

/// What every version of the file has.
#[derive(Deserialize)]
struct AnyVersion {
    set: VersionOnly,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet {
    set: RawTotals,
    source: String,
    tools: Vec<String>,
    notes: Vec<String>,
    complete: bool,
    #[serde(with = "operations")]
    operations: Vec<MemoryOperation>,
    allocations: Vec<(u64, u64)>,
    parts: Vec<SetPart>,
}

/// What the file says of the whole; its parts must have the same.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTotals {
    version: u32,
    records: u64,
    memory_records: u64,
    loads: u64,
    kernels: u64,
    parts: u64,
    #[serde(with = "hexadecimal")]
    checksum: u32,
}

/// The most operations of a trace: records have 16 bits for their number.
const MAX_OPERATIONS: usize = 1 << 16;

impl TraceSet {
    /// Returns whether a file that begins with these bytes is a trace set, or the beginning of one.
    #[must_use]
    pub fn is_set(start: &[u8]) -> bool {
        let start = without_mark(start).trim_ascii_start();
        let Some(key) = start.strip_prefix(b"{").map(<[u8]>::trim_ascii_start) else {
            return false;
        };
        match key.strip_prefix(b"\"set\"").map(<[u8]>::trim_ascii_start) {
            Some(rest) => rest.is_empty() || rest.starts_with(b":"),
            None => key.len() > 1 && b"\"set\"".starts_with(key),
        }
    }

    /// Reads a set from the bytes of its file.
    ///
    /// # Errors
    /// Returns [`TraceError::Set`] if they are not a valid trace set.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TraceError> {
        let wrong = |message: String| TraceError::Set { message };
        let invalid = |error: JsonError| wrong(error.with_place());
        let bytes = without_mark(bytes);
        let AnyVersion { set: VersionOnly { version } } =
            json::from_slice(bytes).map_err(invalid)?;
        if version != VERSION {
            return Err(wrong(format!("version {version}; expected version {VERSION}")));
        }
        let raw: RawSet = json::from_slice(bytes).map_err(invalid)?;
        let RawSet { set, source, tools, notes, complete, operations, allocations, parts } = raw;
        if operations.len() > MAX_OPERATIONS {
            return Err(wrong(format!("it has more than {MAX_OPERATIONS} operations")));
        }
        let kernels = Vec::new();
        let contents =
            TraceContents { source, tools, notes, complete, kernels, operations, allocations };
        let read = Self::new(contents, parts)?;
        let checksum = set.checksum;
        let set = RawTotals { checksum: read.checksum, ..set };
        if set != RawTotals::of(&read) {
            let message = "the totals under `set` are not those of the parts";
            return Err(wrong(message.to_owned()));
        }
        if checksum != read.checksum {
            return Err(wrong(format!(
                "damaged: its checksum is {checksum:08x}; that of its contents and parts is {:08x}",
                read.checksum
            )));
        }
        Ok(read)
    }

    /// Returns the text of the set's file, which has a line for each part.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers, texts and lists always have a form in JSON.
        let totals = serde_json::to_string(&RawTotals::of(self)).unwrap_or_default();
        let head = head::text(&self.contents);
        let head = head.strip_prefix('{').and_then(|head| head.strip_suffix('}'));
        let mut text = format!("{{\"set\":{totals},{}", head.unwrap_or_default());
        text.push_str(",\"parts\":[");
        for (i, part) in self.parts.iter().enumerate() {
            text.push_str(if i == 0 { "\n" } else { ",\n" });
            text.push_str(&serde_json::to_string(part).unwrap_or_default());
        }
        text.push_str("\n]}\n");
        text
    }
}

impl RawTotals {
    fn of(set: &TraceSet) -> Self {
        Self {
            version: VERSION,
            records: set.records(),
            memory_records: set.memory_records(),
            loads: set.loads(),
            kernels: set.kernels(),
            parts: set.parts.len() as u64,
            checksum: set.checksum(),
        }
    }
}
