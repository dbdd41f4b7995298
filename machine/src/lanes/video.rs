//! Arithmetic on bytes, halves and words of registers in numbers of 64 bits, with saturation, a second operation, or a
//! merge.

use super::predicates::Comparison;
use super::{LaneFunction, LaneOperation};
use crate::float;
use crate::scalar::ScalarType as T;

/// The computation of a result from two selected parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// The average, rounded to nearest, ties away from zero.
    Average,
    /// The magnitude of `a - b`.
    Distance,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// `a` shifted to the left by `b`.
    ShiftLeft {
        /// Whether the amount is taken modulo 32; otherwise it is at most 32.
        wraps: bool,
    },
    /// `a` shifted to the right by `b`.
    ShiftRight {
        /// Whether the amount is taken modulo 32; otherwise it is at most 32.
        wraps: bool,
    },
    /// 1 if the comparison holds, otherwise 0.
    Compare(Comparison),
}

/// The second operation of a scalar instruction, with the last source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// No second operation: the last source is not used.
    None,
    /// The sum of the result and the last source, modulo 2^32.
    Add,
    /// The minimum of both.
    Min,
    /// The maximum of both.
    Max,
    /// Writes only a part of the result, and takes the rest from the last source.
    Merge(Part),
}

/// A part of a word: its first bit and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of bits below the part.
    pub shift: u32,
    /// The number of bits of the part.
    pub width: u32,
}

impl Part {
    /// All bits of a word.
    pub const WORD: Self = Self { shift: 0, width: 32 };

    /// The value of the part, extended to 64 bits.
    fn extend(self, word: u32, is_signed: bool) -> i64 {
        let unused = 64 - self.width;
        let high = u64::from(word >> self.shift) << unused;
        if is_signed { high as i64 >> unused } else { (high >> unused) as i64 }
    }

    fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.shift
    }
}

/// A video operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Video {
    /// The first operation.
    pub op: VideoOp,
    /// Whether the result, the first and the second source are signed.
    pub are_signed: [bool; 3],
    /// Whether the result of the first operation is clamped to its width.
    pub saturates: bool,
    /// The second operation.
    pub second: Second,
}

impl Video {
    /// The result of two parts, saturated to a width.
    fn apply(self, a: i64, b: i64, width: u32) -> u32 {
        let (a, b) = (i128::from(a), i128::from(b));
        let amount = |wraps: bool| if wraps { b & 31 } else { b.clamp(0, 32) };
        let value = match self.op {
            VideoOp::Add => a + b,
            VideoOp::Sub => a - b,
            // Half-way averages are rounded away from zero.
            VideoOp::Average if a + b >= 0 => (a + b + 1) >> 1,
            VideoOp::Average => (a + b) >> 1,
            VideoOp::Distance => (a - b).abs(),
            VideoOp::Min => a.min(b),
            VideoOp::Max => a.max(b),
            VideoOp::ShiftLeft { wraps } => a << amount(wraps),
            VideoOp::ShiftRight { wraps } => a >> amount(wraps),
            VideoOp::Compare(comparison) => comparison.holds(a, b).into(),
        };
        if self.saturates { clamp(value, width, self.are_signed[0]) } else { value as u32 }
    }
}

fn clamp(value: i128, width: u32, is_signed: bool) -> u32 {
    let (least, most) = float::range(width, is_signed);
    value.clamp(least, most) as u32
}

/// Extends a part of a word to 64 bits.
#[must_use]
pub fn extend_part(part: Part, is_signed: bool) -> Option<LaneOperation> {
    let function = each_lane!(map1, |a: u32| part.extend(a, is_signed) as u64);
    LaneOperation::new(T::S64, &[T::U32], function)
}

