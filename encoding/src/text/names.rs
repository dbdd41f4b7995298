//! Mnemonics and modifiers: reading them, and listing the modifiers of a load.

use core::fmt;

use super::cursor::{Cursor, LineSpan, Word};
use super::error::{Expected, ParseError, ParseErrorKind as Error};
use crate::instruction::Instruction;
use crate::plan::{PlannedModifier, plan_index};
use crate::sm::Sm;
use crate::table::forms::{FORMS, Form};
use crate::table::grammar::Modifier;
use crate::table::row::Slot;
use crate::table::values::{Values, ones};

/// A modifier that assembles as another one: `.CS` as `.CA`, `.LU` as `.CG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// Its place in the line.
    pub span: LineSpan,
    /// The modifier that was written, without its dot.
    pub written: &'static str,
    /// The modifier that it becomes. Disassembly prints it unless it is the default.
    pub becomes: &'static str,
}

/// The modifiers of a load. Displays as their names, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers {
    /// A load of the form.
    load: Option<Instruction>,
    /// Limits the list to one field.
    only: Option<Slot>,
}

impl Modifiers {
    fn of(load: Instruction) -> Self {
        Self { load: Some(load), only: None }
    }

    pub(super) fn of_sizes() -> Self {
        Self { load: Instruction::forms(Sm::SPA5).next(), only: Some(Slot::Size) }
    }
}

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(load) = self.load else { return Ok(()) };
        let mut separator = "";
        for modifier in load.form().modifiers {
            match *modifier {
                Modifier::Always { name, .. } => write!(f, "{separator}`.{name}`")?,
                Modifier::Field(slot) | Modifier::Shown { slot, .. } => {
                    let Some(values) = load.values(slot) else { continue };
                    if self.only.is_some_and(|only| only != slot) {
                        continue;
                    }
                    write!(f, "{separator}")?;
                    let mut names = values.names().map(|(name, _)| name);
                    let first = names.next().unwrap_or_default();
                    match names.next() {
                        None => write!(f, "`.{first}`")?,
                        Some(second) => {
                            write!(f, "{}, `.{first} .{second}", values.kind)?;
                            names.try_for_each(|name| write!(f, " .{name}"))?;
                            f.write_str("`")?;
                        }
                    }
                }
            }
            separator = "; ";
        }
        Ok(())
    }
}

/// A mnemonic and the words after its dots, not checked yet.
pub(super) struct Opcode<'t> {
    pub(super) mnemonic: Word<'t>,
    /// Before the first dot.
    words: Cursor<'t>,
    /// The number of the first form of the mnemonic; the others follow it.
    first: usize,
}

/// A recognized modifier.
#[derive(Clone, Copy)]
struct Match<'t> {
    /// The index in the plan.
    index: usize,
    planned: &'static PlannedModifier,
    values: Option<&'static Values>,
    name: &'static str,
    /// The index of the name among the values; the aliases come last.
    number: usize,
    /// After its last word.
    end: Cursor<'t>,
}

impl<'t> Opcode<'t> {
    pub(super) fn read(cursor: &mut Cursor<'t>, sm: Sm) -> Result<Self, ParseError> {
        let mnemonic = cursor.word(Expected::Mnemonic)?;
        let mut opcode = Self { mnemonic, words: *cursor, first: FORMS.len() };
        let is_known = |form: &Form| opcode.is(form) && form.groups.contains(sm.group());
        opcode.first =
            FORMS.iter().position(is_known).ok_or(mnemonic.error(Error::UnknownMnemonic { sm }))?;
        Ok(opcode)
    }

    /// Fails if a dot has no word after it.
    pub(super) fn check_words(&self, sm: Sm) -> Result<(), ParseError> {
        let mut cursor = self.words;
        while cursor.eat(b'.') {
            if cursor.is_at(b'?') {
                return Err(cursor.error(Error::InvalidModifier { known: self.known(sm) }));
            }
            cursor.word(Expected::Modifier)?;
        }
        Ok(())
    }

    fn is(&self, form: &Form) -> bool {
        self.mnemonic.is_named(form.name, form.first)
    }

    /// One instruction of each form of the mnemonic, with default operands.
    pub(super) fn forms(&self, sm: Sm) -> impl Iterator<Item = Instruction> {
        let forms = FORMS.iter().enumerate().skip(self.first).take_while(|(_, form)| self.is(form));
        let plans = forms.filter_map(move |(n, _)| plan_index(n, sm.group()));
        plans.map(move |plan| Instruction::template(plan, sm))
    }

    /// The modifiers of the mnemonic's first form, for messages.
    fn known(&self, sm: Sm) -> Modifiers {
        Modifiers { load: self.forms(sm).next(), only: None }
    }

