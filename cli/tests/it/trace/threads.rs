//! A system that starts no further thread, or one without memory: less is done at the same time, or an error says so.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{ROOT, Ran};
use crate::trace::command::names;
use crate::traces::grouped;

/// Stands before the system's functions, as limits on memory and threads would: a limit that lets the program start and
/// then refuses a certain thread depends on how the program is built, and a limit on threads does not apply to root.
const SYSTEM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int started;
static int is_first(void) { return getpid() == gettid(); }
static int is_set(const char *name) { return getenv(name) != NULL; }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with) {
    const char *most = getenv("MOST_THREADS");
    if (most && __sync_fetch_and_add(&started, 1) >= atoi(most)) return EAGAIN;
    return ((typeof(pthread_create) *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, with);
}

void *mmap64(void *at, size_t size, int access, int flags, int file, off_t offset) {
    if (is_set("THREADS_GET_NO_STACK") && !is_first()) { errno = ENOMEM; return (void *)-1; }
    return ((typeof(mmap64) *)dlsym(RTLD_NEXT, "mmap64"))(at, size, access, flags, file, offset);
}

void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
    return mmap64(at, size, access, flags, file, offset);
}
"#;

/// The commands that start threads: for signals, for an import, and pools.
const COMMANDS: [&[&str]; 4] = [
    &["import", "LIST", "-o", "OUT"],
    &["images", "tests/data/fatbins/plain.fatbin"],
    &["replay", "traces/vecadd-v3-sm61-head.trace.xz", "--fill", "zero"],
    &["replay", "tests/data/traces2/v6.tracez", "--fill", "zero", "--threads", "2"],
];

/// A folder with a list of traces and the library of [`SYSTEM`].
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let trace = grouped(5, "", &["0010 00000001 0 LDG 0 4 0 0x1 0"]);
    fs::write(at("a.traceg"), trace).unwrap();
    fs::write(at("list.g"), "a.traceg\n".repeat(6)).unwrap();
    fs::write(at("system.c"), SYSTEM).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "system.so", "system.c", "-ldl"])
        .current_dir(folder.path())
        .status();
    assert!(compiled.unwrap().success());
    folder
}

/// Runs a command with the library of [`SYSTEM`] and an environment variable, which chooses what the library refuses.
fn ran(folder: &Path, arguments: &[&str], (name, value): (&str, &str)) -> Ran {
    let arguments = arguments.iter().map(|argument| match *argument {
        "LIST" => folder.join("list.g").into_os_string(),
        "OUT" => folder.join("out").into_os_string(),
        argument => argument.into(),
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpload"));
    command.args(arguments).current_dir(ROOT).env("LD_PRELOAD", folder.join("system.so"));
    command.env(name, value).output().unwrap().into()
}

#[test]
fn no_further_thread_is_no_panic() {
    let folder = folder();
    let before = names(folder.path());
    for arguments in COMMANDS {
        let mut done = 0;
        for most in ["0", "1", "2", "3", "4"] {
            let ran = ran(folder.path(), arguments, ("MOST_THREADS", most));
            assert!(!ran.stderr.contains("panicked"), "{most}: {arguments:?}: {}", ran.stderr);
            let is_done = ran.status == 0;
            done += u32::from(is_done);
            let is_refused = ran.status == 2 && ran.stderr.contains("threads cannot be started");
            assert!(is_done || is_refused, "{most}: {arguments:?}: {}: {}", ran.status, ran.stderr);
            if arguments.contains(&"OUT") {
                assert_eq!(folder.path().join("out").exists(), is_done);
            }
            let _ = fs::remove_file(folder.path().join("out"));
            assert_eq!(names(folder.path()), before, "{most}: {arguments:?}");
        }
        assert!(done > 0, "{arguments:?}");
    }
}

/// The standard library panics then, which is neither a wait without end nor an abort here.
#[test]
fn a_thread_without_memory_is_an_error() {
    let folder = folder();
    for arguments in COMMANDS {
        let ran = ran(folder.path(), arguments, ("THREADS_GET_NO_STACK", "1"));
        assert_eq!(ran.status, 2, "{arguments:?}: {}", ran.stderr);
        assert_eq!(
            ran.stderr, "error: there is no more memory; see `ulimit -v`\n",
            "{arguments:?}"
        );
    }
}
