//! Reads Accel-Sim's `.tracez`: the instructions of a grouped trace in zstd frames, with an index at the
//! end. They are read as the text that they were made from ([`Grouped`]), so that there is one reader of
//! lines; errors are put back to the bytes that a line of that text comes from ([`origin`]).

use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;
use zstd::zstd_safe::{DCtx, find_frame_compressed_size, get_error_name, get_frame_content_size};

use super::groups::{Bounds, Mark, is_instruction};
use super::reader::{AccelSimReader, Header};
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign};
use crate::import::sink::Sink;
use crate::import::text::{Text, read_ahead};
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::MAX_LINE_BYTES;

/// The most bytes of a header.
const MAX_HEADER: u64 = 1 << 20;

/// How many bytes of text are read at once.
const BUFFER: usize = 1 << 16;

pub(in crate::import) const FORMAT: Format =
    Format { name: "a .tracez of Accel-Sim", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    let has_zero = || memchr::memchr(0, start).is_some();
    (start.starts_with(b"-kernel name") && has_zero()).then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let unreadable = |source| ImportError::Read { file: file.to_owned(), source };
    let bytes = Bytes::of(input).map_err(unreadable)?;
    let mut header = vec![0; bytes.len().min(MAX_HEADER + 1) as usize];
    bytes.read(0, &mut header).map_err(unreadable)?;
    let end = memchr::memchr(0, &header).ok_or_else(|| {
        fault(file, Fault::At(0, format!("expected a header of at most {MAX_HEADER} bytes")))
    })?;
    header.truncate(end);
    let bounds = read_header(&header, file, sink)?;
    let walk = |has_texts| {
        let parts = Parts::of(&bytes, end as u64)?;
        Walk::new(&bytes, &parts, bounds, has_texts)
    };
    let failure = Failure::default();
    let lines = memchr::memchr_iter(b'\n', &header).count() as u64;
    let grouped =
        Grouped::new(header, walk(true).map_err(|error| fault(file, error))?, failure.clone());
    let read = std::thread::scope(|scope| {
        let mut text: Text<'_> = BufReader::with_capacity(BUFFER, Box::new(grouped));
        if threads > 1 {
            text = read_ahead(text, scope).map_err(unreadable)?;
        }
        AccelSimReader::of_whole(file).read(&mut text, threads, sink)
    });
    read.map_err(|error| match error {
        ImportError::Line { line, column, message, .. } if line > lines => {
            // What was read once is valid.
            let origin = walk(false).and_then(|walk| origin(walk, line - lines));
            match origin {
                Ok(Some(Origin::Frame(offset, line))) => fault(
                    file,
                    Fault::At(
                        offset,
                        format!("line {line} of the frame's text, column {column}: {message}"),
                    ),
                ),
                Ok(Some(Origin::Index(offset))) => fault(file, Fault::At(offset, message)),
                Ok(None) => fault(file, Fault::At(bytes.len(), message)),
                Err(error) => fault(file, error),
            }
        }
        ImportError::Read { .. } => failure.take().map_or(error, |error| fault(file, error)),
        other => other,
    })
}

fn fault(file: &Path, fault: Fault) -> ImportError {
    let file = file.to_owned();
    match fault {
        Fault::At(offset, message) => {
            ImportError::File { file, message: format!("byte offset {offset}: {message}") }
        }
        Fault::Io(source) => ImportError::Read { file, source },
    }
}

/// Returns what the header says that the index has room for.
fn read_header(text: &[u8], file: &Path, sink: &mut Sink<'_>) -> Result<Bounds, ImportError> {
    let mut header = Header::default();
    let mut number = 0;
    let error = |line, (column, message)| ImportError::Line {
        file: file.to_owned(),
        line,
        column: column + 1,
        message,
    };
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        number += 1;
        let Some(line) =
            line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        else {
            return Err(error(number, (0, "no line end before the header's end".to_owned())));
        };
        let line = std::str::from_utf8(line)
            .map_err(|wrong| error(number, (wrong.valid_up_to(), "not UTF-8".to_owned())))?;
        if line.starts_with('-') {
            header.read(line, sink).map_err(|wrong| error(number, wrong))?;
        } else if !matches!(Mark::read(line), Ok(None)) {
            let message = "expected a header line, `#traces format` or an empty line";
            return Err(error(number, (0, message.to_owned())));
        }
    }
    let contents = header.end().map_err(|message| error(number, (0, message)))?;
    Ok(Bounds::of(&contents.kernel))
}

