//! Imports of Accel-Sim's text.

use std::fs;
use std::io::Write;

use proptest::prelude::*;
use warpload_trace::{ImportError, Kernel, TraceContents};

use crate::samples::{Seen, grouped, import_bytes, import_file, loads, open};

/// The loads of a grouped trace of version 4, in which immediates are optional.
fn read(instructions: &[&str]) -> Vec<Seen> {
    loads(&open(&import_bytes(grouped(4, "", instructions)).unwrap()))
}

fn addresses(instruction: &str) -> Vec<u64> {
    let read = read(&[instruction]);
    assert_eq!(read.len(), 1, "{instruction}");
    read[0].addresses.clone()
}

/// The opcodes of code for SM 5.x and 6.x are SPA 5.0 instructions, which are kept; the same text
/// of another machine is only text.
#[test]
fn opcodes_of_spa_5_are_exact() {
    let opcode_words = |header: &str| -> Vec<(String, Option<u64>)> {
        let lines = [
            "0010 00000001 1 R1 LDG.E.CI.64 1 R2 8 0 0x100 0",
            "0018 00000001 1 R1 LDS.U.32 1 R2 4 0 0x100 0",
            "0028 00000001 1 R1 LDG.E.64.SYS 1 R2 8 0 0x100 0",
        ];
        let trace = open(&import_bytes(grouped(5, header, &lines)).unwrap());
        let operations = trace.contents().operations.iter();
        operations.map(|one| (one.opcode.to_string(), one.opcode_word)).collect()
    };
    let words = |words: [Option<u64>; 3]| {
        ["LDG.E.CI.64", "LDS.U.32", "LDG.E.64.SYS"].map(str::to_owned).into_iter().zip(words)
    };
    for version in [50, 52, 61] {
        // 0xeed0 and size 5, CI in 47:46 and E in 45; 0xef48 and size 4, U in 44; PT, RZ, RZ.
        let exact = [Some(0xeed5_a000_0007_ffff), Some(0xef4c_1000_0007_ffff), None];
        let read = opcode_words(&format!("-binary version = {version}"));
        assert!(read.into_iter().eq(words(exact)), "{version}");
    }
    for header in ["-binary version = 70", "-binary version = 80", ""] {
        assert!(opcode_words(header).into_iter().eq(words([None; 3])), "{header}");
    }
}

#[test]
fn modes() {
    assert_eq!(
        addresses("0010 0000000b 1 R1 LDG.E 1 R2 4 0 0x10 0000000000000020 0x7f0000000000 0"),
        [0x10, 0x20, 0x7f00_0000_0000]
    );
    assert_eq!(addresses("0010 00000007 1 R1 LDG.E 1 R2 4 1 0x100 -4 0"), [0x100, 0xfc, 0xf8]);
    assert_eq!(addresses("0010 00000007 1 R1 LDG.E 1 R2 4 2 0x100 8 -16 0"), [0x100, 0x108, 0xf8]);
    assert_eq!(addresses("0010 80000000 1 R1 LDG.E 1 R2 4 2 0x100 0"), [0x100]);
    // A distance that does not fit a delta of 32 bits.
    assert_eq!(
        addresses("0010 00000003 1 R1 LDG.E 1 R2 4 2 0x100 4294967296"),
        [0x100, 0x1_0000_0100]
    );
    let all = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4";
    assert_eq!(addresses(all), (0..32).map(|lane| 0x100 + 4 * lane).collect::<Vec<u64>>());
}

/// Version 3 before November 2020 wrote base and stride of the lanes before the guard: over gaps a
/// lane's address counts from lane 0, if that is there.
#[test]
fn strides_over_gaps() {
    let read = |version, mask, operand: &str| {
        let line = format!("0010 {mask:08x} 1 R1 LDG.E 1 R2 4 1 {operand}");
        let trace = import_bytes(grouped(version, "", &[&line]));
        trace.map(|trace| loads(&open(&trace))[0].addresses.clone())
    };
    assert_eq!(read(3, 0b1001_0001, "0x100 8").unwrap(), [0x100, 0x120, 0x138]);
    assert_eq!(read(3, 0b1001_0001, "0x100 -8").unwrap(), [0x100, 0xe0, 0xc8]);
    assert_eq!(read(3, 0b1001_0010, "0x100 0").unwrap(), [0x100; 3]);
    assert_eq!(read(3, 0b0111_0000, "0x100 8").unwrap(), [0x100, 0x108, 0x110]);
    assert_eq!(read(3, 0x8000_0000, "0x100 0").unwrap(), [0x100]);
    assert_eq!(read(4, 0x8000_0000, "0x100 8").unwrap(), [0x100]);
    assert_eq!(read(3, u32::MAX, "0x100 8").unwrap().len(), 32);
    // Nobody knows these.
    for mask in [0b1001_0010, 0x8000_0000] {
        assert!(read(3, mask, "0x100 8").unwrap().is_empty());
    }
    for operand in ["0x100 8", "0x100 0"] {
        let error = read(4, 0b1001_0001, operand).unwrap_err().to_string();
        assert!(error.contains(":15:41: a stride, but the lanes are not a run"), "{error}");
    }
}

