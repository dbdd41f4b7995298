//! Code of SM 7.0 to 12.x: cubins, their listings and raw streams have the same instructions.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use warpload_binary::sass::{
    CodeUnit, Format, Functions, SassError, SassInstruction, SassKind, read, read_raw,
};
use warpload_encoding::{Control, Sm};

struct Sample {
    name: &'static str,
    instructions: usize,
    /// The functions with their registers as `cuobjdump -res-usage` says, in the order of the file.
    functions: &'static [(&'static str, u8)],
}

const fn sample(
    name: &'static str,
    instructions: usize,
    functions: &'static [(&'static str, u8)],
) -> Sample {
    Sample { name, instructions, functions }
}

const SAMPLES: [Sample; 20] = [
    sample("calls.sm75", 112, &[("second", 9), ("first", 15)]),
    sample("calls.sm90", 144, &[("second", 11), ("first", 18)]),
    sample("sweep.sm70", 72, &[("sweep", 32)]),
    sample("sweep.sm75", 72, &[("sweep", 48)]),
    sample("sweep.sm80", 88, &[("sweep", 32)]),
    sample("sweep.sm90", 96, &[("sweep", 32)]),
    sample("sweep.sm100", 104, &[("sweep", 32)]),
    sample("sweep.sm120", 112, &[("sweep", 39)]),
    sample("tile.sm70", 216, &[("tile", 32)]),
    sample("tile.sm75", 248, &[("tile", 60)]),
    sample("tile.sm80", 352, &[("tile", 32)]),
    sample("tile.sm90", 80, &[("tile", 31)]),
    sample("tile.sm100", 80, &[("tile", 31)]),
    sample("tile.sm120", 80, &[("tile", 33)]),
    sample("walk.sm70", 40, &[("walk", 16)]),
    sample("walk.sm75", 48, &[("walk", 16)]),
    sample("walk.sm80", 48, &[("walk", 16)]),
    sample("walk.sm90", 48, &[("walk", 16)]),
    sample("walk.sm100", 48, &[("walk", 16)]),
    sample("walk.sm120", 48, &[("walk", 16)]),
];

impl Sample {
    fn sm(&self) -> Option<Sm> {
        self.name.split_once(".sm").and_then(|(_, sm)| sm.parse().ok())
    }

    fn cubin(&self) -> Vec<u8> {
        bytes(&format!("{}.cubin", self.name))
    }

    fn listing(&self, tool: &str) -> String {
        let compressed = bytes(&format!("{}.{tool}.txt.xz", self.name));
        let mut text = String::new();
        let mut decoder = liblzma::read::XzDecoder::new(&compressed[..]);
        decoder.read_to_string(&mut text).expect("a listing");
        text
    }
}

fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("tests/data/listings128")
        .join(name);
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all(input: &[u8]) -> Result<Vec<SassInstruction>, SassError> {
    read(input, Format::Detect)?.collect()
}

fn good(input: &[u8], kind: SassKind) -> Vec<SassInstruction> {
    let sass = read(input, Format::Detect).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sass.kind(), kind);
    sass.map(|read| read.unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// The properties that a cubin and its listing share.
type Common<'r> = (Option<&'r str>, Option<u64>, Option<u128>, Option<Control>, Option<Sm>);

fn common(read: &[SassInstruction]) -> Vec<Common<'_>> {
    let word = |read: &SassInstruction| read.word?.wide();
    read.iter().map(|r| (r.function.as_deref(), r.offset, word(r), r.control, r.sm)).collect()
}

/// The texts with single spaces. Branch targets are labels of nvdisasm and numbers of cuobjdump.
fn texts(read: &[SassInstruction], with_targets: bool) -> Vec<String> {
    let text = |read: &SassInstruction| {
        let words: Vec<&str> = read.text.as_deref()?.split_whitespace().collect();
        let text = words.join(" ");
        let is_branch = ["BRA", "CALL", "BSSY", "RET", "BSYNC", "WARPSYNC", "MOV"]
            .iter()
            .any(|name| text.split([' ', '.']).any(|word| word == *name));
        let keeps = with_targets || !is_branch;
        Some(if keeps { text } else { text.split([' ', '`']).next()?.to_owned() })
    };
    read.iter().map(|read| text(read).expect("a text")).collect()
}

