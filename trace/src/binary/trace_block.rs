//! [`TraceBlock`] and [`MemoryRecord`]: the memory instructions of a binary trace.

use std::ops::Range;

use super::block::{AddressForm, BlockDecoder, BlockRecords, BlockSize, RecordRow, flag};
use super::column::{ChunkError, Signed};
use super::contents::TraceContents;
use super::error::TraceError;
use super::file::RawBlock;
use super::format::{MAX_BLOCK_INSTRUCTIONS, MAX_BLOCK_RECORDS};
use super::reader::BinaryTrace;
use super::record::WarpPosition;
use crate::operation::MemoryOperation;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::WarpAddresses;

/// The memory of a block, for reuse by the next one ([`BinaryTrace::block_in`](super::BinaryTrace::block_in)).
#[derive(Debug, Default)]
pub struct BlockBuffers {
    decoder: BlockDecoder,
    records: BlockRecords,
}

/// A block that was checked and decoded.
#[derive(Debug)]
pub struct TraceBlock<'t> {
    raw: RawBlock,
    contents: &'t TraceContents,
    buffers: BlockBuffers,
}

/// One memory instruction of a trace.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRecord<'b> {
    /// The number of earlier instructions in the block.
    pub index: u32,
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: LaneMask,
    /// The lanes with a true Plg; `None` if unknown.
    pub plg: Option<LaneMask>,
    /// The lanes with a true guard; `None` if unknown.
    pub guard: Option<LaneMask>,
    /// The operation's index in the trace's contents.
    pub operation: u16,
    /// Whether the source's access width differed from the opcode's.
    pub width_disagrees: bool,
    /// Whether the source has values for the instruction, of any kind.
    pub is_valued: bool,
    op: &'b MemoryOperation,
    addresses: HeldAddresses<'b>,
    values: Option<&'b [u32]>,
}

