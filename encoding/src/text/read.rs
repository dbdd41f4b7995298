//! Parses one line of SASS into an instruction and its control code.

use core::str::FromStr;

use super::annotation::{Annotations, parse_control_prefix};
use super::cursor::{Cursor, LineSpan, Word};
use super::error::{Expected, ParseError, ParseErrorKind as Error};
use super::names::{Alias, Modifiers, Opcode};
use super::operands::{either_predicate, is_predicate, predicate_named, register_named};
use crate::control::{Control, Schedule};
use crate::hidden::{HiddenDescriptor, is_control, is_of_descriptor};
use crate::instruction::{Decoded, Instruction};
use crate::operand::{Pred, Reg, Size};
use crate::sm::{Sm, Tail};
use crate::table::row::Slot;

/// The schedule of a 128-bit text without one.
const TRANS1: u8 = 17;

/// One parsed line: the instruction, and the information outside of its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedLine {
    /// The instruction.
    pub instruction: Instruction,
    /// The scheduling, if the line names one. `None` for a 128-bit word, because the word holds it.
    pub control: Option<Control>,
    /// The modifier that was written under another name, if any.
    pub alias: Option<Alias>,
    /// The descriptor chosen because neither the text nor another load names it; `None` if there was no choice.
    pub chosen: Option<HiddenDescriptor>,
}

/// Parses one instruction of `sm`: the canonical text or the superset in docs/ld.md section 2, with annotations after
/// the operands or the notation of maxas or CuAssembler before the instruction. A 128-bit word without scheduling gets
/// one cycle, no scoreboards and no waits.
///
/// The text of a decoded instruction parses back to that instruction, except for the bits that no text shows;
/// [`Instruction`] states the exact guarantees.
///
/// ```
/// use warpload_encoding::{ParseErrorKind, Sm, parse_line};
///
/// let text = "@!p2 ld.e.cs.64 r4, [r2 - 20] &req={0} &wr=1 ?WAIT2_END_GROUP ; // x";
/// let line = parse_line(text, Sm::SPA5)?;
/// assert_eq!(line.instruction.to_string(), "@!P2 LD.E.64 R4, [R2+-0x14]");
/// assert_eq!(line.alias.map(|alias| alias.becomes), Some("CA"));
/// assert_eq!(line.control.unwrap_or_default().wait.mask(), 0b1);
///
/// let error = parse_line("LD R0, [R1], !P0", Sm::SPA5).unwrap_err();
/// assert_eq!((error.kind, error.span.start), (ParseErrorKind::NegatedOperand, 13));
///
/// let load = parse_line("LDG.E R0, desc[UR4][R2.64+0x10] &wr=0x0 ?trans1", "120".parse()?)?.instruction;
/// assert_eq!(load.text().as_str(), "LDG.E R0, desc[UR4][R2.64+0x10]");
/// assert_eq!(load.control().and_then(|control| control.write.number()), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of `sm`.
pub fn parse_line(text: &str, sm: Sm) -> Result<ParsedLine, ParseError> {
    parse(text, sm, None)
}

/// Parses one instruction, as [`parse_line`] does, and takes everything that the text does not show from `like`, a load
/// of the same form and SM: the scheduling of a 128-bit word, a hidden descriptor, reserved bits.
///
/// ```
/// use warpload_encoding::{Instruction, parse_line_like};
///
/// let (sm, word) = ("80".parse()?, 0x000ea2000c1e1d00_0000000402047981_u128);
/// let like = Instruction::decode(word, sm).load().expect("a load");
/// let edited = parse_line_like("LDG.E.128 R8, [R2.64]", &like)?;
/// assert_eq!(edited.instruction.bits(), 0x000ea2000c1e1d00_0000000402087981);
/// assert!(edited.chosen.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of the same SM, or not of the
/// same form as `like`.
pub fn parse_line_like(text: &str, like: &Instruction) -> Result<ParsedLine, ParseError> {
    parse(text, like.sm(), Some(like))
}

