//! [`Segment`]: instructions of a part of a file, which blocks are made of.

use super::place::WarpPosition;
use super::record::{ClosedBlock, NewRecord};

/// Instructions in order. There are at most [`MAX_BLOCK_RECORDS`](super::MAX_BLOCK_RECORDS) of them, with
/// numbers of operations of their own.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(super) block: ClosedBlock,
    /// Places, each with the number of instructions before it; ascending.
    pub(super) places: Vec<(u32, Option<WarpPosition>)>,
}

impl Segment {
    /// Returns the number of instructions.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.block.count
    }

    /// Says whose the instructions after the first `count` are.
    #[inline]
    pub(crate) fn place(&mut self, count: u32, place: Option<WarpPosition>) {
        let goes_on = |(first, last): &(u32, Option<WarpPosition>)| {
            last.map(|last| last.after(count - first)) == place
        };
        if !self.places.last().is_some_and(goes_on) {
            self.places.push((count, place));
        }
    }

    /// Counts an instruction without a memory operand.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.block.count += 1;
    }

    #[inline]
    pub(crate) fn record(&mut self, record: &NewRecord<'_>) {
        self.block.record(record);
    }

    pub(crate) fn clear(&mut self) {
        let ClosedBlock { records, runs, payload, count } = &mut self.block;
        records.clear();
        runs.clear();
        payload.clear();
        *count = 0;
        self.places.clear();
    }
}
