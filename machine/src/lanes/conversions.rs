//! Conversions between numbers of every width, one by one and packed.

use super::{LaneFunction, LaneOperation};
use crate::float::{self, Direction, Modes};
use crate::scalar::ScalarType as T;

/// Converts a number of up to 64 bits. `is_integral` rounds floats to integers that stay floats. Results of 8 bits are
/// extended to 16, because registers have at least 16 bits.
#[must_use]
pub fn convert(from: T, to: T, modes: Modes, is_integral: bool) -> Option<LaneOperation> {
    let is_known = |scalar| {
        use T::{Bf16, F16, F32, F64, S8, S16, S32, S64, Tf32, U8, U16, U32, U64};
        matches!(
            scalar,
            U8 | S8 | U16 | S16 | U32 | S32 | U64 | S64 | F16 | Bf16 | F32 | F64 | Tf32
        )
    };
    if !is_known(from) || !is_known(to) {
        return None;
    }
    let convert = Conversion { from, to, modes, is_integral };
    let is_between_integers = !to.is_float() && !from.is_float() && !modes.saturate;
    let function = match (from.bits() > 32, to.bits() > 32) {
        (false, false) if is_between_integers => between_integers(from, to),
        (false, true) if is_between_integers && from == T::S16 => {
            each_lane!(map1, |a: u32| a as i16 as u64)
        }
        (false, true) if is_between_integers && from == T::S32 => {
            each_lane!(map1, |a: u32| a as i32 as u64)
        }
        (false, true) if is_between_integers && from == T::U32 => {
            each_lane!(map1, |a: u32| u64::from(a))
        }
        (true, false) if is_between_integers && to.bits() == 32 => {
            each_lane!(map1, |a: u64| a as u32)
        }
        (is_wide, becomes_wide) => {
            frequent(convert).unwrap_or_else(|| match (is_wide, becomes_wide) {
                (false, false) => each_lane!(map1, |a: u32| convert.of_any(a.into()) as u32),
                (false, true) => each_lane!(map1, |a: u32| convert.of_any(a.into())),
                (true, false) => each_lane!(map1, |a: u64| convert.of_any(a) as u32),
                (true, true) => each_lane!(map1, |a: u64| convert.of_any(a)),
            })
        }
    };
    LaneOperation::new(to, &[from], function)
}

/// Extends an integer of 32 bits to 64.
#[must_use]
pub fn extend(is_signed: bool) -> Option<LaneOperation> {
    let (from, to) = if is_signed { (T::S32, T::S64) } else { (T::U32, T::U64) };
    convert(from, to, Modes::default(), false)
}

/// Extends or truncates an integer of up to 32 bits. Results of less than 16 bits are extended to 16.
fn between_integers(from: T, to: T) -> LaneFunction {
    let [(from, is_signed), (to, is_to_signed)] =
        [from, to].map(|t| (32 - t.bits(), t.is_signed()));
    let mask = if to < 16 { u32::MAX } else { 0xffff };
    each_lane!(map1, |a: u32| {
        let high = a << from;
        let value = if is_signed { (high as i32 >> from) as u32 } else { high >> from };
        let high = value << to;
        let value = if is_to_signed { (high as i32 >> to) as u32 } else { high >> to };
        value & mask
    })
}

