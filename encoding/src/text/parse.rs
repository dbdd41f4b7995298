//! The parser: one line of SASS to an instruction, its schedule apart from it.

use super::annotation::parse_control_prefix;
use super::error::{Expected, ParseError, ParseErrorKind, Span};
use super::lexer::{Token, TokenKind, skip_blank, token};
use super::modifier::Alias;
use crate::control::Control;
use crate::field::Bits;
use crate::instruction::{Guard, Instruction};
use crate::operand::{Immediate, Pred, Reg};

/// What one line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedLine {
    /// The instruction.
    pub instruction: Instruction,
    /// How it is scheduled, where the line says so. An instruction word never holds this; a
    /// bundle does.
    pub control: Option<Control>,
    /// The modifier that was written under another name, where one was.
    pub alias: Option<Alias>,
}

/// Reads one instruction: the canonical text and the superset of it that docs/ld.md section 2
/// names, with annotations behind the operands or maxas's or CuAssembler's notation in front.
///
/// The text of a decoded instruction is read as that instruction, without the bits that no text
/// shows; [`Instruction`] says exactly what is promised.
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
/// [`ParseError`] with the bytes at fault.
pub fn parse_line(text: &str) -> Result<ParsedLine, ParseError> {
    let (leading, start) = parse_control_prefix(text)?;
    let mut cursor = Cursor { text, position: start, alias: None };
    if cursor.peek()?.kind == TokenKind::End {
        return Err(cursor.error(ParseErrorKind::Expected(Expected::Instruction))?);
    }
    let guard = cursor.guard()?;
    let mut instruction = Instruction::parse_opcode(guard, &mut cursor)?;
    instruction.parse_operands(&mut cursor)?;
    let start = cursor.peek()?.span.start;
    let trailing = cursor.annotations()?;
    if leading.is_some() && trailing.is_some() {
        let span = Span { start, end: cursor.position() };
        return Err(ParseError { kind: ParseErrorKind::ControlTwice, span });
    }
    let ended = cursor.take(b';')?;
    if cursor.peek()?.kind != TokenKind::End {
        let kind = if ended {
            ParseErrorKind::TrailingText
        } else if cursor.is_predicate_operand() && instruction.mnemonic() != "LD" {
            ParseErrorKind::PredicateOperand
        } else {
            ParseErrorKind::Expected(Expected::End)
        };
        return Err(cursor.error(kind)?);
    }
    Ok(ParsedLine { instruction, control: leading.or(trailing), alias: cursor.alias })
}

/// Reads a mnemonic with its modifiers alone, as traces name loads. All operands of the result are
/// `RZ`, `PT` or 0.
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
/// [`ParseError`] with the bytes at fault.
pub fn parse_opcode(text: &str) -> Result<Instruction, ParseError> {
    let mut cursor = Cursor { text, position: 0, alias: None };
    let instruction = Instruction::parse_opcode(Guard::ALWAYS, &mut cursor)?;
    if cursor.peek()?.kind != TokenKind::End {
        return Err(cursor.error(ParseErrorKind::TrailingText)?);
    }
    Ok(instruction)
}

/// How a number without a base register is read. With one it is always signed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    Unsigned,
    Signed,
}

/// A place in a line, and the operands that can be read there.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    position: usize,
    alias: Option<Alias>,
}

impl<'t> Cursor<'t> {
    pub(crate) fn peek(&self) -> Result<Token, ParseError> {
        token(self.text, self.position)
    }

