//! Cubins and their listings have the same instructions.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use warpload_binary::sass::{Format, SassInstruction, SassKind, read, without_relocations};
use warpload_encoding::control::NOP;
use warpload_encoding::{Control, Instruction, MachineWord, Sm, parse_line};

struct Sample {
    name: &'static str,
    instructions: usize,
    /// The number of loads, and the number of `LD` among them.
    loads: (usize, usize),
    /// The functions with their registers, in the order of the file.
    functions: &'static [(&'static str, u8)],
}

const fn sample(
    name: &'static str,
    instructions: usize,
    loads: (usize, usize),
    functions: &'static [(&'static str, u8)],
) -> Sample {
    Sample { name, instructions, loads, functions }
}

const SAMPLES: [Sample; 11] = [
    sample("branches.sm_50", 120, (5, 1), &[("branches", 22)]),
    sample("branches.sm_61", 120, (5, 1), &[("branches", 22)]),
    sample("chase.sm_50", 60, (8, 8), &[("absolute", 8), ("chase", 14)]),
    sample("chase.sm_61", 60, (8, 8), &[("absolute", 8), ("chase", 14)]),
    sample("gather-O0.sm_50", 288, (17, 12), &[("gather_sizes", 30)]),
    sample("gather.sm_50", 60, (14, 12), &[("gather_sizes", 32)]),
    sample("gather.sm_61", 66, (14, 12), &[("gather_sizes", 31)]),
    sample("indirect.sm_50", 42, (3, 0), &[("indirect", 20)]),
    sample("relocated.sm_61", 30, (7, 1), &[("relocated", 20)]),
    sample("uniform.sm_50", 60, (8, 4), &[("uniform_rows", 28)]),
    sample("uniform.sm_61", 60, (8, 4), &[("uniform_rows", 28)]),
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/listings").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all(input: &[u8], kind: SassKind) -> Vec<SassInstruction> {
    let format = if kind == SassKind::Raw { Format::Raw } else { Format::Detect };
    let sass = read(input, format).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sass.kind(), kind);
    sass.map(|read| read.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn listing(name: &str) -> Vec<SassInstruction> {
    all(&bytes(name), SassKind::Listing)
}

/// The properties that every source has.
#[derive(Debug, PartialEq)]
struct Common<'r> {
    function: Option<&'r str>,
    offset: Option<u64>,
    word: Option<MachineWord>,
    control: Option<Control>,
}

fn common(read: &[SassInstruction]) -> Vec<Common<'_>> {
    read.iter()
        .map(|read| Common {
            function: read.function.as_deref(),
            offset: read.offset,
            word: read.word,
            control: read.control,
        })
        .collect()
}

/// The loads with their canonical text.
fn loads(read: &[SassInstruction]) -> impl Iterator<Item = (&SassInstruction, String)> {
    read.iter().filter_map(|read| {
        Some((read, Instruction::decode(read.word?.narrow()?, Sm::SPA5).load()?.to_string()))
    })
}

#[test]
fn every_source_gives_the_same_sequence() {
    for Sample { name, instructions, .. } in SAMPLES {
        let cubin = all(&bytes(&format!("{name}.cubin")), SassKind::Cubin);
        let cuobjdump = listing(&format!("{name}.cuobjdump.txt"));
        let nvdisasm = listing(&format!("{name}.nvdisasm.txt"));
        assert_eq!(cubin.len(), instructions, "{name}");
        assert_eq!(common(&cubin), common(&cuobjdump), "{name}: cuobjdump");
        // nvdisasm leaves out unreachable code: the NOPs that fill the last bundle.
        let is_padding = |read: &SassInstruction| read.word == Some(NOP.into());
        let padding = cubin.len() - nvdisasm.len();
        let (cubin_code, left_out) = cubin.split_at(nvdisasm.len());
        assert!(padding == 0 || name == "indirect.sm_50" && left_out.iter().all(is_padding));
        assert_eq!(common(cubin_code), common(&nvdisasm), "{name}: nvdisasm");
        let complete = |read: &SassInstruction| {
            read.function.is_some() && read.word.is_some() && read.control.is_some()
        };
        assert!(cubin.iter().all(complete), "{name}");
    }
}

