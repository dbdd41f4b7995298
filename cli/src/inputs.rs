//! The files that the command has opened to read, so that no output replaces one of them.

use std::fs::Metadata;
use std::path::Path;

use warpload_trace::output::InputFiles;

use super::system;

/// All of the process, which runs one command.
pub(crate) static INPUTS: InputFiles = InputFiles::new();

/// Notes that a file is an input.
pub(crate) fn remember(path: &Path, metadata: &Metadata) {
    INPUTS.add(path, metadata);
}

/// Notes that files are inputs, whether they are read or not: other files name them.
pub(crate) fn remember_named<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) {
    paths.into_iter().for_each(|path| INPUTS.add_named(path.as_ref()));
}

/// Notes that standard input is an input: it can be a file too.
pub(crate) fn remember_stdin() {
    if let Some(metadata) = system::stdin_metadata() {
        remember(Path::new("-"), &metadata);
    }
}
