//! [`TraceSource`]: a trace of any kind, in a file or from a stream. A binary trace in a file is used in place. A text
//! trace, and a binary trace from a stream, go to a temporary file first.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use crate::binary::{BinaryTrace, Compression, MAGIC, TraceError, TraceWriter};
use crate::folder::{self, FolderTraces};
use crate::import::{ImportError, ImportEvent, import, is_certainly_text_trace};
use warpload::memory::Arena;
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::without_mark;

/// The bytes from which the kind of a trace is recognized.
const START_BYTES: u64 = 4096;

/// The caller's side of opening and importing traces: holds the bytes of files, and observes progress.
pub trait TraceFiles: Sync {
    /// Returns the bytes of a whole file, mapped or read. Reads them by default.
    ///
    /// # Errors
    /// Returns the I/O error of the file.
    fn bytes(&self, _path: &Path, file: &File) -> io::Result<Arena> {
        Arena::read(file)
    }

    /// Returns the bytes of a temporary file without a name, mapped or read. Mapping is safe, because no other process can
    /// open the file and change it. Reads them by default.
    ///
    /// # Errors
    /// Returns the I/O error of the file.
    fn temporary_bytes(&self, file: &File) -> io::Result<Arena> {
        Arena::read(file)
    }

    /// Receives events: opened files, and bytes that will be read or were read.
    fn observe(&self, _: ImportEvent<'_>) {}

    /// Returns whether an import should stop.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Reads files into memory, and observes nothing.
impl TraceFiles for () {}

/// Why a trace cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read, or is not a trace.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A binary trace is invalid.
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
///
/// A text is a trace of Accel-Sim (`.trace`, `.traceg` or `.tracez`, or a `kernelslist.g` with all files that it lists),
/// of NVBit's mem_trace, or of CUTracer. It may be compressed as `.gz`, `.xz` or `.zst`. Format and compression are
/// recognized by content.
pub struct TraceSource<'s> {
    /// The name in messages. File names inside the trace are relative to it.
    name: PathBuf,
    start: Vec<u8>,
    /// All bytes, from the beginning.
    bytes: Box<dyn Read + Send + 's>,
    /// The file, if it is a regular one.
    file: Option<(File, Metadata)>,
}

impl<'s> TraceSource<'s> {
    /// Opens a file or a named pipe, and reports it to `files`. Of a folder it opens the `kernelslist.g`, or else the
    /// traces, in the order of their names and the numbers in them.
    ///
    /// # Errors
    /// Returns [`ImportError`] if it cannot be read, or is a folder without traces.
    pub fn open(path: &Path, files: &dyn TraceFiles) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Read { file: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return match folder::traces_in(path)? {
                FolderTraces::File(file) => Self::open(&file, files),
                FolderTraces::List(list) => Self::from_stream(Cursor::new(list), &path.join("*")),
            };
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
    pub fn from_stream(mut bytes: impl Read + Send + 's, name: &Path) -> Result<Self, ImportError> {
        let mut start = Vec::new();
        let read = bytes.by_ref().take(START_BYTES).read_to_end(&mut start);
        read.map_err(|source| ImportError::Read { file: name.to_owned(), source })?;
        let bytes = Box::new(Cursor::new(start.clone()).chain(bytes));
        let name = name.to_owned();
        Ok(Self { name, start, bytes, file: None })
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
        let is_there = self.file.is_some() && !self.name.starts_with("/dev");
        self.name.parent().filter(|_| is_there).unwrap_or(Path::new(""))
    }

    /// Returns whether this is a binary trace, or the first bytes of one.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        let start = &self.start[..self.start.len().min(MAGIC.len())];
        !start.is_empty() && MAGIC.starts_with(start)
    }

    /// Returns the kind of the source, by its first bytes; `None` if it can be a text trace, or is of unknown kind.
    #[must_use]
    pub fn kind(&self) -> Option<FileKind> {
        let start = without_mark(&self.start).trim_ascii_start();
        match FileKind::recognize(&self.start) {
            Some(kind) if !is_certainly_text_trace(start) => Some(kind),
            // Whatever else is JSON describes an image, or is no file of ours.
            None if start.starts_with(b"{") && !is_certainly_text_trace(start) => {
                Some(FileKind::Manifest)
            }
            _ => None,
        }
    }

