//! What inputs may have many of, and the error for one too many.

use std::io::Write;

use warpload::memory::Arena;
use warpload_trace::BinaryTrace;

use crate::{access, alone, import, launch, mib};

#[test]
fn different_opcodes() {
    let _alone = alone();
    // Loads and others are numbered together.
    let lines = |count: usize| {
        move |out: &mut dyn Write| {
            for i in 0..count {
                let opcode = if i % 2 == 0 { "LDG." } else { "LDX" };
                out.write_all(access(0, &format!("{opcode}{i}")).as_bytes()).unwrap();
            }
        }
    };
    assert!(import(lines(1 << 16)).0.is_ok());
    let error = import(lines((1 << 16) + 1)).0.unwrap_err().to_string();
    let expected = "the trace: more than 65536 different memory instructions in all files";
    assert_eq!(error, expected);
}

/// Each file of a list can have a note of its own.
#[test]
fn different_notes() {
    let _alone = alone();
    let mut writer =
        warpload_trace::TraceWriter::new(std::io::Cursor::new(Vec::new()), "a test".to_owned())
            .unwrap();
    for i in 0..100_000 {
        writer.note(&i.to_string());
        writer.note("0");
    }
    let trace = BinaryTrace::new(Arena::from(writer.finish().unwrap().into_inner())).unwrap();
    let notes = &trace.contents().notes;
    assert_eq!((notes.len(), &*notes[62], &*notes[63]), (64, "62", "further notes are left out"));
}

/// A log of more launches than a trace may have, all of one kernel.
#[test]
fn too_many_launches() {
    let _alone = alone();
    let (result, peak) = import(|out| {
        for i in 0..=1 << 20 {
            out.write_all(launch(i, "k").as_bytes()).unwrap();
        }
    });
    let error = result.unwrap_err().to_string();
    assert_eq!(error, "names.zst:1048577:1: more than 1048576 launches");
    assert!(mib(peak) < 512, "{} MiB", mib(peak));
}