#[test]
fn every_source_gives_the_same_sequence() {
    for sample in &SAMPLES {
        let name = sample.name;
        let cubin = good(&sample.cubin(), SassKind::Cubin);
        assert_eq!(cubin.len(), sample.instructions, "{name}");
        assert!(cubin.iter().all(|read| read.sm.is_some() && read.sm == sample.sm()), "{name}");
        assert!(cubin.iter().all(|read| read.word.is_some_and(|word| word.width() == 128)));
        let cuobjdump = good(sample.listing("cuobjdump").as_bytes(), SassKind::Listing);
        let nvdisasm = good(sample.listing("nvdisasm").as_bytes(), SassKind::Listing);
        assert_eq!(common(&cubin), common(&cuobjdump), "{name}: cuobjdump");
        assert_eq!(common(&cubin), common(&nvdisasm), "{name}: nvdisasm");
        assert_eq!(texts(&cuobjdump, false), texts(&nvdisasm, false), "{name}");

        let raw = good(sample.listing("nvdisasm-raw").as_bytes(), SassKind::Listing);
        assert_eq!(texts(&nvdisasm, true), texts(&raw, true), "{name}");
        let place = |read: &SassInstruction| (read.function.clone(), read.offset, read.sm);
        assert!(nvdisasm.iter().map(place).eq(raw.iter().map(place)), "{name}");
        assert!(raw.iter().all(|read| read.word.is_none() && read.control.is_none()), "{name}");
    }
}

#[test]
fn functions_and_registers() {
    for sample in &SAMPLES {
        let mut read = good(&sample.cubin(), SassKind::Cubin);
        read.dedup_by(|a, b| a.function == b.function);
        let read: Vec<_> = read
            .iter()
            .map(|read| (read.function.as_deref().unwrap_or("?"), read.registers.unwrap_or(0)))
            .collect();
        assert_eq!(read, sample.functions, "{}", sample.name);
        // nvdisasm prints them up to SM 8.9.
        for read in good(sample.listing("nvdisasm").as_bytes(), SassKind::Listing) {
            let known =
                sample.functions.iter().find(|(name, _)| read.function.as_deref() == Some(name));
            let is_listed = sample.sm() < Sm::new(90);
            assert_eq!(
                read.registers,
                known.map(|(_, registers)| *registers).filter(|_| is_listed)
            );
        }
    }
}

#[test]
fn words_at_offsets() {
    for sample in &SAMPLES {
        let cubin = sample.cubin();
        let mut functions = Functions::default();
        functions.add(&cubin[..]).expect("a cubin");
        for read in good(&cubin, SassKind::Cubin) {
            let function = functions.get(read.function.as_deref().expect("a name"));
            let function = function.expect("a function");
            let offset = read.offset.expect("an offset");
            assert_eq!(function.at(offset).map(|located| located.word), read.word);
            for between in (1..16).map(|more| offset + more) {
                assert_eq!(function.at(between), None, "{} at {between:#x}", sample.name);
            }
        }
    }
}

