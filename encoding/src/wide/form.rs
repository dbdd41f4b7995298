//! The list of forms: which opcode has which layout on which SMs, how its text is made of the
//! fields, and which words are refused.

use super::layout as table;
use super::row::{
    ADA, AH, AHB, ALL, B, B10, B12, B101, B107, Groups, LayoutRow128, Slot, TAH, TAHB, VT,
};
use crate::ready::Ready;
use crate::sm::Group;

/// What is between two dots of a mnemonic.
#[derive(Clone, Copy)]
pub(super) enum Modifier {
    Slot(Slot),
    /// Always there.
    Always(&'static str),
}

/// An operand after the mnemonic.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    /// The predicate that is written: printed if it is not PT, and always beside `.ZD`.
    PredicateOut,
    /// The same, printed beside `.ZD` only.
    PredicateOutOfZd,
    Register(Slot),
    Address(Address),
    /// `, 0xff` is not printed.
    Mask,
    /// `, PT` is not printed.
    PredicateIn,
    /// Always printed.
    PredicateInAlways,
    /// Printed unless the address has no register.
    PredicateInOfBase,
}

/// The forms of an address.
#[derive(Clone, Copy)]
pub(super) enum Address {
    /// `[R+off]`, where R is Ra or UR, whichever the layout has.
    Base(Prefix, Bare),
    /// `c[bank][UR+off]`, `URZ` printed.
    Indexed,
    /// `[Ra.64+UR+off]`, `desc[UR][Ra.64+off]` of `LD` and `LDG`.
    Global,
    /// `[Ra+UR+off]`, `desc[UR][Ra+off]` of `LDL`.
    Local,
    /// `[Ra.X4+UR+off]` of `LDS` and `LDSM`.
    Shared(Bare),
    /// The shared address of `LDGSTS`, with the uniform register or without.
    CopyTo { uniform: bool },
    /// The global address of `LDGSTS`, with the uniform register or without.
    CopyFrom { uniform: bool },
}

/// What is before the brackets of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Nothing,
    /// `c[bank]`
    Bank,
    /// `cx[UR]`
    Handle,
    /// `tmem`
    Tensor,
}

/// An address without a register.
#[derive(Clone, Copy)]
pub(super) struct Bare {
    /// The groups on which its offset is signed.
    pub(super) signed: Groups,
    /// What is printed for 0, if it is not `0x0`.
    pub(super) zero: Option<Ready<7>>,
}

const RZ: Ready<7> = Ready::EMPTY.with("RZ");
const URZ: Ready<7> = Ready::EMPTY.with("URZ");
const UNSIGNED: Bare = Bare { signed: Groups::NONE, zero: Some(RZ) };
const SIGNED: Bare = Bare { signed: ALL, zero: Some(RZ) };
const SIGNED_URZ: Bare = Bare { signed: ALL, zero: Some(URZ) };
const SIGNED_0: Bare = Bare { signed: ALL, zero: None };
const UNSIGNED_0: Bare = Bare { signed: Groups::NONE, zero: None };
const LDCU_12: Groups = B12.and(B107);
const LDCU_10: Groups = Groups::of(Group::Blackwell100).and(B101);
const MATRIX: Bare = Bare { signed: AHB, zero: Some(RZ) };

/// Words of a layout that are refused: those with these bits.
#[derive(Clone, Copy)]
pub(super) struct Refused {
    pub(super) groups: Groups,
    pub(super) mask: u128,
    pub(super) value: u128,
    pub(super) reason: &'static str,
}

/// One form of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) name: &'static str,
    /// The name, ready to be printed.
    pub(super) text: Ready<7>,
    pub(super) opcode: u16,
    pub(super) groups: Groups,
    /// Blocks of rows, most significant first.
    pub(super) rows: &'static [&'static [LayoutRow128]],
    pub(super) modifiers: &'static [Modifier],
    pub(super) operands: &'static [Operand],
    pub(super) refused: &'static [Refused],
}

use self::Address::{Base, CopyFrom, CopyTo, Global, Indexed, Local, Shared};
use self::Modifier::{Always, Slot as M};
use self::Operand::{
    Address as At, Mask, PredicateIn, PredicateInAlways, PredicateInOfBase, PredicateOut,
    PredicateOutOfZd, Register as R,
};

