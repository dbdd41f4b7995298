//! Imports: text traces of other tools into a binary trace, streaming, in parallel by file.

mod accelsim;
mod error;
mod kernels_list;
mod nvbit;
mod sink;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use liblzma::bufread::XzDecoder;

pub use self::error::ImportError;
use self::sink::{Found, Sink};
use super::TraceError;
use super::binary::{Names, TraceWriter};
use crate::file_kind::FileKind;
use crate::impossible::OrImpossible;

/// How many messages a file's reader may be ahead of the writer; a block is one message.
const AHEAD: usize = 4;

/// The memory that decoding an `.xz` may take. `xz -9` asks for 65 MiB; a hostile file could ask
/// for 4 GiB.
const XZ_MEMORY: u64 = 256 << 20;

/// No trace has more kernels.
pub const MAX_KERNELS: usize = 1 << 20;

/// What an import tells while it reads.
#[derive(Clone, Copy, Debug)]
pub enum ImportEvent<'f> {
    /// A file that the input names was opened.
    Opened(&'f Path, &'f File),
    /// That many bytes more were read, of all files.
    Read(u64),
}

/// Imports a text trace: Accel-Sim's `.trace` or `.traceg`, either also `.xz`; a `kernelslist.g`
/// with all files that it lists; NVBit's mem_trace as a log or as JSON. The kinds are told apart
/// by content. At most `threads` files are read at once, and `observe` is told what is opened
/// and read.
///
/// # Errors
/// [`ImportError`] with file, line and column.
pub fn import<W: Write + Seek>(
    input: &Path,
    writer: &mut TraceWriter<W>,
    threads: usize,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<(), ImportError> {
    let file =
        File::open(input).map_err(|source| ImportError::Read { file: input.to_owned(), source })?;
    import_from(file, input, writer, threads, observe)
}

/// Imports what `input` holds, as [`import`] does. Errors call it `name`, and the files of a list
/// are found relative to that.
///
/// # Errors
/// [`ImportError`] with file, line and column.
pub fn import_from<W: Write + Seek>(
    input: impl Read + Send,
    name: &Path,
    writer: &mut TraceWriter<W>,
    threads: usize,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<(), ImportError> {
    let (mut opened, kind) = open(input, name, observe)?;
    if kind == Kind::KernelsList {
        let list = kernels_list::read(name, &mut opened)?;
        writer.allocations(list.allocations);
        return import_files(name, &list.files, writer, threads, observe);
    }
    let mut names = Names::default();
    let mut import = Import::new(writer, name, &mut names);
    read_one(opened, kind, name, &mut |found| import.take(found))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    AccelSim,
    KernelsList,
    MemTraceLog,
    MemTraceJson,
}

type Opened<'o> = BufReader<Box<dyn Read + Send + 'o>>;

/// An input whose reading is observed.
struct Observed<'o, R> {
    input: R,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
}

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.observe)(ImportEvent::Read(read as u64));
        Ok(read)
    }
}

/// How many bytes are read at once.
const BUFFER: usize = 1 << 16;

/// How many bytes tell the kind of a trace. A program can print much before its first record.
const START: usize = 1 << 20;

fn open<'o>(
    input: impl Read + Send + 'o,
    path: &Path,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<(Opened<'o>, Kind), ImportError> {
    let failed = |source| ImportError::Read { file: path.to_owned(), source };
    let input = Observed { input, observe };
    let (start, raw) = peek(input, FileKind::DETECT_BYTES).map_err(failed)?;
    let plain: Box<dyn Read + Send + 'o> = if FileKind::detect(&start) == Some(FileKind::Xz) {
        let flags = liblzma::stream::CONCATENATED;
        let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags);
        let stream = stream.map_err(|error| failed(error.into()))?;
        Box::new(XzDecoder::new_stream(BufReader::with_capacity(BUFFER, raw), stream))
    } else {
        Box::new(raw)
    };
    let (start, plain) = peek(plain, START).map_err(failed)?;
    let start = start.trim_ascii_start();
    let kind = match start.first() {
        _ if start.starts_with(b"-kernel name") => Kind::AccelSim,
        // The program's own output, of any form, may come before the log.
        _ if is_log(start) => Kind::MemTraceLog,
        Some(b'[' | b'{') => Kind::MemTraceJson,
        _ if names_a_key(start) || start.starts_with(b"#traces format") => Kind::AccelSim,
        _ if start.starts_with(b"Memcpy") || names_a_trace(start) => Kind::KernelsList,
        Some(b'-') => Kind::AccelSim,
        _ => {
            let kind = FileKind::detect(start).map(|kind| format!(", not {kind}"));
            let message = format!(
                "no trace; expected an Accel-Sim trace, its kernelslist.g, or a mem_trace of NVBit, \
                 as a log or as JSON{}",
                kind.unwrap_or_default()
            );
            return Err(ImportError::File { file: path.to_owned(), message });
        }
    };
    Ok((BufReader::with_capacity(BUFFER, Box::new(plain)), kind))
}