/// A record's addresses, in the form in which the block stores them.
#[derive(Clone, Copy, Debug)]
enum HeldAddresses<'b> {
    /// Base and stride.
    Stride(u64, u64),
    /// A base, then the difference of each further active lane from the previous one.
    Lanes8(u64, &'b [i8]),
    Lanes16(u64, &'b [i16]),
    Lanes32(u64, &'b [i32]),
    Lanes64(u64, &'b [i64]),
    Unknown,
    /// The address count and the byte count.
    Transfer(u64, u64),
}

impl<'t> TraceBlock<'t> {
    /// Reads a block of a trace.
    pub(super) fn read(
        raw: RawBlock,
        trace: &'t BinaryTrace,
        buffers: BlockBuffers,
    ) -> Result<Self, TraceError> {
        let (name, offset) = ("block", raw.offset);
        let bytes = trace.block_bytes(&raw).filter(|bytes| crc32fast::hash(bytes) == raw.crc);
        let bytes = bytes.ok_or(TraceError::Damaged { part: name, offset })?;
        let malformed = |message| TraceError::Malformed { part: name, offset, message };
        let size = BlockSize { instructions: raw.instructions, records: raw.records as usize };
        // Rows of the index are checked already, but a caller can pass one of its own.
        if size.records > MAX_BLOCK_RECORDS
            || raw.records > raw.instructions
            || raw.instructions > MAX_BLOCK_INSTRUCTIONS
        {
            return Err(malformed("more instructions than a block may have".to_owned()));
        }
        let contents = trace.contents();
        let mut block = Self { raw, contents, buffers };
        let operation = |number| contents.operations.get(usize::from(number));
        let BlockBuffers { decoder, records } = &mut block.buffers;
        let kinds = decoder.read(bytes, size, operation, records);
        let kinds = kinds.map_err(|error| match error {
            ChunkError::Unknown(column) => {
                let producer = trace.producer();
                TraceError::UnknownColumn { part: name, offset, column, producer }
            }
            ChunkError::Malformed(message) => malformed(message),
        })?;
        if kinds != [raw.loads, raw.stores, raw.atomics] {
            let message = "its loads, stores and atomics are not as many as in the index";
            return Err(malformed(message.to_owned()));
        }
        Ok(block)
    }

    /// Returns the buffers for the next block.
    #[must_use]
    pub fn into_buffers(self) -> BlockBuffers {
        self.buffers
    }

    /// Returns the warp of the instruction at `index` in the block and the instruction's number in that warp, where
    /// known.
    #[must_use]
    pub fn place(&self, index: u32) -> WarpPosition {
        let runs = &self.buffers.records.runs;
        let end = runs.partition_point(|(first, _)| *first <= index);
        let run = end.checked_sub(1).and_then(|last| runs.get(last));
        run.map_or_else(WarpPosition::default, |(first, place)| place.after(index - first))
    }

    /// Returns the positions of instructions for ascending indices, which is faster than [`Self::place`].
    #[must_use]
    pub fn places(&self) -> WarpPositions<'_> {
        let runs = &self.buffers.records.runs;
        WarpPositions { runs, current: (0, WarpPosition::default()) }
    }

    /// Returns the block's row of the index.
    #[must_use]
    pub fn raw(&self) -> &RawBlock {
        &self.raw
    }

    /// Returns memory instruction `i` of the block, counted from 0.
    ///
    /// # Errors
    /// Returns [`TraceError::Malformed`] if there is no such record.
    #[inline]
    pub fn record(&self, i: usize) -> Result<MemoryRecord<'_>, TraceError> {
        let record = self.buffers.records.rows.get(i).and_then(|row| self.record_of(i, row));
        record.ok_or_else(|| TraceError::Malformed {
            part: "block",
            offset: self.raw.offset,
            message: format!("there is no record {i}"),
        })
    }

    #[inline]
    fn record_of(&self, i: usize, row: &RecordRow) -> Option<MemoryRecord<'_>> {
        let BlockRecords { rare, lanes8, lanes16, lanes32, lanes64, values, .. } =
            &self.buffers.records;
        let op = self.contents.operations.get(usize::from(row.operation))?;
        let mask = LaneMask::from_bits(row.mask);
        let active = mask.count() as usize;
        let RecordRow { base, step, .. } = *row;
        let addresses = match row.form {
            AddressForm::Stride => HeldAddresses::Stride(base, step),
            AddressForm::Lanes8 => HeldAddresses::Lanes8(base, steps(lanes8, step, active)?),
            AddressForm::Lanes16 => HeldAddresses::Lanes16(base, steps(lanes16, step, active)?),
            AddressForm::Lanes32 => HeldAddresses::Lanes32(base, steps(lanes32, step, active)?),
            AddressForm::Lanes64 => HeldAddresses::Lanes64(base, steps(lanes64, step, active)?),
            AddressForm::Unknown => HeldAddresses::Unknown,
            AddressForm::Transfer => HeldAddresses::Transfer(base, step),
        };
        let (mut plg, mut guard, mut held) = (None, None, None);
        if row.flags & (flag::PLG | flag::GUARD | flag::VALUES) != 0 {
            let rare = rare.get(i)?;
            let knows = |flag| row.flags & flag != 0;
            plg = knows(flag::PLG).then_some(LaneMask::from_bits(rare.plg));
            guard = knows(flag::GUARD).then_some(LaneMask::from_bits(rare.guard));
            if knows(flag::VALUES) {
                let count = active * op.registers() as usize;
                held = Some(values.get(rare.values as usize..)?.get(..count)?);
            }
        }
        Some(MemoryRecord {
            index: row.index,
            pc: row.pc,
            mask,
            plg,
            guard,
            operation: row.operation,
            width_disagrees: row.flags & flag::WIDTH != 0,
            is_valued: row.flags & (flag::VALUES | flag::VALUED) != 0,
            op,
            addresses,
            values: held,
        })
    }
}

#[inline]
fn steps<L>(lanes: &[L], at: u64, active: usize) -> Option<&[L]> {
    lanes.get(at as usize..)?.get(..active.checked_sub(1)?)
}

/// Positions of instructions in ascending order, from [`TraceBlock::places`].
#[derive(Clone, Debug)]
pub struct WarpPositions<'b> {
    /// The runs after the current one.
    runs: &'b [(u32, WarpPosition)],
    /// The run of the previous instruction. Before the first one its warp is unknown.
    current: (u32, WarpPosition),
}

impl WarpPositions<'_> {
    /// Returns the same as [`TraceBlock::place`]. `index` must not be below the previous call's.
    #[inline]
    #[must_use]
    pub fn place(&mut self, index: u32) -> WarpPosition {
        while let Some((run, rest)) = self.runs.split_first()
            && run.0 <= index
        {
            (self.current, self.runs) = (*run, rest);
        }
        let (first, place) = self.current;
        place.after(index.saturating_sub(first))
    }
}

