//! [`AccelSimReader`]: an Accel-Sim trace as text, from its header to its end.

use std::path::{Path, PathBuf};

use super::groups::{Groups, Mark, is_instruction};
use super::header::{Header, HeaderContents};
use super::line::{Body, LineReader};
use super::merge;
use super::part::{ParsedPiece, PieceReader};
use super::pieces::{Piece, Pieces};
use super::tokens::Tokens;
use super::version::Version;
use crate::binary::NO_END_MARK;
use crate::import::error::ImportError;
use crate::import::in_parallel::{self, Chunk};
use crate::import::sink::Sink;
use crate::import::text::Text;
use warpload_binary::lines::Lines;

/// Reads a header, and thread blocks before the first instruction.
pub(super) struct AccelSimReader<'f> {
    file: &'f Path,
    /// Whether the end of the text is known to be the trace's.
    is_whole: bool,
    /// The line being read, from 1.
    line: u64,
    header: Header,
    /// What the header said of all instructions, after its end.
    form: Option<Form>,
    /// Whether there is a `#traces format` line, which ends the header.
    has_format: bool,
    is_grouped: bool,
    groups: Groups,
}

/// What a header says of instructions.
#[derive(Clone, Copy)]
struct Form {
    version: Version,
    has_line_numbers: bool,
}

impl<'f> AccelSimReader<'f> {
    pub(super) fn new(file: &'f Path) -> Self {
        Self {
            file,
            is_whole: false,
            line: 0,
            header: Header::default(),
            form: None,
            has_format: false,
            is_grouped: false,
            groups: Groups::default(),
        }
    }

    /// Returns the reader of a text whose end is the trace's.
    pub(super) fn of_whole(file: &'f Path) -> Self {
        Self { is_whole: true, ..Self::new(file) }
    }

    /// Reads the text.
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

    /// Reads the rest of a file, whose first instruction is `first`.
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
        };
        if self.is_grouped {
            sink.place(Some(self.groups.place()));
        }
        let warp = self.groups.place().warp.map_or(0, u64::from);
        let line = LineReader { body: &body, line: self.line, warp };
        // No line of the header says whether there are core ids.
        let front = Tokens::new(&line, first.as_bytes()).count_front();
        body.has_core_ids = front == Some(body.front() + 2);
        let is_cut = !lines.line_ended();
        let piece = Piece::of_line(first.as_bytes(), self.line, offset, warp);
        let (line, offset) = (self.line + 1, lines.offset());
        let tracked = body.needs_warps().then_some(warp);
        let mut pieces = Pieces::new(lines.into_inner(), line, offset, tracked);
        let end = in_parallel::read(
            Some(Job { piece, part: ParsedPiece::default() }),
            threads,
            |job: &mut Job| match pieces.read(&mut job.piece) {
                Ok(true) => None,
                Ok(false) => Some(Ok(())),
                Err(error) => Some(Err(ImportError::in_lines(self.file, error))),
            },
            |reader: &mut PieceReader, job| reader.read(&body, &job.piece, &mut job.part),
            |job| merge::merge(&body, &job.piece, &mut job.part, &mut self.groups, sink),
        )?;
        end.unwrap_or(Ok(()))?;
        self.line = pieces.last_line();
        self.end(is_cut || pieces.is_cut())?;
        let unknown = match self.is_grouped {
            true if self.is_whole || self.groups.are_all_there() => return Ok(()),
            true => BLOCKS_MISSING,
            false => NO_END_MARK,
        };
        sink.end_is_unknown(unknown)
    }

    /// Ends the file, whose last line may have no end.
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
        if self.is_whole {
            return sink.note("no instruction in the source".to_owned());
        }
        sink.end_is_unknown(NO_INSTRUCTION)
    }
}

/// A piece and what it holds.
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
const NO_INSTRUCTION: &str =
    "no instruction in the source: one that is cut off after its header looks the same";
