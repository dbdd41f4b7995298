//! [`FromStr`] of what has a text. None of these accepts blanks around it, except where a whole line
//! is parsed.

use core::str::FromStr;

use super::cursor::Word;
use super::error::{ParseError, ParseErrorKind};
use super::modifier::{Modifiers, SIZES};
use super::operands::{predicate_named, register_named};
use super::parse::{ParsedLine, parse_instruction, parse_line};
use super::span::LineSpan;
use crate::control::Schedule;
use crate::instruction::Instruction;
use crate::operand::{Pred, Reg, Size};

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
