//! The files that the command has opened to read. No output may replace one of them.

use std::fs::Metadata;
use std::path::Path;

use warpload_trace::output::InputFiles;

use super::system;

/// The inputs of the process, which runs one command.
pub(crate) static INPUTS: InputFiles = InputFiles::new();

pub(crate) fn remember(path: &Path, metadata: &Metadata) {
    INPUTS.add(path, metadata);
}

/// Adds files that other files name, whether they are read or not.
pub(crate) fn remember_named<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) {
    paths.into_iter().for_each(|path| INPUTS.add_named(path.as_ref()));
}

/// Adds standard input, which can be a file too.
pub(crate) fn remember_stdin() {
    if let Some(metadata) = system::stdin_metadata() {
        remember(Path::new("-"), &metadata);
    }
}
