//! Reads Accel-Sim's `.tracez`: a grouped trace with its instructions in zstd frames and an index at the end. Frames
//! are decompressed and parsed in parallel, and [`Walk`] finds their groups.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;
use zstd::zstd_safe::{DCtx, get_error_name, get_frame_content_size};

use super::groups::{Bounds, Groups, Mark, is_instruction, merge};
use super::line::{Body, LineReader};
use super::pieces::{PIECE_BYTES, ParsedPiece, Piece, PieceReader};
use super::reader::{Header, HeaderContents};
use super::scan::Tokens;
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign};
use crate::import::sink::Sink;
use crate::import::text::Text;
use crate::ordered::{self, Chunk};
use warpload_binary::lines::MAX_LINE_BYTES;

/// The maximum length of a header in bytes.
const MAX_HEADER: u64 = 1 << 20;

pub(in crate::import) const FORMAT: Format =
    Format { name: "a .tracez of Accel-Sim", recognize, reader: FormatReader::Indexed(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    let has_zero = || memchr::memchr(0, start).is_some();
    (start.starts_with(b"-kernel name") && has_zero()).then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    in_place: Option<File>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let wrong = |error| fault(file, error);
    let bytes = Bytes::of(input, in_place).map_err(wrong)?;
    let mut header = vec![0; bytes.len().min(MAX_HEADER + 1) as usize];
    bytes.read(0, &mut header).map_err(wrong)?;
    let end = memchr::memchr(0, &header).ok_or_else(|| {
        wrong(Fault::At(0, format!("expected a header of at most {MAX_HEADER} bytes")))
    })?;
    header.truncate(end);
    let lines = memchr::memchr_iter(b'\n', &header).count() as u64;
    let (HeaderContents { kernel, version, has_line_numbers, tool }, has_format) =
        read_header(&header, file, sink)?;
    let mut groups = Groups::of(&kernel);
    let bounds = groups.bounds;
    let parts = Parts::of(&bytes, end as u64).map_err(wrong)?;
    let mut walk = Walk::new(&bytes, &parts, bounds).map_err(wrong)?;
    let mut dictionary = vec![0; parts.dictionary.1 as usize];
    bytes.read(parts.dictionary.0, &mut dictionary).map_err(wrong)?;
    sink.tool(tool)?;
    sink.kernel(kernel)?;
    let mut body = Body {
        file,
        version,
        is_grouped: true,
        has_core_ids: false,
        has_line_numbers,
        bounds,
        is_spa5: sink.is_spa5(),
        interner: sink.interner(),
    };
    let first = first_instruction(&bytes, &parts, bounds, &dictionary).map_err(wrong)?;
    if let Some(first) = &first {
        let line = LineReader { body: &body, line: 1, warp: 0 };
        // The header does not say whether instructions have core ids.
        let front = Tokens::new(&line, first).count_front();
        body.has_core_ids = front == Some(body.front() + 2);
    }
    let mut readers: Vec<FrameReader> = (0..threads).map(|_| FrameReader::default()).collect();
    let end = ordered::map(
        &mut readers,
        |job: &mut FrameJob| job.fill(&mut walk),
        |reader: &mut FrameReader, job| job.read(&body, &dictionary, parts.dictionary.0, reader),
        |job| job.merge(&body, &mut groups, sink),
    )?;
    end.unwrap_or(Ok(())).map_err(wrong)?;
    match (first.is_some(), has_format) {
        (true, _) => Ok(()),
        (false, true) => sink.note("no instruction in the source".to_owned()),
        (false, false) => Err(ImportError::Line {
            file: file.to_owned(),
            line: lines,
            column: 1,
            message: "no instruction and no `#traces format` line: the file ends in its header"
                .to_owned(),
        }),
    }
}

fn fault(file: &Path, fault: Fault) -> ImportError {
    let file = file.to_owned();
    match fault {
        Fault::At(offset, message) => {
            ImportError::File { file, message: format!("byte offset {offset}: {message}") }
        }
        Fault::Io(source) => ImportError::Read { file, source },
        Fault::Temporary(source) => ImportError::Temporary { source },
    }
}

/// Reads a header. Also returns whether it has a `#traces format` line.
fn read_header(
    text: &[u8],
    file: &Path,
    sink: &mut Sink<'_>,
) -> Result<(HeaderContents, bool), ImportError> {
    let (mut header, mut number, mut has_format) = (Header::default(), 0, false);
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
        has_format |= line.starts_with("#traces format");
        if line.starts_with('-') {
            header.read(line, sink).map_err(|wrong| error(number, wrong))?;
        } else if !matches!(Mark::read(line), Ok(None)) {
            let message = "expected a header line, `#traces format` or an empty line";
            return Err(error(number, (0, message.to_owned())));
        }
    }
    let contents = header.end().map_err(|message| error(number, (0, message)))?;
    Ok((contents, has_format))
}

