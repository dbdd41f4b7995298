//! Sessions with many questions or cases: memory does not grow with their number.

#![cfg(target_os = "linux")]

use std::io::{BufWriter, Read, Write};
use std::process::Stdio;
use std::thread;

use tempfile::tempdir;

use crate::common::warpload;

/// Questions of all families that need no file, and a vector.
const QUESTIONS: [&str; 6] = [
    r#"{"instruction":"LD R4, [R2]","initial":{"memory":{"global":[{"base":"0x0","hex":"01020304"}]}}}"#,
    r#"{"family":"decode","sm":"50","word":"0x9c90000123470200"}"#,
    r#"{"family":"encode","sm":"80","text":"LDG.E R0, [R2.64+0x10]"}"#,
    r#"{"family":"encode","sm":"80","text":"nothing"}"#,
    r#"{"family":"decode","sm":"90"}"#,
    r#"{"family":"coalescing","opcode":"LDS","bytes":4,"space":"shared","active":"0x1","addresses":["0x0",null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]}"#,
];

/// Returns the most memory in KiB that a command has held after `few` and after `many` lines of its standard input. A
/// pipe holds the last of them when it is asked.
fn peaks(arguments: &[&str], line: impl Fn(usize) -> String, few: usize, many: usize) -> [u64; 2] {
    let mut command = warpload();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = BufWriter::new(child.stdin.take().unwrap());
    let mut stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut buffer = [0; 1 << 14];
        while stdout.read(&mut buffer).unwrap() > 0 {}
    });
    let status = format!("/proc/{}/status", child.id());
    let mut peak = |lines: std::ops::Range<usize>| -> u64 {
        lines.for_each(|number| writeln!(stdin, "{}", line(number)).unwrap());
        stdin.flush().unwrap();
        let status = std::fs::read_to_string(&status).unwrap();
        let row = status.lines().find_map(|row| row.strip_prefix("VmHWM:")).unwrap();
        row.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let peaks = [peak(0..few), peak(few..many)];
    drop(stdin);
    reader.join().unwrap();
    child.wait().unwrap();
    peaks
}

/// Less than a megabyte more, which is what the allocator may do.
fn assert_same([few, many]: [u64; 2]) {
    assert!(many < few + 1024, "{few} KiB, and then {many} KiB");
}

#[test]
fn a_session_of_100_000_questions_does_not_grow() {
    let question = |number: usize| QUESTIONS[number % QUESTIONS.len()].to_owned();
    assert_same(peaks(&["conform", "--serve"], question, 1_000, 100_000));
}

#[test]
fn filled_in_vectors_and_reports_are_written_as_they_come() {
    let folder = tempdir().unwrap();
    let to = folder.path().join("out");
    let vector = |number: usize| {
        let question = QUESTIONS[0].strip_prefix('{').unwrap();
        format!(r#"{{"name":"{number:1000}",{question}"#)
    };
    let to = to.to_str().unwrap();
    // 11 MB of vectors.
    assert_same(peaks(&["vectors", "fill-in", "-", "-o", to], vector, 1_000, 10_000));
    assert!(std::fs::metadata(to).unwrap().len() > 11_000_000);
    let wrong = r#"sh -c 'while read -r line; do echo "{\"registers\":{\"R9\":\"wrong\"}}"; done'"#;
    let case = |number: usize| {
        vector(number).strip_suffix('}').unwrap().to_owned() + r#","final":{"registers":{}}}"#
    };
    for format in ["json", "junit"] {
        let conform = ["conform", "--command", wrong, "--format", format, "-o", to, "-"];
        // 1,024 cases are judged together.
        assert_same(peaks(&conform, case, 4_000, 10_000));
        assert!(std::fs::metadata(to).unwrap().len() > 10_000_000);
    }
}
