//! Floats of every width against soft floats, which round exactly in every direction.

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::arithmetic::apply;

/// Bit patterns at the edges of a format: zeros, subnormal, near 1, largest, infinity, NaN, and a few drawn ones.
pub(super) fn edges(bits: u32, fraction: u32) -> Vec<u64> {
    let one = ((1_u64 << (bits - 2 - fraction)) - 1) << fraction;
    let (infinity, least) = ((1 << (bits - 1)) - (1 << fraction), 1_u64 << fraction);
    let plain = [
        0,
        1,
        least / 2 + 1,
        least - 1,
        least,
        least + 1,
        one / 2 + 3,
        one - 1,
        one,
        one + 1,
        one + least * 3 / 2,
        infinity - least - 1,
        infinity - 1,
        infinity,
        infinity + least / 2,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let drawn = std::iter::repeat_with(|| {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        state >> (64 - bits)
    });
    let signed = plain.iter().flat_map(|bits_of| [*bits_of, *bits_of | 1 << (bits - 1)]);
    signed.chain(drawn.take(8)).collect()
}

fn all_pairs(values: &[u64]) -> Vec<[u64; 3]> {
    super::arithmetic::triples(values, |value| value)
}

fn direction(words: &[&str]) -> Round {
    match words {
        _ if words.contains(&"rz") => Round::TowardZero,
        _ if words.contains(&"rm") => Round::TowardNegative,
        _ if words.contains(&"rp") => Round::TowardPositive,
        _ if words.contains(&"rna") => Round::NearestTiesToAway,
        _ => Round::NearestTiesToEven,
    }
}

/// Applies the qualifiers of an instruction to a result.
fn finished<F: Float>(value: F, words: &[&str]) -> F {
    let zero = F::ZERO;
    let has = |word| words.contains(&word);
    match value {
        _ if value.is_nan() => {
            if has("sat") {
                zero
            } else {
                value
            }
        }
        _ if (has("sat") || has("relu")) && value.is_negative() => zero,
        _ if has("sat") && value > F::from_u128(1).value => F::from_u128(1).value,
        _ if has("ftz") && value.is_denormal() => zero.copy_sign(value),
        _ => value,
    }
}

/// The result of an instruction of floats, as its text says; NaN as none.
fn reference<F: Float>(words: &[&str], sources: [u64; 3]) -> Option<u64> {
    let round = direction(words);
    let has = |word| words.contains(&word);
    let [a, b, c] = sources.map(|bits| {
        let value = F::from_bits(bits.into());
        if has("ftz") && value.is_denormal() { F::ZERO.copy_sign(value) } else { value }
    });
    let one = F::from_u128(1).value;
    let result = match words[0] {
        "add" => a.add_r(b, round).value,
        "sub" => a.sub_r(b, round).value,
        "mul" => a.mul_r(b, round).value,
        "div" => a.div_r(b, round).value,
        "rcp" => one.div_r(a, round).value,
        "fma" => a.mul_add_r(b, c, round).value,
        // An H100 adds zero, so NaN is the only one; of f64, it changes the sign bit alone, of NaN too.
        "neg" | "abs" if a.is_nan() && F::BITS < 64 => return None,
        "neg" => return Some((-a).to_bits() as u64),
        "abs" => return Some(a.abs().to_bits() as u64),
        "min" | "max" => {
            let is_flipped = has("xorsign") && a.is_negative() != b.is_negative();
            let (x, y) = if has("xorsign") { (a.abs(), b.abs()) } else { (a, b) };
            // -0 is less than +0.
            let is_less = x < y || x == y && x.is_negative();
            let chosen = match (x.is_nan(), y.is_nan()) {
                (true, false) if !has("NaN") => y,
                (false, true) if !has("NaN") => x,
                (false, false) if is_less == (words[0] == "min") => x,
                (false, false) => y,
                _ => F::NAN,
            };
            if is_flipped { -chosen } else { chosen }
        }
        other => unreachable!("{other}"),
    };
    let result = finished(result, words);
    (!result.is_nan()).then(|| result.to_bits() as u64)
}

/// Compares an instruction with soft floats, for all pairs of edges.
fn check(instruction: &str) {
    check_on(instruction, |bits, fraction| all_pairs(&edges(bits, fraction)));
}

/// Compares an instruction with soft floats, for the triples of a format.
fn check_on(instruction: &str, triples: impl Fn(u32, u32) -> Vec<[u64; 3]>) {
    let words: Vec<&str> = instruction.split('.').collect();
    let name = words[words.len() - 1];
    let (scalar, is_packed) = match name.strip_suffix("x2") {
        Some(scalar) => (scalar, true),
        None => (name, false),
    };
    type Reference = fn(&[&str], [u64; 3]) -> Option<u64>;
    let (bits, fraction, nan, reference): (u32, u32, u64, Reference) = match scalar {
        "f16" => (16, 10, 0x7fff, reference::<Half>),
        "bf16" => (16, 7, 0x7fff, reference::<BFloat>),
        "f32" => (32, 23, 0x7fff_ffff, reference::<Single>),
        _ => (64, 52, 0, reference::<Double>),
    };
    let sources = match words[0] {
        "fma" => "A, B, C",
        "neg" | "abs" | "rcp" => "A",
        _ => "A, B",
    };
    let mut triples = triples(bits, fraction);
    let parts = if is_packed { vec![0, bits] } else { vec![0] };
    if is_packed {
        let joined = |low: u64, high: u64| low | high << bits;
        triples = triples
            .iter()
            .map(|[a, b, c]| [joined(*a, *c), joined(*b, *a), joined(*c, *b)])
            .collect();
    }
    let width = if is_packed { 2 * bits } else { bits };
    let out = apply(&format!("{instruction} D, {sources};"), width, &triples);
    for (triple, got) in triples.iter().zip(out) {
        for shift in &parts {
            let part = |value: u64| value >> shift & (u64::MAX >> (64 - bits));
            let (got, wanted) = (part(got), reference(&words, triple.map(part)));
            // Which NaN of f64 a GPU has is not documented.
            let is_nan = bits == 64 && f64::from_bits(got).is_nan() || got == nan;
            assert!(
                wanted.map_or(is_nan, |wanted| got == wanted),
                "{instruction} {:x?}: {got:#x}, not {wanted:x?}",
                triple.map(part)
            );
        }
    }
}

#[test]
fn halves_and_brains_are_those_of_soft_floats() {
    for scalar in ["f16", "f16x2", "bf16", "bf16x2"] {
        let mut forms: Vec<String> = Vec::new();
        for op in ["add.rn", "sub.rn", "mul.rn", "fma.rn", "fma.rn.relu", "neg", "abs"] {
            forms.push(format!("{op}.{scalar}"));
        }
        for op in ["min", "max", "min.NaN", "max.NaN", "min.xorsign.abs", "max.NaN.xorsign.abs"] {
            forms.push(format!("{op}.{scalar}"));
        }
        if scalar.starts_with('f') {
            for op in ["add.ftz", "add.ftz.sat", "sub.sat", "mul.ftz", "mul.sat", "fma.rn.ftz"] {
                forms.push(format!("{op}.{scalar}"));
            }
            for op in [
                "fma.rn.ftz.sat",
                "fma.rn.ftz.relu",
                "neg.ftz",
                "abs.ftz",
                "min.ftz",
                "max.ftz.NaN",
            ] {
                forms.push(format!("{op}.{scalar}"));
            }
        }
        forms.iter().for_each(|form| check(form));
    }
}

#[test]
fn f32_and_f64_are_those_of_soft_floats_in_every_direction() {
    for scalar in ["f32", "f64"] {
        for op in ["add", "sub", "mul", "fma", "div", "rcp"] {
            for round in ["rn", "rz", "rm", "rp"] {
                check(&format!("{op}.{round}.{scalar}"));
                if scalar == "f32" {
                    check(&format!("{op}.{round}.ftz.f32"));
                    if !matches!(op, "div" | "rcp") {
                        check(&format!("{op}.{round}.ftz.sat.f32"));
                    }
                }
            }
        }
        for op in ["min", "max", "neg", "abs"] {
            check(&format!("{op}.{scalar}"));
        }
    }
    for op in
        ["min.NaN", "max.ftz", "min.ftz.NaN.xorsign.abs", "max.xorsign.abs", "neg.ftz", "abs.ftz"]
    {
        check(&format!("{op}.f32"));
    }
}

#[test]
fn narrow_terms_are_converted_before_they_are_added() {
    fn wide<F: FloatConvert<Single>>(bits: u64) -> u64 {
        F::from_bits(bits.into()).convert(&mut false).value.to_bits() as u64
    }
    type Widen = fn(u64) -> u64;
    let (wides, scalars): (Vec<u64>, [(&str, u32, Widen); 2]) =
        (edges(32, 23), [("f16", 10, wide::<Half>), ("bf16", 7, wide::<BFloat>)]);
    for (scalar, fraction, widen) in scalars {
        let narrow = edges(16, fraction);
        let triples: Vec<[u64; 3]> = all_pairs(&wides)
            .into_iter()
            .enumerate()
            .map(|(at, [a, _, _])| [narrow[at % narrow.len()], narrow[at / 3 % narrow.len()], a])
            .collect();
        for op in ["add", "sub.rz", "add.rm.sat", "sub.rp", "fma.rn", "fma.rp", "fma.rz.sat"] {
            let instruction = format!("{op}.f32.{scalar}");
            let words: Vec<&str> = op.split('.').collect();
            let is_fma = words[0] == "fma";
            let second = if is_fma { "%h2, " } else { "" };
            let out = super::arithmetic::evaluate(
                &format!(
                    "cvt.u16.u64 %h1, %rd10; cvt.u16.u64 %h2, %rd11; cvt.u32.u64 %r11, %rd12;
                    {instruction} %r12, %h1, {second}%r11; cvt.u64.u32 %rd13, %r12;"
                ),
                &triples,
            );
            for ([a, b, c], got) in triples.iter().zip(out) {
                let (b, c) = if is_fma { (widen(*b), *c) } else { (*c, 0) };
                let wanted = reference::<Single>(&words, [widen(*a), b, c]).unwrap_or(0x7fff_ffff);
                assert_eq!(got, wanted, "{instruction} {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}

/// The fraction and the exponent of a positive float.
fn decomposed(bits: u64, fraction: u32, bias: i32) -> (u128, i32) {
    let (field, rest) = ((bits >> fraction) as i32, bits & ((1 << fraction) - 1));
    let hidden = if field == 0 { 0 } else { 1 << fraction };
    (u128::from(rest | hidden), field.max(1) - bias - fraction as i32)
}

/// The bits of a float: random ones, or of a kind that is seldom drawn.
fn float_of((random, kind): (u64, u32), bits: u32, fraction: u32) -> u64 {
    let (sign, least) = (random & 1 << (bits - 1), 1_u64 << fraction);
    let infinity = (1 << (bits - 1)) - least;
    let one = infinity / 2 / least * least;
    let magnitude = match kind {
        0 => 0,
        1 => infinity,
        2 => infinity | random & (least - 1) | 1,
        3 => random & (least - 1),
        4 => infinity - 1 - (random & 3),
        5 => least + (random & 3) - 2,
        // Powers of two and their neighbours, and few digits, whose sums and products are ties.
        6 => (random & infinity).wrapping_add(random >> 62).wrapping_sub(1),
        7 => one + (random & (least * 7)) + ((random >> 61) << (fraction - 3)),
        8 => one - least * (random & 3) + (random >> 60 & 1),
        _ => random,
    };
    magnitude & ((1 << (bits - 1)) - 1) | sign
}

/// The instructions whose lanes are vectorized, with every mode.
fn forms() -> Vec<String> {
    const MODES: [&str; 4] = ["", ".ftz", ".sat", ".ftz.sat"];
    let mut forms = Vec::new();
    for op in ["add", "sub", "mul", "fma"] {
        for round in ["rn", "rz", "rm", "rp"] {
            forms.extend(MODES.map(|modes| format!("{op}.{round}{modes}.f32")));
        }
        forms.extend(["rn", "rz", "rn.ftz", "rp.ftz"].map(|modes| format!("{op}.{modes}.f32x2")));
        for count in ["", "x2"] {
            forms.extend(MODES.map(|modes| format!("{op}.rn{modes}.f16{count}")));
            forms.push(format!("{op}.rn.bf16{count}"));
        }
    }
    for op in ["fma.rn.relu.f16", "fma.rn.ftz.relu.f16x2", "fma.rn.relu.bf16", "fma.rn.relu.bf16x2"]
    {
        forms.push(op.into());
    }
    for op in ["div", "rcp"] {
        for round in ["rn", "rz", "rm", "rp"] {
            forms.extend(["", ".ftz"].map(|modes| format!("{op}.{round}{modes}.f32")));
        }
    }
    for op in ["min", "max"] {
        for modes in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
            for scalar in ["f32", "f16", "f16x2", "bf16", "bf16x2"] {
                forms.push(format!("{op}{modes}.{scalar}"));
                if !scalar.starts_with('b') {
                    forms.push(format!("{op}.ftz{modes}.{scalar}"));
                }
            }
        }
    }
    forms
}

/// Numbers for [`float_of`]: the kinds are as frequent as all others together.
fn drawn() -> impl Strategy<Value = (u64, u32)> {
    (any::<u64>(), 0..18_u32)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn drawn_floats_are_those_of_soft_floats(
        form in 0..20_usize,
        numbers in proptest::collection::vec([drawn(), drawn(), drawn()], 128),
    ) {
        for form in forms().iter().skip(form).step_by(20) {
            check_on(form, |bits, fraction| {
                let triples = numbers.iter();
                triples.map(|triple| triple.map(|number| float_of(number, bits, fraction))).collect()
            });
        }
    }

    /// Into f16, bf16 and integers of 32 bits, and approximations, which are the nearest values of f64.
    #[test]
    fn drawn_f32_are_converted_as_by_soft_floats(
        numbers in proptest::collection::vec(drawn(), 512),
    ) {
        let numbers: Vec<u64> =
            numbers.iter().map(|number| float_of(*number, 32, 23)).chain(near_halves()).collect();
        let triples: Vec<[u64; 3]> = numbers.iter().map(|bits| [*bits, 0, 0]).collect();
        for modes in ["rn", "rz", "rn.ftz", "rn.relu", "rz.satfinite", "rn.relu.satfinite"] {
            let words: Vec<&str> = modes.split('.').collect();
            for (to, converted) in [
                ("f16", converted::<Single, Half> as fn(&[&str], u64, u64) -> u64),
                ("bf16", converted::<Single, BFloat>),
            ] {
                if to == "bf16" && modes == "rn.ftz" {
                    continue;
                }
                let instruction = format!(
                    "cvt.u32.u64 %r11, %rd10; cvt.{modes}.{to}.f32 %h4, %r11;
                    cvt.u64.u16 %rd13, %h4;"
                );
                for (bits, got) in
                    numbers.iter().zip(super::arithmetic::evaluate(&instruction, &triples))
                {
                    let wanted = converted(&words, *bits, 0x7fff);
                    prop_assert_eq!(got, wanted, "{} {:#x}", &instruction, bits);
                }
            }
        }
        type Integral = fn(f64) -> f64;
        let rounds: [(&str, Integral); 4] = [
            ("rni", f64::round_ties_even),
            ("rzi", f64::trunc),
            ("rmi", f64::floor),
            ("rpi", f64::ceil),
        ];
        for (round, integral) in rounds {
            for (to, cast) in [
                ("s32", (|value| value as i32 as u32) as fn(f64) -> u32),
                ("u32", |value| value as u32),
            ] {
                let instruction = format!("cvt.{round}.{to}.f32 D, A;");
                for (bits, got) in numbers.iter().zip(apply(&instruction, 32, &triples)) {
                    let wanted = cast(integral(f32::from_bits(*bits as u32).into()));
                    prop_assert_eq!(got, u64::from(wanted), "{} {:#x}", &instruction, bits);
                }
            }
        }
        let functions: [(&str, Integral); 2] =
            [("ex2", f64::exp2), ("rsqrt", |value| 1.0 / value.sqrt())];
        for (name, function) in functions {
            for ftz in ["", ".ftz"] {
                let flushed = |value: f32| {
                    let is_flushed = !ftz.is_empty() && value.is_subnormal();
                    if is_flushed { 0.0_f32.copysign(value) } else { value }
                };
                let instruction = format!("{name}.approx{ftz}.f32 D, A;");
                for (bits, got) in numbers.iter().zip(apply(&instruction, 32, &triples)) {
                    let source = flushed(f32::from_bits(*bits as u32));
                    let wanted = flushed(function(source.into()) as f32);
                    let wanted = if wanted.is_nan() { 0x7fff_ffff } else { wanted.to_bits() };
                    prop_assert_eq!(got, u64::from(wanted), "{} {:#x}", &instruction, bits);
                }
            }
        }
    }
}

#[test]
fn square_roots_enclose_their_squares() {
    for (name, bits, fraction, bias) in [("f32", 32, 23, 127), ("f64", 64, 52, 1023)] {
        let triples = all_pairs(&edges(bits, fraction));
        for mode in ["rn", "rz", "rm", "rp", "rn.ftz", "rp.ftz"] {
            if bits == 64 && mode.ends_with("ftz") {
                continue;
            }
            let out = apply(&format!("sqrt.{mode}.{name} D, A;"), bits, &triples);
            for ([a, ..], root) in triples.iter().zip(out) {
                let context = format!("sqrt.{mode}.{name} {a:#x}: {root:#x}");
                let sign = 1_u64 << (bits - 1);
                let infinity = sign - (1 << fraction);
                let is_flushed = mode.ends_with("ftz") && a & infinity == 0;
                match a & !sign {
                    magnitude if magnitude == 0 || is_flushed => {
                        assert_eq!(root, a & sign, "{context}")
                    }
                    magnitude if magnitude > infinity || a & sign != 0 => {
                        assert!(root & !sign > infinity, "{context}");
                    }
                    magnitude if magnitude == infinity => assert_eq!(root, infinity, "{context}"),
                    magnitude => {
                        let (square, exponent) = decomposed(magnitude, fraction, bias);
                        let (part, of_root) = decomposed(root, fraction, bias);
                        // In quarters of the square of the root's last place, a has no more than 110 bits.
                        let exact = square << (exponent - 2 * of_root + 2);
                        let halves = |steps: i128| (2 * part as i128 + steps).pow(2) as u128;
                        let is_right = match &mode[..2] {
                            "rn" => halves(-1) <= exact && exact <= halves(1),
                            "rp" => halves(-2) < exact && exact <= halves(0),
                            _ => halves(0) <= exact && exact < halves(2),
                        };
                        assert!(is_right, "{context}");
                    }
                }
            }
        }
    }
}

/// The bits of a value of one format in another; of NaN `nan`.
fn converted<F, G>(words: &[&str], bits: u64, nan: u64) -> u64
where
    F: FloatConvert<G>,
    G: Float,
{
    let has = |word| words.contains(&word);
    let mut value = F::from_bits(bits.into());
    // Flushing is a matter of f32.
    let flushes = |size: usize| has("ftz") && size == 32;
    if flushes(F::BITS) && value.is_denormal() {
        value = F::ZERO.copy_sign(value);
    }
    if value.is_nan() {
        return nan;
    }
    let signed = |of: G| if value.is_negative() { -of } else { of };
    let result: G = value.convert_r(direction(words), &mut false).value;
    let beyond = result.is_infinite() || result.is_nan();
    let result = if beyond && has("satfinite") { signed(G::largest()) } else { result };
    let result = if flushes(G::BITS) && result.is_denormal() { signed(G::ZERO) } else { result };
    let result = if has("relu") && value.is_negative() { G::ZERO } else { result };
    result.to_bits() as u64
}

#[test]
fn conversions_between_floats_round_once() {
    type Convert = fn(&[&str], u64, u64) -> u64;
    // An instruction, its widths of sources and results, and the conversion of a part.
    let cases: [(&str, u32, u32, u64, Convert); 33] = [
        ("cvt.rn.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rz.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rm.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rp.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rn.ftz.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rn.relu.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rn.satfinite.f16.f32", 32, 16, 0x7fff, converted::<Single, Half>),
        ("cvt.rn.f16.f64", 64, 16, 0x7fff, converted::<Double, Half>),
        ("cvt.f32.f16", 16, 32, 0x7fff_ffff, converted::<Half, Single>),
        ("cvt.ftz.f32.f16", 16, 32, 0x7fff_ffff, converted::<Half, Single>),
        ("cvt.f32.bf16", 16, 32, 0x7fff_ffff, converted::<BFloat, Single>),
        ("cvt.rn.bf16.f32", 32, 16, 0x7fff, converted::<Single, BFloat>),
        ("cvt.rz.bf16.f32", 32, 16, 0x7fff, converted::<Single, BFloat>),
        ("cvt.rn.relu.bf16.f32", 32, 16, 0x7fff, converted::<Single, BFloat>),
        ("cvt.rn.bf16.f64", 64, 16, 0x7fff, converted::<Double, BFloat>),
        ("cvt.rm.f32.f64", 64, 32, 0x7fff_ffff, converted::<Double, Single>),
        ("cvt.rp.ftz.f32.f64", 64, 32, 0x7fff_ffff, converted::<Double, Single>),
        ("cvt.rn.f16x2.f32", 32, 32, 0x7fff, converted::<Single, Half>),
        ("cvt.rz.relu.f16x2.f32", 32, 32, 0x7fff, converted::<Single, Half>),
        ("cvt.rn.bf16x2.f32", 32, 32, 0x7fff, converted::<Single, BFloat>),
        ("cvt.rz.relu.bf16x2.f32", 32, 32, 0x7fff, converted::<Single, BFloat>),
        ("cvt.rn.satfinite.e4m3x2.f32", 32, 16, 0x7f, converted::<Single, Float8E4M3FN>),
        ("cvt.rn.satfinite.relu.e4m3x2.f32", 32, 16, 0x7f, converted::<Single, Float8E4M3FN>),
        ("cvt.rn.satfinite.e5m2x2.f32", 32, 16, 0x7f, converted::<Single, Float8E5M2>),
        ("cvt.rn.satfinite.relu.e5m2x2.f32", 32, 16, 0x7f, converted::<Single, Float8E5M2>),
        ("cvt.rn.satfinite.e4m3x2.f16x2", 16, 16, 0x7f, converted::<Half, Float8E4M3FN>),
        ("cvt.rn.satfinite.e5m2x2.f16x2", 16, 16, 0x7f, converted::<Half, Float8E5M2>),
        ("cvt.rn.f16x2.e4m3x2", 8, 32, 0x7fff, converted::<Float8E4M3FN, Half>),
        ("cvt.rn.relu.f16x2.e4m3x2", 8, 32, 0x7fff, converted::<Float8E4M3FN, Half>),
        ("cvt.rn.f16x2.e5m2x2", 8, 32, 0x7fff, converted::<Float8E5M2, Half>),
        ("cvt.rn.relu.f16x2.e5m2x2", 8, 32, 0x7fff, converted::<Float8E5M2, Half>),
        ("cvt.f64.f16", 16, 64, 0x7fff_ffff, converted::<Half, Double>),
        ("cvt.ftz.f64.f32", 32, 64, 0x7fff_ffff, converted::<Single, Double>),
    ];
    for (instruction, from, to, nan, convert) in cases {
        let words: Vec<&str> = instruction.split('.').collect();
        let is_packed = words[words.len() - 2].ends_with("x2");
        // f32 are packed out of two registers, narrower ones out of one.
        let has_two = is_packed && from == 32;
        let values = match from {
            8 => (0..=255).collect(),
            16 => (0..=0xffff).step_by(5).collect(),
            32 => edges(32, 23).into_iter().chain(near_halves()).collect(),
            _ => edges(64, 52)
                .into_iter()
                .chain(near_halves().iter().map(|bits| {
                    // Beside a value in the middle of two, which rounding in two steps would take for the middle.
                    f64::from(f32::from_bits(*bits as u32)).to_bits() + 1
                }))
                .collect::<Vec<u64>>(),
        };
        let triples: Vec<[u64; 3]> = values
            .iter()
            .enumerate()
            .map(|(place, a)| {
                let b = values[(place * 7 + 3) % values.len()];
                if is_packed && !has_two { [*a | b << from, 0, 0] } else { [*a, b, 0] }
            })
            .collect();
        let source_bits = if is_packed && !has_two { 2 * from } else { from };
        let (name, narrow) = match source_bits {
            16 => ("%h1", "cvt.u16.u64 %h1, %rd10;"),
            32 => ("%r11", "cvt.u32.u64 %r11, %rd10; cvt.u32.u64 %r12, %rd11;"),
            _ => ("%rd10", ""),
        };
        let (result, wide) = match to {
            16 => ("%h4", "cvt.u64.u16 %rd13, %h4;"),
            32 => ("%r14", "cvt.u64.u32 %rd13, %r14;"),
            _ => ("%rd13", ""),
        };
        let second = if has_two { ", %r12" } else { "" };
        let out = super::arithmetic::evaluate(
            &format!("{narrow} {instruction} {result}, {name}{second}; {wide}"),
            &triples,
        );
        for ([a, b, _], got) in triples.iter().zip(out) {
            let wanted = match (is_packed, has_two) {
                (true, true) => convert(&words, *a, nan) << (to / 2) | convert(&words, *b, nan),
                (true, false) => {
                    let mask = (1 << from) - 1;
                    convert(&words, a >> from, nan) << (to / 2) | convert(&words, a & mask, nan)
                }
                _ => convert(&words, *a, nan),
            };
            let is_nan = to == 64 && wanted == nan && f64::from_bits(got).is_nan();
            assert!(
                got == wanted || is_nan,
                "{instruction} {a:#x} {b:#x}: {got:#x}, not {wanted:#x}"
            );
        }
    }
}

/// f32 at and beside the middle between two values of narrower formats, of every exponent that they have.
fn near_halves() -> Vec<u64> {
    let mut values = Vec::new();
    for exponent in (85_u64..=160).chain([1, 2, 253, 254]) {
        // The lowest bit that bf16, f16, e4m3 and e5m2 lack.
        for bit in [15, 12, 19, 20] {
            for fraction in [1 << bit, 3 << bit, 5 << bit, (1 << bit) - 1, (3 << bit) + 1] {
                values.push(exponent << 23 | fraction & 0x7f_ffff | (fraction & 1) << 31);
            }
        }
    }
    values
}

#[test]
fn tf32_has_ten_bits_of_fraction() {
    let values: Vec<u64> = edges(32, 23).into_iter().chain(near_halves()).collect();
    let triples: Vec<[u64; 3]> = values.iter().map(|bits| [*bits, 0, 0]).collect();
    for mode in ["rna", "rn", "rz", "rn.relu", "rna.satfinite"] {
        let out = apply(&format!("cvt.{mode}.tf32.f32 D, A;"), 32, &triples);
        for (bits, got) in values.iter().zip(out) {
            let magnitude = bits & 0x7fff_ffff;
            if magnitude > 0x7f80_0000 {
                assert!(f32::from_bits(got as u32).is_nan(), "{mode} {bits:#x}: {got:#x}");
                continue;
            }
            let added = match &mode[..2] {
                "rz" => 0,
                _ if mode.starts_with("rna") => 0x1000,
                _ => 0xfff + (magnitude >> 13 & 1),
            };
            let rounded =
                if magnitude == 0x7f80_0000 { magnitude } else { (magnitude + added) & !0x1fff };
            let most = if mode.ends_with("satfinite") { 0x7f7f_e000 } else { 0x7f80_0000 };
            let is_zero = mode.ends_with("relu") && bits >> 31 != 0;
            let wanted = if is_zero { 0 } else { rounded.min(most) | bits & 1 << 31 };
            assert_eq!(got, wanted, "cvt.{mode}.tf32.f32 {bits:#x}");
        }
    }
}

const INTEGERS: [(&str, u32); 8] = [
    ("s8", 8),
    ("u8", 8),
    ("s16", 16),
    ("u16", 16),
    ("s32", 32),
    ("u32", 32),
    ("s64", 64),
    ("u64", 64),
];

/// The register of a width that an instruction reads or writes, with how it comes out of %rd10 or into %rd13.
fn register(bits: u32) -> [&'static str; 3] {
    match bits {
        8 | 16 => ["%h1", "cvt.u16.u64 %h1, %rd10;", "cvt.u64.u16 %rd13, %h1;"],
        32 => ["%r11", "cvt.u32.u64 %r11, %rd10;", "cvt.u64.u32 %rd13, %r11;"],
        _ => ["%rd13", "mov.b64 %rd13, %rd10;", ""],
    }
}

fn exact(bits: u64, scalar: &str, width: u32) -> i128 {
    let high = u128::from(bits) << (128 - width);
    if scalar.starts_with('s') {
        high as i128 >> (128 - width)
    } else {
        (high >> (128 - width)) as i128
    }
}

#[test]
fn floats_become_integers_in_every_direction() {
    for (from, bits, fraction) in [("f16", 16, 10), ("f32", 32, 23), ("f64", 64, 52)] {
        // Halves and their neighbours, and the ends of every integer.
        let numbers = [0.5, 1.5, 2.5, 126.5, 127.5, 128.0, 255.5, 256.0, 32_767.5, 65_535.0];
        let ends = [
            2_147_483_647.5,
            4_294_967_295.5,
            9.223_372_036_854_775e18,
            1.844_674_407_370_955_2e19,
        ];
        let numbers = numbers.into_iter().chain(ends).flat_map(|value: f64| {
            [value, -value, value.next_up(), -value.next_down(), value - 1.0]
        });
        let numbers = numbers.map(|value| match from {
            "f16" => u64::from(half::f16::from_f64(value).to_bits()),
            "f32" => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        });
        let values: Vec<u64> = edges(bits, fraction).into_iter().chain(numbers).collect();
        let triples: Vec<[u64; 3]> = values.iter().map(|bits| [*bits, 0, 0]).collect();
        for (to, width) in INTEGERS {
            for round in ["rni", "rzi", "rmi", "rpi", "rni.ftz", "rzi.ftz", "rmi.ftz"] {
                if from != "f32" && round.ends_with("ftz") {
                    continue;
                }
                let ([source, narrow, _], [result, _, wide]) = (register(bits), register(width));
                let instruction = format!("cvt.{round}.{to}.{from} {result}, {source};");
                let out = super::arithmetic::evaluate(
                    &format!("{narrow} {instruction} {wide}"),
                    &triples,
                );
                for (bits_of, got) in values.iter().zip(out) {
                    let value = match from {
                        "f16" => half::f16::from_bits(*bits_of as u16).to_f64(),
                        "f32" => f32::from_bits(*bits_of as u32).into(),
                        _ => f64::from_bits(*bits_of),
                    };
                    let is_flushed = round.ends_with("ftz") && (value as f32).is_subnormal();
                    let value = if is_flushed { 0.0 } else { value };
                    let integral = match &round[..3] {
                        "rni" => value.round_ties_even(),
                        "rzi" => value.trunc(),
                        "rmi" => value.floor(),
                        _ => value.ceil(),
                    };
                    let (least, most): (i128, i128) = match to.starts_with('s') {
                        true => (-1 << (width - 1), (1 << (width - 1)) - 1),
                        false => (0, (1 << width) - 1),
                    };
                    // [PTX ISA, cvt: "In float-to-integer conversions, ... NaN input results in"]
                    let of_nan = if from == "f64" || width == 64 { 1 << (width - 1) } else { 0 };
                    let wanted = match value.is_nan() {
                        true => exact(of_nan, to, width),
                        false => (integral as i128).clamp(least, most),
                    };
                    let wanted = wanted as u64 & (u64::MAX >> (64 - width.max(16)));
                    assert_eq!(got, wanted, "{instruction} {value:e}");
                }
            }
        }
    }
}

#[test]
fn integers_become_floats_in_every_direction() {
    let values: Vec<u64> = super::arithmetic::INTEGERS
        .into_iter()
        .chain((0..60).map(|shift| (0x1_0000_8001_u64 << shift).rotate_left(shift / 2)))
        .chain((9..60).flat_map(|bit| [(1 << bit) + (1 << (bit / 2)), (3 << bit) - 1, !(5 << bit)]))
        .collect();
    let triples: Vec<[u64; 3]> = values.iter().map(|bits| [*bits, 0, 0]).collect();
    fn float<F: Float>(value: i128, round: Round) -> u64 {
        F::from_i128_r(value, round).value.to_bits() as u64
    }
    type Convert = fn(i128, Round) -> u64;
    let floats: [(&str, u32, Convert); 4] = [
        ("f16", 16, float::<Half>),
        ("bf16", 16, float::<BFloat>),
        ("f32", 32, float::<Single>),
        ("f64", 64, float::<Double>),
    ];
    for (from, width) in INTEGERS {
        for (to, bits, convert) in floats {
            for round in ["rn", "rz", "rm", "rp"] {
                let ([source, narrow, _], [result, _, wide]) = (register(width), register(bits));
                let instruction = format!("cvt.{round}.{to}.{from} {result}, {source};");
                let out = super::arithmetic::evaluate(
                    &format!("{narrow} {instruction} {wide}"),
                    &triples,
                );
                for (value, got) in values.iter().zip(out) {
                    let wanted = convert(exact(*value, from, width), direction(&[round]));
                    assert_eq!(got, wanted, "{instruction} {value:#x}");
                }
            }
        }
    }
}

#[test]
fn floats_become_integral() {
    for (name, bits, fraction) in [("f16", 16, 10), ("f32", 32, 23), ("f64", 64, 52)] {
        let values = edges(bits, fraction);
        let triples: Vec<[u64; 3]> = values.iter().map(|bits| [*bits, 0, 0]).collect();
        for round in ["rni", "rzi", "rmi", "rpi"] {
            let instruction = format!("cvt.{round}.{name}.{name} D, A;");
            let out = apply(&instruction, bits, &triples);
            for (value, got) in values.iter().zip(out) {
                let float = |bits: u64| match name {
                    "f16" => half::f16::from_bits(bits as u16).to_f64(),
                    "f32" => f32::from_bits(bits as u32).into(),
                    _ => f64::from_bits(bits),
                };
                let wanted = match round {
                    "rni" => float(*value).round_ties_even(),
                    "rzi" => float(*value).trunc(),
                    "rmi" => float(*value).floor(),
                    _ => float(*value).ceil(),
                };
                let got = float(got);
                let is_same = got == wanted && got.is_sign_negative() == wanted.is_sign_negative();
                assert!(
                    is_same || got.is_nan() && wanted.is_nan(),
                    "{instruction} {value:#x}: {got:e}"
                );
            }
        }
    }
}

#[test]
fn approximations_are_the_nearest_values() {
    type Function = fn(f64) -> f64;
    // An H100 returns small arguments of `tanh` as they are.
    let tanh = |value: f64| if value.abs() <= 1.0 / 256.0 { value } else { value.tanh() };
    let functions: [(&str, Function); 6] = [
        ("ex2", f64::exp2),
        ("lg2", f64::log2),
        ("tanh", tanh),
        ("rsqrt", |value| 1.0 / value.sqrt()),
        ("rcp", |value| 1.0 / value),
        ("sqrt", f64::sqrt),
    ];
    let values: Vec<u64> = edges(32, 23)
        .into_iter()
        .chain((-40..40).map(|tenth| (tenth as f32 * 0.37).to_bits().into()))
        .collect();
    let triples: Vec<[u64; 3]> = values.iter().map(|bits| [*bits, 0, 0]).collect();
    for (name, function) in functions {
        for ftz in ["", ".ftz"] {
            if name == "tanh" && !ftz.is_empty() {
                continue;
            }
            let out = apply(&format!("{name}.approx{ftz}.f32 D, A;"), 32, &triples);
            let flushed = |value: f32| {
                let is_flushed = !ftz.is_empty() && value.is_subnormal();
                if is_flushed { 0.0_f32.copysign(value) } else { value }
            };
            for (bits, got) in values.iter().zip(out) {
                let value = flushed(f32::from_bits(*bits as u32));
                let wanted = flushed(function(value.into()) as f32);
                let wanted = if wanted.is_nan() { 0x7fff_ffff } else { wanted.to_bits() };
                assert_eq!(got as u32, wanted, "{name}.approx{ftz}.f32 {value:e}");
            }
        }
    }
    // Of 16 bits, from the value of the same width: rounded to f32, then toward zero, as an H100 does.
    let halves: Vec<u64> = (0..=0xffff).step_by(13).collect();
    let triples: Vec<[u64; 3]> = halves.iter().map(|bits| [*bits, 0, 0]).collect();
    for (name, function) in [("ex2", f64::exp2 as Function), ("tanh", tanh)] {
        let out = apply(&format!("{name}.approx.f16 D, A;"), 16, &triples);
        for (bits, got) in halves.iter().zip(out) {
            let single = function(half::f16::from_bits(*bits as u16).to_f64()) as f32;
            let nearest = half::f16::from_f32(single);
            let is_outward = nearest.to_f32().abs() > single.abs() && single.abs() < 65536.0;
            let wanted = if nearest.is_nan() { 0x7fff } else { nearest.to_bits() };
            let wanted = wanted - u16::from(is_outward);
            assert_eq!(got as u16, wanted, "{name}.approx.f16 {bits:#x}");
        }
        let ftz = if name == "ex2" { ".ftz" } else { "" };
        let out = apply(&format!("{name}.approx{ftz}.bf16 D, A;"), 16, &triples);
        for (bits, got) in halves.iter().zip(out) {
            let single = function(half::bf16::from_bits(*bits as u16).to_f64()) as f32;
            let toward_zero = (single.to_bits() >> 16) as u16;
            let is_flushed = !ftz.is_empty() && toward_zero & 0x7f80 == 0;
            let wanted = match toward_zero {
                _ if single.is_nan() => 0x7fff,
                _ if is_flushed => toward_zero & 0x8000,
                _ => toward_zero,
            };
            assert_eq!(got as u16, wanted, "{name}.approx{ftz}.bf16 {bits:#x}");
        }
    }
}

/// [CUDA C++ Programming Guide, "Intrinsic Functions": `__sinf` and `__cosf` between -pi and pi] The answers of an H100
/// are in `h100::functions`.
#[test]
fn sines_and_cosines_are_within_the_documented_error() {
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function, f64); 2] =
        [("sin", f64::sin, -21.41), ("cos", f64::cos, -21.19)];
    let angles: Vec<u64> = (-1000..=1000)
        .map(|part| (part as f32 / 1000.0 * std::f32::consts::PI).to_bits().into())
        .collect();
    let triples: Vec<[u64; 3]> = angles.iter().map(|bits| [*bits, 0, 0]).collect();
    for (name, function, error) in functions {
        for ftz in ["", ".ftz"] {
            let out = apply(&format!("{name}.approx{ftz}.f32 D, A;"), 32, &triples);
            for (bits, got) in angles.iter().zip(out) {
                let [angle, got] = [*bits, got].map(|bits| f64::from(f32::from_bits(bits as u32)));
                let is_near = (got - function(angle)).abs() <= error.exp2();
                assert!(is_near, "{name}.approx{ftz}.f32 {angle:e}: {got:e}");
            }
        }
    }
}
