//! Looking up an offset of a cubin's function: the word, and the source line that nvdisasm shows. Damaged line
//! information costs source lines, never words.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use warpload_binary::sass::{Format, Functions, SassError, read};
use warpload_encoding::MachineWord;

const COLUMN: &str = "_Z6columnPfPKfi";
const GATHER: &str = "_Z6gatherIdEvPT_PKS0_PKi";

fn bytes(name: &str) -> Vec<u8> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn rows() -> Vec<u8> {
    bytes("traces/rows.sm_50.cubin")
}

/// The functions, and the offset of the damage in the line information.
fn functions(cubin: &[u8]) -> (Functions, Option<u64>) {
    let mut functions = Functions::default();
    let damaged = functions.add(cubin).expect("a cubin");
    (functions, damaged.map(|damaged| damaged.offset))
}

fn refused(input: &[u8]) -> String {
    Functions::default().add(input).expect_err("not a cubin").to_string()
}

fn source(functions: &Functions, function: &str, offset: u64) -> Option<(String, u32)> {
    let source = functions.get(function)?.at(offset)?.source?;
    Some((source.file, source.line))
}

/// The number of instructions with a source line.
fn lines(functions: &Functions) -> usize {
    let all = [COLUMN, GATHER].into_iter().flat_map(|name| (0..0x100).map(move |at| (name, at)));
    all.filter(|(name, at)| source(functions, name, *at).is_some()).count()
}

/// `data` with `new` written at `at`.
fn patched(data: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data[at..at + new.len()].copy_from_slice(new);
    data
}

fn find(data: &[u8], wanted: &[u8]) -> usize {
    data.windows(wanted.len()).position(|bytes| bytes == wanted).expect("it is there")
}

/// The offset of the header of a section. The names are in section 1.
fn header(data: &[u8], name: &str) -> usize {
    let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap()) as usize;
    let headers = number(40);
    let name = find(data, format!("\0{name}\0").as_bytes()) + 1 - number(headers + 64 + 24);
    let is_named = |at: &usize| data[*at..*at + 4] == (name as u32).to_le_bytes();
    (headers..data.len()).step_by(64).find(is_named).expect("a section of that name")
}

/// The range of a section's bytes.
fn section(data: &[u8], name: &str) -> std::ops::Range<usize> {
    let at = header(data, name);
    let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap()) as usize;
    number(at + 24)..number(at + 24) + number(at + 32)
}

