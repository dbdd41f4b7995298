//! Ordinary instructions that were refused or computed wrongly: packed and narrow floats, carries, video instructions,
//! conversions with saturation and random bits. The authority of each is named: the PTX ISA's section, what ptxas folds
//! from constants, launches judged by exact arithmetic from outside, or a measurement on hardware.

use std::iter::once;

use super::arithmetic::{apply, evaluate};
use super::{launch, module};
use warpload_ptx::launch::{KernelLaunch, KernelResult};

/// Registers of every width, whose names begin with a letter for the width.
const REGISTERS: &str =
    ".reg .pred %p<9>; .reg .b8 %b<9>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %q<20>;
    .reg .f32 %f<9>; .reg .b64 %rd<4>; .shared .align 128 .b8 sh[1024];";

/// The letter of the registers of a type.
fn letter(scalar: &str) -> Option<char> {
    let of_letter = [
        ('p', "pred"),
        ('b', "e2m1x2"),
        ('h', "b16 u16 s16 u8 s8 f16 bf16 e4m3x2 e5m2x2 e2m3x2 e3m2x2 ue8m0x2 s2f6x2 e2m1x4"),
        (
            'r',
            "b32 u32 s32 f32 f16x2 bf16x2 u16x2 s16x2 u8x4 s8x4 tf32 e4m3x4 e5m2x4 e2m3x4 e3m2x4",
        ),
        ('q', "b64 u64 s64 f64 f32x2"),
    ];
    let found = of_letter.iter().find(|(_, names)| names.split(' ').any(|name| name == scalar));
    found.map(|(letter, _)| *letter)
}

/// Expands the alternatives in angle brackets.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('<') else { return vec![text.to_owned()] };
    let (choices, after) = rest.split_once('>').expect("a closing bracket");
    let tails = alternatives(after);
    let all = choices
        .split('/')
        .flat_map(|choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}")));
    all.collect()
}

/// The instructions that a line of `forms.txt` stands for.
fn forms(line: &str) -> Vec<String> {
    let named = |form: String| {
        let (opcode, operands) = form.split_once(' ').expect("operands");
        let letters: Vec<char> = opcode.split('.').filter_map(letter).collect();
        let operands = operands.split(", ").map(|operand| match operand {
            "D" => format!("%{}1", letters[0]),
            "A" | "B" | "C" => {
                let number = u32::from(operand.as_bytes()[0] - b'A') + 2;
                format!("%{}{number}", letters[letters.len() - 1])
            }
            other => other.to_owned(),
        });
        format!("{opcode} {};", operands.collect::<Vec<_>>().join(", "))
    };
    alternatives(line).into_iter().map(named).collect()
}

fn run_forms(forms: &[String]) -> KernelResult {
    let source = format!(
        ".version 9.1\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n{REGISTERS}
        mov.u64 %rd1, sh; cvta.shared.u64 %rd2, %rd1;\n{}\nret;\n}}",
        forms.join("\n")
    );
    launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 64]]).result
}

