//! In place of what only Linux has.

use std::fs::File;
use std::io;
use std::path::Path;

/// Returns `None`: files have names.
pub(crate) fn unnamed(_: &Path) -> Option<File> {
    None
}

pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn is_folder_of_open_files(_: &Path) -> bool {
    false
}
