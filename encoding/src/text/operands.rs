//! Reads operands: guards, registers, predicates, addresses, constant banks.

use super::cursor::{Cursor, LineSpan, TokenKind, Word};
use super::error::{Expected, ParseError, ParseErrorKind};
use crate::eight::Eight;
use crate::field::Bits;
use crate::operand::{Guard, Immediate, Pred, Reg};

/// How an offset without a base register is read. With one it is always signed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    Unsigned,
    Signed,
}

impl Cursor<'_> {
    /// Reads `@P0` or `@!P0`, if there is one.
    pub(crate) fn guard(&mut self) -> Result<Guard, ParseError> {
        if !self.eat(b'@') {
            return Ok(Guard::ALWAYS);
        }
        let negated = self.eat(b'!');
        Ok(Guard { pred: self.predicate()?, negated })
    }

    /// Returns whether `, P0` is here.
    pub(crate) fn is_predicate_operand(&self) -> bool {
        let mut ahead = *self;
        ahead.eat(b',') && ahead.predicate_operand().is_ok()
    }

    fn predicate(&mut self) -> Result<Pred, ParseError> {
        predicate_named(self.word(Expected::Predicate)?)
    }

    /// Reads a predicate that has no negation bit.
    pub(crate) fn predicate_operand(&mut self) -> Result<Pred, ParseError> {
        let start = self.peek().span.start;
        if self.eat(b'!') {
            let end = self.word(Expected::Predicate)?.span.end;
            let kind = ParseErrorKind::NegatedOperand;
            return Err(ParseError { kind, span: LineSpan { start, end } });
        }
        self.predicate()
    }

    /// Reads `Rd,`.
    pub(crate) fn destination(&mut self) -> Result<Reg, ParseError> {
        let destination = self.register()?;
        self.expect(b',')?;
        Ok(destination)
    }

    fn register(&mut self) -> Result<Reg, ParseError> {
        register_named(self.word(Expected::Register)?)
    }

    /// Reads `[Ra]`, `[Ra+number]`, `[Ra-number]`, `[Ra+-number]` or `[number]`; also `[-number]` if
    /// a number without a base is signed.
    pub(crate) fn address<const WIDTH: u32>(
        &mut self,
        bare: Bare,
    ) -> Result<(Reg, Immediate<WIDTH>), ParseError> {
        self.expect(b'[')?;
        let (base, immediate) = match self.peek_word().filter(|word| !word.is_digit_first()) {
            Some(word) => {
                self.advance();
                let base = register_named(word)?;
                (base, self.offset(if base.is_zero() { bare } else { Bare::Signed })?)
            }
            None => {
                let immediate = self.absolute(bare)?;
                self.refuse_base_after_offset()?;
                (Reg::RZ, immediate)
            }
        };
        self.expect(b']')?;
        Ok((base, immediate))
    }

    /// Recognizes `[0x4+R1]`, which has an error of its own.
    fn refuse_base_after_offset(&self) -> Result<(), ParseError> {
        let mut ahead = *self;
        if ahead.eat(b'+') {
            let span = ahead.peek().span;
            if ahead.register().is_ok() {
                return Err(ParseError { kind: ParseErrorKind::BaseAfterOffset, span });
            }
        }
        Ok(())
    }

    /// Reads what is between the base register and `]`.
    fn offset<const WIDTH: u32>(&mut self, sign: Bare) -> Result<Immediate<WIDTH>, ParseError> {
        let mut start = self.peek().span.start;
        let negative = if self.eat(b'-') {
            if self.eat(b'-') {
                let (magnitude, span) = self.number()?;
                let span = LineSpan { start, end: span.end };
                return Err(ParseError { kind: ParseErrorKind::DoubleSign { magnitude }, span });
            }
            true
        } else if self.eat(b'+') {
            start = self.peek().span.start;
            self.eat(b'-')
        } else if self.peek().kind == TokenKind::Punctuation(b']') {
            return immediate(sign, false, Some(0), self.peek().span);
        } else {
            return Err(self.error(ParseErrorKind::Expected(Expected::OffsetOrBracket)));
        };
        let (magnitude, span) = self.number()?;
        immediate(sign, negative, magnitude, LineSpan { start, end: span.end })
    }

    /// Reads a number without a base.
    fn absolute<const WIDTH: u32>(&mut self, sign: Bare) -> Result<Immediate<WIDTH>, ParseError> {
        let start = self.peek().span.start;
        let negative = self.eat(b'-');
        if !negative && self.peek().kind != TokenKind::Word {
            return Err(self.error(ParseErrorKind::Expected(Expected::Address)));
        }
        let (magnitude, span) = self.number()?;
        immediate(sign, negative, magnitude, LineSpan { start, end: span.end })
    }

    /// Reads `c[bank]`.
    pub(crate) fn constant_bank(&mut self) -> Result<Bits<5>, ParseError> {
        if self.peek().kind == TokenKind::Punctuation(b'[') {
            return Err(self.error(ParseErrorKind::AddressOfConstant));
        }
        let word = self.word(Expected::ConstantBank)?;
        if !word.is("c") {
            return Err(word.error(ParseErrorKind::Expected(Expected::ConstantBank)));
        }
        self.expect(b'[')?;
        let (number, span) = self.number()?;
        let bank = number.and_then(|number| Bits::new(u8::try_from(number).ok()?));
        let bank = bank.ok_or(ParseError { kind: ParseErrorKind::BankTooHigh, span })?;
        self.expect(b']')?;
        Ok(bank)
    }
}

