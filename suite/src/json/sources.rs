//! The sources of an image's bytes: the JSON itself, or files that it names. Sizes are checked before a byte is read or
//! memory is allocated.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::JsonError;
use warpload::memory::{Allocation, Arena, ConstantBank, LocalPart, Regions};
use warpload_binary::regular_file;

/// The source of an object's bytes.
pub(crate) enum BytesSource {
    Bytes(Vec<u8>),
    File { path: PathBuf, offset: u64, length: Option<u64> },
}

/// The memory that the bytes are for.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Global { base: u64 },
    Shared,
    LocalLow { bytes_per_lane: usize },
    LocalHigh { bytes_per_lane: usize },
    Constant { bank: u8 },
}

/// Maps a file. The path is for messages.
pub(crate) type Map<'p> = &'p dyn Fn(&Path, &File) -> io::Result<Arena>;

/// Whether JSON may name files, and how they are used.
#[derive(Clone, Copy)]
pub(crate) enum Files<'p> {
    /// Vectors hold all their bytes themselves.
    Refused,
    /// Paths are relative to this folder.
    Under {
        folder: &'p Path,
        /// Maps a file that holds all bytes. Without this function, and if there are several files, they are read.
        map: Option<Map<'p>>,
        /// Called with each file that is opened.
        opened: &'p dyn Fn(&Path, &File),
    },
}

/// Byte sources on their way into one arena.
pub(crate) struct Sources<'p> {
    files: Files<'p>,
    /// Each with its key, for messages.
    sources: Vec<(String, Target, BytesSource)>,
}

impl<'p> Sources<'p> {
    pub(crate) fn new(files: Files<'p>) -> Self {
        Self { files, sources: Vec::new() }
    }

    pub(crate) fn add(&mut self, key: String, target: Target, source: BytesSource) {
        self.sources.push((key, target, source));
    }

    /// The regions. `places` are the ranges of the sources in the arena.
    pub(crate) fn regions(&self, places: &[Range<usize>]) -> Result<Regions, JsonError> {
        let mut regions = Regions::default();
        for ((key, target, _), place) in self.sources.iter().zip(places.iter().cloned()) {
            let (size, start) = (place.len() as u64, place.start);
            let part = |bytes_per_lane, place| {
                LocalPart::new(bytes_per_lane, place).map_err(|error| JsonError::at(key, error))
            };
            match *target {
                Target::Global { base } => regions.global.push(Allocation { base, size, start }),
                Target::Shared => regions.shared = place,
                Target::LocalLow { bytes_per_lane } => {
                    regions.local_low = part(bytes_per_lane, place)?;
                }
                Target::LocalHigh { bytes_per_lane } => {
                    regions.local_high = part(bytes_per_lane, place)?;
                }
                Target::Constant { bank } => {
                    regions.constant.push(ConstantBank { bank, bytes: place });
                }
            }
        }
        Ok(regions)
    }

    /// The range of each source in the arena, in order, and the size of the arena in bytes. With `whole`, a single file
    /// that holds all bytes is the arena. Opens no file.
    pub(crate) fn places(&self, whole: bool) -> Result<(Vec<Range<usize>>, u64), JsonError> {
        let is_file = whole && self.only_file().is_some();
        let mut places = Vec::with_capacity(self.sources.len());
        let mut end = 0u64;
        for (key, _, source) in &self.sources {
            let span = match source {
                BytesSource::Bytes(bytes) => 0..bytes.len() as u64,
                BytesSource::File { path, offset, length } => {
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
                .ok_or_else(|| JsonError::at(key, "more than 2^64 bytes with earlier data"))?;
            places.push(in_memory(key, &(start..end))?);
        }
        Ok((places, end))
    }

    /// Loads the bytes of all sources, with their regions.
    pub(crate) fn load(self) -> Result<(Arena, Regions), JsonError> {
        let map = match self.files {
            Files::Under { map, .. } => map,
            Files::Refused => None,
        };
        let (places, size) = self.places(map.is_some())?;
        if let (Some(map), Some((key, path))) = (map, self.only_file()) {
            let path = self.path(key, path)?;
            let file = self.open(key, &path)?;
            let arena = map(&path, &file).map_err(|error| at_file(key, &path, error))?;
            return Ok((arena, self.regions(&places)?));
        }
        let mut arena = Arena::zeroed(size).map_err(|error| JsonError::at("memory", error))?;
        let mut rest = arena.bytes_mut().unwrap_or_default();
        for ((key, _, source), place) in self.sources.iter().zip(&places) {
            let Some((bytes, after)) = rest.split_at_mut_checked(place.len()) else {
                return Err(JsonError::at(key, "lies outside of the memory that was allocated"));
            };
            rest = after;
            match source {
                BytesSource::Bytes(held) => bytes.copy_from_slice(held),
                BytesSource::File { path, offset, .. } => {
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
        Ok((arena, self.regions(&places)?))
    }

    /// The file that holds all bytes, if there is one, with the first key that names it.
    fn only_file(&self) -> Option<(&str, &Path)> {
        let (key, _, BytesSource::File { path: only, .. }) = self.sources.first()? else {
            return None;
        };
        let is_only =
            |source: &BytesSource| matches!(source, BytesSource::File { path, .. } if path == only);
        self.sources.iter().all(|(_, _, source)| is_only(source)).then_some((key, only))
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

/// The part of a file of `size` bytes that an object names.
fn span(size: u64, offset: u64, length: Option<u64>) -> Result<Range<u64>, String> {
    let length = length.unwrap_or(size.saturating_sub(offset));
    match offset.checked_add(length).filter(|end| *end <= size) {
        Some(end) => Ok(offset..end),
        None => Err(format!(
            "the file has {size} bytes, fewer than offset {offset} and length {length}"
        )),
    }
}

fn in_memory(key: &str, span: &Range<u64>) -> Result<Range<usize>, JsonError> {
    let place = usize::try_from(span.start).and_then(|start| Ok(start..usize::try_from(span.end)?));
    place.map_err(|_| JsonError::at(key, "more bytes than can be addressed"))
}