/// The first line of the first frame, if there is one.
fn first_instruction(
    bytes: &Bytes,
    parts: &Parts,
    bounds: Bounds,
    dictionary: &[u8],
) -> Result<Option<Vec<u8>>, Fault> {
    let mut walk = Walk::new(bytes, parts, bounds)?;
    loop {
        match walk.next()? {
            Some(WalkStep::Frame(offset, lines, frame)) => {
                let mut frames = Frames::new(dictionary)
                    .map_err(|message| Fault::At(parts.dictionary.0, message))?;
                let text =
                    frames.text(frame, lines).map_err(|message| Fault::At(offset, message))?;
                return Ok(text.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec));
            }
            Some(WalkStep::Mark(..)) => {}
            None => return Ok(None),
        }
    }
}

/// The least bytes of text in a job, except in the last one. Single frames of warps with few instructions would be too
/// little work for a job.
const JOB_BYTES: usize = 64 << 10;

/// Consecutive frames that are read together, with their contents.
#[derive(Default)]
struct FrameJob {
    frames: Vec<FramePart>,
    /// The number of `frames` in use.
    count: usize,
    /// The bytes of the frames and of their text.
    bytes: usize,
}

/// A frame, and the group lines before it.
#[derive(Default)]
struct FramePart {
    /// Each with its entry's offset in the index.
    marks: Vec<(Mark, u64)>,
    /// Its warp's number.
    warp: u64,
    /// The frame's offset, lines and bytes. Without bytes there are only the group lines after the last frame.
    offset: u64,
    lines: u32,
    bytes: Vec<u8>,
    /// The text in pieces; `count` of them are in use.
    pieces: Vec<(Piece, ParsedPiece)>,
    count: usize,
    fault: Option<Fault>,
}

impl Chunk for FrameJob {
    fn len(&self) -> usize {
        self.bytes
    }
}

/// The state of a thread that reads frames.
#[derive(Default)]
struct FrameReader {
    frames: Option<Frames>,
    pieces: PieceReader,
}

impl FrameJob {
    /// Replaces the frames by the next ones. `Some` after the last frame: the end of the walk, or its error.
    fn fill(&mut self, walk: &mut Walk) -> Option<Result<(), Fault>> {
        (self.count, self.bytes) = (0, 0);
        loop {
            if self.frames.len() == self.count {
                self.frames.push(FramePart::default());
            }
            let part = self.frames.get_mut(self.count)?;
            self.count += 1;
            part.clear();
            if let Some(end) = part.fill(walk).transpose() {
                return Some(end.map(drop));
            }
            self.bytes += part.bytes.len() + text_bytes(&part.bytes).unwrap_or(0);
            if self.bytes >= JOB_BYTES {
                return None;
            }
        }
    }

    fn read(
        &mut self,
        body: &Body<'_>,
        dictionary: &[u8],
        dictionary_at: u64,
        reader: &mut FrameReader,
    ) {
        for part in self.frames.iter_mut().take(self.count) {
            if part.bytes.is_empty() {
                continue;
            }
            let frames = match &mut reader.frames {
                Some(frames) => frames,
                none => match Frames::new(dictionary) {
                    Ok(frames) => none.insert(frames),
                    Err(message) => {
                        part.fault = Some(Fault::At(dictionary_at, message));
                        return;
                    }
                },
            };
            part.read(body, frames, &mut reader.pieces);
            frames.shrink();
        }
    }

