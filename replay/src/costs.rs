//! [`AccessCosts`]: the cost of one access in each memory; a replay adds these up. Shared, local and constant memory cost
//! wavefronts, sectors and addresses. The rules and their sources are in docs/traces.md.
//!
//! The accesses of all lanes have one size and are aligned to it, so that any two are equal or disjoint. Lanes are
//! therefore compared by the *unit* that they access: a word of 4 bytes, or the access if that is larger.

use std::ops::Range;

use crate::compare::repeats;
use crate::traffic::Traffic;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{AddressMap, AddressSpace, GenericAddress, Space, WarpAddresses, Width};

/// The cost of one access in each memory. Out-of-bounds lanes do not count.
///
/// Most accesses are of one memory, and the methods return the cost there. Only a generic one can be of several;
/// [`Self::sectors`], [`Self::ideal_sectors`] and [`Self::lines`] then count global memory, as in
/// [`Row`](super::Row).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessCosts {
    /// Global memory; `None` if the opcode cannot reach it, or the addresses are unknown.
    pub global: Option<Traffic>,
    /// Wavefronts of shared memory; `None` if no lane accesses it, or if they are unknown, as those of
    /// atomics with lanes that share a word.
    pub shared: Option<AccessCost>,
    /// Sectors of local memory; `None` if no lane accesses it.
    pub local: Option<AccessCost>,
    /// Addresses of constant memory; `None` if no lane accesses it.
    pub constant: Option<AccessCost>,
}

impl AccessCosts {
    /// Returns the cost of an access by lanes in one memory. Addresses are rounded down to the width; in shared, local
    /// and constant memory they are offsets.
    #[must_use]
    pub fn of_access(
        space: Space,
        width: Width,
        lanes: LaneMask,
        addresses: &WarpAddresses,
    ) -> Self {
        Self::of_access_by(SharedRules::default(), space, width, lanes, addresses)
    }

    /// Like [`Self::of_access`], with other rules for shared memory.
    #[must_use]
    pub fn of_access_by(
        rules: SharedRules,
        space: Space,
        width: Width,
        lanes: LaneMask,
        addresses: &WarpAddresses,
    ) -> Self {
        let offsets = Offsets { lanes, addresses, base: 0, width, rules };
        let costs = Self::default();
        match space {
            Space::Global => {
                let traffic = Traffic::of_lanes(addresses, lanes, width, &mut ());
                Self { global: Some(traffic), ..costs }
            }
            Space::Shared => Self { shared: Some(offsets.shared(&mut [0; BANKS])), ..costs },
            Space::Local => Self { local: Some(offsets.local()), ..costs },
            Space::Constant { .. } => Self { constant: Some(offsets.constant()), ..costs },
        }
    }

    /// Returns the cost in the memory that was accessed: sectors, wavefronts or addresses.
    #[must_use]
    pub fn amount(&self) -> u64 {
        let constant = self.constant.map(|cost| cost.amount);
        self.sectors().or(self.wavefronts()).or(constant).unwrap_or(0)
    }

    /// Returns the distinct sectors of global memory, or of local memory if the opcode has that space; `None` if
    /// neither applies.
    #[must_use]
    pub fn sectors(&self) -> Option<u64> {
        self.global.map(|global| global.sectors).or(self.local.map(|local| local.amount))
    }

    /// Returns the fewest sectors that would suffice, in the memory that [`Self::sectors`] counts.
    #[must_use]
    pub fn ideal_sectors(&self) -> Option<u64> {
        self.global.map(|global| global.ideal_sectors).or(self.local.map(|local| local.ideal))
    }

    /// Returns the distinct lines of global memory; `None` if the opcode cannot reach it, or the addresses
    /// are unknown.
    #[must_use]
    pub fn lines(&self) -> Option<u64> {
        self.global.map(|global| global.lines)
    }

