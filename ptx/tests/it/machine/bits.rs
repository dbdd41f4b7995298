//! Bit fields, bytes, dot products and address spaces against plain Rust.

use super::arithmetic::{INTEGERS, evaluate, integers};
use super::run;

/// A bit field bit by bit. [PTX ISA, bfe, "Semantics"]
fn field(a: u64, position: u64, length: u64, bits: u64, is_signed: bool) -> u64 {
    let (position, length) = (position & 255, length & 255);
    let last = (position + length).wrapping_sub(1).min(bits - 1);
    let sign = u64::from(is_signed && length != 0) & a >> last;
    let bit = |at: u64| match at {
        _ if at < length && position + at < bits => a >> (position + at) & 1,
        _ => sign & 1,
    };
    (0..bits).fold(0, |all, at| all | bit(at) << at)
}

#[test]
fn bit_fields() {
    integers("bfe.u32 D, A, B, C;", 32, |a, b, c| field(a, b, c, 32, false));
    integers("bfe.s32 D, A, B, C;", 32, |a, b, c| field(a, b, c, 32, true));
    integers("bfe.u64 D, A, B32, C32;", 64, |a, b, c| field(a, b, c, 64, false));
    integers("bfe.s64 D, A, B32, C32;", 64, |a, b, c| field(a, b, c, 64, true));
    // The value goes into its own complement.
    let inserted = |a: u64, position: u64, length: u64, bits: u64| {
        let (position, length) = (position & 255, length & 255);
        let is_inside = |at: &u64| *at >= position && at - position < length;
        (0..bits)
            .filter(is_inside)
            .fold(!a, |all, at| all & !(1 << at) | (a >> (at - position) & 1) << at)
    };
    integers("not.b32 D, A; bfi.b32 D, A, D, B, C;", 32, |a, b, c| inserted(a, b, c, 32));
    integers("not.b64 D, A; bfi.b64 D, A, D, B32, C32;", 64, |a, b, c| inserted(a, b, c, 64));
    integers("bmsk.clamp.b32 D, A, B;", 32, |a, b, _| {
        (a..a + b.min(32)).filter(|at| *at < 32).fold(0, |all, at| all | 1 << at)
    });
    integers("bmsk.wrap.b32 D, A, B;", 32, |a, b, _| {
        let (a, b) = (a & 31, b & 31);
        (a..a + b).filter(|at| *at < 32).fold(0, |all, at| all | 1 << at)
    });
    for (name, is_signed, is_clamped) in [
        ("clamp.u32", false, true),
        ("clamp.s32", true, true),
        ("wrap.u32", false, false),
        ("wrap.s32", true, false),
    ] {
        integers(&format!("szext.{name} D, A, B;"), 32, |a, b, _| {
            let length = if is_clamped { b.min(32) } else { b & 31 };
            field(a, 0, length, 32, is_signed)
        });
    }
}

#[test]
fn bits_are_found_and_counted() {
    for (name, bits) in [("32", 32_u32), ("64", 64)] {
        let all = u64::MAX >> (64 - bits);
        let negative = move |a: u64| a >> (bits - 1) & 1 != 0;
        for is_signed in [false, true] {
            // The highest bit that is not the sign.
            let place = move |a: u64| {
                let bare = if is_signed && negative(a) { !a & all } else { a };
                bare.checked_ilog2()
            };
            let sign = if is_signed { "s" } else { "u" };
            integers(&format!("bfind.{sign}{name} D, A;"), bits, |a, _, _| {
                place(a).map_or(0xffff_ffff, u64::from)
            });
            integers(&format!("bfind.shiftamt.{sign}{name} D, A;"), bits, |a, _, _| {
                place(a).map_or(0xffff_ffff, |at| u64::from(bits - 1 - at))
            });
        }
        integers(&format!("popc.b{name} D, A;"), bits, |a, _, _| a.count_ones().into());
        integers(&format!("clz.b{name} D, A;"), bits, |a, _, _| {
            u64::from(a.leading_zeros() - (64 - bits))
        });
        integers(&format!("brev.b{name} D, A;"), bits, |a, _, _| a.reverse_bits() >> (64 - bits));
        integers(&format!("cnot.b{name} D, A;"), bits, |a, _, _| (a == 0).into());
        integers(&format!("not.b{name} D, A;"), bits, |a, _, _| !a);
    }
    integers("and.b32 B, B, 31; fns.b32 D, A, B, C;", 32, |mask, base, offset| {
        let offset = i64::from(offset as i32);
        let is_set = |at: &u64| mask >> at & 1 != 0;
        let base = base & 31;
        let found = match offset {
            0 => Some(base).filter(is_set),
            1.. => (base..32).filter(is_set).nth(offset as usize - 1),
            _ => (0..=base).rev().filter(is_set).nth(offset.unsigned_abs() as usize - 1),
        };
        found.unwrap_or(0xffff_ffff)
    });
}

