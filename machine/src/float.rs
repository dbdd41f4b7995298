//! Floating-point arithmetic with every rounding mode.
//!
//! Round-to-nearest-even results of f32 and f64 come from the processor. All others of f16, bf16, tf32 and f32 are
//! computed in f64 *rounded to odd*: an inexact result with an even last bit moves one step toward the exact value.
//! Rounding it again, to a type at least two bits narrower, then gives the same result as rounding once. [Boldo and
//! Melquiond, "Emulation of FMA and correctly rounded sums"] Directed rounding of f64 uses rustc_apfloat, because there
//! is no wider type.

use rustc_apfloat::ieee::Double;
use rustc_apfloat::{Float, Round};

use crate::scalar::ScalarType;

/// The rounding of results, and changes to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The rounding direction.
    pub direction: Direction,
    /// Whether subnormal sources and results become zero of the same sign.
    pub flush: bool,
    /// Whether results are clamped to 0..=1, and NaN becomes 0.
    pub saturate: bool,
    /// Whether negative results become 0.
    pub relu: bool,
    /// Whether results beyond the largest finite value become that value.
    pub finite: bool,
}

/// The rounding direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// To the nearest value, ties to an even last bit.
    #[default]
    Nearest,
    /// To the nearest value, ties away from zero.
    Away,
    /// Toward zero.
    Zero,
    /// Toward negative infinity.
    Down,
    /// Toward positive infinity.
    Up,
}

impl Modes {
    /// Whether the processor's own arithmetic has these modes.
    pub(crate) fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// A binary format narrower than f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The number of fraction bits.
    fraction: u32,
    /// The exponent of the smallest normal number.
    smallest: i32,
    /// The bits of infinity, or of NaN for e4m3, which lacks infinity.
    infinity: u32,
    nan: u32,
    sign: u32,
}

pub(crate) const F16: Format =
    Format { fraction: 10, smallest: -14, infinity: 0x7c00, nan: 0x7fff, sign: 1 << 15 };
pub(crate) const BF16: Format =
    Format { fraction: 7, smallest: -126, infinity: 0x7f80, nan: 0x7fff, ..F16 };
pub(crate) const F32: Format =
    Format { fraction: 23, smallest: -126, infinity: 0x7f80_0000, nan: 0x7fff_ffff, sign: 1 << 31 };
/// tf32 is the upper 19 bits of an f32.
const TF32: Format =
    Format { fraction: 10, infinity: 0xff << 10, nan: 0x3_ffff, sign: 1 << 18, ..F32 };
const E5M2: Format = Format { fraction: 2, smallest: -14, infinity: 0x7c, nan: 0x7f, sign: 0x80 };
const E4M3: Format = Format { fraction: 3, smallest: -6, infinity: 0x7f, nan: 0x7f, sign: 0x80 };

/// The formats of 4 and 6 bits have neither infinity nor NaN: `infinity` is the code after the largest value, and NaN
/// becomes the largest value. [OCP Microscaling Formats; PTX ISA, cvt]
const E2M3: Format = Format { fraction: 3, smallest: 0, infinity: 0x20, nan: 0x1f, sign: 0x20 };
const E3M2: Format = Format { fraction: 2, smallest: -2, ..E2M3 };
const E2M1: Format = Format { fraction: 1, smallest: 0, infinity: 8, nan: 7, sign: 8 };

/// Rounds a value to a format. The value is exact, or rounded to odd.
#[inline(always)]
pub(crate) fn round(value: f64, format: Format, modes: Modes) -> u32 {
    let (is_negative, direction) = (value.is_sign_negative(), modes.direction);
    let is_down = direction == Direction::Zero
        || if is_negative { direction == Direction::Up } else { direction == Direction::Down };
    let is_up = if is_negative { direction == Direction::Down } else { direction == Direction::Up };
    round_where(
        value,
        format,
        modes,
        #[inline(always)]
        |nearest, rest| {
            let is_tie = (direction == Direction::Away) & (rest == 0.5);
            nearest + u64::from(is_up & (rest > 0.0) | is_tie) - u64::from(is_down & (rest < 0.0))
        },
    )
}