#[test]
fn lines_are_those_of_nvdisasm() {
    for (cubin, listing) in [
        ("traces/rows.sm_50.cubin", "tests/data/source-lines/rows.sm_50.lines.txt"),
        (
            "tests/data/source-lines/rows.sm_61.cubin",
            "tests/data/source-lines/rows.sm_61.lines.txt",
        ),
    ] {
        let (functions, damaged) = functions(&bytes(cubin));
        assert_eq!(damaged, None);
        let listing = String::from_utf8(bytes(listing)).unwrap();
        let (mut function, mut expected, mut compared) = (String::new(), None, 0);
        for line in listing.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix(".text.") {
                function = name.trim_end_matches(':').to_owned();
                expected = None;
            } else if let Some(place) = line.strip_prefix("//## File \"") {
                let (file, line) = place.split_once("\", line ").unwrap();
                expected = Some((file.to_owned(), line.parse().unwrap()));
            } else {
                let offset = line.strip_prefix("/*").unwrap().split_once("*/").unwrap().0;
                let offset = u64::from_str_radix(offset, 16).unwrap();
                assert_eq!(
                    source(&functions, &function, offset),
                    expected,
                    "{function}+{offset:#x}"
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 36, "{cubin}");
    }
}

#[test]
fn words_are_those_that_are_read() {
    let cubin = rows();
    let (functions, _) = functions(&cubin);
    let mut found = 0;
    for instruction in read(&cubin[..], Format::Detect).unwrap() {
        let instruction = instruction.unwrap();
        let function = functions.get(&instruction.function.unwrap()).unwrap();
        assert_eq!(
            function.at(instruction.offset.unwrap()).unwrap().word,
            instruction.word.unwrap()
        );
        found += 1;
    }
    let offsets = (0..0x200u64).chain([u64::MAX, u64::MAX - 7]);
    let all = |name| {
        let function = functions.get(name).unwrap();
        offsets.clone().filter(move |at| function.at(*at).is_some()).count()
    };
    assert_eq!(all(COLUMN) + all(GATHER), found);
    assert!(functions.get("column").is_none());
}

#[test]
fn instructions_have_the_same_lines() {
    let cubin = rows();
    let (functions, _) = functions(&cubin);
    let mut instructions = read(&cubin[..], Format::Detect).unwrap();
    let information = instructions.read_source_lines();
    assert!(information.is_present && information.damaged.is_none());
    let mut found = 0;
    for instruction in instructions.map(Result::unwrap) {
        let function = functions.get(&instruction.function.unwrap()).unwrap();
        assert_eq!(instruction.source, function.at(instruction.offset.unwrap()).unwrap().source);
        found += usize::from(instruction.source.is_some());
    }
    assert_eq!(found, lines(&functions));

    // Source lines are read only on request, and only if there are any.
    let mut instructions = read(&cubin[..], Format::Detect).unwrap();
    assert!(instructions.all(|instruction| instruction.unwrap().source.is_none()));
    let other = bytes("traces/gather.sm_50.cubin");
    let mut instructions = read(&other[..], Format::Detect).unwrap();
    let information = instructions.read_source_lines();
    assert!(!information.is_present && information.damaged.is_none());

    let lines = section(&cubin, ".debug_line");
    let damaged = patched(&cubin, lines.start, &[0xff; 4]);
    let information = read(&damaged[..], Format::Detect).unwrap().read_source_lines();
    assert!(!information.is_present);
    assert_eq!(information.damaged.map(|damaged| damaged.offset), Some(lines.start as u64));
}

#[test]
fn what_is_not_a_cubin_is_refused() {
    for (input, expected) in [
        (&b""[..], "not an ELF file; expected a cubin"),
        (b"\t/*0008*/  LDG.E R0, [R2] ;", "not an ELF file; expected a cubin"),
        (b"\x50\xed\x55\xba\x01\0", "a CUDA fatbin; `warpload decode` reads the cubins in it"),
        (b"\x7fELF\x02\x01\x01", "the ELF header at byte offset 0 cannot be read"),
        (&patched(&rows(), 18, &[62, 0]), "an ELF file of machine 62; expected a cubin"),
        (&patched(&rows(), 48, &[37]), "code for SM 3.7, which is not supported; expected one of"),
        (&rows()[..5000], "the program headers at byte offset"),
    ] {
        let error = refused(input);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

/// Code of SM 7.0 and later has words of 128 bits.
#[test]
fn later_code_has_source_lines() {
    let (functions, _) = functions(&patched(&rows(), 48, &[70]));
    assert_eq!(functions.get(COLUMN).unwrap().at(0x60).unwrap().word.width(), 128);
    assert_eq!(source(&functions, COLUMN, 0x60), Some(("/src/rows.cu".into(), 9)));
    assert!(functions.get(COLUMN).unwrap().at(0x58).is_none());
}

/// Without `.text.NAME` the symbols name the functions.
#[test]
fn a_bare_text_section_takes_names_from_symbols() {
    let cubin = rows();
    let name = find(&cubin, b".text._Z6columnPfPKfi\0");
    let bare = patched(&cubin, name, b".text\0");
    let (functions, damaged) = functions(&bare);
    assert_eq!(damaged, None);
    assert_eq!(source(&functions, COLUMN, 0x68), Some(("/src/rows.cu".into(), 10)));
    assert_eq!(
        functions.get(COLUMN).unwrap().at(0x68).unwrap().word,
        MachineWord::Bits64(0xeed4200000470206)
    );
}

/// If several cubins have the same function, the first one counts.
#[test]
fn the_first_cubin_counts() {
    let mut functions = Functions::default();
    let stripped = patched(&rows(), header(&rows(), ".debug_line"), &[0; 4]);
    for cubin in [&stripped, &rows()] {
        assert_eq!(functions.add(&cubin[..]).unwrap(), None);
    }
    assert_eq!(lines(&functions), 0);
    assert!(functions.get(COLUMN).unwrap().at(0x68).is_some());
}

/// The places of damage in the file; the words are still there.
#[test]
fn damaged_lines_are_located() {
    let cubin = rows();
    let program = section(&cubin, ".debug_line");
    let relocations = header(&cubin, ".rel.debug_line");
    let start = program.start as u64;
    // The opcode after the first row, 0xe6, is replaced by the definition of a file: name, folder, time, size.
    let row = find(&cubin[program.clone()], b"\x03\x0d\x01") + program.start + 2;
    let definition = b"\0\x06\x03f\0\0\0\0\x02\x08\x01\x02\x08\x01";
    for (input, expected, kept) in [
        // The length of the only program: beyond the section, and short.
        (patched(&cubin, program.start, &[0xff; 4]), Some(start), 0),
        (patched(&cubin, program.start, &[9, 0, 0, 0]), Some(start), 0),
        // Versions 1 and 5.
        (patched(&cubin, program.start + 4, &[1]), Some(start), 0),
        (patched(&cubin, program.start + 4, &[5]), Some(start), 0),
        // The length of its header.
        (patched(&cubin, program.start + 6, &[0xff; 4]), Some(start), 0),
        (patched(&cubin, row + 1, definition), Some(start), 0),
        // The entries of the relocations are outside the file: no sequence has a function.
        (patched(&cubin, relocations + 24, &[0xff; 8]), Some(start), 0),
        (patched(&cubin, relocations + 4, &[0; 4]), None, 0),
    ] {
        let (functions, damaged) = functions(&input);
        assert_eq!((damaged, lines(&functions)), (expected, kept));
        assert_eq!(
            functions.get(COLUMN).unwrap().at(0x68).unwrap().word,
            MachineWord::Bits64(0xeed4200000470206)
        );
    }
}

/// A sequence that begins late runs beyond the end of its function, but not into another one.
#[test]
fn a_sequence_stays_in_its_section() {
    let cubin = rows();
    let program = section(&cubin, ".debug_line");
    let (whole, _) = functions(&cubin);
    let all = |functions: &Functions, name| {
        (0..0x100).map(|at| source(functions, name, at)).collect::<Vec<_>>()
    };
    // Operations that set an address, which a relocation adds to.
    let set_address = [0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    let starts = program.clone().filter(|at| cubin[*at..].starts_with(&set_address));
    let mut moved = Vec::new();
    for start in starts {
        let is_moved = |late: u64, name| {
            let (functions, _) = functions(&patched(&cubin, start + 3, &late.to_le_bytes()));
            all(&functions, name) != all(&whole, name)
        };
        for late in [0x20, 0x48, 0xa0, 0xc0, 0xe0, 0x1000, 1 << 32, 1 << 40, u64::MAX - 7] {
            moved.push([COLUMN, GATHER].map(|name| is_moved(late, name)));
        }
    }
    assert_eq!(moved, [[[false, true]; 9], [[true, false]; 9]].concat());
}

/// Rows before the damage are kept, except the last one, because its end is unknown.
#[test]
fn a_program_that_breaks_off_keeps_its_rows() {
    let cubin = rows();
    let program = section(&cubin, ".debug_line");
    let (whole, _) = functions(&cubin);
    let mut kept = lines(&whole);
    for cut in 1..program.len() - 0x40 {
        // The program and the section both end earlier.
        let length = (program.len() - 4 - cut) as u32;
        let short = patched(&cubin, program.start, &length.to_le_bytes());
        let at = header(&cubin, ".debug_line") + 32;
        let short = patched(&short, at, &u64::from(length + 4).to_le_bytes());
        let (functions, damaged) = functions(&short);
        // Cut before a sequence, the program is whole.
        assert!(damaged.is_some() || [0, 18].contains(&lines(&functions)), "{cut}");
        for (name, offset) in
            [COLUMN, GATHER].into_iter().flat_map(|name| (0..0xc0).map(move |at| (name, at)))
        {
            let found = source(&functions, name, offset);
            assert!(
                found.is_none() || found == source(&whole, name, offset),
                "{cut}: {name}+{offset:#x}"
            );
        }
        assert!(lines(&functions) <= kept, "{cut}");
        kept = lines(&functions);
    }
    assert_eq!(kept, 0);
}

/// Many names in one long string would need far more memory than the file.
#[test]
fn overlapping_names_are_refused() {
    let name = "f".repeat(40_000);
    let names = format!("\0.shstrtab\0.text.{name}\0").into_bytes();
    let half = |file: &mut Vec<u8>, value: usize| file.extend((value as u16).to_le_bytes());
    let long = |file: &mut Vec<u8>, value: usize| file.extend((value as u64).to_le_bytes());
    let mut file = b"\x7fELF\x02\x01\x01\x33\x07".to_vec();
    file.resize(16, 0);
    [2, 190, 1, 0].iter().for_each(|value| half(&mut file, *value));
    [0, 0, 64 + names.len()].iter().for_each(|value| long(&mut file, *value));
    [50, 0, 64, 0, 0, 64, 9, 1].iter().for_each(|value| half(&mut file, *value));
    assert_eq!(file.len(), 64);
    file.extend(&names);
    let sections = [[0, 0, 0, 0], [1, 3, 64, names.len()]];
    for [name, kind, at, size] in sections.into_iter().chain([[11, 1, 64, 0]; 7]) {
        long(&mut file, kind << 32 | name);
        [0, 0, at, size, 0, 1, 0].iter().for_each(|value| long(&mut file, *value));
    }
    let error = Functions::default().add(&file[..]).expect_err("280,000 bytes of names");
    assert!(matches!(error, SassError::NamesOverlap { .. }), "{error}");
}

proptest! {
    /// Arbitrary bytes in the line information, or in the headers that locate it, damage only source lines.
    #[test]
    fn any_line_information_is_read(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        in_relocations: bool,
    ) {
        let cubin = rows();
        let name = if in_relocations { ".rel.debug_line" } else { ".debug_line" };
        let section = section(&cubin, name);
        let mut changed = cubin.clone();
        for (index, byte) in changes {
            changed[section.start + index.index(section.len())] = byte;
        }
        let (functions, _) = functions(&changed);
        prop_assert!(lines(&functions) <= 0x200);
        let word = functions.get(COLUMN).unwrap().at(0x68).unwrap().word;
        prop_assert_eq!(word, MachineWord::Bits64(0xeed4200000470206));
    }

    /// A changed cubin is an error, or still a cubin.
    #[test]
    fn any_cubin_is_read_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut cubin = rows();
        for (index, byte) in changes {
            let at = index.index(cubin.len());
            cubin[at] = byte;
        }
        let mut functions = Functions::default();
        if functions.add(&cubin[..]).is_ok() {
            prop_assert!(lines(&functions) <= 0x200);
        }
    }
}

/// The same cubin as an ELF file of 32 bits: its tables are narrower, and so are the addresses in its line
/// information.
fn elf32(cubin: &[u8]) -> Vec<u8> {
    let number = |at: usize, bytes: usize| {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&cubin[at..at + bytes]);
        u64::from_le_bytes(number) as usize
    };
    let (headers, count) = (number(40, 8), number(60, 2));
    let mut file = cubin[..52].to_vec();
    let word = |value: usize| (value as u32).to_le_bytes();
    let line = header(cubin, ".debug_line");
    let mut sections = Vec::new();
    for at in (headers..).step_by(64).take(count) {
        let [name, kind, link, info] = [0, 4, 40, 44].map(|field| number(at + field, 4));
        let [flags, address, offset, size, align, entry] =
            [8, 16, 24, 32, 48, 56].map(|field| number(at + field, 8));
        let bytes = if kind == 8 { &[][..] } else { &cubin[offset..offset + size] };
        let fields = |at: usize, widths: &[usize]| -> Vec<usize> {
            let starts =
                widths.iter().scan(at, |at, width| Some(std::mem::replace(at, *at + width)));
            starts.zip(widths).map(|(at, width)| number(at, *width)).collect()
        };
        let entries = || (offset..offset + size).step_by(entry.max(1));
        let (bytes, entry) = match kind {
            // Symbols.
            2 => {
                let narrow = |at: usize| {
                    let fields = fields(at, &[4, 1, 1, 2, 8, 8]);
                    let [name, info, other, section, value, size] = fields[..] else { panic!() };
                    let section = (section as u16).to_le_bytes();
                    [
                        &word(name)[..],
                        &word(value),
                        &word(size),
                        &[info as u8, other as u8],
                        &section,
                    ]
                    .concat()
                };
                (entries().flat_map(narrow).collect(), 16)
            }
            // Relocations, without and with an addend.
            9 | 4 => {
                let is_line = info == (line - headers) / 64;
                let narrow = |at: usize| {
                    let mut fields = fields(at, &[8, 4, 4, 8][..if kind == 4 { 4 } else { 3 }]);
                    if is_line {
                        fields[0] = narrowed_place(section_bytes(cubin, line), fields[0]);
                    }
                    let symbol = fields[2] << 8 | fields[1] & 0xff;
                    let addend = fields.get(3).map(|addend| word(*addend)).unwrap_or_default();
                    let all = [&word(fields[0])[..], &word(symbol), &addend].concat();
                    all[..if kind == 4 { 12 } else { 8 }].to_vec()
                };
                (entries().flat_map(narrow).collect(), if kind == 4 { 12 } else { 8 })
            }
            _ if at == line => (narrowed(bytes).0, entry),
            _ => (bytes.to_vec(), entry),
        };
        file.resize(file.len().next_multiple_of(8), 0);
        let size = if kind == 8 { size } else { bytes.len() };
        sections.push([name, kind, flags, address, file.len(), size, link, info, align, entry]);
        file.extend(bytes);
    }
    let table = file.len();
    file.extend(sections.iter().flatten().flat_map(|field| word(*field)));
    file[4] = 1;
    file.splice(24..40, [word(0), word(0), word(table), word(number(48, 4))].concat());
    let sizes = [52, 0, 0, 40, count as u16, number(62, 2) as u16];
    file.splice(40..52, sizes.iter().flat_map(|size| size.to_le_bytes()));
    file
}

fn section_bytes(cubin: &[u8], header: usize) -> &[u8] {
    let number = |at: usize| u64::from_le_bytes(cubin[at..at + 8].try_into().unwrap()) as usize;
    &cubin[number(header + 24)..][..number(header + 32)]
}

/// A line program with addresses of 4 bytes, and the former place of each address.
fn narrowed(program: &[u8]) -> (Vec<u8>, Vec<usize>) {
    // DW_LNE_set_address with 8 bytes.
    let is_address = |at: &usize| program[*at..].starts_with(&[0, 9, 2]);
    let places: Vec<usize> = (0..program.len()).filter(is_address).collect();
    let (mut narrow, mut from) = (Vec::new(), 0);
    for at in &places {
        narrow.extend(&program[from..*at]);
        narrow.extend([&[0, 5, 2], &program[at + 3..at + 7]].concat());
        from = at + 11;
    }
    narrow.extend(&program[from..]);
    let length = narrow.len() as u32 - 4;
    narrow[..4].copy_from_slice(&length.to_le_bytes());
    (narrow, places)
}

/// The place of a relocation after [`narrowed`].
fn narrowed_place(program: &[u8], place: usize) -> usize {
    let (_, places) = narrowed(program);
    place - 4 * places.iter().filter(|at| *at + 3 < place).count()
}

#[test]
fn cubins_of_32_bits_have_lines() {
    let wide = rows();
    let narrow = elf32(&wide);
    let ((wide, _), (narrow, damaged)) = (functions(&wide), functions(&narrow));
    assert_eq!(damaged, None);
    assert!(lines(&wide) > 30);
    for name in [COLUMN, GATHER] {
        for at in (0..0x200).step_by(8) {
            assert_eq!(source(&narrow, name, at), source(&wide, name, at), "{name}+{at:#x}");
        }
    }
}
