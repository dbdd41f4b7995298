//! Memory images: files and pipes that hold a manifest, and its memory.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::bail;
use warpload::machine::Machine;

use super::mapped::Holding;
use super::trace::Input;
use super::{inputs, io, system};

/// Opens the memory image that a manifest describes, and returns the files that it names too. Errors name
/// the manifest.
pub(crate) fn open(manifest: &Path) -> anyhow::Result<(Machine, Vec<PathBuf>)> {
    open_held(manifest, Holding::of_process())
}

/// Opens a memory image as [`open`] does. If one file holds all bytes, they are held in this way.
pub(crate) fn open_held(
    manifest: &Path,
    holding: Holding,
) -> anyhow::Result<(Machine, Vec<PathBuf>)> {
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
    let bytes = |path: &Path, file: &std::fs::File| holding.bytes(path, file);
    let machine = Input::new(manifest)?.manifest()?.machine_with(&bytes, &opened)?;
    Ok((machine, files.take()))
}
