//! [`Shard`]: a part of a trace that can be replayed alone.

use crate::binary::{BinaryTrace, RawBlock};

/// One of several parts of a trace, cut at memory instructions; the parts together are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The whole trace.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Creates part `index`, from 0, of `count`; `None` if there is no such part.
    #[must_use]
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// Returns the part's number, from 0.
    #[must_use]
    pub fn index(self) -> u64 {
        self.index
    }

    /// Returns the number of parts.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// Returns the memory instructions of the part, by their number in the trace.
    pub(crate) fn records(self, all: u64) -> std::ops::Range<u64> {
        let border = |i: u64| (u128::from(all) * u128::from(i) / u128::from(self.count)) as u64;
        border(self.index)..border(self.index + 1)
    }

    /// Returns whether what lies before memory instruction `at` of `all`, and after the one before it,
    /// belongs to the part.
    pub(crate) fn has_place(self, at: u64, all: u64) -> bool {
        self.records(all).contains(&at) || (self.is_last() && at == all)
    }

    pub(crate) fn is_last(self) -> bool {
        self.index + 1 == self.count
    }

    /// Returns the memory instructions of a block that belong to the part, by their number in the block; `None` if
    /// there are none. A block without any belongs to one part too.
    #[must_use]
    pub fn of_block(self, block: &RawBlock, all: u64) -> Option<std::ops::Range<usize>> {
        let part = self.records(all);
        let first = block.first_memory_record;
        if block.memory_records == 0 {
            return self.has_place(first, all).then_some(0..0);
        }
        let start = part.start.max(first);
        let end = part.end.min(first + u64::from(block.memory_records));
        (start < end).then(|| (start - first) as usize..(end - first) as usize)
    }
}

/// Returns the kernels of a trace that the summary of a shard is to have so that summaries merge, by their
/// index in [`TraceContents::kernels`](crate::TraceContents::kernels): those of which it has instructions, and
/// those of which there are none. All others are in the summary of another shard.
#[must_use]
pub fn kernels_of_shard(trace: &BinaryTrace, shard: Shard) -> Vec<usize> {
    let mut is_elsewhere = vec![false; trace.contents().kernels.len()];
    let (own, other): (Vec<&RawBlock>, Vec<&RawBlock>) = trace
        .blocks()
        .iter()
        .partition(|block| shard.of_block(block, trace.memory_records()).is_some());
    for (blocks, is_other) in [(other, true), (own, false)] {
        for block in blocks {
            if let Some(kernel) = is_elsewhere.get_mut(block.kernel as usize) {
                *kernel = is_other;
            }
        }
    }
    (0..is_elsewhere.len()).filter(|kernel| !is_elsewhere[*kernel]).collect()
}
