//! A system that starts no further thread: less is done at the same time, or an error says so.

use std::fs;

use crate::common::{ROOT, Ran};
use crate::trace::command::names;
use crate::traces::grouped;

/// Returns what the command does with this much address space, in KiB.
fn with_memory(kib: u32, arguments: &[&str]) -> Ran {
    let script = format!("ulimit -c 0; ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_warpload")]).args(arguments);
    command.current_dir(ROOT).output().unwrap().into()
}

/// The least memory with which the program starts depends on how it is built, so all is tried from too
/// little to enough.
#[cfg(target_os = "linux")]
#[test]
fn no_memory_for_threads_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("trace"), grouped(5, "", &["0010 00000001 0 LDG 0 4 0 0x1 0"])).unwrap();
    fs::write(at("list.g"), "trace\n".repeat(6)).unwrap();
    let mut done = 0;
    for arguments in [
        &["import", &at("list.g"), "-o", &at("out")][..],
        &["decode", "--list", "tests/data/fatbins/plain.fatbin"],
        &["replay", "traces/vecadd-v3-sm61-head.trace.xz", "--fill", "zero"],
        &["replay", "tests/data/traces2/v6.tracez", "--fill", "zero"],
    ] {
        for kib in (8_000..64_000).step_by(1_000) {
            let ran = with_memory(kib, arguments);
            assert!(!ran.stderr.contains("panicked"), "{kib} KiB: {arguments:?}: {}", ran.stderr);
            assert_ne!(ran.status, 101, "{kib} KiB: {arguments:?}");
            if ran.status == 0 {
                done += 1;
            } else {
                assert_eq!(names(folder.path()), ["list.g", "trace"], "{kib} KiB: {arguments:?}");
            }
            let _ = fs::remove_file(at("out"));
        }
    }
    assert!(done > 5, "{done} runs had enough memory");
}
