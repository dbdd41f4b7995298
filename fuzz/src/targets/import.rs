//! The import that targets of text traces share, and the replay of its result.

use std::io::{Cursor, Error, ErrorKind, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::Path;

use warpload::memory::{Arena, Fill};
use warpload_binary::file_kind::FileKind;
use warpload_replay::{ReplayData, ReplayError, ReplayOptions, replay};
use warpload_trace::{BinaryTrace, ImportError, ImportOptions, TraceError, TraceSource};

/// The limit on the binary trace that an import writes. Without it, a few compressed bytes could become a long text.
const MAX_OUTPUT: u64 = 8 << 20;

/// A file in memory, limited to [`MAX_OUTPUT`] bytes.
struct Output(Cursor<Vec<u8>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.position() + bytes.len() as u64 > MAX_OUTPUT {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// Whether `text` could be a list of kernels. Such a list names files, and their contents are not part of the input.
pub(crate) fn could_name_files(text: &[u8]) -> bool {
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    [&b".trace"[..], b"Memcpy", b".gz", b".xz", b".zst"].into_iter().any(has)
}

/// Whether `text` is compressed, so that its contents cannot be inspected.
pub(crate) fn is_compressed(text: &[u8]) -> bool {
    matches!(FileKind::detect(text), Some(FileKind::Gzip | FileKind::Xz | FileKind::Zstd))
}

/// Imports `input`, called `name`, into a binary trace.
///
/// # Errors
/// Returns the reason why it cannot be imported.
///
/// # Panics
/// Panics if the binary trace cannot be written for a reason other than its size.
pub(crate) fn import(input: &[u8], name: &Path, threads: usize) -> Result<Vec<u8>, String> {
    let mut output = Output(Cursor::new(Vec::new()));
    let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
    let source = TraceSource::from_stream(input, name).map_err(|error| error.to_string())?;
    let imported = source.import_into(&mut output, &ImportOptions::new(threads), &());
    imported.map_err(|error| match error {
        ImportError::Write(TraceError::Write { source }) => {
            assert_eq!(source.kind(), ErrorKind::StorageFull, "memory can be written to");
            source.to_string()
        }
        error => error.to_string(),
    })?;
    Ok(output.0.into_inner())
}

/// Replays the result of an import.
///
/// # Panics
/// Panics if it is not a binary trace, or cannot be replayed.
pub(crate) fn replay_import(bytes: Vec<u8>) {
    let trace = BinaryTrace::new(Arena::from(bytes));
    let trace = trace.unwrap_or_else(|error| panic!("the imported trace cannot be read: {error}"));
    match replay(&trace, &ReplayOptions::new(ReplayData::Fill(Fill::Address))) {
        Ok(_) => {}
        // A header can place the windows at invalid addresses.
        Err(ReplayError::Windows { .. }) => {}
        Err(error) => panic!("the imported trace cannot be replayed: {error}"),
    }
}
