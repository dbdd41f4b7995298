//! The conformance suite of [warpload](https://crates.io/crates/warpload): cases that say what loads of NVIDIA
//! GPUs do, for whoever writes an emulator, a decoder, an assembler or a tool that reads memory traces.
//! [`CASES`] has the files of cases, one JSON object a line; `README.md` and `docs/conformance.md` of the
//! repository say what they mean.
//!
//! ```
//! let (_, cases) = warpload_vectors::CASES
//!     .iter()
//!     .find(|(name, _)| *name == "execute/ld.jsonl")
//!     .ok_or("no such file")?;
//! assert!(cases.lines().all(|case| case.starts_with(r#"{"id":"execute-ld-"#)));
//! # Ok::<(), &str>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod files;

pub use files::{CASES, SCHEMAS, TRACES};

/// The flags of each family with what they mean: a JSON object.
pub const FLAGS: &str = include_str!("../v1/flags.json");

/// What each file holds, with its SHA-256: a JSON object.
pub const MANIFEST: &str = include_str!("../v1/MANIFEST.json");
