//! [`BlockRecords`]: the memory instructions of a block in memory, shared by writers and readers, and their conversion
//! to the columns of the file (docs/trace-format.md).
//!
//! In memory a record is one row of 32 bytes rather than an entry in several arrays. A replay needs the whole record,
//! so a row costs one cache line where arrays would cost eight.

use rustc_hash::FxHashMap;
use std::io;

use super::column::{Chunk, ChunkError, ChunkWriter, Decoder, Signed};
use super::format::{KNOWN_BLOCK_COLUMNS, column};
use super::record::{NewRecord, RecordAddresses, WarpPosition};
use crate::operation::{MemoryOperation, OperationKind};
use warpload::lane::{LANES, LaneMask};

/// How a record's addresses are stored: the value in the column `FORM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum AddressForm {
    /// Base and stride.
    Stride,
    /// A base, then the difference of each further active lane from the previous one, in 8 to 64 bits.
    Lanes8,
    Lanes16,
    Lanes32,
    Lanes64,
    /// No addresses, because the source's cannot be attributed to lanes.
    Unknown,
    /// The address count and byte count of a Tensor Memory Accelerator (TMA) instruction.
    Transfer,
}

impl AddressForm {
    fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Stride,
            1 => Self::Lanes8,
            2 => Self::Lanes16,
            3 => Self::Lanes32,
            4 => Self::Lanes64,
            5 => Self::Unknown,
            6 => Self::Transfer,
            _ => return None,
        })
    }
}

/// The bits of the column `FLAGS`.
pub(super) mod flag {
    pub(in crate::binary) const PLG: u8 = 1;
    pub(in crate::binary) const GUARD: u8 = 2;
    pub(in crate::binary) const VALUES: u8 = 4;
    pub(in crate::binary) const WIDTH: u8 = 8;
    pub(in crate::binary) const VALUED: u8 = 16;
    pub(super) const ALL: u8 = PLG | GUARD | VALUES | WIDTH | VALUED;
}

/// A memory instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordRow {
    /// The first active lane's address; for a TMA instruction its address count.
    pub(super) base: u64,
    /// The stride, the position of the lanes' differences, or the byte count of a TMA instruction, depending on `form`.
    pub(super) step: u64,
    /// The number of earlier instructions in the block.
    pub(super) index: u32,
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) operation: u16,
    pub(super) form: AddressForm,
    /// `flag::…`, or-ed.
    pub(super) flags: u8,
}

/// Fields that few records have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RareFields {
    pub(super) plg: u32,
    pub(super) guard: u32,
    /// The position of the record's first value in [`BlockRecords::values`].
    pub(super) values: u32,
}

/// The instructions of a block, or of a segment of text that is not yet divided into blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockRecords {
    /// Instructions, with and without memory operands.
    pub(super) count: u32,
    pub(super) rows: Vec<RecordRow>,
    /// Empty until the first record with a rare field, then one row for each record.
    pub(super) rare: Vec<RareFields>,
    pub(super) lanes8: Vec<i8>,
    pub(super) lanes16: Vec<i16>,
    pub(super) lanes32: Vec<i32>,
    pub(super) lanes64: Vec<i64>,
    pub(super) values: Vec<u32>,
    /// The warp of each run of instructions, with the number of instructions before the run; ascending.
    pub(super) runs: Vec<(u32, WarpPosition)>,
}

