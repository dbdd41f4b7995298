//! [`Fill`]: memory contents that are a pure function of the address (docs/traces.md), and [`FilledMemory`], a memory
//! with such contents instead of bytes.

use super::fetch::{self, LaneAccess, Width, Words, set_row};
use super::region::Region;
use super::source::LoadMemory;
use super::windows::{AddressMap, GenericAddress, Space};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::simd::vectorized;

/// Returns splitmix64 of a value, the mixing function of fills and digests.
#[inline(always)]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The contents of a memory without an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The eight bytes at address 8k are `mix(k)`, little-endian; in local memory, lane n's are
    /// `mix(k + (n << 56))`.
    Address,
    /// Zeroes.
    Zero,
}

impl Fill {
    /// Returns the bytes at `address`, a multiple of the width, as little-endian words, with zeroes after them. `lane`
    /// is the owner of the local memory, 0 for other memories.
    #[inline]
    #[must_use]
    pub fn words(self, address: u64, width: Width, lane: u64) -> Words {
        let mut words = Words::default();
        if width <= Width::Bytes4 {
            words[0] = self.word(address, width, lane);
            return words;
        }
        let pairs = words.as_chunks_mut::<2>().0.iter_mut().take(width.bytes() as usize / 8);
        for (k, pair) in (0u64..).zip(pairs) {
            let eight = self.eight(address.wrapping_add(8 * k), lane);
            *pair = [eight as u32, (eight >> 32) as u32];
        }
        words
    }

    #[inline]
    pub(super) fn value(self, access: LaneAccess, address: u64, lane: u64) -> Words {
        access.extend(self.words(address, access.width, lane))
    }

    /// Loads the values of all 32 lanes from consecutive accesses, lane 0's at `first`, a multiple of the width.
    /// Missing rows drop their values.
    #[inline]
    pub(super) fn copy(self, access: LaneAccess, first: u64, rows: &mut [LaneValues]) {
        match (self, access.width) {
            (Self::Zero, width) => {
                rows.iter_mut().take(width.registers() as usize).for_each(|row| row.fill(0));
            }
            // Enough groups of eight bytes for all lanes' bytes, wherever these begin.
            (Self::Address, Width::Bytes1) => copy_mixed::<8>(access, first, rows),
            (Self::Address, Width::Bytes2) => copy_mixed::<16>(access, first, rows),
            (Self::Address, Width::Bytes4) => copy_mixed::<24>(access, first, rows),
            (Self::Address, Width::Bytes8) => copy_mixed::<40>(access, first, rows),
            (Self::Address, Width::Bytes16) => copy_mixed::<72>(access, first, rows),
            (Self::Address, Width::Bytes32) => copy_mixed::<136>(access, first, rows),
        }
    }

    /// Sets the values of the executing lanes, each from its address in the fill; with `is_per_lane`, lanes have their
    /// own bytes. Missing rows drop their values.
    #[inline]
    pub(super) fn set_rows(
        self,
        access: LaneAccess,
        executing: LaneMask,
        address: impl Fn(usize) -> u64,
        is_per_lane: bool,
        rows: &mut [LaneValues],
    ) {
        let rows = rows.iter_mut().take(access.width.registers() as usize);
        if self == Self::Zero {
            rows.for_each(|row| set_row(row, executing, |_| 0));
            return;
        }
        let mut addresses = [0; LANES];
        for (lane, place) in addresses.iter_mut().enumerate() {
            *place = address(lane);
        }
        let mut eights = [0; LANES];
        for (i, row) in rows.enumerate() {
            if i % 2 == 0 {
                let from = 4 * i as u64;
                vectorized!(mix_each(&addresses, from, is_per_lane, &mut eights));
            }
            match access.width {
                Width::Bytes1 => {
                    set_row(row, executing, |lane| access.extend_word((eights[lane] as u8).into()))
                }
                Width::Bytes2 => {
                    set_row(row, executing, |lane| access.extend_word((eights[lane] as u16).into()))
                }
                _ if i % 2 == 0 => set_row(row, executing, |lane| eights[lane] as u32),
                _ => set_row(row, executing, |lane| (eights[lane] >> 32) as u32),
            }
        }
    }

    /// A word of the fill, for an access of at most 4 bytes.
    #[inline]
    fn word(self, address: u64, width: Width, lane: u64) -> u32 {
        let eight = self.eight(address, lane);
        match width {
            Width::Bytes1 => (eight as u8).into(),
            Width::Bytes2 => (eight as u16).into(),
            _ => eight as u32,
        }
    }

    /// The bytes from `address` to the next multiple of 8.
    #[inline]
    fn eight(self, address: u64, lane: u64) -> u64 {
        match self {
            Self::Address => mix((address >> 3).wrapping_add(lane << 56)) >> (8 * (address & 7)),
            Self::Zero => 0,
        }
    }
}

/// [`Fill::copy`] for [`Fill::Address`].
#[inline]
fn copy_mixed<const EIGHTS: usize>(access: LaneAccess, first: u64, rows: &mut [LaneValues]) {
    let mut eights = [[0; 8]; EIGHTS];
    vectorized!(mix_from(first >> 3, &mut eights));
    fetch::copy(&eights.as_flattened()[(first & 7) as usize..], access, rows);
}