/// Why a text ends early, for the one who asks after it was read.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<Fault>>>);

impl Failure {
    fn take(&self) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The text, as it is read.
struct Grouped {
    walk: Walk,
    text: Vec<u8>,
    /// How much of `text` was read.
    at: usize,
    failure: Failure,
}

impl Grouped {
    /// Creates the text of a walk, after a header.
    fn new(header: Vec<u8>, walk: Walk, failure: Failure) -> Self {
        Self { walk, text: header, at: 0, failure }
    }

    /// Replaces the text by what comes next; returns `false` at the end.
    fn fill(&mut self) -> Result<bool, Fault> {
        self.text.clear();
        self.at = 0;
        let Some(step) = self.walk.next()? else { return Ok(false) };
        if let WalkStep::Chunk(_, _, text) = step {
            self.text.extend_from_slice(text);
            self.text.push(b'\n');
        } else {
            self.text.extend_from_slice(group_lines(&step).as_bytes());
        }
        Ok(true)
    }
}

impl Read for Grouped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(fault) => {
                    *self.failure.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
                    return Err(io::Error::from(io::ErrorKind::InvalidData));
                }
            }
        }
        let mut rest = &self.text[self.at..];
        let count = rest.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// Returns the lines of a step that is not a chunk.
fn group_lines(step: &WalkStep<'_>) -> String {
    let mut text = String::new();
    let written = match step {
        WalkStep::Block([x, y, z], [i, j, k], [u, v, w], rank) => write!(
            text,
            "#BEGIN_TB\nthread block = {x},{y},{z}\ncluster id = {i},{j},{k}\n\
             cluster cta = {u},{v},{w}\ncluster rank = {rank}\n"
        ),
        WalkStep::Warp(warp, lines) => write!(text, "warp = {warp}\ninsts = {lines}\n"),
        WalkStep::BlockEnd => writeln!(text, "#END_TB"),
        WalkStep::Chunk(..) => Ok(()),
    };
    debug_assert!(written.is_ok(), "writing to a string does not fail");
    text
}

/// Where a line of the text comes from.
enum Origin {
    /// An entry of the index at an offset.
    Index(u64),
    /// A line, from 1, of the text of the frame at an offset.
    Frame(u64, u64),
}

/// Returns where line `line`, from 1, after the header comes from; `None` if there is no such line.
fn origin(mut walk: Walk, line: u64) -> Result<Option<Origin>, Fault> {
    let mut before = 0;
    loop {
        let Some(step) = walk.next()? else { return Ok(None) };
        let (lines, frame) = match step {
            WalkStep::Chunk(offset, lines, _) => (u64::from(lines), Some(offset)),
            other => (group_lines(&other).lines().count() as u64, None),
        };
        if line <= before + lines {
            return Ok(Some(match frame {
                Some(offset) => Origin::Frame(offset, line - before),
                None => Origin::Index(walk.at),
            }));
        }
        before += lines;
    }
}

/// The bytes of a thread block in the index before its warps, and of a warp before its chunks.
const BLOCK_BYTES: u64 = 44;
const WARP_BYTES: u64 = 16;

/// Where the parts of a file are.
#[derive(Clone, Copy)]
struct Parts {
    /// The dictionary, which the first warp follows.
    dictionary: (u64, u32),
    /// The index.
    index: u64,
    /// The index's offset, which ends the file.
    end: u64,
}

impl Parts {
    /// Finds the parts of a file whose header has `header` bytes.
    fn of(bytes: &Bytes, header: u64) -> Result<Self, Fault> {
        let mut cursor = Cursor::new(bytes, "the file", header + 1..bytes.len());
        let size = cursor.u32()?;
        // How many lines chunks have is the writer's affair.
        cursor.u32()?;
        let dictionary = cursor.at;
        let (left, most) = (cursor.left(), 64 << 10);
        if size > most || u64::from(size) > left {
            let message = format!(
                "a dictionary of {size} bytes; expected {most} at most, and the file has {left} more"
            );
            return Err(Fault::At(header + 1, message));
        }
        let data = dictionary + u64::from(size);
        let end = bytes.len().saturating_sub(8);
        if end < data {
            let message = "the file ends before the index; expected its offset at the end";
            return Err(Fault::At(bytes.len(), message.to_owned()));
        }
        let index = Cursor::new(bytes, "the file", end..bytes.len()).u64()?;
        if index < data || index > end.saturating_sub(4) {
            let message = format!(
                "the index is at offset {index}; expected one after the dictionary, which ends at \
                 {data}, and 12 bytes or more before the file's end"
            );
            return Err(Fault::At(end, message));
        }
        Ok(Self { dictionary: (dictionary, size), index, end })
    }
}

