//! Bad inputs through the real command: the exit status, a message that names the file and the
//! place, nothing on standard output that looks like success, never a panic.

#![cfg(feature = "cli")]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const CUBIN: &str = "tests/data/listings/chase.sm_50.cubin";
const LISTING: &str = "tests/data/listings/gather.sm_50.cuobjdump.txt";

fn warpload(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpload"));
    command.args(arguments).stdin(Stdio::null());
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &[&str]) -> Output {
    warpload(arguments).output().expect("the command starts")
}

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn patched(data: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data[at..at + new.len()].copy_from_slice(new);
    data
}

/// What the command wrote, with its exit status checked.
fn checked(case: &str, output: &Output, status: i32) -> (String, String) {
    let stdout = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let stderr = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(status), "{case}\n{stdout}{stderr}");
    assert!(!stderr.contains("panicked"), "{case}: {stderr}");
    for text in [&stdout, &stderr] {
        assert!(!text.contains('\x1b'), "{case}: an escape sequence without a terminal: {text:?}");
    }
    (stdout, stderr)
}

/// One bad file, what is done with it, and what is said.
struct Bad<'b> {
    file: &'b str,
    content: Vec<u8>,
    /// `FILE` stands for the file.
    arguments: &'b [&'b str],
    status: i32,
    /// In the message behind the file's name.
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

impl Bad<'_> {
    fn check(&self, folder: &Path) {
        let path = folder.join(self.file);
        fs::write(&path, &self.content).expect("a file in a folder of our own");
        let path = path.to_str().expect("UTF-8");
        let arguments: Vec<&str> =
            self.arguments.iter().map(|a| if *a == "FILE" { path } else { a }).collect();
        let (stdout, stderr) = checked(self.file, &run(&arguments), self.status);
        assert!(stderr.contains(&format!("{path}:")), "{}: no name in {stderr}", self.file);
        assert!(stderr.contains(self.message), "{}: {stderr}", self.file);
        assert_eq!(stdout, self.stdout, "{}", self.file);
    }
}

const DECODE: &[&str] = &["decode", "FILE"];
const CHECK: &[&str] = &["decode", "--check", "FILE"];
const RAW: &[&str] = &["decode", "--raw", "FILE"];
const RUN: &[&str] = &["run", "FILE"];
const TEST: &[&str] = &["test", "FILE"];

#[test]
fn bad_binaries() {
    let folder = tempfile::tempdir().expect("a folder");
    let cubin = data(CUBIN);
    // The file offset of a section's data stands 24 bytes into its header.
    let text_absolute = 2656 + 13 * 64 + 24;
    for bad in [
        bad("empty", "", DECODE, "the input is empty"),
        bad("header-cut", &cubin[..40], DECODE, "the ELF header at byte offset 0"),
        bad("cut", &cubin[..3000], DECODE, "at byte offset"),
        bad(
            "x86",
            patched(&cubin, 18, &[62, 0]),
            DECODE,
            "machine 62; expected a cubin, machine 190",
        ),
        bad("sm70", patched(&cubin, 48, &[70]), DECODE, "code for SM 7.0"),
        bad(
            "outside",
            patched(&cubin, text_absolute, &0x10_0000u64.to_le_bytes()),
            DECODE,
            "section .text.absolute has 192 bytes at byte offset 1048576, which is outside the file",
        ),
        bad("raw-7", vec![0; 7], RAW, "7 bytes are no whole number of 32-byte bundles"),
        bad("raw-33", vec![0; 33], RAW, "the last whole one ends at byte offset 32"),
        bad("raw-empty", "", RAW, "the input is empty"),
        bad("zeroes", vec![0; 64], DECODE, "expected a cubin or a SASS listing"),
        bad("utf16", b"\xff\xfeL\0D\0", DECODE, "a text in UTF-16"),
        bad("fatbin", b"\x50\xed\x55\xba\x01\0", DECODE, "a CUDA fatbin"),
        bad("checked-cubin", cubin.clone(), CHECK, "this is no listing"),
    ] {
        bad.check(folder.path());
    }
}

