//! Files that are truncated, changed, empty or of another kind: messages name the file and the place.

use std::fs;
use std::path::Path;

use crate::bad_input::{CUBIN, LISTING, checked, data, patched, run};

/// A bad file, the command that reads it, and the expected outcome.
struct Bad<'b> {
    file: &'b str,
    content: Vec<u8>,
    /// `FILE` is replaced by the file.
    arguments: &'b [&'b str],
    status: i32,
    /// What the message contains.
    message: &'b str,
    stdout: &'b str,
}

fn bad<'b>(
    file: &'b str,
    content: impl Into<Vec<u8>>,
    arguments: &'b [&'b str],
    message: &'b str,
) -> Bad<'b> {
    Bad { file, content: content.into(), arguments, status: 2, message, stdout: "" }
}

/// Writes a file; returns its path.
fn written(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("a file in a folder of our own");
    path.to_str().expect("UTF-8").to_owned()
}

/// Returns the first vector of the repository.
fn a_vector() -> serde_json::Value {
    let vectors = String::from_utf8(data("tests/data/ld-vectors.jsonl")).expect("UTF-8");
    serde_json::from_str(vectors.lines().next().expect("a vector")).expect("JSON")
}

impl Bad<'_> {
    fn check(&self, folder: &Path) {
        let path = written(folder, self.file, &self.content);
        let arguments: Vec<&str> =
            self.arguments.iter().map(|a| if *a == "FILE" { &path } else { *a }).collect();
        let (stdout, stderr) = checked(self.file, &run(&arguments), self.status);
        assert!(stderr.contains(&format!("{path}:")), "{}: no name in {stderr}", self.file);
        assert!(stderr.contains(self.message), "{}: {stderr}", self.file);
        assert_eq!(stdout, self.stdout, "{}", self.file);
    }
}

const DECODE: &[&str] = &["decode", "FILE"];
const CHECK: &[&str] = &["decode", "--check", "FILE"];
const RAW: &[&str] = &["decode", "--raw", "FILE"];
const RAW_FROM_4: &[&str] = &["decode", "--raw", "--offset", "4", "FILE"];
const RAW_FROM_8: &[&str] = &["decode", "--raw", "--offset", "8", "FILE"];
const RAW_FROM_192: &[&str] = &["decode", "--raw", "--offset", "0xc0", "FILE"];
const RUN: &[&str] = &["run", "FILE"];
const TEST: &[&str] = &["conform", "FILE"];

#[test]
fn bad_binaries() {
    let folder = tempfile::tempdir().expect("a folder");
    let cubin = data(CUBIN);
    // The file offset of a section's data is 24 bytes into its header.
    let text_absolute = 2656 + 13 * 64 + 24;
    let code = data("tests/data/cmd/absolute.bin");
    let shifted = [&code[8..], &[0; 8]].concat();
    let bit_63 = patched(&code, 64 + 7, &[0x80]);
    for bad in [
        bad("empty", "", DECODE, "the input is empty"),
        bad("header-cut", &cubin[..40], DECODE, "the ELF header at byte offset 0"),
        bad("cut", &cubin[..3000], DECODE, "at byte offset"),
        bad(
            "x86",
            patched(&cubin, 18, &[62, 0]),
            DECODE,
            "an ELF file of machine 62 without GPU code; expected a cubin",
        ),
        bad(
            "x86-of-replay",
            patched(&cubin, 18, &[62, 0]),
            &["replay", "traces/generic.wlt", "--cubin", "FILE"],
            "expected a cubin, machine 190 (`warpload images --extract` extracts the cubins",
        ),
        bad("sm71", patched(&cubin, 48, &[71]), DECODE, "code for SM 7.1"),
        bad(
            "outside",
            patched(&cubin, text_absolute, &0x10_0000u64.to_le_bytes()),
            DECODE,
            "section .text.absolute has 192 bytes at byte offset 1048576, which is outside the file",
        ),
        bad("raw-7", vec![0; 7], RAW, "7 bytes are not a whole number of 32-byte bundles"),
        bad(
            "raw-33",
            vec![0; 33],
            RAW,
            "ends at byte offset 32 (use `--offset BYTES` to say where",
        ),
        bad("raw-empty", "", RAW, "the input is empty; expected a bare stream"),
        bad(
            "raw-elf",
            cubin.clone(),
            RAW,
            "an ELF file; expected a bare stream of 32-byte bundles (omit `--raw`)",
        ),
        bad("raw-text", data(LISTING), RAW, "a bare stream of 32-byte bundles (omit `--raw`)"),
        bad("raw-fatbin", [&b"\x50\xed\x55\xba"[..], &[0; 60]].concat(), RAW, "a CUDA fatbin;"),
        bad("raw-shifted", shifted, RAW, "at byte offset 64 is not a control word: bit 63 is set"),
        bad(
            "raw-bit-63",
            bit_63,
            RAW,
            "begins with a bundle (use `--offset BYTES` to say where it",
        ),
        bad("raw-4", code.clone(), RAW_FROM_4, "byte offset 4; expected a multiple of 8"),
        bad("raw-192", code.clone(), RAW_FROM_192, "cannot begin at byte offset 192 of 192 bytes"),
        bad("raw-8", code, RAW_FROM_8, "184 bytes are not a whole number of 32-byte bundles"),
        bad("zeroes", vec![0; 64], DECODE, "or a SASS listing (use `--raw` for code without a"),
        bad("utf16", b"\xff\xfeL\0D\0", DECODE, "a text in UTF-16"),
        bad("fatbin", b"\x50\xed\x55\xba\x01\0", DECODE, "a CUDA fatbin"),
        bad("checked-cubin", cubin.clone(), CHECK, "this is not a listing"),
    ] {
        bad.check(folder.path());
    }
}