impl BlockRecords {
    pub(crate) fn clear(&mut self) {
        let Self { count, rows, rare, lanes8, lanes16, lanes32, lanes64, values, runs } = self;
        *count = 0;
        rows.clear();
        rare.clear();
        lanes8.clear();
        lanes16.clear();
        lanes32.clear();
        lanes64.clear();
        values.clear();
        runs.clear();
    }

    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Self { count: _, rows, rare, lanes8, lanes16, lanes32, lanes64, values, runs } = self;
        size_of_val(&rows[..])
            + size_of_val(&rare[..])
            + size_of_val(&lanes8[..])
            + size_of_val(&lanes16[..])
            + size_of_val(&lanes32[..])
            + size_of_val(&lanes64[..])
            + size_of_val(&values[..])
            + size_of_val(&runs[..])
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &NewRecord<'_>) {
        let mut flags = 0;
        for (is_set, flag) in [
            (record.plg.is_some(), flag::PLG),
            (record.guard.is_some(), flag::GUARD),
            (record.values.is_some(), flag::VALUES),
            (record.width_disagrees, flag::WIDTH),
            (record.is_valued && record.values.is_none(), flag::VALUED),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let (form, base, step) = match record.addresses {
            // An unused base or stride is stored as zero, so that equal traces have equal bytes.
            RecordAddresses::Stride { base, stride } => match record.mask.count() {
                0 => (AddressForm::Stride, 0, 0),
                1 => (AddressForm::Stride, base, 0),
                _ => (AddressForm::Stride, base, stride.cast_unsigned()),
            },
            RecordAddresses::List(list) => self.push_list(list),
            RecordAddresses::Unknown => (AddressForm::Unknown, 0, 0),
            RecordAddresses::Transfer { count, bytes } => (AddressForm::Transfer, count, bytes),
        };
        if flags & (flag::PLG | flag::GUARD | flag::VALUES) != 0 || !self.rare.is_empty() {
            self.push_rare(record);
        }
        self.rows.push(RecordRow {
            base,
            step,
            index: self.count,
            pc: record.pc,
            mask: record.mask.bits(),
            operation: record.operation,
            form,
            flags,
        });
        self.count += 1;
    }

    #[cold]
    fn push_rare(&mut self, record: &NewRecord<'_>) {
        self.rare.resize(self.rows.len(), RareFields::default());
        self.rare.push(RareFields {
            plg: record.plg.unwrap_or_default().bits(),
            guard: record.guard.unwrap_or_default().bits(),
            values: self.values.len() as u32,
        });
        self.values.extend_from_slice(record.values.unwrap_or_default());
    }

    /// Appends the lanes' addresses in the shortest form.
    #[inline]
    fn push_list(&mut self, list: &[u64]) -> (AddressForm, u64, u64) {
        let Some((&base, rest)) = list.split_first() else { return (AddressForm::Stride, 0, 0) };
        let mut room = [0; LANES];
        let stride = rest.first().map_or(0, |next| next.wrapping_sub(base)).cast_signed();
        let (mut others, mut all, mut count) = (0, 0, 0);
        for ((step, next), before) in room.iter_mut().zip(rest).zip(list) {
            *step = next.wrapping_sub(*before).cast_signed();
            others |= *step ^ stride;
            // The magnitude bits, without the sign.
            all |= *step ^ *step >> 63;
            count += 1;
        }
        if others == 0 {
            return (AddressForm::Stride, base, stride.cast_unsigned());
        }
        let steps = &room[..count];
        let (form, at) = match u64::BITS - all.cast_unsigned().leading_zeros() {
            0..8 => (AddressForm::Lanes8, push_lanes(&mut self.lanes8, steps)),
            8..16 => (AddressForm::Lanes16, push_lanes(&mut self.lanes16, steps)),
            16..32 => (AddressForm::Lanes32, push_lanes(&mut self.lanes32, steps)),
            _ => (AddressForm::Lanes64, push_lanes(&mut self.lanes64, steps)),
        };
        (form, base, at)
    }
}

/// Appends the differences and returns the position of the first.
#[inline]
fn push_lanes<L: Signed>(lanes: &mut Vec<L>, steps: &[i64]) -> u64 {
    let at = lanes.len() as u64;
    lanes.extend(steps.iter().map(|step| L::of(*step)));
    at
}

/// An instruction of the program, identified by program counter and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Site {
    pc: u32,
    operation: u16,
}

/// The previous access of a site, which predicts the next one.
#[derive(Clone, Copy, Debug, Default)]
struct SiteHistory {
    is_begun: bool,
    base: u64,
    stride: u64,
}

/// Writes blocks as columns and keeps its buffers.
#[derive(Debug, Default)]
pub(super) struct BlockEncoder {
    numbers: FxHashMap<Site, u16>,
    sites: Vec<Site>,
    histories: Vec<SiteHistory>,
    /// Each record's site.
    of_records: Vec<u16>,
    bases: Vec<i64>,
    strides: Vec<i64>,
    numbers32: Vec<u32>,
}

