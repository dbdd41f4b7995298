//! Raw streams: valid ones, and the evidence that a file is none or that its code begins elsewhere.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use warpload_binary::sass::{Format, SassError, SassInstruction, read, read_raw};
use warpload_encoding::{Bundle, Control, MachineWord};

fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("tests/data/listings")
        .join(name);
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all(input: &[u8], format: Format) -> Result<Vec<SassInstruction>, SassError> {
    read(input, format)?.collect()
}

#[test]
fn whole_bundles() {
    let stream = Bundle::nops().to_bytes().repeat(3);
    assert_eq!(all(&stream, Format::Raw).map(|read| read.len()).ok(), Some(9));
    for length in (1..96).filter(|length| length % 32 != 0) {
        let error = all(&stream[..length], Format::Raw).expect_err("no whole bundles").to_string();
        let whole = length / 32 * 32;
        assert!(error.starts_with(&format!("{length} bytes are not a whole number")), "{error}");
        assert!(error.ends_with(&format!("byte offset {whole}")), "{error}");
    }
}

/// The bytes of each code section of a cubin.
fn sections(name: &str) -> Vec<Vec<u8>> {
    let read = all(&bytes(name), Format::Detect).expect("a cubin");
    read.chunk_by(|a, b| a.function == b.function)
        .map(|function| {
            let bundle = |three: &[SassInstruction]| {
                let [first, second, third] = three else { panic!("{name}: not whole bundles") };
                let part = [first, second, third].map(|read| (read.word, read.control));
                let words =
                    part.map(|(word, _)| word.and_then(MachineWord::narrow).unwrap_or_default());
                let control = part.map(|(_, control)| control.unwrap_or_default());
                Bundle { words, control }.to_bytes()
            };
            function.chunks(3).flat_map(bundle).collect()
        })
        .collect()
}

fn raw_error(data: &[u8], start: u64) -> String {
    read_raw(data, start, None).map(|raw| raw.count()).expect_err("no raw stream").to_string()
}

#[test]
fn a_raw_stream_that_begins_elsewhere() {
    let mut refused = 0;
    for name in ["chase.sm_50", "branches.sm_61", "gather-O0.sm_50", "uniform.sm_61"] {
        for code in sections(&format!("{name}.cubin")) {
            let whole = read_raw(&code[..], 0, None).expect("code");
            assert!(!whole.is_unscheduled());
            assert_eq!(whole.barrier_6(), None);
            assert_eq!(whole.count(), code.len() / 32 * 3, "{name}");
            for shift in [8, 16, 24] {
                let whole = (code.len() - shift) / 32 * 32;
                let shifted = &code[shift..shift + whole];
                let error = raw_error(shifted, 0);
                assert!(error.contains("is not a control word"), "{name} by {shift}: {error}");
                // If the bytes before it are skipped, the code is found again.
                let prefixed = [&[1; 8].repeat(shift / 8), &code[..]].concat();
                let again = read_raw(&prefixed[..], shift as u64, None).expect("code");
                assert_eq!(again.count(), code.len() / 32 * 3, "{name}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 15);
}

#[test]
fn what_is_no_raw_stream() {
    let bundle = |control: u64| {
        let nop = 0x50b0_0000_0007_0f00_u64;
        [control, nop, nop, nop].map(u64::to_le_bytes).concat()
    };
    let good = Control::word([Control::default(); 3]);
    let stream = |second: u64| [bundle(good), bundle(second)].concat();
    let text = "a text of some length, \u{e9}".repeat(200);
    for (data, start, expected) in [
        (bytes("chase.sm_50.cubin"), 0, "an ELF file; expected a bare stream"),
        (bytes("chase.sm_50.cubin"), 2016, "an ELF file; expected a bare stream"),
        ([vec![0; 8], bytes("chase.sm_50.cubin")].concat(), 8, "an ELF file; expected"),
        ([&b"\x50\xed\x55\xba"[..], &[0; 60]].concat(), 0, "a CUDA fatbin; expected"),
        ([&b"!<arch>\n"[..], &[0; 56]].concat(), 0, "an archive of objects"),
        ([&b"\x28\xb5\x2f\xfd"[..], &[0; 60]].concat(), 0, "a zstd file; expected"),
        (bytes("gather.sm_50.cuobjdump.txt"), 0, "text; expected a bare stream"),
        (text.into_bytes(), 0, "text; expected a bare stream"),
        (
            stream(good | 1 << 63),
            0,
            "the word 0x801f8400fc2007e1 at byte offset 32 is not a control word: bit 63 is set",
        ),
        (
            [bundle(good), stream(good | 1 << 63)].concat(),
            32,
            "the word 0x801f8400fc2007e1 at byte offset 64 ",
        ),
        (stream(good), 4, "code cannot begin at byte offset 4; expected a multiple of 8"),
        (
            stream(good),
            64,
            "code cannot begin at byte offset 64 of 64 bytes; expected an offset below 64",
        ),
        (stream(good), u64::MAX - 7, "code cannot begin at byte offset 18446744073709551608 of 64"),
        (stream(good), 8, "56 bytes are not a whole number of 32-byte bundles; the last whole one"),
        (Vec::new(), 0, "the input is empty; expected a bare stream of 32-byte bundles"),
    ] {
        let error = raw_error(&data, start);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

/// The notations can write barrier 6, so it can be code. The caller decides.
#[test]
fn control_words_that_name_barrier_6() {
    let good = Control::word([Control::default(); 3]);
    for (bit, slot) in [(5, 0), (50, 2)] {
        let named = good & !(1 << bit);
        let Control { read, write, .. } = Control::slots(named)[slot];
        assert!([read, write].iter().any(|barrier| barrier.number() == Some(6)));
        let words = |control: u64| [control, 1, 1, 1].map(u64::to_le_bytes).concat();
        let stream = [words(good), words(good), words(named), words(named)].concat();
        for (start, count) in [(0, 12), (32, 9)] {
            let raw = read_raw(&stream[..], start, None).expect("bundles");
            assert_eq!(raw.barrier_6(), Some(64));
            assert_eq!(raw.count(), count);
        }
    }
}

/// Zeroes may be code without a schedule; the caller decides.
#[test]
fn control_words_of_zeroes() {
    let unscheduled = [[0; 8], [1; 8], [1; 8], [1; 8]].concat();
    let raw = read_raw(&unscheduled[..], 0, None).expect("bundles");
    assert!(raw.is_unscheduled());
    assert_eq!(raw.count(), 3);
    let scheduled = [Bundle::nops().to_bytes().to_vec(), unscheduled].concat();
    assert!(!read_raw(&scheduled[..], 0, None).expect("bundles").is_unscheduled());
}
