//! Tests through the public interface: warpload: the emulator.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod documentation;
mod errors;
mod executors;
mod gather;
mod memory;
mod oracle;
mod rules;
mod total;
