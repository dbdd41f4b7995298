//! Broken cubins and listings: typed errors with a place, never a panic.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use warpload_binary::sass::{Format, SassError, SassInstruction, read, read_raw};
use warpload_encoding::{Bundle, Sm};

fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("tests/data/listings")
        .join(name);
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all(input: &[u8], format: Format) -> Result<Vec<SassInstruction>, SassError> {
    read(input, format)?.collect()
}

fn bad(input: &[u8]) -> String {
    let error = all(input, Format::Detect).expect_err("broken input");
    error.to_string()
}

/// `data` with `new` written at `at`.
fn patched(data: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data[at..at + new.len()].copy_from_slice(new);
    data
}

/// `data` with the first `old` replaced by `new`, of the same length.
fn replaced(data: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = data.windows(old.len()).position(|bytes| bytes == old).expect("there is one");
    patched(data, at, new)
}

/// Offsets in chase.sm_50.cubin: the section headers, and the header of `.text.absolute`.
const SECTION_HEADERS: usize = 2656;
const TEXT_ABSOLUTE: usize = SECTION_HEADERS + 13 * 64;
const TEXT_CHASE: usize = TEXT_ABSOLUTE + 64;

#[test]
fn every_truncation_is_an_error() {
    for name in ["chase.sm_50.cubin", "uniform.sm_61.cubin"] {
        let whole = bytes(name);
        for length in 0..whole.len() {
            let error = bad(&whole[..length]);
            let expected = match length {
                0 => "the input is empty",
                1..4 => "no SASS listing line",
                _ if length < 64 => "the ELF header at byte offset 0 cannot be read",
                _ => "the program headers at byte offset",
            };
            assert!(error.starts_with(expected), "{name} cut to {length}: {error}");
        }
    }
}