/// A section of a cubin is a raw stream.
#[test]
fn raw_streams() {
    for sample in SAMPLES.iter().filter(|sample| sample.functions.len() == 1) {
        let cubin = good(&sample.cubin(), SassKind::Cubin);
        let words = cubin.iter().filter_map(|read| read.word?.wide());
        let code: Vec<u8> = words.flat_map(u128::to_le_bytes).collect();
        let without_function = |mut read: SassInstruction| {
            (read.function, read.registers, read.input_offset) = (None, None, None);
            read
        };
        let expected: Vec<_> = cubin.into_iter().map(without_function).collect();
        // A section can begin at any multiple of 8.
        for start in [0, 8, 16] {
            let input = [&vec![1; start], &code[..]].concat();
            let raw = read_raw(&input[..], start as u64, sample.sm()).expect("code");
            assert_eq!((raw.kind(), raw.is_unscheduled()), (SassKind::Raw, false));
            let raw: Result<Vec<_>, _> = raw.collect();
            let mut raw = raw.expect("code");
            for (read, n) in raw.iter_mut().zip(0..) {
                assert_eq!(read.input_offset.take(), Some(start as u64 + 16 * n));
            }
            assert_eq!(raw, expected, "{}", sample.name);
        }
        for cut in (17..code.len()).filter(|cut| cut % 16 != 0).take(40) {
            let error = read_raw(&code[..cut], 0, sample.sm()).expect_err("a cut instruction");
            let expected = format!(
                "{cut} bytes are not a whole number of 16-byte instructions; the last whole one \
                 ends at byte offset {}",
                cut / 16 * 16
            );
            assert_eq!(error.to_string(), expected);
        }
    }
    let sm = Sm::new(80);
    assert!(read_raw(&[0; 32][..], 0, sm).expect("code").is_unscheduled());
    for (input, start, expected) in [
        (&b""[..], 0, "the input is empty; expected a bare stream of 16-byte instructions"),
        (&[0; 32], 4, "code cannot begin at byte offset 4; expected a multiple of 8"),
        (&[0; 32], 32, "code cannot begin at byte offset 32 of 32 bytes"),
        (
            b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0",
            0,
            "an ELF file; expected a bare stream of 16",
        ),
        (b"text of 16 bytes", 0, "text; expected a bare stream of 16-byte instructions"),
    ] {
        let error = read_raw(input, start, sm).expect_err("no code").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// A file for several GPUs: each part is read as its head says.
#[test]
fn a_listing_of_several_sms() {
    let part = |name: &str| {
        let path =
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/listings");
        fs::read_to_string(path.join(name)).expect("a listing")
    };
    let (narrow, other) = (part("chase.sm_50.cuobjdump.txt"), part("branches.sm_61.cuobjdump.txt"));
    let mut parts = vec![narrow, SAMPLES[4].listing("cuobjdump"), other];
    parts.extend(SAMPLES.iter().map(|sample| sample.listing("cuobjdump")));
    let without_line = |mut read: SassInstruction| {
        (read.line, read.input_offset) = (None, None);
        read
    };
    let separate = parts.iter().flat_map(|part| good(part.as_bytes(), SassKind::Listing));
    let separate: Vec<_> = separate.map(without_line).collect();
    let together = good(parts.concat().as_bytes(), SassKind::Listing);
    let together: Vec<_> = together.into_iter().map(without_line).collect();
    assert_eq!(together, separate);
    // Lines between the halves of a word change nothing.
    let listing = SAMPLES[4].listing("cuobjdump").replace('\n', "\n\n// a comment\n.L_x_7:\r\n");
    let apart = good(listing.as_bytes(), SassKind::Listing);
    assert_eq!(common(&apart), common(&good(&SAMPLES[4].cubin(), SassKind::Cubin)));
}

/// A listing without its head is recognized by its offsets and lines, wherever it begins.
#[test]
fn a_part_of_a_listing() {
    for sample in &SAMPLES {
        let listing = sample.listing("cuobjdump");
        let lines: Vec<&str> = listing.lines().filter(|line| line.contains("/* 0x")).collect();
        let whole = good(listing.as_bytes(), SassKind::Listing);
        for first in (0..12).step_by(2) {
            let part = good(lines[first..].join("\n").as_bytes(), SassKind::Listing);
            assert!(part.iter().all(|read| read.sm.is_none() && read.function.is_none()));
            assert!(part.iter().all(|read| read.unit == Some(CodeUnit::Word)));
            let rest = |read: &SassInstruction| (read.offset, read.word, read.control);
            assert!(part.iter().map(rest).eq(whole[first / 2..].iter().map(rest)), "{first}");
        }
    }
    // Nor need it have words.
    for (lines, expected) in [
        ("/*0000*/ NOP;\n/*0010*/ NOP;", [Some(CodeUnit::Word); 2]),
        ("/*0010*/ NOP;\n/*0020*/ NOP;", [None, Some(CodeUnit::Word)]),
        ("/*0010*/ NOP;\n/*0018*/ NOP;", [None, Some(CodeUnit::Bundle)]),
    ] {
        let read = good(lines.as_bytes(), SassKind::Listing);
        assert!(read.iter().map(|read| read.unit).eq(expected), "{lines}");
    }
    // The first offset can be of either kind of code; here it is of bundles.
    let narrow = "/*0010*/ NOP ; /* 0x50b0000000070f00 */\n/*0018*/ NOP ; /* 0x50b0000000070f00 */";
    let read = good(narrow.as_bytes(), SassKind::Listing);
    assert!(read.iter().all(|read| read.unit == Some(CodeUnit::Bundle)));
    let words = read.iter().map(|read| read.word.and_then(|word| word.narrow()));
    assert!(words.eq([Some(0x50b0_0000_0007_0f00); 2]));
}

#[test]
fn names_of_sms() {
    let line = "/*0000*/ NOP;";
    for (head, expected) in [
        ("code for sm_90a\n.headerflags @\"EF_CUDA_ACCELERATORS EF_CUDA_SM90 x\"", Some("90a")),
        ("code for sm_100a\n.target sm_100a\n.headerflags @\"EF_CUDA_SM100\"", Some("100a")),
        ("\t.headerflags\t@\"EF_CUDA_ACCELERATORS EF_CUDA_SM90\"", Some("90a")),
        ("\t.headerflags\t@\"EF_CUDA_ACCELERATORS EF_CUDA_SM80\"", Some("80")),
        ("\t.target\tsm_100f", Some("100f")),
        ("\t.target\tsm_90a\n\t.target\tsm_90", Some("90")),
        (
            "code for sm_90a\n.headerflags @\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"",
            Some("80"),
        ),
        ("// nothing", None),
    ] {
        let read = good(format!("{head}\n{line}").as_bytes(), SassKind::Listing);
        let expected = expected.map(|sm| sm.parse().expect("an SM"));
        assert_eq!(read.last().and_then(|read| read.sm), expected, "{head}");
    }
    // The two forms of the header of a cubin.
    let header = |name: &str, flags: &[u8]| {
        let mut cubin = bytes(name);
        cubin[48..52].copy_from_slice(flags);
        all(&cubin).map(|read| read.first().and_then(|read| read.sm))
    };
    let sm = |name: &str| name.parse().ok();
    let (old, new) = ("sweep.sm70.cubin", "sweep.sm100.cubin");
    assert_eq!(header(old, &[0x5a, 0x0d, 0x5a, 0]).ok(), Some(sm("90a")));
    assert_eq!(header(old, &[0x50, 0x0d, 0x50, 0]).ok(), Some(sm("80")));
    assert_eq!(header(new, &[0x0a, 0x64, 0, 6]).ok(), Some(sm("100a")));
    assert_eq!(header(new, &[0x02, 0x4b, 0, 6]).ok(), Some(sm("75")));
    assert!(header(old, &[0x47, 5, 0, 0]).is_err_and(|error| error.to_string().contains("SM 7.1")));
}

#[test]
fn malformed_lines() {
    let head = "code for sm_80\n";
    let first = "/*0000*/ NOP; /* 0x0000000000007918 */";
    let second = "/* 0x000fc00000000000 */";
    for (lines, line, column, expected) in [
        (format!("{first}\n"), 2, 39, "expected the second half of the word, alone in the next"),
        (format!("{first}\n/*0010*/ NOP;"), 2, 39, "expected the second half of the word"),
        (format!("{first}\n.section .text.f"), 2, 39, "expected the second half of the word"),
        (format!("{first}\n{second}\n {second}"), 4, 2, "unexpected word; expected it after the"),
        (format!("{second}\n"), 2, 1, "unexpected word; expected it after the first half"),
        (format!("{first}\n/* 0x000fc0000000000 */"), 3, 4, "expected a word, `0x` and 16"),
        (format!("{first}\n/* 0x000fc000000000000 */"), 3, 4, "expected a word, `0x` and 16"),
        (format!("{first}\n/* 0x000fc00000000000"), 3, 1, "unterminated comment"),
        (format!("{first}\n{second} x"), 3, 26, "expected the word"),
        ("/*0000*/ NOP; /* 0x000000000007918 */".into(), 2, 18, "expected a word, `0x` and 16"),
        (
            format!("{first}\n{second}\n/*0010*/ NOP;"),
            4,
            14,
            "expected the word of the instruction",
        ),
        (format!("{first}\n{second}\n/*0018*/ NOP;"), 4, 3, "invalid instruction offset 0x18;"),
        (format!("{first}\n{second}\n/*0010*/ NOP"), 4, 13, "expected `;`"),
    ] {
        let error = all(format!("{head}{lines}").as_bytes()).expect_err(&lines).to_string();
        let place = format!("line {line}, column {column} (byte offset ");
        assert!(error.starts_with(&place), "{lines}\n{error}");
        assert!(error.contains(&format!("): {expected}")), "{lines}\n{error}");
    }
}

/// A truncated listing is an error, or has the instructions up to the cut.
#[test]
fn every_cut_of_a_file() {
    for sample in &SAMPLES[..2] {
        let cubin = sample.cubin();
        for length in 0..cubin.len() {
            assert!(all(&cubin[..length]).is_err(), "{} cut to {length}", sample.name);
            assert!(Functions::default().add(&cubin[..length]).is_err());
        }
    }
    for (name, tool) in [(18, "cuobjdump"), (19, "nvdisasm"), (19, "nvdisasm-raw")] {
        let mut listing = SAMPLES[name].listing(tool);
        let whole = good(listing.as_bytes(), SassKind::Listing);
        listing.truncate(4000);
        let mut broken = 0;
        for length in 0..listing.len() {
            match all(&listing.as_bytes()[..length]) {
                // The head that names the SM can be cut off.
                Ok(read) => {
                    let expected = texts(&whole[..read.len()], true);
                    assert_eq!(texts(&read, true), expected, "{tool} cut to {length}");
                }
                Err(_) => broken += 1,
            }
        }
        assert!(broken > listing.len() / 5, "{tool}: {broken}");
    }
}

/// Each byte of the header, of the section headers and of `.nv.info` is replaced by each of some values.
#[test]
fn every_change_of_the_structures() {
    for name in ["walk.sm75.cubin", "calls.sm90.cubin"] {
        let cubin = bytes(name);
        let headers = usize::from(cubin[41]) << 8 | usize::from(cubin[40]);
        let code = good(&cubin, SassKind::Cubin).len();
        for at in (0..64).chain(headers..cubin.len()) {
            for value in [0, 1, 0x41, 0x80, 0xff, !cubin[at]] {
                let mut changed = cubin.clone();
                changed[at] = value;
                if let Ok(read) = all(&changed) {
                    assert!(read.len() <= 2 * cubin.len() / 16, "{name} at {at}");
                }
                let _ = Functions::default().add(&changed[..]);
            }
        }
        for at in 64..headers {
            let mut changed = cubin.clone();
            changed[at] = !cubin[at];
            assert!(all(&changed).map_or(true, |read| read.len() <= code), "{name} at {at}");
        }
    }
}
