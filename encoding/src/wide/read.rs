//! Parses one line of SASS of SM 7.0 to 12.x.

use super::decode::{Decoded128, Instruction128};
use super::form::{FORMS, Modifier};
use super::hidden::{HiddenDescriptor, is_control, is_of_descriptor};
use super::modifiers::Modifiers128;
use super::operand_text::{WrittenOperands, either_predicate};
use super::row::{Kind, Slot};
use super::values::is_invalid_name;
use crate::control::{Control, Schedule};
use crate::field::FieldValue;
use crate::operand::Pred;
use crate::sm::{Sm, Tail};
use crate::text::annotation::{Annotations, parse_control_prefix};
use crate::text::cursor::{Cursor, TokenKind, Word};
use crate::text::{Expected, LineSpan, ParseError, ParseErrorKind as Error};

/// The schedule of a text without one.
const TRANS1: u8 = 17;

/// Parses one instruction of `sm`, which has 128-bit words: the canonical text, with or without the
/// scheduling that nvdisasm 12.8 appends, or the notation of maxas or CuAssembler before it. Without
/// a scheduling, the word gets one cycle, no barriers and no waits.
///
/// ```
/// use warpload_encoding::parse_line_128;
///
/// let sm = "120".parse()?;
/// let load = parse_line_128("LDG.E R0, desc[UR4][R2.64+0x10] &wr=0x0 ?trans1", sm)?;
/// assert_eq!(load.text().as_str(), "LDG.E R0, desc[UR4][R2.64+0x10]");
/// assert_eq!(load.control().write.number(), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of `sm`.
pub fn parse_line_128(text: &str, sm: Sm) -> Result<Instruction128, ParseError> {
    parse_line_128_like(text, sm, None).map(|line| line.instruction)
}

/// A load and what its text left open. Created by [`parse_line_128_like`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedLine128 {
    /// The load.
    pub instruction: Instruction128,
    /// The descriptor that was chosen because neither the text nor another load names it; `None` if
    /// nothing was chosen.
    pub chosen: Option<HiddenDescriptor>,
}

/// Parses one instruction of `sm`, as [`parse_line_128`] does; what the text does not say is that of
/// `like`, a load of the same form: scheduling, a hidden descriptor, bits that the disassembler does not
/// read.
///
/// ```
/// use warpload_encoding::{Decoded128, Instruction128, parse_line_128_like};
///
/// let (sm, word) = ("80".parse()?, 0x000ea2000c1e1d00_0000000402047981);
/// let Decoded128::Load(like) = Instruction128::decode(word, sm) else { panic!("a load") };
/// let edited = parse_line_128_like("LDG.E.128 R8, [R2.64]", sm, Some(&like))?;
/// assert_eq!(edited.instruction.encode(), 0x000ea2000c1e1d00_0000000402087981);
/// assert!(edited.chosen.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of `sm`, or has
/// another form than `like`.
pub fn parse_line_128_like(
    text: &str,
    sm: Sm,
    like: Option<&Instruction128>,
) -> Result<ParsedLine128, ParseError> {
    let (leading, start) = parse_control_prefix(text)?;
    let mut cursor = Cursor::new(text, start);
    let line_start = cursor.peek().span.start;
    if cursor.peek().kind == TokenKind::End {
        return Err(cursor.error(Error::Expected(Expected::Instruction)));
    }
    let guard = WrittenGuard::read(&mut cursor)?;
    let written = WrittenLoad::read(&mut cursor, sm)?;
    let load = written.fit(sm)?;
    let at = cursor.peek().span.start;
    let trailing = cursor.annotation_parts(true)?;
    let span = LineSpan { start: at, end: cursor.position() };
    if leading.is_some() && trailing.is_some_and(|trailing| trailing.schedules()) {
        return Err(ParseError { kind: Error::ControlTwice, span });
    }
    let descriptor = trailing.and_then(|trailing| trailing.descriptor);
    // Two forms can have the same text.
    let load = match (like, descriptor) {
        (Some(like), _) if like.sm() == sm => written.fit_to(like).unwrap_or(load),
        (_, Some((_, span))) => written.fit_hiding(sm, span).unwrap_or(load),
        _ => load,
    };
    let load = guard.apply(load)?.scheduled(leading, trailing);
    let load = match descriptor {
        Some((wanted, span)) => load.with_hidden_descriptor(wanted, span)?,
        None => load,
    };
    let ended = cursor.eat(b';');
    if cursor.peek().kind != TokenKind::End {
        let kind = if ended { Error::TrailingText } else { Error::Expected(Expected::End) };
        return Err(cursor.error(kind));
    }
    let span = LineSpan { start: line_start, end: cursor.position() };
    let load = match like {
        None => load,
        Some(like) => {
            let is_said = said(sm, leading, trailing);
            let other_form = Error::OtherForm { mnemonic: like.mnemonic() };
            load.like(like, is_said).ok_or(ParseError { kind: other_form, span })?
        }
    };
    match Instruction128::decode(load.encode(), sm) {
        Decoded128::Load(instruction) => {
            let is_open = descriptor.is_none() && like.is_none();
            let chosen = instruction.hidden_descriptor().filter(|_| is_open);
            Ok(ParsedLine128 { instruction, chosen })
        }
        Decoded128::Refused(refusal) => Err(ParseError { kind: Error::Refused(refusal), span }),
        Decoded128::Other => Err(cursor.error(Error::Expected(Expected::Instruction))),
    }
}

