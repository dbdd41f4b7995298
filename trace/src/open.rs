//! [`TraceSource`]: a trace of any kind, in a file or from a stream. A binary trace in a file and the parts of a set
//! are used in place. A text trace, and a binary trace from a stream, go to a temporary file first.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use crate::binary::{BinaryTrace, Compression, MAGIC, TraceError, TraceWriter};
use crate::import::{ImportError, ImportEvent, TraceList, import_file, is_certainly_text_trace};
use crate::set::TraceSet;
use crate::shard::Shard;
use warpload::memory::Arena;
use warpload_binary::lines::without_mark;

/// The bytes from which the kind of a trace is recognized.
const START_BYTES: u64 = 4096;

/// The maximum size of a set's file in bytes: room for the maximum number of kernels as parts.
const MAX_SET_BYTES: u64 = 512 << 20;

/// Smaller parts are read instead of mapped: a process can map 65,530 files on Linux, and sets can have more parts.
const WORTH_MAPPING: u64 = 64 << 10;

/// The caller's side of opening and importing traces: holds the bytes of files, and observes progress.
pub trait TraceFiles: Sync {
    /// Returns the bytes of a whole file, mapped or read.
    ///
    /// # Errors
    /// Returns the I/O error of the file.
    fn bytes(&self, path: &Path, file: &File) -> io::Result<Arena>;

    /// Returns the bytes of a temporary file. It has no name by which another process could change it.
    ///
    /// # Errors
    /// Returns the I/O error of the file.
    fn temporary_bytes(&self, file: &File) -> io::Result<Arena>;

    /// Receives events: files that were opened or are named by others, and bytes that will be read or were read.
    fn observe(&self, _: ImportEvent<'_>) {}

    /// Returns whether an import should stop.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Why a trace cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read, or is not a trace.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A binary trace or a trace set is invalid.
    #[error("{}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: TraceError,
    },
    /// A temporary file could not be created.
    #[error("no temporary file for the trace")]
    Temporary {
        /// The I/O error.
        source: io::Error,
    },
    /// The temporary file cannot be written.
    #[error("a temporary file in {}: cannot be written", std::env::temp_dir().display())]
    WriteTemporary {
        /// The I/O error.
        source: io::Error,
    },
    /// The temporary file cannot be read.
    #[error("the import cannot be read")]
    ReadTemporary {
        /// The I/O error.
        source: io::Error,
    },
}

/// The options of an import of a text trace.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ImportOptions {
    /// The number of threads to use.
    pub threads: NonZero<usize>,
    /// The compression of the binary trace.
    pub compression: Compression,
}

impl ImportOptions {
    /// Creates the options of an import on this many threads, with the default compression.
    #[must_use]
    pub fn new(threads: NonZero<usize>) -> Self {
        Self { threads, compression: Compression::default() }
    }

    /// Sets the compression of the binary trace.
    #[must_use]
    pub fn compression(self, compression: Compression) -> Self {
        Self { compression, ..self }
    }
}

/// Returns the number of threads to use: as many as asked for, but no more than can run at once.
#[must_use]
pub fn usable_threads(asked: Option<NonZero<usize>>) -> NonZero<usize> {
    let most = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    asked.map_or(most, |asked| asked.min(most))
}

/// A trace of any kind that is not open yet. Its first bytes determine its kind.
pub struct TraceSource {
    /// The name in messages. File names inside the trace are relative to it.
    name: PathBuf,
    start: Vec<u8>,
    /// All bytes, from the beginning.
    bytes: Box<dyn Read + Send>,
    /// The file, if it is a regular one.
    file: Option<(File, Metadata)>,
    shard: Option<Shard>,
    /// The trace, if it has been opened in place.
    trace: Option<BinaryTrace>,
    /// The number of parts, if this is a set that has been opened.
    parts: Option<usize>,
}