/// [ptxas 12.9 and 13.5 accept each form]
#[test]
fn every_form_of_the_arithmetic_chapters_is_executed() {
    let lines = include_str!("../../machine/forms.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let forms: Vec<String> = lines.flat_map(forms).collect();
    assert!(forms.len() > 3900, "{}", forms.len());
    let result = run_forms(&forms);
    let skipped: Vec<_> = result.skipped.iter().map(|skipped| &skipped.text).collect();
    assert!(skipped.is_empty(), "{skipped:?}");
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
}

/// Qualifiers that an instruction does not have, or not with this type: ignoring them would compute something else.
#[test]
fn instructions_with_qualifiers_that_no_rule_reads_are_not_executed() {
    let forms = [
        "add.sat.f64 %q1, %q2, %q3",
        "add.ftz.f64 %q1, %q2, %q3",
        "add.sat.u16 %h1, %h2, %h3",
        "add.sat.s64 %q1, %q2, %q3",
        "add.sat.bf16 %h1, %h2, %h3",
        "add.rni.f32 %r1, %r2, %r3",
        "add.u32.u16 %r1, %h2, %r3",
        "mul.sat.s32 %r1, %r2, %r3",
        "mul.u32 %r1, %r2, %r3",
        "mul.f32.f16 %r1, %h2, %r3",
        "mad.lo.sat.s32 %r1, %r2, %r3, %r4",
        "mad.hi.sat.u32 %r1, %r2, %r3, %r4",
        "mad24.lo.sat.s32 %r1, %r2, %r3, %r4",
        "fma.rn.relu.f32 %r1, %r2, %r3, %r4",
        "fma.rn.oob.f32 %r1, %r2, %r3, %r4",
        "fma.rn.sat.bf16 %h1, %h2, %h3, %h4",
        "fma.rn.ftz.f32.f16 %r1, %h2, %h3, %r4",
        "min.relu.u32 %r1, %r2, %r3",
        "min.relu.f32 %r1, %r2, %r3",
        "max.abs.f32 %r1, %r2, %r3",
        "max.xorsign.f32 %r1, %r2, %r3",
        "max.xorsign.abs.f32 %r1, %r2, %r3, %r4",
        "max.NaN.f64 %q1, %q2, %q3",
        "max.f16 %h1, %h2, %h3, %h4",
        "abs.ftz.bf16 %h1, %h2",
        "abs.ftz.f64 %q1, %q2",
        "setp.lt.ftz.s32 %p1, %r2, %r3",
        "setp.lt.ftz.f64 %p1, %q2, %q3",
        "set.lt.ftz.u32.s32 %r1, %r2, %r3",
        "slct.ftz.u32.s32 %r1, %r2, %r3, %r4",
        "cvt.ftz.s32.f64 %r1, %q2",
        "cvt.relu.s32.f32 %r1, %r2",
        "cvt.rn.sat.f16x2.f32 %r1, %r2, %r3",
        "cvt.rn.satfinite.f32.f64 %r1, %q2",
        "cvt.rs.f32.f64 %r1, %q2",
        "cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 %h1, %r2, %r3, %h4",
        "shf.l.b32 %r1, %r2, %r3, %r4",
        "dp4a.lo.u32.u32 %r1, %r2, %r3, %r4",
        "sin.approx.2pi.rn.f32 %r1, %r2",
        "div.approx.rn.f32 %r1, %r2, %r3",
        "vadd4.s32.s32.s32.sat.add %r1, %r2, %r3, %r4",
        "vadd2.s32.s32.s32.min %r1, %r2, %r3, %r4",
        "vmad.s32.s32.s32.po %r1, -%r2, %r3, %r4",
        "vadd.s32.s32.s32.add %r1.b0, %r2, %r3, %r4",
        "mma.sync.aligned.m16n8k8.row.col.rn.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4}",
        "mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4}",
    ];
    let written: Vec<String> = forms.iter().map(|form| format!("{form};")).collect();
    let result = run_forms(&written);
    let skipped: Vec<_> = result.skipped.iter().map(|skipped| skipped.text.as_str()).collect();
    assert_eq!(skipped, forms);
}

/// Evaluates a body that writes a register, and returns it.
fn computed(body: &str, register: &str) -> u64 {
    let result = match register.as_bytes()[1] {
        b'b' => format!("cvt.u64.u8 %rd13, {register};"),
        b'h' => format!("cvt.u64.u16 %rd13, {register};"),
        b'p' => format!("selp.u64 %rd13, 1, 0, {register};"),
        _ if register.starts_with("%rd") => format!("mov.u64 %rd13, {register};"),
        _ => format!("cvt.u64.u32 %rd13, {register};"),
    };
    evaluate(&format!(".reg .b8 %b<9>; {body} {result}"), &[[0; 3]])[0]
}

#[track_caller]
fn assert_words(rows: &[(&str, u64)]) {
    for (body, expected) in rows {
        let got = computed(body, "%r4");
        assert_eq!(got, *expected, "{body}: {got:#x}, not {expected:#x}");
    }
}

/// [ptxas folds `sub.cc` and `addc` of constants so: the carry of a difference is the absence of a borrow]
#[test]
fn the_carry_of_a_difference_is_the_opposite_of_a_borrow() {
    assert_words(&[
        ("sub.cc.u32 %r5, 0, 1; addc.u32 %r4, 0, 0;", 0),
        ("sub.cc.u32 %r5, 3, 5; addc.u32 %r4, 0, 0;", 0),
        ("sub.cc.u32 %r5, 5, 3; addc.u32 %r4, 0, 0;", 1),
        ("sub.cc.u32 %r5, 5, 5; addc.u32 %r4, 0, 0;", 1),
        ("sub.cc.s32 %r5, 0, 1; subc.u32 %r4, 10, 3;", 6),
        ("sub.cc.u32 %r5, 5, 3; subc.u32 %r4, 10, 3;", 7),
        ("add.cc.u32 %r5, 0, 1; subc.u32 %r4, 10, 3;", 6),
        ("add.cc.u32 %r5, -1, 1; subc.u32 %r4, 10, 3;", 7),
        // With a carry to begin with, and without one.
        ("add.cc.u32 %r5, 0, 1; subc.cc.u32 %r4, 0, 0;", 0xffff_ffff),
        ("add.cc.u32 %r5, 0, 1; subc.cc.u32 %r4, 0, 0; addc.u32 %r4, 0, 0;", 0),
        ("add.cc.u32 %r5, 0, 1; subc.cc.u32 %r4, 5, 3;", 1),
        ("add.cc.u32 %r5, 0, 1; subc.cc.u32 %r4, 5, 3; addc.u32 %r4, 0, 0;", 1),
        ("add.cc.u32 %r5, 0, 1; addc.cc.u32 %r4, -1, -1;", 0xffff_fffe),
        ("add.cc.u32 %r5, -1, 1; madc.lo.cc.u32 %r4, 3, 5, 7;", 23),
        ("add.cc.u32 %r5, 0, 1; madc.hi.cc.u32 %r4, -1, -1, 1; addc.u32 %r4, 0, 0;", 0),
        ("add.cc.u32 %r5, -1, 1; madc.hi.cc.u32 %r4, -1, -1, 1; addc.u32 %r4, 0, 0;", 1),
        ("mad.lo.cc.u32 %r5, 65536, 65536, -1; addc.u32 %r4, 0, 0;", 0),
        ("mad.lo.cc.u32 %r5, 3, 5, -1; addc.u32 %r4, 0, 0;", 1),
    ]);
    let wide =
        "mov.u64 %rd5, 3; mov.u64 %rd6, 5; sub.cc.u64 %rd7, %rd5, %rd6; subc.u64 %rd8, %rd6, %rd5;";
    assert_eq!(computed(wide, "%rd8"), 1);
}

/// [ptxas folds these]
#[test]
fn classes_of_floats() {
    let words = [0, 0x8000_0000, 1, 0x3f80_0000, 0x7f80_0000, 0x7fff_ffff_u32];
    let expected = [
        ("finite", 0b00_1111),
        ("infinite", 0b01_0000),
        ("number", 0b01_1111),
        ("notanumber", 0b10_0000),
        ("normal", 0b00_1011),
        ("subnormal", 0b00_0100),
    ];
    for (class, lanes) in expected {
        let of_f32 = words.iter().enumerate().map(|(place, word)| {
            computed(&format!("mov.b32 %r5, {word:#x}; testp.{class}.f32 %p1, %r5;"), "%p1")
                << place
        });
        assert_eq!(of_f32.sum::<u64>(), lanes, "{class}");
        let wide = [0_u64, 1 << 63, 1, 0x3ff << 52, 0x7ff << 52, 0xfff8 << 48];
        let of_f64 = wide.iter().enumerate().map(|(place, word)| {
            computed(&format!("mov.b64 %rd5, {word:#x}; testp.{class}.f64 %p1, %rd5;"), "%p1")
                << place
        });
        assert_eq!(of_f64.sum::<u64>(), lanes, "{class}");
    }
}

/// [PTX ISA, set; ptxas makes HSET2 of them, whose results are per half]
#[test]
fn set_writes_each_half() {
    let operands = "mov.b32 %r5, 0x3c004000; mov.b32 %r6, 0x40003c00; setp.eq.u32 %p1, 0, 0;";
    let rows = [
        ("set.eq.u32.f16x2 %r4, %r5, %r5", 0xffff_ffff),
        ("set.lt.u32.f16x2 %r4, %r5, %r6", 0xffff_0000),
        ("set.lt.s32.f16x2 %r4, %r6, %r5", 0xffff),
        ("set.lt.f16x2.f16x2 %r4, %r5, %r6", 0x3c00_0000),
        ("set.ge.bf16x2.bf16x2 %r4, %r5, %r6", 0x3f80),
        ("set.ge.u32.bf16x2 %r4, %r5, %r6", 0xffff),
        ("set.lt.xor.f16x2.f16x2 %r4, %r5, %r6, %p1", 0x3c00),
        ("set.lt.or.u32.bf16x2 %r4, %r5, %r6, !%p1", 0xffff_0000),
    ];
    for (instruction, expected) in rows {
        let got = computed(&format!("{operands} {instruction};"), "%r4");
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
    let operands = "mov.b16 %h5, 0x3c00; mov.b16 %h6, 0x4000;";
    let rows = [
        ("set.lt.f16.f16 %h4, %h5, %h6", 0x3c00),
        ("set.lt.u16.f16 %h4, %h5, %h6", 0xffff),
        ("set.lt.s16.bf16 %h4, %h6, %h5", 0),
        ("set.le.bf16.bf16 %h4, %h5, %h6", 0x3f80),
        ("set.ne.f16.u16 %h4, %h5, %h6", 0x3c00),
    ];
    for (instruction, expected) in rows {
        let got = computed(&format!("{operands} {instruction};"), "%h4");
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
    // NaN is unordered, and subnormal halves are zeros with `.ftz`.
    assert_words(&[
        ("mov.b32 %r5, 0x7e000001; mov.b32 %r6, 0; set.gtu.u32.f16x2 %r4, %r5, %r6;", 0xffff_ffff),
        ("mov.b32 %r5, 0x7e000001; mov.b32 %r6, 0; set.gt.u32.f16x2 %r4, %r5, %r6;", 0xffff),
        ("mov.b32 %r5, 0x7e000001; mov.b32 %r6, 0; set.gt.ftz.u32.f16x2 %r4, %r5, %r6;", 0),
        ("mov.b32 %r5, 0x7e000001; mov.b32 %r6, 0; set.nan.u32.f16x2 %r4, %r5, %r6;", 0xffff_0000),
    ]);
}

/// [PTX ISA, max: `.abs` takes magnitudes, `.xorsign` gives the result the exclusive or of the signs; ptxas makes
/// `FMNMX3 |a|, |b|, |c|` and `FMNMX.XORSIGN |a|, |b|` of them]
#[test]
fn minima_and_maxima_of_magnitudes() {
    // -5, 1, 2, a NaN, and a subnormal number.
    let operands = "mov.b32 %r5, 0xc0a00000; mov.b32 %r6, 0x3f800000; mov.b32 %r7, 0x40000000;
        mov.b32 %r8, 0xffc00000; mov.b32 %r9, 0x80000001;";
    let rows = [
        ("max.abs.f32 %r4, %r5, %r6, %r7", 0x40a0_0000),
        ("min.abs.f32 %r4, %r5, %r6, %r7", 0x3f80_0000),
        ("min.abs.f32 %r4, %r5, %r7, %r9", 1),
        ("min.ftz.abs.f32 %r4, %r5, %r7, %r9", 0),
        ("max.abs.f32 %r4, %r8, %r5, %r6", 0x40a0_0000),
        ("max.NaN.abs.f32 %r4, %r5, %r6, %r8", 0x7fff_ffff),
        ("max.f32 %r4, %r5, %r6, %r7", 0x4000_0000),
        ("min.f32 %r4, %r5, %r6, %r7", 0xc0a0_0000),
        ("max.xorsign.abs.f32 %r4, %r5, %r6", 0xc0a0_0000),
        ("min.xorsign.abs.f32 %r4, %r5, %r6", 0xbf80_0000),
        ("max.xorsign.abs.f32 %r4, %r5, %r5", 0x40a0_0000),
        ("max.NaN.xorsign.abs.f32 %r4, %r5, %r8", 0x7fff_ffff),
        ("max.xorsign.abs.f16x2 %r4, 0xc0003c00, 0x3c00bc00", 0xc000_bc00),
        ("min.xorsign.abs.bf16x2 %r4, 0xc0003f80, 0xbf803f80", 0x3f80_3f80),
    ];
    for (instruction, expected) in rows {
        let got = computed(&format!("{operands} {instruction};"), "%r4");
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
}

/// [ptxas clamps with `DSETP.MAX` against 0 and `DSETP.MIN` against 1, and folds constants so; PTX ISA, cvt: `.sat`]
#[test]
fn conversions_to_floats_are_clamped() {
    let one = 1_f64.to_bits();
    let rows = [
        ("mov.b32 %r5, 5; cvt.rn.sat.f64.s32 %rd5, %r5;", one),
        ("mov.b32 %r5, -5; cvt.rn.sat.f64.s32 %rd5, %r5;", 0),
        ("mov.b32 %r5, 1; cvt.rz.sat.f64.u32 %rd5, %r5;", one),
        ("mov.b64 %rd6, 9; cvt.rp.sat.f64.u64 %rd5, %rd6;", one),
        ("mov.b64 %rd6, -9; cvt.rm.sat.f64.s64 %rd5, %rd6;", 0),
        ("mov.b16 %h5, 3; cvt.rn.sat.f64.u8 %rd5, %h5;", one),
        ("mov.b64 %rd6, 0x4000000000000000; cvt.sat.f64.f64 %rd5, %rd6;", one),
        ("mov.b64 %rd6, 0xc000000000000000; cvt.sat.f64.f64 %rd5, %rd6;", 0),
        ("mov.b64 %rd6, 0xfff8000000000000; cvt.sat.f64.f64 %rd5, %rd6;", 0),
        ("mov.b64 %rd6, 0x8000000000000000; cvt.sat.f64.f64 %rd5, %rd6;", 0),
        ("mov.b64 %rd6, 0x3fd0000000000000; cvt.rpi.sat.f64.f64 %rd5, %rd6;", one),
        ("mov.b32 %r5, 0x40000000; cvt.sat.f64.f32 %rd5, %r5;", one),
        ("mov.b16 %h5, 0x3800; cvt.sat.f64.f16 %rd5, %h5;", 0.5_f64.to_bits()),
    ];
    for (body, expected) in rows {
        let got = computed(body, "%rd5");
        assert_eq!(got, expected, "{body}: {got:#x}");
    }
    // Folded by ptxas.
    assert_words(&[
        ("mov.b32 %r5, -5; cvt.rn.sat.f32.u32 %r4, %r5;", 0x3f80_0000),
        ("mov.b32 %r5, -5; cvt.rn.sat.f32.s32 %r4, %r5;", 0),
        ("mov.b32 %r5, -1; cvt.sat.s32.u32 %r4, %r5;", 0x7fff_ffff),
        ("mov.b32 %r5, -5; cvt.sat.u32.s32 %r4, %r5;", 0),
        ("mov.b32 %r5, 300; cvt.sat.u8.s32 %r4, %r5;", 255),
        ("mov.b32 %r5, 200; cvt.sat.s8.u32 %r4, %r5;", 127),
    ]);
}

/// [PTX ISA, "rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64": of the upper word, subnormal numbers are zeros]
#[test]
fn gross_reciprocals_of_f64() {
    let rows = [
        ("rcp", 1_u64, 0x7ff0_0000_0000_0000),
        ("rcp", 0x8000_0000_0000_0001, 0xfff0_0000_0000_0000),
        ("rcp", 0x000f_ffff_ffff_ffff, 0x7ff0_0000_0000_0000),
        ("rcp", 0x4000_0000_0000_0000, 0x3fe0_0000_0000_0000),
        // 2^1023: the reciprocal is subnormal.
        ("rcp", 0xffe0_0000_0000_0000, 0x8000_0000_0000_0000),
        ("rcp", 0x7ff0_0000_0000_0000, 0),
        ("rcp", 0x7ff0_0000_0000_0001, 0x7fff_ffff_0000_0000),
        ("rcp", 0x7ff8_0000_0000_0001, 0x7fff_ffff_0000_0000),
        ("rcp", 0xfff8_0000_0000_0000, 0x7fff_ffff_0000_0000),
        ("rsqrt", 0xfff8_0000_0000_0000, 0x7fff_ffff_0000_0000),
        ("rsqrt", 0xbff0_0000_0000_0000, 0x7fff_ffff_0000_0000),
        ("rsqrt", 1, 0x7ff0_0000_0000_0000),
        ("rsqrt", 0x8000_0000_0000_0000, 0xfff0_0000_0000_0000),
        ("rsqrt", 0x4010_0000_ffff_ffff, 0x3fe0_0000_0000_0000),
    ];
    for (opcode, source, expected) in rows {
        let body = format!("mov.b64 %rd6, {source:#x}; {opcode}.approx.ftz.f64 %rd5, %rd6;");
        let got = computed(&body, "%rd5");
        assert_eq!(got, expected, "{body}: {got:#x}");
    }
    // A third has 20 bits of fraction and no more; exact reciprocals keep subnormal numbers.
    let third =
        computed("mov.b64 %rd6, 0x4008000000000000; rcp.approx.ftz.f64 %rd5, %rd6;", "%rd5");
    assert_eq!(third, 0x3fd5_5555_0000_0000);
    let exact = computed("mov.b64 %rd6, 0x0008000000000000; rcp.rn.ftz.f64 %rd5, %rd6;", "%rd5");
    assert_eq!(exact, 0x7fe0_0000_0000_0000);
}

/// [PTX ISA, add: `.f32x2` is two operations on f32]
#[test]
fn pairs_of_f32() {
    let values = [0.0_f32, -1.5, 3.25e-39, 1e38, f32::NAN, f32::INFINITY, 1.0 / 3.0];
    let pairs = |shift: usize| {
        values.iter().enumerate().map(move |(place, low)| {
            let high = values[(place + shift) % values.len()];
            u64::from(high.to_bits()) << 32 | u64::from(low.to_bits())
        })
    };
    let triples: Vec<[u64; 3]> =
        pairs(1).zip(pairs(3)).zip(pairs(5)).map(|((a, b), c)| [a, b.rotate_left(32), c]).collect();
    for form in [
        "add.f32",
        "add.rz.ftz.f32",
        "sub.rm.f32",
        "mul.ftz.f32",
        "mul.rp.f32",
        "fma.rn.f32",
        "fma.rz.ftz.f32",
    ] {
        let sources = if form.starts_with("fma") { "A, B, C" } else { "A, B" };
        let both = apply(&format!("{form}x2 D, {sources};"), 64, &triples);
        let [low, high] = [0, 32].map(|shift| {
            let halves: Vec<_> =
                triples.iter().map(|all| all.map(|bits| bits >> shift & 0xffff_ffff)).collect();
            apply(&format!("{form} D, {sources};"), 32, &halves)
        });
        let expected: Vec<u64> = low.iter().zip(high).map(|(low, high)| high << 32 | low).collect();
        assert_eq!(both, expected, "{form}");
    }
}

/// [ptxas folds all but the halves, which are defined alike]
#[test]
fn saturated_sums_and_packed_integers() {
    let operands = "mov.b32 %r5, 0xffffff80; mov.b32 %r6, 0x80007fff; mov.b32 %r7, 0x7f017fff; mov.b32 %r8, 0x01027f01;";
    let rows = [
        ("add.sat.u32 %r4, %r5, %r6", 0xffff_ffff),
        ("add.sat.u32 %r4, %r7, %r8", 0x8003_ff00),
        ("add.sat.u8x4 %r4, %r5, %r6", 0xffff_ffff),
        ("add.sat.u8x4 %r4, %r7, %r8", 0x8003_feff),
        ("add.sat.s8x4 %r4, %r5, %r6", 0x80ff_7e80),
        ("add.sat.s8x4 %r4, %r7, %r8", 0x7f03_7f00),
        ("sub.sat.u8x4 %r4, %r7, %r8", 0x7e00_00fe),
        ("sub.sat.s8x4 %r4, %r7, %r8", 0x7eff_00fe),
        ("add.u8x4 %r4, %r5, %r6", 0x7fff_7e7f),
        ("add.u8x4 %r4, %r7, %r8", 0x8003_fe00),
        ("neg.s8x4 %r4, 0x807f01ff", 0x8081_ff01),
        ("add.sat.u16x2 %r4, %r5, %r6", 0xffff_ffff),
        ("add.sat.s16x2 %r4, %r5, %r6", 0x8000_7f7f),
        ("add.sat.s16x2 %r4, %r7, %r8", 0x7fff_7fff),
        ("max.relu.s8x4 %r4, %r5, %r6", 0x7f00),
        ("min.s8x4 %r4, %r5, %r6", 0x80ff_ff80),
        ("max.u8x4 %r4, %r5, %r6", 0xffff_ffff),
    ];
    for (instruction, expected) in rows {
        let got = computed(&format!("{operands} {instruction};"), "%r4");
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
}

/// [ptxas folds a product with a NaN to nothing, whatever is added; PTX ISA, fma: `.oob`]
#[test]
fn products_with_padding_are_zero() {
    let rows = [
        ("0x7fff, 0x3c00, 0x3c00", "f16", 0x3c00),
        ("0x7e00, 0x3c00, 0x3c00", "f16", 0x3c00),
        ("0x3c00, 0x7fff, 0x4000", "f16", 0x4000),
        ("0x3c00, 0x3c00, 0x4000", "f16", 0x4200),
        ("0x7fff, 0x3c00, 0x8000", "f16", 0),
        ("0x7fff, 0x3c00, 0x3c00", "bf16", 0x3c00),
        ("0xffff, 0x3f80, 0xbf80", "bf16", 0xbf80),
    ];
    for (sources, scalar, expected) in rows {
        let sources: Vec<&str> = sources.split(", ").collect();
        let set: String =
            (5..).zip(&sources).map(|(n, bits)| format!("mov.b16 %h{n}, {bits};")).collect();
        let got = computed(&format!("{set} fma.rn.oob.{scalar} %h4, %h5, %h6, %h7;"), "%h4");
        assert_eq!(got, expected, "{sources:?}: {got:#x}");
    }
    let relu = "mov.b32 %r5, 0x7fff3c00; mov.b32 %r6, 0x3c003c00; mov.b32 %r7, 0xbc00c000;";
    assert_eq!(computed(&format!("{relu} fma.rn.oob.relu.f16x2 %r4, %r5, %r6, %r7;"), "%r4"), 0);
}

/// Launches judged from outside, by the pseudo code of the PTX ISA in exact arithmetic: a, b, c, and the result.
const JUDGED: &[(&str, [[u64; 4]; 4])] = &[
    (
        "vadd.s32.s32.s32.sat %r4, %r1, %r2;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da2],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa4c52bb],
            [0x41, 0x96a4087e, 0x12e92, 0x96a408bf],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x786225c4],
        ],
    ),
    (
        "vadd.u32.u32.s32.sat %r4, %r1.b1, %r2.h1;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x6463],
            [0x20, 0xfa4c529b, 0x73908493, 0x0],
            [0x41, 0x96a4087e, 0x12e92, 0x0],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x78e0],
        ],
    ),
    (
        "vadd.s32.u32.u32.add %r4, %r1.h0, %r2.b3, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e9e1],
            [0x20, 0xfa4c529b, 0x73908493, 0x739085ad],
            [0x41, 0x96a4087e, 0x12e92, 0x12f69],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b9ee2e],
        ],
    ),
    (
        "vadd.s32.s32.u32.sat.min %r4, %r1.b2, %r2.b0, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97c],
            [0x20, 0xfa4c529b, 0x73908493, 0x9b],
            [0x41, 0x96a4087e, 0x12e92, 0x7e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96db7],
        ],
    ),
    (
        "vsub.s32.s32.s32.sat %r4, %r1, %r2;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x9b9ce260],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b3ad85],
            [0x41, 0x96a4087e, 0x12e92, 0x695bf7c3],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x879eda3a],
        ],
    ),
    (
        "vsub.u32.u32.s32.sat %r4, %r1.b1, %r2.h1;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x0],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b4],
            [0x41, 0x96a4087e, 0x12e92, 0x695c],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x0],
        ],
    ),
    (
        "vsub.s32.u32.u32.add %r4, %r1.h0, %r2.b3, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e919],
            [0x20, 0xfa4c529b, 0x73908493, 0x739083b9],
            [0x41, 0x96a4087e, 0x12e92, 0x12e3d],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b9ed3e],
        ],
    ),
    (
        "vsub.s32.s32.u32.sat.min %r4, %r1.b2, %r2.b0, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97c],
            [0x20, 0xfa4c529b, 0x73908493, 0xffffff65],
            [0x41, 0x96a4087e, 0x12e92, 0xffffff82],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96db7],
        ],
    ),
    (
        "vabsdiff.s32.s32.s32.sat %r4, %r1, %r2;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da0],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b3ad85],
            [0x41, 0x96a4087e, 0x12e92, 0x695bf7c3],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x786125c6],
        ],
    ),
    (
        "vabsdiff.u32.u32.s32.sat %r4, %r1.b1, %r2.h1;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x6463],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b4],
            [0x41, 0x96a4087e, 0x12e92, 0x695c],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x77e2],
        ],
    ),
    (
        "vabsdiff.s32.u32.u32.add %r4, %r1.h0, %r2.b3, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e9df],
            [0x20, 0xfa4c529b, 0x73908493, 0x7390856d],
            [0x41, 0x96a4087e, 0x12e92, 0x12ee7],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b9ed3e],
        ],
    ),
    (
        "vabsdiff.s32.s32.u32.sat.min %r4, %r1.b2, %r2.b0, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97c],
            [0x20, 0xfa4c529b, 0x73908493, 0x9b],
            [0x41, 0x96a4087e, 0x12e92, 0x7e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96db7],
        ],
    ),
    (
        "vmin.s32.s32.s32.sat %r4, %r1, %r2;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x1],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa4c529b],
            [0x41, 0x96a4087e, 0x12e92, 0x96a4087e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x7fff],
        ],
    ),
    (
        "vmin.u32.u32.s32.sat %r4, %r1.b1, %r2.h1;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x0],
            [0x20, 0xfa4c529b, 0x73908493, 0x0],
            [0x41, 0x96a4087e, 0x12e92, 0x0],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x7f],
        ],
    ),
    (
        "vmin.s32.u32.u32.add %r4, %r1.h0, %r2.b3, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97d],
            [0x20, 0xfa4c529b, 0x73908493, 0x739084b3],
            [0x41, 0x96a4087e, 0x12e92, 0x12ed3],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96e2f],
        ],
    ),
    (
        "vmin.s32.s32.u32.sat.min %r4, %r1.b2, %r2.b0, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97c],
            [0x20, 0xfa4c529b, 0x73908493, 0x0],
            [0x41, 0x96a4087e, 0x12e92, 0x0],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96db7],
        ],
    ),
    (
        "vmax.s32.s32.s32.sat %r4, %r1, %r2;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da1],
            [0x20, 0xfa4c529b, 0x73908493, 0x20],
            [0x41, 0x96a4087e, 0x12e92, 0x41],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x7861a5c5],
        ],
    ),
    (
        "vmax.u32.u32.s32.sat %r4, %r1.b1, %r2.h1;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x6463],
            [0x20, 0xfa4c529b, 0x73908493, 0x0],
            [0x41, 0x96a4087e, 0x12e92, 0x0],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x7861],
        ],
    ),
    (
        "vmax.s32.u32.u32.add %r4, %r1.h0, %r2.b3, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e9e0],
            [0x20, 0xfa4c529b, 0x73908493, 0x7390858d],
            [0x41, 0x96a4087e, 0x12e92, 0x12f28],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b9edb6],
        ],
    ),
    (
        "vmax.s32.s32.u32.sat.min %r4, %r1.b2, %r2.b0, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1e97c],
            [0x20, 0xfa4c529b, 0x73908493, 0x9b],
            [0x41, 0x96a4087e, 0x12e92, 0x7e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96db7],
        ],
    ),
    (
        "vadd2.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da2],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa4c52bb],
            [0x41, 0x96a4087e, 0x12e92, 0x96a408bf],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x786125c4],
        ],
    ),
    (
        "vadd4.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da2],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa4c52bb],
            [0x41, 0x96a4087e, 0x12e92, 0x96a4087f],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x786124c4],
        ],
    ),
    (
        "vsub2.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x9b9de260],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b4ad85],
            [0x41, 0x96a4087e, 0x12e92, 0x695cf7c3],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x879f7fff],
        ],
    ),
    (
        "vsub4.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x9c9de360],
            [0x20, 0xfa4c529b, 0x73908493, 0x6b4ae7f],
            [0x41, 0x96a4087e, 0x12e92, 0x6a5cf8c3],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x889f7f3a],
        ],
    ),
    (
        "vabsdiff2.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da0],
            [0x20, 0xfa4c529b, 0x73908493, 0x5b4527b],
            [0x41, 0x96a4087e, 0x12e92, 0x695c083d],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x78617fff],
        ],
    ),
    (
        "vabsdiff4.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631d60],
            [0x20, 0xfa4c529b, 0x73908493, 0x64c527f],
            [0x41, 0x96a4087e, 0x12e92, 0x6a5c083d],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x78617f3a],
        ],
    ),
    (
        "vmax2.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631da1],
            [0x20, 0xfa4c529b, 0x73908493, 0x529b],
            [0x41, 0x96a4087e, 0x12e92, 0x87e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x78617fff],
        ],
    ),
    (
        "vmax4.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x64631d01],
            [0x20, 0xfa4c529b, 0x73908493, 0x4c5220],
            [0x41, 0x96a4087e, 0x12e92, 0x87e],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x78617fff],
        ],
    ),
    (
        "vmin2.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x1],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa4c0020],
            [0x41, 0x96a4087e, 0x12e92, 0x96a40041],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa5c5],
        ],
    ),
    (
        "vmin4.s32.s32.s32.sat %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xa1],
            [0x20, 0xfa4c529b, 0x73908493, 0xfa00009b],
            [0x41, 0x96a4087e, 0x12e92, 0x96a40041],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa5c5],
        ],
    ),
    (
        "vset4.u32.u32.lt %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0x1010101],
            [0x20, 0xfa4c529b, 0x73908493, 0x1010101],
            [0x41, 0x96a4087e, 0x12e92, 0x1010101],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0x1010100],
        ],
    ),
    (
        "vabsdiff4.u32.u32.u32.add %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x64631da1, 0xb0d1e97c, 0xb0d1eb00],
            [0x20, 0xfa4c529b, 0x73908493, 0x739086a6],
            [0x41, 0x96a4087e, 0x12e92, 0x13011],
            [0x7fff, 0x7861a5c5, 0xa8b96db7, 0xa8b96ef0],
        ],
    ),
    (
        "cvt.pack.sat.s16.s32 %r4, %r1, %r2;",
        [
            [0x1, 0x10000, 0xb362c25f, 0x17fff],
            [0x100, 0xffffff7f, 0x6655dd6c, 0x100ff7f],
            [0xffffff80, 0x7fffffff, 0x52e6d01f, 0xff807fff],
            [0x10000, 0x1, 0x286b78ae, 0x7fff0001],
        ],
    ),
    (
        "cvt.pack.sat.u16.s32 %r4, %r1, %r2;",
        [
            [0x1, 0x10000, 0xb362c25f, 0x1ffff],
            [0x100, 0xffffff7f, 0x6655dd6c, 0x1000000],
            [0xffffff80, 0x7fffffff, 0x52e6d01f, 0xffff],
            [0x10000, 0x1, 0x286b78ae, 0xffff0001],
        ],
    ),
    (
        "cvt.pack.sat.s8.s32.b32 %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x10000, 0xb362c25f, 0xc25f017f],
            [0x100, 0xffffff7f, 0x6655dd6c, 0xdd6c7f80],
            [0xffffff80, 0x7fffffff, 0x52e6d01f, 0xd01f807f],
            [0x10000, 0x1, 0x286b78ae, 0x78ae7f01],
        ],
    ),
    (
        "cvt.pack.sat.u8.s32.b32 %r4, %r1, %r2, %r3;",
        [
            [0x1, 0x10000, 0xb362c25f, 0xc25f01ff],
            [0x100, 0xffffff7f, 0x6655dd6c, 0xdd6cff00],
            [0xffffff80, 0x7fffffff, 0x52e6d01f, 0xd01f00ff],
            [0x10000, 0x1, 0x286b78ae, 0x78aeff01],
        ],
    ),
    (
        "cvt.rn.satfinite.e2m1x2.f32 %b1, %r1, %r2;",
        [
            [0x43f00000, 0xc039bde0, 0x0, 0x7d],
            [0x3f880000, 0xc0e5f9c0, 0x0, 0x2f],
            [0x0, 0xc3365ca0, 0x0, 0xf],
            [0x800001, 0x404acfc0, 0x0, 0x5],
        ],
    ),
    (
        "cvt.rn.satfinite.e2m3x2.f32 %h1, %r1, %r2;",
        [
            [0x43f00000, 0xc039bde0, 0x0, 0x1f34],
            [0x3f880000, 0xc0e5f9c0, 0x0, 0x83e],
            [0x0, 0xc3365ca0, 0x0, 0x3f],
            [0x800001, 0x404acfc0, 0x0, 0x15],
        ],
    ),
    (
        "cvt.rn.satfinite.e3m2x2.f32 %h1, %r1, %r2;",
        [
            [0x43f00000, 0xc039bde0, 0x0, 0x1f32],
            [0x3f880000, 0xc0e5f9c0, 0x0, 0xc37],
            [0x0, 0xc3365ca0, 0x0, 0x3f],
            [0x800001, 0x404acfc0, 0x0, 0x12],
        ],
    ),
    (
        "cvt.rz.satfinite.ue8m0x2.f32 %h1, %r1, %r2;",
        [
            [0x3fc00000, 0x3c1539bd, 0x0, 0x7f78],
            [0x6ce3ee, 0x1b6a846, 0x0, 0x3],
            [0x7e967699, 0x43c00000, 0x0, 0xfd87],
            [0x7ec00000, 0x7e4ace4c, 0x0, 0xfdfc],
        ],
    ),
    (
        "cvt.rp.satfinite.ue8m0x2.f32 %h1, %r1, %r2;",
        [
            [0x3fc00000, 0x3c1539bd, 0x0, 0x8079],
            [0x6ce3ee, 0x1b6a846, 0x0, 0x104],
            [0x7e967699, 0x43c00000, 0x0, 0xfe88],
            [0x7ec00000, 0x7e4ace4c, 0x0, 0xfefd],
        ],
    ),
];

