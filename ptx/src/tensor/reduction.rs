//! The minimum and maximum of `tcgen05.ld.red`.
//!
//! # Three comparisons for all types
//! Integers are compared unsigned: for `s32` the highest bit is inverted first, and for a minimum all bits are.
//!
//! An `f32` is a sign and a magnitude. Compared as signed integers, positive floats keep their order and negative ones
//! are reversed. So the maximum is the highest positive value or, if there is none, the lowest negative one as an
//! integer. This places -0 below +0 and subnormals where they belong. For a minimum all signs are inverted first. NaNs
//! have larger magnitudes than numbers, so a negative NaN is never the lowest; adding [`NANS`] makes positive ones
//! overflow, so that they are never the highest.

use std::fmt;

use super::execute::{level, load, store};
use crate::syntax::ScalarType;
use crate::syntax::named::named;
use fearless_simd::prelude::*;
use fearless_simd::{dispatch, i32x16, u32x16};
use warpload::lane::{LANES, LaneValues};

named! {
    /// The operation of a reduction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReductionOperation: "`min` or `max`" {
        /// The smallest.
        Min = "min",
        /// The largest.
        Max = "max",
    }
}

named! {
    /// The type that values are compared as.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReductionType: "`u32`, `s32` or `f32`" {
        /// Unsigned.
        U32 = "u32",
        /// Signed, two's complement.
        S32 = "s32",
        /// Binary32.
        F32 = "f32",
    }
}

/// The reduction of a `tcgen05.ld.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// Minimum or maximum.
    pub operation: ReductionOperation,
    /// The type that values are compared as.
    pub kind: ReductionType,
    /// `.abs`: compares magnitudes and returns a magnitude. Only with `f32`.
    pub absolute: bool,
    /// `.NaN`: any NaN makes the result NaN. Without it, numbers win. Only with `f32`.
    pub propagates_nan: bool,
}

/// The resulting NaN, the same as in PTX's `min` and `max`.
const CANONICAL_NAN: u32 = 0x7fff_ffff;

const SIGN: u32 = 0x8000_0000;

/// The bits of infinity, the largest magnitude of a number. NaNs are above.
const INFINITY: i32 = 0x7f80_0000;

/// The bits of negative infinity. As signed integers, negative floats are reversed, so this is the highest negative
/// number.
const NEGATIVE_INFINITY: i32 = INFINITY | i32::MIN;

/// An offset added to all values before the search for the highest. Positive numbers, 0 to infinity, become `NANS` to
/// `i32::MAX`. Everything else, NaNs included, becomes less than `NANS`.
const NANS: u32 = i32::MAX as u32 - INFINITY as u32;

impl ReductionType {
    /// The type in PTX.
    pub(super) const fn scalar(self) -> ScalarType {
        match self {
            Self::U32 => ScalarType::U32,
            Self::S32 => ScalarType::S32,
            Self::F32 => ScalarType::F32,
        }
    }

    /// The inverse of [`Self::scalar`]; `None` for other types.
    pub(super) fn of_scalar(scalar: ScalarType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.scalar() == scalar)
    }
}

impl Reduction {
    /// Makes a reduction without `.abs` and `.NaN`.
    #[must_use]
    pub const fn new(operation: ReductionOperation, kind: ReductionType) -> Self {
        Self { operation, kind, absolute: false, propagates_nan: false }
    }

    /// Returns each thread's result over its own data registers, thread 0 first. `rows` are the registers, each with
    /// the values of 32 threads.
    #[must_use]
    pub fn fold(self, rows: &[LaneValues]) -> LaneValues {
        let is_min = self.operation == ReductionOperation::Min;
        let turn = if is_min { u32::MAX } else { 0 };
        match self.kind {
            ReductionType::U32 => dispatch!(level(), simd => integers(simd, rows, turn)),
            ReductionType::S32 => dispatch!(level(), simd => integers(simd, rows, turn ^ SIGN)),
            ReductionType::F32 => {
                let kept = if self.absolute { !SIGN } else { u32::MAX };
                let sign = if is_min { SIGN } else { 0 };
                if self.propagates_nan {
                    dispatch!(level(), simd => numbers::<true, _>(simd, rows, kept, sign))
                } else {
                    dispatch!(level(), simd => numbers::<false, _>(simd, rows, kept, sign))
                }
            }
        }
    }
}

/// The highest value, compared after inverting the bits of `turn`.
#[inline(always)]
fn integers<S: Simd>(simd: S, rows: &[LaneValues], turn: u32) -> LaneValues {
    let mut best = [u32x16::splat(simd, 0); 2];
    for row in rows {
        let [low, high] = load(simd, row);
        best = [best[0].max(low ^ turn), best[1].max(high ^ turn)];
    }
    let mut results = [0; LANES];
    store([best[0] ^ turn, best[1] ^ turn], &mut results);
    results
}

