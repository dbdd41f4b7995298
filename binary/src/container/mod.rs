//! Finds the GPU code in ordinary files: cubins and PTX in fatbins, in whatever a fatbin is part of.
//!
//! [`GpuCodes`] takes the bytes of any file: a cubin, a fatbin, or an object, archive, library or program
//! of the host with fatbins in it. It finds fatbins by their magic, at any alignment, and returns one
//! [`GpuCode`] for each piece of code, an image in the words of NVIDIA's tools. [`GpuCode::read`]
//! decompresses it.
//!
//! ```
//! use warpload_binary::container::{GpuCodeKind, GpuCodes};
//!
//! let library = std::fs::read("../tests/data/fatbins/lib.so")?;
//! let mut cubins = Vec::new();
//! for image in GpuCodes::new(&library) {
//!     let image = image?;
//!     if image.kind == GpuCodeKind::Cubin {
//!         let read = image.read()?;
//!         cubins.push((read.sm.map(|sm| sm.to_string()), read.bytes.len()));
//!     }
//! }
//! let sm = |text: &str| Some(text.to_owned());
//! assert_eq!(cubins, [(sm("50"), 2536), (sm("75"), 3368), (sm("100"), 5690)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No document of NVIDIA's describes fatbins, so that every length is checked, and damage is an error with its byte
//! offset; what follows it is still found. Time is linear in the size of the file. What is decompressed
//! is limited by [`Limits`], and allocated as it is found, whatever sizes are claimed.

mod choice;
mod compression;
mod entry;
mod error;
mod gpu_code;
mod gpu_codes;
mod host;
mod sm;

pub use self::choice::{NoImageOfSm, SmChoice};
pub use self::compression::Compression;
pub use self::error::{ContainerError, ContainerErrorKind};
pub use self::gpu_code::{Bytes, GpuCode, GpuCodeKind, Read};
pub use self::gpu_codes::{GpuCodes, Limits};
pub use self::sm::GpuSm;
