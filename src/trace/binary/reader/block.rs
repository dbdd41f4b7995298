//! [`Block`] and [`TracedLoad`]: the loads of a binary trace.

use std::ops::Range;

use bytemuck::pod_read_unaligned;

use crate::lane::{LANES, LaneMask};
use crate::memory::Addresses;
use crate::trace::binary::contents::Contents;
use crate::trace::binary::error::TraceError;
use crate::trace::binary::format::{
    ALL_FLAGS, FLAG_EXPECTED, FLAG_GUARD, FLAG_PLG, FLAG_WIDTH, RawBlock, RawNotReplayed,
    RawRecord, form,
};
use crate::trace::operation::Operation;

/// A block whose bytes match their checksum.
#[derive(Clone, Copy, Debug)]
pub struct Block<'t> {
    raw: RawBlock,
    records: &'t [u8],
    not_replayed: &'t [u8],
    payload: &'t [u8],
    contents: &'t Contents,
}

/// One load of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TracedLoad<'t> {
    /// The number of instructions before it in its block.
    pub index: u32,
    /// The number of stores before it in its block.
    pub stores: u32,
    /// The number of atomics before it in its block.
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
    op: &'t Operation,
    form: u8,
    addresses: &'t [u8],
    expected: &'t [u8],
}

impl<'t> Block<'t> {
    /// Checks the bytes of a block.
    pub(super) fn new(
        raw: RawBlock,
        bytes: &'t [u8],
        contents: &'t Contents,
    ) -> Result<Self, TraceError> {
        if crc32fast::hash(bytes) != raw.crc {
            return Err(TraceError::Damaged { part: "block", offset: raw.offset });
        }
        let records = raw.loads as usize * size_of::<RawRecord>();
        let not_replayed = raw.not_replayed as usize * size_of::<RawNotReplayed>();
        let parts = bytes
            .split_at_checked(records)
            .and_then(|(records, rest)| Some((records, rest.split_at_checked(not_replayed)?)));
        let (records, (not_replayed, payload)) = parts.ok_or_else(|| {
            let RawBlock { loads, not_replayed, .. } = raw;
            let message = format!(
                "{} bytes do not hold {loads} loads and {not_replayed} other instructions",
                bytes.len()
            );
            malformed(&raw, message)
        })?;
        check_order(&raw, records)?;
        let block = Self { raw, records, not_replayed, payload, contents };
        block.check_not_replayed()?;
        Ok(block)
    }

    /// Checks that the instructions that are not replayed ascend, that none of them is a load, and
    /// that their names exist.
    fn check_not_replayed(&self) -> Result<(), TraceError> {
        let records = self.records.chunks_exact(size_of::<RawRecord>());
        let mut loads =
            records.map(|record| pod_read_unaligned::<RawRecord>(record).index).peekable();
        let mut next = 0;
        for (i, one) in self.not_replayed().enumerate() {
            while loads.next_if(|load| *load < one.index).is_some() {}
            let is_load = loads.peek() == Some(&one.index);
            let has_name = usize::from(one.name) < self.contents.not_replayed.len();
            if one.index < next || one.index >= self.raw.records || is_load || !has_name {
                let message = format!("instruction {i} of those not replayed is inconsistent");
                return Err(malformed(&self.raw, message));
            }
            next = one.index + 1;
        }
        Ok(())
    }

