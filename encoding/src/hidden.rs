//! Bits that the text of a 128-bit load does not show (docs/load-sm70.md sections 4 and 7): in all texts the scheduling
//! and the bits that the disassembler does not read, on SM 8.x also the descriptor of an address.

use core::fmt;

use crate::instruction::{Decoded, Instruction};
use crate::operand::UniformReg;
use crate::table::grammar::{Hides, Part, Token};
use crate::table::row::{Slot, TAH};
use crate::text::{Expected, LineSpan, ParseError, ParseErrorKind as Error};

/// The descriptor of an address, hidden by the text. Displays as the annotation that the parser reads, with a space
/// before it. Created by [`Instruction::hidden_descriptor`].
///
/// ```
/// use warpload_encoding::{Instruction, parse_line};
///
/// let (sm, word) = ("80".parse()?, 0x000ea2000c1e1d00_0000000402047981_u128);
/// let load = Instruction::decode(word, sm).load().expect("a load");
/// let text = format!("{load}{}", load.hidden_descriptor().expect("SM 8.0 hides it"));
/// assert_eq!(text, "LDG.E.128 R4, [R2.64] &desc=UR4");
/// assert_eq!(parse_line(&text, sm)?.instruction.hidden_descriptor(), load.hidden_descriptor());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HiddenDescriptor {
    /// There is none; the text is the same as with one.
    None,
    /// It is in this uniform register.
    Register(UniformReg),
}

impl fmt::Display for HiddenDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(" &desc=none"),
            Self::Register(register) => write!(f, " &desc={register}"),
        }
    }
}

impl Instruction {
    /// Returns the descriptor that the text hides; `None` if the text shows whether there is one and where.
    #[must_use]
    pub fn hidden_descriptor(&self) -> Option<HiddenDescriptor> {
        if !self.has(Slot::ShowDescriptor) {
            return None;
        }
        let mut fitting = self.plan().alternatives().iter().filter(|one| one.fits(self.halves()));
        let register = self.uniform(Slot::UniformBase);
        match fitting.find(|one| one.row.hides != Hides::Nothing)?.row.hides {
            Hides::Register => Some(HiddenDescriptor::Register(register)),
            Hides::Next => Some(HiddenDescriptor::Register(self.next(register))),
            Hides::NoDescriptor | Hides::Nothing => Some(HiddenDescriptor::None),
        }
    }

    /// The uniform register after `register`; `URZ` after the last one.
    pub(crate) fn next(&self, register: UniformReg) -> UniformReg {
        let last = if TAH.contains(self.sm().group()) { 62 } else { 254 };
        if register.number() >= last {
            UniformReg::URZ
        } else {
            UniformReg::new(register.number() + 1)
        }
    }

    /// Sets the descriptor that an annotation at `span` names.
    pub(crate) fn with_hidden_descriptor(
        self,
        wanted: HiddenDescriptor,
        span: LineSpan,
    ) -> Result<Self, ParseError> {
        let nothing_hidden = || ParseError { kind: Error::NoHiddenDescriptor, span };
        let before = self.hidden_descriptor().ok_or_else(nothing_hidden)?;
        if before == wanted {
            return Ok(self);
        }
        let expected = ParseError { kind: Error::Expected(Expected::UniformRegister), span };
        let (has_one, register) = match wanted {
            HiddenDescriptor::None => (0, UniformReg::URZ),
            HiddenDescriptor::Register(register) => (1, register),
        };
        // In one form of `LDGSTS` the descriptor is in the register after the base of the shared address.
        let follows = |token: &Token| matches!(token.part, Part::Next(_));
        let mut alternatives = self.plan().alternatives().iter();
        let is_next = alternatives.any(|one| one.row.tokens.iter().any(follows));
        let load = self.put(Slot::Descriptor, has_one).ok_or(expected)?;
        let load = if is_next {
            load
        } else {
            let width = self.width(Slot::UniformBase);
            let too_high = Error::UniformRegisterTooHigh { last: ((1u16 << width) - 2) as u8 };
            let bits = register.to_field(width).ok_or(ParseError { kind: too_high, span })?;
            load.put(Slot::UniformBase, bits).ok_or(expected)?
        };
        match load.hidden_descriptor() {
            Some(after) if after == wanted => Ok(load),
            Some(HiddenDescriptor::Register(_)) => {
                Err(ParseError { kind: Error::DescriptorAfterUniform, span })
            }
            // `LD`, `LDG` and `LDL` without a descriptor show their uniform register.
            _ => Err(expected),
        }
    }

    /// Takes everything that this load's text does not show from `like`, a load of the same form: scheduling, hidden
    /// descriptor and unread bits. Fields that `is_said` accepts keep their values, and the text stays the same. `None`
    /// if the forms or the SMs differ.
    pub(crate) fn like(&self, like: &Self, is_said: impl Fn(Slot) -> bool) -> Option<Self> {
        if self.plan_index() != like.plan_index() || self.sm() != like.sm() {
            return None;
        }
        let mask_of = |is_wanted: &dyn Fn(Slot) -> bool| {
            let rows = self.rows().filter(|row| is_wanted(row.slot) && !is_said(row.slot));
            rows.fold(0, |mask, row| mask | row.field.mask())
        };
        let text = self.text();
        let taken = |word: u128, mask: u128| {
            let changed = word & !mask | like.bits() & mask;
            match self.again(changed) {
                Decoded::Load(load)
                    if load.plan_index() == self.plan_index()
                        && load.text().as_str() == text.as_str() =>
                {
                    changed
                }
                _ => word,
            }
        };
        // All together first, because some values are invalid, or become visible, without the values of other fields.
        let word = taken(self.bits(), mask_of(&|_| true));
        let word = taken(word, mask_of(&is_scheduling));
        let word = taken(word, mask_of(&is_of_descriptor));
        let masks = self.rows().filter(|row| !is_said(row.slot)).map(|row| row.field.mask());
        Some(self.with_word(masks.fold(word, taken)))
    }
}

impl Instruction {
    /// Decodes another word for the same SM.
    pub(crate) fn again(&self, word: u128) -> Decoded {
        if self.sm().has_wide_words() {
            Self::decode(word, self.sm())
        } else {
            Self::decode(word as u64, self.sm())
        }
    }
}

fn is_scheduling(slot: Slot) -> bool {
    is_control(slot) || matches!(slot, Slot::Batch | Slot::Pm)
}

/// Whether the notations of maxas and CuAssembler have the field.
pub(crate) fn is_control(slot: Slot) -> bool {
    use Slot as S;
    matches!(slot, S::Stall | S::Yield | S::WriteBarrier | S::ReadBarrier | S::Wait)
}

pub(crate) fn is_of_descriptor(slot: Slot) -> bool {
    matches!(slot, Slot::Descriptor | Slot::UniformBase | Slot::ShowDescriptor)
}
