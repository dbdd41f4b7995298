//! Operations on floats, with every mode.

use super::{LaneFunction, LaneOperation};
use crate::float::{self, Direction, Extreme, FloatOp, Modes};
use crate::scalar::ScalarType as T;

/// A function of floats of 16 bits, one or two in a register. `$part`, the type of one, is a constant to the compiler.
macro_rules! halves {
    ($map:ident, $scalar:expr, |$part:ident, $($x:ident),+| $result:expr) => {
        match $scalar {
            T::F16 => halves!(@ T::F16, $map, |$part, $($x),+| $result),
            T::Bf16 => halves!(@ T::Bf16, $map, |$part, $($x),+| $result),
            T::F16x2 => halves!(@@ T::F16, $map, |$part, $($x),+| $result),
            T::Bf16x2 => halves!(@@ T::Bf16, $map, |$part, $($x),+| $result),
            _ => return None,
        }
    };
    (@ $of:expr, $map:ident, |$part:ident, $($x:ident),+| $result:expr) => {
        each_lane!(inline $map, |$($x: u32),+| {
            let $part = $of;
            $result
        })
    };
    (@@ $of:expr, $map:ident, |$part:ident, $($x:ident),+| $result:expr) => {
        each_lane!(inline $map, |$($x: u32),+| {
            let $part = $of;
            let low = { $(let $x = $x & 0xffff;)+ $result };
            low | { $(let $x = $x >> 16;)+ $result } << 16
        })
    };
}

/// An arithmetic operation with any modes. Its sources have the type of the result.
#[must_use]
pub fn float(op: FloatOp, scalar: T, modes: Modes) -> Option<LaneOperation> {
    let is_single = scalar.parts().0 == T::F32;
    let plain = match scalar {
        _ if modes.direction != Direction::Nearest || !is_single && !modes.is_plain() => None,
        T::F64 => plain_f64(op),
        _ if !is_single => None,
        _ => match (modes.flush, modes.saturate) {
            (false, false) => plain_f32::<false, false>(op, scalar == T::F32x2),
            (false, true) => plain_f32::<false, true>(op, scalar == T::F32x2),
            (true, false) => plain_f32::<true, false>(op, scalar == T::F32x2),
            (true, true) => plain_f32::<true, true>(op, scalar == T::F32x2),
        },
    };
    let function = match plain {
        Some(plain) => plain,
        None => any_float(op, scalar, modes)?,
    };
    LaneOperation::uniform(scalar, op.sources(), function)
}

/// An operation of one or two f32 that rounds to nearest, in the processor's own arithmetic, with flushed and saturated
/// results. Other modes take the slower path of [`any_float`].
fn plain_f32<const FLUSH: bool, const SATURATE: bool>(
    op: FloatOp,
    is_pair: bool,
) -> Option<LaneFunction> {
    macro_rules! plain {
        ($t:ty, $shifts:expr; $($map:ident $names:tt $sources:tt: $($op:ident)+;)+) => {
            match op {
                $($(FloatOp::$op => plain!(@ $t, $shifts, $map, $op, $names, $sources),)+)+
                _ => return None,
            }
        };
        (@ $t:ty, $shifts:expr, $map:ident, $op:ident, ($($x:ident),+), $sources:expr) => {
            each_lane!(inline $map, |$($x: $t),+| {
                let mut all: $t = 0;
                for shift in $shifts {
                    $(let $x = single::<FLUSH>(($x >> shift) as u32);)+
                    let result = float::nearest_single(FloatOp::$op, $sources);
                    all |= <$t>::from(single_bits::<FLUSH, SATURATE>(result)) << shift;
                }
                all
            })
        };
    }
    Some(match is_pair {
        false => plain! {
            u32, [0];
            map1(a)[a, 0.0, 0.0]: Sqrt Rcp Rsqrt Ex2;
            map2(a, b)[a, b, 0.0]: Add Sub Mul Div DivApprox DivFull;
            map3(a, b, c)[a, b, c]: Fma;
        },
        true => plain! {
            u64, [0, 32];
            map2(a, b)[a, b, 0.0]: Add Sub Mul;
            map3(a, b, c)[a, b, c]: Fma;
        },
    })
}

