//! Imports: text traces of other tools into a binary trace, streaming, in parallel by file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use liblzma::bufread::XzDecoder;
use rustc_hash::FxHashMap;

use super::block::{BlockBuilder, ClosedBlock, NewLoad};
use super::error::{ImportError, TraceError};
use super::format::Kernel;
use super::names::{NameError, Names};
use super::operation::{Class, Operation, Skipped};
use super::writer::TraceWriter;
use super::{accelsim, kernels_list, nvbit};
use crate::file_kind::FileKind;
use crate::lane::LaneMask;

/// How many messages a file's reader may be ahead of the writer; a block is one message.
const AHEAD: usize = 4;

/// The memory that decoding an `.xz` may take. `xz -9` asks for 65 MiB; a hostile file could ask
/// for 4 GiB.
const XZ_MEMORY: u64 = 256 << 20;

/// How many different opcodes are remembered of one file; more are read anew each time.
const KNOWN_OPCODES: usize = 1 << 16;

/// How many bytes the open blocks of launches that are not the current one may take.
const OPEN_BYTES: usize = 32 << 20;

/// No trace has more kernels.
pub const MAX_KERNELS: usize = 1 << 20;

/// What a reader of a text trace finds, in order.
pub(super) enum Found {
    /// Numbered in the order in which they are found, from 0, file by file.
    Kernel(Kernel),
    /// Numbered in the order in which they are found, from 0, file by file.
    Operation(Operation),
    /// The name of instructions that are not replayed; numbered likewise.
    NotReplayed(String),
    /// A block of the kernel with that number.
    Block(u32, ClosedBlock),
    /// What a reader of results should know.
    Note(String),
    /// The file could have been cut off where it ends.
    EndUnknown,
}

/// What an opcode with a memory operand was found to be.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// The operation's number in the file, and its access size in bytes.
    Load {
        operation: u16,
        bytes: u32,
    },
    Skipped(Skipped),
    /// Not replayed, but counted by name: the name's number in the file.
    NotReplayed(u16),
}

/// Why a name that a reader found was refused.
pub(super) enum Refused {
    /// The name itself; the reader knows its place.
    Name(NameError),
    /// The rest of the import.
    Import(ImportError),
}

impl From<NameError> for Refused {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<ImportError> for Refused {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

impl Refused {
    /// The error, at a place if it is the name's.
    pub(super) fn at(self, place: impl FnOnce(String) -> ImportError) -> ImportError {
        match self {
            Self::Name(error) => place(error.to_string()),
            Self::Import(error) => error,
        }
    }
}

/// Takes what a reader finds and hands it on by the block.
pub(super) struct Sink<'s> {
    names: Names,
    /// The current kernel's block.
    block: BlockBuilder,
    current: u32,
    /// The blocks of other kernels, whose launches may go on.
    open: BTreeMap<u32, BlockBuilder>,
    open_bytes: usize,
    kernels: u32,
    opcodes: FxHashMap<Arc<str>, Known>,
    /// How many operations were numbered.
    operations: usize,
    /// The numbers of the names of instructions that are not replayed.
    not_replayed: FxHashMap<String, u16>,
    /// Whether the kernel's code is of SM 5.x or 6.x.
    is_spa5: bool,
    emit: &'s mut dyn FnMut(Found) -> Result<(), ImportError>,
}

impl<'s> Sink<'s> {
    fn new(emit: &'s mut dyn FnMut(Found) -> Result<(), ImportError>) -> Self {
        Self {
            names: Names::default(),
            block: BlockBuilder::default(),
            current: 0,
            open: BTreeMap::new(),
            open_bytes: 0,
            kernels: 0,
            opcodes: FxHashMap::default(),
            operations: 0,
            not_replayed: FxHashMap::default(),
            is_spa5: false,
            emit,
        }
    }

    /// Returns a name as it is held for the whole file.
    pub(super) fn name(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        self.names.hold(name)
    }

    /// Begins the next kernel, which becomes the current one, and returns its number.
    pub(super) fn kernel(&mut self, kernel: Kernel) -> Result<u32, ImportError> {
        if kernel.is_spa5() != self.is_spa5 {
            // The same opcode now says something else.
            self.opcodes.clear();
            self.is_spa5 = kernel.is_spa5();
        }
        let number = self.kernels;
        self.kernels += 1;
        (self.emit)(Found::Kernel(kernel))?;
        self.select(number)?;
        Ok(number)
    }

    /// Makes a kernel the current one, to which what is found next belongs.
    pub(super) fn select(&mut self, kernel: u32) -> Result<(), ImportError> {
        if kernel == self.current {
            return Ok(());
        }
        let other = self.open.remove(&kernel).unwrap_or_default();
        self.open_bytes -= other.bytes();
        let block = std::mem::replace(&mut self.block, other);
        if block.bytes() > 0 {
            self.open_bytes += block.bytes();
            self.open.insert(self.current, block);
        }
        self.current = kernel;
        if self.open_bytes > OPEN_BYTES { self.close_others() } else { Ok(()) }
    }

    fn close_others(&mut self) -> Result<(), ImportError> {
        self.open_bytes = 0;
        for (kernel, mut block) in std::mem::take(&mut self.open) {
            self.emit_block(kernel, block.close())?;
        }
        Ok(())
    }

    #[inline]
    fn emit_block(&mut self, kernel: u32, block: Option<ClosedBlock>) -> Result<(), ImportError> {
        block.map_or(Ok(()), |block| (self.emit)(Found::Block(kernel, block)))
    }

    /// What an opcode with a memory operand is.
    ///
    /// # Errors
    /// Returns [`Refused`] if the opcode is too long, or there are too many different ones.
    #[inline]
    pub(super) fn known(&mut self, opcode: &str) -> Result<Known, Refused> {
        match self.opcodes.get(opcode) {
            Some(known) => Ok(*known),
            None => self.classify(opcode),
        }
    }

