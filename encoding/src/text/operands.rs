//! Reads operands, token by token, as the grammar of a form says.

use super::cursor::{Cursor, LineSpan, TokenKind, Word};
use super::error::{Expected, ParseError, ParseErrorKind as Error};
use super::examples::Addresses;
use crate::eight::Eight;
use crate::instruction::Instruction;
use crate::operand::{Pred, Reg, UniformReg};
use crate::plan::PlannedAlternative;
use crate::table::grammar::{Alternative, Bare, Condition, Operand, Part, Token};
use crate::table::row::{Kind, Slot};

type Read<T> = Result<T, ParseError>;

/// The error of an offset beside a base register that turns out to be the zero register, or the like: another
/// alternative has a better one.
const OTHER: Error = Error::Expected(Expected::Address);

impl Instruction {
    /// Reads the operands that are at `cursor`.
    pub(super) fn read_operands(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let plan = self.plan();
        let mut is_first = true;
        let mut skipped = None;
        let mut rest = plan.alternatives();
        for (n, operand) in self.form().operands.iter().enumerate() {
            let count = rest.iter().take_while(|one| usize::from(one.operand) == n).count();
            let (alternatives, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            let mut ahead = *cursor;
            if !is_first {
                if operand.is_optional {
                    if !ahead.eat(b',') {
                        continue;
                    }
                } else {
                    ahead.expect(b',')?;
                }
            }
            if operand.is_optional && !begins(operand, &ahead) {
                skipped = skipped.or((!is_first).then_some(ahead));
                continue;
            }
            if self.read_operand(alternatives, &mut ahead)? {
                (*cursor, is_first) = (ahead, false);
            }
        }
        match skipped {
            // A comma, but none of the operands that may follow.
            Some(after) if cursor.peek().kind == TokenKind::Punctuation(b',') => {
                Err(after.error(Error::Expected(Expected::Predicate)))
            }
            _ => Ok(()),
        }
    }

    /// Reads an operand; returns whether it is there.
    fn read_operand(
        &mut self,
        alternatives: &[PlannedAlternative],
        cursor: &mut Cursor<'_>,
    ) -> Read<bool> {
        // Of two errors at one place, the one of a number or a register that is there.
        let rank =
            |error: &ParseError| (error.span.start, !matches!(error.kind, Error::Expected(_)));
        let mut best: Option<ParseError> = None;
        for alternative in alternatives.iter().filter(|one| one.is_read) {
            let (mut load, mut ahead) = (*self, *cursor);
            match load.read_alternative(alternative, &mut ahead) {
                Ok(true) => {
                    (*self, *cursor) = (load, ahead);
                    return Ok(true);
                }
                Ok(false) => {}
                Err(error) if error.kind == Error::NeedsExtended => return Err(error),
                Err(error) if best.is_none_or(|best| rank(&error) > rank(&best)) => {
                    best = Some(error);
                }
                Err(_) => {}
            }
        }
        let Some(error) = best else { return Ok(false) };
        let is_address = alternatives.iter().any(|one| one.row.is_address());
        match error.kind {
            Error::Expected(expected)
                if is_address
                    && !self.plan().is_narrow
                    && expected != Expected::Character(']')
                    && !matches!(error.kind, Error::Expected(Expected::Number)) =>
            {
                let Some(span) = address(*cursor) else { return Err(error) };
                let known = Addresses { mnemonic: self.mnemonic(), sm: self.sm() };
                Err(ParseError { kind: Error::AddressForm { known }, span })
            }
            _ => Err(error),
        }
    }

    /// Reads an alternative; returns false if it cannot be here.
    fn read_alternative(
        &mut self,
        alternative: &PlannedAlternative,
        cursor: &mut Cursor<'_>,
    ) -> Read<bool> {
        let row = alternative.row;
        let start = cursor.peek().span.start;
        for condition in row.when {
            match *condition {
                Condition::Is(slot, number) | Condition::Set(slot, number) => {
                    self.set(slot, number);
                }
                Condition::Zero(slot) => {
                    self.set(slot, u64::MAX >> (64 - self.width(slot).max(1)));
                }
                Condition::SetAsExtended(slot) => {
                    self.set(slot, u64::from(self.is_extended()));
                }
                Condition::Needs(slot, number) if self.get(slot) == number => return Ok(false),
                Condition::Nonzero(_) | Condition::Unless(..) | Condition::Needs(..) => {}
            }
        }
        for token in row.tokens {
            read_text(token.before, cursor)?;
            self.read_part(&token.part, row, cursor)?;
            read_text(token.after, cursor)?;
        }
        let span = LineSpan { start, end: cursor.position() };
        if alternative.is_wide && !self.is_extended() {
            return Err(ParseError { kind: Error::NeedsExtended, span });
        }
        // The register may be that of an operand before.
        let is_zero = |condition: &Condition| match condition {
            Condition::Nonzero(slot) => self.is_zero(*slot),
            _ => false,
        };
        Ok(!row.when.iter().any(is_zero))
    }

    /// Returns whether an address has 64 bits; true of forms that have no other.
    fn is_extended(&self) -> bool {
        !self.has(Slot::Extended) || self.get(Slot::Extended) != 0
    }

    /// Returns whether a register is the zero register.
    fn is_zero(&self, slot: Slot) -> bool {
        if self.is_uniform(slot) {
            self.uniform(slot).is_zero()
        } else {
            self.register(slot).is_zero()
        }
    }

    fn read_part(&mut self, part: &Part, row: &Alternative, cursor: &mut Cursor<'_>) -> Read<()> {
        match *part {
            Part::Register(slot) => {
                let is_in_address = !matches!(row.tokens, [_]);
                self.read_register(slot, is_in_address, cursor)?;
                let excludes = |condition: &Condition| match condition {
                    Condition::Nonzero(other) => *other == slot,
                    _ => false,
                };
                if self.is_zero(slot) && row.when.iter().any(excludes) {
                    return Err(ParseError { kind: OTHER, span: LineSpan { start: 0, end: 0 } });
                }
                Ok(())
            }
            Part::Next(slot) => {
                let word = cursor.word(Expected::UniformRegister)?;
                if uniform_named(word)? == self.next(self.uniform(slot)) {
                    return Ok(());
                }
                Err(word.error(Error::DescriptorAfterUniform))
            }
            // Its alternative is never read.
            Part::Unknown(_) => Ok(()),
            Part::Predicate(slot) => {
                if self.sm().has_wide_words() || cursor.peek().kind != TokenKind::Punctuation(b'!')
                {
                    return self.read_predicate(slot, cursor);
                }
                let start = cursor.peek().span.start;
                cursor.advance();
                let end = cursor.word(Expected::Predicate)?.span.end;
                Err(ParseError { kind: Error::NegatedOperand, span: LineSpan { start, end } })
            }
            Part::Not(slot) => {
                self.set(slot, cursor.eat(b'!').into());
                Ok(())
            }
            Part::Number(slot) => {
                let (number, span) = cursor.number()?;
                let kind = match slot {
                    Slot::Bank => Error::BankTooHigh,
                    _ => Error::NumberTooLarge,
                };
                let is_set = number.is_some_and(|number| self.set(slot, number));
                if is_set { Ok(()) } else { Err(ParseError { kind, span }) }
            }
            Part::Scale(slot) => self.read_scale(slot, cursor),
            Part::Offset(slot) => self.read_offset(slot, true, cursor),
            Part::BareOffset(slot, bare) => {
                let is_signed = bare.signed.contains(self.sm().group());
                self.read_offset(slot, is_signed, cursor)
            }
            Part::Absolute(slot, bare) => self.read_absolute(slot, &bare, cursor),
        }
    }

    fn read_register(
        &mut self,
        slot: Slot,
        is_in_address: bool,
        cursor: &mut Cursor<'_>,
    ) -> Read<()> {
        let is_uniform = self.is_uniform(slot);
        let expected = match (is_uniform, is_in_address) {
            (true, _) => Expected::UniformRegister,
            (false, true) => Expected::Address,
            (false, false) => Expected::Register,
        };
        let word = cursor.word(expected)?;
        if !is_uniform {
            let register = register_named(word)?;
            self.set(slot, register.number().into());
            return Ok(());
        }
        let register = uniform_named(word)?;
        let width = self.width(slot);
        let too_high = Error::UniformRegisterTooHigh { last: ((1u16 << width) - 2) as u8 };
        self.set(slot, register.to_field(width).ok_or(word.error(too_high))?);
        Ok(())
    }

    fn read_predicate(&mut self, slot: Slot, cursor: &mut Cursor<'_>) -> Read<()> {
        let word = cursor.word(Expected::Predicate)?;
        let (uniform, predicate) = match self.is_uniform(slot) {
            true => either_predicate(word)?,
            false => (false, predicate_named(word)?),
        };
        if uniform != self.is_uniform(slot) {
            return Err(word.error(Error::Expected(Expected::UniformPredicate)));
        }
        let number = predicate.number();
        let is_inverted = matches!(self.kind(slot), Some(Kind::InvertedPredicate));
        let bits = if is_inverted { 7 - number } else { number };
        self.set(slot, bits.into());
        Ok(())
    }

    /// Reads `.X4`, if a dot is here.
    fn read_scale(&mut self, slot: Slot, cursor: &mut Cursor<'_>) -> Read<()> {
        if !cursor.eat(b'.') {
            return Ok(());
        }
        let word = cursor.word(Expected::BaseSuffix)?;
        let names = self.values(slot).map(|values| values.names());
        let found = names.and_then(|mut names| names.find(|(name, _)| word.is(name)));
        let is_set = found.is_some_and(|(_, number)| self.set(slot, number));
        if is_set { Ok(()) } else { Err(word.error(Error::Expected(Expected::BaseSuffix))) }
    }

    /// Reads an offset after a register, which may be missing.
    fn read_offset(&mut self, slot: Slot, is_signed: bool, cursor: &mut Cursor<'_>) -> Read<()> {
        let mut start = cursor.peek().span.start;
        let negative = if cursor.eat(b'-') {
            if cursor.eat(b'-') {
                let (magnitude, span) = cursor.number()?;
                let span = LineSpan { start, end: span.end };
                return Err(ParseError { kind: Error::DoubleSign { magnitude }, span });
            }
            true
        } else if cursor.eat(b'+') {
            start = cursor.peek().span.start;
            cursor.eat(b'-')
        } else if cursor.peek().kind == TokenKind::Punctuation(b']') {
            return self.set_offset(slot, is_signed, false, Some(0), cursor.peek().span);
        } else {
            return Err(cursor.error(Error::Expected(Expected::OffsetOrBracket)));
        };
        let (magnitude, span) = cursor.number()?;
        self.set_offset(slot, is_signed, negative, magnitude, LineSpan { start, end: span.end })
    }

    /// Reads an address without a register, or after the zero register.
    fn read_absolute(&mut self, slot: Slot, bare: &Bare, cursor: &mut Cursor<'_>) -> Read<()> {
        let is_signed = bare.signed.contains(self.sm().group());
        if let Some(word) = cursor.peek_word()
            && !word.is_digit_first()
        {
            if !word.is(bare.zero) {
                return Err(word.error(OTHER));
            }
            cursor.advance();
            let is_alone = bare.alone.contains(self.sm().group());
            if is_alone && cursor.peek().kind != TokenKind::Punctuation(b']') {
                return Err(word.error(OTHER));
            }
            return self.read_offset(slot, is_signed, cursor);
        }
        let start = cursor.peek().span.start;
        let negative = cursor.eat(b'-');
        if !negative && cursor.peek().kind != TokenKind::Word {
            return Err(cursor.error(OTHER));
        }
        let (magnitude, span) = cursor.number()?;
        self.set_offset(slot, is_signed, negative, magnitude, LineSpan { start, end: span.end })
    }

    /// Sets an offset; `is_signed` says whether it is one, or an address of its own.
    fn set_offset(
        &mut self,
        slot: Slot,
        is_signed: bool,
        negative: bool,
        magnitude: Option<u64>,
        span: LineSpan,
    ) -> Read<()> {
        let width = self.width(slot).max(1);
        let unit = if matches!(self.kind(slot), Some(Kind::SignedBy32)) { 32 } else { 1 };
        let (min, max) = match is_signed {
            true => (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1),
            false => (0, (1i64 << width) - 1),
        };
        let negative = negative && magnitude != Some(0);
        if negative && !is_signed {
            return Err(ParseError { kind: Error::NegativeWithoutBase { max: max as u64 }, span });
        }
        // No offset is wider than 32 bits, so a number that does not fit an `i64` is out of range.
        let value = magnitude.and_then(|magnitude| i64::try_from(magnitude).ok());
        let value = value.map(|magnitude| if negative { -magnitude } else { magnitude });
        if value.is_some_and(|value| value % unit != 0) {
            return Err(ParseError { kind: Error::OffsetUnit { unit: unit as u8 }, span });
        }
        let fitting = value.filter(|value| (min..=max).contains(&(value / unit)));
        let bits = fitting.map(|value| (value / unit) as u64 & (u64::MAX >> (64 - width)));
        let (min, max) = (min * unit, (max * unit) as u64);
        let kind = Error::OutOfRange { min, max, value };
        let is_set = bits.is_some_and(|bits| self.set(slot, bits));
        if is_set { Ok(()) } else { Err(ParseError { kind, span }) }
    }
}

/// Returns whether an operand that can be left out begins at `cursor`.
fn begins(operand: &Operand, cursor: &Cursor<'_>) -> bool {
    let is_number = operand
        .alternatives
        .first()
        .is_some_and(|first| matches!(first.tokens, [Token { part: Part::Number(_), .. }, ..]));
    if cursor.peek().kind == TokenKind::Punctuation(b'!') {
        return !is_number;
    }
    cursor.peek_word().is_some_and(|word| match is_number {
        true => word.is_digit_first(),
        false => begins_with(word, b"P") || begins_with(word, b"UP"),
    })
}

/// Reads `c[`, `]`, `.64` and the like.
#[inline(always)]
fn read_text(text: &str, cursor: &mut Cursor<'_>) -> Read<()> {
    match text.as_bytes() {
        [] => Ok(()),
        [mark] if cursor.eat(*mark) => Ok(()),
        _ => read_marks_and_words(text, cursor),
    }
}

fn read_marks_and_words(text: &str, cursor: &mut Cursor<'_>) -> Read<()> {
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        if !first.is_ascii_alphanumeric() {
            if !cursor.eat(first) {
                return Err(missing(first, cursor));
            }
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let kind = match text {
            _ if text.starts_with('.') => Error::Expected(Expected::BaseSuffix),
            "c[" if cursor.peek().kind == TokenKind::Punctuation(b'[') => Error::AddressOfConstant,
            "c[" => Error::Expected(Expected::ConstantBank),
            _ => Error::Expected(Expected::Operand),
        };
        match cursor.peek_word() {
            Some(given) if given.is(word) => cursor.advance(),
            _ => return Err(cursor.error(kind)),
        }
        rest = after;
    }
    Ok(())
}

/// Returns the error of punctuation that is not there.
fn missing(mark: u8, cursor: &Cursor<'_>) -> ParseError {
    if mark == b']' {
        // `[0x4+R1]`
        let mut ahead = *cursor;
        if ahead.eat(b'+') {
            let is_register =
                |word: Word<'_>| register_named(word).is_ok() || uniform_named(word).is_ok();
            if ahead.peek_word().is_some_and(is_register) {
                return ahead.error(Error::BaseAfterOffset);
            }
        }
    }
    cursor.error(Error::Expected(match mark {
        b'.' => Expected::BaseSuffix,
        b'+' => Expected::OffsetOrBracket,
        mark => Expected::Character(char::from(mark)),
    }))
}

/// Returns the place of an address of any form; `None` if none is here.
fn address(mut cursor: Cursor<'_>) -> Option<LineSpan> {
    let start = cursor.peek().span.start;
    if let Some(word) = cursor.peek_word() {
        cursor.advance();
        if word.is_digit_first() || cursor.peek().kind != TokenKind::Punctuation(b'[') {
            return None;
        }
    }
    let (mut end, mut words) = (None, 0);
    while cursor.eat(b'[') {
        while cursor.peek().kind != TokenKind::Punctuation(b']') {
            words += 1;
            match cursor.peek().kind {
                TokenKind::Word | TokenKind::Punctuation(b'.' | b'+' | b'-') => cursor.advance(),
                _ => return None,
            }
        }
        cursor.advance();
        end = Some(cursor.position());
    }
    Some(LineSpan { start, end: end.filter(|_| words > 0)? })
}

/// Returns whether `, P0` is here.
pub(super) fn is_predicate(mut cursor: Cursor<'_>) -> bool {
    cursor.eat(b',') && cursor.peek_word().is_some_and(|word| predicate_named(word).is_ok())
}

fn begins_with(word: Word<'_>, letters: &[u8]) -> bool {
    word.text.as_bytes().get(..letters.len()).is_some_and(|t| t.eq_ignore_ascii_case(letters))
}

/// Returns the predicate that `word` names.
pub(super) fn predicate_named(word: Word<'_>) -> Read<Pred> {
    if word.is("PT") {
        return Ok(Pred::PT);
    }
    Err(word.error(match numbered(word, b'P') {
        Some(7) => Error::PredicateWrittenAsNumber,
        Some(number) => match u8::try_from(number).map(Pred::try_from) {
            Ok(Ok(predicate)) => return Ok(predicate),
            _ => Error::PredicateTooHigh,
        },
        None => Error::Expected(Expected::Predicate),
    }))
}

/// Returns the register that `word` names.
pub(super) fn register_named(word: Word<'_>) -> Read<Reg> {
    if word.is("RZ") {
        return Ok(Reg::RZ);
    }
    Err(word.error(match numbered(word, b'R') {
        Some(255) => Error::RegisterWrittenAsNumber,
        Some(number) => match u8::try_from(number) {
            Ok(number) => return Ok(Reg::new(number)),
            Err(_) => Error::RegisterTooHigh,
        },
        None => Error::Expected(Expected::Register),
    }))
}

/// Returns the uniform register that `word` names.
pub(super) fn uniform_named(word: Word<'_>) -> Read<UniformReg> {
    if !begins_with(word, b"UR") {
        return Err(word.error(Error::Expected(Expected::UniformRegister)));
    }
    register_named(word.after_first()).map(|register| UniformReg::new(register.number()))
}

/// Returns the predicate that `word` names, and whether it is a uniform one.
pub(super) fn either_predicate(word: Word<'_>) -> Read<(bool, Pred)> {
    if begins_with(word, b"UP") {
        Ok((true, predicate_named(word.after_first())?))
    } else {
        Ok((false, predicate_named(word)?))
    }
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
        0 => None,
        1..=3 => digits.parse().ok().filter(|_| !digits.starts_with('+')),
        _ => digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(u32::MAX),
    }
}
