//! The grammar of modifiers and operands. The writer, the parser, the examples in messages and the fuzzer's dictionary
//! follow the same rows, so that reading and printing agree.
//!
//! An operand is a list of [`Alternative`]s. The writer prints the first one that fits the word; the parser takes the
//! first one that fits the text, and sets the fields that select it.

use super::row::{A, AHB, Groups, Slot, T};
use crate::eight::Eight;
use crate::ready::Ready;

/// A part of the mnemonic after a dot.
#[derive(Clone, Copy)]
pub(crate) enum Modifier {
    Field(Slot),
    /// Like `Field`, but if the field `beside` is not 0, the value is printed even if it is the silent one.
    Shown {
        slot: Slot,
        beside: Slot,
    },
    /// Always there; `kind` is its name in messages.
    Always {
        name: &'static str,
        /// The first bytes of the name.
        first: Eight,
        kind: &'static str,
        text: Ready<24>,
    },
}

/// A part of an operand and the punctuation around it. Punctuation is printed verbatim and read without regard to case.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) before: &'static str,
    pub(crate) part: Part,
    pub(crate) after: &'static str,
}

/// A part of an operand that fields determine.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// A general or a uniform register, as the row says.
    Register(Slot),
    /// The uniform register after the one in the slot.
    Next(Slot),
    /// `???4`: a register that does not exist, printed but never read.
    Unknown(Slot),
    Predicate(Slot),
    /// `!` if the field is not 0.
    Not(Slot),
    /// `0x3`
    Number(Slot),
    /// `.X4`
    Scale(Slot),
    /// `+0x10`, omitted for 0.
    Offset(Slot),
    /// An offset that is signed only on the SMs in [`Bare::signed`].
    BareOffset(Slot, Bare),
    /// An address without a register, `0x10`; the parser also accepts the zero register, `RZ+0x10`.
    Absolute(Slot, Bare),
}

impl Part {
    pub(crate) const fn slot(&self) -> Slot {
        match *self {
            Self::Register(slot)
            | Self::Next(slot)
            | Self::Unknown(slot)
            | Self::Predicate(slot)
            | Self::Not(slot)
            | Self::Number(slot)
            | Self::Scale(slot)
            | Self::Offset(slot)
            | Self::BareOffset(slot, _)
            | Self::Absolute(slot, _) => slot,
        }
    }
}

/// An address without a register.
#[derive(Clone, Copy)]
pub(crate) struct Bare {
    /// The groups with a signed offset.
    pub(crate) signed: Groups,
    /// The name of the zero register, `RZ` or `URZ`; empty if it is neither printed nor read.
    pub(crate) zero: &'static str,
    /// Whether 0 prints as the zero register instead of `0x0`.
    pub(crate) prints_zero: bool,
    /// The groups where the zero register with an offset is a different operand.
    pub(crate) alone: Groups,
}

/// A condition on a field. If the form lacks the field, `Is` and `Zero` hold, `Unless` and `Needs` do not.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// The field has this number; the parser sets it.
    Is(Slot, u64),
    /// The register is the zero register; the parser sets it.
    Zero(Slot),
    /// The register is not the zero register; the parser checks it.
    Nonzero(Slot),
    /// The field has another number; the parser ignores it.
    Unless(Slot, u64),
    /// The field, which comes earlier in the text, has another number; the parser checks it.
    Needs(Slot, u64),
    /// Always holds; the parser sets the field.
    Set(Slot, u64),
    /// Always holds; the parser sets the field to the value of `.E`.
    SetAsExtended(Slot),
}

/// A descriptor that the text of an alternative hides, on SMs with a bit for showing it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hides {
    Nothing,
    /// The load has no descriptor, but with one its text would be the same.
    NoDescriptor,
    /// It is in the uniform register of the address.
    Register,
    /// It is in the register after the other address's uniform register.
    Next,
}

/// One way to write an operand.
#[derive(Clone, Copy)]
pub(crate) struct Alternative {
    pub(crate) groups: Groups,
    pub(crate) when: &'static [Condition],
    pub(crate) tokens: &'static [Token],
    pub(crate) hides: Hides,
}

/// An operand after the mnemonic.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) alternatives: &'static [Alternative],
    /// Whether it can be left out; the field then has its default.
    pub(crate) is_optional: bool,
}