    fn merge(
        &mut self,
        body: &Body<'_>,
        groups: &mut Groups,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        let parts = self.frames.iter_mut().take(self.count);
        parts.into_iter().try_for_each(|part| part.merge(body, groups, sink))
    }
}

impl FramePart {
    fn clear(&mut self) {
        self.marks.clear();
        self.bytes.clear();
        (self.count, self.fault) = (0, None);
    }

    /// Takes steps up to the next frame; `Some` at the end of the walk.
    fn fill(&mut self, walk: &mut Walk) -> Result<Option<()>, Fault> {
        loop {
            match walk.next()? {
                Some(WalkStep::Mark(mark, offset)) => self.marks.push((mark, offset)),
                Some(WalkStep::Frame(offset, lines, bytes)) => {
                    (self.offset, self.lines) = (offset, lines);
                    self.bytes.extend_from_slice(bytes);
                    self.warp = walk.warp();
                    return Ok(None);
                }
                None => return Ok(Some(())),
            }
        }
    }

    fn read(&mut self, body: &Body<'_>, frames: &mut Frames, reader: &mut PieceReader) {
        let mut text = match frames.text(&self.bytes, self.lines) {
            Ok(text) => text,
            Err(message) => {
                self.fault = Some(Fault::At(self.offset, message));
                return;
            }
        };
        let mut line = 1;
        while !text.is_empty() {
            let end = match text.get(..PIECE_BYTES) {
                // A longer line is a piece of its own.
                Some(start) => memchr::memrchr(b'\n', start)
                    .or_else(|| memchr::memchr(b'\n', text))
                    .unwrap_or(text.len()),
                None => text.len(),
            };
            let (lines, rest) = text.split_at(end);
            text = rest.get(1..).unwrap_or_default();
            if self.pieces.len() == self.count {
                self.pieces.push(Default::default());
            }
            let Some((piece, part)) = self.pieces.get_mut(self.count) else { return };
            self.count += 1;
            piece.set(lines, line, 0, self.warp);
            line += memchr::memchr_iter(b'\n', lines).count() as u64 + 1;
            reader.read(body, piece, part);
        }
    }

    fn merge(
        &mut self,
        body: &Body<'_>,
        groups: &mut Groups,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        for (mark, offset) in &self.marks {
            let taken = groups.take(*mark);
            taken.map_err(|message| fault(body.file, Fault::At(*offset, message)))?;
            if let Mark::Warp(_) = mark {
                sink.place(groups.place());
            }
        }
        if let Some(error) = self.fault.take() {
            return Err(fault(body.file, error));
        }
        let offset = self.offset;
        for (piece, part) in self.pieces.iter_mut().take(self.count) {
            merge(body, piece, part, groups, sink).map_err(|error| match error {
                ImportError::Line { line, column, message, .. } => {
                    let message =
                        format!("line {line} of the frame's text, column {column}: {message}");
                    fault(body.file, Fault::At(offset, message))
                }
                other => other,
            })?;
        }
        Ok(())
    }
}

/// The size of an index entry: of a thread block without its warps, and of a warp without its chunks.
const BLOCK_BYTES: u64 = 44;
const WARP_BYTES: u64 = 16;

/// The positions of a file's parts.
#[derive(Clone, Copy)]
struct Parts {
    /// The dictionary's offset and length. The first warp follows it.
    dictionary: (u64, u32),
    /// The offset of the index.
    index: u64,
    /// The end of the index. The file stores the index's offset directly after it.
    end: u64,
}

