//! Instruction lines of an Accel-Sim trace: **the table** of fields for each [`Version`] of the tracer; [`Body`], the
//! properties common to all lines of a file; and [`Instruction`] with **the order** of its fields in every version.

use std::path::Path;

use super::groups::Bounds;
use super::scan::Scan;
use crate::binary::WarpPosition;
use crate::import::error::ImportError;
use crate::import::interner::Interner;
use crate::operation;
use warpload::lane::{LANES, LaneMask};

/// A version of Accel-Sim's tracer, described by properties. Readers test these instead of version numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    /// Whether each grouped instruction names its thread block and warp, as ungrouped ones do.
    has_grouped_ids: bool,
    /// Whether an ungrouped instruction names its cluster after its warp.
    pub(super) has_clusters: bool,
    /// Whether a source line number precedes the program counter, if the header enables it.
    pub(super) has_line_numbers: bool,
    /// The highest address mode for lanes.
    last_mode: u64,
    lanes: AddressLanes,
    /// The least and the most immediates.
    immediates: (u8, u8),
    /// Whether instructions have the additions for Hopper: uniform registers and predicates, the field of `GMMA`,
    /// transfers of the Tensor Memory Accelerator, and a final `Val` or `NoVal`.
    has_hopper: bool,
}

/// The lanes with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressLanes {
    /// The lanes of the mask.
    Mask,
    /// The lanes of the mask or, in early builds of version 3, all lanes that were active before the guard. If the
    /// number of addresses fits the mask exactly, they are the mask's.
    MaskOrMore,
    /// The lanes that were active before the guard.
    More,
}

impl Version {
    /// All known versions, for messages.
    pub(super) const EXPECTED: &'static str = "a version from 1.2 to 6";

    const V1: Self = Self {
        has_grouped_ids: true,
        has_clusters: false,
        has_line_numbers: false,
        last_mode: 1,
        lanes: AddressLanes::More,
        immediates: (0, 0),
        has_hopper: false,
    };
    const V3: Self =
        Self { has_grouped_ids: false, last_mode: 2, lanes: AddressLanes::MaskOrMore, ..Self::V1 };
    const V4: Self =
        Self { has_line_numbers: true, lanes: AddressLanes::Mask, immediates: (0, 1), ..Self::V3 };
    const V5: Self = Self { immediates: (1, 1), ..Self::V4 };
    const V6: Self = Self { has_clusters: true, immediates: (1, 2), has_hopper: true, ..Self::V5 };

    /// The version with a number; `None` if it is unknown. Below 3 only 1.2 was published.
    pub(super) const fn of_number(number: u64) -> Option<Self> {
        match number {
            0..=2 => Some(Self::V1),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// Whether attributing addresses to lanes requires the number of the warp's threads.
    fn needs_threads(&self) -> bool {
        self.lanes != AddressLanes::Mask
    }
}

/// Properties of all lines, from the header and the first instruction.
#[derive(Clone, Copy)]
pub(super) struct Body<'f> {
    pub(super) file: &'f Path,
    pub(super) version: Version,
    /// Whether instructions are in `#BEGIN_TB` groups; otherwise each names its thread block.
    pub(super) is_grouped: bool,
    /// Whether `sm smwarp` precedes each instruction, after the fields for thread block, warp and cluster.
    pub(super) has_core_ids: bool,
    /// Whether a source line number precedes the program counter.
    pub(super) has_line_numbers: bool,
    pub(super) bounds: Bounds,
    /// Whether the code is for SM 5.x or 6.x.
    pub(super) is_spa5: bool,
    pub(super) interner: &'f Interner,
}

impl Body<'_> {
    /// Whether each instruction names its thread block and its warp.
    #[inline(always)]
    pub(super) fn has_ids(&self) -> bool {
        !self.is_grouped || self.version.has_grouped_ids
    }

    /// Whether each instruction names its cluster.
    #[inline(always)]
    pub(super) fn has_clusters(&self) -> bool {
        !self.is_grouped && self.version.has_clusters
    }

    /// The number of fields before the program counter.
    pub(super) fn front(&self) -> usize {
        [
            (self.has_ids(), 4),
            (self.has_clusters(), 7),
            (self.has_core_ids, 2),
            (self.has_line_numbers, 1),
        ]
        .into_iter()
        .filter_map(|(has, count)| has.then_some(count))
        .sum()
    }

    /// Whether reading a line requires the warp of its group.
    pub(super) fn needs_warps(&self) -> bool {
        !self.has_ids() && self.version.needs_threads() && self.bounds.has_partial_warp()
    }
}

/// Reads a line of a body.
pub(super) struct LineReader<'b> {
    pub(super) body: &'b Body<'b>,
    /// The line's number, from 1.
    pub(super) line: u64,
    /// The warp named last by a group.
    pub(super) warp: u64,
}

