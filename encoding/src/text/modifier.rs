//! The modifiers of each kind.

use core::fmt;

use super::span::LineSpan;
use crate::operand::{CacheOp, ConstantMode, LimitedSize, LocalCacheOp, Size};
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
    pub(super) fn all_names(&'static self) -> impl Iterator<Item = (&'static Name, u64)> {
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
