//! Reads the modifiers of a mnemonic and checks their order.

use super::cursor::Cursor;
use super::error::{Expected, ParseError, ParseErrorKind};
use super::modifier::{
    Alias, CACHE_OPERATORS, CONSTANT_MODES, EXTENDED, ModifierGroup, Modifiers, SIZES, UNIFORM,
};
use super::span::Span;
use crate::impossible::OrImpossible;
use crate::operand::InvalidSize;
use crate::ready::key;

/// Every modifier of every load.
const ALL: [ModifierGroup; 5] = [EXTENDED, CACHE_OPERATORS, SIZES, UNIFORM, CONSTANT_MODES];

/// Returns the modifier with that name that some load has.
fn of_any_load(word: &str) -> Option<&'static str> {
    let mut names = ALL.iter().flat_map(|group| group.all_names()).map(|(name, _)| name.text);
    names.find(|name| name.eq_ignore_ascii_case(word))
}

impl Modifiers {
    /// Returns the name that begins with `part` and a dot: `U.128` for `U`.
    fn beginning_with(self, part: &str) -> Option<&'static str> {
        let mut names =
            self.0.iter().flat_map(|group| group.all_names()).map(|(name, _)| name.text);
        names.find(|name| {
            name.split_once('.').is_some_and(|(first, _)| first.eq_ignore_ascii_case(part))
        })
    }
}

fn is_invalid_size(word: &str) -> bool {
    let prefix = word.get(..InvalidSize::PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(InvalidSize::PREFIX))
}

/// A recognized modifier: the group and its index, its value, and what follows it.
struct Match<'t> {
    index: usize,
    group: &'static ModifierGroup,
    value: u64,
    written: &'static str,
    rest: Cursor<'t>,
}

impl<'t> Cursor<'t> {
    /// Reads the modifiers that are here. `groups` are in the order that the text must have. Returns
    /// the bits of the field of each group, or `None` for a group without a modifier.
    pub(crate) fn modifiers<const N: usize>(
        &mut self,
        mnemonic: &'static str,
        groups: &'static [ModifierGroup; N],
    ) -> Result<[Option<u64>; N], ParseError> {
        let known = Modifiers(groups);
        let mut values = [None; N];
        let mut last: Option<(usize, &'static str)> = None;
        while self.eat(b'.') {
            let (word, span) = self.word(Expected::Modifier)?;
            let Some(found) = self.longest_match(groups, word) else {
                let kind = match known.beginning_with(word) {
                    Some(whole) => ParseErrorKind::PartOfModifier { whole },
                    None if is_invalid_size(word) => ParseErrorKind::InvalidSize { known },
                    None => match of_any_load(word) {
                        Some(name) => ParseErrorKind::OtherModifier { mnemonic, name, known },
                        None => ParseErrorKind::UnknownModifier { known },
                    },
                };
                return Err(ParseError { kind, span });
            };
            let Match { index, group, value, written, rest } = found;
            *self = rest;
            let span = Span { start: span.start, end: self.position() };
            if values.get_mut(index).and_then(|slot| slot.replace(value)).is_some() {
                return Err(ParseError { kind: ParseErrorKind::ModifierTwice(group.kind), span });
            }
            if let Some((_, after)) = last.filter(|(last, _)| *last > index) {
                let kind = ParseErrorKind::ModifierOrder { given: group.kind, after, known };
                return Err(ParseError { kind, span });
            }
            last = Some((index, group.kind));
            let becomes = group.names.get(value as usize).map(|name| name.text);
            let becomes = becomes.or_impossible(written, "an alias becomes one of the names");
            if written != becomes {
                self.note_alias(Alias { span, written, becomes });
            }
        }
        Ok(values)
    }

    /// Returns the longest name that begins with `word`, the word before the cursor, and continues
    /// at the cursor: `U.128` before `U`.
    fn longest_match(&self, groups: &'static [ModifierGroup], word: &str) -> Option<Match<'t>> {
        let first = Some(key(word.as_bytes())?);
        let mut longest: Option<Match<'t>> = None;
        for (index, group) in groups.iter().enumerate() {
            for (name, value) in group.all_names().filter(|(name, _)| name.first == first) {
                let Some(rest) = self.follow(name.text) else { continue };
                if longest.as_ref().is_none_or(|m| rest.position() > m.rest.position()) {
                    longest = Some(Match { index, group, value, written: name.text, rest });
                }
            }
        }
        longest
    }

    /// Returns the cursor after the parts of `name` after the first, if they are here.
    fn follow(&self, name: &str) -> Option<Self> {
        let mut rest = *self;
        for part in name.split('.').skip(1) {
            if !rest.eat(b'.') || !rest.word(Expected::Modifier).ok()?.0.eq_ignore_ascii_case(part)
            {
                return None;
            }
        }
        Some(rest)
    }
}
