//! Operations on integers, on bits, and on two or four integers in one register.

use super::{LaneFunction, LaneOperation};
use crate::code::Op;
use crate::registers::{CARRY, Lane, NONE, Registers};
use crate::scalar::ScalarType as T;
use warpload::lane::LANES;

/// A function of sources with 16, 32 or 64 bits. Narrow results are zero-extended, because every register takes whole
/// rows. A source behind a semicolon, the amount of a shift, has 32 bits.
macro_rules! by_width {
    ($map:ident, $bits:expr, $narrow:ty, $word:ty, $wide:ty,
        |$($x:ident),+ $(; $n:ident)?| $result:expr) => {
        match $bits {
            16 => Some(each_lane!($map, |$($x: u32),+ $(, $n: u32)?| {
                $(let $x = $x as $narrow;)+
                ($result) as u16 as u32
            })),
            32 => Some(each_lane!($map, |$($x: u32),+ $(, $n: u32)?| {
                $(let $x = $x as $word;)+
                ($result) as u32
            })),
            64 => Some(each_lane!($map, |$($x: u64),+ $(, $n: u32)?| {
                $(let $x = $x as $wide;)+
                ($result) as u64
            })),
            _ => None,
        }
    };
}

/// [`by_width!`] for signed integers.
macro_rules! signed {
    ($map:ident, $scalar:expr, $($function:tt)+) => {
        by_width!($map, $scalar.bits(), i16, i32, i64, $($function)+)
    };
}

/// [`by_width!`] for unsigned integers and bits.
macro_rules! unsigned {
    ($map:ident, $scalar:expr, $($function:tt)+) => {
        by_width!($map, $scalar.bits(), u16, u32, u64, $($function)+)
    };
}

/// [`by_width!`] for signed or unsigned integers.
macro_rules! by_sign {
    ($map:ident, $scalar:expr, $($function:tt)+) => {
        if $scalar.is_signed() {
            signed!($map, $scalar, $($function)+)
        } else {
            unsigned!($map, $scalar, $($function)+)
        }
    };
}

/// A function for words of 32 or 64 bits. In it, `$t` is the type of the first source.
macro_rules! by_word {
    ($map:ident, $scalar:expr, $t:ident, |$($x:ident: $of:ty),+| $result:expr) => {
        match $scalar.bits() {
            32 => { type $t = u32; each_lane!($map, |$($x: $of),+| $result) }
            64 => { type $t = u64; each_lane!($map, |$($x: $of),+| $result) }
            _ => return None,
        }
    };
}

/// An operation with one type for its result and its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerOp {
    /// `a + b`, modulo the width.
    Add,
    /// `a - b`, modulo the width.
    Sub,
    /// `a + b`, clamped to the range of the type.
    SaturatingAdd,
    /// `a - b`, clamped to the range of the type.
    SaturatingSub,
    /// All ones for a division by zero.
    Div,
    /// The dividend for a division by zero.
    Rem,
    /// The magnitude of a signed number.
    Abs,
    /// `-a`, modulo the width.
    Neg,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The minimum of signed numbers, or 0 if it is negative.
    ReluMin,
    /// The maximum of signed numbers, or 0 if it is negative.
    ReluMax,
    /// The sum of the third source and the distance of the others.
    AddDistance,
    /// The bits in reverse order.
    ReverseBits,
}

