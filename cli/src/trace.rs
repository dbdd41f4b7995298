//! What the commands on traces share: opening a trace of any kind, progress over it, the parts of a trace set, and
//! memory images.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::importing::{Importing, List};
use crate::io::{self, is_stdin};
use crate::options::Progress;
use crate::{inputs, mapped, system};
use warpload::machine::Machine;
use warpload::memory::Arena;
use warpload_binary::lines::without_mark;
use warpload_suite::image::Manifest;
use warpload_trace::binary::MAGIC;
use warpload_trace::{
    BinaryTrace, Compression, Shard, TraceSet, import_from, is_certainly_text_trace,
};

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
        Ok(Self { path, start, bytes, file, shard: None, trace: None, parts: None })
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
        Ok((read_set(self.path, &mut self.bytes)?, folder))
    }

    /// Maps or reads a file that is a binary trace, and the parts of a set; what else it is takes longer to
    /// open.
    pub(crate) fn map(mut self) -> anyhow::Result<Self> {
        if self.is_set() && self.trace.is_none() {
            let folder = self.folder();
            let set = read_set(self.path, &mut self.bytes)?;
            inputs::remember_named(set.parts().iter().map(|part| folder.join(&part.file)));
            let open = |part: &Path| open_part(part);
            let trace = set.open(self.shard, folder, open);
            self.parts = Some(set.parts().len());
            self.trace = Some(trace.with_context(|| io::name(self.path))?);
        }
        if let Some(file) = self.file.take_if(|_| self.start.starts_with(&MAGIC)) {
            self.trace = Some(binary(self.path, &file)?);
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
        let failed = |error: std::io::Error| {
            let folder = std::env::temp_dir();
            let context = format!("a temporary file in {}: cannot be written", folder.display());
            anyhow::Error::new(error).context(context)
        };
        if input.is_binary() {
            let path = input.path;
            input.copy_into(&file, &failed, progress)?;
            return binary(path, &file);
        }
        // It is read once.
        input.import_into(&file, &failed, Compression::None, progress, threads)?;
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
    fn copy_into(
        self,
        mut output: &File,
        failed: &dyn Fn(std::io::Error) -> anyhow::Error,
        progress: Progress,
    ) -> anyhow::Result<()> {
        let name = || format!("{}: cannot be read", io::name(self.path));
        let mut input =
            BufReader::with_capacity(1 << 16, io::Observed::new(self.bytes, progress, self.path));
        loop {
            let bytes = input.fill_buf().with_context(name)?;
            if bytes.is_empty() {
                return Ok(());
            }
            output.write_all(bytes).map_err(failed)?;
            let count = bytes.len();
            input.consume(count);
        }
    }

    /// Imports a text trace into `output`, which must be empty. What the system says about that
    /// is passed to `failed`.
    pub(crate) fn import_into(
        self,
        output: &File,
        failed: &dyn Fn(std::io::Error) -> anyhow::Error,
        compression: Compression,
        progress: Progress,
        threads: usize,
    ) -> anyhow::Result<()> {
        let importing = Importing::new(self.path, progress).compressed_by(compression);
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
pub(crate) fn binary(path: &Path, file: &File) -> anyhow::Result<BinaryTrace> {
    let name = io::name(path);
    let bytes = mapped::map(Path::new(&*name), file);
    let bytes = bytes.context("cannot be read").with_context(|| name.clone())?;
    BinaryTrace::new(bytes).context(name)
}

/// Returns the number of threads to use: as many as asked for, but no more than can run at once.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(available, |asked| asked.min(available))
}

/// The most bytes of a set's file: room for as many parts as there can be kernels.
const MAX_SET_BYTES: u64 = 512 << 20;

/// Reads the file of a set. Errors name it.
pub(crate) fn read_set(path: &Path, bytes: &mut (dyn Read + Send)) -> anyhow::Result<TraceSet> {
    let name = || io::name(path);
    let mut text = Vec::new();
    let read = bytes.take(MAX_SET_BYTES + 1).read_to_end(&mut text);
    read.context("cannot be read").with_context(name)?;
    if text.len() as u64 > MAX_SET_BYTES {
        bail!("{}: a trace set of more than {MAX_SET_BYTES} bytes", name());
    }
    TraceSet::from_json(&text).with_context(name)
}

/// Parts of fewer bytes are read: a process can map 65,530 files on Linux, and sets can have more parts.
const WORTH_MAPPING: u64 = 64 << 10;

/// Opens a part of a set; a small one is read, not mapped.
pub(crate) fn open_part(path: &Path) -> std::io::Result<Arena> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file; expected a binary trace"));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    inputs::remember(path, &metadata);
    let is_small = metadata.len() < WORTH_MAPPING;
    if is_small { Arena::read(&file) } else { mapped::map(path, &file) }
}

/// Opens the memory image that a manifest describes, and returns the files that it names too. Errors name
/// the manifest.
pub(crate) fn open_machine(manifest: &Path) -> anyhow::Result<(Machine, Vec<PathBuf>)> {
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
