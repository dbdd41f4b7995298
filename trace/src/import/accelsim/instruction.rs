//! [`Instruction`]: a line of an Accel-Sim trace that holds an instruction, read to its end. **The
//! order** of its fields, for every version.

use super::addresses::{List, Operand};
use super::line::Body;
use super::scan::Scan;
use crate::binary::WarpPosition;
use crate::operation::TRANSFERS;
use warpload::lane::{LANES, LaneMask};

/// An instruction; its offsets are from the start of its line.
pub(super) struct Instruction<'t> {
    /// Whose it is, if the line says so.
    pub(super) place: Option<WarpPosition>,
    /// The number of its source line; 0 if it is not known.
    pub(super) source_line: u32,
    pub(super) pc: u32,
    pub(super) mask: LaneMask,
    /// ASCII spaces and line ends are around it.
    pub(super) opcode: &'t [u8],
    pub(super) opcode_at: usize,
    /// The access width in bytes; 0 without a memory operand.
    pub(super) width: u64,
    /// What it accesses; `None` without a memory operand.
    pub(super) operand: Option<Operand>,
    /// Whether the line has values of registers.
    pub(super) is_valued: bool,
}

impl Body<'_> {
    /// Reads a line: `[ids] [sm smwarp] [source_line] PC mask ndst [Rd]* OPCODE nsrc [Rs]* [gmma]
    /// width [addresses] [immediates] [values]`. Its warp is `warp` unless it names another.
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

    /// `ctax ctay ctaz warp`, and in version 6 `clusterx y z`, the thread block's place in it `x y z` and
    /// its rank there.
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

    /// `[immediate [immediate]] [NoVal | Val values]`, and the line's end: returns whether there are
    /// values. Registers have one value each, or one for each lane.
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
        // Neither word says the same as `NoVal`.
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

/// Returns what messages say of the fields after the addresses or the width.
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

/// `n [register]*`: returns the number of registers.
#[inline(always)]
fn registers<'t, S: Scan<'t>>(line: &mut S, has_hopper: bool) -> Result<u64, S::Error> {
    let count = line.decimal("a number of registers")?;
    for _ in 0..count {
        line.register(has_hopper)?;
    }
    Ok(count)
}

/// `mbarrier multicast [cta_mask] bytes out_of_bounds_bytes`, then `3 count [address]*` or
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
    let head = || opcode.split(|byte| *byte == b'.').next();
    opcode.first() == Some(&b'U')
        && TRANSFERS.iter().any(|transfer| head() == Some(transfer.as_bytes()))
}

#[inline(always)]
fn is_gmma(opcode: &[u8]) -> bool {
    opcode.windows(4).any(|part| part == b"GMMA")
}
