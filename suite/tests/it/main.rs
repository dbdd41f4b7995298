//! The suite's library: the runner, and cases of Tensor Memory.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod runner;
mod tensor_cases;
