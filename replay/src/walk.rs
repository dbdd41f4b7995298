//! [`Walk`]: the blocks of a trace that a replay visits.

use std::ops::Range;

use super::error::ReplayError;
use super::options::ReplayOptions;
use super::windows::maps;
use warpload::memory::AddressMap;
use warpload_trace::Shard;
use warpload_trace::binary::{BinaryTrace, RawBlock};

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

    /// Returns the address map of a kernel, unless the data have their own.
    pub(super) fn map(&self, kernel: u32) -> AddressMap {
        self.maps[kernel as usize]
    }
}