impl TraceSource {
    /// Opens a file or a named pipe, and reports it to `files`.
    ///
    /// # Errors
    /// Returns [`ImportError`] if it is a folder or cannot be read.
    pub fn open(path: &Path, files: &dyn TraceFiles) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Read { file: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            let message = "is a folder; expected a file".to_owned();
            return Err(ImportError::File { file: path.to_owned(), message });
        }
        files.observe(ImportEvent::Opened(path, &file));
        let bytes = file.try_clone().map_err(failed)?;
        let file = metadata.is_file().then_some((file, metadata));
        Ok(Self { file, ..Self::from_stream(bytes, path)? })
    }

    /// Reads the beginning of a stream, such as standard input. Messages call it `name`.
    ///
    /// # Errors
    /// Returns [`ImportError::Read`] if the stream cannot be read.
    pub fn from_stream(
        mut bytes: impl Read + Send + 'static,
        name: &Path,
    ) -> Result<Self, ImportError> {
        let mut start = Vec::new();
        let read = bytes.by_ref().take(START_BYTES).read_to_end(&mut start);
        read.map_err(|source| ImportError::Read { file: name.to_owned(), source })?;
        let bytes = Box::new(Cursor::new(start.clone()).chain(bytes));
        let name = name.to_owned();
        Ok(Self { name, start, bytes, file: None, shard: None, trace: None, parts: None })
    }

    /// Sets the part of the trace that is needed. The other parts of a set need not exist.
    #[must_use]
    pub fn shard(self, shard: Option<Shard>) -> Self {
        Self { shard, ..self }
    }

    /// Returns the name in messages.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the folder that file names in the source are relative to: the folder of its own file, or the working
    /// folder for a stream and for the name of an open file (`/dev/stdin`).
    #[must_use]
    pub fn folder(&self) -> &Path {
        let is_there = self.is_regular() && !self.name.starts_with("/dev");
        self.name.parent().filter(|_| is_there).unwrap_or(Path::new(""))
    }

    /// Returns whether this is a regular file.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.file.is_some()
    }

    /// Returns whether this is a binary trace, or the first bytes of one.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        let start = &self.start[..self.start.len().min(MAGIC.len())];
        !start.is_empty() && MAGIC.starts_with(start)
    }

    /// Returns whether this is a trace set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        TraceSet::is_set(&self.start)
    }

    /// Returns whether this is a JSON object other than a trace: the manifest of a memory image.
    #[must_use]
    pub fn is_manifest(&self) -> bool {
        let start = without_mark(&self.start).trim_ascii_start();
        !self.is_set() && start.starts_with(b"{") && !is_certainly_text_trace(start)
    }

    /// Returns the number of parts, if this is a set that [`open_in_place`](Self::open_in_place) has opened.
    #[must_use]
    pub fn parts(&self) -> Option<usize> {
        self.parts
    }

    /// Returns all bytes from the beginning.
    #[must_use]
    pub fn into_bytes(self) -> Box<dyn Read + Send> {
        self.bytes
    }

    /// Reads a trace set without its parts.
    ///
    /// # Errors
    /// Returns [`OpenError`] if it cannot be read or is not a set.
    pub fn read_set(&mut self) -> Result<TraceSet, OpenError> {
        let mut text = Vec::new();
        let read = self.bytes.by_ref().take(MAX_SET_BYTES + 1).read_to_end(&mut text);
        read.map_err(|source| ImportError::Read { file: self.name.clone(), source })?;
        if text.len() as u64 > MAX_SET_BYTES {
            let message = format!("a trace set of more than {MAX_SET_BYTES} bytes");
            return Err(ImportError::File { file: self.name.clone(), message }.into());
        }
        TraceSet::from_json(&text).map_err(|source| self.invalid(source))
    }

    /// Opens a binary trace in a file, or the parts of a set. Leaves other sources as they are, because opening them
    /// takes longer.
    ///
    /// # Errors
    /// Returns [`OpenError`] if a file cannot be read or is invalid.
    pub fn open_in_place(&mut self, files: &dyn TraceFiles) -> Result<(), OpenError> {
        if self.is_set() && self.trace.is_none() {
            let set = self.read_set()?;
            let folder = self.folder();
            let named = set.parts().iter().map(|part| folder.join(&part.file));
            named.for_each(|part| files.observe(ImportEvent::Named(&part)));
            let trace = set.open(self.shard, folder, |part| open_part(part, files));
            self.trace = Some(trace.map_err(|source| self.invalid(source))?);
            self.parts = Some(set.parts().len());
        }
        if self.start.starts_with(&MAGIC)
            && let Some((file, _)) = self.file.take()
        {
            let bytes = files.bytes(&self.name, &file);
            let bytes =
                bytes.map_err(|source| ImportError::Read { file: self.name.clone(), source })?;
            self.trace = Some(BinaryTrace::new(bytes).map_err(|source| self.invalid(source))?);
        }
        Ok(())
    }

    /// Returns the trace if it is [open](Self::open_in_place).
    #[must_use]
    pub fn into_open(self) -> Option<BinaryTrace> {
        self.trace
    }

    /// Opens the trace. All but a binary trace in a file go to a temporary file without a name first. It vanishes with
    /// the process, even if that crashes.
    ///
    /// # Errors
    /// Returns [`OpenError`] if a file cannot be read or is invalid.
    pub fn into_trace(
        mut self,
        threads: NonZero<usize>,
        files: &dyn TraceFiles,
    ) -> Result<BinaryTrace, OpenError> {
        self.open_in_place(files)?;
        if let Some(trace) = self.trace {
            return Ok(trace);
        }
        let file = tempfile::tempfile().map_err(|source| OpenError::Temporary { source })?;
        let is_binary = self.is_binary();
        let path = if is_binary { self.name.clone() } else { PathBuf::from("the import") };
        let written = if is_binary {
            self.copy_into(&file, files)
        } else {
            let options = ImportOptions::new(threads).compression(Compression::None);
            self.import_into(&file, &options, files)
        };
        written.map_err(|error| match error {
            ImportError::Write(TraceError::Write { source }) => {
                OpenError::WriteTemporary { source }
            }
            error => error.into(),
        })?;
        let bytes = files.temporary_bytes(&file);
        let bytes = bytes.map_err(|source| OpenError::ReadTemporary { source })?;
        BinaryTrace::new(bytes).map_err(|source| OpenError::Trace { path, source })
    }

    /// Copies the bytes into `output`.
    fn copy_into(self, mut output: &File, files: &dyn TraceFiles) -> Result<(), ImportError> {
        let mut input = BufReader::with_capacity(1 << 16, self.bytes);
        loop {
            let bytes = input.fill_buf();
            let bytes =
                bytes.map_err(|source| ImportError::Read { file: self.name.clone(), source })?;
            if bytes.is_empty() {
                return Ok(());
            }
            output.write_all(bytes).map_err(write_error)?;
            let count = bytes.len();
            input.consume(count);
            files.observe(ImportEvent::Read(count as u64));
        }
    }

    /// Imports a text trace into `output`, which must be empty.
    ///
    /// # Errors
    /// Returns [`ImportError`] if a file cannot be read or is invalid. Errors of `output` are [`TraceError::Write`].
    pub fn import_into(
        self,
        output: impl Write + Seek,
        options: &ImportOptions,
        files: &dyn TraceFiles,
    ) -> Result<(), ImportError> {
        if let Some((_, metadata)) = &self.file {
            files.observe(ImportEvent::Listed(metadata.len()));
        }
        let file = self.file.map(|(file, _)| file);
        write_import(output, &self.name, options, files, |writer| {
            let observe = |event: ImportEvent<'_>| files.observe(event);
            let threads = options.threads.get();
            import_file(self.bytes, file, &self.name, writer, threads, &observe)
        })
    }

    /// Reads a list of traces, to import them one by one. Reports the listed files to `files`.
    ///
    /// # Errors
    /// Returns [`ImportError`] if it cannot be read, or is not a list.
    pub fn into_list(self, files: &dyn TraceFiles) -> Result<TraceList, ImportError> {
        let list = TraceList::new(self.bytes, &self.name, &|event| files.observe(event))?;
        list.files().for_each(|file| files.observe(ImportEvent::Named(&file)));
        Ok(list)
    }

    fn invalid(&self, source: TraceError) -> OpenError {
        OpenError::Trace { path: self.name.clone(), source }
    }
}

