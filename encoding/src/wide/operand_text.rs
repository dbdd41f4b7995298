//! Reads the operands of a text, whatever instruction they are of.

use super::form::Prefix;
use crate::operand::{Pred, Reg, UniformReg};
use crate::text::cursor::{Cursor, TokenKind, Word};
use crate::text::{
    Expected, LineSpan, ParseError, ParseErrorKind, predicate_named, register_named,
};

/// An operand as it is written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    Register(Reg),
    Uniform(UniformReg),
    Predicate { uniform: bool, negated: bool, predicate: Pred },
    Number(u64),
    Address(WrittenAddress),
}

/// An address as it is written.
#[derive(Clone, Copy)]
pub(super) struct WrittenAddress {
    pub(super) prefix: WrittenPrefix,
    pub(super) base: Option<(Reg, Suffix)>,
    pub(super) uniform: Option<UniformReg>,
    /// `None` if it is not written. Always below 2^63.
    pub(super) offset: Option<i64>,
    /// Where the offset is, or the whole address if there is none.
    pub(super) offset_span: LineSpan,
}

#[derive(Clone, Copy)]
pub(super) enum WrittenPrefix {
    Nothing,
    /// `c[bank]`
    Bank(u64),
    /// `cx[UR]`
    Handle(UniformReg),
    /// `desc[UR]`
    Descriptor(UniformReg),
    /// `tmem`
    Tensor,
}

impl WrittenPrefix {
    /// Returns whether this is a prefix of that kind.
    pub(super) fn is(self, prefix: Prefix) -> bool {
        matches!(
            (self, prefix),
            (Self::Nothing, Prefix::Nothing)
                | (Self::Bank(_), Prefix::Bank)
                | (Self::Handle(_), Prefix::Handle)
                | (Self::Tensor, Prefix::Tensor)
        )
    }
}

/// What is after the dot of a base register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffix {
    Nothing,
    /// `.64`
    Wide,
    /// `.U32`
    Narrow,
    /// `.X4`, `.X8`, `.X16`: the number of the scale.
    Scale(u64),
}

/// No text has more operands.
pub(super) const MAX_OPERANDS: usize = 6;

/// The operands of a line.
pub(super) struct WrittenOperands {
    list: [Option<(Written, LineSpan)>; MAX_OPERANDS],
    count: usize,
}

impl WrittenOperands {
    /// Reads operands until something else follows than a comma.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let mut operands = Self { list: [None; MAX_OPERANDS], count: 0 };
        loop {
            let start = cursor.peek().span.start;
            let written = read_operand(cursor)?;
            let span = LineSpan { start, end: cursor.position() };
            let Some(slot) = operands.list.get_mut(operands.count) else {
                return Err(ParseError { kind: ParseErrorKind::Expected(Expected::End), span });
            };
            *slot = Some((written, span));
            operands.count += 1;
            if !cursor.eat(b',') {
                return Ok(operands);
            }
        }
    }

    pub(super) fn get(&self, n: usize) -> Option<(Written, LineSpan)> {
        self.list.get(n).copied().flatten()
    }
}

fn read_operand(cursor: &mut Cursor<'_>) -> Result<Written, ParseError> {
    if cursor.peek().kind == TokenKind::Punctuation(b'[') {
        return Ok(Written::Address(read_address(cursor, WrittenPrefix::Nothing)?));
    }
    let negated = cursor.eat(b'!');
    let expected = if negated { Expected::Predicate } else { Expected::Operand };
    let word = cursor.word(expected)?;
    if negated {
        let (uniform, predicate) = either_predicate(word)?;
        return Ok(Written::Predicate { uniform, negated, predicate });
    }
    if word.is_digit_first() {
        let number = word.number()?.ok_or(word.error(ParseErrorKind::BadNumber))?;
        return Ok(Written::Number(number));
    }
    if word.is("tmem") {
        return Ok(Written::Address(read_address(cursor, WrittenPrefix::Tensor)?));
    }
    if cursor.peek().kind == TokenKind::Punctuation(b'[') {
        let prefix = read_prefix(cursor, word)?;
        return Ok(Written::Address(read_address(cursor, prefix)?));
    }
    if is_uniform(word, b'R') {
        return uniform_named(word).map(Written::Uniform);
    }
    if is_uniform(word, b'P') || begins_with(word, b"P") {
        let (uniform, predicate) = either_predicate(word)?;
        return Ok(Written::Predicate { uniform, negated, predicate });
    }
    register_named(word).map(Written::Register)
}

/// Reads the bracket after `c`, `cx` or `desc`.
fn read_prefix(cursor: &mut Cursor<'_>, word: Word<'_>) -> Result<WrittenPrefix, ParseError> {
    cursor.expect(b'[')?;
    let prefix = if word.is("c") {
        let (number, span) = cursor.number()?;
        let bank = number.filter(|bank| *bank < 32);
        WrittenPrefix::Bank(bank.ok_or(ParseError { kind: ParseErrorKind::BankTooHigh, span })?)
    } else if word.is("cx") {
        WrittenPrefix::Handle(uniform_named(cursor.word(Expected::UniformRegister)?)?)
    } else if word.is("desc") {
        WrittenPrefix::Descriptor(uniform_named(cursor.word(Expected::UniformRegister)?)?)
    } else {
        return Err(word.error(ParseErrorKind::Expected(Expected::Operand)));
    };
    cursor.expect(b']')?;
    Ok(prefix)
}

