//! [`TraceSet`]: a file that names several binary traces and makes them one (docs/trace-sets.md). A [`SetBuilder`]
//! makes a set; it is stored as JSON, and its parts are opened as one [`BinaryTrace`].

use std::io;
use std::ops::Range;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::Shard;
use crate::binary::{
    BinaryTrace, ContentHash, Join, Totals, TraceContents, TraceError, operations,
};
use crate::import::MAX_KERNELS;
use crate::operation::MemoryOperation;
use warpload::json::{self, JsonError};
use warpload::memory::Arena;
use warpload_binary::lines::without_mark;

/// The version of the format.
const VERSION: u32 = 1;

/// Binary traces that together form one, in order. Instructions, kernels and operations are numbered consecutively.
///
/// A set has the whole trace's [`TraceContents`] without the kernels, and knows the parts that a shard needs. Only
/// these have to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSet {
    contents: TraceContents,
    parts: Vec<SetPart>,
    /// The totals before each part, and finally of the whole.
    before: Vec<Totals>,
    content_hash: ContentHash,
}

/// A part of a [`TraceSet`], with data to recognize it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetPart {
    /// Its file, relative to the set's file.
    pub file: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its [identity](crate::BinaryTrace::content_hash).
    pub content_hash: ContentHash,
    /// Its instructions, with and without memory operands.
    pub records: u64,
    /// Its memory instructions.
    pub memory_records: u64,
    /// Its loads.
    pub loads: u64,
    /// Its kernels.
    pub kernels: u64,
    /// The number of blocks after the one with its last memory instruction; all blocks if it has none.
    pub trailing_blocks: u64,
}

impl SetPart {
    /// The entry for a trace of one file.
    fn of(file: String, trace: &BinaryTrace) -> Self {
        let without = trace.blocks().iter().rev().take_while(|block| block.memory_records == 0);
        Self {
            file,
            bytes: trace.size(),
            content_hash: trace.content_hash(),
            records: trace.records(),
            memory_records: trace.memory_records(),
            loads: trace.loads(),
            kernels: trace.contents().kernels.len() as u64,
            trailing_blocks: without.count() as u64,
        }
    }

    fn totals(&self) -> Totals {
        let Self { records, memory_records, loads, kernels, .. } = *self;
        Totals { records, memory_records, loads, kernels }
    }
}

impl TraceSet {
    /// Creates the set of these parts, in this order. Leaves out the kernels of `contents`.
    ///
    /// # Errors
    /// Returns [`TraceError::Set`] if there is no part, a part's counts contradict each other, or the set would have
    /// more than [`MAX_KERNELS`] kernels.
    pub fn new(contents: TraceContents, parts: Vec<SetPart>) -> Result<Self, TraceError> {
        let wrong = |message: String| TraceError::Set { message };
        if parts.is_empty() {
            return Err(wrong("it has no parts; expected at least one".to_owned()));
        }
        let mut total = Totals::default();
        let mut before = vec![total];
        for (i, part) in parts.iter().enumerate() {
            let of_part = |message: &str| wrong(format!("part {i}, {:?}: {message}", part.file));
            if part.file.is_empty() || part.file.contains('\0') {
                return Err(of_part("expected the name of a file"));
            }
            if part.memory_records > part.records || part.loads > part.memory_records {
                return Err(of_part("its counts contradict each other"));
            }
            total = total
                .checked_add(part.totals())
                .ok_or_else(|| of_part("the totals exceed 64 bits"))?;
            before.push(total);
        }
        if total.kernels > MAX_KERNELS as u64 {
            return Err(wrong(format!("it has more than {MAX_KERNELS} kernels")));
        }
        let mut contents = TraceContents { kernels: Vec::new(), ..contents };
        for operation in &mut contents.operations {
            // Reading a part also ignores the flag for operations that cannot reach global memory.
            operation.uniform &= operation.reaches_global();
        }
        let content_hash = content_hash(&contents, &parts);
        Ok(Self { contents, parts, before, content_hash })
    }

