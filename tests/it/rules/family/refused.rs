//! Words that no executor executes: words without a size, and LDC's indexed modes.

use warpload::encoding::{ConstantMode, Instruction, NotExecutable, Reg, Sm};
use warpload::load::{ExecuteError, execute, reference};
use warpload::warp::Warp;

use crate::rules::{active, at, machine};

/// The error of both executors, which leave the warp unchanged.
fn error(instruction: &Instruction, before: &Warp) -> ExecuteError {
    let [fast, literal] = [execute, reference].map(|executor| {
        let mut warp = before.clone();
        let error = executor(instruction, &machine(), &mut warp).unwrap_err();
        assert_eq!(&warp, before, "{instruction}");
        error
    });
    assert_eq!(fast, literal, "{instruction}");
    literal
}

/// Warps in which all lanes, one lane or no lane would execute; in the last one P0 predicates all lanes off.
fn warps() -> [Warp; 3] {
    [u32::MAX, 1 << 9, 0].map(|lanes| active(at(|_| 0x10), lanes))
}

/// The word of the text with a size field of 6 or 7, guarded by @PT, @P0 and @!PT.
fn with_size(text: &str, size: u64) -> [Instruction; 3] {
    ["", "@P0 ", "@!PT "].map(|guard| {
        let word = Instruction::parse(&format!("{guard}{text}"), Sm::SPA5).unwrap().bits() as u64;
        Instruction::decode(word & !(7 << 48) | size << 48, Sm::SPA5).load().unwrap()
    })
}

/// The modifier that keeps an instruction from being executed.
fn invalid_modifier(instruction: &Instruction, warp: &Warp) -> &'static str {
    match error(instruction, warp) {
        ExecuteError::NotExecutable(NotExecutable::InvalidModifier(name)) => name,
        other => panic!("{instruction}: {other}"),
    }
}

#[test]
fn a_word_without_a_size() {
    for (text, size) in [
        ("LDL R4, [R2]", 7),
        ("LDS R4, [R2]", 7),
        ("LDS.U R4, [R2]", 7),
        ("LDC R4, c[0x3][R2]", 6),
        ("LDC R4, c[0x3][R2]", 7),
    ] {
        for instruction in with_size(text, size) {
            for warp in warps() {
                assert_eq!(invalid_modifier(&instruction, &warp), format!("INVALIDSIZE{size}"));
            }
        }
    }
}

/// LDG has all eight, and the others have the sizes below.
#[test]
fn the_other_sizes_are_executed() {
    for (text, sizes) in
        [("LDG R4, [R2]", 8), ("LDL R4, [R2]", 7), ("LDS R4, [R2]", 7), ("LDC R4, c[0x3][R2]", 6)]
    {
        for size in 0..sizes {
            for instruction in with_size(text, size) {
                let mut warp = at(|_| 0x10);
                assert!(execute(&instruction, &machine(), &mut warp).is_ok(), "{instruction}");
                assert!(reference(&instruction, &machine(), &mut warp).is_ok(), "{instruction}");
            }
        }
    }
}

#[test]
fn an_indexed_mode() {
    for mode in [ConstantMode::Il, ConstantMode::Is, ConstantMode::Isl] {
        for guard in ["", "@P0 ", "@!PT "] {
            for size in ["", ".U8", ".64"] {
                let text = format!("{guard}LDC{size}.{} R4, c[0x3][R2]", mode.name());
                let instruction = Instruction::parse(&text, Sm::SPA5).unwrap();
                for warp in warps() {
                    let error = error(&instruction, &warp);
                    assert_eq!(error, ExecuteError::ConstantMode(mode), "{text}");
                }
            }
        }
    }
}

/// R5 is odd for 64 bits, and bank 1 does not exist, but a refusal comes before all faults.
#[test]
fn a_refusal_comes_before_the_registers() {
    let instruction = Instruction::parse("LDC.64.IL R5, c[0x1][R2]", Sm::SPA5).unwrap();
    let mut warp = at(|_| 0);
    warp.set_register(Reg::new(2), [7; 32]);
    assert_eq!(error(&instruction, &warp), ExecuteError::ConstantMode(ConstantMode::Il));
}

/// If a word has neither a size nor a known mode, the size is reported.
#[test]
fn the_size_is_checked_first() {
    for instruction in with_size("LDC.IS R4, c[0x3][R2]", 6) {
        assert_eq!(invalid_modifier(&instruction, &at(|_| 0)), "INVALIDSIZE6");
    }
}

#[test]
fn errors_as_text() {
    let warp = at(|_| 0);
    let [no_size, ..] = with_size("LDS R4, [R2]", 7);
    assert_eq!(
        error(&no_size, &warp).to_string(),
        "the instruction cannot be executed, because .INVALIDSIZE7 is invalid"
    );
    let indexed = Instruction::parse("LDC.ISL R4, c[0x3][R2]", Sm::SPA5).unwrap();
    assert_eq!(
        error(&indexed, &warp).to_string(),
        "LDC.ISL cannot be executed, because its bank and offset are not documented"
    );
}