impl BlockEncoder {
    pub(super) fn write(
        &mut self,
        block: &BlockRecords,
        writer: &mut ChunkWriter,
    ) -> io::Result<()> {
        self.write_runs(&block.runs, writer)?;
        let rows = &block.rows;
        self.number_sites(rows);
        let Self { sites, of_records, numbers32: numbers, .. } = self;
        let mut before = 0;
        let differences = sites.iter().map(|site| difference(site.pc, &mut before));
        writer.signed(column::SITE_PC, &differences.collect::<Vec<_>>())?;
        let operations = sites.iter().map(|site| site.operation);
        writer.unsigned(column::SITE_OPERATION, &operations.collect::<Vec<_>>())?;
        writer.unsigned(column::SITE, of_records)?;
        let mut next = 0;
        let gap = |row: &RecordRow| row.index - std::mem::replace(&mut next, row.index + 1);
        writer.unsigned(column::GAP, filled(numbers, rows.iter().map(gap)))?;
        writer.unsigned(column::INACTIVE, filled(numbers, rows.iter().map(|row| !row.mask)))?;
        writer.unsigned(column::FORM, filled(numbers, rows.iter().map(|row| row.form as u32)))?;
        writer.unsigned(column::FLAGS, filled(numbers, rows.iter().map(|row| row.flags.into())))?;
        self.predict(rows);
        writer.signed(column::BASE, &self.bases)?;
        writer.signed(column::STRIDE, &self.strides)?;
        writer.signed(column::LANES_8, &block.lanes8)?;
        writer.signed(column::LANES_16, &block.lanes16)?;
        writer.signed(column::LANES_32, &block.lanes32)?;
        writer.signed(column::LANES_64, &block.lanes64)?;
        let transfers = || rows.iter().filter(|row| row.form == AddressForm::Transfer);
        writer.unsigned(column::TRANSFERS, &transfers().map(|row| row.base).collect::<Vec<_>>())?;
        writer.unsigned(
            column::TRANSFER_BYTES,
            &transfers().map(|row| row.step).collect::<Vec<_>>(),
        )?;
        let rare = |flag| {
            let rare = rows.iter().zip(&block.rare);
            rare.filter(move |(row, _)| row.flags & flag != 0).map(|(_, rare)| rare)
        };
        let plg = rare(flag::PLG).map(|rare| rare.plg);
        writer.unsigned(column::PLG, &plg.collect::<Vec<_>>())?;
        let guard = rare(flag::GUARD).map(|rare| rare.guard);
        writer.unsigned(column::GUARD, &guard.collect::<Vec<_>>())?;
        writer.unsigned(column::VALUES, &block.values)
    }

    fn write_runs(
        &mut self,
        runs: &[(u32, WarpPosition)],
        writer: &mut ChunkWriter,
    ) -> io::Result<()> {
        let numbers = &mut self.numbers32;
        let mut before = 0;
        let gap = |(first, _): &(u32, _)| first - std::mem::replace(&mut before, *first);
        writer.counted(column::RUN_GAP, filled(numbers, runs.iter().map(gap)))?;
        let knows = |is_known, bit| if is_known { bit } else { 0 };
        let known = runs.iter().map(|(_, place)| {
            let all = knows(place.cta.is_some(), known::CTA)
                | knows(place.warp.is_some(), known::WARP)
                | knows(place.cluster.is_some(), known::CLUSTER)
                | knows(place.index.is_some(), known::INDEX);
            all.into()
        });
        writer.unsigned(column::RUN_KNOWN, filled(numbers, known))?;
        let mut differences = Vec::with_capacity(runs.len());
        for (number, id) in RUN_NUMBERS.into_iter().enumerate() {
            let mut before = 0;
            differences.clear();
            differences.extend(runs.iter().map(|(_, place)| match run_number(place, number) {
                Some(value) => difference(value, &mut before),
                None => 0,
            }));
            writer.signed(id, &differences)?;
        }
        Ok(())
    }

