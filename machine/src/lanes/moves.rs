//! Copies of registers, of their parts, and of one among several.

use super::{LaneFunction, LaneOperation};
use crate::code::Op;
use crate::float;
use crate::registers::{Lane, Registers};
use crate::scalar::ScalarType as T;
use warpload::lane::LANES;

/// Copies a register of up to 64 bits.
#[must_use]
pub fn copy(scalar: T) -> Option<LaneOperation> {
    let function = match scalar.bits() {
        1 => LaneFunction::new(|r, o, e| {
            let lanes = r.predicate(o.a);
            r.put_predicate(o.d, lanes, &[o.a], e);
        }),
        64 => each_lane!(map1, |a: u64| a),
        128 => return None,
        _ => each_lane!(map1, |a: u32| a),
    };
    LaneOperation::uniform(scalar, 1, function)
}

/// Joins two registers of 8, 16 or 32 bits, the low part first.
#[must_use]
pub fn join(bits: u32) -> Option<LaneOperation> {
    let (part, whole) = match bits {
        8 => (T::B8, T::B16),
        16 => (T::B16, T::B32),
        32 => (T::B32, T::B64),
        _ => return None,
    };
    let function = match bits {
        32 => each_lane!(map2, |low: u32, high: u32| u64::from(high) << 32 | u64::from(low)),
        _ => each_lane!(map2, |low: u32, high: u32| high << bits | low & ((1 << bits) - 1)),
    };
    LaneOperation::new(whole, &[part; 2], function)
}

/// Extracts up to 32 `bits` of a register, from the bit `shift` on.
#[must_use]
pub fn extract_bits(whole: T, shift: u32, bits: u32) -> Option<LaneOperation> {
    let mask = u32::MAX >> 32_u32.checked_sub(bits)?;
    let function = match whole.bits() {
        64.. => each_lane!(map1, |a: u64| (a >> shift) as u32 & mask),
        _ => each_lane!(map1, |a: u32| a >> shift & mask),
    };
    LaneOperation::new(T::B32, &[whole], function)
}

/// Takes the first source where the third one, a predicate, is true, and the second source elsewhere.
pub fn select(scalar: T) -> Option<LaneOperation> {
    fn by<V: Lane + Default>(r: &mut Registers, op: &Op, exec: u32) {
        let chosen = r.predicate(op.c);
        r.choose::<V>(op, exec, chosen);
        let unknown = r.unknown(op.c) | (r.unknown(op.a) & chosen) | (r.unknown(op.b) & !chosen);
        if unknown & exec == 0 {
            r.know(op.d, exec);
        } else {
            r.derive(op.d, &[op.c, op.a, op.b], exec & unknown);
            r.know(op.d, exec & !unknown);
        }
    }
    let function = match scalar.bits() {
        64 => LaneFunction::new(by::<u64>),
        _ => LaneFunction::new(by::<u32>),
    };
    LaneOperation::new(scalar, &[scalar, scalar, T::Pred], function)
}

/// Takes the first source where the third one, of the type `by`, is not negative, and the second source elsewhere.
/// `flush` makes a subnormal f32 zero first.
#[must_use]
pub fn select_by_sign(scalar: T, by: T, flush: bool) -> Option<LaneOperation> {
    macro_rules! choose {
        (|$c:ident| $test:expr) => {
            match scalar.bits() {
                64 => each_lane!(map3, |a: u64, b: u64, $c: u32| if $test { a } else { b }),
                _ => each_lane!(map3, |a: u32, b: u32, $c: u32| if $test { a } else { b }),
            }
        };
    }
    let function = match (by, flush) {
        (T::S32, _) => choose!(|c| c as i32 >= 0),
        (T::F32, false) => choose!(|c| f32::from_bits(c) >= 0.0),
        (T::F32, true) => choose!(|c| f32::from_bits(float::flushed(c, T::F32)) >= 0.0),
        _ => return None,
    };
    LaneOperation::new(scalar, &[scalar, scalar, by], function)
}

/// Selects four bytes of two words. The third source has a selector of four bits for each. The highest bit of a selector
/// replicates the sign of the byte.
pub fn permute() -> Option<LaneOperation> {
    LaneOperation::uniform(T::B32, 3, LaneFunction::new(permute_each))
}

/// [`permute`] with one of four constants, which the low bits of the third source choose.
#[must_use]
pub fn permute_from(selectors: [u32; 4]) -> Option<LaneOperation> {
    let function = each_lane!(map3, |a: u32, b: u32, c: u32| {
        select_bytes(a, b, selectors[(c & 3) as usize])
    });
    LaneOperation::uniform(T::B32, 3, function)
}

#[inline(always)]
fn select_bytes(a: u32, b: u32, selectors: u32) -> u32 {
    let mut result = 0;
    for place in 0..4 {
        let selector = selectors >> (4 * place);
        let word = if selector & 4 != 0 { b } else { a };
        let high = word >> (8 * (selector & 3)) << 24;
        let high = if selector & 8 != 0 { (high as i32 >> 31) as u32 } else { high };
        result |= high >> 24 << (8 * place);
    }
    result
}

/// The selectors are mostly a constant that replicates no signs: each byte then has one source.
fn permute_each(r: &mut Registers, op: &Op, exec: u32) {
    #[inline(always)]
    fn each(r: &mut Registers, op: &Op, exec: u32, selectors: u32) {
        let of = |place: u32| if selectors >> (4 * place) & 4 != 0 { op.b } else { op.a };
        let rows: [&[u32; LANES]; 4] = [r.get(of(0)), r.get(of(1)), r.get(of(2)), r.get(of(3))];
        let byte = |place: u32| 8 * (selectors >> (4 * place) & 3);
        let shifts = [byte(0), byte(1), byte(2), byte(3)];
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = rows[0][lane] >> shifts[0] & 0xff
                | (rows[1][lane] >> shifts[1] & 0xff) << 8
                | (rows[2][lane] >> shifts[2] & 0xff) << 16
                | rows[3][lane] >> shifts[3] << 24;
        }
        r.put(op.d, &out, exec);
    }
    let (selectors, first) = (r.get::<u32>(op.c), r.get::<u32>(op.c)[0]);
    let differences = selectors.iter().fold(0, |all, selector| all | selector ^ first);
    if differences | first & 0x8888 != 0 {
        return r.map3(op, exec, select_bytes);
    }
    warpload::simd::vectorized!(each(r, op, exec, first));
    r.derive(op.d, &[op.a, op.b, op.c], exec);
}
