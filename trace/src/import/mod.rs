//! Converts text traces of other tools to a binary trace, as a stream, in parallel over files and over the
//! parts of a file.
//!
//! `formats.rs` lists the formats, each with a reader in its own file. Readers add kernels and instructions to a
//! `Sink`, which passes them on in blocks.

mod accelsim;
mod compressed;
mod cutracer;
mod error;
mod file_list;
mod formats;
mod interner;
mod jsonl;
mod lines;
mod listed;
mod logs;
#[cfg(test)]
mod made_up;
mod nvbit;
mod sink;
mod source;
mod text;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use self::interner::Interner;
use self::sink::ImportItem;
use self::source::ImportSource;
use crate::binary::{BlockRecords, TraceError, TraceWriter};
use warpload_binary::lines::without_mark;

pub use self::error::ImportError;
pub(crate) use self::file_list::names_a_trace_file;

/// Returns whether a text that begins with `start` is certainly a trace or a list of traces, because it has words that
/// only one of the formats has. Text that is merely likely to be a trace, such as any other JSON, does not count.
#[must_use]
pub fn is_certainly_text_trace(start: &[u8]) -> bool {
    formats::is_certain(without_mark(start).trim_ascii_start())
}

/// Imports the text of `input` on at most `threads` threads. Errors call it `name`, and the files of a list are relative
/// to `name`. `file` is the regular file that `input` reads, if it is one: a format with an index then needs no copy of
/// it. Reports opened files and read bytes to `observe`.
///
/// # Errors
/// Returns [`ImportError`] with file, line and column if a file cannot be read or is invalid. The trace is then
/// incomplete.
pub(crate) fn import<W: Write + Seek>(
    input: impl Read + Send,
    file: Option<File>,
    name: &Path,
    writer: &mut TraceWriter<W>,
    threads: usize,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<(), ImportError> {
    let interner = Interner::default();
    let mut shared = Shared::new(&interner);
    writer.use_threads(threads);
    match ImportSource::open(input, file, name, observe)? {
        ImportSource::Trace(trace) => {
            let mut import = Import::new(writer, name, &mut shared);
            trace.read(threads.max(1), &interner, &mut |found| import.take(found))
        }
        ImportSource::List(list) => {
            let list = list.read()?;
            list.describe(writer);
            observe(ImportEvent::Listed(list.bytes()));
            listed::read(&list, threads.max(1), &interner, observe, |file, read| {
                let mut import = Import::new(writer, file, &mut shared);
                read(&mut |found| import.take(found))
            })
        }
    }
}

/// State and limits shared by all files of a list.
struct Shared<'i> {
    interner: &'i Interner,
    /// The trace's number of each interned operation, once a record has used it.
    operations: Vec<Option<u16>>,
    header_lines: usize,
    /// The instructions without a line of their own in an export.
    unlisted: u64,
    records: u64,
    source_lines: usize,
}

impl<'i> Shared<'i> {
    fn new(interner: &'i Interner) -> Self {
        let operations = Vec::new();
        Self { interner, operations, header_lines: 0, unlisted: 0, records: 0, source_lines: 0 }
    }
}

/// Writes the items that the reader of one file finds.
struct Import<'w, 'i, W> {
    writer: &'w mut TraceWriter<W>,
    file: &'w Path,
    shared: &'w mut Shared<'i>,
    /// The records of earlier files.
    records_before: u64,
    /// The trace's number of each of the file's kernels.
    kernels: Vec<u32>,
}

impl<'w, 'i, W: Write + Seek> Import<'w, 'i, W> {
    fn new(writer: &'w mut TraceWriter<W>, file: &'w Path, shared: &'w mut Shared<'i>) -> Self {
        let records_before = shared.records;
        Self { writer, file, shared, records_before, kernels: Vec::new() }
    }

    /// The trace's number of a kernel.
    fn number_of(&self, kernel: u32) -> u32 {
        let number = self.kernels.get(kernel as usize).copied();
        debug_assert!(number.is_some(), "{NUMBERED}");
        number.unwrap_or(0)
    }

    /// Replaces the interner's operation numbers by the trace's. New operations get the next number.
    fn renumber(&mut self, block: &mut BlockRecords) -> Result<(), ImportError> {
        let Self { writer, shared: Shared { interner, operations, .. }, .. } = self;
        block.renumber(|interned| {
            let place = usize::from(interned);
            if let Some(Some(number)) = operations.get(place) {
                return Ok(*number);
            }
            let operation = interner.numbered(interned);
            debug_assert!(operation.is_some(), "{NUMBERED}");
            let number = operation.and_then(|one| writer.operation(&one.operation));
            if operations.len() <= place {
                operations.resize(place + 1, None);
            }
            operations[place] = number;
            number.ok_or_else(too_many_operations)
        })
    }

