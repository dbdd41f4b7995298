//! Where the bytes of an image come from: the JSON itself, or files that it names.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::JsonError;
use crate::memory::Arena;

/// Where an object's bytes come from.
pub(crate) enum Source {
    Bytes(Vec<u8>),
    File { path: PathBuf, offset: u64, length: Option<u64> },
}

/// Whether a manifest's files may be named, and how they are used.
#[derive(Clone, Copy)]
pub(crate) enum Files<'p> {
    /// Vectors hold all their bytes themselves.
    Refused,
    /// Paths are relative to this folder.
    Under {
        folder: &'p Path,
        /// How a file is mapped where one file holds all bytes; copied where nothing.
        map: Option<fn(&File) -> std::io::Result<Arena>>,
        /// Is told each file that is opened.
        opened: &'p dyn Fn(&Path, &File),
    },
}

/// All sources' bytes in one arena.
pub(crate) struct LaidOut {
    pub(crate) arena: Arena,
    /// Where each source's bytes lie, by its index.
    pub(crate) places: Vec<Range<usize>>,
}

/// Byte sources on their way into one arena.
pub(crate) struct Sources<'p> {
    files: Files<'p>,
    /// With the key of each.
    sources: Vec<(String, Source)>,
}

impl<'p> Sources<'p> {
    pub(crate) fn new(files: Files<'p>) -> Self {
        Self { files, sources: Vec::new() }
    }

    /// Adds a source; gives its index.
    pub(crate) fn add(&mut self, key: &str, source: Source) -> usize {
        self.sources.push((key.to_owned(), source));
        self.sources.len() - 1
    }

    pub(crate) fn lay_out(self) -> Result<LaidOut, JsonError> {
        if let Some(mapped) = self.map_one_file()? {
            return Ok(mapped);
        }
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for (key, source) in self.sources {
            let start = bytes.len();
            match source {
                Source::Bytes(held) => bytes.extend_from_slice(&held),
                Source::File { path, offset, length } => {
                    let opened = OpenedFile::open(&key, self.files, &path)?;
                    opened.read_into(&mut bytes, offset, length)?;
                }
            }
            places.push(start..bytes.len());
        }
        Ok(LaidOut { arena: bytes.into(), places })
    }

    /// Maps the file instead of copying it, where all bytes come from one file.
    fn map_one_file(&self) -> Result<Option<LaidOut>, JsonError> {
        let Files::Under { map: Some(map), .. } = self.files else { return Ok(None) };
        let Some((key, Source::File { path: only, .. })) = self.sources.first() else {
            return Ok(None);
        };
        let opened = OpenedFile::open(key, self.files, only)?;
        let mut places = Vec::new();
        for (key, source) in &self.sources {
            match source {
                Source::File { path, offset, length } if path == only => {
                    places.push(opened.span(key, *offset, *length)?);
                }
                _ => return Ok(None),
            }
        }
        let arena = map(&opened.file).map_err(|error| opened.error(key, error))?;
        Ok(Some(LaidOut { arena, places }))
    }
}

/// A file that a manifest names.
struct OpenedFile {
    key: String,
    path: PathBuf,
    file: File,
    size: u64,
}

impl OpenedFile {
    fn open(key: &str, files: Files<'_>, path: &Path) -> Result<Self, JsonError> {
        let Files::Under { folder, opened, .. } = files else {
            return Err(JsonError::at(key, "a vector holds its bytes itself; expected `hex`"));
        };
        let path = folder.join(path);
        let failed = |error| JsonError::at(key, format!("{}: {error}", path.display()));
        let file = File::open(&path).map_err(failed)?;
        opened(&path, &file);
        let size = file.metadata().map_err(failed)?.len();
        Ok(Self { key: key.to_owned(), path, file, size })
    }

    fn error(&self, key: &str, message: impl std::fmt::Display) -> JsonError {
        JsonError::at(key, format!("{}: {message}", self.path.display()))
    }

    /// The part of the file that an object names.
    fn span(&self, key: &str, offset: u64, length: Option<u64>) -> Result<Range<usize>, JsonError> {
        let length = length.unwrap_or(self.size.saturating_sub(offset));
        let end = offset.checked_add(length).filter(|end| *end <= self.size);
        let Some(end) = end else {
            let message = format!(
                "the file has {} bytes, which is shorter than offset {offset} and length {length}",
                self.size
            );
            return Err(self.error(key, message));
        };
        Ok(offset as usize..end as usize)
    }

    fn read_into(
        mut self,
        bytes: &mut Vec<u8>,
        offset: u64,
        length: Option<u64>,
    ) -> Result<(), JsonError> {
        let span = self.span(&self.key, offset, length)?;
        let wanted = span.len();
        let read = self
            .file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| (&mut self.file).take(wanted as u64).read_to_end(bytes));
        match read {
            Ok(read) if read == wanted => Ok(()),
            Ok(read) => {
                let message = format!("only {read} of {wanted} bytes could be read");
                Err(self.error(&self.key, message))
            }
            Err(error) => Err(self.error(&self.key, error)),
        }
    }
}
