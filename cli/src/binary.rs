//! Files that may hold GPU code. Text is streamed; all other files are mapped or read whole.

use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use anyhow::Context;
use warpload::memory::Arena;
use warpload_binary::container::{ContainerError, GpuCode, GpuCodes};
use warpload_binary::file_kind::FileKind;
use warpload_binary::sass::{MAX_BINARY_BYTES, SassError};

use super::options::Progress;
use super::{io, mapped};

/// The bytes at the beginning of a file that decide whether it holds GPU code.
const START: u64 = 4096;

/// A file that may hold GPU code.
pub(crate) enum Opened {
    /// Text, or a file of a kind without GPU code.
    Text(Box<dyn BufRead>),
    Binary(Arena),
}

/// Opens a file, or standard input for `-`. A regular file is mapped unless it is text. The caller
/// adds the file's name to errors.
pub(crate) fn open(path: &Path, progress: Progress) -> anyhow::Result<Opened> {
    if !io::is_stdin(path) {
        let (file, metadata) = io::open_file(path)?;
        if metadata.is_file() {
            if !FileKind::may_hold_code(&start(&file)?) {
                return Ok(Opened::Text(io::open(path, progress)?));
            }
            let arena = mapped::map(path, &file).context("cannot be mapped")?;
            return Ok(Opened::Binary(arena));
        }
    }
    let mut input = io::open(path, progress)?;
    let mut bytes = start(&mut input)?;
    if !FileKind::may_hold_code(&bytes) {
        return Ok(Opened::Text(Box::new(Cursor::new(bytes).chain(input))));
    }
    // One byte more than allowed, to notice longer input.
    let rest = (MAX_BINARY_BYTES + 1).saturating_sub(bytes.len() as u64);
    input.take(rest).read_to_end(&mut bytes).context("cannot be read")?;
    if bytes.len() as u64 > MAX_BINARY_BYTES {
        return Err(SassError::TooLarge { limit: MAX_BINARY_BYTES }.into());
    }
    Ok(Opened::Binary(Arena::shared(bytes)))
}

fn start(input: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.take(START).read_to_end(&mut start).context("cannot be read")?;
    Ok(start)
}

/// The images of a file with their numbers, from 1. An unreadable part in place of an image has a number too.
pub(crate) fn numbered(
    file: &[u8],
) -> impl Iterator<Item = (u64, Result<GpuCode<'_>, ContainerError>)> {
    (1..).zip(GpuCodes::new(file))
}

/// Converts a name in a container to text.
pub(crate) fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