impl LineReader<'_> {
    pub(super) fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, message) = (self.body.file.to_owned(), message.into());
        ImportError::Line { file, line: self.line, column: column + 1, message }
    }
}

/// An instruction. Offsets are from the start of its line.
pub(super) struct Instruction<'t> {
    /// The warp, if the line names it.
    pub(super) place: Option<WarpPosition>,
    /// The source line number; 0 if unknown.
    pub(super) source_line: u32,
    pub(super) pc: u32,
    pub(super) mask: LaneMask,
    /// Delimited by ASCII spaces or line ends.
    pub(super) opcode: &'t [u8],
    pub(super) opcode_at: usize,
    /// The access width in bytes; 0 without a memory operand.
    pub(super) width: u64,
    /// The memory operand, if there is one.
    pub(super) operand: Option<Operand>,
    /// Whether the line has register values.
    pub(super) is_valued: bool,
}

impl Body<'_> {
    /// Reads a line: `[ids] [sm smwarp] [source_line] PC mask ndst [Rd]* OPCODE nsrc [Rs]* [gmma]
    /// width [addresses] [immediates] [values]`. `warp` is the warp of its group, for lines that name none.
    #[inline(always)]
    pub(super) fn instruction<'t, S: Scan<'t>>(
        &self,
        mut warp: u64,
        line: &mut S,
        list: &mut List,
    ) -> Result<Instruction<'t>, S::Error> {
        line.check_front(self.front())?;
        let place = if self.has_ids() { Some(self.place(line)?) } else { None };
        warp = place.and_then(|place| place.warp).map_or(warp, u64::from);
        if self.has_core_ids {
            line.front("the number of a multiprocessor")?;
            line.front("a warp's number in its multiprocessor")?;
        }
        let source_line =
            if self.has_line_numbers { line.front("the number of a source line")? } else { 0 };
        let (pc, mask) = line.pc_and_mask()?;
        let mask = LaneMask::from_bits(mask);
        let has_hopper = self.version.has_hopper;
        let destinations = registers(line, has_hopper)?;
        let (opcode, opcode_at) = line.opcode()?;
        let sources = registers(line, has_hopper)?;
        if has_hopper && is_gmma(opcode) {
            let gmma = line.decimal("0 or 1 of GMMA")?;
            if gmma > 1 {
                return Err(line.refuse(|| format!("\"{gmma}\"; expected 0 or 1 of GMMA")));
            }
        }
        let width = line.decimal("an access width in bytes")?;
        let operand = if has_hopper && is_transfer(opcode) {
            Some(transfer(line)?)
        } else if width > 0 {
            Some(self.addresses(line, mask, warp, list)?)
        } else {
            None
        };
        let registers = destinations.saturating_add(sources);
        let is_valued = self.end(line, registers, operand.is_some())?;
        Ok(Instruction {
            place,
            source_line,
            pc,
            mask,
            opcode,
            opcode_at,
            width,
            operand,
            is_valued,
        })
    }

    /// Reads `ctax ctay ctaz warp` and, in version 6, the cluster `x y z` with the thread block's position `x y z` and
    /// rank in it.
    #[inline(always)]
    fn place<'t, S: Scan<'t>>(&self, line: &mut S) -> Result<WarpPosition, S::Error> {
        let block = three(line, "a thread block's number")?;
        self.bounds.check_block(block).map_err(|message| line.refuse(|| message))?;
        let warp = line.front("a warp's number")?;
        self.bounds.check_warp(warp.into()).map_err(|message| line.refuse(|| message))?;
        let mut cluster = None;
        if self.has_clusters() {
            cluster = Some(three(line, "a cluster's number")?);
            three(line, "a thread block's number in its cluster")?;
            line.front("a thread block's rank in its cluster")?;
        }
        Ok(WarpPosition { cta: Some(block), warp: Some(warp), cluster, index: None })
    }

    /// Reads `[immediate [immediate]] [NoVal | Val values]` and the line's end. Returns whether there are values. A
    /// register has one value, or one for each lane.
    #[inline(always)]
    fn end<'t, S: Scan<'t>>(
        &self,
        line: &mut S,
        registers: u64,
        has_operand: bool,
    ) -> Result<bool, S::Error> {
        let (least, most) = self.version.immediates;
        let expected = after_operand(least, most, has_operand);
        for number in 0..most {
            let is_there = line.first().is_some_and(|first| !first.is_ascii_uppercase());
            if number < least || is_there {
                line.signed(expected)?;
            }
        }
        if !self.version.has_hopper {
            line.end(expected)?;
            return Ok(false);
        }
        // A line without either word counts as `NoVal`.
        if line.first().is_none() {
            line.end(expected)?;
            return Ok(false);
        }
        if !line.has_values()? {
            line.end("the end of the line after `NoVal`")?;
            return Ok(false);
        }
        for _ in 0..registers {
            let count = line.decimal(VALUES)?;
            if count != 1 && count != LANES as u64 {
                return Err(line.refuse(|| format!("\"{count}\"; expected {VALUES}")));
            }
            for _ in 0..count {
                line.hexadecimal("a register's value, a hexadecimal number")?;
            }
        }
        line.end("the end of the line after the values of its registers")?;
        Ok(registers > 0)
    }
}