/// The value of an f32, zero if it is subnormal and flushed.
#[inline(always)]
fn single<const FLUSH: bool>(bits: u32) -> f32 {
    f32::from_bits(if FLUSH { float::flushed(bits, T::F32) } else { bits })
}

/// The bits of a result: flushed, and clamped to 0..=1.
#[inline(always)]
fn single_bits<const FLUSH: bool, const SATURATE: bool>(result: f32) -> u32 {
    let clamped = if result > 0.0 { result.min(1.0) } else { 0.0 };
    let result = if SATURATE { clamped } else { result };
    let bits = single::<FLUSH>(result.to_bits()).to_bits();
    // GPUs produce a single NaN of f32, whatever the payload of the sources.
    if result.is_nan() { 0x7fff_ffff } else { bits }
}

/// An operation of f64 that rounds to nearest.
fn plain_f64(op: FloatOp) -> Option<LaneFunction> {
    macro_rules! plain {
        ($map:ident, $op:ident, |$($x:ident),+| $sources:expr) => {
            each_lane!($map, |$($x: u64),+| {
                let sources: [u64; 3] = $sources;
                let [x, y, z] = sources;
                let values = [f64::from_bits(x), f64::from_bits(y), f64::from_bits(z)];
                let result = float::nearest(FloatOp::$op, values);
                // The processor's NaN may have another payload or sign.
                if result.is_nan() { float::wide_nan(FloatOp::$op, sources) } else { result.to_bits() }
            })
        };
    }
    Some(match op {
        FloatOp::Add => plain!(map2, Add, |a, b| [a, b, 0]),
        FloatOp::Sub => plain!(map2, Sub, |a, b| [a, b, 0]),
        FloatOp::Mul => plain!(map2, Mul, |a, b| [a, b, 0]),
        FloatOp::Div => plain!(map2, Div, |a, b| [a, b, 0]),
        FloatOp::Fma => plain!(map3, Fma, |a, b, c| [a, b, c]),
        _ => return None,
    })
}

/// An operation with any rounding mode. The sums and products of 16 bits without modes are each compiled by themselves,
/// so that the compiler vectorizes them.
fn any_float(op: FloatOp, scalar: T, modes: Modes) -> Option<LaneFunction> {
    macro_rules! plain {
        ($op:ident) => {
            halves!(map3, scalar, |part, a, b, c| {
                float::narrow(FloatOp::$op, part, Modes::default(), [a, b, c])
            })
        };
    }
    Some(match (scalar, op) {
        (T::F64, _) => each_lane!(map3, |a: u64, b: u64, c: u64| float::wide(op, modes, [a, b, c])),
        (T::F32, _) => each_lane!(map3, |a: u32, b: u32, c: u32| {
            float::narrow_any(op, T::F32, modes, [a, b, c])
        }),
        (T::F32x2, _) => each_lane!(map3, |a: u64, b: u64, c: u64| {
            let part = |shift: u32| {
                let sources = [a, b, c].map(|bits| (bits >> shift) as u32);
                u64::from(float::narrow_any(op, T::F32, modes, sources)) << shift
            };
            part(0) | part(32)
        }),
        (_, FloatOp::Add) if modes.is_plain() => plain!(Add),
        (_, FloatOp::Sub) if modes.is_plain() => plain!(Sub),
        (_, FloatOp::Mul) if modes.is_plain() => plain!(Mul),
        (_, FloatOp::Fma) if modes.is_plain() => plain!(Fma),
        _ => halves!(map3, scalar, |part, a, b, c| float::narrow_any(op, part, modes, [a, b, c])),
    })
}

/// A sum of f32, a difference or a fused product and sum. The first term, or the factors, have the type `from` and are
/// converted first. [PTX ISA, "Mixed Precision"]
#[must_use]
pub fn mixed_float(op: FloatOp, from: T, modes: Modes) -> Option<LaneOperation> {
    let second = match op {
        FloatOp::Add | FloatOp::Sub => T::F32,
        FloatOp::Fma => from,
        _ => return None,
    };
    macro_rules! mixed {
        ($from:expr) => {
            each_lane!(map3, |a: u32, b: u32, c: u32| {
                let wide = |bits: u32| (float::value(bits, $from) as f32).to_bits();
                let b = if op == FloatOp::Fma { wide(b) } else { b };
                float::narrow_any(op, T::F32, modes, [wide(a), b, c])
            })
        };
    }
    let function = match from {
        T::F16 => mixed!(T::F16),
        T::Bf16 => mixed!(T::Bf16),
        _ => return None,
    };
    LaneOperation::new(T::F32, &[from, second, T::F32][..op.sources()], function)
}

