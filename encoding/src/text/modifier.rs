//! Modifiers behind the mnemonic: which there are, and their order.

use core::fmt;

use super::error::{Expected, ParseError, ParseErrorKind, Span};
use super::lexer::TokenKind;
use super::parse::Cursor;
use crate::operand::{CacheOp, Size};

/// What a modifier decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModifierKind {
    /// `.E`.
    Extended,
    /// `.CA` and the like.
    CacheOperator,
    /// `.U8` and the like.
    Size,
}

impl fmt::Display for ModifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extended => "`.E`",
            Self::CacheOperator => "the cache operator",
            Self::Size => "the size",
        })
    }
}

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
#[derive(Clone, Copy)]
pub(crate) struct ModifierGroup {
    kind: ModifierKind,
    names: &'static [&'static str],
    /// Further names, and the index of what they become.
    aliases: &'static [(&'static str, usize)],
}

pub(crate) const EXTENDED: ModifierGroup =
    ModifierGroup { kind: ModifierKind::Extended, names: &["E"], aliases: &[] };

pub(crate) const CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: ModifierKind::CacheOperator,
    names: &{
        let mut names = [""; CacheOp::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = CacheOp::ALL[i].name();
            i += 1;
        }
        names
    },
    aliases: &[("CS", CacheOp::Ca as usize), ("LU", CacheOp::Cg as usize)],
};

pub(crate) const SIZES: ModifierGroup = ModifierGroup {
    kind: ModifierKind::Size,
    names: &{
        let mut names = [""; Size::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Size::ALL[i].name();
            i += 1;
        }
        names
    },
    aliases: &[],
};

/// A modifier that was recognised: which group, which of its values, where it ends.
struct Match<'t> {
    group: usize,
    value: usize,
    alias: Option<&'static str>,
    rest: Cursor<'t>,
}

impl<'t> Cursor<'t> {
    /// Reads the modifiers that stand here. `groups` come in the order in which the text must
    /// have them; the result holds each group's value where one was written.
    pub(crate) fn modifiers<const N: usize>(
        &mut self,
        groups: [ModifierGroup; N],
    ) -> Result<[Option<usize>; N], ParseError> {
        let mut values = [None; N];
        let mut last: Option<usize> = None;
        while self.take(b'.')? {
            let (word, span) = self.word(Expected::Modifier)?;
            let Some(found) = self.longest_match(&groups, word)? else {
                let kind = if word.eq_ignore_ascii_case("U") {
                    ParseErrorKind::UniformWithoutSize
                } else {
                    ParseErrorKind::UnknownModifier
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
                let kind = ParseErrorKind::ModifierOrder { given: kind, after: groups[last].kind };
                return Err(ParseError { kind, span });
            }
            last = Some(found.group);
            values[found.group] = Some(found.value);
            if let Some(written) = found.alias {
                let becomes = groups[found.group].names[found.value];
                self.note_alias(Alias { span, written, becomes });
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
            let own = group.names.iter().enumerate().map(|(value, name)| (*name, value, None));
            let aliases = group.aliases.iter().map(|(name, value)| (*name, *value, Some(*name)));
            for (name, value, alias) in own.chain(aliases) {
                let Some(rest) = self.follow(name, word)? else { continue };
                if longest.as_ref().is_none_or(|m| rest.position() > m.rest.position()) {
                    longest = Some(Match { group: index, value, alias, rest });
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
