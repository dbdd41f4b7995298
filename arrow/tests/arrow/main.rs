//! Traces as record batches, and as Parquet files.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

mod accesses;
#[cfg(feature = "command")]
mod command;
mod common;
mod damage;
#[cfg(feature = "parquet")]
mod parquet;
#[path = "../../../replay/tests/it/parts.rs"]
#[allow(dead_code, reason = "the tests of replays use the rest")]
mod parts;