/// Every subcommand that reads text names the kind of another file in the same words.
#[test]
fn files_of_another_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts: [(&str, &[u8], &str); 7] = [
        ("a.gz", b"\x1f\x8b\x08\0", "decompress it with `gzip -d`"),
        ("a.zst", b"\x28\xb5\x2f\xfd\x04", "decompress it with `zstd -d`"),
        ("a.bz2", b"BZh91AY&SY", "decompress it with `bzip2 -d`"),
        ("lib.a", b"!<arch>\n/               0", "an archive of objects (`.a`, `.lib`)"),
        ("a.obj", b"\x64\x86\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "a COFF object (`.obj`)"),
        ("a.fatbin", b"\x50\xed\x55\xba", "a CUDA fatbin"),
        ("a.zip", b"PK\x03\x04", "extract its files with `unzip`"),
    ];
    for (file, start, message) in starts {
        let bytes = [start, &[0; 100]].concat();
        for subcommand in
            [&["decode"][..], &["run"], &["merge"], &["ptx", "check"], &["ptx", "run"], &["replay"]]
        {
            // Traces may be compressed.
            if subcommand == ["replay"] && (file == "a.gz" || file == "a.zst") {
                continue;
            }
            let arguments = [subcommand, &["FILE"]].concat();
            bad(file, bytes.clone(), &arguments, message).check(folder.path());
        }
        let stdout = "\n0 passed, 1 failed, 0 skipped\n";
        Bad { stdout, ..bad(file, bytes, TEST, message) }.check(folder.path());
    }
}

#[test]
fn a_cubin_without_code() {
    let (stdout, stderr) =
        checked("no-code", &run(&["decode", "tests/data/cmd/no-code.sm_50.cubin"]), 0);
    assert_eq!(stdout, "");
    assert!(stderr.starts_with("note: "), "{stderr}");
}

#[test]
fn bad_modules() {
    const CHECK: &[&str] = &["ptx", "check", "FILE"];
    let folder = tempfile::tempdir().expect("a folder");
    let long = format!(".version 8.8\n// {}\n", "x".repeat(1 << 25));
    for bad in [
        bad("cubin", data(CUBIN), CHECK, "a cubin, not PTX: `warpload decode` reads it"),
        bad("latin-1", b".version 8.8\n// \xe9", CHECK, "line 2, column 4 (byte offset 16)"),
        bad("long", long, CHECK, "line 2 (byte offset 13) is longer than 33554432 bytes"),
        // CRLF counts as one line end.
        bad("cut", ".version 8.8\r\n.target sm_90\r\n.entry", CHECK, "3:7"),
    ] {
        bad.check(folder.path());
    }
}