/// What comes next.
enum WalkStep<'w> {
    /// A thread block: its place in the grid, its cluster's there, its own in the cluster, and its rank.
    Block([u32; 3], [u32; 3], [u32; 3], u32),
    /// A warp of so many instructions.
    Warp(u64, u32),
    /// The offset of a chunk of so many lines, and its text, without an end of the last line.
    Chunk(u64, u32, &'w [u8]),
    /// The end of a thread block.
    BlockEnd,
}

/// Compares the index with what it refers to.
struct Walk {
    index: Cursor,
    data: Cursor,
    /// Decompresses; `None` if texts do not matter.
    frames: Option<Frames>,
    bounds: Bounds,
    /// What is left: of the file, of the thread block, of the warp.
    blocks: u32,
    warps: u64,
    chunks: u32,
    lines: u32,
    is_in_block: bool,
    /// The offset in the index of the last block or warp.
    at: u64,
}

impl Walk {
    fn new(bytes: &Bytes, parts: &Parts, bounds: Bounds, has_texts: bool) -> Result<Self, Fault> {
        let (offset, size) = parts.dictionary;
        let data = offset + u64::from(size);
        let mut dictionary = vec![0; size as usize];
        bytes.read(offset, &mut dictionary)?;
        let frames = || Frames::new(&dictionary).map_err(|message| Fault::At(offset, message));
        let mut walk = Self {
            index: Cursor::new(bytes, "the index", parts.index..parts.end),
            data: Cursor::new(bytes, "the file before the index", data..parts.index),
            frames: if has_texts { Some(frames()?) } else { None },
            bounds,
            blocks: 0,
            warps: 0,
            chunks: 0,
            lines: 0,
            is_in_block: false,
            at: parts.index,
        };
        walk.blocks = walk.index.u32()?;
        let (blocks, grid) = (walk.blocks, bounds.blocks());
        if u128::from(blocks) > grid {
            return Err(walk.wrong(format!("{blocks} thread blocks in a grid of {grid}")));
        }
        walk.check_room(blocks, BLOCK_BYTES)?;
        Ok(walk)
    }

    /// Returns the error of what was read last in the index.
    fn wrong(&self, message: String) -> Fault {
        Fault::At(self.at, message)
    }

    /// Checks that the index has room for `count` entries.
    fn check_room(&self, count: u32, bytes: u64) -> Result<(), Fault> {
        let left = self.index.left();
        if u64::from(count) * bytes > left {
            let message = format!("{count} entries, but the index has {left} more bytes");
            return Err(self.wrong(message));
        }
        Ok(())
    }

