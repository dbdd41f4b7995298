//! The worked example of docs/trace-format.md is true.

use std::fmt::Write;
use std::path::Path;

use warpload_trace::WarpPosition;

use crate::samples::{Form, Item, Record, write};

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

/// The example; `tests/data/cmd/example.wlt` is the same, `damaged.wlt` the same but for a
/// bit.
fn example() -> Vec<u8> {
    let place = WarpPosition { cta: Some([1, 0, 0]), warp: Some(2), cluster: None, index: Some(7) };
    let load = Record {
        pc: 0x190,
        mask: 0x13,
        values: vec![0xa0, 0xa1, 0xa2],
        ..Record::new("LDG.E", Form::Deltas(0x7f00_0000_1000, vec![4, -8]))
    };
    let store =
        Record { pc: 0x180, mask: 0x1f, ..Record::new("STG.E", Form::Stride(0x7f00_0000_2000, 4)) };
    write(&[Item::Kernel("k"), Item::Place(Some(place)), Item::Record(store), Item::Record(load)])
}

#[test]
fn the_example_as_a_file() {
    let read = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/cmd");
        std::fs::read(Path::new(folder).join(name)).unwrap()
    };
    let mut bytes = example();
    assert!(read("example.wlt") == bytes);
    // One of the loaded values.
    bytes[0xcc] ^= 0x40;
    assert!(read("damaged.wlt") == bytes);
}

#[test]
fn the_example_of_the_format() {
    let bytes = example();
    let dump = hexdump(&bytes);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/trace-format.md");
    let document = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert!(document.contains(&dump), "expected in docs/trace-format.md:\n{dump}");
}
