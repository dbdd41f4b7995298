//! Operations that write predicates: comparisons, categories of floats, ranges.

use std::num::FpCategory;
use std::ops::Range;

use super::{LaneFunction, LaneOperation};
use crate::float;
use crate::scalar::ScalarType as T;
use warpload::lane::LANES;

/// A relation of two numbers. The first six are false for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a == b`.
    Equal,
    /// `a != b`, and neither is NaN.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessOrEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterOrEqual,
    /// `a == b`, or one is NaN.
    EqualOrUnordered,
    /// `a != b`, or one is NaN.
    NotEqualOrUnordered,
    /// `a < b`, or one is NaN.
    LessOrUnordered,
    /// `a <= b`, or one is NaN.
    LessOrEqualOrUnordered,
    /// `a > b`, or one is NaN.
    GreaterOrUnordered,
    /// `a >= b`, or one is NaN.
    GreaterOrEqualOrUnordered,
    /// Neither is NaN.
    Ordered,
    /// One of them is NaN.
    Unordered,
}

impl Comparison {
    /// Whether two numbers are in the relation.
    #[inline(always)]
    pub(super) fn holds<V: PartialOrd>(self, a: V, b: V) -> bool {
        let is_unordered = a.partial_cmp(&b).is_none();
        match self {
            Self::Equal => a == b,
            Self::NotEqual => (a != b) & !is_unordered,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
            Self::EqualOrUnordered => (a == b) | is_unordered,
            Self::NotEqualOrUnordered => a != b,
            Self::LessOrUnordered => (a < b) | is_unordered,
            Self::LessOrEqualOrUnordered => (a <= b) | is_unordered,
            Self::GreaterOrUnordered => (a > b) | is_unordered,
            Self::GreaterOrEqualOrUnordered => (a >= b) | is_unordered,
            Self::Ordered => !is_unordered,
            Self::Unordered => is_unordered,
        }
    }
}

/// Compares two numbers of up to 64 bits. Integers have only the first six comparisons. `flush` makes subnormal f32 and
/// f16 zero first.
#[must_use]
pub fn compare(comparison: Comparison, scalar: T, flush: bool) -> Option<LaneOperation> {
    // A closure for each comparison, so that the compiler vectorizes it.
    macro_rules! compared {
        (integer $t:ty, |$x:ident| $value:expr) => {
            compared!(@ $t, |$x| $value;
                Equal NotEqual Less LessOrEqual Greater GreaterOrEqual)
        };
        (float $t:ty, |$x:ident| $value:expr) => {
            compared!(@ $t, |$x| $value;
                Equal NotEqual Less LessOrEqual Greater GreaterOrEqual
                EqualOrUnordered NotEqualOrUnordered LessOrUnordered LessOrEqualOrUnordered
                GreaterOrUnordered GreaterOrEqualOrUnordered Ordered Unordered)
        };
        (@ $t:ty, |$x:ident| $value:expr; $($known:ident)+) => {{
            $(if comparison == Comparison::$known {
                let function = test_lanes!($t, |a, b| {
                    let value = |$x: $t| $value;
                    Comparison::$known.holds(value(a), value(b))
                });
                return LaneOperation::new(T::Pred, &[scalar; 2], function);
            })+
        }};
    }
    match (scalar, flush) {
        (T::F32, false) => compared!(float u32, |x| f32::from_bits(x)),
        (T::F32, true) => compared!(float u32, |x| f32::from_bits(float::flushed(x, T::F32))),
        (T::F64, _) => compared!(float u64, |x| f64::from_bits(x)),
        (T::F16, false) => compared!(float u32, |x| float::value(x, T::F16)),
        (T::F16, true) => {
            compared!(float u32, |x| float::value(float::flushed(x, T::F16), T::F16))
        }
        (T::Bf16, _) => compared!(float u32, |x| float::value(x, T::Bf16)),
        _ => match (scalar.bits(), scalar.is_signed()) {
            (16, true) => compared!(integer u32, |x| x as i16),
            (16 | 32, false) => compared!(integer u32, |x| x),
            (32, true) => compared!(integer u32, |x| x as i32),
            (64, false) => compared!(integer u64, |x| x),
            (64, true) => compared!(integer u64, |x| x as i64),
            _ => {}
        },
    }
    None
}

/// Tests whether an f32 or f64 is in one of the categories.
#[must_use]
pub fn classify(of: &'static [FpCategory], scalar: T) -> Option<LaneOperation> {
    let function = match scalar {
        T::F32 => test_lanes!(u32, |a, _b| of.contains(&f32::from_bits(a).classify())),
        T::F64 => test_lanes!(u64, |a, _b| of.contains(&f64::from_bits(a).classify())),
        _ => return None,
    };
    LaneOperation::new(T::Pred, &[scalar], function)
}

/// Tests whether a number of 64 bits is in one of the ranges, or in none if `is_inside` is false.
#[must_use]
pub fn lies_in(ranges: Vec<Range<u64>>, is_inside: bool) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let values = r.get::<u64>(o.a);
        let is_found =
            |lane: &usize| ranges.iter().any(|range| range.contains(&values[*lane])) == is_inside;
        let lanes = (0..LANES).filter(is_found).fold(0, |lanes, lane| lanes | 1 << lane);
        r.put_predicate(o.d, lanes, &[o.a], e);
    });
    LaneOperation::new(T::Pred, &[T::U64], function)
}