impl Parts {
    /// Finds the parts of a file after a header of `header` bytes.
    fn of(bytes: &Bytes, header: u64) -> Result<Self, Fault> {
        let mut cursor = Cursor::new(bytes, "the file", header + 1..bytes.len());
        let size = cursor.u32()?;
        // Skips the lines per chunk, because the writer may choose them freely.
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

/// A step of [`Walk`].
enum WalkStep<'w> {
    /// The beginning or end of a group, with its entry's offset in the index.
    Mark(Mark, u64),
    /// A frame: its offset, its number of lines, its bytes.
    Frame(u64, u32, &'w [u8]),
}

/// Walks through index and data together and checks that they agree.
struct Walk {
    index: Cursor,
    data: Cursor,
    bounds: Bounds,
    /// The remaining blocks of the file, warps of the block, and chunks and lines of the warp.
    blocks: u32,
    warps: u64,
    chunks: u32,
    lines: u32,
    is_in_block: bool,
    /// Pending marks of the current index entry, in reverse order.
    marks: Vec<Mark>,
    /// The offset in the index of the current block or warp.
    at: u64,
}

impl Walk {
    fn new(bytes: &Bytes, parts: &Parts, bounds: Bounds) -> Result<Self, Fault> {
        let data = parts.dictionary.0 + u64::from(parts.dictionary.1);
        let mut walk = Self {
            index: Cursor::new(bytes, "the index", parts.index..parts.end),
            data: Cursor::new(bytes, "the file before the index", data..parts.index),
            bounds,
            blocks: 0,
            warps: 0,
            chunks: 0,
            lines: 0,
            is_in_block: false,
            marks: Vec::new(),
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

    /// The warp of the current frames.
    fn warp(&self) -> u64 {
        self.bounds.warps().saturating_sub(self.warps + 1)
    }

    /// An error at the current index entry.
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

    /// The next step; `None` at the end.
    fn next(&mut self) -> Result<Option<WalkStep<'_>>, Fault> {
        loop {
            if let Some(mark) = self.marks.pop() {
                return Ok(Some(WalkStep::Mark(mark, self.at)));
            }
            if self.chunks > 0 {
                return self.frame().map(Some);
            }
            if self.warps > 0 {
                self.warp_entry()?;
            } else if self.is_in_block {
                self.is_in_block = false;
                self.marks.push(Mark::End);
            } else if self.blocks > 0 {
                self.block_entry()?;
            } else {
                break;
            }
        }
        for (cursor, name) in [(&self.data, "the last warp"), (&self.index, "the index")] {
            if cursor.left() > 0 {
                let message = format!("{} bytes after {name}", cursor.left());
                return Err(Fault::At(cursor.at, message));
            }
        }
        Ok(None)
    }

    fn block_entry(&mut self) -> Result<(), Fault> {
        self.at = self.index.at;
        let mut three = || -> Result<[u32; 3], Fault> {
            Ok([self.index.u32()?, self.index.u32()?, self.index.u32()?])
        };
        // Skips the position and rank in the cluster.
        let (cta, cluster, _) = (three()?, three()?, three()?);
        self.index.u32()?;
        let (warps, expected) = (self.index.u32()?, self.bounds.warps());
        if u64::from(warps) != expected {
            let message = format!("a thread block of {warps} warps; the header says {expected}");
            return Err(self.wrong(message));
        }
        self.check_room(warps, WARP_BYTES)?;
        (self.blocks, self.warps, self.is_in_block) = (self.blocks - 1, expected, true);
        self.marks.extend([
            Mark::ClusterRank,
            Mark::ClusterBlock,
            Mark::Cluster(cluster),
            Mark::Block(cta),
            Mark::Begin,
        ]);
        Ok(())
    }

    fn warp_entry(&mut self) -> Result<(), Fault> {
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
        self.marks.extend([Mark::Instructions(lines.into()), Mark::Warp(number)]);
        Ok(())
    }

    fn frame(&mut self) -> Result<WalkStep<'_>, Fault> {
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
        // Incompressible text is stored, with a few bytes of overhead for each block.
        let most = MAX_TEXT + (MAX_TEXT >> 8);
        if size > most {
            let message = format!("a zstd frame of {size} bytes; expected {most} at most");
            return Err(Fault::At(offset, message));
        }
        Ok(WalkStep::Frame(offset + 4, lines, self.data.take(size)?))
    }
}

/// Larger inputs are kept in a temporary file instead of memory.
const IN_MEMORY: usize = 8 << 20;

/// The bytes that a cursor reads at once.
const WINDOW: u64 = 1 << 16;

/// Why a file is refused.
#[derive(Debug)]
enum Fault {
    /// Invalid data at an offset.
    At(u64, String),
    /// The input cannot be read.
    Io(io::Error),
    /// The temporary file cannot be used, which is not the input's fault.
    Temporary(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// All bytes of an input, to read at any offset.
#[derive(Clone)]
struct Bytes {
    held: Held,
    length: u64,
}

#[derive(Clone)]
enum Held {
    /// The input itself.
    #[cfg(unix)]
    File(Arc<File>),
    /// A copy, because the input is a pipe or compressed.
    Spooled(Arc<Mutex<SpooledTempFile>>),
}

impl Bytes {
    /// Reads `input` to its end, even if it can be read in place, for its length and checksum.
    fn of(input: &mut impl Read, in_place: Option<File>) -> Result<Self, Fault> {
        #[cfg(unix)]
        if let Some(file) = in_place {
            let length = io::copy(input, &mut io::sink())?;
            return Ok(Self { held: Held::File(Arc::new(file)), length });
        }
        // Other systems have no read that leaves the position alone, which `input` shares.
        drop(in_place);
        let mut file = tempfile::spooled_tempfile(IN_MEMORY);
        let (mut buffer, mut length) = (vec![0; WINDOW as usize], 0);
        loop {
            let read = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                return Ok(Self { held: Held::Spooled(Arc::new(Mutex::new(file))), length });
            }
            file.write_all(&buffer[..read]).map_err(Fault::Temporary)?;
            length += read as u64;
        }
    }

    fn len(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` with the bytes at `at`.
    fn read(&self, at: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        match &self.held {
            #[cfg(unix)]
            Held::File(file) => Ok(std::os::unix::fs::FileExt::read_exact_at(&**file, buffer, at)?),
            Held::Spooled(file) => {
                // A poisoned lock is usable, because each use seeks first.
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(buffer));
                read.map_err(Fault::Temporary)
            }
        }
    }
}

/// Reads a range of the bytes from start to end.
struct Cursor {
    bytes: Bytes,
    /// The range's name, for messages.
    name: &'static str,
    at: u64,
    end: u64,
    /// Bytes read ahead, from offset `start` on.
    window: Vec<u8>,
    start: u64,
}

impl Cursor {
    fn new(bytes: &Bytes, name: &'static str, range: Range<u64>) -> Self {
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

/// The maximum bytes of text in a frame; tracers write about 2,048 lines.
const MAX_TEXT: u64 = 16 << 20;

/// The bytes of text for which threads keep their memory.
const KEPT_TEXT: usize = 1 << 20;

/// The bytes of text that a frame claims.
fn text_bytes(frame: &[u8]) -> Result<usize, String> {
    match get_frame_content_size(frame) {
        Ok(Some(bytes)) if bytes <= MAX_TEXT => Ok(bytes as usize),
        Ok(Some(bytes)) => {
            Err(format!("the zstd frame claims {bytes} bytes of text; expected {MAX_TEXT} at most"))
        }
        _ => Err("expected a zstd frame with the size of its text".to_owned()),
    }
}

/// Decompresses frames that share a dictionary.
struct Frames {
    context: DCtx<'static>,
    text: Vec<u8>,
}

impl Frames {
    /// Creates a decompressor with a dictionary, which may be empty.
    fn new(dictionary: &[u8]) -> Result<Self, String> {
        // Not `zstd::bulk`, which panics if there is no memory for the context.
        let context = DCtx::try_create();
        let mut context = context.ok_or("no memory for the zstd decoder")?;
        context
            .load_dictionary(dictionary)
            .map_err(|code| format!("the dictionary is invalid: {}", get_error_name(code)))?;
        Ok(Self { context, text: Vec::new() })
    }

    /// The text of a frame, which must have `lines` lines, each with an instruction.
    fn text(&mut self, frame: &[u8], lines: u32) -> Result<&[u8], String> {
        self.text.clear();
        self.text.reserve(text_bytes(frame)?);
        self.context
            .decompress(&mut self.text, frame)
            .map_err(|code| format!("the zstd frame is damaged: {}", get_error_name(code)))?;
        std::str::from_utf8(&self.text).map_err(|error| {
            format!("byte {} of the frame's text is not UTF-8", error.valid_up_to())
        })?;
        check_lines(&self.text, lines)?;
        Ok(&self.text)
    }

    /// Frees the memory of an unusually long text.
    fn shrink(&mut self) {
        if self.text.capacity() > KEPT_TEXT {
            self.text = Vec::new();
        }
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
