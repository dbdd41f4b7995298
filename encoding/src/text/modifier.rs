//! The modifiers of each kind, and how those of a mnemonic are read: their order is checked.

use core::fmt;

use super::cursor::{Cursor, LineSpan, Word};
use super::error::{Expected, ParseError, ParseErrorKind};
use crate::impossible::OrImpossible;
use crate::operand::{CacheOp, ConstantMode, InvalidSize, LimitedSize, LocalCacheOp, Size};
use crate::ready::Name;

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

/// The modifiers of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModifierGroup {
    /// What they decide, as messages call it.
    pub(crate) kind: &'static str,
    /// The name of each value of the field, in the order of their encoding; empty if it has none.
    pub(crate) names: &'static [Name],
    /// Further names, and the values that they become.
    pub(crate) aliases: &'static [(Name, u64)],
}

impl ModifierGroup {
    /// Returns every name with the value that it encodes.
    fn all_names(&'static self) -> impl Iterator<Item = (&'static Name, u64)> {
        let aliases = self.aliases.iter().map(|(name, value)| (name, *value));
        self.names.iter().zip(0..).chain(aliases).filter(|(name, _)| !name.text.is_empty())
    }
}

/// The modifiers that an instruction takes. Displays as their names, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers(pub(super) &'static [ModifierGroup]);

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { "; " } else { "" })?;
            if group.all_names().nth(1).is_some() {
                write!(f, "{}, ", group.kind)?;
            }
            for (i, (name, _)) in group.all_names().enumerate() {
                write!(f, "{}.{}", if i > 0 { " " } else { "`" }, name.text)?;
            }
            f.write_str("`")?;
        }
        Ok(())
    }
}

pub(crate) const EXTENDED: ModifierGroup =
    ModifierGroup { kind: "`.E`", names: &[Name::of(""), Name::of("E")], aliases: &[] };

pub(crate) const CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: "the cache operator",
    names: &CacheOp::NAMES,
    aliases: &[(Name::of("CS"), CacheOp::Ca as u64), (Name::of("LU"), CacheOp::Cg as u64)],
};

pub(crate) const LOCAL_CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: CACHE_OPERATORS.kind,
    names: &LocalCacheOp::NAMES,
    aliases: &[(Name::of("CS"), LocalCacheOp::Ca as u64)],
};

pub(crate) const SIZES: ModifierGroup = sizes(&Size::NAMES);

/// The sizes of `LDL` and `LDS`.
pub(crate) const SIZES_UP_TO_128: ModifierGroup = sizes(LimitedSize::<7>::NAMES);

/// The sizes of `LDC`.
pub(crate) const SIZES_UP_TO_64: ModifierGroup = sizes(LimitedSize::<6>::NAMES);

const fn sizes(names: &'static [Name]) -> ModifierGroup {
    ModifierGroup { kind: "the size", names, aliases: &[] }
}

pub(crate) const UNIFORM: ModifierGroup =
    ModifierGroup { kind: "`.U`", names: &[Name::of(""), Name::of("U")], aliases: &[] };

pub(crate) const CONSTANT_MODES: ModifierGroup =
    ModifierGroup { kind: "the mode", names: &ConstantMode::NAMES, aliases: &[] };

/// Every modifier of every load.
const ALL: [ModifierGroup; 5] = [EXTENDED, CACHE_OPERATORS, SIZES, UNIFORM, CONSTANT_MODES];

/// Returns the modifier with that name that some load has.
fn of_any_load(word: Word<'_>) -> Option<&'static str> {
    let mut names = ALL.iter().flat_map(|group| group.all_names()).map(|(name, _)| name.text);
    names.find(|name| word.is(name))
}

impl Modifiers {
    /// Returns the name of which `word` is the first of two: `U.128` for `U`.
    fn beginning_with(self, word: Word<'_>) -> Option<&'static str> {
        let mut names = self.0.iter().flat_map(|group| group.all_names()).map(|(name, _)| name);
        let name = names.find(|name| name.first == word.upper && name.second.is_some());
        name.map(|name| name.text)
    }
}

fn is_invalid_size(word: &str) -> bool {
    let prefix = word.get(..InvalidSize::PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(InvalidSize::PREFIX))
}

/// A recognized modifier: the index of its group, its name and its value.
#[derive(Clone, Copy)]
struct Match {
    index: usize,
    group: &'static ModifierGroup,
    name: &'static Name,
    value: u64,
}

impl Cursor<'_> {
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
            let word = self.word(Expected::Modifier)?;
            let Some(found) = self.longest_match(groups, word) else {
                let kind = match known.beginning_with(word) {
                    Some(whole) => ParseErrorKind::PartOfModifier { whole },
                    None if is_invalid_size(word.text) => ParseErrorKind::InvalidSize { known },
                    None => match of_any_load(word) {
                        Some(name) => ParseErrorKind::OtherModifier { mnemonic, name, known },
                        None => ParseErrorKind::UnknownModifier { known },
                    },
                };
                return Err(word.error(kind));
            };
            let Match { index, group, name, value } = found;
            if name.second.is_some() {
                // The dot and the second word.
                self.advance();
                self.advance();
            }
            let span = LineSpan { start: word.span.start, end: self.position() };
            if values.get_mut(index).and_then(|slot| slot.replace(value)).is_some() {
                return Err(ParseError { kind: ParseErrorKind::ModifierTwice(group.kind), span });
            }
            if let Some((_, after)) = last.filter(|(last, _)| *last > index) {
                let kind = ParseErrorKind::ModifierOrder { given: group.kind, after, known };
                return Err(ParseError { kind, span });
            }
            last = Some((index, group.kind));
            let becomes = group.names.get(value as usize);
            let becomes = becomes.or_impossible(name, "an alias becomes one of the names");
            if name != becomes {
                self.note_alias(Alias { span, written: name.text, becomes: becomes.text });
            }
        }
        Ok(values)
    }

    /// Returns the longest name that begins with `word`, the word before the cursor, and continues
    /// at the cursor: `U.128` before `U`.
    fn longest_match(&self, groups: &'static [ModifierGroup], word: Word<'_>) -> Option<Match> {
        let mut longest: Option<Match> = None;
        for (index, group) in groups.iter().enumerate() {
            for (name, value) in group.all_names().filter(|(name, _)| name.first == word.upper) {
                if longest.is_none_or(|longest| longest.name.second.is_none())
                    && name.second.is_none_or(|second| self.is_after_dot(second))
                {
                    longest = Some(Match { index, group, name, value });
                }
            }
        }
        longest
    }

    /// Returns whether a dot and `word` are here.
    fn is_after_dot(&self, word: &str) -> bool {
        let mut ahead = *self;
        ahead.eat(b'.') && ahead.peek_word().is_some_and(|next| next.is(word))
    }
}