    /// Returns the wavefronts of shared memory; `None` if no lane accesses it, or if they are unknown.
    #[must_use]
    pub fn wavefronts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.amount)
    }

    /// Returns the fewest wavefronts that would suffice; `None` as of [`Self::wavefronts`].
    #[must_use]
    pub fn ideal_wavefronts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.ideal)
    }

    /// Returns the bank conflicts; `None` as of [`Self::wavefronts`].
    #[must_use]
    pub fn conflicts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.conflicts)
    }
}

/// The rules by which shared memory serves a load, as far as GPUs differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SharedRules {
    /// Whether loads of 16 bytes are served 16 lanes at a time instead of 8, if every lane n has the same address as
    /// lane n^1, or every lane n the same as lane n^2. Compute capability 7.0 to 7.5 does so (docs/traces.md names the
    /// source). Off by default.
    pub merges_pairs: bool,
}

impl SharedRules {
    /// Returns the rules with pairs merged or not.
    #[must_use]
    pub const fn merging_pairs(self, merges_pairs: bool) -> Self {
        Self { merges_pairs, ..self }
    }
}

/// The cost of an access in each memory other than global; `None` if no lane accesses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpaceCosts {
    pub(super) shared: Option<AccessCost>,
    pub(super) local: Option<AccessCost>,
    pub(super) constant: Option<AccessCost>,
    /// Of shared memory.
    pub(super) bank_words: BankWords,
}

impl SpaceCosts {
    /// The cost for lanes that are neither out of bounds nor in global memory, with their addresses.
    #[inline]
    pub(super) fn new(space: AddressSpace, offsets: &Offsets<'_>, map: &AddressMap) -> Self {
        if offsets.lanes.is_empty() {
            return Self::default();
        }
        let mut bank_words = [0; BANKS];
        match space {
            AddressSpace::Shared => Self {
                shared: Some(offsets.shared(&mut bank_words)),
                bank_words,
                ..Self::default()
            },
            AddressSpace::Local => Self { local: Some(offsets.local()), ..Self::default() },
            AddressSpace::Constant { .. } => {
                Self { constant: Some(offsets.constant()), ..Self::default() }
            }
            AddressSpace::Global => Self::default(),
            AddressSpace::Generic => {
                // Lanes neither out of bounds nor in global memory are in a window.
                let shared = offsets.in_shared_window(map);
                let local = offsets.lanes & !shared.lanes;
                let local = Offsets { lanes: local, base: map.local().base, ..*offsets };
                Self {
                    shared: (!shared.lanes.is_empty()).then(|| shared.shared(&mut bank_words)),
                    local: (!local.lanes.is_empty()).then(|| local.local()),
                    constant: None,
                    bank_words,
                }
            }
        }
    }
}

/// Bytes of a word: a bank of shared memory serves one at a time, and local memory interleaves them.
const WORD: u64 = 4;
/// Banks of shared memory.
pub const BANKS: usize = 32;
/// The words that each bank of shared memory serves for an access, one per wavefront.
pub(super) type BankWords = [u8; BANKS];
/// Lanes that share a sector of local memory, a word each.
const SECTOR_LANES: usize = 8;

/// Strides below this do not wrap around.
const MAX_STRIDE: u64 = 1 << 58;

/// The cost of an access in a memory other than global: wavefronts of shared memory, sectors of local memory, addresses
/// of constant memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessCost {
    /// The wavefronts, sectors or addresses.
    pub amount: u64,
    /// The lowest amount that would suffice.
    pub ideal: u64,
    /// Bank conflicts of shared memory: wavefronts beyond the first of each group of lanes. 0 in other memories.
    pub conflicts: u64,
    /// Whether lanes access the same word of shared memory. Lanes that are served together read it at once, whereas
    /// atomics always take turns.
    pub(super) shares_words: bool,
}