impl TraceList {
    /// Imports trace `number`, from 0, into `output`, which must be empty.
    ///
    /// # Errors
    /// Returns the errors of [`TraceSource::import_into`], and one if there is no such trace.
    pub fn import_into(
        &self,
        number: usize,
        output: impl Write + Seek,
        options: &ImportOptions,
        files: &dyn TraceFiles,
    ) -> Result<(), ImportError> {
        write_import(output, self.name(), options, files, |writer| {
            self.import(number, writer, options.threads.get(), &|event| files.observe(event))
        })
    }
}

type ImportWriter<'f, W> = TraceWriter<BufWriter<Interruptible<'f, W>>>;

/// Writes the binary trace of `import`.
fn write_import<'f, W: Write + Seek>(
    output: W,
    name: &Path,
    options: &ImportOptions,
    files: &'f dyn TraceFiles,
    import: impl FnOnce(&mut ImportWriter<'f, W>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let output = BufWriter::new(Interruptible { output, files });
    let writer = TraceWriter::with_compression(output, import_source(name), options.compression);
    let mut writer = writer.map_err(write_error)?;
    writer.keep_inputs();
    import(&mut writer)?;
    writer.finish().map(drop).map_err(write_error)
}

fn write_error(source: io::Error) -> ImportError {
    ImportError::Write(TraceError::Write { source })
}

/// Returns the source to name in a binary trace that is imported from `name`.
#[must_use]
pub fn import_source(name: &Path) -> String {
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    format!("warpload {}, from {name}", env!("CARGO_PKG_VERSION"))
}