/// Rounds to a format by random bits: away from zero if their sum with the discarded fraction carries. The random
/// number has `width` bits. [PTX ISA, cvt: `.rs`]
#[inline(always)]
pub(crate) fn round_randomly(
    value: f64,
    format: Format,
    modes: Modes,
    (random, width): (u32, u32),
) -> u32 {
    let whole = f64::from(1_u32 << width);
    // Values beyond the largest one become infinity, as in rounding to nearest.
    let modes = Modes { direction: Direction::Nearest, ..modes };
    round_where(
        value,
        format,
        modes,
        #[inline(always)]
        |nearest, rest| {
            let is_above = rest < 0.0;
            let rest = if is_above { rest + 1.0 } else { rest };
            let is_up = (rest * whole).floor() + f64::from(random) >= whole;
            nearest + u64::from(is_up) - u64::from(is_above)
        },
    )
}

/// Rounds a value to a format. `choose` takes the nearest number of steps, the even one of two, and the rest, which is
/// negative if that number is above. Without branches, so that the compiler vectorizes it.
#[inline(always)]
fn round_where(value: f64, format: Format, modes: Modes, choose: impl Fn(u64, f64) -> u64) -> u32 {
    /// An f64 from here on is an integer, and a sum with it is rounded to one.
    const INTEGERS: f64 = (1_u64 << 52) as f64;
    let (fraction, is_negative, magnitude) =
        (format.fraction, value.is_sign_negative(), value.abs());
    // All from this power on are beyond the largest value.
    let top = power(format.smallest + (format.infinity >> fraction) as i32);
    let smallest = power(format.smallest);
    let bounded = if magnitude < top { magnitude } else { top };
    let binade = (if bounded > smallest { bounded } else { smallest }).to_bits() & 0x7ff << 52;
    // Exact, apart from f64 far below half a step.
    let scaled = bounded * f64::from_bits(((2 * 1023 + u64::from(fraction)) << 52) - binade);
    let nearest = scaled + INTEGERS;
    let rest = scaled - (nearest - INTEGERS);
    let steps = choose(nearest.to_bits() - INTEGERS.to_bits(), rest);
    let bits = (((binade - smallest.to_bits()) >> (52 - fraction)) + steps) as u32;
    let (largest, direction) = (format.infinity - 1, modes.direction);
    let goes_beyond = magnitude == f64::INFINITY
        || match direction {
            Direction::Nearest | Direction::Away => true,
            Direction::Zero => false,
            Direction::Down => is_negative,
            Direction::Up => !is_negative,
        };
    let limit = if modes.finite || !goes_beyond { largest } else { format.infinity };
    let bits = if bits > largest { limit } else { bits };
    let bits = if modes.flush && bits < 1 << fraction { 0 } else { bits };
    let one = ((1 - format.smallest) as u32) << fraction;
    let bits = if modes.saturate && value >= 1.0 { one } else { bits };
    let signed = bits | if is_negative { format.sign } else { 0 };
    let signed = if (modes.saturate || modes.relu) && is_negative { 0 } else { signed };
    let nan = if modes.saturate { 0 } else { format.nan };
    if value.is_nan() { nan } else { signed }
}

/// 2^exponent, a normal f64.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The value of a float of up to 32 bits.
#[inline(always)]
pub(crate) fn value(bits: u32, scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F32 => f64::from(f32::from_bits(bits)),
        ScalarType::Bf16 => f64::from(f32::from_bits(bits << 16)),
        ScalarType::Tf32 => f64::from(f32::from_bits(bits & !0x1fff)),
        ScalarType::Ue8m0 if bits & 0xff == 0xff => f64::NAN,
        ScalarType::Ue8m0 => power_of_two(bits),
        // A fixed-point number with 6 bits after the point.
        ScalarType::S2f6 => f64::from(bits as u8 as i8) / 64.0,
        _ => match format(scalar) {
            Some((format, _)) => f64::from(widened(bits, format)),
            None => f64::from(f32::from_bits(bits)),
        },
    }
}

/// A float of up to 16 bits as f32: the fraction moves to its place, and a factor makes up for the other exponents, of
/// subnormal numbers, too.
#[inline(always)]
fn widened(bits: u32, format: Format) -> f32 {
    let magnitude = bits & (format.sign - 1);
    let factor = f32::from_bits(((126 + 127 + format.smallest) as u32) << 23);
    let value = f32::from_bits(magnitude << (23 - format.fraction)) * factor;
    let is_infinity = magnitude == format.infinity && format.infinity != format.nan;
    let beyond = if is_infinity { f32::INFINITY } else { f32::NAN };
    let value = if magnitude >= format.infinity { beyond } else { value };
    f32::from_bits(value.to_bits() | if bits & format.sign != 0 { 1 << 31 } else { 0 })
}

/// The factor of a scale of 8 exponent bits.
pub(crate) fn power_of_two(bits: u32) -> f64 {
    power((bits & 0xff) as i32 - 127)
}