    /// Numbers the sites in order of first use.
    fn number_sites(&mut self, rows: &[RecordRow]) {
        let Self { numbers, sites, of_records, .. } = self;
        numbers.clear();
        sites.clear();
        of_records.clear();
        of_records.extend(rows.iter().map(|&RecordRow { pc, operation, .. }| {
            let site = Site { pc, operation };
            // Fits, because a block has at most 4,096 records.
            *numbers.entry(site).or_insert_with(|| {
                sites.push(site);
                (sites.len() - 1) as u16
            })
        }));
    }

    /// Replaces bases and strides by their differences from the site's previous access. A site's first base is
    /// predicted by the base of the previous record.
    fn predict(&mut self, rows: &[RecordRow]) {
        let Self { sites, histories, of_records, bases, strides, .. } = self;
        bases.clear();
        strides.clear();
        histories.clear();
        histories.resize(sites.len(), SiteHistory::default());
        let mut last = 0;
        for (row, site) in rows.iter().zip(of_records) {
            let Some(known) = histories.get_mut(usize::from(*site)) else { continue };
            if !row.form.has_base() {
                continue;
            }
            let expected = if known.is_begun { known.base } else { last };
            bases.push(row.base.wrapping_sub(expected).cast_signed());
            (known.is_begun, known.base, last) = (true, row.base, row.base);
            if row.form == AddressForm::Stride {
                strides.push(row.step.wrapping_sub(known.stride).cast_signed());
                known.stride = row.step;
            }
        }
    }
}

impl AddressForm {
    fn has_base(self) -> bool {
        !matches!(self, Self::Unknown | Self::Transfer)
    }

    /// The index of the differences' width: 0 for 8 bits to 3 for 64 bits.
    fn lanes(self) -> Option<usize> {
        match self {
            Self::Lanes8 => Some(0),
            Self::Lanes16 => Some(1),
            Self::Lanes32 => Some(2),
            Self::Lanes64 => Some(3),
            Self::Stride | Self::Unknown | Self::Transfer => None,
        }
    }
}

/// The difference from the previous number, modulo 2^32.
fn difference(number: u32, before: &mut u32) -> i32 {
    number.wrapping_sub(std::mem::replace(before, number)).cast_signed()
}

fn filled(to: &mut Vec<u32>, numbers: impl Iterator<Item = u32>) -> &[u32] {
    to.clear();
    to.extend(numbers);
    to
}

/// The bits of the column `RUN_KNOWN`.
mod known {
    pub(super) const CTA: u8 = 1;
    pub(super) const WARP: u8 = 2;
    pub(super) const CLUSTER: u8 = 4;
    pub(super) const INDEX: u8 = 8;
    pub(super) const ALL: u8 = CTA | WARP | CLUSTER | INDEX;
}

/// The columns of a run's numbers: thread block, warp, cluster, index.
const RUN_NUMBERS: [u8; 8] = [
    column::RUN_CTA_X,
    column::RUN_CTA_Y,
    column::RUN_CTA_Z,
    column::RUN_WARP,
    column::RUN_CLUSTER_X,
    column::RUN_CLUSTER_Y,
    column::RUN_CLUSTER_Z,
    column::RUN_INDEX,
];

/// One number of a run, indexed as in [`RUN_NUMBERS`]; `None` if it is unknown.
fn run_number(place: &WarpPosition, number: usize) -> Option<u32> {
    match number {
        0..3 => place.cta.and_then(|cta| cta.get(number).copied()),
        3 => place.warp,
        4..7 => place.cluster.and_then(|cluster| cluster.get(number - 4).copied()),
        _ => place.index,
    }
}

