//! Sixteen cells at a time: the vectors that the executor is written in.
//!
//! What it calls is `#[inline(always)]` and without closures, or the compiler leaves it out of the
//! code for the processor's instruction set.

use fearless_simd::prelude::*;
use fearless_simd::{Level, u32x16};
use warpload::lane::LaneValues;

/// Two vectors: what all threads have in one register.
pub(super) type RegisterVectors<S> = [u32x16<S>; 2];

/// Returns the instruction set that vectors are of: the processor's best with the feature `simd`, and
/// what the build is for without.
pub(super) fn level() -> Level {
    if cfg!(feature = "simd") { Level::new() } else { Level::baseline() }
}

/// Reads the half of a column that begins at `lane`, 0 or 16.
#[inline(always)]
pub(super) fn half<S: Simd>(simd: S, column: &LaneValues, lane: usize) -> u32x16<S> {
    // Two of 16 are 32.
    u32x16::load_array_ref(simd, &column.as_chunks().0[lane / 16 % 2])
}

/// Reads all lanes.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, row: &LaneValues) -> RegisterVectors<S> {
    [half(simd, row, 0), half(simd, row, 16)]
}

/// Writes all lanes.
#[inline(always)]
pub(super) fn store<S: Simd>([low, high]: RegisterVectors<S>, row: &mut LaneValues) {
    let halves = row.as_chunks_mut().0;
    // Two of 16 are 32.
    low.store_array(&mut halves[0]);
    high.store_array(&mut halves[1]);
}

/// Returns `a[0]`, `b[0]`, `a[1]`, `b[1]` and so on.
#[inline(always)]
pub(super) fn zip<S: Simd>(a: u32x16<S>, b: u32x16<S>) -> RegisterVectors<S> {
    [a.zip_low(b), a.zip_high(b)]
}
