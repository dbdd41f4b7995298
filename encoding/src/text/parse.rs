//! Parses one line of SASS into an instruction and its control code.

use super::annotation::parse_control_prefix;
use super::cursor::Cursor;
use super::error::{Expected, ParseError, ParseErrorKind};
use super::lexer::TokenKind;
use super::modifier::Alias;
use super::span::LineSpan;
use crate::control::Control;
use crate::instruction::Instruction;
use crate::operand::Guard;

/// One parsed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedLine {
    /// The instruction.
    pub instruction: Instruction,
    /// How it is scheduled, if the line says so. An instruction word never holds this; a bundle
    /// does.
    pub control: Option<Control>,
    /// The modifier that was written under another name, if there is one.
    pub alias: Option<Alias>,
}

/// Parses one instruction: the canonical text and the superset of it that docs/ld.md section 2
/// names, with annotations after the operands or the notation of maxas or CuAssembler before the
/// instruction.
///
/// The text of a decoded instruction is parsed as that instruction, without the bits that no text
/// shows; [`Instruction`] states exactly what is guaranteed.
///
/// ```
/// use warpload_encoding::{ParseErrorKind, parse_line};
///
/// let line = parse_line("@!p2 ld.e.cs.64 r4, [r2 - 20] &req={0} &wr=1 ?WAIT2_END_GROUP ; // x")?;
/// assert_eq!(line.instruction.to_string(), "@!P2 LD.E.64 R4, [R2+-0x14]");
/// assert_eq!(line.alias.map(|alias| alias.becomes), Some("CA"));
/// assert_eq!(line.control.unwrap_or_default().wait.mask(), 0b1);
///
/// let error = parse_line("LD R0, [R1], !P0").unwrap_err();
/// assert_eq!(error.kind, ParseErrorKind::NegatedOperand);
/// assert_eq!(error.span.start, 13);
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction.
pub fn parse_line(text: &str) -> Result<ParsedLine, ParseError> {
    let (leading, start) = parse_control_prefix(text)?;
    let mut cursor = Cursor::new(text, start);
    let instruction = instruction(&mut cursor)?;
    let start = cursor.peek().span.start;
    let trailing = cursor.annotations()?;
    if leading.is_some() && trailing.is_some() {
        let span = LineSpan { start, end: cursor.position() };
        return Err(ParseError { kind: ParseErrorKind::ControlTwice, span });
    }
    end(&mut cursor, &instruction)?;
    Ok(ParsedLine { instruction, control: leading.or(trailing), alias: cursor.alias() })
}

/// Parses one instruction, as [`parse_line`] does; the bits that no text shows are those of `like`, which
/// has the same mnemonic.
///
/// ```
/// use warpload_encoding::{Instruction, parse_line_like};
///
/// let like = Instruction::decode(0xeed4_3000_0007_0200).expect("LDG.E R0, [R2] with bit 44");
/// let edited = parse_line_like("LDG.E R4, [R2]", &like)?.instruction;
/// assert_eq!(edited.encode(), 0xeed4_3000_0007_0204);
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction, or has another
/// mnemonic than `like`.
pub fn parse_line_like(text: &str, like: &Instruction) -> Result<ParsedLine, ParseError> {
    let line = parse_line(text)?;
    let unread = line.instruction.unread_bits();
    let word = line.instruction.encode() & !unread | like.encode() & unread;
    let is_same = line.instruction.mnemonic() == like.mnemonic();
    let instruction = Instruction::decode(word).filter(|_| is_same);
    let span = LineSpan { start: 0, end: text.trim_end().len() };
    let kind = ParseErrorKind::OtherForm { mnemonic: like.mnemonic() };
    let instruction = instruction.ok_or(ParseError { kind, span })?;
    Ok(ParsedLine { instruction, ..line })
}

/// Parses one instruction without a control notation.
pub(super) fn parse_instruction(text: &str) -> Result<Instruction, ParseError> {
    let mut cursor = Cursor::new(text, 0);
    let instruction = instruction(&mut cursor)?;
    end(&mut cursor, &instruction)?;
    Ok(instruction)
}

/// Reads guard, mnemonic and operands.
fn instruction(cursor: &mut Cursor<'_>) -> Result<Instruction, ParseError> {
    if cursor.peek().kind == TokenKind::End {
        return Err(cursor.error(ParseErrorKind::Expected(Expected::Instruction)));
    }
    let guard = cursor.guard()?;
    let mut instruction = Instruction::parse_opcode(guard, cursor)?;
    instruction.parse_operands(cursor)?;
    Ok(instruction)
}

/// Checks that nothing but a semicolon is left.
fn end(cursor: &mut Cursor<'_>, instruction: &Instruction) -> Result<(), ParseError> {
    let ended = cursor.eat(b';');
    if cursor.peek().kind == TokenKind::End {
        return Ok(());
    }
    let kind = if ended {
        ParseErrorKind::TrailingText
    } else if cursor.is_predicate_operand() && instruction.mnemonic() != "LD" {
        ParseErrorKind::PredicateOperand
    } else {
        ParseErrorKind::Expected(Expected::End)
    };
    Err(cursor.error(kind))
}

/// Parses a mnemonic with its modifiers, which is how traces name loads. All operands of the result
/// are `RZ`, `PT` or 0.
///
/// ```
/// use warpload_encoding::{Size, parse_opcode};
///
/// let load = parse_opcode("LDG.E.CI.64")?;
/// assert_eq!(load.to_string(), "LDG.E.CI.64 RZ, [RZ]");
/// assert_eq!(load.size(), Ok(Size::B64));
/// assert!(parse_opcode("LDG.E.64.SYS").is_err());
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not the opcode of a load.
pub fn parse_opcode(text: &str) -> Result<Instruction, ParseError> {
    let mut cursor = Cursor::new(text, 0);
    let instruction = Instruction::parse_opcode(Guard::ALWAYS, &mut cursor)?;
    if cursor.peek().kind != TokenKind::End {
        return Err(cursor.error(ParseErrorKind::TrailingText));
    }
    Ok(instruction)
}
