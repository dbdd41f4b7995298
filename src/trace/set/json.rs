//! The file of a trace set.

use serde::{Deserialize, Serialize};

use super::hexadecimal;
use super::{SetPart, TraceSet, VERSION};
use crate::lines::without_mark;
use crate::trace::binary::{Contents, TraceError, operations};
use crate::trace::operation::Operation;

/// What every version of the file has.
#[derive(Deserialize)]
struct AnyVersion {
    set: VersionOnly,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet {
    set: Totals,
    source: String,
    tools: Vec<String>,
    notes: Vec<String>,
    complete: bool,
    #[serde(with = "operations")]
    operations: Vec<Operation>,
    allocations: Vec<(u64, u64)>,
    /// Written one a line.
    #[serde(skip_serializing)]
    parts: Vec<SetPart>,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
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
    /// Returns whether a file that begins with these bytes is a trace set.
    #[must_use]
    pub fn is_set(start: &[u8]) -> bool {
        let start = without_mark(start).trim_ascii_start();
        start.strip_prefix(b"{").is_some_and(|rest| {
            let rest = rest.trim_ascii_start().strip_prefix(b"\"set\"");
            rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
        })
    }

    /// Reads a set from the bytes of its file.
    ///
    /// # Errors
    /// Returns [`TraceError::Set`] if they are not a valid trace set.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TraceError> {
        let wrong = |message: String| TraceError::Set { message };
        let invalid = |error: serde_json::Error| wrong(error.to_string());
        let bytes = without_mark(bytes);
        let AnyVersion { set: VersionOnly { version } } =
            serde_json::from_slice(bytes).map_err(invalid)?;
        if version != VERSION {
            return Err(wrong(format!("version {version}; expected version {VERSION}")));
        }
        let raw: RawSet = serde_json::from_slice(bytes).map_err(invalid)?;
        let RawSet { set, source, tools, notes, complete, operations, allocations, parts } = raw;
        if operations.len() > MAX_OPERATIONS {
            return Err(wrong(format!("it has more than {MAX_OPERATIONS} operations")));
        }
        let kernels = Vec::new();
        let contents =
            Contents { source, tools, notes, complete, kernels, operations, allocations };
        let read = Self::new(contents, parts)?;
        if set != Totals::of(&read) {
            let message = "the totals under `set` are not those of the parts";
            return Err(wrong(message.to_owned()));
        }
        Ok(read)
    }

    /// Returns the text of the set's file, which has a line for each part.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Contents { source, tools, notes, complete, operations, allocations, .. } =
            self.contents.clone();
        let (set, parts) = (Totals::of(self), Vec::new());
        let head = RawSet { set, source, tools, notes, complete, operations, allocations, parts };
        // Numbers, texts and lists always have a form in JSON.
        let mut text = serde_json::to_string(&head).unwrap_or_default();
        text.pop();
        text.push_str(",\"parts\":[");
        for (i, part) in self.parts.iter().enumerate() {
            text.push_str(if i == 0 { "\n" } else { ",\n" });
            text.push_str(&serde_json::to_string(part).unwrap_or_default());
        }
        text.push_str("\n]}\n");
        text
    }
}

impl Totals {
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
