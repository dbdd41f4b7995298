//! [`ParseError`]: the mistake in a line, and its place.

use core::fmt;

use super::cursor::LineSpan;
use super::examples::Addresses;
use super::names::Modifiers;
use crate::instruction::Illegal;
use crate::sm::Sm;

/// Why a line could not be parsed, and the bytes at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// The mistake.
    pub kind: ParseErrorKind,
    /// The bytes at fault; empty at the end of the line if something is missing.
    pub span: LineSpan,
}

/// The text expected at the place of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// An instruction, but the line is empty.
    Instruction,
    /// A mnemonic.
    Mnemonic,
    /// The name of a modifier, after a dot.
    Modifier,
    /// A general register.
    Register,
    /// A predicate register.
    Predicate,
    /// A register or a number, after `[`.
    Address,
    /// `c[bank]`.
    ConstantBank,
    /// A uniform register.
    UniformRegister,
    /// A uniform predicate.
    UniformPredicate,
    /// `.64`, `.U32`, `.X4`, `.X8` or `.X16`, after a base register.
    BaseSuffix,
    /// An operand.
    Operand,
    /// A number.
    Number,
    /// This character.
    Character(char),
    /// `+`, `-` or `]`, after a base register.
    OffsetOrBracket,
    /// `&req`, `&rd` or `&wr`, after `&`.
    Annotation,
    /// The name of a schedule, after `?`.
    Schedule,
    /// `;` or the end of the line, after the last operand or annotation.
    End,
}

