//! Memory instructions on their way into a binary trace: [`NewRecord`] with its [`RecordAddresses`] and its
//! [`WarpPosition`], the bytes that they become in a [`ClosedBlock`], and who fills blocks: a [`BlockBuilder`], or
//! a reader of a part of a file by [`Segment`]s.

use super::format::{
    FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH, MAX_BLOCK_MEMORY_RECORDS,
    MAX_BLOCK_RECORDS, RUN_CLUSTER, RUN_CTA, RUN_INDEX, RUN_WARP, RawRecord, RawRun, form,
};
use crate::operation::{MemoryOperation, OperationKind};
use warpload::lane::LaneMask;

/// The addresses of the active lanes, in one of the forms that traces use. The i-th value
/// belongs to the i-th active lane, lanes ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordAddresses<'a> {
    /// The i-th active lane has `base + i * stride`, modulo 2^64. Stride 0: one address.
    Stride {
        /// The first active lane's address.
        base: u64,
        /// The distance between neighbours, in bytes.
        stride: i64,
    },
    /// Each active lane but the first has its predecessor's address plus a delta, modulo 2^64.
    Deltas {
        /// The first active lane's address.
        base: u64,
        /// One delta for each active lane but the first, in bytes.
        deltas: &'a [i32],
    },
    /// Every active lane's address.
    List(&'a [u64]),
    /// It is unknown which address belongs to which lane.
    Unknown,
    /// What the source says of an instruction that moves blocks, not lanes.
    Transfer {
        /// How many addresses it has.
        count: u64,
        /// The bytes that it moves.
        bytes: u64,
    },
}

impl RecordAddresses<'_> {
    /// Returns the addresses of `active` lanes in order; none if the lanes have none.
    pub fn each(&self, active: u32) -> impl Iterator<Item = u64> {
        let form = *self;
        let mut address = match form {
            Self::Stride { base, .. } | Self::Deltas { base, .. } => base,
            Self::List(_) | Self::Unknown | Self::Transfer { .. } => 0,
        };
        (0..active as usize).map_while(move |i| {
            let step = match form {
                Self::List(list) => return list.get(i).copied(),
                Self::Unknown | Self::Transfer { .. } => return None,
                _ if i == 0 => 0,
                Self::Stride { stride, .. } => stride,
                Self::Deltas { deltas, .. } => i64::from(*deltas.get(i - 1)?),
            };
            address = address.wrapping_add_signed(step);
            Some(address)
        })
    }

    /// Returns the shortest form of `list`, which has one address for each active lane. `deltas`
    /// holds the result if it has deltas.
    pub fn shortest<'a>(list: &'a [u64], deltas: &'a mut Vec<i32>) -> RecordAddresses<'a> {
        let Some((&base, rest)) = list.split_first() else {
            return RecordAddresses::Stride { base: 0, stride: 0 };
        };
        let stride = rest.first().map_or(0, |next| next.wrapping_sub(base) as i64);
        let (mut is_stride, mut are_short) = (true, true);
        deltas.clear();
        deltas.extend(list.iter().zip(rest).map(|(at, next)| {
            let step = next.wrapping_sub(*at) as i64;
            is_stride &= step == stride;
            are_short &= i32::try_from(step).is_ok();
            step as i32
        }));
        if is_stride {
            return RecordAddresses::Stride { base, stride };
        }
        if are_short {
            RecordAddresses::Deltas { base, deltas }
        } else {
            RecordAddresses::List(list)
        }
    }
}

/// The warp that executes instructions, and where it is in its own; each field is `None` if the
/// source does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpPosition {
    /// The thread block, in x, y and z.
    pub cta: Option<[u32; 3]>,
    /// The warp's number in its thread block.
    pub warp: Option<u32>,
    /// The cluster, in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// The number of instructions that the warp has executed before.
    pub index: Option<u32>,
}

impl WarpPosition {
    /// Returns the place of the instruction that is `count` instructions later.
    #[inline]
    pub(super) fn after(self, count: u32) -> Self {
        Self { index: self.index.and_then(|index| index.checked_add(count)), ..self }
    }
}

