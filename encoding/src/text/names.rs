//! Mnemonics and modifiers: reading them, and naming those that a load takes.

use core::fmt;

use super::cursor::{Cursor, LineSpan, TokenKind, Word};
use super::error::{Expected, ParseError, ParseErrorKind as Error};
use crate::instruction::Instruction;
use crate::plan::plan_index;
use crate::sm::Sm;
use crate::table::forms::{FORMS, Form};
use crate::table::grammar::Modifier;
use crate::table::row::Slot;

/// A modifier that assembles as another one: `.CS` as `.CA`, `.LU` as `.CG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// Its place in the line.
    pub span: LineSpan,
    /// The modifier that was written, without its dot.
    pub written: &'static str,
    /// The modifier that it becomes and that disassembly prints, unless it is the default.
    pub becomes: &'static str,
}

/// The modifiers that a load takes. Displays as their names, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers {
    /// A load of the form.
    load: Option<Instruction>,
    /// The one field that is meant; all if there is none.
    only: Option<Slot>,
}

impl Modifiers {
    fn of(load: Instruction) -> Self {
        Self { load: Some(load), only: None }
    }

    /// Returns the sizes of `LD`.
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

/// No mnemonic has more words after its dots.
const MAX_WORDS: usize = 14;

/// A mnemonic and the words after its dots, whatever they are.
pub(super) struct Opcode<'t> {
    line: &'t str,
    pub(super) mnemonic: Word<'t>,
    words: [LineSpan; MAX_WORDS],
    count: usize,
    /// The number of the first form of the mnemonic; the others follow it.
    first: usize,
}

/// A recognized modifier.
#[derive(Clone, Copy)]
struct Match {
    modifier: &'static Modifier,
    /// Its number among those of the form.
    index: u8,
    name: &'static str,
    number: u64,
    /// How many words it has.
    length: usize,
}

impl Match {
    /// Returns the modifier's name in messages.
    fn kind(&self, load: &Instruction) -> &'static str {
        match *self.modifier {
            Modifier::Always { kind, .. } => kind,
            Modifier::Field(slot) | Modifier::Shown { slot, .. } => {
                load.values(slot).map_or("", |values| values.kind)
            }
        }
    }
}

impl<'t> Opcode<'t> {
    pub(super) fn read(cursor: &mut Cursor<'t>, sm: Sm) -> Result<Self, ParseError> {
        let mnemonic = cursor.word(Expected::Mnemonic)?;
        let words = [LineSpan { start: 0, end: 0 }; MAX_WORDS];
        let mut opcode =
            Self { line: cursor.line(), mnemonic, words, count: 0, first: FORMS.len() };
        let is_known = |form: &Form| opcode.is(form) && form.groups.contains(sm.group());
        opcode.first =
            FORMS.iter().position(is_known).ok_or(mnemonic.error(Error::UnknownMnemonic { sm }))?;
        while cursor.eat(b'.') {
            if cursor.peek().kind == TokenKind::Punctuation(b'?') {
                return Err(cursor.error(Error::InvalidModifier { known: opcode.known(sm) }));
            }
            let word = cursor.word(Expected::Modifier)?;
            let Some(span) = opcode.words.get_mut(opcode.count) else {
                return Err(word.error(Error::Expected(Expected::End)));
            };
            *span = word.span;
            opcode.count += 1;
        }
        Ok(opcode)
    }

    /// Returns whether this is the mnemonic of a form.
    fn is(&self, form: &Form) -> bool {
        self.mnemonic.upper == form.first && self.mnemonic.text.len() == form.name.len()
    }

    /// Returns one instruction of each form of the mnemonic, without operands.
    pub(super) fn forms(&self, sm: Sm) -> impl Iterator<Item = Instruction> {
        let forms = FORMS.iter().enumerate().skip(self.first).take_while(|(_, form)| self.is(form));
        let plans = forms.filter_map(move |(n, _)| plan_index(n, sm.group()));
        plans.map(move |plan| Instruction::template(plan, sm))
    }

    /// Returns the modifiers of the first form of the mnemonic.
    fn known(&self, sm: Sm) -> Modifiers {
        Modifiers { load: self.forms(sm).next(), only: None }
    }

