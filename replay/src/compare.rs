//! Compares each of 32 lanes with the lanes before it.
//!
//! Uses explicit vectors, because the compiler's code for the portable loops depends on optimization options. These
//! loops took up to half of a replay.

use warpload::lane::LANES;
use warpload::simd::level;

/// Sets, for each of the last 32 offsets, the smallest exclusive or with one of the 31 before it: 0 for an equal
/// offset, below 32 within the same sector, below 128 within the same line.
#[inline]
pub(super) fn nearest_before(offsets: &[u32; 2 * LANES], nearest: &mut [u32; LANES]) {
    fearless_simd::dispatch!(level(), simd => nearest_before_in(simd, offsets, nearest));
}

#[inline(always)]
fn nearest_before_in<S: fearless_simd::Simd>(
    simd: S,
    offsets: &[u32; 2 * LANES],
    nearest: &mut [u32; LANES],
) {
    use fearless_simd::prelude::*;
    use fearless_simd::u32x16;
    const HALF: usize = LANES / 2;
    for (first, nearest) in [LANES, LANES + HALF].into_iter().zip(nearest.as_chunks_mut().0) {
        let own = u32x16::from_slice(simd, &offsets[first..first + HALF]);
        let mut least = u32x16::splat(simd, u32::MAX);
        for distance in 1..LANES {
            let before = first - distance;
            least = least.min(own ^ u32x16::from_slice(simd, &offsets[before..before + HALF]));
        }
        least.store_array(nearest);
    }
}

#[cfg(test)]
fn nearest_before_portably(offsets: &[u32; 2 * LANES], nearest: &mut [u32; LANES]) {
    nearest.fill(u32::MAX);
    for distance in 1..LANES {
        for lane in 0..LANES {
            let different = offsets[LANES + lane] ^ offsets[LANES + lane - distance];
            nearest[lane] = nearest[lane].min(different);
        }
    }
}

/// A bit for each of the last 32 keys, set if the key equals one of the 31 before it.
#[inline]
pub(super) fn repeats(keys: &[u64; 2 * LANES]) -> u32 {
    fearless_simd::dispatch!(level(), simd => repeats_in(simd, keys))
}

#[inline(always)]
fn repeats_in<S: fearless_simd::Simd>(simd: S, keys: &[u64; 2 * LANES]) -> u32 {
    use fearless_simd::prelude::*;
    use fearless_simd::{mask64x8, u64x8};
    const WIDE: usize = 8;
    let mut repeats = 0;
    for lane in (0..LANES).step_by(WIDE) {
        let first = LANES + lane;
        let own = u64x8::from_slice(simd, &keys[first..first + WIDE]);
        let mut equal = mask64x8::splat(simd, false);
        for distance in 1..LANES {
            let before = first - distance;
            equal |= own.simd_eq(u64x8::from_slice(simd, &keys[before..before + WIDE]));
        }
        repeats |= (equal.to_bitmask() as u32) << lane;
    }
    repeats
}

#[cfg(test)]
fn repeats_portably(keys: &[u64; 2 * LANES]) -> u32 {
    let mut repeats = 0;
    for distance in 1..LANES {
        for lane in 0..LANES {
            repeats |= u32::from(keys[LANES + lane] == keys[LANES + lane - distance]) << lane;
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn vectors_compare_as_the_portable_loop_does(list in any::<[[u32; LANES]; 2]>()) {
            let offsets: &[u32; 2 * LANES] = list.as_flattened().try_into().unwrap();
            // The initial contents must not matter.
            let (mut portable, mut vectors) = ([0; LANES], [1; LANES]);
            nearest_before_portably(offsets, &mut portable);
            nearest_before(offsets, &mut vectors);
            prop_assert_eq!(vectors, portable);
        }

        #[test]
        fn vectors_find_repeats_as_the_portable_loop_does(
            list in prop_oneof![
                any::<[[u64; LANES]; 2]>(),
                prop::array::uniform2(prop::array::uniform32(0..40u64)),
            ],
        ) {
            let keys: &[u64; 2 * LANES] = list.as_flattened().try_into().unwrap();
            prop_assert_eq!(repeats(keys), repeats_portably(keys));
        }
    }
}
