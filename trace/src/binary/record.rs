//! Memory instructions on their way into a binary trace: [`NewRecord`] with its [`RecordAddresses`], the
//! [`WarpPosition`] of the instructions, and [`BlockBuilder`], which fills blocks.

use super::block::{AddressForm, BlockRecords, RareFields, RecordRow, flag};
use super::format::{MAX_BLOCK_INSTRUCTIONS, MAX_BLOCK_RECORDS};
use crate::operation::{MemoryOperation, OperationKind};
use warpload::lane::LaneMask;

/// The active lanes' addresses. The i-th value belongs to the i-th active lane, in lane order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordAddresses<'a> {
    /// The i-th active lane accesses `base + i * stride`, modulo 2^64. With stride 0 all access one address.
    Stride {
        /// The first active lane's address.
        base: u64,
        /// The distance between neighbouring active lanes, in bytes.
        stride: i64,
    },
    /// Every active lane's address. The trace stores the shortest form.
    List(&'a [u64]),
    /// Addresses that cannot be attributed to lanes, or none.
    Unknown,
    /// A Tensor Memory Accelerator instruction, which moves blocks of memory instead of lane values.
    Transfer {
        /// The number of its addresses.
        count: u64,
        /// The number of bytes moved.
        bytes: u64,
    },
}

impl RecordAddresses<'_> {
    /// Returns the addresses of `active` lanes in order; empty if there are none per lane.
    pub fn each(&self, active: u32) -> impl Iterator<Item = u64> {
        let form = *self;
        (0..u64::from(active)).map_while(move |i| match form {
            Self::Stride { base, stride } => {
                Some(base.wrapping_add(stride.cast_unsigned().wrapping_mul(i)))
            }
            Self::List(list) => list.get(i as usize).copied(),
            Self::Unknown | Self::Transfer { .. } => None,
        })
    }
}

/// The warp that executes an instruction, and the instruction's number in that warp. Each field is `None` if the source
/// does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpPosition {
    /// The thread block, in x, y and z.
    pub cta: Option<[u32; 3]>,
    /// The warp's number in its thread block.
    pub warp: Option<u32>,
    /// The cluster, in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// The number of earlier instructions of the warp.
    pub index: Option<u32>,
}

impl WarpPosition {
    /// The position of the instruction `count` instructions later.
    #[inline]
    pub(super) fn after(self, count: u32) -> Self {
        Self { index: self.index.and_then(|index| index.checked_add(count)), ..self }
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
    /// The lanes with a true Plg; `None` if unknown.
    pub plg: Option<LaneMask>,
    /// The lanes with a true guard; `None` if unknown.
    pub guard: Option<LaneMask>,
    /// The expected values of a load, or the values that a store wrote: one per active lane for each register; `None`
    /// if unknown. Lanes that do not execute are not compared.
    pub values: Option<&'l [u32]>,
    /// Whether the source has values, but not the loaded or stored ones.
    pub is_valued: bool,
    /// Whether the source's access width differed from the opcode's.
    pub width_disagrees: bool,
}

impl<'l> NewRecord<'l> {
    /// Creates a record with unknown Plg, guard and values.
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

    /// Whether the counts of addresses and values match the mask.
    pub(crate) fn fits(&self, operation: &MemoryOperation) -> bool {
        let active = self.mask.count() as usize;
        let has_addresses = match self.addresses {
            RecordAddresses::Stride { .. } | RecordAddresses::Unknown => true,
            RecordAddresses::List(list) => list.len() == active,
            RecordAddresses::Transfer { .. } => operation.kind == OperationKind::Transfer,
        };
        let values = active * operation.registers() as usize;
        has_addresses && self.values.is_none_or(|known| known.len() == values)
    }
}

impl BlockRecords {
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn records(&self) -> usize {
        self.rows.len()
    }

    /// Sets the warp of the instructions after the first `count`.
    #[inline]
    pub(crate) fn place(&mut self, count: u32, place: WarpPosition) {
        let goes_on =
            |(first, last): &(u32, WarpPosition)| last.after(count.saturating_sub(*first)) == place;
        if !self.runs.last().is_some_and(goes_on) {
            self.runs.push((count, place));
        }
    }

    #[inline]
    pub(crate) fn skip(&mut self) {
        self.count += 1;
    }

    /// Replaces the number of each record's operation.
    ///
    /// # Errors
    /// Returns the error of `number`.
    pub(crate) fn renumber<E>(
        &mut self,
        mut number: impl FnMut(u16) -> Result<u16, E>,
    ) -> Result<(), E> {
        for row in &mut self.rows {
            row.operation = number(row.operation)?;
        }
        Ok(())
    }