    /// Returns the contents without kernels. Operations are numbered for the whole.
    #[must_use]
    pub fn contents(&self) -> &TraceContents {
        &self.contents
    }

    /// Returns the parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[SetPart] {
        &self.parts
    }

    fn total(&self) -> Totals {
        self.before.last().copied().unwrap_or_default()
    }

    /// Returns the number of instructions, with and without memory operands.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.total().records
    }

    /// Returns the number of memory instructions.
    #[must_use]
    pub fn memory_records(&self) -> u64 {
        self.total().memory_records
    }

    /// Returns the number of loads.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.total().loads
    }

    /// Returns the number of kernels.
    #[must_use]
    pub fn kernels(&self) -> u64 {
        self.total().kernels
    }

    /// Returns the identity of the set: a hash of its [contents](Self::contents) and of the data about its parts except
    /// their names (docs/trace-sets.md).
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// Returns the parts that a shard needs; for `None`, the parts of the whole. Empty if the shard has no memory
    /// instructions and is not the last one. Each part is needed by some shard.
    #[must_use]
    pub fn parts_of(&self, shard: Option<Shard>) -> Range<usize> {
        let shard = shard.unwrap_or(Shard::WHOLE);
        let (records, is_last) = (shard.records(self.memory_records()), shard.is_last());
        let parts = self.parts.len();
        let mut first = self.before[1..].partition_point(|end| end.memory_records <= records.start);
        if records.is_empty() && !is_last {
            return first..first;
        }
        let end = self.before[..parts].partition_point(|start| start.memory_records < records.end);
        let end = if is_last { parts } else { end };
        // Includes parts with blocks that have no memory instructions and lie between the previous shard and this one.
        while let Some(before) = first.checked_sub(1)
            && self.before[first].memory_records == records.start
            && (self.parts[before].memory_records == 0 || self.parts[before].trailing_blocks > 0)
        {
            first = before;
        }
        first..end
    }
}

/// The most sources that a set names.
const MAX_SOURCES: usize = 16;

/// Makes a set of binary traces: [`add`](Self::add) each in order, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct SetBuilder {
    contents: TraceContents,
    sources: Vec<String>,
    operations: FxHashMap<MemoryOperation, u16>,
    /// The number of times that the set has each allocation.
    allocations: FxHashMap<(u64, u64), u32>,
    parts: Vec<SetPart>,
}

impl Default for SetBuilder {
    fn default() -> Self {
        Self {
            contents: TraceContents { complete: true, ..TraceContents::default() },
            sources: Vec::new(),
            operations: FxHashMap::default(),
            allocations: FxHashMap::default(),
            parts: Vec::new(),
        }
    }
}

impl SetBuilder {
    /// Creates a set without parts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next part, a trace in `file`. The name is relative to the set's file.
    ///
    /// # Errors
    /// Returns [`TraceError`] if the trace cannot be a part, or has too many operations. The builder is then unchanged.
    pub fn add(&mut self, file: String, trace: &BinaryTrace) -> Result<(), TraceError> {
        trace.check_is_part()?;
        let TraceContents { source, tools, notes, complete, operations, allocations, .. } =
            trace.contents();
        let known = self.contents.operations.len();
        for operation in operations {
            if self.contents.number(&mut self.operations, operation).is_none() {
                for added in self.contents.operations.drain(known..) {
                    self.operations.remove(&added);
                }
                return Err(TraceError::NoPart {
                    message: "the set would have more than 65536 different memory instructions",
                });
            }
        }
        if self.sources.len() < MAX_SOURCES && !self.sources.contains(source) {
            self.sources.push(source.clone());
        }
        tools.iter().for_each(|tool| self.contents.add_tool(tool));
        notes.iter().for_each(|note| self.contents.add_note(note));
        self.contents.complete &= complete;
        self.allocations(allocations);
        self.parts.push(SetPart::of(file, trace));
        Ok(())
    }