/// An operation on integers of 16, 32 or 64 bits, or on packed ones of 8 or 16 bits.
#[must_use]
pub fn integer(op: IntegerOp, scalar: T) -> Option<LaneOperation> {
    use IntegerOp as I;
    if matches!(scalar, T::U16x2 | T::S16x2 | T::U8x4 | T::S8x4) {
        return packed_integer(op, scalar);
    }
    let (count, function) = match op {
        I::Add => (2, unsigned!(map2, scalar, |a, b| a.wrapping_add(b))),
        I::Sub => (2, unsigned!(map2, scalar, |a, b| a.wrapping_sub(b))),
        I::SaturatingAdd => (2, by_sign!(map2, scalar, |a, b| a.saturating_add(b))),
        I::SaturatingSub => (2, by_sign!(map2, scalar, |a, b| a.saturating_sub(b))),
        I::Div if scalar == T::S32 => {
            let quotient = each_lane!(map2, |a: u32, b: u32| {
                quotient((a as i32).into(), (b as i32).into())
            });
            (2, Some(quotient))
        }
        I::Div if scalar == T::U32 => {
            (2, Some(each_lane!(map2, |a: u32, b: u32| quotient(a.into(), b.into()))))
        }
        I::Div => (2, by_sign!(map2, scalar, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) })),
        I::Rem => (2, by_sign!(map2, scalar, |a, b| if b == 0 { a } else { a.wrapping_rem(b) })),
        I::Abs => (1, signed!(map1, scalar, |a| a.wrapping_abs())),
        I::Neg => (1, signed!(map1, scalar, |a| a.wrapping_neg())),
        I::Min => (2, by_sign!(map2, scalar, |a, b| a.min(b))),
        I::Max => (2, by_sign!(map2, scalar, |a, b| a.max(b))),
        I::ReluMin => (2, signed!(map2, scalar, |a, b| a.min(b).max(0))),
        I::ReluMax => (2, signed!(map2, scalar, |a, b| a.max(b).max(0))),
        I::AddDistance => (
            3,
            by_sign!(map3, scalar, |a, b, c| {
                c.wrapping_add(if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) })
            }),
        ),
        I::ReverseBits => (1, unsigned!(map1, scalar, |a| a.reverse_bits())),
    };
    LaneOperation::uniform(scalar, count, function?)
}

/// The quotient of two integers of 32 bits, computed in f64, because processors divide vectors of floats, but not of
/// integers. It is exact: the distance of any other quotient from the next integer is larger than the error of an f64.
#[inline(always)]
fn quotient(a: f64, b: f64) -> u32 {
    /// A sum with this has an integer in its low half.
    const INTEGERS: f64 = (3_u64 << 51) as f64;
    let bits = ((a / b).trunc() + INTEGERS).to_bits() as u32;
    if b == 0.0 { u32::MAX } else { bits }
}

fn packed_integer(op: IntegerOp, scalar: T) -> Option<LaneOperation> {
    use IntegerOp as I;
    macro_rules! parts {
        ($map:ident, $part:ty, (|$($x:ident),+| $result:expr)) => {
            each_lane!($map, |$($x: u32),+| {
                let mask = u32::MAX >> (32 - <$part>::BITS);
                let (mut packed, mut shift) = (0, 0);
                while shift < 32 {
                    let part = { $(let $x = ($x >> shift) as $part;)+ $result };
                    packed |= (part as u32 & mask) << shift;
                    shift += <$part>::BITS;
                }
                packed
            })
        };
    }
    macro_rules! of {
        (any, $function:tt) => {
            of!(u16 U16x2 i16 S16x2 u8 U8x4 i8 S8x4, $function)
        };
        ($($part:ident $scalar:ident)+, $function:tt) => {
            match scalar {
                $(T::$scalar => parts!(map2, $part, $function),)+
                #[allow(unreachable_patterns, reason = "rows for all types")]
                _ => return None,
            }
        };
    }
    let function = match op {
        I::Add => of!(any, (|a, b| a.wrapping_add(b))),
        I::SaturatingAdd => of!(any, (|a, b| a.saturating_add(b))),
        I::Sub => of!(u8 U8x4 i8 S8x4, (|a, b| a.wrapping_sub(b))),
        I::SaturatingSub => of!(u8 U8x4 i8 S8x4, (|a, b| a.saturating_sub(b))),
        I::Min => of!(any, (|a, b| a.min(b))),
        I::Max => of!(any, (|a, b| a.max(b))),
        I::ReluMin => of!(i16 S16x2 i8 S8x4, (|a, b| a.min(b).max(0))),
        I::ReluMax => of!(i16 S16x2 i8 S8x4, (|a, b| a.max(b).max(0))),
        I::Neg if scalar == T::S8x4 => parts!(map1, i8, (|a| a.wrapping_neg())),
        _ => return None,
    };
    LaneOperation::uniform(scalar, if op == I::Neg { 1 } else { 2 }, function)
}