    #[cold]
    fn classify(&mut self, opcode: &str) -> Result<Known, Refused> {
        let name = self.names.hold(opcode)?;
        let class = if self.is_spa5 { Class::of_spa5(opcode) } else { Class::of(opcode) };
        let known = match class {
            Class::Skipped(kind) => Known::Skipped(kind),
            Class::NotReplayed(name) => Known::NotReplayed(self.not_replayed_name(name)?),
            Class::Load(operation) => {
                let bytes = operation.bytes;
                let opcode = Arc::clone(&name);
                (self.emit)(Found::Operation(Operation { opcode, ..operation }))?;
                // The writer refuses more operations than have numbers.
                let number = u16::try_from(self.operations).unwrap_or(u16::MAX);
                self.operations += 1;
                Known::Load { operation: number, bytes }
            }
        };
        // A load always finds its number again; other opcodes need no memory without bound.
        if matches!(known, Known::Load { .. }) || self.opcodes.len() < KNOWN_OPCODES {
            self.opcodes.insert(name, known);
        }
        Ok(known)
    }

    /// The number of a name, which opcodes with different modifiers share.
    fn not_replayed_name(&mut self, name: String) -> Result<u16, ImportError> {
        if let Some(number) = self.not_replayed.get(&name) {
            return Ok(*number);
        }
        (self.emit)(Found::NotReplayed(name.clone()))?;
        // The writer refuses more names than have numbers.
        let number = u16::try_from(self.not_replayed.len()).unwrap_or(u16::MAX);
        self.not_replayed.insert(name, number);
        Ok(number)
    }

    #[inline]
    pub(super) fn not_replayed(&mut self, name: u16, active: LaneMask) -> Result<(), ImportError> {
        let full = self.block.not_replayed(name, active);
        self.emit_block(self.current, full)
    }

    #[inline]
    pub(super) fn skip(&mut self, kind: Skipped) -> Result<(), ImportError> {
        let full = self.block.skip(kind);
        self.emit_block(self.current, full)
    }

    #[inline]
    pub(super) fn load(&mut self, load: &NewLoad<'_>) -> Result<(), ImportError> {
        let full = self.block.load(load);
        self.emit_block(self.current, full)
    }

    /// Says that the file could have been cut off where it ends.
    pub(super) fn end_is_unknown(&mut self) -> Result<(), ImportError> {
        (self.emit)(Found::EndUnknown)
    }

    pub(super) fn note(&mut self, note: String) -> Result<(), ImportError> {
        (self.emit)(Found::Note(note))
    }

    fn finish(&mut self) -> Result<(), ImportError> {
        let block = std::mem::take(&mut self.block);
        self.open.insert(self.current, block);
        self.close_others()
    }
}

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
    let mut import = Import::new(writer);
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

/// How many bytes are read at once; the kind of a trace is told by as many.
const BUFFER: usize = 1 << 16;

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
    let (start, plain) = peek(plain, BUFFER).map_err(failed)?;
    let start = start.trim_ascii_start();
    let is_log = || memchr::memmem::find(start, b"MEMTRACE: ").is_some();
    let kind = match start.first() {
        Some(b'[' | b'{') => Kind::MemTraceJson,
        _ if names_a_key(start) || start.starts_with(b"#traces format") => Kind::AccelSim,
        _ if start.starts_with(b"Memcpy") || names_a_trace(start) => Kind::KernelsList,
        // The program's own output may stand in front of the log.
        _ if is_log() => Kind::MemTraceLog,
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
    /// The trace's number of each of the file's kernels.
    kernels: Vec<u32>,
    /// The trace's number of each of the file's operations.
    operations: Vec<u16>,
    /// The trace's number of each of the file's names.
    not_replayed: Vec<u16>,
}

impl<'w, W: Write + Seek> Import<'w, W> {
    fn new(writer: &'w mut TraceWriter<W>) -> Self {
        Self { writer, kernels: Vec::new(), operations: Vec::new(), not_replayed: Vec::new() }
    }

    fn take(&mut self, found: Found) -> Result<(), ImportError> {
        let failed = |source| {
            ImportError::Write(TraceError::Io { path: PathBuf::from("the output"), source })
        };
        match found {
            Found::Kernel(kernel) => {
                let number = self.writer.kernels();
                if number >= MAX_KERNELS {
                    return Err(too_many(MAX_KERNELS, "kernels"));
                }
                self.kernels.push(number as u32);
                self.writer.kernel(kernel).map_err(failed)
            }
            Found::Operation(operation) => {
                let number = self.writer.operation(&operation);
                self.operations
                    .push(number.ok_or_else(|| too_many(MAX_NUMBERED, "different loads"))?);
                Ok(())
            }
            Found::NotReplayed(name) => {
                let number = self.writer.not_replayed_name(&name);
                let number = number.ok_or_else(|| {
                    too_many(MAX_NUMBERED, "different instructions that are not replayed")
                })?;
                self.not_replayed.push(number);
                Ok(())
            }
            Found::Block(kernel, mut block) => {
                // Readers number operations and names before they use them.
                let of_trace =
                    |numbers: &[u16], i: u16| numbers.get(usize::from(i)).copied().unwrap_or(0);
                for record in &mut block.records {
                    record.operation = of_trace(&self.operations, record.operation);
                }
                for one in &mut block.not_replayed {
                    one.name = of_trace(&self.not_replayed, one.name);
                }
                let kernel = self.kernels.get(kernel as usize).copied().unwrap_or(0);
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
        let written = receivers.into_iter().try_for_each(|receiver| {
            let mut import = Import::new(&mut *writer);
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