#[test]
fn bytes_are_permuted_in_every_mode() {
    let chosen = |a: u64, b: u64, at: [u64; 4]| {
        let bytes = (b << 32 | a).to_le_bytes();
        u64::from(u32::from_le_bytes(at.map(|at| bytes[at as usize & 7])))
    };
    let each = [0, 1, 2, 3_u64];
    type Mode = fn(u64, u64) -> u64;
    // The byte of each place of the result. [PTX ISA, prmt, "Semantics"]
    let modes: [(&str, Mode); 6] = [
        ("f4e", |at, by| by + at),
        ("b4e", |at, by| by.wrapping_sub(at)),
        ("rc8", |_, by| by),
        ("ecl", |at, by| at.max(by)),
        ("ecr", |at, by| at.min(by)),
        ("rc16", |at, by| (by & 1) * 2 + (at & 1)),
    ];
    for (name, byte) in modes {
        integers(&format!("prmt.b32.{name} D, A, B, C;"), 32, |a, b, c| {
            chosen(a, b, each.map(|at| byte(at, c & 3)))
        });
    }
    let plain_mode = |a, b, c: u64| {
        let plain = chosen(a, b, each.map(|at| c >> (4 * at) & 7));
        each.into_iter().fold(plain, |all, at| {
            let byte = plain >> (8 * at) & 255;
            let sign = if byte & 0x80 != 0 { 255 } else { 0 };
            let is_sign = c >> (4 * at + 3) & 1 != 0;
            if is_sign { all & !(255 << (8 * at)) | sign << (8 * at) } else { all }
        })
    };
    integers("prmt.b32 D, A, B, C;", 32, plain_mode);
    for selectors in [0x3210, 0x7654, 0x9bdf, 0x8040, 0xfedc] {
        integers(&format!("prmt.b32 D, A, B, {selectors};"), 32, |a, b, _| {
            plain_mode(a, b, selectors)
        });
    }
}

