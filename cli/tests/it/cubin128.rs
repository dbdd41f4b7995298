//! `replay --cubin` with a cubin of words of 128 bits, and a trace of its kernel that was made up.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fs;

use crate::common::{Ran, succeeded, warpload};
use serde_json::Value;

const CUBIN: &str = "tests/data/listings128/sweep.sm80.cubin";

/// A warp that executes instructions of `sweep` on SM 8.0: loads of several kinds, and a store.
const TRACE: &str = "\
-kernel name = sweep
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 32
-binary version = 80
-cuda stream id = 0
-shmem base_addr = 0x00007f32f1000000
-local mem base_addr = 0x00007f32ef000000
-nvbit version = 1.5.3
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 7
0070 ffffffff 1 R4 LDG.E.128.STRONG.SYS 1 R28 16 1 0x7f3290000000 256
0180 ffffffff 1 R21 LDG.E.CONSTANT 1 R28 4 1 0x7f3290000068 256
01c0 ffffffff 1 R8 LD.E.128 1 R28 16 1 0x7f3290000090 256
0230 ffffffff 1 R16 LDG.E.EL.LTC128B.128 1 R28 16 1 0x7f32900000a0 256
0310 ffffffff 1 R8 LDG.E.LTC256B.64 1 R28 8 1 0x7f32900000b0 256
0460 ffffffff 0 STG.E 2 R20 R3 4 1 0x7f3291000000 4
0470 ffffffff 0 EXIT 0 0

#END_TB
";

const ROWS: [(&str, &str); 5] = [
    ("0x70", "LDG.E.128.STRONG.SYS R4, [R28.64+0x50]"),
    ("0x180", "LDG.E.CONSTANT R21, [R28.64+0x68]"),
    ("0x1c0", "LD.E.128 R8, [R28.64+0x90]"),
    ("0x230", "LDG.E.EL.LTC128B.128 R16, [R28.64+0xa0]"),
    ("0x310", "LDG.E.LTC256B.64 R8, desc[UR6][R28.64+0xb0]"),
];

/// A trace in a file of its own.
fn trace(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep.traceg");
    fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap().to_owned();
    (folder, name)
}

fn replay(trace: &str, more: &[&str]) -> Ran {
    let mut command = warpload();
    command.args(["replay", trace, "--cubin", CUBIN]).args(more);
    command.output().unwrap().into()
}

fn sass(trace: &str, kind: &str) -> Vec<(String, Value)> {
    let summary: Value =
        serde_json::from_str(&replay(trace, &["--format", "json"]).stdout).unwrap();
    let rows = summary["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == kind);
    rows.map(|row| (row["pc"].as_str().unwrap().to_owned(), row["sass"].clone())).collect()
}

#[test]
fn every_format_has_the_loads() {
    let (folder, trace) = trace(TRACE);
    assert_eq!(sass(&trace, "load"), ROWS.map(|(pc, sass)| (pc.to_owned(), sass.into())));
    // Stores are not decoded.
    assert_eq!(sass(&trace, "store"), [("0x460".to_owned(), Value::Null)]);

    let page = folder.path().join("page.html");
    let mut command = warpload();
    command.args(["replay", &trace, "--cubin", CUBIN, "--html"]).arg(&page);
    let text = succeeded(&mut command);
    let page = fs::read_to_string(page).unwrap();
    let table = replay(&trace, &["--format", "csv"]).stdout;
    for (_, sass) in ROWS {
        assert!(text.contains(sass) && page.contains(sass), "{sass}");
        let field = if sass.contains(',') { format!("\"{sass}\"") } else { sass.to_owned() };
        assert!(table.contains(&field), "{sass}: {table}");
    }
    assert_eq!(replay(&trace, &[]).stderr, "");
}

/// A trace of another build: what the cubin has there is said.
#[test]
fn another_opcode_is_said() {
    let text = TRACE.replace("R21 LDG.E.CONSTANT", "R21 LDG.E.SYS");
    let (_folder, trace) = trace(&text);
    let ran = replay(&trace, &[]);
    assert_eq!(ran.status, 0);
    for part in [
        "0 are not in the cubins and 1 have another opcode there",
        "sweep+0x180, is LDG.E.SYS in the trace, LDG.E.CONSTANT in the cubin",
    ] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let known = sass(&trace, "load").into_iter().filter(|(_, sass)| !sass.is_null());
    let known: Vec<String> = known.map(|(pc, _)| pc).collect();
    assert_eq!(known, ["0x70", "0x1c0", "0x230", "0x310"]);
    // A load where the cubin has a branch, and one within an instruction.
    let text = TRACE.replace("0180 ", "0480 ").replace("0070 ", "0078 ");
    let (_folder, trace) = self::trace(&text);
    let expected = "1 are not in the cubins and 1 have another opcode there";
    let ran = replay(&trace, &[]);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}
