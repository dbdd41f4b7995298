//! What the commands on traces share: opening a trace of any kind, and progress over it.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use warpload_binary::lines::without_mark;
use warpload_suite::image::Manifest;
use warpload_trace::binary::MAGIC;
use warpload_trace::{BinaryTrace, Shard, TraceSet, import_from, is_certainly_text_trace};

use super::importing::{Importing, List};
use super::io::{self, is_stdin};
use super::mapped::Holding;
use super::options::Progress;
use super::{inputs, mapped, set_file};

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
    /// The part of the trace that is needed; `None` for all of it.
    shard: Option<Shard>,
    /// The binary trace or the set, if it has been mapped.
    trace: Option<BinaryTrace>,
    /// The number of parts, if this is a set that has been mapped.
    parts: Option<usize>,
    /// Stops an import once it is true.
    interrupt: Option<&'p AtomicBool>,
    /// How the bytes of a binary trace are held.
    holding: Holding,
}

impl<'p> Input<'p> {
    /// Opens a file, or standard input for `-`. Errors name it.
    pub(crate) fn new(path: &'p Path) -> anyhow::Result<Self> {
        let mut file = None;
        let mut bytes: Box<dyn Read + Send> = if is_stdin(path) {
            io::stdin()
        } else {
            let (opened, metadata) = io::open_file(path).with_context(|| io::name(path))?;
            if metadata.is_file() {
                let cloned = opened.try_clone().context("cannot be read");
                file = Some(cloned.with_context(|| io::name(path))?);
            }
            Box::new(opened)
        };
        let mut start = Vec::new();
        let read = bytes.by_ref().take(START_BYTES).read_to_end(&mut start);
        read.context("cannot be read").with_context(|| io::name(path))?;
        let bytes = Box::new(Cursor::new(start.clone()).chain(bytes));
        Ok(Self {
            path,
            start,
            bytes,
            file,
            shard: None,
            trace: None,
            parts: None,
            interrupt: None,
            holding: Holding::of_process(),
        })
    }

    /// Lets a flag stop the import.
    pub(crate) fn interrupted_by(self, flag: &'p AtomicBool) -> Self {
        Self { interrupt: Some(flag), ..self }
    }

    /// Sets how the bytes of a binary trace are held.
    pub(crate) fn held(self, holding: Holding) -> Self {
        Self { holding, ..self }
    }

    /// Whether this is a binary trace, or the first bytes of one.
    pub(crate) fn is_binary(&self) -> bool {
        let start = &self.start[..self.start.len().min(MAGIC.len())];
        !start.is_empty() && MAGIC.starts_with(start)
    }

    /// Whether this is a regular file.
    pub(crate) fn is_regular(&self) -> bool {
        self.file.is_some()
    }

    /// Whether this is a trace set.
    pub(crate) fn is_set(&self) -> bool {
        TraceSet::is_set(&self.start)
    }

    /// Sets which part of the trace is needed: of a set, other parts need not be there.
    pub(crate) fn shard(self, shard: Option<Shard>) -> Self {
        Self { shard, ..self }
    }

    /// What the input is, before what its source is; known after [`Self::map`].
    pub(crate) fn kind(&self) -> String {
        match self.parts {
            Some(1) => "trace set of 1 part by".to_owned(),
            Some(parts) => format!("trace set of {parts} parts by"),
            None if self.is_binary() => "binary trace by".to_owned(),
            None => "text trace, read by".to_owned(),
        }
    }

    /// The number of parts of a set; known after [`Self::map`].
    pub(crate) fn parts(&self) -> Option<usize> {
        self.parts
    }

    /// Whether this is a JSON object, but not one of a trace.
    pub(crate) fn is_manifest(&self) -> bool {
        if self.is_set() {
            return false;
        }
        let start = without_mark(&self.start).trim_ascii_start();
        let has = |key: &[u8]| memchr::memmem::find(start, key).is_some();
        start.starts_with(b"{") && !is_certainly_text_trace(start) && !has(b"\"instr_opcode\"")
    }

    /// Reads the manifest of an image. Files are found relative to it, or to the working folder if it
    /// comes from a pipe or has only the name of an open file (`/dev/stdin`).
    pub(crate) fn manifest(self) -> anyhow::Result<Manifest> {
        let (name, folder) = (io::name(self.path), self.folder());
        Ok(Manifest::read(self.bytes, Path::new(&*name), folder)?)
    }

    /// Returns the folder of the files that the input names.
    fn folder(&self) -> &'p Path {
        let is_there = self.file.is_some() && !self.path.starts_with("/dev");
        self.path.parent().filter(|_| is_there).unwrap_or(Path::new(""))
    }

    /// Reads a trace set, without its parts, and returns their folder too. Errors name it.
    pub(crate) fn read_set(mut self) -> anyhow::Result<(TraceSet, &'p Path)> {
        let folder = self.folder();
        Ok((set_file::read(self.path, &mut self.bytes)?, folder))
    }

    /// Maps or reads a file that is a binary trace, and the parts of a set; what else it is takes longer to
    /// open.
    pub(crate) fn map(mut self) -> anyhow::Result<Self> {
        if self.is_set() && self.trace.is_none() {
            let folder = self.folder();
            let set = set_file::read(self.path, &mut self.bytes)?;
            inputs::remember_named(set.parts().iter().map(|part| folder.join(&part.file)));
            let open = |part: &Path| set_file::open_part(part, self.holding);
            let trace = set.open(self.shard, folder, open);
            self.parts = Some(set.parts().len());
            self.trace = Some(trace.with_context(|| io::name(self.path))?);
        }
        if let Some(file) = self.file.take_if(|_| self.start.starts_with(&MAGIC)) {
            self.trace = Some(binary(self.path, &file, self.holding)?);
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
            return binary(path, &file, Holding::Mapped);
        }
        input.import_into(&file, &failed, progress, threads)?;
        let bytes = mapped::map(Path::new("the import"), &file);
        BinaryTrace::new(bytes.context("the import cannot be read")?).context("the import")
    }

    /// Opens a binary trace in a file. Errors name it.
    pub(crate) fn open_file(self) -> anyhow::Result<BinaryTrace> {
        let input = self.map()?;
        input
            .trace
            .with_context(|| format!("{}: not a binary trace in a file", io::name(input.path)))
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
        let importing = Importing::new(self.path, progress).interrupted_by(self.interrupt);
        importing.write(output, failed, |writer, observe| {
            import_from(self.bytes, importing.name(), writer, threads, observe)
        })?;
        importing.finish();
        Ok(())
    }

    /// Opens a list of traces, to import them one by one.
    pub(crate) fn list(self, progress: Progress) -> anyhow::Result<List> {
        List::new(self.path, self.bytes, progress)
    }
}

/// Opens the binary trace that a file holds. Errors name it.
pub(crate) fn binary(path: &Path, file: &File, holding: Holding) -> anyhow::Result<BinaryTrace> {
    let name = io::name(path);
    let bytes = holding.bytes(Path::new(&*name), file);
    let bytes = bytes.context("cannot be read").with_context(|| name.clone())?;
    BinaryTrace::new(bytes).context(name)
}

/// Returns the number of threads to use: as many as asked for, but no more than can run at once.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(available, |asked| asked.min(available))
}