/// Converts an f32 to a scale of 8 exponent bits. The sign is dropped. [PTX ISA, cvt: `.ue8m0x2`; cuda_fp8.hpp]
fn to_scale(value: f32, modes: Modes) -> u32 {
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0xff;
    }
    let bits = magnitude.to_bits();
    // 2^-127 is subnormal, and has the code 0.
    let is_above = bits & 0x7f_ffff != 0 && bits > 0x40_0000 && magnitude.is_finite();
    let code = (bits >> 23) + u32::from(is_above && modes.direction == Direction::Up);
    if modes.finite { code.min(0xfe) } else { code }
}

/// The format of a float narrower than f64, and the shift of its bits in a register.
#[inline(always)]
pub(crate) fn format(scalar: ScalarType) -> Option<(Format, u32)> {
    Some(match scalar {
        ScalarType::F16 => (F16, 0),
        ScalarType::Bf16 => (BF16, 0),
        ScalarType::F32 => (F32, 0),
        ScalarType::Tf32 => (TF32, 13),
        ScalarType::E5m2 => (E5M2, 0),
        ScalarType::E4m3 => (E4M3, 0),
        ScalarType::E2m3 => (E2M3, 0),
        ScalarType::E3m2 => (E3M2, 0),
        ScalarType::E2m1 => (E2M1, 0),
        _ => return None,
    })
}

/// Flushes a subnormal source.
#[inline(always)]
pub(crate) fn flushed(bits: u32, scalar: ScalarType) -> u32 {
    let Some((format, _)) = format(scalar) else { return bits };
    if bits & format.infinity == 0 { bits & format.sign } else { bits }
}

/// Negates a float, or takes its magnitude. NaN becomes the only one of its type, as on an H100, which adds zero.
#[inline(always)]
pub(crate) fn with_sign(bits: u32, scalar: ScalarType, flush: bool, is_abs: bool) -> u32 {
    let Some((format, _)) = format(scalar) else { return bits };
    let bits = if flush { flushed(bits, scalar) } else { bits };
    if bits & (format.sign - 1) > format.infinity {
        return format.nan;
    }
    if is_abs { bits & !format.sign } else { bits ^ format.sign }
}

/// Moves an inexact value other than zero with an even last bit one step toward the exact value.
#[inline(always)]
fn to_odd(value: f64, error: f64) -> f64 {
    let is_even = value.to_bits() & 1 == 0;
    let is_moved = is_even & (error.abs() > 0.0) & (error.abs() < f64::INFINITY);
    let step = if (error > 0.0) == (value > 0.0) { 1 } else { u64::MAX };
    f64::from_bits(value.to_bits().wrapping_add(if is_moved { step } else { 0 }))
}

/// The sum, rounded to odd.
#[inline(always)]
pub(crate) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's TwoSum, which computes the error exactly.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    to_odd(sum, error)
}

/// The quotient, rounded to odd.
#[inline(always)]
pub(crate) fn div_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient == 0.0 || !quotient.is_finite() || b.is_infinite() {
        return quotient;
    }
    let rest = (-quotient).mul_add(b, a);
    to_odd(quotient, if b < 0.0 { -rest } else { rest })
}

/// The square root, rounded to odd.
#[inline(always)]
pub(crate) fn sqrt_odd(a: f64) -> f64 {
    let root = a.sqrt();
    if root == 0.0 || !root.is_finite() {
        return root;
    }
    to_odd(root, (-root).mul_add(root, a))
}

/// The operations on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, rounded once.
    Div,
    /// `a` times the reciprocal of `b`, both rounded to f32: `div.approx`.
    DivApprox,
    /// The same with large divisors scaled down first: `div.full`.
    DivFull,
    /// `a * b + c`, rounded once.
    Fma,
    /// The square root.
    Sqrt,
    /// The reciprocal.
    Rcp,
    /// The reciprocal of the square root.
    Rsqrt,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The logarithm to base 2.
    Lg2,
    /// Two to the power of `a`.
    Ex2,
    /// The hyperbolic tangent.
    Tanh,
    /// The sine of an angle in turns.
    SinTurns,
    /// The cosine of an angle in turns.
    CosTurns,
}

impl FloatOp {
    /// The number of sources.
    pub(crate) fn sources(self) -> usize {
        match self {
            Self::Fma => 3,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::DivApprox | Self::DivFull => 2,
            _ => 1,
        }
    }
}