const fn alternative(when: &'static [Condition], tokens: &'static [Token]) -> Alternative {
    Alternative { groups: super::row::ALL, when, tokens, hides: Hides::Nothing }
}

impl Alternative {
    const fn only(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    const fn hiding(self, hides: Hides) -> Self {
        Self { hides, ..self }
    }

    pub(crate) fn is_address(&self) -> bool {
        let is_of_address = |token: &Token| {
            matches!(token.part, Part::Offset(_) | Part::BareOffset(..) | Part::Absolute(..))
        };
        self.tokens.iter().any(is_of_address)
    }

    /// Whether `part` is a register that must not be the zero register.
    pub(crate) const fn excludes_zero(&self, part: &Part) -> bool {
        let mut conditions = self.when;
        while let [condition, rest @ ..] = conditions {
            if let (Condition::Nonzero(slot), Part::Register(of)) = (condition, part)
                && *slot as u8 == *of as u8
            {
                return true;
            }
            conditions = rest;
        }
        false
    }

    /// Whether the parser can read it, because all its registers exist.
    pub(crate) const fn is_read(&self) -> bool {
        let mut tokens = self.tokens;
        while let [token, rest @ ..] = tokens {
            if let Part::Unknown(_) = token.part {
                return false;
            }
            tokens = rest;
        }
        true
    }
}

/// `kind` is the name with a dot, in backquotes.
pub(super) const fn always(name: &'static str, kind: &'static str) -> Modifier {
    let text = Ready::EMPTY.with(".").with(name);
    Modifier::Always { name, first: Eight::upper_of(name), kind, text }
}

const fn operand(alternatives: &'static [Alternative]) -> Operand {
    Operand { alternatives, is_optional: false }
}

const fn optional(alternatives: &'static [Alternative]) -> Operand {
    Operand { alternatives, is_optional: true }
}

const fn token(before: &'static str, part: Part, after: &'static str) -> Token {
    Token { before, part, after }
}

use self::Condition::{Is, Needs, Nonzero, Set, SetAsExtended, Unless, Zero};
use self::Part::{
    Absolute, BareOffset, Next, Not, Number, Offset, Predicate, Register, Scale, Unknown,
};
use self::Slot as S;

const fn plain(part: Part) -> Token {
    token("", part, "")
}

const BASE: Part = Register(S::Base);
const UR: Part = Register(S::UniformBase);
/// `[Ra`, `+off]`
const OPEN_BASE: Token = token("[", BASE, "");
const OFFSET: Token = token("", Offset(S::Offset), "]");
const OPEN_UR: Token = token("[", UR, "");
const BASE_WIDE: Token = token("[", BASE, ".64");
const BASE_NARROW: Token = token("[", BASE, ".U32");
const PLUS_UR: Token = token("+", UR, "");
const BANK_NUMBER: Token = token("c[", Number(S::Bank), "]");
const BINDLESS: Token = token("cx[", Register(S::Bindless), "]");
const DESCRIPTOR: Token = token("desc[", UR, "]");

const fn absolute(bare: Bare) -> Token {
    token("[", Absolute(S::Offset, bare), "]")
}

const UNSIGNED: Bare =
    Bare { signed: Groups::NONE, zero: "RZ", prints_zero: true, alone: Groups::NONE };
const SIGNED: Bare = Bare { signed: super::row::ALL, ..UNSIGNED };
const SIGNED_0: Bare = Bare { prints_zero: false, ..SIGNED };
const UNSIGNED_0: Bare = Bare { prints_zero: false, ..UNSIGNED };
const SIGNED_URZ: Bare = Bare { zero: "URZ", ..SIGNED };
const ALONE: Bare = Bare { zero: "", ..SIGNED_0 };
const UNSIGNED_ALONE: Bare = Bare { zero: "", ..UNSIGNED_0 };
const UNSIGNED_URZ_0: Bare = Bare { zero: "URZ", prints_zero: false, ..UNSIGNED };
/// On Ampere, `LDL R0, [RZ+0x10]` hides a descriptor.
const UNSIGNED_LOCAL: Bare = Bare { alone: A, ..UNSIGNED };
const MATRIX: Bare = Bare { signed: AHB, ..UNSIGNED };

pub(super) const RD: Operand = operand(&[alternative(&[], &[plain(Register(S::Destination))])]);
pub(super) const HIGH: Operand =
    operand(&[alternative(&[], &[plain(Register(S::HighDestination))])]);
const PD_TOKENS: &[Token] = &[plain(Predicate(S::PredicateOut))];
/// The predicate that the load writes. Printed unless it is `PT`; with `.ZD`, always printed.
pub(super) const PD: Operand = optional(&[
    alternative(&[Unless(S::PredicateOut, 7)], PD_TOKENS),
    alternative(&[Unless(S::Zd, 0)], PD_TOKENS),
]);
/// The same predicate in forms that have it only with `.ZD`.
pub(super) const PD_OF_ZD: Operand = optional(&[alternative(&[Needs(S::Zd, 0)], PD_TOKENS)]);
pub(super) const MASK: Operand =
    optional(&[alternative(&[Unless(S::Mask, 0xff)], &[plain(Number(S::Mask))])]);
const PIN_TOKENS: &[Token] = &[plain(Not(S::PredicateInNegated)), plain(Predicate(S::PredicateIn))];
/// A predicate after the address; `PT` is not printed.
pub(super) const PIN: Operand = optional(&[
    alternative(&[Unless(S::PredicateIn, PT)], PIN_TOKENS),
    alternative(&[Unless(S::PredicateInNegated, 0)], PIN_TOKENS),
]);
/// The number of `PT` in a condition, even if the field stores it inverted.
pub(crate) const PT: u64 = 7;
pub(super) const PIN_ALWAYS: Operand = optional(&[alternative(&[], PIN_TOKENS)]);
/// Printed unless the address has no register.
pub(super) const PIN_OF_BASE: Operand =
    optional(&[alternative(&[Nonzero(S::UniformBase)], PIN_TOKENS)]);
/// Plg of `LD`, which has no negation bit.
pub(super) const PLG: Operand =
    optional(&[alternative(&[Unless(S::PredicateIn, PT)], &[plain(Predicate(S::PredicateIn))])]);

/// `[Ra+off]`
pub(super) const ADDRESS: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[absolute(UNSIGNED)]),
]);
/// The same for `LDL`.
pub(super) const LOCAL_ADDRESS: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[absolute(UNSIGNED_LOCAL)]),
]);
/// `[Ra.X4+off]`
pub(super) const SCALED: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[OPEN_BASE, plain(Scale(S::Scale)), OFFSET]),
    alternative(&[Zero(S::Base)], &[absolute(UNSIGNED)]),
]);
pub(super) const MATRIX_ADDRESS: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[absolute(MATRIX)]),
]);
const SCALED_UR: &[Token] = &[OPEN_BASE, plain(Scale(S::Scale)), PLUS_UR, OFFSET];
/// `[Ra.X4+UR+off]`
pub(super) const SCALED_UNIFORM: Operand = operand(&[
    alternative(&[Unless(S::Base, 0xff)], SCALED_UR),
    alternative(&[Unless(S::Scale, 0)], SCALED_UR),
    alternative(&[Zero(S::Base)], &[OPEN_UR, OFFSET]),
]);
pub(super) const MATRIX_UNIFORM: Operand = operand(&[
    alternative(&[Unless(S::Base, 0xff)], &[OPEN_BASE, PLUS_UR, OFFSET]),
    alternative(&[Zero(S::Base)], &[OPEN_UR, token("", BareOffset(S::Offset, MATRIX), "]")]),
]);