/// A bitwise operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitwise {
    /// `a & b`.
    And,
    /// `a | b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// `!a`.
    Not,
    /// 1 if no bit is set, otherwise 0. Not of predicates.
    IsZero,
}

/// A bitwise operation on predicates, or on any type of 16, 32 or 64 bits.
#[must_use]
pub fn bitwise(op: Bitwise, scalar: T) -> Option<LaneOperation> {
    let function = match op {
        _ if scalar == T::Pred => predicates(op),
        Bitwise::And => unsigned!(decide2, scalar, |a, b| a & b),
        Bitwise::Or => unsigned!(decide2, scalar, |a, b| a | b),
        Bitwise::Xor => unsigned!(map2, scalar, |a, b| a ^ b),
        Bitwise::Not => unsigned!(map1, scalar, |a| !a),
        Bitwise::IsZero => unsigned!(map1, scalar, |a| a == 0),
    };
    let count = if matches!(op, Bitwise::Not | Bitwise::IsZero) { 1 } else { 2 };
    LaneOperation::uniform(scalar, count, function?)
}

/// A predicate is one bit for each lane, so all lanes are computed at once.
fn predicates(op: Bitwise) -> Option<LaneFunction> {
    fn put(r: &mut Registers, op: &Op, exec: u32, f: impl Fn(u32, u32) -> u32) {
        let lanes = f(r.predicate(op.a), r.predicate(op.b));
        r.put_predicate(op.d, lanes, &[op.a, op.b], exec);
    }
    Some(match op {
        Bitwise::And => LaneFunction::new(|r, o, e| {
            let is_false = |slot| !r.predicate(slot) & !r.unknown(slot);
            let decided = is_false(o.a) | is_false(o.b);
            put(r, o, e, |a, b| a & b);
            r.decide(o.d, 0, decided & e);
        }),
        Bitwise::Or => LaneFunction::new(|r, o, e| {
            let is_true = |slot| r.predicate(slot) & !r.unknown(slot);
            let decided = is_true(o.a) | is_true(o.b);
            put(r, o, e, |a, b| a | b);
            r.decide(o.d, u32::MAX, decided & e);
        }),
        Bitwise::Xor => LaneFunction::new(|r, o, e| put(r, o, e, |a, b| a ^ b)),
        Bitwise::Not => LaneFunction::new(|r, o, e| put(r, o, e, |a, _| !a)),
        Bitwise::IsZero => return None,
    })
}

/// A bitwise function of three words, given by its table: bit `4a + 2b + c` is the result for the bits `a`, `b`, `c`.
#[must_use]
pub fn bitwise_by_table(table: u32) -> Option<LaneOperation> {
    let function = each_lane!(inline decide3, |a: u32, b: u32, c: u32| {
        let mut result = 0;
        for term in 0..8 {
            let chosen = (if term & 4 != 0 { a } else { !a })
                & (if term & 2 != 0 { b } else { !b })
                & (if term & 1 != 0 { c } else { !c });
            result |= if table >> term & 1 != 0 { chosen } else { 0 };
        }
        result
    });
    LaneOperation::uniform(T::B32, 3, function)
}

/// The direction of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Toward the highest bit.
    Left,
    /// Toward the lowest bit. Copies the sign of signed types.
    Right,
}

/// Shifts a number of 16, 32 or 64 bits by the second source. All bits leave if it is the width or more.
#[must_use]
pub fn shift(shift: Shift, scalar: T) -> Option<LaneOperation> {
    let function = match shift {
        Shift::Left => unsigned!(map2, scalar, |a; n| a.unbounded_shl(n)),
        Shift::Right => by_sign!(map2, scalar, |a; n| a.unbounded_shr(n)),
    };
    LaneOperation::new(scalar, &[scalar, T::U32], function?)
}

