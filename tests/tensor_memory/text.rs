//! The text of an instruction: what is taken, and where errors point.

use proptest::prelude::*;
use warpload::tensor_memory::LoadText;

/// Parses a load of `count` registers; gives the canonical opcode.
fn opcode(qualifiers: &str, count: usize, operands: &str) -> Result<String, String> {
    let list: Vec<String> = (0..count).map(|i| format!("%r{i}")).collect();
    let text = format!("{qualifiers} {{{}}}, {operands};", list.join(", "));
    match LoadText::parse(&text) {
        Ok(read) => Ok(read.load.to_string()),
        Err(error) => Err(format!("{}: {error}", error.code())),
    }
}

#[test]
fn spellings_in_use() {
    for (given, operands, canonical) in [
        ("ld.sync.aligned.16x64b.x2.b32", "[t]", "ld.sync.aligned.16x64b.x2.b32"),
        (
            "ld.sync.aligned.16x64b.x2.pack::16b.b32",
            "[t]",
            "ld.sync.aligned.16x64b.x2.pack::16b.b32",
        ),
        ("ld.sync.aligned.16x32bx2.x2.b32", "[t], 0", "ld.sync.aligned.16x32bx2.x2.b32"),
        (
            "ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32",
            "m, [t]",
            "ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32",
        ),
        (
            "ld.red.sync.aligned.32x32b.x2.f32.max.abs.NaN",
            "m, [t]",
            "ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32",
        ),
        (
            "ld.red.sync.aligned.32x32b.x2.min.NaN.f32",
            "{m}, [t + 0x10]",
            "ld.red.sync.aligned.32x32b.x2.min.NaN.f32",
        ),
        (
            "ld.red.sync.aligned.16x32bx2.x2.s32.min",
            "{m}, [t+1048640], 020U",
            "ld.red.sync.aligned.16x32bx2.x2.min.s32",
        ),
    ] {
        let found = opcode(&format!("tcgen05.{given}"), 2, operands);
        assert_eq!(found, Ok(format!("tcgen05.{canonical}")), "{given}");
    }
}

#[test]
fn operands() {
    let text = " tcgen05.ld.sync.aligned.16x32bx2.x1.b32 /* one */ { %r7 } , // its register\n [%rd1+-2], 0x10 ";
    let read = LoadText::parse(text).unwrap();
    assert_eq!((&read.registers[..], read.address), (&["%r7"][..], "%rd1"));
    assert_eq!((read.address_offset, read.load.split()), (u32::MAX - 1, Some(16)));
    let negative = "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r}, [t], -2;";
    // The assembler's concern is the integer; executing it faults.
    assert_eq!(LoadText::parse(negative).unwrap().load.split(), Some(-2));
}

/// The text at fault and the message.
fn error(text: &str) -> (&str, String) {
    let error = LoadText::parse(text).expect_err(text);
    (&text[error.span.range()], format!("{}: {error}", error.code()))
}

#[test]
fn errors_point_at_what_to_change() {
    for (text, at, message) in [
        ("", "", "syntax: expected `tcgen05.ld` with its qualifiers"),
        ("tcgen05.st.sync {r}", "tcgen05.st.sync", "syntax: expected `tcgen05.ld`"),
        (
            "tcgen05.ld.aligned {r}",
            "aligned",
            "syntax: this qualifier cannot stand here; expected `.sync`",
        ),
        ("tcgen05.ld.sync.aligned.16x64b", "", "syntax: expected a repeat such as `.x4`"),
        ("tcgen05.ld.sync.aligned.16x32b.x1.b32 {r}, [t]", "16x32b", "shape: no such shape"),
        ("tcgen05.ld.sync.aligned.16x64b.4.b32 {r}, [t]", "4", "syntax: this qualifier"),
        (
            "tcgen05.ld.sync.aligned.16x64b.x256.b32 {r}, [t]",
            "x256",
            "num: no .x256 of .16x64b; it has .x1 to .x128",
        ),
        (
            "tcgen05.ld.sync.aligned.16x256b.x64.b32 {r}, [t]",
            "x64",
            "num: no .x64 of .16x256b; it has .x1 to .x32",
        ),
        (
            "tcgen05.ld.sync.aligned.16x64b.x1.b32.b32 {r}, [t]",
            "b32",
            "syntax: this qualifier cannot stand here; expected the registers",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x2.max.u32 {a, b}, m, [t]",
            "max",
            "syntax: only `tcgen05.ld.red` has an operation",
        ),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x2.u32 {a, b}, m, [t]",
            "",
            "syntax: expected `.min` or `.max`",
        ),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x2.max.NaN.abs.f32 {a, b}, m, [t]",
            "abs",
            "syntax: this qualifier",
        ),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x1.max.u32 {a}, m, [t]",
            "x1",
            "red-num: .red needs .x2 or more",
        ),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x2.pack::16b.max.u32 {a, b}, m, [t]",
            "pack::16b",
            "red-pack:",
        ),
        ("tcgen05.ld.red.sync.aligned.16x64b.x2.max.u32 {a, b}, m, [t]", "16x64b", "red-shape:"),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.s32 {a, b}, m, [t]",
            "abs",
            "red-modifier:",
        ),
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 r0, [t]", "r", "syntax: expected `{`"),
        (
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0}, [t]",
            "{r0}",
            "syntax: 1 data register; shape and repeat make it 2",
        ),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0, }, [t]", "}", "syntax: expected a register"),
        (
            "tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {a, b}, [t]",
            "[",
            "syntax: expected a register for the reduction",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [0x10]",
            "0",
            "syntax: expected the register that holds",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t + 0x1ffffffff]",
            "0x1ffffffff",
            "syntax: an integer that does not fit",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t], 16",
            "16",
            "split-operand: only .16x32bx2",
        ),
        (
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r0}, [t];",
            "",
            "split-operand: .16x32bx2 needs",
        ),
        (
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r0}, [t], r9;",
            "r",
            "syntax: expected a half offset",
        ),
        (
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r0}, [t], 09;",
            "09",
            "syntax: expected a half offset",
        ),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t]; ret;", "ret;", "syntax: text behind"),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t",
            "",
            "syntax: expected `+` and an offset, or `]`",
        ),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {é}, [t]", "é", "syntax: expected a register"),
    ] {
        let (found, said) = error(text);
        assert_eq!(found, at, "{text}: {said}");
        assert!(said.starts_with(message), "{text}: {said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any text gives a load or an error whose span is part of the text.
    #[test]
    fn no_text_panics(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("tcgen05.ld"), Just(".red"), Just(".sync.aligned"), Just(".16x32bx2"),
                Just(".32x32b"), Just(".x2"), Just(".pack::16b"), Just(".b32"), Just(".max"),
                Just(".f32"), Just(" {a, b}"), Just(", m"), Just(", [t]"), Just(", 4"), Just("+"),
                Just("0x"), Just("-"), Just("/*"), Just("*/"), Just("//"), Just(";"), Just("é"),
                Just("\n"), Just("99999999999999999999"), Just("."), Just("U"),
            ],
            0..16,
        ),
        noise in any::<String>(),
    ) {
        for text in [parts.concat(), noise.clone(), format!("{}{noise}", parts.concat())] {
            if let Err(error) = LoadText::parse(&text) {
                prop_assert!(text.get(error.span.range()).is_some(), "{:?} of {text:?}", error.span);
            }
        }
    }
}