#[test]
fn empty_masks_load_nothing() {
    for operand in ["0", "1 0x0 0", "2 0x100", "0 0", "1 0x0 0 -5", "2 0x100 7"] {
        let read = read(&[&format!("0010 00000000 1 R1 LDG.E 1 R2 4 {operand}")]);
        assert_eq!((read.len(), read[0].mask, read[0].addresses.len()), (1, 0, 0), "{operand}");
    }
}

#[test]
fn versions() {
    let bare = "0020 ffffffff 1 R1 LDG.E.64 1 R2 8 1 0x100 8";
    let with_line = format!("17 {bare}");
    let with_immediate = format!("{bare} -264");
    for (version, header, instruction) in [
        (3, "", bare),
        (4, "-enable lineinfo = 0", bare),
        (4, "-enable lineinfo = 0", &*with_immediate),
        (4, "-enable lineinfo = 1", &*with_line),
        (5, "-enable lineinfo = 0", &*with_immediate),
    ] {
        let text = grouped(version, header, &[instruction]);
        let read = loads(&open(&import_bytes(text).unwrap()));
        assert_eq!((read[0].pc, read[0].addresses[1]), (0x20, 0x108), "{version} {header}");
    }
    // Not grouped: each instruction says its thread block and warp.
    let text = format!(
        "-kernel name = k\n-grid dim = (2,1,1)\n-block dim = (128,1,1)\n-accelsim tracer version = 4\n\
         -enable lineinfo = 1\n\n1 0 0 3 {with_line}\n"
    );
    assert_eq!(loads(&open(&import_bytes(text).unwrap()))[0].pc, 0x20);
}

#[test]
fn the_opcode_decides_the_width() {
    let read = read(&[
        "0010 ffffffff 1 R1 LDG.E.64 1 R2 8 1 0x100 8",
        "0020 ffffffff 1 R1 LDG.E.64 1 R2 4 1 0x100 8",
        "0030 ffffffff 1 R1 LDG.E.U8 1 R2 4 1 0x100 8",
    ]);
    let disagrees: Vec<bool> = read.iter().map(|load| load.width_disagrees).collect();
    assert_eq!(disagrees, [false, true, true]);
}

#[test]
fn headers_are_kept_as_they_are() {
    let header = "-shmem base_addr = 0x00007f1300000000\n-local mem base_addr = 7f12a5000000\n\
                  -of the future = (a=b) ";
    let trace = open(&import_bytes(grouped(3, header, &[])).unwrap());
    let Kernel { name, grid, block, shared_base, local_base, header, source_lines } =
        &trace.contents().kernels[0];
    assert!(source_lines.is_empty());
    assert_eq!((&**name, grid, block), ("k", &[1, 2, 3], &[32, 1, 1]));
    assert_eq!((*shared_base, *local_base), (Some(0x7f13_0000_0000), Some(0x7f12_a500_0000)));
    let has = |key: &str, value: &str| header.contains(&(key.into(), value.into()));
    assert!(has("kernel id", "1") && has("of the future", "(a=b)"), "{header:?}");
}

#[test]
fn line_ends_of_windows() {
    let text = grouped(5, "", &["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0"]);
    let windows = text.replace('\n', "\r\n");
    assert_eq!(import_bytes(text).unwrap(), import_bytes(windows).unwrap());
}

#[test]
fn lists_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = |i: usize, extension: &str| {
        let instruction = format!("{i:04x} ffffffff 1 R1 LDG.E.{} 1 R2 4 1 0x100 4", i % 3);
        let text = grouped(3, &format!("-number = {i}"), &vec![&*instruction; 5000]);
        let path = folder.path().join(format!("kernel-{i}.{extension}"));
        let text = if extension.ends_with("xz") { xz(text.as_bytes()) } else { text.into() };
        fs::write(path, text).unwrap();
        format!("kernel-{i}.{extension}\n")
    };
    let mut list = "MemcpyHtoD,0x00007fc841500000,32768\n".to_owned();
    for i in 0..6 {
        list += &kernel(i, if i == 2 { "traceg.xz" } else { "traceg" });
        list += "MemcpyHtoD,0x100,16\r\n\nMemcpyDtoH,0x100,16\n";
    }
    let path = folder.path().join("kernelslist.g");
    fs::write(&path, list).unwrap();
    let one = import_file(&path, 1).unwrap();
    for threads in [2, 5, 64] {
        assert!(import_file(&path, threads).unwrap() == one, "{threads} threads");
    }
    let trace = open(&one);
    assert_eq!(trace.contents().kernels.len(), 6);
    let TraceContents { complete, notes, .. } = trace.contents();
    assert_eq!(
        (complete, &notes[..2]),
        (
            &false,
            &[
                "whether the list is whole is unknown: a kernelslist.g has no end mark".to_owned(),
                "skipped rows of the list: 6 of `MemcpyDtoH`".to_owned(),
            ][..]
        )
    );
    assert_eq!(trace.contents().allocations[..2], [(0x7fc8_4150_0000, 32768), (0x100, 16)]);
    let pcs: Vec<u32> = loads(&trace).iter().step_by(5000).map(|load| load.pc).collect();
    assert_eq!(pcs, [0, 1, 2, 3, 4, 5]);
    assert_eq!(loads(&trace)[25_000].opcode, "LDG.E.2");
}

