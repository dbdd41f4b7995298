//! The values of the modifier fields of 128-bit words, one table a field (docs/load-sm70.md
//! section 3).

use core::fmt;

use crate::ready::Ready;

/// A modifier with its dot, ready to be printed.
pub(in crate::wide) type Modifier = Ready<23>;

/// The modifiers of a field of up to four bits, by number; empty for those that are not printed.
pub(in crate::wide) type Modifiers = [Modifier; 16];

/// The values of a field, by number.
pub(in crate::wide) struct Values {
    /// What they decide, as messages call it.
    pub(in crate::wide) kind: &'static str,
    /// The value of a text without the modifier, if there can be one.
    pub(in crate::wide) default: Option<u64>,
    pub(in crate::wide) rows: &'static [Value],
    pub(in crate::wide) modifiers: &'static Modifiers,
}

/// One value: its name without the leading dot, empty if it is not printed, and what it means.
pub(in crate::wide) struct Value {
    pub(in crate::wide) name: &'static str,
    meaning: &'static str,
}

impl Value {
    /// Returns whether the name says that the value is invalid: it can be printed, but not written.
    pub(in crate::wide) fn is_invalid(&self) -> bool {
        is_invalid_name(self.name)
    }
}

/// Returns whether nvdisasm prints `name` for a value that is invalid.
pub(in crate::wide) fn is_invalid_name(name: &str) -> bool {
    name.starts_with("INVALID") || name.starts_with("???")
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn modifiers(names: &[&str]) -> Modifiers {
    let mut modifiers = [Ready::EMPTY; 16];
    let mut number = 0;
    while number < names.len() {
        if !names[number].is_empty() {
            modifiers[number] = Ready::EMPTY.with(".").with(names[number]);
        }
        number += 1;
    }
    modifiers
}

impl Values {
    pub(in crate::wide) fn get(&self, number: u64) -> Option<&'static Value> {
        self.rows.get(usize::try_from(number).ok()?)
    }

    /// Writes the name and the meaning of a value.
    pub(in crate::wide) fn fmt_meaning(
        &self,
        number: u64,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let Some(value) = self.get(number) else { return write!(f, "{number}") };
        match (value.name, value.meaning) {
            ("", meaning) => f.write_str(meaning),
            (name, "") if value.is_invalid() => write!(f, "{name}: not to be executed"),
            (name, "") => write!(f, "{name} (text only: its effect is not public)"),
            (name, meaning) => write!(f, "{name}: {meaning}"),
        }
    }
}

/// `NAME: "what it decides", default N; "MODIFIER" "meaning", …` A meaning is empty if nothing
/// public says more than the name.
macro_rules! values {
    ($(
        $(#[$attribute:meta])*
        $table:ident: $kind:literal, default $default:expr; $($name:literal $meaning:literal,)+
    )+) => {
        $(
            $(#[$attribute])*
            pub(in crate::wide) static $table: Values = Values {
                kind: $kind,
                default: $default,
                rows: &[$(Value { name: $name, meaning: $meaning }),+],
                modifiers: &modifiers(&[$($name),+]),
            };
        )+
    };
}

mod tables;

pub(super) use self::tables::*;
