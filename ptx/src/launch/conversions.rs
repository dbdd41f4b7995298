//! `cvt`: conversions between numbers of every width, one by one and packed.

use super::compile::{FunctionCompiler, NotExecuted};
use super::operations::{self, LaneRule, Request};
use crate::syntax::load::{Keyword, PtxInstruction, Rounding};
use warpload_machine::NumberType as T;
use warpload_machine::code::{Execute, Op};
use warpload_machine::float::{self, Direction, Modes};
use warpload_machine::registers::Registers;

/// The rule of a conversion whose sources are single registers.
pub(super) fn rule(request: &Request<'_>) -> Option<LaneRule> {
    let (to, from) = (*request.types.first()?, *request.types.get(1)?);
    if request.has(Keyword::Pack) {
        return integers_packed(request, to, from);
    }
    if request.types.len() > 2 || to.bits() > 64 || from.bits() > 64 {
        return None;
    }
    if to.parts().1 > 1 {
        return pair(request, to, from);
    }
    if from.parts().1 > 1 {
        return None;
    }
    let modes = modes(request, to, from)?;
    let is_integral = matches!(
        request.rounding(),
        Some(Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
    );
    let one = |execute: Execute| LaneRule::new(Some(execute), to, &[from]);
    let is_between_integers = !to.is_float() && !from.is_float() && !modes.saturate;
    let execute: Execute = match (from.bits() > 32, to.bits() > 32) {
        (false, false) if is_between_integers => between_integers,
        (false, true) if is_between_integers && from == T::S32 => {
            |r, o, e| r.map1(o, e, |a: u32| a as i32 as u64)
        }
        (false, true) if is_between_integers && from == T::U32 => {
            |r, o, e| r.map1(o, e, |a: u32| u64::from(a))
        }
        (true, false) if is_between_integers && to.bits() == 32 => {
            |r, o, e| r.map1(o, e, |a: u64| a as u32)
        }
        (is_wide, becomes_wide) => {
            frequent(from, to, modes, is_integral).unwrap_or(match (is_wide, becomes_wide) {
                (false, false) => |r, o, e| {
                    let convert = Conversion::unpack(o.immediate);
                    r.map1(o, e, |a: u32| convert.of_any(a.into()) as u32);
                },
                (false, true) => |r, o, e| {
                    let convert = Conversion::unpack(o.immediate);
                    r.map1(o, e, |a: u32| convert.of_any(a.into()));
                },
                (true, false) => |r, o, e| {
                    let convert = Conversion::unpack(o.immediate);
                    r.map1(o, e, |a: u64| convert.of_any(a) as u32);
                },
                (true, true) => |r, o, e| {
                    let convert = Conversion::unpack(o.immediate);
                    r.map1(o, e, |a: u64| convert.of_any(a));
                },
            })
        }
    };
    // Signed results of 8 bits are extended to 16, because registers have at least 16 bits.
    let immediate = Conversion { from, to, modes, is_integral }.pack();
    Some(LaneRule { immediate, ..one(execute)? })
}

/// The frequent conversions without modes, each compiled by itself, so that the compiler vectorizes it.
fn frequent(from: T, to: T, modes: Modes, is_integral: bool) -> Option<Execute> {
    let Modes { direction, .. } = modes;
    let is_other = is_integral && to.is_float();
    // `.ftz` changes nothing: no result is subnormal, or a subnormal source becomes zero anyway.
    let is_normal = !from.is_float() || from == T::F16;
    let becomes_zero = (!to.is_float() || to == T::F16)
        && matches!(direction, Direction::Nearest | Direction::Zero);
    let flush = modes.flush && (is_normal || becomes_zero);
    if is_other || (Modes { direction, flush, ..Modes::default() }) != modes {
        return None;
    }
    macro_rules! rows {
        ($($direction:ident $from:ident $a:ty => $r:ty: $($to:ident)+;)+) => {
            match (direction, from, to) {
                (Direction::Nearest, T::S32, T::F32) => {
                    |r, o, e| r.map1(o, e, |a: u32| (a as i32 as f32).to_bits())
                }
                (Direction::Nearest, T::U32, T::F32) => {
                    |r, o, e| r.map1(o, e, |a: u32| (a as f32).to_bits())
                }
                $($((Direction::$direction, T::$from, T::$to) => |r, o, e| {
                    r.map1(o, e, #[inline(always)] |a: $a| {
                        let modes = Modes { direction: Direction::$direction, ..Modes::default() };
                        let (from, to) = (T::$from, T::$to);
                        Conversion { from, to, modes, is_integral: false }.of(a.into()) as $r
                    });
                },)+)+
                _ => return None,
            }
        };
    }
    Some(rows! {
        Nearest F32 u32 => u32: F16 Bf16 S32 U32;
        Nearest F32 u32 => u64: F64;
        Nearest F16 u32 => u32: F32;
        Nearest Bf16 u32 => u32: F32;
        Nearest F64 u64 => u32: F32;
        Nearest S32 u32 => u32: F16 Bf16;
        Nearest S32 u32 => u64: F64;
        Nearest U32 u32 => u32: F16 Bf16;
        Nearest U32 u32 => u64: F64;
        Nearest S16 u32 => u32: F32 F16;
        Nearest U16 u32 => u32: F32 F16;
        Nearest S8 u32 => u32: F32;
        Nearest U8 u32 => u32: F32;
        Nearest S64 u64 => u32: F32;
        Nearest S64 u64 => u64: F64;
        Zero F32 u32 => u32: F16 Bf16 S32 U32 S16 U16;
        Zero F32 u32 => u64: S64 U64;
        Zero F16 u32 => u32: S32 U32;
        Zero F64 u64 => u32: S32 U32;
        Zero F64 u64 => u64: S64 U64;
        Away F32 u32 => u32: Tf32;
        Down F32 u32 => u32: S32;
        Up F32 u32 => u32: S32;
    })
}