/// A name can have commas, and a row that is neither a name nor of a function of CUDA is no row.
#[test]
fn rows_with_commas() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernelslist.g");
    let import = |list: &str| {
        fs::write(&path, list).unwrap();
        import_file(&path, 2)
    };
    let text = grouped(5, "", &["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0"]);
    for name in ["kernel,1.traceg", "MemcpyHtoD-a,1,2.trace", "cudaFree,1.traceg", "a,b,.tracez"] {
        fs::write(folder.path().join(name), &text).unwrap();
        assert_eq!(open(&import(&format!("{name}\n")).unwrap()).loads(), 1, "{name}");
    }
    fs::write(folder.path().join("k,1.traceg.xz"), xz(text.as_bytes())).unwrap();
    assert_eq!(open(&import("k,1.traceg.xz\n").unwrap()).loads(), 1);
    for row in
        ["rows-kernel-2.trac,eg", "kernel,1", ",", ",kernel-1", "MemcpyHtoD 0x100,16", "x,1,2"]
    {
        let error = import(&format!("kernel,1.traceg\n{row}\n")).unwrap_err().to_string();
        let (_, place) =
            error.split_once("kernelslist.g:2:1: ").unwrap_or_else(|| panic!("{error}"));
        assert!(place.starts_with("a row with a comma; expected the name of a trace"), "{error}");
    }
    // Rows of any number of names.
    let rows = |i: usize| format!("cudaFree{i},1\n");
    let list = "kernel,1.traceg\n".to_owned()
        + "Memcpyhtod,0x1,2\n"
        + &(0..100).map(rows).collect::<String>()
        + &format!("cuda{},1\n", "a".repeat(100_000));
    let trace = open(&import(&list).unwrap());
    let notes = &trace.contents().notes;
    let note = notes.iter().find(|note| note.starts_with("skipped rows of the list: ")).unwrap();
    let start = "skipped rows of the list: 1 of `Memcpyhtod`, 1 of `cudaFree0`";
    assert!(note.starts_with(start), "{note}");
    assert!(note.ends_with(", 86 of `others`"), "{note}");
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_traces() {
    let text = grouped(5, "", &["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0"; 3000]);
    let plain = import_bytes(&text).unwrap();
    let whole = xz(text.as_bytes());
    assert!(import_bytes(&whole).unwrap() == plain);
    // One after the other, as `cat` puts them together.
    let (start, end) = text.as_bytes().split_at(text.len() / 3);
    assert!(import_bytes([xz(start), xz(end)].concat()).unwrap() == plain);

    for length in [7, whole.len() / 2, whole.len() - 1] {
        let error = import_bytes(&whole[..length]).unwrap_err();
        assert!(matches!(error, ImportError::Read { .. }), "{length}: {error}");
    }
    let mut changed = whole;
    let middle = changed.len() / 2;
    changed[middle] ^= 0x10;
    import_bytes(&changed).unwrap_err();
}

/// Decoding takes bounded memory, whatever a file asks for.
#[test]
fn a_compressed_trace_that_asks_for_too_much_memory() {
    let mut bytes = xz(b"-kernel name = k\n");
    // The dictionary's size is one byte of the first block's header, which has a CRC-32.
    let header = 12..12 + 4 * (usize::from(bytes[12]) + 1);
    assert_eq!(bytes[header.start + 2..header.start + 4], [0x21, 1]);
    bytes[header.start + 4] = 40;
    let crc = crc32fast::hash(&bytes[header.start..header.end - 4]);
    bytes[header.end - 4..header.end].copy_from_slice(&crc.to_le_bytes());
    let error = import_bytes(bytes).unwrap_err();
    let ImportError::Read { source, .. } = error else { panic!("{error}") };
    assert_eq!(
        source.to_string(),
        "xz: the compressed file cannot be decompressed: memory limit reached"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = import_bytes(bytes);
    }

    /// Text of the right words in any order.
    #[test]
    fn arbitrary_words(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60)) {
        let header = "-kernel name = k\n-accelsim tracer version = 4\n";
        let _ = import_bytes([header, &words.concat()].concat());
        let _ = import_bytes(["MEMTRACE: ", &words.concat()].concat());
        let _ = import_bytes(words.concat());
    }
}

const WORDS: [&str; 30] = [
    "\n",
    "\n",
    " ",
    " ",
    " ",
    " ",
    "0010",
    "ffffffff",
    "0",
    "1",
    "2",
    "4",
    "R1",
    "LDG.E",
    "STG",
    "0x100",
    "-4",
    "18446744073709551616",
    "#BEGIN_TB\n",
    "#END_TB\n",
    "insts = 2\n",
    "insts = ",
    "-grid dim = (",
    "-enable lineinfo = 1\n",
    "thread block = 0,0,0\n",
    "é",
    "[",
    "{",
    " - ",
    "MEMTRACE: ",
];