#[test]
fn bad_modules() {
    const CHECK: &[&str] = &["ptx", "check", "FILE"];
    let folder = tempfile::tempdir().expect("a folder");
    let long = format!(".version 8.8\n// {}\n", "x".repeat(1 << 20));
    for bad in [
        bad("cubin", data(CUBIN), CHECK, "an ELF file; `warpload decode` reads cubins"),
        bad("latin-1", b".version 8.8\n// \xe9", CHECK, "line 2, column 4 (byte offset 16)"),
        bad("long", long, CHECK, "line 2 (byte offset 13) is longer than 1048576 bytes"),
        // Line ends are counted as written, also where they have two bytes.
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
        bad("ptx", ".version 7.0\n.target sm_50\n", DECODE, "line 1 is PTX; expected SASS"),
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
            "no instruction can stand at offset 0x20",
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
        let path = folder.path().join(name);
        fs::write(&path, good).expect("a file");
        let (decoded, stderr) = checked(name, &run(&["decode", path.to_str().expect("UTF-8")]), 0);
        assert_eq!(stderr, "", "{name}");
        let (expected, _) = checked(name, &run(&["decode", LISTING]), 0);
        assert_eq!(decoded, expected, "{name}");
    }
    let path = folder.path().join("no-control");
    let json = ["decode", "--format", "json", path.to_str().expect("UTF-8")];
    let (decoded, _) = checked("no-control", &run(&json), 0);
    assert!(decoded.lines().all(|line| line.ends_with(r#""control":null}"#)), "{decoded}");
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
            stdout: "0 passed, 1 failed\n",
            ..bad("test-empty", "\n", TEST, "no vectors; expected one JSON object a line")
        },
        Bad {
            stdout: "0 passed, 1 failed\n",
            ..bad("test-long", vec![b' '; (1 << 20) + 1], TEST, "line 1 (byte offset 0) is longer")
        },
    ] {
        bad.check(folder.path());
    }
    // What is wrong with one vector is a result; the others are checked all the same.
    let path = folder.path().join("vectors.jsonl");
    let good = r#"{"instruction": "@!PT LD R0, [R1]", "final": {}}"#;
    let lines = [good, window, memory, "{\"name\": \"\u{e9}\"", good].join("\n");
    fs::write(&path, lines.replace('\u{e9}', "?")).expect("a file");
    let mut bytes = fs::read(&path).expect("the file");
    let at = bytes.iter().rposition(|byte| *byte == b'?').expect("there is one");
    bytes[at] = 0xe9;
    fs::write(&path, bytes).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let (stdout, _) = checked("vectors", &run(&["test", path]), 1);
    for expected in [
        format!("FAIL {path}:2: not a vector\n  initial.windows: the shared window"),
        format!("FAIL {path}:3: not a vector\n  initial.memory: the allocations"),
        format!("FAIL {path}:4: not a vector\n  line 4, column 11 (byte offset"),
    ] {
        assert!(stdout.contains(&expected), "{expected}\n{stdout}");
    }
    assert!(stdout.ends_with("\n2 passed, 3 failed\n"), "{stdout}");
}

#[test]
fn files_that_cannot_be_read() {
    for (subcommand, stdout) in [("decode", ""), ("run", ""), ("test", "0 passed, 1 failed\n")] {
        for (path, message) in
            [("tests", "tests: is a folder; expected a file"), ("no-such-file", "no-such-file: ")]
        {
            let (out, stderr) = checked(subcommand, &run(&[subcommand, path]), 2);
            assert!(stderr.contains(message), "{subcommand}: {stderr}");
            assert_eq!(out, stdout, "{subcommand}");
        }
    }
}

/// What cannot be written is named as it was asked for, without the temporary name.
#[test]
fn files_that_cannot_be_written() {
    const MAP: &[&str] = &["tmem", "map", "16x64b", "x1", "--svg", "no-such-folder/a.svg"];
    const TO_STDOUT: &[&str] = &["replay", "no-such-trace", "--html", "-"];
    let (stdout, stderr) = checked("tmem map", &run(MAP), 2);
    assert!(stderr.contains("no-such-folder/a.svg: cannot be written: "), "{stderr}");
    assert!(!stderr.contains(".warpload-"), "{stderr}");
    assert_eq!(stdout, "");
    let (stdout, stderr) = checked("replay", &run(TO_STDOUT), 2);
    assert!(stderr.contains("expected a file for the page, not `-`"), "{stderr}");
    assert_eq!(stdout, "");
    assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join("-").exists());
}