    /// Returns the instructions that read memory but are not replayed, in order.
    pub fn not_replayed(&self) -> impl Iterator<Item = RawNotReplayed> + 't {
        self.not_replayed.chunks_exact(size_of::<RawNotReplayed>()).map(pod_read_unaligned)
    }

    /// Returns the block's row of the index.
    #[must_use]
    pub fn raw(&self) -> &RawBlock {
        &self.raw
    }

    /// Returns load `i` of the block, counted from 0.
    ///
    /// # Errors
    /// Returns [`TraceError::Malformed`] if there is no such load, or its record points outside the
    /// block or the contents, or has an unknown form or flag.
    #[inline]
    pub fn load(&self, i: usize) -> Result<TracedLoad<'t>, TraceError> {
        let record = self.record(i);
        record.and_then(|record| self.read(&pod_read_unaligned(record))).ok_or_else(|| {
            let message = format!("the record of load {i} fits neither block nor contents");
            malformed(&self.raw, message)
        })
    }

    #[inline]
    fn record(&self, i: usize) -> Option<&'t [u8]> {
        let (records, _) = self.records.as_chunks::<{ size_of::<RawRecord>() }>();
        records.get(i).map(|record| &record[..])
    }

    #[inline]
    fn read(&self, record: &RawRecord) -> Option<TracedLoad<'t>> {
        let operation = self.contents.operations.get(usize::from(record.operation))?;
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
            _ => return None,
        };
        let (addresses, rest) =
            self.payload.get(record.payload as usize..)?.split_at_checked(bytes)?;
        let expected = if record.flags & FLAG_EXPECTED != 0 {
            rest.get(..4 * active * operation.width.registers() as usize)?
        } else {
            &[]
        };
        let known = |flag, bits| (record.flags & flag != 0).then_some(LaneMask::from_bits(bits));
        Some(TracedLoad {
            index: record.index,
            stores: u32::from(record.stores),
            atomics: u32::from(record.atomics),
            pc: record.pc,
            mask,
            plg: known(FLAG_PLG, record.plg),
            guard: known(FLAG_GUARD, record.guard),
            operation: record.operation,
            width_disagrees: record.flags & FLAG_WIDTH != 0,
            op: operation,
            form: record.form,
            addresses,
            expected,
        })
    }
}

/// Returns the eight bytes at `at`; 0 past the end.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

impl<'t> TracedLoad<'t> {
    /// Returns the operation that the load executes.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> &'t Operation {
        self.op
    }

    /// Returns the lanes' addresses; meaningless for lanes that are not active.
    #[inline]
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let mut addresses = Addresses::Stride { base: 0, stride: 0 };
        self.read_addresses(&mut addresses);
        addresses
    }

    /// Sets `addresses` to what [`Self::addresses`] returns: in place, for load after load.
    #[inline]
    pub fn read_addresses(&self, addresses: &mut Addresses) {
        let base = word(self.addresses, 0);
        let stride = if self.form == form::STRIDE { word(self.addresses, 8) } else { 0 };
        // Strides are from active lane to active lane.
        match (self.form, self.mask.range()) {
            (form::UNIFORM, _) => {
                *addresses = Addresses::Stride { base, stride };
                return;
            }
            (form::STRIDE, Some(Range { start, .. })) => {
                let base = base.wrapping_sub(stride.wrapping_mul(start as u64));
                *addresses = Addresses::Stride { base, stride };
                return;
            }
            _ => {}
        }
        if let Addresses::Stride { .. } = addresses {
            *addresses = Addresses::Each([0; LANES]);
        }
        let Addresses::Each(lanes) = addresses else { return };
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

    /// Returns the expected values of destination register `register`, one per active lane; `None`
    /// if they are unknown, and no values for a register that the load does not have.
    #[must_use]
    pub fn expected(&self, register: usize) -> Option<impl Iterator<Item = u32>> {
        if self.expected.is_empty() {
            return None;
        }
        let active = self.mask.count() as usize;
        let (values, _) = self.expected.as_chunks::<4>();
        let from = register.saturating_mul(active).min(values.len());
        Some(values[from..].iter().take(active).map(|value| u32::from_le_bytes(*value)))
    }
}

/// Checks that the counts before each load exceed those before the previous load, and leave room
/// for the instructions that were skipped: the counts of the parts of a block then add up to those
/// of the block.
fn check_order(block: &RawBlock, records: &[u8]) -> Result<(), TraceError> {
    let counts = |record: &[u8]| {
        let record: RawRecord = pod_read_unaligned(record);
        (record.index, u32::from(record.stores), u32::from(record.atomics))
    };
    let end = (block.records, block.stores, block.atomics);
    let before = records.chunks_exact(size_of::<RawRecord>()).map(counts);
    // The least counts before the next load: those after this one.
    let (mut index, mut stores, mut atomics) = (0, 0, 0);
    for (i, at) in before.chain([end]).enumerate() {
        let skipped = (at.1.checked_sub(stores)).zip(at.2.checked_sub(atomics));
        let others =
            at.0.checked_sub(index).zip(skipped).and_then(|(passed, (stores, atomics))| {
                passed.checked_sub(stores)?.checked_sub(atomics)
            });
        if others.is_none() {
            return Err(malformed(block, format!("the counts before load {i} are too low")));
        }
        (index, stores, atomics) = (at.0.saturating_add(1), at.1, at.2);
    }
    Ok(())
}

fn malformed(block: &RawBlock, message: String) -> TraceError {
    TraceError::Malformed { part: "block", offset: block.offset, message }
}
