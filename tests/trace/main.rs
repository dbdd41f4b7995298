//! Traces: the binary form, imports into it, and replay.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used)]

mod allocator;
mod broken;
mod command;
mod damage;
mod documentation;
mod import;
mod import_errors;
mod kill;
mod mem_trace;
mod memory;
#[cfg(unix)]
mod outputs;
mod random;
mod round_trip;
mod samples;
mod shards;
mod truncated;
mod values;
mod xz;
