//! The minimum and maximum of `tcgen05.ld.red`.
//!
//! # One order for all types
//! Every value becomes a signed number in whose order the type's order is: `u32` by inverting the
//! highest bit, `f32` by inverting all but the sign if the sign is set, so that -0 is
//! below +0 and subnormal numbers keep their place. Then a reduction is one comparison for each
//! value, the same for each type. NaNs become the number that never wins; if it has won, all values
//! were NaNs.

use std::fmt;

use crate::syntax::ScalarType;
use crate::syntax::named::named;
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
            ReductionType::U32 => self.integers(rows, 0x8000_0000),
            ReductionType::S32 => self.integers(rows, 0),
            ReductionType::F32 if self.propagates_nan => self.numbers::<true>(rows),
            ReductionType::F32 => self.numbers::<false>(rows),
        }
    }

    fn integers(self, rows: &[LaneValues], turn: u32) -> LaneValues {
        let mut best = [self.loser(); LANES];
        for row in rows {
            for (best, value) in best.iter_mut().zip(row) {
                *best = self.better(*best, (value ^ turn) as i32);
            }
        }
        best.map(|best| best as u32 ^ turn)
    }

    fn numbers<const NAN: bool>(self, rows: &[LaneValues]) -> LaneValues {
        let kept = if self.absolute { 0x7fff_ffff } else { u32::MAX };
        let mut best = [self.loser(); LANES];
        let mut has_nan = [false; LANES];
        for row in rows {
            for ((best, has_nan), value) in best.iter_mut().zip(&mut has_nan).zip(row) {
                let is_nan = value & 0x7fff_ffff > 0x7f80_0000;
                *has_nan |= NAN && is_nan;
                let ordered = if is_nan { self.loser() } else { turned(value & kept) as i32 };
                *best = self.better(*best, ordered);
            }
        }
        std::array::from_fn(|thread| {
            let is_nan = best[thread] == self.loser() || NAN && has_nan[thread];
            if is_nan { CANONICAL_NAN } else { turned(best[thread] as u32) }
        })
    }

    /// Returns what every other value wins against. No number of `f32` has this place in the order.
    const fn loser(self) -> i32 {
        match self.operation {
            Operation::Min => i32::MAX,
            Operation::Max => i32::MIN,
        }
    }

    fn better(self, one: i32, other: i32) -> i32 {
        match self.operation {
            Operation::Min => one.min(other),
            Operation::Max => one.max(other),
        }
    }
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
