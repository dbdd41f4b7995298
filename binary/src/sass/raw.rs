//! Code without a container: a [`Raw`] stream of 32-byte bundles or of 16-byte instructions, one
//! after the other.
//!
//! A raw stream has no magic, so [`Raw::new`] looks for evidence against it: files of another kind, and words that
//! cannot be control words, which also occur if the code begins elsewhere.

use warpload_encoding::control::BUNDLE_BYTES;
use warpload_encoding::{Control, Sm};

use super::code::{CodeUnit, SassInstruction};
use super::error::SassError;
use super::labels::Labels;
use crate::file_kind::FileKind;

/// The number of bytes that are inspected to detect the kind of input.
pub(super) const DETECT_BYTES: u64 = 4096;

/// The instructions of a raw stream.
#[derive(Debug)]
pub(super) struct Raw {
    data: Vec<u8>,
    /// The offset of the code in `data`.
    start: usize,
    sm: Option<Sm>,
    unit: CodeUnit,
    /// The number of instructions returned so far.
    taken: usize,
    /// The byte offset of the first control word that names barrier 6.
    barrier_6: Option<u64>,
    labels: Labels,
}

impl Raw {
    /// Checks that `data` can be code of `sm` from the byte offset `start` on. An `sm` of `None` is any SM 5.x or 6.x.
    pub(super) fn new(data: Vec<u8>, start: u64, sm: Option<Sm>) -> Result<Self, SassError> {
        let unit = sm.map_or(CodeUnit::Bundle, CodeUnit::new);
        let size = data.len() as u64;
        if size == 0 {
            return Err(SassError::RawEmpty { unit });
        }
        if !start.is_multiple_of(8) {
            return Err(SassError::RawMisaligned { start });
        }
        let outside = SassError::RawOutside { start, size };
        let begin = usize::try_from(start).ok().filter(|start| *start < data.len());
        let begin = begin.ok_or(outside)?;
        let code = &data[begin..];
        refuse_other_files(&data, unit)?;
        refuse_other_files(code, unit)?;
        let partial = code.len() % unit.bytes();
        if partial != 0 {
            let whole = size - partial as u64;
            return Err(SassError::PartialRaw { size: code.len() as u64, whole, unit });
        }
        let barrier_6 = match unit {
            CodeUnit::Bundle => check_control_words(code, start)?,
            // This code has no control words to check.
            CodeUnit::Word => None,
        };
        let labels = Labels::default();
        Ok(Self { data, start: begin, sm, unit, taken: 0, barrier_6, labels })
    }

    pub(super) fn read_labels(&mut self) {
        let (code, unit) = (self.code(), self.unit);
        let placed = (0..).map_while(|n| unit.nth(code, n));
        let has_instruction_at = |offset| unit.at(code, offset).is_some();
        self.labels = Labels::new(placed, self.sm(), || |_| Some(0), has_instruction_at);
    }

    fn sm(&self) -> Sm {
        self.sm.unwrap_or(Sm::SPA5)
    }

    pub(super) fn next(&mut self) -> Option<SassInstruction> {
        let placed = self.unit.nth(self.code(), self.taken)?;
        self.taken += 1;
        let input_offset = Some(self.start as u64 + placed.offset);
        let mut instruction =
            SassInstruction { sm: self.sm, input_offset, ..SassInstruction::from(placed) };
        self.labels.add_to(&mut instruction, &placed, self.sm());
        Some(instruction)
    }

    /// Whether the scheduling of every instruction is zero.
    pub(super) fn is_unscheduled(&self) -> bool {
        let code = self.code();
        match self.unit {
            CodeUnit::Bundle => control_words(code).all(|word| word == 0),
            CodeUnit::Word => {
                let (words, _) = code.as_chunks();
                let control = words.iter().map(|w| Control::of_wide_word(u128::from_le_bytes(*w)));
                control.eq(words.iter().map(|_| Control::of_wide_word(0)))
            }
        }
    }

    pub(super) fn barrier_6(&self) -> Option<u64> {
        self.barrier_6
    }

    fn code(&self) -> &[u8] {
        &self.data[self.start..]
    }
}

/// Checks that the first word of each bundle can be a control word. Returns the byte offset of the first one that names
/// barrier 6.
fn check_control_words(code: &[u8], start: u64) -> Result<Option<u64>, SassError> {
    let mut barrier_6 = None;
    for (n, word) in control_words(code).enumerate() {
        let offset = start + (n * BUNDLE_BYTES) as u64;
        if has_bit_63(word) {
            return Err(SassError::NoControlWord { offset, word });
        }
        if names_barrier_6(word) {
            barrier_6 = barrier_6.or(Some(offset));
        }
    }
    Ok(barrier_6)
}

/// The first word of each bundle.
fn control_words(code: &[u8]) -> impl Iterator<Item = u64> {
    code.chunks_exact(BUNDLE_BYTES)
        .filter_map(|bundle| bundle.first_chunk())
        .map(|word| u64::from_le_bytes(*word))
}

/// Whether `word` has bit 63 set, which no control word does.
fn has_bit_63(word: u64) -> bool {
    word >> 63 != 0
}

/// Whether a slot of `word` names barrier 6, which no compiler emits: barriers are 0 to 5.
fn names_barrier_6(word: u64) -> bool {
    let barriers = Control::slots(word).map(|slot| [slot.read, slot.write]);
    barriers.as_flattened().iter().any(|barrier| barrier.number() == Some(6))
}

/// Whether a compiler can have emitted `word` as a control word.
pub(super) fn is_like_control(word: u64) -> bool {
    !has_bit_63(word) && !names_barrier_6(word)
}

/// Refuses text, and files of another kind by their magic.
fn refuse_other_files(data: &[u8], unit: CodeUnit) -> Result<(), SassError> {
    // The shorter magics do not count, because code can begin with them by chance.
    const MAGIC_BITS: usize = 24;
    if let Some(kind) = FileKind::detect(data).filter(|kind| kind.magic_bits() >= MAGIC_BITS) {
        return Err(SassError::NotRaw { kind, unit });
    }
    if is_text(data) { Err(SassError::RawText { unit }) } else { Ok(()) }
}

/// Whether the data begin with UTF-8 without control characters.
fn is_text(data: &[u8]) -> bool {
    let start = &data[..data.len().min(DETECT_BYTES as usize)];
    let is_valid = match std::str::from_utf8(start) {
        Ok(_) => true,
        // The last character can be cut off at `DETECT_BYTES`.
        Err(error) => error.error_len().is_none() && start.len() < data.len(),
    };
    is_valid && !start.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
}

#[cfg(test)]
mod tests {
    use warpload_encoding::{Bundle, MachineWord};

    use super::*;

    #[test]
    fn offsets_count_the_control_words() {
        let bundle = Bundle { words: [1, 2, 3], ..Bundle::nops() }.to_bytes();
        let mut raw = Raw::new([bundle, bundle].concat(), 0, None).expect("two bundles");
        let read: Vec<_> = std::iter::from_fn(|| raw.next())
            .map(|read| (read.offset, read.word.and_then(MachineWord::narrow)))
            .collect();
        let expected = [(8, 1), (16, 2), (24, 3), (40, 1), (48, 2), (56, 3)];
        assert_eq!(read, expected.map(|(offset, word)| (Some(offset), Some(word))));
    }

    #[test]
    fn a_partial_bundle_is_located() {
        let error = Raw::new(vec![0; 71], 0, None).expect_err("71 is not a multiple of 32");
        assert_eq!(
            error.to_string(),
            "71 bytes are not a whole number of 32-byte bundles; the last whole one ends at byte \
             offset 64"
        );
    }
}