fn open_part(path: &Path, files: &dyn TraceFiles) -> io::Result<Arena> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file; expected a binary trace"));
    }
    let file = File::open(path)?;
    files.observe(ImportEvent::Opened(path, &file));
    let is_small = file.metadata()?.len() < WORTH_MAPPING;
    if is_small { Arena::read(&file) } else { files.bytes(path, &file) }
}

/// An output that fails once the import is interrupted.
struct Interruptible<'f, W> {
    output: W,
    files: &'f dyn TraceFiles,
}

impl<W: Write> Write for Interruptible<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.files.is_interrupted() {
            return Err(io::Error::other("the import was interrupted"));
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<W: Seek> Seek for Interruptible<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.output.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::set::SetBuilder;

    #[derive(Default)]
    struct Seen {
        is_interrupted: bool,
        /// The names of opened files, and of files that others name.
        files: Mutex<[Vec<PathBuf>; 2]>,
    }

    impl TraceFiles for Seen {
        fn bytes(&self, _: &Path, file: &File) -> io::Result<Arena> {
            Arena::read(file)
        }

        fn temporary_bytes(&self, file: &File) -> io::Result<Arena> {
            Arena::read(file)
        }

        fn observe(&self, event: ImportEvent<'_>) {
            let (kind, path) = match event {
                ImportEvent::Opened(path, _) => (0, path),
                ImportEvent::Named(path) => (1, path),
                _ => return,
            };
            if let Ok(mut files) = self.files.lock() {
                files[kind].push(path.to_owned());
            }
        }

        fn is_interrupted(&self) -> bool {
            self.is_interrupted
        }
    }

    const TEXT: &[u8] = b"made up:\nLDG.E\nSTS\nLDG.E\n";
    const ONE: NonZero<usize> = NonZero::<usize>::MIN;

    fn stream(bytes: Vec<u8>) -> Result<TraceSource, ImportError> {
        TraceSource::from_stream(Cursor::new(bytes), Path::new("a stream"))
    }

    #[test]
    fn a_trace_is_the_same_from_every_source() -> Result<(), Box<dyn std::error::Error>> {
        let (folder, files) = (tempfile::tempdir()?, Seen::default());
        let at = |name: &str| folder.path().join(name);
        let text = stream(TEXT.to_vec())?;
        assert!(!text.is_binary() && !text.is_set() && !text.is_manifest() && !text.is_regular());
        let trace = text.into_trace(ONE, &files)?;
        let expected = (trace.loads(), trace.content_hash());
        let mut bytes = Cursor::new(Vec::new());
        let options = ImportOptions::new(ONE).compression(Compression::None);
        stream(TEXT.to_vec())?.import_into(&mut bytes, &options, &files)?;
        let bytes = bytes.into_inner();
        fs::write(at("part.wlt"), &bytes)?;
        let mut set = SetBuilder::new();
        set.add("part.wlt".to_owned(), &BinaryTrace::new(bytes.clone().into())?)?;
        fs::write(at("set.json"), set.finish()?.to_json())?;

        let piped = stream(bytes)?;
        assert!(piped.is_binary());
        let piped = piped.into_trace(ONE, &files)?;
        assert_eq!((piped.loads(), piped.content_hash()), expected);
        for (name, parts) in [("part.wlt", None), ("set.json", Some(1))] {
            let mut source = TraceSource::open(&at(name), &files)?;
            assert!(source.is_regular() && source.folder() == folder.path());
            assert_eq!((source.is_binary(), source.is_set()), (parts.is_none(), parts.is_some()));
            source.open_in_place(&files)?;
            assert_eq!(source.parts(), parts);
            assert_eq!(source.into_open().map(|trace| trace.loads()), Some(expected.0));
        }
        let seen = files.files.lock().map_err(|_| "a panic")?;
        assert_eq!(seen[0], [at("part.wlt"), at("set.json"), at("part.wlt")]);
        assert_eq!(seen[1], [at("part.wlt")]);
        assert!(stream(b"{\"global\": []}".to_vec())?.is_manifest());
        let error = TraceSource::open(folder.path(), &Seen::default()).err().ok_or("a folder")?;
        assert!(error.to_string().ends_with(": is a folder; expected a file"), "{error}");
        Ok(())
    }

    #[test]
    fn an_interrupted_import_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        let files = Seen { is_interrupted: true, ..Seen::default() };
        let options = ImportOptions::new(ONE);
        let imported =
            stream(TEXT.to_vec())?.import_into(Cursor::new(Vec::new()), &options, &files);
        assert!(matches!(imported, Err(ImportError::Write(TraceError::Write { .. }))));
        let opened = stream(TEXT.to_vec())?.into_trace(ONE, &files).err();
        assert!(matches!(opened, Some(OpenError::WriteTemporary { .. })));
        Ok(())
    }
}
