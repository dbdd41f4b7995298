//! [`CodeUnit`]: the layout of instructions in code. [`Placed`]: an instruction with its offset. [`SassInstruction`]:
//! an instruction of any kind of input.

use std::fmt;
use std::sync::Arc;

use warpload_encoding::control::{BUNDLE_BYTES, Bundle};
use warpload_encoding::{Control, MachineWord, Sm};

use super::source_lines::SourceLine;

/// The unit of code. A section consists of a whole number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeUnit {
    /// SM 5.x and 6.x: bundles of 32 bytes, a control word and three instructions.
    Bundle,
    /// SM 7.0 and later: instructions of 16 bytes.
    Word,
}

/// An instruction and its offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Bytes from the start of the code, including control words.
    pub(super) offset: u64,
    pub(super) word: MachineWord,
    pub(super) control: Control,
}

impl CodeUnit {
    const fn with_word(word: MachineWord) -> Self {
        match word {
            MachineWord::Bits64(_) => Self::Bundle,
            MachineWord::Bits128(_) => Self::Word,
        }
    }

    pub(crate) const fn new(sm: Sm) -> Self {
        if sm.has_wide_words() { Self::Word } else { Self::Bundle }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Bundle => BUNDLE_BYTES,
            Self::Word => 16,
        }
    }

    /// Whether an instruction can begin at `offset`, in bytes from the start of the code.
    pub(super) const fn has_instruction_at(self, offset: u64) -> bool {
        match self {
            // Each bundle begins with its control word.
            Self::Bundle => offset.is_multiple_of(8) && !offset.is_multiple_of(BUNDLE_BYTES as u64),
            Self::Word => offset.is_multiple_of(self.bytes() as u64),
        }
    }

    /// Instruction `n` of `code`, from 0. Control words do not count.
    pub(super) fn nth(self, code: &[u8], n: usize) -> Option<Placed> {
        let offset = match self {
            Self::Bundle => (n / 3).checked_mul(BUNDLE_BYTES)? + 8 * (n % 3 + 1),
            Self::Word => n.checked_mul(self.bytes())?,
        };
        self.at(code, offset as u64)
    }

    /// The instruction that begins at `offset` in `code`.
    pub(super) fn at(self, code: &[u8], offset: u64) -> Option<Placed> {
        if !self.has_instruction_at(offset) {
            return None;
        }
        let at = usize::try_from(offset).ok()?;
        let unit = code.get(at - at % self.bytes()..)?;
        let (word, control) = match self {
            Self::Bundle => {
                let bundle = Bundle::from_bytes(unit.first_chunk()?);
                let slot = at % BUNDLE_BYTES / 8 - 1;
                (bundle.words[slot].into(), bundle.control[slot])
            }
            Self::Word => {
                let word = u128::from_le_bytes(*unit.first_chunk()?);
                (word.into(), Control::of_wide_word(word))
            }
        };
        Some(Placed { offset, word, control })
    }
}

/// `32-byte bundles`
impl fmt::Display for CodeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bundle => "32-byte bundles",
            Self::Word => "16-byte instructions",
        })
    }
}

/// One instruction, with everything that its source says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SassInstruction {
    /// The function around it, mangled as in the source; for a cubin, the section's name after `.text.`.
    pub function: Option<Arc<str>>,
    /// Bytes from the start of the function's section. On SM 5.x and 6.x control words count: the
    /// first instruction of a function is at 8. Later ones are at multiples of 16.
    pub offset: Option<u64>,
    /// The instruction word; `None` in a listing without words.
    pub word: Option<MachineWord>,
    /// The text of a listing without offset, braces, slot, annotations in `(*"` and `"*)`, and
    /// semicolon; `None` for binaries, and for words that nvdisasm 12.8 lists without text beside
    /// life ranges. It can end with the scheduling that nvdisasm 12.8 appends from SM 8.6 on.
    pub text: Option<String>,
    /// The scheduling, from the control word, the word of 128 bits, or the notation before the text.
    pub control: Option<Control>,
    /// The line of the listing, from 1; `None` for binaries.
    pub line: Option<u64>,
    /// The column in bytes, from 1, at which the text begins in its line; `None` for binaries.
    pub column: Option<usize>,
    /// The registers per thread of the function: `sh_info` bits 31:24 of a cubin's section, or its
    /// `.nv.info` from SM 9.0 on; `SHI_REGISTERS` of nvdisasm, `RegCnt` of maxas.
    pub registers: Option<u8>,
    /// The SM version, if the source names it.
    pub sm: Option<Sm>,
    /// The unit of its code, which distinguishes SM 5.x and 6.x from later ones even if the source does not name the
    /// SM; `None` in a listing that shows neither.
    pub unit: Option<CodeUnit>,
    /// The bytes from the start of the input to the word, or to the text of a listing.
    pub input_offset: Option<u64>,
    /// The labels before it in a listing, without their colons, at most 256; or after
    /// [`Sass::read_labels`](super::Sass::read_labels) its own one.
    pub labels: Vec<Arc<str>>,
    /// The address that it jumps to and the label there, after [`Sass::read_labels`](super::Sass::read_labels).
    pub target: Option<(u64, Arc<str>)>,
    /// Whether a relocation of the cubin applies to it, so that its word is not final. In a listing the text itself
    /// shows relocations ([`without_relocations`](super::without_relocations)).
    pub is_relocated: bool,
    /// The source line, after [`Sass::read_source_lines`](super::Sass::read_source_lines); `None` if the
    /// input has none for it.
    pub source: Option<SourceLine>,
}

impl From<Placed> for SassInstruction {
    fn from(placed: Placed) -> Self {
        Self {
            offset: Some(placed.offset),
            word: Some(placed.word),
            control: Some(placed.control),
            unit: Some(CodeUnit::with_word(placed.word)),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_where_they_are() {
        let code: Vec<u8> = (0..64).collect();
        for unit in [CodeUnit::Bundle, CodeUnit::Word] {
            let mut found = 0;
            for offset in (0..80).filter(|offset| unit.at(&code, *offset).is_some()) {
                let (at, nth) = (unit.at(&code, offset), unit.nth(&code, found));
                let [at, nth] = [at, nth].map(|placed| placed.map(|p| (p.offset, p.word)));
                assert_eq!(at, nth);
                let first = at.map(|(_, word)| word.bits() as u8);
                assert_eq!(first.map(u64::from), Some(offset));
                found += 1;
            }
            assert_eq!(found, if unit == CodeUnit::Bundle { 6 } else { 4 });
            assert!(unit.nth(&code, found).is_none());
            assert!(unit.nth(&code, usize::MAX).is_none());
            assert!(unit.at(&code, u64::MAX - 15).is_none());
        }
    }
}
