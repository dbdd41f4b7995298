//! Finds the GPU code in ordinary files: cubins and PTX in fatbins, and the fatbins in objects, archives and programs.
//!
//! [`GpuCodes`] takes the bytes of any file: a cubin, a fatbin, or an object, archive, library or program of the host
//! with fatbins in it. It finds fatbins by their magic, at any alignment, and returns one [`GpuCode`] for each piece of
//! code, which NVIDIA's tools call an image. [`GpuCode::read`] decompresses it.
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
//! NVIDIA does not document fatbins, so every length is checked. Damage is an error with its byte offset, and the
//! images after it are still found. Time is linear in the size of the file. [`Limits`] bound the decompressed bytes,
//! and memory grows with them rather than with the sizes that headers claim.

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