#[test]
fn shifts_and_differences_of_every_width() {
    let funnel = |a: u64, b: u64| b << 32 | a;
    integers("shf.l.wrap.b32 D, A, B, C;", 32, |a, b, c| (funnel(a, b) << (c & 31)) >> 32);
    integers("shf.l.clamp.b32 D, A, B, C;", 32, |a, b, c| (funnel(a, b) << c.min(32)) >> 32);
    integers("shf.r.wrap.b32 D, A, B, C;", 32, |a, b, c| funnel(a, b) >> (c & 31));
    integers("shf.r.clamp.b32 D, A, B, C;", 32, |a, b, c| funnel(a, b) >> c.min(32));
    for bits in [16, 32, 64] {
        let signed = |value: u64| ((value << (64 - bits)) as i64) >> (64 - bits);
        integers(&format!("sad.u{bits} D, A, B, C;"), bits, |a, b, c| {
            a.abs_diff(b).wrapping_add(c)
        });
        integers(&format!("sad.s{bits} D, A, B, C;"), bits, |a, b, c| {
            signed(a).abs_diff(signed(b)).wrapping_add(c)
        });
        let amount = if bits == 32 { "B" } else { "B32" };
        let by = |b: u64| (b as u32).min(bits);
        integers(&format!("shl.b{bits} D, A, {amount};"), bits, |a, b, _| {
            a.checked_shl(by(b)).unwrap_or(0)
        });
        integers(&format!("shr.u{bits} D, A, {amount};"), bits, |a, b, _| {
            a.checked_shr(by(b)).unwrap_or(0)
        });
        integers(&format!("shr.s{bits} D, A, {amount};"), bits, |a, b, _| {
            (signed(a) >> by(b).min(63)) as u64
        });
    }
    let low = |value: u64| (value as i64) << 40 >> 40;
    integers("mad24.lo.s32 D, A, B, C;", 32, |a, b, c| ((low(a) * low(b)) as u64).wrapping_add(c));
    integers("mad24.hi.s32 D, A, B, C;", 32, |a, b, c| {
        (((low(a) * low(b)) >> 16) as u64).wrapping_add(c)
    });
    integers("mad24.hi.sat.s32 D, A, B, C;", 32, |a, b, c| {
        (((low(a) * low(b)) >> 16) as i32).saturating_add(c as i32) as u64
    });
    integers("mul24.hi.s32 D, A, B;", 32, |a, b, _| ((low(a) * low(b)) >> 16) as u64);
}

#[test]
fn dot_products_of_every_sign() {
    let part = |value: u64, width: u64, at: u64, is_signed: bool| {
        let high = value << (64 - width * (at + 1));
        if is_signed { high as i64 >> (64 - width) } else { (high >> (64 - width)) as i64 }
    };
    for (first, second) in [("u32", "u32"), ("s32", "s32"), ("u32", "s32"), ("s32", "u32")] {
        let (a_signed, b_signed) = (first == "s32", second == "s32");
        integers(&format!("dp4a.{first}.{second} D, A, B, C;"), 32, |a, b, c| {
            let products = (0..4).map(|at| part(a, 8, at, a_signed) * part(b, 8, at, b_signed));
            (products.sum::<i64>() as u64).wrapping_add(c)
        });
        for (half, from) in [("lo", 0), ("hi", 2)] {
            integers(&format!("dp2a.{half}.{first}.{second} D, A, B, C;"), 32, |a, b, c| {
                let products =
                    (0..2).map(|at| part(a, 16, at, a_signed) * part(b, 8, from + at, b_signed));
                (products.sum::<i64>() as u64).wrapping_add(c)
            });
        }
    }
}

#[test]
fn tables_of_three_bits() {
    // The columns of the truth table: the result is the table itself.
    let columns = [[0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa]];
    for first in (0..256).step_by(16) {
        let body: String = (first..first + 16)
            .map(|table| {
                format!(
                    "lop3.b32 %r14, %r11, %r12, %r13, {table}; setp.eq.u32 %p1, %r14, {};
                    selp.u64 %rd14, 1, 0, %p1; add.u64 %rd13, %rd13, %rd14;",
                    table * 0x0101_0101_u64
                )
            })
            .collect();
        let load = "cvt.u32.u64 %r11, %rd10; cvt.u32.u64 %r12, %rd11; cvt.u32.u64 %r13, %rd12;";
        assert_eq!(evaluate(&format!("{load} {body}"), &columns), [16], "tables from {first}");
    }
}

