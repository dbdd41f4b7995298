//! What can be wrong with a line, where, and what to write instead.

use core::fmt;
use core::ops::Range;

use super::later::later_syntax;
use super::modifier::Modifiers;
use crate::instruction::Instruction;

/// A range of bytes of the line that was parsed, `start` included, `end` not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte's offset.
    pub start: usize,
    /// The offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The range, to slice the line with: `&line[span.range()]`.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// Why a line could not be read, and which bytes of it are at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// The bytes at fault; empty at the line's end where something is missing.
    pub span: Span,
}

/// What was expected at a place where something else stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// An instruction, where the line is empty.
    Instruction,
    /// A mnemonic.
    Mnemonic,
    /// A modifier's name behind a dot.
    Modifier,
    /// A general register.
    Register,
    /// A predicate register.
    Predicate,
    /// A register or a number, behind `[`.
    Address,
    /// `c[bank]`.
    ConstantBank,
    /// A number.
    Number,
    /// This character.
    Character(char),
    /// `+`, `-` or `]` behind a base register.
    OffsetOrBracket,
    /// `&req`, `&rd` or `&wr`, behind `&`.
    Annotation,
    /// The name of a schedule, behind `?`.
    Schedule,
    /// `;` or the line's end, behind the last operand or annotation.
    End,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A character that no instruction has.
    UnexpectedCharacter,
    /// `/*` without `*/`.
    UnclosedComment,
    /// Something else was expected here.
    Expected(Expected),
    /// No load of that name.
    UnknownMnemonic,
    /// No modifier of that name.
    UnknownModifier {
        /// Those that there are.
        known: Modifiers,
    },
    /// A modifier of other loads.
    OtherModifier {
        /// The load that does not have it.
        mnemonic: &'static str,
        /// The modifier's name, without its leading dot.
        name: &'static str,
        /// Those that this load has.
        known: Modifiers,
    },
    /// The beginning of a modifier's name alone: `.U` without `.128`.
    PartOfModifier {
        /// The whole name, without its leading dot.
        whole: &'static str,
    },
    /// `INVALIDSIZE6` or `INVALIDSIZE7`, which disassemblers print for numbers that encode no size.
    InvalidSize {
        /// The modifiers that there are.
        known: Modifiers,
    },
    /// A modifier stands behind one that must come later.
    ModifierOrder {
        /// What the modifier that comes too late decides.
        given: &'static str,
        /// What the modifier in front of it decides.
        after: &'static str,
        /// All of them, in their order.
        known: Modifiers,
    },
    /// A second modifier that decides the same thing, which is named here.
    ModifierTwice(&'static str),
    /// `R255`, which is written `RZ`.
    RegisterWrittenAsNumber,
    /// A register above R254.
    RegisterTooHigh,
    /// `P7`, which is written `PT`.
    PredicateWrittenAsNumber,
    /// A predicate above P6.
    PredicateTooHigh,
    /// `!` in front of an operand that has no negation bit.
    NegatedOperand,
    /// Digits that make no number.
    BadNumber,
    /// Two minus signs in front of an offset.
    DoubleSign {
        /// The number behind the signs, where it has 64 bits at most.
        magnitude: Option<u64>,
    },
    /// A negative address: there is no base to subtract from.
    NegativeWithoutBase {
        /// The largest address that fits.
        max: u64,
    },
    /// A number outside of what the field holds.
    OutOfRange {
        /// The smallest number that fits.
        min: i64,
        /// The largest number that fits.
        max: u64,
        /// The number, where it fits.
        value: Option<i64>,
    },
    /// A constant bank above 0x1f.
    BankTooHigh,
    /// A register behind the offset.
    BaseAfterOffset,
    /// An annotation that stands there already.
    AnnotationTwice,
    /// No such annotation.
    UnknownAnnotation,
    /// No schedule of that name.
    UnknownSchedule,
    /// A barrier above 5.
    BarrierTooHigh,
    /// A control notation in front of the instruction that is neither maxas's nor CuAssembler's.
    BadControl,
    /// Annotations both in front of the instruction and behind it.
    ControlTwice,
    /// An address without its constant bank, in `LDC`.
    AddressOfConstant,
    /// A predicate behind the address of a load that takes none.
    PredicateOperand,
    /// Text behind the instruction's end.
    TrailingText,
}

