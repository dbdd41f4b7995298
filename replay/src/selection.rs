//! [`Selection`]: which loads a replay counts.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use warpload::memory::Space;
use warpload_trace::binary::MemoryRecord;

/// The loads that a replay counts; each field that is `None` allows all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Whether each kernel's loads are counted, in launch order.
    pub kernels: Option<Vec<bool>>,
    /// Whether each operation's loads are counted, by the operation's number.
    pub operations: Option<Vec<bool>>,
    /// The program counters.
    pub pcs: Option<RangeInclusive<u32>>,
    /// The memory of the first executing lane, as [`LoadCounts::by_space`](super::Counts::by_space) counts
    /// it: `Some(None)` selects the loads that it counts as unresolved.
    pub space: Option<Option<Space>>,
    /// The selection in words, for summaries.
    pub selected: Selected,
}

/// A selection in the words of whoever made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selected {
    /// The kernels.
    pub kernel: Option<String>,
    /// The program counters.
    pub pc: Option<String>,
    /// The opcodes.
    pub opcode: Option<String>,
    /// The memory.
    pub space: Option<String>,
}

impl Selection {
    /// Returns whether it has a load of that kernel whose first executing lane is in that memory.
    #[inline]
    pub(super) fn has(&self, kernel: u32, load: &MemoryRecord<'_>, space: Option<Space>) -> bool {
        let allows = |list: &Option<Vec<bool>>, i: usize| {
            list.as_ref().is_none_or(|list| list.get(i).copied().unwrap_or(false))
        };
        allows(&self.kernels, kernel as usize)
            && allows(&self.operations, usize::from(load.operation))
            && self.pcs.as_ref().is_none_or(|pcs| pcs.contains(&load.pc))
            && self.space.is_none_or(|wanted| wanted == space)
    }
}
