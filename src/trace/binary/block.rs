//! [`NewRecord`], and the blocks that [`TraceWriter`](super::TraceWriter) fills with them.

use super::addresses::Addresses;
use super::format::{
    FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH, MAX_BLOCK_MEMORY_RECORDS,
    MAX_BLOCK_RECORDS, RawRecord, RawRun, form,
};
use super::place::{Place, Runs};
use super::segment::Segment;
use crate::impossible::OrImpossible;
use crate::lane::LaneMask;
use crate::trace::operation::{Kind, Operation};

/// A memory instruction to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewRecord<'l> {
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: LaneMask,
    /// The operation's number, from [`TraceWriter::operation`](crate::trace::TraceWriter::operation).
    pub operation: u16,
    /// The active lanes' addresses.
    pub addresses: Addresses<'l>,
    /// The lanes whose Plg is true; `None` if unknown.
    pub plg: Option<LaneMask>,
    /// The lanes whose guard is true; `None` if unknown.
    pub guard: Option<LaneMask>,
    /// What a load must load, or a store stored: one value per active lane for each register; `None` if
    /// unknown. Lanes that do not execute are not compared.
    pub values: Option<&'l [u32]>,
    /// Whether the source has values that do not say what was loaded or stored.
    pub is_valued: bool,
    /// Whether the source's access width was not the opcode's.
    pub width_disagrees: bool,
}

impl<'l> NewRecord<'l> {
    /// Creates a record whose Plg, guard and values are unknown.
    #[must_use]
    pub fn new(pc: u32, mask: LaneMask, operation: u16, addresses: Addresses<'l>) -> Self {
        Self {
            pc,
            mask,
            operation,
            addresses,
            plg: None,
            guard: None,
            values: None,
            is_valued: false,
            width_disagrees: false,
        }
    }

    /// Returns whether there are as many addresses and values as the mask requires.
    pub(in crate::trace) fn fits(&self, operation: &Operation) -> bool {
        let active = self.mask.count() as usize;
        let has_addresses = match self.addresses {
            Addresses::Stride { .. } | Addresses::Unknown => true,
            Addresses::Deltas { deltas, .. } => deltas.len() + 1 == active,
            Addresses::List(list) => list.len() == active,
            Addresses::Transfer { .. } => operation.kind == Kind::Transfer,
        };
        let values = active * operation.width.registers() as usize;
        has_addresses && self.values.is_none_or(|known| known.len() == values)
    }
}

/// A block that is full, or the last one of its kernel.
#[derive(Debug, Default)]
pub(in crate::trace) struct ClosedBlock {
    pub(in crate::trace) records: Vec<RawRecord>,
    pub(in crate::trace) runs: Vec<RawRun>,
    pub(in crate::trace) payload: Vec<u8>,
    /// Instructions, those without a memory operand included.
    pub(in crate::trace) count: u32,
}

impl ClosedBlock {
    #[inline]
    pub(super) fn record(&mut self, record: &NewRecord<'_>) {
        let mut flags = 0;
        for (is_set, flag) in [
            (record.plg.is_some(), FLAG_PLG),
            (record.guard.is_some(), FLAG_GUARD),
            (record.values.is_some(), FLAG_VALUES),
            (record.width_disagrees, FLAG_WIDTH),
            (record.is_valued, FLAG_VALUED),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let payload = self.payload.len() as u32;
        let form = push_addresses(&mut self.payload, &record.addresses);
        self.records.push(RawRecord {
            pc: record.pc,
            mask: record.mask.bits(),
            plg: record.plg.unwrap_or_default().bits(),
            guard: record.guard.unwrap_or_default().bits(),
            index: self.count,
            payload,
            operation: record.operation,
            stores: 0,
            atomics: 0,
            form,
            flags,
        });
        if let Some(values) = record.values {
            for value in values {
                self.payload.extend_from_slice(&value.to_le_bytes());
            }
            pad(&mut self.payload);
        }
        self.count += 1;
    }
}

/// The block that is being filled. Methods that add to it return it once it is full.
#[derive(Debug, Default)]
pub(in crate::trace) struct BlockBuilder {
    block: ClosedBlock,
    runs: Runs,
}

impl BlockBuilder {
    /// Says whose the following instructions are; `None` if unknown.
    #[inline]
    pub(in crate::trace) fn place(&mut self, place: Option<Place>) {
        self.runs.place(&mut self.block.runs, self.block.count, place);
    }

    /// Counts an instruction without a memory operand.
    pub(in crate::trace) fn skip(&mut self) -> Option<ClosedBlock> {
        self.block.count += 1;
        self.full()
    }

    /// Counts some of `count` instructions without a memory operand, as far as there is room. Returns how
    /// many.
    pub(in crate::trace) fn skip_up_to(&mut self, count: u64) -> (u64, Option<ClosedBlock>) {
        let room = MAX_BLOCK_RECORDS - self.block.count;
        let skipped = u32::try_from(count).map_or(room, |count| count.min(room));
        self.block.count += skipped;
        (skipped.into(), self.full())
    }