/// What to write instead, in one line. Made by [`ParseError::hint`].
#[derive(Clone, Copy, Debug)]
pub struct Hint(HintText);

#[derive(Clone, Copy, Debug)]
enum HintText {
    Fixed(&'static str),
    KnownMnemonics,
    Modifiers(Modifiers),
    WholeModifier(&'static str),
    AddressUpTo(u64),
    /// This offset, without its signs.
    Positive(u64),
    /// The negative offset of this magnitude.
    Wrapped(u32),
}

impl ParseError {
    /// What to write instead, where the mistake is a known one.
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
            Kind::PartOfModifier { whole } => HintText::WholeModifier(whole),
            Kind::NegativeWithoutBase { max } => HintText::AddressUpTo(max),
            kind => HintText::Fixed(fixed_hint(kind)?),
        }))
    }

    /// What to write instead, or that `line`, which this error is of, is in the syntax of SM 7.0
    /// and later: `[R2.64]`, `.SYS`, `desc[UR4]`, uniform registers.
    ///
    /// ```
    /// use warpload_encoding::parse_line;
    ///
    /// let line = "LDG.E R0, [R2.64]";
    /// let hint = parse_line(line).unwrap_err().hint_in(line).map(|hint| hint.to_string());
    /// assert!(hint.unwrap_or_default().starts_with("this is the syntax of SM 7.0 and later"));
    /// ```
    pub fn hint_in(&self, line: &str) -> Option<Hint> {
        if later_syntax(line).is_some() { Some(Hint(HintText::Fixed(LATER))) } else { self.hint() }
    }
}

const LATER: &str = "this is the syntax of SM 7.0 and later, whose words have 128 bits; known \
                     here are the loads of SM 5.x and 6.x";

fn fixed_hint(kind: ParseErrorKind) -> Option<&'static str> {
    use ParseErrorKind as Kind;
    Some(match kind {
        Kind::RegisterWrittenAsNumber => "write RZ",
        Kind::PredicateWrittenAsNumber => "write PT",
        Kind::NegatedOperand => "only the guard in front, `@!P0`, has a negation bit",
        Kind::BaseAfterOffset => "the base comes first: `[R1+0x4]`",
        Kind::UnknownAnnotation => "annotations are `&req={0,2}`, `&rd=N`, `&wr=N`",
        Kind::UnknownSchedule => {
            "for example `?WAIT4_END_GROUP`, `?trans2`, `?DUAL`, `?YIELD6`, `?DRAIN`"
        }
        Kind::BadControl => "maxas writes `--:-:-:-:1`, CuAssembler `[B------:R-:W-:-:S01]`",
        Kind::ControlTwice => "keep the notation in front or the annotations behind, not both",
        Kind::AddressOfConstant => "write a bank in front: `LDC R0, c[0x0][R1]`",
        Kind::PredicateOperand => "only `LD` has a predicate operand, Plg",
        Kind::TrailingText => "one instruction a line",
        _ => return None,
    })
}

