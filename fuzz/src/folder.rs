//! A folder of this process's own with a few files, for inputs that name files.

use std::io::Result;
use std::path::Path;

use tempfile::TempDir;

const FILES: [(&str, &[u8]); 6] = [
    ("generic.image.bin", include_bytes!("../../traces/generic.image.bin")),
    ("kernel-1.traceg", include_bytes!("../../tests/data/cmd/kernel-1.traceg")),
    ("kernel-2.traceg", include_bytes!("../../tests/data/cmd/kernel-2.traceg")),
    ("handwritten-1.traceg", include_bytes!("../../tests/independent/handwritten-1.traceg")),
    ("handwritten-2.traceg", include_bytes!("../../tests/independent/handwritten-2.traceg")),
    ("cut.traceg.xz", include_bytes!("../../traces/vecadd-v3-sm61-head.trace.xz").split_at(999).0),
];

thread_local! {
    // Removed when the thread ends.
    static FOLDER: Result<TempDir> = make();
}

fn make() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("warpload-fuzz-").tempdir()?;
    for (name, bytes) in FILES {
        std::fs::write(folder.path().join(name), bytes)?;
    }
    Ok(folder)
}

/// Returns what `work` returns, which is told a folder with files. Changes to it are seen later.
///
/// # Panics
/// If no folder can be made: without one the target would hold nothing.
pub(crate) fn with<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| match folder {
        Ok(folder) => work(folder.path()),
        Err(error) => panic!("no temporary folder: {error}"),
    })
}

/// Writes a file of the folder.
///
/// # Panics
/// Returns an error if it cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    if let Err(error) = std::fs::write(path, bytes) {
        panic!("{}: {error}", path.display());
    }
}

/// Returns whether a name in `text` could lead out of the folder that it is relative to.
pub(crate) fn leads_out(text: &[u8]) -> bool {
    // A backslash writes any character in JSON.
    text.iter().any(|byte| b"/\\".contains(byte)) || text.windows(2).any(|two| two == b"..")
}
