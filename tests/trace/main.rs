//! Traces: the binary form, imports into it, and replay.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![cfg(feature = "trace")]
#![allow(clippy::unwrap_used)]

mod allocator;
mod broken;
mod compressed;
mod costs;
mod cutracer;
mod damage;
mod documentation;
mod errors;
mod import;
mod import_errors;
mod import_pieces;
mod mem_trace;
mod random;
mod round_trip;
mod samples;
mod shards;
mod tool_samples;
mod total;
mod truncated;
mod version_1;
