//! [`BlockBuilder`]: the block that [`TraceWriter`](super::TraceWriter) or an import fills.

use super::format::{MAX_BLOCK_MEMORY_RECORDS, MAX_BLOCK_RECORDS, RawRecord};
use super::place::{Runs, WarpPosition};
use super::record::{ClosedBlock, NewRecord};
use super::segment::Segment;
use warpload::impossible::OrImpossible;

/// The block that is being filled. Methods that add to it return it once it is full.
#[derive(Debug, Default)]
pub(crate) struct BlockBuilder {
    block: ClosedBlock,
    runs: Runs,
}

impl BlockBuilder {
    /// Says whose the following instructions are; `None` if unknown.
    #[inline]
    pub(crate) fn place(&mut self, place: Option<WarpPosition>) {
        self.runs.place(&mut self.block.runs, self.block.count, place);
    }

    /// Counts an instruction without a memory operand.
    pub(crate) fn skip(&mut self) -> Option<ClosedBlock> {
        self.block.count += 1;
        self.full()
    }

    /// Counts some of `count` instructions without a memory operand, as far as there is room. Returns how
    /// many.
    pub(crate) fn skip_up_to(&mut self, count: u64) -> (u64, Option<ClosedBlock>) {
        let room = MAX_BLOCK_RECORDS - self.block.count;
        let skipped = u32::try_from(count).map_or(room, |count| count.min(room));
        self.block.count += skipped;
        (skipped.into(), self.full())
    }

    pub(crate) fn record(&mut self, record: &NewRecord<'_>) -> Option<ClosedBlock> {
        self.block.record(record);
        self.full()
    }

    /// Adds the instructions of `segment` from number `from` on, as far as there is room. Their
    /// operations are indices of `operations`. Returns the number of the first instruction that was
    /// not added.
    pub(crate) fn append(
        &mut self,
        segment: &Segment,
        from: u32,
        operations: &[u16],
    ) -> (u32, Option<ClosedBlock>) {
        let Segment { block: ClosedBlock { records, payload, count, .. }, places } = segment;
        let block = &mut self.block;
        let first = records.partition_point(|record| record.index < from);
        let last = records.get(first + (MAX_BLOCK_MEMORY_RECORDS - block.records.len() - 1));
        let to = last.map_or(*count, |record| record.index + 1);
        let to = to.min(from + (MAX_BLOCK_RECORDS - block.count));
        let added = &records[first..first + records[first..].partition_point(|r| r.index < to)];
        let payload_of = |i: usize| records.get(i).map_or(payload.len(), |r| r.payload as usize);
        let bytes = payload_of(first)..payload_of(first + added.len());
        // What a record counts from the segment's start, it now counts from the block's.
        let shift = |index: u32| index - from + block.count;
        let payload_shift = (block.payload.len() as u32).wrapping_sub(bytes.start as u32);
        let number = |i: u16| operations.get(usize::from(i)).copied().or_impossible(0, NUMBERED);
        let room = if block.records.is_empty() { MAX_BLOCK_MEMORY_RECORDS } else { 0 };
        block.records.reserve(room);
        block.records.extend(added.iter().map(|record| RawRecord {
            index: shift(record.index),
            payload: record.payload.wrapping_add(payload_shift),
            operation: number(record.operation),
            ..*record
        }));
        block.payload.extend_from_slice(&payload[bytes]);
        let begun = places.partition_point(|(at, _)| *at < from);
        for (at, place) in &places[begun..] {
            // A place at the end is that of what follows the segment.
            if *at > to || (*at == to && to < *count) {
                break;
            }
            self.runs.place(&mut block.runs, at - from + block.count, *place);
        }
        block.count += to - from;
        (to, self.full())
    }

    /// Returns how many bytes the block takes now; 0 if nothing is in it.
    pub(crate) fn bytes(&self) -> usize {
        let ClosedBlock { records, runs, payload, count } = &self.block;
        if *count == 0 {
            return 0;
        }
        size_of::<Self>() + size_of_val(&records[..]) + size_of_val(&runs[..]) + payload.len()
    }

    fn full(&mut self) -> Option<ClosedBlock> {
        let block = &self.block;
        let is_full =
            block.count == MAX_BLOCK_RECORDS || block.records.len() == MAX_BLOCK_MEMORY_RECORDS;
        if is_full { self.close() } else { None }
    }

    /// Returns what is in the block and starts an empty one, which begins with the same warp; `None`
    /// if nothing is in it.
    pub(crate) fn close(&mut self) -> Option<ClosedBlock> {
        let mut block = std::mem::take(&mut self.block);
        self.runs.carry(&mut self.block.runs, block.count);
        // The last place may be that of instructions which did not come.
        block.runs.pop_if(|run| run.first == block.count);
        (block.count > 0).then_some(block)
    }
}

/// Why numbers are known.
const NUMBERED: &str = "each operation of a segment has a number";