/// Sets the bytes of the fill from `8 * first` on.
#[inline(always)]
fn mix_from(first: u64, eights: &mut [[u8; 8]]) {
    for (k, eight) in eights.iter_mut().enumerate() {
        *eight = mix(first.wrapping_add(k as u64)).to_le_bytes();
    }
}

/// Sets each lane's bytes from `from` bytes after its address to the next multiple of 8.
#[inline(always)]
fn mix_each(addresses: &[u64; LANES], from: u64, is_per_lane: bool, eights: &mut [u64; LANES]) {
    let shift = if is_per_lane { 56 } else { 64 };
    for lane in 0..LANES {
        let address = addresses[lane].wrapping_add(from);
        let own = (lane as u64).unbounded_shl(shift);
        eights[lane] = mix((address >> 3).wrapping_add(own)) >> (8 * (address & 7));
    }
}

/// A memory in which every address below 2^address_bits is allocated, with contents from a rule. Offsets into shared
/// and local memory stand for the generic addresses of their windows.
#[derive(Clone, Copy, Debug)]
pub struct FilledMemory {
    /// The map of generic addresses.
    pub map: AddressMap,
    /// The rule for the bytes.
    pub fill: Fill,
}

impl LoadMemory for FilledMemory {
    #[inline]
    fn map(&self) -> &AddressMap {
        &self.map
    }

    #[inline]
    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        let map = &self.map;
        // Offsets have no end, because the fill has a value for every one.
        let (last, start) = match space {
            Space::Global if map.is_beyond(GenericAddress(offset)) => return None,
            Space::Global => (map.last_address, 0),
            Space::Local => (u64::MAX, map.local().base),
            Space::Shared => (u64::MAX, map.shared().base),
            Space::Constant { .. } => (u64::MAX, 0),
        };
        Region::filled(space, 0..=last, self.fill, start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first outputs of splitmix64 seeded with 0, as its author publishes them.
    #[test]
    fn known_values() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn widths_read_the_same_bytes() {
        let wide = Fill::Address.words(0x40, Width::Bytes32, 0);
        let bytes: Vec<u8> = wide.iter().flat_map(|word| word.to_le_bytes()).collect();
        for width in Width::ALL {
            for i in (0..32).step_by(width.bytes() as usize) {
                let words = Fill::Address.words(0x40 + i as u64, width, 0);
                let read: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let (read, rest) = read.split_at(width.bytes() as usize);
                assert_eq!(read, &bytes[i..][..read.len()]);
                assert!(rest.iter().all(|byte| *byte == 0));
            }
        }
        assert_ne!(Fill::Address.words(0x40, Width::Bytes32, 1), wide);
        assert_eq!(Fill::Zero.words(0x40, Width::Bytes32, 1), [0; 8]);
    }

    proptest! {
        #[test]
        fn vectors_mix_as_the_portable_loop_does(
            addresses in any::<[u64; LANES]>(),
            from in 0..32u64,
            is_per_lane: bool,
        ) {
            let (mut portable, mut vectors) = ([0; LANES], [0; LANES]);
            mix_each(&addresses, from, is_per_lane, &mut portable);
            vectorized!(mix_each(&addresses, from, is_per_lane, &mut vectors));
            prop_assert_eq!(vectors, portable);
            let (mut portable, mut vectors) = ([[0; 8]; 24], [[0; 8]; 24]);
            mix_from(addresses[0], &mut portable);
            vectorized!(mix_from(addresses[0], &mut vectors));
            prop_assert_eq!(vectors, portable);
        }

        /// Loading all lanes at once gives the values of each lane.
        #[test]
        fn lanes_read_what_one_lane_reads(
            start in prop_oneof![Just(0x100u64), any::<u64>()],
            executing in prop_oneof![Just(u32::MAX), any::<u32>()],
            width in prop::sample::select(&Width::ALL[..]),
            signed: bool,
            is_per_lane: bool,
        ) {
            let (access, executing) = (LaneAccess { width, signed }, LaneMask::from_bits(executing));
            let bytes = u64::from(width.bytes());
            let address = |lane: usize| (start & !(bytes - 1)).wrapping_add(bytes * lane as u64);
            for fill in [Fill::Address, Fill::Zero] {
                let expected = |lane: usize, own| fill.value(access, address(lane), own);
                let mut rows = [[7; LANES]; Width::MAX_REGISTERS];
                let rows = &mut rows[..width.registers() as usize];
                fill.set_rows(access, executing, address, is_per_lane, rows);
                for lane in 0..LANES {
                    let own = if is_per_lane { lane as u64 } else { 0 };
                    for (row, value) in rows.iter().zip(expected(lane, own)) {
                        prop_assert_eq!(row[lane], if executing.contains(lane) { value } else { 7 });
                    }
                }
                if address(LANES - 1) > address(0) {
                    fill.copy(access, address(0), rows);
                    for lane in 0..LANES {
                        for (row, value) in rows.iter().zip(expected(lane, 0)) {
                            prop_assert_eq!(row[lane], value);
                        }
                    }
                }
            }
        }
    }
}
