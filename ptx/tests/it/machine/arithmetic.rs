//! Instructions against plain Rust or wider arithmetic, on values at the edges.

use super::{launch, module};
use warpload_ptx::launch::KernelLaunch;

/// Integers at the edges of every width, and what lies between.
pub(super) const INTEGERS: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xfedc_ba98_7654_3210,
    u64::MAX,
];

/// Floats at the edges: zeros, subnormals, neighbours of 1, halves, the largest, infinity, NaN.
const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.000_000_1,
    0.999_999_9,
    0.5,
    -0.5,
    1.5,
    2.5,
    3.0,
    1e-3,
    123_456.79,
    -7.25e8,
    1e-40,
    -1.4e-45,
    1.175_494_4e-38,
    3.402_823_5e38,
    6.5e4,
    5.96e-8,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Evaluates `d = f(a, b, c)` for all triples of 64-bit patterns, one per thread; `body` reads %rd10, %rd11 and %rd12,
/// and writes %rd13.
pub(super) fn evaluate(body: &str, triples: &[[u64; 3]]) -> Vec<u64> {
    let threads = 64;
    let blocks = triples.len().div_ceil(threads);
    let mut bytes: Vec<u8> =
        triples.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    bytes.resize(blocks * threads * 24, 0);
    let source = module(&format!(
        "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0; mul.wide.u32 %rd3, %r2, 24; add.u64 %rd4, %rd1, %rd3;
        ld.global.u64 %rd10, [%rd4]; ld.global.u64 %rd11, [%rd4+8]; ld.global.u64 %rd12, [%rd4+16];
        mov.u64 %rd13, 0;
        {body}
        st.global.u64 [%rd4], %rd13;"
    ));
    let launched = launch(&source, KernelLaunch::new([blocks as u32, 1, 1], [64, 1, 1]), &[bytes]);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let out = launched.buffers[0].as_chunks::<24>().0.iter();
    let out = out.map(|bytes| u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes")));
    out.take(triples.len()).collect()
}

pub(super) fn triples<V: Copy>(values: &[V], bits: impl Fn(V) -> u64) -> Vec<[u64; 3]> {
    let mut triples = Vec::new();
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate() {
            let c = values[(i * 7 + j * 3) % values.len()];
            triples.push([bits(*a), bits(*b), bits(c)]);
        }
    }
    triples
}

/// Evaluates an instruction on registers A, B, C, D of `bits` for all triples. B32 and C32 are `b` and `c` in 32 bits,
/// which shifts and bit fields of other widths take.
pub(super) fn apply(instruction: &str, bits: u32, triples: &[[u64; 3]]) -> Vec<u64> {
    let (narrow, wide) = match bits {
        16 => (
            "cvt.u16.u64 %h1, %rd10; cvt.u16.u64 %h2, %rd11; cvt.u16.u64 %h3, %rd12;",
            "cvt.u64.u16 %rd13, %h4;",
        ),
        32 => (
            "cvt.u32.u64 %r11, %rd10; cvt.u32.u64 %r12, %rd11; cvt.u32.u64 %r13, %rd12;",
            "cvt.u64.u32 %rd13, %r14;",
        ),
        _ => ("", ""),
    };
    let shift = "cvt.u32.u64 %r12, %rd11; cvt.u32.u64 %r13, %rd12;";
    let names = match bits {
        16 => ["%h1", "%h2", "%h3", "%h4"],
        32 => ["%r11", "%r12", "%r13", "%r14"],
        _ => ["%rd10", "%rd11", "%rd12", "%rd13"],
    };
    let mut written = instruction.replace("B32", "%r12").replace("C32", "%r13");
    for (place, name) in ["A", "B", "C", "D"].iter().zip(names) {
        written = written.replace(place, name);
    }
    evaluate(&format!("{narrow} {shift} {written} {wide}"), triples)
}

/// Compares an instruction with a function for all pairs of integers.
pub(super) fn integers(instruction: &str, bits: u32, expected: impl Fn(u64, u64, u64) -> u64) {
    let mask = u64::MAX >> (64 - bits);
    let triples = triples(&INTEGERS, |value| value & mask);
    let out = apply(instruction, bits, &triples);
    for ([a, b, c], got) in triples.iter().zip(out) {
        let want = expected(*a, *b, *c) & mask;
        assert_eq!(got, want, "{instruction}: {a:#x}, {b:#x}, {c:#x}");
    }
}

