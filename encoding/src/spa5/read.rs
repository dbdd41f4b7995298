//! Reading the text of an instruction: a search for a word of a row that prints it.
//!
//! A row prints each part depending on bits of the word, which a reader does not know yet. So each step goes on with a
//! [`State`], the bits that are known so far, and tries the next possibility if the rest of the text does not follow.

use core::cell::Cell;
use core::fmt;

use super::language::{Class, Condition, Form, Kind, Mark, Name, NamedField, Operand, Place, Sms};
use super::rows::FORMS;
use super::{
    CLASSES, GUARD, PHASES, Reuse, Spa5Instruction, Spa5Line, number, reuse_flag_of, reuse_of,
    set_of, target,
};
use crate::control::Control;
use crate::field::Bits;
use crate::sm::Sm;
use crate::text::{ParseError, parse_annotations, parse_control_prefix};

/// The steps after which the search ends: more than any row needs.
const MAX_STEPS: u32 = 1 << 20;

/// Why a text is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spa5TextError {
    /// The byte that no instruction with the mnemonic has at this place.
    pub at: usize,
    /// The reason.
    pub kind: Spa5TextErrorKind,
}

/// The kind of a [`Spa5TextError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spa5TextErrorKind {
    /// The SM has words of 128 bits.
    Sm(Sm),
    /// No instruction of the SM has the mnemonic.
    Mnemonic,
    /// No form of the mnemonic goes on like this.
    Rest,
    /// The scheduling before or after the instruction is wrong.
    Scheduling(ParseError),
}

impl fmt::Display for Spa5TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Spa5TextErrorKind::Sm(sm) => write!(f, "instructions of SM {sm} have 128 bits"),
            Spa5TextErrorKind::Mnemonic => f.write_str("the SM has no instruction of this name"),
            Spa5TextErrorKind::Rest => {
                f.write_str("no form of the instruction has this here, with what is before it")
            }
            Spa5TextErrorKind::Scheduling(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Spa5TextError {}

/// The known bits of a word, and their values.
#[derive(Clone, Copy, Debug)]
struct State {
    known: u64,
    bits: u64,
    /// Bits 20:17 of the scheduling.
    reuse: u8,
}

impl State {
    fn with(self, mask: u64, bits: u64) -> Option<Self> {
        let is_same = self.known & mask & (self.bits ^ bits) == 0;
        is_same.then_some(Self { known: self.known | mask, bits: self.bits | bits, ..self })
    }

    fn set(self, place: &Place, number: u64) -> Option<Self> {
        self.with(place.mask(), place.put(number))
    }
}

/// Goes on at a byte; returns whether the word is found.
type Next<'n> = &'n mut dyn FnMut(usize, State) -> bool;

struct Reader<'t> {
    text: &'t str,
    sms: Sms,
    address: u64,
    class: Class,
    reuse: Reuse,
    furthest: Cell<usize>,
    steps: Cell<u32>,
}

/// Reads an instruction with its scheduling.
pub(super) fn parse_line(text: &str, sm: Sm, address: u64) -> Result<Spa5Line, Spa5TextError> {
    let scheduling = |error: ParseError| Spa5TextError {
        at: error.span.start,
        kind: Spa5TextErrorKind::Scheduling(error),
    };
    let (leading, start) = parse_control_prefix(text).map_err(scheduling)?;
    // No instruction contains `//`, `/*` or `&`, and behind a question mark there are no letters.
    let begins = |at: &usize| match text.as_bytes().get(*at..) {
        Some([b'?', next, ..]) => next.is_ascii_alphabetic(),
        Some([b'/', b'/' | b'*', ..] | [b'&', ..]) => true,
        _ => false,
    };
    let end = (start..text.len()).find(begins).unwrap_or(text.len());
    let body = text.get(..end).unwrap_or(text);
    let (instruction, reuse) = parse(body, start, sm, address, true)?;
    let trailing = parse_annotations(text, end).map_err(scheduling)?;
    let control = leading.or(trailing).map(|control| Control { reuse, ..control });
    Ok(Spa5Line { instruction, control, reuse })
}

