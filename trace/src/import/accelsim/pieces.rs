//! [`Pieces`]: divides a text into pieces of whole lines. [`PieceReader`] parses them in any order.

use std::io::{self, Read};

use rustc_hash::FxHashMap;

use super::groups::{Mark, is_instruction};
use super::line::{Body, Instruction, LineReader, List, Operand};
use super::scan::{Fields, Tokens, find_ends};
use crate::binary::{BlockRecords, NewRecord, RecordAddresses, WarpPosition};
use crate::import::error::ImportError;
use crate::import::interner::InternedOperation;
use crate::operation::OperationKind;
use warpload_binary::lines::{LineError, MAX_LINE_BYTES};

/// The bytes of a piece, unless it is one longer line. The piece and its parsed loads fit into a second-level cache,
/// and its instructions into a segment.
pub(super) const PIECE_BYTES: usize = 128 << 10;

/// Line ends after each piece, so that code that reads eight bytes at once needs no length check.
const PADDING: [u8; 16] = [b'\n'; 16];

/// Whole lines of a text; the last line of the text may have no end.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The number of the first line, from 1.
    pub(super) line: u64,
    /// The offset of the first line in the text.
    pub(super) offset: u64,
    /// The warp named last before the piece, if the reader of pieces tracks it.
    pub(super) warp: u64,
    /// The lines, the padding, and free space.
    buffer: Vec<u8>,
    length: usize,
}

impl Piece {
    /// Replaces the text by complete lines. `text` comes without the last line end.
    pub(super) fn set(&mut self, text: &[u8], line: u64, offset: u64, warp: u64) {
        (self.line, self.offset, self.warp, self.length) = (line, offset, warp, text.len() + 1);
        self.buffer.clear();
        self.buffer.extend_from_slice(text);
        self.buffer.extend_from_slice(&PADDING);
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The text with padding: at least a line end and eight bytes.
    fn padded(&self) -> &[u8] {
        &self.buffer[..self.length + PADDING.len() - 1]
    }

    fn end_at(&mut self, length: usize) {
        self.length = length;
        self.buffer.resize(self.buffer.len().max(length + PADDING.len()), 0);
        self.buffer[length..length + PADDING.len()].copy_from_slice(&PADDING);
    }
}

/// Divides a text into pieces.
pub(super) struct Pieces<R> {
    input: R,
    /// The number of the next line, from 1, and its offset.
    line: u64,
    offset: u64,
    /// The warp named last; `None` if it does not matter.
    warp: Option<u64>,
    /// The incomplete line after the last piece.
    rest: Vec<u8>,
    ended: bool,
    is_cut: bool,
    failed: Option<LineError>,
}

impl<R: Read> Pieces<R> {
    /// Creates a reader of `input`, starting with line number `line` at `offset`. Tracks the warps that groups name if
    /// `warp` is given.
    pub(super) fn new(input: R, line: u64, offset: u64, warp: Option<u64>) -> Self {
        let rest = Vec::new();
        Self { input, line, offset, warp, rest, ended: false, is_cut: false, failed: None }
    }

    /// Whether the text, once read, ends without a line end.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The number of the last line before the next piece.
    pub(super) fn last_line(&self) -> u64 {
        self.line - 1
    }

    /// Reads the next piece into `piece`; returns `false` at the end.
    ///
    /// # Errors
    /// Returns [`LineError`] if a line is too long or cannot be read, but only after the lines before it.
    pub(super) fn read(&mut self, piece: &mut Piece) -> Result<bool, LineError> {
        (piece.line, piece.offset, piece.warp) = (self.line, self.offset, self.warp.unwrap_or(0));
        let length = self.fill(&mut piece.buffer);
        piece.end_at(length);
        if length == 0 {
            return self.failed.take().map_or(Ok(false), Err);
        }
        let ends = memchr::memchr_iter(b'\n', piece.text()).count() as u64;
        self.is_cut = !piece.text().ends_with(b"\n");
        self.line += ends + u64::from(self.is_cut);
        self.offset += length as u64;
        self.warp = self.warp.map(|warp| last_warp(piece.text()).unwrap_or(warp));
        Ok(true)
    }