#[test]
fn bad_listings() {
    let folder = tempfile::tempdir().expect("a folder");
    let listing = data(LISTING);
    let text = String::from_utf8(listing.clone()).expect("UTF-8");
    let without_control: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("/* 0x"))
        .map(|line| format!("{line}\n"))
        .collect();
    let at = text.find("R20").expect("a register");
    let (line, column) = (text[..at].lines().count(), at - text[..at].rfind('\n').unwrap_or(0));
    let latin_1 = format!("line {line}, column {column} (byte offset {at}) is not UTF-8");
    for bad in [
        bad("prose", "LD is a load.\n", DECODE, "no SASS listing line in 1 lines"),
        bad("ptx", ".version 7.0\n.target sm_50\n", DECODE, "PTX; `warpload ptx check`"),
        bad("latin-1", patched(&listing, at, b"\xe9"), DECODE, &latin_1),
        bad(
            "short-word",
            text.replacen("/* 0x4c98078000870001 */", "/* 0x4c98 */", 1),
            DECODE,
            "line 6, column 96 (byte offset 364): expected a word",
        ),
        bad(
            "offset",
            text.replacen("/*0010*/", "/*0020*/", 1),
            DECODE,
            "invalid instruction offset 0x20",
        ),
        bad("words-missing", data("tests/data/cmd/no-words.txt"), CHECK, "this listing has none"),
        bad(
            "long",
            [b"x".repeat(1 << 21), b"\n".to_vec()].concat(),
            DECODE,
            "line 1 (byte offset 0) is longer",
        ),
    ] {
        bad.check(folder.path());
    }

    // Neither CRLF nor missing control words are errors.
    for (name, good) in [("crlf", text.replace('\n', "\r\n")), ("no-control", without_control)] {
        let path = written(folder.path(), name, good);
        let (decoded, stderr) = checked(name, &run(&["decode", &path]), 0);
        assert_eq!(stderr, "", "{name}");
        let (expected, _) = checked(name, &run(&["decode", LISTING]), 0);
        assert_eq!(decoded, expected, "{name}");
    }
    let path = folder.path().join("no-control");
    let json = ["decode", "--format", "json", path.to_str().expect("UTF-8")];
    let (decoded, _) = checked("no-control", &run(&json), 0);
    assert!(decoded.lines().all(|line| line.contains(r#""control":null"#)), "{decoded}");
}

#[test]
fn bad_vectors() {
    let folder = tempfile::tempdir().expect("a folder");
    let window = r#"{"instruction": "LD R0, [R1]", "initial": {"windows": {"shared": {"base": "0xff000000", "size": "0x10"}}}, "final": {}}"#;
    let memory = r#"{"instruction": "LD R0, [R1]", "initial": {"memory": {"global": [{"base": "0x0", "hex": "00000000"}, {"base": "0x3", "hex": "00"}]}}, "final": {}}"#;
    let pretty = "{\n  \"instruction\": \"LD R0, [R1]\",\n  \"initial\": {\"active\": 1}\n}\n";
    for bad in [
        bad("run-empty", "", RUN, "the text ends while reading a value"),
        bad("run-shape", r#"["LD R0, [R1]"]"#, RUN, ":1:"),
        bad("run-type", pretty, RUN, ":3:"),
        bad("run-windows", window, RUN, "initial.windows: the shared window"),
        bad("run-memory", memory, RUN, "initial.memory: the allocations at 0x0 and 0x3 overlap"),
        bad("run-latin-1", b"{\"name\": \"\xe9\"}", RUN, "line 1, column 11 (byte offset 10)"),
        bad(
            "run-load",
            r#"{"instruction": "LD R0, [R1 - -4]"}"#,
            RUN,
            "instruction: two minus signs",
        ),
        bad("run-long", vec![b' '; (1 << 20) + 1], RUN, "line 1 (byte offset 0) is longer"),
        bad("run-two", "{}\n{}\n", RUN, "line 2: a second vector; `--line N`"),
        Bad {
            stdout: "\n0 passed, 1 failed, 0 skipped\n",
            ..bad("test-empty", "\n", TEST, "no cases; expected one JSON object a line")
        },
        Bad {
            stdout: "\n0 passed, 1 failed, 0 skipped\n",
            ..bad("test-long", vec![b' '; (1 << 20) + 1], TEST, "line 1 (byte offset 0) is longer")
        },
    ] {
        bad.check(folder.path());
    }
    // A bad vector is a failure; the others are still checked.
    let good = r#"{"instruction": "@!PT LD R0, [R1]", "final": {}}"#.as_bytes();
    let lines = [good, window.as_bytes(), memory.as_bytes(), b"{\"name\": \"\xe9\"", good];
    let path = written(folder.path(), "vectors.jsonl", lines.join(&b'\n'));
    let (stdout, _) = checked("vectors", &run(&["conform", &path]), 2);
    for expected in [
        format!("FAIL {path}:2: a case without a name\n  not a case: initial.windows: the shared"),
        format!("FAIL {path}:3: a case without a name\n  not a case: initial.memory: the alloc"),
        format!("FAIL {path}:4: not a case\n  line 4, column 11 (byte offset"),
    ] {
        assert!(stdout.contains(&expected), "{expected}\n{stdout}");
    }
    assert!(stdout.ends_with("\n2 passed, 3 failed, 0 skipped\n"), "{stdout}");
}

#[test]
fn files_that_cannot_be_read() {
    const TRACE: &str = "traces/generic.wlt";
    for (before, after) in [
        (&["decode"][..], &[][..]),
        (&["decode", "--raw"], &[]),
        (&["run"], &[]),
        (&["show"], &[]),
        (&["import", "-o", "no-such-output"], &[]),
        (&["replay"], &[]),
        (&["replay", TRACE, "--image"], &[]),
        (&["merge"], &[]),
        (&["ptx", "check"], &[]),
        (&["ptx", "lower"], &[]),
        (&["ptx", "run"], &[]),
        (&["ptx", "loads", "tests/data/ptx/run.ptx", "--image"], &[]),
        (
            &["tmem", "run", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t];", "--memory"],
            &["--warp", "0", "--taddr", "0"],
        ),
    ] {
        let case = before.join(" ");
        for (path, message) in [("tests", "tests: "), ("no-such-file", "no-such-file")] {
            let (out, stderr) = checked(&case, &run(&[before, &[path], after].concat()), 2);
            assert!(stderr.starts_with(&format!("error: {message}")), "{case}: {stderr}");
            let folder = ["is a folder; expected a file", "a folder without traces"];
            let is_folder = folder.iter().any(|message| stderr.contains(message));
            assert!(path != "tests" || is_folder, "{case}: {stderr}");
            assert_eq!(out, "", "{case}");
        }
    }
}

/// Messages have the name of the file that was asked for, not a temporary name.
#[test]
fn files_that_cannot_be_written() {
    const MAP: &[&str] = &["tmem", "map", "16x64b", "x1", "--svg", "no-such-folder/a.svg"];
    const TO_STDOUT: &[&str] = &["replay", "no-such-trace", "--html", "-"];
    for arguments in [
        &["tmem", "map", "16x64b", "x1", "--svg", "tests"][..],
        &["import", "traces/btree-v5-kernel-1.traceg", "-o", "tests"],
        &["replay", "traces/generic.wlt", "--fill", "zero", "--html", "tests"],
    ] {
        let (_, stderr) = checked(arguments[0], &run(arguments), 2);
        assert_eq!(stderr, "error: tests: is a folder; expected the name of the file to write\n");
    }
    for (arguments, expected) in [
        (MAP, "no-such-folder/a.svg: cannot be written: "),
        (TO_STDOUT, "expected a file for the page, not `-`"),
    ] {
        let (stdout, stderr) = checked(arguments[0], &run(arguments), 2);
        assert!(stderr.contains(expected) && !stderr.contains(".warpload-"), "{stderr}");
        assert_eq!(stdout, "");
    }
    assert!(!crate::common::file("-").exists());
}

/// A failure is named even if its vector has an empty name.
#[test]
fn a_vector_without_a_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut vector = a_vector();
    vector["name"] = "".into();
    vector["final"]["fault"] = "misaligned_register".into();
    let path = written(folder.path(), "v.jsonl", format!("{vector}\n"));
    let (stdout, _) = checked("test", &run(&["conform", &path]), 1);
    assert!(stdout.starts_with(&format!("FAIL {path}:1: a case without a name\n")), "{stdout}");
}

/// A vector whose instruction has an invalid size: the message names the line that was asked for.
#[test]
fn a_vector_that_cannot_be_executed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut vector = a_vector();
    vector["instruction"] = "0xef97000000070100".into();
    let path = written(folder.path(), "v.jsonl", format!("\n{vector}\n"));
    let (stdout, stderr) = checked("run", &run(&["run", &path, "--line", "2"]), 1);
    assert!(stderr.contains(&format!("{path}:2: LDC.INVALIDSIZE7 ")), "{stderr}");
    assert_eq!(stdout, "");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), "secret.cubin", data(CUBIN));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("a mode");
    // The superuser can read it anyway.
    if fs::File::open(&path).is_ok() {
        return;
    }
    let (stdout, stderr) = checked("no permission", &run(&["decode", &path]), 2);
    assert!(stderr.contains(&format!("{path}: cannot be read: ")), "{stderr}");
    assert_eq!(stdout, "");
}

