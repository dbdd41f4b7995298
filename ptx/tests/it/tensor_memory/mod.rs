//! Loads from Tensor Memory: the cases, the mapping of each shape, and an executor written apart.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

mod allocations;
#[cfg(feature = "json")]
mod cases;
mod examples;
mod execution;
mod mapping;
mod naive;
mod sass;
