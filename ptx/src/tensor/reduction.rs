//! The minimum and maximum of `tcgen05.ld.red`.
//!
//! # One order for all types
//! Every value becomes a number without sign, its place, in whose order the type's order is: `s32` by
//! inverting the highest bit, `f32` by inverting all bits if the sign is set, and else the sign, so
//! that -0 is below +0 and subnormal numbers keep their place. For a minimum all bits are inverted
//! once more. Then a reduction is one maximum, the same for each type. NaNs have the lowest places; if
//! one has won, all values were NaNs.

use std::fmt;

use crate::syntax::ScalarType;
use super::vectors::{level, load, store};
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
const LEAST_NUMBER: u32 = (turned(0xff80_0000) ^ SIGN) + NANS;

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
        match self.kind {
            ReductionType::U32 => self.integers(rows, 0),
            ReductionType::S32 => self.integers(rows, SIGN),
            ReductionType::F32 => self.numbers(rows),
        }
    }

    fn integers(self, rows: &[LaneValues], turn: u32) -> LaneValues {
        let turn = turn ^ self.reversed();
        let order = Order { turned_if_signed: 0, turned: turn, added: 0 };
        let (best, _) = dispatch!(level(), simd => extremes::<false, _>(simd, rows, order));
        best.map(|best| best ^ turn)
    }

    fn numbers(self, rows: &[LaneValues]) -> LaneValues {
        let order = Order {
            // With its sign inverted, a negative number is its magnitude.
            turned_if_signed: if self.absolute { SIGN } else { !SIGN },
            turned: SIGN ^ self.reversed(),
            added: NANS,
        };
        let (best, least) = if self.propagates_nan {
            dispatch!(level(), simd => extremes::<true, _>(simd, rows, order))
        } else {
            dispatch!(level(), simd => extremes::<false, _>(simd, rows, order))
        };
        let deciding = if self.propagates_nan { least } else { best };
        std::array::from_fn(|thread| {
            let number = turned(best[thread].wrapping_sub(NANS) ^ order.turned);
            if deciding[thread] < LEAST_NUMBER { CANONICAL_NAN } else { number }
        })
    }

    /// Returns what turns the order around if the smallest value is wanted.
    const fn reversed(self) -> u32 {
        match self.operation {
            Operation::Min => u32::MAX,
            Operation::Max => 0,
        }
    }
}

/// How values become places.
#[derive(Clone, Copy)]
struct Order {
    /// The bits that are inverted if the highest is set.
    turned_if_signed: u32,
    /// The bits that are inverted.
    turned: u32,
    /// What is added after that.
    added: u32,
}

/// Returns the highest place of each thread and, if `LEAST`, the lowest.
#[inline(always)]
fn extremes<const LEAST: bool, S: Simd>(
    simd: S,
    rows: &[LaneValues],
    order: Order,
) -> (LaneValues, LaneValues) {
    let mut best = [u32x16::splat(simd, 0); 2];
    let mut least = [u32x16::splat(simd, u32::MAX); 2];
    for row in rows {
        let [low, high] = load(simd, row);
        let (low, high) = (places(low, order), places(high, order));
        best = [best[0].max(low), best[1].max(high)];
        if LEAST {
            least = [least[0].min(low), least[1].min(high)];
        }
    }
    let mut found = ([0; LANES], [0; LANES]);
    store(best, &mut found.0);
    store(least, &mut found.1);
    found
}

#[inline(always)]
fn places<S: Simd>(values: u32x16<S>, order: Order) -> u32x16<S> {
    let signed: i32x16<S> = values.bitcast();
    let signs: u32x16<S> = (signed >> 31).bitcast();
    (values ^ (signs & order.turned_if_signed) ^ order.turned) + order.added
}

/// Inverts the bits below the sign if the sign is set; it is its own inverse.
const fn turned(bits: u32) -> u32 {
    bits ^ ((bits as i32 >> 31) as u32 >> 1)
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