/// Reads an instruction that begins at a byte. `has_reuse` allows `.reuse`, and the phases of textures.
pub(super) fn parse(
    text: &str,
    from: usize,
    sm: Sm,
    address: u64,
    has_reuse: bool,
) -> Result<(Spa5Instruction, Bits<4>), Spa5TextError> {
    let error = |at, kind| Spa5TextError { at, kind };
    let sms = set_of(sm).ok_or(error(0, Spa5TextErrorKind::Sm(sm)))?;
    let trimmed = text.trim_end().trim_end_matches(';').trim_end();
    let reader = |class| Reader {
        text: trimmed,
        sms,
        address,
        class,
        reuse: Reuse::Nothing,
        furthest: Cell::new(0),
        steps: Cell::new(0),
    };
    let start = trimmed.len() - trimmed.get(from..).unwrap_or("").trim_start().len();
    // The guard is the same in all rows.
    let (mut at, mut guard) = (start, None);
    let first = reader(Class::Registers);
    if let Some(after) = first.eat(start, "@") {
        let unknown = State { known: 0, bits: 0, reuse: 0 };
        first.operand(&GUARD, after, unknown, &mut |end, state| {
            (at, guard) = (end, Some(state));
            true
        });
        if guard.is_none() {
            return Err(error(after, Spa5TextErrorKind::Rest));
        }
        at = first.skip(at);
    }
    let name = trimmed.get(at..).unwrap_or("");
    let length =
        name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, end) = (name.get(..length).unwrap_or(""), at + length);
    let (mut furthest, mut is_known) = (end, false);
    let is_named = |form: &&Form| form.name.eq_ignore_ascii_case(name) && form.sms.meets(sms);
    for form in FORMS.iter().filter(is_named) {
        is_known = true;
        for class in CLASSES.into_iter().filter(|class| form.classes.has(*class)) {
            let reuse = if has_reuse { reuse_of(form, class) } else { Reuse::Nothing };
            let reader = Reader { reuse, ..reader(class) };
            let mut found = None;
            let written = trimmed.get(start..).unwrap_or("");
            reader.form(form, end, guard, &mut |state| {
                let reuse = Bits::from_bits(state.reuse.into());
                let decoded = Spa5Instruction::decode(state.bits, sm);
                found = decoded.map(|decoded| (decoded, reuse)).filter(|(decoded, reuse)| {
                    decoded.text_with(address, *reuse).is_some_and(|text| text.is(written))
                });
                found.is_some()
            });
            if let Some(found) = found {
                return Ok(found);
            }
            furthest = furthest.max(reader.furthest.get());
        }
    }
    match is_known {
        true => Err(error(furthest, Spa5TextErrorKind::Rest)),
        false => Err(error(at, Spa5TextErrorKind::Mnemonic)),
    }
}

