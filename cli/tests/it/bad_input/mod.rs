//! Bad inputs through the real command: the exit status is right, the message names the file and the
//! place, standard output does not look like success, and nothing panics.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::fs;
use std::process::{Command, Output, Stdio};

mod files;
mod ptx;
mod streams;

const CUBIN: &str = "tests/data/listings/chase.sm_50.cubin";
const LISTING: &str = "tests/data/listings/gather.sm_50.cuobjdump.txt";

fn warpload(arguments: &[&str]) -> Command {
    let mut command = crate::common::warpload();
    command.args(arguments).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &[&str]) -> Output {
    warpload(arguments).output().expect("the command starts")
}

fn data(name: &str) -> Vec<u8> {
    fs::read(crate::common::file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn patched(data: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    data[at..at + new.len()].copy_from_slice(new);
    data
}

/// Checks the exit status; returns standard output and standard error.
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
