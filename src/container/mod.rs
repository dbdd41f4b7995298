//! Finds the GPU code in ordinary files: cubins and PTX in fatbins, in whatever a fatbin is part of.
//!
//! [`Images`] takes the bytes of any file: a cubin, a fatbin, or an object, archive, library or program
//! of the host with fatbins in it. It finds fatbins by their magic, at any alignment, and returns one
//! [`Image`] for each piece of code. [`Image::read`] decompresses it.
//!
//! ```
//! use warpload::container::{ImageKind, Images};
//!
//! let library = std::fs::read("tests/data/fatbins/lib.so")?;
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
//! No document describes fatbins, so that every length is checked, and damage is an error with its byte
//! offset; what follows it is still found. Time is linear in the size of the file. What is decompressed
//! is limited by [`Limits`], and allocated as it is found, whatever sizes are claimed.

mod elf;
mod entry;
mod error;
mod host;
mod image;
mod images;
mod lz4;
mod payload;
mod table;

pub use self::elf::ImageSm;
pub use self::error::{ContainerError, ContainerErrorKind};
pub use self::image::{Bytes, Image, ImageKind, Read};
pub use self::images::Images;
pub use self::payload::Compression;

/// The most images of one entry.
const MAX_TABLE_RECORDS: u32 = 1 << 20;

/// How much the images of a file may decompress to, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One image, or several that are compressed together; 256 MiB unless set.
    pub image: u64,
    /// All images of a file, or [`Self::TOTAL_RATIO`] times the size of the file if that is more;
    /// 4 GiB unless set.
    pub total: u64,
}

impl Limits {
    /// How many times as large as the file its images may be, whatever [`Self::total`] is.
    pub const TOTAL_RATIO: u64 = 64;

    /// Returns these limits with another one for one image.
    #[must_use]
    pub const fn image(self, image: u64) -> Self {
        Self { image, ..self }
    }

    /// Returns these limits with another one for all images of a file.
    #[must_use]
    pub const fn total(self, total: u64) -> Self {
        Self { total, ..self }
    }

    fn total_of(self, file: usize) -> u64 {
        (file as u64).saturating_mul(Self::TOTAL_RATIO).max(self.total)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { image: 256 << 20, total: 4 << 30 }
    }
}
