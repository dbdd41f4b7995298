//! Loops that are compiled for several instruction sets. Which one runs is chosen when it is called:
//! the best that the processor has with the feature `simd`, and what the build is for without.
//!
//! What depends on the architecture is in this file and its dependency. A loop is an
//! `#[inline(always)]` function without closures, or the compiler leaves it out of the choice.

/// Evaluates a call of an `#[inline(always)]` function with the processor's vectors. The choice takes
/// about as long as a call: one per row of 32 lanes is little, one per lane is too much.
#[cfg(feature = "simd")]
#[doc(hidden)]
#[macro_export]
macro_rules! vectorized {
    ($call:expr) => {
        $crate::simd::fearless_simd::dispatch!($crate::simd::level(), _simd => $call)
    };
}

#[cfg(not(feature = "simd"))]
#[doc(hidden)]
#[macro_export]
macro_rules! vectorized {
    ($call:expr) => {
        $call
    };
}

pub use vectorized;

#[cfg(feature = "simd")]
#[doc(hidden)]
pub use fearless_simd;

/// Returns the processor's instruction set.
#[cfg(feature = "simd")]
#[inline]
#[must_use]
pub fn level() -> fearless_simd::Level {
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
pub fn prefetch(byte: &u8) {
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
