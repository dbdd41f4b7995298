//! The differential test against NVIDIA's disassembler. [`run`] disassembles fresh words of all loads with nvdisasm and
//! with `warpload_encoding`, and assembles nvdisasm's text again.
//!
//! `cargo xtask oracle` downloads nvdisasm and runs this; `tests/it/oracle.rs` runs it with the nvdisasm that the
//! environment names. This crate does not use the network.
#![forbid(unsafe_code)]

mod compare;
mod nvdisasm;
mod wide;
mod words;

pub use compare::{Report, run};
pub use nvdisasm::{Answer, NVDISASM, Nvdisasm};
pub use wide::run_wide;
