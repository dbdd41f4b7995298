//! [`Walk`]: visiting the blocks of a trace, in parallel, with the memory that their loads read.

use std::ops::Range;

use rayon::prelude::*;

use super::error::ReplayError;
use super::options::{Data, ReplayOptions};
use super::shard::Shard;
use super::windows::maps;
use crate::memory::{AddressMap, Fill, FilledMemory, LoadMemory};
use crate::trace::binary::{BinaryTrace, Block, RawBlock, TraceError};

/// The part of a trace that options select, and where each kernel's windows lie.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pub(super) trace: &'a BinaryTrace,
    pub(super) options: ReplayOptions<'a>,
    /// By kernel.
    maps: Vec<AddressMap>,
    /// The blocks, each with the memory instructions that belong to the shard.
    pub(super) blocks: Vec<(RawBlock, Range<usize>)>,
}

/// What blocks add to.
pub(super) trait Visitor: Send + Sized {
    /// Visits some memory instructions of a block, which comes after those visited before.
    fn visit<M: LoadMemory>(
        &mut self,
        walk: &Walk<'_>,
        block: &Block<'_>,
        records: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError>;

    /// Adds what was found in the blocks that follow those of `self`.
    fn add(&mut self, later: Self);
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        trace: &'a BinaryTrace,
        options: &ReplayOptions<'a>,
    ) -> Result<Self, ReplayError> {
        let shard = options.get_shard().unwrap_or(Shard::WHOLE);
        let of_shard =
            |block: &RawBlock| Some((*block, shard.of_block(block, trace.memory_records())?));
        Ok(Self {
            trace,
            options: *options,
            maps: maps(trace, options)?,
            blocks: trace.blocks().iter().filter_map(of_shard).collect(),
        })
    }

    /// Visits all blocks. Each thread begins with a `blank` visitor. Blocks are visited in order
    /// within a thread's run, and runs are added in order, so that what a visitor collects stays
    /// in the order of the trace.
    pub(super) fn visit<V: Visitor>(
        &self,
        blank: impl Fn() -> V + Send + Sync,
    ) -> Result<V, TraceError> {
        self.blocks
            .par_iter()
            .try_fold(&blank, |mut visitor, (raw, loads)| {
                self.visit_block(&mut visitor, raw, loads.clone())?;
                Ok(visitor)
            })
            .try_reduce(&blank, |mut visitor, later| {
                visitor.add(later);
                Ok(visitor)
            })
    }

    fn visit_block<V: Visitor>(
        &self,
        visitor: &mut V,
        raw: &RawBlock,
        loads: Range<usize>,
    ) -> Result<(), TraceError> {
        let block = self.trace.block(raw)?;
        let map = self.maps[raw.kernel as usize];
        let filled = |fill| FilledMemory { map, fill };
        match self.options.get_data() {
            Data::Image(memory) => visitor.visit(self, &block, loads, memory),
            Data::Fill(fill) => visitor.visit(self, &block, loads, &filled(fill)),
            // Apart, so that the compiler knows that all values are zero.
            Data::Absent => visitor.visit(self, &block, loads, &filled(Fill::Zero)),
        }
    }
}