    /// Fills `buffer` with whole lines: many, or one that is longer than a piece. Returns their length; 0 at the end or
    /// before an error.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> usize {
        let (mut length, mut room) = (self.rest.len(), PIECE_BYTES);
        buffer.resize(buffer.len().max(room), 0);
        buffer[..length].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            while length < room && !self.ended {
                match self.input.read(&mut buffer[length..room]) {
                    Ok(0) => self.ended = true,
                    Ok(read) => length += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(source) => {
                        let text = &buffer[..length];
                        let line = self.line + memchr::memchr_iter(b'\n', text).count() as u64;
                        self.failed = Some(LineError::Io { line, source });
                        self.ended = true;
                        // Drops the incomplete line.
                        return memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
                    }
                }
            }
            let (text, is_one_line) = (&buffer[..length], room > PIECE_BYTES);
            let find = if is_one_line { memchr::memchr } else { memchr::memrchr };
            let end = find(b'\n', text);
            if is_one_line && end.unwrap_or(length) > MAX_LINE_BYTES {
                let (line, offset) = (self.line, self.offset);
                self.failed = Some(LineError::TooLong { line, offset });
                self.ended = true;
                return 0;
            }
            if let Some(at) = end {
                self.rest.extend_from_slice(&text[at + 1..]);
                return at + 1;
            }
            if self.ended {
                return length;
            }
            room += PIECE_BYTES;
            buffer.resize(buffer.len().max(room), 0);
        }
    }
}

/// The warp named last in the text.
fn last_warp(text: &[u8]) -> Option<u64> {
    let mut before = text;
    while let Some(at) = memchr::memmem::rfind(before, b"warp") {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        let line = text[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Ok(Ok(Some(Mark::Warp(warp)))) = std::str::from_utf8(line).map(Mark::read) {
            return Some(warp);
        }
        before = &text[..start];
    }
    None
}

/// The parsed contents of a piece, as far as they do not depend on earlier pieces. [`merge`](super::groups::merge) does
/// the rest.
#[derive(Default)]
pub(super) struct ParsedPiece {
    pub(super) marks: Vec<PlacedMark>,
    /// The warps that grouped instructions name, in file order. [`merge`](super::groups::merge) compares them with the
    /// groups.
    pub(super) claims: Vec<Claim>,
    /// The number of instructions after the last mark, including an invalid one.
    pub(super) after_marks: u64,
    /// The source lines of memory instructions, by program counter.
    pub(super) source_lines: FxHashMap<u32, u32>,
    /// The instructions.
    pub(super) segment: BlockRecords,
    /// The error that stopped reading before the end of the piece.
    pub(super) error: Option<ImportError>,
}

/// A line that groups instructions.
pub(super) struct PlacedMark {
    pub(super) line: u64,
    /// The number of instructions since the previous mark.
    pub(super) instructions: u64,
    pub(super) mark: Mark,
}

/// The warp that a grouped instruction names for itself and its successors.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) line: u64,
    pub(super) place: WarpPosition,
}

/// Parses pieces.
#[derive(Default)]
pub(super) struct PieceReader {
    ends: Vec<u32>,
    list: List,
}

/// Operation number and, for a load, access size by opcode.
type Opcodes<'t> = FxHashMap<&'t [u8], (u16, Option<u32>)>;

impl PieceReader {
    /// Parses `piece` into `part`.
    pub(super) fn read(&mut self, body: &Body<'_>, piece: &Piece, part: &mut ParsedPiece) {
        part.marks.clear();
        part.claims.clear();
        part.source_lines.clear();
        part.segment.clear();
        part.after_marks = 0;
        part.error = self.read_lines(body, piece, part).err();
    }

