//! The files that the command has opened to read, so that no output replaces one of them.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::system::{self, Identity};

static OPENED: Mutex<Opened> = Mutex::new(Opened::NONE);

/// The files that the runs of the command have opened.
struct Opened {
    /// How many there are at present.
    runs: usize,
    files: BTreeSet<Identity>,
}

impl Opened {
    const NONE: Self = Self { runs: 0, files: BTreeSet::new() };
}

/// A run of the command. Its inputs are forgotten at the end, unless another run goes on.
pub(crate) struct InputsScope;

impl InputsScope {
    pub(crate) fn new() -> Self {
        opened().runs += 1;
        Self
    }
}

impl Drop for InputsScope {
    fn drop(&mut self) {
        let mut opened = opened();
        opened.runs = opened.runs.saturating_sub(1);
        if opened.runs == 0 {
            opened.files.clear();
        }
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
    if let Some(metadata) = system::stdin_metadata() {
        remember(Path::new("-"), &metadata);
    }
}

/// Whether a file is one of the inputs, under this name or another.
pub(crate) fn contains(path: &Path, metadata: &Metadata) -> bool {
    Identity::new(path, metadata).is_some_and(|file| opened().files.contains(&file))
}
