//! [`NewLoad`], and the blocks that [`TraceWriter`](super::TraceWriter) fills with loads.

use super::addresses::Addresses;
use super::format::{
    FLAG_EXPECTED, FLAG_GUARD, FLAG_PLG, FLAG_WIDTH, MAX_BLOCK_LOADS, MAX_BLOCK_RECORDS,
    RawNotReplayed, RawRecord, form,
};
use crate::impossible::OrImpossible;
use crate::lane::LaneMask;
use crate::trace::operation::{Operation, Skipped};

/// A load to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewLoad<'l> {
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
    /// The expected values, one per active lane for each destination register; empty if unknown.
    /// Lanes that do not execute are not compared.
    pub expected: &'l [u32],
    /// Whether the source's access width was not the opcode's.
    pub width_disagrees: bool,
}

impl<'l> NewLoad<'l> {
    /// Creates a load whose Plg, guard and expected values are unknown.
    #[must_use]
    pub fn new(pc: u32, mask: LaneMask, operation: u16, addresses: Addresses<'l>) -> Self {
        Self {
            pc,
            mask,
            operation,
            addresses,
            plg: None,
            guard: None,
            expected: &[],
            width_disagrees: false,
        }
    }

    /// Returns whether there are as many addresses and expected values as the mask requires.
    pub(in crate::trace) fn fits(&self, operation: &Operation) -> bool {
        let active = self.mask.count() as usize;
        let has_addresses = match self.addresses {
            Addresses::Stride { .. } => true,
            Addresses::Deltas { deltas, .. } => deltas.len() + 1 == active,
            Addresses::List(list) => list.len() == active,
        };
        let values = active * operation.width.registers() as usize;
        has_addresses && (self.expected.is_empty() || self.expected.len() == values)
    }
}

/// A block that is full, or the last one of its kernel.
#[derive(Debug, Default)]
pub(in crate::trace) struct ClosedBlock {
    pub(in crate::trace) records: Vec<RawRecord>,
    pub(in crate::trace) not_replayed: Vec<RawNotReplayed>,
    pub(in crate::trace) payload: Vec<u8>,
    /// Instructions, skipped ones included.
    pub(in crate::trace) count: u32,
    pub(in crate::trace) stores: u16,
    pub(in crate::trace) atomics: u16,
}

impl ClosedBlock {
    fn not_replayed(&mut self, name: u16, active: LaneMask) {
        self.not_replayed.push(RawNotReplayed {
            index: self.count,
            name,
            // At most 32.
            lanes: active.count() as u8,
            reserved: 0,
        });
        self.count += 1;
    }

    #[inline]
    fn load(&mut self, load: &NewLoad<'_>) {
        let mut flags = 0;
        for (is_set, flag) in [
            (load.plg.is_some(), FLAG_PLG),
            (load.guard.is_some(), FLAG_GUARD),
            (!load.expected.is_empty(), FLAG_EXPECTED),
            (load.width_disagrees, FLAG_WIDTH),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let payload = self.payload.len() as u32;
        let form = push_addresses(&mut self.payload, &load.addresses);
        self.records.push(RawRecord {
            pc: load.pc,
            mask: load.mask.bits(),
            plg: load.plg.unwrap_or_default().bits(),
            guard: load.guard.unwrap_or_default().bits(),
            index: self.count,
            payload,
            operation: load.operation,
            stores: self.stores,
            atomics: self.atomics,
            form,
            flags,
        });
        if !load.expected.is_empty() {
            for value in load.expected {
                self.payload.extend_from_slice(&value.to_le_bytes());
            }
            pad(&mut self.payload);
        }
        self.count += 1;
    }
}

/// The block that is being filled. Methods that add to it return it once it is full.
#[derive(Debug, Default)]
pub(in crate::trace) struct BlockBuilder(ClosedBlock);

impl BlockBuilder {
    pub(in crate::trace) fn skip(&mut self, kind: Skipped) -> Option<ClosedBlock> {
        match kind {
            Skipped::Store => self.0.stores += 1,
            Skipped::Atomic => self.0.atomics += 1,
            Skipped::Other => {}
        }
        self.0.count += 1;
        self.full()
    }

    /// Counts an instruction that is not replayed, under the number of its name.
    pub(in crate::trace) fn not_replayed(
        &mut self,
        name: u16,
        active: LaneMask,
    ) -> Option<ClosedBlock> {
        self.0.not_replayed(name, active);
        self.full()
    }

    pub(in crate::trace) fn load(&mut self, load: &NewLoad<'_>) -> Option<ClosedBlock> {
        self.0.load(load);
        self.full()
    }