/// A video operation on two parts, which [`extend_part`] has made numbers of 64 bits. The third source, a word, is for
/// the second operation.
#[must_use]
pub fn video(video: Video) -> Option<LaneOperation> {
    let is_signed = video.are_signed[0];
    let function = each_lane!(map3, |a: u64, b: u64, c: u32| {
        let part = if let Second::Merge(part) = video.second { part } else { Part::WORD };
        let value = video.apply(a as i64, b as i64, part.width);
        match (video.second, is_signed) {
            (Second::None, _) => value,
            (Second::Add, _) => value.wrapping_add(c),
            (Second::Min, true) => (value as i32).min(c as i32) as u32,
            (Second::Max, true) => (value as i32).max(c as i32) as u32,
            (Second::Min, false) => value.min(c),
            (Second::Max, false) => value.max(c),
            (Second::Merge(part), _) => (c & !part.mask()) | (value << part.shift & part.mask()),
        }
    });
    LaneOperation::new(T::B32, &[T::S64, T::S64, T::U32], function)
}

/// A video operation on each of two halves or four bytes (`count`) of two words. The third source has the results of
/// the parts without a bit in `mask`; [`Second::Add`] adds the results of the others to it.
#[must_use]
pub fn video_parts(video: Video, count: u32, mask: u32) -> Option<LaneOperation> {
    let width = 32 / count;
    let [_, is_a_signed, is_b_signed] = video.are_signed;
    let function = each_lane!(map3, |a: u32, b: u32, c: u32| {
        let (mut sum, mut merged) = (c, c);
        for place in (0..count).filter(|place| mask >> place & 1 != 0) {
            let part = Part { shift: place * width, width };
            let (x, y) = (part.extend(a, is_a_signed), part.extend(b, is_b_signed));
            let value = video.apply(x, y, width);
            sum = sum.wrapping_add(value);
            merged = (merged & !part.mask()) | (value << part.shift & part.mask());
        }
        if video.second == Second::Add { sum } else { merged }
    });
    LaneOperation::new(T::B32, &[T::U32; 3], function)
}

/// Gathers two halves or four bytes, lowest first, from the parts of two words: the parts of the second word follow those
/// of the first one.
#[must_use]
pub fn gather(places: &[u32]) -> Option<LaneOperation> {
    let width = 32_u32.checked_div(places.len() as u32)?;
    let mut shifts = [0; 4];
    shifts.iter_mut().zip(places).for_each(|(shift, place)| *shift = place * width);
    let (count, mask) = (places.len().min(4), u32::MAX >> (32 - width));
    let function = each_lane!(map2, |a: u32, b: u32| {
        let both = u64::from(b) << 32 | u64::from(a);
        let parts = shifts[..count].iter().rev();
        parts.fold(0, |all: u64, shift| all << width | (both >> shift) & u64::from(mask)) as u32
    });
    LaneOperation::new(T::U32, &[T::U32; 2], function)
}

/// The product of two numbers of 64 bits, and its sum with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoProduct {
    /// Whether the product is negated before the sum.
    pub negates_product: bool,
    /// Whether the word is negated before the sum.
    pub negates_addend: bool,
    /// Adds one more.
    pub adds_one: bool,
    /// Clamps the result to a word.
    pub saturates: bool,
    /// Whether the addend and the result are signed.
    pub is_signed: bool,
    /// The right shift of the sum.
    pub shift: u32,
}

/// Multiplies two parts, which [`extend_part`] has made numbers of 64 bits, and adds a word.
#[must_use]
pub fn multiply_parts(of: VideoProduct) -> Option<LaneOperation> {
    let function = each_lane!(map3, |a: u64, b: u64, c: u32| {
        let product = i128::from(a as i64) * i128::from(b as i64);
        let product = if of.negates_product { -product } else { product };
        // The addend is inverted as a word, and the one that makes it a negation is added after its extension.
        let c = if of.negates_addend { !c } else { c };
        let c = if of.is_signed { i128::from(c as i32) } else { i128::from(c) };
        let result = (product + c + i128::from(of.adds_one || of.negates_addend)) >> of.shift;
        if of.saturates { clamp(result, 32, of.is_signed) } else { result as u32 }
    });
    LaneOperation::new(T::B32, &[T::S64, T::S64, T::U32], function)
}
