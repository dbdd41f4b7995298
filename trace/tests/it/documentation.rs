//! The worked example of docs/trace-format-example.md is true.

use std::fmt::Write;
use std::path::Path;

use warpload_encoding::OpcodeFacts;
use warpload_trace::{Compression, MemoryOperation, OperationKind, WarpPosition};

use crate::samples::{Form, Item, Record, write_with};

/// Sixteen bytes a line, as `hexdump -C` shows them.
fn hexdump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, line) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let (left, right) = hex.split_at(hex.len().min(8));
        let shown = |byte: &u8| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '.',
        };
        let ascii: String = line.iter().map(shown).collect();
        let (left, right) = (left.join(" "), right.join(" "));
        writeln!(text, "{:08x}  {left:<23}  {right:<23}  |{ascii}|", 16 * i).unwrap();
    }
    text
}

/// The example; `tests/data/cmd/example.wlt` is the same, `damaged.wlt` the same but for a bit. It is not compressed, so
/// that a reader recognizes its bytes.
fn example() -> Vec<u8> {
    let place = WarpPosition { cta: Some([1, 0, 0]), warp: Some(2), cluster: None, index: Some(7) };
    let load = Record {
        pc: 0x190,
        mask: 0x13,
        values: vec![0xa0, 0xa1, 0xa2],
        ..Record::new("LDG.E", Form::deltas(0x7f00_0000_1000, &[4, -8]))
    };
    let store =
        Record { pc: 0x180, mask: 0x1f, ..Record::new("STG.E", Form::Stride(0x7f00_0000_2000, 4)) };
    let items =
        [Item::Kernel("k"), Item::Place(Some(place)), Item::Record(store), Item::Record(load)];
    write_with(&items, Compression::None)
}

/// Whether recorded bytes are renewed.
fn renews() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

#[test]
fn the_example_as_a_file() {
    let compare = |name: &str, bytes: &[u8]| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/cmd");
        let path = Path::new(folder).join(name);
        if renews() {
            std::fs::write(&path, bytes).unwrap();
        }
        assert!(std::fs::read(path).unwrap() == bytes, "{name}");
    };
    let mut bytes = example();
    compare("example.wlt", &bytes);
    // One of the loaded values.
    let values = bytes.windows(3).position(|bytes| bytes == [0xa0, 0xa1, 0xa2]).unwrap();
    bytes[values + 1] ^= 0x40;
    compare("damaged.wlt", &bytes);
}

#[test]
fn the_example_of_the_format() {
    let dump = hexdump(&example());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/trace-format-example.md");
    let mut document = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    if renews() {
        let start = document.find("```text\n00000000").unwrap() + "```text\n".len();
        let end = start + document[start..].find("```").unwrap();
        document.replace_range(start..end, &dump);
        std::fs::write(path, &document).unwrap();
    }
    assert!(document.contains(&dump), "expected in docs/trace-format-example.md:\n{dump}");
}

/// The tables of docs/trace-inputs.md classify every memory instruction as the importer does.
#[test]
fn opcodes_are_classified_as_documented() {
    const DOCUMENT: &str = include_str!("../../../docs/trace-inputs.md");
    let section = DOCUMENT.split("\n## ").find(|section| section.starts_with("Opcodes")).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let is_in = |text: &str, name: &str| text.split('`').any(|part| part == name);
    let transfers = DOCUMENT.split_once("**Transfers.**").unwrap().1.split("\n\n").next().unwrap();
    let not_replayed = section.split_once("`REDAS`").unwrap().1.split("JSON").next().unwrap();
    for facts in OpcodeFacts::all() {
        let name = facts.mnemonic();
        let operation = MemoryOperation::of_opcode(name);
        let row = rows.clone().find(|(names, _)| is_in(&format!("`{names}"), name));
        let meaning = row.map(|(_, meaning)| meaning.split([',', ':', ' ', ']']).next().unwrap());
        let expected = match meaning {
            Some("load") => OperationKind::Load,
            Some("store") => OperationKind::Store,
            Some("atomic" | "reduction") => OperationKind::Atomic,
            Some("[copy") => OperationKind::Copy,
            Some(other) => panic!("{other}"),
            None if transfers.split([' ', ',', '\n']).any(|word| word == name) => {
                OperationKind::Transfer
            }
            None => OperationKind::Other,
        };
        assert_eq!(operation.kind, expected, "{name}");
        let is_named = expected == OperationKind::Other && is_in(not_replayed, name);
        assert_eq!(operation.not_replayed().is_some(), is_named, "{name}");
    }
}
