use warpload::encoding::control::{Bundle, Control, Notation};
use warpload::encoding::{
    Bits, Instruction, MachineWord, ParseErrorKind, Sm, parse_control_prefix, parse_line,
};
use warpload::explain::{certain_fault, effect, remarks};
use warpload_binary::sass::{Format, read};

use super::parse::is_in;

/// Each line of any text is assembled, or refused with a place in it. An assembled instruction decodes to itself,
/// parses again with its control code in every notation that can write it, and is found in its bundles.
pub(super) fn encode_then_decode_is_identity(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let mut assembled = Vec::new();
    for line in text.lines() {
        let _ = parse_control_prefix(line);
        match parse_line(line, Sm::SPA5) {
            Ok(parsed) => {
                let load = parsed.instruction;
                assert_eq!(Instruction::decode(load.word(), Sm::SPA5).load(), Some(load));
                assert!(
                    load.lane_bits().is_some() && load.bits() & load.reserved_bits() == 0,
                    "{line}"
                );
                assert!(!effect(&load).is_empty());
                let _ = (remarks(&load), certain_fault(&load));
                let control = parsed.control.unwrap_or_default();
                is_read_in_each_notation(load, control);
                assembled.push((load.bits() as u64, control));
            }
            Err(error) => is_in(line, &error, Sm::SPA5),
        }
    }
    is_found_in_bundles(&assembled);
}

fn is_read_in_each_notation(load: Instruction, control: Control) {
    for notation in [Notation::Maxas, Notation::CuAssembler, Notation::Nvidia] {
        let control_text = control.display(notation);
        let line = match notation {
            Notation::Nvidia => format!("{load} {control_text} ;"),
            _ => format!("{control_text} {load} ;"),
        };
        let parsed = match parse_line(&line, Sm::SPA5) {
            Ok(parsed) => parsed,
            // The notation can write such a barrier, but not read it.
            Err(error) if notation == Notation::Nvidia && has_barrier_6(control) => {
                assert_eq!(error.kind, ParseErrorKind::BarrierTooHigh, "{line}");
                continue;
            }
            Err(error) => panic!("{line}: {error}"),
        };
        // No notation contains the reuse flags.
        let expected = Control { reuse: Bits::default(), ..control };
        assert_eq!((parsed.instruction, parsed.control), (load, Some(expected)), "{line}");
    }
}

fn has_barrier_6(control: Control) -> bool {
    [control.read, control.write].iter().any(|barrier| barrier.number() == Some(6))
}

fn is_found_in_bundles(assembled: &[(u64, Control)]) {
    let mut bytes = Vec::new();
    for three in assembled.chunks(3) {
        let mut bundle = Bundle::nops();
        for (slot, (word, control)) in three.iter().enumerate() {
            (bundle.words[slot], bundle.control[slot]) = (*word, *control);
        }
        assert_eq!(Bundle::from_bytes(&bundle.to_bytes()), bundle);
        bytes.extend(bundle.to_bytes());
    }
    if bytes.is_empty() {
        return;
    }
    let found = read(&bytes[..], Format::Raw).unwrap_or_else(|error| panic!("{error}"));
    let found = found.map(|instruction| instruction.map(|one| (one.word, one.control)));
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let expected =
        assembled.iter().map(|(word, control)| (Some(MachineWord::from(*word)), Some(*control)));
    assert!(found.len().is_multiple_of(3));
    assert!(found.iter().copied().take(assembled.len()).eq(expected));
}
