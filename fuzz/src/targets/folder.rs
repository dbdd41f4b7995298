//! A temporary folder with a few files, for inputs that name files.

use std::path::Path;

use tempfile::TempDir;

const FILES: [(&str, &[u8]); 6] = [
    ("generic.image.bin", include_bytes!("../../../traces/generic.image.bin")),
    ("kernel-1.traceg", include_bytes!("../../../tests/data/cmd/kernel-1.traceg")),
    ("kernel-2.traceg", include_bytes!("../../../tests/data/cmd/kernel-2.traceg")),
    ("handwritten-1.traceg", include_bytes!("../../../tests/independent/handwritten-1.traceg")),
    ("handwritten-2.traceg", include_bytes!("../../../tests/independent/handwritten-2.traceg")),
    (
        "cut.traceg.xz",
        include_bytes!("../../../traces/vecadd-v3-sm61-head.trace.xz").split_at(999).0,
    ),
];

thread_local! {
    // Removed when the thread ends.
    static FOLDER: TempDir = make().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
}

fn make() -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("warpload-fuzz-").tempdir()?;
    FILES.iter().try_for_each(|(name, bytes)| std::fs::write(folder.path().join(name), bytes))?;
    Ok(folder)
}

/// Passes a folder of files to `work`. Changes to the folder persist.
pub(crate) fn with<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| work(folder.path()))
}

/// Writes a file of the folder.
///
/// # Panics
/// Panics if it cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Whether a name in `text` could lead out of the folder that it is relative to.
pub(crate) fn leads_out(text: &[u8]) -> bool {
    // In JSON, a backslash can encode any character.
    text.iter().any(|byte| b"/\\".contains(byte)) || text.windows(2).any(|two| two == b"..")
}
