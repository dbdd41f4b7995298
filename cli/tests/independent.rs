//! Compares replays with those of `tests/independent/replay.py`, which was written from the
//! specification alone and shares no code with this project; its outputs are in
//! `tests/independent/expected/`. With `WARPLOAD_PYTHON=python3` the script itself runs too.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The inputs, and the names of the expected outputs.
const CASES: [(&str, &str); 12] = [
    ("tests/independent/handwritten-1.traceg", "handwritten-1"),
    ("tests/independent/handwritten-2.traceg", "handwritten-2"),
    ("tests/independent/kernelslist.g", "kernelslist"),
    ("tests/independent/handwritten.trace", "handwritten"),
    ("tests/independent/handwritten-memtrace.log", "handwritten-memtrace"),
    ("tests/independent/handwritten-memtrace-banner.log", "handwritten-memtrace-banner"),
    ("tests/independent/handwritten-memtrace-nolaunch.log", "handwritten-memtrace-nolaunch"),
    ("tests/independent/traces/bfs-v3-kernel-5.traceg.xz", "bfs-v3-kernel-5"),
    ("traces/bfs-v3-kernel-14.traceg", "bfs-v3-kernel-14"),
    ("traces/btree-v5-kernel-1.traceg", "btree-v5-kernel-1"),
    ("traces/vecadd-v3-sm61-head.trace.xz", "vecadd-v3-sm61-head"),
    ("traces/nvbit-mem_trace.json", "nvbit-mem_trace"),
];

fn warpload(arguments: &[&str]) -> String {
    common::succeeded(common::warpload().args(arguments))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn expected(name: &str) -> Value {
    let path = common::file(&format!("tests/independent/expected/{name}.json"));
    json(&std::fs::read_to_string(path).unwrap())
}

/// Asserts that every key that the script prints, at any depth, has the same value. (The script does not
/// compare expected values, so it has no `checked` and `mismatches`.)
fn assert_agrees(got: &Value, expected: &Value, at: &str) {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            for (key, expected) in expected {
                assert_agrees(&got[key], expected, &format!("{at}.{key}"));
            }
        }
        (Value::Array(got), Value::Array(expected)) => {
            assert_eq!(got.len(), expected.len(), "{at}");
            for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
                assert_agrees(got, expected, &format!("{at}[{i}]"));
            }
        }
        _ => assert_eq!(got, expected, "{at}"),
    }
}

#[test]
fn replays_agree_with_the_independent_script() {
    for (input, name) in CASES {
        let arguments = ["replay", input, "--fill", "address", "--format", "json"];
        let got = json(&warpload(&arguments));
        assert_agrees(&got, &expected(name), name);
        assert!(got["loads"].as_u64().unwrap() > 0);
    }
}

#[test]
fn opcodes_are_all_there() {
    // `assert_agrees` compares only the script's keys; a further opcode would pass it.
    for (input, name) in CASES {
        let got = json(&warpload(&["replay", input, "--format", "json"]));
        assert_eq!(got["by_opcode"], expected(name)["by_opcode"], "{name}");
        assert_eq!(got["digest"], Value::Null, "without data there is no digest");
    }
}

#[test]
fn threads_and_shards_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (input, name) in CASES {
        let replay = |more: &[&str]| {
            let arguments = ["replay", input, "--fill", "address", "--format", "json"];
            warpload(&[&arguments, more].concat())
        };
        let whole = replay(&["--threads", "1"]);
        assert_eq!(whole, replay(&["--threads", "2"]), "{name}");
        for count in [3, 7] {
            let shards: Vec<PathBuf> = (0..count)
                .map(|i| {
                    let path = folder.path().join(format!("{i}-of-{count}.json"));
                    std::fs::write(&path, replay(&["--shard", &format!("{i}/{count}")])).unwrap();
                    path
                })
                .collect();
            let mut arguments = vec!["merge"];
            // The order of the summaries does not matter.
            arguments.extend(shards.iter().rev().map(|path| path.to_str().unwrap()));
            assert_eq!(whole, warpload(&arguments), "{name} in {count} shards");
        }
    }
}

#[test]
fn the_script_still_prints_what_is_expected() {
    let Ok(python) = std::env::var("WARPLOAD_PYTHON") else { return };
    for (input, name) in CASES {
        let mut script = Command::new(&python);
        script.current_dir(common::ROOT).arg("tests/independent/replay.py");
        let printed = common::succeeded(script.args([input, "--fill", "address"]));
        assert_eq!(json(&printed), expected(name), "{name}");
    }
}