/// A failure is named also where its vector has an empty name.
#[test]
fn a_vector_without_a_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("v.jsonl");
    let vectors = String::from_utf8(data("tests/data/ld-vectors.jsonl")).expect("UTF-8");
    let mut vector: serde_json::Value =
        serde_json::from_str(vectors.lines().next().expect("a vector")).expect("JSON");
    vector["name"] = "".into();
    vector["final"]["fault"] = "misaligned_register".into();
    fs::write(&path, format!("{vector}\n")).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let (stdout, _) = checked("test", &run(&["test", path]), 1);
    assert!(stdout.starts_with(&format!("FAIL {path}:1: a vector without a name\n")), "{stdout}");
}

/// A vector whose instruction encodes no size: its line is named where it was asked for.
#[test]
fn a_vector_that_cannot_be_executed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("v.jsonl");
    let vectors = String::from_utf8(data("tests/data/ld-vectors.jsonl")).expect("UTF-8");
    let mut vector: serde_json::Value =
        serde_json::from_str(vectors.lines().next().expect("a vector")).expect("JSON");
    vector["instruction"] = "0xef97000000070100".into();
    fs::write(&path, format!("\n{vector}\n")).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let (stdout, stderr) = checked("run", &run(&["run", path, "--line", "2"]), 1);
    assert!(stderr.contains(&format!("{path}:2: LDC.INVALIDSIZE7 ")), "{stderr}");
    assert_eq!(stdout, "");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("secret.cubin");
    fs::write(&path, data(CUBIN)).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("a mode");
    // The superuser reads it all the same.
    if fs::File::open(&path).is_ok() {
        return;
    }
    let path = path.to_str().expect("UTF-8");
    let (stdout, stderr) = checked("no permission", &run(&["decode", path]), 2);
    assert!(stderr.contains(&format!("{path}: cannot be read: ")), "{stderr}");
    assert_eq!(stdout, "");
}

#[test]
fn standard_input_is_named() {
    for (arguments, stdout) in [
        (&["decode", "-"][..], ""),
        (&["decode", "--raw", "-"], ""),
        (&["test", "-"], "0 passed, 1 failed\n"),
        (&["run", "-"], ""),
    ] {
        let case = arguments.join(" ");
        let (out, stderr) = checked(&case, &run(arguments), 2);
        assert!(stderr.contains("standard input:"), "{case}: {stderr}");
        assert_eq!(out, stdout, "{case}");
    }
    // No lines are no words, which is an empty batch.
    for arguments in [&["encode"][..], &["decode", "--word", "-"], &["encode", "--bundle", "-"]] {
        let case = arguments.join(" ");
        assert_eq!(checked(&case, &run(arguments), 0), Default::default(), "{case}");
    }
}

