//! Where the bytes of an image come from: the JSON itself, or files that it names. Sizes are known
//! and checked before a byte is read or memory is allocated.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::JsonError;
use warpload::memory::{Allocation, Arena, ConstantBank, LocalPart, Regions};
use warpload_binary::regular_file;

/// Where an object's bytes come from.
pub(crate) enum BytesSource {
    Bytes(Vec<u8>),
    File { path: PathBuf, offset: u64, length: Option<u64> },
}

/// Which memory the bytes are.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Global { base: u64 },
    Shared,
    LocalLow { bytes_per_lane: usize },
    LocalHigh { bytes_per_lane: usize },
    Constant { bank: u8 },
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
        /// Is called with each file that is opened.
        opened: &'p dyn Fn(&Path, &File),
    },
}

/// Byte sources on their way into one arena.
pub(crate) struct Sources<'p> {
    files: Files<'p>,
    /// With the key of each.
    sources: Vec<(String, Target, BytesSource)>,
}

impl<'p> Sources<'p> {
    pub(crate) fn new(files: Files<'p>) -> Self {
        Self { files, sources: Vec::new() }
    }

    pub(crate) fn add(&mut self, key: String, target: Target, source: BytesSource) {
        self.sources.push((key, target, source));
    }

    /// Returns the regions, whose bytes are at the `places` of the sources.
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

    /// Returns where each source's bytes are in the arena, in order, and how many bytes the arena
    /// has. If `whole`, that is the file that holds all bytes, if there is one. Opens no file.
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
                .ok_or_else(|| JsonError::at(key, "more than 2^64 bytes with those before"))?;
            places.push(in_memory(key, &(start..end))?);
        }
        Ok((places, end))
    }

    /// Returns the bytes of all sources, and their regions.
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

    /// Returns the file that holds all bytes, with the first key that names it.
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