/// The first `count` bytes, as far as there are so many, and the input with them. A pipe gives as
/// much at once as was written at once, which need not be a line.
fn peek<R: Read>(mut input: R, count: usize) -> std::io::Result<(Vec<u8>, impl Read)> {
    let mut start = Vec::new();
    input.by_ref().take(count as u64).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(input)))
}

/// Whether a message of mem_trace is there.
fn is_log(start: &[u8]) -> bool {
    memchr::memmem::find(start, b"MEMTRACE: CTX 0x").is_some()
        || start.starts_with(b"MEMTRACE: ")
        || memchr::memmem::find(start, b"\nMEMTRACE: ").is_some()
}

fn first_line(start: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', start).map_or(start, |end| &start[..end]).trim_ascii_end()
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

fn read_one(
    input: Opened<'_>,
    kind: Kind,
    path: &Path,
    emit: &mut dyn FnMut(Found) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut sink = Sink::new(emit);
    match kind {
        Kind::AccelSim => accelsim::read(input, path, &mut sink)?,
        Kind::MemTraceLog => nvbit::read_log(input, path, &mut sink)?,
        Kind::MemTraceJson => nvbit::read_json(input, path, &mut sink)?,
        Kind::KernelsList => {
            let message = "a list of kernels inside a list of kernels".to_owned();
            return Err(ImportError::File { file: path.to_owned(), message });
        }
    }
    sink.finish()
}

/// Writes what the reader of one file finds, with operations and names numbered for the whole trace.
struct Import<'w, W> {
    writer: &'w mut TraceWriter<W>,
    file: &'w Path,
    /// The different names of all files so far, which together have the bound that each file has.
    names: &'w mut Names,
    /// The trace's number of each of the file's kernels.
    kernels: Vec<u32>,
    /// The trace's number of each of the file's operations.
    operations: Vec<u16>,
    /// The trace's number of each of the file's names.
    not_replayed: Vec<u16>,
}

impl<'w, W: Write + Seek> Import<'w, W> {
    fn new(writer: &'w mut TraceWriter<W>, file: &'w Path, names: &'w mut Names) -> Self {
        Self {
            writer,
            file,
            names,
            kernels: Vec::new(),
            operations: Vec::new(),
            not_replayed: Vec::new(),
        }
    }

    /// Returns a name as it is held for the whole trace.
    fn share(&mut self, name: &Arc<str>) -> Result<Arc<str>, ImportError> {
        self.names.share(name).map_err(|error| ImportError::File {
            file: self.file.to_owned(),
            message: error.to_string(),
        })
    }