/// A wavefront of shared memory: a word from each bank at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wavefront {
    /// Its group of lanes.
    pub lanes: Range<usize>,
    /// The lanes that each bank serves; empty for an idle bank.
    pub banks: [LaneMask; BANKS],
}

/// Returns the wavefronts of a load of shared memory, group by group; their number is [`AccessCosts::wavefronts`]. The
/// order in which a bank serves the words of a group is not public; here it is lane order. Addresses are offsets in
/// shared memory, rounded down to the width.
#[must_use]
pub fn shared_wavefronts(
    rules: SharedRules,
    width: Width,
    lanes: LaneMask,
    addresses: &WarpAddresses,
) -> Vec<Wavefront> {
    Offsets { lanes, addresses, base: 0, width, rules }.wavefronts()
}

/// The lanes of a load that access one memory, with their offsets in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets<'a> {
    pub(super) lanes: LaneMask,
    /// An address minus `base` is an offset.
    pub(super) addresses: &'a WarpAddresses,
    pub(super) base: u64,
    pub(super) width: Width,
    pub(super) rules: SharedRules,
}

impl Offsets<'_> {
    /// The wavefronts of a load of shared memory, which has 32 banks of one word each. Lanes are served in groups that
    /// access 32 words together. The bank with the most distinct words determines a group's wavefronts.
    /// Adds to the words of each bank.
    pub(super) fn shared(&self, bank_words: &mut BankWords) -> AccessCost {
        let words = self.words();
        let units = self.units();
        if words == 1
            && let Some(cost) = self.one_wavefront(&units, bank_words)
        {
            return cost;
        }
        let group = self.group(&units);
        let first = self.first_of_equals(&units, group);
        let (mut wavefronts, mut conflicts) = (0, 0);
        for start in (0..LANES).step_by(group) {
            let lanes = LaneMask::from_bits(first.bits() & (u32::MAX >> (LANES - group)) << start);
            let most = u64::from(most_of_a_bank(&units, lanes, words, bank_words));
            wavefronts += most;
            conflicts += most.saturating_sub(1);
        }
        let distinct = if group == LANES { first } else { self.first_of_equals(&units, LANES) };
        let words = u64::from(distinct.count()) * words;
        AccessCost {
            amount: wavefronts,
            ideal: words.div_ceil(BANKS as u64),
            conflicts,
            shares_words: distinct != self.lanes,
        }
    }

    /// The cost of a load without bank conflicts; `None` for others. Separate, because most loads of most kernels have
    /// no conflicts, and to see that is much faster than to find the repeated words.
    fn one_wavefront(
        &self,
        units: &[u64; LANES],
        bank_words: &mut BankWords,
    ) -> Option<AccessCost> {
        let (mut held, mut banks) = ([0; BANKS], 0_u32);
        for lane in self.lanes {
            let (unit, bank) = (units[lane], units[lane] as usize % BANKS);
            if banks >> bank & 1 != 0 && held[bank] != unit {
                return None;
            }
            (held[bank], banks) = (unit, banks | 1 << bank);
        }
        add_banks(banks, bank_words);
        let wavefronts = u64::from(banks != 0);
        let shares_words = banks.count_ones() < self.lanes.count();
        Some(AccessCost { amount: wavefronts, ideal: wavefronts, conflicts: 0, shares_words })
    }

    /// The wavefronts of a load of shared memory.
    pub(super) fn wavefronts(&self) -> Vec<Wavefront> {
        let (words, units) = (self.words(), self.units());
        let group = self.group(&units);
        let mut wavefronts = Vec::new();
        for start in (0..LANES).step_by(group) {
            let lanes = start..start + group;
            // The words requested of each bank, in lane order.
            let mut asked: [Vec<(u64, LaneMask)>; BANKS] = Default::default();
            for lane in self.lanes.lanes().filter(|lane| lanes.contains(lane)) {
                for word in 0..words {
                    let of_bank =
                        &mut asked[((units[lane] * words + word) % BANKS as u64) as usize];
                    match of_bank.iter_mut().find(|(unit, _)| *unit == units[lane]) {
                        Some((_, served)) => served.insert(lane),
                        None => of_bank.push((units[lane], LaneMask::from_bits(1 << lane))),
                    }
                }
            }
            let most = asked.iter().map(Vec::len).max().unwrap_or(0);
            wavefronts.extend((0..most).map(|n| Wavefront {
                lanes: lanes.clone(),
                banks: std::array::from_fn(|bank| {
                    asked[bank].get(n).map_or(LaneMask::NONE, |of| of.1)
                }),
            }));
        }
        wavefronts
    }

    /// The sectors of a load of local memory, where word w of lane l is word w * 32 + l of the warp.
    pub(super) fn local(&self) -> AccessCost {
        let (words, units) = (self.words(), self.units());
        let sectors = u64::from(self.first_of_equals(&units, SECTOR_LANES).count()) * words;
        let ideal = (u64::from(self.lanes.count()) * words).div_ceil(SECTOR_LANES as u64);
        AccessCost { amount: sectors, ideal, ..AccessCost::default() }
    }

    /// The distinct addresses of a load of constant memory, which serves one at a time.
    pub(super) fn constant(&self) -> AccessCost {
        let bytes = u64::from(self.width.bytes());
        let mut units = [0; LANES];
        for lane in self.lanes {
            units[lane] = self.offset(lane) / bytes;
        }
        let addresses = u64::from(self.first_of_equals(&units, LANES).count());
        AccessCost { amount: addresses, ideal: addresses.min(1), ..AccessCost::default() }
    }

    /// Selects the lanes with generic addresses in the shared window.
    pub(super) fn in_shared_window(self, map: &AddressMap) -> Self {
        let shared = map.shared();
        let address = |lane| GenericAddress(self.addresses.of(lane));
        let is_shared = |lane| shared.offset_of(address(lane)).is_some();
        Self { lanes: self.lanes & LaneMask::from_fn(is_shared), base: shared.base, ..self }
    }

    #[inline]
    fn offset(&self, lane: usize) -> u64 {
        self.addresses.of(lane).wrapping_sub(self.base)
    }

    /// The number of neighbouring lanes that shared memory serves together.
    fn group(&self, units: &[u64; LANES]) -> usize {
        let group = BANKS / self.words() as usize;
        let are_equal = |distance: usize| {
            let mut pairs = self.lanes.lanes().filter(|lane| self.lanes.contains(lane ^ distance));
            pairs.all(|lane| units[lane] == units[lane ^ distance])
        };
        let is_merged = self.rules.merges_pairs && group == 8 && (are_equal(1) || are_equal(2));
        if is_merged { 2 * group } else { group }
    }

    /// The words of one lane's access, at least 1.
    fn words(&self) -> u64 {
        (u64::from(self.width.bytes()) / WORD).max(1)
    }

    /// The unit of each lane that accesses this memory; 0 for others.
    fn units(&self) -> [u64; LANES] {
        let unit = u64::from(self.width.bytes()).max(WORD).trailing_zeros();
        let mut units = [0; LANES];
        for lane in self.lanes {
            units[lane] = self.offset(lane) >> unit;
        }
        units
    }

    /// The lanes with a unit that no earlier lane of their group has. Groups have `group` lanes.
    fn first_of_equals(&self, units: &[u64; LANES], group: usize) -> LaneMask {
        if let WarpAddresses::Stride { stride, .. } = *self.addresses
            && (u64::from(self.width.bytes()).max(WORD)..MAX_STRIDE)
                .contains(&stride.min(stride.wrapping_neg()))
        {
            return self.lanes;
        }
        // Leaves room for the group: units have at most 62 bits, and 59 if there are more than four groups.
        let shift = (u64::BITS - (LANES / group).ilog2()).min(u64::BITS - 1);
        let mut keys = [0; 2 * LANES];
        for (key, lane) in keys[LANES..].iter_mut().zip(self.lanes) {
            *key = units[lane] | ((lane / group) as u64) << shift;
        }
        // The lower half of `keys` needs a value that differs from every lane's key.
        let unused = (0..=u64::MAX).rev().find(|key| !keys[LANES..].contains(key));
        keys[..LANES].fill(unused.unwrap_or_default());
        let repeats = repeats(&keys);
        let mut first = LaneMask::NONE;
        for (i, lane) in self.lanes.lanes().enumerate() {
            if repeats >> i & 1 == 0 {
                first.insert(lane);
            }
        }
        first
    }
}