    #[inline(always)]
    fn word(&self, n: usize) -> Option<Word<'t>> {
        let span = self.words.get(..self.count)?.get(n)?;
        Some(Word::of(self.line, *span))
    }

    /// Sets the modifiers of an instruction without any, and `alias` to the one that was written under another name.
    pub(super) fn fit(
        &self,
        load: &mut Instruction,
        alias: &mut Option<Alias>,
    ) -> Result<(), ParseError> {
        let (mut next, mut seen) = (0, 0u16);
        *alias = None;
        let mut last: Option<Match> = None;
        while let Some(word) = self.word(next) {
            let Some(found) = self.longest(load, word, next) else {
                return Err(word.error(self.unknown(load, word)));
            };
            next += found.length;
            let end = match found.length {
                1 => word.span.end,
                _ => self.word(next - 1).unwrap_or(word).span.end,
            };
            let span = LineSpan { start: word.span.start, end };
            if seen >> found.index & 1 != 0 {
                return Err(ParseError { kind: Error::ModifierTwice(found.kind(load)), span });
            }
            if let Some(after) = last.filter(|last| last.index > found.index) {
                let (given, after) = (found.kind(load), after.kind(load));
                let kind = Error::ModifierOrder { given, after, known: Modifiers::of(*load) };
                return Err(ParseError { kind, span });
            }
            seen |= 1 << found.index;
            last = Some(found);
            if let Modifier::Field(slot) | Modifier::Shown { slot, .. } = *found.modifier {
                load.set(slot, found.number);
                let becomes = load.value(slot).map_or(found.name, |value| value.name);
                if becomes.len() != found.name.len() || becomes != found.name {
                    *alias = Some(Alias { span, written: found.name, becomes });
                }
            }
        }
        if load.plan().required & !seen != 0 {
            let LineSpan { end, .. } =
                self.word(next.wrapping_sub(1)).unwrap_or(self.mnemonic).span;
            let kind = Error::MissingModifier { known: Modifiers::of(*load) };
            return Err(ParseError { kind, span: LineSpan { start: end, end } });
        }
        Ok(())
    }

    /// Returns the longest modifier of a form that begins with `word`, the one numbered `n`: `U.128` before `U`.
    fn longest(&self, load: &Instruction, word: Word<'t>, n: usize) -> Option<Match> {
        let form = load.form();
        let mut longest: Option<Match> = None;
        for planned in load.plan().modifiers() {
            let index = planned.index;
            let modifier = form.modifiers.get(usize::from(index))?;
            let mut offer = |name, number, length| {
                if longest.is_none_or(|longest| length > longest.length) {
                    longest = Some(Match { modifier, index, name, number, length });
                }
            };
            let values = match *modifier {
                Modifier::Always { name, .. } => {
                    if let Some(length) = self.length_of(name, word, n) {
                        offer(name, 0, length);
                    }
                    continue;
                }
                Modifier::Field(slot) | Modifier::Shown { slot, .. } => {
                    planned.values.or_else(|| load.values(slot))?
                }
            };
            for (value, number) in values.rows.iter().zip(0..) {
                if value.first == word.upper
                    && !value.is_invalid()
                    && let Some(length) = self.length_of(value.name, word, n)
                {
                    offer(value.name, number, length);
                }
            }
            for (name, number) in values.aliases {
                if word.is(name) {
                    offer(name, *number, 1);
                }
            }
        }
        longest
    }

    /// Returns how many words `name` has if they are the ones from `word`, the one numbered `n`, on.
    fn length_of(&self, name: &str, word: Word<'_>, n: usize) -> Option<usize> {
        if word.is(name) {
            return Some(1);
        }
        let mut length = 0;
        for part in name.split('.') {
            if !self.word(n + length)?.is(part) {
                return None;
            }
            length += 1;
        }
        Some(length)
    }

    /// Returns the error of a word that begins no modifier of a form.
    fn unknown(&self, load: &Instruction, word: Word<'_>) -> Error {
        let known = Modifiers::of(*load);
        let first = |name: &str| name.split('.').next().is_some_and(|first| word.is(first));
        let begun = names_of(load).find(|name| first(name));
        let of_others = || {
            let mut others = Instruction::forms(load.sm());
            others.find_map(|other| names_of(&other).find(|name| word.is(name)))
        };
        let prefix = word.text.get(.."INVALID".len());
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
}

/// Returns the names of the modifiers of a load.
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
