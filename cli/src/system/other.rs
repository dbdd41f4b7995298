//! Systems other than Unix, such as Windows.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What two names of one file have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity(PathBuf);

impl Identity {
    /// Returns `None` if the file is not there.
    pub(crate) fn new(path: &Path, _: &Metadata) -> Option<Self> {
        path.canonicalize().ok().map(Self)
    }
}

pub(crate) fn stdin_metadata() -> Option<Metadata> {
    None
}

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// From now on nothing can be written to standard output.
pub(crate) fn stdout_is_closed() {
    IS_CLOSED.store(true, Ordering::Relaxed);
}

/// Returns the error of writing to standard output if it is known to be closed.
pub(crate) fn check_stdout() -> io::Result<()> {
    if IS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    Ok(())
}

pub(crate) fn is_stdout(_: &Path) -> bool {
    false
}

pub(crate) fn unbuffered_stdout() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn is_read_only(metadata: &Metadata) -> bool {
    metadata.permissions().readonly()
}

pub(crate) fn keep_permissions(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

pub(crate) fn is_named_pipe(_: &Path) -> bool {
    false
}

/// Does nothing: a mapped file cannot become shorter.
pub(crate) fn report_lost(_: &[u8], _: String) -> io::Result<()> {
    Ok(())
}

/// Does nothing: no signal from outside can be handled.
pub(crate) fn before_signals_end(_: fn(end: &dyn Fn())) {}

pub(crate) fn report_file_size_limit() {}
