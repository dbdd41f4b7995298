//! The text of a single `tcgen05.ld`: accepted forms, and the places of errors.

use proptest::prelude::*;
use warpload_ptx::read_load;
use warpload_ptx::syntax::Span;
use warpload_ptx::tensor::WrittenTensorLoad;

/// Reads a load. The error is the code of the rule with the message, and the place.
fn written(text: &str) -> Result<WrittenTensorLoad, (String, Span)> {
    let load = read_load(text).map_err(|error| (format!("syntax: {}", error.kind), error.span))?;
    let written = load.tensor_load(text);
    written.map_err(|error| (format!("{}: {error}", error.code()), error.span))
}

/// Reads a load of `count` registers. The result is the canonical opcode.
fn opcode(qualifiers: &str, count: usize, operands: &str) -> Result<String, String> {
    let list: Vec<String> = (0..count).map(|i| format!("%r{i}")).collect();
    let text = format!("{qualifiers} {{{}}}, {operands};", list.join(", "));
    written(&text).map(|written| written.load.to_string()).map_err(|error| error.0)
}

#[test]
fn spellings_in_use() {
    const REDUCED: &str = "32x32b.x2.max.abs.NaN.f32";
    for (red, given, operands, canonical) in [
        ("", "16x64b.x2.b32", "[t]", "16x64b.x2.b32"),
        ("", "16x64b.x2.pack::16b.b32", "[t]", "16x64b.x2.pack::16b.b32"),
        ("", "16x32bx2.x2.b32", "[t], 0", "16x32bx2.x2.b32"),
        (".red", "32x32b.x2.max.abs.NaN.f32", "m, [t]", REDUCED),
        (".red", "32x32b.x2.f32.max.abs.NaN", "m, [t]", REDUCED),
        (".red", "32x32b.x2.min.NaN.f32", "{m}, [t + 0x10]", "32x32b.x2.min.NaN.f32"),
        (".red", "16x32bx2.x2.s32.min", "{m}, [t+1048640], 020U", "16x32bx2.x2.min.s32"),
        // Qualifiers may come in any order, as in the assembler.
        ("", "b32.x2.16x64b", "[t]", "16x64b.x2.b32"),
        (".red", "32x32b.x2.NaN.max.f32.abs", "m, [t]", REDUCED),
    ] {
        let canonical = format!("tcgen05.ld{red}.sync.aligned.{canonical}");
        for words in [format!("sync.aligned.{given}"), format!("{given}.aligned.sync")] {
            let found = opcode(&format!("tcgen05.ld{red}.{words}"), 2, operands);
            assert_eq!(found.as_ref(), Ok(&canonical), "{words}");
        }
    }
}

#[test]
fn operands() {
    let text = " tcgen05.ld.sync.aligned.16x32bx2.x1.b32 /* one */ { %r7 } , // its register\n [%rd1+-2], 0x10 ";
    let read = written(text).unwrap();
    assert_eq!((read.registers.len(), read.registers[0].text(text)), (1, "%r7"));
    assert_eq!(read.address.text(text), "%rd1");
    assert_eq!((read.address_offset, read.load.split()), (u32::MAX - 1, Some(16)));
    // The sum has 32 bits.
    let wide = written("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t + 0x1fffffffe]").unwrap();
    assert_eq!(wide.address_offset, u32::MAX - 1);
    let negative = "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {r}, [t], -2;";
    // The assembler accepts any integer; only execution faults.
    assert_eq!(written(negative).unwrap().load.split(), Some(-2));
}

/// The text at fault and the message.
fn error(text: &str) -> (&str, String) {
    let (message, span) = written(text).expect_err(text);
    (&text[span.range()], message)
}