fn read_runs(
    chunk: &Chunk<'_>,
    decoder: &mut Decoder,
    BlockSize { instructions, records, .. }: BlockSize,
    runs: &mut Vec<(u32, WarpPosition)>,
) -> Result<(), String> {
    let count = chunk.count(column::RUN_GAP)?;
    if count > records {
        return Err(format!("it has {count} runs of {records} records"));
    }
    let (mut gaps, mut known, mut differences) = (Vec::<u32>::new(), Vec::<u8>::new(), Vec::new());
    decoder.unsigned(chunk, column::RUN_GAP, count, &mut gaps)?;
    decoder.unsigned(chunk, column::RUN_KNOWN, count, &mut known)?;
    let mut at = 0;
    for (i, gap) in gaps.into_iter().enumerate() {
        at += u64::from(gap);
        if at >= u64::from(instructions) || gap == 0 && i > 0 {
            return Err(format!("run {i} is out of order or beyond the block"));
        }
        let known = known.get(i).copied().unwrap_or(0);
        if known & !known::ALL != 0 {
            return Err(format!("run {i} has unknown flags, {known:#x}"));
        }
        let knows = |bit| known & bit != 0;
        let place = WarpPosition {
            cta: knows(known::CTA).then_some([0; 3]),
            warp: knows(known::WARP).then_some(0),
            cluster: knows(known::CLUSTER).then_some([0; 3]),
            index: knows(known::INDEX).then_some(0),
        };
        runs.push((at as u32, place));
    }
    for (number, id) in RUN_NUMBERS.into_iter().enumerate() {
        decoder.signed::<i32>(chunk, id, count, &mut differences)?;
        let mut value = 0u32;
        for ((_, place), difference) in runs.iter_mut().zip(&differences) {
            if let Some(field) = run_number_mut(place, number) {
                value = value.wrapping_add_signed(*difference);
                *field = value;
            }
        }
    }
    Ok(())
}

/// [`run_number`], mutably.
fn run_number_mut(place: &mut WarpPosition, number: usize) -> Option<&mut u32> {
    match number {
        0..3 => place.cta.as_mut()?.get_mut(number),
        3 => place.warp.as_mut(),
        4..7 => place.cluster.as_mut()?.get_mut(number - 4),
        _ => place.index.as_mut(),
    }
}

/// The number of instructions in a block, from the index.
#[derive(Clone, Copy)]
pub(super) struct BlockSize {
    pub(super) instructions: u32,
    pub(super) records: usize,
}

/// Decodes blocks and reuses its buffers.
#[derive(Debug, Default)]
pub(super) struct BlockDecoder {
    decoder: Decoder,
    of_records: Vec<u16>,
    gaps: Vec<u32>,
    inactive: Vec<u32>,
    forms: Vec<u8>,
    flags: Vec<u8>,
    bases: Vec<i64>,
    strides: Vec<i64>,
}

/// An instruction of the program with its previous access, which predicts the next one.
#[derive(Clone, Copy, Debug)]
struct KnownSite<'o> {
    pc: u32,
    number: u16,
    operation: &'o MemoryOperation,
    records: u32,
    is_begun: bool,
    base: u64,
    stride: u64,
}