/// A fused product and sum of 16 bits. A product with a NaN is +0, so that padding with NaN drops out of sums. [ptxas
/// folds `fma.oob` so]
#[must_use]
pub fn fma_out_of_bounds(scalar: T, modes: Modes) -> Option<LaneOperation> {
    let function = halves!(map3, scalar, |part, a, b, c| {
        let is_nan = |bits| float::value(bits, part).is_nan();
        let sources = if is_nan(a) || is_nan(b) { [0, 0, c] } else { [a, b, c] };
        float::narrow_any(FloatOp::Fma, part, modes, sources)
    });
    LaneOperation::uniform(scalar, 3, function)
}

/// Negates floats, or takes their magnitude. f64 changes the sign bit alone; narrower types replace a NaN.
#[must_use]
pub fn change_sign(scalar: T, is_abs: bool, flush: bool) -> Option<LaneOperation> {
    let function = match scalar {
        T::F64 if is_abs => each_lane!(map1, |a: u64| a & !(1 << 63)),
        T::F64 => each_lane!(map1, |a: u64| a ^ 1 << 63),
        T::F32 => each_lane!(map1, |a: u32| float::with_sign(a, T::F32, flush, is_abs)),
        _ => halves!(map1, scalar, |part, a| float::with_sign(a, part, flush, is_abs)),
    };
    LaneOperation::uniform(scalar, 1, function)
}

/// The sign of the first source, an f32 or f64, and the magnitude of the second one.
#[must_use]
pub fn copy_sign(scalar: T) -> Option<LaneOperation> {
    let function = match scalar {
        T::F32 => each_lane!(map2, |a: u32, b: u32| a & 1 << 31 | b & !(1 << 31)),
        T::F64 => each_lane!(map2, |a: u64, b: u64| a & 1 << 63 | b & !(1 << 63)),
        _ => return None,
    };
    LaneOperation::uniform(scalar, 2, function)
}

/// The minimum or maximum of two floats, or of three f32. f64 has no modes.
#[must_use]
pub fn extreme(of: Extreme, scalar: T, count: usize) -> Option<LaneOperation> {
    macro_rules! plain {
        ($is_max:literal, $flush:literal) => {
            each_lane!(inline map2, |a: u32, b: u32| {
                let of = Extreme { is_max: $is_max, flush: $flush, ..Extreme::default() };
                float::extreme(of, T::F32, a, b)
            })
        };
    }
    let Extreme { is_max, flush, .. } = of;
    let is_plain = of == Extreme { is_max, flush, ..Extreme::default() };
    let function = match (scalar, count) {
        (T::F32, 3) => each_lane!(inline map3, |a: u32, b: u32, c: u32| {
            float::extreme(of, T::F32, float::extreme(of, T::F32, a, b), c)
        }),
        (_, 3) => return None,
        (T::F32, _) if is_plain => match (is_max, flush) {
            (false, false) => plain!(false, false),
            (false, true) => plain!(false, true),
            (true, false) => plain!(true, false),
            (true, true) => plain!(true, true),
        },
        (T::F32, _) => each_lane!(inline map2, |a: u32, b: u32| float::extreme(of, T::F32, a, b)),
        (T::F64, _) => each_lane!(map2, |a: u64, b: u64| float::extreme_wide(is_max, a, b)),
        _ => halves!(map2, scalar, |part, a, b| float::extreme(of, part, a, b)),
    };
    LaneOperation::uniform(scalar, count, function)
}

/// Whether the quotient of two f32 needs more care than a product with the reciprocal: where exponents are extreme, or
/// differ much. Which exponents exactly is not known; these are safe.
#[must_use]
pub fn division_is_special() -> Option<LaneOperation> {
    let function = test_lanes!(u32, |a, b| {
        let [a, b] = [a, b].map(|bits| (bits >> 23 & 0xff) as i32);
        let difference = a - b;
        b == 0 || b >= 253 || a <= 24 || a == 255 || !(-123..126).contains(&difference)
    });
    LaneOperation::new(T::Pred, &[T::F32; 2], function)
}
