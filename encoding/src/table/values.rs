//! The names of a field's values, which are the modifiers of the text.

use core::fmt;

use crate::eight::{Eight, HASHES};
use crate::operand::Size;
use crate::ready::Ready;

/// A modifier with its dot, ready to be printed.
pub(crate) type Modifier = Ready<24>;

/// The modifiers of a field of up to four bits, by number; empty if they are not printed.
pub(crate) type Modifiers = [Modifier; 16];

/// The values of a field, by number.
pub(crate) struct Values {
    /// The name of the field in messages.
    pub(crate) kind: &'static str,
    /// The number if the text has no modifier; `None` if it needs one.
    pub(crate) default: Option<u64>,
    pub(crate) rows: &'static [Value],
    /// Other names and their numbers, read but never printed.
    pub(crate) aliases: &'static [(&'static str, u64)],
    /// As printed, by number.
    pub(crate) modifiers: &'static Modifiers,
    /// The names that can be written, by the [hash](Eight::hash) of their first bytes, one bit each: first the names of
    /// `rows`, then the aliases.
    pub(crate) hashed: &'static Hashed,
    /// The numbers that keep a load from being executed, one bit each.
    pub(crate) doubtful: u16,
    /// Displays as yes or no.
    is_flag: bool,
}

/// One value: its name without the leading dot, empty if it has none, and its meaning.
pub(crate) struct Value {
    pub(crate) name: &'static str,
    /// The first bytes of the name.
    pub(crate) first: Eight,
    meaning: &'static str,
    /// Its name in the error if only its text is public; empty if it can be executed.
    pub(crate) text_only: &'static str,
}

impl Value {
    /// The size that a value of a size field stands for.
    pub(crate) fn size(&self) -> Option<Size> {
        match self.name {
            "" => Some(Size::B32),
            name => Size::ALL.into_iter().find(|size| size.name() == name),
        }
    }

    /// Whether the value is invalid: it can be printed, but not written.
    pub(crate) const fn is_invalid(&self) -> bool {
        is_invalid_name(self.name)
    }
}

/// Whether nvdisasm prints `name` for an invalid value.
pub(crate) const fn is_invalid_name(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        [b'I', b'N', b'V', b'A', b'L', b'I', b'D', ..] | [b'?', b'?', b'?', ..]
    )
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn modifiers(rows: &[Value], silent: Option<usize>) -> Modifiers {
    let mut modifiers = [Ready::EMPTY; 16];
    let mut number = 0;
    while number < rows.len() {
        let is_silent = matches!(silent, Some(silent) if silent == number);
        if !rows[number].name.is_empty() && !is_silent {
            modifiers[number] = Ready::EMPTY.with(".").with(rows[number].name);
        }
        number += 1;
    }
    modifiers
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn doubtful(rows: &[Value]) -> u16 {
    let (mut numbers, mut number) = (0, 0);
    while number < rows.len() {
        if rows[number].is_invalid() || !rows[number].text_only.is_empty() {
            numbers |= 1 << number;
        }
        number += 1;
    }
    numbers
}

/// Sets of names, by the hash of their first bytes.
pub(crate) type Hashed = [u16; HASHES];

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn hashed(rows: &[Value], aliases: &[(&str, u64)]) -> Hashed {
    let (mut hashed, mut n) = ([0; HASHES], 0);
    while n < rows.len() + aliases.len() {
        let name = if n < rows.len() { rows[n].name } else { aliases[n - rows.len()].0 };
        if !name.is_empty() && !is_invalid_name(name) {
            hashed[Eight::upper_of(name).hash()] |= 1 << n;
        }
        n += 1;
    }
    hashed
}

/// The numbers of the set bits, ascending.
#[inline(always)]
pub(crate) fn ones(mut bits: u16) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(number as usize)
    })
}

impl Values {
    /// The name with a number of [`hashed`](Self::hashed), and its first bytes.
    #[inline(always)]
    pub(crate) fn name_at(&self, n: usize) -> Option<(&'static str, Eight)> {
        if let Some(value) = self.rows.get(n) {
            return Some((value.name, value.first));
        }
        let (name, _) = self.aliases.get(n - self.rows.len())?;
        Some((name, Eight::upper_of(name)))
    }

    pub(crate) fn get(&self, number: u64) -> Option<&'static Value> {
        self.rows.get(usize::try_from(number).ok()?)
    }

    /// Every name that can be written, with its number.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = self.rows.iter().map(|value| value.name).zip(0u64..);
        let names = names.filter(|(name, _)| !name.is_empty() && !is_invalid_name(name));
        names.chain(self.aliases.iter().copied())
    }

    pub(crate) fn fmt_meaning(&self, number: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.get(number) else { return write!(f, "{number}") };
        match (value.name, value.meaning) {
            _ if self.is_flag => f.write_str(if number == 0 { "no" } else { "yes" }),
            ("", meaning) => f.write_str(meaning),
            (name, "") if value.is_invalid() => write!(f, "{name}: not to be executed"),
            (name, "") => write!(f, "{name} (text only: its effect is not public)"),
            (name, meaning) => write!(f, "{name}: {meaning}"),
        }
    }
}

/// `NAME: "what it decides", default N; "MODIFIER" "meaning", …` A meaning is empty if the name is all that is public.
/// `only "name"` follows it if the value keeps a load from being executed, and names the value in the error. After the
/// default: `silent N`, the number with a name that is read but not printed; `aliases`; `flag`, for yes and no.
macro_rules! values {
    ($(
        $(#[$attribute:meta])*
        $table:ident: $kind:literal, default $default:expr
        $(, silent $silent:literal)? $(, aliases $aliases:expr)? $(, flag $flag:literal)?;
        $($name:literal $meaning:literal $(only $reason:literal)?,)+
    )+) => {
        $(
            $(#[$attribute])*
            pub(in crate::table) static $table: Values = {
                const ROWS: &[Value] = &[$(Value {
                    name: $name,
                    first: Eight::upper_of($name),
                    meaning: $meaning,
                    text_only: concat!($($reason)?),
                }),+];
                const SILENT: &[usize] = &[$($silent)?];
                const ALIASES: &[&[(&str, u64)]] = &[$($aliases)?];
                const FLAG: &[bool] = &[$($flag)?];
                Values {
                    kind: $kind,
                    default: $default,
                    rows: ROWS,
                    aliases: if let [aliases] = ALIASES { aliases } else { &[] },
                    hashed: &hashed(ROWS, if let [aliases] = ALIASES { aliases } else { &[] }),
                    modifiers: &modifiers(ROWS, if let [silent] = SILENT { Some(*silent) } else { None }),
                    doubtful: doubtful(ROWS),
                    is_flag: matches!(FLAG, [true]),
                }
            };
        )+
    };
}

#[path = "names.rs"]
mod names;

pub(super) use self::names::*;
