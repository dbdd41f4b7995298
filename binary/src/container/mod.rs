//! Finds the GPU code in ordinary files: cubins and PTX in fatbins, in whatever a fatbin is part of.
//!
//! [`Images`] takes the bytes of any file: a cubin, a fatbin, or an object, archive, library or program
//! of the host with fatbins in it. It finds fatbins by their magic, at any alignment, and returns one
//! [`Image`] for each piece of code. [`Image::read`] decompresses it.
//!
//! ```
//! use warpload_binary::container::{ImageKind, Images};
//!
//! let library = std::fs::read("../tests/data/fatbins/lib.so")?;
//! let mut cubins = Vec::new();
//! for image in Images::new(&library) {
//!     let image = image?;
//!     if image.kind == ImageKind::Cubin {
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

mod compression;
mod elf;
mod entry;
mod error;
mod host;
mod image;
mod images;

pub use self::compression::Compression;
pub use self::elf::ImageSm;
pub use self::error::{ContainerError, ContainerErrorKind};
pub use self::image::{Bytes, Image, ImageKind, Read};
pub use self::images::{Images, Limits};