    /// Returns all bytes from the beginning.
    #[must_use]
    pub fn into_bytes(self) -> Box<dyn Read + Send + 's> {
        self.bytes
    }

    /// Opens the trace. All but a binary trace in a file go to a temporary file without a name first. It vanishes with
    /// the process, even if that crashes.
    ///
    /// # Errors
    /// Returns [`OpenError`] if a file cannot be read or is invalid.
    pub fn into_trace(
        self,
        threads: NonZero<usize>,
        files: &dyn TraceFiles,
    ) -> Result<BinaryTrace, OpenError> {
        if let Some((file, _)) = self.file.as_ref().filter(|_| self.start.starts_with(&MAGIC)) {
            let path = self.name.clone();
            let bytes = files.bytes(&path, file);
            let bytes = bytes.map_err(|source| ImportError::Read { file: path.clone(), source })?;
            return BinaryTrace::new(bytes).map_err(|source| OpenError::Trace { path, source });
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
        let Self { name, bytes, file, .. } = self;
        let file = file.map(|(file, _)| file);
        let output = BufWriter::new(Interruptible { output, files });
        let source = import_source(&name);
        let writer = TraceWriter::with_compression(output, source, options.compression);
        let mut writer = writer.map_err(write_error)?;
        let threads = options.threads.get();
        import(bytes, file, &name, &mut writer, threads, &|event| files.observe(event))?;
        writer.finish().map(drop).map_err(write_error)
    }
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

    #[derive(Default)]
    struct Seen {
        is_interrupted: bool,
        /// The names of opened files.
        files: Mutex<Vec<PathBuf>>,
    }

    impl TraceFiles for Seen {
        fn observe(&self, event: ImportEvent<'_>) {
            if let ImportEvent::Opened(path, _) = event
                && let Ok(mut files) = self.files.lock()
            {
                files.push(path.to_owned());
            }
        }

        fn is_interrupted(&self) -> bool {
            self.is_interrupted
        }
    }

    const TEXT: &[u8] = b"made up:\nLDG.E\nSTS\nLDG.E\n";
    const ONE: NonZero<usize> = NonZero::<usize>::MIN;

    fn stream(bytes: Vec<u8>) -> Result<TraceSource<'static>, ImportError> {
        TraceSource::from_stream(Cursor::new(bytes), Path::new("a stream"))
    }

    #[test]
    fn a_trace_is_the_same_from_every_source() -> Result<(), Box<dyn std::error::Error>> {
        let (folder, files) = (tempfile::tempdir()?, Seen::default());
        let at = |name: &str| folder.path().join(name);
        let text = stream(TEXT.to_vec())?;
        assert!(!text.is_binary() && text.kind().is_none());
        let trace = text.into_trace(ONE, &files)?;
        let expected = (trace.loads(), trace.content_hash());
        let mut bytes = Cursor::new(Vec::new());
        let options = ImportOptions::new(ONE).compression(Compression::None);
        stream(TEXT.to_vec())?.import_into(&mut bytes, &options, &files)?;
        let bytes = bytes.into_inner();
        std::fs::write(at("a.wlt"), &bytes)?;

        let piped = stream(bytes)?;
        assert!(piped.is_binary());
        let piped = piped.into_trace(ONE, &files)?;
        assert_eq!((piped.loads(), piped.content_hash()), expected);
        let source = TraceSource::open(&at("a.wlt"), &files)?;
        assert!(source.is_binary() && source.folder() == folder.path());
        let opened = source.into_trace(ONE, &files)?;
        assert_eq!((opened.loads(), opened.content_hash()), expected);
        assert_eq!(*files.files.lock().map_err(|_| "a panic")?, [at("a.wlt")]);
        let kind = |text: &str| stream(text.into()).map(|source| source.kind());
        assert_eq!(kind("{\"global\": []}")?, Some(FileKind::Manifest));
        assert_eq!(kind("{\"type\":\"mem_trace\"}")?, None);
        // The only trace of a folder.
        let source = TraceSource::open(folder.path(), &Seen::default())?;
        assert!(source.is_binary() && source.name() == at("a.wlt"));
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