    /// Appends record `i` of another block, with a new index.
    #[inline]
    fn copy(&mut self, from: &Self, i: usize, index: u32) {
        let Some(row) = from.rows.get(i) else { return };
        let active = LaneMask::from_bits(row.mask).count() as usize;
        let step = match row.form {
            AddressForm::Stride | AddressForm::Unknown | AddressForm::Transfer => row.step,
            AddressForm::Lanes8 => copy(&mut self.lanes8, &from.lanes8, row.step, active),
            AddressForm::Lanes16 => copy(&mut self.lanes16, &from.lanes16, row.step, active),
            AddressForm::Lanes32 => copy(&mut self.lanes32, &from.lanes32, row.step, active),
            AddressForm::Lanes64 => copy(&mut self.lanes64, &from.lanes64, row.step, active),
        };
        if !from.rare.is_empty() || !self.rare.is_empty() {
            self.copy_rare(from, i);
        }
        self.rows.push(RecordRow { step, index, ..*row });
    }

    #[cold]
    fn copy_rare(&mut self, from: &Self, i: usize) {
        self.rare.resize(self.rows.len(), RareFields::default());
        let rare = from.rare.get(i).copied().unwrap_or_default();
        let end = from.rare.get(i + 1).map_or(from.values.len(), |next| next.values as usize);
        let has_values = from.rows.get(i).is_some_and(|row| row.flags & flag::VALUES != 0);
        let values = self.values.len() as u32;
        if has_values {
            let own = from.values.get(rare.values as usize..end);
            self.values.extend_from_slice(own.unwrap_or_default());
        }
        self.rare.push(RareFields { values, ..rare });
    }
}

/// Appends the lane differences of one record, which start at `at`, and returns their new position.
#[inline]
fn copy<L: Copy>(to: &mut Vec<L>, from: &[L], at: u64, active: usize) -> u64 {
    let start = to.len() as u64;
    let own = from.get(at as usize..).and_then(|rest| rest.get(..active.saturating_sub(1)));
    to.extend_from_slice(own.unwrap_or_default());
    start
}

/// Fills blocks. The methods that add instructions return a block when it is full.
#[derive(Debug, Default)]
pub(crate) struct BlockBuilder {
    block: BlockRecords,
    /// The position set last, with the number of the block's instructions before it.
    current: (u32, WarpPosition),
    /// Whether the next record may need a new run.
    is_new: bool,
}

impl BlockBuilder {
    fn at(&self, count: u32) -> WarpPosition {
        self.current.1.after(count - self.current.0)
    }

    /// Sets the warp of the following instructions.
    #[inline]
    pub(crate) fn place(&mut self, place: WarpPosition) {
        self.place_at(self.block.count, place);
    }

    #[inline]
    fn place_at(&mut self, count: u32, place: WarpPosition) {
        if self.at(count) == place {
            return;
        }
        (self.current, self.is_new) = ((count, place), true);
    }

    /// Starts a run with the record after the first `count` instructions, unless the last run continues. Runs start at
    /// records only, because no reader asks for the warp of other instructions.
    #[inline]
    fn run(&mut self, count: u32) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        let last = self.block.runs.last();
        let known =
            last.map_or_else(WarpPosition::default, |(first, place)| place.after(count - first));
        let place = self.at(count);
        if known != place {
            self.block.runs.push((count, place));
        }
    }

    pub(crate) fn skip(&mut self) -> Option<BlockRecords> {
        self.block.count += 1;
        self.full()
    }

    /// Counts up to `count` instructions without a memory operand, as many as the block has room for. Returns how many.
    pub(crate) fn skip_up_to(&mut self, count: u64) -> (u64, Option<BlockRecords>) {
        let room = MAX_BLOCK_INSTRUCTIONS - self.block.count;
        let skipped = u32::try_from(count).map_or(room, |count| count.min(room));
        self.block.count += skipped;
        (skipped.into(), self.full())
    }

    pub(crate) fn record(&mut self, record: &NewRecord<'_>) -> Option<BlockRecords> {
        self.run(self.block.count);
        self.block.push(record);
        self.full()
    }

