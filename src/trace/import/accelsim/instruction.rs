//! [`Instruction`]: a line of an Accel-Sim trace that holds an instruction, read to its end.
//!
//! Usual lines are read by `fields.rs`; all others, and so every wrong one, token by token.

use super::fields::Fields;
use super::line::{Body, LineReader, Version};
use super::tokens::{Tokens, number};
use crate::lane::{LANES, LaneMask};
use crate::trace::binary::Place;
use crate::trace::import::error::ImportError;

const CTA: &str = "a thread block's number";

/// An instruction; its offsets are from the start of its line.
pub(super) struct Instruction<'t> {
    /// Whose it is, if instructions are not grouped.
    pub(super) place: Option<Place>,
    pub(super) pc: u32,
    pub(super) mask: LaneMask,
    /// ASCII spaces and line ends are around it.
    pub(super) opcode: &'t [u8],
    pub(super) opcode_at: usize,
    /// The access width in bytes; 0 without a memory operand.
    pub(super) width: u64,
    pub(super) operand_at: usize,
    /// The base and the stride of its addresses; `None` if they are listed.
    pub(super) run: Option<(u64, i64)>,
}

/// Room for one address for each active lane; empty if addresses are unknown.
#[derive(Debug, Default)]
pub(super) struct List {
    addresses: [u64; LANES],
    count: usize,
}

impl List {
    #[inline(always)]
    fn push(&mut self, address: u64) {
        // There are at most as many as lanes.
        if let Some(room) = self.addresses.get_mut(self.count) {
            *room = address;
            self.count += 1;
        }
    }

    #[inline(always)]
    pub(super) fn addresses(&self) -> &[u64] {
        &self.addresses[..self.count]
    }
}

impl Body<'_> {
    /// Reads a usual line; `None` if it is not one.
    #[inline(always)]
    pub(super) fn usual<'t>(
        &self,
        fields: &mut Fields<'t>,
        list: &mut List,
    ) -> Option<Instruction<'t>> {
        let start = fields.at;
        let mut place = None;
        if !self.is_grouped {
            let mut block = [0; 3];
            for at in &mut block {
                *at = u32::try_from(fields.decimal()?).ok()?;
            }
            let warp = fields.decimal()?;
            self.bounds.check(block, warp).ok()?;
            place = Some(place_of(block, warp));
        }
        if self.has_line_numbers {
            fields.decimal()?;
        }
        let pc = u32::try_from(fields.hexadecimal()?).ok()?;
        let mask = LaneMask::from_bits(u32::try_from(fields.hexadecimal()?).ok()?);
        for _ in 0..fields.decimal()? {
            fields.name()?;
        }
        let opcode = fields.name()?;
        for _ in 0..fields.decimal()? {
            fields.name()?;
        }
        let width = fields.decimal()?;
        let operand_at = fields.at - start;
        let run = if width == 0 { None } else { self.usual_addresses(fields, mask, list)? };
        let is_ended = match self.version {
            Version::V3 => fields.end(),
            Version::V4 => fields.end() || fields.signed().is_some() && fields.end(),
            Version::V5 => fields.signed().is_some() && fields.end(),
        };
        if !is_ended {
            return None;
        }
        let (opcode, opcode_at) = (&fields.text[opcode.0..opcode.1], opcode.0 - start);
        Some(Instruction { place, pc, mask, opcode, opcode_at, width, operand_at, run })
    }

    /// `mode addresses`, as [`LineReader::addresses`].
    #[inline(always)]
    fn usual_addresses(
        &self,
        fields: &mut Fields<'_>,
        mask: LaneMask,
        list: &mut List,
    ) -> Option<Option<(u64, i64)>> {
        list.count = 0;
        match fields.decimal()? {
            0 => {
                for _ in 0..mask.count() {
                    list.push(fields.hexadecimal()?);
                }
                Some(None)
            }
            1 => {
                let run = (fields.hexadecimal()?, fields.signed()?);
                self.is_over_active(mask, run.1).then_some(Some(run))
            }
            2 => {
                let mut address = fields.hexadecimal()?;
                for i in 0..mask.count() {
                    if i > 0 {
                        address = address.wrapping_add_signed(fields.signed()?);
                    }
                    list.push(address);
                }
                Some(None)
            }
            _ => None,
        }
    }

    /// Returns whether a stride is that of the active lanes.
    #[inline(always)]
    fn is_over_active(&self, mask: LaneMask, stride: i64) -> bool {
        let is_v3 = matches!(self.version, Version::V3);
        is_run(mask) && !(is_v3 && mask.count() == 1) || is_v3 && stride == 0
    }
}

