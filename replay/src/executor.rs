//! [`AccessExecutor`]: executes the accesses of a trace one at a time, for programs that need more than sums.

use std::sync::Arc;

use super::costs::{AccessCosts, SpaceCosts};
use super::options::{ReplayData, ReplayOptions, Selection};
use crate::access::{Access, has_values};
use crate::counter::Executed;
use crate::replay::{ReplayError, maps};
use crate::row::{AccessKind, RowSpace};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, Loaded};
use warpload::memory::{AddressMap, Fill, FilledMemory, LoadMemory, Width};
use warpload_trace::binary::{BinaryTrace, MemoryRecord, TraceBlock};

/// Executes the accesses of a trace one at a time, as [`replay`](super::replay) executes and counts them: their costs
/// add up to its [`Summary`](super::Summary).
///
/// A clone is cheap and lets another thread execute other blocks.
///
/// ```
/// # use std::num::NonZero;
/// # use std::path::Path;
/// # use warpload::memory::Fill;
/// # use warpload_replay::{AccessExecutor, AccessKind, ReplayData, ReplayOptions};
/// # use warpload_trace::TraceSource;
/// # const TEXT: &str = "\
/// # -kernel name = k
/// # -grid dim = (1,1,1)
/// # -block dim = (32,1,1)
/// # -accelsim tracer version = 4
/// # #traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
/// # #BEGIN_TB
/// # thread block = 0,0,0
/// # warp = 0
/// # insts = 3
/// # 0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000001000 128
/// # 0020 ffffffff 1 R3 LDS 1 R6 4 1 0x100 8
/// # 0030 ffffffff 0 STG.E 2 R4 R2 4 1 0x7f0000001000 4
/// # #END_TB
/// # ";
/// # let source = TraceSource::from_stream(TEXT.as_bytes(), Path::new("TEXT"))?;
/// # let trace = source.into_trace(NonZero::<usize>::MIN, &())?;
/// // Loads of lanes 128 bytes apart in global memory and 8 bytes apart in shared memory, then a store.
/// let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
/// let mut executor = AccessExecutor::new(&trace, &options)?;
/// let mut found = Vec::new();
/// for raw in trace.blocks() {
///     let block = trace.block(raw)?;
///     for i in 0..raw.records as usize {
///         // `None` for instructions that are not replayed.
///         let Some(access) = executor.execute(&block, &block.record(i)?) else { continue };
///         found.push((access.kind, access.costs.sectors(), access.costs.wavefronts()));
///         assert_eq!(executor.values(0).is_some(), access.kind == AccessKind::Load);
///     }
/// }
/// let expected = [
///     (AccessKind::Load, Some(32), None),
///     (AccessKind::Load, None, Some(2)),
///     (AccessKind::Store, Some(4), None),
/// ];
/// assert_eq!(found, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccessExecutor<'a> {
    options: ReplayOptions<'a>,
    /// By kernel.
    maps: Arc<[AddressMap]>,
    /// The lanes of the access executed last.
    lanes: LaneAddresses,
    values: [LaneValues; Width::MAX_REGISTERS],
    /// The number of registers of `values` that it loaded.
    loaded: usize,
}

/// The result of executing one access; of a copy, of the side that the record is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutedAccess {
    /// What it does.
    pub kind: AccessKind,
    /// The address space of its addresses; of a copy, that of its side.
    pub space: RowSpace,
    /// The lanes that executed it.
    pub executing: LaneMask,
    /// Its faults and the memory of its first executing lane.
    pub loaded: Loaded,
    /// Its cost. Of shared memory `None` also if the wavefronts are unknown: those of atomics with lanes that share a
    /// word.
    pub costs: AccessCosts,
}

impl<'a> AccessExecutor<'a> {
    /// Creates an executor for the accesses of `trace`. Of the options, only the data, the addresses, the rules of
    /// shared memory and the selection matter.
    ///
    /// # Errors
    /// Returns [`ReplayError`] if a kernel has invalid windows and loads that need them, or if a block that must be
    /// read to find out is damaged.
    pub fn new(trace: &BinaryTrace, options: &ReplayOptions<'a>) -> Result<Self, ReplayError> {
        Ok(Self {
            options: *options,
            maps: maps(trace, options)?.into(),
            lanes: LaneAddresses::NONE,
            values: [[0; LANES]; Width::MAX_REGISTERS],
            loaded: 0,
        })
    }

    /// Selects the accesses of `selection` instead of the ones that the options select.
    #[must_use]
    pub fn select(self, selection: &'a Selection) -> Self {
        Self { options: ReplayOptions { selection: Some(selection), ..self.options }, ..self }
    }

    /// Executes an access of a block of the executor's trace. Returns `None` if the record is not a load, store,
    /// atomic, reduction or copy, or if the options do not select it.
    #[inline]
    pub fn execute(
        &mut self,
        block: &TraceBlock<'_>,
        record: &MemoryRecord<'_>,
    ) -> Option<ExecutedAccess> {
        self.loaded = 0;
        let kind = AccessKind::of(record.operation())?;
        // Only a block of another trace has an unknown kernel.
        let map = self.maps.get(block.raw().kernel as usize).copied().unwrap_or_default();
        match self.options.data {
            ReplayData::Image(memory) => self.execute_on(kind, block, record, memory),
            ReplayData::Fill(fill) => {
                self.execute_on(kind, block, record, &FilledMemory { map, fill })
            }
            ReplayData::Absent => {
                self.execute_on(kind, block, record, &FilledMemory { map, fill: Fill::Zero })
            }
        }
    }

    #[inline]
    fn execute_on<M: LoadMemory>(
        &mut self,
        kind: AccessKind,
        block: &TraceBlock<'_>,
        record: &MemoryRecord<'_>,
        memory: &M,
    ) -> Option<ExecutedAccess> {
        let operation = record.operation();
        let has_values = has_values(operation, &self.options);
        let rows = if has_values { &mut self.values[..] } else { &mut [] };
        let access = Access::execute(record, memory, &mut self.lanes, rows)?;
        if let Some(selection) = self.options.selection
            && !selection.has(block.raw().kernel, record, access.loaded.first_space)
        {
            return None;
        }
        if has_values && record.has_addresses() {
            self.loaded = operation.registers() as usize;
        }
        let rules = self.options.shared_rules;
        let executed = Executed::of(block, record, &access, &self.lanes, memory.map(), rules);
        let global = executed.reaches_global().then(|| executed.traffic(&mut ()));
        let SpaceCosts { shared, local, constant, .. } = executed.space_costs(executed.served());
        let shared = shared.filter(|cost| !executed.takes_turns(cost));
        let costs = AccessCosts { global, shared, local, constant };
        let (space, executing) = (access.op.space.into(), self.lanes.executing);
        Some(ExecutedAccess { kind, space, executing, loaded: access.loaded, costs })
    }

    /// Returns the lanes and addresses of the access executed last. Addresses of inactive lanes are meaningless; so are
    /// all addresses if they are unknown. Of the shared side of a copy, the executing lanes have offsets.
    #[must_use]
    pub fn lanes(&self) -> &LaneAddresses {
        &self.lanes
    }

    /// Returns the values of a register of the load executed last, counted from its first register. Values of lanes
    /// that do not execute are meaningless. `None` if the access is no load or has no such register, its addresses are
    /// unknown, or there are no data.
    #[must_use]
    pub fn values(&self, register: usize) -> Option<&LaneValues> {
        self.values.get(..self.loaded)?.get(register)
    }
}
