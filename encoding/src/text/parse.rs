//! Parses one line of SASS into an instruction and its control code.
//!
//! [`FromStr`] of what has a text. None of these accepts blanks around it, except where a whole line
//! is parsed.

use core::str::FromStr;

use super::annotation::parse_control_prefix;
use super::cursor::{Cursor, LineSpan, TokenKind, Word};
use super::error::{Expected, ParseError, ParseErrorKind};
use super::modifier::{Alias, Modifiers, SIZES};
use super::operands::{predicate_named, register_named};
use crate::control::{Control, Schedule};
use crate::instruction::Instruction;
use crate::operand::{Guard, Pred, Reg, Size};

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
fn parse_instruction(text: &str) -> Result<Instruction, ParseError> {
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

impl FromStr for ParsedLine {
    type Err = ParseError;

    /// Calls [`parse_line`].
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_line(text)
    }
}

/// ```
/// use warpload_encoding::Instruction;
///
/// let load: Instruction = "LD.E R0, [R2+0x1234]".parse()?;
/// assert_eq!(load.encode(), 0x9c90000123470200);
/// assert!("LD.E R0, [R2] &wr=0".parse::<Instruction>().is_err());
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
impl FromStr for Instruction {
    type Err = ParseError;

    /// Parses what [`parse_line`] does, except that a control notation is an error: an instruction
    /// has no place for it.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_instruction(text)
    }
}

impl FromStr for Reg {
    type Err = ParseError;

    /// Parses `R0`..=`R254` or `RZ` in either case.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        register_named(Word::of(text, whole(text)))
    }
}

impl FromStr for Pred {
    type Err = ParseError;

    /// Parses `P0`..=`P6` or `PT` in either case.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        predicate_named(Word::of(text, whole(text)))
    }
}

impl FromStr for Size {
    type Err = ParseError;

    /// Parses [`Size::name`] in either case, without a leading dot: `U8`, `64`, `U.128`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut sizes = Self::ALL.into_iter();
        let size = sizes.find(|size| size.name().eq_ignore_ascii_case(text));
        let kind = ParseErrorKind::UnknownModifier { known: Modifiers(&[SIZES]) };
        size.ok_or(ParseError { kind, span: whole(text) })
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    /// Parses the name in a `?NAME` annotation in either case, without the `?`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError { kind: ParseErrorKind::UnknownSchedule, span: whole(text) };
        Self::named(text).ok_or(error)
    }
}

fn whole(text: &str) -> LineSpan {
    LineSpan { start: 0, end: text.len() }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::ToString;

    use super::*;

    #[test]
    fn what_is_displayed_is_parsed() {
        for number in 0..=u8::MAX {
            let register = Reg::new(number);
            assert_eq!(register.to_string().parse(), Ok(register));
            assert_eq!(register.to_string().to_lowercase().parse(), Ok(register));
        }
        for predicate in Pred::ALL {
            assert_eq!(predicate.to_string().parse(), Ok(predicate));
        }
        for size in Size::ALL {
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        for schedule in (0..32).filter_map(Schedule::new) {
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }

    #[test]
    fn what_is_not_a_name_is_an_error_for_the_whole_text() {
        for text in ["", "R", "R255", "R256", "R01", "R1 ", " R1", "r-1", "RT", "é"] {
            let error = text.parse::<Reg>().expect_err(text);
            assert_eq!(error.span, whole(text), "{text}");
        }
        for text in ["", "P", "P7", "P8", "P00", "PZ", "!P0", "PT,"] {
            let error = text.parse::<Pred>().expect_err(text);
            assert_eq!(error.span, whole(text), "{text}");
        }
        for text in ["", ".64", "U", "U128", "256", "64 "] {
            let error = text.parse::<Size>().expect_err(text);
            assert_eq!(error.span, whole(text), "{text}");
            assert!(error.hint().is_some_and(|hint| hint.to_string().contains(".U.128")));
        }
    }

    #[test]
    fn an_instruction_has_no_control_notation() {
        let load = "@!P1 LDG.E.64 R2, [R4+0x10]";
        let instruction: Instruction = load.parse().expect(load);
        assert_eq!(instruction.to_string(), load);
        let line = format!("01:-:1:Y:d {load} ;");
        let parsed: ParsedLine = line.parse().expect(load);
        assert_eq!(parsed.instruction, instruction);
        assert!(parsed.control.is_some());
        assert!(line.parse::<Instruction>().is_err());
        let error = format!("{load} &wr=0").parse::<Instruction>().expect_err(load);
        assert_eq!(error.span.start, load.len() + 1);
        assert_eq!(error.to_string(), "expected `;` or the end of the line");
    }
}