impl LineReader<'_> {
    /// `[source_line] PC mask ndst [Rd]* OPCODE nsrc [Rs]* width [mode addresses] [immediate]`,
    /// after `ctax ctay ctaz warp` if instructions are not grouped.
    pub(super) fn instruction<'t>(
        &self,
        text: &'t [u8],
        list: &mut List,
    ) -> Result<Instruction<'t>, ImportError> {
        let mut tokens = Tokens { text, at: 0 };
        let is_grouped = self.body.is_grouped;
        let place = if is_grouped { None } else { Some(self.place(&mut tokens)?) };
        if self.body.has_line_numbers {
            self.decimal(&mut tokens, "the number of a source line")?;
        }
        let pc = self.hex32(&mut tokens, "a hexadecimal PC of at most 32 bits")?;
        let mask = self.hex32(&mut tokens, "a hexadecimal lane mask of at most 32 bits")?;
        let mask = LaneMask::from_bits(mask);
        self.registers(&mut tokens)?;
        let opcode = self.name(&mut tokens, "an opcode")?;
        let opcode_at = tokens.at - opcode.len();
        self.registers(&mut tokens)?;
        let width = self.decimal(&mut tokens, "an access width in bytes")?;
        let operand_at = tokens.at + 1;
        let run = if width == 0 { None } else { self.addresses(&mut tokens, mask, list)? };
        let last = if width == 0 { "the access width" } else { "the addresses" };
        self.end(&mut tokens, last)?;
        Ok(Instruction { place, pc, mask, opcode, opcode_at, width, operand_at, run })
    }

    /// `ctax ctay ctaz warp`: the thread block and the warp of an instruction that is not grouped.
    fn place(&self, tokens: &mut Tokens<'_>) -> Result<Place, ImportError> {
        let mut block = [0; 3];
        for at in &mut block {
            let token = self.next(tokens, CTA)?;
            let known = number(token, 10).and_then(|value| u32::try_from(value).ok());
            *at = known.ok_or_else(|| self.wrong(tokens, token, CTA))?;
        }
        let warp = self.decimal(tokens, "a warp's number")?;
        self.body.bounds.check(block, warp).map_err(|message| self.error(0, message))?;
        Ok(place_of(block, warp))
    }

    /// Reads an opcode or a register, which begin with a capital letter. Anything else is another
    /// field: the line has more or fewer fields before it than lines of its version.
    fn name<'t>(&self, tokens: &mut Tokens<'t>, expected: &str) -> Result<&'t [u8], ImportError> {
        let token = self.next(tokens, expected)?;
        if !token.first().is_some_and(u8::is_ascii_uppercase) {
            return Err(self.wrong(tokens, token, expected));
        }
        Ok(token)
    }

    fn registers(&self, tokens: &mut Tokens<'_>) -> Result<(), ImportError> {
        let count = self.decimal(tokens, "a number of registers")?;
        for _ in 0..count {
            self.name(tokens, "a register")?;
        }
        Ok(())
    }

    /// `mode addresses`: returns base and stride, or fills `list` with one address for each active
    /// lane, or leaves it empty if their addresses are unknown.
    fn addresses(
        &self,
        tokens: &mut Tokens<'_>,
        mask: LaneMask,
        list: &mut List,
    ) -> Result<Option<(u64, i64)>, ImportError> {
        list.count = 0;
        let active = mask.count() as usize;
        const MODE: &str = "an address mode: 0, 1 or 2";
        let token = self.next(tokens, MODE)?;
        match number(token, 10) {
            Some(0) => {
                for _ in 0..active {
                    list.push(self.hex(tokens, "an address")?);
                }
            }
            Some(1) => {
                let base = self.hex(tokens, "a base address")?;
                let at = tokens.at;
                let stride = self.signed(tokens, "a stride")?;
                if self.body.is_over_active(mask, stride) {
                    return Ok(Some((base, stride)));
                }
                if !matches!(self.body.version, Version::V3) {
                    return Err(self.error(at + 1, "a stride, but the lanes are not a run"));
                }
                // Early tracers of version 3 wrote the stride over the lanes before the guard; the
                // mask has some of them.
                if mask.contains(0) {
                    let address =
                        |lane: usize| base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                    mask.lanes().for_each(|lane| list.push(address(lane)));
                }
            }
            Some(2) => {
                // There is a base even if no lane is active.
                let mut address = self.hex(tokens, "a base address")?;
                for i in 0..active {
                    if i > 0 {
                        address = address.wrapping_add_signed(self.signed(tokens, "a delta")?);
                    }
                    list.push(address);
                }
            }
            _ => return Err(self.wrong(tokens, token, MODE)),
        }
        Ok(None)
    }

    /// `[immediate]` and the end of the line. Version 5 always writes an immediate, version 4 in
    /// some builds, version 3 never.
    fn end(&self, tokens: &mut Tokens<'_>, last: &str) -> Result<(), ImportError> {
        let Some(token) = tokens.next() else {
            return match self.body.version {
                Version::V3 | Version::V4 => Ok(()),
                Version::V5 => {
                    let message = format!("expected one decimal immediate after {last}");
                    Err(self.error(tokens.at, message))
                }
            };
        };
        let digits = token.strip_prefix(b"-").unwrap_or(token);
        let is_immediate = number(digits, 10).is_some() && tokens.clone().next().is_none();
        let expected = match self.body.version {
            Version::V3 => "the end of the line",
            _ if is_immediate => return Ok(()),
            Version::V4 => "the end of the line or one decimal immediate",
            Version::V5 => "one decimal immediate",
        };
        Err(self.wrong(tokens, token, &format!("{expected} after {last}")))
    }

    fn next<'t>(&self, tokens: &mut Tokens<'t>, expected: &str) -> Result<&'t [u8], ImportError> {
        tokens.next().ok_or_else(|| self.error(tokens.at, format!("expected {expected}")))
    }

    fn decimal(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        number(token, 10).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    fn hex(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    fn hex32(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u32, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16)
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| self.wrong(tokens, token, expected))
    }

    fn signed(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<i64, ImportError> {
        let token = self.next(tokens, expected)?;
        let value = match token.strip_prefix(b"-") {
            Some(digits) => number(digits, 10).and_then(|n| 0i64.checked_sub_unsigned(n)),
            None => number(token, 10).and_then(|n| i64::try_from(n).ok()),
        };
        value.ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[cold]
    fn wrong(&self, tokens: &Tokens<'_>, token: &[u8], expected: &str) -> ImportError {
        let shown = String::from_utf8_lossy(&token[..token.len().min(40)]).into_owned();
        self.error(tokens.at - token.len(), format!("{shown:?}; expected {expected}"))
    }
}

fn place_of(block: [u32; 3], warp: u64) -> Place {
    Place { cta: Some(block), warp: u32::try_from(warp).ok(), ..Place::default() }
}

/// Returns whether the lanes are consecutive; an empty mask is.
fn is_run(mask: LaneMask) -> bool {
    let bits = mask.bits();
    let lowest = bits & bits.wrapping_neg();
    bits & bits.wrapping_add(lowest) == 0
}
