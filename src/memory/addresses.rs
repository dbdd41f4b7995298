//! [`WarpAddresses`]: the addresses of a warp's lanes, in the shape that they have.

use super::width::Width;
use crate::lane::LANES;

/// The byte addresses of 32 lanes. Almost all loads of real programs have lanes at one distance from
/// each other: what such lanes have in common is then computed once, and no list is made.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "on the stack, for one load")]
pub enum WarpAddresses {
    /// Lane n's is `base + n * stride`, modulo 2^64. Stride 0: all lanes have one address.
    Stride {
        /// Lane 0's address.
        base: u64,
        /// The distance between neighbours in bytes, modulo 2^64.
        stride: u64,
    },
    /// Each lane's, lane 0 first.
    Each([u64; LANES]),
}

impl WarpAddresses {
    /// Returns one lane's address.
    #[inline]
    #[must_use]
    pub fn of(&self, lane: usize) -> u64 {
        match self {
            Self::Stride { base, stride } => base.wrapping_add(stride.wrapping_mul(lane as u64)),
            Self::Each(list) => list[lane % LANES],
        }
    }

    /// Returns each lane's address, lane 0 first.
    #[inline]
    #[must_use]
    pub fn to_array(&self) -> [u64; LANES] {
        match self {
            Self::Stride { .. } => std::array::from_fn(|lane| self.of(lane)),
            Self::Each(list) => *list,
        }
    }

    /// Returns whether each lane's address is a multiple of the width and follows the access of the
    /// lane before.
    #[inline]
    #[must_use]
    pub fn is_run(&self, width: Width) -> bool {
        let bytes = u64::from(width.bytes());
        match self {
            Self::Stride { base, stride } => *stride == bytes && base & (bytes - 1) == 0,
            // The last one shows first that addresses are spread.
            Self::Each(list) => {
                let last = list[0].wrapping_add(bytes * (LANES as u64 - 1));
                list[LANES - 1] == last && list[0] & (bytes - 1) == 0 && different(list, bytes) == 0
            }
        }
    }
}

/// Returns the bits in which some distance between neighbours differs from `bytes`. Apart from its
/// comparison with 0, or the compiler makes 31 branches of the one pass in vectors.
#[inline(never)]
fn different(addresses: &[u64; LANES], bytes: u64) -> u64 {
    let neighbours = addresses.iter().zip(&addresses[1..]);
    neighbours.fold(0, |bits, (one, next)| bits | (next.wrapping_sub(*one) ^ bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_have_the_same_addresses() {
        let stride = WarpAddresses::Stride { base: 8, stride: 4u64.wrapping_neg() };
        let each = WarpAddresses::Each(stride.to_array());
        assert_eq!((stride.of(2), stride.of(3)), (0, u64::MAX - 3));
        assert_eq!(each.to_array(), stride.to_array());
        assert!((0..LANES).all(|lane| stride.of(lane) == each.of(lane)));
    }

    #[test]
    fn runs_are_aligned_and_without_gaps() {
        for (base, stride, is_run) in
            [(8, 4, true), (6, 4, false), (8, 8, false), (8, 0, false), (u64::MAX - 3, 4, true)]
        {
            let addresses = WarpAddresses::Stride { base, stride };
            assert_eq!(addresses.is_run(Width::B4), is_run, "{base} {stride}");
            assert_eq!(WarpAddresses::Each(addresses.to_array()).is_run(Width::B4), is_run);
        }
        let mut list = WarpAddresses::Stride { base: 0, stride: 4 }.to_array();
        list.swap(1, 2);
        assert!(!WarpAddresses::Each(list).is_run(Width::B4));
    }
}