    /// Adds the allocations that a part has more often than the set does. All parts imported from one list of traces
    /// have the allocations of the whole list, so adding them up would count each several times. The list itself can
    /// repeat an allocation, and these repeats are kept.
    fn allocations(&mut self, of_part: &[(u64, u64)]) {
        let mut counts: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        for allocation in of_part {
            let count = counts.entry(*allocation).or_default();
            *count += 1;
            let known = self.allocations.entry(*allocation).or_default();
            if *known < *count {
                *known = *count;
                self.contents.allocations.push(*allocation);
            }
        }
    }

    /// Returns the set.
    ///
    /// # Errors
    /// Returns the errors of [`TraceSet::new`].
    pub fn finish(self) -> Result<TraceSet, TraceError> {
        let source = self.sources.join("; ");
        TraceSet::new(TraceContents { source, ..self.contents }, self.parts)
    }
}

impl TraceSet {
    /// Opens the [needed parts](Self::parts_of) of a shard as one trace; for `None`, all parts. `folder` is the folder
    /// of the set's file, and `read` reads or maps a file.
    ///
    /// # Errors
    /// Returns [`TraceError`] with the name of the part that cannot be read, is damaged, or is not the one in the set.
    pub fn open(
        &self,
        shard: Option<Shard>,
        folder: &Path,
        mut read: impl FnMut(&Path) -> io::Result<Arena>,
    ) -> Result<BinaryTrace, TraceError> {
        let needed = self.parts_of(shard);
        let before = self.before.get(needed.start).copied().unwrap_or_default();
        let mut whole = Join::new(self.total(), self.content_hash, &self.contents, before);
        for part in self.parts.get(needed).unwrap_or_default() {
            let file = folder.join(&part.file);
            let bytes =
                read(&file).map_err(|source| TraceError::Read { path: file.clone(), source })?;
            let trace = BinaryTrace::new(bytes).and_then(|trace| {
                part.check(&trace)?;
                Ok(trace)
            });
            whole.add(&file, trace.map_err(|error| error.of_part(&file))?)?;
        }
        Ok(whole.finish())
    }
}

impl SetPart {
    /// Checks that a trace is this part.
    fn check(&self, trace: &BinaryTrace) -> Result<(), TraceError> {
        // The file was found under this name, so the name is not compared.
        let found = Self::of(self.file.clone(), trace);
        let differs = |what: &str, found: &dyn std::fmt::Display, known: &dyn std::fmt::Display| {
            let message = format!("its {what} is {found}; the set has {known}");
            Err(TraceError::OtherPart { message })
        };
        if found.content_hash != self.content_hash {
            return differs("content hash", &found.content_hash, &self.content_hash);
        }
        for (what, found, known) in [
            ("size in bytes", found.bytes, self.bytes),
            ("number of instructions", found.records, self.records),
            ("number of memory instructions", found.memory_records, self.memory_records),
            ("number of loads", found.loads, self.loads),
            ("number of kernels", found.kernels, self.kernels),
            (
                "number of last blocks without memory instructions",
                found.trailing_blocks,
                self.trailing_blocks,
            ),
        ] {
            if found != known {
                return differs(what, &found, &known);
            }
        }
        Ok(())
    }
}

/// The contents as written to JSON.
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

fn head_json(contents: &TraceContents) -> String {
    let TraceContents { source, tools, notes, complete, operations, allocations, .. } = contents;
    let complete = *complete;
    let head = Head { source, tools, notes, complete, operations, allocations };
    // Numbers, texts and lists can always be serialized.
    serde_json::to_string(&head).unwrap_or_default()
}

/// The hash of a set. It leaves out file names, because parts can be moved.
fn content_hash(contents: &TraceContents, parts: &[SetPart]) -> ContentHash {
    let mut hash = XxHash3_128::new();
    hash.write(head_json(contents).as_bytes());
    for part in parts {
        let SetPart { bytes, records, memory_records, loads, kernels, trailing_blocks, .. } = part;
        hash.write(&part.content_hash.0);
        for number in [bytes, records, memory_records, loads, kernels, trailing_blocks] {
            hash.write(&number.to_le_bytes());
        }
    }
    ContentHash::of_number(hash.finish_128())
}