/// `c[bank][Ra+off]`
pub(super) const BANK: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[BANK_NUMBER, OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[BANK_NUMBER, absolute(SIGNED)]),
]);
pub(super) const SPA5_BANK: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[BANK_NUMBER, OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[BANK_NUMBER, absolute(SIGNED_0)]),
]);
/// `c[bank][off]`
pub(super) const BANK_ALONE: Operand =
    operand(&[alternative(&[], &[BANK_NUMBER, absolute(ALONE)])]);
/// `c[bank][UR+off]`, `URZ` printed.
pub(super) const BANK_INDEXED: Operand =
    operand(&[alternative(&[], &[BANK_NUMBER, OPEN_UR, OFFSET])]);
/// `c[bank][UR+off]`
pub(super) const BANK_UR: Operand = operand(&[
    alternative(&[Nonzero(S::UniformBase)], &[BANK_NUMBER, OPEN_UR, OFFSET]),
    alternative(&[Zero(S::UniformBase)], &[BANK_NUMBER, absolute(SIGNED_URZ)]),
]);
const BINDLESS_ABSOLUTE: Alternative =
    alternative(&[Zero(S::UniformBase)], &[BINDLESS, absolute(SIGNED_URZ)]);
/// `cx[UR][Ra+off]`
pub(super) const BINDLESS_BASE: Operand = operand(&[
    alternative(&[Nonzero(S::Base)], &[BINDLESS, OPEN_BASE, OFFSET]),
    alternative(&[Zero(S::Base)], &[BINDLESS, absolute(UNSIGNED_0)]),
]);
/// `cx[UR][off]`
pub(super) const BINDLESS_ALONE: Operand =
    operand(&[alternative(&[], &[BINDLESS, absolute(UNSIGNED_ALONE)])]);
