//! The differential test against NVIDIA's own disassembler: fresh words of the instructions
//! in [`TARGETS`], disassembled by nvdisasm and by `warpload_encoding`, and nvdisasm's text
//! assembled again.
//!
//! `cargo xtask oracle` fetches nvdisasm and runs this; `tests/oracle.rs` runs it with the
//! nvdisasm that the environment names. Nothing here uses the network.
#![forbid(unsafe_code)]

mod compare;
mod nvdisasm;
mod words;

pub use compare::{Difference, Problem, Report, SHOWN_DIFFERENCES, run};
pub use nvdisasm::{NVDISASM, Nvdisasm};
pub use words::{TARGETS, Target};
