//! [`Hint`]: the suggested correction of a mistake; and [`later_syntax`]: whether a line is in the syntax of SM 7.0 and
//! later.

use core::fmt;

use super::cursor::{LineSpan, TokenKind, token};
use super::error::{ParseError, ParseErrorKind};
use super::examples::Addresses;
use super::names::Modifiers;
use crate::instruction::Instruction;
use crate::sm::{Group, Sm};
use crate::table::forms::{FORMS, Form};
use crate::table::grammar::Modifier;
use crate::table::row::Kind;

/// A suggested correction, in one line. Created by [`ParseError::hint`].
#[derive(Clone, Copy, Debug)]
pub struct Hint(HintText);

#[derive(Clone, Copy, Debug)]
enum HintText {
    Fixed(&'static str),
    LaterSyntax,
    Modifiers(Modifiers),
    MnemonicsOf(Sm),
    Addresses(Addresses),
    WholeModifier(&'static str),
    AddressUpTo(u64),
    /// This offset without signs.
    Positive(u64),
    /// The negative offset with this magnitude.
    Wrapped(u32),
}

impl ParseError {
    /// Returns a suggested correction, or `None` if the mistake is not a common one.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        use ParseErrorKind as Kind;
        Some(Hint(match self.kind {
            Kind::UnknownMnemonic { sm } => HintText::MnemonicsOf(sm),
            Kind::DoubleSign { magnitude } => HintText::Positive(magnitude?),
            Kind::OutOfRange { value, min, .. } => HintText::Wrapped(wrapped(value?, min)?),
            Kind::UnknownModifier { known }
            | Kind::OtherModifier { known, .. }
            | Kind::InvalidModifier { known }
            | Kind::MissingModifier { known }
            | Kind::ModifierOrder { known, .. } => HintText::Modifiers(known),
            Kind::AddressForm { known } => HintText::Addresses(known),
            Kind::PartOfModifier { whole } => HintText::WholeModifier(whole),
            Kind::NegativeWithoutBase { max } => HintText::AddressUpTo(max),
            kind => HintText::Fixed(fixed_hint(kind)?),
        }))
    }

    /// Returns [`hint`](Self::hint), or a hint that `line`, which is not a load of `sm`, has the syntax of SM 7.0 and
    /// later: `[R2.64]`, `.SYS`, `desc[UR4]`, uniform registers.
    ///
    /// ```
    /// use warpload_encoding::{Sm, parse_line};
    ///
    /// let line = "LDG.E R0, [R2.64]";
    /// let hint = parse_line(line, Sm::SPA5).unwrap_err().hint_in(line, Sm::SPA5);
    /// assert!(hint.is_some_and(|hint| hint.is_later_syntax()));
    /// ```
    #[must_use]
    pub fn hint_in(&self, line: &str, sm: Sm) -> Option<Hint> {
        let is_later = !sm.has_wide_words() && later_syntax(line).is_some();
        if is_later { Some(Hint(HintText::LaterSyntax)) } else { self.hint() }
    }
}

impl Hint {
    /// Returns whether the hint asks for the SM of the line.
    #[must_use]
    pub const fn is_later_syntax(&self) -> bool {
        matches!(self.0, HintText::LaterSyntax)
    }
}

fn fixed_hint(kind: ParseErrorKind) -> Option<&'static str> {
    use ParseErrorKind as Kind;
    Some(match kind {
        Kind::RegisterWrittenAsNumber => "write RZ",
        Kind::PredicateWrittenAsNumber => "write PT",
        Kind::NegatedOperand => "only the guard before the mnemonic, `@!P0`, has a negation bit",
        Kind::BaseAfterOffset => "the base comes first: `[R1+0x4]`",
        Kind::NoHiddenDescriptor => "only `[R2.64]` and the like of SM 8.x hide one",
        Kind::UnknownAnnotation => "annotations are `&req={0,2}`, `&rd=N`, `&wr=N`",
        Kind::UnknownSchedule => {
            "for example `?WAIT4_END_GROUP`, `?trans2`, `?DUAL`, `?YIELD6`, `?DRAIN`"
        }
        Kind::BadControl => "maxas writes `--:-:-:-:1`, CuAssembler `[B------:R-:W-:-:S01]`",
        Kind::ControlTwice => {
            "keep the notation before the instruction or the annotations after it, not both"
        }
        Kind::AddressOfConstant => "write a bank before it: `LDC R0, c[0x0][R1]`",
        Kind::PredicateOperand => "only `LD` has a predicate operand, Plg",
        Kind::TrailingText => "write one instruction per line",
        _ => return None,
    })
}