fn spawn(arguments: &[&str]) -> Child {
    let mut command = warpload(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// A line without end is refused after its first mebibyte, by whichever subcommand reads lines.
#[test]
fn an_endless_line() {
    const OFFERED: usize = 2 << 30;
    const TAKEN: usize = 64 << 20;

    for (arguments, stdout) in [
        (&["decode", "-"][..], ""),
        (&["decode", "--word", "-"], ""),
        (&["encode"], ""),
        (&["encode", "--bundle"], ""),
        (&["run", "-"], ""),
        (&["run", "-", "--line", "2"], ""),
        (&["test", "-"], "0 passed, 1 failed\n"),
        (&["ptx", "check", "-"], ""),
        (&["ptx", "lower", "-"], ""),
    ] {
        let case = arguments.join(" ");
        let mut child = spawn(arguments);
        let mut stdin = child.stdin.take().expect("piped");
        let writer = std::thread::spawn(move || {
            let chunk = vec![b'x'; 1 << 16];
            let mut written = 0;
            while written < OFFERED {
                match stdin.write_all(&chunk) {
                    Ok(()) => written += chunk.len(),
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                    Err(error) => panic!("{error}"),
                }
            }
            written
        });
        let output = child.wait_with_output().expect("the command ends");
        let written = writer.join().expect("the writer ends");
        let (out, stderr) = checked(&case, &output, 2);
        assert!(written < TAKEN, "{case}: {written} bytes taken");
        let expected = "standard input: line 1 (byte offset 0) is longer than 1048576 bytes";
        assert!(stderr.contains(expected), "{case}: {stderr}");
        assert_eq!(out, stdout, "{case}");
    }
}

/// `decode … | head -1`: the reader has seen enough, which is no error.
#[test]
fn a_closed_pipe_is_quiet() {
    let many = ["tests/data/listings/maxas-all-sm50.txt"; 400];
    let decode: Vec<&str> = ["decode"].into_iter().chain(many).collect();
    let words: Vec<&str> = ["decode", "--format", "json", "--word"]
        .into_iter()
        .chain(["0x9c90000123470200"; 1500])
        .collect();
    for arguments in [&decode[..], &words] {
        let mut child = spawn(arguments);
        drop(child.stdin.take());
        let mut stdout = child.stdout.take().expect("piped");
        stdout.read_exact(&mut [0; 1]).expect("it writes");
        drop(stdout);
        let output = child.wait_with_output().expect("the command ends");
        let (_, stderr) = checked(arguments[0], &output, 0);
        assert_eq!(stderr, "");
    }
    // Nor is it one where nobody ever listens.
    let mut child = spawn(&["man"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(checked("man", &output, 0).1, "");
}

/// A full disk is the output's fault, not the input's, and is said once.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    for arguments in
        [&["man"][..], &["decode", CUBIN, CUBIN], &["test", "tests/data/cmd/pass.jsonl"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = warpload(arguments).stdout(full).output().expect("the command starts");
        let (_, stderr) = checked(arguments[0], &output, 2);
        assert!(stderr.starts_with("error: standard output cannot be written: "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn no_colour_without_a_terminal() {
    let arguments = ["encode", "LD R255, [R1]"];
    let expected = checked("plain", &run(&arguments), 1);
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("COLUMNS", "20")] {
        let output = warpload(&arguments).env(name, value).output().expect("it starts");
        assert_eq!(checked(name, &output, 1), expected, "{name}");
    }
    // Even where colour is asked for, NO_COLOR has the last word.
    let mut forced = warpload(&arguments);
    forced.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert_eq!(checked("both", &forced.output().expect("it starts"), 1), expected);
}

#[test]
fn progress_is_on_standard_error() {
    let (expected, quiet) = checked("auto", &run(&["decode", CUBIN]), 0);
    assert_eq!(quiet, "");
    for (when, is_drawn) in [("never", false), ("auto", false), ("always", true)] {
        let output = run(&["decode", CUBIN, "--progress", when]);
        let (stdout, stderr) = checked(when, &output, 0);
        assert_eq!(stdout, expected, "{when}");
        assert_eq!(stderr.contains(CUBIN), is_drawn, "{when}: {stderr}");
        assert_eq!(stderr.is_empty(), !is_drawn, "{when}: {stderr}");
    }
}

/// Every line of `--format json` is JSON, on failure too.
#[test]
fn json_is_json() {
    for (arguments, status) in [
        (&["decode", CUBIN][..], 0),
        (&["decode", "--check", "tests/data/cmd/changed.cuobjdump.txt"], 1),
        (&["decode", "--word", "0x9c90000123470200", "0x0", "\"\\\u{1}"], 1),
        (&["encode", "LD R0, [R1]", "LD \"R0\\"], 1),
        (&["encode", "--bundle", "LD R0, [R1]", "LD"], 1),
        (&["explain", "LD R0, [R1]"], 0),
        (&["test", "tests/data/cmd/fail.jsonl", "tests/data/cmd/malformed.jsonl", "missing"], 2),
        (&["run", "tests/data/cmd/one.json"], 0),
    ] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let case = arguments.join(" ");
        let (stdout, _) = checked(&case, &run(&arguments), status);
        assert_ne!(stdout, "", "{case}");
        for line in stdout.lines() {
            let value = serde_json::from_str::<serde_json::Value>(line);
            assert!(
                value.is_ok_and(|value| value.is_object() || value.is_null()),
                "{case}: {line}"
            );
        }
    }
}

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (script, stderr) = checked(shell, &run(&["completions", shell]), 0);
        assert_eq!(stderr, "");
        for name in ["decode", "encode", "explain", "test", "run", "--control", "--executor"] {
            let name = name.trim_start_matches("--");
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}
