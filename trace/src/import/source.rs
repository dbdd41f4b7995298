//! [`ImportSource`]: an opened text trace or list of traces in a recognized format.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::compressed;
use super::error::ImportError;
use super::file_list::FileList;
use super::formats::{FormatReader, IndexedReader, ListReader, TraceReader};
use super::interner::Interner;
use super::listed::Emit;
use super::sink::Sink;
use super::text::{self, FoundCount, Opened, Text};
use super::{ImportEvent, formats};
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::without_mark;

/// After an error in the text, at most this many further bytes are decompressed to find out whether the compressed file
/// is damaged.
const AFTER_ERROR: u64 = 64 << 20;

/// A text in a recognized format.
pub(super) enum ImportSource<'o> {
    Trace(Trace<'o>),
    List(List<'o>),
}

/// A text trace of one file.
pub(super) struct Trace<'o> {
    text: Text<'o>,
    read: Reader,
    is_compressed: bool,
    path: &'o Path,
    found: FoundCount,
}

/// The reader of a trace. One that reads at any offset has the file, if there is one.
enum Reader {
    Text(TraceReader),
    Indexed(IndexedReader, Option<File>),
}

/// The text of a list of files, with its reader.
pub(super) struct List<'o> {
    text: Text<'o>,
    read: ListReader,
    path: &'o Path,
}

impl List<'_> {
    /// Reads the list.
    pub(super) fn read(mut self) -> Result<FileList, ImportError> {
        (self.read)(&mut self.text, self.path)
    }
}

impl<'o> ImportSource<'o> {
    /// Recognizes the format of `input`. Errors call it `path`. `file` is the regular file that `input` reads, if it is
    /// one.
    pub(super) fn open(
        input: impl Read + Send + 'o,
        file: Option<File>,
        path: &'o Path,
        observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
    ) -> Result<Self, ImportError> {
        let unreadable = |source| ImportError::Read { file: path.to_owned(), source };
        let refused = |message| ImportError::File { file: path.to_owned(), message };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("cutracer_main_") && name.ends_with(".log") {
            return Err(refused(CUTRACER_LOG.to_owned()));
        }
        let Opened { start, failed, text, compression, found } =
            text::open(input, observe).map_err(unreadable)?;
        let start = without_mark(&start).trim_ascii_start();
        match formats::reader(start) {
            Some(FormatReader::Trace(read)) => {
                let (read, is_compressed) = (Reader::Text(read), compression.is_some());
                Ok(Self::Trace(Trace { text, read, is_compressed, path, found }))
            }
            Some(FormatReader::Indexed(read)) => {
                let is_compressed = compression.is_some();
                let read = Reader::Indexed(read, file.filter(|_| !is_compressed));
                Ok(Self::Trace(Trace { text, read, is_compressed, path, found }))
            }
            Some(FormatReader::List(read)) => Ok(Self::List(List { text, read, path })),
            None => Err(match failed {
                Some(source) => unreadable(source),
                None => refused(not_a_trace(start, compression.map(|one| one.kind), path)),
            }),
        }
    }
}

impl Trace<'_> {
    /// Reads the trace on at most `threads` threads.
    pub(super) fn read(
        mut self,
        threads: usize,
        interner: &Interner,
        emit: Emit<'_>,
    ) -> Result<(), ImportError> {
        // If the import refuses an item, the text is not at fault, and the error needs no other cause.
        let mut is_refused = false;
        let mut emit = |found| emit(found).inspect_err(|_| is_refused = true);
        let (text, path) = (&mut self.text, self.path);
        let mut sink = Sink::new(interner, self.found.clone(), &mut emit);
        let read = match &mut self.read {
            Reader::Text(read) => read(text, path, threads, &mut sink),
            Reader::Indexed(read, file) => read(text, file.take(), path, threads, &mut sink),
        };
        match read {
            Ok(()) => sink.finish(),
            Err(error) if is_refused => Err(error),
            Err(error) => Err(self.cause(error)),
        }
    }

    /// Finds the cause of an error in a text: a damaged compressed file yields invalid text before the decoder reaches
    /// its checksum.
    fn cause(&mut self, error: ImportError) -> ImportError {
        let line = match error {
            ImportError::Line { line, .. } => Some(line),
            ImportError::File { .. } => None,
            ImportError::Read { .. } | ImportError::Temporary { .. } | ImportError::Write(_) => {
                return error;
            }
        };
        if !self.is_compressed {
            return error;
        }
        match io::copy(&mut self.text.by_ref().take(AFTER_ERROR), &mut io::sink()) {
            Ok(_) => error,
            Err(source) => ImportError::unreadable(self.path, line, &source),
        }
    }
}

const CUTRACER_LOG: &str = "the log of CUTracer itself, not a trace: the trace is a `kernel_*.ndjson` of the \
    same run";

/// The message about a file that is not a trace: its kind if that is known, and the formats of traces.
fn not_a_trace(start: &[u8], compression: Option<FileKind>, path: &Path) -> String {
    let known = match (FileKind::recognize(start), compression) {
        (Some(kind), Some(outer))
            if kind == FileKind::BinaryTrace || compressed::detect(start).is_some() =>
        {
            format!("{} inside {}: {}", kind.name(), outer.name(), outer.advice())
        }
        (Some(kind), _) => kind.instead_of("a trace"),
        _ if start.is_empty() => "an empty file, not a trace".to_owned(),
        _ => "not a trace".to_owned(),
    };
    // A name can promise what the bytes do not hold.
    let named = compressed::by_name(path.as_os_str().as_encoded_bytes());
    let named = named.filter(|_| compression.is_none() && known == "not a trace");
    let nor = named.map_or(String::new(), |named| format!(", nor {}", named.kind.name()));
    format!("{known}{nor}; a trace is {}", formats::expected())
}