/// Shifts two words, low one first, as one number of 64 bits. A left shift takes the high word of the result, a right
/// shift the low one. The amount is taken modulo 32 if it `wraps`, otherwise it is at most 32.
#[must_use]
pub fn funnel_shift(shift: Shift, wraps: bool) -> Option<LaneOperation> {
    macro_rules! funnel {
        (|$both:ident, $n:ident| $result:expr) => {
            match wraps {
                true => funnel!(@ $n & 31; |$both, $n| $result),
                false => funnel!(@ $n.min(32); |$both, $n| $result),
            }
        };
        (@ $amount:expr; |$both:ident, $n:ident| $result:expr) => {
            each_lane!(map3, |low: u32, high: u32, $n: u32| {
                let ($both, $n) = (u64::from(high) << 32 | u64::from(low), $amount);
                ($result) as u32
            })
        };
    }
    let function = match shift {
        Shift::Left => funnel!(|both, n| (both << n) >> 32),
        Shift::Right => funnel!(|both, n| both >> n),
    };
    LaneOperation::uniform(T::B32, 3, function)
}

/// The number of set bits, of 32 or 64.
#[must_use]
pub fn count_ones(scalar: T) -> Option<LaneOperation> {
    let function = by_word!(map1, scalar, Word, |a: Word| a.count_ones());
    LaneOperation::new(T::U32, &[scalar], function)
}

/// The number of clear bits above the highest set one, of 32 or 64.
#[must_use]
pub fn leading_zeros(scalar: T) -> Option<LaneOperation> {
    let function = by_word!(map1, scalar, Word, |a: Word| a.leading_zeros());
    LaneOperation::new(T::U32, &[scalar], function)
}

/// The position of the highest bit that differs from the sign; all ones if there is none. `is_shift`: the shift that
/// brings this bit to the top instead.
#[must_use]
pub fn find_highest(scalar: T, is_shift: bool) -> Option<LaneOperation> {
    let is_signed = scalar.is_signed();
    let function = by_word!(map1, scalar, Word, |a: Word| {
        let is_negative = is_signed && a >> (Word::BITS - 1) != 0;
        let zeros = (if is_negative { !a } else { a }).leading_zeros();
        match Word::BITS - zeros {
            0 => u32::MAX,
            _ if is_shift => zeros,
            bits => bits - 1,
        }
    });
    LaneOperation::new(T::U32, &[scalar], function)
}

/// The position of the set bit of the first source that is as many set bits away from the second source, a position, as
/// the third source says; all ones if there is none.
#[must_use]
pub fn find_nth_set() -> Option<LaneOperation> {
    fn find(mask: u32, base: u32, offset: i32) -> u32 {
        let is_set = |place: &u32| mask >> place & 1 != 0;
        let (base, count) = (base & 31, offset.unsigned_abs() as usize);
        let found = match offset {
            0 => Some(base).filter(is_set),
            1.. => (base..32).filter(is_set).nth(count - 1),
            _ => (0..=base).rev().filter(is_set).nth(count - 1),
        };
        found.unwrap_or(u32::MAX)
    }
    let function = each_lane!(map3, |mask: u32, base: u32, n: u32| find(mask, base, n as i32));
    LaneOperation::new(T::B32, &[T::B32, T::B32, T::S32], function)
}

/// A field of a number of 32 or 64 bits, extended. The lowest bytes of `position` and `length` count.
#[inline(always)]
fn field(a: u64, position: u32, length: u32, bits: u32, is_signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let last = bits - 1;
    let sign_at = (position + length).wrapping_sub(1).min(last);
    let is_negative = is_signed && length != 0 && a >> sign_at & 1 != 0;
    let fill = if is_negative { u64::MAX } else { 0 };
    let taken = if position > last { 0 } else { length.min(last + 1 - position) };
    let low = if taken == 0 { 0 } else { u64::MAX >> (64 - taken) };
    let field = if taken == 0 { 0 } else { a >> position & low };
    field | fill & !low
}