    /// Returns what comes next; `None` at the end.
    fn next(&mut self) -> Result<Option<WalkStep<'_>>, Fault> {
        if self.chunks > 0 {
            return self.chunk().map(Some);
        }
        if self.warps > 0 {
            return self.warp().map(Some);
        }
        if self.is_in_block {
            self.is_in_block = false;
            return Ok(Some(WalkStep::BlockEnd));
        }
        if self.blocks > 0 {
            return self.block().map(Some);
        }
        for (cursor, name) in [(&self.data, "the last warp"), (&self.index, "the index")] {
            if cursor.left() > 0 {
                let message = format!("{} bytes after {name}", cursor.left());
                return Err(Fault::At(cursor.at, message));
            }
        }
        Ok(None)
    }

    fn block(&mut self) -> Result<WalkStep<'_>, Fault> {
        self.at = self.index.at;
        let mut three = || -> Result<[u32; 3], Fault> {
            Ok([self.index.u32()?, self.index.u32()?, self.index.u32()?])
        };
        let (cta, cluster, place) = (three()?, three()?, three()?);
        let rank = self.index.u32()?;
        let (warps, expected) = (self.index.u32()?, self.bounds.warps());
        if u64::from(warps) != expected {
            let message = format!("a thread block of {warps} warps; the header says {expected}");
            return Err(self.wrong(message));
        }
        self.check_room(warps, WARP_BYTES)?;
        (self.blocks, self.warps, self.is_in_block) = (self.blocks - 1, expected, true);
        Ok(WalkStep::Block(cta, cluster, place, rank))
    }

    fn warp(&mut self) -> Result<WalkStep<'_>, Fault> {
        let number = self.bounds.warps() - self.warps;
        self.at = self.index.at;
        let (lines, chunks) = (self.index.u32()?, self.index.u32()?);
        let (offset, found) = (self.index.u64()?, self.data.at);
        if offset != found {
            return Err(self.wrong(format!("a warp at offset {offset}; expected {found}")));
        }
        let told = (self.data.u32()?, self.data.u32()?);
        if told != (lines, chunks) {
            let message = format!(
                "a warp of {} instructions in {} chunks; the index says {lines} in {chunks}",
                told.0, told.1
            );
            return Err(Fault::At(offset, message));
        }
        if chunks > lines || (chunks == 0) != (lines == 0) {
            let message = format!("{lines} instructions in {chunks} chunks");
            return Err(Fault::At(offset, message));
        }
        self.check_room(chunks, 4)?;
        (self.lines, self.chunks, self.warps) = (lines, chunks, self.warps - 1);
        Ok(WalkStep::Warp(number, lines))
    }

    fn chunk(&mut self) -> Result<WalkStep<'_>, Fault> {
        let in_index = self.index.at;
        let (lines, offset) = (self.index.u32()?, self.data.at);
        self.chunks -= 1;
        let is_last = self.chunks == 0;
        if lines == 0 || lines > self.lines || is_last && lines != self.lines {
            let left = self.lines;
            let message = format!(
                "a chunk of {lines} lines; its warp has {left} more, and {} more chunks",
                self.chunks
            );
            return Err(Fault::At(in_index, message));
        }
        self.lines -= lines;
        let size = u64::from(self.data.u32()?);
        // What does not shrink is stored, with a few bytes for each block.
        let most = MAX_TEXT + (MAX_TEXT >> 8);
        if size > most {
            let message = format!("a zstd frame of {size} bytes; expected {most} at most");
            return Err(Fault::At(offset, message));
        }
        let frame = self.data.take(size)?;
        let text = match &mut self.frames {
            Some(frames) => {
                frames.text(frame, lines).map_err(|message| Fault::At(offset + 4, message))?
            }
            None => b"",
        };
        Ok(WalkStep::Chunk(offset + 4, lines, text))
    }
}

/// Inputs beyond this size are in a temporary file, not in memory.
const IN_MEMORY: usize = 8 << 20;

/// How many bytes a cursor reads at once.
const WINDOW: u64 = 1 << 16;