/// A mistake in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A character that no instruction contains.
    UnexpectedCharacter,
    /// `/*` without `*/`.
    UnclosedComment,
    /// Something else was expected.
    Expected(Expected),
    /// Not the mnemonic of a load of this SM.
    UnknownMnemonic {
        /// The SM.
        sm: Sm,
    },
    /// Not the name of a modifier.
    UnknownModifier {
        /// The modifiers of this load.
        known: Modifiers,
    },
    /// A modifier that only other loads have.
    OtherModifier {
        /// The load that does not have it.
        mnemonic: &'static str,
        /// The modifier's name, without its leading dot.
        name: &'static str,
        /// The modifiers of this load.
        known: Modifiers,
    },
    /// Only the beginning of a modifier's name: `.U` without `.128`.
    PartOfModifier {
        /// The whole name, without its leading dot.
        whole: &'static str,
    },
    /// `INVALIDSIZE6`, `INVALID7` or `???0`, which disassemblers print for meaningless numbers.
    InvalidModifier {
        /// The modifiers of this load.
        known: Modifiers,
    },
    /// A required modifier is missing.
    MissingModifier {
        /// The modifiers of this load, in order.
        known: Modifiers,
    },
    /// A modifier comes after one that must follow it.
    ModifierOrder {
        /// The kind of the modifier that comes too late.
        given: &'static str,
        /// The kind of the modifier before it.
        after: &'static str,
        /// All modifiers of this load, in order.
        known: Modifiers,
    },
    /// A second modifier of the kind named here.
    ModifierTwice(&'static str),
    /// `R255`, which is written `RZ`.
    RegisterWrittenAsNumber,
    /// A register above R254.
    RegisterTooHigh,
    /// `P7`, which is written `PT`.
    PredicateWrittenAsNumber,
    /// A predicate above P6.
    PredicateTooHigh,
    /// `!` before an operand without a negation bit.
    NegatedOperand,
    /// Not a number, although it begins with a digit.
    BadNumber,
    /// Two minus signs before an offset.
    DoubleSign {
        /// The number after the signs, if it has at most 64 bits.
        magnitude: Option<u64>,
    },
    /// A negative address, with no base to subtract from.
    NegativeWithoutBase {
        /// The largest address that fits.
        max: u64,
    },
    /// A number that does not fit the field.
    OutOfRange {
        /// The smallest number that fits.
        min: i64,
        /// The largest number that fits.
        max: u64,
        /// The number, if it fits.
        value: Option<i64>,
    },
    /// A constant bank above 0x1f.
    BankTooHigh,
    /// A register after the offset.
    BaseAfterOffset,
    /// A repeated annotation.
    AnnotationTwice,
    /// Not the name of an annotation.
    UnknownAnnotation,
    /// Not the name of a schedule.
    UnknownSchedule,
    /// A barrier above 5.
    BarrierTooHigh,
    /// A control notation before the instruction that is neither maxas's nor CuAssembler's.
    BadControl,
    /// Annotations both before the instruction and after it.
    ControlTwice,
    /// An address without its constant bank, in `LDC`.
    AddressOfConstant,
    /// A predicate after the address of a load that takes none.
    PredicateOperand,
    /// Text after the end of the instruction.
    TrailingText,
    /// A uniform register that the SM does not have.
    UniformRegisterTooHigh {
        /// The number of the last one.
        last: u8,
    },
    /// A guard of the lanes on an instruction with a uniform guard, or the reverse.
    GuardFile {
        /// The mnemonic.
        mnemonic: &'static str,
        /// Whether the guard must be a uniform predicate.
        uniform: bool,
    },
    /// A form of address that the load does not have on this SM.
    AddressForm {
        /// The forms that it has.
        known: Addresses,
    },
    /// An offset that is not a multiple of its unit.
    OffsetUnit {
        /// The unit in bytes.
        unit: u8,
    },
    /// A 64-bit base without `.E`.
    NeedsExtended,
    /// A number that does not fit its field.
    NumberTooLarge,
    /// The descriptor of an `LDGSTS` is not in the register after the uniform register of the shared address.
    DescriptorAfterUniform,
    /// The assembled word is illegal.
    Illegal(Illegal),
    /// An annotation with a descriptor, although the text of this load hides none.
    NoHiddenDescriptor,
    /// The load that should supply the bits missing in the text has another form.
    OtherForm {
        /// Its mnemonic.
        mnemonic: &'static str,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseErrorKind as Kind;
        match self.kind {
            Kind::UnexpectedCharacter => f.write_str("invalid character"),
            Kind::UnclosedComment => f.write_str("unterminated comment; expected `*/`"),
            Kind::Expected(expected) => write!(f, "expected {expected}"),
            Kind::UnknownMnemonic { sm } if sm.has_wide_words() => {
                write!(f, "unknown load instruction of SM {sm}")
            }
            Kind::UnknownMnemonic { .. } => f.write_str("unknown load instruction"),
            Kind::UnknownModifier { .. } => f.write_str("unknown modifier"),
            Kind::OtherModifier { mnemonic, name, .. } => {
                write!(f, "`{mnemonic}` has no `.{name}`")
            }
            Kind::PartOfModifier { .. } => f.write_str("incomplete modifier"),
            Kind::InvalidModifier { .. } => f.write_str("invalid modifier; it cannot be assembled"),
            Kind::MissingModifier { .. } => f.write_str("missing modifier"),
            Kind::ModifierOrder { given, after, .. } => {
                write!(f, "{given} must come before {after}")
            }
            Kind::ModifierTwice(kind) => write!(f, "second modifier for {kind}"),
            Kind::RegisterWrittenAsNumber => {
                f.write_str("invalid register name for the zero register")
            }
            Kind::RegisterTooHigh => f.write_str("invalid register; expected R0..=R254 or RZ"),
            Kind::PredicateWrittenAsNumber => {
                f.write_str("invalid predicate name for the true predicate")
            }
            Kind::PredicateTooHigh => f.write_str("invalid predicate; expected P0..=P6 or PT"),
            Kind::NegatedOperand => f.write_str("this predicate operand cannot be negated"),
            Kind::BadNumber => {
                f.write_str("invalid number; expected decimal digits, or 0x and hexadecimal digits")
            }
            Kind::DoubleSign { .. } => f.write_str("two minus signs"),
            Kind::NegativeWithoutBase { .. } => {
                f.write_str("negative address without a base register")
            }
            Kind::OutOfRange { min, max, .. } if min < 0 => {
                write!(f, "offset out of range; expected -{:#x}..={max:#x}", min.unsigned_abs())
            }
            Kind::OutOfRange { max, .. } => {
                write!(f, "address without a base register is out of range; expected 0..={max:#x}")
            }
            Kind::BankTooHigh => f.write_str("invalid constant bank; expected 0x0..=0x1f"),
            Kind::BaseAfterOffset => f.write_str("register after the offset"),
            Kind::AnnotationTwice => f.write_str("repeated annotation"),
            Kind::UnknownAnnotation => f.write_str("unknown annotation"),
            Kind::UnknownSchedule => f.write_str("unknown schedule"),
            Kind::BarrierTooHigh => f.write_str("invalid barrier; expected 0..=5"),
            Kind::BadControl => f.write_str("invalid control notation"),
            Kind::ControlTwice => f.write_str("scheduled twice"),
            Kind::AddressOfConstant => write!(f, "expected {}", Expected::ConstantBank),
            Kind::PredicateOperand => write!(f, "expected {}", Expected::End),
            Kind::TrailingText => f.write_str("text after the end of the instruction"),
            Kind::UniformRegisterTooHigh { last } => {
                write!(f, "invalid uniform register; expected UR0..=UR{last} or URZ")
            }
            Kind::GuardFile { mnemonic, uniform: true } => {
                write!(f, "the guard of {mnemonic} is a uniform predicate, UP0..=UP6 or UPT")
            }
            Kind::GuardFile { mnemonic, uniform: false } => {
                write!(f, "the guard of {mnemonic} is a predicate, P0..=P6 or PT")
            }
            Kind::AddressForm { .. } => {
                f.write_str("the load has no address of this form on this SM")
            }
            Kind::OffsetUnit { unit } => write!(f, "the offset must be a multiple of {unit}"),
            Kind::NeedsExtended => f.write_str("a base of 64 bits needs `.E`"),
            Kind::NumberTooLarge => f.write_str("number out of range"),
            Kind::DescriptorAfterUniform => f.write_str(
                "the descriptor must be in the uniform register after the register of the shared \
                 address",
            ),
            Kind::Illegal(illegal) => write!(f, "no such instruction: {illegal}"),
            Kind::NoHiddenDescriptor => f.write_str("the text of this load hides no descriptor"),
            Kind::OtherForm { mnemonic } => {
                write!(f, "the text must have the form of the given word, {mnemonic}")
            }
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
            Self::UniformRegister => f.write_str("a uniform register, UR0 and up or URZ"),
            Self::UniformPredicate => f.write_str("a uniform predicate, UP0..=UP6 or UPT"),
            Self::BaseSuffix => f.write_str("`64`, `U32`, `X4`, `X8` or `X16`"),
            Self::Operand => f.write_str("an operand"),
            Self::Number => f.write_str("a number, decimal or 0x hexadecimal"),
            Self::Character(character) => write!(f, "`{character}`"),
            Self::OffsetOrBracket => f.write_str("`+`, `-` or `]`"),
            Self::Annotation => f.write_str("`req`, `rd` or `wr`"),
            Self::Schedule => f.write_str("the name of a schedule"),
            Self::End => f.write_str("`;` or the end of the line"),
        }
    }
}