    fn read_lines(
        &mut self,
        body: &Body<'_>,
        piece: &Piece,
        part: &mut ParsedPiece,
    ) -> Result<(), ImportError> {
        let text = piece.padded();
        let ends = find_ends(text, &mut self.ends);
        let mut opcodes = Opcodes::default();
        let (mut at, mut next) = (0, 0);
        let mut line = LineReader { body, line: piece.line, warp: piece.warp };
        let list = &mut self.list;
        let is_ascii = text.is_ascii();
        while at < piece.len() {
            if text[at].is_ascii_hexdigit() && is_ascii {
                let mut fields = Fields::of_line(text, ends, next, at);
                if let Ok(instruction) = body.instruction(line.warp, &mut fields, list) {
                    part.after_marks += 1;
                    line.take(&instruction, part, &mut opcodes, list)?;
                    (at, next) = (fields.at, fields.next);
                    line.line += 1;
                    continue;
                }
            }
            // The padding ends the last line.
            while ends.get(next).is_some_and(|end| text[*end as usize] != b'\n') {
                next += 1;
            }
            let end = ends.get(next).map_or(text.len(), |end| *end as usize);
            let offset = piece.offset + at as u64;
            line.read(&text[at..end], offset, part, &mut opcodes, list)?;
            (at, next) = (end + 1, next + 1);
            line.line += 1;
        }
        Ok(())
    }
}

