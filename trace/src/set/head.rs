//! What the file of a set says of all parts together, and the checksum over it.

use serde::Serialize;

use crate::binary::{TraceContents, operations};
use crate::operation::MemoryOperation;

/// What is written of the contents.
#[derive(Serialize)]
struct Head<'c> {
    source: &'c str,
    tools: &'c [String],
    notes: &'c [String],
    complete: bool,
    #[serde(with = "operations")]
    operations: &'c [MemoryOperation],
    allocations: &'c [(u64, u64)],
}

/// Returns the JSON of the contents.
pub(super) fn text(contents: &TraceContents) -> String {
    let TraceContents { source, tools, notes, complete, operations, allocations, .. } = contents;
    let complete = *complete;
    let head = Head { source, tools, notes, complete, operations, allocations };
    // Numbers, texts and lists always have a form in JSON.
    serde_json::to_string(&head).unwrap_or_default()
}

/// Returns the checksum of a set with these contents, and parts with these numbers.
pub(super) fn checksum(contents: &TraceContents, parts: impl Iterator<Item = [u64; 7]>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(text(contents).as_bytes());
    parts.flatten().for_each(|number| crc.update(&number.to_le_bytes()));
    crc.finalize()
}