    /// Adds the instructions of `segment` from number `from` on, as far as there is room. Their
    /// operations and names are indices of `numbers`. Returns the number of the first instruction
    /// that was not added.
    pub(in crate::trace) fn append(
        &mut self,
        segment: &Segment,
        from: u32,
        numbers: &[u16],
    ) -> (u32, Option<ClosedBlock>) {
        let Segment { block: ClosedBlock { records, not_replayed, payload, count, .. }, .. } =
            segment;
        let block = &mut self.0;
        let first = records.partition_point(|record| record.index < from);
        let last_load = records.get(first + (MAX_BLOCK_LOADS - block.records.len() - 1));
        let to = last_load.map_or(*count, |record| record.index + 1);
        let to = to.min(from + (MAX_BLOCK_RECORDS - block.count));
        let loads = &records[first..first + records[first..].partition_point(|r| r.index < to)];
        let payload_of = |i: usize| records.get(i).map_or(payload.len(), |r| r.payload as usize);
        let bytes = payload_of(first)..payload_of(first + loads.len());
        let [(stores, new_stores), (atomics, new_atomics)] = [&segment.stores, &segment.atomics]
            .map(|indices| {
                let before = |index| indices.partition_point(|at| *at < index) as u16;
                (before(from), before(to) - before(from))
            });
        // What a record counts from the segment's start, it now counts from the block's.
        let shift = |index: u32| index - from + block.count;
        let payload_shift = (block.payload.len() as u32).wrapping_sub(bytes.start as u32);
        let number = |i: u16| numbers.get(usize::from(i)).copied().or_impossible(0, NUMBERED);
        block.records.reserve(if block.records.is_empty() { MAX_BLOCK_LOADS } else { 0 });
        block.records.extend(loads.iter().map(|record| RawRecord {
            index: shift(record.index),
            payload: record.payload.wrapping_add(payload_shift),
            operation: number(record.operation),
            stores: record.stores.wrapping_sub(stores).wrapping_add(block.stores),
            atomics: record.atomics.wrapping_sub(atomics).wrapping_add(block.atomics),
            ..*record
        }));
        block.payload.extend_from_slice(&payload[bytes]);
        let is_in = |one: &&RawNotReplayed| (from..to).contains(&one.index);
        let names = not_replayed.iter().filter(is_in);
        block.not_replayed.extend(names.map(|one| RawNotReplayed {
            index: shift(one.index),
            name: number(one.name),
            ..*one
        }));
        block.stores += new_stores;
        block.atomics += new_atomics;
        block.count += to - from;
        (to, self.full())
    }

    /// Returns how many bytes the block takes now; 0 if nothing is in it.
    pub(in crate::trace) fn bytes(&self) -> usize {
        let ClosedBlock { records, not_replayed, payload, count, .. } = &self.0;
        if *count == 0 {
            return 0;
        }
        size_of::<Self>()
            + size_of_val(&records[..])
            + size_of_val(&not_replayed[..])
            + payload.len()
    }

    fn full(&mut self) -> Option<ClosedBlock> {
        let block = &self.0;
        if block.count == MAX_BLOCK_RECORDS || block.records.len() == MAX_BLOCK_LOADS {
            return self.close();
        }
        None
    }

    /// Returns what is in the block and starts an empty one; `None` if nothing is in it.
    pub(in crate::trace) fn close(&mut self) -> Option<ClosedBlock> {
        let block = std::mem::take(&mut self.0);
        (block.count > 0).then_some(block)
    }
}

/// Why numbers are known.
const NUMBERED: &str = "each operation and name of a segment has a number";

/// Instructions in order, which blocks are made of. There are at most
/// [`MAX_BLOCK_RECORDS`] of them, with numbers of operations and names of their own.
#[derive(Debug, Default)]
pub(in crate::trace) struct Segment {
    block: ClosedBlock,
    /// The numbers of the instructions that are stores, and of those that are atomics.
    stores: Vec<u32>,
    atomics: Vec<u32>,
}

impl Segment {
    /// Returns the number of instructions.
    #[inline]
    pub(in crate::trace) fn count(&self) -> u32 {
        self.block.count
    }

    #[inline]
    pub(in crate::trace) fn skip(&mut self, kind: Skipped) {
        let (indices, count) = match kind {
            Skipped::Store => (&mut self.stores, &mut self.block.stores),
            Skipped::Atomic => (&mut self.atomics, &mut self.block.atomics),
            Skipped::Other => return self.block.count += 1,
        };
        indices.push(self.block.count);
        *count += 1;
        self.block.count += 1;
    }

    pub(in crate::trace) fn not_replayed(&mut self, name: u16, active: LaneMask) {
        self.block.not_replayed(name, active);
    }

    #[inline]
    pub(in crate::trace) fn load(&mut self, load: &NewLoad<'_>) {
        self.block.load(load);
    }

    pub(in crate::trace) fn clear(&mut self) {
        let ClosedBlock { records, not_replayed, payload, count, stores, atomics } =
            &mut self.block;
        records.clear();
        not_replayed.clear();
        payload.clear();
        (*count, *stores, *atomics) = (0, 0, 0);
        self.stores.clear();
        self.atomics.clear();
    }
}

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
