//! What inputs may have many of, and what is said of one too many.

use std::io::Write;

use warpload::memory::Arena;
use warpload::ptx::{check, read};
use warpload::trace::BinaryTrace;

use crate::{access, alone, import};

/// The messages about the loads of a kernel with these statements.
fn messages(body: &str) -> Vec<String> {
    let source = format!(".version 8.8\n.target sm_90\n.entry k() {{ {body} }}");
    let module = read(&source).unwrap();
    let verdicts: Vec<_> = check(&module).collect();
    let violations = verdicts.iter().flat_map(|verdict| &verdict.violations);
    violations.map(|violation| violation.message.clone()).collect()
}

#[test]
fn parts_of_a_load() {
    let load = |qualifiers: usize, elements: usize, operands: usize| {
        messages(&format!(
            "ld{} {{{}}}{};",
            ".weak".repeat(qualifiers),
            vec!["a"; elements].join(","),
            ", [a]".repeat(operands - 1)
        ))
    };
    let says =
        |messages: &[String], what: &str| messages.iter().any(|message| message.contains(what));
    for (most, one_more, expected) in [
        (load(64, 1, 2), load(65, 1, 2), "fewer qualifiers"),
        (load(1, 1024, 2), load(1, 1025, 2), "fewer elements"),
        (load(1, 1, 1024), load(1, 1, 1025), "fewer operands"),
    ] {
        assert!(!says(&most, expected), "{most:?}");
        assert!(says(&one_more, expected), "{one_more:?}");
    }
}

#[test]
fn different_opcodes() {
    let _alone = alone();
    for (opcode, expected) in [
        ("LDG.", "the trace: more than 65536 different loads in all files"),
        (
            "LDX",
            "the trace: more than 65536 different instructions that are not replayed in all files",
        ),
    ] {
        let lines = |count: usize| {
            move |out: &mut dyn Write| {
                for i in 0..count {
                    out.write_all(access(0, &format!("{opcode}{i}")).as_bytes()).unwrap();
                }
            }
        };
        assert!(import(lines(1 << 16)).0.is_ok());
        assert_eq!(import(lines((1 << 16) + 1)).0.unwrap_err().to_string(), expected);
    }
}

/// Each file of a list can have a note of its own.
#[test]
fn different_notes() {
    let _alone = alone();
    let mut writer =
        warpload::trace::TraceWriter::new(std::io::Cursor::new(Vec::new()), "a test".to_owned())
            .unwrap();
    for i in 0..100_000 {
        writer.note(&i.to_string());
        writer.note("0");
    }
    let trace = BinaryTrace::new(Arena::from(writer.finish().unwrap().into_inner())).unwrap();
    let notes = &trace.contents().notes;
    assert_eq!((notes.len(), &*notes[62], &*notes[63]), (64, "62", "further notes are left out"));
}

/// The one vector of a file can be laid out over lines.
#[test]
#[cfg(feature = "cli")]
fn a_vector_of_many_lines() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vector.json");
    let mut line = vec![b' '; (1 << 20) - 1];
    line.push(b'\n');
    std::fs::write(&path, line.repeat(65)).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpload"));
    let output = command.arg("run").arg(&path).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = "vector.json: line 65: longer than 67108864 bytes; expected one vector";
    assert!(message.contains(expected), "{message}");
}
