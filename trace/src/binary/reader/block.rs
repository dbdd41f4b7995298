//! [`TraceBlock`] and [`MemoryRecord`]: the memory instructions of a binary trace.

use std::ops::Range;

use bytemuck::pod_read_unaligned;

use super::TraceFile;
use crate::binary::contents::TraceContents;
use crate::binary::error::TraceError;
use crate::binary::format::{
    ALL_FLAGS, ALL_RUN, FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH, RawBlock,
    RawRecord, RawRun, form,
};
use crate::binary::record::WarpPosition;
use crate::operation::{MemoryOperation, OperationKind};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::WarpAddresses;

/// A block whose bytes match their checksum.
#[derive(Clone, Copy, Debug)]
pub struct TraceBlock<'t> {
    raw: RawBlock,
    records: &'t [u8],
    runs: &'t [u8],
    payload: &'t [u8],
    contents: &'t TraceContents,
    part: &'t TraceFile,
}

/// One memory instruction of a trace.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRecord<'t> {
    /// The number of instructions before it in its block.
    pub index: u32,
    /// The number of stores before it in its block that have no record: those of version 1.
    pub stores: u32,
    /// The number of atomics before it in its block that have no record: those of version 1.
    pub atomics: u32,
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: LaneMask,
    /// The lanes whose Plg is true; `None` if unknown.
    pub plg: Option<LaneMask>,
    /// The lanes whose guard is true; `None` if unknown.
    pub guard: Option<LaneMask>,
    /// The operation's index in the trace's contents.
    pub operation: u16,
    /// Whether the source's access width was not the opcode's.
    pub width_disagrees: bool,
    /// Whether the source has values for it, of any kind.
    pub is_valued: bool,
    op: &'t MemoryOperation,
    form: u8,
    addresses: &'t [u8],
    values: Option<&'t [u8]>,
}

impl<'t> TraceBlock<'t> {
    /// Checks the bytes of a block of a part of a trace.
    pub(super) fn new(
        raw: RawBlock,
        contents: &'t TraceContents,
        part: &'t TraceFile,
    ) -> Result<Self, TraceError> {
        Self::checked(raw, contents, part).map_err(|error| part.error(error))
    }

    fn checked(
        raw: RawBlock,
        contents: &'t TraceContents,
        part: &'t TraceFile,
    ) -> Result<Self, TraceError> {
        let bytes = part.block(&raw).filter(|bytes| crc32fast::hash(bytes) == raw.crc);
        let bytes = bytes.ok_or(TraceError::Damaged { part: "block", offset: raw.offset })?;
        let records = raw.memory_records as usize * size_of::<RawRecord>();
        let runs = raw.runs as usize * size_of::<RawRun>();
        let parts = bytes
            .split_at_checked(records)
            .and_then(|(records, rest)| Some((records, rest.split_at_checked(runs)?)));
        let (records, (runs, payload)) = parts.ok_or_else(|| {
            let RawBlock { memory_records, runs, .. } = raw;
            let size = bytes.len();
            let message =
                format!("{size} bytes do not hold {memory_records} records and {runs} runs");
            malformed(&raw, message)
        })?;
        let block = Self { raw, records, runs, payload, contents, part };
        block.check_order()?;
        block.check_kinds()?;
        block.check_runs()?;
        Ok(block)
    }