/// Adds a word to each of these banks.
fn add_banks(banks: u32, bank_words: &mut BankWords) {
    for (bank, served) in bank_words.iter_mut().enumerate() {
        *served += (banks >> bank & 1) as u8;
    }
}

/// The most words that lanes with different units request of one bank. Adds the words of each bank.
fn most_of_a_bank(
    units: &[u64; LANES],
    lanes: LaneMask,
    words: u64,
    bank_words: &mut BankWords,
) -> u8 {
    // The usual case: each lane has banks of its own.
    let banks_of =
        |unit: u64| (u32::MAX >> (BANKS as u64 - words)) << (unit * words % BANKS as u64);
    let mut banks = 0;
    for lane in lanes {
        banks |= banks_of(units[lane]);
    }
    if u64::from(banks.count_ones()) == u64::from(lanes.count()) * words {
        add_banks(banks, bank_words);
        return u8::from(!lanes.is_empty());
    }
    // Units are aligned, so two of them share all of their banks or none. Counting the first bank suffices.
    let mut counts = [0; BANKS];
    for lane in lanes {
        counts[(units[lane] * words % BANKS as u64) as usize] += 1;
    }
    let words = words as usize;
    for (bank, served) in bank_words.iter_mut().enumerate() {
        *served += counts[bank / words * words];
    }
    counts.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn offsets(addresses: &WarpAddresses, bytes: u32, mask: u32) -> Offsets<'_> {
        let width = Width::from_bytes(bytes).unwrap();
        let rules = SharedRules::default();
        Offsets { lanes: LaneMask::from_bits(mask), addresses, base: 0, width, rules }
    }

    /// Returns the wavefronts and the ideal.
    fn stride(bytes: u32, stride: u64) -> (u64, u64) {
        let cost = offsets(&WarpAddresses::Stride { base: 0, stride }, bytes, u32::MAX)
            .shared(&mut [0; BANKS]);
        let list = WarpAddresses::Each(std::array::from_fn(|lane| lane as u64 * stride));
        assert_eq!(offsets(&list, bytes, u32::MAX).shared(&mut [0; BANKS]), cost);
        (cost.amount, cost.ideal)
    }

    /// Wavefronts and ideal that the CUDA programming guides and the literature on transposes state.
    #[test]
    fn textbook_conflicts() {
        // A row and a column of `float tile[32][32]`; with a column of padding, `tile[32][33]`.
        assert_eq!(stride(4, 4), (1, 1));
        assert_eq!(stride(4, 128), (32, 1));
        assert_eq!(stride(4, 132), (1, 1));
        // Two-way and odd strides; one word for all.
        assert_eq!(stride(4, 8), (2, 1));
        assert_eq!(stride(4, 12), (1, 1));
        assert_eq!(stride(4, 0), (1, 1));
        // Bytes: four lanes have one word. Halves: two.
        assert_eq!(stride(1, 1), (1, 1));
        assert_eq!(stride(2, 2), (1, 1));
        assert_eq!(stride(2, 64), (16, 1));
        // Wide loads side by side, and one address for all.
        assert_eq!(stride(8, 8), (2, 2));
        assert_eq!(stride(16, 16), (4, 4));
        assert_eq!(stride(16, 32), (8, 4));
        assert_eq!(stride(16, 0), (4, 1));
        assert_eq!(stride(8, 0), (2, 1));
        // A column of doubles: each half-warp has one pair of banks.
        assert_eq!(stride(8, 128), (32, 2));
        // A column of a tile whose columns are swizzled by the row has no conflict.
        let swizzled = std::array::from_fn(|lane| (lane * 128 + (lane ^ 5) * 4) as u64);
        let cost = offsets(&WarpAddresses::Each(swizzled), 4, u32::MAX).shared(&mut [0; BANKS]);
        assert_eq!(cost, AccessCost { amount: 1, ideal: 1, ..AccessCost::default() });
    }

    /// Wavefronts due to the width of a load are not conflicts, nor are lanes that share an address.
    #[test]
    fn conflicts_are_beyond_one_wavefront_a_group() {
        let conflicts = |bytes, mask, at: fn(u64) -> u64| {
            let list = WarpAddresses::Each(std::array::from_fn(|lane| at(lane as u64)));
            offsets(&list, bytes, mask).shared(&mut [0; BANKS]).conflicts
        };
        assert_eq!(conflicts(16, u32::MAX, |_| 0), 0);
        assert_eq!(conflicts(16, u32::MAX, |lane| 16 * (lane % 4)), 0);
        assert_eq!(conflicts(16, u32::MAX, |lane| 16 * lane), 0);
        assert_eq!(conflicts(16, u32::MAX, |lane| 32 * lane), 4);
        assert_eq!(conflicts(8, u32::MAX, |_| 0), 0);
        assert_eq!(conflicts(4, u32::MAX, |lane| 128 * lane), 31);
        assert_eq!(conflicts(32, u32::MAX, |lane| 32 * lane), 0);
        assert_eq!(conflicts(32, u32::MAX, |lane| 128 * lane), 24);
        // Lanes in two groups, then no lanes.
        assert_eq!(conflicts(16, 0x0101_0000, |lane| 128 * lane), 0);
        assert_eq!(conflicts(16, 0x0003_0003, |lane| 128 * lane), 2);
        assert_eq!(conflicts(4, 0, |lane| 128 * lane), 0);
    }

    /// The rule of compute capability 7.0 to 7.5: neighbours, or every other lane, load the same 16 bytes.
    #[test]
    fn pairs_are_merged() {
        let costs = |bytes, mask, at: fn(u64) -> u64| {
            let list = WarpAddresses::Each(std::array::from_fn(|lane| at(lane as u64)));
            let plain = offsets(&list, bytes, mask);
            let merging = Offsets { rules: SharedRules::default().merging_pairs(true), ..plain };
            assert_eq!(merging.wavefronts().len() as u64, merging.shared(&mut [0; BANKS]).amount);
            (plain.shared(&mut [0; BANKS]).amount, merging.shared(&mut [0; BANKS]).amount)
        };
        assert_eq!(costs(16, u32::MAX, |_| 0), (4, 2));
        assert_eq!(costs(16, u32::MAX, |lane| lane / 2 * 16), (4, 2));
        assert_eq!(costs(16, u32::MAX, |lane| (lane / 4 * 2 + lane % 2) * 16), (4, 2));
        assert_eq!(costs(16, u32::MAX, |lane| lane / 4 * 128), (8, 8));
        // Lane 31 differs from lane 30, unless it is inactive.
        assert_eq!(costs(16, u32::MAX, |lane| lane / 31 * 16), (4, 4));
        assert_eq!(costs(16, u32::MAX >> 1, |lane| lane / 31 * 16), (4, 2));
        assert_eq!(costs(16, u32::MAX, |lane| lane * 16), (4, 4));
        // The source does not mention 8 bytes.
        assert_eq!(costs(8, u32::MAX, |_| 0), (2, 2));
    }

    #[test]
    fn spills_and_constants() {
        let at = |stride| WarpAddresses::Stride { base: 64, stride };
        // Each lane's spilled register: 32 words side by side.
        let local = |amount, ideal| AccessCost { amount, ideal, ..AccessCost::default() };
        assert_eq!(offsets(&at(0), 4, u32::MAX).local(), local(4, 4));
        assert_eq!(offsets(&at(0), 16, u32::MAX).local(), local(16, 16));
        assert_eq!(offsets(&at(0), 4, 0x101).local(), local(2, 1));
        // Each lane another element of its own array.
        assert_eq!(offsets(&at(4), 4, u32::MAX).local(), local(32, 4));
        assert_eq!(offsets(&at(1), 1, u32::MAX).local(), local(8, 4));
        assert_eq!(offsets(&at(0), 4, u32::MAX).constant().amount, 1);
        assert_eq!(offsets(&at(4), 4, 0xf).constant().amount, 4);
        assert_eq!(offsets(&at(4), 4, 0).constant().amount, 0);
    }

    proptest! {
        /// The rules of docs/traces.md, word by word.
        #[test]
        fn costs_are_those_of_the_rules(
            list in any::<[u16; LANES]>(),
            range in 1..0x1000u64,
            mask: u32,
            shift in 0..6u32,
        ) {
            let bytes = 1u64 << shift;
            let list = list.map(|at| u64::from(at) % range);
            let addresses = WarpAddresses::Each(list);
            let offsets = offsets(&addresses, bytes as u32, mask);
            let mut all = BTreeSet::new();
            let mut banks: [BTreeMap<u64, BTreeSet<u64>>; 8] = Default::default();
            let mut units = BTreeSet::new();
            let (mut sectors, mut own, mut places) =
                (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            for lane in offsets.lanes {
                let start = list[lane] / bytes * bytes;
                places.insert(start);
                for word in start / 4..=(start + bytes - 1) / 4 {
                    all.insert(word);
                    let group = if bytes <= 4 { 0 } else { lane as u64 * bytes / 128 };
                    units.insert(start / bytes.max(4));
                    banks[group as usize].entry(word % 32).or_default().insert(word);
                    sectors.insert((word, lane / 8));
                    own.insert((word, lane));
                }
            }
            let most = |group: &BTreeMap<u64, BTreeSet<u64>>| {
                group.values().map(BTreeSet::len).max().unwrap_or(0) as u64
            };
            let wavefronts = banks.iter().map(most).sum();
            let groups = banks.iter().filter(|group| !group.is_empty()).count() as u64;
            let ceil = |count: usize, of: u64| (count as u64).div_ceil(of);
            let conflicts = wavefronts - groups;
            let shared = AccessCost {
                amount: wavefronts,
                ideal: ceil(all.len(), 32),
                conflicts,
                shares_words: units.len() < offsets.lanes.count() as usize,
            };
            let mut words = [0; BANKS];
            prop_assert_eq!(offsets.shared(&mut words), shared);
            let expected: BankWords = std::array::from_fn(|bank| {
                let in_bank = banks.iter().filter_map(|group| group.get(&(bank as u64)));
                in_bank.map(|words| words.len() as u8).sum()
            });
            prop_assert_eq!(words, expected);
            let fronts = offsets.wavefronts();
            prop_assert_eq!(fronts.len() as u64, wavefronts);
            let mut given = [0; BANKS];
            for front in &fronts {
                for (bank, lanes) in front.banks.iter().enumerate() {
                    given[bank] += u8::from(!lanes.is_empty());
                    prop_assert!(lanes.lanes().all(|lane| front.lanes.contains(&lane)));
                }
            }
            prop_assert_eq!(given, expected);
            let local =
                AccessCost { amount: sectors.len() as u64, ideal: ceil(own.len(), 8), ..AccessCost::default() };
            prop_assert_eq!(offsets.local(), local);
            prop_assert_eq!(offsets.constant().amount, places.len() as u64);
        }
    }
}
