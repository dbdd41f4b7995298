//! [`BankUse`]: which banks of shared memory an instruction uses, counted during the replay.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::spaces::{AccessCost, BANKS, Offsets};

/// The most instructions whose banks are kept.
pub const MAX_BANK_USES: usize = 16;

/// The accesses of shared memory by one instruction of a kernel, and the banks that they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankUse {
    /// The kernel's number.
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// The operation's number: of a load, a store or an atomic.
    pub operation: u16,
    /// Accesses with a lane in shared memory, without atomics whose lanes share a word: what these cost is not
    /// known.
    pub accesses: u64,
    /// Their wavefronts.
    pub wavefronts: u64,
    /// The fewest wavefronts that hold the words of each access, added up.
    pub ideal_wavefronts: u64,
    /// Bank conflicts: wavefronts beyond one for each group of lanes that has one.
    pub conflicts: u64,
    /// The wavefronts in which each bank serves a word.
    pub words: [u64; BANKS],
}

impl BankUse {
    fn place(&self) -> (usize, u32, u16) {
        (self.kernel, self.pc, self.operation)
    }

    fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.conflicts += other.conflicts;
        for (words, more) in self.words.iter_mut().zip(&other.words) {
            *words += more;
        }
    }
}

/// The accesses of shared memory of one kernel, or of a part of one, by program counter and operation.
#[derive(Debug, Default)]
pub(super) struct KernelBanks(FxHashMap<(u32, u16), BankUse>);

impl KernelBanks {
    /// Counts an access and what it costs.
    pub(super) fn count(
        &mut self,
        (pc, operation): (u32, u16),
        offsets: &Offsets<'_>,
        cost: AccessCost,
    ) {
        let uses = self.0.entry((pc, operation)).or_insert(BankUse {
            kernel: 0,
            pc,
            operation,
            accesses: 0,
            wavefronts: 0,
            ideal_wavefronts: 0,
            conflicts: 0,
            words: [0; BANKS],
        });
        uses.accesses += 1;
        uses.wavefronts += cost.amount;
        uses.ideal_wavefronts += cost.ideal;
        uses.conflicts += cost.conflicts;
        offsets.add_bank_words(&mut uses.words);
    }

    /// Adds the accesses of another part.
    pub(super) fn add(&mut self, other: Self) {
        for (key, uses) in other.0 {
            match self.0.entry(key) {
                Entry::Vacant(place) => drop(place.insert(uses)),
                Entry::Occupied(mut known) => known.get_mut().add(&uses),
            }
        }
    }

    /// Returns the worst of those with bank conflicts.
    pub(super) fn into_conflicts(self, kernel: usize) -> Vec<BankUse> {
        let uses = self.0.into_values().map(|uses| BankUse { kernel, ..uses });
        let mut worst: Vec<BankUse> = uses.filter(|uses| uses.conflicts > 0).collect();
        keep_worst(&mut worst);
        worst
    }
}

/// Sorts by bank conflicts, the most first, and drops those beyond [`MAX_BANK_USES`].
pub(super) fn keep_worst(uses: &mut Vec<BankUse>) {
    uses.sort_unstable_by_key(|uses| (Reverse(uses.conflicts), uses.place()));
    uses.truncate(MAX_BANK_USES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpload::lane::LaneMask;
    use warpload::memory::{Addresses, Width};

    /// Counts accesses of the program counters, each of 4 bytes with its stride.
    fn counted(accesses: &[(u32, u64)]) -> KernelBanks {
        let mut banks = KernelBanks::default();
        for &(pc, stride) in accesses {
            let addresses = &Addresses::Stride { base: 0, stride };
            let offsets = Offsets { lanes: LaneMask::ALL, addresses, base: 0, width: Width::B4 };
            banks.count((pc, 0), &offsets, offsets.shared());
        }
        banks
    }

    #[test]
    fn a_column_uses_one_bank() {
        let mut expected = [0; BANKS];
        expected[0] = 64;
        let uses = counted(&[(8, 128), (16, 4), (8, 128)]).into_conflicts(3);
        let [uses] = &uses[..] else { panic!("{uses:?}") };
        assert_eq!((uses.kernel, uses.pc, uses.accesses), (3, 8, 2));
        assert_eq!((uses.wavefronts, uses.ideal_wavefronts, uses.conflicts), (64, 2, 62));
        assert_eq!(uses.words, expected);
    }

    #[test]
    fn the_worst_are_kept_whatever_the_parts() {
        let accesses: Vec<(u32, u64)> =
            (0..400).map(|i| (i * 7 % 50, 1 << (2 + i * 7 % 50 % 6))).collect();
        let whole = counted(&accesses).into_conflicts(0);
        assert_eq!(whole.len(), MAX_BANK_USES);
        assert!(whole.is_sorted_by_key(|uses| (Reverse(uses.conflicts), uses.pc)));
        for cut in [1, 7, 200, 399] {
            let (first, last) = accesses.split_at(cut);
            let mut parts = counted(first);
            parts.add(counted(last));
            assert_eq!(parts.into_conflicts(0), whole);
        }
    }
}