const VALUES: &str = "a register's number of values: 1 or 32";

/// The expected end of a line, for messages.
fn after_operand(least: u8, most: u8, has_operand: bool) -> &'static str {
    match (least, most, has_operand) {
        (_, 0, true) => "the end of the line after the addresses",
        (_, 0, false) => "the end of the line after the access width",
        (0, _, true) => "the end of the line or one decimal immediate after the addresses",
        (0, _, false) => "the end of the line or one decimal immediate after the access width",
        (_, _, true) => "one decimal immediate after the addresses",
        (_, _, false) => "one decimal immediate after the access width",
    }
}

#[inline(always)]
fn three<'t, S: Scan<'t>>(line: &mut S, expected: &'static str) -> Result<[u32; 3], S::Error> {
    Ok([line.front(expected)?, line.front(expected)?, line.front(expected)?])
}

/// Reads `n [register]*` and returns the number of registers.
#[inline(always)]
fn registers<'t, S: Scan<'t>>(line: &mut S, has_hopper: bool) -> Result<u64, S::Error> {
    let count = line.decimal("a number of registers")?;
    for _ in 0..count {
        line.register(has_hopper)?;
    }
    Ok(count)
}

/// Reads `mbarrier multicast [cta_mask] bytes out_of_bounds_bytes`, then `3 count [address]*` or
/// `4 base count [delta]*`.
#[inline(always)]
fn transfer<'t, S: Scan<'t>>(line: &mut S) -> Result<Operand, S::Error> {
    const MODE: &str = "an address mode of transfers: 3 or 4";
    let barrier = line.hexadecimal("an mbarrier's address")?;
    if u32::try_from(barrier).is_err() {
        return Err(line.refuse(|| "expected an mbarrier's address of at most 32 bits".to_owned()));
    }
    match line.decimal("0, or 1 for multicast")? {
        0 => {}
        1 => {
            let mask = line.hexadecimal("a mask of thread blocks")?;
            if u16::try_from(mask).is_err() {
                let message = "expected a mask of at most 16 thread blocks";
                return Err(line.refuse(|| message.to_owned()));
            }
        }
        other => return Err(line.refuse(|| format!("\"{other}\"; expected 0, or 1 for multicast"))),
    }
    let bytes = line.decimal("the bytes of a transfer")?;
    line.decimal("the bytes of a transfer that are out of bounds")?;
    let count = match line.decimal(MODE)? {
        3 => {
            let count = line.decimal("a number of addresses")?;
            for _ in 0..count {
                line.address("an address")?;
            }
            count
        }
        4 => {
            line.address("a base address")?;
            let count = line.decimal("a number of addresses")?;
            for _ in 1..count {
                line.signed("a delta")?;
            }
            count
        }
        other => return Err(line.refuse(|| format!("\"{other}\"; expected {MODE}"))),
    };
    Ok(Operand::Transfer(count, bytes))
}

#[inline(always)]
fn is_transfer(opcode: &[u8]) -> bool {
    let head = || opcode.split(|byte| *byte == b'.').next().unwrap_or_default();
    opcode.first() == Some(&b'U') && str::from_utf8(head()).is_ok_and(operation::is_transfer)
}

#[inline(always)]
fn is_gmma(opcode: &[u8]) -> bool {
    opcode.windows(4).any(|part| part == b"GMMA")
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A base and a stride for the lanes of the mask.
    Run(u64, i64),
    /// The addresses in the list, one for each lane of the mask.
    Listed,
    /// Addresses that cannot be attributed to lanes.
    Unknown,
    /// A transfer's number of addresses of blocks, and its bytes.
    Transfer(u64, u64),
}

/// A buffer for one address per lane.
#[derive(Debug, Default)]
pub(super) struct List {
    addresses: [u64; LANES],
    count: usize,
}

impl List {
    #[inline(always)]
    fn push(&mut self, address: u64) {
        // Always fits, since there are at most 32.
        if let Some(room) = self.addresses.get_mut(self.count) {
            *room = address;
            self.count += 1;
        }
    }

