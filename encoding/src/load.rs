//! [`Load`]: an instruction of either family, and [`MachineWord`], its word.

use core::fmt;

use crate::instruction::Instruction;
use crate::parts::LoadParts;
use crate::sm::Sm;
use crate::text::{ParseError, Text, parse_line};
use crate::wide::{Decoded128, Instruction128, Refusal, parse_line_128};

/// An instruction word as it is in memory. Displays as `0x` and 16 or 32 digits.
///
/// ```
/// use warpload_encoding::MachineWord;
///
/// assert_eq!(MachineWord::from(0x8580_u64).to_string(), "0x0000000000008580");
/// let wide = MachineWord::from(0x000ea8000c1e1900_0000100404007981_u128);
/// assert_eq!(wide.to_string(), "0x000ea8000c1e19000000100404007981");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum MachineWord {
    /// SM 5.x and 6.x.
    Bits64(u64),
    /// SM 7.0 and later. The low half is first in memory.
    Bits128(u128),
}

impl MachineWord {
    /// Returns the width of the word in bits, 64 or 128.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Bits64(_) => 64,
            Self::Bits128(_) => 128,
        }
    }

    /// Returns the word as a number of 128 bits.
    #[must_use]
    pub const fn bits(self) -> u128 {
        match self {
            Self::Bits64(word) => word as u128,
            Self::Bits128(word) => word,
        }
    }

    /// Returns the word if it has 64 bits.
    #[inline]
    #[must_use]
    pub const fn narrow(self) -> Option<u64> {
        match self {
            Self::Bits64(word) => Some(word),
            Self::Bits128(_) => None,
        }
    }

    /// Returns the word if it has 128 bits.
    #[inline]
    #[must_use]
    pub const fn wide(self) -> Option<u128> {
        match self {
            Self::Bits64(_) => None,
            Self::Bits128(word) => Some(word),
        }
    }
}

impl From<u64> for MachineWord {
    fn from(word: u64) -> Self {
        Self::Bits64(word)
    }
}

impl From<u128> for MachineWord {
    fn from(word: u128) -> Self {
        Self::Bits128(word)
    }
}

impl fmt::Display for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits64(word) => write!(f, "{word:#018x}"),
            Self::Bits128(word) => write!(f, "{word:#034x}"),
        }
    }
}

impl fmt::Debug for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A load of either family: what code above the encoding handles.
///
/// ```
/// use warpload_encoding::{Decoded, Load, MachineWord, MemorySpace, Sm};
///
/// let hopper: Sm = "90".parse()?;
/// for (word, sm, text) in [
///     (0x9c90000123470200_u64.into(), Sm::SPA5, "LD.E R0, [R2+0x1234]"),
///     (0x000ea2000c1e1900_0000080402007981_u128.into(), hopper, "LDG.E R0, desc[UR4][R2.64+0x8]"),
/// ] {
///     let Decoded::Load(load) = Load::decode(word, sm) else { panic!("a load") };
///     assert_eq!(load.text().as_str(), text);
///     assert_eq!(load.word(), word);
///     assert_eq!(Load::parse(text, sm)?.text().as_str(), text);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Of SM 5.x and 6.x.
    Spa5(Instruction),
    /// Of SM 7.0 to 12.x.
    Sm70(Instruction128),
}

/// What a word of either family is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A load.
    Load(Load),
    /// A word with the opcode of a load that the disassembler refuses.
    Refused(Refusal),
    /// Another instruction, or none.
    Other,
}

impl Load {
    /// Decodes a word of `sm`. A word of the width that `sm` does not have is no load.
    #[must_use]
    pub fn decode(word: MachineWord, sm: Sm) -> Decoded {
        match word {
            MachineWord::Bits64(word) if !sm.has_wide_words() => match Instruction::decode(word) {
                Some(load) => Decoded::Load(Self::Spa5(load)),
                None => Decoded::Other,
            },
            MachineWord::Bits128(word) if sm.has_wide_words() => {
                match Instruction128::decode(word, sm) {
                    Decoded128::Load(load) => Decoded::Load(Self::Sm70(load)),
                    Decoded128::Refused(refusal) => Decoded::Refused(refusal),
                    Decoded128::Other => Decoded::Other,
                }
            }
            _ => Decoded::Other,
        }
    }

