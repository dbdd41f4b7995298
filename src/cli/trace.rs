//! What the commands on traces share: opening a trace of any kind, and progress over it.

use std::fs::File;
use std::io::{BufWriter, Cursor, Read};
use std::path::Path;

use anyhow::Context;
use warpload::lines::without_mark;
use warpload::memory::Arena;
use warpload::trace::{
    BinaryTrace, ImportError, ImportEvent, MAGIC, TraceError, TraceWriter, import_from,
};

use super::io::{self, is_stdin};
use super::{Progress, inputs};

/// How many bytes tell the kind of an input.
const START_BYTES: u64 = 4096;

/// A trace whose kind is known by how it begins.
pub(crate) struct Input<'p> {
    path: &'p Path,
    /// Its first bytes, by which kinds are told apart.
    start: Vec<u8>,
    /// All of it, from the beginning.
    bytes: Box<dyn Read + Send>,
}

impl<'p> Input<'p> {
    /// Opens a file, or standard input for `-`. Errors name it.
    pub(crate) fn new(path: &'p Path) -> anyhow::Result<Self> {
        let failed = || format!("{}: cannot be read", io::name(path));
        let mut bytes: Box<dyn Read + Send> = if is_stdin(path) {
            Box::new(io::stdin())
        } else {
            Box::new(io::open_file(path).with_context(|| io::name(path))?.0)
        };
        let mut start = Vec::new();
        bytes.by_ref().take(START_BYTES).read_to_end(&mut start).with_context(failed)?;
        Ok(Self { path, bytes: Box::new(Cursor::new(start.clone()).chain(bytes)), start })
    }

    /// Whether this is a binary trace, or the first bytes of one.
    pub(crate) fn is_binary(&self) -> bool {
        let start = &self.start[..self.start.len().min(MAGIC.len())];
        !start.is_empty() && MAGIC.starts_with(start)
    }

    /// Whether this is a JSON object, but not an access as mem_trace writes them.
    pub(crate) fn is_manifest(&self) -> bool {
        without_mark(&self.start).trim_ascii_start().starts_with(b"{")
            && memchr::memmem::find(&self.start, b"\"instr_opcode\"").is_none()
    }

    /// The trace; a text trace is imported into a file that goes away with the process. Errors
    /// name the input.
    pub(crate) fn open(
        mut self,
        progress: Progress,
        threads: usize,
    ) -> anyhow::Result<BinaryTrace> {
        let name = || io::name(self.path);
        if self.is_binary() && !is_stdin(self.path) {
            return BinaryTrace::open(self.path).with_context(name);
        }
        // A file without a name: it is gone when the process is, however that ends.
        let mut file = tempfile::tempfile().context("no temporary file for the trace")?;
        if self.is_binary() {
            std::io::copy(&mut self.bytes, &mut file).with_context(name)?;
            let bytes = Arena::map_read_only(&file).with_context(name)?;
            return BinaryTrace::new(bytes).with_context(name);
        }
        let failed =
            format!("a temporary file in {}: cannot be written", std::env::temp_dir().display());
        self.import_into(&file, &failed, progress, threads)?;
        let bytes = Arena::map_read_only(&file).context("the import cannot be read")?;
        BinaryTrace::new(bytes).context("the import")
    }

    /// Imports a text trace into `output`, which must be empty. What the system says about that
    /// follows `failed`.
    pub(crate) fn import_into(
        self,
        output: &File,
        failed: &str,
        progress: Progress,
        threads: usize,
    ) -> anyhow::Result<()> {
        let name = io::name(self.path);
        let name = Path::new(&name);
        let source = format!(
            "warpload {}, from {}",
            env!("CARGO_PKG_VERSION"),
            name.file_name().unwrap_or_default().to_string_lossy()
        );
        let failed = |error: std::io::Error| anyhow::Error::new(error).context(failed.to_owned());
        let mut writer = TraceWriter::new(BufWriter::new(output), source).map_err(failed)?;
        let bytes = std::fs::metadata(self.path).map(|m| m.len()).unwrap_or(0);
        let bar = io::progress_bar(progress, bytes, self.path);
        let observe = |event: ImportEvent<'_>| match event {
            ImportEvent::Opened(path, file) => {
                if let Ok(metadata) = file.metadata() {
                    inputs::remember(path, &metadata);
                }
            }
            ImportEvent::Read(bytes) => {
                bar.inc(bytes);
                // A list of kernels is small; the files that it names are what is read.
                bar.set_length(bar.length().unwrap_or(0).max(bar.position()));
            }
        };
        import_from(self.bytes, name, &mut writer, threads, &observe).map_err(
            |error| match error {
                ImportError::Write(TraceError::Io { source, .. }) => failed(source),
                error => error.into(),
            },
        )?;
        writer.finish().map_err(failed)?;
        bar.finish();
        Ok(())
    }
}

/// Returns the number of threads to use: as many as asked for, but no more than can run at once.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(available, |asked| asked.min(available))
}
