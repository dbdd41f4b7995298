//! [`Source`]: a text trace or a list of them, decompressed, of a known kind.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use super::ImportEvent;
use super::error::ImportError;
use super::sink::{Found, Sink};
use super::xz::XzReader;
use super::{accelsim, nvbit};
use crate::file_kind::FileKind;
use crate::lines::without_mark;

/// What a text is, by how it begins.
enum Kind {
    Trace(Format),
    KernelsList,
}

#[derive(Clone, Copy)]
enum Format {
    AccelSim,
    MemTraceLog,
    MemTraceJson,
}

/// An input whose reading is observed.
struct Observed<'o, R> {
    input: R,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
}

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.observe)(ImportEvent::Read(read as u64));
        Ok(read)
    }
}

/// How many bytes are read at once.
const BUFFER: usize = 1 << 16;

/// How many bytes tell the kind of a trace. A program can print much before its first record.
const START: usize = 1 << 20;

/// How many bytes of text after an error are decompressed to learn whether the compressed file is
/// damaged.
const AFTER_ERROR: u64 = 64 << 20;

type Text<'o> = BufReader<Box<dyn Read + Send + 'o>>;

/// A text, decompressed, whose kind is known.
pub(super) enum Source<'o> {
    Trace(Trace<'o>),
    KernelsList(Text<'o>),
}

/// A text trace of one file.
pub(super) struct Trace<'o> {
    text: Text<'o>,
    format: Format,
    is_compressed: bool,
    path: &'o Path,
}

impl<'o> Source<'o> {
    /// Finds out what `input` is, which errors call `path`.
    pub(super) fn open(
        input: impl Read + Send + 'o,
        path: &'o Path,
        observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
    ) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Read { file: path.to_owned(), source };
        let (start, raw) = peek(Observed { input, observe }, FileKind::DETECT_BYTES);
        let is_compressed = FileKind::detect(&start) == Some(FileKind::Xz);
        let plain: Box<dyn Read + Send + 'o> = if is_compressed {
            let raw = BufReader::with_capacity(BUFFER, raw);
            Box::new(XzReader::new(raw).map_err(failed)?)
        } else {
            Box::new(raw)
        };
        let (start, mut plain) = peek(plain, START);
        let start = without_mark(&start).trim_ascii_start();
        let Some(kind) = kind_of(start) else {
            if let Some(error) = plain.failed.take() {
                return Err(failed(error));
            }
            let is_misnamed = !is_compressed && path.extension() == Some("xz".as_ref());
            let message = format!(
                "no trace; expected an Accel-Sim trace, its kernelslist.g, or a mem_trace of NVBit, \
                 as a log or as JSON{}",
                what_else(start, is_misnamed)
            );
            return Err(ImportError::File { file: path.to_owned(), message });
        };
        let text: Text<'o> = BufReader::with_capacity(BUFFER, Box::new(plain));
        Ok(match kind {
            Kind::Trace(format) => Self::Trace(Trace { text, format, is_compressed, path }),
            Kind::KernelsList => Self::KernelsList(text),
        })
    }
}

impl Trace<'_> {
    /// Reads the trace.
    pub(super) fn read(
        mut self,
        emit: &mut dyn FnMut(Found) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        // What the import refuses is not for the text to explain.
        let mut is_refused = false;
        let mut emit = |found| emit(found).inspect_err(|_| is_refused = true);
        let (text, path, mut sink) = (&mut self.text, self.path, Sink::new(&mut emit));
        let read = match self.format {
            Format::AccelSim => accelsim::read(text, path, &mut sink),
            Format::MemTraceLog => nvbit::read_log(text, path, &mut sink),
            Format::MemTraceJson => nvbit::read_json(text, path, &mut sink),
        };
        match read {
            Ok(()) => sink.finish(),
            Err(error) if is_refused => Err(error),
            Err(error) => Err(self.cause(error)),
        }
    }

    /// Returns why a text is wrong. Damaged compressed files become wrong text before their
    /// checksums tell.
    fn cause(&mut self, error: ImportError) -> ImportError {
        let line = match error {
            ImportError::Line { line, .. } => Some(line),
            ImportError::File { .. } => None,
            ImportError::Read { .. } | ImportError::Write(_) => return error,
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

fn kind_of(start: &[u8]) -> Option<Kind> {
    Some(match start.first() {
        _ if start.starts_with(b"-kernel name") => Kind::Trace(Format::AccelSim),
        // The program's own output, of any form, may come before the log.
        _ if is_log(start) => Kind::Trace(Format::MemTraceLog),
        Some(b'[' | b'{') => Kind::Trace(Format::MemTraceJson),
        _ if names_a_key(start) || start.starts_with(b"#traces format") => {
            Kind::Trace(Format::AccelSim)
        }
        _ if start.starts_with(b"Memcpy") || names_a_trace(start) => Kind::KernelsList,
        Some(b'-') => Kind::Trace(Format::AccelSim),
        _ => return None,
    })
}

/// What a file that is not a trace is instead, as the end of a message.
fn what_else(start: &[u8], is_misnamed: bool) -> String {
    match FileKind::detect(start) {
        Some(kind) => format!(", not {kind}"),
        None if start.is_empty() => ", not an empty file".to_owned(),
        None if is_misnamed => "; it is not an xz file either".to_owned(),
        None => String::new(),
    }
}

/// Whether a message of mem_trace is there.
fn is_log(start: &[u8]) -> bool {
    memchr::memmem::find(start, b"MEMTRACE: CTX 0x").is_some()
        || start.starts_with(b"MEMTRACE: ")
        || memchr::memmem::find(start, b"\nMEMTRACE: ").is_some()
}

fn first_line(start: &[u8]) -> &[u8] {
    start.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// Whether the first line is `-key = value`.
fn names_a_key(start: &[u8]) -> bool {
    start.starts_with(b"-") && first_line(start).contains(&b'=')
}

/// Whether the first line is the name of a trace's file.
fn names_a_trace(start: &[u8]) -> bool {
    let line = first_line(start);
    [&b".traceg"[..], b".trace", b".xz"].iter().any(|ending| line.ends_with(ending))
}

/// An input whose first bytes were read.
struct Peeked<R> {
    start: Cursor<Vec<u8>>,
    /// Why there are no more of them. It is returned after them, so that the reader knows the place.
    failed: Option<io::Error>,
    input: R,
}

/// Returns up to `count` bytes, and the input from its beginning on. A pipe gives as much at once as
/// was written at once, which need not be a line.
fn peek<R: Read>(mut input: R, count: usize) -> (Vec<u8>, Peeked<R>) {
    let mut start = Vec::new();
    let failed = input.by_ref().take(count as u64).read_to_end(&mut start).err();
    (start.clone(), Peeked { start: Cursor::new(start), failed, input })
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.start.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        self.failed.take().map_or_else(|| self.input.read(buffer), Err)
    }
}
