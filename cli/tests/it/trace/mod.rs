//! The command on traces: what it reads and writes, and what it leaves when a signal ends it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(unused_imports, dead_code, reason = "the tests that only Linux runs use the rest")
)]

mod command;
mod export;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod inputs;
// Elsewhere temporary files have names, and few signals remove them (docs/reliability.md).
#[cfg(target_os = "linux")]
mod kill;
mod memory;
#[cfg(unix)]
mod outputs;
mod shards;
#[cfg(target_os = "linux")]
mod threads;
mod values;
