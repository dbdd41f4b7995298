//! Where the bytes of an image come from: the JSON itself, or files that it names. Sizes are known
//! and checked before a byte is read or memory is allocated.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::JsonError;
use crate::memory::Arena;
use crate::regular_file;

/// Where an object's bytes come from.
pub(crate) enum Source {
    Bytes(Vec<u8>),
    File { path: PathBuf, offset: u64, length: Option<u64> },
}

/// Maps a file, which has a name for messages.
pub(crate) type Map<'p> = &'p dyn Fn(&Path, &File) -> io::Result<Arena>;

/// Whether a manifest's files may be named, and how they are used.
#[derive(Clone, Copy)]
pub(crate) enum Files<'p> {
    /// Vectors hold all their bytes themselves.
    Refused,
    /// Paths are relative to this folder.
    Under {
        folder: &'p Path,
        /// Maps a file that holds all bytes; without it, and if there are more files, they are
        /// read.
        map: Option<Map<'p>>,
        /// Is told each file that is opened.
        opened: &'p dyn Fn(&Path, &File),
    },
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

    /// Adds a source; returns its index.
    pub(crate) fn add(&mut self, key: &str, source: Source) -> usize {
        self.sources.push((key.to_owned(), source));
        self.sources.len() - 1
    }

    /// Returns where each source's bytes are in the arena, by its index, and how many bytes the
    /// arena has. If `whole`, that is the file that holds all bytes, if there is one. Opens no file.
    pub(crate) fn places(&self, whole: bool) -> Result<(Vec<Range<usize>>, u64), JsonError> {
        let is_file = whole && self.only_file().is_some();
        let mut places = Vec::with_capacity(self.sources.len());
        let mut end = 0u64;
        for (key, source) in &self.sources {
            let span = match source {
                Source::Bytes(bytes) => 0..bytes.len() as u64,
                Source::File { path, offset, length } => {
                    let path = self.path(key, path)?;
                    let size =
                        regular_file::size(&path).map_err(|error| at_file(key, &path, error))?;
                    let span = span(size, *offset, *length);
                    let span = span.map_err(|message| at_file(key, &path, message))?;
                    if is_file {
                        end = size;
                        places.push(in_memory(key, &span)?);
                        continue;
                    }
                    span
                }
            };
            let start = end;
            end = start
                .checked_add(span.end - span.start)
                .ok_or_else(|| JsonError::at(key, "more than 2^64 bytes with those before"))?;
            places.push(in_memory(key, &(start..end))?);
        }
        Ok((places, end))
    }

    /// Returns the bytes of all sources, and where each source's bytes are.
    pub(crate) fn load(self) -> Result<(Arena, Vec<Range<usize>>), JsonError> {
        let map = match self.files {
            Files::Under { map, .. } => map,
            Files::Refused => None,
        };
        let (places, size) = self.places(map.is_some())?;
        if let (Some(map), Some((key, path))) = (map, self.only_file()) {
            let path = self.path(key, path)?;
            let file = self.open(key, &path)?;
            let arena = map(&path, &file).map_err(|error| at_file(key, &path, error))?;
            return Ok((arena, places));
        }
        let mut arena = Arena::zeroed(size).map_err(|error| JsonError::at("memory", error))?;
        let mut rest = arena.bytes_mut().unwrap_or_default();
        for ((key, source), place) in self.sources.iter().zip(&places) {
            let Some((bytes, behind)) = rest.split_at_mut_checked(place.len()) else {
                return Err(JsonError::at(key, "lies outside of the memory that was allocated"));
            };
            rest = behind;
            match source {
                Source::Bytes(held) => bytes.copy_from_slice(held),
                Source::File { path, offset, .. } => {
                    let path = self.path(key, path)?;
                    let mut file = self.open(key, &path)?;
                    file.seek(SeekFrom::Start(*offset))
                        .and_then(|_| file.read_exact(bytes))
                        .map_err(|error| match error.kind() {
                            ErrorKind::UnexpectedEof => {
                                at_file(key, &path, "became shorter while it was read")
                            }
                            _ => at_file(key, &path, error),
                        })?;
                }
            }
        }
        Ok((arena, places))
    }

    /// Returns the file that holds all bytes, with the first key that names it.
    fn only_file(&self) -> Option<(&str, &Path)> {
        let (key, Source::File { path: only, .. }) = self.sources.first()? else { return None };
        let is_only = |(_, source): &(String, Source)| matches!(source, Source::File { path, .. } if path == only);
        self.sources.iter().all(is_only).then_some((key, only))
    }

    fn path(&self, key: &str, path: &Path) -> Result<PathBuf, JsonError> {
        match self.files {
            Files::Under { folder, .. } => Ok(folder.join(path)),
            Files::Refused => {
                Err(JsonError::at(key, "a vector holds its bytes itself; expected `hex`"))
            }
        }
    }

    fn open(&self, key: &str, path: &Path) -> Result<File, JsonError> {
        let (file, _) = regular_file::open(path).map_err(|error| at_file(key, path, error))?;
        if let Files::Under { opened, .. } = self.files {
            opened(path, &file);
        }
        Ok(file)
    }
}

fn at_file(key: &str, path: &Path, message: impl std::fmt::Display) -> JsonError {
    JsonError::at(key, format!("{}: {message}", path.display()))
}

/// Returns the part of a file of `size` bytes that an object names.
fn span(size: u64, offset: u64, length: Option<u64>) -> Result<Range<u64>, String> {
    let length = length.unwrap_or(size.saturating_sub(offset));
    match offset.checked_add(length).filter(|end| *end <= size) {
        Some(end) => Ok(offset..end),
        None => Err(format!(
            "the file has {size} bytes, which is shorter than offset {offset} and length {length}"
        )),
    }
}

fn in_memory(key: &str, span: &Range<u64>) -> Result<Range<usize>, JsonError> {
    let place = usize::try_from(span.start).and_then(|start| Ok(start..usize::try_from(span.end)?));
    place.map_err(|_| JsonError::at(key, "more bytes than can be addressed"))
}