#[test]
fn broken_cubins() {
    let cubin = bytes("chase.sm_50.cubin");
    let u64_at = |at: usize, value: u64| patched(&cubin, at, &value.to_le_bytes());
    for (input, expected) in [
        (patched(&cubin, 18, &[62, 0]), "an ELF file of machine 62; expected a cubin, machine 190"),
        (patched(&patched(&cubin, 5, &[2]), 18, &[0, 20]), "an ELF file of machine 20;"),
        (patched(&cubin, 5, &[2]), "an ELF file of machine 48640;"),
        (patched(&cubin, 4, &[7]), "the ELF header at byte offset 0 cannot be read"),
        (patched(&cubin, 48, &[71]), "code for SM 7.1, which is not supported; expected one of"),
        (patched(&patched(&cubin, 7, &[0x41]), 49, &[130]), "code for SM 13.0,"),
        (u64_at(40, 0xffff_ffff), "the section headers at byte offset 4294967295 cannot be read"),
        (patched(&cubin, 58, &[0]), "the section headers at byte offset 2656 cannot be read"),
        (patched(&cubin, 62, &[99]), "the section headers at byte offset 2656 cannot be read"),
        (
            u64_at(TEXT_ABSOLUTE + 24, 0x1000),
            "section .text.absolute has 192 bytes at byte offset 4096, which is outside the file \
             of 3784 bytes",
        ),
        (
            u64_at(TEXT_ABSOLUTE + 24, u64::MAX),
            "section .text.absolute has 192 bytes at byte offset 18446744073709551615",
        ),
        (
            u64_at(TEXT_ABSOLUTE + 32, u64::MAX),
            "section .text.absolute has 18446744073709551615 bytes",
        ),
        (
            u64_at(TEXT_ABSOLUTE + 32, 200),
            "section .text.absolute at byte offset 2016 has 200 bytes, which is not a whole number",
        ),
        (
            patched(&u64_at(TEXT_ABSOLUTE + 32, 1600), TEXT_CHASE + 32, &2208u64.to_le_bytes()),
            "section .text.chase has 2208 bytes at byte offset 2208",
        ),
        (
            patched(
                &patched(&u64_at(TEXT_ABSOLUTE + 32, 1600), TEXT_CHASE + 24, &64u64.to_le_bytes()),
                TEXT_CHASE + 32,
                &2208u64.to_le_bytes(),
            ),
            "section .text.chase at byte offset 64 overlaps another one",
        ),
    ] {
        let error = bad(&input);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

/// A module of variables alone.
#[test]
fn a_cubin_without_code() {
    let cubin = bytes("chase.sm_50.cubin");
    let empty = replaced(&replaced(&cubin, b".text.a", b".tixt.a"), b".text.c", b".tixt.c");
    assert_eq!(all(&empty, Format::Detect).ok(), Some(Vec::new()));
}

/// Without `.text.NAME` the symbols name the functions; `$chase$hop` lies within `chase`.
#[test]
fn a_bare_text_section_takes_names_from_symbols() {
    let cubin = bytes("chase.sm_50.cubin");
    let bare = replaced(&cubin, b".text.chase\0", b".text\0chase\0");
    let expected = all(&cubin, Format::Detect).ok();
    assert_eq!(all(&bare, Format::Detect).ok(), expected);

    // In a linked file a section can have an address, and its symbols then have addresses too.
    let address = 0x1000u64.to_le_bytes();
    let symbol = [&[0x12, 0x10, 14, 0], &[0; 8][..], &448u64.to_le_bytes()].concat();
    let at = bare.windows(symbol.len()).position(|bytes| bytes == symbol).expect("chase");
    let linked = patched(&patched(&bare, at + 4, &address), TEXT_CHASE + 16, &address);
    assert_eq!(all(&linked, Format::Detect).ok(), expected);
    // Here no symbol covers the section.
    let unnamed = patched(&bare, at + 4, &address);
    let read = all(&patched(&unnamed, at, &[0x11]), Format::Detect).expect("a cubin");
    assert!(read.iter().skip(18).take(24).all(|read| read.function.is_none()));
}

#[test]
fn registers_are_the_high_byte_of_info() {
    let cubin = patched(&bytes("chase.sm_50.cubin"), TEXT_CHASE + 47, &[200]);
    let read = all(&cubin, Format::Detect).expect("a cubin");
    assert_eq!(read.last().and_then(|read| read.registers), Some(200));
}

/// An ELF32 cubin with one function, of `bundles`.
fn elf32(bundles: &[u8]) -> Vec<u8> {
    let names = b"\0.shstrtab\0.text.f\0";
    let (text_at, headers_at) = (52 + names.len(), 52 + names.len() + bundles.len());
    let mut file = b"\x7fELF\x01\x01\x01\x33\x07".to_vec();
    file.resize(16, 0);
    let half = |file: &mut Vec<u8>, value: usize| file.extend((value as u16).to_le_bytes());
    let word = |file: &mut Vec<u8>, value: usize| file.extend((value as u32).to_le_bytes());
    [2, 190].iter().for_each(|value| half(&mut file, *value));
    [1, 0, 0, headers_at, 53].iter().for_each(|value| word(&mut file, *value));
    [52, 0, 0, 40, 3, 1].iter().for_each(|value| half(&mut file, *value));
    file.extend(names);
    file.extend(bundles);
    let text = [11, 1, 6, 0, text_at, bundles.len(), 0, 17 << 24, 32, 0];
    for header in [[0; 10], [1, 3, 0, 0, 52, names.len(), 0, 0, 1, 0], text] {
        header.iter().for_each(|value| word(&mut file, *value));
    }
    file
}

#[test]
fn elf32_cubins() {
    let file = elf32(&Bundle { words: [1, 2, 3], ..Bundle::nops() }.to_bytes());
    let read = all(&file, Format::Detect).expect("a cubin");
    let words: Vec<_> = read.iter().filter_map(|read| read.word?.narrow()).collect();
    assert_eq!(words, [1, 2, 3]);
    assert_eq!(read[2].function.as_deref(), Some("f"));
    assert_eq!((read[2].offset, read[2].registers, read[2].sm), (Some(24), Some(17), Sm::new(53)));
    for length in 0..file.len() {
        assert!(all(&file[..length], Format::Detect).is_err(), "cut to {length}");
    }
}

#[test]
fn a_name_without_end() {
    let mut file = elf32(&Bundle::nops().to_bytes());
    let names_size = 52 + 19 + 32 + 40 + 20;
    file = patched(&file, names_size, &[18]);
    assert_eq!(bad(&file), "the name at byte offset 63 has no end within 65536 bytes");
}

#[test]
fn broken_listings() {
    let listing = bytes("gather.sm_61.nvdisasm.txt");
    let text = String::from_utf8(listing.clone()).expect("UTF-8");
    let with = |old: &str, new: &str| text.replacen(old, new, 1).into_bytes();
    for (input, expected) in [
        (Vec::new(), "the input is empty"),
        (b"\n\n".to_vec(), "no SASS listing line in 2 lines"),
        (b"\x7fEL".to_vec(), "no SASS listing line in 1 lines"),
        (
            with("0x4c98078000870001", "0x4c9807800087000"),
            "line 16, column 96 (byte offset 756): expected a word",
        ),
        (
            with("/* 0x841000000007061d */", ""),
            "line 33, column 67 (byte offset 2662): expected the word of the instruction",
        ),
        (with("/*0008*/", "/*0000*/"), "line 16, column 11"),
        (with("EF_CUDA_SM61", "EF_CUDA_SM71"), "line 1: code for SM 7.1"),
        (
            with("EF_CUDA_SM61", "EF_CUDA_SM70"),
            "line 15, column 93 (byte offset 636): unexpected word; expected it after the first half",
        ),
        (patched(&listing, 1100, b"\xe9"), "line 20, column 26 (byte offset 1100) is not UTF-8"),
    ] {
        let error = bad(&input);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let mut endless = read(endless, Format::Detect).expect("text");
    let error = endless.next().expect("an error").expect_err("an endless line");
    assert!(error.to_string().starts_with("line 1 (byte offset 0) is longer than"), "{error}");
    assert!(endless.next().is_none());
}

/// A listing cut within an instruction is an error; one cut between lines looks like a
/// short one, and has the instructions up to there.
#[test]
fn a_listing_cut_in_the_middle() {
    for name in ["gather.sm_61.nvdisasm.txt", "chase.sm_50.cuobjdump.txt"] {
        let listing = bytes(name);
        let whole = all(&listing, Format::Detect).expect("a listing");
        let mut cuts = 0;
        for length in (1000..3000).filter(|length| listing[*length] != b'\n') {
            match all(&listing[..length], Format::Detect) {
                Ok(read) => assert_eq!(read[..], whole[..read.len()], "{name} cut to {length}"),
                Err(SassError::Listing { offset, .. }) => {
                    assert!(offset <= length as u64, "{name} cut to {length}");
                    cuts += 1;
                }
                // `EF_CUDA_SM5`
                Err(SassError::UnsupportedSm { sm: 5, .. }) => {}
                Err(error) => panic!("{name} cut to {length}: {error}"),
            }
        }
        assert!(cuts > 500, "{name}: {cuts}");
    }
}

/// Reads to the end or to an error. The number of instructions is bounded by the input's size.
fn exhaust(input: &[u8]) {
    let wide = read_raw(input, 0, Sm::new(80));
    for sass in [read(input, Format::Detect), read(input, Format::Raw), wide].into_iter().flatten()
    {
        assert!(sass.count() <= input.len());
    }
}

fn mutated(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let data = bytes(name);
    let change = (0..data.len(), any::<u8>());
    (prop::collection::vec(change, 1..20), 0..=data.len()).prop_map(move |(changes, end)| {
        let mut data = data.clone();
        for (at, byte) in changes {
            data[at] = byte;
        }
        // Half of them stay whole.
        if end < data.len() / 2 {
            data.truncate(end * 2);
        }
        data
    })
}

/// Lines made of the pieces of listings.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/*",
        "*/",
        "/*0008*/",
        "/*0010*/",
        " ",
        "\n",
        "\r\n",
        "{",
        "}",
        ";",
        "NOP",
        "0x",
        "//",
        "/* 0x50b0000000070f00 */",
        "LDS R0, [R1+`((tile + 0x8))]",
        "   SLOT 1",
        ".L_x_0:",
        "--:-:-:-:1",
        "[B------:R-:W-:-:S01]",
        "PASS ",
        ".section ",
        ".text.f:",
        ".text.",
        "Function :",
        "code for sm_50",
        "code for sm_80",
        "/*0020*/",
        "/* 0x000fc00000000000 */",
        "&req={1}",
        "# Kernel:",
        "<CODE>",
        "</CODE>",
        "@\"SHI_REGISTERS=300\"",
        ".sectioninfo ",
        "\u{e4}",
        "\u{2003}",
        "\u{feff}",
        ":",
        "[B",
        ".",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..400)) {
        exhaust(&input);
        exhaust(&[b"\x7fELF", &*input].concat());
        exhaust(&[b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0\x02\0\xbe\0", &*input].concat());
    }

    #[test]
    fn pieces_of_listings_never_panic(input in pieces()) {
        exhaust(input.as_bytes());
    }

    #[test]
    fn mutated_cubins_never_panic(input in mutated("chase.sm_50.cubin")) {
        exhaust(&input);
    }

    /// The same where the symbols are needed.
    #[test]
    fn mutated_bare_sections_never_panic(input in mutated("chase.sm_50.cubin")) {
        let at = input.windows(12).position(|bytes| bytes == b".text.chase\0");
        exhaust(&at.map_or(input.clone(), |at| patched(&input, at, b".text\0")));
    }

    /// Their registers are in a section of their own.
    #[test]
    fn mutated_wide_cubins_never_panic(input in mutated("../listings128/calls.sm90.cubin")) {
        exhaust(&input);
    }

    #[test]
    fn mutated_listings_never_panic(input in mutated("gather.sm_61.nvdisasm.txt")) {
        exhaust(&input);
    }

    #[test]
    fn mutated_maxas_listings_never_panic(input in mutated("maxas-all-sm50.txt")) {
        exhaust(&input);
    }
}

/// Functions that share one long name are not copied for each.
#[test]
fn names_that_overlap_are_refused() {
    let long = "f".repeat(40_000);
    let names = format!("\0.shstrtab\0.text.{long}\0");
    let file = |sections: usize, bundles: &[u8]| {
        let mut file = b"\x7fELF\x02\x01\x01\x33\x07".to_vec();
        file.resize(16, 0);
        let code = 64 + names.len();
        let headers = code + bundles.len();
        file.extend([2_u16, 190].iter().flat_map(|half| half.to_le_bytes()));
        file.extend(1_u32.to_le_bytes());
        file.extend([0, 0, headers as u64].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(53_u32.to_le_bytes());
        let sizes = [64, 0, 0, 64, 2 + sections as u16, 1];
        file.extend(sizes.iter().flat_map(|half| half.to_le_bytes()));
        file.extend(names.bytes());
        file.extend(bundles);
        let header = |name: u32, kind: u32, offset: usize, size: usize| {
            let [offset, size] = [offset, size].map(|number| (number as u64).to_le_bytes());
            [&name.to_le_bytes()[..], &kind.to_le_bytes(), &[0; 16], &offset, &size, &[0; 24]]
                .concat()
        };
        file.extend([0; 64]);
        file.extend(header(1, 3, 64, names.len()));
        for i in 0..sections {
            let each = bundles.len() / sections;
            file.extend(header(11, 1, code + i * each, each));
        }
        file
    };
    let bundle = Bundle::nops().to_bytes();
    assert_eq!(all(&file(1, &bundle), Format::Detect).expect("a cubin").len(), 3);
    for (sections, bundles) in [(3, Vec::new()), (1000, Vec::new()), (3, bundle.repeat(3))] {
        let error = bad(&file(sections, &bundles));
        let expected = "the name at byte offset 75 overlaps another one";
        assert!(error.starts_with(expected), "{error}");
    }
}
