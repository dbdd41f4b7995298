//! Loops compiled for several instruction sets. With the feature `simd`, each call selects the best set of the
//! processor; without it, there is only the set that the build targets.
//!
//! Only this file and its dependency depend on the architecture. A loop must be an `#[inline(always)]` function without
//! closures, because the compiler otherwise leaves it out of the selection.

/// Evaluates a call of an `#[inline(always)]` function with the processor's vectors. The selection takes about as long
/// as a call: acceptable once per row of 32 lanes, too much once per lane.
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

/// Initializes the statics that one thread otherwise initializes on first use, while others wait. Call it before a
/// fork, because the child of a process forked in the middle of that would wait forever.
pub fn initialize() {
    #[cfg(feature = "simd")]
    let _ = level();
}

/// Prefetches the bytes around `byte`, on x86-64 only. Changes no result.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor faults, whatever the address, and every x86-64 has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}
