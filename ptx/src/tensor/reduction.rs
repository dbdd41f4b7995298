//! The minimum and maximum of `tcgen05.ld.red`.
//!
//! # One order for all types
//! Every value becomes a number without sign, its place, in whose order the type's order is: `s32` by
//! inverting the highest bit, `f32` by inverting all bits if the sign is set, and else the sign, so
//! that -0 is below +0 and subnormal numbers keep their place. For a minimum all bits are inverted
//! once more. Then a reduction is one maximum, the same for each type. NaNs have the lowest places; if
//! one has won, all values were NaNs.

use std::fmt;

use super::vectors::{level, load, store};
use crate::syntax::ScalarType;
use crate::syntax::named::named;
use fearless_simd::prelude::*;
use fearless_simd::{dispatch, i32x16, u32x16};
use warpload::lane::{LANES, LaneValues};

named! {
    /// Which of a thread's values is kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Operation: "`min` or `max`" {
        /// The smallest.
        Min = "min",
        /// The largest.
        Max = "max",
    }
}

named! {
    /// How values are compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReductionType: "`u32`, `s32` or `f32`" {
        /// Without sign.
        U32 = "u32",
        /// In two's complement.
        S32 = "s32",
        /// As binary32.
        F32 = "f32",
    }
}

/// The reduction of a `tcgen05.ld.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// Minimum or maximum.
    pub operation: Operation,
    /// How values are compared.
    pub kind: ReductionType,
    /// `.abs`: magnitudes are compared, and a magnitude is the result. Only with `f32`.
    pub absolute: bool,
    /// `.NaN`: one NaN makes the result NaN; without it numbers win. Only with `f32`.
    pub propagates_nan: bool,
}

/// The NaN that results, that of PTX's `min` and `max`.
const CANONICAL_NAN: u32 = 0x7fff_ffff;

const SIGN: u32 = 0x8000_0000;

/// What is added to places of `f32`: NaNs of one sign, which are above all numbers, wrap around to
/// those of the other sign, which are below.
const NANS: u32 = 0x007f_ffff;

/// The place of an infinity, the number that wins against NaNs alone.
const LEAST_NUMBER: u32 = (!0xff80_0000) + NANS;

impl ReductionType {
    /// Returns the type as PTX writes it.
    pub(super) const fn scalar(self) -> ScalarType {
        match self {
            Self::U32 => ScalarType::U32,
            Self::S32 => ScalarType::S32,
            Self::F32 => ScalarType::F32,
        }
    }

    /// Returns the inverse of [`Self::scalar`]; `None` for the types of other loads.
    pub(super) fn of_scalar(scalar: ScalarType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.scalar() == scalar)
    }
}

impl Reduction {
    /// Makes a reduction without `.abs` and `.NaN`.
    #[must_use]
    pub const fn new(operation: Operation, kind: ReductionType) -> Self {
        Self { operation, kind, absolute: false, propagates_nan: false }
    }

    /// Returns the result of each thread over its own data registers, thread 0 first. `rows` are the
    /// registers, each with the values of 32 threads.
    #[must_use]
    pub fn fold(self, rows: &[LaneValues]) -> LaneValues {
        // What is inverted so that the wanted value is the highest.
        let turn = if self.operation == Operation::Min { !0 } else { 0 };
        match self.kind {
            ReductionType::U32 => dispatch!(level(), simd => integers(simd, rows, turn)),
            ReductionType::S32 => dispatch!(level(), simd => integers(simd, rows, turn ^ SIGN)),
            ReductionType::F32 => {
                let (is_absolute, turn) = (self.absolute, turn ^ SIGN);
                if self.propagates_nan {
                    dispatch!(level(), simd => numbers::<true, _>(simd, rows, is_absolute, turn))
                } else {
                    dispatch!(level(), simd => numbers::<false, _>(simd, rows, is_absolute, turn))
                }
            }
        }
    }
}

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

#[inline(always)]
fn numbers<const NAN: bool, S: Simd>(
    simd: S,
    rows: &[LaneValues],
    is_absolute: bool,
    turn: u32,
) -> LaneValues {
    // Without its sign, which is one bit more to turn, a number is its magnitude.
    let turn_if_signed = if is_absolute { SIGN } else { !SIGN };
    let mut best = [u32x16::splat(simd, 0); 2];
    let mut least = [u32x16::splat(simd, u32::MAX); 2];
    for row in rows {
        let [low, high] = load(simd, row);
        let low = (turned(low, turn_if_signed) ^ turn) + NANS;
        let high = (turned(high, turn_if_signed) ^ turn) + NANS;
        best = [best[0].max(low), best[1].max(high)];
        if NAN {
            least = [least[0].min(low), least[1].min(high)];
        }
    }
    let [low, high] = if NAN { least } else { best };
    let values = [
        number_or_nan(simd, low, turned((best[0] - NANS) ^ turn, !SIGN)),
        number_or_nan(simd, high, turned((best[1] - NANS) ^ turn, !SIGN)),
    ];
    let mut results = [0; LANES];
    store(values, &mut results);
    results
}

/// Returns values, or NaN where the place that decides is that of a NaN.
#[inline(always)]
fn number_or_nan<S: Simd>(simd: S, deciding: u32x16<S>, values: u32x16<S>) -> u32x16<S> {
    let nan = u32x16::splat(simd, CANONICAL_NAN);
    deciding.simd_lt(LEAST_NUMBER).select(nan, values)
}

/// Inverts bits of the values whose sign is set.
#[inline(always)]
fn turned<S: Simd>(values: u32x16<S>, bits: u32) -> u32x16<S> {
    let signed: i32x16<S> = values.bitcast();
    let signs: u32x16<S> = (signed >> 31).bitcast();
    values ^ (signs & bits)
}

impl fmt::Display for Reduction {
    /// The qualifiers, the operation first: `.max.abs.f32`.
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
        use Operation::{Max, Min};
        let values = [3, 0xffff_fffe, 0x8000_0000, 0x7fff_ffff];
        let found = |operation, kind| fold(Reduction::new(operation, kind), &values);
        assert_eq!(found(Min, ReductionType::U32), 3);
        assert_eq!(found(Max, ReductionType::U32), 0xffff_fffe);
        assert_eq!(found(Min, ReductionType::S32), 0x8000_0000);
        assert_eq!(found(Max, ReductionType::S32), 0x7fff_ffff);
    }

    #[test]
    fn numbers_zeroes_and_nans() {
        let min = Reduction::new(Operation::Min, ReductionType::F32);
        let max = Reduction::new(Operation::Max, ReductionType::F32);
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
        assert_eq!(fold(magnitude(Operation::Max), &values), f32::to_bits(3.0));
        assert_eq!(fold(magnitude(Operation::Min), &values), f32::to_bits(0.5));
        assert_eq!(fold(magnitude(Operation::Max), &[0x8000_0000]), 0);
    }
}