/// Evaluates an operation exactly, or rounded to odd if the result is inexact.
#[inline(always)]
fn evaluate(op: FloatOp, a: f64, b: f64, c: f64) -> f64 {
    match op {
        FloatOp::Add => add_odd(a, b),
        FloatOp::Sub => add_odd(a, -b),
        // Exact: the product of two f32 has 48 bits.
        FloatOp::Mul => a * b,
        FloatOp::Fma => add_odd(a * b, c),
        FloatOp::Div => div_odd(a, b),
        FloatOp::DivApprox => quotient(a as f32, b as f32, f32::INFINITY).into(),
        FloatOp::DivFull => quotient(a as f32, b as f32, LARGE).into(),
        FloatOp::Sqrt => sqrt_odd(a),
        FloatOp::Rcp => div_odd(1.0, a),
        // Not rounded to odd, because only trivial results are exact. The error of the f64 functions is less than a
        // thousandth of an f32 step. Hardware is a step or more off the nearest value. [docs/ptx-kernels.md]
        FloatOp::Rsqrt => 1.0 / a.sqrt(),
        FloatOp::Sin => sine(a),
        FloatOp::Cos => cosine(a),
        FloatOp::Lg2 => a.log2(),
        FloatOp::Ex2 => exp2(a),
        // An H100 returns small arguments as they are. [measured]
        FloatOp::Tanh if a.abs() <= 1.0 / 256.0 => a,
        FloatOp::Tanh => a.tanh(),
        FloatOp::SinTurns => (a.fract() * std::f64::consts::TAU).sin(),
        FloatOp::CosTurns => (a.fract() * std::f64::consts::TAU).cos(),
    }
}

/// Divisors above this are divided by 4 in `div.full`, because the reciprocal would be subnormal.
pub(crate) const LARGE: f32 = f32::from_bits((126 + 127) << 23);

/// `a` times the reciprocal of `b`, as ptxas compiles it for an H100: subnormal divisors are scaled up, divisors above
/// `large` down, and the hardware's reciprocal has no subnormal results. Both steps are rounded to f32.
#[inline(always)]
pub(crate) fn quotient(a: f32, b: f32, large: f32) -> f32 {
    let factor = if b.abs() > large { 0.25 } else { 1.0 };
    let factor = if b.abs() < f32::MIN_POSITIVE { 16_777_216.0 } else { factor };
    let reciprocal = 1.0 / (b * factor);
    let reciprocal = if reciprocal.is_subnormal() { 0.0_f32.copysign(b) } else { reciprocal };
    a * factor * reciprocal
}

/// Two to the power of an f32. Rounded to f32, it is the nearest value of all. [all f32 agree with glibc's `exp2`]
#[inline(always)]
pub(crate) fn exp2(a: f64) -> f64 {
    /// The Taylor series in the fraction of the exponent, which is at most one half.
    const SERIES: [f64; 14] = {
        let (mut series, mut n) = ([1.0; 14], 1);
        while n < series.len() {
            series[n] = series[n - 1] * std::f64::consts::LN_2 / n as f64;
            n += 1;
        }
        series
    };
    /// A sum with this is rounded to an integer, which its low bits have.
    const INTEGERS: f64 = (3_u64 << 51) as f64;
    // An f32 has no powers beyond these.
    let bounded = a.clamp(-200.0, 200.0);
    let whole = bounded + INTEGERS;
    let rest = bounded - (whole - INTEGERS);
    let part = SERIES.iter().rev().fold(0.0, |sum: f64, factor| sum.mul_add(rest, *factor));
    part * f64::from_bits((whole.to_bits() << 52).wrapping_add(1_f64.to_bits()))
}

/// Angles from here on are whole turns to an H100, because f32 has no bits for the fraction. The machine rounds the exact
/// sine and cosine of them.
const ENDLESS: f64 = (1 << 27) as f64;

/// The sine of an angle, as an H100 reduces it.
fn sine(angle: f64) -> f64 {
    let Some((quadrant, place)) = turns(angle) else { return angle.sin() };
    let size = first_quadrant(if quadrant & 1 == 0 { place } else { !place });
    if (quadrant & 2 != 0) != angle.is_sign_negative() { -size } else { size }
}

/// The cosine of an angle, as an H100 reduces it.
fn cosine(angle: f64) -> f64 {
    let Some((quadrant, place)) = turns(angle) else { return angle.cos() };
    let size = first_quadrant(if quadrant & 1 == 0 { !place } else { place });
    if matches!(quadrant, 1 | 2) { -size } else { size }
}

