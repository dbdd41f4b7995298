//! Statistics of code: what they take an instruction to do, against nvdisasm, and which loads they take
//! to be neighbours, against the definition.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

mod random;
mod remarks;
mod steps;
mod wide;
