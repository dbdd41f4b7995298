//! Replays with values, through the real command: images, expected values, faults.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use warpload::lane::LANES;

use crate::common::Ran;
use crate::trace::command::warpload;
use crate::traces::{Form, Item, Record, write};

/// A folder with an image and a trace.
struct Folder(TempDir);

impl Folder {
    /// The image has 256 bytes of global memory at 0x10000000, with the values 0 to 255, 64 bytes of
    /// shared memory, and 16 bytes of local memory for each lane.
    fn new(items: &[Item]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let bytes: Vec<u8> = (0..=255).collect();
        fs::write(folder.path("global.bin"), &bytes).unwrap();
        let manifest = json!({"memory": {
            "global": [{"base": "0x10000000", "file": "global.bin"}],
            "shared": {"hex": "a5".repeat(64)},
            "local": {"bytes_per_lane": 16, "hex": "c3".repeat(16 * 32)},
            "constant": [{"bank": 0, "hex": "3c".repeat(64)}],
        }});
        fs::write(folder.path("image.json"), manifest.to_string()).unwrap();
        fs::write(folder.path("trace.wlt"), write(items)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn replay(&self) -> Ran {
        let (trace, image) = (self.path("trace.wlt"), self.path("image.json"));
        let (trace, image) = (trace.to_str().unwrap(), image.to_str().unwrap());
        warpload(&["replay", trace, "--image", image, "--format", "json"])
    }

    fn summary(&self) -> Value {
        let ran = self.replay();
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
    }
}

/// Returns consecutive addresses for all lanes.
fn side_by_side(base: u64, bytes: usize) -> Form {
    Form::List((0..LANES).map(|lane| base + (lane * bytes) as u64).collect())
}

/// Returns the words that lanes with consecutive addresses read from the start of the image.
fn counting_words() -> Vec<u32> {
    (0..32).map(|lane| u32::from_le_bytes([0, 1, 2, 3].map(|byte| 4 * lane + byte))).collect()
}

#[test]
fn a_changed_byte_that_is_read_changes_the_digest() {
    let items = [
        Item::Kernel("k"),
        Item::Record(Record::new("LDG.E", side_by_side(0x1000_0000, 4))),
        Item::Record(Record { mask: 1, ..Record::new("LDS", Form::Stride(0, 0)) }),
    ];
    let folder = Folder::new(&items);
    let before = folder.summary();
    assert_eq!(before["digest"].as_str().unwrap().len(), 16);
    assert_eq!(before["loads"]["by_space"]["shared"], 1);
    let mut bytes: Vec<u8> = (0..=255).collect();
    // This byte is not read.
    bytes[200] ^= 1;
    fs::write(folder.path("global.bin"), &bytes).unwrap();
    assert_eq!(folder.summary(), before);
    for at in [0, 1, 77, 127] {
        bytes[at] ^= 1;
        fs::write(folder.path("global.bin"), &bytes).unwrap();
        assert_ne!(folder.summary()["digest"], before["digest"], "byte {at}");
        bytes[at] ^= 1;
    }
}

#[test]
fn expected_values_that_hold() {
    let load = |values| {
        let load = Record::new("LDG.E", side_by_side(0x1000_0000, 4));
        Item::Record(Record { values, ..load })
    };
    // A lane whose guard is false keeps its value, which is unknown.
    let mut guarded = counting_words();
    guarded[3] = 0xdead_beef;
    let guarded = Record {
        values: guarded,
        guard: Some(!8),
        ..Record::new("LDG.E", side_by_side(0x1000_0000, 4))
    };
    let folder = Folder::new(&[load(counting_words()), load(Vec::new()), Item::Record(guarded)]);
    let ran = folder.replay();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let summary = folder.summary();
    assert_eq!(
        (&summary["loads"]["values"]["checked"], &summary["loads"]["values"]["mismatches"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(summary["first_mismatches"], json!([]));
}

#[test]
fn expected_values_that_do_not_hold() {
    let mut wrong = counting_words();
    wrong[3] ^= 0x100;
    wrong[31] = 0;
    let load = Record::new("LDG.E", side_by_side(0x1000_0000, 4));
    let wide = Record {
        pc: 0x20,
        mask: 1 << 5,
        // The address is rounded down to 0x10000000.
        values: vec![0x0302_0100, 0x0706_0504, 1, 0x0f0e_0d0c],
        ..Record::new("LDG.E.128", Form::Stride(0x1000_0008, 0))
    };
    let folder = Folder::new(&[
        Item::Kernel("k"),
        Item::of("STG.E"),
        Item::Record(Record { values: wrong, ..load }),
        Item::Record(wide),
    ]);
    let ran = folder.replay();
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let summary = folder.summary();
    assert_eq!(
        (&summary["loads"]["values"]["checked"], &summary["loads"]["values"]["mismatches"]),
        (&json!(2), &json!(2))
    );
    let first = &summary["first_mismatches"];
    assert_eq!(
        *first,
        json!([
            {"instruction": 1, "kernel": "k", "pc": "0x10", "lane": 3, "register": 0,
             "expected": "0xf0e0c0c",
             "got": "0xf0e0d0c"},
            {"instruction": 1, "kernel": "k", "pc": "0x10", "lane": 31, "register": 0,
             "expected": "0x0", "got": "0x7f7e7d7c"},
            {"instruction": 2, "kernel": "k", "pc": "0x20", "lane": 5, "register": 2,
             "expected": "0x1", "got": "0xb0a0908"},
        ])
    );
    let text = warpload(&[
        "replay",
        folder.path("trace.wlt").to_str().unwrap(),
        "--image",
        folder.path("image.json").to_str().unwrap(),
    ]);
    assert_eq!(text.status, 1);
    assert!(text.stdout.contains("checked     2 loads, 2 mismatches"), "{}", text.stdout);
}

#[test]
fn faults_are_counted_and_shown() {
    let lane = |lane: u32, opcode, address| {
        Item::Record(Record { mask: 1 << lane, ..Record::new(opcode, Form::Stride(address, 0)) })
    };
    let plg = |plg, address| {
        Item::Record(Record {
            plg: Some(plg),
            mask: 1,
            ..Record::new("LD.E", Form::Stride(address, 0))
        })
    };
    let folder = Folder::new(&[
        Item::Kernel("k"),
        lane(0, "LDG.E", 0x1000_0100),
        lane(1, "LDG.E", 0x1000_0002),
        lane(2, "LDG.E.128", 0x2000_0001),
        lane(3, "LDS", 64),
        lane(4, "LDL", 16),
        lane(5, "LDC", 64),
        plg(0, 0x1000_0000),
        plg(1, 0xfe00_0000),
        plg(1, 1 << 40),
        // No faults, in each space.
        plg(0, 0xfe00_0000),
        plg(1, 0xff00_0000),
        plg(1, 0x1000_0000),
        lane(6, "LDL", 12),
        lane(7, "LDC", 60),
    ]);
    let summary = folder.summary();
    assert_eq!(
        summary["loads"]["lane_faults"],
        json!({"outside_window": 3, "outside_allocation": 5, "misaligned_address": 2})
    );
    assert_eq!(
        summary["loads"]["by_space"],
        json!({"global": 4, "local": 3, "shared": 2, "constant": 2, "unresolved": 3})
    );
    let first = summary["first_faults"].as_array().unwrap();
    assert_eq!(first.len(), 10);
    assert_eq!(
        first[1],
        json!({"instruction": 1, "kernel": "k", "pc": "0x10", "lane": 1,
               "kind": "misaligned_address", "address": "0x10000002"})
    );
    assert_eq!(first[8]["kind"], "outside_window");
    // Only lanes that loaded count as traffic.
    assert_eq!(
        (&summary["loads"]["global"]["sectors"]["sum"], &summary["footprint"]["pages"]),
        (&json!(2), &json!(1))
    );
}

/// Only the first ten faults are listed.
#[test]
fn the_first_few_faults() {
    let load = Item::Record(Record::new("LDG.E", side_by_side(0x2000_0000, 4)));
    let summary = Folder::new(&vec![load; 5000]).summary();
    assert_eq!(summary["loads"]["lane_faults"]["outside_allocation"], 5000 * 32);
    let first = summary["first_faults"].as_array().unwrap();
    let places: Vec<(u64, u64)> = first
        .iter()
        .map(|fault| (fault["instruction"].as_u64().unwrap(), fault["lane"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, (0..10).map(|lane| (0, lane)).collect::<Vec<_>>());
}