const LOAD: &[Modifier] = &[
    M(Slot::Extended),
    M(Slot::Evict),
    M(Slot::Prefetch),
    M(Slot::Size),
    M(Slot::Order),
    M(Slot::Scope),
    M(Slot::Private),
    M(Slot::Zd),
];
const LOAD_256: &[Modifier] = &[
    Always("E"),
    M(Slot::Evict),
    M(Slot::Policy),
    M(Slot::Prefetch),
    Always("256"),
    M(Slot::Order),
];
const LOCAL: &[Modifier] = &[M(Slot::Evict), M(Slot::Size)];
const SHARED: &[Modifier] = &[M(Slot::UniformHint), M(Slot::Size), M(Slot::Zd)];
const CONSTANT: &[Modifier] = &[M(Slot::Size), M(Slot::Mode)];
const UNIFORM: &[Modifier] = &[M(Slot::Size)];
const UNIFORM_UNPACK: &[Modifier] = &[M(Slot::Size), M(Slot::Unpack)];
const UNIFORM_256: &[Modifier] = &[Always("256")];
const MATRICES: &[Modifier] = &[M(Slot::Size), M(Slot::Shape), M(Slot::Count)];
const COPY: &[Modifier] = &[
    Always("E"),
    M(Slot::Bypass),
    M(Slot::Evict),
    M(Slot::Prefetch),
    M(Slot::Size),
    M(Slot::ZeroFill),
    M(Slot::Order),
];
const TENSOR: &[Modifier] = &[M(Slot::Shape), M(Slot::Count), M(Slot::Pack)];
const TENSOR_STAT: &[Modifier] = &[
    Always("STAT"),
    M(Slot::Shape),
    M(Slot::Count),
    M(Slot::Statistic),
    M(Slot::StatisticType),
    M(Slot::Nan),
];

const RD: Operand = R(Slot::Destination);
const HIGH: Operand = R(Slot::HighDestination);
const BANK: Operand = At(Base(Prefix::Bank, SIGNED));
const BANK_UR: Operand = At(Base(Prefix::Bank, SIGNED_URZ));
const HANDLE_UR: Operand = At(Base(Prefix::Handle, SIGNED_URZ));
const MEMORY_UR: Operand = At(Base(Prefix::Nothing, SIGNED_URZ));
const TMEM: Operand = At(Base(Prefix::Tensor, SIGNED_URZ));

/// A descriptor needs a base of 64 bits.
const DESCRIPTOR_32: Refused = Refused {
    groups: AHB,
    mask: 1 << 90 | 1 << 76,
    value: 1 << 76,
    reason: "a descriptor (bit 76) with a 32-bit base (bit 90)",
};
const DESCRIPTOR_32_OF_256: Refused = Refused {
    groups: ALL,
    mask: 1 << 75 | 1 << 76,
    value: 1 << 76,
    reason: "a descriptor (bit 76) with a 32-bit base (bit 75)",
};
const DESCRIPTOR_WITHOUT_BASE: Refused = Refused {
    groups: ALL,
    mask: 1 << 76 | 0xff << 24,
    value: 1 << 76 | 0xff << 24,
    reason: "a descriptor (bit 76) without a base register",
};
const SHARED_SIZE_7: Refused =
    Refused { groups: VT, mask: 7 << 73, value: 7 << 73, reason: "size 7" };

/// `LDGSTS` with a 32-bit base, where that is refused.
const fn copy_32(groups: Groups, wide: u32, with: u128) -> Refused {
    let mask = 1 << wide | with;
    Refused { groups, mask, value: with, reason: "a 32-bit global base, where only 64 bits are" }
}

const fn form(
    name: &'static str,
    opcode: u16,
    groups: Groups,
    rows: &'static [&'static [LayoutRow128]],
    modifiers: &'static [Modifier],
    operands: &'static [Operand],
) -> Form {
    let text = Ready::EMPTY.with(name);
    Form { name, text, opcode, groups, rows, modifiers, operands, refused: &[] }
}

impl Form {
    const fn refusing(self, refused: &'static [Refused]) -> Self {
        Self { refused, ..self }
    }
}