/// Extracts a field. The second source is its position, the third its length, both in bits.
#[must_use]
pub fn extract_field(scalar: T) -> Option<LaneOperation> {
    macro_rules! extract {
        ($is_signed:literal) => {
            by_word!(map3, scalar, Word, |a: Word, position: u32, length: u32| {
                field(a as u64, position, length, Word::BITS, $is_signed) as Word
            })
        };
    }
    let function = if scalar.is_signed() { extract!(true) } else { extract!(false) };
    LaneOperation::new(scalar, &[scalar, T::U32, T::U32], function)
}

/// Inserts the low bits of the first source into the second one. Position and length are the lowest bytes of the other
/// sources.
#[must_use]
pub fn insert_field(scalar: T) -> Option<LaneOperation> {
    macro_rules! insert {
        ($t:ty) => {
            LaneFunction::new(|r, o, e| {
                let (a, b): (&[$t; LANES], &[$t; LANES]) = (r.get(o.a), r.get(o.b));
                let (positions, lengths): (&[u32; LANES], &[u32; LANES]) = (r.get(o.c), r.get(o.e));
                let out: [$t; LANES] = std::array::from_fn(|lane| {
                    let (position, length) = (positions[lane] & 0xff, lengths[lane] & 0xff);
                    let taken = length.min(<$t>::BITS.saturating_sub(position));
                    let mask = <$t>::MAX.unbounded_shr(<$t>::BITS - taken).unbounded_shl(position);
                    b[lane] & !mask | a[lane].unbounded_shl(position) & mask
                });
                r.put(o.d, &out, e);
                r.derive(o.d, &[o.a, o.b, o.c, o.e], e);
            })
        };
    }
    let function = match scalar.bits() {
        32 => insert!(u32),
        64 => insert!(u64),
        _ => return None,
    };
    LaneOperation::new(scalar, &[scalar, scalar, T::U32, T::U32], function)
}

/// A mask of as many bits as the second source says, from the position in the first source on. Both are taken modulo 32
/// if they `wrap`, otherwise they are at most 32.
#[must_use]
pub fn bit_mask(wraps: bool) -> Option<LaneOperation> {
    let function = match wraps {
        true => each_lane!(map2, |a: u32, b: u32| ((1_u32 << (b & 31)) - 1) << (a & 31)),
        false => each_lane!(map2, |a: u32, b: u32| {
            let high = u64::from(u32::MAX) >> (32 - b.min(32));
            if a > 31 { 0 } else { (high << a) as u32 }
        }),
    };
    LaneOperation::uniform(T::B32, 2, function)
}

/// Extends the low bits of a word, as many as the second source says: modulo 32 if it `wraps`, otherwise at most 32.
#[must_use]
pub fn extend_bits(scalar: T, wraps: bool) -> Option<LaneOperation> {
    let is_signed = scalar.is_signed();
    let function = each_lane!(map2, |a: u32, n: u32| {
        let length = if wraps { n & 31 } else { n.min(32) };
        field(a.into(), 0, length, 32, is_signed) as u32
    });
    LaneOperation::uniform(scalar, 2, function)
}

/// Multiplies the four bytes or two halves (`count`) of a word with bytes of a second word from `first` on, and adds the
/// products to a third word. `are_signed` has a flag for each of the two factors.
#[must_use]
pub fn dot_product(are_signed: [bool; 2], count: u32, first: u32) -> Option<LaneOperation> {
    let [is_a_signed, is_b_signed] = are_signed;
    let part = |value: u32, place: u32, width: u32, is_signed: bool| {
        let high = value << (32 - width * (place + 1));
        match is_signed {
            true => (high as i32 >> (32 - width)) as u32,
            false => high >> (32 - width),
        }
    };
    let function = each_lane!(map3, |a: u32, b: u32, c: u32| {
        (0..count).fold(c, |sum, place| {
            let x = part(a, place, 32 / count, is_a_signed);
            sum.wrapping_add(x.wrapping_mul(part(b, first + place, 8, is_b_signed)))
        })
    });
    LaneOperation::uniform(T::B32, 3, function)
}

