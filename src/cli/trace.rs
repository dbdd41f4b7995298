//! What the commands on traces share: opening a trace of any kind, and progress over it.

use std::io::{BufWriter, Read};
use std::path::Path;

use anyhow::Context;
use warpload::memory::Arena;
use warpload::trace::{BinaryTrace, MAGIC, TraceWriter, import};

use super::Progress;
use super::io::{self, is_stdin};

/// Opens a binary trace, or imports a text trace into a file that goes away with the process.
/// Errors name the file.
pub(crate) fn open(path: &Path, progress: Progress, threads: usize) -> anyhow::Result<BinaryTrace> {
    if is_binary(path)? {
        return BinaryTrace::open(path).with_context(|| io::name(path));
    }
    // A file without a name: it is gone when the process is, however that ends.
    let file = tempfile::tempfile().context("no temporary file for the import")?;
    import_into(path, &file, progress, threads)?;
    let bytes = Arena::map_read_only(&file).context("the import cannot be read")?;
    BinaryTrace::new(bytes).context("the import")
}

/// Whether a file is a binary trace, by how it begins.
pub(crate) fn is_binary(path: &Path) -> anyhow::Result<bool> {
    if is_stdin(path) {
        anyhow::bail!("a trace is a file or a list of files; standard input is neither");
    }
    let start = || -> std::io::Result<Vec<u8>> {
        let mut start = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
        Ok(start)
    };
    let start = start().with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(start == MAGIC)
}

/// Imports a text trace into `output`, which must be empty.
pub(crate) fn import_into(
    input: &Path,
    output: &std::fs::File,
    progress: Progress,
    threads: usize,
) -> anyhow::Result<()> {
    let source = format!(
        "warpload {}, from {}",
        env!("CARGO_PKG_VERSION"),
        input.file_name().unwrap_or_default().to_string_lossy()
    );
    let mut writer = TraceWriter::new(BufWriter::new(output), source)?;
    let bytes = std::fs::metadata(input).map(|m| m.len()).unwrap_or(0);
    let bar = io::progress_bar(progress, bytes, input);
    import(input, &mut writer, threads, &|read| {
        bar.inc(read);
        // A list of kernels is small; the files that it names are what is read.
        bar.set_length(bar.length().unwrap_or(0).max(bar.position()));
    })?;
    writer.finish()?;
    bar.finish();
    Ok(())
}

/// How many threads to use.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}
