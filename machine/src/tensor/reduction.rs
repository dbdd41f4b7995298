//! The minimum and maximum of `tcgen05.ld.red`.

use std::cmp::Ordering;
use std::fmt;

use crate::named;
use warpload::lane::LaneValues;

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
        std::array::from_fn(|thread| {
            let values = rows.iter().map(|row| row[thread]);
            match self.kind {
                ReductionType::U32 => self.first(values, u32::cmp),
                ReductionType::S32 => {
                    self.first(values, |one, other| (*one as i32).cmp(&(*other as i32)))
                }
                ReductionType::F32 => self.number(values),
            }
        })
    }

    /// The first number in the order of the operation, or NaN.
    fn number(self, values: impl Iterator<Item = u32> + Clone) -> u32 {
        let is_nan = |value: &u32| f32::from_bits(*value).is_nan();
        if self.propagates_nan && values.clone().any(|value| is_nan(&value)) {
            return CANONICAL_NAN;
        }
        let kept = if self.absolute { !SIGN } else { u32::MAX };
        let numbers = values.filter(|value| !is_nan(value)).map(|value| value & kept);
        // No NaN is left, so this is the order of numbers, in which -0 is below +0.
        let order =
            |one: &u32, other: &u32| f32::from_bits(*one).total_cmp(&f32::from_bits(*other));
        let mut numbers = numbers.peekable();
        if numbers.peek().is_none() {
            return CANONICAL_NAN;
        }
        self.first(numbers, order)
    }

    fn first(
        self,
        values: impl Iterator<Item = u32>,
        order: impl Fn(&u32, &u32) -> Ordering,
    ) -> u32 {
        let found = match self.operation {
            ReductionOperation::Min => values.min_by(order),
            ReductionOperation::Max => values.max_by(order),
        };
        // A load has at least one register.
        found.unwrap_or_default()
    }
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
