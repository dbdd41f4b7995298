//! The modifiers of each kind.

use core::fmt;

use super::span::Span;
use crate::operand::{CacheOp, ConstantMode, LimitedSize, LocalCacheOp, Size};

/// A modifier that assembles as another one: `.CS` as `.CA`, `.LU` as `.CG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// Its place in the line.
    pub span: Span,
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
    pub(crate) names: &'static [&'static str],
    /// Further names, and the values that they become.
    pub(crate) aliases: &'static [(&'static str, u64)],
}

impl ModifierGroup {
    /// Returns every name with the value that it encodes.
    pub(super) fn all_names(self) -> impl Iterator<Item = (&'static str, u64)> {
        let own = self.names.iter().copied().zip(0..).filter(|(name, _)| !name.is_empty());
        own.chain(self.aliases.iter().copied())
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
                write!(f, "{}.{name}", if i > 0 { " " } else { "`" })?;
            }
            f.write_str("`")?;
        }
        Ok(())
    }
}

pub(crate) const EXTENDED: ModifierGroup =
    ModifierGroup { kind: "`.E`", names: &["", "E"], aliases: &[] };

pub(crate) const CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: "the cache operator",
    names: &CacheOp::NAMES,
    aliases: &[("CS", CacheOp::Ca as u64), ("LU", CacheOp::Cg as u64)],
};

pub(crate) const LOCAL_CACHE_OPERATORS: ModifierGroup = ModifierGroup {
    kind: CACHE_OPERATORS.kind,
    names: &LocalCacheOp::NAMES,
    aliases: &[("CS", LocalCacheOp::Ca as u64)],
};

pub(crate) const SIZES: ModifierGroup = sizes(&Size::NAMES);

/// The sizes of `LDL` and `LDS`.
pub(crate) const SIZES_UP_TO_128: ModifierGroup = sizes(LimitedSize::<7>::NAMES);

/// The sizes of `LDC`.
pub(crate) const SIZES_UP_TO_64: ModifierGroup = sizes(LimitedSize::<6>::NAMES);

const fn sizes(names: &'static [&'static str]) -> ModifierGroup {
    ModifierGroup { kind: "the size", names, aliases: &[] }
}

pub(crate) const UNIFORM: ModifierGroup =
    ModifierGroup { kind: "`.U`", names: &["", "U"], aliases: &[] };

pub(crate) const CONSTANT_MODES: ModifierGroup =
    ModifierGroup { kind: "the mode", names: &ConstantMode::NAMES, aliases: &[] };