    /// Parses one instruction of `sm`, as [`parse_line`] or [`parse_line_128`] does. The control
    /// code of a word of 64 bits, which is not part of it, is dropped.
    ///
    /// # Errors
    /// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of `sm`.
    pub fn parse(text: &str, sm: Sm) -> Result<Self, ParseError> {
        if sm.has_wide_words() {
            parse_line_128(text, sm).map(Self::Sm70)
        } else {
            parse_line(text).map(|line| Self::Spa5(line.instruction))
        }
    }

    /// Returns the instruction word.
    #[must_use]
    pub fn word(&self) -> MachineWord {
        match self {
            Self::Spa5(load) => load.encode().into(),
            Self::Sm70(load) => load.encode().into(),
        }
    }

    /// Returns the canonical text, without the scheduling.
    #[must_use]
    pub fn text(&self) -> LoadText {
        match self {
            Self::Spa5(load) => LoadText::Spa5(load.text()),
            Self::Sm70(load) => LoadText::Sm70(load.text()),
        }
    }

    /// Returns the mnemonic with its modifiers, `LDG.E.64`.
    #[must_use]
    pub fn opcode(&self) -> LoadText {
        match self {
            Self::Spa5(load) => LoadText::Spa5(load.opcode()),
            Self::Sm70(load) => LoadText::Sm70(load.opcode()),
        }
    }

    /// Returns the mnemonic without modifiers.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        match self {
            Self::Spa5(load) => load.mnemonic(),
            Self::Sm70(load) => load.mnemonic(),
        }
    }

    /// Returns the bits of the word that neither the disassembler reads nor the text shows, as a
    /// mask.
    #[must_use]
    pub fn unread_bits(&self) -> u128 {
        match self {
            Self::Spa5(load) => load.unread_bits().into(),
            Self::Sm70(load) => load.unread_bits(),
        }
    }

    /// Returns the instruction of SM 5.x and 6.x; `None` if it is a later one.
    #[must_use]
    pub const fn narrow(&self) -> Option<Instruction> {
        match self {
            Self::Spa5(load) => Some(*load),
            Self::Sm70(_) => None,
        }
    }

    /// Returns the instruction of SM 7.0 and later; `None` if it is an earlier one.
    #[must_use]
    pub const fn wide(&self) -> Option<Instruction128> {
        match self {
            Self::Spa5(_) => None,
            Self::Sm70(load) => Some(*load),
        }
    }
}

/// The text of a load of either family.
#[derive(Clone, Copy, Debug)]
pub enum LoadText {
    /// Of SM 5.x and 6.x.
    Spa5(Text),
    /// Of SM 7.0 to 12.x.
    Sm70(Text<192>),
}

impl LoadText {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Spa5(text) => text.as_str(),
            Self::Sm70(text) => text.as_str(),
        }
    }
}

impl core::ops::Deref for LoadText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for LoadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

impl From<Instruction> for Load {
    fn from(load: Instruction) -> Self {
        Self::Spa5(load)
    }
}

impl From<Instruction128> for Load {
    fn from(load: Instruction128) -> Self {
        Self::Sm70(load)
    }
}

/// An instruction that loads, of any family.
pub trait LoadInstruction {
    /// Returns what all loads have, for those who need several parts: the instruction is looked at
    /// once.
    fn parts(&self) -> LoadParts;
}

impl LoadInstruction for Instruction {
    #[inline]
    fn parts(&self) -> LoadParts {
        Instruction::parts(self)
    }
}

impl LoadInstruction for Instruction128 {
    fn parts(&self) -> LoadParts {
        Instruction128::parts(self)
    }
}

impl LoadInstruction for Load {
    #[inline]
    fn parts(&self) -> LoadParts {
        match self {
            Self::Spa5(load) => load.parts(),
            Self::Sm70(load) => load.parts(),
        }
    }
}
