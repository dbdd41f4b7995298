//! [`SetBuilder`]: putting binary traces together.

use rustc_hash::FxHashMap;

use super::{SetPart, TraceSet};
use crate::binary::{BinaryTrace, TraceContents, TraceError};
use crate::operation::MemoryOperation;

/// The most different sources that a set names.
const MAX_SOURCES: usize = 16;

/// Puts binary traces together: [`add`](Self::add) each in order, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct SetBuilder {
    contents: TraceContents,
    sources: Vec<String>,
    operations: FxHashMap<MemoryOperation, u16>,
    /// How often the set has each allocation.
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

    /// Adds the next part, a trace in `file`, which is relative to the file of the set.
    ///
    /// # Errors
    /// Returns [`TraceError`] if the trace cannot be a part, or has one operation too many. The builder is
    /// then as before.
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

    /// Adds the allocations of a part that the set does not have as often. A list of traces is the same
    /// in all parts, and can name an allocation again and again.
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
    /// Returns those of [`TraceSet::new`].
    pub fn finish(self) -> Result<TraceSet, TraceError> {
        let source = self.sources.join("; ");
        TraceSet::new(TraceContents { source, ..self.contents }, self.parts)
    }
}
