//! [`CodeUnit`]: what code is made of, and the [`Placed`] instructions in it.

use std::fmt;

use warpload_encoding::control::{BUNDLE_BYTES, Bundle};
use warpload_encoding::{Control, MachineWord, Sm};

/// What code has a whole number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeUnit {
    /// SM 5.x and 6.x: bundles of 32 bytes, a control word and three instructions.
    Bundle,
    /// SM 7.0 and later: instructions of 16 bytes.
    Word,
}

/// An instruction and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Bytes from the start of the code, including control words.
    pub(super) offset: u64,
    pub(super) word: MachineWord,
    pub(super) control: Control,
}

impl CodeUnit {
    /// Returns what code with such words is made of.
    pub(super) const fn with_word(word: MachineWord) -> Self {
        match word {
            MachineWord::Bits64(_) => Self::Bundle,
            MachineWord::Bits128(_) => Self::Word,
        }
    }

    /// Returns what code of that SM is made of.
    pub(super) const fn new(sm: Sm) -> Self {
        if sm.has_wide_words() { Self::Word } else { Self::Bundle }
    }

    /// Returns its size in bytes.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Bundle => BUNDLE_BYTES,
            Self::Word => 16,
        }
    }

    /// Returns whether an instruction can begin at `offset`, counted from the start of the code.
    pub(super) const fn has_instruction_at(self, offset: u64) -> bool {
        match self {
            // Each bundle begins with its control word.
            Self::Bundle => offset.is_multiple_of(8) && !offset.is_multiple_of(BUNDLE_BYTES as u64),
            Self::Word => offset.is_multiple_of(self.bytes() as u64),
        }
    }

    /// Returns instruction `n` of `code`, counted from 0 without the control words.
    pub(super) fn nth(self, code: &[u8], n: usize) -> Option<Placed> {
        let offset = match self {
            Self::Bundle => (n / 3).checked_mul(BUNDLE_BYTES)? + 8 * (n % 3 + 1),
            Self::Word => n.checked_mul(self.bytes())?,
        };
        self.at(code, offset as u64)
    }

    /// Returns the instruction that begins at `offset` in `code`.
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
