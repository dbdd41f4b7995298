//! Memory images: files and pipes that hold a manifest, and its memory.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::bail;
use warpload::machine::Machine;

use super::trace::Input;
use super::{inputs, io, mapped, system};

/// Opens the memory image that a manifest describes, and returns the files that it names too. Errors name
/// the manifest.
pub(crate) fn open(manifest: &Path) -> anyhow::Result<(Machine, Vec<PathBuf>)> {
    if system::is_named_pipe(manifest) {
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