/// The bits of a place in a quadrant, in units of 2^-25 turns.
const PLACE: u32 = 23;
const UNITS: f64 = (1 << (PLACE + 2)) as f64;

/// The quadrant of an angle's magnitude, and the place in it; `None` from `ENDLESS` on. An H100 multiplies by 1/2π in f32, toward zero, and drops
/// the bits below a unit. A quadrant that runs backwards takes the ones' complement of the place, so the sine is zero
/// from one unit before half a turn on. [all zeros and signs measured on an H100 agree]
fn turns(angle: f64) -> Option<(u32, u32)> {
    const INVERSE: f32 = 0.159_154_94;
    if angle.is_nan() || angle.abs() >= ENDLESS {
        return None;
    }
    let toward_zero = Modes { direction: Direction::Zero, ..Modes::default() };
    // The product of two f32 is exact in f64.
    let turns = f32::from_bits(round(angle.abs() * f64::from(INVERSE), F32, toward_zero));
    let units = ((f64::from(turns) * UNITS).trunc() % UNITS) as u32;
    Some((units >> PLACE, units))
}

/// The sine of a place in the first quadrant. Higher bits are ignored.
fn first_quadrant(place: u32) -> f64 {
    let place = place & ((1 << PLACE) - 1);
    (f64::from(place) * (std::f64::consts::TAU / UNITS)).sin()
}

/// Rounds to f32, then toward zero: `ex2` and `tanh` of 16 bits on an H100. Overflow still becomes infinity.
fn truncated(value: f64, format: Format, modes: Modes) -> u32 {
    let value = f64::from(value as f32);
    let limit = power((format.infinity >> format.fraction) as i32 - 1 + format.smallest);
    let direction = if value.abs() < limit { Direction::Zero } else { Direction::Nearest };
    round(value, format, Modes { direction, ..modes })
}

/// [`narrow`] of an operation that is only known when it is executed.
#[inline(never)]
pub(crate) fn narrow_any(op: FloatOp, scalar: ScalarType, modes: Modes, sources: [u32; 3]) -> u32 {
    narrow(op, scalar, modes, sources)
}

/// Evaluates an operation on floats of up to 32 bits.
#[inline(always)]
pub(crate) fn narrow(op: FloatOp, scalar: ScalarType, modes: Modes, sources: [u32; 3]) -> u32 {
    let [a, b, c] = sources;
    let (a, b, c) = if modes.flush {
        (flushed(a, scalar), flushed(b, scalar), flushed(c, scalar))
    } else {
        (a, b, c)
    };
    let (a, b, c) = (value(a, scalar), value(b, scalar), value(c, scalar));
    let Some((format, shift)) = format(scalar) else { return 0 };
    let mut result = evaluate(op, a, b, c);
    if result == 0.0 && modes.direction == Direction::Down {
        // A sum that cancels is -0 when rounding down. [IEEE 754, 6.3]
        let (x, y) = match op {
            FloatOp::Add => (a, b),
            FloatOp::Sub => (a, -b),
            FloatOp::Fma => (a * b, c),
            _ => (result, result),
        };
        if x.is_sign_negative() | y.is_sign_negative() {
            result = -0.0;
        }
    }
    let is_half = scalar.bits() == 16;
    if is_half && matches!(op, FloatOp::Ex2 | FloatOp::Tanh) {
        return truncated(result, format, modes);
    }
    round(result, format, modes) << shift
}

/// The NaN that an operation on f64 produces. An H100 takes the NaN of the second, the third or the first source, in
/// this order, and makes it quiet; a quotient, which ptxas calls a function for, takes the first before the second.
/// If no source is NaN, the result is the negative NaN without payload. [measured, but for differences]
pub(crate) fn wide_nan(op: FloatOp, [a, b, c]: [u64; 3]) -> u64 {
    let order = match op {
        FloatOp::Fma => [b, c, a],
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul => [b, a, a],
        FloatOp::Div => [a, b, b],
        _ => [a; 3],
    };
    let nan = order.into_iter().find(|bits| f64::from_bits(*bits).is_nan());
    nan.unwrap_or(1 << 63 | f64::INFINITY.to_bits()) | QUIET
}

/// The bit that makes a NaN of f64 quiet.
const QUIET: u64 = 1 << 51;

/// Evaluates an operation on f64.
pub(crate) fn wide(op: FloatOp, modes: Modes, sources: [u64; 3]) -> u64 {
    if modes.flush {
        return gross(op, sources[0]);
    }
    let result = rounded(op, modes, sources);
    if f64::from_bits(result).is_nan() { wide_nan(op, sources) } else { result }
}