    fn take(&mut self, found: Found) -> Result<(), ImportError> {
        let failed = |source| {
            ImportError::Write(TraceError::Io { path: PathBuf::from("the output"), source })
        };
        match found {
            Found::Kernel(mut kernel) => {
                kernel.name = self.share(&kernel.name)?;
                for (key, value) in &mut kernel.header {
                    (*key, *value) = (self.share(key)?, self.share(value)?);
                }
                let number = self.writer.kernels();
                if number >= MAX_KERNELS {
                    return Err(too_many(MAX_KERNELS, "kernels"));
                }
                self.kernels.push(number as u32);
                self.writer.kernel(kernel).map_err(failed)
            }
            Found::Operation(mut operation) => {
                operation.opcode = self.share(&operation.opcode)?;
                let number = self.writer.operation(&operation);
                self.operations
                    .push(number.ok_or_else(|| too_many(MAX_NUMBERED, "different loads"))?);
                Ok(())
            }
            Found::NotReplayed(name) => {
                self.share(&name.as_str().into())?;
                let number = self.writer.not_replayed_name(&name);
                let number = number.ok_or_else(|| too_many(MAX_NUMBERED, NOT_REPLAYED))?;
                self.not_replayed.push(number);
                Ok(())
            }
            Found::Block(kernel, mut block) => {
                let of_trace = |numbers: &[u16], i: u16| {
                    numbers.get(usize::from(i)).copied().or_impossible(0, NUMBERED)
                };
                for record in &mut block.records {
                    record.operation = of_trace(&self.operations, record.operation);
                }
                for one in &mut block.not_replayed {
                    one.name = of_trace(&self.not_replayed, one.name);
                }
                let kernel = self.kernels.get(kernel as usize).copied().or_impossible(0, NUMBERED);
                self.writer.append(kernel, &block).map_err(failed)
            }
            Found::Note(note) => {
                self.writer.note(&note);
                Ok(())
            }
            Found::EndUnknown => {
                self.writer.end_is_unknown();
                Ok(())
            }
        }
    }
}

/// How many things of one kind have a number of 16 bits.
const MAX_NUMBERED: usize = 1 << 16;

/// What is numbered comes before its use.
const NUMBERED: &str = "readers number operations, names and kernels before they use them";

pub(super) const NOT_REPLAYED: &str = "different instructions that are not replayed";

/// The number of one more thing of a kind of which there are `count`.
pub(super) fn next_number(count: usize, what: &str) -> Result<u16, ImportError> {
    u16::try_from(count).map_err(|_| too_many(MAX_NUMBERED, what))
}

fn too_many(most: usize, what: &str) -> ImportError {
    let message = format!("more than {most} {what} in all files");
    ImportError::File { file: PathBuf::from("the trace"), message }
}

/// Reads several files at once and writes them in order. A reader that is ahead waits: memory
/// stays bounded whatever the files' sizes.
fn import_files<W: Write + Seek>(
    list: &Path,
    files: &[(PathBuf, u64)],
    writer: &mut TraceWriter<W>,
    threads: usize,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<(), ImportError> {
    type Message = Result<Found, ImportError>;
    let (senders, receivers): (Vec<SyncSender<Message>>, Vec<Receiver<Message>>) =
        files.iter().map(|_| sync_channel(AHEAD)).unzip();
    let senders: Vec<std::sync::Mutex<Option<SyncSender<Message>>>> =
        senders.into_iter().map(|sender| std::sync::Mutex::new(Some(sender))).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, files.len().max(1)) {
            scope.spawn(|| {
                // Files are taken in order, so that the one being written is always being read.
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some((file, line)), Some(sender)) = (files.get(at), senders.get(at))
                    else {
                        return;
                    };
                    let Some(sender) = sender.lock().ok().and_then(|mut sender| sender.take())
                    else {
                        return;
                    };
                    read_file(file, (list, *line), &sender, observe);
                }
            });
        }
        let mut names = Names::default();
        let written = receivers.into_iter().zip(files).try_for_each(|(receiver, (file, _))| {
            let mut import = Import::new(&mut *writer, file, &mut names);
            receiver.into_iter().try_for_each(|found| import.take(found?))
        });
        if written.is_err() {
            // No further file is begun; readers of the others find nobody listening.
            next.store(files.len(), Ordering::Relaxed);
        }
        written
    })
}

/// Reads a file of which a list's line says that it is there.
fn read_file(
    file: &Path,
    (list, line): (&Path, u64),
    sender: &SyncSender<Result<Found, ImportError>>,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
) {
    let stopped = || ImportError::File { file: file.to_owned(), message: "stopped".to_owned() };
    let failed = |source: std::io::Error| ImportError::Line {
        file: list.to_owned(),
        line,
        column: 1,
        message: format!("{}: cannot be read: {source}", file.display()),
    };
    let result = File::open(file)
        .map_err(failed)
        .and_then(|input| {
            observe(ImportEvent::Opened(file, &input));
            open(input, file, observe)
        })
        .and_then(|(opened, kind)| {
            let mut send = |found| sender.send(Ok(found)).map_err(|_| stopped());
            read_one(opened, kind, file, &mut send)
        });
    if let Err(error) = result {
        // Where nobody listens there is an earlier error already.
        let _ = sender.send(Err(error));
    }
}