/// The part of a product that an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// The low half.
    Low,
    /// The high half.
    High,
    /// All bits, in a type of twice the width.
    Wide,
}

/// Multiplies two integers of 16, 32 or 64 bits; of 16 or 32 for [`Product::Wide`].
#[must_use]
pub fn multiply(product: Product, scalar: T) -> Option<LaneOperation> {
    products(product, scalar, false)
}

/// [`multiply`], and adds a third source of the result's type. Only the high product of S32 `saturates`.
#[must_use]
pub fn multiply_add(product: Product, scalar: T, saturates: bool) -> Option<LaneOperation> {
    match (product, scalar) {
        _ if !saturates => products(product, scalar, true),
        (Product::High, T::S32) => {
            let function = each_lane!(map3, |a: u32, b: u32, c: u32| {
                let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
                (high as i32).saturating_add(c as i32) as u32
            });
            LaneOperation::uniform(scalar, 3, function)
        }
        _ => None,
    }
}

fn products(product: Product, scalar: T, adds: bool) -> Option<LaneOperation> {
    macro_rules! product {
        ($width:ident $two:ident $three:ident, |$a:ident, $b:ident| $result:expr) => {
            match adds {
                true => $width!($three, scalar, |$a, $b, c| ($result).wrapping_add(c as _)),
                false => $width!($two, scalar, |$a, $b| $result),
            }
        };
        (wide $wide:ty, |$a:ident, $b:ident| $result:expr) => {
            Some(match adds {
                true => each_lane!(decide3, |$a: u32, $b: u32, c: $wide| {
                    ($result as $wide).wrapping_add(c)
                }),
                false => each_lane!(decide2, |$a: u32, $b: u32| $result as $wide),
            })
        };
    }
    let (result, function) = match (product, scalar) {
        (Product::Low, _) => (scalar, product!(unsigned decide2 decide3, |a, b| a.wrapping_mul(b))),
        (Product::High, _) if scalar.is_signed() => (
            scalar,
            product!(signed map2 map3, |a, b| {
                (a as i128 * b as i128) >> (8 * size_of_val(&a))
            }),
        ),
        (Product::High, _) => (
            scalar,
            product!(unsigned map2 map3, |a, b| {
                (a as u128 * b as u128) >> (8 * size_of_val(&a))
            }),
        ),
        (_, T::U16) => (T::U32, product!(wide u32, |a, b| a.wrapping_mul(b))),
        (_, T::S16) => {
            (T::S32, product!(wide u32, |a, b| i32::from(a as i16) * i32::from(b as i16)))
        }
        (_, T::U32) => (T::U64, product!(wide u64, |a, b| u64::from(a) * u64::from(b))),
        (_, T::S32) => {
            (T::S64, product!(wide u64, |a, b| i64::from(a as i32) * i64::from(b as i32)))
        }
        _ => return None,
    };
    let count = if adds { 3 } else { 2 };
    LaneOperation::new(result, &[scalar, scalar, result][..count], function?)
}

/// The value of the low 24 bits.
#[inline(always)]
fn low24(value: u32, is_signed: bool) -> i64 {
    if is_signed { ((value << 8) as i32 >> 8).into() } else { (value << 8 >> 8).into() }
}

/// Multiplies the low 24 bits of two words. The result is the low word of the product, or the word from bit 16 on if
/// `is_high`.
#[must_use]
pub fn multiply24(scalar: T, is_high: bool) -> Option<LaneOperation> {
    // The third source is a known zero.
    let sum = multiply_add24(scalar, is_high, false)?;
    LaneOperation::uniform(scalar, 2, sum.function)
}