#[test]
fn integers_of_32_bits_are_exact() {
    let i = |value: u64| i64::from(value as u32 as i32);
    integers("add.s32 D, A, B;", 32, |a, b, _| a + b);
    integers("sub.s32 D, A, B;", 32, |a, b, _| a.wrapping_sub(b));
    integers("add.sat.s32 D, A, B;", 32, |a, b, _| (a as i32).saturating_add(b as i32) as u64);
    integers("sub.sat.s32 D, A, B;", 32, |a, b, _| (a as i32).saturating_sub(b as i32) as u64);
    integers("mul.lo.s32 D, A, B;", 32, |a, b, _| a.wrapping_mul(b));
    integers("mul.hi.s32 D, A, B;", 32, |a, b, _| ((i(a) * i(b)) >> 32) as u64);
    integers("mul.hi.u32 D, A, B;", 32, |a, b, _| (a * b) >> 32);
    integers("mad.lo.s32 D, A, B, C;", 32, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    integers("mad.hi.s32 D, A, B, C;", 32, |a, b, c| {
        (((i(a) * i(b)) >> 32) as u64).wrapping_add(c)
    });
    integers("mad.hi.u32 D, A, B, C;", 32, |a, b, c| ((a * b) >> 32).wrapping_add(c));
    integers("mul24.lo.s32 D, A, B;", 32, |a, b, _| {
        let low = |value: u64| (value as i64) << 40 >> 40;
        (low(a) * low(b)) as u64
    });
    integers("mul24.hi.u32 D, A, B;", 32, |a, b, _| ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16);
    integers("div.u32 D, A, B;", 32, |a, b, _| a.checked_div(b).unwrap_or(u64::MAX));
    integers("rem.u32 D, A, B;", 32, |a, b, _| a.checked_rem(b).unwrap_or(a));
    integers("div.s32 D, A, B;", 32, |a, b, _| i(a).checked_div(i(b)).unwrap_or(-1) as u64);
    integers("rem.s32 D, A, B;", 32, |a, b, _| i(a).checked_rem(i(b)).unwrap_or(i(a)) as u64);
    integers("min.s32 D, A, B;", 32, |a, b, _| i(a).min(i(b)) as u64);
    integers("max.u32 D, A, B;", 32, |a, b, _| a.max(b));
    integers("abs.s32 D, A;", 32, |a, _, _| i(a).unsigned_abs());
    integers("neg.s32 D, A;", 32, |a, _, _| a.wrapping_neg());
    integers("sad.s32 D, A, B, C;", 32, |a, b, c| i(a).abs_diff(i(b)).wrapping_add(c));
    integers("shl.b32 D, A, B;", 32, |a, b, _| if b > 31 { 0 } else { a << b });
    integers("shr.u32 D, A, B;", 32, |a, b, _| if b > 31 { 0 } else { a >> b });
    integers("shr.s32 D, A, B;", 32, |a, b, _| (i(a) >> b.min(31)) as u64);
    integers("shf.l.wrap.b32 D, A, B, C;", 32, |a, b, c| ((b << 32 | a) << (c & 31)) >> 32);
    integers("shf.r.clamp.b32 D, A, B, C;", 32, |a, b, c| (b << 32 | a) >> c.min(32));
    integers("popc.b32 D, A;", 32, |a, _, _| a.count_ones().into());
    integers("clz.b32 D, A;", 32, |a, _, _| (a as u32).leading_zeros().into());
    integers("brev.b32 D, A;", 32, |a, _, _| (a as u32).reverse_bits().into());
    integers("cnot.b32 D, A;", 32, |a, _, _| u64::from(a == 0));
    integers("bfind.u32 D, A;", 32, |a, _, _| a.checked_ilog2().map_or(u64::MAX, u64::from));
    integers("bfind.shiftamt.s32 D, A;", 32, |a, _, _| {
        let a = if i(a) < 0 { !a & 0xffff_ffff } else { a };
        a.checked_ilog2().map_or(u64::MAX, |bit| u64::from(31 - bit))
    });
    integers("lop3.b32 D, A, B, C, 0x96;", 32, |a, b, c| a ^ b ^ c);
    integers("lop3.b32 D, A, B, C, 0xca;", 32, |a, b, c| (a & b) | (!a & c));
    integers("dp4a.u32.s32 D, A, B, C;", 32, |a, b, c| {
        let products =
            (0..4).map(|k| (a >> (8 * k) & 255) as i64 * i64::from((b >> (8 * k)) as i8));
        (products.sum::<i64>() as u64).wrapping_add(c)
    });
    integers("dp2a.hi.s32.u32 D, A, B, C;", 32, |a, b, c| {
        let products =
            (0..2).map(|k| i64::from((a >> (16 * k)) as i16) * (b >> (16 + 8 * k) & 255) as i64);
        (products.sum::<i64>() as u64).wrapping_add(c)
    });
    integers("prmt.b32 D, A, B, C;", 32, |a, b, c| {
        let bytes = (b << 32 | a).to_le_bytes();
        (0..4).fold(0, |all, place| {
            let selector = c >> (4 * place) & 15;
            let byte = bytes[(selector & 7) as usize];
            let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
            all | u64::from(byte) << (8 * place)
        })
    });
    integers("bfe.s32 D, A, B, C;", 32, |a, b, c| {
        let (pos, len) = (b & 255, c & 255);
        let sign = if len == 0 { 0 } else { a >> (pos + len - 1).min(31) & 1 };
        (0..32).fold(0, |all, bit| {
            let is_inside = bit < len && pos + bit <= 31;
            all | (if is_inside { a >> (pos + bit) & 1 } else { sign }) << bit
        })
    });
    integers("bfi.b32 D, A, B, C32, 9;", 32, |a, b, c| {
        (0..9).fold(b, |all, bit| {
            let at = (c & 255) + bit;
            if at > 31 { all } else { all & !(1 << at) | (a >> bit & 1) << at }
        })
    });
}

#[test]
fn integers_of_16_and_64_bits_are_exact() {
    let i = |value: u64| value as i64;
    integers("add.s16 D, A, B;", 16, |a, b, _| a + b);
    integers("mul.hi.s16 D, A, B;", 16, |a, b, _| {
        ((i64::from(a as i16) * i64::from(b as i16)) >> 16) as u64
    });
    integers("shr.s16 D, A, B32;", 16, |a, b, _| (i64::from(a as i16) >> b.min(15)) as u64);
    integers("min.u16 D, A, B;", 16, |a, b, _| a.min(b));
    integers("add.s64 D, A, B;", 64, |a, b, _| a.wrapping_add(b));
    integers("mul.lo.s64 D, A, B;", 64, |a, b, _| a.wrapping_mul(b));
    integers("mul.hi.s64 D, A, B;", 64, |a, b, _| {
        ((i128::from(i(a)) * i128::from(i(b))) >> 64) as u64
    });
    integers("mul.hi.u64 D, A, B;", 64, |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64);
    integers("div.s64 D, A, B;", 64, |a, b, _| {
        if b == 0 { u64::MAX } else { i(a).wrapping_div(i(b)) as u64 }
    });
    integers("shl.b64 D, A, B32;", 64, |a, b, _| {
        let n = b as u32;
        if n > 63 { 0 } else { a << n }
    });
    integers("shr.s64 D, A, B32;", 64, |a, b, _| (i(a) >> (b as u32).min(63)) as u64);
    integers("max.s64 D, A, B;", 64, |a, b, _| i(a).max(i(b)) as u64);
    integers("brev.b64 D, A;", 64, |a, _, _| a.reverse_bits());
    integers("bfe.u64 D, A, B32, 17;", 64, |a, b, _| {
        let pos = b & 255;
        if pos > 63 { 0 } else { a >> pos & 0x1_ffff }
    });
}

#[test]
fn carries_and_borrows_go_from_word_to_word() {
    let wide = |body: &str, expected: &dyn Fn(u64, u64) -> u64| {
        let triples = triples(&INTEGERS, |value| value);
        let out = evaluate(
            &format!(
                "mov.b64 {{%r11, %r12}}, %rd10; mov.b64 {{%r13, %r14}}, %rd11; {body} mov.b64 %rd13, {{%r15, %r16}};"
            ),
            &triples,
        );
        for ([a, b, _], got) in triples.iter().zip(out) {
            assert_eq!(got, expected(*a, *b), "{body}: {a:#x}, {b:#x}");
        }
    };
    wide("add.cc.u32 %r15, %r11, %r13; addc.u32 %r16, %r12, %r14;", &|a, b| a.wrapping_add(b));
    wide("sub.cc.u32 %r15, %r11, %r13; subc.u32 %r16, %r12, %r14;", &|a, b| a.wrapping_sub(b));
    wide(
        "mul.lo.u32 %r15, %r11, %r13; mul.hi.u32 %r16, %r11, %r13; mad.lo.u32 %r16, %r11, %r14, %r16;
        mad.lo.u32 %r16, %r12, %r13, %r16;",
        &|a, b| a.wrapping_mul(b),
    );
    // The high half of the square of the low words and a carry chain.
    wide("mad.lo.cc.u32 %r15, %r11, %r13, %r12; madc.hi.u32 %r16, %r11, %r13, 0;", &|a, b| {
        (a & 0xffff_ffff) * (b & 0xffff_ffff) + (a >> 32)
    });
}

/// The nearest f32 to the left or the right of an exact value that f64 cannot hold is found by its error.
fn directed(nearest: f32, is_above: bool, is_below: bool, mode: &str) -> f32 {
    // `is_above`: the exact value is above the nearest one.
    match mode {
        "rm" if is_below => nearest.next_down(),
        "rp" if is_above => nearest.next_up(),
        "rz" if is_below && nearest > 0.0 => nearest.next_down(),
        "rz" if is_above && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

#[test]
fn directed_rounding_of_f32_is_that_of_exact_products_and_quotients() {
    let floats: Vec<f32> = FLOATS.iter().map(|value| *value as f32).collect();
    let triples = triples(&floats, |value| value.to_bits().into());
    for mode in ["rn", "rz", "rm", "rp"] {
        let out = evaluate(
            &format!(
                "cvt.u32.u64 %r11, %rd10; cvt.u32.u64 %r12, %rd11; mov.b32 %f1, %r11; mov.b32 %f2, %r12;
                mul.{mode}.f32 %f3, %f1, %f2; mov.b32 %r13, %f3;
                div.{mode}.f32 %f4, %f1, %f2; mov.b32 %r14, %f4; mov.b64 %rd13, {{%r13, %r14}};"
            ),
            &triples,
        );
        for ([a, b, _], got) in triples.iter().zip(out) {
            let (x, y) = (f32::from_bits(*a as u32), f32::from_bits(*b as u32));
            let (product, quotient) =
                (f32::from_bits(got as u32), f32::from_bits((got >> 32) as u32));
            let exact = f64::from(x) * f64::from(y);
            let nearest = x * y;
            if exact.abs() < f64::from(f32::MAX) {
                let wanted =
                    directed(nearest, exact > nearest.into(), exact < nearest.into(), mode);
                assert!(
                    product == wanted || product.is_nan() && wanted.is_nan(),
                    "mul.{mode} {x:e} {y:e}: {product:e}, not {wanted:e}"
                );
            }
            let nearest = x / y;
            if nearest.is_finite() && y != 0.0 && y.is_finite() {
                // The sign of what is left is that of the error, since it is exact in f64.
                let rest = f64::from(x) - f64::from(nearest) * f64::from(y);
                let is_up = if y > 0.0 { rest > 0.0 } else { rest < 0.0 };
                let wanted = directed(nearest, rest != 0.0 && is_up, rest != 0.0 && !is_up, mode);
                assert_eq!(quotient, wanted, "div.{mode} {x:e} {y:e}");
            }
        }
    }
}

#[test]
fn directed_rounding_of_f64_encloses_the_exact_result() {
    let triples = triples(&FLOATS, f64::to_bits);
    let modes = ["rm", "rn", "rp"];
    for name in ["add", "mul", "div", "fma"] {
        let third = if name == "fma" { ", %d3" } else { "" };
        let results = modes.map(|mode| {
            evaluate(
                &format!(
                    "mov.b64 %d1, %rd10; mov.b64 %d2, %rd11; mov.b64 %d3, %rd12;
                    {name}.{mode}.f64 %d4, %d1, %d2{third}; mov.b64 %rd13, %d4;"
                ),
                &triples,
            )
        });
        for (place, [a, b, c]) in triples.iter().enumerate() {
            let [down, near, up] = [0, 1, 2].map(|mode| f64::from_bits(results[mode][place]));
            let [a, b, c] = [*a, *b, *c].map(f64::from_bits);
            let wanted = match name {
                "add" => a + b,
                "mul" => a * b,
                "div" => a / b,
                _ => a.mul_add(b, c),
            };
            assert!(near == wanted || near.is_nan() && wanted.is_nan(), "{name} {a:e} {b:e}");
            if near.is_nan() {
                continue;
            }
            assert!(
                down <= near && near <= up,
                "{name} {a:e} {b:e} {c:e}: {down:e} {near:e} {up:e}"
            );
            assert!(
                down == up || down.next_up() == up,
                "{name} {a:e} {b:e} {c:e}: {down:e} {up:e}"
            );
        }
    }
}

#[test]
fn halves_are_rounded_once() {
    // Every f16 times a few: products of f16 are exact in f32, and rounding once is what `half` does.
    let others = [0x3c00_u16, 0x3555, 0xbc01, 0x0001, 0x7bff, 0x8400, 0x3bff];
    let triples: Vec<[u64; 3]> = (0..=u16::MAX)
        .step_by(7)
        .flat_map(|a| others.map(|b| [u64::from(a), u64::from(b), u64::from(a.rotate_left(5))]))
        .collect();
    let out = evaluate(
        "cvt.u16.u64 %h1, %rd10; cvt.u16.u64 %h2, %rd11; cvt.u16.u64 %h3, %rd12;
        add.f16 %h4, %h1, %h2; mul.f16 %h5, %h1, %h2; fma.rn.f16 %h6, %h1, %h2, %h3; sub.f16 %h7, %h1, %h2;
        mov.b64 %rd13, {%h4, %h5, %h6, %h7};",
        &triples,
    );
    for ([a, b, c], got) in triples.iter().zip(out) {
        let [x, y, z] = [*a, *b, *c].map(|bits| half::f16::from_bits(bits as u16).to_f64());
        // Sums and products of two are exact in f64; so is the sum of a product and a third within 53 bits.
        let product = x * y;
        let exact = [x + y, product, product + z, x - y];
        for (place, exact) in exact.into_iter().enumerate() {
            let result = half::f16::from_bits((got >> (16 * place)) as u16);
            let wide = place == 2 && (product != 0.0 && z != 0.0) && {
                let spread = (product.abs().log2() - z.abs().log2()).abs();
                spread > 30.0
            };
            if wide {
                continue;
            }
            let wanted = half::f16::from_f64(exact);
            assert!(
                result == wanted || result.is_nan() && wanted.is_nan(),
                "operation {place} of {x:e}, {y:e}, {z:e}: {result:e}, not {wanted:e}"
            );
        }
    }
}

#[test]
fn floats_become_integers_and_back() {
    let triples = triples(&FLOATS, f64::to_bits);
    let convert = |name: &str| evaluate(&format!("mov.b64 %d1, %rd10; {name}"), &triples);
    let nearest = convert("cvt.rni.s32.f64 %r11, %d1; cvt.u64.u32 %rd13, %r11;");
    let down = convert("cvt.rmi.s64.f64 %rd13, %d1;");
    let single = convert("cvt.rn.f32.f64 %f1, %d1; mov.b32 %r11, %f1; cvt.u64.u32 %rd13, %r11;");
    for (place, [a, ..]) in triples.iter().enumerate() {
        let value = f64::from_bits(*a);
        if !value.is_nan() {
            assert_eq!(nearest[place] as u32 as i32, value.round_ties_even() as i32, "{value:e}");
            assert_eq!(down[place] as i64, value.floor() as i64, "{value:e}");
            assert_eq!(f32::from_bits(single[place] as u32), value as f32, "{value:e}");
        }
    }
    let triples = self::triples(&INTEGERS, |value| value);
    let floats = evaluate("cvt.rz.f64.u64 %d1, %rd10; mov.b64 %rd13, %d1;", &triples);
    for ([a, ..], got) in triples.iter().zip(floats) {
        let got = f64::from_bits(got);
        let exact = u128::from(*a);
        let is_next_beyond = got as u128 == exact || got.next_up() as u128 > exact;
        assert!(got as u128 <= u128::from(*a) && is_next_beyond, "{a:#x}: {got:e}");
    }
}