impl RawRun {
    fn new(first: u32, place: Option<WarpPosition>) -> Self {
        let WarpPosition { cta, warp, cluster, index } = place.unwrap_or_default();
        let mut known = 0;
        for (is_known, bit) in [
            (cta.is_some(), RUN_CTA),
            (warp.is_some(), RUN_WARP),
            (cluster.is_some(), RUN_CLUSTER),
            (index.is_some(), RUN_INDEX),
        ] {
            known |= if is_known { bit } else { 0 };
        }
        Self {
            first,
            known,
            cta: cta.unwrap_or_default(),
            warp: warp.unwrap_or_default(),
            cluster: cluster.unwrap_or_default(),
            index: index.unwrap_or_default(),
        }
    }

    /// Returns the place of the run's first instruction.
    pub(super) fn place(&self) -> WarpPosition {
        let knows = |bit| self.known & bit != 0;
        WarpPosition {
            cta: knows(RUN_CTA).then_some(self.cta),
            warp: knows(RUN_WARP).then_some(self.warp),
            cluster: knows(RUN_CLUSTER).then_some(self.cluster),
            index: knows(RUN_INDEX).then_some(self.index),
        }
    }
}

/// Adds the runs of the block that is being filled.
#[derive(Debug, Default)]
struct Runs {
    /// The place that was set last, and how many instructions of the block came before it.
    current: Option<(u32, WarpPosition)>,
}

impl Runs {
    fn at(&self, count: u32) -> Option<WarpPosition> {
        self.current.map(|(first, place)| place.after(count - first))
    }

    /// Sets the place of the instructions after the first `count` of the block, whose runs are `runs`.
    #[inline]
    fn place(&mut self, runs: &mut Vec<RawRun>, count: u32, place: Option<WarpPosition>) {
        if self.at(count) == place {
            return;
        }
        self.current = place.map(|place| (count, place));
        if runs.last().is_some_and(|run| run.first == count) {
            runs.pop();
        }
        if place.is_some() || !runs.is_empty() {
            runs.push(RawRun::new(count, place));
        }
    }

    /// Begins the runs of the next block, after one of `count` instructions.
    fn carry(&mut self, runs: &mut Vec<RawRun>, count: u32) {
        self.current = self.at(count).map(|place| (0, place));
        runs.extend(self.current.map(|(first, place)| RawRun::new(first, Some(place))));
    }
}

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
        let values = active * operation.registers() as usize;
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

/// Instructions in order. There are at most [`MAX_BLOCK_RECORDS`] of them, with
/// numbers of operations of their own.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(super) block: ClosedBlock,
    /// Places, each with the number of instructions before it; ascending.
    pub(super) places: Vec<(u32, Option<WarpPosition>)>,
}

impl Segment {
    /// Returns the number of instructions.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.block.count
    }

    /// Says whose the instructions after the first `count` are.
    #[inline]
    pub(crate) fn place(&mut self, count: u32, place: Option<WarpPosition>) {
        let goes_on = |(first, last): &(u32, Option<WarpPosition>)| {
            last.map(|last| last.after(count - first)) == place
        };
        if !self.places.last().is_some_and(goes_on) {
            self.places.push((count, place));
        }
    }

    /// Counts an instruction without a memory operand.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.block.count += 1;
    }

    #[inline]
    pub(crate) fn record(&mut self, record: &NewRecord<'_>) {
        self.block.record(record);
    }

    pub(crate) fn clear(&mut self) {
        let ClosedBlock { records, runs, payload, count } = &mut self.block;
        records.clear();
        runs.clear();
        payload.clear();
        *count = 0;
        self.places.clear();
    }
}

/// The block that is being filled. Methods that add to it return it once it is full.
#[derive(Debug, Default)]
pub(crate) struct BlockBuilder {
    block: ClosedBlock,
    runs: Runs,
}

impl BlockBuilder {
    /// Says whose the following instructions are; `None` if unknown.
    #[inline]
    pub(crate) fn place(&mut self, place: Option<WarpPosition>) {
        self.runs.place(&mut self.block.runs, self.block.count, place);
    }

    /// Counts an instruction without a memory operand.
    pub(crate) fn skip(&mut self) -> Option<ClosedBlock> {
        self.block.count += 1;
        self.full()
    }

