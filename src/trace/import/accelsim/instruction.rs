//! Reads the lines of an Accel-Sim trace that hold instructions, each to its end.

use super::tokens::{Tokens, number};
use super::{Reader, Version};
use crate::impossible::OrImpossible;
use crate::lane::LaneMask;
use crate::trace::binary::{Addresses, NewLoad};
use crate::trace::import::error::ImportError;
use crate::trace::import::sink::{Known, Sink};
use crate::trace::operation::Skipped;

const CTA: &str = "a thread block's number";

const UNATTRIBUTABLE: &str =
    "a stride over lanes before the guard: the lane that it begins with is unknown";

impl Reader<'_> {
    /// `[source_line] PC mask ndst [Rd]* OPCODE nsrc [Rs]* width [mode addresses] [immediate]`,
    /// after `ctax ctay ctaz warp` if instructions are not grouped.
    pub(super) fn instruction(
        &mut self,
        text: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        if !self.has_kernel {
            self.begin_kernel(sink)?;
        }
        if self.is_grouped {
            self.groups.instruction().map_err(|message| self.error(0, message))?;
        }
        let mut tokens = Tokens { text: text.as_bytes(), at: 0 };
        if !self.is_grouped {
            self.place(&mut tokens)?;
        }
        if self.has_line_numbers {
            self.decimal(&mut tokens, "the number of a source line")?;
        }
        let pc = self.hex32(&mut tokens, "a hexadecimal PC of at most 32 bits")?;
        let mask = self.hex32(&mut tokens, "a hexadecimal lane mask of at most 32 bits")?;
        self.registers(&mut tokens)?;
        let opcode = self.name(&mut tokens, "an opcode")?;
        let opcode_at = tokens.at - opcode.len();
        self.registers(&mut tokens)?;
        let width = self.decimal(&mut tokens, "an access width in bytes")?;
        if width == 0 {
            self.end(&mut tokens, "the access width")?;
            return sink.skip(Skipped::Other);
        }
        let mask = LaneMask::from_bits(mask);
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        let operand_at = tokens.at + 1;
        let run = self.addresses(&mut tokens, mask, &mut list)?;
        self.end(&mut tokens, "the addresses")?;
        let opcode = std::str::from_utf8(opcode).ok();
        let opcode = opcode.or_impossible("", "the line is UTF-8 and tokens end at ASCII spaces");
        let known = sink.known(opcode);
        match known.map_err(|refused| refused.at(|message| self.error(opcode_at, message)))? {
            Known::Skipped(kind) => sink.skip(kind)?,
            Known::NotReplayed(name) => sink.not_replayed(name, mask)?,
            Known::Load { operation, bytes } => {
                let addresses = match run {
                    Some((base, stride)) => Addresses::Stride { base, stride },
                    None if list.len() != mask.count() as usize => {
                        return Err(self.error(operand_at, UNATTRIBUTABLE));
                    }
                    None => Addresses::shortest(&list, &mut self.deltas),
                };
                let width_disagrees = width != u64::from(bytes);
                sink.load(&NewLoad {
                    width_disagrees,
                    ..NewLoad::new(pc, mask, operation, addresses)
                })?;
            }
        }
        self.list = list;
        Ok(())
    }

    /// `ctax ctay ctaz warp`: the thread block and the warp of an instruction that is not grouped.
    fn place(&self, tokens: &mut Tokens<'_>) -> Result<(), ImportError> {
        let mut block = [0; 3];
        for at in &mut block {
            let token = self.next(tokens, CTA)?;
            let known = number(token, 10).and_then(|value| u32::try_from(value).ok());
            *at = known.ok_or_else(|| self.wrong(tokens, token, CTA))?;
        }
        let warp = self.decimal(tokens, "a warp's number")?;
        self.groups.check(block, warp).map_err(|message| self.error(0, message))
    }

    /// Reads an opcode or a register, which begin with a capital letter. Anything else is another
    /// field: the line has more or fewer fields before it than lines of its version.
    #[inline]
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
    #[inline]
    fn addresses(
        &self,
        tokens: &mut Tokens<'_>,
        mask: LaneMask,
        list: &mut Vec<u64>,
    ) -> Result<Option<(u64, i64)>, ImportError> {
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
                let is_v3 = matches!(self.version, Version::V3);
                if is_run(mask) && !(is_v3 && active == 1) || is_v3 && stride == 0 {
                    return Ok(Some((base, stride)));
                }
                if !is_v3 {
                    return Err(self.error(at + 1, "a stride, but the lanes are not a run"));
                }
                // Early tracers of version 3 wrote the stride over the lanes before the guard; the
                // mask has some of them.
                if mask.contains(0) {
                    let address =
                        |lane: usize| base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                    list.extend(mask.lanes().map(address));
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
    #[inline]
    fn end(&self, tokens: &mut Tokens<'_>, last: &str) -> Result<(), ImportError> {
        let Some(token) = tokens.next() else {
            return match self.version {
                Version::V3 | Version::V4 => Ok(()),
                Version::V5 => {
                    let message = format!("expected one decimal immediate after {last}");
                    Err(self.error(tokens.at, message))
                }
            };
        };
        let digits = token.strip_prefix(b"-").unwrap_or(token);
        let is_immediate = number(digits, 10).is_some() && tokens.clone().next().is_none();
        let expected = match self.version {
            Version::V3 => "the end of the line",
            _ if is_immediate => return Ok(()),
            Version::V4 => "the end of the line or one decimal immediate",
            Version::V5 => "one decimal immediate",
        };
        Err(self.wrong(tokens, token, &format!("{expected} after {last}")))
    }

    #[inline]
    fn next<'t>(&self, tokens: &mut Tokens<'t>, expected: &str) -> Result<&'t [u8], ImportError> {
        tokens.next().ok_or_else(|| self.error(tokens.at, format!("expected {expected}")))
    }

    #[inline]
    fn decimal(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        number(token, 10).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
    fn hex(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
    fn hex32(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u32, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16)
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
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

/// Returns whether the lanes are consecutive; an empty mask is.
fn is_run(mask: LaneMask) -> bool {
    let bits = mask.bits();
    let lowest = bits & bits.wrapping_neg();
    bits & bits.wrapping_add(lowest) == 0
}
