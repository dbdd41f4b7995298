//! Loads from Tensor Memory: the mapping of each shape, and an independent executor.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

mod allocations;
mod examples;
mod execution;
mod mapping;
mod naive;
mod reduction;
mod sass;