#[test]
fn the_text_of_loads_is_the_listings_text() {
    for Sample { name, loads: (count, generic), .. } in SAMPLES {
        let cubin = all(&bytes(&format!("{name}.cubin")), SassKind::Cubin);
        assert_eq!(loads(&cubin).count(), count, "{name}");
        let is_generic = |text: &str| text.contains("LD.") || text.contains("LD ");
        assert_eq!(loads(&cubin).filter(|(_, text)| is_generic(text)).count(), generic, "{name}");
        for tool in ["cuobjdump", "nvdisasm"] {
            let read = listing(&format!("{name}.{tool}.txt"));
            assert_eq!(loads(&read).count(), count, "{name}: {tool}");
            let mut relocated = 0;
            for (read, text) in loads(&read) {
                let written = read.text.as_deref().unwrap_or_default();
                let Some(unrelocated) = without_relocations(written) else {
                    assert_eq!(written, text, "{name}: {tool} {:?}", read.line);
                    continue;
                };
                // The linker fills the displacement in; until then it is 0.
                let load =
                    parse_line(&unrelocated, Sm::SPA5).map(|line| line.instruction.to_string());
                assert_eq!(load.as_deref(), Ok(&*text), "{name}: {tool} {:?}", read.line);
                relocated += 1;
            }
            // Nor does a listing name a load where the word is none.
            let named = read.iter().filter_map(|read| read.text.as_deref());
            let named = named.filter(|text| parse_line(text, Sm::SPA5).is_ok()).count();
            assert_eq!(named + relocated, count, "{name}: {tool}");
            let expected = if (name, tool) == ("relocated.sm_61", "nvdisasm") { 5 } else { 0 };
            assert_eq!(relocated, expected, "{name}: {tool}");
        }
    }
}

/// The listings contain the constructs that the samples were made for.
#[test]
fn relocations_of_a_cubin() {
    let read = all(&bytes("relocated.sm_61.cubin"), SassKind::Cubin);
    let relocated = read.iter().filter(|instruction| instruction.is_relocated);
    let offsets: Vec<u64> = relocated.filter_map(|instruction| instruction.offset).collect();
    // The loads among them name a symbol in the text of the listings.
    assert_eq!(offsets, [0x28, 0x38, 0x88, 0xa8, 0xb0, 0xb8, 0xf0]);
    let listed = listing("relocated.sm_61.nvdisasm.txt");
    let named = loads(&listed).filter(|(load, _)| {
        load.text.as_deref().is_some_and(|text| without_relocations(text).is_some())
    });
    let loads: Vec<u64> = named.filter_map(|(load, _)| load.offset).collect();
    assert_eq!(loads, [0x28, 0x38, 0xa8, 0xb0, 0xb8]);
    let linked = all(&bytes("gather.sm_50.cubin"), SassKind::Cubin);
    assert!(linked.iter().all(|instruction| !instruction.is_relocated));
}

#[test]
fn pairs_labels_and_slots() {
    let text = |name| String::from_utf8(bytes(name)).expect("UTF-8");
    let branches = text("branches.sm_50.nvdisasm.txt");
    let lines: Vec<&str> = branches.lines().map(str::trim).collect();
    // `B }`, a label, and only then its word.
    let ends = |window: &&[&str]| {
        window[0].ends_with('}') && window[1].ends_with(':') && window[2].starts_with("/* 0x")
    };
    assert_eq!(lines.windows(3).filter(ends).count(), 2);
    let ends = |window: &&[&str]| window[0].ends_with('}') && !window[1].starts_with("/* 0x");
    assert_eq!(lines.windows(2).filter(ends).count(), 3);

    let indirect = text("indirect.sm_50.nvdisasm.txt");
    assert!(indirect.contains("   SLOT 0;") && indirect.contains("LDL R2, [R1]   SLOT 1        }"));
    let read = listing("indirect.sm_50.nvdisasm.txt");
    let at = |offset| read.iter().find(|read| read.offset == Some(offset)).expect("an instruction");
    assert_eq!(at(0x170).text.as_deref(), Some("XMAD.PSL.CBCC R4, R4.H1, R2.H1, R0"));
    assert_eq!(at(0x178).text.as_deref(), Some("LDL R2, [R1]"));
}

