//! [`PieceReader`]: what follows the header of an Accel-Sim trace, read piece by piece in any order.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::fields::{Fields, find_ends};
use super::groups::Mark;
use super::instruction::{Instruction, List};
use super::line::{Body, LineReader};
use super::pieces::Piece;
use crate::impossible::OrImpossible;
use crate::lines::LineError;
use crate::trace::binary::{Addresses, NewRecord, Segment};
use crate::trace::import::error::ImportError;
use crate::trace::import::sink::operation_of;
use crate::trace::operation::Kind;

const UNATTRIBUTABLE: &str =
    "a stride over lanes before the guard: the lane that it begins with is unknown";

/// What a piece holds. What depends on the pieces before it is left to `merge.rs`.
#[derive(Default)]
pub(super) struct Part {
    pub(super) marks: Vec<PlacedMark>,
    /// The instructions after the last mark, including one at which reading stopped.
    pub(super) after_marks: u64,
    /// The different opcodes of instructions with a memory operand, in order.
    pub(super) opcodes: Vec<PlacedOpcode>,
    /// The instructions, with opcodes as indices of `opcodes`.
    pub(super) segment: Segment,
    /// Why reading stopped before the end of the piece.
    pub(super) error: Option<ImportError>,
}

/// A line that groups instructions.
pub(super) struct PlacedMark {
    pub(super) line: u64,
    /// The number of instructions since the mark before it.
    pub(super) instructions: u64,
    pub(super) mark: Mark,
}

/// An opcode at its first use in a piece.
pub(super) struct PlacedOpcode {
    pub(super) line: u64,
    pub(super) column: usize,
    /// Its place in the text of the piece.
    pub(super) text: Range<usize>,
}

/// Reads pieces.
#[derive(Default)]
pub(super) struct PieceReader {
    ends: Vec<u32>,
    list: List,
    deltas: Vec<i32>,
}

/// The opcodes of a piece: each one's index and, of a load, its bytes.
type Opcodes<'t> = FxHashMap<&'t [u8], (u16, Option<u32>)>;

impl PieceReader {
    /// Replaces `part` by what `piece` holds.
    pub(super) fn read(&mut self, body: &Body<'_>, piece: &Piece, part: &mut Part) {
        part.marks.clear();
        part.opcodes.clear();
        part.segment.clear();
        part.after_marks = 0;
        part.error = self.read_lines(body, piece, part).err();
    }

    fn read_lines(
        &mut self,
        body: &Body<'_>,
        piece: &Piece,
        part: &mut Part,
    ) -> Result<(), ImportError> {
        let text = piece.padded();
        let ends = find_ends(text, &mut self.ends);
        let mut opcodes = Opcodes::default();
        let (mut at, mut next) = (0, 0);
        let mut line = LineReader { body, line: piece.line };
        let mut room = Room { list: &mut self.list, deltas: &mut self.deltas };
        let is_ascii = text.is_ascii();
        while at < piece.len() {
            if text[at].is_ascii_hexdigit() && is_ascii {
                let mut fields = Fields { text, ends, next, at, separator: b' ' };
                if let Some(instruction) = body.usual(&mut fields, room.list) {
                    part.after_marks += 1;
                    line.take(&instruction, at, part, &mut opcodes, &mut room)?;
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
            line.read(&text[at..end], at, offset, part, &mut opcodes, &mut room)?;
            (at, next) = (end + 1, next + 1);
            line.line += 1;
        }
        Ok(())
    }
}

/// Room for the addresses of one load.
pub(super) struct Room<'r> {
    list: &'r mut List,
    deltas: &'r mut Vec<i32>,
}

impl LineReader<'_> {
    /// Reads a line, which is at `at` in the piece and at `offset` in the text.
    fn read<'t>(
        &self,
        line: &'t [u8],
        at: usize,
        offset: u64,
        part: &mut Part,
        opcodes: &mut Opcodes<'t>,
        room: &mut Room<'_>,
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
        match line.first() {
            None => Ok(()),
            Some(byte) if byte.is_ascii_hexdigit() => {
                part.after_marks += 1;
                let instruction = self.instruction(line, room.list)?;
                self.take(&instruction, at, part, opcodes, room)
            }
            Some(b'-') => Err(self.error(0, "a header line after instructions")),
            _ => match read_mark(text) {
                Ok(Some(Mark::Begin)) if !self.body.is_grouped => {
                    Err(self.error(0, "a thread block after instructions outside one"))
                }
                Ok(Some(mark)) => {
                    let instructions = std::mem::take(&mut part.after_marks);
                    part.marks.push(PlacedMark { line: self.line, instructions, mark });
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err((column, message)) => Err(self.error(column, message)),
            },
        }
    }

