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
                None => {
                    let expected = formats::expected();
                    let instead = what_else(start, compression.map(|one| one.kind), path);
                    let message = format!("not a trace; expected {expected}{instead}");
                    ImportError::File { file: path.to_owned(), message }
                }
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

/// The end of a message about a file that is not a trace: the kind of file it is instead.
fn what_else(start: &[u8], compression: Option<FileKind>, path: &Path) -> String {
    match (FileKind::detect(after_comments(start)), compression) {
        (Some(kind), Some(outer))
            if kind == FileKind::BinaryTrace || compressed::detect(start).is_some() =>
        {
            format!(", not {} inside {}; {}", kind.name(), outer.name(), outer.advice())
        }
        (Some(kind), _) => format!(", not {kind}"),
        (None, _) if start.is_empty() => ", not an empty file".to_owned(),
        (None, Some(_)) => String::new(),
        (None, None) => compressed::by_name(path.as_os_str().as_encoded_bytes())
            .map_or_else(String::new, |named| format!("; it is not {} either", named.kind.name())),
    }
}

/// Skips the comment lines with which configurations begin.
fn after_comments(mut text: &[u8]) -> &[u8] {
    while text.starts_with(b"#") {
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        text = text[end..].trim_ascii_start();
    }
    text
}
