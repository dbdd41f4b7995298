//! Files whose bytes are used in place: the one place that maps them, which promises that they do not change
//! meanwhile, and what happens if they do.

use std::fs::File;
use std::io;
use std::path::Path;

use warpload::memory::Arena;

use super::{diagnostic, process, system};

/// How the bytes of a file are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// In memory: what becomes of the file later is of no interest.
    Read,
    /// Mapped: the file must not change for as long as it is used. If it becomes shorter, a signal ends the process.
    Mapped,
}

impl Holding {
    /// Returns how files are held if nothing else is asked for: mapped if the process is the command's. A signal that
    /// ends any other process is not the command's to handle.
    pub(crate) fn of_process() -> Self {
        if process::is_owned() { Self::Mapped } else { Self::Read }
    }

    /// Returns the bytes of a whole file.
    pub(crate) fn bytes(self, name: &Path, file: &File) -> io::Result<Arena> {
        match self {
            Self::Read => Arena::read(file),
            Self::Mapped => map(name, file),
        }
    }
}

/// Maps a whole file. If it becomes shorter than it is now, the process ends, with a message and exit
/// status 2 if it is the command's.
#[allow(unsafe_code)]
pub(crate) fn map(name: &Path, file: &File) -> io::Result<Arena> {
    // SAFETY: the help of each subcommand that maps files asks that they do not change while it
    // runs, and so does who asks a library for it. Temporary files have no name by which another process could
    // change them. Reading a part that was cut off does not return: `report_lost` or the signal ends the process.
    let arena = unsafe { Arena::map_read_only(file) }?;
    if process::is_owned() {
        let message = format!(
            "{}: became shorter, or could not be read, while the command was reading it",
            name.display()
        );
        system::report_lost(arena.bytes(), diagnostic::plain_error(&message))?;
    }
    Ok(arena)
}
