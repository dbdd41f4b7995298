//! The names of the files that `import --split` writes: `plan` and `set --list` rely on them.

use std::path::{Path, PathBuf};

/// The name of the set.
pub(crate) const SET: &str = "trace.set.json";

/// Returns the names of so many parts in a folder.
pub(crate) fn parts(folder: &Path, count: usize) -> Vec<PathBuf> {
    let last = count.saturating_sub(1);
    let digits = last.checked_ilog10().map_or(1, |log| log as usize + 1).max(4);
    (0..count).map(|i| folder.join(format!("part-{i:0digits$}.wlt"))).collect()
}