/// [`multiply24`], and adds a third source. Only signed high words `saturate`.
#[must_use]
pub fn multiply_add24(scalar: T, is_high: bool, saturates: bool) -> Option<LaneOperation> {
    let is_signed = scalar.is_signed();
    let product = move |a, b| low24(a, is_signed) * low24(b, is_signed);
    let function = match (is_high, saturates) {
        (false, _) => {
            each_lane!(map3, |a: u32, b: u32, c: u32| (product(a, b) as u32).wrapping_add(c))
        }
        (true, false) => each_lane!(map3, |a: u32, b: u32, c: u32| {
            ((product(a, b) >> 16) as u32).wrapping_add(c)
        }),
        (true, true) => each_lane!(map3, |a: u32, b: u32, c: u32| {
            ((product(a, b) >> 16) as i32).saturating_add(c as i32) as u32
        }),
    };
    LaneOperation::uniform(scalar, 3, function)
}

/// The terms of a sum with the carry flag. A difference is the sum with the inverted subtrahend, so its carry is the
/// opposite of a borrow. [ptxas folds `sub.cc.u32 0, 1` with `addc.u32 0, 0` to 0]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarrySum {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// The low half of a product, and a third source.
    LowProduct,
    /// The high half of an unsigned product, and a third source.
    HighProduct,
    /// The high half of a signed product, and a third source.
    SignedHighProduct,
}

/// A sum of 32 or 64 bits that reads or writes the carry flag.
#[must_use]
pub fn sum_with_carry(
    sum: CarrySum,
    scalar: T,
    reads: bool,
    writes: bool,
) -> Option<LaneOperation> {
    let flags = [reads, writes];
    let function = match scalar.bits() {
        32 => LaneFunction::new(move |r, o, e| with_carry::<u32>(r, o, e, sum, flags)),
        64 => LaneFunction::new(move |r, o, e| with_carry::<u64>(r, o, e, sum, flags)),
        _ => return None,
    };
    let count = if matches!(sum, CarrySum::Add | CarrySum::Sub) { 2 } else { 3 };
    LaneOperation::uniform(scalar, count, function)
}

fn with_carry<V>(r: &mut Registers, op: &Op, exec: u32, sum: CarrySum, [reads, writes]: [bool; 2])
where
    V: Lane + Default + Into<u128> + TryFrom<u128>,
{
    let bits = 8 * size_of::<V>();
    let mask = u128::MAX >> (128 - bits);
    let carry_in = if reads { r.predicate(CARRY) } else { 0 };
    let mut carry_out = 0;
    let (a, b, c): (&[V; LANES], &[V; LANES], &[V; LANES]) =
        (r.get(op.a), r.get(op.b), r.get(op.c));
    let signed = |value: u128| ((value << (128 - bits)) as i128) >> (128 - bits);
    let out: [V; LANES] = std::array::from_fn(|lane| {
        let (a, b, c): (u128, u128, u128) = (a[lane].into(), b[lane].into(), c[lane].into());
        // Without a carry to read, a difference is a + !b + 1.
        let is_one = if reads { carry_in >> lane & 1 != 0 } else { sum == CarrySum::Sub };
        let (x, y) = match sum {
            CarrySum::Add => (a, b),
            CarrySum::Sub => (a, b ^ mask),
            CarrySum::LowProduct => ((a * b) & mask, c),
            CarrySum::SignedHighProduct => (((signed(a) * signed(b)) >> bits) as u128 & mask, c),
            CarrySum::HighProduct => ((a * b) >> bits, c),
        };
        let result = x + y + u128::from(is_one);
        carry_out |= u32::from(result & !mask != 0) << lane;
        V::try_from(result & mask).unwrap_or_default()
    });
    r.put(op.d, &out, exec);
    let sources = [op.a, op.b, op.c, if reads { CARRY } else { NONE }];
    r.derive(op.d, &sources, exec);
    if writes {
        r.put_predicate(CARRY, carry_out, &sources, exec);
    }
}
