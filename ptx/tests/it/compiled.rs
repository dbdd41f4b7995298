//! Modules written by a compiler: `../ptx/clang/`, with their sources and the commands.

/// Reads the names and texts.
pub(crate) fn modules() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx/clang");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_ptx = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "ptx");
    let text = |path| std::fs::read_to_string(path).unwrap();
    paths.filter(is_ptx).map(|path| (path.display().to_string(), text(path))).collect()
}