    /// Counts some of `count` instructions without a memory operand, as far as there is room. Returns how
    /// many.
    pub(crate) fn skip_up_to(&mut self, count: u64) -> (u64, Option<ClosedBlock>) {
        let room = MAX_BLOCK_RECORDS - self.block.count;
        let skipped = u32::try_from(count).map_or(room, |count| count.min(room));
        self.block.count += skipped;
        (skipped.into(), self.full())
    }

    pub(crate) fn record(&mut self, record: &NewRecord<'_>) -> Option<ClosedBlock> {
        self.block.record(record);
        self.full()
    }

    /// Adds the instructions of `segment` from number `from` on, as far as there is room. Their
    /// operations are indices of `operations`. Returns the number of the first instruction that was
    /// not added.
    pub(crate) fn append(
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
        let number = |i: u16| {
            let number = operations.get(usize::from(i));
            debug_assert!(number.is_some(), "{NUMBERED}");
            number.copied().unwrap_or(0)
        };
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
    pub(crate) fn bytes(&self) -> usize {
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
    pub(crate) fn close(&mut self) -> Option<ClosedBlock> {
        let mut block = std::mem::take(&mut self.block);
        self.runs.carry(&mut self.block.runs, block.count);
        // The last place may be that of instructions which did not come.
        block.runs.pop_if(|run| run.first == block.count);
        (block.count > 0).then_some(block)
    }
}

/// Why numbers are known.
const NUMBERED: &str = "each operation of a segment has a number";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_give_the_same_addresses() {
        for form in [
            RecordAddresses::Stride { base: 100, stride: 4 },
            RecordAddresses::Deltas { base: 100, deltas: &[4, 4] },
            RecordAddresses::List(&[100, 104, 108]),
        ] {
            assert_eq!(form.each(3).collect::<Vec<_>>(), [100, 104, 108]);
            assert_eq!(form.each(0).count(), 0);
        }
        let wraps = RecordAddresses::Stride { base: 4, stride: -8 };
        assert_eq!(wraps.each(2).collect::<Vec<_>>(), [4, u64::MAX - 3]);
    }

    #[test]
    fn the_shortest_form() {
        let mut room = Vec::new();
        let shortest = RecordAddresses::shortest(&[5, 5, 5], &mut room);
        assert_eq!(shortest, RecordAddresses::Stride { base: 5, stride: 0 });
        let shortest = RecordAddresses::shortest(&[5, 4, 9], &mut room);
        assert_eq!(shortest, RecordAddresses::Deltas { base: 5, deltas: &[-1, 5] });
        let far = [0, 1 << 40, 7];
        assert_eq!(RecordAddresses::shortest(&far, &mut room), RecordAddresses::List(&far));
        assert_eq!(
            RecordAddresses::shortest(&[], &mut room),
            RecordAddresses::Stride { base: 0, stride: 0 }
        );
    }

    #[test]
    fn a_run_goes_on_until_another_warp_is_named() {
        let (mut state, mut runs) = (Runs::default(), Vec::new());
        let warp =
            |warp, index| Some(WarpPosition { warp: Some(warp), index, ..WarpPosition::default() });
        state.place(&mut runs, 0, None);
        assert_eq!(runs, []);
        state.place(&mut runs, 0, warp(1, Some(5)));
        state.place(&mut runs, 3, warp(1, Some(8)));
        state.place(&mut runs, 4, warp(2, None));
        state.place(&mut runs, 4, warp(3, None));
        state.place(&mut runs, 9, warp(3, None));
        let found: Vec<_> = runs.iter().map(|run| (run.first, Some(run.place()))).collect();
        assert_eq!(found, [(0, warp(1, Some(5))), (4, warp(3, None))]);
        runs.clear();
        state.carry(&mut runs, 9);
        state.place(&mut runs, 0, warp(3, None));
        assert_eq!(runs, [RawRun::new(0, warp(3, None))]);
        state.place(&mut runs, 7, None);
        assert_eq!(runs[1], RawRun::new(7, None));
        assert_eq!(runs[1].known, 0);
    }

    #[test]
    fn a_place_counts_its_instructions() {
        let place = WarpPosition { index: Some(u32::MAX - 1), ..WarpPosition::default() };
        assert_eq!(place.after(1).index, Some(u32::MAX));
        assert_eq!(place.after(2).index, None);
    }
}