/// Why a file is refused.
#[derive(Debug)]
enum Fault {
    /// What is at an offset is invalid.
    At(u64, String),
    /// The temporary file failed.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// All bytes of an input, which may be a pipe.
#[derive(Clone)]
struct Bytes {
    file: Arc<Mutex<SpooledTempFile>>,
    length: u64,
}

impl Bytes {
    /// Reads `input` to its end.
    fn of(input: &mut impl Read) -> io::Result<Self> {
        let mut file = tempfile::spooled_tempfile(IN_MEMORY);
        let length = io::copy(input, &mut file)?;
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    fn len(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` with the bytes at `at`.
    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Each use seeks first.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    }
}

/// Reads a part of the bytes from its start to its end.
struct Cursor {
    bytes: Bytes,
    /// What the part is, for messages.
    name: &'static str,
    at: u64,
    end: u64,
    /// The bytes from `start` on that were read.
    window: Vec<u8>,
    start: u64,
}

impl Cursor {
    fn new(bytes: &Bytes, name: &'static str, range: std::ops::Range<u64>) -> Self {
        let (at, end) = (range.start, range.end);
        Self { bytes: bytes.clone(), name, at, end, window: Vec::new(), start: at }
    }

    fn left(&self) -> u64 {
        self.end - self.at
    }

    /// Takes the next `count` bytes.
    fn take(&mut self, count: u64) -> Result<&[u8], Fault> {
        let left = self.left();
        if count > left {
            let message = format!("expected {count} more bytes, but {} has {left}", self.name);
            return Err(Fault::At(self.at, message));
        }
        let first = self.at - self.start;
        let mut range = first as usize..(first + count) as usize;
        if range.end > self.window.len() {
            self.start = self.at;
            self.window.resize(count.max(WINDOW).min(left) as usize, 0);
            self.bytes.read(self.at, &mut self.window)?;
            range = 0..count as usize;
        }
        self.at += count;
        Ok(&self.window[range])
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.take(4)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        let bytes = self.take(8)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }
}

/// The most bytes of the text of a frame; tracers write about 2,048 lines.
const MAX_TEXT: u64 = 256 << 20;

/// The most bytes of text of a block of a frame, and the fewest bytes that a block has.
const ZSTD_BLOCK_TEXT: u64 = 128 << 10;
const ZSTD_BLOCK_BYTES: u64 = 4;

/// Decompresses frames that share a dictionary.
struct Frames {
    context: DCtx<'static>,
    text: Vec<u8>,
}

impl Frames {
    /// Creates a decompressor with a dictionary, which is empty if there is none.
    fn new(dictionary: &[u8]) -> Result<Self, String> {
        // `zstd::bulk` panics without memory for it.
        let context = DCtx::try_create();
        let mut context = context.ok_or("there is no memory for a decoder of zstd")?;
        context
            .load_dictionary(dictionary)
            .map_err(|code| format!("the dictionary is invalid: {}", get_error_name(code)))?;
        Ok(Self { context, text: Vec::new() })
    }

    /// Returns the text of a frame, which must have so many instructions, one a line.
    fn text(&mut self, frame: &[u8], lines: u32) -> Result<&[u8], String> {
        self.decompress(frame)?;
        let text = std::str::from_utf8(&self.text).map_err(|error| {
            format!("byte {} of the frame's text is not UTF-8", error.valid_up_to())
        })?;
        check_lines(text.as_bytes(), lines)?;
        Ok(&self.text)
    }

    fn decompress(&mut self, frame: &[u8]) -> Result<(), String> {
        if FileKind::detect(frame) != Some(FileKind::Zstd) {
            return Err("expected a zstd frame".to_owned());
        }
        let size = get_frame_content_size(frame)
            .map_err(|_| "the zstd frame's header is invalid".to_owned())?
            .ok_or("the zstd frame does not say how many bytes of text it has")?;
        let possible = (frame.len() as u64 / ZSTD_BLOCK_BYTES + 1) * ZSTD_BLOCK_TEXT;
        let most = possible.min(MAX_TEXT);
        if size > most {
            let bytes = frame.len();
            return Err(format!(
                "a zstd frame of {bytes} bytes says that it has {size} bytes of text; at most {most} \
                 are possible"
            ));
        }
        let used = find_frame_compressed_size(frame).map_err(get_error_name);
        let used = used.map_err(|error| format!("the zstd frame is invalid: {error}"))?;
        if used != frame.len() {
            let bytes = frame.len();
            return Err(format!("the zstd frame has {used} bytes; expected {bytes}"));
        }
        self.text.clear();
        self.text.reserve(size as usize);
        let count = self.context.decompress(&mut self.text, frame);
        let count =
            count.map_err(|code| format!("the zstd frame is damaged: {}", get_error_name(code)))?;
        if count as u64 != size {
            return Err(format!("the zstd frame has {count} bytes of text; it says {size}"));
        }
        Ok(())
    }
}

/// Checks that a text has `lines` lines, each with an instruction, and no line end after the last one.
fn check_lines(text: &[u8], lines: u32) -> Result<(), String> {
    let (mut start, mut count) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        count += 1;
        let line = &text[start..end];
        if !is_instruction(line.trim_ascii_start()) {
            return Err(format!("line {count} of the frame's text is not an instruction"));
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(format!(
                "line {count} of the frame's text is longer than {MAX_LINE_BYTES} bytes"
            ));
        }
        start = end + 1;
    }
    if count != u64::from(lines) {
        return Err(format!("the frame's text has {count} lines; the index says {lines}"));
    }
    Ok(())
}
