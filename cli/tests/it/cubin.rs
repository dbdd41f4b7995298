//! `replay --cubin`: program counters with their SASS and source line, and notes if trace and cubin do
//! not fit.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fs;

use crate::common::{Ran, succeeded, warpload};
use serde_json::{Value, json};

const TRACE: &str = "traces/rows.kernelslist.g";
const CUBIN: &str = "traces/rows.sm_50.cubin";
const OF_SM_61: &str = "tests/data/source-lines/rows.sm_61.cubin";
const OTHER: &str = "tests/data/listings/chase.sm_50.cubin";

fn run(arguments: &[&str]) -> Ran {
    warpload().args(arguments).output().unwrap().into()
}

fn json_of(arguments: &[&str]) -> Value {
    let mut command = warpload();
    command.args(["replay", "--format", "json"]).args(arguments);
    serde_json::from_str(&succeeded(&mut command)).unwrap()
}

/// Returns kernel, program counter, SASS and source line of each row of a kind; null where the row lacks the key.
fn places(summary: &Value, kind: &str) -> Vec<[Value; 4]> {
    let rows = summary["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == kind);
    rows.map(|row| ["kernel", "pc", "sass", "source_line"].map(|key| row[key].clone())).collect()
}

#[test]
fn json_has_sass_and_source() {
    let summary = json_of(&[TRACE, "--cubin", CUBIN]);
    let source = |line: u32| json!(line);
    let files = summary["rows"].as_array().unwrap().iter().map(|row| &row["source_file"]);
    assert!(files.into_iter().all(|file| file == "/src/rows.cu"));
    let column = || json!("_Z6columnPfPKfi");
    let gather = || json!("_Z6gatherIdEvPT_PKS0_PKi");
    assert_eq!(
        places(&summary, "load"),
        [
            [column(), json!("0x58"), json!("LDG.E R0, [R2]"), source(9)],
            [column(), json!("0x68"), json!("LDG.E R6, [R2+0x4]"), source(10)],
            [gather(), json!("0x38"), json!("LDG.E R4, [R4]"), source(16)],
            [gather(), json!("0x68"), json!("LDG.E.64 R2, [R2]"), source(16)],
        ]
    );
    // Stores are not decoded.
    assert_eq!(
        places(&summary, "store"),
        [
            [column(), json!("0xa8"), Value::Null, source(11)],
            [gather(), json!("0x90"), Value::Null, source(16)],
        ]
    );
}

/// Without cubins there are no such fields, and all others stay as they are.
#[test]
fn nothing_else_changes() {
    let without = json_of(&[TRACE]);
    let mut with = json_of(&[TRACE, "--cubin", CUBIN]);
    for row in with["rows"].as_array_mut().unwrap() {
        let is_load = row["kind"] == "load";
        let row = row.as_object_mut().unwrap();
        assert_eq!(row.remove("sass").is_some(), is_load);
        assert!(row.remove("source_file").is_some() && row.remove("source_line").is_some());
    }
    assert_eq!(without, with);
}

#[test]
fn text_and_page_show_both() {
    let ran = run(&["replay", TRACE, "--cubin", CUBIN]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(ran.stdout.contains("LDG.E R6, [R2+0x4]"), "{}", ran.stdout);
    assert!(ran.stdout.contains("rows.cu:10"), "{}", ran.stdout);

    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page_of = |cubins: &[&str]| {
        let mut command = warpload();
        command.args(["replay", TRACE]).args(cubins).arg("--html").arg(&page);
        succeeded(&mut command);
        fs::read_to_string(&page).unwrap()
    };
    let html = page_of(&["--cubin", CUBIN]);
    for part in ["LDG.E R6, [R2+0x4]", "rows.cu:10"] {
        assert!(html.contains(part), "{part}");
    }
    let html = page_of(&[]);
    assert!(!html.contains("LDG.E R6, [R2+0x4]") && !html.contains("rows.cu"));
}

/// A kernel that no cubin has is named once; its rows have no code.
#[test]
fn missing_kernels_are_named() {
    let ran = run(&["replay", TRACE, "--cubin", OTHER]);
    assert_eq!(ran.status, 0);
    assert_eq!(ran.stderr, "note: no cubin has `_Z6columnPfPKfi`, `_Z6gatherIdEvPT_PKS0_PKi`\n");
    let summary = json_of(&[TRACE, "--cubin", OTHER]);
    for [_, _, sass, source] in places(&summary, "load") {
        assert_eq!((sass, source), (Value::Null, Value::Null));
    }
    // Of several cubins one is enough.
    assert_eq!(run(&["replay", TRACE, "--cubin", OTHER, "--cubin", CUBIN]).stderr, "");
}

/// A cubin of another build: what does not fit is counted, and has no code.
#[test]
fn the_wrong_cubin_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("wrong.traceg");
    let text = fs::read_to_string(crate::common::file("traces/rows-kernel-1.traceg")).unwrap();
    // A control word, an instruction that is not a load, another load, and beyond the end.
    let text = text.replace("insts = 4", "insts = 7").replace(
        "0068 ",
        "0060 00000001 1 R6 LDG.E 1 R2 4 1 0x1000 0\n0050 00000001 1 R6 LDG.E 1 R2 4 1 0x1000 0\n\
         0400 00000001 1 R6 LDG.E 1 R2 4 1 0x1000 0\n0068 ",
    );
    fs::write(&trace, text.replace("R0 LDG.E 1", "R0 LDG.E.64 1")).unwrap();
    let trace = trace.to_str().unwrap();
    let ran = run(&["replay", trace, "--cubin", CUBIN]);
    assert_eq!(ran.status, 0);
    let expected = "note: of 6 program counters, 2 are not in the cubins and 2 \
                    have another opcode there";
    assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("_Z6columnPfPKfi+0x50, is LDG.E in the trace, no load in the cubin")
    );
    let summary = json_of(&[trace, "--cubin", CUBIN]);
    let known: Vec<Value> = places(&summary, "load")
        .into_iter()
        .filter(|[_, _, sass, source]| !sass.is_null() && !source.is_null())
        .map(|[_, pc, _, _]| pc)
        .collect();
    assert_eq!(known, ["0x68"]);
}