    fn raw_records(&self) -> impl Iterator<Item = RawRecord> + 't {
        self.records.chunks_exact(size_of::<RawRecord>()).map(pod_read_unaligned)
    }

    /// Checks that the counts before each record exceed those before the previous one, and leave room
    /// for the instructions without a record: the counts of the parts of a block then add up to those
    /// of the block.
    fn check_order(&self) -> Result<(), TraceError> {
        let before = self
            .raw_records()
            .map(|record| (record.index, u32::from(record.stores), u32::from(record.atomics)));
        // The least counts before the next record: those after this one.
        let (mut index, mut stores, mut atomics) = (0, 0, 0);
        for (i, at) in before.chain([self.unrecorded()]).enumerate() {
            let skipped = (at.1.checked_sub(stores)).zip(at.2.checked_sub(atomics));
            let others =
                at.0.checked_sub(index).zip(skipped).and_then(|(passed, (stores, atomics))| {
                    passed.checked_sub(stores)?.checked_sub(atomics)
                });
            if others.is_none() {
                let message = format!("the counts before record {i} are too low");
                return Err(malformed(&self.raw, message));
            }
            (index, stores, atomics) = (at.0.saturating_add(1), at.1, at.2);
        }
        Ok(())
    }

    /// Returns a record's operation and its number in the contents.
    #[inline]
    fn operation(&self, record: &RawRecord) -> Option<(u16, &'t MemoryOperation)> {
        let number = self.part.operation(record.operation)?;
        Some((number, self.contents.operations.get(usize::from(number))?))
    }

    /// Checks the counts of the index.
    fn check_kinds(&self) -> Result<(), TraceError> {
        let (mut loads, mut stores, mut atomics) = (0, 0, 0);
        for record in self.raw_records() {
            match self.operation(&record).map(|(_, operation)| operation.kind) {
                Some(OperationKind::Load) => loads += 1,
                Some(OperationKind::Store) => stores += 1,
                Some(OperationKind::Atomic) => atomics += 1,
                _ => {}
            }
        }
        let RawBlock {
            loads: expected_loads,
            stores: expected_stores,
            atomics: expected_atomics,
            ..
        } = self.raw;
        let is_right = loads == expected_loads
            && (self.part.has_loads_only()
                || (stores, atomics) == (expected_stores, expected_atomics));
        if is_right {
            return Ok(());
        }
        let message = "it has not as many loads, stores and atomics as the index says";
        Err(malformed(&self.raw, message.to_owned()))
    }

    /// Checks that runs ascend and say what is known.
    fn check_runs(&self) -> Result<(), TraceError> {
        let mut next = 0;
        for i in 0..self.raw.runs as usize {
            let run = self.run(i);
            if run.first < next || run.first >= self.raw.records || run.known & !ALL_RUN != 0 {
                return Err(malformed(&self.raw, format!("run {i} is inconsistent")));
            }
            next = run.first + 1;
        }
        Ok(())
    }

    fn run(&self, i: usize) -> RawRun {
        let (runs, _) = self.runs.as_chunks::<{ size_of::<RawRun>() }>();
        runs.get(i).map_or_else(RawRun::default, |run| pod_read_unaligned(run))
    }

    /// Returns the number of its instructions, and of its stores and atomics that have no record.
    #[must_use]
    pub fn unrecorded(&self) -> (u32, u32, u32) {
        let RawBlock { records, stores, atomics, .. } = self.raw;
        if self.part.has_loads_only() { (records, stores, atomics) } else { (records, 0, 0) }
    }

    /// Returns whose the instruction with `index` instructions before it in the block is, and where it
    /// is among those of its warp, as far as the source says.
    #[must_use]
    pub fn place(&self, index: u32) -> WarpPosition {
        let (mut from, mut to) = (0, self.raw.runs as usize);
        while from < to {
            let middle = from.midpoint(to);
            if self.run(middle).first <= index { from = middle + 1 } else { to = middle }
        }
        let Some(i) = from.checked_sub(1) else { return WarpPosition::default() };
        let run = self.run(i);
        run.place().after(index - run.first)
    }

    /// Returns the places of instructions that are asked for in ascending order, which is faster than
    /// [`Self::place`].
    #[must_use]
    pub fn places(&self) -> WarpPositions<'t> {
        WarpPositions { block: *self, next: 0, run: RawRun::default() }
    }

    /// Returns the block's row of the index.
    #[must_use]
    pub fn raw(&self) -> &RawBlock {
        &self.raw
    }

    /// Returns memory instruction `i` of the block, counted from 0.
    ///
    /// # Errors
    /// Returns [`TraceError::Malformed`] if there is no such record, or it points outside the block or
    /// the contents, or has an unknown form or flag.
    #[inline]
    pub fn record(&self, i: usize) -> Result<MemoryRecord<'t>, TraceError> {
        let (records, _) = self.records.as_chunks::<{ size_of::<RawRecord>() }>();
        let record = records.get(i).and_then(|record| self.read(&pod_read_unaligned(record)));
        record.ok_or_else(|| {
            let message = format!("record {i} fits neither block nor contents");
            self.part.error(malformed(&self.raw, message))
        })
    }

    #[inline]
    fn read(&self, record: &RawRecord) -> Option<MemoryRecord<'t>> {
        let (number, operation) = self.operation(record)?;
        if record.flags & !ALL_FLAGS != 0 {
            return None;
        }
        let mask = LaneMask::from_bits(record.mask);
        let active = mask.count() as usize;
        let bytes = match record.form {
            form::UNIFORM => 8,
            form::STRIDE => 16,
            form::DELTAS => (8 + 4 * active.checked_sub(1)?).next_multiple_of(8),
            form::LIST => 8 * active,
            form::UNKNOWN => 0,
            form::TRANSFER if operation.kind == OperationKind::Transfer => 16,
            _ => return None,
        };
        let (addresses, rest) =
            self.payload.get(record.payload as usize..)?.split_at_checked(bytes)?;
        let values = if record.flags & FLAG_VALUES != 0 {
            Some(rest.get(..4 * active * operation.registers() as usize)?)
        } else {
            None
        };
        let known = |flag, bits| (record.flags & flag != 0).then_some(LaneMask::from_bits(bits));
        Some(MemoryRecord {
            index: record.index,
            stores: u32::from(record.stores),
            atomics: u32::from(record.atomics),
            pc: record.pc,
            mask,
            plg: known(FLAG_PLG, record.plg),
            guard: known(FLAG_GUARD, record.guard),
            operation: number,
            width_disagrees: record.flags & FLAG_WIDTH != 0,
            is_valued: record.flags & (FLAG_VALUES | FLAG_VALUED) != 0,
            op: operation,
            form: record.form,
            addresses,
            values,
        })
    }
}