/// The result of an operation on f64, rounded to nearest.
#[inline(always)]
pub(crate) fn nearest(op: FloatOp, [a, b, c]: [f64; 3]) -> f64 {
    match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Div => a / b,
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Rcp => 1.0 / a,
        _ => evaluate(op, a, b, c),
    }
}

/// The result of an operation on f32, rounded to nearest.
#[inline(always)]
pub(crate) fn nearest_single(op: FloatOp, [a, b, c]: [f32; 3]) -> f32 {
    match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Div => a / b,
        FloatOp::DivApprox => quotient(a, b, f32::INFINITY),
        FloatOp::DivFull => quotient(a, b, LARGE),
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Rcp => 1.0 / a,
        _ => evaluate(op, a.into(), b.into(), c.into()) as f32,
    }
}

/// A directed rounding of f64; `None` for the processor's own.
fn toward(direction: Direction) -> Option<Round> {
    match direction {
        Direction::Nearest | Direction::Away => None,
        Direction::Zero => Some(Round::TowardZero),
        Direction::Down => Some(Round::TowardNegative),
        Direction::Up => Some(Round::TowardPositive),
    }
}

fn rounded(op: FloatOp, modes: Modes, sources: [u64; 3]) -> u64 {
    let values @ [a, b, c] = sources.map(f64::from_bits);
    let Some(round) = toward(modes.direction) else { return nearest(op, values).to_bits() };
    let [x, y, z] = sources.map(|bits| Double::from_bits(u128::from(bits)));
    let one = || Double::from_bits(u128::from(1_f64.to_bits()));
    let result = match op {
        FloatOp::Add => x.add_r(y, round).value,
        FloatOp::Sub => x.sub_r(y, round).value,
        FloatOp::Mul => x.mul_r(y, round).value,
        FloatOp::Div => x.div_r(y, round).value,
        FloatOp::Fma => x.mul_add_r(y, z, round).value,
        FloatOp::Rcp => one().div_r(x, round).value,
        FloatOp::Sqrt => return directed_sqrt(a, modes.direction).to_bits(),
        _ => return evaluate(op, a, b, c).to_bits(),
    };
    result.to_bits() as u64
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: of the upper half of the source, as the upper half of the result.
/// Subnormal numbers are zeros. [PTX ISA, "rcp.approx.ftz.f64"] An H100 knows about 23 bits of the fraction and drops
/// the last 3: 2 % of its upper halves are one above or below these. [measured]
fn gross(op: FloatOp, source: u64) -> u64 {
    const UPPER: u64 = !0 << 32;
    /// Half of the 23rd bit of the fraction.
    const HALF: u64 = 1 << (52 - 23 - 1);
    let flushed = |bits: u64| if bits & 0x7ff << 52 == 0 { bits & 1 << 63 } else { bits };
    let a = f64::from_bits(flushed(source & UPPER));
    // Of the whole source: an H100 takes a NaN for infinity if only the lower half makes it one.
    if f64::from_bits(source).is_nan() || op == FloatOp::Rsqrt && a < 0.0 {
        return 0x7fff_ffff << 32;
    }
    let result = if op == FloatOp::Rcp { 1.0 / a } else { a.signum() / a.abs().sqrt() };
    let step = if result.is_finite() { HALF } else { 0 };
    flushed((result.to_bits() + step) & UPPER)
}

/// The square root of an f64 with directed rounding.
fn directed_sqrt(a: f64, direction: Direction) -> f64 {
    // Scaled by 2^1000, because the remainder would be below the smallest subnormal.
    let (scaled, factor) = if a < 1e-200 { (a * power(1000), power(-500)) } else { (a, 1.0) };
    let root = scaled.sqrt();
    if root == 0.0 || !root.is_finite() {
        return root;
    }
    let rest = (-root).mul_add(root, scaled);
    let rounded = match direction {
        Direction::Up if rest > 0.0 => root.next_up(),
        Direction::Zero | Direction::Down if rest < 0.0 => root.next_down(),
        _ => root,
    };
    rounded * factor
}

/// The modes of a minimum or maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extreme {
    /// Whether it is the maximum, not the minimum.
    pub is_max: bool,
    /// Whether a NaN wins against a number.
    pub keeps_nan: bool,
    /// Whether subnormal sources become zero of the same sign.
    pub flush: bool,
    /// Whether the sign of the result is that of the product of the sources.
    pub xors_signs: bool,
    /// Whether the magnitudes of the sources are compared.
    pub is_absolute: bool,
}