/// The magnitude of the negative offset that equals `value` modulo 2^32, if it fits: the offset was meant to wrap.
fn wrapped(value: i64, min: i64) -> Option<u32> {
    let magnitude = u32::try_from(value).ok()?.wrapping_neg();
    (u64::from(magnitude) <= min.unsigned_abs()).then_some(magnitude)
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            HintText::Fixed(text) => f.write_str(text),
            HintText::LaterSyntax => f.write_str(
                "this is the syntax of SM 7.0 and later, which has 128-bit instruction words: \
                 give its SM",
            ),
            HintText::Modifiers(known) => write!(f, "modifiers, in this order: {known}"),
            HintText::MnemonicsOf(sm) => {
                match sm.has_wide_words() {
                    true => write!(f, "loads of SM {sm}: ")?,
                    false => f.write_str("known loads: ")?,
                }
                let mut separator = "";
                for mnemonic in Instruction::mnemonics(sm) {
                    write!(f, "{separator}{mnemonic}")?;
                    separator = ", ";
                }
                Ok(())
            }
            HintText::Addresses(known) => write!(f, "supported addresses: {known}"),
            HintText::WholeModifier(whole) => write!(f, "write `.{whole}`"),
            HintText::AddressUpTo(max) => {
                write!(f, "without a base register the number is the address itself, 0..={max:#x}")
            }
            HintText::Positive(magnitude) => write!(f, "write `+{magnitude:#x}`"),
            HintText::Wrapped(magnitude) => {
                write!(f, "`-{magnitude:#x}` is equivalent if the address has 32 bits")
            }
        }
    }
}

/// Prefixes of an address: a descriptor, a bank selected by a register, Tensor Memory.
const PREFIXES: [&str; 3] = ["desc", "cx", "tmem"];

/// Returns the first token of `text` that only SM 7.0 and later use: the `64` of `[R2.64]`, `SYS`, `desc`, `UP0`.
/// `None` does not imply SM 5.x or 6.x, because most loads look the same.
///
/// ```
/// use warpload_encoding::later_syntax;
///
/// assert!(later_syntax("LDG.E R0, [R2.64]").is_some());
/// assert_eq!(later_syntax("LDG.E R0, [R2]"), None);
/// ```
#[must_use]
pub fn later_syntax(text: &str) -> Option<LineSpan> {
    let mut at = 0;
    let (mut in_brackets, mut after_dot) = (false, false);
    loop {
        let found = token(text, at);
        at = found.span.end;
        let TokenKind::Word = found.kind else {
            match found.kind {
                TokenKind::Punctuation(b'[') => in_brackets = true,
                TokenKind::Punctuation(b']') => in_brackets = false,
                TokenKind::End | TokenKind::Unexpected | TokenKind::UnclosedComment => return None,
                _ => {}
            }
            after_dot = found.kind == TokenKind::Punctuation(b'.');
            continue;
        };
        let word = text.get(found.span.range()).unwrap_or_default();
        let is_prefix = |word: &str| PREFIXES.iter().any(|name| name.eq_ignore_ascii_case(word));
        let is_later = match (after_dot, in_brackets) {
            // A modifier of an address register.
            (true, true) => true,
            (true, false) => is_later_modifier(word),
            (false, _) => {
                is_uniform(word)
                    || is_later_mnemonic(word)
                    || is_prefix(word) && text.as_bytes().get(at) == Some(&b'[')
            }
        };
        if is_later {
            return Some(found.span);
        }
        after_dot = false;
    }
}