/// The magnitude of the negative offset that equals `value` modulo 2^32, where it fits: the
/// offset was meant to wrap.
fn wrapped(value: i64, min: i64) -> Option<u32> {
    let magnitude = u32::try_from(value).ok()?.wrapping_neg();
    (u64::from(magnitude) <= min.unsigned_abs()).then_some(magnitude)
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseErrorKind as Kind;
        match self.kind {
            Kind::UnexpectedCharacter => f.write_str("no instruction has this character"),
            Kind::UnclosedComment => f.write_str("this comment has no end"),
            Kind::Expected(expected) => write!(f, "expected {expected}"),
            Kind::UnknownMnemonic => f.write_str("no load instruction of this name"),
            Kind::UnknownModifier { .. } => f.write_str("no modifier of this name"),
            Kind::OtherModifier { mnemonic, name, .. } => {
                write!(f, "`{mnemonic}` has no `.{name}`")
            }
            Kind::PartOfModifier { .. } => f.write_str("only a part of a modifier's name"),
            Kind::InvalidSize { .. } => f.write_str("this encodes no size and cannot be assembled"),
            Kind::ModifierOrder { given, after, .. } => {
                write!(f, "{given} must stand in front of {after}")
            }
            Kind::ModifierTwice(kind) => write!(f, "a second modifier for {kind}"),
            Kind::RegisterWrittenAsNumber => f.write_str("the zero register is not written R255"),
            Kind::RegisterTooHigh => f.write_str("no such register: they are R0..=R254 and RZ"),
            Kind::PredicateWrittenAsNumber => f.write_str("the true predicate is not written P7"),
            Kind::PredicateTooHigh => f.write_str("no such predicate: they are P0..=P6 and PT"),
            Kind::NegatedOperand => f.write_str("this predicate operand cannot be negated"),
            Kind::BadNumber => {
                f.write_str("not a number: expected decimal digits, or 0x and hexadecimal ones")
            }
            Kind::DoubleSign { .. } => f.write_str("two minus signs"),
            Kind::NegativeWithoutBase { .. } => {
                f.write_str("a negative address without a base register")
            }
            Kind::OutOfRange { min, max, .. } if min < 0 => {
                write!(f, "outside the range of an offset, -{:#x}..={max:#x}", min.unsigned_abs())
            }
            Kind::OutOfRange { max, .. } => {
                write!(f, "outside the range of an address without a base, 0..={max:#x}")
            }
            Kind::BankTooHigh => f.write_str("no such constant bank: they are 0x0..=0x1f"),
            Kind::BaseAfterOffset => f.write_str("a register behind the offset"),
            Kind::AnnotationTwice => f.write_str("this annotation stands here twice"),
            Kind::UnknownAnnotation => f.write_str("no annotation of this name"),
            Kind::UnknownSchedule => f.write_str("no schedule of this name"),
            Kind::BarrierTooHigh => f.write_str("no such barrier: they are 0..=5"),
            Kind::BadControl => f.write_str("not a control notation"),
            Kind::ControlTwice => f.write_str("scheduled twice"),
            Kind::AddressOfConstant => write!(f, "expected {}", Expected::ConstantBank),
            Kind::PredicateOperand => write!(f, "expected {}", Expected::End),
            Kind::TrailingText => f.write_str("text behind the instruction's end"),
        }
    }
}

impl core::error::Error for ParseError {}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instruction => f.write_str("an instruction"),
            Self::Mnemonic => f.write_str("a mnemonic"),
            Self::Modifier => f.write_str("a modifier's name"),
            Self::Register => f.write_str("a register, R0..=R254 or RZ"),
            Self::Predicate => f.write_str("a predicate, P0..=P6 or PT"),
            Self::Address => f.write_str("a base register or an address"),
            Self::ConstantBank => f.write_str("a constant bank, `c[0x0]`..=`c[0x1f]`"),
            Self::Number => f.write_str("a number, decimal or 0x hexadecimal"),
            Self::Character(character) => write!(f, "`{character}`"),
            Self::OffsetOrBracket => f.write_str("`+`, `-` or `]`"),
            Self::Annotation => f.write_str("`req`, `rd` or `wr`"),
            Self::Schedule => f.write_str("the name of a schedule"),
            Self::End => f.write_str("`;` or the end of the line"),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            HintText::Fixed(text) => f.write_str(text),
            HintText::KnownMnemonics => {
                f.write_str("the loads known here are ")?;
                for (i, mnemonic) in Instruction::MNEMONICS.iter().enumerate() {
                    write!(f, "{}{mnemonic}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            HintText::Modifiers(known) => write!(f, "modifiers, in this order: {known}"),
            HintText::WholeModifier(whole) => write!(f, "write `.{whole}`"),
            HintText::AddressUpTo(max) => {
                write!(f, "without a base the number is the address itself, 0..={max:#x}")
            }
            HintText::Positive(magnitude) => write!(f, "write `+{magnitude:#x}`"),
            HintText::Wrapped(magnitude) => {
                write!(f, "`-{magnitude:#x}` is the same where the address has 32 bits")
            }
        }
    }
}