/// The minimum or maximum of two floats of up to 32 bits, without branches, so that the compiler vectorizes it.
#[inline(always)]
pub(crate) fn extreme(of: Extreme, scalar: ScalarType, a: u32, b: u32) -> u32 {
    let Some((Format { nan, sign, .. }, _)) = format(scalar) else { return 0 };
    let flush = |bits| if of.flush { flushed(bits, scalar) } else { bits };
    let (a, b) = (flush(a), flush(b));
    let flipped = if of.xors_signs { (a ^ b) & sign } else { 0 };
    let (a, b) = if of.is_absolute { (a & !sign, b & !sign) } else { (a, b) };
    let (x, y) = (value(a, scalar) as f32, value(b, scalar) as f32);
    // +0 and -0 are equal, so their sign bits decide.
    let equal = if of.is_max { a & b } else { a | b };
    let chosen = if (x < y) == of.is_max { b } else { a };
    let of_numbers = if x == y { equal } else { chosen };
    let is_any_nan = x.is_nan() | y.is_nan();
    let is_nan = if of.keeps_nan { is_any_nan } else { x.is_nan() & y.is_nan() };
    let result = if x.is_nan() { b } else { a };
    let result = if is_any_nan { result } else { of_numbers };
    if is_nan { nan } else { result ^ flipped }
}

/// The minimum or maximum of two f64. A NaN loses against a number. Of two NaNs, an H100 returns the second one, quiet.
pub(crate) fn extreme_wide(is_max: bool, a: u64, b: u64) -> u64 {
    let [x, y] = [a, b].map(f64::from_bits);
    match (x.is_nan(), y.is_nan()) {
        (true, true) => b | QUIET,
        (true, false) => b,
        (false, true) => a,
        // -0 is less than +0.
        _ if x == y => {
            if is_max {
                a & b
            } else {
                a | b
            }
        }
        _ => {
            if (x < y) == is_max {
                b
            } else {
                a
            }
        }
    }
}

/// Rounds to an integer, and stays a float.
#[inline(always)]
pub(crate) fn to_integral(value: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Nearest => value.round_ties_even(),
        Direction::Away => value.round(),
        Direction::Zero => value.trunc(),
        Direction::Down => value.floor(),
        Direction::Up => value.ceil(),
    }
}

/// Converts a value to another type. `is_integral` rounds floats to integers on the way.
#[inline(always)]
pub(crate) fn convert(
    bits: u64,
    from: ScalarType,
    to: ScalarType,
    modes: Modes,
    is_integral: bool,
) -> u64 {
    match (from.is_float(), to.is_float()) {
        (false, false) => integer_to_integer(bits, from, to, modes.saturate),
        // Exact in f64.
        (false, true) if from.bits() <= 32 => {
            let value = extend(bits, from) as i64 as f64;
            match format(to) {
                Some((format, shift)) => u64::from(round(value, format, modes) << shift),
                None if modes.saturate => saturated(value).to_bits(),
                None => value.to_bits(),
            }
        }
        (false, true) => integer_to_float(extend(bits, from), to, modes),
        (true, false) => float_to_integer(bits, from, to, modes),
        (true, true) => float_to_float(bits, from, to, modes, is_integral),
    }
}

/// The value of an integer, sign-extended or zero-extended.
#[inline(always)]
fn extend(bits: u64, scalar: ScalarType) -> i128 {
    let unused = 64 - scalar.bits();
    let high = bits << unused;
    if scalar.is_signed() { (high as i64 >> unused).into() } else { (high >> unused).into() }
}