    /// Adds the instructions of `segment` from number `from` on, as many as the block has room for. Returns the number
    /// of the first one not added.
    pub(crate) fn append(
        &mut self,
        segment: &BlockRecords,
        from: u32,
    ) -> (u32, Option<BlockRecords>) {
        let BlockRecords { rows, count, runs, .. } = segment;
        let (start, first) = (self.block.count, rows.partition_point(|row| row.index < from));
        let last = rows.get(first + (MAX_BLOCK_RECORDS - self.block.rows.len() - 1));
        let to =
            last.map_or(*count, |row| row.index + 1).min(from + (MAX_BLOCK_INSTRUCTIONS - start));
        if self.block.rows.is_empty() {
            self.block.rows.reserve(MAX_BLOCK_RECORDS);
        }
        let begun = runs.partition_point(|(at, _)| *at < from);
        let mut places = runs.iter().skip(begun).peekable();
        for (i, row) in rows.iter().enumerate().skip(first) {
            if row.index >= to {
                break;
            }
            while let Some((at, place)) = places.next_if(|(at, _)| *at <= row.index) {
                self.place_at(at - from + start, *place);
            }
            let index = row.index - from + start;
            self.run(index);
            self.block.copy(segment, i, index);
        }
        for (at, place) in places {
            // A position at the end belongs to the instructions after the segment.
            if *at > to || (*at == to && to < *count) {
                break;
            }
            self.place_at(at - from + start, *place);
        }
        self.block.count += to - from;
        (to, self.full())
    }

    /// The approximate size of the block in bytes; 0 if it is empty.
    pub(crate) fn bytes(&self) -> usize {
        if self.block.count == 0 { 0 } else { size_of::<Self>() + self.block.bytes() }
    }

    fn full(&mut self) -> Option<BlockRecords> {
        let BlockRecords { count, rows, .. } = &self.block;
        let is_full = *count == MAX_BLOCK_INSTRUCTIONS || rows.len() == MAX_BLOCK_RECORDS;
        if is_full { self.close() } else { None }
    }

    /// Returns the block, or `None` if it is empty, and starts the next one with the same warp.
    pub(crate) fn close(&mut self) -> Option<BlockRecords> {
        let block = std::mem::take(&mut self.block);
        (self.current, self.is_new) = ((0, self.at(block.count)), true);
        (block.count > 0).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_give_the_same_addresses() {
        for form in [
            RecordAddresses::Stride { base: 100, stride: 4 },
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
        let form = |list: &[u64]| {
            let mut block = BlockRecords::default();
            let mask = LaneMask::from_bits((1 << list.len()) - 1);
            block.push(&NewRecord::new(0, mask, 0, RecordAddresses::List(list)));
            let row = block.rows[0];
            (row.form, row.base, row.step)
        };
        assert_eq!(form(&[5, 5, 5]), (AddressForm::Stride, 5, 0));
        assert_eq!(form(&[5]), (AddressForm::Stride, 5, 0));
        assert_eq!(form(&[]), (AddressForm::Stride, 0, 0));
        assert_eq!(form(&[8, 4, 0]), (AddressForm::Stride, 8, 4u64.wrapping_neg()));
        for (list, expected) in [
            ([5, 4, 9], AddressForm::Lanes8),
            ([0, 127, u64::MAX], AddressForm::Lanes8),
            ([0, 128, 0], AddressForm::Lanes16),
            ([0x8000, 0, 1], AddressForm::Lanes16),
            ([0x8001, 0, 1], AddressForm::Lanes32),
            ([0, 0x8000_0000, 0], AddressForm::Lanes64),
            ([0x8000_0000, 0, 1], AddressForm::Lanes32),
            ([0, 1 << 40, 7], AddressForm::Lanes64),
        ] {
            assert_eq!(form(&list), (expected, list[0], 0), "{list:?}");
        }
    }

    #[test]
    fn a_run_goes_on_until_another_warp_is_named() {
        let mut builder = BlockBuilder::default();
        let warp =
            |warp, index| WarpPosition { warp: Some(warp), index, ..WarpPosition::default() };
        let mut record = |count, place| {
            builder.place_at(count, place);
            builder.run(count);
            builder.block.count = count + 1;
            builder.block.runs.clone()
        };
        assert_eq!(record(0, WarpPosition::default()), []);
        let first = (1, warp(1, Some(5)));
        assert_eq!(record(1, first.1), [first]);
        assert_eq!(record(4, warp(1, Some(8))), [first]);
        let second = (5, warp(3, None));
        assert_eq!(record(5, second.1), [first, second]);
        assert_eq!(record(9, second.1), [first, second]);
        builder.close();
        // A position without a record makes no run.
        builder.place_at(0, warp(2, None));
        builder.place_at(0, second.1);
        builder.run(0);
        assert_eq!(builder.block.runs, [(0, second.1)]);
    }

    #[test]
    fn a_place_counts_its_instructions() {
        let place = WarpPosition { index: Some(u32::MAX - 1), ..WarpPosition::default() };
        assert_eq!(place.after(1).index, Some(u32::MAX));
        assert_eq!(place.after(2).index, None);
    }
}