/// Extends or truncates an integer of up to 32 bits. Results of less than 16 bits are extended to 16.
fn between_integers(r: &mut Registers, op: &Op, exec: u32) {
    let Conversion { from, to, .. } = Conversion::unpack(op.immediate);
    let [(from, is_signed), (to, is_to_signed)] =
        [from, to].map(|t| (32 - t.bits(), t.is_signed()));
    let mask = if to < 16 { u32::MAX } else { 0xffff };
    r.map1(op, exec, |a: u32| {
        let high = a << from;
        let value = if is_signed { (high as i32 >> from) as u32 } else { high >> from };
        let high = value << to;
        let value = if is_to_signed { (high as i32 >> to) as u32 } else { high >> to };
        value & mask
    });
}

/// A conversion, packed into the immediate of an operation.
#[derive(Clone, Copy)]
struct Conversion {
    from: T,
    to: T,
    modes: Modes,
    is_integral: bool,
}

impl Conversion {
    fn pack(self) -> u32 {
        let types = (self.from as u32) << 8 | (self.to as u32) << 16;
        self.modes.pack() | u32::from(self.is_integral) << 7 | types
    }

    #[inline(always)]
    fn unpack(bits: u32) -> Self {
        let scalar = |bits: u32| T::of_number(bits & 0xff);
        Self {
            from: scalar(bits >> 8),
            to: scalar(bits >> 16),
            modes: Modes::unpack(bits),
            is_integral: bits & 0x80 != 0,
        }
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

/// The modes that a conversion honours. Other qualifiers stay unread, and refuse the instruction.
fn modes(request: &Request<'_>, to: T, from: T) -> Option<Modes> {
    let is_between = |scalar: T| {
        use T::{Bf16, F16, F32, F64, S8, S16, S32, S64, Tf32, U8, U16, U32, U64};
        matches!(
            scalar,
            U8 | S8 | U16 | S16 | U32 | S32 | U64 | S64 | F16 | Bf16 | F32 | F64 | Tf32
        )
    };
    if !is_between(to) || !is_between(from) {
        return None;
    }
    let is_narrowed = matches!(to, T::F16 | T::Bf16 | T::Tf32);
    Some(Modes {
        direction: operations::direction(request.rounding())?,
        flush: (to == T::F32 || from == T::F32) && request.has(Keyword::Ftz),
        saturate: to != T::Tf32 && request.has(Keyword::Sat),
        relu: is_narrowed && request.has(Keyword::Relu),
        finite: is_narrowed && request.has(Keyword::Satfinite),
    })
}

/// A conversion to two packed numbers: from two f32, with the first in the upper half, or from a packed pair.
fn pair(request: &Request<'_>, to: T, from: T) -> Option<LaneRule> {
    let ((part, 2), (source, count)) = (to.parts(), from.parts()) else { return None };
    let is_wide = |scalar: T| matches!(scalar, T::F16 | T::Bf16);
    let is_narrow = |scalar: T| matches!(scalar, T::E4m3 | T::E5m2 | T::E2m3 | T::E3m2 | T::E2m1);
    let is_known = match (source, count) {
        (T::F32, 1) => is_wide(part) || is_narrow(part) || part == T::Ue8m0,
        (_, 2) if is_wide(source) => is_narrow(part) || part == T::Ue8m0 && source == T::Bf16,
        (T::Ue8m0 | T::S2f6, 2) => part == T::Bf16,
        (_, 2) => is_narrow(source) && is_wide(part),
        _ => false,
    };
    if !is_known {
        return None;
    }
    let rounding = request.rounding();
    let is_random = rounding == Some(Rounding::Rs);
    if is_random && !(count == 1 && is_wide(part)) {
        return None;
    }
    let direction = if is_random { Direction::Nearest } else { operations::direction(rounding)? };
    let modes = Modes {
        direction,
        relu: part != T::Ue8m0 && request.has(Keyword::Relu),
        finite: request.has(Keyword::Satfinite),
        ..Modes::default()
    };
    let immediate = Conversion { from: source, to: part, modes, is_integral: false }.pack();
    let is_scaled = part == T::Bf16
        && (is_narrow(source) || source == T::S2f6)
        && request.has(Keyword::ScaledN2Ue8m0);
    let (execute, sources): (Execute, &[T]) = match (count, is_random, is_scaled) {
        (1, true, _) => (random_pair, &[T::F32, T::F32, T::B32]),
        (1, ..) => (two, &[T::F32, T::F32]),
        (_, _, true) => (scaled_pair, &[from, T::B16]),
        _ => (packed_pair, &[from]),
    };
    Some(LaneRule { immediate, ..LaneRule::new(Some(execute), to, sources)? })
}

fn two(r: &mut Registers, op: &Op, exec: u32) {
    let convert = Conversion::unpack(op.immediate);
    // Without modes, compiled for the types, so that the compiler vectorizes it.
    macro_rules! plain {
        ($to:ident) => {
            r.map2(
                op,
                exec,
                #[inline(always)]
                |a: u32, b: u32| {
                    let (from, to, modes) = (T::F32, T::$to, Modes::default());
                    let convert = Conversion { from, to, modes, is_integral: false };
                    (convert.of(a.into()) << 16 | convert.of(b.into())) as u32
                },
            )
        };
    }
    match convert.to {
        T::F16 if convert.modes.is_plain() => plain!(F16),
        T::Bf16 if convert.modes.is_plain() => plain!(Bf16),
        to => r.map2(op, exec, |a: u32, b: u32| {
            (convert.of_any(a.into()) << to.bits() | convert.of_any(b.into())) as u32
        }),
    }
}

fn packed_pair(r: &mut Registers, op: &Op, exec: u32) {
    let convert = Conversion::unpack(op.immediate);
    let (from, to) = (convert.from.bits(), convert.to.bits());
    r.map1(op, exec, |a: u32| {
        let low = u64::from(a & ((1 << from) - 1));
        let high = u64::from(a >> from & ((1 << from) - 1));
        (convert.of_any(high) << to | convert.of_any(low)) as u32
    });
}

/// `.scaled::n2::ue8m0`: each number is multiplied by its own power of two. [PTX ISA 9.1, cvt]
fn scaled_pair(r: &mut Registers, op: &Op, exec: u32) {
    let convert = Conversion::unpack(op.immediate);
    let from = convert.from.bits();
    r.map2(op, exec, |a: u32, scales: u32| {
        let part = |place: u32| {
            let value = float::value(a >> (from * place) & ((1 << from) - 1), convert.from);
            let scale = float::value(scales >> (8 * place), T::Ue8m0);
            float::round(value * scale, float::BF16, convert.modes)
        };
        part(1) << 16 | part(0)
    });
}

/// The random numbers for the first and the second of two values, and their width. Hardware reads them so: `f16x2` and
/// `bf16x2` have a half of the word each. The pairs of four values share a half, or two bytes for `e2m1x4`, which the
/// first of a pair reads in reverse order of bits. [measured on sm_100; for `e2m3x4` and `e3m2x4` as for `e4m3x4`]
fn random_numbers(to: T, random: u32, is_upper: bool) -> ([u32; 2], u32) {
    let halves = [random >> 16, random & 0xffff];
    let [upper, lower] = halves;
    match (to, is_upper) {
        (T::F16, _) => (halves.map(|half| half & 0x1fff), 13),
        (T::Bf16, _) => (halves, 16),
        (T::E2m1, true) => shared((upper & 0xff00) | lower >> 8),
        (T::E2m1, false) => shared((upper & 0xff) << 8 | lower & 0xff),
        (_, true) => shared(upper),
        (_, false) => shared(lower),
    }
}

fn shared(half: u32) -> ([u32; 2], u32) {
    ([(half as u16).reverse_bits().into(), half], 16)
}

/// The flag of [`random_pair`] for the first pair of four.
const UPPER: u32 = 1 << 24;

/// Rounds two f32 by random bits.
fn random_pair(r: &mut Registers, op: &Op, exec: u32) {
    let convert = Conversion::unpack(op.immediate);
    let is_upper = op.immediate & UPPER != 0;
    let shift = convert.to.bits();
    let Some((format, _)) = float::format(convert.to) else { return };
    r.map3(op, exec, |a: u32, b: u32, random: u32| {
        let (random, width) = random_numbers(convert.to, random, is_upper);
        let one = |bits: u32, random: u32| {
            let value = float::value(bits, T::F32);
            float::round_randomly(value, format, convert.modes, (random, width))
        };
        one(a, random[0]) << shift | one(b, random[1])
    });
}

/// Emits a conversion of four f32 with stochastic rounding: two pairs, and their combination.
pub(super) fn emit_four<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
) -> Result<(), NotExecuted> {
    let [to, T::F32] = *request.types else { return Err(NotExecuted) };
    let (part, 4) = to.parts() else { return Err(NotExecuted) };
    let is_known = request.rounding() == Some(Rounding::Rs) && request.has(Keyword::Satfinite);
    let modes = Modes { relu: request.has(Keyword::Relu), finite: true, ..Modes::default() };
    let [_, values, random] = of.operands else { return Err(NotExecuted) };
    if !is_known || !request.is_read() {
        return Err(NotExecuted);
    }
    let values = compiler.elements(of, values, T::F32)?;
    let [Some(a), Some(b), Some(c), Some(d)] = values[..] else { return Err(NotExecuted) };
    let random = compiler.source(of, random, T::B32)?;
    let immediate = Conversion { from: T::F32, to: part, modes, is_integral: false }.pack();
    let (upper, lower) = (compiler.new_rows(1), compiler.new_rows(1));
    let first = compiler.emit_lanes(random_pair, upper, &[a.slot, b.slot, random]);
    first.immediate = immediate | UPPER;
    compiler.emit_lanes(random_pair, lower, &[c.slot, d.slot, random]).immediate = immediate;
    let width = 2 * part.bits();
    compiler.write_first(of, operations::pack(width), to, &[lower, upper], width)
}

/// `cvt.pack.sat`: two saturated integers, below the bits of a third source if the integers are short.
fn integers_packed(request: &Request<'_>, to: T, from: T) -> Option<LaneRule> {
    let is_short = to.bits() < 16;
    let is_integer = !to.is_float() && to.bits() <= 16 && to.parts().1 == 1;
    let expected: &[T] = if is_short { &[to, from, T::B32] } else { &[to, from] };
    if from != T::S32 || !is_integer || request.types != expected || !request.has(Keyword::Sat) {
        return None;
    }
    let execute: Execute = |r, o, e| {
        let to = T::of_number(o.immediate);
        let bits = to.bits();
        let (least, most) = match to.is_signed() {
            true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        };
        r.map3(o, e, |a: u32, b: u32, c: u32| {
            let mask = (1_u32 << bits) - 1;
            let part = |value: u32| (value as i32).clamp(least, most) as u32 & mask;
            c.checked_shl(2 * bits).unwrap_or(0) | part(a) << bits | part(b)
        });
    };
    let sources = [T::S32, T::S32, T::B32];
    let rule = LaneRule::new(Some(execute), T::B32, &sources[..2 + usize::from(is_short)])?;
    Some(LaneRule { immediate: to as u32, ..rule })
}
