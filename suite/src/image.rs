//! Memory images: a JSON manifest that lists the allocations, and the files that hold the bytes (docs/vectors.md).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::json::initial::Initial;
use crate::json::sources::{Files, Map};
use crate::json::{self, JsonError};
use warpload::machine::Machine;
use warpload::memory::{AddressMap, Arena, Regions};
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::without_mark;
use warpload_binary::regular_file;

/// A larger manifest is refused. Large contents belong into files beside it.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// The reason why an image could not be opened. The error's source has the details.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The manifest could not be read.
    #[error("{} could not be read", path.display())]
    Io {
        /// The manifest.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The manifest is invalid, or a file that it names cannot be used.
    #[error(
        "{}{}: no memory image",
        path.display(),
        source.position.map_or(String::new(), |(line, column)| format!(":{line}:{column}"))
    )]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The error and its place.
        source: JsonError,
    },
}

impl ImageError {
    /// Returns the manifest that the error is about, with line and column, from 1, if they are known.
    #[must_use]
    pub fn place(&self) -> Option<(&Path, Option<(u64, u64)>)> {
        match self {
            Self::Io { path, .. } => Some((path, None)),
            Self::Manifest { path, source } => {
                Some((path, source.position.map(|(line, column)| (line as u64, column as u64))))
            }
        }
    }
}

/// Returns the machine that a manifest describes. The manifest must hold all bytes itself: files are refused.
///
/// # Errors
/// Returns [`JsonError`] if the text is not a manifest, or names a file.
pub fn machine_from_json(text: &str) -> Result<Machine, JsonError> {
    json::from_str::<Initial>(text)?.machine(Files::Refused)
}

/// Opens the image that a manifest describes, as a machine with its memory. The files that the manifest names are
/// relative to it, and are read. Manifest and files must be regular files.
///
/// # Errors
/// Returns [`ImageError`] if the manifest or a file cannot be read, a file is shorter than the
/// manifest says, the bytes do not fit into memory, or the configuration is invalid.
pub fn open(manifest: &Path) -> Result<Machine, ImageError> {
    Manifest::open(manifest)?.machine()
}

/// The manifest of an image, before its files are opened.
pub struct Manifest {
    path: PathBuf,
    /// The folder that the files' names are relative to.
    folder: PathBuf,
    initial: Initial,
}

/// The layout of an image.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImageLayout {
    /// The address windows.
    pub map: AddressMap,
    /// The ranges of the memories in the image's bytes. Global allocations are sorted by base, without empty ones.
    pub regions: Regions,
    /// The size of the image in bytes.
    pub bytes: u64,
}

impl Manifest {
    /// Reads a manifest that is a regular file.
    ///
    /// # Errors
    /// Returns [`ImageError`] if it cannot be read or is not a manifest.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        let (file, _) = regular_file::open(path)
            .map_err(|source| ImageError::Io { path: path.to_owned(), source })?;
        Self::read(file, path, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a manifest of at most 64 MiB. Errors call it `name`. The files that it names are relative to `folder`.
    ///
    /// # Errors
    /// Returns [`ImageError`] if it cannot be read or is not a manifest.
    pub fn read(input: impl Read, name: &Path, folder: &Path) -> Result<Self, ImageError> {
        let failed = |source| ImageError::Io { path: name.to_owned(), source };
        let mut text = Vec::new();
        input.take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            let message = format!("expected a manifest of at most {MAX_MANIFEST_BYTES} bytes");
            return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, message)));
        }
        let initial = json::from_str(text_of(&text).map_err(failed)?)
            .map_err(|source| ImageError::Manifest { path: name.to_owned(), source })?;
        Ok(Self { path: name.to_owned(), folder: folder.to_owned(), initial })
    }

    /// Reads the files into a machine's memory.
    ///
    /// # Errors
    /// As [`open`].
    pub fn machine(self) -> Result<Machine, ImageError> {
        self.use_files(None, &|_, _| {}, Initial::machine)
    }

    /// Lets `map` make the memory, as [`Arena::map_read_only`] does, if one file holds all bytes. Several files are
    /// read, each into its place, because an arena maps a single file. `opened` is called with each file.
    ///
    /// # Errors
    /// As [`open`], and errors of `map`.
    pub fn machine_with(
        self,
        map: &dyn Fn(&Path, &File) -> io::Result<Arena>,
        opened: &dyn Fn(&Path, &File),
    ) -> Result<Machine, ImageError> {
        self.use_files(Some(map), opened, Initial::machine)
    }

    /// Returns the layout of the memories. Only the sizes of the files are read. If one file holds all bytes, the
    /// layout covers the whole file, as if it were mapped.
    ///
    /// # Errors
    /// As [`open`].
    pub fn layout(self) -> Result<ImageLayout, ImageError> {
        self.use_files(None, &|_, _| {}, |initial, files| {
            let (map, regions, bytes) = initial.layout(files)?;
            Ok(ImageLayout { map, regions, bytes })
        })
    }

    fn use_files<T>(
        self,
        map: Option<Map<'_>>,
        opened: &dyn Fn(&Path, &File),
        result: impl FnOnce(Initial, Files<'_>) -> Result<T, JsonError>,
    ) -> Result<T, ImageError> {
        let Self { path, folder, initial } = self;
        result(initial, Files::Under { folder: &folder, map, opened })
            .map_err(|source| ImageError::Manifest { path, source })
    }
}

/// A manifest's text, without a byte order mark.
fn text_of(bytes: &[u8]) -> io::Result<&str> {
    let wrong = |message| io::Error::new(io::ErrorKind::InvalidData, message);
    if let Some(kind) = FileKind::detect(bytes) {
        return Err(wrong(kind.to_string()));
    }
    let bytes = without_mark(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = &bytes[..error.valid_up_to()];
        let line = 1 + memchr::memchr_iter(b'\n', valid).count();
        let column = valid.len() - memchr::memrchr(b'\n', valid).map_or(0, |end| end + 1) + 1;
        wrong(format!("line {line}, column {column} is not UTF-8; expected JSON"))
    })
}