/// The key that all versions of the file have.
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

/// The totals of the set, to be compared with its parts' totals.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTotals {
    version: u32,
    records: u64,
    memory_records: u64,
    loads: u64,
    kernels: u64,
    parts: u64,
    content_hash: ContentHash,
}

/// The maximum number of operations in a trace, because records have 16 bits for their number.
const MAX_OPERATIONS: usize = 1 << 16;

impl TraceSet {
    /// Returns whether a file that begins with these bytes is a trace set.
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
        let content_hash = set.content_hash;
        let set = RawTotals { content_hash: read.content_hash, ..set };
        if set != RawTotals::of(&read) {
            let message = "the totals under `set` differ from the sums of the parts";
            return Err(wrong(message.to_owned()));
        }
        if content_hash != read.content_hash {
            return Err(wrong(format!(
                "damaged: its content hash is {content_hash}, but its contents and parts have {}",
                read.content_hash
            )));
        }
        Ok(read)
    }

    /// Returns the text of the set's file, with a line for each part.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers, texts and lists can always be serialized.
        let totals = serde_json::to_string(&RawTotals::of(self)).unwrap_or_default();
        let head = head_json(&self.contents);
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
            content_hash: set.content_hash(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::MemoryOperation;

    fn part(memory_records: u64, trailing_blocks: u64) -> SetPart {
        SetPart {
            file: format!("{memory_records} and {trailing_blocks} \u{2028}\".wlt"),
            bytes: 0,
            content_hash: ContentHash([7; 16]),
            records: memory_records,
            memory_records,
            loads: memory_records,
            kernels: 1,
            trailing_blocks,
        }
    }

    /// All lists of up to five parts of a few kinds, each with all of its shards.
    #[test]
    fn each_shard_has_the_parts_that_it_needs() {
        let kinds = [part(0, 0), part(0, 2), part(1, 0), part(3, 0), part(3, 1)];
        for number in 1..kinds.len().pow(5) {
            let mut rest = number;
            let mut parts = Vec::new();
            while rest > 0 {
                parts.push(kinds[rest % kinds.len()].clone());
                rest /= kinds.len();
            }
            let set = TraceSet::new(TraceContents::default(), parts.clone()).expect("a set");
            assert_eq!(set.parts_of(None), 0..parts.len());
            let all = set.memory_records();
            for count in 1..9 {
                let mut needed = vec![false; parts.len()];
                for index in 0..count {
                    let shard = Shard::new(index, count).expect("a shard");
                    let (records, found) = (shard.records(all), set.parts_of(Some(shard)));
                    let mut at = 0;
                    for (i, part) in parts.iter().enumerate() {
                        let end = at + part.memory_records;
                        let is_needed = (at..end).any(|record| records.contains(&record))
                            || (part.memory_records == 0 || part.trailing_blocks > 0)
                                && shard.has_place(end, all);
                        assert_eq!(found.contains(&i), is_needed, "{parts:?} {shard:?} {i}");
                        needed[i] |= is_needed;
                        at = end;
                    }
                }
                assert!(needed.into_iter().all(|is_needed| is_needed), "{parts:?} {count}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let contents = TraceContents {
            source: "a test".to_owned(),
            notes: vec!["a \"note\"".to_owned()],
            operations: vec![
                MemoryOperation::of_opcode("LDG.E"),
                MemoryOperation::of_spa5("LD.E.U.128"),
            ],
            allocations: vec![(u64::MAX, 1); 2],
            ..TraceContents::default()
        };
        let set = TraceSet::new(contents, vec![part(7, 0), part(0, 3)]).expect("a set");
        let text = set.to_json();
        assert!(TraceSet::is_set(text.as_bytes()) && text.lines().count() == 4, "{text}");
        assert_eq!(TraceSet::from_json(text.as_bytes()).expect("a set"), set);
    }
}