/// Returns which fields the text names beside the operands.
fn said(sm: Sm, leading: Option<Control>, trailing: Option<Annotations>) -> impl Fn(Slot) -> bool {
    let schedules = trailing.is_some_and(|trailing| trailing.schedules());
    let has_pm = trailing.is_some_and(|trailing| trailing.pm.is_some());
    // In the text of 12.x what is 0 is left out.
    let says_all = schedules || has_pm && sm.tail() == Tail::All;
    let says_descriptor = trailing.is_some_and(|trailing| trailing.descriptor.is_some());
    move |slot| match slot {
        Slot::Batch => says_all,
        Slot::Pm => says_all || has_pm,
        slot if is_control(slot) => says_all || leading.is_some(),
        slot => says_descriptor && is_of_descriptor(slot),
    }
}

/// Parses a mnemonic with its modifiers; all operands of the result are `RZ`, `URZ`, `PT` or 0. Of
/// several forms, the first one.
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not the opcode of a load of `sm`.
pub fn parse_opcode_128(text: &str, sm: Sm) -> Result<Instruction128, ParseError> {
    let mut cursor = Cursor::new(text, 0);
    let opcode = WrittenOpcode::read(&mut cursor)?;
    if cursor.peek().kind != TokenKind::End {
        return Err(cursor.error(Error::TrailingText));
    }
    opcode.each_form(sm, Ok)
}

struct WrittenGuard {
    uniform: bool,
    negated: bool,
    predicate: Pred,
    span: LineSpan,
}

impl WrittenGuard {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let span = cursor.peek().span;
        if !cursor.eat(b'@') {
            return Ok(Self { uniform: false, negated: false, predicate: Pred::PT, span });
        }
        let negated = cursor.eat(b'!');
        let word = cursor.word(Expected::Predicate)?;
        let (uniform, predicate) = either_predicate(word)?;
        Ok(Self { uniform, negated, predicate, span: word.span })
    }

    fn apply(self, load: Instruction128) -> Result<Instruction128, ParseError> {
        let Self { uniform, negated, predicate, span } = self;
        let is_default = predicate.is_true() && !negated && !uniform;
        if is_default {
            return Ok(load);
        }
        if uniform != load.has_uniform_guard() {
            let kind = Error::GuardFile { mnemonic: load.mnemonic(), uniform: !uniform };
            return Err(ParseError { kind, span });
        }
        let load = load.put(Slot::Guard, predicate.to_bits()).unwrap_or(load);
        Ok(load.put(Slot::GuardNegated, negated.into()).unwrap_or(load))
    }
}

/// Mnemonic and operands.
struct WrittenLoad<'t> {
    opcode: WrittenOpcode<'t>,
    operands: WrittenOperands,
    /// What follows the operands.
    end: LineSpan,
}