    fn take(&mut self, found: ImportItem) -> Result<(), ImportError> {
        let failed = |source| ImportError::Write(TraceError::Write { source });
        match found {
            ImportItem::Kernel(kernel) => {
                self.shared.header_lines += kernel.header.len();
                if self.shared.header_lines > MAX_HEADER_LINES {
                    return Err(too_many(MAX_HEADER_LINES, "header lines"));
                }
                let number = self.writer.kernels();
                if number >= MAX_KERNELS {
                    return Err(too_many(MAX_KERNELS, "kernels"));
                }
                self.kernels.push(number as u32);
                self.writer.kernel(kernel).map_err(failed)
            }
            ImportItem::Unlisted { count, line, before } => {
                let unlisted = self.shared.unlisted.saturating_add(count);
                self.shared.unlisted = unlisted;
                check_unlisted(unlisted, self.records_before + before).map_err(|message| {
                    ImportError::Line { file: self.file.to_owned(), line, column: 1, message }
                })
            }
            ImportItem::Block(kernel, mut block) => {
                self.shared.records += block.records() as u64;
                self.renumber(&mut block)?;
                let kernel = self.number_of(kernel);
                self.writer.append(kernel, block).map_err(failed)
            }
            ImportItem::SourceLines(kernel, lines) => {
                self.shared.source_lines += lines.len();
                if self.shared.source_lines > MAX_SOURCE_LINES {
                    self.writer.note(FURTHER_LINES);
                    return Ok(());
                }
                let kernel = self.number_of(kernel);
                self.writer.source_lines(kernel, lines);
                Ok(())
            }
            ImportItem::Tool(tool) => {
                self.writer.tool(&tool);
                Ok(())
            }
            ImportItem::Note(note) => {
                self.writer.note(&note);
                Ok(())
            }
            ImportItem::Allocations(list) => {
                self.writer.allocations(list);
                Ok(())
            }
            ImportItem::EndUnknown(note) => {
                self.writer.may_be_cut_off(note);
                Ok(())
            }
        }
    }
}

/// The note for source lines beyond the limit.
const FURTHER_LINES: &str = "source lines of further program counters are left out";

/// The reason why a lookup by number succeeds.
const NUMBERED: &str = "readers number operations and kernels before they use them";

/// Receives the events of an import.
pub(super) type Observe<'o> = dyn Fn(ImportEvent<'_>) + Sync + 'o;

/// An event that an import reports while it reads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ImportEvent<'f> {
    /// A file was opened.
    Opened(&'f Path, &'f File),
    /// This many further bytes will be read. Missing files of a list do not count.
    Listed(u64),
    /// This many further bytes of some file were read.
    Read(u64),
}

/// The maximum number of kernels in a trace.
pub const MAX_KERNELS: usize = 1 << 20;

/// The maximum number of header lines, over all kernels of a trace.
pub(crate) const MAX_HEADER_LINES: usize = 1 << 24;

/// Limits for instructions without a line of their own in all files: a base, and an allowance for each record. A few
/// bytes of input must not cause unbounded work or unboundedly many blocks without records.
const MAX_UNLISTED: u64 = 1 << 32;
const UNLISTED_FOR_RECORD: u64 = 1 << 22;

/// Checks the number of instructions without a line against the number of records.
pub(super) fn check_unlisted(unlisted: u64, records: u64) -> Result<(), String> {
    let most = MAX_UNLISTED.saturating_add(UNLISTED_FOR_RECORD.saturating_mul(records));
    if unlisted <= most {
        return Ok(());
    }
    Err(format!(
        "more than {MAX_UNLISTED} instructions without a line in all files, and \
         {UNLISTED_FOR_RECORD} more for each record before"
    ))
}

/// The maximum number of program counters with source lines, over all launches of a trace.
pub(super) const MAX_SOURCE_LINES: usize = 1 << 22;

/// The maximum number of operations in a trace, because their numbers have 16 bits.
pub(crate) const MAX_OPERATIONS: usize = 1 << 16;

pub(super) fn too_many_operations() -> ImportError {
    too_many(MAX_OPERATIONS, "different memory instructions")
}

pub(super) fn too_many(most: usize, what: &str) -> ImportError {
    let message = format!("more than {most} {what} in all files");
    ImportError::File { file: PathBuf::from("the trace"), message }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::binary::{BinaryTrace, Kernel};

    /// Imports a kernel after that many kernels and header lines.
    fn take(kernels: usize, header_lines: usize) -> Result<(), String> {
        let output = Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(output, "a test".to_owned()).expect("in memory");
        for _ in 0..kernels {
            writer.kernel(Kernel::default()).expect("in memory");
        }
        let interner = Interner::default();
        let mut shared = Shared { header_lines, ..Shared::new(&interner) };
        let mut import = Import::new(&mut writer, Path::new("file"), &mut shared);
        let header = vec![("key".into(), "value".into()); 2];
        let kernel = Kernel { header, ..Kernel::default() };
        import.take(ImportItem::Kernel(kernel)).map_err(|error| error.to_string())
    }

    /// A format needs only its file and a row in the list.
    #[test]
    fn another_format_is_one_more_row() {
        let imported = |input: &'static [u8]| {
            let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned())?;
            import(input, None, Path::new("file"), &mut writer, 2, &|_| ())
                .map_err(|error| std::io::Error::other(error.to_string()))?;
            writer.finish().map(Cursor::into_inner)
        };
        let bytes = imported(b"made up:\nLDG.E\nSTS\nLDG.E\n").expect("a trace");
        let trace = BinaryTrace::new(bytes.into()).expect("a trace");
        assert_eq!((trace.instructions(), trace.loads()), (3, 2));
        let unknown = imported(b"unknown").expect_err("no format").to_string();
        assert!(unknown.contains(", a kernelslist.g of Accel-Sim or a made-up trace"), "{unknown}");
    }

    #[test]
    fn kernels_and_header_lines_are_bounded() {
        assert_eq!(take(MAX_KERNELS - 1, MAX_HEADER_LINES - 2), Ok(()));
        let many = |what| Err(format!("the trace: more than {what} in all files"));
        assert_eq!(take(MAX_KERNELS, 0), many("1048576 kernels"));
        assert_eq!(take(0, MAX_HEADER_LINES - 1), many("16777216 header lines"));
    }
}
