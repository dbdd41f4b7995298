//! Machine code, executed.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "../../../ptx/tests/it/machine/corpus.rs"]
mod corpus;
mod kernels;
mod scoreboard;
