//! [`LoadExecutor`]: executes the loads of a trace one at a time, for programs that need more than sums.

use std::sync::Arc;

use super::costs::{LoadCosts, Offsets, SpaceCosts};
use super::options::{ReplayData, ReplayOptions, Selection};
use super::traffic::Traffic;
use crate::counter::served;
use crate::replay::{ReplayError, maps};
use crate::worker::{execute, has_public_values};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, Loaded};
use warpload::memory::{AddressMap, Fill, FilledMemory, LoadMemory, Width};
use warpload_trace::OperationKind;
use warpload_trace::binary::{BinaryTrace, MemoryRecord, TraceBlock};

/// Executes the loads of a trace one at a time, as [`replay`](super::replay) executes and counts them: their costs add
/// up to its [`Summary`](super::Summary).
///
/// A clone is cheap and lets another thread execute other blocks.
///
/// ```
/// # use std::num::NonZero;
/// # use std::path::Path;
/// # use warpload::memory::Fill;
/// # use warpload_replay::{ReplayData, LoadExecutor, ReplayOptions};
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
/// # insts = 2
/// # 0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000001000 128
/// # 0020 ffffffff 1 R3 LDS 1 R6 4 1 0x100 8
/// # #END_TB
/// # ";
/// # let source = TraceSource::from_stream(TEXT.as_bytes(), Path::new("TEXT"))?;
/// # let trace = source.into_trace(NonZero::<usize>::MIN, &())?;
/// // Lanes 128 bytes apart in global memory, then 8 bytes apart in shared memory.
/// let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
/// let mut executor = LoadExecutor::new(&trace, &options)?;
/// let mut found = Vec::new();
/// for raw in trace.blocks() {
///     let block = trace.block(raw)?;
///     for i in 0..raw.memory_records as usize {
///         // `None` for stores and others that are not loads.
///         let Some(load) = executor.execute(&block, &block.record(i)?) else { continue };
///         found.push((load.costs.sectors(), load.costs.lines(), load.costs.wavefronts()));
///         assert!(executor.values(0).is_some());
///     }
/// }
/// assert_eq!(found, [(Some(32), Some(32), None), (None, None, Some(2))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoadExecutor<'a> {
    options: ReplayOptions<'a>,
    /// By kernel.
    maps: Arc<[AddressMap]>,
    /// The lanes of the load executed last.
    lanes: LaneAddresses,
    values: [LaneValues; Width::MAX_REGISTERS],
    /// The number of registers of `values` that it loaded.
    loaded: usize,
}

/// The result of executing one load.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecutedLoad {
    /// The lanes that executed it.
    pub executing: LaneMask,
    /// Its faults and the memory of its first executing lane.
    pub loaded: Loaded,
    /// Its cost.
    pub costs: LoadCosts,
}

impl<'a> LoadExecutor<'a> {
    /// Creates an executor for the loads of `trace`. Of the options, only the data, the addresses and the selection of
    /// loads matter.
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

    /// Selects the loads of `selection` instead of the ones that the options select.
    #[must_use]
    pub fn select(self, selection: &'a Selection) -> Self {
        Self { options: ReplayOptions { selection: Some(selection), ..self.options }, ..self }
    }

    /// Executes a load of a block of the executor's trace. Returns `None` if the record is not a load, or if the
    /// options do not select it.
    #[inline]
    pub fn execute(
        &mut self,
        block: &TraceBlock<'_>,
        record: &MemoryRecord<'_>,
    ) -> Option<ExecutedLoad> {
        self.loaded = 0;
        if record.operation().kind != OperationKind::Load {
            return None;
        }
        let kernel = block.raw().kernel;
        // Only a block of another trace has an unknown kernel.
        let map = self.maps.get(kernel as usize).copied().unwrap_or_default();
        match self.options.data {
            ReplayData::Image(memory) => self.execute_on(kernel, record, memory),
            ReplayData::Fill(fill) => self.execute_on(kernel, record, &FilledMemory { map, fill }),
            ReplayData::Absent => {
                self.execute_on(kernel, record, &FilledMemory { map, fill: Fill::Zero })
            }
        }
    }

    #[inline]
    fn execute_on<M: LoadMemory>(
        &mut self,
        kernel: u32,
        record: &MemoryRecord<'_>,
        memory: &M,
    ) -> Option<ExecutedLoad> {
        let operation = record.operation();
        let op = operation.load_op();
        let has_values = self.options.has_data() && has_public_values(operation);
        let rows = if has_values { &mut self.values[..] } else { &mut [] };
        let loaded = execute(record, memory, &mut self.lanes, rows);
        if let Some(selection) = self.options.selection
            && !selection.has(kernel, record, loaded.first_space)
        {
            return None;
        }
        if has_values && record.has_addresses() {
            self.loaded = operation.registers() as usize;
        }
        let lanes = &self.lanes;
        let served = served(operation, lanes.executing, record.has_addresses(), &loaded);
        let is_global = record.has_addresses() && operation.reaches_global();
        let global = is_global
            .then(|| Traffic::of_lanes(&lanes.addresses, loaded.global, op.width, &mut ()));
        let offsets = Offsets {
            lanes: served & !loaded.global,
            addresses: &lanes.addresses,
            base: 0,
            width: op.width,
            rules: self.options.shared_rules,
        };
        let SpaceCosts { shared, local, constant, .. } =
            SpaceCosts::new(op.space, &offsets, memory.map());
        let costs = LoadCosts { global, shared, local, constant };
        Some(ExecutedLoad { executing: lanes.executing, loaded, costs })
    }

    /// Returns the lanes and addresses of the load executed last. Addresses of inactive lanes are meaningless; so are
    /// all addresses if they are unknown.
    #[must_use]
    pub fn lanes(&self) -> &LaneAddresses {
        &self.lanes
    }

    /// Returns the values of a register of the load executed last, counted from its first register. Values of lanes
    /// that do not execute are meaningless. `None` if the load has no such register, its addresses are unknown, or
    /// there are no data.
    #[must_use]
    pub fn values(&self, register: usize) -> Option<&LaneValues> {
        self.values.get(..self.loaded)?.get(register)
    }
}
