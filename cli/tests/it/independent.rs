//! The judges of `tests/independent/`, written from the specification alone, without code of this project. Replays are
//! compared with the recorded outputs of `replay.py`, which `cargo xtask ci` runs too; and each `check.py` compares its model with
//! what other tools printed.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Ran;
use serde_json::Value;
use warpload_replay::Summary;

use crate::model::of_model;

const FILL: &[&str] = &["--fill", "address"];
const IMAGE: &[&str] = &["--image", "tests/data/traces2/cutracer-image.json"];

/// The exit status of the script if nothing on this machine decodes zstd.
const NO_ZSTD: i32 = 77;

/// A replay.
struct Case {
    input: String,
    /// The name of the expected output.
    expected: &'static str,
    data: &'static [&'static str],
    /// 1 if an expected value differs.
    status: i32,
}

/// The inputs in the repository, and the names of the expected outputs.
const INPUTS: [(&str, &str); 14] = [
    ("tests/independent/handwritten-1.traceg", "handwritten-1"),
    ("tests/independent/handwritten-2.traceg", "handwritten-2"),
    ("tests/independent/kernelslist.g", "kernelslist"),
    ("tests/independent/handwritten.trace", "handwritten"),
    ("tests/independent/handwritten-memtrace.log", "handwritten-memtrace"),
    ("tests/independent/handwritten-memtrace-banner.log", "handwritten-memtrace-banner"),
    ("tests/independent/handwritten-memtrace-nolaunch.log", "handwritten-memtrace-nolaunch"),
    ("tests/independent/handwritten-memtrace-contexts.log", "handwritten-memtrace-contexts"),
    ("tests/independent/handwritten-export.jsonl", "handwritten-export"),
    ("tests/independent/copies.traceg", "copies"),
    ("tests/independent/traces/bfs-v3-kernel-5.traceg.xz", "bfs-v3-kernel-5"),
    ("traces/bfs-v3-kernel-14.traceg", "bfs-v3-kernel-14"),
    ("traces/btree-v5-kernel-1.traceg", "btree-v5-kernel-1"),
    ("traces/vecadd-v3-sm61-head.trace.xz", "vecadd-v3-sm61-head"),
];

/// The samples in `tests/data/traces2`. Those with the same instructions share an expected output.
const SAMPLES: [(&str, &str); 30] = [
    ("v1.2-grouped.traceg", "traces2/v1.2-grouped"),
    ("v1.2-active-mask.traceg", "traces2/v1.2-active-mask"),
    ("v3-grouped.traceg", "traces2/v3-grouped"),
    ("v3-active-mask.traceg", "traces2/v3-active-mask"),
    ("v3-mode1-gaps.traceg", "traces2/v3-mode1-gaps"),
    ("v3-one-lane-off.traceg", "traces2/v3-one-lane-off"),
    ("v3-real-vecadd.traceg", "traces2/v3-real-vecadd"),
    ("v3-core-id.trace", "traces2/v3-core-id"),
    ("v4-lineinfo.traceg", "traces2/v4-lineinfo-grouped"),
    ("v4-lineinfo.trace.xz", "traces2/v4-lineinfo"),
    ("v5.trace", "traces2/v5"),
    ("v5-grouped.traceg", "traces2/v5-grouped"),
    ("v5-core-id.traceg", "traces2/v5-core-id"),
    ("v5-mode0.traceg", "traces2/v5-mode0"),
    ("v6.trace", "traces2/v6"),
    ("v6.traceg", "traces2/v6-grouped"),
    ("v6.tracez", "traces2/v6-grouped"),
    ("v6-subchunks.traceg.xz", "traces2/v6-subchunks"),
    ("v6-subchunks.tracez", "traces2/v6-subchunks"),
    ("v6-nodict.traceg", "traces2/v6-nodict"),
    ("v6-nodict.tracez", "traces2/v6-nodict"),
    ("v6-lineinfo.traceg", "traces2/v6-lineinfo"),
    ("kernelslist.g", "traces2/kernelslist"),
    ("cutracer-addr.ndjson", "traces2/cutracer-addr"),
    ("cutracer-legacy.ndjson", "traces2/cutracer-legacy"),
    ("cutracer-frames.ndjson.zst", "traces2/cutracer-frames"),
    ("cutracer-reg_trace_sample.ndjson.zst", "traces2/cutracer-reg_trace_sample"),
    ("nvbit-verbose.log", "traces2/nvbit-verbose"),
    ("nvbit-behind-text.log", "traces2/nvbit-behind-text"),
    ("nvbit-launch-forms.log", "traces2/nvbit-launch-forms"),
];

