//! What can be wrong with a line, where, and what to write instead.

use core::fmt;

use super::modifier::Modifiers;
use super::span::Span;

/// Why a line could not be read, and which bytes of it are at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