#[test]
fn what_is_not_a_cubin_is_an_error() {
    for (file, expected) in [
        ("tests/data/source-lines/rows.ptx", "not an ELF file; expected a cubin"),
        ("traces/generic.wlt", "a binary trace of warpload"),
        ("traces/missing.cubin", "cannot be read"),
        ("traces", "is a folder; expected a file"),
    ] {
        let ran = run(&["replay", TRACE, "--cubin", CUBIN, "--cubin", file]);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{file}");
        let expected = format!("error: {file}: {expected}");
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
    let ran = run(&["replay", "-", "--cubin", "-"]);
    assert_eq!(
        (ran.status, &*ran.stderr),
        (2, "error: standard input is one file; expected `-` once\n")
    );
}

/// Damaged line information is said; the SASS is there.
#[test]
fn damaged_line_information_is_a_note() {
    let mut cubin = fs::read(crate::common::file(CUBIN)).unwrap();
    // The first name is 0x18 bytes after the start of the line program, the version 4.
    let name = cubin.windows(5).position(|bytes| bytes == b"/src\0").unwrap();
    cubin[name - 0x18 + 4] = 9;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.cubin");
    fs::write(&path, cubin).unwrap();
    let ran = run(&["replay", TRACE, "--cubin", path.to_str().unwrap()]);
    assert_eq!(ran.status, 0);
    let expected = "damaged.cubin: the line information at byte offset ";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(ran.stdout.contains("LDG.E R6, [R2+0x4]"));
    assert!(!ran.stdout.contains("rows.cu"));
}

/// Shards that were replayed with the same cubins merge into the bytes of the whole; with others, or
/// without, they do not merge.
#[test]
fn shards_merge_into_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let replay = |shard: Option<&str>, cubins: &[&str]| {
        let mut command = warpload();
        command.args(["replay", TRACE, "--format", "json"]);
        command.args(shard.map(|shard| ["--shard", shard]).into_iter().flatten());
        command.args(cubins.iter().flat_map(|cubin| ["--cubin", cubin]));
        succeeded(&mut command)
    };
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let shards: Vec<String> = ["2/3", "0/3", "1/3"]
        .map(|shard| write(&shard.replace('/', "-"), replay(Some(shard), &[CUBIN])))
        .into();
    let merged = run(&[
        &["merge", "--format", "json"],
        &*shards.iter().map(|path| &**path).collect::<Vec<_>>(),
    ]
    .concat());
    assert_eq!((merged.status, &*merged.stderr), (0, ""));
    assert_eq!(merged.stdout, replay(None, &[CUBIN]));
    for cubins in [&[][..], &[OF_SM_61], &[CUBIN, OTHER]] {
        let last = write("other", replay(Some("1/3"), cubins));
        let ran = run(&["merge", &shards[0], &shards[1], &last]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("other: the summary is of a shard of another replay"));
    }
}