impl BlockDecoder {
    /// Decodes `bytes` into `block` and returns the number of loads, stores and atomics. `operation` maps an operation
    /// number of the file to the trace's number and the operation.
    pub(super) fn read<'o>(
        &mut self,
        bytes: &[u8],
        size: BlockSize,
        operation: impl Fn(u16) -> Option<&'o MemoryOperation>,
        block: &mut BlockRecords,
    ) -> Result<[u32; 3], ChunkError> {
        let chunk = Chunk::new(bytes, KNOWN_BLOCK_COLUMNS)?;
        block.clear();
        block.count = size.instructions;
        read_runs(&chunk, &mut self.decoder, size, &mut block.runs)?;
        let mut sites = self.read_sites(&chunk, size.records, operation)?;
        let lanes = self.read_columns(&chunk, size.records)?;
        let decoder = &mut self.decoder;
        decoder.signed(&chunk, column::LANES_8, lanes[0], &mut block.lanes8)?;
        decoder.signed(&chunk, column::LANES_16, lanes[1], &mut block.lanes16)?;
        decoder.signed(&chunk, column::LANES_32, lanes[2], &mut block.lanes32)?;
        decoder.signed(&chunk, column::LANES_64, lanes[3], &mut block.lanes64)?;
        block.lanes8.resize(lanes[0], 0);
        block.lanes16.resize(lanes[1], 0);
        block.lanes32.resize(lanes[2], 0);
        block.lanes64.resize(lanes[3], 0);
        self.join_rows(size, &mut sites, &mut block.rows)?;
        self.read_transfers(&chunk, &mut block.rows)?;
        self.read_rare(&chunk, &sites, block)?;
        let of_kind = |kind| {
            let sites = sites.iter().filter(|site| site.operation.kind == kind);
            sites.map(|site| site.records).sum()
        };
        Ok([OperationKind::Load, OperationKind::Store, OperationKind::Atomic].map(of_kind))
    }

    /// Reads the site of each record, then the table of sites.
    fn read_sites<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        records: usize,
        operation: impl Fn(u16) -> Option<&'o MemoryOperation>,
    ) -> Result<Vec<KnownSite<'o>>, String> {
        let Self { decoder, of_records, .. } = self;
        decoder.unsigned(chunk, column::SITE, records, of_records)?;
        of_records.resize(records, 0);
        let count = of_records.iter().max().map_or(0, |most| usize::from(*most) + 1);
        if count > records {
            return Err(format!("{records} records for {count} instructions"));
        }
        let (mut differences, mut numbers) = (Vec::<i32>::new(), Vec::<u16>::new());
        decoder.signed(chunk, column::SITE_PC, count, &mut differences)?;
        decoder.unsigned(chunk, column::SITE_OPERATION, count, &mut numbers)?;
        let mut pc = 0u32;
        let site = |i| {
            pc = pc.wrapping_add_signed(differences.get(i).copied().unwrap_or(0));
            let own = numbers.get(i).copied().unwrap_or(0);
            let operation = operation(own)
                .ok_or_else(|| format!("it has an instruction of the unknown operation {own}"))?;
            let (records, is_begun, base, stride) = (0, false, 0, 0);
            Ok(KnownSite { pc, number: own, operation, records, is_begun, base, stride })
        };
        (0..count).map(site).collect()
    }

    /// Reads the columns of records and returns the number of lane differences for each width.
    fn read_columns(&mut self, chunk: &Chunk<'_>, records: usize) -> Result<[usize; 4], String> {
        let Self { decoder, gaps, inactive, forms, flags, bases, strides, .. } = self;
        decoder.unsigned(chunk, column::GAP, records, gaps)?;
        gaps.resize(records, 0);
        decoder.unsigned(chunk, column::INACTIVE, records, inactive)?;
        inactive.resize(records, 0);
        decoder.unsigned(chunk, column::FLAGS, records, flags)?;
        if let Some(unknown) = flags.iter().find(|flags| **flags & !flag::ALL != 0) {
            return Err(format!("a record has unknown flags, {unknown:#x}"));
        }
        flags.resize(records, 0);
        decoder.unsigned(chunk, column::FORM, records, forms)?;
        let (mut with_base, mut with_stride, mut lanes) = (records, records, [0; 4]);
        for (form, inactive) in forms.iter().zip(&*inactive) {
            if *form == AddressForm::Stride as u8 {
                continue;
            }
            with_stride -= 1;
            match AddressForm::of(*form) {
                Some(AddressForm::Unknown | AddressForm::Transfer) => with_base -= 1,
                Some(form) => {
                    let Some(steps) = inactive.count_zeros().checked_sub(1) else {
                        let message = "a record has addresses of lanes and no active lane";
                        return Err(message.to_owned());
                    };
                    if let Some(lanes) = form.lanes().and_then(|width| lanes.get_mut(width)) {
                        *lanes += steps as usize;
                    }
                }
                None => return Err(format!("a record has unknown form {form}")),
            }
        }
        forms.resize(records, 0);
        decoder.signed(chunk, column::BASE, with_base, bases)?;
        bases.resize(with_base, 0);
        decoder.signed(chunk, column::STRIDE, with_stride, strides)?;
        strides.resize(with_stride, 0);
        Ok(lanes)
    }

    /// Assembles rows from the columns.
    fn join_rows(
        &self,
        size: BlockSize,
        sites: &mut [KnownSite<'_>],
        rows: &mut Vec<RecordRow>,
    ) -> Result<(), String> {
        let (mut bases, mut strides) = (self.bases.iter(), self.strides.iter());
        let (mut next, mut last, mut lanes) = (0u64, 0u64, [0u64; 4]);
        let columns = self.of_records.iter().zip(&self.gaps).zip(&self.inactive);
        let columns = columns.zip(self.forms.iter().zip(&self.flags));
        rows.reserve(size.records);
        for (i, (((site, gap), inactive), (form, flags))) in columns.enumerate() {
            // Never taken: the table covers the greatest site number, and `read_columns` has checked the forms.
            let Some(site) = sites.get_mut(usize::from(*site)) else { continue };
            let Some(form) = AddressForm::of(*form) else { continue };
            let index = next + u64::from(*gap);
            next = index + 1;
            site.records += 1;
            let (mut base, mut step) = (0, 0);
            if form.has_base() {
                let expected = if site.is_begun { site.base } else { last };
                base = expected.wrapping_add_signed(bases.next().copied().unwrap_or(0));
                (site.is_begun, site.base, last) = (true, base, base);
                if let Some(lanes) = form.lanes().and_then(|width| lanes.get_mut(width)) {
                    step = *lanes;
                    *lanes += u64::from(inactive.count_zeros().saturating_sub(1));
                } else {
                    let difference = strides.next().copied().unwrap_or(0);
                    site.stride = site.stride.wrapping_add_signed(difference);
                    step = site.stride;
                }
            } else if form == AddressForm::Transfer
                && site.operation.kind != OperationKind::Transfer
            {
                return Err(format!("record {i} moves blocks, but its operation is no transfer"));
            }
            rows.push(RecordRow {
                base,
                step,
                // If this truncates, the check after the loop refuses the block.
                index: index as u32,
                pc: site.pc,
                mask: !*inactive,
                operation: site.number,
                form,
                flags: *flags,
            });
        }
        if next > u64::from(size.instructions) {
            return Err(format!("its last record is instruction {next} of {}", size.instructions));
        }
        Ok(())
    }

    fn read_transfers(&mut self, chunk: &Chunk<'_>, rows: &mut [RecordRow]) -> Result<(), String> {
        let is_transfer = |row: &RecordRow| row.form == AddressForm::Transfer;
        let count = self.forms.iter().filter(|form| **form == AddressForm::Transfer as u8).count();
        let (mut addresses, mut bytes) = (Vec::new(), Vec::new());
        self.decoder.unsigned(chunk, column::TRANSFERS, count, &mut addresses)?;
        self.decoder.unsigned(chunk, column::TRANSFER_BYTES, count, &mut bytes)?;
        if count > 0 {
            let rows = rows.iter_mut().filter(|row| is_transfer(row));
            for (i, row) in rows.enumerate() {
                row.base = addresses.get(i).copied().unwrap_or(0);
                row.step = bytes.get(i).copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    fn read_rare(
        &mut self,
        chunk: &Chunk<'_>,
        sites: &[KnownSite<'_>],
        block: &mut BlockRecords,
    ) -> Result<(), String> {
        let Self { decoder, of_records, flags, .. } = self;
        let BlockRecords { rows, rare, values, .. } = block;
        let count = |flag| flags.iter().filter(|flags| **flags & flag != 0).count();
        let (mut plg, mut guard) = (Vec::<u32>::new(), Vec::<u32>::new());
        decoder.unsigned(chunk, column::PLG, count(flag::PLG), &mut plg)?;
        decoder.unsigned(chunk, column::GUARD, count(flag::GUARD), &mut guard)?;
        let all = flags.iter().fold(0, |all, flags| all | flags);
        let mut at = 0;
        if all & (flag::PLG | flag::GUARD | flag::VALUES) != 0 {
            let (mut plg, mut guard) = (plg.into_iter(), guard.into_iter());
            rare.extend(rows.iter().zip(&*of_records).map(|(row, site)| {
                let (has, values) = (|flag| row.flags & flag != 0, at);
                if has(flag::VALUES) {
                    let site = sites.get(usize::from(*site));
                    let registers = site.map_or(0, |site| site.operation.registers());
                    at += registers * LaneMask::from_bits(row.mask).count();
                }
                let next = |is_there, masks: &mut std::vec::IntoIter<u32>| {
                    if is_there { masks.next().unwrap_or(0) } else { 0 }
                };
                RareFields {
                    plg: next(has(flag::PLG), &mut plg),
                    guard: next(has(flag::GUARD), &mut guard),
                    values,
                }
            }));
        }
        decoder.unsigned(chunk, column::VALUES, at as usize, values)?;
        values.resize(at as usize, 0);
        Ok(())
    }
}