#[test]
fn errors_point_at_what_to_change() {
    const LD: &str = "tcgen05.ld.sync.aligned";
    const RED: &str = "tcgen05.ld.red.sync.aligned";
    for (opcode, rest, at, message) in [
        ("", "", "", "syntax: expected `ld`, `tcgen05.ld` or `tcgen05.ld.red`"),
        ("tcgen05.st.sync", " {r}", "tcgen05.st.sync", "syntax: expected `ld`, `tcgen05.ld`"),
        ("ld.u32", " r, [t]", "ld", "syntax: expected `tcgen05.ld` or"),
        ("tcgen05.ld.aligned.32x32b.x1.b32", " {r}, [t]", "", "syntax: expected `.sync`"),
        (LD, ".16x64b;", "", "syntax: expected a repeat such as `.x4`"),
        (LD, ".16x32b.x1.b32 {r}, [t]", ".16x32b", "shape: invalid shape"),
        (LD, ".16x64b.4.b32 {r}, [t]", ".4", "syntax: not a qualifier"),
        (LD, ".16x64b.x04.b32 {r}, [t]", ".x04", "syntax: not a qualifier"),
        (LD, ".16x64b.x256.b32 {r}, [t]", ".x256", "num: .16x64b does not support .x256"),
        (LD, ".16x256b.x64.b32 {r}, [t]", ".x64", "num: .16x256b does not support .x64"),
        (LD, ".16x64b.x1.b32.b32 {r}, [t]", ".b32", "syntax: a second qualifier of this kind"),
        (LD, ".16x64b.x1.u32 {r}, [t]", ".u32", "syntax: invalid type; expected `.b32`"),
        (LD, ".32x32b.x2.max.u32 {a, b}, m, [t]", ".max", "syntax: only `tcgen05.ld.red` has"),
        (RED, ".32x32b.x2.u32 {a, b}, m, [t]", "", "syntax: expected `.min` or `.max`"),
        (RED, ".32x32b.x2.max.b32 {a, b}, m, [t]", ".b32", "syntax: invalid type"),
        (RED, ".32x32b.x1.max.u32 {a}, m, [t]", ".x1", "red-num: .red needs .x2 or more"),
        (RED, ".32x32b.x2.pack::16b.max.u32 {a, b}, m, [t]", ".pack::16b", "red-pack:"),
        (RED, ".16x64b.x2.max.u32 {a, b}, m, [t]", ".16x64b", "red-shape:"),
        (RED, ".32x32b.x2.max.abs.s32 {a, b}, m, [t]", ".abs", "red-modifier:"),
        (LD, ".32x32b.x2.b32 r0, [t]", "r0", "syntax: expected the data registers in braces"),
        (
            LD,
            ".32x32b.x2.b32 {r0}, [t]",
            "{r0}",
            "syntax: expected 2 data registers for this shape and repeat, got 1",
        ),
        (LD, ".32x32b.x1.b32 {r0, }, [t]", "}", "syntax: expected a constant"),
        (LD, ".32x32b.x1.b32 {_}, [t]", "_", "syntax: expected a register"),
        (LD, ".32x32b.x1.b32 {é}, [t]", "é", "syntax: invalid character"),
        (LD, ".32x32b.x1.b32 {r0}", "", "syntax: expected `[` and the address"),
        (
            RED,
            ".32x32b.x2.max.u32 {a, b}, [t]",
            "[t]",
            "syntax: expected a register for the reduction",
        ),
        (LD, ".32x32b.x1.b32 {r0}, [0x10]", "[0x10]", "syntax: expected the register that holds"),
        (LD, ".32x32b.x1.b32 {r0}, [t + 1.5]", "1.5", "syntax: expected an integer constant"),
        (LD, ".32x32b.x1.b32 {r0}, [t", "", "syntax: expected `+` or `]`"),
        (LD, ".32x32b.x1.b32 {r0}, [t], 16", "16", "split-operand: only .16x32bx2"),
        (LD, ".16x32bx2.x1.b32 {r0}, [t];", "", "split-operand: .16x32bx2 needs"),
        (LD, ".16x32bx2.x1.b32 {r0}, [t], r9;", "r9", "syntax: expected a half offset"),
        (LD, ".16x32bx2.x1.b32 {r0}, [t], 09;", "09", "syntax: expected a constant"),
        (LD, ".16x32bx2.x1.b32 {r0}, [t], 16, 4;", "4", "syntax: expected the end"),
        (
            LD,
            ".32x32b.x1.b32 {r0}, [t]; ret;",
            "ret;",
            "syntax: expected the end of the text after the load",
        ),
        ("@%p", "", "", "syntax: expected `ld`"),
    ] {
        let text = &format!("{opcode}{rest}");
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

    /// Any text is a load, or an error with a span inside the text.
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
            if let Err((_, span)) = written(&text) {
                prop_assert!(text.get(span.range()).is_some(), "{span:?} of {text:?}");
            }
        }
    }
}