/// The least and the greatest integer of a width up to 64 bits.
#[inline(always)]
pub(crate) fn range(bits: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

#[inline(always)]
fn integer_to_integer(bits: u64, from: ScalarType, to: ScalarType, saturate: bool) -> u64 {
    let mut value = extend(bits, from);
    if saturate {
        let (least, most) = range(to.bits(), to.is_signed());
        value = value.clamp(least, most);
    }
    // Truncated to the type, which has an effect only without `.sat`, then extended to the register.
    extend(value as u64, to) as u64
}

fn integer_to_float(value: i128, to: ScalarType, modes: Modes) -> u64 {
    // Both halves are exact in f64.
    let (high, low) = ((value >> 32) as f64 * 4_294_967_296.0, (value & 0xffff_ffff) as f64);
    match format(to) {
        Some((format, shift)) => u64::from(round(add_odd(high, low), format, modes) << shift),
        None => {
            let rounded = match toward(modes.direction) {
                None => value as f64,
                Some(round) => {
                    f64::from_bits(Double::from_i128_r(value, round).value.to_bits() as u64)
                }
            };
            if modes.saturate { saturated(rounded).to_bits() } else { rounded.to_bits() }
        }
    }
}

/// A value clamped to 0..=1; NaN and -0 become +0.
#[inline(always)]
fn saturated(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The value of a float of any width.
#[inline(always)]
pub(crate) fn any_value(bits: u64, scalar: ScalarType) -> f64 {
    if scalar == ScalarType::F64 { f64::from_bits(bits) } else { value(bits as u32, scalar) }
}

#[inline(always)]
fn float_to_integer(bits: u64, from: ScalarType, to: ScalarType, modes: Modes) -> u64 {
    let flushes = modes.flush && from == ScalarType::F32;
    let bits = if flushes { u64::from(flushed(bits as u32, from)) } else { bits };
    let value = any_value(bits, from);
    /// A sum with this has an integer of 32 bits in its low half.
    const INTEGERS: f64 = (3_u64 << 51) as f64;
    let integral = to_integral(value, modes.direction);
    let number = match (to.bits(), to.is_signed()) {
        // The casts saturate.
        (64, true) => integral as i64 as u64,
        (64, false) => integral as u64,
        (_, is_signed) => {
            let (least, most) = range(to.bits(), to.is_signed());
            let number = integral.clamp(least as f64, most as f64) + INTEGERS;
            if is_signed { number.to_bits() as i32 as u64 } else { number.to_bits() as u32 as u64 }
        }
    };
    // NaN becomes 0 or the most significant bit. [PTX ISA, cvt: "In float-to-integer conversions, NaN inputs"]
    let is_zero = from != ScalarType::F64 && to.bits() < 64;
    let of_nan = if is_zero { 0 } else { extend(1 << (to.bits() - 1), to) as u64 };
    if value.is_nan() { of_nan } else { number }
}

#[inline(always)]
fn float_to_float(
    bits: u64,
    from: ScalarType,
    to: ScalarType,
    modes: Modes,
    is_integral: bool,
) -> u64 {
    // Only f32 is flushed. Subnormal f16 values are normal in f32, and are kept. [PTX ISA, cvt: "Subnormal numbers"]
    let flushes = |scalar| modes.flush && scalar == ScalarType::F32;
    let bits = if flushes(from) { u64::from(flushed(bits as u32, from)) } else { bits };
    let mut value = any_value(bits, from);
    if value.is_nan()
        && !modes.saturate
        && let Some(nan) = converted_nan(bits, from, to, modes)
    {
        return nan;
    }
    if is_integral {
        value = to_integral(value, modes.direction).copysign(value);
    }
    let direction = if is_integral { Direction::Nearest } else { modes.direction };
    match format(to) {
        Some((format, shift)) => {
            let modes = Modes { direction, flush: flushes(to), ..modes };
            u64::from(round(value, format, modes) << shift)
        }
        None if to == ScalarType::Ue8m0 => u64::from(to_scale(value as f32, modes)),
        None if modes.saturate => saturated(value).to_bits(),
        None => value.to_bits(),
    }
}

/// The NaN of a conversion that keeps payloads on an H100: those to f64 and `cvt.rna.tf32`. Others have one NaN. [measured]
/// From f64 to narrower floats and in `cvt.f32.bf16`, an H100 keeps the bits that fit, too; here that is the one NaN,
/// because a program cannot rely on what ptxas makes of them.
#[inline(always)]
fn converted_nan(bits: u64, from: ScalarType, to: ScalarType, modes: Modes) -> Option<u64> {
    use ScalarType::{Bf16, F16, F32, F64, Tf32};
    Some(match (from, to) {
        (F64, F64) => bits | QUIET,
        (F16 | Bf16 | F32, F64) => {
            let (format, _) = format(from)?;
            // `.ftz` is a sum of f32, which has one NaN.
            let bits = if modes.flush && from == F32 { format.nan.into() } else { bits };
            let sign = if bits & u64::from(format.sign) != 0 { 1 << 63 } else { 0 };
            let payload = bits << (64 - format.fraction) >> 12;
            sign | f64::INFINITY.to_bits() | payload | QUIET
        }
        (F32, Tf32) if modes.direction == Direction::Away => {
            let step = if modes.finite { 1 << 13 } else { 0 };
            (bits & !0x1fff) - step
        }
        _ => return None,
    })
}