/// The frequent conversions without modes, each compiled by itself, so that the compiler vectorizes it.
fn frequent(convert: Conversion) -> Option<LaneFunction> {
    let Conversion { from, to, modes, is_integral } = convert;
    let Modes { direction, .. } = modes;
    let is_other = is_integral && to.is_float();
    // `flush` changes nothing: no result is subnormal, or a subnormal source becomes zero anyway.
    let is_normal = !from.is_float() || from == T::F16;
    let becomes_zero = (!to.is_float() || to == T::F16)
        && matches!(direction, Direction::Nearest | Direction::Zero);
    let flush = modes.flush && (is_normal || becomes_zero);
    if is_other || (Modes { direction, flush, ..Modes::default() }) != modes {
        return None;
    }
    macro_rules! rows {
        ($($direction:ident $a:ty => $r:ty: $($from:ident $to:ident),+;)+) => {
            match (direction, from, to) {
                (Direction::Nearest, T::S32, T::F32) => {
                    each_lane!(map1, |a: u32| (a as i32 as f32).to_bits())
                }
                (Direction::Nearest, T::U32, T::F32) => {
                    each_lane!(map1, |a: u32| (a as f32).to_bits())
                }
                $($((Direction::$direction, T::$from, T::$to) => {
                    each_lane!(inline map1, |a: $a| {
                        Conversion::plain(T::$from, T::$to, Direction::$direction).of(a.into()) as $r
                    })
                })+)+
                _ => return None,
            }
        };
    }
    Some(rows! {
        Nearest u32 => u32: F32 F16, F32 Bf16, F32 S32, F32 U32, F16 F32, Bf16 F32, S32 F16,
            S32 Bf16, U32 F16, U32 Bf16, S16 F32, S16 F16, U16 F32, U16 F16, S8 F32, U8 F32;
        Nearest u32 => u64: F32 F64, S32 F64, U32 F64;
        Nearest u64 => u32: F64 F32, S64 F32;
        Nearest u64 => u64: S64 F64;
        Zero u32 => u32: F32 F16, F32 Bf16, F32 S32, F32 U32, F32 S16, F32 U16, F16 S32, F16 U32;
        Zero u32 => u64: F32 S64, F32 U64;
        Zero u64 => u32: F64 S32, F64 U32;
        Zero u64 => u64: F64 S64, F64 U64;
        Away u32 => u32: F32 Tf32;
        Down u32 => u32: F32 S32;
        Up u32 => u32: F32 S32;
    })
}

#[derive(Clone, Copy)]
struct Conversion {
    from: T,
    to: T,
    modes: Modes,
    is_integral: bool,
}

impl Conversion {
    #[inline(always)]
    fn plain(from: T, to: T, direction: Direction) -> Self {
        Self { from, to, modes: Modes { direction, ..Modes::default() }, is_integral: false }
    }

    #[inline(never)]
    fn of_any(self, bits: u64) -> u64 {
        self.of(bits)
    }

    #[inline(always)]
    fn of(self, bits: u64) -> u64 {
        let result = float::convert(bits, self.from, self.to, self.modes, self.is_integral);
        // Results of 8 bits stay extended to 16, as loads leave bytes in registers.
        match self.to.bits() {
            8 | 16 => result & 0xffff,
            32 => result & 0xffff_ffff,
            _ => result,
        }
    }
}

fn is_half(scalar: T) -> bool {
    matches!(scalar, T::F16 | T::Bf16)
}

fn is_narrow(scalar: T) -> bool {
    matches!(scalar, T::E4m3 | T::E5m2 | T::E2m3 | T::E3m2 | T::E2m1)
}

/// Converts two f32, the first one to the upper part, or a packed pair, to a packed pair.
#[must_use]
pub fn convert_pair(from: T, to: T, modes: Modes) -> Option<LaneOperation> {
    let ((part, 2), (source, count)) = (to.parts(), from.parts()) else { return None };
    let is_known = match (source, count) {
        (T::F32, 1) => is_half(part) || is_narrow(part) || part == T::Ue8m0,
        (_, 2) if is_half(source) => is_narrow(part) || part == T::Ue8m0 && source == T::Bf16,
        (T::Ue8m0 | T::S2f6, 2) => part == T::Bf16,
        (_, 2) => is_narrow(source) && is_half(part),
        _ => false,
    };
    if !is_known {
        return None;
    }
    let convert = Conversion { from: source, to: part, modes, is_integral: false };
    let (from_bits, to_bits) = (source.bits(), part.bits());
    if count == 2 {
        let function = each_lane!(map1, |a: u32| {
            let low = u64::from(a & ((1 << from_bits) - 1));
            let high = u64::from(a >> from_bits & ((1 << from_bits) - 1));
            (convert.of_any(high) << to_bits | convert.of_any(low)) as u32
        });
        return LaneOperation::new(to, &[from], function);
    }
    // Without modes, compiled for the types, so that the compiler vectorizes it.
    macro_rules! plain {
        ($to:ident) => {
            each_lane!(inline map2, |a: u32, b: u32| {
                let convert = Conversion::plain(T::F32, T::$to, Direction::Nearest);
                (convert.of(a.into()) << 16 | convert.of(b.into())) as u32
            })
        };
    }
    let function = match part {
        T::F16 if modes.is_plain() => plain!(F16),
        T::Bf16 if modes.is_plain() => plain!(Bf16),
        _ => each_lane!(map2, |a: u32, b: u32| {
            (convert.of_any(a.into()) << to_bits | convert.of_any(b.into())) as u32
        }),
    };
    LaneOperation::new(to, &[T::F32; 2], function)
}