fn is_later_mnemonic(word: &str) -> bool {
    let mut named = FORMS.iter().filter(|form| form.name.eq_ignore_ascii_case(word)).peekable();
    named.peek().is_some() && named.all(|form| !form.groups.contains(Group::Spa5))
}

/// Whether the loads that all SMs have take this modifier on SM 7.0 and later only.
fn is_later_modifier(word: &str) -> bool {
    let is_of = |form: &Form| {
        let names = form.modifiers.iter().flat_map(|modifier| names_of(form, modifier));
        names.flat_map(|name| name.split('.')).any(|name| name.eq_ignore_ascii_case(word))
    };
    let (mut narrow, mut wide) = (false, false);
    for form in FORMS.iter().filter(|form| !is_later_mnemonic(form.name)) {
        match form.groups.contains(Group::Spa5) {
            true => narrow |= is_of(form),
            // Forms of SM 5.x come first.
            false if narrow => return false,
            false => wide |= is_of(form),
        }
    }
    wide
}

/// The names of a modifier on any SM.
fn names_of(form: &Form, modifier: &Modifier) -> impl Iterator<Item = &'static str> {
    let (always, slot) = match *modifier {
        Modifier::Always { name, .. } => (Some(name), None),
        Modifier::Field(slot) | Modifier::Shown { slot, .. } => (None, Some(slot)),
    };
    let rows = form.rows.iter().copied().flatten().filter(move |row| Some(row.slot) == slot);
    let values = rows.filter_map(|row| match row.kind {
        Kind::Named(values) | Kind::NamedBeside(values, ..) => Some(values),
        _ => None,
    });
    always.into_iter().chain(values.flat_map(|values| values.names().map(|(name, _)| name)))
}

/// Whether `word` is a register or predicate such as `UR4`, `URZ`, `UP0`, `UPT`.
fn is_uniform(word: &str) -> bool {
    let Some((b'U' | b'u', rest)) = word.as_bytes().split_first() else { return false };
    let Some((kind, number)) = rest.split_first() else { return false };
    let last = match kind.to_ascii_uppercase() {
        b'R' => b'Z',
        b'P' => b'T',
        _ => return false,
    };
    let is_last = matches!(number, [only] if only.eq_ignore_ascii_case(&last));
    is_last || !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_later_token_is_found() {
        for (text, expected) in [
            ("LDG.E.SYS R0, [R2]", Some("SYS")),
            ("@!P0 LDG.E.64.CONSTANT.SYS R0, [R2]", Some("CONSTANT")),
            ("LD.E.STRONG.GPU R0, [R2.64]", Some("STRONG")),
            ("LDG.E R0, [R2.64+0x10]", Some("64")),
            ("LDG.E R0, [R2.64+UR4]", Some("64")),
            ("LDG.E R0, desc[UR4][R2.64]", Some("desc")),
            ("LDS R0, [R2.X4+0x10]", Some("X4")),
            ("LDS R0, [UR4]", Some("UR4")),
            ("LDC R0, c[0x0][URZ]", Some("URZ")),
            ("LDC R0, cx[UR4][0x0]", Some("cx")),
            ("@UP0 LDC R0, c[0x0][0x28]", Some("UP0")),
            ("ULDC.64 UR4, c[0x0][0x118]", Some("ULDC")),
            ("LDSM.16.M88.4 R4, [R8]", Some("LDSM")),
            ("ldg.e.sys r0, [r2.64]", Some("sys")),
            // Wrong for other reasons.
            ("LD.E.64.128 R0, [R2]", None),
            ("LD R0, [R2 + x.y", Some("y")),
            ("LD SYS, [R2]", None),
            ("LD desc, [R2]", None),
            ("LD UR, [UX]", None),
            ("LD R0, \"UR4\"", None),
            ("LD R0, [R2 // UR4", None),
            ("", None),
        ] {
            let found = later_syntax(text).map(|span| &text[span.range()]);
            assert_eq!(found, expected, "{text}");
        }
    }
}
