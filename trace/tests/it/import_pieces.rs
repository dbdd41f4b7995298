//! Imports of texts that are read in several pieces: as if there were none.

use std::fmt::Write as _;
use std::io::Cursor;

use warpload::lane::LaneMask;
use warpload_trace::{
    Kernel, MemoryOperation, NewRecord, OperationKind, RecordAddresses, TraceWriter, WarpPosition,
};

use crate::random::Random;
use crate::samples::import_bytes;
use crate::samples::{grouped, open, records};

const OPCODES: [&str; 10] =
    ["LDG.E", "LDG.E.64", "LDS.U8", "STG.E", "STS", "ATOM.ADD", "RED.E", "LDSM.16", "ULDC", "CCTL"];

/// Instructions as text, and the trace that a writer makes of them one by one.
struct Expected {
    lines: Vec<String>,
    writer: TraceWriter<Cursor<Vec<u8>>>,
}

impl Expected {
    fn new() -> Self {
        let writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
        Self { lines: Vec::new(), writer }
    }

    fn other(&mut self) {
        self.lines.push("0010 ffffffff 1 R1 IMAD 2 R1 R2 0 -4".to_owned());
        self.writer.skip().unwrap();
    }

    fn memory(&mut self, random: &mut Random) {
        let (opcode, pc) = (random.one_of(&OPCODES), random.below(1 << 20) as u32);
        let bits = random.next() as u32 & random.one_of(&[u32::MAX, 0xff, 0x5555_5555]);
        let mask = LaneMask::from_bits(bits);
        let far = random.is_one_in(4);
        let list: Vec<u64> = mask
            .lanes()
            .map(|_| if far { random.next() } else { 0x7f00_0000 + (random.next() & 0xffff) })
            .collect();
        let mut line = format!("{pc:04x} {bits:08x} 0 {opcode} 1 R2 4 ");
        if random.is_one_in(2) {
            line += "0 ";
            list.iter().for_each(|address| write!(line, "0x{address:x} ").unwrap());
        } else {
            write!(line, "2 0x{:016x} ", list.first().copied().unwrap_or(7)).unwrap();
            for pair in list.windows(2) {
                write!(line, "{} ", pair[1].wrapping_sub(pair[0]) as i64).unwrap();
            }
        }
        line += random.one_of(&["0 ", "-8", "123456789012"]);
        // A carriage return, a second space and a tab are rare, but valid.
        line += random.one_of(&["", "", "", "\r", " ", "\t"]);
        self.lines.push(line);
        let operation = MemoryOperation::of_opcode(opcode);
        let number = self.writer.operation(&operation).unwrap();
        let addresses = RecordAddresses::List(&list);
        let width_disagrees = operation.kind == OperationKind::Load
            && operation.matrices.is_none()
            && operation.width.bytes() != 4;
        let record = NewRecord { width_disagrees, ..NewRecord::new(pc, mask, number, addresses) };
        self.writer.record(&record).unwrap();
    }
}

/// Blocks end where they end without pieces: after their last memory instruction, or after 65,535 instructions.
#[test]
fn blocks_do_not_depend_on_pieces() {
    let mut random = Random(3);
    let mut expected = Expected::new();
    expected.writer.kernel(Kernel::default()).unwrap();
    let place = WarpPosition { cta: Some([0; 3]), warp: Some(0), cluster: None, index: Some(0) };
    expected.writer.place(Some(place));
    for _ in 0..30_000 {
        expected.memory(&mut random);
    }
    for _ in 0..150_000 {
        if random.is_one_in(40) {
            expected.memory(&mut random);
        } else {
            expected.other();
        }
    }
    let lines: Vec<&str> = expected.lines.iter().map(|line| &**line).collect();
    let bytes = import_bytes(grouped(5, "", &lines)).unwrap();
    let (imported, expected) = (open(&bytes), expected.writer.finish().unwrap().into_inner());
    let expected = open(&expected);
    assert_eq!(imported.contents().operations, expected.contents().operations);
    assert_eq!(imported.instructions(), 180_000);
    let (blocks, others) = (imported.blocks(), expected.blocks());
    assert!(blocks.len() > 3 && blocks == others);
    // What is between the header and the contents: all blocks.
    let end = |blocks: &[warpload_trace::binary::RawBlock]| {
        blocks.last().map(|block| block.offset as usize + block.length as usize).unwrap()
    };
    assert_eq!(end(blocks), end(others));
}