    /// Adds an instruction of a line that is at `at` in the piece.
    #[inline(always)]
    fn take<'t>(
        &self,
        instruction: &Instruction<'t>,
        at: usize,
        part: &mut Part,
        opcodes: &mut Opcodes<'t>,
        room: &mut Room<'_>,
    ) -> Result<(), ImportError> {
        let Instruction { place, pc, mask, opcode, opcode_at, width, operand_at, run } =
            *instruction;
        if width == 0 {
            part.segment.skip();
            return Ok(());
        }
        if place.is_some() {
            part.segment.place(part.segment.count(), place);
        }
        let known = opcodes.get(opcode).copied();
        let (operation, bytes) = known.unwrap_or_else(|| {
            let start = at + opcode_at;
            let (line, text) = (self.line, start..start + opcode.len());
            // A piece has fewer instructions than a segment.
            let new = (part.opcodes.len() as u16, self.load_bytes(opcode));
            part.opcodes.push(PlacedOpcode { line, column: opcode_at, text });
            opcodes.insert(opcode, new);
            new
        });
        let list = room.list.addresses();
        let addresses = match run {
            Some((base, stride)) => Addresses::Stride { base, stride },
            None if list.len() != mask.count() as usize => {
                return Err(self.error(operand_at, UNATTRIBUTABLE));
            }
            None => Addresses::shortest(list, room.deltas),
        };
        let width_disagrees = bytes.is_some_and(|bytes| width != u64::from(bytes));
        let record = NewRecord::new(pc, mask, operation, addresses);
        part.segment.record(&NewRecord { width_disagrees, ..record });
        Ok(())
    }

    /// Returns the bytes that the opcode says of a load; `None` of other instructions.
    #[cold]
    fn load_bytes(&self, opcode: &[u8]) -> Option<u32> {
        let opcode = std::str::from_utf8(opcode).ok();
        let opcode = opcode.or_impossible("", "the line is UTF-8 and tokens end at ASCII spaces");
        let operation = operation_of(opcode, self.body.is_spa5);
        (operation.kind == Kind::Load).then(|| operation.width.bytes())
    }
}

/// Reads a line that is not an instruction or of the header; `None` if it says nothing.
///
/// # Errors
/// Returns the column, from 0, and what is wrong.
pub(super) fn read_mark(text: &str) -> Result<Option<Mark>, (usize, &'static str)> {
    if text.starts_with('#') {
        return Ok(match text.trim_end() {
            "#BEGIN_TB" => Some(Mark::Begin),
            "#END_TB" => Some(Mark::End),
            _ => None,
        });
    }
    if let Some((key, value)) = text.split_once(" = ") {
        let at = key.len() + " = ".len();
        let value = value.trim();
        let number = |expected| value.parse().map_err(|_| (at, expected));
        match key {
            "thread block" => {
                let numbers: Option<Vec<u32>> = value.split(',').map(|n| n.parse().ok()).collect();
                let place = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
                return Ok(Some(Mark::Block(place.ok_or((at, "expected `x,y,z`"))?)));
            }
            "warp" => return Ok(Some(Mark::Warp(number("expected a warp's number")?))),
            "insts" => {
                let count = number("expected a number of instructions")?;
                return Ok(Some(Mark::Instructions(count)));
            }
            _ => {}
        }
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    Err((0, "expected a header line, a group line or an instruction"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::memory::mix;
    use crate::trace::import::accelsim::groups::Bounds;
    use crate::trace::import::accelsim::line::Version;

    const LINES: [&str; 10] = [
        "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f1300000100 4 0 ",
        "0010 ffffffff 1 R1 IMAD 2 R1 R2 0 -264",
        "12345678 3 0 LDS 1 R2 4 0 0x1 ABCDEF0123456789 0",
        "fffffff0 7 0 STG.E.64 1 R2 8 2 0x00000000deadBEEF -16 123456789012 7",
        "0 00000000 0 LDC 0 4 2 0x1 0",
        "0 80000001 0 LDC 0 4 1 0x1 0 0",
        "0 80000000 0 LDC 0 4 1 0x1 0 9999999999999999",
        "0 1 1 R255 LDSM.16 0 16 2 0x1 -1",
        "0 1 1 R255 LDSM.16 0 16 2 0x1",
        "0 1 1 R255 MOV 0 0 ",
    ];
    const BYTES: &[u8] = b" \t\r-0123456789abcfgxAFGRZ/:@`'\x00\x7f\x10";

    /// Returns what both readers say of a line: `None` for a line that is unusual, or wrong.
    fn read(body: &Body<'_>, line: &str) -> [Option<String>; 2] {
        let mut list = List::default();
        let seen = |instruction: Instruction<'_>, list: &List| {
            let Instruction { place, pc, mask, opcode, opcode_at, width, operand_at, run } =
                instruction;
            let listed = if width > 0 && run.is_none() { list.addresses() } else { &[] };
            let places = (opcode_at, if width > 0 { operand_at } else { 0 });
            format!("{place:?} {pc} {mask:?} {opcode:?} {places:?} {width} {run:?} {listed:?}")
        };
        let text = format!("{line}{}", "\n".repeat(16));
        let mut room = Vec::new();
        let ends = find_ends(text.as_bytes(), &mut room);
        let text = text.as_bytes();
        let mut fields = Fields { text, ends, next: 0, at: 0, separator: b' ' };
        let usual = body.usual(&mut fields, &mut list).map(|instruction| seen(instruction, &list));
        assert!(usual.is_none() || fields.at == line.len() + 1);
        let slow = LineReader { body, line: 1 }.instruction(line.as_bytes(), &mut list).ok();
        [usual, slow.map(|instruction| seen(instruction, &list))]
    }

    /// Usual lines are read as token by token, and wrong ones are unusual.
    #[test]
    fn both_readers_agree() {
        let mut random = 0;
        let mut below = |end: usize| {
            random += 1;
            (mix(mix(random)) % end as u64) as usize
        };
        let bounds = Bounds::default();
        for version in [Version::V3, Version::V4, Version::V5] {
            for (has_line_numbers, is_grouped) in [(false, true), (true, true), (false, false)] {
                let file = Path::new("file");
                let body =
                    Body { file, version, has_line_numbers, is_grouped, bounds, is_spa5: false };
                let before = match (has_line_numbers, is_grouped) {
                    (true, _) => "123 ",
                    (_, true) => "",
                    (_, false) => "1 22 333 4444 ",
                };
                let mut usual_lines = 0;
                for line in LINES {
                    let line = format!("{before}{line}");
                    usual_lines += u32::from(read(&body, &line)[0].is_some());
                    for _ in 0..3000 {
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
                assert!(usual_lines >= 2, "{usual_lines}");
            }
        }
    }
}
