//! Mapped files. This is the only place of the command that maps files, so it promises that they do not change meanwhile,
//! and handles the case that they do.

use std::fs::File;
use std::io;
use std::path::Path;

use warpload::memory::Arena;

use super::{diagnostic, system};

/// Maps a whole file. If it later becomes shorter, the process ends with a message and exit status 2.
#[allow(unsafe_code)]
pub(crate) fn map(name: &Path, file: &File) -> io::Result<Arena> {
    // SAFETY: the help of each subcommand that maps files asks that they do not change while it runs. Temporary files
    // have no name by which another process could change them. Reading a part that was cut off does not return:
    // `report_lost` ends the process.
    let arena = unsafe { Arena::map_read_only(file) }?;
    let message = format!(
        "{}: became shorter, or could not be read, while the command was reading it",
        name.display()
    );
    system::report_lost(arena.bytes(), diagnostic::plain_error(&message))?;
    Ok(arena)
}
