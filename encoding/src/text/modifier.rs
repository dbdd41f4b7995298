//! Modifiers behind the mnemonic: which there are, and their order.

use core::fmt;

use super::error::{Expected, ParseError, ParseErrorKind, Span};
use super::lexer::TokenKind;
use super::parse::Cursor;
use crate::operand::{CacheOp, ConstantMode, InvalidSize, LimitedSize, LocalCacheOp, Size};

/// A modifier that assembles as another one: `.CS` as `.CA`, `.LU` as `.CG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Where it stands.
    pub span: Span,
    /// The modifier that was written, without its dot.
    pub written: &'static str,
    /// The modifier that it becomes, and that disassembly prints; the default one is not printed.
    pub becomes: &'static str,
}

/// The modifiers of one kind. An index into `names` is the value that they encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModifierGroup {
    /// What they decide, as messages call it.
    pub(crate) kind: &'static str,
    pub(crate) names: &'static [&'static str],
    /// Further names, and the index of what they become.
    pub(crate) aliases: &'static [(&'static str, usize)],
}

impl ModifierGroup {
    /// Every name, with the value that it encodes.
    fn all_names(self) -> impl Iterator<Item = (&'static str, usize)> {
        let own = self.names.iter().enumerate().map(|(value, name)| (*name, value));
        own.chain(self.aliases.iter().copied())
    }
}

/// The modifiers that an instruction takes. Displays as their names, in the order in which its
/// text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers(&'static [ModifierGroup]);

impl Modifiers {
    /// The name of which `part` is the beginning up to a dot: `U.128` of `U`.
    fn beginning_with(self, part: &str) -> Option<&'static str> {
        let mut names = self.0.iter().flat_map(|group| group.all_names()).map(|(name, _)| name);
        names.find(|name| {
            name.split_once('.').is_some_and(|(first, _)| first.eq_ignore_ascii_case(part))
        })
    }
}

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { "; " } else { "" })?;
            if group.names.len() > 1 {
                write!(f, "{}, ", group.kind)?;
            }
            for (i, (name, _)) in group.all_names().enumerate() {
                write!(f, "{}.{name}", if i > 0 { " " } else { "`" })?;
            }
            f.write_str("`")?;
        }
        Ok(())
    }
}

/// Every modifier of every load.
const ALL: [ModifierGroup; 5] = [EXTENDED, CACHE_OPERATORS, SIZES, UNIFORM, CONSTANT_MODES];

/// The modifier of that name that some load has.
fn of_any_load(word: &str) -> Option<&'static str> {
    let mut names = ALL.iter().flat_map(|group| group.all_names()).map(|(name, _)| name);
    names.find(|name| name.eq_ignore_ascii_case(word))
}

pub(crate) const EXTENDED: ModifierGroup =
    ModifierGroup { kind: "`.E`", names: &["E"], aliases: &[] };

pub(crate) const CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: "the cache operator",
    names: &CacheOp::NAMES,
    aliases: &[("CS", CacheOp::Ca as usize), ("LU", CacheOp::Cg as usize)],
};

pub(crate) const LOCAL_CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: CACHE_OPERATORS.kind,
    names: &LocalCacheOp::NAMES,
    aliases: &[("CS", LocalCacheOp::Ca as usize)],
};

pub(crate) const SIZES: ModifierGroup = sizes(&Size::NAMES);

/// Those of `LDL` and `LDS`.
pub(crate) const SIZES_UP_TO_128: ModifierGroup = sizes(LimitedSize::<7>::NAMES);

/// Those of `LDC`.
pub(crate) const SIZES_UP_TO_64: ModifierGroup = sizes(LimitedSize::<6>::NAMES);

const fn sizes(names: &'static [&'static str]) -> ModifierGroup {
    ModifierGroup { kind: "the size", names, aliases: &[] }
}

pub(crate) const UNIFORM: ModifierGroup =
    ModifierGroup { kind: "`.U`", names: &["U"], aliases: &[] };

/// Without [`ConstantMode::Direct`], which has no name: the value is one less than the mode's.
pub(crate) const CONSTANT_MODES: ModifierGroup =
    ModifierGroup { kind: "the mode", names: ConstantMode::NAMES.split_at(1).1, aliases: &[] };

fn is_invalid_size(word: &str) -> bool {
    let prefix = word.get(..InvalidSize::PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(InvalidSize::PREFIX))
}

/// A modifier that was recognised: which group, which of its values, where it ends.
struct Match<'t> {
    group: usize,
    value: usize,
    written: &'static str,
    rest: Cursor<'t>,
}

impl<'t> Cursor<'t> {
    /// Reads the modifiers that stand here. `groups` come in the order in which the text must
    /// have them; the result holds each group's value where one was written.
    pub(crate) fn modifiers<const N: usize>(
        &mut self,
        mnemonic: &'static str,
        groups: &'static [ModifierGroup; N],
    ) -> Result<[Option<usize>; N], ParseError> {
        let known = Modifiers(groups);
        let mut values = [None; N];
        let mut last: Option<usize> = None;
        while self.take(b'.')? {
            let (word, span) = self.word(Expected::Modifier)?;
            let Some(found) = self.longest_match(groups, word)? else {
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
            *self = found.rest;
            let span = Span { start: span.start, end: self.position() };
            let kind = groups[found.group].kind;
            if values[found.group].is_some() {
                return Err(ParseError { kind: ParseErrorKind::ModifierTwice(kind), span });
            }
            if let Some(last) = last.filter(|last| *last > found.group) {
                let after = groups[last].kind;
                let kind = ParseErrorKind::ModifierOrder { given: kind, after, known };
                return Err(ParseError { kind, span });
            }
            last = Some(found.group);
            values[found.group] = Some(found.value);
            let becomes = groups[found.group].names[found.value];
            if found.written != becomes {
                self.note_alias(Alias { span, written: found.written, becomes });
            }
        }
        Ok(values)
    }

    /// The longest name that begins with `word`, the word in front of the cursor, and goes on
    /// behind it: `U.128` before `U`.
    fn longest_match(
        &self,
        groups: &[ModifierGroup],
        word: &str,
    ) -> Result<Option<Match<'t>>, ParseError> {
        let mut longest: Option<Match<'t>> = None;
        for (index, group) in groups.iter().enumerate() {
            for (written, value) in group.all_names() {
                let Some(rest) = self.follow(written, word)? else { continue };
                if longest.as_ref().is_none_or(|m| rest.position() > m.rest.position()) {
                    longest = Some(Match { group: index, value, written, rest });
                }
            }
        }
        Ok(longest)
    }

    /// The cursor behind `name`, where `word` and what follows the cursor spell it.
    fn follow(&self, name: &str, word: &str) -> Result<Option<Cursor<'t>>, ParseError> {
        let Some((first, more)) = name.split_at_checked(word.len()) else { return Ok(None) };
        let whole_part = more.is_empty() || more.starts_with('.');
        if !whole_part || !first.eq_ignore_ascii_case(word) {
            return Ok(None);
        }
        let mut rest = *self;
        for part in more.split('.').skip(1) {
            if !rest.take(b'.')? {
                return Ok(None);
            }
            let token = rest.peek()?;
            if token.kind != TokenKind::Word || !rest.str(token.span).eq_ignore_ascii_case(part) {
                return Ok(None);
            }
            rest.advance(token);
        }
        Ok(Some(rest))
    }
}
