//! [`Shard`]: a part of a trace that can be replayed alone.

use std::fmt;
use std::str::FromStr;

use crate::binary::{BinaryTrace, RawBlock};
use warpload::text::parse_number;

/// One of several parts of a trace, cut at memory instructions. Together, the parts are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// Why a text is not a [`Shard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected I/N, with I at least 0 and below N")]
pub struct ShardError;

/// Parses the notation for users: `0/3`.
impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(parse_number(index)?, parse_number(count)?))
            .ok_or(ShardError)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
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

    /// The memory instructions of the part, by their number in the trace.
    pub(crate) fn records(self, all: u64) -> std::ops::Range<u64> {
        let border = |i: u64| (u128::from(all) * u128::from(i) / u128::from(self.count)) as u64;
        border(self.index)..border(self.index + 1)
    }

    /// Whether the place right before memory instruction `at` of `all` belongs to the part.
    pub(crate) fn has_place(self, at: u64, all: u64) -> bool {
        self.records(all).contains(&at) || (self.is_last() && at == all)
    }

    pub(crate) fn is_last(self) -> bool {
        self.index + 1 == self.count
    }

    /// Returns the memory instructions of a block that belong to the part, by their number in the block; `None` if the
    /// block does not belong to it. A block without memory instructions belongs to exactly one part.
    #[must_use]
    pub fn of_block(self, block: &RawBlock, all: u64) -> Option<std::ops::Range<usize>> {
        let part = self.records(all);
        let first = block.first_record;
        if block.records == 0 {
            return self.has_place(first, all).then_some(0..0);
        }
        let start = part.start.max(first);
        let end = part.end.min(first + u64::from(block.records));
        (start < end).then(|| (start - first) as usize..(end - first) as usize)
    }
}

/// Returns the kernels that the summary of a shard lists, ascending, by their index in
/// [`TraceContents::kernels`](crate::TraceContents::kernels): the kernels with instructions in the shard, and the kernels
/// without instructions at a place of the shard, so that each of these is in exactly one.
#[must_use]
pub fn kernels_of_shard(trace: &BinaryTrace, shard: Shard) -> Vec<usize> {
    let all = trace.records();
    let blocks = trace.blocks();
    let end = |block: &RawBlock| block.first_record + u64::from(block.records);
    // For each kernel, the first memory instruction of a later one. A kernel without instructions lies there.
    let kernels = trace.contents().kernels.len();
    let mut next = vec![u64::MAX; kernels];
    let (mut is_empty, mut is_own) = (vec![true; kernels], vec![false; kernels]);
    for block in blocks {
        let kernel = block.kernel as usize;
        let Some(place) = next.get_mut(kernel) else { continue };
        *place = block.first_record.min(*place);
        is_empty[kernel] = false;
        is_own[kernel] |= shard.of_block(block, all).is_some();
    }
    let mut place = blocks.iter().map(end).max().unwrap_or_default();
    for kernel in (0..kernels).rev() {
        if is_empty[kernel] {
            is_own[kernel] = shard.has_place(place, all);
        }
        place = place.min(next[kernel]);
    }
    (0..kernels).filter(|kernel| is_own[*kernel]).collect()
}
