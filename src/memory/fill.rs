//! [`Fill`]: memory contents that are a pure function of the address (docs/traces.md).

use super::fetch::{Access, put};
use super::width::{Width, Words};
use crate::lane::{LaneMask, LaneValues};

/// Returns what splitmix64 makes of a value: the mixing function of fills and digests.
#[inline]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The contents of a memory that no image describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The eight bytes at address 8k are `mix(k)`, little-endian; in local memory, lane n's are
    /// `mix(k + (n << 56))`.
    Address,
    /// Zeroes.
    Zero,
}

impl Fill {
    /// Returns the bytes at `address`, a multiple of the width, as little-endian words, with zeroes
    /// after them. `lane` is the lane whose local memory is read, 0 for other memories.
    #[inline]
    #[must_use]
    pub fn words(self, address: u64, width: Width, lane: u64) -> Words {
        let mut words = Words::default();
        if width <= Width::B4 {
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

    /// Returns the value of one lane's access at `address`.
    #[inline]
    pub(super) fn value(self, access: Access, address: u64, lane: u64) -> Words {
        access.extend(self.words(address, access.width, lane))
    }

    /// Sets the values of the executing lanes, each from its address in the fill; lanes have bytes
    /// of their own if `is_per_lane`. Missing rows drop their values.
    #[inline]
    pub(super) fn set_rows(
        self,
        access: Access,
        executing: LaneMask,
        address: impl Fn(usize) -> u64,
        is_per_lane: bool,
        rows: &mut [LaneValues],
    ) {
        let memory_of = |lane: usize| if is_per_lane { lane as u64 } else { 0 };
        if let ([row], true) = (&mut *rows, access.width <= Width::B4) {
            let word = |lane: usize| {
                let word = self.word(address(lane), access.width, memory_of(lane));
                access.extend_word(word)
            };
            if executing == LaneMask::ALL {
                *row = std::array::from_fn(word);
            } else {
                executing.lanes().for_each(|lane| row[lane] = word(lane));
            }
            return;
        }
        for lane in executing {
            put(rows, lane, self.value(access, address(lane), memory_of(lane)));
        }
    }

    /// Returns the bytes at `address` as one word, for an access of at most 4 bytes.
    #[inline]
    fn word(self, address: u64, width: Width, lane: u64) -> u32 {
        let eight = self.eight(address, lane);
        match width {
            Width::B1 => (eight as u8).into(),
            Width::B2 => (eight as u16).into(),
            _ => eight as u32,
        }
    }

    /// Returns the bytes from `address` to the next multiple of 8.
    #[inline]
    fn eight(self, address: u64, lane: u64) -> u64 {
        match self {
            Self::Address => mix((address >> 3).wrapping_add(lane << 56)) >> (8 * (address & 7)),
            Self::Zero => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of splitmix64 seeded with 0, as its author publishes them.
    #[test]
    fn known_values() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn widths_read_the_same_bytes() {
        let wide = Fill::Address.words(0x40, Width::B32, 0);
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
        assert_ne!(Fill::Address.words(0x40, Width::B32, 1), wide);
        assert_eq!(Fill::Zero.words(0x40, Width::B32, 1), [0; 8]);
    }
}
