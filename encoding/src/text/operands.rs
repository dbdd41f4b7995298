//! Reads operands token by token, following the grammar of a form.

use super::cursor::{Cursor, LineSpan, TokenKind, Word};
use super::error::{Expected, ParseError, ParseErrorKind as Error};
use super::examples::Addresses;
use crate::eight::Eight;
use crate::instruction::Instruction;
use crate::operand::{Pred, Reg, UniformReg};
use crate::pieces::Piece;
use crate::plan::{Check, PlannedAlternative, PlannedOperand, SlotPlace};
use crate::ready::Ready;
use crate::table::grammar::{Bare, Part};
use crate::table::row::Slot;

type Read<T> = Result<T, ParseError>;

/// The error of an alternative that does not apply, such as an offset beside a base register that turns out to be the
/// zero register. Another alternative has a better error.
const OTHER: Error = Error::Expected(Expected::Address);

impl Instruction {
    pub(super) fn read_operands(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let mut is_first = true;
        let mut skipped = None;
        for operand in self.plan().operands() {
            let start = *cursor;
            if !is_first && !cursor.eat(b',') {
                if operand.is_optional {
                    continue;
                }
                return Err(cursor.error(Error::Expected(Expected::Character(','))));
            }
            if operand.is_optional && !begins(operand, cursor) {
                skipped = skipped.or((!is_first).then_some(*cursor));
                *cursor = start;
            } else if self.read_operand(operand.alternatives(), cursor)? {
                is_first = false;
            } else {
                *cursor = start;
            }
        }
        match skipped {
            // A comma, but no optional operand after it.
            Some(after) if cursor.is_at(b',') => {
                Err(after.error(Error::Expected(Expected::Predicate)))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the operand is there.
    fn read_operand(
        &mut self,
        alternatives: &[PlannedAlternative],
        cursor: &mut Cursor<'_>,
    ) -> Read<bool> {
        // Of two errors at one place, prefer the one about an existing token over the one about a missing token.
        let rank =
            |error: &ParseError| (error.span.start, !matches!(error.kind, Error::Expected(_)));
        let mut best: Option<ParseError> = None;
        let before = (self.halves(), *cursor);
        for alternative in alternatives.iter().filter(|one| one.is_read) {
            match self.read_alternative(alternative, cursor) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) if error.kind == Error::NeedsExtended => return Err(error),
                Err(error) if best.is_none_or(|best| rank(&error) > rank(&best)) => {
                    best = Some(error);
                }
                Err(_) => {}
            }
            (*self, *cursor) = (self.with_halves(before.0), before.1);
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

    /// Returns false if the alternative does not apply.
    fn read_alternative(
        &mut self,
        alternative: &PlannedAlternative,
        cursor: &mut Cursor<'_>,
    ) -> Read<bool> {
        if alternative.is_refused(Check::Before, self.halves()) {
            return Ok(false);
        }
        let start = cursor.start();
        *self = self.with_halves(alternative.set_in(self.halves()));
        if alternative.set_as_extended.width > 0 {
            self.set_at(alternative.set_as_extended, Slot::Wide, self.is_extended().into());
        }
        for piece in alternative.pieces.iter() {
            read_text(&piece.before, cursor)?;
            self.read_piece(piece, cursor)?;
        }
        read_text(&alternative.pieces.after, cursor)?;
        if alternative.is_wide && !self.is_extended() {
            let span = LineSpan { start, end: cursor.position() };
            return Err(ParseError { kind: Error::NeedsExtended, span });
        }
        // An earlier operand may have set the register.
        Ok(!alternative.is_refused(Check::After, self.halves()))
    }

    /// Whether the address has 64 bits. In forms without the field it always has.
    fn is_extended(&self) -> bool {
        !self.has(Slot::Extended) || self.get(Slot::Extended) != 0
    }

    fn read_piece(&mut self, piece: &Piece, cursor: &mut Cursor<'_>) -> Read<()> {
        let place = piece.place;
        match *piece.part {
            Part::Register(slot) => {
                let number = read_register(place, piece.is_alone, cursor)?;
                self.set_at(place, slot, number);
                if piece.excludes_zero && number == place.max() {
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
            // Unreachable, because alternatives with such a register are not read.
            Part::Unknown(_) => Ok(()),
            Part::Predicate(slot) => {
                let start = cursor.start();
                let is_negated = cursor.is_at(b'!') && (piece.is_signed || self.plan().is_narrow);
                if is_negated {
                    cursor.eat(b'!');
                }
                if is_negated && !piece.is_signed {
                    let end = cursor.word(Expected::Predicate)?.span.end;
                    let kind = Error::NegatedOperand;
                    return Err(ParseError { kind, span: LineSpan { start, end } });
                }
                let number = read_predicate(place, cursor)?;
                let sign = u64::from(is_negated) << (place.width.max(1) - 1);
                self.set_at(place, slot, number | sign);
                Ok(())
            }
            Part::Not(slot) => {
                self.set_at(place, slot, cursor.eat(b'!').into());
                Ok(())
            }
            Part::Number(slot) => {
                let (number, span) = cursor.number()?;
                let kind = match slot {
                    Slot::Bank => Error::BankTooHigh,
                    _ => Error::NumberTooLarge,
                };
                let is_set = number.is_some_and(|number| self.set_at(place, slot, number));
                if is_set { Ok(()) } else { Err(ParseError { kind, span }) }
            }
            Part::Scale(slot) => self.read_scale(slot, cursor),
            Part::Offset(slot) => self.read_offset(place, slot, true, cursor),
            Part::BareOffset(slot, bare) => {
                let is_signed = bare.signed.contains(self.sm().group());
                self.read_offset(place, slot, is_signed, cursor)
            }
            Part::Absolute(slot, bare) => self.read_absolute(place, slot, &bare, cursor),
        }
    }

    /// Reads `.X4`, if a dot is next.
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

    /// Reads an optional offset after a register.
    fn read_offset(
        &mut self,
        place: SlotPlace,
        slot: Slot,
        is_signed: bool,
        cursor: &mut Cursor<'_>,
    ) -> Read<()> {
        let mut start = cursor.start();
        let negative = if cursor.eat(b'-') {
            if cursor.eat(b'-') {
                let (magnitude, span) = cursor.number()?;
                let span = LineSpan { start, end: span.end };
                return Err(ParseError { kind: Error::DoubleSign { magnitude }, span });
            }
            true
        } else if cursor.eat(b'+') {
            start = cursor.start();
            cursor.eat(b'-')
        } else if cursor.is_at(b']') {
            let span = LineSpan { start, end: start + 1 };
            return self.set_offset(place, slot, is_signed, false, Some(0), span);
        } else {
            return Err(cursor.error(Error::Expected(Expected::OffsetOrBracket)));
        };
        let (magnitude, span) = cursor.number()?;
        self.set_offset(
            place,
            slot,
            is_signed,
            negative,
            magnitude,
            LineSpan { start, end: span.end },
        )
    }

    /// Reads an address without a base register: a number, or the zero register and an optional offset.
    fn read_absolute(
        &mut self,
        place: SlotPlace,
        slot: Slot,
        bare: &Bare,
        cursor: &mut Cursor<'_>,
    ) -> Read<()> {
        let is_signed = bare.signed.contains(self.sm().group());
        if let Some(word) = cursor.peek_word()
            && !word.is_digit_first()
        {
            if !word.is(bare.zero) {
                return Err(word.error(OTHER));
            }
            cursor.take(word);
            let is_alone = bare.alone.contains(self.sm().group());
            if is_alone && !cursor.is_at(b']') {
                return Err(word.error(OTHER));
            }
            return self.read_offset(place, slot, is_signed, cursor);
        }
        let start = cursor.start();
        let negative = cursor.eat(b'-');
        if !negative && cursor.peek_word().is_none() {
            return Err(cursor.error(OTHER));
        }
        let (magnitude, span) = cursor.number()?;
        self.set_offset(
            place,
            slot,
            is_signed,
            negative,
            magnitude,
            LineSpan { start, end: span.end },
        )
    }

    /// `is_signed` tells an offset from an address without a base.
    fn set_offset(
        &mut self,
        place: SlotPlace,
        slot: Slot,
        is_signed: bool,
        negative: bool,
        magnitude: Option<u64>,
        span: LineSpan,
    ) -> Read<()> {
        let width = self.width_at(place, slot).max(1);
        let unit = if place.is_by_32() { 5 } else { 0 };
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
        if value.is_some_and(|value| value & ((1 << unit) - 1) != 0) {
            return Err(ParseError { kind: Error::OffsetUnit { unit: 1 << unit }, span });
        }
        let fitting = value.map(|value| value >> unit).filter(|value| (min..=max).contains(value));
        let bits = fitting.map(|value| value as u64 & (u64::MAX >> (64 - width)));
        let (min, max) = (min << unit, (max << unit) as u64);
        let kind = Error::OutOfRange { min, max, value };
        let is_set = bits.is_some_and(|bits| self.set_at(place, slot, bits));
        if is_set { Ok(()) } else { Err(ParseError { kind, span }) }
    }
}

/// Returns the number for the field.
#[inline(always)]
fn read_register(place: SlotPlace, is_alone: bool, cursor: &mut Cursor<'_>) -> Read<u64> {
    if !place.is_uniform() {
        let expected = if is_alone { Expected::Register } else { Expected::Address };
        return Ok(register_named(cursor.word(expected)?)?.number().into());
    }
    let word = cursor.word(Expected::UniformRegister)?;
    let too_high = Error::UniformRegisterTooHigh { last: place.max().saturating_sub(1) as u8 };
    uniform_named(word)?.to_field(place.width.into()).ok_or(word.error(too_high))
}

/// Returns the number for the field.
#[inline(always)]
fn read_predicate(place: SlotPlace, cursor: &mut Cursor<'_>) -> Read<u64> {
    let word = cursor.word(Expected::Predicate)?;
    let (uniform, predicate) = match place.is_uniform() {
        true => either_predicate(word)?,
        false => (false, predicate_named(word)?),
    };
    if uniform != place.is_uniform() {
        return Err(word.error(Error::Expected(Expected::UniformPredicate)));
    }
    let number = predicate.number();
    Ok(if place.is_inverted() { 7 - number } else { number }.into())
}

/// Whether an optional operand begins at `cursor`.
#[inline(always)]
fn begins(operand: &PlannedOperand, cursor: &Cursor<'_>) -> bool {
    if cursor.is_at(b'!') {
        return !operand.is_number;
    }
    cursor.peek_word().is_some_and(|word| match operand.is_number {
        true => word.is_digit_first(),
        false => begins_with(word, b"P") || begins_with(word, b"UP"),
    })
}

/// Reads `c[`, `][`, `.64` and the like.
#[inline(always)]
fn read_text(text: &Ready<8>, cursor: &mut Cursor<'_>) -> Read<()> {
    let [mark, ..] = text.bytes;
    match text.len() {
        0 => Ok(()),
        1 if cursor.eat(mark) => Ok(()),
        _ => read_marks_and_words(text.as_bytes(), cursor),
    }
}

fn read_marks_and_words(text: &[u8], cursor: &mut Cursor<'_>) -> Read<()> {
    let mut rest = text;
    while let [first, after @ ..] = rest {
        if !first.is_ascii_alphanumeric() {
            if !cursor.eat(*first) {
                return Err(missing(*first, cursor));
            }
            rest = after;
            continue;
        }
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let kind = match text {
            [b'.', ..] => Error::Expected(Expected::BaseSuffix),
            b"c[" if cursor.is_at(b'[') => Error::AddressOfConstant,
            b"c[" => Error::Expected(Expected::ConstantBank),
            _ => Error::Expected(Expected::Operand),
        };
        match cursor.peek_word() {
            Some(given) if given.text().as_bytes().eq_ignore_ascii_case(word) => cursor.take(given),
            _ => return Err(cursor.error(kind)),
        }
        rest = after;
    }
    Ok(())
}

/// The error of missing punctuation.
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

/// The place of an address in any form; `None` if there is none.
fn address(mut cursor: Cursor<'_>) -> Option<LineSpan> {
    let start = cursor.start();
    if let Some(word) = cursor.peek_word() {
        cursor.take(word);
        if word.is_digit_first() || !cursor.is_at(b'[') {
            return None;
        }
    }
    let (mut end, mut words) = (None, 0);
    while cursor.eat(b'[') {
        while !cursor.is_at(b']') {
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

/// Whether `, P0` comes next.
pub(super) fn is_predicate(mut cursor: Cursor<'_>) -> bool {
    cursor.eat(b',') && cursor.peek_word().is_some_and(|word| predicate_named(word).is_ok())
}

fn begins_with(word: Word<'_>, letters: &[u8]) -> bool {
    word.upper.first(letters.len()) == Eight::of(letters)
}

pub(super) fn predicate_named(word: Word<'_>) -> Read<Pred> {
    if word.is_named("PT", const { Eight::of(b"PT") }) {
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

pub(super) fn register_named(word: Word<'_>) -> Read<Reg> {
    if word.is_named("RZ", const { Eight::of(b"RZ") }) {
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

pub(super) fn uniform_named(word: Word<'_>) -> Read<UniformReg> {
    if !begins_with(word, b"UR") {
        return Err(word.error(Error::Expected(Expected::UniformRegister)));
    }
    register_named(word.after_first()).map(|register| UniformReg::new(register.number()))
}

/// Also returns whether the predicate is uniform.
pub(super) fn either_predicate(word: Word<'_>) -> Read<(bool, Pred)> {
    if begins_with(word, b"UP") {
        Ok((true, predicate_named(word.after_first())?))
    } else {
        Ok((false, predicate_named(word)?))
    }
}

/// The number after `letter`; `u32::MAX` if it has more than three digits.
#[inline]
fn numbered(word: Word<'_>, letter: u8) -> Option<u32> {
    let [first, second, ..] = word.upper.to_bytes();
    let count = word.length().checked_sub(1)?;
    let is_canonical = second != b'0' || count == 1;
    if first != letter || !is_canonical {
        return None;
    }
    if count > 3 {
        let mut digits = word.text().bytes().skip(1);
        return digits.all(|digit| digit.is_ascii_digit()).then_some(u32::MAX);
    }
    word.upper.after(1).decimal(count).map(|number| number as u32)
}