/// `cx[URa][URb+off]`
pub(super) const BINDLESS_UR: Operand = operand(&[
    alternative(&[Nonzero(S::UniformBase)], &[BINDLESS, OPEN_UR, OFFSET]),
    BINDLESS_ABSOLUTE,
]);
/// The same on SMs without an index.
pub(super) const BINDLESS_UNKNOWN: Operand = operand(&[
    alternative(
        &[Nonzero(S::UniformBase)],
        &[BINDLESS, token("[", Unknown(S::UniformBase), ""), OFFSET],
    ),
    BINDLESS_ABSOLUTE,
]);
/// `[UR+off]`
pub(super) const UNIFORM_UR: Operand = operand(&[
    alternative(&[Nonzero(S::UniformBase)], &[OPEN_UR, OFFSET]),
    alternative(&[Zero(S::UniformBase)], &[absolute(SIGNED_URZ)]),
]);
pub(super) const UNIFORM_ALONE: Operand = operand(&[
    alternative(&[Nonzero(S::UniformBase)], &[OPEN_UR, OFFSET]),
    alternative(&[Zero(S::UniformBase)], &[absolute(UNSIGNED_URZ_0)]),
]);
/// `tmem[UR+off]`
pub(super) const TMEM: Operand = operand(&[
    alternative(&[Nonzero(S::UniformBase)], &[token("tmem[", UR, ""), OFFSET]),
    alternative(&[Zero(S::UniformBase)], &[token("tmem[", Absolute(S::Offset, SIGNED_URZ), "]")]),
]);

const WITHOUT_DESCRIPTOR: Condition = Is(S::Descriptor, 0);
const WITH_DESCRIPTOR: Condition = Is(S::Descriptor, 1);
/// Only Ampere and Ada have the bit, because only they hide descriptors.
const IS_SHOWN: Condition = Is(S::ShowDescriptor, 1);
const IS_HIDDEN: Condition = Is(S::ShowDescriptor, 0);
const IS_WIDE: Condition = Is(S::Wide, 1);
const IS_NARROW: Condition = Is(S::Wide, 0);

const SHOWN: Alternative =
    alternative(&[WITH_DESCRIPTOR, IS_SHOWN, IS_WIDE], &[DESCRIPTOR, BASE_WIDE, OFFSET]).only(AHB);
const HIDDEN: Alternative = alternative(
    &[WITH_DESCRIPTOR, IS_HIDDEN, IS_WIDE, Set(S::UniformBase, 0)],
    &[BASE_WIDE, OFFSET],
)
.only(A)
.hiding(Hides::Register);
/// Turing, Ampere and Ada do not print a missing base.
const UR_ALONE: Alternative =
    alternative(&[WITHOUT_DESCRIPTOR, Zero(S::Base), SetAsExtended(S::Wide)], &[OPEN_UR, OFFSET]);
const NO_BASE: Alternative = alternative(
    &[WITHOUT_DESCRIPTOR, IS_WIDE, Zero(S::Base)],
    &[token("[", Unknown(S::Base), ".64"), PLUS_UR, OFFSET],
);
const WIDE_UR: Alternative =
    alternative(&[WITHOUT_DESCRIPTOR, IS_WIDE], &[BASE_WIDE, PLUS_UR, OFFSET]);
const NARROW_UR: Alternative =
    alternative(&[WITHOUT_DESCRIPTOR, IS_NARROW], &[BASE_NARROW, PLUS_UR, OFFSET]);
