//! Names from inputs in text output: shortened in tables, and never more than text.
#![allow(clippy::unwrap_used)]

use std::fs;

fn table(arguments: &[&str], file: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), text).unwrap();
    crate::common::succeeded(
        crate::common::warpload().current_dir(folder.path()).args(arguments).arg(file),
    )
}

/// Names cannot forge lines, and only text reaches the terminal.
#[test]
fn names_are_only_text() {
    let evil = "\\n2000 passed, 0 failed\\n\\u001b[31m\\u0007\\u009b\\u202e";
    let vector = format!("{{\"name\": \"{evil}\", \"instruction\": \"LD R4, [R2]\"}}");
    let access = format!(
        "{{\"trace\":{{\"version\":1,\"records\":1}}}}\n{{\"kernel\":0,\"record\":0}}\n\
         {{\"record\":0,\"kind\":\"load\",\"pc\":\"0x0\",\"opcode\":\"LDG.{evil}\",\"space\":\"global\",\
         \"bytes\":4,\"active\":\"0xffffffff\",\"addresses\":[{}]}}\n",
        ["\"0x1000\""; 32].join(",")
    );
    for (arguments, text) in
        [(&["run"][..], &vector), (&["run", "--all"], &vector), (&["replay"], &access)]
    {
        let shown = table(arguments, "input", text);
        assert!(shown.contains("\\n2000 passed"), "{shown}");
        assert!(shown.lines().all(|line| !line.starts_with("2000")), "{shown}");
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown}");
        assert!(!shown.contains('\u{202e}'), "{shown}");
    }
}

fn assert_short(table: &str) {
    assert!(table.contains('…'));
    let longest = table.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(300), "{longest:?}");
}

#[test]
fn opcodes_and_kernels_of_a_replay() {
    let long = "A".repeat(65_000);
    let trace = format!(
        "-kernel name = {long}\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
         -accelsim tracer version = 3\n#BEGIN_TB\nthread block = 0,0,0\n\
         warp = 0\ninsts = 1\n0010 00000001 1 R1 LDG.{long} 1 R2 4 0 0x100\n#END_TB\n"
    );
    assert_short(&table(&["replay"], "trace", &trace));
    assert_short(&table(&["show"], "trace", &trace));
}

#[test]
fn registers_of_ptx() {
    let long = "%".to_owned() + &"r".repeat(65_600);
    let module = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 g;\n\
         .entry k() {{ .reg .u32 {long};\nld.global.u32 {long},\n[g]; }}\n"
    );
    let shown = table(&["ptx", "loads"], "module.ptx", &module);
    let rows: String =
        shown.lines().filter(|line| !line.contains("ld.")).collect::<Vec<_>>().join("\n");
    assert_short(&rows);
}

/// JSON need not escape these, but some readers take them for line ends.
#[test]
fn line_separators_in_json() {
    let vector = "{\"name\": \"a\u{2028}b\u{2029}c\", \"instruction\": \"LD R4, [R2]\"}";
    let json = table(&["run", "--all", "--format", "json"], "input", vector);
    assert!(json.contains("a\\u2028b\\u2029c"), "{json}");
    assert!(!json.contains(['\u{2028}', '\u{2029}']), "{json}");
    assert_eq!(json.lines().count(), 1);
}

/// Messages and verdicts quote what they are about.
#[test]
fn messages_quote_only_text() {
    let evil = "\u{1b}[31m\u{7}\u{7f}\u{9b}31m\u{202e}";
    let module = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.entry k() {{ .reg .u32 r;\nld.global.u32 r{evil}, [g]; }}\n"
    );
    let trace = format!("-kernel name = k{evil}\n-grid{evil} dim = (1,1,1)\nwhat{evil}\n");
    let unknown = format!("{{\"global\":[],\"{evil}{}\":1}}", "x".repeat(1 << 20));
    let folder = tempfile::tempdir().unwrap();
    for (arguments, text) in [
        (&["ptx", "check"][..], &module),
        (&["ptx", "check", "--format", "json"], &module),
        (&["ptx", "lower"], &module),
        (&["ptx", "loads"], &module),
        (&["replay"], &trace),
        (&["show"], &unknown),
    ] {
        fs::write(folder.path().join("input"), text).unwrap();
        let mut command = crate::common::warpload();
        command.current_dir(folder.path()).args(arguments).arg("input");
        let ran = crate::common::Ran::from(command.output().unwrap());
        assert!(matches!(ran.status, 1 | 2), "{arguments:?}: {}", ran.stderr);
        for shown in [&ran.stdout, &ran.stderr] {
            let is_raw = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!shown.contains(is_raw), "{arguments:?}: {shown:?}");
            assert!(shown.len() < 1 << 14, "{arguments:?}: {} bytes", shown.len());
        }
    }
}

/// File systems of Windows have no such names.
#[cfg(unix)]
#[test]
fn names_of_files_are_only_text() {
    let evil = "a\u{1b}[31m\u{7}\n\u{9b}31m\u{202e}";
    for (arguments, file) in [
        (&["decode"][..], "tests/data/listings/chase.sm_50.cubin"),
        (&["images"], "tests/data/fatbins/plain.fatbin"),
        (&["stats"], "tests/data/listings/chase.sm_50.cubin"),
        (&["conform"], "tests/data/cmd/several.jsonl"),
        (&["run"], "tests/data/cmd/several.jsonl"),
        (&["conform", "--command", "cat"], "vectors/v1/decode/illegal.jsonl"),
        (&["ptx", "check"], "tests/data/ptx/legal.ptx"),
        (&["ptx", "lower"], "tests/data/ptx/legal.ptx"),
        (&["ptx", "loads"], "tests/data/ptx/legal.ptx"),
        (&["conform"], "tests/data/cmd/tmem-cases.jsonl"),
        (&["show"], "traces/generic.wlt"),
        (&["replay"], "traces/rows-kernel-1.traceg"),
        (&["replay"], "tests/data/ptx/legal.ptx"),
        (&["merge"], "tests/data/cmd/shard-0.json"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(crate::common::file(file), folder.path().join(evil)).unwrap();
        let mut command = crate::common::warpload();
        command.current_dir(folder.path()).args(arguments).arg(evil);
        let ran = crate::common::Ran::from(command.output().unwrap());
        for shown in [&ran.stdout, &ran.stderr] {
            let is_raw = |c: char| !matches!(c, '\n' | '\t') && c.is_control() || c == '\u{202e}';
            assert!(!shown.contains(is_raw), "{arguments:?}: {shown:?}");
        }
    }
}
