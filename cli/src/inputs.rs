//! The files that the command has opened to read, so that no output replaces one of them.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

static OPENED: Mutex<Opened> = Mutex::new(Opened { runs: 0, files: BTreeSet::new() });

/// The files that the runs of the command have opened.
struct Opened {
    /// How many there are at present.
    runs: usize,
    files: BTreeSet<Identity>,
}

/// A run of the command. Its inputs are forgotten at the end, unless another run goes on.
pub(crate) struct Scope;

impl Scope {
    pub(crate) fn new() -> Self {
        opened().runs += 1;
        Self
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let mut opened = opened();
        opened.runs -= 1;
        if opened.runs == 0 {
            opened.files.clear();
        }
    }
}

/// What two names of one file have in common.
#[cfg(unix)]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    device: u64,
    inode: u64,
}

#[cfg(not(unix))]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity(std::path::PathBuf);

impl Identity {
    /// Returns `None` for what cannot be lost by writing to it: a terminal, `/dev/null`.
    #[cfg(unix)]
    fn new(_: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let is_device = metadata.file_type().is_char_device();
        (!is_device).then(|| Self { device: metadata.dev(), inode: metadata.ino() })
    }

    #[cfg(not(unix))]
    fn new(path: &Path, _: &Metadata) -> Option<Self> {
        path.canonicalize().ok().map(Self)
    }
}

fn opened() -> MutexGuard<'static, Opened> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a file is an input.
pub(crate) fn remember(path: &Path, metadata: &Metadata) {
    opened().files.extend(Identity::new(path, metadata));
}

/// Notes that files are inputs, whether they are read or not: other files name them. Those that are missing
/// cannot be lost.
pub(crate) fn remember_named<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) {
    for path in paths {
        let path = path.as_ref();
        if let Ok(metadata) = std::fs::metadata(path) {
            remember(path, &metadata);
        }
    }
}

/// Notes that standard input is an input: it can be a file too.
pub(crate) fn remember_stdin() {
    #[cfg(unix)]
    if let Ok(metadata) = descriptor_metadata(&std::io::stdin()) {
        remember(Path::new("-"), &metadata);
    }
}

/// Whether a file is one of the inputs, under this name or another.
pub(crate) fn contains(path: &Path, metadata: &Metadata) -> bool {
    Identity::new(path, metadata).is_some_and(|file| opened().files.contains(&file))
}

/// Returns the metadata of an open file.
#[cfg(unix)]
pub(crate) fn descriptor_metadata(
    descriptor: &impl std::os::fd::AsFd,
) -> std::io::Result<Metadata> {
    std::fs::File::from(descriptor.as_fd().try_clone_to_owned()?).metadata()
}
