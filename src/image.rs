//! Memory images: a JSON manifest that says what is allocated where, and the files that hold
//! the bytes (docs/vectors.md).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::file_kind::FileKind;
use crate::json::initial::Initial;
use crate::json::sources::Files;
use crate::json::{self, JsonError};
use crate::lines::without_mark;
use crate::machine::Machine;

/// A manifest larger than this is refused; the bytes belong into files beside it.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// How a file that holds all bytes of an image is used. Where the bytes come from several
/// places they are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mapping {
    /// Mapped read-only: pages are read when they are used. See
    /// [`Arena::map_read_only`](crate::memory::Arena::map_read_only) for what that asks of the
    /// file.
    #[cfg(feature = "mmap")]
    #[cfg_attr(feature = "mmap", default)]
    ReadOnly,
    /// Mapped copy-on-write: the bytes can be changed, the file stays as it is.
    #[cfg(feature = "mmap")]
    CopyOnWrite,
    /// Read into memory.
    #[cfg_attr(not(feature = "mmap"), default)]
    Copy,
}

/// Why an image could not be opened. What exactly is wrong is the error's source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The manifest could not be read.
    #[error("{} could not be read", path.display())]
    Io {
        /// The manifest.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The manifest, or a file that it names, is not what it should be.
    #[error(
        "{}{}: no memory image",
        path.display(),
        source.position.map_or(String::new(), |(line, column)| format!(":{line}:{column}"))
    )]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong, and where.
        source: JsonError,
    },
}

/// Opens the image that a manifest describes: a machine whose memory holds it. The files that
/// the manifest names are found relative to the manifest.
///
/// # Errors
/// [`ImageError`] where the manifest or a file cannot be read, a file is shorter than the
/// manifest says, or the configuration cannot be.
pub fn open(manifest: &Path, mapping: Mapping) -> Result<Machine, ImageError> {
    open_observed(manifest, mapping, &|_, _| {})
}

/// Opens an image as [`open`] does; `opened` is told the files that the manifest names.
///
/// # Errors
/// Those of [`open`].
pub fn open_observed(
    manifest: &Path,
    mapping: Mapping,
    opened: &dyn Fn(&Path, &File),
) -> Result<Machine, ImageError> {
    let failed = |source| ImageError::Io { path: manifest.to_owned(), source };
    let size = std::fs::metadata(manifest).map_err(failed)?.len();
    if size > MAX_MANIFEST_BYTES {
        let message = format!("a manifest of {size} bytes; expected at most {MAX_MANIFEST_BYTES}");
        return Err(failed(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)));
    }
    let bytes = std::fs::read(manifest).map_err(failed)?;
    let text = text_of(&bytes).map_err(failed)?;
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let map = match mapping {
        #[cfg(feature = "mmap")]
        Mapping::ReadOnly => Some(crate::memory::Arena::map_read_only as fn(&_) -> _),
        #[cfg(feature = "mmap")]
        Mapping::CopyOnWrite => Some(crate::memory::Arena::map_copy_on_write as fn(&_) -> _),
        Mapping::Copy => None,
    };
    json::from_str(text)
        .and_then(|initial: Initial| initial.machine(Files::Under { folder, map, opened }))
        .map_err(|source| ImageError::Manifest { path: manifest.to_owned(), source })
}

/// Returns a manifest's bytes as text, without a byte order mark.
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