    /// Sets the modifiers of `load`, which has none yet, and `alias` if one was written under another name. Returns the
    /// position of the operands.
    pub(super) fn fit(
        &self,
        load: &mut Instruction,
        alias: &mut Option<Alias>,
    ) -> Result<Cursor<'t>, ParseError> {
        let (plan, mut cursor, mut seen) = (load.plan(), self.words, 0u16);
        *alias = None;
        while let Some(word) = next_word(&mut cursor) {
            let Some(found) = longest(load, word, cursor) else {
                return Err(word.error(unknown(load, word)));
            };
            cursor = found.end;
            let span = LineSpan { start: word.span.start, end: cursor.position() };
            // Modifiers are in order, so the last one has the highest bit.
            if let Some(last) = (seen >> found.index).checked_ilog2() {
                let given = found.planned.kind(load);
                let kind = match plan.modifiers().get(found.index + last as usize) {
                    Some(after) if last > 0 && seen >> found.index & 1 == 0 => {
                        let (after, known) = (after.kind(load), Modifiers::of(*load));
                        Error::ModifierOrder { given, after, known }
                    }
                    _ => Error::ModifierTwice(given),
                };
                return Err(ParseError { kind, span });
            }
            seen |= 1 << found.index;
            if let (Modifier::Field(slot) | Modifier::Shown { slot, .. }, Some(values)) =
                (*found.planned.modifier, found.values)
            {
                let mut number = found.number as u64;
                if let Some(n) = found.number.checked_sub(values.rows.len()) {
                    number = values.aliases.get(n).map_or(0, |(_, number)| *number);
                    let becomes = values.get(number).map_or("", |value| value.name);
                    *alias = Some(Alias { span, written: found.name, becomes });
                }
                load.set_at(found.planned.place, slot, number);
            }
        }
        if plan.required & !seen != 0 {
            let end = cursor.position();
            let kind = Error::MissingModifier { known: Modifiers::of(*load) };
            return Err(ParseError { kind, span: LineSpan { start: end, end } });
        }
        if cursor.is_at(b'.') {
            self.check_words(load.sm())?;
        }
        Ok(cursor)
    }
}

/// Takes a dot and the word after it, if both are next.
#[inline(always)]
fn next_word<'t>(cursor: &mut Cursor<'t>) -> Option<Word<'t>> {
    let mut ahead = *cursor;
    let word = if ahead.eat(b'.') { ahead.peek_word()? } else { return None };
    ahead.take(word);
    *cursor = ahead;
    Some(word)
}

/// The longest modifier that begins with `word`: `U.128` rather than `U`.
fn longest<'t>(load: &Instruction, word: Word<'_>, after: Cursor<'t>) -> Option<Match<'t>> {
    let (plan, hash) = (load.plan(), word.upper.hash());
    let mut longest: Option<Match<'t>> = None;
    for index in ones(plan.hashed.get(hash).copied()?) {
        let planned = plan.modifiers().get(index)?;
        let values = planned.values(load);
        let numbers = values.map_or(Some(1), |values| values.hashed.get(hash).copied())?;
        for number in ones(numbers) {
            let (name, first) = match (values, planned.modifier) {
                (None, Modifier::Always { name, first, .. }) => (*name, *first),
                (values, _) => values?.name_at(number)?,
            };
            if word.upper != first {
                continue;
            }
            let is_all = word.is_named(name, first);
            let end = if is_all { Some(after) } else { end_of(name, word, after) };
            if let Some(end) = end
                && longest.is_none_or(|longest| end.position() > longest.end.position())
            {
                longest = Some(Match { index, planned, values, name, number, end });
            }
        }
    }
    longest
}

/// The end of `name`, if `word` and the words after it spell it.
fn end_of<'t>(name: &str, word: Word<'_>, after: Cursor<'t>) -> Option<Cursor<'t>> {
    let (mut parts, mut end) = (name.split('.'), after);
    let is_begun = word.is(parts.next()?);
    (is_begun && parts.all(|part| next_word(&mut end).is_some_and(|word| word.is(part))))
        .then_some(end)
}

/// The error of a word that begins no modifier of the form.
fn unknown(load: &Instruction, word: Word<'_>) -> Error {
    let known = Modifiers::of(*load);
    let first = |name: &str| name.split('.').next().is_some_and(|first| word.is(first));
    let begun = names_of(load).find(|name| first(name));
    let of_others = || {
        let mut others = Instruction::forms(load.sm());
        others.find_map(|other| names_of(&other).find(|name| word.is(name)))
    };
    let prefix = word.text().get(.."INVALID".len());
    let is_invalid = prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("INVALID"));
    match begun {
        Some(whole) => Error::PartOfModifier { whole },
        None if is_invalid => Error::InvalidModifier { known },
        None => match of_others() {
            Some(name) => Error::OtherModifier { mnemonic: load.mnemonic(), name, known },
            None => Error::UnknownModifier { known },
        },
    }
}

fn names_of(load: &Instruction) -> impl Iterator<Item = &'static str> {
    load.form().modifiers.iter().flat_map(move |modifier| {
        let (always, values) = match *modifier {
            Modifier::Always { name, .. } => (Some(name), None),
            Modifier::Field(slot) | Modifier::Shown { slot, .. } => (None, load.values(slot)),
        };
        let names = values.into_iter().flat_map(|values| values.names().map(|(name, _)| name));
        always.into_iter().chain(names)
    })
}