/// Places of instructions in ascending order, from [`TraceBlock::places`].
#[derive(Clone, Debug)]
pub struct WarpPositions<'t> {
    block: TraceBlock<'t>,
    /// The number of the run after `run`.
    next: usize,
    /// The run of the last instruction; of an unknown warp before the first one.
    run: RawRun,
}

impl WarpPositions<'_> {
    /// Returns what [`TraceBlock::place`] does, for an index that is not below that of the call before.
    #[inline]
    #[must_use]
    pub fn place(&mut self, index: u32) -> WarpPosition {
        while self.next < self.block.raw.runs as usize {
            let run = self.block.run(self.next);
            if run.first > index {
                break;
            }
            (self.run, self.next) = (run, self.next + 1);
        }
        self.run.place().after(index.saturating_sub(self.run.first))
    }
}

/// Returns the eight bytes at `at`; 0 past the end.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

impl<'t> MemoryRecord<'t> {
    /// Returns what the instruction does.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> &'t MemoryOperation {
        self.op
    }

    /// Returns whether the active lanes' addresses are known.
    #[inline]
    #[must_use]
    pub fn has_addresses(&self) -> bool {
        !matches!(self.form, form::UNKNOWN | form::TRANSFER)
    }

    /// Returns how many addresses an instruction that moves blocks has, and how many bytes it moves;
    /// `None` of other instructions, and if the source does not say.
    #[must_use]
    pub fn transfer(&self) -> Option<(u64, u64)> {
        (self.form == form::TRANSFER).then(|| (word(self.addresses, 0), word(self.addresses, 8)))
    }

    /// Returns the lanes' addresses; meaningless for lanes that are not active, and if they are unknown.
    #[inline]
    #[must_use]
    pub fn addresses(&self) -> WarpAddresses {
        let mut addresses = WarpAddresses::Stride { base: 0, stride: 0 };
        self.read_addresses(&mut addresses);
        addresses
    }

    /// Sets `addresses` to what [`Self::addresses`] returns: in place, for load after load.
    #[inline]
    pub fn read_addresses(&self, addresses: &mut WarpAddresses) {
        let base = word(self.addresses, 0);
        let stride = if self.form == form::STRIDE { word(self.addresses, 8) } else { 0 };
        // Strides are from active lane to active lane.
        match (self.form, self.mask.range()) {
            // The latter two have no address for a lane; that it is the same for any says nothing.
            (form::UNIFORM | form::UNKNOWN | form::TRANSFER, _) => {
                *addresses = WarpAddresses::Stride { base, stride };
                return;
            }
            (form::STRIDE, Some(Range { start, .. })) => {
                let base = base.wrapping_sub(stride.wrapping_mul(start as u64));
                *addresses = WarpAddresses::Stride { base, stride };
                return;
            }
            _ => {}
        }
        if let WarpAddresses::Stride { .. } = addresses {
            *addresses = WarpAddresses::Each([0; LANES]);
        }
        let WarpAddresses::Each(lanes) = addresses else { return };
        match self.form {
            form::STRIDE => {
                for (i, lane) in (0u64..).zip(self.mask.lanes()) {
                    lanes[lane] = base.wrapping_add(stride.wrapping_mul(i));
                }
            }
            form::DELTAS => {
                let (deltas, _) = self.addresses.get(8..).unwrap_or_default().as_chunks();
                let mut deltas = deltas.iter().map(|delta| i32::from_le_bytes(*delta));
                let mut address = base;
                for lane in self.mask.lanes() {
                    lanes[lane] = address;
                    address = address.wrapping_add_signed(deltas.next().unwrap_or(0).into());
                }
            }
            _ => {
                let (list, _) = self.addresses.as_chunks();
                for (lane, address) in self.mask.lanes().zip(list) {
                    lanes[lane] = u64::from_le_bytes(*address);
                }
            }
        }
    }

    /// Returns the values of register `register`, one per active lane: what a load must load, or a store
    /// stored. `None` if they are unknown, and no values for a register that the instruction does not
    /// have.
    #[must_use]
    pub fn values(&self, register: usize) -> Option<impl Iterator<Item = u32>> {
        let (values, _) = self.values?.as_chunks::<4>();
        let active = self.mask.count() as usize;
        let from = register.saturating_mul(active).min(values.len());
        Some(values[from..].iter().take(active).map(|value| u32::from_le_bytes(*value)))
    }
}

fn malformed(block: &RawBlock, message: String) -> TraceError {
    TraceError::Malformed { part: "block", offset: block.offset, message }
}