impl<'t> WrittenLoad<'t> {
    fn read(cursor: &mut Cursor<'t>, sm: Sm) -> Result<Self, ParseError> {
        let opcode = WrittenOpcode::read(cursor)?;
        // A wrong mnemonic or modifier comes first.
        opcode.each_form(sm, Ok)?;
        let operands = WrittenOperands::read(cursor)?;
        Ok(Self { opcode, operands, end: cursor.peek().span })
    }

    fn fit(&self, sm: Sm) -> Result<Instruction128, ParseError> {
        self.opcode.each_form(sm, |load| load.with_operands(&self.operands, self.end))
    }

    /// Fits the first form whose text hides a descriptor.
    fn fit_hiding(&self, sm: Sm, span: LineSpan) -> Result<Instruction128, ParseError> {
        self.opcode.each_form(sm, |load| {
            let load = load.with_operands(&self.operands, self.end)?;
            let nothing = ParseError { kind: Error::NoHiddenDescriptor, span };
            load.hidden_descriptor().map(|_| load).ok_or(nothing)
        })
    }

    /// Fits the form of another load.
    fn fit_to(&self, like: &Instruction128) -> Result<Instruction128, ParseError> {
        if !self.opcode.mnemonic.is(like.mnemonic()) {
            return Err(self.opcode.mnemonic.error(Error::OtherForm { mnemonic: like.mnemonic() }));
        }
        let load = self.opcode.fit_modifiers(like.blank())?;
        load.with_operands(&self.operands, self.end)
    }
}

/// No mnemonic has more words after its dots.
const MAX_WORDS: usize = 14;

/// A mnemonic and the words after its dots, whatever they are.
struct WrittenOpcode<'t> {
    mnemonic: Word<'t>,
    words: [Option<Word<'t>>; MAX_WORDS],
    count: usize,
}

impl<'t> WrittenOpcode<'t> {
    fn read(cursor: &mut Cursor<'t>) -> Result<Self, ParseError> {
        let mnemonic = cursor.word(Expected::Mnemonic)?;
        let mut opcode = Self { mnemonic, words: [None; MAX_WORDS], count: 0 };
        while cursor.eat(b'.') {
            if cursor.peek().kind == TokenKind::Punctuation(b'?') {
                return Err(cursor.error(Error::InvalidModifier));
            }
            let word = cursor.word(Expected::Modifier)?;
            let Some(slot) = opcode.words.get_mut(opcode.count) else {
                return Err(word.error(Error::Expected(Expected::End)));
            };
            *slot = Some(word);
            opcode.count += 1;
        }
        Ok(opcode)
    }