fn parse(text: &str, sm: Sm, like: Option<&Instruction>) -> Result<ParsedLine, ParseError> {
    let is_wide = sm.has_wide_words();
    let (leading, start) = parse_control_prefix(text)?;
    let mut cursor = Cursor::new(text, start);
    let line_start = cursor.start();
    if cursor.is_at_end() {
        return Err(cursor.error(Error::Expected(Expected::Instruction)));
    }
    let guard = WrittenGuard::read(&mut cursor, is_wide)?;
    let opcode = Opcode::read(&mut cursor, sm)?;
    let mut alias = None;
    let mut load = opcode.each_form(sm, &mut alias, |load, operands| {
        cursor = operands;
        load.read_operands(&mut cursor)
    })?;
    let at = cursor.start();
    let trailing = cursor.annotations(is_wide)?;
    let span = LineSpan { start: at, end: cursor.position() };
    let is_twice = trailing.is_some_and(|trailing| !is_wide || trailing.schedules());
    if leading.is_some() && is_twice {
        return Err(ParseError { kind: Error::ControlTwice, span });
    }
    let descriptor = trailing.and_then(|trailing| trailing.descriptor);
    // Two forms can have the same text: prefer the form of `like`, or the form that hides a descriptor.
    load = match (like, descriptor) {
        (Some(like), _) => match opcode.fit_to(like) {
            Ok((mut blank, mut operands)) => match blank.read_operands(&mut operands) {
                Ok(()) => blank,
                Err(_) => load,
            },
            Err(_) => load,
        },
        (None, Some((_, span))) => {
            let hiding = |load: &mut Instruction, mut operands| {
                load.read_operands(&mut operands)?;
                let nothing = ParseError { kind: Error::NoHiddenDescriptor, span };
                load.hidden_descriptor().map(drop).ok_or(nothing)
            };
            opcode.each_form(sm, &mut None, hiding).unwrap_or(load)
        }
        (None, None) => load,
    };
    guard.apply(&mut load)?;
    let load = if is_wide { load.scheduled(leading, trailing) } else { load };
    let load = match descriptor {
        Some((wanted, span)) => load.with_hidden_descriptor(wanted, span)?,
        None => load,
    };
    load.read_end(&mut cursor)?;
    let span = LineSpan { start: line_start, end: cursor.position() };
    let load = match like {
        None => load,
        Some(like) => {
            let is_said = said(sm, leading, trailing);
            let other_form = Error::OtherForm { mnemonic: like.mnemonic() };
            load.like(like, is_said).ok_or(ParseError { kind: other_form, span })?
        }
    };
    match load.again(load.bits()) {
        Decoded::Load(instruction) => {
            let is_open = descriptor.is_none() && like.is_none();
            let chosen = instruction.hidden_descriptor().filter(|_| is_open);
            let control = leading.or(trailing.map(Annotations::control)).filter(|_| !is_wide);
            Ok(ParsedLine { instruction, control, alias, chosen })
        }
        Decoded::Illegal(illegal) => Err(ParseError { kind: Error::Illegal(illegal), span }),
        Decoded::Other => Err(cursor.error(Error::Expected(Expected::Instruction))),
    }
}

/// The fields that the text names outside of the operands.
fn said(sm: Sm, leading: Option<Control>, trailing: Option<Annotations>) -> impl Fn(Slot) -> bool {
    let schedules = trailing.is_some_and(|trailing| trailing.schedules());
    let has_pm = trailing.is_some_and(|trailing| trailing.pm.is_some());
    // The text of 12.x omits annotations that are 0, so that one annotation determines the others.
    let says_all = schedules || has_pm && sm.tail() == Tail::All;
    let says_descriptor = trailing.is_some_and(|trailing| trailing.descriptor.is_some());
    move |slot| match slot {
        Slot::Batch => says_all,
        Slot::Pm => says_all || has_pm,
        slot if is_control(slot) => says_all || leading.is_some(),
        slot => says_descriptor && is_of_descriptor(slot),
    }
}

/// Parses a mnemonic with its modifiers, which is how traces name loads. All operands of the result are `RZ`, `URZ`,
/// `PT` or 0. If several forms fit, returns the first one.
///
/// ```
/// use warpload_encoding::{Sm, parse_opcode};
///
/// let load = parse_opcode("LDG.E.CI.64", Sm::SPA5)?;
/// assert_eq!(load.to_string(), "LDG.E.CI.64 RZ, [RZ]");
/// assert_eq!(load.lane_bits(), Some(64));
/// assert!(parse_opcode("LDG.E.64.SYS", Sm::SPA5).is_err());
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
///
/// # Errors
/// Returns [`ParseError`] with the bytes at fault if `text` is not the opcode of a load of `sm`.
pub fn parse_opcode(text: &str, sm: Sm) -> Result<Instruction, ParseError> {
    let mut cursor = Cursor::new(text, 0);
    let opcode = Opcode::read(&mut cursor, sm)?;
    let load = opcode.each_form(sm, &mut None, |_, end| {
        cursor = end;
        Ok(())
    })?;
    if !cursor.is_at_end() {
        return Err(cursor.error(Error::TrailingText));
    }
    Ok(load)
}

struct WrittenGuard {
    uniform: bool,
    negated: bool,
    predicate: Pred,
    span: LineSpan,
}

impl WrittenGuard {
    fn read(cursor: &mut Cursor<'_>, is_wide: bool) -> Result<Self, ParseError> {
        let start = cursor.start();
        if !cursor.eat(b'@') {
            let span = LineSpan { start, end: start };
            return Ok(Self { uniform: false, negated: false, predicate: Pred::PT, span });
        }
        let negated = cursor.eat(b'!');
        let word = cursor.word(Expected::Predicate)?;
        let (uniform, predicate) = match is_wide {
            true => either_predicate(word)?,
            false => (false, predicate_named(word)?),
        };
        Ok(Self { uniform, negated, predicate, span: word.span })
    }