/// Every form, one row a form: mnemonic, opcode, SMs, layout, modifiers, operands. Forms of one opcode are
/// neighbours: bit 91 and the SM choose among them.
#[rustfmt::skip]
pub(super) static FORMS: [Form; 28] = [
    form("LD", 0x980, ALL, table::LD_IMMEDIATE, LOAD,
        &[PredicateOutOfZd, RD, At(Base(Prefix::Nothing, UNSIGNED)), PredicateIn]),
    form("LD", 0x980, TAHB, table::LD_UNIFORM, LOAD,
        &[PredicateOutOfZd, RD, At(Global), PredicateIn]).refusing(&[DESCRIPTOR_32]),
    form("LDG", 0x381, ALL, table::LDG_IMMEDIATE, LOAD,
        &[PredicateOut, RD, At(Base(Prefix::Nothing, UNSIGNED)), PredicateIn]),
    form("LDG", 0x981, TAHB, table::LDG_UNIFORM, LOAD,
        &[PredicateOut, RD, At(Global), PredicateIn]).refusing(&[DESCRIPTOR_32]),
    form("LDG", 0x97e, ADA.and(B), table::LDG_256, LOAD_256,
        &[HIGH, RD, At(Global), Mask, PredicateIn])
        .refusing(&[DESCRIPTOR_32_OF_256, DESCRIPTOR_WITHOUT_BASE]),
    form("LDL", 0x983, ALL, table::LDL_IMMEDIATE, LOCAL, &[RD, At(Base(Prefix::Nothing, UNSIGNED))]),
    form("LDL", 0x983, TAHB, table::LDL_UNIFORM, LOCAL, &[RD, At(Local)]),
    form("LDS", 0x984, ALL, table::LDS_IMMEDIATE, SHARED,
        &[PredicateOutOfZd, RD, At(Base(Prefix::Nothing, UNSIGNED))]).refusing(&[SHARED_SIZE_7]),
    form("LDS", 0x984, TAHB, table::LDS_UNIFORM, SHARED,
        &[PredicateOutOfZd, RD, At(Shared(SIGNED))]).refusing(&[SHARED_SIZE_7]),
    form("LDC", 0xb82, ALL, table::LDC_BANK, CONSTANT, &[RD, BANK]),
    form("LDC", 0x582, TAHB, table::LDC_HANDLE, CONSTANT,
        &[RD, At(Base(Prefix::Handle, UNSIGNED_0))]),
    form("ULDC", 0xab9, TAH, table::ULDC_BANK, UNIFORM, &[RD, At(Base(Prefix::Bank, SIGNED_0))]),
    form("ULDC", 0xab9, TAH, table::ULDC_HANDLE, UNIFORM, &[RD, At(Base(Prefix::Handle, UNSIGNED_0))]),
    form("ULDC", 0xabb, TAH, table::ULDC_INDEXED, UNIFORM, &[RD, At(Indexed)]),
    form("ULDC", 0x8b8, TAH, table::ULDC_MEMORY, UNIFORM,
        &[RD, At(Base(Prefix::Nothing, UNSIGNED_0)), PredicateInOfBase]),
    form("LDCU", 0x7ac, B, table::LDCU_BANK, UNIFORM_UNPACK, &[RD, BANK_UR]),
    form("LDCU", 0xbac, LDCU_10, table::LDCU_HANDLE, UNIFORM_UNPACK, &[RD, HANDLE_UR]),
    form("LDCU", 0xbac, LDCU_12, table::LDCU_HANDLE_READ, UNIFORM_UNPACK, &[RD, HANDLE_UR]),
    form("LDCU", 0x9ac, B, table::LDCU_MEMORY, UNIFORM_UNPACK, &[RD, MEMORY_UR, PredicateInAlways]),
    form("LDCU", 0xdac, LDCU_12, table::LDCU_256_BANK, UNIFORM_256, &[HIGH, RD, BANK_UR, Mask]),
    form("LDCU", 0x5ac, LDCU_12, table::LDCU_256_HANDLE, UNIFORM_256, &[HIGH, RD, HANDLE_UR, Mask]),
    form("LDCU", 0x3ac, LDCU_12, table::LDCU_256_MEMORY, UNIFORM_256,
        &[HIGH, RD, MEMORY_UR, Mask, PredicateInAlways]),
    form("LDSM", 0x83b, TAHB, table::LDSM_IMMEDIATE, MATRICES,
        &[RD, At(Base(Prefix::Nothing, MATRIX))]),
    form("LDSM", 0x83b, TAHB, table::LDSM_UNIFORM, MATRICES, &[RD, At(Shared(MATRIX))]),
    form("LDGSTS", 0xfae, AHB, table::LDGSTS, COPY,
        &[At(CopyTo { uniform: false }), At(CopyFrom { uniform: true }), PredicateIn])
        .refusing(&[copy_32(AH, 70, 1 << 76), copy_32(B, 83, 1 << 76)]),
    form("LDGSTS", 0xdae, AHB, table::LDGSTS, COPY,
        &[At(CopyTo { uniform: true }), At(CopyFrom { uniform: false }), PredicateIn])
        .refusing(&[copy_32(AH, 70, 0), copy_32(B, 83, 0)]),
    form("LDTM", 0x9ee, B10, table::LDTM, TENSOR, &[RD, TMEM]),
    form("LDTM", 0x5ee, B101.and(B107), table::LDTM_STAT, TENSOR_STAT, &[HIGH, RD, TMEM]),
];
