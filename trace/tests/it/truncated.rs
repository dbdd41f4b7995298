//! Text traces that are cut off: refused, or their notes say that it is unknown.

use std::path::Path;

use crate::random::Random;
use crate::samples::open;
use crate::samples::{import_bytes, import_file};

/// Cuts a trace at random places. Returns how many of the cuts went unnoticed.
fn cut(name: &str, cuts: u32) -> u32 {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
    let whole = std::fs::read(&path).unwrap();
    let loads = open(&import_file(&path, 1).unwrap()).loads();
    let mut random = Random(u64::from(cuts));
    let mut unknown = 0;
    for _ in 0..cuts {
        let length = random.below(whole.len());
        let Ok(trace) = import_bytes(&whole[..length]) else { continue };
        let trace = open(&trace);
        let is_whole = whole[length..].trim_ascii().is_empty() && trace.loads() == loads;
        let contents = trace.contents();
        let is_said = !contents.complete
            && contents
                .notes
                .iter()
                .any(|note| note.contains("whole") || note.contains("it may be cut off"));
        assert!(is_said || is_whole, "{name} cut at {length}: {contents:?}");
        unknown += u32::from(!is_whole);
    }
    unknown
}

#[test]
fn a_grouped_trace_is_never_cut_silently() {
    assert_eq!(cut("traces/bfs-v3-kernel-14.traceg", 500), 0);
}

/// What follows a thread block may be missing: the grid shows it.
#[test]
fn a_grouped_trace_between_thread_blocks() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("traces/bfs-v3-kernel-14.traceg");
    let whole = std::fs::read_to_string(path).unwrap();
    let imported = |text: &str| open(&import_bytes(text).unwrap()).contents().clone();
    let ends = whole.match_indices("#END_TB\n").map(|(at, mark)| at + mark.len());
    let mut blocks = 0;
    for end in ends {
        blocks += 1;
        let contents = imported(&whole[..end]);
        assert_eq!(contents.complete, blocks == 8, "{blocks} blocks");
        let expected =
            "whether the source is whole is unknown: thread blocks of its grid are missing";
        let is_noted = contents.notes.iter().any(|note| note == expected);
        assert_eq!(is_noted, blocks < 8, "{blocks} blocks");
    }
    assert_eq!(blocks, 8);
}

#[test]
fn an_ungrouped_trace_says_that_it_cannot_be_told() {
    // Every line's end is such a place.
    assert!(cut("tests/independent/handwritten.trace", 500) > 0);
}

#[test]
fn a_log_says_that_it_cannot_be_told() {
    assert!(cut("tests/independent/handwritten-memtrace.log", 500) > 0);
}