/// The highest number in the bits `kept`, compared after inverting the bits of `sign`.
#[inline(always)]
fn numbers<const NAN: bool, S: Simd>(
    simd: S,
    rows: &[LaneValues],
    kept: u32,
    sign: u32,
) -> LaneValues {
    let mut highest = [i32x16::splat(simd, i32::MIN); 2];
    let mut lowest = [i32x16::splat(simd, i32::MAX); 2];
    let mut largest = [u32x16::splat(simd, 0); 2];
    for row in rows {
        let [low, high] = load(simd, row);
        let values = [(low & kept) ^ sign, (high & kept) ^ sign];
        let raised = [signed(values[0] + NANS), signed(values[1] + NANS)];
        highest = [highest[0].max(raised[0]), highest[1].max(raised[1])];
        lowest = [lowest[0].min(signed(values[0])), lowest[1].min(signed(values[1]))];
        if NAN {
            largest = [largest[0].max(low & !SIGN), largest[1].max(high & !SIGN)];
        }
    }
    let values = [
        number(simd, highest[0], lowest[0], largest[0], sign),
        number(simd, highest[1], lowest[1], largest[1], sign),
    ];
    let mut results = [0; LANES];
    store(values, &mut results);
    results
}

#[inline(always)]
fn signed<S: Simd>(values: u32x16<S>) -> i32x16<S> {
    values.bitcast()
}

/// The winning number, or NaN.
#[inline(always)]
fn number<S: Simd>(
    simd: S,
    highest: i32x16<S>,
    lowest: i32x16<S>,
    largest: u32x16<S>,
    sign: u32,
) -> u32x16<S> {
    let nan = u32x16::splat(simd, CANONICAL_NAN);
    let positive: u32x16<S> = (highest - NANS as i32).bitcast();
    let negative: u32x16<S> = lowest.bitcast();
    let negative = lowest.simd_le(NEGATIVE_INFINITY).select(negative ^ sign, nan);
    let found = highest.simd_ge(NANS as i32).select(positive ^ sign, negative);
    largest.simd_gt(INFINITY as u32).select(nan, found)
}

impl fmt::Display for Reduction {
    /// Writes the qualifiers, the operation first: `.max.abs.f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modifier = |given, name| if given { name } else { "" };
        write!(
            f,
            ".{}{}{}.{}",
            self.operation,
            modifier(self.absolute, ".abs"),
            modifier(self.propagates_nan, ".NaN"),
            self.kind
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(reduction: Reduction, values: &[u32]) -> u32 {
        let rows: Vec<LaneValues> = values.iter().map(|value| [*value; LANES]).collect();
        reduction.fold(&rows)[17]
    }

    #[test]
    fn integers() {
        use ReductionOperation::{Max, Min};
        let values = [3, 0xffff_fffe, 0x8000_0000, 0x7fff_ffff];
        let found = |operation, kind| fold(Reduction::new(operation, kind), &values);
        assert_eq!(found(Min, ReductionType::U32), 3);
        assert_eq!(found(Max, ReductionType::U32), 0xffff_fffe);
        assert_eq!(found(Min, ReductionType::S32), 0x8000_0000);
        assert_eq!(found(Max, ReductionType::S32), 0x7fff_ffff);
    }

    #[test]
    fn numbers_zeroes_and_nans() {
        let min = Reduction::new(ReductionOperation::Min, ReductionType::F32);
        let max = Reduction::new(ReductionOperation::Max, ReductionType::F32);
        let bits = f32::to_bits;
        assert_eq!(fold(min, &[bits(1.0), bits(-2.5), bits(0.5)]), bits(-2.5));
        assert_eq!(fold(max, &[bits(-1.0), bits(-2.5)]), bits(-1.0));
        assert_eq!(fold(min, &[0, 0x8000_0000]), 0x8000_0000);
        assert_eq!(fold(max, &[0x8000_0000, 0]), 0);
        assert_eq!(fold(max, &[1, 2]), 2, "subnormal numbers");
        // Infinities are numbers.
        assert_eq!(fold(min, &[0x7f80_0000, 0xffc0_0000]), 0x7f80_0000);
        assert_eq!(fold(max, &[0xff80_0000, 0x7f80_0001]), 0xff80_0000);
        assert_eq!(fold(max, &[0xffc0_0000, 0xffff_ffff]), CANONICAL_NAN);
        let strict = |reduction| Reduction { propagates_nan: true, ..reduction };
        assert_eq!(fold(strict(min), &[0xffc0_0000, 0]), CANONICAL_NAN);
        assert_eq!(fold(strict(min), &[bits(3.0), bits(2.0)]), bits(2.0));
    }

    #[test]
    fn magnitudes() {
        let magnitude = |operation| Reduction {
            absolute: true,
            ..Reduction::new(operation, ReductionType::F32)
        };
        let values = [-3.0, 2.0, -0.5_f32].map(f32::to_bits);
        assert_eq!(fold(magnitude(ReductionOperation::Max), &values), f32::to_bits(3.0));
        assert_eq!(fold(magnitude(ReductionOperation::Min), &values), f32::to_bits(0.5));
        assert_eq!(fold(magnitude(ReductionOperation::Max), &[0x8000_0000]), 0);
    }
}