fn immediate<const WIDTH: u32>(
    sign: Bare,
    negative: bool,
    magnitude: Option<u64>,
    span: LineSpan,
) -> Result<Immediate<WIDTH>, ParseError> {
    let negative = negative && magnitude != Some(0);
    if negative && sign == Bare::Unsigned {
        let kind = ParseErrorKind::NegativeWithoutBase { max: Immediate::<WIDTH>::MAX_UNSIGNED };
        return Err(ParseError { kind, span });
    }
    // No immediate is wider than 32 bits, so a number that does not fit an `i64` is out of range.
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

/// Returns the predicate that `word` names.
pub(crate) fn predicate_named(word: Word<'_>) -> Result<Pred, ParseError> {
    if word.is("PT") {
        return Ok(Pred::PT);
    }
    Err(word.error(match numbered(word, b'P') {
        Some(7) => ParseErrorKind::PredicateWrittenAsNumber,
        Some(number) => match u8::try_from(number).map(Pred::try_from) {
            Ok(Ok(predicate)) => return Ok(predicate),
            _ => ParseErrorKind::PredicateTooHigh,
        },
        None => ParseErrorKind::Expected(Expected::Predicate),
    }))
}

/// Returns the register that `word` names.
pub(crate) fn register_named(word: Word<'_>) -> Result<Reg, ParseError> {
    if word.is("RZ") {
        return Ok(Reg::RZ);
    }
    Err(word.error(match numbered(word, b'R') {
        Some(255) => ParseErrorKind::RegisterWrittenAsNumber,
        Some(number) => match u8::try_from(number) {
            Ok(number) => return Ok(Reg::new(number)),
            Err(_) => ParseErrorKind::RegisterTooHigh,
        },
        None => ParseErrorKind::Expected(Expected::Register),
    }))
}

/// Returns the number after `letter`, in either case; `u32::MAX` if it has more than three digits.
#[inline]
fn numbered(word: Word<'_>, letter: u8) -> Option<u32> {
    let digits = word.text.get(1..)?;
    let canonical = digits == "0" || !digits.starts_with('0');
    if word.upper.first(1) != Eight::of(&[letter]) || !canonical {
        return None;
    }
    match digits.len() {
        1..=3 => word.upper.after(1).decimal(digits.len()),
        0 => None,
        _ => digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(u32::MAX),
    }
}
