//! Reading the file of a trace set, and its parts.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use warpload::memory::Arena;
use warpload_trace::TraceSet;

use super::mapped::Holding;
use super::{inputs, io};

/// The most bytes of a set's file: room for as many parts as there can be kernels.
const MAX_BYTES: u64 = 512 << 20;

/// Reads the file of a set. Errors name it.
pub(crate) fn read(path: &Path, bytes: &mut (dyn Read + Send)) -> anyhow::Result<TraceSet> {
    let name = || io::name(path);
    let mut text = Vec::new();
    let read = bytes.take(MAX_BYTES + 1).read_to_end(&mut text);
    read.context("cannot be read").with_context(name)?;
    if text.len() as u64 > MAX_BYTES {
        bail!("{}: a trace set of more than {MAX_BYTES} bytes", name());
    }
    TraceSet::from_json(&text).with_context(name)
}

/// Parts of fewer bytes are read: a process can map 65,530 files on Linux, and sets can have more parts.
const WORTH_MAPPING: u64 = 64 << 10;

/// Opens a part of a set; a small one is read, not mapped.
pub(crate) fn open_part(path: &Path, holding: Holding) -> std::io::Result<Arena> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file; expected a binary trace"));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    inputs::remember(path, &metadata);
    let is_small = metadata.len() < WORTH_MAPPING;
    if is_small { Holding::Read } else { holding }.bytes(path, &file)
}
