//! [`TraceSet`]: a file that names binary traces which are one trace together (docs/trace-format.md).

mod builder;
mod head;
mod json;
mod open;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::builder::SetBuilder;
use crate::Shard;
use crate::binary::{BinaryTrace, Totals, TraceContents, TraceError, hexadecimal};
use crate::import::MAX_KERNELS;

/// The version of the file that is written and read.
const VERSION: u32 = 1;

/// Binary traces that are one trace together, in order. Instructions, kernels and operations are
/// numbered from part to part.
///
/// A set has what the [`TraceContents`] of the whole have, but for the kernels, and what it takes to know
/// which parts a shard needs: of the parts only those have to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSet {
    contents: TraceContents,
    parts: Vec<SetPart>,
    /// For each part, what comes before it; then the totals.
    before: Vec<Totals>,
    checksum: u32,
}

/// A part of a [`TraceSet`], and how to recognize it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetPart {
    /// Its file, relative to that of the set.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its [checksum](crate::BinaryTrace::checksum).
    #[serde(with = "hexadecimal")]
    pub checksum: u32,
    /// Its instructions, those without a memory operand included.
    pub records: u64,
    /// Its memory instructions.
    pub memory_records: u64,
    /// Its loads.
    pub loads: u64,
    /// Its kernels.
    pub kernels: u64,
    /// How many blocks come after that of its last memory instruction; all blocks if it has none.
    pub trailing_blocks: u64,
}

impl SetPart {
    /// Returns what a set says of a trace of one file.
    fn of(file: String, trace: &BinaryTrace) -> Self {
        let without = trace.blocks().iter().rev().take_while(|block| block.memory_records == 0);
        Self {
            file,
            bytes: trace.size(),
            checksum: trace.checksum(),
            records: trace.records(),
            memory_records: trace.memory_records(),
            loads: trace.loads(),
            kernels: trace.contents().kernels.len() as u64,
            trailing_blocks: without.count() as u64,
        }
    }

    /// Returns what the checksum of the set covers: all but the name, because parts can be moved.
    fn numbers(&self) -> [u64; 7] {
        let Self {
            file: _,
            bytes,
            checksum,
            records,
            memory_records,
            loads,
            kernels,
            trailing_blocks,
        } = *self;
        [bytes, checksum.into(), records, memory_records, loads, kernels, trailing_blocks]
    }

    fn totals(&self) -> Totals {
        let Self { records, memory_records, loads, kernels, .. } = *self;
        Totals { records, memory_records, loads, kernels }
    }
}

impl TraceSet {
    /// Creates the set of these parts, in this order. The kernels of `contents` are left out.
    ///
    /// # Errors
    /// Returns [`TraceError::Set`] if there is no part, a part's counts contradict each other, or the
    /// set would have more than [`MAX_KERNELS`] kernels.
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
            // As in the parts: of other spaces it is ignored.
            operation.uniform &= operation.reaches_global();
        }
        let checksum = head::checksum(&contents, parts.iter().map(SetPart::numbers));
        Ok(Self { contents, parts, before, checksum })
    }

    /// Returns what the set holds beside blocks and kernels. Operations are numbered for the whole.
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

    /// Returns the number of instructions, those without a memory operand included.
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

    /// Returns the checksum of the set: a CRC-32 of its [contents](Self::contents) and of what it has of
    /// its parts, their names excepted (docs/trace-format.md).
    #[must_use]
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Returns which parts a shard needs, `None` being the whole; none if the shard has no memory
    /// instructions and is not the last one. Each part is needed by a shard.
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
        // Blocks without memory instructions between the shard before and this one.
        while let Some(before) = first.checked_sub(1)
            && self.before[first].memory_records == records.start
            && (self.parts[before].memory_records == 0 || self.parts[before].trailing_blocks > 0)
        {
            first = before;
        }
        first..end
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
            checksum: 0x1234,
            records: memory_records,
            memory_records,
            loads: memory_records,
            kernels: 1,
            trailing_blocks,
        }
    }

    /// All lists of up to five parts of a few kinds, and all shards of them.
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