/// Converts a packed pair to bf16, each number multiplied by its own power of two, a byte of the second source. [PTX ISA
/// 9.1, cvt: `.scaled::n2::ue8m0`]
#[must_use]
pub fn convert_scaled_pair(from: T, modes: Modes) -> Option<LaneOperation> {
    let (source, 2) = from.parts() else { return None };
    if !is_narrow(source) && source != T::S2f6 {
        return None;
    }
    let bits = source.bits();
    let function = each_lane!(map2, |a: u32, scales: u32| {
        let part = |place: u32| {
            let value = float::value(a >> (bits * place) & ((1 << bits) - 1), source);
            let scale = float::value(scales >> (8 * place), T::Ue8m0);
            float::round(value * scale, float::BF16, modes)
        };
        part(1) << 16 | part(0)
    });
    LaneOperation::new(T::Bf16x2, &[from, T::B16], function)
}

/// Rounds two f32 to the type `part` by the random bits in the third source. `is_upper`: the upper pair of four.
#[must_use]
pub fn round_randomly(part: T, modes: Modes, is_upper: bool) -> Option<LaneOperation> {
    if !is_half(part) && !is_narrow(part) {
        return None;
    }
    let ((format, _), shift) = (float::format(part)?, part.bits());
    let function = each_lane!(map3, |a: u32, b: u32, random: u32| {
        let (random, width) = random_numbers(part, random, is_upper);
        let one = |bits: u32, random: u32| {
            let value = float::value(bits, T::F32);
            float::round_randomly(value, format, modes, (random, width))
        };
        one(a, random[0]) << shift | one(b, random[1])
    });
    LaneOperation::new(T::B32, &[T::F32, T::F32, T::B32], function)
}

/// The random numbers for the first and the second of two values, and their width. Hardware reads them so: `f16x2` and
/// `bf16x2` have a half of the word each. The pairs of four values share a half, or two bytes for `e2m1x4`, which the
/// first of a pair reads in reverse order of bits. [measured on sm_100; for `e2m3x4` and `e3m2x4` as for `e4m3x4`]
fn random_numbers(to: T, random: u32, is_upper: bool) -> ([u32; 2], u32) {
    let halves = [random >> 16, random & 0xffff];
    let [upper, lower] = halves;
    let shared = |half: u32| ([(half as u16).reverse_bits().into(), half], 16);
    match (to, is_upper) {
        (T::F16, _) => (halves.map(|half| half & 0x1fff), 13),
        (T::Bf16, _) => (halves, 16),
        (T::E2m1, true) => shared((upper & 0xff00) | lower >> 8),
        (T::E2m1, false) => shared((upper & 0xff) << 8 | lower & 0xff),
        (_, true) => shared(upper),
        (_, false) => shared(lower),
    }
}

/// Saturates two s32 to an integer type of up to 16 bits, and joins them, the first one in the upper part, below the low
/// bits of a third source. Integers of 16 bits leave no place for it.
#[must_use]
pub fn saturate_pair(to: T) -> Option<LaneOperation> {
    let bits = to.bits();
    if to.is_float() || bits > 16 || to.parts().1 > 1 {
        return None;
    }
    let (least, most) = float::range(bits, to.is_signed());
    let (least, most) = (least as i32, most as i32);
    let function = each_lane!(map3, |a: u32, b: u32, c: u32| {
        let mask = (1_u32 << bits) - 1;
        let part = |value: u32| (value as i32).clamp(least, most) as u32 & mask;
        c.checked_shl(2 * bits).unwrap_or(0) | part(a) << bits | part(b)
    });
    let sources = [T::S32, T::S32, T::B32];
    LaneOperation::new(T::B32, &sources[..if bits < 16 { 3 } else { 2 }], function)
}
