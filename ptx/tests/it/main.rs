//! Tests of the public interface of PTX and Tensor Memory.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod compiled;
mod h100;
mod machine;
mod ptx;
mod ptx_lower;
mod ptx_run;
mod tensor_memory;
