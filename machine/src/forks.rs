//! Copies of global memory for the blocks of several threads. Each copy notes what its blocks read and write, so that the
//! copies become one memory again if no copy has written words that another has read or written, because then the order
//! of the blocks does not matter.
//!
//! Bytes are noted in words of four. Blocks that write different bytes of one word count as blocks that write the same.

use crate::memory::{DeviceAllocation, DeviceMemory, Protection};

/// Words of an allocation, a bit for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordSet(Vec<u64>);

impl WordSet {
    /// Adds the words of a range of bytes, which is not empty. `all` is the size of the allocation.
    #[inline(always)]
    pub(crate) fn add(&mut self, start: usize, bytes: usize, all: usize) {
        if self.0.is_empty() {
            self.0 = vec![0; all.div_ceil(4 * 64)];
        }
        let (first, last) = (start / 4, (start + bytes - 1) / 4);
        for place in first / 64..=last / 64 {
            let from = first.saturating_sub(64 * place);
            let to = (last - 64 * place).min(63);
            if let Some(bits) = self.0.get_mut(place) {
                *bits |= u64::MAX << from & u64::MAX >> (63 - to);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// Copies these words.
    fn copy(&self, from: &[u8], to: &mut [u8]) {
        for (place, bits) in self.0.iter().enumerate() {
            let mut left = *bits;
            while left != 0 {
                // A run of words.
                let first = left.trailing_zeros() as usize;
                let count = (left >> first).trailing_ones() as usize;
                left &= u64::MAX.checked_shl((first + count) as u32).unwrap_or(0);
                let start = 4 * (64 * place + first);
                let end = (start + 4 * count).min(to.len()).min(from.len());
                if let (Some(to), Some(from)) = (to.get_mut(start..end), from.get(start..end)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

/// The words of an allocation that the blocks of a copy read and write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) writes: WordSet,
    pub(crate) reads: WordSet,
    /// Whether it is read. Only of allocations that blocks have written, single words are noted.
    pub(crate) is_read: bool,
}

impl DeviceMemory {
    /// Whether all bytes are known that kernels can write. Copies cannot change which of the others are.
    pub(crate) fn is_plain(&self) -> bool {
        let mut writable =
            self.allocations.iter().filter(|known| known.protection == Protection::Writable);
        writable.all(|known| known.bytes.is_plain())
    }

    /// The size of the allocations that blocks have written, as far as copies have noted that.
    pub(crate) fn written_bytes(&self) -> u64 {
        let written = self.allocations.iter().filter(|known| known.is_written);
        written.map(|known| known.bytes.values.len() as u64).sum()
    }

    /// A copy. Bytes are shared until either memory writes an allocation.
    pub(crate) fn fork(&mut self) -> Self {
        for known in &mut self.allocations {
            known.bytes.values.share();
        }
        self.shared.values.share();
        self.local.bytes.values.share();
        let mut fork = self.clone();
        fork.is_fork = true;
        for known in &mut fork.allocations {
            known.notes = Some(Box::default());
        }
        fork
    }

    /// Takes over the bytes that copies have written. Returns false, and changes no byte, if a copy has read or written a
    /// word that another has written, or differs in anything but bytes.
    pub(crate) fn join(&mut self, forks: &[Self]) -> bool {
        let is_alike =
            |fork: &Self| fork.allocations.len() == self.allocations.len() && fork.is_plain();
        let of_forks = |at: usize| -> Vec<&DeviceAllocation> {
            forks.iter().filter_map(|fork| fork.allocations.get(at)).collect()
        };
        let all = || self.allocations.iter().enumerate();
        if !forks.iter().all(is_alike) || all().any(|(at, known)| known.is_shared(&of_forks(at))) {
            return false;
        }
        for (at, known) in self.allocations.iter_mut().enumerate() {
            for fork in of_forks(at) {
                let Some(notes) = fork.notes.as_ref().filter(|notes| !notes.writes.is_empty())
                else {
                    continue;
                };
                known.is_written = true;
                notes.writes.copy(&fork.bytes.values, &mut known.bytes.values);
            }
        }
        true
    }
}

impl DeviceAllocation {
    /// Whether a block of one copy has read or written what one of another has written.
    fn is_shared(&self, forks: &[&Self]) -> bool {
        let notes = || forks.iter().filter_map(|fork| fork.notes.as_deref()).enumerate();
        notes().filter(|(_, writer)| !writer.writes.is_empty()).any(|(at, writer)| {
            notes().filter(|(other, _)| *other != at).any(|(_, other)| {
                let has_read = match self.is_written {
                    true => writer.writes.meets(&other.reads),
                    false => other.is_read,
                };
                has_read || writer.writes.meets(&other.writes)
            })
        })
    }
}