#[test]
fn functions_registers_and_sm() {
    for Sample { name, functions, .. } in SAMPLES {
        let sm = Sm::new(if name.ends_with("61") { 61 } else { 50 });
        for (suffix, kind) in [("cubin", SassKind::Cubin), ("nvdisasm.txt", SassKind::Listing)] {
            let mut read = all(&bytes(&format!("{name}.{suffix}")), kind);
            assert!(read.iter().all(|read| read.sm == sm), "{name}");
            read.dedup_by(|a, b| a.function == b.function);
            let read: Vec<_> = read
                .iter()
                .map(|i| (i.function.as_deref().unwrap_or("?"), i.registers.unwrap_or_default()))
                .collect();
            assert_eq!(read, functions, "{name}.{suffix}");
        }
        let cuobjdump = listing(&format!("{name}.cuobjdump.txt"));
        assert!(cuobjdump.iter().all(|read| read.sm == sm && read.registers.is_none()));
    }
}

#[test]
fn a_listing_without_words() {
    for Sample { name, .. } in SAMPLES {
        let with_words = listing(&format!("{name}.nvdisasm.txt"));
        let text = String::from_utf8(bytes(&format!("{name}.nvdisasm.txt"))).expect("UTF-8");
        let stripped: String = text
            .lines()
            .map(|line| format!("{}\n", line.split("/* 0x").next().unwrap_or_default().trim_end()))
            .collect();
        let without = all(stripped.as_bytes(), SassKind::Listing);
        assert_eq!(with_words.len(), without.len(), "{name}");
        let is_relocated = |read: &SassInstruction| {
            read.text.as_deref().is_some_and(|text| without_relocations(text).is_some())
        };
        for (with, without) in with_words.iter().zip(&without) {
            assert_eq!(without.word, None);
            assert_eq!(without.control, None);
            assert_eq!(
                (&with.function, with.offset, &with.text, with.line, with.registers),
                (&without.function, without.offset, &without.text, without.line, without.registers)
            );
        }
        let parsed = without.iter().filter_map(|read| read.text.as_deref());
        let parsed = parsed.filter_map(|text| parse_line(text, Sm::SPA5).ok());
        let parsed: Vec<_> = parsed.map(|line| line.instruction.bits() as u64).collect();
        let words = loads(&with_words).filter(|(read, _)| !is_relocated(read));
        let words: Vec<_> = words.filter_map(|(read, _)| read.word?.narrow()).collect();
        assert_eq!(parsed, words, "{name}");
    }
}

#[test]
fn line_ends_change_nothing() {
    let text = bytes("gather.sm_61.nvdisasm.txt");
    let crlf = String::from_utf8(text.clone()).expect("UTF-8").replace('\n', "\r\n");
    let unplaced = |text: &[u8]| {
        let mut read = all(text, SassKind::Listing);
        read.iter_mut().for_each(|read| assert!(read.input_offset.take().is_some()));
        read
    };
    assert_eq!(unplaced(crlf.as_bytes()), unplaced(&text));
    let maxas = String::from_utf8(bytes("maxas-all-sm50.txt")).expect("UTF-8");
    assert!(maxas.contains("\r\n"));
    let lf = maxas.replace("\r\n", "\n");
    assert_eq!(unplaced(lf.as_bytes()), unplaced(maxas.as_bytes()));
}

#[test]
fn the_loads_of_the_maxas_listing() {
    let read = listing("maxas-all-sm50.txt");
    assert_eq!(read.len(), 1176);
    assert_eq!(loads(&read).count(), 81);
    for (read, text) in loads(&read) {
        assert_eq!(read.text.as_deref(), Some(&*text));
    }
    // No text of maxas names a load that the words do not have.
    let count = |mnemonic: &str| {
        let texts = read.iter().filter_map(|read| read.text.as_deref());
        let first =
            texts.map(|text| text.trim_start_matches(|c| c != 'L').split(['.', ' ']).next());
        first.filter(|first| *first == Some(mnemonic)).count()
    };
    assert_eq!(["LD", "LDG", "LDL", "LDS", "LDC"].map(count), [27, 27, 0, 27, 0]);
    assert!(read.iter().all(|read| read.function.is_none() && read.offset.is_none()));
}

/// A section's bundles are a raw stream.
#[test]
fn a_raw_stream() {
    let cubin = all(&bytes("uniform.sm_50.cubin"), SassKind::Cubin);
    let file = bytes("uniform.sm_50.cubin");
    let raw = all(&file[0x4c0..][..cubin.len() / 3 * 32], SassKind::Raw);
    let without_function = |read: &[SassInstruction]| -> Vec<_> {
        read.iter().map(|read| (read.offset, read.word, read.control)).collect()
    };
    assert_eq!(without_function(&raw), without_function(&cubin));
    assert!(raw.iter().all(|read| read.function.is_none()));
}
