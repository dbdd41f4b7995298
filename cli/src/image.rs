//! Memory images: files and pipes that hold a manifest, and its memory.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::bail;
use warpload::machine::Machine;

use super::trace::Input;
use super::{inputs, io, mapped};

/// Opens the memory image that a manifest describes, and returns the files that it names too. Errors name
/// the manifest.
pub(crate) fn open(manifest: &Path) -> anyhow::Result<(Machine, Vec<PathBuf>)> {
    if is_named_pipe(manifest) {
        bail!("{}: is a named pipe; expected a file", io::name(manifest));
    }
    let files = RefCell::new(Vec::new());
    let opened = |path: &Path, file: &std::fs::File| {
        files.borrow_mut().push(path.to_owned());
        if let Ok(metadata) = file.metadata() {
            inputs::remember(path, &metadata);
        }
    };
    let machine = Input::new(manifest)?.manifest()?.machine_with(&mapped::map, &opened)?;
    Ok((machine, files.take()))
}

/// Whether a path leads to a pipe that has a name: opening it could wait for ever. The pipes of a
/// shell (`<(…)`, `/dev/stdin`) have none.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
    is_pipe && path.canonicalize().is_ok_and(|path| !path.starts_with("/dev"))
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}
