//! What the commands on traces share: opening a trace of any kind, and progress over it.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use warpload::lines::without_mark;
use warpload::suite::image::Manifest;
use warpload::trace::binary::MAGIC;
use warpload::trace::{
    BinaryTrace, ImportError, ImportEvent, TraceError, TraceWriter, import_from,
};

use super::io::{self, is_stdin};
use super::options::Progress;
use super::{inputs, mapped};

/// How many bytes tell the kind of an input.
const START_BYTES: u64 = 4096;

/// An input whose kind is known by how it begins.
pub(crate) struct Input<'p> {
    path: &'p Path,
    /// Its first bytes, by which kinds are told apart.
    start: Vec<u8>,
    /// All of it, from the beginning.
    bytes: Box<dyn Read + Send>,
    /// The same, if it is a regular file, which can be mapped.
    file: Option<File>,
    /// The binary trace in that file, if it has been mapped.
    trace: Option<BinaryTrace>,
    /// Stops an import once it is true.
    interrupt: Option<&'p AtomicBool>,
}

impl<'p> Input<'p> {
    /// Opens a file, or standard input for `-`. Errors name it.
    pub(crate) fn new(path: &'p Path) -> anyhow::Result<Self> {
        let failed = || format!("{}: cannot be read", io::name(path));
        let mut file = None;
        let mut bytes: Box<dyn Read + Send> = if is_stdin(path) {
            io::stdin()
        } else {
            let (opened, metadata) = io::open_file(path).with_context(|| io::name(path))?;
            if metadata.is_file() {
                file = Some(opened.try_clone().with_context(failed)?);
            }
            Box::new(opened)
        };
        let mut start = Vec::new();
        bytes.by_ref().take(START_BYTES).read_to_end(&mut start).with_context(failed)?;
        let bytes = Box::new(Cursor::new(start.clone()).chain(bytes));
        Ok(Self { path, start, bytes, file, trace: None, interrupt: None })
    }

    /// Lets a flag stop the import.
    pub(crate) fn interrupted_by(self, flag: &'p AtomicBool) -> Self {
        Self { interrupt: Some(flag), ..self }
    }

    /// Whether this is a binary trace, or the first bytes of one.
    pub(crate) fn is_binary(&self) -> bool {
        let start = &self.start[..self.start.len().min(MAGIC.len())];
        !start.is_empty() && MAGIC.starts_with(start)
    }

    /// Whether this is a JSON object, but not one of a trace.
    pub(crate) fn is_manifest(&self) -> bool {
        let start = without_mark(&self.start).trim_ascii_start();
        let has = |key: &[u8]| memchr::memmem::find(start, key).is_some();
        start.starts_with(b"{") && !start.starts_with(b"{\"trace\":") && !has(b"\"instr_opcode\"")
    }

    /// Reads the manifest of an image. Files are found relative to it, or to the working folder if it
    /// comes from a pipe or has only the name of an open file (`/dev/stdin`).
    pub(crate) fn manifest(self) -> anyhow::Result<Manifest> {
        let is_there = self.file.is_some() && !self.path.starts_with("/dev");
        let folder = self.path.parent().filter(|_| is_there);
        let name = io::name(self.path);
        Ok(Manifest::read(self.bytes, Path::new(&name), folder.unwrap_or(Path::new("")))?)
    }

    /// Maps a file that is a binary trace; what else it is takes longer to open.
    pub(crate) fn map(mut self) -> anyhow::Result<Self> {
        if let Some(file) = self.file.take_if(|_| self.start.starts_with(&MAGIC)) {
            self.trace = Some(map(self.path, &file)?);
        }
        Ok(self)
    }

    /// Opens the trace. What is not a binary trace in a file becomes one in a temporary file, which
    /// goes away with the process. Errors name the input.
    pub(crate) fn open(self, progress: Progress, threads: usize) -> anyhow::Result<BinaryTrace> {
        let mut input = self.map()?;
        if let Some(trace) = input.trace.take() {
            return Ok(trace);
        }
        // A file without a name: it is gone when the process is, however that ends.
        let file = tempfile::tempfile().context("no temporary file for the trace")?;
        let failed =
            format!("a temporary file in {}: cannot be written", std::env::temp_dir().display());
        if input.is_binary() {
            let path = input.path;
            input.copy_into(&file, &failed)?;
            return map(path, &file);
        }
        input.import_into(&file, &failed, progress, threads)?;
        let bytes = mapped::map(Path::new("the import"), &file);
        BinaryTrace::new(bytes.context("the import cannot be read")?).context("the import")
    }

    /// Copies the input into `output`, as [`Self::import_into`] imports it.
    fn copy_into(self, mut output: &File, failed: &str) -> anyhow::Result<()> {
        let name = || format!("{}: cannot be read", io::name(self.path));
        let mut input = BufReader::with_capacity(1 << 16, self.bytes);
        loop {
            let bytes = input.fill_buf().with_context(name)?;
            if bytes.is_empty() {
                return Ok(());
            }
            output.write_all(bytes).with_context(|| failed.to_owned())?;
            let count = bytes.len();
            input.consume(count);
        }
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
        let output = Interruptible { file: output, flag: self.interrupt };
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
            _ => {}
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

/// A file that nothing can be written to once a flag is true.
struct Interruptible<'f> {
    file: &'f File,
    flag: Option<&'f AtomicBool>,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(std::io::Error::other("interrupted"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Interruptible<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// Maps the binary trace that a file holds. Errors name it.
fn map(path: &Path, file: &File) -> anyhow::Result<BinaryTrace> {
    let name = io::name(path);
    let bytes = mapped::map(Path::new(&name), file);
    let bytes = bytes.with_context(|| format!("{name}: cannot be read"))?;
    BinaryTrace::new(bytes).context(name)
}

/// Returns the number of threads to use: as many as asked for, but no more than can run at once.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(available, |asked| asked.min(available))
}
