//! The sample traces of the repository.

use std::ffi::OsStr;
use std::fs;
use std::io::Cursor;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpload::memory::Arena;
use warpload_trace::{BinaryTrace, Compression, ImportOptions, TraceSource};

/// Returns a file of the repository.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

pub(crate) fn open(bytes: Vec<u8>) -> Arc<BinaryTrace> {
    Arc::new(BinaryTrace::new(Arena::from(bytes)).unwrap())
}

/// Returns a sample as a binary trace's bytes.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    if path.extension() == Some(OsStr::new("wlt")) {
        return fs::read(path).unwrap();
    }
    imported(path, Compression::default())
}

pub(crate) fn imported(path: &Path, compression: Compression) -> Vec<u8> {
    let mut output = Cursor::new(Vec::new());
    let options = ImportOptions::new(NonZero::<usize>::MIN).compression(compression);
    TraceSource::open(path, &()).unwrap().import_into(&mut output, &options, &()).unwrap();
    output.into_inner()
}

/// Returns every sample trace with its name.
pub(crate) fn samples() -> Vec<(String, Arc<BinaryTrace>)> {
    let mut paths = Vec::new();
    for folder in ["traces", "tests/data/traces2"] {
        paths.extend(fs::read_dir(file(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.sort();
    let all: Vec<_> = paths
        .iter()
        .filter(|path| is_trace(path))
        .map(|path| (path.display().to_string(), open(bytes(path))))
        .collect();
    assert!(all.len() > 30, "{} samples", all.len());
    all
}

fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let endings = [".wlt", ".g", ".traceg", ".tracez", ".log", ".ndjson", ".trace"];
    let is_compressed = |ending: &str| {
        [".xz", ".zst"].iter().any(|more| name.ends_with(&format!("{ending}{more}")))
    };
    endings.iter().any(|ending| name.ends_with(ending) || is_compressed(ending))
}