/// The samples with values, and the exit status of their replay on the image.
const VALUES: [(&str, &str, i32); 2] = [
    ("cutracer-value.ndjson", "traces2/cutracer-value", 0),
    ("cutracer-value-mismatch.ndjson", "traces2/cutracer-value-mismatch", 1),
];

fn cases() -> Vec<Case> {
    let case = |folder, (input, expected)| Case {
        input: format!("{folder}{input}"),
        expected,
        data: FILL,
        status: 0,
    };
    let inputs = INPUTS.map(|pair| case("", pair));
    // The larger ones are compressed.
    let sample = |pair| {
        let plain = case("tests/data/traces2/", pair);
        let is_there = crate::common::file(&plain.input).exists();
        let input = if is_there { plain.input } else { format!("{}.xz", plain.input) };
        Case { input, ..plain }
    };
    let samples = SAMPLES.map(sample);
    let values = VALUES.map(|(input, expected, status)| Case {
        data: IMAGE,
        status,
        ..sample((input, expected))
    });
    inputs.into_iter().chain(samples).chain(values).collect()
}

impl Case {
    /// Returns what the replay prints.
    fn replay(&self, more: &[&str]) -> String {
        let mut command = crate::common::warpload();
        command.args(["replay", &self.input, "--format", "json"]).args(self.data);
        let ran = Ran::from(command.args(more).output().unwrap());
        assert_eq!(ran.status, self.status, "{}: {}", self.input, ran.stderr);
        ran.stdout
    }