#[test]
fn video_instructions_and_narrow_conversions_as_judged() {
    for (instruction, rows) in JUDGED {
        let triples: Vec<[u64; 3]> = rows.iter().map(|[a, b, c, _]| [*a, *b, *c]).collect();
        let widened = match instruction.split([' ', ',']).find(|word| word.starts_with('%')) {
            Some("%b1") => "cvt.u64.u8 %rd13, %b1;",
            Some("%h1") => "cvt.u64.u16 %rd13, %h1;",
            _ => "cvt.u64.u32 %rd13, %r4;",
        };
        let body = format!(
            ".reg .b8 %b<9>; cvt.u32.u64 %r1, %rd10; cvt.u32.u64 %r2, %rd11; cvt.u32.u64 %r3, %rd12;
            {instruction} {widened}"
        );
        let expected: Vec<u64> = rows.iter().map(|row| row[3]).collect();
        assert_eq!(evaluate(&body, &triples), expected, "{instruction}");
    }
}

/// [PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions": selectors, merges, masks, averages, shifts]
#[test]
fn selectors_merges_and_masks_of_video_instructions() {
    let operands = "mov.b32 %r5, 0x807f01ff; mov.b32 %r6, 0x7fff8012; mov.b32 %r7, 0x11223344;";
    let rows = [
        // -1 + -32750 = -32751, of which the lowest byte is merged; saturated to 0 as an unsigned byte.
        ("vadd.s32.s32.s32 %r4.b1, %r5.b0, %r6.h0, %r7", 0x1122_1144),
        ("vadd.u32.s32.s32.sat %r4.b1, %r5.b0, %r6.h0, %r7", 0x1122_0044),
        ("vadd.s32.u32.u32.sat %r4.h1, %r5.h0, %r6.h0, %r7", 0x7fff_3344),
        ("vsub.s32.s32.u32.max %r4, %r5.b3, %r6.b1, %r7", 0x1122_3344),
        ("vabsdiff.u32.s32.s32 %r4, %r5, %r6", 0xff80_7e13),
        ("vshl.u32.u32.u32.clamp %r4, %r5, 40", 0),
        ("vshl.u32.u32.u32.wrap %r4, %r5.b0, 36", 0xff0),
        ("vshl.u32.u32.u32.sat.clamp %r4, %r5, 32", 0xffff_ffff),
        ("vshr.s32.s32.u32.clamp %r4, %r5, 40", 0xffff_ffff),
        ("vshr.u32.u32.u32.wrap %r4, %r5, 36", 0x0807_f01f),
        ("vset.s32.s32.lt %r4.b2, %r5, %r6, %r7", 0x1101_3344),
        ("vset.u32.u32.lt.add %r4, %r5, %r6, %r7", 0x1122_3344),
        // 3 * 5 = 15, and 7.
        ("vmad.u32.u32.u32 %r4, 3, 5, 7", 22),
        ("mov.b32 %r8, 3; vmad.s32.u32.u32 %r4, -%r8, 5, 7", 0xffff_fff8),
        ("mov.b32 %r8, 7; vmad.s32.u32.u32 %r4, 3, 5, -%r8", 8),
        ("vmad.u32.u32.u32.po %r4, 3, 5, 7", 23),
        ("vmad.s32.s32.s32.shr7 %r4, %r5.b0, 256, 0", 0xffff_fffe),
        ("vmad.u32.u32.u32.sat %r4, %r5, %r6, 0", 0xffff_ffff),
        ("vmad.s32.s32.s32.sat %r4, %r5, %r6, 0", 0x8000_0000),
        ("mov.b32 %r8, %r5; vmad.s32.s32.s32 %r4, 2, -%r8.b0, 0", 2),
        // Sums of bytes -1, 126, -127 and 17: their halves, of which those from 0 on are rounded up.
        ("vavrg4.s32.s32.s32 %r4, %r5, %r6, 0", 0xff3f_c009),
        ("vavrg2.u32.u32.u32 %r4, %r5, %r6, 0", 0x803f_4109),
        ("vadd4.u32.u32.u32.add %r4, %r5, %r6, %r7", 0x1122_3344 + 0xff + 0x17e + 0x81 + 0x111),
        ("vadd4.u32.u32.u32 %r4.b20, %r5, %r6, %r7", 0x117e_3311),
        ("vsub2.s32.s32.s32.sat %r4.h1, %r5, %r6, %r7", 0x8000_3344),
        ("vmin4.u32.u32.u32 %r4, %r5.b7210, %r6.b3333, 0", 0x7f7f_0180),
        ("vmax2.s32.s32.s32 %r4, %r5.h23, %r6.h10, 0", 0x807f_7fff),
        ("vset4.u32.u32.lt %r4, %r5, %r6, %r7", 0x0001_0100),
        ("vset4.s32.s32.ge.add %r4, %r5, %r6, 10", 12),
        ("vset2.s32.s32.ne %r4.h0, %r5, %r5, %r7", 0x1122_0000),
    ];
    for (instruction, expected) in rows {
        let got = computed(&format!("{operands} {instruction};"), "%r4");
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
}

/// Every value of the formats of 4 and 6 bits. [OCP Microscaling Formats, 5.3; PTX ISA, cvt]
#[test]
fn narrow_floats_are_widened_exactly() {
    let of_bits = |bits: u64, exponent_bits: u32, fraction: u32, bias: i32| {
        let sign = if bits >> (exponent_bits + fraction) & 1 != 0 { -1.0 } else { 1.0 };
        let exponent = (bits >> fraction) as i32 & ((1 << exponent_bits) - 1);
        let part = (bits & ((1 << fraction) - 1)) as f64 / f64::from(1 << fraction);
        let value = if exponent == 0 { part * 2.0 } else { 1.0 + part };
        half::f16::from_f64(sign * value * 2_f64.powi(exponent - bias))
    };
    for (name, bits, exponent, fraction, bias) in
        [("e2m3", 6, 2, 3, 1), ("e3m2", 6, 3, 2, 3), ("e2m1", 4, 2, 1, 1)]
    {
        for low in 0..1_u64 << bits {
            let high = low ^ 1;
            let shift = if name == "e2m1" { 4 } else { 8 };
            let packed = high << shift | low;
            let source = if name == "e2m1" { "mov.b16 {%b1, %b2}, %h5;" } else { "" };
            let register = if name == "e2m1" { "%b1" } else { "%h5" };
            let body = format!(
                "mov.b16 %h5, {packed:#x}; {source} cvt.rn.f16x2.{name}x2 %r4, {register};"
            );
            let [low, high] = [low, high]
                .map(|bits| u64::from(of_bits(bits, exponent, fraction, bias).to_bits()));
            assert_eq!(computed(&body, "%r4"), high << 16 | low, "{body}");
        }
    }
    assert_words(&[
        // 2^-127, 2^0, NaN; and with a negative value cut off.
        ("mov.b16 %h5, 0x007f; cvt.rn.bf16x2.ue8m0x2 %r4, %h5;", 0x0040_3f80),
        ("mov.b16 %h5, 0xfeff; cvt.rn.bf16x2.ue8m0x2 %r4, %h5;", 0x7f00_7fff),
        ("mov.b16 %h5, 0x2021; cvt.rn.relu.f16x2.e2m3x2 %r4, %h5;", 0),
        // An integer byte with the scale 2^6 is itself.
        (
            "mov.b16 %h5, 0x80fd; mov.b16 %h6, 0x8585;
          cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.s2f6x2 %r4, %h5, %h6;",
            0xc300_c040,
        ),
        ("mov.b16 %h5, 0x4060; cvt.rn.bf16x2.s2f6x2 %r4, %h5;", 0x3f80_3fc0),
        (
            "mov.b16 %h5, 0x3838; mov.b16 %h6, 0x8081; cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r4, %h5, %h6;",
            0x4000_4080,
        ),
    ]);
    let narrowed = [
        // 1.25 and -7 with the nearest and the lower magnitude; NaN is the largest value.
        ("cvt.rn.satfinite.e2m1x2.f16x2 %b1, 0x3d00c700", "%b1", 0x2f),
        ("cvt.rz.satfinite.e2m1x2.f32 %b1, 0f3FE00000, 0f40B00000", "%b1", 0x36),
        ("cvt.rn.satfinite.e2m3x2.bf16x2 %h4, 0x7fff3fc0", "%h4", 0x1f0c),
        ("cvt.rn.relu.satfinite.e3m2x2.f16x2 %h4, 0xbc004f00", "%h4", 0x001f),
        ("cvt.rp.ue8m0x2.bf16x2 %h4, 0x3f817f80", "%h4", 0x80ff),
        ("cvt.rz.satfinite.ue8m0x2.bf16x2 %h4, 0xbf817f80", "%h4", 0x7ffe),
    ];
    for (instruction, register, expected) in narrowed {
        let got = computed(&format!("{instruction};"), register);
        assert_eq!(got, expected, "{instruction}: {got:#x}");
    }
}

/// Random bits round a value up exactly if they and its fraction add up to one. Which bits a value reads has been
/// measured on sm_100: halves of the word for pairs; shared halves, once in reverse order, for four values.
#[test]
fn random_bits_round() {
    // One, and the fraction 2^-16 of a step: rounded up only by all ones.
    let forms = [
        ("cvt.rs.bf16x2.f32 %r4, %r5, %r6, %r9", 7, [0xffff_0000, 0x0000_ffff_u32, 0, 0], 16),
        ("cvt.rs.f16x2.f32 %r4, %r5, %r6, %r9", 10, [0x1fff_0000, 0x0000_1fff, 0, 0], 16),
        (
            "cvt.rs.satfinite.e4m3x4.f32 %r4, {%r5, %r6, %r7, %r8}, %r9",
            3,
            [0xffff_0000, 0xffff_0000, 0xffff, 0xffff],
            8,
        ),
        (
            "cvt.rs.satfinite.e5m2x4.f32 %r4, {%r5, %r6, %r7, %r8}, %r9",
            2,
            [0xffff_0000, 0xffff_0000, 0xffff, 0xffff],
            8,
        ),
        (
            "cvt.rs.satfinite.e2m1x4.f32 %h4, {%r5, %r6, %r7, %r8}, %r9",
            1,
            [0xff00_ff00, 0xff00_ff00, 0x00ff_00ff, 0x00ff_00ff],
            4,
        ),
    ];
    for (instruction, fraction, masks, width) in forms {
        let count = if instruction.contains('{') { 4 } else { 2 };
        let register = if instruction.contains("%h4") { "%h4" } else { "%r4" };
        // The fraction of a step that a single random bit of the lowest weight completes.
        let of = |source: u32, random: u32| {
            let body = format!(
                "mov.b32 %r5, {source:#x}; mov.b32 %r6, {source:#x}; mov.b32 %r7, {source:#x}; mov.b32 %r8, {source:#x};
                mov.b32 %r9, {random:#x}; {instruction};"
            );
            computed(&body, register)
        };
        let one = 0x3f80_0000_u32;
        let base = of(one, 0xffff_ffff);
        let steps = |result: u64| {
            (0..count).map(move |place| result >> (width * place) & 1).collect::<Vec<_>>()
        };
        assert!(steps(base).iter().all(|bit| *bit == 0), "{instruction}: exact values stay");
        let bits =
            if instruction.contains("f16x2") && !instruction.contains("bf16") { 13 } else { 16 };
        let least = 1 << (23 - fraction - bits);
        assert!(steps(of(one | least, 0)).iter().all(|bit| *bit == 0), "{instruction}");
        for place in 0..count {
            // The values are in the order of the operands, the last one lowest.
            let mask = masks[(count - 1 - place) as usize];
            assert_eq!(steps(of(one | least, mask))[place as usize], 1, "{instruction}");
            assert_eq!(steps(of(one | least, !mask))[place as usize], 0, "{instruction}");
        }
        // Half a step is completed by the bit of the highest weight alone.
        let half = 1 << (22 - fraction);
        let highest = [31, 15].map(|bit| 1_u32 << bit);
        if count == 2 {
            let highest = if bits == 13 { [1 << 28, 1 << 12] } else { highest };
            assert_eq!(steps(of(one | half, highest[0])), [0, 1], "{instruction}");
            assert_eq!(steps(of(one | half, highest[1])), [1, 0], "{instruction}");
        } else {
            // Reading in reverse, the first value of a pair has its highest weight at the lowest bit.
            let lowest = if width == 4 { [1 << 8, 1] } else { [1 << 16, 1] };
            let natural = if width == 4 { [1 << 31, 1 << 23] } else { highest };
            assert_eq!(steps(of(one | half, lowest[0])), [0, 0, 0, 1], "{instruction}");
            assert_eq!(steps(of(one | half, natural[0])), [0, 0, 1, 0], "{instruction}");
            assert_eq!(steps(of(one | half, lowest[1])), [0, 1, 0, 0], "{instruction}");
            assert_eq!(steps(of(one | half, natural[1])), [1, 0, 0, 0], "{instruction}");
        }
    }
    assert_words(&[
        // Beyond the largest value, negative ones with `.relu`, NaN.
        ("cvt.rs.satfinite.f16x2.f32 %r4, 0f47C35000, 0fC7C35000, 0;", 0x7bff_fbff),
        ("cvt.rs.f16x2.f32 %r4, 0f47C35000, 0f7FC00000, 0;", 0x7c00_7fff),
        ("cvt.rs.relu.bf16x2.f32 %r4, 0fBF800000, 0f3F800000, 0;", 0x0000_3f80),
        ("mov.b32 %r5, 0x44000000; mov.b32 %r6, 0xbf800000; mov.b32 %r7, 0x7fc00000; mov.b32 %r8, 0;
          cvt.rs.satfinite.e4m3x4.f32 %r4, {%r5, %r6, %r7, %r8}, 0;", 0x7eb8_7f00),
    ]);
}

/// [PTX ISA, cvt.pack: the first integer above the second, both saturated, below the bits of the third]
#[test]
fn short_integers_are_packed() {
    assert_words(&[
        ("cvt.pack.sat.s16.s32 %r4, 70000, -3;", 0x7fff_fffd),
        ("cvt.pack.sat.u16.s32 %r4, 70000, -3;", 0xffff_0000),
        ("cvt.pack.sat.s8.s32.b32 %r4, -200, 5, 0x11223344;", 0x3344_8005),
        ("cvt.pack.sat.u4.s32.b32 %r4, 99, -1, 0x11223344;", 0x2233_44f0),
        ("cvt.pack.sat.s2.s32.b32 %r4, -9, 1, 0x11223344;", 0x1223_3449),
    ]);
}

/// [PTX ISA 9.5, sin: `.2pi` takes cycles]
#[test]
fn angles_in_turns() {
    for (turns, sine, cosine) in [
        (0.0_f32, 0.0_f32, 1.0_f32),
        (0.25, 1.0, 0.0),
        (-0.25, -1.0, 0.0),
        (1024.5, 0.0, -1.0),
        (0.125, 0.707_106_77, 0.707_106_77),
    ] {
        let of = |opcode: &str| {
            let body = format!(
                "mov.b32 %r5, {:#x}; {opcode}.approx.ftz.2pi.f32 %r4, %r5;",
                turns.to_bits()
            );
            f32::from_bits(computed(&body, "%r4") as u32)
        };
        assert!((of("sin") - sine).abs() < 1e-6, "{turns}");
        assert!((of("cos") - cosine).abs() < 1e-6, "{turns}");
    }
}

/// [PTX ISA, wmma.mma: `.rnd` of f64]
#[test]
fn products_of_f64_round_in_each_direction() {
    // 1 + 2^-60, in every element: one product of 1 and 2^-60 is added to an accumulator of 1.
    let of = |rounding: &str, tiny: f64| {
        let body = format!(
            "mov.b64 %rd5, {:#x}; mov.b64 %rd6, {:#x};
            wmma.mma.sync.aligned.row.col.m8n8k4{rounding}.f64.f64.f64.f64 {{%rd7, %rd8}}, {{%rd5}}, {{%rd6}}, {{%rd5, %rd5}};",
            1_f64.to_bits(),
            tiny.to_bits()
        );
        f64::from_bits(evaluate_by_warps(&body, "%rd7"))
    };
    let tiny = 2_f64.powi(-60);
    assert_eq!(of("", tiny), 1.0);
    assert_eq!(of(".rn", tiny), 1.0);
    assert_eq!(of(".rz", tiny), 1.0);
    assert_eq!(of(".rm", -tiny), 1.0 - 4.0 * 2_f64.powi(-53));
    assert_eq!(of(".rp", tiny), 1.0 + 4.0 * 2_f64.powi(-52));
    let body = format!(
        "mov.b64 %rd5, {:#x}; mov.b64 %rd6, {:#x};
        mma.sync.aligned.m8n8k4.row.col.rp.f64.f64.f64.f64 {{%rd7, %rd8}}, {{%rd5}}, {{%rd6}}, {{%rd5, %rd5}};",
        1_f64.to_bits(),
        tiny.to_bits()
    );
    assert_eq!(f64::from_bits(evaluate_by_warps(&body, "%rd7")), 1.0 + 4.0 * 2_f64.powi(-52));
}

/// The register of lane 0 after a body that whole warps execute.
fn evaluate_by_warps(body: &str, register: &str) -> u64 {
    evaluate(&format!("{body} mov.b64 %rd13, {register};"), &[[0; 3]])[0]
}

/// Launches one warp with 512 bytes of numbers in shared memory, and returns three words of each lane; then the shared
/// memory.
fn with_matrix(body: &str) -> (Vec<[u32; 4]>, Vec<u8>) {
    let source = module(&format!(
        ".shared .align 128 .b8 sh[512];
        ---
        mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd1, %rd2; mov.u32 %r10, sh; shl.b32 %r11, %r0, 4; add.u32 %r11, %r10, %r11;
        ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd2]; st.shared.v4.u32 [%r11], {{%r1, %r2, %r3, %r4}}; bar.sync 0;
        {body} bar.sync 0;
        st.global.v4.u32 [%rd2], {{%r1, %r2, %r3, %r4}};
        ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r11]; st.global.v4.u32 [%rd2+512], {{%r5, %r6, %r7, %r8}};"
    ));
    let bytes = (0..512_u32)
        .map(|place| (place * 7 + place / 256 * 3) as u8)
        .chain(once(0).cycle().take(512));
    let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[bytes.collect()]);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let words = launched.words(0);
    let (registers, _) = words.as_chunks::<4>();
    (registers[..32].to_vec(), launched.buffers[0][512..].to_vec())
}