#[test]
fn standard_input_is_named() {
    for (arguments, stdout) in [
        (&["decode", "-"][..], ""),
        (&["decode", "--raw", "-"], ""),
        (&["conform", "-"], "\n0 passed, 1 failed, 0 skipped\n"),
        (&["run", "-"], ""),
    ] {
        let case = arguments.join(" ");
        let (out, stderr) = checked(&case, &run(arguments), 2);
        assert!(stderr.contains("standard input:"), "{case}: {stderr}");
        assert_eq!(out, stdout, "{case}");
    }
    // No lines are an empty batch, not an error.
    for arguments in [&["encode"][..], &["decode", "--word", "-"], &["encode", "--bundle", "-"]] {
        let case = arguments.join(" ");
        assert_eq!(checked(&case, &run(arguments), 0), Default::default(), "{case}");
    }
}

/// A single vector can span lines, up to a limit.
#[test]
fn a_vector_of_many_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = [" ".repeat((1 << 20) - 1), "\n".to_owned()].concat();
    let path = written(folder.path(), "vector.json", line.repeat(65));
    let (_, message) = checked("run", &run(&["run", &path]), 2);
    let expected = "vector.json: line 65: longer than 67108864 bytes; expected one vector";
    assert!(message.contains(expected), "{message}");
}
