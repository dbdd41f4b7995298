//! Statistics of code: effects of instructions compared with nvdisasm, and neighbouring loads compared with the
//! definition.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

mod random;
mod remarks;
mod steps;
mod wide;
