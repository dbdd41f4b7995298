//! The conformance suite of [warpload](https://crates.io/crates/warpload): cases that specify the loads of NVIDIA GPUs,
//! for authors of emulators, decoders, assemblers and tools that read memory traces. [`CASES`] are the files of cases,
//! one JSON object a line; `README.md` and `docs/conformance.md` of the repository describe their format.
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

/// The flags of each family with their meanings, as a JSON object.
pub const FLAGS: &str = include_str!("../v1/flags.json");

/// The number of cases, and the SHA-256 of each file, as a JSON object.
pub const MANIFEST: &str = include_str!("../v1/MANIFEST.json");
