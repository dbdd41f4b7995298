//! Operations that write or read predicates: comparisons, classes of floats, ranges.

use std::num::FpCategory;
use std::ops::Range;

use super::{LaneFunction, LaneOperation};
use crate::machine::float;
use crate::machine::number::NumberType as T;
use warpload::lane::LANES;

/// A relation of two numbers. The first six are false for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    EqualOrUnordered,
    NotEqualOrUnordered,
    LessOrUnordered,
    LessOrEqualOrUnordered,
    GreaterOrUnordered,
    GreaterOrEqualOrUnordered,
    /// Neither is NaN.
    Ordered,
    /// One of them is NaN.
    Unordered,
}

impl Comparison {
    /// Whether integers can be compared so.
    pub(crate) fn is_of_integers(self) -> bool {
        self as u32 <= Self::GreaterOrEqual as u32
    }

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
pub(crate) fn compare(comparison: Comparison, scalar: T, flush: bool) -> Option<LaneOperation> {
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

/// A class of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatClass {
    Finite,
    Infinite,
    /// All but NaN.
    Number,
    Nan,
    /// Finite and not subnormal, zeros included.
    Normal,
    Subnormal,
}

impl FloatClass {
    fn contains(self, category: FpCategory) -> bool {
        match self {
            Self::Finite => !matches!(category, FpCategory::Nan | FpCategory::Infinite),
            Self::Infinite => category == FpCategory::Infinite,
            Self::Number => category != FpCategory::Nan,
            Self::Nan => category == FpCategory::Nan,
            Self::Normal => matches!(category, FpCategory::Normal | FpCategory::Zero),
            Self::Subnormal => category == FpCategory::Subnormal,
        }
    }
}

/// Tests whether an f32 or f64 is in a class.
pub(crate) fn classify(class: FloatClass, scalar: T) -> Option<LaneOperation> {
    let function = match scalar {
        T::F32 => test_lanes!(u32, |a, _b| class.contains(f32::from_bits(a).classify())),
        T::F64 => test_lanes!(u64, |a, _b| class.contains(f64::from_bits(a).classify())),
        _ => return None,
    };
    LaneOperation::new(T::Pred, &[scalar], function)
}

/// Tests whether a number of 64 bits is in one of the ranges, or in none if `is_inside` is false.
pub(crate) fn lies_in(ranges: Vec<Range<u64>>, is_inside: bool) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let values = r.get::<u64>(o.a);
        let is_found =
            |lane: &usize| ranges.iter().any(|range| range.contains(&values[*lane])) == is_inside;
        let lanes = (0..LANES).filter(is_found).fold(0, |lanes, lane| lanes | 1 << lane);
        r.put_predicate(o.d, lanes, &[o.a], e);
    });
    LaneOperation::new(T::Pred, &[T::U64], function)
}

/// Translates a predicate to a number: all ones or 1.0 where it is true, 0 elsewhere.
pub(crate) fn indicate(result: T) -> Option<LaneOperation> {
    let truth = match result {
        T::U32 | T::S32 => u32::MAX,
        T::U16 | T::S16 => 0xffff,
        T::F32 => 1_f32.to_bits(),
        T::F16 => 0x3c00,
        T::Bf16 => 0x3f80,
        _ => return None,
    };
    let function = LaneFunction::new(move |r, o, e| {
        let lanes = r.predicate(o.a);
        let out: [u32; LANES] =
            std::array::from_fn(|lane| if lanes >> lane & 1 != 0 { truth } else { 0 });
        r.put(o.d, &out, e);
        r.derive(o.d, &[o.a], e);
    });
    LaneOperation::new(result, &[T::Pred], function)
}