#[test]
fn halves_of_a_word_are_apart() {
    let halves = |a: u64, b: u64, of: fn(i32, i32) -> i32, is_signed: bool| {
        let value = |word: u64, shift: u32| match is_signed {
            true => i32::from((word >> shift) as i16),
            false => i32::from((word >> shift) as u16),
        };
        let part = |shift: u32| (of(value(a, shift), value(b, shift)) as u64 & 0xffff) << shift;
        part(0) | part(16)
    };
    for (scalar, is_signed) in [("u16x2", false), ("s16x2", true)] {
        for (name, of) in [
            ("add", (|a, b| a + b) as fn(i32, i32) -> i32),
            ("min", |a, b| a.min(b)),
            ("max", |a, b| a.max(b)),
        ] {
            integers(&format!("{name}.{scalar} D, A, B;"), 32, |a, b, _| {
                halves(a, b, of, is_signed)
            });
        }
    }
    integers("min.relu.s16x2 D, A, B;", 32, |a, b, _| halves(a, b, |a, b| a.min(b).max(0), true));
    integers("max.relu.s32 D, A, B;", 32, |a, b, _| (a as i32).max(b as i32).max(0) as u64);
}

#[test]
fn a_sign_chooses() {
    integers("slct.b32.s32 D, A, B, C;", 32, |a, b, c| if (c as i32) < 0 { b } else { a });
    let chosen = |a: u64, b: u64, c: u64, flush: bool| {
        let value = f32::from_bits(c as u32);
        let is_flushed = flush && value.is_subnormal();
        if value >= 0.0 || is_flushed { a } else { b }
    };
    integers("slct.u32.f32 D, A, B, C;", 32, |a, b, c| chosen(a, b, c, false));
    // Negative ones, because zero is the same as positive ones.
    for (name, flush) in [("slct", false), ("slct.ftz", true)] {
        let instruction = format!("or.b32 C, C, 0x80000000; {name}.u32.f32 D, A, B, C;");
        integers(&instruction, 32, |a, b, c| chosen(a, b, c | 1 << 31, flush));
    }
    // Subnormal halves compare as zero where they are flushed.
    integers("setp.gt.ftz.f16 %p1, A, 0; selp.b16 D, 1, 0, %p1;", 16, |a, _, _| {
        (half::f16::from_bits(a as u16) > half::f16::ZERO && a >= 0x400).into()
    });
}

#[test]
fn addresses_go_to_generic_ones_and_back() {
    // A bit for each question: is it where it should be, and is the value there that was stored?
    let out = run(
        ".shared .align 8 .b32 s[64]; .global .align 8 .b32 g[64]; ---
        .local .align 8 .b32 l[4];
        mov.u64 %rd3, s; mov.u64 %rd4, g; mov.u64 %rd5, l; mul.wide.u32 %rd6, %r0, 4;
        add.u64 %rd3, %rd3, %rd6; add.u64 %rd4, %rd4, %rd6;
        cvta.shared.u64 %rd13, %rd3; cvta.global.u64 %rd14, %rd4; cvta.local.u64 %rd15, %rd5;
        st.u32 [%rd13], 5; st.u32 [%rd14], 6; st.u32 [%rd15], 7;
        ld.shared.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd4]; ld.local.u32 %r5, [%rd5];
        cvta.to.shared.u64 %rd23, %rd13; cvta.to.global.u64 %rd24, %rd14; cvta.to.local.u64 %rd25, %rd15;
        mov.u32 %r9, 0;
        isspacep.shared %p1, %rd13; @%p1 or.b32 %r9, %r9, 1;
        isspacep.shared %p1, %rd14; @%p1 or.b32 %r9, %r9, 2;
        isspacep.shared %p1, %rd15; @%p1 or.b32 %r9, %r9, 4;
        isspacep.global %p1, %rd13; @%p1 or.b32 %r9, %r9, 8;
        isspacep.global %p1, %rd14; @%p1 or.b32 %r9, %r9, 16;
        isspacep.global %p1, %rd15; @%p1 or.b32 %r9, %r9, 32;
        isspacep.local %p1, %rd13; @%p1 or.b32 %r9, %r9, 64;
        isspacep.local %p1, %rd14; @%p1 or.b32 %r9, %r9, 128;
        isspacep.local %p1, %rd15; @%p1 or.b32 %r9, %r9, 256;
        setp.eq.u32 %p1, %r3, 5; @%p1 or.b32 %r9, %r9, 512;
        setp.eq.u32 %p1, %r4, 6; @%p1 or.b32 %r9, %r9, 1024;
        setp.eq.u32 %p1, %r5, 7; @%p1 or.b32 %r9, %r9, 2048;
        setp.eq.u64 %p1, %rd23, %rd3; @%p1 or.b32 %r9, %r9, 4096;
        setp.eq.u64 %p1, %rd24, %rd4; @%p1 or.b32 %r9, %r9, 8192;
        setp.eq.u64 %p1, %rd25, %rd5; @%p1 or.b32 %r9, %r9, 16384;
        st.global.u32 [%rd2], %r9;",
        64,
    );
    assert_eq!(out, [0x7e00 | 1 | 16 | 256; 64]);
}

