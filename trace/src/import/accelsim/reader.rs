//! [`AccelSimReader`]: reads an Accel-Sim trace as text, beginning with its [`Header`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::groups::{Groups, Mark, is_instruction, merge};
use super::line::{Body, LineReader, Version};
use super::pieces::{ParsedPiece, Piece, PieceReader, Pieces};
use super::scan::Tokens;
use crate::binary::{Kernel, NO_END_MARK};
use crate::import::error::ImportError;
use crate::import::logs::decimal;
use crate::import::sink::Sink;
use crate::import::text::Text;
use crate::ordered::{self, Chunk};
use warpload::text::parse_hexadecimal;
use warpload_binary::lines::Lines;

/// Reads the lines before the first instruction itself, and the rest in pieces.
pub(super) struct AccelSimReader<'f> {
    file: &'f Path,
    /// The line being read, from 1.
    line: u64,
    header: Header,
    /// Known after the end of the header.
    form: Option<Form>,
    /// Whether there is a `#traces format` line, which ends the header.
    has_format: bool,
    is_grouped: bool,
    groups: Groups,
}

/// The form of all instructions, from the header.
#[derive(Clone, Copy)]
struct Form {
    version: Version,
    has_line_numbers: bool,
}

impl<'f> AccelSimReader<'f> {
    pub(super) fn new(file: &'f Path) -> Self {
        Self {
            file,
            line: 0,
            header: Header::default(),
            form: None,
            has_format: false,
            is_grouped: false,
            groups: Groups::default(),
        }
    }

    pub(super) fn read(
        mut self,
        input: &mut Text<'_>,
        threads: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line() {
            let line = line.map_err(|error| ImportError::in_lines(self.file, error))?;
            self.line = line.number;
            if is_instruction(line.text.trim_start().as_bytes()) {
                let (text, offset) = (line.text.to_owned(), line.offset);
                return self.body(&text, offset, lines, threads, sink);
            }
            self.read_line(line.text, sink)?;
        }
        self.end_without(!lines.line_ended(), sink)
    }

    fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, line) = (PathBuf::from(self.file), self.line);
        ImportError::Line { file, line, column: column + 1, message: message.into() }
    }

    /// Reads a line that is not an instruction.
    fn read_line(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if text.starts_with('-') {
            let read = match self.is_grouped {
                true => Err((0, "a header line after a thread block".to_owned())),
                false => self.header.read(text, sink),
            };
            return read.map_err(|(column, message)| self.error(column, message));
        }
        self.has_format |= text.starts_with("#traces format");
        let mark = Mark::read(text).map_err(|(column, message)| self.error(column, message))?;
        let Some(mark) = mark else { return Ok(()) };
        if let Mark::Begin = mark
            && !self.is_grouped
        {
            self.is_grouped = true;
            self.begin_kernel(sink)?;
        }
        self.groups.take(mark).map_err(|message| self.error(0, message))
    }

    /// Ends the header and begins the kernel.
    fn begin_kernel(&mut self, sink: &mut Sink<'_>) -> Result<Form, ImportError> {
        let HeaderContents { kernel, version, has_line_numbers, tool } =
            self.header.end().map_err(|message| self.error(0, message))?;
        self.groups = Groups::of(&kernel);
        sink.tool(tool)?;
        sink.kernel(kernel)?;
        let form = Form { version, has_line_numbers };
        self.form = Some(form);
        Ok(form)
    }

    /// Reads the rest of a file, from its first instruction `first` on.
    fn body(
        mut self,
        first: &str,
        offset: u64,
        lines: Lines<&mut Text<'_>>,
        threads: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        let form = self.form.map_or_else(|| self.begin_kernel(sink), Ok)?;
        let mut body = Body {
            file: self.file,
            version: form.version,
            is_grouped: self.is_grouped,
            has_core_ids: false,
            has_line_numbers: form.has_line_numbers,
            bounds: self.groups.bounds,
            is_spa5: sink.is_spa5(),
            interner: sink.interner(),
        };
        if self.is_grouped {
            sink.place(self.groups.place());
        }
        let warp = self.groups.place().warp.map_or(0, u64::from);
        let line = LineReader { body: &body, line: self.line, warp };
        // The header does not say whether instructions have core ids.
        let front = Tokens::new(&line, first.as_bytes()).count_front();
        body.has_core_ids = front == Some(body.front() + 2);
        let is_cut = !lines.line_ended();
        let mut piece = Piece::default();
        piece.set(first.as_bytes(), self.line, offset, warp);
        let (line, offset) = (self.line + 1, lines.offset());
        let tracked = body.needs_warps().then_some(warp);
        let mut pieces = Pieces::new(lines.into_inner(), line, offset, tracked);
        let (file, mut first) = (self.file, Some(piece));
        let mut readers: Vec<PieceReader> = (0..threads).map(|_| PieceReader::default()).collect();
        let end = ordered::map(
            &mut readers,
            |job: &mut Job| match first.take() {
                Some(piece) => {
                    job.piece = piece;
                    None
                }
                None => match pieces.read(&mut job.piece) {
                    Ok(true) => None,
                    Ok(false) => Some(Ok(())),
                    Err(error) => Some(Err(ImportError::in_lines(file, error))),
                },
            },
            |reader: &mut PieceReader, job| reader.read(&body, &job.piece, &mut job.part),
            |job| merge(&body, &job.piece, &mut job.part, &mut self.groups, sink),
        )?;
        end.unwrap_or(Ok(()))?;
        self.line = pieces.last_line();
        self.end(is_cut || pieces.is_cut())?;
        let unknown = match self.is_grouped {
            true if self.groups.are_all_there() => return Ok(()),
            true => BLOCKS_MISSING,
            false => NO_END_MARK,
        };
        sink.end_is_unknown(unknown)
    }

    /// Ends the file. `is_cut` says that its last line has no line end.
    fn end(&mut self, is_cut: bool) -> Result<(), ImportError> {
        if is_cut {
            return Err(ImportError::cut_off(self.file, self.line, 1));
        }
        if self.groups.is_open() {
            return Err(self.error(0, "the file ends inside a thread block; expected `#END_TB`"));
        }
        Ok(())
    }

    /// Ends a file without instructions.
    fn end_without(mut self, is_cut: bool, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        self.end(is_cut)?;
        if !self.has_format {
            let message =
                "no instruction and no `#traces format` line: the file ends in its header";
            return Err(self.error(0, message));
        }
        if self.form.is_none() {
            self.begin_kernel(sink)?;
        }
        sink.end_is_unknown(NO_INSTRUCTION)
    }
}

/// A piece with its parsed contents.
#[derive(Default)]
struct Job {
    piece: Piece,
    part: ParsedPiece,
}

impl Chunk for Job {
    fn len(&self) -> usize {
        self.piece.len()
    }
}

const BLOCKS_MISSING: &str =
    "whether the source is whole is unknown: thread blocks of its grid are missing";
const NO_INSTRUCTION: &str = "no instruction in the source: it may be cut off after its header";

/// The maximum number of header lines; tracers write about 13.
const MAX_LINES: usize = 1024;

/// The keys required to read instructions.
const NEEDED: [&str; 4] = ["kernel name", "grid dim", "block dim", VERSION];
const VERSION: &str = "accelsim tracer version";

/// Collects header lines.
#[derive(Default)]
pub(super) struct Header {
    kernel: Kernel,
    version: Option<Version>,
    has_line_numbers: bool,
}

/// The contents of a complete header.
pub(super) struct HeaderContents {
    pub(super) kernel: Kernel,
    pub(super) version: Version,
    /// Whether a source line number precedes each program counter.
    pub(super) has_line_numbers: bool,
    /// The tool that wrote the file.
    pub(super) tool: String,
}