impl Reader<'_> {
    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    fn skip(&self, at: usize) -> usize {
        let rest = self.rest(at);
        at + (rest.len() - rest.trim_start_matches([' ', '\t']).len())
    }

    /// Reads a text that is the same in all words. A blank in it is any number of blanks.
    fn eat(&self, at: usize, text: &str) -> Option<usize> {
        let mut at = at;
        for (part, piece) in text.split(' ').enumerate() {
            if part > 0 {
                at = self.skip(at);
            }
            let given = self.rest(at).as_bytes().get(..piece.len())?;
            if !given.eq_ignore_ascii_case(piece.as_bytes()) {
                return None;
            }
            at += piece.len();
        }
        Some(self.reached(at))
    }

    /// Notes how far a form agrees with the text, for errors.
    fn reached(&self, at: usize) -> usize {
        self.furthest.set(self.furthest.get().max(at));
        at
    }

    /// Reads a name that ends here.
    fn eat_name(&self, at: usize, name: &str) -> Option<usize> {
        let end = self.eat(at, name)?;
        let next = self.rest(end).bytes().next();
        let is_end = next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_');
        (is_end || name.ends_with(' ')).then_some(end)
    }

    /// Whether the search has taken too long.
    fn is_over(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.steps.get() > MAX_STEPS
    }

    fn form(
        &self,
        form: &Form,
        at: usize,
        guard: Option<State>,
        found: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        let (opcode, mask) = form.opcode(self.class);
        let state = State { known: u64::from(mask) << 48, bits: u64::from(opcode) << 48, reuse: 0 };
        let always = State { known: 15 << 16, bits: 7 << 16, reuse: 0 };
        let guarded = match (form.has_guard, guard) {
            (true, guard) => {
                let guard = guard.unwrap_or(always);
                // A guard without a mark is not negated.
                state.with(15 << 16, guard.bits)
            }
            (false, None) => Some(state),
            (false, Some(_)) => None,
        };
        let Some(state) = guarded else { return false };
        self.assume(state, form.when, true, &mut |state| {
            self.fields(form.modifiers, at, state, &mut |at, state| {
                self.phase(at, state, &mut |at, state| {
                    self.operands(form.operands, true, at, state, &mut |at, state| {
                        self.rest(at).trim().is_empty() && self.settle(form.refused, state, found)
                    })
                })
            })
        })
    }

    /// Reads the phase of a texture instruction.
    fn phase(&self, at: usize, state: State, next: Next<'_>) -> bool {
        let phases = if self.reuse == Reuse::Phase { &PHASES } else { &[""; 4] };
        (0..).zip(phases).skip(1).filter(|(_, name)| !name.is_empty()).any(|(reuse, name)| {
            self.eat_name(at, name).is_some_and(|end| next(end, State { reuse, ..state }))
        }) || next(at, state)
    }

    /// Reads `.reuse` behind an operand.
    fn reuse(&self, operand: &Operand, at: usize, state: State, next: Next<'_>) -> bool {
        let flag = reuse_flag_of(operand, self.reuse);
        let end = self.eat_name(at, ".reuse").filter(|_| flag != 0);
        end.is_some_and(|end| next(end, State { reuse: state.reuse | flag, ..state }))
            || next(at, state)
    }

    /// Goes on with each state in which all conditions hold, or in which one does not.
    fn assume(
        &self,
        state: State,
        conditions: &[Condition],
        holds: bool,
        next: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        let [condition, rest @ ..] = conditions else { return holds && next(state) };
        if self.is_over() {
            return false;
        }
        if !condition.sms.meets(self.sms) {
            return !holds && next(state);
        }
        let place = &condition.place;
        let is_known = state.known & place.mask() == place.mask();
        let known = place.get(state.bits);
        let numbers = if is_known { known..known + 1 } else { 0..1 << place.width() };
        for number in numbers {
            let Some(state) = state.set(place, number) else { continue };
            let is_found = match condition.allows(number) {
                true => self.assume(state, rest, holds, next),
                false => !holds && next(state),
            };
            if is_found {
                return true;
            }
        }
        false
    }

    /// Fills bits that are not known so that the word is not refused.
    fn settle(
        &self,
        refused: &[&[Condition]],
        state: State,
        found: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        let [first, rest @ ..] = refused else { return found(state) };
        self.assume(state, first, false, &mut |state| self.settle(rest, state, found))
    }

    fn fields(&self, fields: &[&NamedField], at: usize, state: State, next: Next<'_>) -> bool {
        let [field, rest @ ..] = fields else { return next(at, state) };
        if !field.is_in(self.class) {
            return self.fields(rest, at, state, next);
        }
        self.field(field, at, state, &mut |at, state| self.fields(rest, at, state, next))
    }

    /// Reads a dot and a name of a field, or nothing if a number of it shows nothing.
    fn field(&self, field: &NamedField, at: usize, state: State, next: Next<'_>) -> bool {
        let shows = self.assume(state, field.when, true, &mut |state| {
            let place = &field.place;
            let is_known = state.known & place.mask() == place.mask();
            let known = place.get(state.bits);
            let numbers = if is_known { known..known + 1 } else { 0..1 << place.width() };
            numbers.into_iter().any(|number| {
                let end = match field.name_of(number, self.sms) {
                    None => None,
                    Some(Name::Known("")) => Some(at),
                    Some(name) => self.eat(at, ".").and_then(|at| self.eat_shown(at, name)),
                };
                let state = end.and_then(|_| state.set(place, number));
                end.zip(state).is_some_and(|(end, state)| !self.is_over() && next(end, state))
            })
        });
        let is_conditional = !field.when.is_empty();
        shows
            || is_conditional && self.assume(state, field.when, false, &mut |state| next(at, state))
    }

    fn eat_shown(&self, at: usize, name: Name) -> Option<usize> {
        match name {
            Name::Known(name) => self.eat_name(at, name),
            Name::Numbered(text, _) | Name::Hexadecimal(text, _) => {
                let end = self.eat(at, text)?;
                let rest = self.rest(end);
                let digits = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
                let given = rest.get(..digits)?;
                let is_it = match name {
                    Name::Numbered(_, number) => given.parse() == Ok(number),
                    Name::Hexadecimal(_, number) => u64::from_str_radix(given, 16) == Ok(number),
                    Name::Known(_) => false,
                };
                is_it.then_some(end + digits)
            }
        }
    }

    fn operands(
        &self,
        operands: &[Operand],
        is_first: bool,
        at: usize,
        state: State,
        next: Next<'_>,
    ) -> bool {
        let [operand, rest @ ..] = operands else { return next(at, state) };
        if !operand.is_in(self.class) {
            return self.operands(rest, is_first, at, state, next);
        }
        let operand = operand.in_class(self.class);
        let separator = match is_first {
            true if operand.prefix.starts_with('.') => "",
            true => " ",
            false => " , ",
        };
        let is_read = self.assume(state, operand.when, true, &mut |state| {
            let separated = self.eat(at, separator);
            let is_there = separated.is_some_and(|at| {
                self.operand(&operand, at, state, &mut |at, state| {
                    self.operands(rest, false, at, state, next)
                })
            });
            if is_there {
                return true;
            }
            let mut left_out = |number: u64| {
                let state = state.set(&operand.place, number);
                state.is_some_and(|state| {
                    self.unmarked(&operand.inverted, state, &mut |state| {
                        self.unmarked(&operand.negated, state, &mut |state| {
                            self.operands(rest, is_first, at, state, next)
                        })
                    })
                })
            };
            if operand.kind == Kind::Named {
                let Some(field) = operand.field else { return false };
                let mut silent = (0..1 << field.place.width())
                    .filter(|number| field.name_of(*number, self.sms) == Some(Name::Known("")));
                return silent.any(left_out);
            }
            operand.optional.is_some_and(|number| left_out(number.into()))
        });
        let is_conditional = !operand.when.is_empty();
        is_read
            || is_conditional
                && self.assume(state, operand.when, false, &mut |state| {
                    self.operands(rest, is_first, at, state, next)
                })
    }

    /// Goes on without a mark.
    fn unmarked(&self, mark: &Mark, state: State, next: &mut dyn FnMut(State) -> bool) -> bool {
        self.marked(mark, false, state, next)
    }

    fn marked(
        &self,
        mark: &Mark,
        is_set: bool,
        state: State,
        next: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        match mark {
            Mark::Never => !is_set && next(state),
            Mark::Bit(bit) => state.with(1 << bit, u64::from(is_set) << bit).is_some_and(next),
            Mark::When(condition) => {
                self.assume(state, core::slice::from_ref(*condition), is_set, next)
            }
        }
    }

    /// Reads a mark before or behind an operand, or its absence.
    fn mark(&self, mark: &Mark, text: &str, at: usize, state: State, next: Next<'_>) -> bool {
        let with = !matches!(mark, Mark::Never)
            && self
                .eat(at, text)
                .is_some_and(|end| self.marked(mark, true, state, &mut |state| next(end, state)));
        with || self.marked(mark, false, state, &mut |state| next(at, state))
    }

    fn operand(&self, operand: &Operand, at: usize, state: State, next: Next<'_>) -> bool {
        if self.is_over() {
            return false;
        }
        let Operand { negated, absolute, inverted, suffixes, .. } = operand;
        if matches!(operand.kind, Kind::Float(_) | Kind::Unsigned | Kind::Signed) {
            return self.value(operand, at, state, &mut |at, state| {
                self.mark(negated, ".NEG", at, state, &mut |at, state| {
                    self.mark(absolute, ".ABS", at, state, &mut |at, state| {
                        self.mark(inverted, ".INV", at, state, &mut |at, state| {
                            self.fields(suffixes, at, state, next)
                        })
                    })
                })
            });
        }
        // A negated zero of a magnitude shows no sign.
        let is_silent = operand.kind == Kind::Magnitude
            && self.eat(at, "0x0").is_some()
            && self.marked(negated, true, state, &mut |state| self.value(operand, at, state, next));
        let invert = if operand.kind == Kind::Predicate { "!" } else { "~" };
        is_silent
            || self.mark(negated, "-", at, state, &mut |at, state| {
                self.mark(inverted, invert, at, state, &mut |at, state| {
                    self.mark(absolute, "|", at, state, &mut |inside, state| {
                        self.value(operand, inside, state, &mut |end, state| {
                            self.fields(suffixes, end, state, &mut |end, state| {
                                let end = if inside > at { self.eat(end, "|") } else { Some(end) };
                                end.is_some_and(|end| self.reuse(operand, end, state, next))
                            })
                        })
                    })
                })
            })
    }

    /// Reads `R1` or `RZ`.
    fn register(&self, at: usize) -> Option<(u64, usize)> {
        if let Some(end) = self.eat_name(at, "RZ") {
            return Some((255, end));
        }
        let at = self.eat(at, "R")?;
        let digits = self.rest(at).bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest(at).get(..digits)?.parse().ok().filter(|number| *number < 255)?;
        Some((number, self.reached(at + digits)))
    }

    /// Reads `0x10` or `-0x10`.
    fn number(&self, at: usize) -> Option<(i128, usize)> {
        let minus = self.eat(at, "-");
        let start = self.eat(minus.unwrap_or(at), "0x")?;
        let digits = self.rest(start).bytes().take_while(u8::is_ascii_hexdigit).count();
        let number = u64::from_str_radix(self.rest(start).get(..digits)?, 16).ok()?;
        let number = i128::from(number);
        Some((if minus.is_some() { -number } else { number }, self.reached(start + digits)))
    }

    fn value(&self, operand: &Operand, at: usize, state: State, next: Next<'_>) -> bool {
        let place = &operand.place;
        let width = place.width();
        // The number for a place, if it fits.
        let fitting = |number: i128, is_signed: bool| {
            let scale = operand.scale;
            let (low, high) = match is_signed {
                true if width > 0 => (-(1_i128 << (width - 1)), (1 << (width - 1)) - 1),
                _ => (0, (1 << width) - 1),
            };
            let is_whole = number & ((1 << scale) - 1) == 0;
            Some(number >> scale).filter(|number| is_whole && (low..=high).contains(number))
        };
        let mut go_on = |number: Option<i128>, base: Option<u64>, end: usize| {
            let state = number.and_then(|number| state.set(place, number as u64));
            let state = match base {
                Some(base) => state.and_then(|state| state.set(&operand.base, base)),
                None => state,
            };
            state.is_some_and(|state| next(end, state))
        };
        match operand.kind {
            Kind::Register | Kind::Second(_) | Kind::Third => {
                let Some((number, end)) = self.register(at) else { return false };
                go_on(Some(number.into()), None, end)
            }
            Kind::Predicate => {
                let Some(at) = self.eat(at, "P") else { return false };
                let number = match self.rest(at).bytes().next() {
                    Some(b'T' | b't') => 7,
                    Some(digit @ b'0'..=b'6') => digit - b'0',
                    _ => return false,
                };
                go_on(Some(i128::from(number ^ operand.scale)), None, at + 1)
            }
            Kind::Named => {
                let Some(field) = operand.field else { return false };
                (0..1 << width).any(|number| {
                    let name =
                        field.name_of(number, self.sms).filter(|name| *name != Name::Known(""));
                    let end = name.and_then(|name| self.eat_shown(at, name));
                    end.is_some_and(|end| go_on(Some(number.into()), None, end))
                })
            }
            Kind::Unsigned | Kind::Magnitude | Kind::Signed | Kind::Target => {
                let Some((number, end)) = self.number(at) else { return false };
                let is_signed = matches!(operand.kind, Kind::Signed | Kind::Target);
                let base = match operand.kind {
                    Kind::Target => i128::from(target(self.address, 0) as i64),
                    _ => 0,
                };
                go_on(fitting(number - base, is_signed), None, end)
            }
            Kind::Float(format) => {
                let Some((pattern, rest)) = number::read(self.rest(at), format) else {
                    return false;
                };
                let end = self.text.len() - rest.len();
                go_on(fitting(pattern.into(), false), None, end)
            }
            Kind::Constant | Kind::IndexedConstant => {
                let Some((bank, at)) = self.eat(at, "c[").and_then(|at| self.number(at)) else {
                    return false;
                };
                let Some(at) = self.eat(at, "] [") else { return false };
                let bank = bank as u64;
                if operand.kind == Kind::Constant {
                    let Some((number, end)) = self.number(at) else { return false };
                    let Some(end) = self.eat(end, "]") else { return false };
                    let is_bank = bank >> operand.base.width() == 0;
                    return is_bank && go_on(fitting(number, true), Some(bank), end);
                }
                let Some((base, number, end)) = self.indexed(at) else { return false };
                bank >> 5 == 0 && go_on(fitting(number, true), Some(bank << 8 | base), end)
            }
            Kind::Address => {
                let opened = self.eat(at, operand.prefix).and_then(|at| self.eat(at, "["));
                let Some((base, number, end)) = opened.and_then(|at| self.indexed(at)) else {
                    return false;
                };
                let has_base = operand.base.width() > 0;
                let is_signed = base != 255;
                let base = if has_base { Some(base) } else { None };
                (has_base || !is_signed) && go_on(fitting(number, is_signed), base, end)
            }
            Kind::Jump => {
                let Some((base, at)) = self.register(at) else { return false };
                let (number, end) = self.number(self.skip(at)).unwrap_or((0, at));
                go_on(fitting(number, true), Some(base), end)
            }
            Kind::Text => self.eat(at, operand.prefix).is_some_and(|end| next(end, state)),
            Kind::Set => {
                let Some(mut end) = self.eat(at, "{") else { return false };
                let mut set = 0;
                loop {
                    let digits = self.rest(end).bytes().take_while(u8::is_ascii_digit).count();
                    let bit = self.rest(end).get(..digits).and_then(|digits| digits.parse().ok());
                    let Some(bit) = bit.filter(|bit: &u32| *bit < width) else { return false };
                    (set, end) = (set | 1_i128 << bit, end + digits);
                    match (self.eat(end, ","), self.eat(end, "}")) {
                        (Some(after), _) => end = after,
                        (None, Some(after)) => return go_on(Some(set), None, after),
                        (None, None) => return false,
                    }
                }
            }
            Kind::Pairs => {
                let Some(field) = operand.field else { return false };
                let (mut set, mut end) = (0, at);
                for _ in 0..width / 2 {
                    let found =
                        (0..4).find_map(|number| match field.name_of(number, self.sms)? {
                            Name::Known(name) => self.eat(end, name).map(|end| (number, end)),
                            _ => None,
                        });
                    let Some((number, after)) = found else { return false };
                    (set, end) = (set << 2 | i128::from(number), after);
                }
                go_on(Some(set), None, end)
            }
            Kind::Swap => {
                let register = |at| match self.eat(at, "???255") {
                    Some(end) => Some((None, end)),
                    None => self.register(at).map(|(number, end)| (Some(number), end)),
                };
                let Some((compare, at)) = register(at) else { return false };
                let Some((swap, end)) = self.eat(at, " , ").and_then(register) else {
                    return false;
                };
                let wide = 0..1_u64 << (operand.base.width() - 2);
                [0, 1, 2].into_iter().any(|position| {
                    let number = if position == 2 { swap } else { compare }.unwrap_or(255);
                    wide.clone().any(|wide| {
                        super::swapped(number, wide << 2 | position) == (compare, swap)
                            && go_on(Some(number.into()), Some(wide << 2 | position), end)
                    })
                })
            }
        }
    }

    /// Reads `R1+0x10]`, `R1]` or `0x10]`: register, number, and the end.
    fn indexed(&self, at: usize) -> Option<(u64, i128, usize)> {
        let (base, number, end) = match self.register(at) {
            Some((base, at)) => match self.eat(at, "+") {
                Some(after) => {
                    let (number, end) = self.number(after)?;
                    (base, number, end)
                }
                None => (base, 0, at),
            },
            None => {
                let (number, end) = self.number(at)?;
                (255, number, end)
            }
        };
        Some((base, number, self.eat(end, "]")?))
    }
}