impl LineReader<'_> {
    /// Reads a line. `offset` is its position in the text.
    fn read<'t>(
        &mut self,
        line: &'t [u8],
        offset: u64,
        part: &mut ParsedPiece,
        opcodes: &mut Opcodes<'t>,
        list: &mut List,
    ) -> Result<(), ImportError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|error| {
            let error = LineError::NotUtf8 {
                line: self.line,
                column: error.valid_up_to() + 1,
                offset: offset + error.valid_up_to() as u64,
            };
            ImportError::in_lines(self.body.file, error)
        })?;
        let begin = line.trim_ascii_start();
        match begin.first() {
            None => Ok(()),
            Some(_) if is_instruction(begin) => {
                part.after_marks += 1;
                let mut tokens = Tokens::new(self, line);
                let instruction = self.body.instruction(self.warp, &mut tokens, list)?;
                self.take(&instruction, part, opcodes, list)
            }
            Some(b'-') => Err(self.error(0, "a header line after instructions")),
            _ => match Mark::read(text) {
                Ok(Some(Mark::Begin)) if !self.body.is_grouped => {
                    Err(self.error(0, "a thread block after instructions outside one"))
                }
                Ok(Some(mark)) => {
                    if let Mark::Warp(warp) = mark {
                        self.warp = warp;
                    }
                    let instructions = std::mem::take(&mut part.after_marks);
                    part.marks.push(PlacedMark { line: self.line, instructions, mark });
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err((column, message)) => Err(self.error(column, message)),
            },
        }
    }

    #[inline(always)]
    fn take<'t>(
        &self,
        instruction: &Instruction<'t>,
        part: &mut ParsedPiece,
        opcodes: &mut Opcodes<'t>,
        list: &List,
    ) -> Result<(), ImportError> {
        let Instruction { place, pc, mask, opcode, opcode_at, width, operand, is_valued, .. } =
            *instruction;
        if let Some(place) = place {
            self.place(place, part);
        }
        let Some(operand) = operand else {
            part.segment.skip();
            return Ok(());
        };
        if instruction.source_line != 0 {
            part.source_lines.entry(pc).or_insert(instruction.source_line);
        }
        let (operation, bytes) = match opcodes.get(opcode) {
            Some(known) => *known,
            None => *opcodes.entry(opcode).or_insert(self.operation(opcode, opcode_at)?),
        };
        let addresses = match operand {
            Operand::Run(base, stride) => RecordAddresses::Stride { base, stride },
            Operand::Listed => RecordAddresses::List(list.addresses()),
            Operand::Unknown => RecordAddresses::Unknown,
            Operand::Transfer(count, bytes) => RecordAddresses::Transfer { count, bytes },
        };
        let width_disagrees = bytes.is_some_and(|bytes| width != u64::from(bytes));
        let record = NewRecord::new(pc, mask, operation, addresses);
        part.segment.push(&NewRecord { width_disagrees, is_valued, ..record });
        Ok(())
    }

    /// Stores the warp that an instruction names. For a grouped one [`merge`](super::groups::merge) compares it with
    /// the group.
    #[inline(always)]
    fn place(&self, place: WarpPosition, part: &mut ParsedPiece) {
        if !self.body.is_grouped {
            part.segment.place(part.segment.count(), place);
            return;
        }
        let is_first = part.after_marks == 1;
        if is_first || part.claims.last().is_none_or(|claim| claim.place != place) {
            part.claims.push(Claim { line: self.line, place });
        }
    }

    /// The number of an opcode's operation and, for a load, the access size that the opcode states.
    #[cold]
    fn operation(&self, opcode: &[u8], at: usize) -> Result<(u16, Option<u32>), ImportError> {
        let opcode = std::str::from_utf8(opcode);
        debug_assert!(opcode.is_ok(), "the line is UTF-8 and tokens end at ASCII spaces");
        let known = self.body.interner.operation(opcode.unwrap_or_default(), self.body.is_spa5);
        let known = known.map_err(|refused| refused.at(|message| self.error(at, message)))?;
        let InternedOperation { number, ref operation } = *known;
        // Excludes `LDSM.16`, in which the tracer mistakes the number for a size.
        let is_of_lanes = operation.kind == OperationKind::Load && operation.matrices.is_none();
        Ok((number, is_of_lanes.then(|| operation.width.bytes())))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::binary::Kernel;
    use crate::import::accelsim::groups::Bounds;
    use crate::import::accelsim::line::Version;
    use crate::import::interner::Interner;
    use warpload::memory::mix;

    /// Instructions in the forms of versions 1.2, 3, 4, 5 and 6.
    const LINES: [&str; 20] = [
        "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f1300000100 4 ",
        "00f0 00000007 0 STG.E.64 1 R2 8 2 0x00000000deadBEEF -16 123456789012",
        "0000 00000003 0 LDS 1 R2 4 0 0x1 ABCDEF0123456789 0x2",
        "0000 80000001 0 LDC 0 4 1 0x1 4",
        "0000 80000001 0 LDC 0 4 0 0x1 0x2",
        "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f1300000100 4 0 ",
        "0010 ffffffff 1 R1 IMAD 2 R1 R2 0 -264",
        "12340 00000003 0 LDS 1 R2 4 0 0x1 ABCDEF0123456789 0",
        "fff0 00000007 0 STG.E.64 1 R2 8 2 0x00000000deadBEEF -16 123456789012 7",
        "0000 00000000 0 LDC 0 4 2 0x1 0",
        "0000 80000000 0 LDC 0 4 1 0x1 0 9999999999999999",
        "0000 00000001 1 R255 LDSM.16 0 16 2 0x1",
        "0000 00000001 1 R255 MOV 0 0 ",
        "0010 ffffffff 1 R1 LDC 0 0 0 0 NoVal ",
        "0010 00000003 1 R4 LDG.E 1 R2 4 2 0x7f1300000100 -4 16 0 Val 1 7d 1 0xabc",
        "0010 00000001 1 UR4 SYNCS 2 P6 UP7 4 2 0x10 16 NoVal",
        "0010 ffffffff 1 R88 HGMMA.64x8x16 2 UR4 R88 1 0 0 0 NoVal ",
        "0110 ffffffff 0 UTMALDG.3D.MULTICAST 2 UR8 UR16 128 0x418 1 0xf 1024 0 4 0x7f13 2 -16 0 0 NoVal",
        "0110 ffffffff 0 UBLKPF 0 0 0x418 0 384 0 3 2 0x7f00 0x7f80 0 NoVal ",
        "0ff0 ffffffff 0 REPLAY_START 0 0 0 0 Val ",
    ];
    const BYTES: &[u8] = b" \t\r-0123456789abcfgxAFGRZUVal/:@`'\x00\x7f\x10";

    /// The results of both readers; `None` for an invalid line, and from the fast one also for an unusual line.
    fn read(body: &Body<'_>, line: &str) -> [Option<String>; 2] {
        let mut list = List::default();
        let seen = |instruction: Instruction<'_>, list: &List| {
            let Instruction {
                place, pc, mask, opcode, opcode_at, width, operand, is_valued, ..
            } = instruction;
            let listed = if operand == Some(Operand::Listed) { list.addresses() } else { &[] };
            format!(
                "{place:?} {pc} {mask:?} {opcode:?} {opcode_at} {width} {operand:?} {listed:?} \
                 {is_valued}"
            )
        };
        let text = format!("{line}{}", "\n".repeat(16));
        let mut room = Vec::new();
        let ends = find_ends(text.as_bytes(), &mut room);
        let mut fields = Fields::of_line(text.as_bytes(), ends, 0, 0);
        let usual = body.instruction(1, &mut fields, &mut list).ok();
        let usual = usual.map(|instruction| seen(instruction, &list));
        assert!(usual.is_none() || fields.at == line.len() + 1);
        let reader = LineReader { body, line: 1, warp: 1 };
        let mut tokens = Tokens::new(&reader, line.as_bytes());
        let slow = body.instruction(1, &mut tokens, &mut list).ok();
        [usual, slow.map(|instruction| seen(instruction, &list))]
    }

    /// The fast reader agrees with the other one on every line that it accepts.
    #[test]
    fn both_readers_agree() {
        let mut random = 0;
        let mut below = |end: usize| {
            random += 1;
            (mix(mix(random)) % end as u64) as usize
        };
        let kernel = Kernel { grid: [40_000; 3], block: [35, 1, 1], ..Kernel::default() };
        let (bounds, interner) = (Bounds::of(&kernel), Interner::default());
        for number in [1, 3, 4, 5, 6] {
            let version = Version::of_number(number).expect("a known version");
            for (has_line_numbers, has_core_ids, is_grouped) in [
                (false, false, true),
                (true, true, true),
                (true, false, false),
                (false, true, false),
            ] {
                let body = Body {
                    file: Path::new("file"),
                    version,
                    is_grouped,
                    has_core_ids,
                    has_line_numbers,
                    bounds,
                    is_spa5: false,
                    interner: &interner,
                };
                let mut before = String::new();
                before += if body.has_ids() { "1 22 33333 1 " } else { "" };
                before += if body.has_clusters() { "1 2 3 4 5 6 7 " } else { "" };
                before += if has_core_ids { "131 63 " } else { "" };
                before += if has_line_numbers { "1234 " } else { "" };
                let mut usual_lines = 0;
                for line in LINES {
                    let line = format!("{before}{line}");
                    let [usual, slow] = read(&body, &line);
                    usual_lines += u32::from(usual.is_some());
                    assert!(usual.is_none() || usual == slow, "{line:?}");
                    for _ in 0..1000 {
                        let mut changed = line.clone().into_bytes();
                        for _ in 0..=below(2) {
                            let (at, byte) = (below(changed.len()), BYTES[below(BYTES.len())]);
                            match below(3) {
                                0 => changed[at] = byte,
                                1 => changed.insert(at, byte),
                                _ => drop(changed.remove(at)),
                            }
                        }
                        let changed = String::from_utf8(changed).expect("ASCII");
                        let [usual, slow] = read(&body, &changed);
                        assert!(usual.is_none() || usual == slow, "{changed:?}");
                    }
                }
                assert!(usual_lines >= 3, "version {number}: {usual_lines}");
            }
        }
    }
}
