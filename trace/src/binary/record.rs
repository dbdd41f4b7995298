//! [`NewRecord`], and the bytes that it becomes in a [`ClosedBlock`].

use super::addresses::RecordAddresses;
use super::format::{
    FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH, RawRecord, RawRun, form,
};
use crate::operation::{MemoryOperation, OperationKind};
use warpload::lane::LaneMask;

/// A memory instruction to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewRecord<'l> {
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: LaneMask,
    /// The operation's number, from [`TraceWriter::operation`](crate::TraceWriter::operation).
    pub operation: u16,
    /// The active lanes' addresses.
    pub addresses: RecordAddresses<'l>,
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
    pub fn new(pc: u32, mask: LaneMask, operation: u16, addresses: RecordAddresses<'l>) -> Self {
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
    pub(crate) fn fits(&self, operation: &MemoryOperation) -> bool {
        let active = self.mask.count() as usize;
        let has_addresses = match self.addresses {
            RecordAddresses::Stride { .. } | RecordAddresses::Unknown => true,
            RecordAddresses::Deltas { deltas, .. } => deltas.len() + 1 == active,
            RecordAddresses::List(list) => list.len() == active,
            RecordAddresses::Transfer { .. } => operation.kind == OperationKind::Transfer,
        };
        let values = active * operation.width.registers() as usize;
        has_addresses && self.values.is_none_or(|known| known.len() == values)
    }
}

/// A block that is full, or the last one of its kernel.
#[derive(Debug, Default)]
pub(crate) struct ClosedBlock {
    pub(crate) records: Vec<RawRecord>,
    pub(crate) runs: Vec<RawRun>,
    pub(crate) payload: Vec<u8>,
    /// Instructions, those without a memory operand included.
    pub(crate) count: u32,
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

/// Appends addresses and returns their form.
fn push_addresses(payload: &mut Vec<u8>, addresses: &RecordAddresses<'_>) -> u8 {
    match *addresses {
        RecordAddresses::Stride { base, stride: 0 } => {
            payload.extend_from_slice(&base.to_le_bytes());
            form::UNIFORM
        }
        RecordAddresses::Stride { base, stride } => {
            payload.extend_from_slice(&base.to_le_bytes());
            payload.extend_from_slice(&stride.to_le_bytes());
            form::STRIDE
        }
        RecordAddresses::Deltas { base, deltas } => {
            payload.extend_from_slice(&base.to_le_bytes());
            let start = payload.len();
            payload.resize((start + size_of_val(deltas)).next_multiple_of(8), 0);
            let (room, _) = payload[start..].as_chunks_mut();
            for (room, delta) in room.iter_mut().zip(deltas) {
                *room = delta.to_le_bytes();
            }
            form::DELTAS
        }
        RecordAddresses::Unknown => form::UNKNOWN,
        RecordAddresses::Transfer { count, bytes } => {
            payload.extend_from_slice(&count.to_le_bytes());
            payload.extend_from_slice(&bytes.to_le_bytes());
            form::TRANSFER
        }
        RecordAddresses::List(list) => {
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