/// The value of the low bits of a register, and the bits of a register with a value.
fn value(bits: u64, scalar: &str) -> i128 {
    let unused = 128 - scalar[1..].parse::<u32>().expect("a width");
    let high = u128::from(bits) << unused;
    if scalar.starts_with('s') { high as i128 >> unused } else { (high >> unused) as i128 }
}

#[test]
fn integers_are_cut_off_extended_or_saturated() {
    const TYPES: [&str; 8] = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"];
    let triples: Vec<[u64; 3]> = INTEGERS
        .iter()
        .flat_map(|value| [*value, !value, value.rotate_left(7) | 0x80])
        .map(|value| [value, 0, 0])
        .collect();
    // Registers of each width; wider ones than the type's take the result extended.
    let registers = [(16, "%h4"), (32, "%r14"), (64, "%rd13")];
    for from in TYPES {
        let (source, narrow) = match &from[1..] {
            "8" | "16" => ("%h1", "cvt.u16.u64 %h1, %rd10;"),
            "32" => ("%r11", "cvt.u32.u64 %r11, %rd10;"),
            _ => ("%rd10", ""),
        };
        for to in TYPES {
            for saturates in [false, true] {
                for (width, register) in registers {
                    let bits = to[1..].parse::<u32>().expect("a width");
                    if width < bits {
                        continue;
                    }
                    let sat = if saturates { ".sat" } else { "" };
                    let instruction = format!("cvt{sat}.{to}.{from} {register}, {source};");
                    let wide = match width {
                        16 => "cvt.u64.u16 %rd13, %h4;",
                        32 => "cvt.u64.u32 %rd13, %r14;",
                        _ => "",
                    };
                    let out = evaluate(&format!("{narrow} {instruction} {wide}"), &triples);
                    for ([a, ..], got) in triples.iter().zip(out) {
                        let exact = value(*a, from);
                        let (least, most) = match to.starts_with('s') {
                            true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
                            false => (0, (1 << bits) - 1),
                        };
                        let result = if saturates { exact.clamp(least, most) } else { exact };
                        let wanted = value(result as u64, to) as u64 & (u64::MAX >> (64 - width));
                        assert_eq!(got, wanted, "{instruction} {a:#x}");
                    }
                }
            }
        }
    }
}

