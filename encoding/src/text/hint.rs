//! [`Hint`]: what to write instead.

use core::fmt;

use super::error::{ParseError, ParseErrorKind};
use super::later::later_syntax;
use super::modifier::Modifiers;
use crate::instruction::Instruction;
use crate::sm::Sm;
use crate::wide::{Addresses128, Instruction128, Modifiers128};

/// What to write instead, in one line. Created by [`ParseError::hint`].
#[derive(Clone, Copy, Debug)]
pub struct Hint(HintText);

#[derive(Clone, Copy, Debug)]
enum HintText {
    Fixed(&'static str),
    KnownMnemonics,
    Modifiers(Modifiers),
    MnemonicsOf(Sm),
    Modifiers128(Modifiers128),
    Addresses(Addresses128),
    WholeModifier(&'static str),
    AddressUpTo(u64),
    /// This offset without signs.
    Positive(u64),
    /// The negative offset with this magnitude.
    Wrapped(u32),
}

impl ParseError {
    /// Returns what to write instead, or `None` if the mistake is not a common one.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        use ParseErrorKind as Kind;
        Some(Hint(match self.kind {
            Kind::UnknownMnemonic => HintText::KnownMnemonics,
            Kind::DoubleSign { magnitude } => HintText::Positive(magnitude?),
            Kind::OutOfRange { value, min, .. } => HintText::Wrapped(wrapped(value?, min)?),
            Kind::UnknownModifier { known }
            | Kind::OtherModifier { known, .. }
            | Kind::InvalidSize { known }
            | Kind::ModifierOrder { known, .. } => HintText::Modifiers(known),
            Kind::UnknownMnemonicOf(sm) => HintText::MnemonicsOf(sm),
            Kind::AddressForm { known } => HintText::Addresses(known),
            Kind::UnknownModifier128 { known }
            | Kind::MisplacedModifier { known }
            | Kind::MissingModifier { known } => HintText::Modifiers128(known),
            Kind::PartOfModifier { whole } => HintText::WholeModifier(whole),
            Kind::NegativeWithoutBase { max } => HintText::AddressUpTo(max),
            kind => HintText::Fixed(fixed_hint(kind)?),
        }))
    }

    /// Returns [`hint`](Self::hint), or that `line`, from which this error comes, has the syntax of
    /// SM 7.0 and later: `[R2.64]`, `.SYS`, `desc[UR4]`, uniform registers.
    ///
    /// ```
    /// use warpload_encoding::parse_line;
    ///
    /// let line = "LDG.E R0, [R2.64]";
    /// let hint = parse_line(line).unwrap_err().hint_in(line).map(|hint| hint.to_string());
    /// assert!(hint.unwrap_or_default().starts_with("this is the syntax of SM 7.0 and later"));
    /// ```
    #[must_use]
    pub fn hint_in(&self, line: &str) -> Option<Hint> {
        if later_syntax(line).is_some() { Some(Hint(HintText::Fixed(LATER))) } else { self.hint() }
    }
}

const LATER: &str = "this is the syntax of SM 7.0 and later, which has 128-bit instruction \
                     words: say of which SM it is, for example `--sm 80`";

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

/// Returns the magnitude of the negative offset that equals `value` modulo 2^32 if it fits: the
/// offset was meant to wrap.
fn wrapped(value: i64, min: i64) -> Option<u32> {
    let magnitude = u32::try_from(value).ok()?.wrapping_neg();
    (u64::from(magnitude) <= min.unsigned_abs()).then_some(magnitude)
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            HintText::Fixed(text) => f.write_str(text),
            HintText::KnownMnemonics => {
                f.write_str("known loads: ")?;
                for (i, mnemonic) in Instruction::MNEMONICS.iter().enumerate() {
                    write!(f, "{}{mnemonic}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            HintText::Modifiers(known) => write!(f, "modifiers, in this order: {known}"),
            HintText::MnemonicsOf(sm) => {
                write!(f, "loads of SM {sm}: ")?;
                let mut separator = "";
                for mnemonic in Instruction128::mnemonics(sm) {
                    write!(f, "{separator}{mnemonic}")?;
                    separator = ", ";
                }
                Ok(())
            }
            HintText::Addresses(known) => write!(f, "addresses that it has: {known}"),
            HintText::Modifiers128(known) => write!(f, "modifiers, in this order: {known}"),
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