    fn word(&self, n: usize) -> Option<Word<'t>> {
        self.words.get(n).copied().flatten()
    }

    /// Returns what `fit` makes of the first form that fits, or the error of the form that fits the
    /// longest part of the text; of several, one that says more than that the form is another.
    fn each_form(
        &self,
        sm: Sm,
        fit: impl Fn(Instruction128) -> Result<Instruction128, ParseError>,
    ) -> Result<Instruction128, ParseError> {
        let rank = |error: ParseError| {
            (error.span.start, !matches!(error.kind, Error::AddressForm { .. }))
        };
        let mut best: Option<ParseError> = None;
        for (form, number) in FORMS.iter().zip(0..) {
            if !self.mnemonic.is(form.name) || !form.groups.contains(sm.group()) {
                continue;
            }
            match self.fit_modifiers(Instruction128::template(number, sm)).and_then(&fit) {
                Ok(load) => return Ok(load),
                Err(error) if best.is_none_or(|best| rank(error) > rank(best)) => {
                    best = Some(error);
                }
                Err(_) => {}
            }
        }
        Err(best.unwrap_or(self.mnemonic.error(Error::UnknownMnemonicOf(sm))))
    }

    /// Returns the instruction with the modifiers.
    fn fit_modifiers(&self, mut load: Instruction128) -> Result<Instruction128, ParseError> {
        let mut next = 0;
        for modifier in load.form().modifiers {
            match *modifier {
                Modifier::Always(name) if self.word(next).is_some_and(|word| word.is(name)) => {
                    next += 1;
                }
                Modifier::Always(_) => return Err(self.modifier_error(next, load)),
                Modifier::Slot(slot) => {
                    let Some(values) = load.values(slot) else { continue };
                    let names = values.rows.iter().map(|value| value.name).zip(0u64..);
                    let longest = names
                        .filter_map(|(name, number)| Some((self.length_of(name, next)?, number)))
                        .max();
                    match longest {
                        Some((length, number)) => {
                            next += length;
                            load = load.put(slot, number).unwrap_or(load);
                        }
                        None if values.default.is_none() => {
                            return Err(self.modifier_error(next, load));
                        }
                        None => {}
                    }
                }
            }
        }
        if next < self.count { Err(self.modifier_error(next, load)) } else { Ok(load) }
    }

    /// Returns how many words `name` has if they are the ones from word `from` on.
    fn length_of(&self, name: &str, from: usize) -> Option<usize> {
        if name.is_empty() || is_invalid_name(name) {
            return None;
        }
        let mut length = 0;
        for part in name.split('.') {
            if !self.word(from + length)?.is(part) {
                return None;
            }
            length += 1;
        }
        Some(length)
    }

    /// Returns the error of word `n`, which may be missing.
    fn modifier_error(&self, n: usize, load: Instruction128) -> ParseError {
        let known = Modifiers128::of(load);
        let Some(word) = self.word(n) else {
            let LineSpan { end, .. } = self.word(n.wrapping_sub(1)).unwrap_or(self.mnemonic).span;
            let span = LineSpan { start: end, end };
            return ParseError { kind: Error::MissingModifier { known }, span };
        };
        let starts = |name: &str| name.split('.').next().is_some_and(|first| word.is(first));
        let is_known = known.names().any(starts);
        word.error(if is_invalid_name(word.text) {
            Error::InvalidModifier
        } else if is_known {
            Error::MisplacedModifier { known }
        } else {
            Error::UnknownModifier128 { known }
        })
    }
}

impl Instruction128 {
    pub(super) fn has_uniform_guard(&self) -> bool {
        matches!(self.kind(Slot::Guard), Some(Kind::UniformPredicate))
    }

    /// Returns the instruction with the scheduling that its text names.
    fn scheduled(self, leading: Option<Control>, trailing: Option<Annotations>) -> Self {
        let mut load = self;
        if let Some(annotations) = trailing {
            // In the text of 12.x what is 0 is left out; before that PM says nothing of the others.
            let says_all = self.sm().tail() == Tail::All;
            if says_all || annotations.schedules() {
                let default = if says_all { 0 } else { TRANS1 };
                let schedule = annotations.schedule.map_or(default, Schedule::value);
                let [stall, yields] = [u64::from(schedule) & 15, u64::from(schedule >> 4)];
                let none = u64::from(crate::control::Barrier::NONE.number().unwrap_or(7));
                let barrier = |barrier: Option<crate::control::Barrier>| {
                    barrier.map_or(none, FieldValue::to_bits)
                };
                let wait = annotations.wait.map_or(0, FieldValue::to_bits);
                for (slot, bits) in [
                    (Slot::Stall, stall),
                    (Slot::Yield, yields),
                    (Slot::WriteBarrier, barrier(annotations.write)),
                    (Slot::ReadBarrier, barrier(annotations.read)),
                    (Slot::Wait, wait),
                    (Slot::Batch, annotations.batch.unwrap_or(0).into()),
                ] {
                    load = load.put(slot, bits).unwrap_or(load);
                }
            }
            load = load.put(Slot::Pm, annotations.pm.unwrap_or(0).into()).unwrap_or(load);
        }
        if let Some(control) = leading {
            load = load.with_control(control);
        }
        load
    }

    /// Returns the instruction with that scheduling; its batch hint remains.
    #[must_use]
    pub fn with_control(self, control: Control) -> Self {
        [
            (Slot::Stall, control.stall.to_bits()),
            (Slot::Yield, control.yield_bit.into()),
            (Slot::WriteBarrier, control.write.to_bits()),
            (Slot::ReadBarrier, control.read.to_bits()),
            (Slot::Wait, control.wait.to_bits()),
        ]
        .into_iter()
        .fold(self, |load, (slot, bits)| load.put(slot, bits).unwrap_or(load))
    }
}
