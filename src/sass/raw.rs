//! Code without a container: 32-byte bundles one behind the other.

use warpload_encoding::Control;
use warpload_encoding::control::{BUNDLE_BYTES, Bundle};

use super::{SassError, SassInstruction};

/// The instructions of a raw stream.
#[derive(Debug)]
pub(super) struct Raw {
    code: Vec<u8>,
    /// How many instructions have been given.
    taken: usize,
}

impl Raw {
    /// Refuses what is no whole number of bundles.
    pub(super) fn new(code: Vec<u8>) -> Result<Self, SassError> {
        let partial = code.len() % BUNDLE_BYTES;
        if partial != 0 {
            let size = code.len() as u64;
            return Err(SassError::PartialBundle { size, whole: size - partial as u64 });
        }
        Ok(Self { code, taken: 0 })
    }

    pub(super) fn next(&mut self) -> Option<SassInstruction> {
        let placed = nth_instruction(&self.code, self.taken)?;
        self.taken += 1;
        Some(SassInstruction::from(placed))
    }
}

/// An instruction and where it stands in its bundles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Bytes from the start of the code, control words counted.
    pub(super) offset: u64,
    pub(super) word: u64,
    pub(super) control: Control,
}

/// The instruction number `n`, from 0 and without the control words, of whole bundles.
pub(super) fn nth_instruction(code: &[u8], n: usize) -> Option<Placed> {
    let (start, slot) = (n / 3 * BUNDLE_BYTES, n % 3);
    let bundle = Bundle::from_bytes(code.get(start..)?.first_chunk()?);
    Some(Placed {
        offset: (start + 8 * (slot + 1)) as u64,
        word: bundle.words[slot],
        control: bundle.control[slot],
    })
}

impl From<Placed> for SassInstruction {
    fn from(placed: Placed) -> Self {
        Self {
            offset: Some(placed.offset),
            word: Some(placed.word),
            control: Some(placed.control),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_the_control_words() {
        let bundle = Bundle { words: [1, 2, 3], ..Bundle::nops() }.to_bytes();
        let mut raw = Raw::new([bundle, bundle].concat()).expect("two bundles");
        let read: Vec<_> = std::iter::from_fn(|| raw.next())
            .map(|read| (read.offset.unwrap_or_default(), read.word.unwrap_or_default()))
            .collect();
        assert_eq!(read, [(8, 1), (16, 2), (24, 3), (40, 1), (48, 2), (56, 3)]);
    }

    #[test]
    fn a_partial_bundle_is_located() {
        let error = Raw::new(vec![0; 71]).expect_err("71 is no multiple of 32");
        assert_eq!(
            error.to_string(),
            "71 bytes are no whole number of 32-byte bundles; the last whole one ends at byte \
             offset 64"
        );
    }
}
