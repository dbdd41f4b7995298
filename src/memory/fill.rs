//! Memory contents that are a pure function of the address (docs/traces.md).

/// splitmix64: the mixing function of fills and digests.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What memory holds that no image describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The eight bytes at address 8k are `mix(k)`, little-endian; in local memory, lane n's are
    /// `mix(k + (n << 56))`.
    Address,
    /// Zeroes.
    Zero,
}

impl Fill {
    /// Up to 16 bytes from `address` on, a multiple of `bytes`, as little-endian words; zeroes
    /// behind them. `lane` is the lane whose local memory is read, 0 for other memories.
    #[inline]
    pub fn words(self, address: u64, bytes: u32, lane: u64) -> [u32; 4] {
        if self == Self::Zero {
            return [0; 4];
        }
        let at = |k: u64| mix(k.wrapping_add(lane << 56));
        let low = at(address >> 3) >> (8 * (address & 7));
        match bytes {
            1 => [low as u8 as u32, 0, 0, 0],
            2 => [low as u16 as u32, 0, 0, 0],
            4 => [low as u32, 0, 0, 0],
            8 => [low as u32, (low >> 32) as u32, 0, 0],
            _ => {
                let high = at((address >> 3).wrapping_add(1));
                [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
            }
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
        let wide = Fill::Address.words(0x30, 16, 0);
        let bytes: Vec<u8> = wide.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (i, byte) in bytes.iter().enumerate() {
            assert_eq!(Fill::Address.words(0x30 + i as u64, 1, 0)[0], u32::from(*byte));
        }
        assert_eq!(Fill::Address.words(0x34, 4, 0)[0], wide[1]);
        assert_eq!(Fill::Address.words(0x38, 8, 0)[..2], wide[2..]);
        assert_ne!(Fill::Address.words(0x30, 16, 1), wide);
        assert_eq!(Fill::Zero.words(0x30, 16, 1), [0; 4]);
    }
}
