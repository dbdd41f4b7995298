//! The command on traces: what it reads and writes, and what it leaves when a signal ends it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

mod command;
#[path = "../common/mod.rs"]
mod common;
mod export;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod inputs;
mod kill;
mod memory;
#[cfg(unix)]
mod outputs;
#[path = "../../../tests/trace/random.rs"]
mod random;
#[path = "../../../tests/trace/samples.rs"]
#[allow(dead_code, reason = "the tests of the library use the rest")]
mod samples;
#[cfg(unix)]
mod sets;
mod values;