    pub(in crate::trace) fn record(&mut self, record: &NewRecord<'_>) -> Option<ClosedBlock> {
        self.block.record(record);
        self.full()
    }

    /// Adds the instructions of `segment` from number `from` on, as far as there is room. Their
    /// operations are indices of `operations`. Returns the number of the first instruction that was
    /// not added.
    pub(in crate::trace) fn append(
        &mut self,
        segment: &Segment,
        from: u32,
        operations: &[u16],
    ) -> (u32, Option<ClosedBlock>) {
        let Segment { block: ClosedBlock { records, payload, count, .. }, places } = segment;
        let block = &mut self.block;
        let first = records.partition_point(|record| record.index < from);
        let last = records.get(first + (MAX_BLOCK_MEMORY_RECORDS - block.records.len() - 1));
        let to = last.map_or(*count, |record| record.index + 1);
        let to = to.min(from + (MAX_BLOCK_RECORDS - block.count));
        let added = &records[first..first + records[first..].partition_point(|r| r.index < to)];
        let payload_of = |i: usize| records.get(i).map_or(payload.len(), |r| r.payload as usize);
        let bytes = payload_of(first)..payload_of(first + added.len());
        // What a record counts from the segment's start, it now counts from the block's.
        let shift = |index: u32| index - from + block.count;
        let payload_shift = (block.payload.len() as u32).wrapping_sub(bytes.start as u32);
        let number = |i: u16| operations.get(usize::from(i)).copied().or_impossible(0, NUMBERED);
        let room = if block.records.is_empty() { MAX_BLOCK_MEMORY_RECORDS } else { 0 };
        block.records.reserve(room);
        block.records.extend(added.iter().map(|record| RawRecord {
            index: shift(record.index),
            payload: record.payload.wrapping_add(payload_shift),
            operation: number(record.operation),
            ..*record
        }));
        block.payload.extend_from_slice(&payload[bytes]);
        let begun = places.partition_point(|(at, _)| *at < from);
        for (at, place) in &places[begun..] {
            // A place at the end is that of what follows the segment.
            if *at > to || (*at == to && to < *count) {
                break;
            }
            self.runs.place(&mut block.runs, at - from + block.count, *place);
        }
        block.count += to - from;
        (to, self.full())
    }

    /// Returns how many bytes the block takes now; 0 if nothing is in it.
    pub(in crate::trace) fn bytes(&self) -> usize {
        let ClosedBlock { records, runs, payload, count } = &self.block;
        if *count == 0 {
            return 0;
        }
        size_of::<Self>() + size_of_val(&records[..]) + size_of_val(&runs[..]) + payload.len()
    }

    fn full(&mut self) -> Option<ClosedBlock> {
        let block = &self.block;
        let is_full =
            block.count == MAX_BLOCK_RECORDS || block.records.len() == MAX_BLOCK_MEMORY_RECORDS;
        if is_full { self.close() } else { None }
    }

    /// Returns what is in the block and starts an empty one, which begins with the same warp; `None`
    /// if nothing is in it.
    pub(in crate::trace) fn close(&mut self) -> Option<ClosedBlock> {
        let mut block = std::mem::take(&mut self.block);
        self.runs.carry(&mut self.block.runs, block.count);
        // The last place may be that of instructions which did not come.
        block.runs.pop_if(|run| run.first == block.count);
        (block.count > 0).then_some(block)
    }
}

/// Why numbers are known.
const NUMBERED: &str = "each operation of a segment has a number";

/// Appends addresses and returns their form.
fn push_addresses(payload: &mut Vec<u8>, addresses: &Addresses<'_>) -> u8 {
    match *addresses {
        Addresses::Stride { base, stride: 0 } => {
            payload.extend_from_slice(&base.to_le_bytes());
            form::UNIFORM
        }
        Addresses::Stride { base, stride } => {
            payload.extend_from_slice(&base.to_le_bytes());
            payload.extend_from_slice(&stride.to_le_bytes());
            form::STRIDE
        }
        Addresses::Deltas { base, deltas } => {
            payload.extend_from_slice(&base.to_le_bytes());
            let start = payload.len();
            payload.resize((start + size_of_val(deltas)).next_multiple_of(8), 0);
            let (room, _) = payload[start..].as_chunks_mut();
            for (room, delta) in room.iter_mut().zip(deltas) {
                *room = delta.to_le_bytes();
            }
            form::DELTAS
        }
        Addresses::Unknown => form::UNKNOWN,
        Addresses::Transfer { count, bytes } => {
            payload.extend_from_slice(&count.to_le_bytes());
            payload.extend_from_slice(&bytes.to_le_bytes());
            form::TRANSFER
        }
        Addresses::List(list) => {
            let start = payload.len();
            payload.resize(start + size_of_val(list), 0);
            let (room, _) = payload[start..].as_chunks_mut();
            for (room, address) in room.iter_mut().zip(list) {
                *room = address.to_le_bytes();
            }
            form::LIST
        }
    }
}

/// Appends zeros up to a multiple of 8 bytes.
fn pad(payload: &mut Vec<u8>) {
    payload.resize(payload.len().next_multiple_of(8), 0);
}