/// Whose each instruction is: many warps, some without instructions, whose lines end at any place of a
/// piece.
#[test]
fn places_do_not_depend_on_pieces() {
    const LOAD: &str = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0\n";
    const OTHER: &str = "0020 ffffffff 1 R1 MOV 0 0 0\n";
    let mut text = "-kernel name = k\n-grid dim = (600,1,1)\n-block dim = (128,1,1)\n\
                    -accelsim tracer version = 5\n#traces format = x\n"
        .to_owned();
    let mut expected = Vec::new();
    let mut random = Random(21);
    for block in 0..600 {
        writeln!(text, "#BEGIN_TB\nthread block = {block},0,0").unwrap();
        // Pieces then end where no instruction is near.
        text += &"\n".repeat(random.one_of(&[1, 1, 1, 3000]));
        for warp in 0..4 {
            let count = random.one_of(&[0, 1, 2, 40]);
            writeln!(text, "warp = {warp}\ninsts = {count}").unwrap();
            for index in 0..count {
                let is_load = random.is_one_in(2);
                text += if is_load { LOAD } else { OTHER };
                if is_load {
                    let cta = Some([block, 0, 0]);
                    let (warp, index) = (Some(warp), Some(index));
                    expected.push(WarpPosition { cta, warp, cluster: None, index });
                }
            }
        }
        text += "#END_TB\n";
    }
    assert!(text.len() > 1 << 20, "{}", text.len());
    let found = records(&open(&import_bytes(text).unwrap()));
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.place, *expected, "load {i}");
    }
    assert_eq!(found.len(), expected.len());
}

/// The error that is first in the file is returned, in whichever piece others are.
#[test]
fn the_first_error_is_returned() {
    const LOAD: &str = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0";
    let lines = vec![LOAD; 40_000];
    let header = grouped(5, "", &[]);
    let first = header.lines().count() - 3;
    let whole = grouped(5, "", &lines);
    assert_eq!(open(&import_bytes(&whole).unwrap()).loads(), 40_000);
    let mut random = Random(8);
    let wrong: [(&str, &str); 5] = [
        ("0010 fffffffg 1 R1 LDG.E 1 R2 4 1 0x100 4 0", "6: \"fffffffg\"; expected a hexadecimal"),
        ("#BEGIN_TB", "1: `#BEGIN_TB` inside a thread block"),
        ("-a = b", "1: a header line after instructions"),
        ("warp = x", "8: expected a warp's number"),
        ("0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4", "42: expected one decimal immediate"),
    ];
    for _ in 0..6 {
        let mut lines = lines.clone();
        let mut places: Vec<usize> = (0..3).map(|_| random.below(lines.len())).collect();
        let near = (places[0] + 1).min(lines.len() - 1);
        places.push(near);
        for place in &places {
            lines[*place] = random.one_of(&wrong).0;
        }
        let place = places.into_iter().min().unwrap();
        let (_, message) = wrong.iter().find(|(line, _)| *line == lines[place]).unwrap();
        let error = import_bytes(grouped(5, "", &lines)).unwrap_err().to_string();
        let expected = format!("trace:{}:{message}", first + place + 1);
        assert!(error.contains(&expected), "{error}, not {expected}");
    }
    // Of instructions that were not promised the first is named, whatever is wrong after it.
    let more = whole.replacen("insts = 40000", "insts = 33333", 1);
    let error = import_bytes(more.replacen("#END_TB", "nonsense", 1)).unwrap_err().to_string();
    let expected = format!("trace:{}:1: more instructions than", first + 33_333 + 1);
    assert!(error.contains(&expected), "{error}, not {expected}");
}

/// Lines that are longer than a piece, up to the longest and beyond.
#[test]
fn long_lines() {
    let line = |bytes: usize| {
        let mut line = "0010 00000001 0 LDG.E 0 4 0 0x1".to_owned();
        line += &" ".repeat(bytes - line.len() - 1);
        line + "0"
    };
    let loads = ["0010 00000001 0 LDG.E 0 4 0 0x1 0"; 4000];
    let with = |bytes| {
        let mut lines = loads.to_vec();
        let long = line(bytes);
        lines[2000] = &long;
        import_bytes(grouped(5, "", &lines))
    };
    let expected = import_bytes(grouped(5, "", &loads)).unwrap();
    for bytes in [131_071, 131_072, 300_000, (1 << 20) - 1, 1 << 20] {
        assert!(with(bytes).unwrap() == expected, "{bytes}");
    }
    let error = with((1 << 20) + 1).unwrap_err().to_string();
    assert!(error.contains(") is longer than 1048576 bytes"), "{error}");
    // Text that is not ASCII is read too, and what is not UTF-8 has its place.
    let text = grouped(5, "", &loads);
    assert!(import_bytes(text.replacen("LDG.E 0", "LDG.\u{e9} 0", 1)).is_ok());
    let mut bytes = text.clone().into_bytes();
    let at = text.rfind("LDG").unwrap();
    bytes[at] = 0xe9;
    let line = text[..at].lines().count();
    let error = import_bytes(&bytes).unwrap_err().to_string();
    let expected = format!("line {line}, column 17 (byte offset {at}) is not UTF-8");
    assert!(error.contains(&expected), "{error}, not {expected}");
}