/// A column, from 0, and the error message.
type Wrong = (usize, String);

impl Header {
    /// Reads a line, `-key = value`.
    pub(super) fn read(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), Wrong> {
        if let Some(at) = text.find('\r') {
            let message =
                "a carriage return inside a line; expected lines that end in `\\n` or `\\r\\n`";
            return Err((at, message.to_owned()));
        }
        let Some((key, value)) = text[1..].split_once('=') else {
            return Err((0, "expected `-key = value`".to_owned()));
        };
        let (key, value) = (key.trim(), value.trim());
        let at = text.trim_end().len() - value.len();
        let wrong = |message: String| (at, message);
        if NEEDED.contains(&key) && self.has(key) {
            return Err((0, format!("duplicate `-{key}`: a file holds one kernel")));
        }
        let held = sink.name(value).map_err(|error| wrong(error.to_string()))?;
        match key {
            "kernel name" => self.kernel.name = Arc::clone(&held),
            "grid dim" => self.kernel.grid = dimensions(value).map_err(wrong)?,
            "block dim" => self.kernel.block = dimensions(value).map_err(wrong)?,
            "shmem base_addr" => {
                self.kernel.shared_base = Some(hexadecimal(value).map_err(wrong)?);
            }
            "local mem base_addr" => {
                self.kernel.local_base = Some(hexadecimal(value).map_err(wrong)?);
            }
            VERSION => self.version = Some(version(value).map_err(wrong)?),
            "enable lineinfo" => {
                self.has_line_numbers = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(wrong("expected 0 or 1".to_owned())),
                };
            }
            _ => {}
        }
        if self.kernel.header.len() == MAX_LINES {
            return Err((0, format!("more than {MAX_LINES} header lines")));
        }
        let key = sink.name(key).map_err(|error| (1, error.to_string()))?;
        self.kernel.header.push((key, held));
        Ok(())
    }

    fn value(&self, key: &str) -> Option<&str> {
        let lines = &mut self.kernel.header.iter();
        lines.find(|(other, _)| &**other == key).map(|(_, value)| &**value)
    }

    fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Ends the header.
    pub(super) fn end(&mut self) -> Result<HeaderContents, String> {
        if let Some(missing) = NEEDED.iter().find(|key| !self.has(key)) {
            let needed = NEEDED.map(|key| format!("`-{key} = …`")).join(", ");
            return Err(format!("the header has no `-{missing} = …`; expected {needed}"));
        }
        let tool = format!("Accel-Sim tracer {}", self.value(VERSION).unwrap_or_default());
        let Self { kernel, version, has_line_numbers } = std::mem::take(self);
        let version = version.ok_or("the header has no version")?;
        let has_line_numbers = has_line_numbers && version.has_line_numbers;
        Ok(HeaderContents { kernel, version, has_line_numbers, tool })
    }
}

/// Reads the decimal number with which a version begins, as Accel-Sim does.
fn version(value: &str) -> Result<Version, String> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let known = value[..digits].parse().ok().and_then(Version::of_number);
    known.ok_or_else(|| {
        let shown: String = value.chars().take(20).collect();
        format!("tracer version {shown:?}; expected {}", Version::EXPECTED)
    })
}

/// Parses `(x,y,z)`.
fn dimensions(value: &str) -> Result<[u32; 3], String> {
    let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let numbers: Option<Vec<u32>> =
        inner.and_then(|inner| inner.split(',').map(|n| decimal(n.trim())).collect());
    numbers
        .and_then(|numbers| <[u32; 3]>::try_from(numbers).ok())
        .ok_or_else(|| "expected `(x,y,z)`".to_owned())
}

fn hexadecimal(value: &str) -> Result<u64, String> {
    parse_hexadecimal(value.strip_prefix("0x").unwrap_or(value))
        .ok_or_else(|| "expected a hexadecimal number of at most 64 bits".to_owned())
}
