//! [`merge`]: the parts of an Accel-Sim trace, in its order.

use super::groups::{Groups, Mark, is_instruction};
use super::line::{Body, LineReader};
use super::part::{Claim, ParsedPiece};
use super::pieces::Piece;
use crate::binary::WarpPosition;
use crate::import::error::ImportError;
use crate::import::sink::Sink;
use warpload::impossible::OrImpossible;

/// Passes on what the next piece of a trace holds: `part`.
///
/// # Errors
/// Returns the error that is first in the piece, whichever part found it.
pub(super) fn merge(
    body: &Body<'_>,
    piece: &Piece,
    part: &mut ParsedPiece,
    groups: &mut Groups,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let wrong = check_marks(body, piece, part, groups).err();
    let end = wrong.as_ref().map_or(u64::MAX, |(line, _)| *line);
    let mut operations = Vec::with_capacity(part.opcodes.len());
    for opcode in part.opcodes.iter().take_while(|opcode| opcode.line < end) {
        let text = piece.text().get(opcode.text.clone()).and_then(|text| str::from_utf8(text).ok());
        let text = text.or_impossible("", "opcodes are in the piece and UTF-8");
        let number = sink.operation(text).map_err(|refused| {
            let line = LineReader { body, line: opcode.line, warp: 0 };
            refused.at(|message| line.error(opcode.column, message))
        })?;
        operations.push(number);
    }
    if let Some((line, message)) = wrong {
        return Err(LineReader { body, line, warp: 0 }.error(0, message));
    }
    match part.error.take() {
        Some(error) => Err(error),
        None => {
            sink.source_lines(&part.source_lines)?;
            sink.append(&part.segment, &operations)
        }
    }
}

/// Checks the groups of a piece, and says whose its instructions are.
///
/// # Errors
/// Returns the first wrong line, and what is wrong.
fn check_marks(
    body: &Body<'_>,
    piece: &Piece,
    part: &mut ParsedPiece,
    groups: &mut Groups,
) -> Result<(), (u64, String)> {
    let mut after = piece.line;
    let mut instructions = 0;
    let mut claims = part.claims.iter().peekable();
    for mark in &part.marks {
        count(body, piece, groups, mark.instructions, after)?;
        while let Some(claim) = claims.next_if(|claim| claim.line < mark.line) {
            check_claim(claim, groups)?;
        }
        groups.take(mark.mark).map_err(|message| (mark.line, message))?;
        after = mark.line;
        // A piece has fewer instructions than a segment.
        instructions += mark.instructions as u32;
        if let Mark::Warp(_) = mark.mark {
            part.segment.place(instructions, Some(groups.place()));
        }
    }
    count(body, piece, groups, part.after_marks, after)?;
    claims.try_for_each(|claim| check_claim(claim, groups))
}

/// Checks that an instruction names the thread block and the warp of its group.
fn check_claim(claim: &Claim, groups: &Groups) -> Result<(), (u64, String)> {
    let WarpPosition { cta, warp, .. } = groups.place();
    if (claim.place.cta, claim.place.warp) == (cta, warp) {
        return Ok(());
    }
    let message = "an instruction of another thread block or warp than its group";
    Err((claim.line, message.to_owned()))
}

/// Counts the instructions that follow one another from line `after` on.
fn count(
    body: &Body<'_>,
    piece: &Piece,
    groups: &mut Groups,
    count: u64,
    after: u64,
) -> Result<(), (u64, String)> {
    if !body.is_grouped || count == 0 {
        return Ok(());
    }
    groups.count(count).map_err(|(right, message)| {
        let lines = (piece.line..).zip(piece.text().split(|byte| *byte == b'\n'));
        let mut wrong =
            lines.filter(|(line, text)| *line >= after && is_instruction(text.trim_ascii_start()));
        let (line, _) = wrong.nth(right as usize).or_impossible((after, &[]), "it was counted");
        (line, message.to_owned())
    })
}
