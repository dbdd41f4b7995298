//! The suite's library: cases of Tensor Memory.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod tensor_cases;