impl<'b> MemoryRecord<'b> {
    /// Returns the operation of the instruction.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> &'b MemoryOperation {
        self.op
    }

    /// Returns whether the active lanes' addresses are known.
    #[inline]
    #[must_use]
    pub fn has_addresses(&self) -> bool {
        !matches!(self.addresses, HeldAddresses::Unknown | HeldAddresses::Transfer(..))
    }

    /// Returns the address count and the byte count of a Tensor Memory Accelerator instruction; `None` for other
    /// instructions and if the source does not have them.
    #[must_use]
    pub fn transfer(&self) -> Option<(u64, u64)> {
        match self.addresses {
            HeldAddresses::Transfer(count, bytes) => Some((count, bytes)),
            _ => None,
        }
    }

    /// Returns the lanes' addresses. Values of inactive lanes are meaningless; so are all values if the addresses are
    /// unknown.
    #[inline]
    #[must_use]
    pub fn addresses(&self) -> WarpAddresses {
        let mut addresses = WarpAddresses::Stride { base: 0, stride: 0 };
        self.read_addresses(&mut addresses);
        addresses
    }

    /// Writes the addresses of [`Self::addresses`] into `addresses`, so that a loop over loads reuses its memory.
    #[inline]
    pub fn read_addresses(&self, addresses: &mut WarpAddresses) {
        match (self.addresses, self.mask.range()) {
            (HeldAddresses::Stride(base, 0), _) => {
                *addresses = WarpAddresses::Stride { base, stride: 0 };
            }
            // Strides count active lanes only, which are consecutive here.
            (HeldAddresses::Stride(base, stride), Some(Range { start, .. })) => {
                let base = base.wrapping_sub(stride.wrapping_mul(start as u64));
                *addresses = WarpAddresses::Stride { base, stride };
            }
            _ => self.read_lanes(addresses),
        }
    }

    /// Not inlined, so that callers inline only the short case of strides.
    #[inline(never)]
    fn read_lanes(&self, addresses: &mut WarpAddresses) {
        let mask = self.mask;
        if let HeldAddresses::Unknown | HeldAddresses::Transfer(..) = self.addresses {
            *addresses = WarpAddresses::Stride { base: 0, stride: 0 };
            return;
        }
        if let WarpAddresses::Stride { .. } = addresses {
            *addresses = WarpAddresses::Each([0; LANES]);
        }
        let WarpAddresses::Each(lanes) = addresses else { return };
        match self.addresses {
            HeldAddresses::Stride(base, stride) => {
                for (i, lane) in (0u64..).zip(mask.lanes()) {
                    lanes[lane] = base.wrapping_add(stride.wrapping_mul(i));
                }
            }
            HeldAddresses::Lanes8(base, steps) => add_up(base, steps, mask, lanes),
            HeldAddresses::Lanes16(base, steps) => add_up(base, steps, mask, lanes),
            HeldAddresses::Lanes32(base, steps) => add_up(base, steps, mask, lanes),
            HeldAddresses::Lanes64(base, steps) => add_up(base, steps, mask, lanes),
            HeldAddresses::Unknown | HeldAddresses::Transfer(..) => {}
        }
    }

    /// Returns the values of register `register`, one per active lane: the expected values of a load, or the values
    /// that a store wrote. `None` if they are unknown; empty for a register beyond the instruction's.
    #[must_use]
    pub fn values(&self, register: usize) -> Option<impl Iterator<Item = u32>> {
        let values = self.values?;
        let active = self.mask.count() as usize;
        let from = register.saturating_mul(active).min(values.len());
        Some(values[from..].iter().take(active).copied())
    }
}

/// Sets the active lanes' addresses by adding up the differences.
#[inline]
fn add_up<L: Signed>(base: u64, steps: &[L], mask: LaneMask, lanes: &mut [u64; LANES]) {
    let mut address = base;
    if mask == LaneMask::ALL {
        let [first, rest @ ..] = lanes;
        *first = base;
        for (lane, step) in rest.iter_mut().zip(steps) {
            address = address.wrapping_add_signed((*step).into());
            *lane = address;
        }
        return;
    }
    let mut steps = steps.iter();
    for lane in mask.lanes() {
        lanes[lane] = address;
        let step = steps.next().map_or(0, |step| (*step).into());
        address = address.wrapping_add_signed(step);
    }
}