/// `[Ra.64+UR+off]`, `desc[UR][Ra.64+off]` of `LD` and `LDG`.
pub(super) const GLOBAL: Operand =
    operand(&[SHOWN, HIDDEN, UR_ALONE.only(T.or(A)), NO_BASE, WIDE_UR, NARROW_UR]);
/// The same for 256 bits.
pub(super) const GLOBAL_256: Operand = operand(&[SHOWN, HIDDEN, UR_ALONE, WIDE_UR, NARROW_UR]);
/// `[Ra+UR+off]`, `desc[UR][Ra+off]` of `LDL`.
pub(super) const LOCAL_UNIFORM: Operand = operand(&[
    alternative(&[WITH_DESCRIPTOR, IS_SHOWN], &[DESCRIPTOR, OPEN_BASE, OFFSET]).only(AHB),
    alternative(&[WITH_DESCRIPTOR, IS_HIDDEN, Set(S::UniformBase, 0)], &[OPEN_BASE, OFFSET])
        .only(A)
        .hiding(Hides::Register),
    alternative(&[WITHOUT_DESCRIPTOR, Zero(S::Base)], &[OPEN_UR, OFFSET]),
    alternative(&[WITHOUT_DESCRIPTOR], &[OPEN_BASE, PLUS_UR, OFFSET]),
]);

const TO: Part = Register(S::Destination);
const TO_OFFSET: Token = token("", Offset(S::SharedOffset), "]");
/// The shared address of `LDGSTS`.
pub(super) const COPY_TO: Operand = operand(&[
    alternative(&[Nonzero(S::Destination)], &[token("[", TO, ""), TO_OFFSET]),
    alternative(&[Zero(S::Destination)], &[token("[", Absolute(S::SharedOffset, SIGNED), "]")]),
]);
pub(super) const COPY_TO_UNIFORM: Operand = operand(&[
    alternative(&[Unless(S::Destination, 0xff)], &[token("[", TO, ""), PLUS_UR, TO_OFFSET]),
    alternative(&[Zero(S::Destination)], &[OPEN_UR, TO_OFFSET]),
]);
const FROM_WIDE: &[Token] = &[BASE_WIDE, OFFSET];
const FROM_NARROW: &[Token] = &[BASE_NARROW, OFFSET];
/// The global address of the `LDGSTS` with a uniform register in this address.
pub(super) const COPY_FROM_UNIFORM: Operand = operand(&[
    SHOWN,
    HIDDEN,
    WIDE_UR_UNLESS_ZERO,
    NARROW_UR_UNLESS_ZERO,
    alternative(&[WITHOUT_DESCRIPTOR, IS_WIDE, Zero(S::UniformBase)], FROM_WIDE)
        .hiding(Hides::NoDescriptor),
    alternative(&[WITHOUT_DESCRIPTOR, IS_NARROW, Zero(S::UniformBase)], FROM_NARROW),
]);
const WIDE_UR_UNLESS_ZERO: Alternative = Alternative {
    when: &[WITHOUT_DESCRIPTOR, IS_WIDE, Unless(S::UniformBase, ZERO_REGISTER)],
    ..WIDE_UR
};
const NARROW_UR_UNLESS_ZERO: Alternative = Alternative {
    when: &[WITHOUT_DESCRIPTOR, IS_NARROW, Unless(S::UniformBase, ZERO_REGISTER)],
    ..NARROW_UR
};
/// The number of the zero register in a condition, for a field of any width.
const ZERO_REGISTER: u64 = u64::MAX;
/// The global address of the `LDGSTS` with a uniform register in its shared address.
pub(super) const COPY_FROM: Operand = operand(&[
    alternative(
        &[WITH_DESCRIPTOR, IS_SHOWN, IS_WIDE],
        &[token("desc[", Next(S::UniformBase), "]"), BASE_WIDE, OFFSET],
    ),
    alternative(&[WITHOUT_DESCRIPTOR, IS_WIDE], FROM_WIDE).hiding(Hides::NoDescriptor),
    // Has the text of the alternative before it, so the parser takes that one.
    alternative(&[WITH_DESCRIPTOR, IS_HIDDEN, IS_WIDE], FROM_WIDE).only(A).hiding(Hides::Next),
]);
