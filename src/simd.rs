//! Loops that are compiled for several instruction sets. Which one runs is chosen when it is called:
//! the best that the processor has with the feature `simd`, and what the build is for without.
//!
//! What depends on the architecture is in this file and its dependency. A loop is an
//! `#[inline(always)]` function without closures, or the compiler leaves it out of the choice.

/// Evaluates a call of an `#[inline(always)]` function with the processor's vectors. The choice takes
/// about as long as a call: one per row of 32 lanes is little, one per lane is too much.
#[cfg(feature = "simd")]
macro_rules! vectorized {
    ($call:expr) => {
        fearless_simd::dispatch!($crate::simd::level(), _simd => $call)
    };
}

#[cfg(not(feature = "simd"))]
macro_rules! vectorized {
    ($call:expr) => {
        $call
    };
}

pub(crate) use vectorized;

/// Returns the processor's instruction set.
#[cfg(feature = "simd")]
#[inline]
pub(crate) fn level() -> fearless_simd::Level {
    static LEVEL: std::sync::LazyLock<fearless_simd::Level> =
        std::sync::LazyLock::new(fearless_simd::Level::new);
    *LEVEL
}

/// Makes what is otherwise made on first use, by one thread while others wait for it. A process that is forked in
/// the middle of that has a child that waits forever.
pub fn initialize() {
    #[cfg(feature = "simd")]
    level();
}

/// Asks the processor to have the bytes around `byte` at hand soon. Has no effect on any result, and
/// none at all on processors other than x86-64.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor faults, whatever the address; its instruction is part of
        // every x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

/// Sets the bit of each byte of `text` that is at most `most`, which is below 128; 64 bytes are one word.
#[cfg(feature = "trace")]
pub(crate) fn bytes_up_to(text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    #[cfg(feature = "simd")]
    fearless_simd::dispatch!(level(), simd => bytes_up_to_in(simd, text, most, bits));
    #[cfg(not(feature = "simd"))]
    bytes_up_to_portably(text, most, bits);
}

#[cfg(all(feature = "simd", feature = "trace"))]
#[inline(always)]
fn bytes_up_to_in<S: fearless_simd::Simd>(simd: S, text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    use fearless_simd::{SimdBase, SimdMask, u8x64};
    let most = u8x64::splat(simd, most);
    for (bytes, bits) in text.iter().zip(bits) {
        *bits = u8x64::from_slice(simd, bytes).simd_le(most).to_bitmask();
    }
}

#[cfg(all(any(not(feature = "simd"), test), feature = "trace"))]
fn bytes_up_to_portably(text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let add = u64::from_ne_bytes([0x7f - most; 8]);
    for (bytes, bits) in text.iter().zip(bits) {
        *bits = 0;
        for (i, word) in bytes.as_chunks().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            // The high bit of each byte that is above.
            let above = ((word & LOW) + add) | word;
            // The multiplication gathers them in the highest byte.
            let gathered = ((!above & !LOW) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *bits |= gathered << (8 * i);
        }
    }
}

#[cfg(all(test, feature = "trace"))]
mod tests {
    use super::*;

    #[test]
    fn the_portable_bits_are_those_of_vectors() {
        let mut text = [[0; 64]; 9];
        for (i, byte) in text.as_flattened_mut().iter_mut().enumerate() {
            *byte = (i * 167 + i / 64) as u8;
        }
        let (mut bits, mut portable) = ([0; 9], [0; 9]);
        for most in [0, b' ', 126, 127] {
            bytes_up_to(&text, most, &mut bits);
            bytes_up_to_portably(&text, most, &mut portable);
            assert_eq!(bits, portable);
            let expected: u32 = text.as_flattened().iter().map(|b| u32::from(*b <= most)).sum();
            assert_eq!(bits.iter().map(|bits| bits.count_ones()).sum::<u32>(), expected);
            assert_eq!(bits[3] & 1, u64::from(text[3][0] <= most));
        }
    }
}
