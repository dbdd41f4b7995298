//! Samples of CUTracer and mem_trace, with the counts that a model of them has, and damaged ones
//! (tests/data/traces2/README.md).

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use warpload::memory::Fill;
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_suite::image;

use crate::model::{add_footprints, of_model};
use crate::replays::{loads_alone, summary};
use crate::samples::import_file;
use crate::samples::{grouped, import_bytes, loads, open, skipped};

fn file(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/traces2").join(name)
}

/// The samples' counts by file; the files are compressed, if they are not already.
fn expected() -> Map<String, Value> {
    let text = std::fs::read_to_string(file("cutracer-nvbit.expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn replayed(name: &str, data: ReplayData<'_>) -> Value {
    let path = Some(file(name)).filter(|path| path.exists());
    let path = path.unwrap_or_else(|| file(&format!("{name}.xz")));
    let trace = import_file(&path, 2).unwrap();
    let trace = open(&trace);
    let mut counts = of_model(&replay(&trace, &ReplayOptions::new(data)).unwrap());
    add_footprints(&mut counts, &loads_alone(&trace, data));
    counts
}

/// Rows by kernel become one by program counter and opcode, with sums for means.
fn per_pc(rows: &Value) -> Vec<Value> {
    let mut sums: Vec<Value> = Vec::new();
    for row in rows.as_array().unwrap() {
        let sectors = row.get("all_sectors").unwrap_or(&row["sectors"]).clone();
        let (pc, opcode) = (row["pc"].clone(), row["opcode"].clone());
        let add = |to: &mut Value, key: &str, more: &Value| {
            to[key] = json!(to[key].as_u64().unwrap() + more.as_u64().unwrap());
        };
        if let Some(sum) = sums.iter_mut().find(|sum| sum["pc"] == pc && sum["opcode"] == opcode) {
            add(sum, "loads", &row["loads"]);
            add(sum, "lanes", &row["lanes"]);
            add(sum, "sectors", &sectors);
        } else {
            let (loads, lanes) = (&row["loads"], &row["lanes"]);
            sums.push(json!({
                "pc": pc, "opcode": opcode, "loads": loads, "lanes": lanes, "sectors": sectors
            }));
        }
    }
    sums.sort_by_key(|row| (row["pc"].to_string(), row["opcode"].to_string()));
    sums
}

/// Asserts that everything expected is there.
fn assert_has(got: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(expected) => {
            for (key, expected) in expected {
                match key.as_str() {
                    "value_check" => {}
                    "per_pc" => assert_eq!(per_pc(&got[key]), per_pc(expected), "{at}.{key}"),
                    _ => assert_has(&got[key], expected, &format!("{at}.{key}")),
                }
            }
        }
        Value::Array(expected) => {
            assert_eq!(got.as_array().map(Vec::len), Some(expected.len()), "{at}");
            for (i, expected) in expected.iter().enumerate() {
                assert_has(&got[i], expected, &format!("{at}[{i}]"));
            }
        }
        _ => assert_eq!(got, expected, "{at}"),
    }
}

#[test]
fn samples_have_the_counts_of_the_model() {
    let expected = expected();
    assert_eq!(expected.len(), 9);
    for (name, expected) in &expected {
        let got = replayed(name, ReplayData::Absent);
        assert_has(&got, expected, name);
        assert_eq!(got["by_opcode"], expected["by_opcode"], "{name}");
    }
}

#[test]
fn a_file_without_memory_accesses_says_so() {
    let trace = import_file(&file("cutracer-reg_trace_sample.ndjson.zst"), 1).unwrap();
    let trace = open(&trace);
    assert_eq!(trace.instructions(), 0);
    let notes = &trace.contents().notes;
    assert!(notes[0].starts_with("no memory access in the source"), "{notes:?}");
}

/// What the hardware loaded is what the image has, but for one word.
#[test]
fn loaded_values_are_checked_against_an_image() {
    let machine = image::open(&file("cutracer-image.json")).unwrap();
    for (name, expected) in expected() {
        let Some(check) = expected.get("value_check") else { continue };
        let got = replayed(&name, ReplayData::Image(&machine.memory));
        let wrong = check["mismatches"].as_array().unwrap();
        assert_eq!(got["checked"], check["loads"], "{name}");
        assert_eq!(got["checked_words"], check["words"], "{name}");
        assert_eq!(got["mismatches"], wrong.len(), "{name}");
        assert_eq!(got["mismatched_words"], wrong.len(), "{name}");
        let found = got["first_mismatches"].as_array().unwrap();
        assert_eq!(found.len(), wrong.len());
        for (found, wrong) in found.iter().zip(wrong) {
            let hex = |key: &str| json!(format!("{:#x}", wrong[key].as_u64().unwrap()));
            assert_eq!(
                (&found["record"], &found["lane"], &found["register"], &found["pc"]),
                (&wrong["record"], &wrong["lane"], &wrong["word"], &wrong["pc"])
            );
            assert_eq!((&found["got"], &found["expected"]), (&hex("image"), &hex("trace")));
        }
    }
    // What a fill holds is made up: it is no mismatch.
    let got = replayed("cutracer-value.ndjson", ReplayData::Fill(Fill::Zero));
    let checked = ["valued_loads", "checked", "checked_words", "mismatches"].map(|key| &got[key]);
    assert_eq!(checked, [66, 0, 0, 0]);
}

/// Each damaged sample is refused with the place of the damage.
#[test]
fn damaged_samples_are_refused() {
    const EXPECTED: [(&str, &str); 16] = [
        ("access-size-3.ndjson", ":3:16: expected 1, 2, 4, 8, 16 or 32 bytes"),
        ("addr-65-bits.ndjson", ":3:28: a number of more than 64 bits"),
        ("addr-negative.ndjson", ":3:28: a negative number"),
        ("address-not-hex.log", ":4:1: expected `CTX … - grid_launch_id N"),
        ("addresses-31.log", ":4:1: expected `CTX … - grid_launch_id N"),
        ("addrs-31.ndjson", ":3:27: 31 addresses; expected 32"),
        ("cut-frame.ndjson.zst", ": cannot be read: zstd: the compressed file is cut off: "),
        ("cut-line.ndjson", ":5:1: the last line has no line end"),
        ("cut-record.log", ":4:1: expected `CTX … - grid_launch_id N"),
        ("garbage-behind.ndjson.zst", ": cannot be read: zstd: "),
        ("no-cta.ndjson", ":3:1: no key `cta`"),
        ("no-table.ndjson", ":1:645: no `sass`, and no `kernel_metadata` line before"),
        ("nul-for-brace.ndjson", ":2:1: a byte of zeros"),
        ("opcode-id-unknown.ndjson", ":3:254: no instruction 999"),
        ("values-31.ndjson", ":3:352: values of 31 lanes; expected 32"),
        ("values-lane-short.ndjson", ":3:383: a value of 3 words; expected 4"),
    ];
    for (name, message) in EXPECTED {
        for threads in [1, 3] {
            let error = import_file(&file("damaged").join(name), threads).unwrap_err();
            let all = std::iter::successors(Some(&error as &dyn std::error::Error), |e| e.source());
            let all: Vec<String> = all.map(ToString::to_string).collect();
            assert!(all.join(": ").contains(&format!("{name}{message}")), "{all:?}");
        }
    }
}

#[test]
fn what_is_skipped_is_counted() {
    let text = grouped(
        3,
        "",
        &[
            "0000 ffffffff 1 R1 MOV 0 0",
            "0010 ffffffff 0 STG.E 2 R1 R2 4 1 0x100 4",
            "0020 ffffffff 0 STS 2 R1 R2 4 1 0x100 4",
            "0030 ffffffff 1 R1 ATOMG.E.ADD 1 R1 4 1 0x100 4",
            "0040 ffffffff 0 RED.E.ADD 1 R1 4 1 0x100 4",
            "0050 ffffffff 0 LDGSTS.E.128 2 R1 R2 16 1 0x100 16",
            "0050 0000000f 0 LDGSTS.E.BYPASS.128 2 R1 R2 16 1 0x100 16",
            "0058 ffffffff 1 R1 LDSM.16.M88.4 1 R2 16 1 0x100 16",
            "0058 ffffffff 1 R1 LDTM.x4 1 R2 4 1 0x100 16",
            "0058 ffffffff 1 R1 LDSM.16.MT88 1 R2 4 1 0x100 16",
            "0060 ffffffff 1 R1 LDC 0 0",
            "0070 ffffffff 1 R1 LDC 1 R2 4 1 0x10 0",
        ],
    );
    let trace = open(&import_bytes(text).unwrap());
    assert_eq!((trace.instructions(), trace.loads(), skipped(&trace)), (12, 3, (2, 2)));
    assert_eq!((loads(&trace)[2].record, loads(&trace)[2].pc), (11, 0x70));
    let counts = summary(&trace, None).unwrap().counts;
    assert_eq!(counts.not_replayed, [("LDTM".into(), 1)].into());
    assert_eq!((counts.copies.accesses, counts.copies.lanes), (2, 36));
    assert_eq!((counts.stores.accesses, counts.atomics.accesses), (2, 1));
    assert_eq!((counts.reductions.accesses, counts.loads.accesses), (1, 3));
}