    #[inline(always)]
    pub(super) fn addresses(&self) -> &[u64] {
        &self.addresses[..self.count]
    }

    /// Keeps only the addresses of the lanes of `mask`.
    fn keep(&mut self, mask: LaneMask) {
        let all = self.addresses;
        self.count = 0;
        mask.lanes().for_each(|lane| self.push(all[lane]));
    }
}

impl Body<'_> {
    /// Reads `mode addresses`. Fills `list` with one address for each lane of the mask, or returns a run.
    #[inline(always)]
    pub(super) fn addresses<'t, S: Scan<'t>>(
        &self,
        line: &mut S,
        mask: LaneMask,
        warp: u64,
        list: &mut List,
    ) -> Result<Operand, S::Error> {
        let last = self.version.last_mode;
        let expected = if last < 2 { MODES_OF_1 } else { MODES };
        list.count = 0;
        let is_more = self.version.needs_threads();
        let mode = line.decimal(expected)?;
        match mode {
            0 => {
                for _ in 0..mask.count() {
                    list.push(line.address("an address")?);
                }
                while is_more && line.first().is_some() {
                    let address = line.address("an address")?;
                    self.push_another(line, address, warp, list)?;
                }
            }
            1 => {
                let base = line.address("a base address")?;
                let stride = line.signed("a stride")?;
                return self.run(line, mask, base, stride, list);
            }
            2 if last >= 2 => {
                // A base is present even if no lane is active.
                let mut address = line.address("a base address")?;
                for i in 0..mask.count() {
                    if i > 0 {
                        address = address.wrapping_add_signed(line.signed("a delta")?);
                    }
                    list.push(address);
                }
                if is_more && list.count == 0 {
                    list.push(address);
                }
                while is_more && line.first().is_some() {
                    address = address.wrapping_add_signed(line.signed("a delta")?);
                    self.push_another(line, address, warp, list)?;
                }
            }
            _ => return Err(line.refuse(|| format!("\"{mode}\"; expected {expected}"))),
        }
        Ok(if is_more { self.attribute(mask, warp, list) } else { Operand::Listed })
    }

    /// Adds an address beyond the number of the mask's lanes.
    fn push_another<'t, S: Scan<'t>>(
        &self,
        line: &S,
        address: u64,
        warp: u64,
        list: &mut List,
    ) -> Result<(), S::Error> {
        let threads = self.bounds.threads_of(warp);
        if list.count as u64 >= threads {
            return Err(line.refuse(|| format!("more addresses than the warp's {threads} threads")));
        }
        list.push(address);
        Ok(())
    }

    /// Selects the addresses of the lanes of `mask`, given the addresses of all lanes that were active before the
    /// guard.
    #[inline(always)]
    fn attribute(&self, mask: LaneMask, warp: u64, list: &mut List) -> Operand {
        let (lanes, count) = (mask.count() as usize, list.count);
        if count == lanes {
            return Operand::Listed;
        }
        let are_all = count as u64 == self.bounds.threads_of(warp);
        let end = (LANES as u32 - mask.bits().leading_zeros()) as usize;
        if mask.is_empty() || are_all && end <= count {
            list.keep(mask);
            return Operand::Listed;
        }
        Operand::Unknown
    }

    /// Attributes a base and a stride to lanes.
    #[inline(always)]
    fn run<'t, S: Scan<'t>>(
        &self,
        line: &S,
        mask: LaneMask,
        base: u64,
        stride: i64,
        list: &mut List,
    ) -> Result<Operand, S::Error> {
        let run = Operand::Run(base, stride);
        let lanes = self.version.lanes;
        match lanes {
            AddressLanes::Mask if is_run(mask) => Ok(run),
            AddressLanes::Mask => {
                Err(line.refuse(|| "a stride, but the lanes are not a run".to_owned()))
            }
            // The base is the address of the first lane before the guard, which the mask may lack.
            _ if stride == 0 || mask.is_empty() => Ok(run),
            _ if mask.contains(0) => {
                let address = |lane| base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                mask.lanes().for_each(|lane| list.push(address(lane)));
                Ok(if is_run(mask) { run } else { Operand::Listed })
            }
            AddressLanes::MaskOrMore if is_run(mask) && mask.count() > 1 => Ok(run),
            _ => Ok(Operand::Unknown),
        }
    }
}

const MODES: &str = "an address mode: 0, 1 or 2";
const MODES_OF_1: &str = "an address mode: 0 or 1";

/// Whether the lanes are consecutive; true for an empty mask.
fn is_run(mask: LaneMask) -> bool {
    let bits = mask.bits();
    let lowest = bits & bits.wrapping_neg();
    bits & bits.wrapping_add(lowest) == 0
}