    fn apply(self, load: &mut Instruction) -> Result<(), ParseError> {
        let Self { uniform, negated, predicate, span } = self;
        if predicate.is_true() && !negated && !uniform {
            return Ok(());
        }
        if uniform != load.is_uniform(Slot::Guard) {
            let kind = Error::GuardFile { mnemonic: load.mnemonic(), uniform: !uniform };
            return Err(ParseError { kind, span });
        }
        load.set(Slot::Guard, predicate.number().into());
        load.set(Slot::GuardNegated, negated.into());
        Ok(())
    }
}

impl Instruction {
    /// Parses one instruction of `sm`, as [`parse_line`] does, and drops the control code of a 64-bit word, which is
    /// not part of the word.
    ///
    /// # Errors
    /// Returns [`ParseError`] with the bytes at fault if `text` is not one load instruction of `sm`.
    pub fn parse(text: &str, sm: Sm) -> Result<Self, ParseError> {
        parse_line(text, sm).map(|line| line.instruction)
    }

    /// Checks that only a semicolon is left.
    fn read_end(&self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        let ended = cursor.eat(b';');
        if cursor.is_at_end() {
            return Ok(());
        }
        Err(cursor.error(match ended {
            true => Error::TrailingText,
            false if !self.has(Slot::PredicateIn) && is_predicate(*cursor) => {
                Error::PredicateOperand
            }
            false => Error::Expected(Expected::End),
        }))
    }

    /// Applies the scheduling of a 128-bit text.
    fn scheduled(self, leading: Option<Control>, trailing: Option<Annotations>) -> Self {
        let mut load = self;
        if let Some(annotations) = trailing {
            // The text of 12.x omits annotations that are 0; before 12.x, PM does not determine the others.
            let says_all = self.sm().tail() == Tail::All;
            if says_all || annotations.schedules() {
                let default = if says_all { 0 } else { TRANS1 };
                let schedule = annotations.schedule.map_or(default, Schedule::value);
                let schedule = Schedule::new(schedule).unwrap_or(Control::default().schedule());
                load = load.with_control(annotations.control().with_schedule(schedule));
                load.set(Slot::Batch, annotations.batch.unwrap_or(0).into());
            }
            load.set(Slot::Pm, annotations.pm.unwrap_or(0).into());
        }
        leading.map_or(load, |control| load.with_control(control))
    }

    /// Keeps the batch hint.
    fn with_control(mut self, control: Control) -> Self {
        self.set(Slot::Stall, control.stall.get().into());
        self.set(Slot::Yield, control.yield_bit.into());
        self.set(Slot::WriteBarrier, control.write.bits());
        self.set(Slot::ReadBarrier, control.read.bits());
        self.set(Slot::Wait, control.wait.mask().into());
        self
    }
}

impl<'t> Opcode<'t> {
    /// Returns the first form that `fit` completes, and sets `alias` as [`fit`](Self::fit) does. Otherwise returns the
    /// error of the form that reads the longest part of the text, and among several the most specific one.
    pub(super) fn each_form(
        &self,
        sm: Sm,
        alias: &mut Option<Alias>,
        mut fit: impl FnMut(&mut Instruction, Cursor<'t>) -> Result<(), ParseError>,
    ) -> Result<Instruction, ParseError> {
        let rank = |error: &ParseError| {
            let says = match error.kind {
                Error::AddressForm { .. } => 0,
                Error::Expected(_) => 1,
                _ => 2,
            };
            (error.span.start, says)
        };
        let mut best: Option<ParseError> = None;
        for mut load in self.forms(sm) {
            match self.fit(&mut load, alias).and_then(|operands| fit(&mut load, operands)) {
                Ok(()) => return Ok(load),
                Err(error) if best.is_none_or(|best| rank(&error) > rank(&best)) => {
                    best = Some(error);
                }
                Err(_) => {}
            }
        }
        self.check_words(sm)?;
        Err(best.unwrap_or(self.mnemonic.error(Error::UnknownMnemonic { sm })))
    }

    fn fit_to(&self, like: &Instruction) -> Result<(Instruction, Cursor<'t>), ParseError> {
        if !self.forms(like.sm()).any(|form| form.plan_index() == like.plan_index()) {
            return Err(self.mnemonic.error(Error::OtherForm { mnemonic: like.mnemonic() }));
        }
        let mut load = like.blank();
        self.fit(&mut load, &mut None).map(|operands| (load, operands))
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
        let known = Modifiers::of_sizes();
        size.ok_or(ParseError { kind: Error::UnknownModifier { known }, span: whole(text) })
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    /// Parses the name in a `?NAME` annotation in either case, without the `?`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError { kind: Error::UnknownSchedule, span: whole(text) };
        Self::named(text).ok_or(error)
    }
}

fn whole(text: &str) -> LineSpan {
    LineSpan { start: 0, end: text.len() }
}