    pub(crate) fn advance(&mut self, token: Token) {
        self.position = token.span.end;
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn str(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    pub(crate) fn note_alias(&mut self, alias: Alias) {
        self.alias = Some(alias);
    }

    /// An error at the token that stands here.
    pub(crate) fn error(&self, kind: ParseErrorKind) -> Result<ParseError, ParseError> {
        Ok(ParseError { kind, span: self.peek()?.span })
    }

    /// Takes the character where it stands here.
    pub(crate) fn take(&mut self, character: u8) -> Result<bool, ParseError> {
        // Only this one byte matters: no need to read the whole word that may stand here.
        let start = skip_blank(self.text.as_bytes(), self.position)?;
        let found = self.text.as_bytes().get(start) == Some(&character);
        if found {
            self.position = start + 1;
        }
        Ok(found)
    }

    pub(crate) fn expect(&mut self, character: u8) -> Result<(), ParseError> {
        if self.take(character)? {
            return Ok(());
        }
        let expected = Expected::Character(char::from(character));
        Err(self.error(ParseErrorKind::Expected(expected))?)
    }

    /// Takes the word that stands here.
    pub(crate) fn word(&mut self, expected: Expected) -> Result<(&'t str, Span), ParseError> {
        let token = self.peek()?;
        if token.kind != TokenKind::Word {
            return Err(ParseError { kind: ParseErrorKind::Expected(expected), span: token.span });
        }
        self.advance(token);
        Ok((self.str(token.span), token.span))
    }

    fn guard(&mut self) -> Result<Guard, ParseError> {
        if !self.take(b'@')? {
            return Ok(Guard::ALWAYS);
        }
        let negated = self.take(b'!')?;
        Ok(Guard { pred: self.predicate()?, negated })
    }

    /// Whether `, P0` stands here.
    fn is_predicate_operand(&self) -> bool {
        let mut ahead = *self;
        ahead.take(b',') == Ok(true) && ahead.predicate_operand().is_ok()
    }

    fn predicate(&mut self) -> Result<Pred, ParseError> {
        let (word, span) = self.word(Expected::Predicate)?;
        if word.eq_ignore_ascii_case("PT") {
            return Ok(Pred::PT);
        }
        let kind = match numbered(word, b'P') {
            Some(7) => ParseErrorKind::PredicateWrittenAsNumber,
            Some(number) => match u8::try_from(number).ok().and_then(Pred::new) {
                Some(predicate) => return Ok(predicate),
                None => ParseErrorKind::PredicateTooHigh,
            },
            None => ParseErrorKind::Expected(Expected::Predicate),
        };
        Err(ParseError { kind, span })
    }

    /// A predicate that has no negation bit.
    pub(crate) fn predicate_operand(&mut self) -> Result<Pred, ParseError> {
        let start = self.peek()?.span.start;
        if self.take(b'!')? {
            let end = self.word(Expected::Predicate)?.1.end;
            let kind = ParseErrorKind::NegatedOperand;
            return Err(ParseError { kind, span: Span { start, end } });
        }
        self.predicate()
    }

    /// `Rd,`
    pub(crate) fn destination(&mut self) -> Result<Reg, ParseError> {
        let destination = self.register()?;
        self.expect(b',')?;
        Ok(destination)
    }

    fn register(&mut self) -> Result<Reg, ParseError> {
        let (word, span) = self.word(Expected::Register)?;
        register_named(word, span)
    }

    /// `[Ra]`, `[Ra+number]`, `[Ra-number]`, `[Ra+-number]`, `[number]`; where a number without a
    /// base is signed, `[-number]` too.
    pub(crate) fn address<const WIDTH: u32>(
        &mut self,
        bare: Bare,
    ) -> Result<(Reg, Immediate<WIDTH>), ParseError> {
        self.expect(b'[')?;
        let token = self.peek()?;
        let named = token.kind == TokenKind::Word && !is_digit_first(self.str(token.span));
        let (base, immediate) = if named {
            self.advance(token);
            let base = register_named(self.str(token.span), token.span)?;
            (base, self.offset(if base.is_zero() { bare } else { Bare::Signed })?)
        } else {
            (Reg::RZ, self.absolute(bare)?)
        };
        if !named {
            self.refuse_base_after_offset()?;
        }
        self.expect(b']')?;
        Ok((base, immediate))
    }

    /// `[0x4+R1]`: a mistake with an answer of its own.
    fn refuse_base_after_offset(&self) -> Result<(), ParseError> {
        let mut ahead = *self;
        if ahead.take(b'+')? {
            let span = ahead.peek()?.span;
            if ahead.register().is_ok() {
                return Err(ParseError { kind: ParseErrorKind::BaseAfterOffset, span });
            }
        }
        Ok(())
    }

    /// What stands between the base register and `]`.
    fn offset<const WIDTH: u32>(&mut self, sign: Bare) -> Result<Immediate<WIDTH>, ParseError> {
        let mut start = self.peek()?.span.start;
        let negative = if self.take(b'-')? {
            if self.take(b'-')? {
                let (magnitude, span) = self.number()?;
                let span = Span { start, end: span.end };
                return Err(ParseError { kind: ParseErrorKind::DoubleSign { magnitude }, span });
            }
            true
        } else if self.take(b'+')? {
            start = self.peek()?.span.start;
            self.take(b'-')?
        } else if self.peek()?.kind == TokenKind::Punctuation(b']') {
            return immediate(sign, false, Some(0), self.peek()?.span);
        } else {
            return Err(self.error(ParseErrorKind::Expected(Expected::OffsetOrBracket))?);
        };
        let (magnitude, span) = self.number()?;
        immediate(sign, negative, magnitude, Span { start, end: span.end })
    }

    /// A number without a base.
    fn absolute<const WIDTH: u32>(&mut self, sign: Bare) -> Result<Immediate<WIDTH>, ParseError> {
        let start = self.peek()?.span.start;
        let negative = self.take(b'-')?;
        if !negative && self.peek()?.kind != TokenKind::Word {
            return Err(self.error(ParseErrorKind::Expected(Expected::Address))?);
        }
        let (magnitude, span) = self.number()?;
        immediate(sign, negative, magnitude, Span { start, end: span.end })
    }

    /// `c[bank]`
    pub(crate) fn constant_bank(&mut self) -> Result<Bits<5>, ParseError> {
        if self.peek()?.kind == TokenKind::Punctuation(b'[') {
            return Err(self.error(ParseErrorKind::AddressOfConstant)?);
        }
        let (word, span) = self.word(Expected::ConstantBank)?;
        if !word.eq_ignore_ascii_case("c") {
            let kind = ParseErrorKind::Expected(Expected::ConstantBank);
            return Err(ParseError { kind, span });
        }
        self.expect(b'[')?;
        let (number, span) = self.number()?;
        let bank = number.and_then(|number| Bits::new(u8::try_from(number).ok()?));
        let bank = bank.ok_or(ParseError { kind: ParseErrorKind::BankTooHigh, span })?;
        self.expect(b']')?;
        Ok(bank)
    }

    /// A number, or nothing where it has more than 64 bits.
    pub(crate) fn number(&mut self) -> Result<(Option<u64>, Span), ParseError> {
        let (word, span) = self.word(Expected::Number)?;
        Ok((read_number(word, span)?, span))
    }

    pub(crate) fn take_comma(&mut self) -> Result<bool, ParseError> {
        self.take(b',')
    }
}

/// The number that `word` writes, or nothing where it has more than 64 bits.
pub(crate) fn read_number(word: &str, span: Span) -> Result<Option<u64>, ParseError> {
    let (digits, radix) = match word.get(..2) {
        Some("0x" | "0X") => (&word[2..], 16),
        _ => (word, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        let kind = if is_digit_first(word) {
            ParseErrorKind::BadNumber
        } else {
            ParseErrorKind::Expected(Expected::Number)
        };
        return Err(ParseError { kind, span });
    }
    // Only digits are left, so that the one way to fail is too many of them.
    Ok(u64::from_str_radix(digits, radix).ok())
}

fn immediate<const WIDTH: u32>(
    sign: Bare,
    negative: bool,
    magnitude: Option<u64>,
    span: Span,
) -> Result<Immediate<WIDTH>, ParseError> {
    let negative = negative && magnitude != Some(0);
    if negative && sign == Bare::Unsigned {
        let kind = ParseErrorKind::NegativeWithoutBase { max: Immediate::<WIDTH>::MAX_UNSIGNED };
        return Err(ParseError { kind, span });
    }
    // No immediate is wider than 32 bits: what does not fit an `i64` is out of range as well.
    let value = magnitude.and_then(|magnitude| i64::try_from(magnitude).ok());
    let value = value.map(|magnitude| if negative { -magnitude } else { magnitude });
    let (immediate, min, max) = match sign {
        Bare::Unsigned => (
            value.and_then(|value| Immediate::from_unsigned(u64::try_from(value).ok()?)),
            0,
            Immediate::<WIDTH>::MAX_UNSIGNED,
        ),
        Bare::Signed => (
            value.and_then(Immediate::from_signed),
            Immediate::<WIDTH>::MIN_SIGNED,
            Immediate::<WIDTH>::MAX_SIGNED as u64,
        ),
    };
    immediate.ok_or(ParseError { kind: ParseErrorKind::OutOfRange { min, max, value }, span })
}

fn register_named(word: &str, span: Span) -> Result<Reg, ParseError> {
    if word.eq_ignore_ascii_case("RZ") {
        return Ok(Reg::RZ);
    }
    let kind = match numbered(word, b'R') {
        Some(255) => ParseErrorKind::RegisterWrittenAsNumber,
        Some(number) => match u8::try_from(number) {
            Ok(number) => return Ok(Reg::new(number)),
            Err(_) => ParseErrorKind::RegisterTooHigh,
        },
        None => ParseErrorKind::Expected(Expected::Register),
    };
    Err(ParseError { kind, span })
}

/// The number behind `letter`, whatever its case; saturates.
fn numbered(word: &str, letter: u8) -> Option<u32> {
    let (first, digits) = word.as_bytes().split_first()?;
    let canonical = digits == b"0" || digits.first().is_some_and(|digit| *digit != b'0');
    if !first.eq_ignore_ascii_case(&letter) || !canonical || !digits.iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    Some(digits.iter().fold(0u32, |number, digit| {
        number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    }))
}

fn is_digit_first(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_digit)
}