/// Reads `[Ra.64+UR+off]`, every part of which can be missing.
fn read_address(
    cursor: &mut Cursor<'_>,
    prefix: WrittenPrefix,
) -> Result<WrittenAddress, ParseError> {
    let start = cursor.peek().span.start;
    cursor.expect(b'[')?;
    let (mut base, mut uniform, mut offset) = (None, None, None);
    let mut offset_span = None;
    let mut is_first = true;
    loop {
        let separator = cursor.peek().span;
        if !is_first {
            if cursor.eat(b']') {
                break;
            }
            if cursor.peek().kind != TokenKind::Punctuation(b'-') {
                let kind = ParseErrorKind::Expected(Expected::OffsetOrBracket);
                if !cursor.eat(b'+') {
                    return Err(cursor.error(kind));
                }
            }
        }
        is_first = false;
        let at = cursor.peek().span;
        if offset.is_some() {
            let is_register = cursor.peek_word().is_some_and(|word| !word.is_digit_first());
            let end = ParseErrorKind::Expected(Expected::Character(']'));
            return Err(if is_register {
                ParseError { kind: ParseErrorKind::BaseAfterOffset, span: at }
            } else {
                ParseError { kind: end, span: separator }
            });
        }
        let is_number = cursor.peek_word().is_some_and(Word::is_digit_first);
        if is_number || at_minus(cursor) {
            let negative = cursor.eat(b'-');
            let (magnitude, span) = cursor.number()?;
            let magnitude = magnitude.and_then(|magnitude| i64::try_from(magnitude).ok());
            let out_of_range = ParseErrorKind::OffsetTooLong;
            let magnitude = magnitude.ok_or(ParseError { kind: out_of_range, span })?;
            offset = Some(if negative { -magnitude } else { magnitude });
            offset_span = Some(LineSpan { start: at.start, end: span.end });
            continue;
        }
        let word = cursor.word(Expected::Address)?;
        if is_uniform(word, b'R') {
            if uniform.replace(uniform_named(word)?).is_some() {
                return Err(word.error(ParseErrorKind::Expected(Expected::Number)));
            }
        } else if base.is_none() && uniform.is_none() {
            base = Some((register_named(word)?, read_suffix(cursor)?));
        } else {
            return Err(word.error(ParseErrorKind::Expected(Expected::Number)));
        }
    }
    let whole = LineSpan { start, end: cursor.position() };
    Ok(WrittenAddress { prefix, base, uniform, offset, offset_span: offset_span.unwrap_or(whole) })
}

fn at_minus(cursor: &Cursor<'_>) -> bool {
    cursor.peek().kind == TokenKind::Punctuation(b'-')
}

/// Reads what may be after the dot of a base register.
fn read_suffix(cursor: &mut Cursor<'_>) -> Result<Suffix, ParseError> {
    if !cursor.eat(b'.') {
        return Ok(Suffix::Nothing);
    }
    let word = cursor.word(Expected::BaseSuffix)?;
    let suffixes = [
        ("64", Suffix::Wide),
        ("U32", Suffix::Narrow),
        ("X4", Suffix::Scale(1)),
        ("X8", Suffix::Scale(2)),
        ("X16", Suffix::Scale(3)),
    ];
    let found = suffixes.iter().find(|(name, _)| word.is(name)).map(|(_, suffix)| *suffix);
    found.ok_or(word.error(ParseErrorKind::Expected(Expected::BaseSuffix)))
}

fn begins_with(word: Word<'_>, letters: &[u8]) -> bool {
    word.text.get(..letters.len()).is_some_and(|t| t.as_bytes().eq_ignore_ascii_case(letters))
}

/// Returns whether `word` is `UR…` or `UP…`, as `letter` says.
fn is_uniform(word: Word<'_>, letter: u8) -> bool {
    begins_with(word, &[b'U', letter])
}

/// Returns the word without its first letter.
fn after_u(word: Word<'_>) -> Word<'_> {
    word.after_first()
}

/// Returns the uniform register that `word` names.
pub(crate) fn uniform_named(word: Word<'_>) -> Result<UniformReg, ParseError> {
    if !is_uniform(word, b'R') {
        return Err(word.error(ParseErrorKind::Expected(Expected::UniformRegister)));
    }
    register_named(after_u(word)).map(|register| UniformReg::new(register.number()))
}

/// Returns the predicate that `word` names, and whether it is a uniform one.
pub(super) fn either_predicate(word: Word<'_>) -> Result<(bool, Pred), ParseError> {
    if is_uniform(word, b'P') {
        Ok((true, predicate_named(after_u(word))?))
    } else {
        Ok((false, predicate_named(word)?))
    }
}