fn pattern(place: usize) -> u8 {
    (place * 7 + place / 256 * 3) as u8
}

/// [PTX ISA, ldmatrix: `.m8n16`, `.m16n16`, `.b6x16_p32`, `.b4x16_p64`; stmatrix: `.m16n8`]
#[test]
fn matrices_of_bytes_and_of_packed_elements() {
    // Element i of a row of 16 that begins at a byte.
    let element = |row: usize, bits: u32, i: usize| {
        let packed = (0..16)
            .fold(0_u128, |all, byte| all | u128::from(pattern(16 * row + byte)) << (8 * byte));
        (packed >> (bits as usize * i)) as u8 & (((1_u32 << bits) - 1) as u8)
    };
    for (form, bits) in [("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)] {
        let (lanes, _) = with_matrix(&format!(
            "ldmatrix.sync.aligned.m8n16.x4.shared.{form} {{%r1, %r2, %r3, %r4}}, [%r11];"
        ));
        for (lane, registers) in lanes.iter().enumerate() {
            for (matrix, word) in registers.iter().enumerate() {
                let expected = [0, 1, 2, 3]
                    .map(|part| element(8 * matrix + lane / 4, bits, lane % 4 * 4 + part));
                assert_eq!(word.to_le_bytes(), expected, "{form}, lane {lane}");
            }
        }
    }
    for (form, bits) in [("b8", 8), ("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)] {
        let (lanes, _) = with_matrix(&format!(
            "ldmatrix.sync.aligned.m16n16.x2.trans.shared.{form} {{%r1, %r2, %r3, %r4}}, [%r11];"
        ));
        for (lane, registers) in lanes.iter().enumerate() {
            for (register, word) in registers.iter().enumerate() {
                let (matrix, column) = (register / 2, lane / 4 + 8 * (register % 2));
                let expected = [0, 1, 2, 3]
                    .map(|part| element(16 * matrix + lane % 4 * 4 + part, bits, column));
                assert_eq!(word.to_le_bytes(), expected, "{form}, lane {lane}");
            }
        }
    }
    // The accumulators of a product of 16 rows and 8 columns: lane 4g+t has (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
    let (_, memory) = with_matrix(
        "mul.lo.u32 %r1, %r0, 4; mul.lo.u32 %r1, %r1, 0x01010101; add.u32 %r1, %r1, 0x03020100;
        add.u32 %r2, %r1, 0x80808080;
        stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r11], {%r1, %r2};",
    );
    for (matrix, columns) in memory[..256].chunks(128).enumerate() {
        for (place, byte) in columns.iter().enumerate() {
            let (column, row) = (place / 16, place % 16);
            let lane = row % 8 * 4 + column / 2;
            let part = row / 8 * 2 + column % 2;
            assert_eq!(usize::from(*byte), 4 * lane + part + 128 * matrix, "{column}, {row}");
        }
    }
}

/// An unknown source makes the result unknown, of the lanes concerned.
#[test]
fn unknown_sources_give_unknown_results() {
    // %r80 and its like have never been written; %r81 is known in lanes of even number.
    let known = "and.b32 %r20, %r0, 1; setp.eq.u32 %p1, %r20, 0; @%p1 mov.b32 %r81, 1; @%p1 mov.b16 %h11, 1;
        @%p1 mov.b64 %rd81, 1; mov.b32 %r5, 3; mov.b64 %rd5, 3; mov.b16 %h5, 3;";
    let forms = [
        ("vadd.s32.s32.s32.sat %r4, %r5.b0, %r81.h1;", "%r4"),
        ("vadd.s32.s32.s32.add %r4, %r5, %r5, %r81;", "%r4"),
        ("vadd.s32.s32.s32 %r4.b0, %r5, %r5, %r81;", "%r4"),
        ("vmad.s32.s32.s32 %r4, %r5, %r5, -%r81;", "%r4"),
        ("vavrg4.s32.s32.s32 %r4, %r81, %r5, %r5;", "%r4"),
        ("vset2.s32.s32.lt %r4, %r5, %r5.h01, %r81;", "%r4"),
        ("fma.rn.oob.f16x2 %r4, %r5, %r81, %r5;", "%r4"),
        ("set.lt.u32.f16x2 %r4, %r5, %r81;", "%r4"),
        ("cvt.pack.sat.s8.s32.b32 %r4, %r5, %r5, %r81;", "%r4"),
        ("cvt.rs.f16x2.f32 %r4, %r5, %r5, %r81;", "%r4"),
        ("cvt.rs.satfinite.e4m3x4.f32 %r4, {%r5, %r5, %r81, %r5}, 7;", "%r4"),
        ("cvt.rn.bf16x2.ue8m0x2 %r4, %h11;", "%r4"),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r4, %h5, %h11;", "%r4"),
        ("add.f32x2 %rd6, %rd5, %rd81; cvt.u32.u64 %r4, %rd6;", "%r4"),
        ("add.sat.u8x4 %r4, %r5, %r81;", "%r4"),
        ("max.abs.f32 %r4, %r5, %r5, %r81;", "%r4"),
    ];
    for (form, register) in forms {
        let source = module(&format!("{known} {form} st.global.u32 [%rd2], {register};"));
        let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 128]]);
        assert!(launched.result.skipped.is_empty(), "{form}");
        let bytes: u64 = launched.result.unknown.iter().map(|unknown| unknown.bytes).sum();
        assert_eq!(bytes, 64, "{form}");
    }
}