    fn expected(&self) -> Value {
        let path =
            crate::common::file(&format!("tests/independent/expected/{}.json", self.expected));
        in_order(json(&std::fs::read_to_string(path).unwrap()))
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The counts of a replay under the keys of the script, without the footprint, which is of all accesses.
fn counts(text: &str) -> Value {
    in_order(of_model(&Summary::from_json(text.as_bytes()).unwrap()))
}

/// Sorts rows, because the script keeps rows of one program counter in the order of the trace. `mem_trace` has no other rows.
fn in_order(mut counts: Value) -> Value {
    for key in ["per_pc", "per_pc_stores", "per_pc_copies"] {
        if let Some(rows) = counts.get_mut(key).and_then(Value::as_array_mut) {
            let place = |row: &Value| ["kernel", "pc", "opcode"].map(|key| row[key].to_string());
            rows.sort_by_key(place);
        }
    }
    counts
}

/// Runs a program of `tests/independent/`.
fn python(program: &str, arguments: &[&str]) -> Ran {
    let mut script = Command::new("python3");
    script.current_dir(crate::common::ROOT);
    script.arg(format!("tests/independent/{program}")).args(arguments);
    script.output().unwrap().into()
}

/// Returns what `replay.py` prints, or `None` if it cannot read the input on this machine.
fn script(arguments: &[&str]) -> Option<Value> {
    let ran = python("replay.py", arguments);
    if ran.status == NO_ZSTD {
        crate::common::missing(&format!("{arguments:?}: no Python 3.14 and no zstd"));
        return None;
    }
    assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.stderr);
    Some(json(&ran.stdout))
}

/// Asserts that every key that is expected, at any depth, has the same value.
fn assert_agrees(got: &Value, expected: &Value, at: &str) {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            // An access with unknown wavefronts has no known ideal here; the script counts one.
            let is_unknown = got.get("wavefronts").is_some_and(Value::is_null);
            let is_compared =
                |key: &str| key != "footprint" && !(is_unknown && key == "ideal_wavefronts");
            for (key, expected) in expected.iter().filter(|(key, _)| is_compared(key)) {
                assert!(got.contains_key(key), "{at} has no {key}");
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
    for case in cases() {
        assert_agrees(&counts(&case.replay(&[])), &case.expected(), &case.input);
    }
}

#[test]
fn opcodes_are_all_there() {
    // `assert_agrees` compares only the script's keys; a further opcode would pass it.
    for case in cases() {
        let replay = ["replay", &case.input, "--format", "json"];
        let got = counts(&crate::common::succeeded(crate::common::warpload().args(replay)));
        let expected = case.expected();
        for key in ["by_opcode", "skipped"] {
            assert_eq!(got[key], expected[key], "{}: {key}", case.input);
        }
        assert_eq!(got["digest"], Value::Null, "without data there is no digest");
    }
}

#[test]
fn threads_and_shards_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (number, case) in cases().into_iter().enumerate() {
        let whole = case.replay(&["--threads", "1"]);
        assert_eq!(whole, case.replay(&["--threads", "2"]), "{}", case.input);
        if case.status != 0 {
            continue; // only the shard with the differing value fails
        }
        let count = [3, 7][number % 2];
        let shards: Vec<PathBuf> = (0..count)
            .map(|i| {
                let path = folder.path().join(format!("{i}-of-{count}.json"));
                std::fs::write(&path, case.replay(&["--shard", &format!("{i}/{count}")])).unwrap();
                path
            })
            .collect();
        let mut merge = crate::common::warpload();
        // The order of the summaries does not matter.
        merge.args(["merge", "--format", "json"]).args(shards.iter().rev());
        assert_eq!(whole, crate::common::succeeded(&mut merge), "{} in {count} shards", case.input);
    }
}

#[test]
fn textbook_conflicts() {
    let folder = Path::new("tests/independent/textbook");
    let text =
        std::fs::read_to_string(crate::common::file("tests/independent/textbook/expected.json"));
    let expected = json(&text.unwrap());
    for (name, expected) in expected.as_object().unwrap() {
        let path = folder.join(format!("{name}.traceg"));
        let path = path.to_str().unwrap();
        let replay = ["replay", path, "--format", "json"];
        let got = counts(&crate::common::succeeded(crate::common::warpload().args(replay)));
        assert_agrees(&got, &in_order(expected.clone()), name);
    }
}

#[test]
#[ignore = "half a minute of Python; `cargo xtask ci` runs it"]
fn the_script_still_prints_what_is_expected() {
    if !crate::common::has_python("replay.py") {
        return;
    }
    for case in cases() {
        let arguments = [&[case.input.as_str()], case.data].concat();
        if let Some(printed) = script(&arguments) {
            assert_eq!(in_order(printed), case.expected(), "{}", case.input);
        }
    }
}

/// Each model agrees with nvdisasm's texts, with its own vectors, or with numbers that were computed by hand.
#[test]
#[ignore = "as above"]
fn the_models_agree_with_what_others_printed() {
    const TEXTS: [&str; 2] = ["nvdisasm-ld.tsv", "nvdisasm-load-family.tsv"];
    if !crate::common::has_python("check.py") {
        return;
    }
    let texts = TEXTS.map(|name| format!("encoding/tests/data/{name}"));
    for (program, arguments) in [
        ("spa50/check.py", &texts.each_ref().map(String::as_str)[..]),
        ("sm70/check.py", &["tests/data/nvdisasm-sm70.tsv.xz"]),
        ("textbook/check.py", &[]),
    ] {
        let ran = python(program, arguments);
        assert_eq!(ran.status, 0, "{program}: {ran:?}");
    }
}