/// The result of a comparison of PTX, of two values that may have no order.
fn compared(name: &str, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let Some(order) = order else {
        return matches!(name, "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "nan");
    };
    match name {
        "num" => true,
        "nan" => false,
        _ => match &name[..2] {
            "eq" => order == Equal,
            "ne" => order != Equal,
            "lt" | "lo" => order == Less,
            "le" | "ls" => order != Greater,
            "gt" | "hi" => order == Greater,
            _ => order != Less,
        },
    }
}

#[test]
fn three_bits_set_a_predicate() {
    // The result is 0 for one pair in many: of equal values, and of an even one and 1.
    for (join, joined) in
        [("and", (|a, b| a && b) as fn(bool, bool) -> bool), ("or", |a, b| a || b)]
    {
        for (table, of) in [("0x3c", (|a, b| a ^ b) as fn(u64, u64) -> u64), ("0xc0", |a, b| a & b)]
        {
            let instruction = format!(
                "setp.gt.u32 %p3, A, B; lop3.{join}.b32 D|%p1, A, B, C, {table}, %p3; mov.b32 D, 0;"
            );
            check_predicates(
                &instruction,
                32,
                &[0, 1, 2, 3, 5, 0x8000_0000, 0xffff_ffff],
                |a, b| [joined(of(a, b) != 0, a > b), false],
            );
        }
    }
    integers("lop3.or.b32 D|%p1, A, B, C, 0x96, 0;", 32, |a, b, c| a ^ b ^ c);
}

/// An instruction that leaves a bit for each of %p1 and %p2.
fn check_predicates(
    instruction: &str,
    bits: u32,
    values: &[u64],
    wanted: impl Fn(u64, u64) -> [bool; 2],
) {
    let triples = super::arithmetic::triples(values, |value| value);
    let (second, to) = match bits {
        16 => ("mov.b16 %h5, 1; mov.b16 %h6, 2; or.b16", ["D", "%h5", "%h6"]),
        32 => ("mov.b32 %r5, 1; mov.b32 %r6, 2; or.b32", ["D", "%r5", "%r6"]),
        _ => ("mov.b64 %rd5, 1; mov.b64 %rd6, 2; or.b64", ["D", "%rd5", "%rd6"]),
    };
    let [d, one, two] = to;
    let body = format!(
        "xor.b{bits} {d}, {d}, {d}; setp.ne.u32 %p2, 0, 0; {instruction}
        {second} {one}, {one}, {d}; @%p1 mov.b{bits} {d}, {one}; or.b{bits} {two}, {two}, {d};
        @%p2 mov.b{bits} {d}, {two};"
    );
    let out = super::arithmetic::apply(&body, bits, &triples);
    for ([a, b, _], got) in triples.iter().zip(out) {
        let [first, second] = wanted(*a, *b).map(u64::from);
        assert_eq!(got, first | second << 1, "{instruction} {a:#x} {b:#x}");
    }
}

#[test]
fn comparisons_of_every_type() {
    for bits in [16_u32, 32, 64] {
        let values: Vec<u64> = INTEGERS.map(|value| value & (u64::MAX >> (64 - bits))).into();
        let signed = |value: u64| ((value << (64 - bits)) as i64) >> (64 - bits);
        for name in ["eq", "ne", "lt", "le", "gt", "ge"] {
            check_predicates(
                &format!("setp.{name}.s{bits} %p1|%p2, A, B;"),
                bits,
                &values,
                |a, b| {
                    let is_true = compared(name, Some(signed(a).cmp(&signed(b))));
                    [is_true, !is_true]
                },
            );
            check_predicates(&format!("setp.{name}.u{bits} %p1, A, B;"), bits, &values, |a, b| {
                [compared(name, Some(a.cmp(&b))), false]
            });
        }
        for name in ["lo", "ls", "hi", "hs"] {
            check_predicates(&format!("setp.{name}.u{bits} %p1, A, B;"), bits, &values, |a, b| {
                [compared(name, Some(a.cmp(&b))), false]
            });
        }
        // Joined to a predicate: both results, each with its own comparison.
        let joined = format!("setp.gt.u{bits} %p3, A, 7; setp.le.and.s{bits} %p1|%p2, A, B, %p3;");
        check_predicates(&joined, bits, &values, |a, b| {
            let is_true = signed(a) <= signed(b);
            [is_true && a > 7, !is_true && a > 7]
        });
        let joined = format!("setp.gt.u{bits} %p3, A, 7; setp.lt.xor.u{bits} %p1|%p2, A, B, !%p3;");
        check_predicates(&joined, bits, &values, |a, b| {
            [(a < b) != (a <= 7), (a >= b) != (a <= 7)]
        });
    }
    let names = [
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    ];
    type Value = fn(u64) -> f64;
    let floats: [(&str, u32, u32, Value); 4] = [
        ("f16", 16, 10, |bits| half::f16::from_bits(bits as u16).to_f64()),
        ("bf16", 16, 7, |bits| half::bf16::from_bits(bits as u16).to_f64()),
        ("f32", 32, 23, |bits| f32::from_bits(bits as u32).into()),
        ("f64", 64, 52, f64::from_bits),
    ];
    for (scalar, bits, fraction, value) in floats {
        let values = super::floats::edges(bits, fraction);
        for name in names {
            let instruction = format!("setp.{name}.{scalar} %p1|%p2, A, B;");
            check_predicates(&instruction, bits, &values, |a, b| {
                let is_true = compared(name, value(a).partial_cmp(&value(b)));
                [is_true, !is_true]
            });
        }
    }
    let flushed = |bits: u64| {
        let value = f32::from_bits(bits as u32);
        if value.is_subnormal() { 0.0 } else { value }
    };
    let values = super::floats::edges(32, 23);
    for name in ["lt", "ge", "eq", "neu"] {
        check_predicates(&format!("setp.{name}.ftz.f32 %p1, A, B;"), 32, &values, |a, b| {
            [compared(name, flushed(a).partial_cmp(&flushed(b))), false]
        });
    }
    for (name, class) in [
        ("finite", f32::is_finite as fn(f32) -> bool),
        ("infinite", f32::is_infinite),
        ("number", |value| !value.is_nan()),
        ("notanumber", f32::is_nan),
        // ptxas folds `testp.normal` of a zero to true.
        ("normal", |value| value.is_normal() || value == 0.0),
        ("subnormal", f32::is_subnormal),
    ] {
        check_predicates(&format!("testp.{name}.f32 %p1, A;"), 32, &values, |a, _| {
            [class(f32::from_bits(a as u32)), false]
        });
    }
    // Halves of a register, a predicate for each.
    let halves = super::floats::edges(16, 10);
    let pairs: Vec<u64> =
        halves.iter().zip(halves.iter().rev()).map(|(a, b)| a | b << 16).collect();
    check_predicates("setp.ltu.f16x2 %p1|%p2, A, B;", 32, &pairs, |a, b| {
        let value = |bits: u64| half::f16::from_bits(bits as u16).to_f64();
        [0, 16].map(|shift| compared("ltu", value(a >> shift).partial_cmp(&value(b >> shift))))
    });
}

#[test]
fn registers_of_128_bits_are_taken_apart_and_put_together() {
    // Rotated by a word, as words and as double words.
    let out = run(
        ".reg .b128 %q<3>; mov.u32 %r1, %r0; add.u32 %r2, %r0, 100; add.u32 %r3, %r0, 200; add.u32 %r4, %r0, 300;
        mov.b128 %q1, {%r1, %r2, %r3, %r4}; mov.b128 {%rd10, %rd11}, %q1;
        mov.b64 {%r5, %r6}, %rd10; mov.b64 {%r7, %r8}, %rd11;
        mov.b128 %q2, {%rd11, %rd10}; mov.b128 {%r11, %r12, %r13, %r14}, %q2;
        xor.b32 %r5, %r5, %r1; xor.b32 %r6, %r6, %r2; xor.b32 %r7, %r7, %r3; xor.b32 %r8, %r8, %r4;
        xor.b32 %r11, %r11, %r3; xor.b32 %r12, %r12, %r4; xor.b32 %r13, %r13, %r1; xor.b32 %r14, %r14, %r2;
        or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8; or.b32 %r5, %r5, %r11;
        or.b32 %r5, %r5, %r12; or.b32 %r5, %r5, %r13; or.b32 %r5, %r5, %r14; add.u32 %r5, %r5, 1;
        st.global.u32 [%rd2], %r5;",
        32,
    );
    assert_eq!(out, [1; 32]);
}
