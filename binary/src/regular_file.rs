//! Opens regular files only, because a pipe can make the reader wait, and a device can supply bytes without end.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Returns the size of a regular file without opening it.
pub fn size(path: &Path) -> io::Result<u64> {
    checked(&fs::metadata(path)?)
}

/// Opens a regular file; returns its size too.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    // Opening a pipe can wait for a writer.
    size(path)?;
    let file = File::open(path)?;
    // Checked again on the open file, because the name may refer to another one by now.
    let size = checked(&file.metadata()?)?;
    Ok((file, size))
}

fn checked(metadata: &Metadata) -> io::Result<u64> {
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let kind = if metadata.is_dir() { "a folder" } else { "a pipe, a device or a socket" };
    let message = format!("is {kind}; expected a regular file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
